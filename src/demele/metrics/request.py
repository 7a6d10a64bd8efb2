"""What a call asks of one metric, resolved for one source: the way to the number, options, side inputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from demele.core.columns import refuse_cyclic
from demele.core.errors import NotEnoughData, UnknownNameError
from demele.core.names import suggestion
from demele.core.results import Note
from demele.core.sentences import give, setting
from demele.estimation.information import InformationTable
from demele.metrics.data import TableSettings
from demele.metrics.metric import Metric, Native, Reading, Streams, wanted_by
from demele.metrics.side import SIDE, SideInput
from demele.metrics.source import Source, Subject

#: Values of options under which metrics read factors as numbers with two ends.
LINES = {"estimator": ("knn", "robust"), "informativeness": ("uniform-6",), "effect": ("published",)}


@dataclass(frozen=True, slots=True)
class Asked:
    """A metric, its name in this call, all its options, checked, and the side inputs that were given."""

    metric: Metric
    name: str
    options: Mapping[str, Any]
    side: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One metric of one source, with everything that its formula reads but the state."""

    metric: Metric
    name: str
    reading: Reading
    options: Mapping[str, Any] = field(default_factory=dict)
    side: Mapping[str, Any] = field(default_factory=dict)
    settings: TableSettings | None = None
    notes: tuple[Note, ...] = ()

    @property
    def stream(self) -> str:
        """First part of the names of its random streams; metrics that share it share one fit."""
        return self.name if self.metric.shares == self.metric.name else self.metric.shares

    @property
    def of_fit(self) -> Mapping[str, Any]:
        """The options without the one that a fit serves for all its metrics together."""
        return {name: value for name, value in self.options.items() if name != self.reading.serves}

    def read(self, table: InformationTable) -> Native:
        """Return the metric of an information table.

        Corrected informations may be slightly negative, which a ratio of two of them would magnify without limit:
        metrics take them as 0. The matrix of the result keeps them.
        """
        between = table.factor_information
        formula: Callable[..., Native] = self.reading.formula
        given = bound(formula, self.options, self.side)
        if (table.information >= 0).all() and (between is None or (between >= 0).all()):
            return formula(table, **given)
        usable = replace(
            table,
            information=np.maximum(table.information, 0.0),
            factor_information=None if between is None else np.maximum(between, 0.0),
        )
        return replace(formula(usable, **given), matrix=table.information)


def checked(metric: Metric, given: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Fill in the defaults of a metric's options, and check those that were given otherwise.

    ``name`` is what an error calls the metric, such as the name of its group.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    options = metric.option_table
    for key in given:
        if key not in options:
            raise UnknownNameError("options", f"{name or metric.name} has no option {key!r}{suggestion(key, options)}")
    return {
        key: option.default if given.get(key, option.written) is option.written else option.check(key, given[key])
        for key, option in options.items()
    }


def bound(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    side: Mapping[str, Any],
    streams: Streams | None = None,
) -> dict[str, Any]:
    """Return what a formula's parameters ask for, by their names."""
    known = {**options, **side, "streams": streams}
    return {name: known[name] for name in wanted_by(function)}


def request_for(asked: Asked, source: Source, seed: int = 0) -> Request:
    """Check that a metric applies to a source's representation, and resolve what depends on its columns.

    Raises
    ------
    NotEnoughData
        If it does not apply.
    """
    metric, options = asked.metric, dict(asked.options)
    reading = source.way_to(metric, options)
    if reading is None:
        raise source.no_way_to(metric, options)
    if options.get("gate") and options.get("correction") == "none":
        options["correction"] = "adjusted"  # a ratio of informations that are not is far from that of many rows
    settings = None
    if reading.state == "table":
        estimator = options.get("estimator", "histogram")
        settings = TableSettings(
            binning=options["bins"],
            estimator=estimator,
            correction=options.get("correction", "none"),
            n_neighbors=options.get("n_neighbors", 3),
            seed=seed,
            soft=reading.soft,
            one_by_one=reading.one_by_one and estimator == "knn",
        )
    has_std = reading.soft and source.rows().codes_std is not None
    read = applies(asked, source.subject(reading.state, options), has_std=has_std)
    options |= {name: found.shown for name, found in read.items() if name in options}
    notes = tuple(note for found in read.values() for note in found.notes)
    values = dict.fromkeys(item.rstrip("?") for item in metric.side) | {
        name: found.value for name, found in read.items()
    }
    return Request(metric, asked.name, reading, options, values, settings, notes)


def applies(asked: Asked, subject: Subject, *, has_std: bool = False) -> dict[str, SideInput]:
    """Return the side inputs of a metric that applies to a representation.

    Raises
    ------
    NotEnoughData
        If it does not apply.
    """
    metric, d, m = asked.metric, subject.codes.d, len(subject.active)
    if d < metric.needs_codes:
        raise NotEnoughData("codes", f"{metric.name} needs at least {metric.needs_codes} codes, got {d}")
    if m < metric.needs_factors:
        raise NotEnoughData(
            "factors", f"{metric.name} needs at least {metric.needs_factors} factors that vary, got {m}"
        )
    if metric.needs_codes_std and not has_std:
        raise NotEnoughData(
            "codes_std", f"{metric.name} needs the standard deviations of the codes; {give('codes_std', codes_std=...)}"
        )
    lines = {name: asked.options[name] for name in LINES if asked.options.get(name) in LINES[name]}
    if lines or not (metric.on_circles or metric.discretises or metric.is_plain):
        refuse_cyclic(subject.varying.columns, metric.name + (f" under {setting(**lines)}" if lines else ""))
    read = {}
    for item in metric.side:
        name = item.rstrip("?")
        given = asked.options[name] if asked.options.get(name) is not None else asked.side.get(name)
        if item == name or given is not None or asked.options.get(f"fill_{name}"):
            read[name] = SIDE[name](given, subject)
    return read
