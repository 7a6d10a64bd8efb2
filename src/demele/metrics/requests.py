"""What a call asks for, checked and resolved: the run, the representation, and one request per metric."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import (
    AmbiguousKindWarning,
    InputError,
    InputTypeError,
    NotEnoughData,
    UndefinedFactorWarning,
    warn_user,
)
from demele.core.inputs import Codes, Factors, Missing, read_codes
from demele.core.results import Note
from demele.core.sentences import arg, give
from demele.core.spec import MetricSpec
from demele.metrics.catalogue import CATALOGUE, resolve
from demele.metrics.data import Data
from demele.metrics.information.tables import TableSettings
from demele.metrics.native import Array
from demele.metrics.options import checked_jobs, checked_option, checked_options, regularising_codes

__all__ = [
    "Metric",
    "Request",
    "Run",
    "Subject",
    "checked_std",
    "chosen_metrics",
    "free_name",
    "given_options",
    "merged_options",
    "request_for",
]

Metric = str | Callable[..., float]


@dataclass(frozen=True, slots=True)
class Run:
    """Keywords that all metrics share, validated."""

    seed: int
    repeats: int
    bootstrap: int
    level: float
    chance: int
    n_jobs: int
    missing: Missing

    @classmethod
    def checked(cls, **given: Any) -> "Run":
        """Validate all keywords."""
        n_jobs = checked_jobs(given.pop("n_jobs"))
        checked: dict[str, Any] = {key: checked_option(key, value) for key, value in given.items()}
        return cls(n_jobs=n_jobs, **checked)


@dataclass(frozen=True, slots=True)
class Subject:
    """The representation: all columns, and the rows and factors that vary."""

    codes: Codes
    factors: Factors
    active: tuple[int, ...]
    data: Data
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, codes: Codes, factors: Factors, codes_std: object) -> "Subject":
        """Find what varies; warn of what does not."""
        active = tuple(index for index, factor in enumerate(factors.columns) if not factor.constant)
        varying = Factors(tuple(factors.columns[index] for index in active), factors.missing, factors.ambiguous)
        notes = []
        for factor in factors.columns:
            if factor.constant:
                message = f"factor {factor.name!r} is constant and was left out"
                warn_user(message, UndefinedFactorWarning)
                notes.append(Note(code="constant-factor", message=message, subject=(factor.name,), severity="warning"))
            if not factor.complete:
                message = f"factor {factor.name!r} is annotated on {factor.n_annotated} of {codes.n} rows"
                notes.append(Note(code="missing-annotations", message=message, subject=(factor.name,)))
        constant = tuple(name for name, dead in zip(codes.names, codes.constant, strict=True) if dead)
        if constant:
            listed = ", ".join(repr(item) for item in constant[:5]) + (", ..." if len(constant) > 5 else "")
            message = f"constant codes ({listed}) carry no information and no importance"
            notes.append(Note(code="constant-code", message=message, subject=constant))
        for message in factors.ambiguous:
            warn_user(message, AmbiguousKindWarning)
            notes.append(Note(code="ambiguous-kind", message=message, severity="warning"))
        return cls(codes, factors, active, Data(codes, varying, checked_std(codes_std, codes)), tuple(notes))

    @property
    def m(self) -> int:
        """Number of factors, constant ones included."""
        return self.factors.m

    def spread_factors(self, values: Array) -> Array:
        """Put values of the active factors into the order of all factors, NaN elsewhere (last axis)."""
        if len(self.active) == self.m:
            return values
        full = np.full((*values.shape[:-1], self.m), np.nan)
        full[..., list(self.active)] = values
        return full


def checked_std(codes_std: object, codes: Codes) -> Array | None:
    """Return standard deviations of the shape of the codes, at least 0.

    Raises
    ------
    InputError, InputTypeError
    """
    if codes_std is None:
        return None
    read = read_codes(codes_std, "codes_std")
    if (read.n, read.d) != (codes.n, codes.d):
        raise InputError("codes_std", f"expected the shape of codes, ({codes.n}, {codes.d}), got ({read.n}, {read.d})")
    if (read.low < 0).any():
        column = int(np.flatnonzero(read.low < 0)[0])
        row = int(np.flatnonzero(np.asarray(read.values[:, column]) < 0)[0])
        raise InputError(
            "codes_std",
            f"expected standard deviations of at least 0, got a negative one in column "
            f"{read.names[column]!r}, first at row {row}",
        )
    return read.dense()


@dataclass(frozen=True, slots=True)
class Request:
    """One metric to compute, with its options resolved."""

    name: str
    callable: Callable[..., float] | None = None
    spec: MetricSpec | None = None
    options: Mapping[str, Any] | None = None
    reg_dim: NDArray[np.intp] | None = None
    settings: TableSettings | None = None
    notes: tuple[Note, ...] = ()


def chosen_metrics(metrics: Sequence[Metric] | Metric | None) -> list[Metric]:
    """Return registered names (all, for None) and callables, each once."""
    if metrics is None:
        return list(CATALOGUE)
    if isinstance(metrics, str) or callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Sequence):
        raise InputTypeError("metrics", f"expected names or callables, got {type(metrics).__name__}")
    if not metrics:
        raise InputError("metrics", "expected at least one name or callable, got none")
    chosen: list[Metric] = []
    for metric in metrics:
        item = _function_name(metric) if callable(metric) else resolve(metric)
        if item not in chosen:
            chosen.append(item)
    return chosen


def _function_name(metric: Callable[..., float]) -> Metric:
    """Return the name of one of our own functions, so that it is run with everything that a name brings."""
    name = getattr(metric, "__name__", "")
    ours = getattr(metric, "__module__", "") == "demele.metrics.functions"
    return name if ours and name in CATALOGUE else metric


def free_name(metric: Callable[..., float], taken: Sequence[str]) -> str:
    """Return the name of a callable, numbered where another metric has it."""
    name = str(getattr(metric, "__name__", type(metric).__name__))
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def given_options(options: object) -> dict[str, Mapping[str, Any]]:
    """Return options by group or registered name."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InputTypeError("options", f"expected a mapping of metric to options, got {type(options).__name__}")
    from demele.metrics.functions import FUNCTIONS

    groups = {spec.group for spec in CATALOGUE.values()}
    given: dict[str, Mapping[str, Any]] = {}
    for key, own in options.items():
        if not isinstance(own, Mapping):
            raise InputTypeError("options", f"expected a mapping of options for {key!r}, got {own!r}")
        name = key if key in groups else resolve(key, argument="options")
        if name == "information":
            _known_to_group(own)
        else:
            spec = CATALOGUE.get(name) or next(spec for spec in CATALOGUE.values() if spec.group == name)
            checked_options(FUNCTIONS[spec.name][0], own, name)
        given[name] = own
    return given


def merged_options(
    spec: MetricSpec,
    protocol: Mapping[str, Mapping[str, Any]],
    given: Mapping[str, Mapping[str, Any]],
    bins: object,
) -> dict[str, Any]:
    """Options of one metric: defaults of its function, the protocol, what was given; the more special one wins."""
    from demele.metrics.functions import FUNCTIONS

    function, fixed = FUNCTIONS[spec.name]
    own: dict[str, Any] = {}
    if spec.group == "information":  # a group's options reach the metrics that have them
        known = set(spec.options)
        own |= {key: value for key, value in protocol.get(spec.group, {}).items() if key in known}
    else:
        own |= protocol.get(spec.group, {})
    own |= protocol.get(spec.name, {})
    if bins is not None and spec.discretises:
        own["bins"] = bins
    group_options = given.get(spec.group, {})
    if spec.group == "information":
        group_options = {key: value for key, value in group_options.items() if key in spec.options}
    own |= group_options
    own |= given.get(spec.name, {})
    return checked_options(function, {**own, **fixed}, spec.name)


def _known_to_group(options: Mapping[str, Any]) -> None:
    known = {option for spec in CATALOGUE.values() if spec.group == "information" for option in spec.options}
    for key in options:
        if key not in known:
            raise InputError(
                "options", f"no information-based metric has an option {key!r}; known are {', '.join(sorted(known))}"
            )


def request_for(spec: MetricSpec, options: dict[str, Any], subject: Subject, reg_dim: object) -> Request:
    """Check that a metric applies to the representation, and resolve what depends on its columns."""
    d, m = subject.codes.d, len(subject.active)
    if d < spec.needs_codes:
        raise NotEnoughData("codes", f"{spec.name} needs at least {spec.needs_codes} codes, got {d}")
    if m < spec.needs_factors:
        raise NotEnoughData("factors", f"{spec.name} needs at least {spec.needs_factors} factors that vary, got {m}")
    if spec.needs_codes_std and subject.data.codes_std is None:
        raise NotEnoughData(
            "codes_std", f"{spec.name} needs the standard deviations of the codes; {give('codes_std', codes_std=...)}"
        )
    if spec.group != "information":
        return Request(spec.name, spec=spec, options=options)
    mapping, notes = _reg_dim(spec, options, subject, reg_dim)
    settings = TableSettings(
        binning=options["bins"],
        estimator=options.get("estimator", "histogram"),
        correction=options.get("correction", "none"),
        n_neighbors=options.get("n_neighbors", 3),
        soft=spec.needs_codes_std,
        one_by_one=spec.name == "dlig" and options.get("estimator") == "knn",
    )
    return Request(spec.name, spec=spec, options=options, reg_dim=mapping, settings=settings, notes=notes)


def _reg_dim(
    spec: MetricSpec, options: dict[str, Any], subject: Subject, reg_dim: object
) -> tuple[NDArray[np.intp] | None, tuple[Note, ...]]:
    if "reg_dim" not in options:
        return None, ()
    given = options["reg_dim"] if options["reg_dim"] is not None else reg_dim
    options["reg_dim"] = given
    if spec.name == "mig" and given is None and not options["fill_reg_dim"]:
        return None, ()
    full = regularising_codes(given, subject.codes.names, subject.factors.names)
    options["reg_dim"] = None if given is None else tuple(int(code) for code in full)
    active = full[list(subject.active)]
    if spec.name == "xmig" and len(np.unique(active)) == subject.codes.d:
        raise NotEnoughData(
            "reg_dim", "xmig needs a code that regularises no factor, but every code is the code of some factor"
        )
    return active, () if given is not None else (_ASSUMED_ORDER,)


_ASSUMED_ORDER = Note(
    code="assumed-reg-dim",
    message=f"code i was taken to regularise factor i, in the order of the columns; name others with {arg('reg_dim')}",
)
