"""What comparison methods decided, compared with the comparison on true labels: rates and matrices."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.bench.comparisons.contenders import REFERENCES, Decided
from demele.core.arrays import Flags, Floats, pd
from demele.core.errors import UnknownNameError
from demele.core.kinds import checked_name
from demele.core.labelled import shown
from demele.core.result import Note, Result, about
from demele.report.document import Block, Choice, Document, Images, Line, Lines, Mark, Section, Strip, Strips, Table
from demele.report.listing import Column, drawn, listed, png
from demele.report.words import count, joined, name, rate, written

# What a comparison of comparison methods says: its document -----------------------------------------------------------

#: The noise rate that is shown first, if it was measured.
_USUAL_RATE = 0.05
#: Methods that are drawn together, and of one family: simulated cleanings are many variants of one.
_MOST_LINES, _OF_ONE_FAMILY = 8, 2
#: Pairs of all images of a page; beyond, only those at the rate that is shown first are there.
_MOST_PAIRS = 2_500_000
#: Sides of an image on a page, at least.
_SIDE = 240
#: Colours of the outcomes, by their number: the diagonal grey, then the source's blue, black, red and white.
COLOURS = np.array([[154, 163, 173], [47, 109, 181], [0, 0, 0], [255, 90, 60], [255, 255, 255]], dtype=np.uint8)


def methods_document(result: "MethodComparison") -> Document:
    """Say how often comparison methods err, at one noise rate and along all."""
    rates = [column.wanted for column in result.columns]
    shown = min(rates, key=lambda one: (abs(one - (_USUAL_RATE if result.at is None else result.at)), one))
    tables = {measure: _table(result, measure, shown) for measure in result.measures}
    figures = {measure: _errors(result, measure, tables[measure]) for measure in result.measures}
    first, *others = result.measures
    headline, best = _sentences(result, first, shown)
    methods, pairs = len(result.contenders), len(result.names) * (len(result.names) - 1)
    sharper = (
        "The test on true labels misses small differences: what counts as an error of a more powerful method can be a "
        "real difference."
    )
    return Document(
        kind="Comparison methods",
        title=name(result.title),
        headline=headline,
        sentences=[
            best,
            "Type I error: the method prefers the candidate, true labels do not. Power: both prefer it.",
            "Contradicted: method and true labels prefer opposite classifiers.",
            sharper * (result.reference == "overlap"),
        ],
        figure=figures[first],
        table=tables[first],
        scope=[
            count(methods, "method"),
            count(len(result.names), "classifier"),
            count(pairs, "ordered pair"),
            count(result.n, "instance"),
            count(len(result.classes), "class", "classes"),
            f"{rate(shown)} wrong labels",
            first,
        ],
        sections=[
            Section("Measures", list(tables.values())),
            Section("Pairwise results", [_COLOURS_MEAN, _images(result, first, shown)]),
            Section("Curves", [Choice("Measure", {one: [figures[one]] for one in others})]),
            Section("Indicators of the classifiers", _indicators(result)),
        ],
        methods=[
            f"Error rates of {count(methods, 'comparison method')} were measured with demele [@demele]",
            f"on {count(pairs, 'ordered pair')} of classifiers, after Benjelloun [@benjelloun2021impact].",
            f"The reference was {REFERENCES[result.reference]}; intervals have the level {rate(result.level)}.",
            f"Noise: {result.noise}; wrong labels: {joined(map(rate, rates), most=8)}; seed {result.seed}.",
            "Standard errors are those of a jackknife: one classifier left out at a time, with the same noise.",
        ],
        **about(result),
    )


# What is said first ---------------------------------------------------------------------------------------------------


def _title(result: "MethodComparison", method: str) -> str:
    return name(result.contenders[method][0])


def _at(result: "MethodComparison", measure: str, noise: float) -> "dict[str, Tally]":
    """Return the tallies of a measure at a noise rate, by method."""
    found = {one.method: one for one in result.tallies if (one.measure, one.noise) == (measure, noise)}
    return {method: found[method] for method in result.contenders if method in found}


def _sentences(result: "MethodComparison", measure: str, shown: float) -> tuple[str, str]:
    """Return the headline, and which methods of those without a type I error at any rate have the most power."""
    own, tallies = [one for one in result.tallies if one.measure == measure], _at(result, measure, shown)
    free = {one.method for one in own if one.n_kept} - {one.method for one in own if one.n_type_1}
    several, here = len(result.columns) > 1, f"with {rate(shown)} wrong labels"
    rates, usual = "at any noise rate" if several else here, tallies.get("overlap")
    errs, verb = "", "makes" if len(free) == 1 else "make"
    if usual is not None and usual.n_type_1:
        errs = f"; interval overlap makes {written(usual.type_1 / 100, 'percent')}{f' {here}' if several else ''}"
    headline = f"{len(free)} of {count(len(tallies), 'method')} {verb} no type I error {rates}{errs}."
    if len(tallies) == 1:
        headline = f"{_title(result, *tallies)} makes {f'no type I error {rates}' if free else 'type I errors here'}."
    elif not free:
        headline = f"Every method makes type I errors{errs}."
    found = [(one.type_2, _title(result, method)) for method, one in tallies.items() if method in free]
    most = sorted((one for one in found if one[0] < 100), key=lambda one: one[0])[:2]
    told = [f"{title} {written(1 - missed / 100, 'percent')}" for missed, title in most]
    best = f"Most power without type I errors, at {rate(shown)} wrong labels: {joined(told, 'then')}." if told else ""
    return headline, best


# Figures --------------------------------------------------------------------------------------------------------------


def _errors(result: "MethodComparison", measure: str, table: Table) -> Choice | Strips:
    """Return type I errors and power: along the noise rates, with standard errors, or those of the only one."""
    if len(result.columns) == 1:
        return drawn(table, "Power", tick="Type I error", ends=(0.0, 1.0), most=_MOST_LINES)
    families = Counter[str]()
    panels: dict[str, list[Line]] = {"Type I error": [], "Power": []}
    for method in result.contenders:
        own = [one for one in result.tallies if (one.measure, one.method) == (measure, method)]
        families[method.partition("(")[0]] += bool(own)
        if own and families[method.partition("(")[0]] <= _OF_ONE_FAMILY and len(panels["Power"]) < _MOST_LINES:
            for panel, values, errors in (
                ("Type I error", [one.type_1 / 100 for one in own], [one.type_1_se / 100 for one in own]),
                ("Power", [1 - one.type_2 / 100 for one in own], [one.type_2_se / 100 for one in own]),
            ):
                low, high = (np.clip(np.add(values, np.multiply(sign, errors)), 0, 1).tolist() for sign in (-1, 1))
                panels[panel].append(Line(_title(result, method), [one.noise for one in own], values, low, high))
    axis = ("wrong labels", "percent")
    return Choice(
        "Figure",
        {
            title: [Lines(f"{title}: {name(measure)}", lines, axis, (title.lower(), "percent"), zero=0.0)]
            for title, lines in panels.items()
        },
    )


#: Classes that the figure of indicators shows.
_MOST_CLASSES = 10
_SHARES = {
    "F_c": "predictions equal to true labels",
    "F_n": "predictions equal to wrong labels",
    "F_r": "true classes found where labels are wrong",
}


def _indicators(result: "MethodComparison") -> list[Block | None]:
    """Return the source's figure 6.5: a dot for each classifier, in a row for each indicator and class."""
    if result.indicators is None:
        return []
    k, rows = len(result.classes), []
    for place, which in enumerate(_SHARES):
        for number, label in enumerate(result.classes[:_MOST_CLASSES]):
            dots = [Mark("dot", float(one), series=place) for one in result.indicators[:, place * k + number]]
            rows.append(Strip(f"{which}, {name(label)}", dots))
    series = {place: f"{which}: {means}" for place, (which, means) in enumerate(_SHARES.items())}
    return [Strips("Indicators by class", rows, "percent", series=series, ends=(0.0, 1.0))]


_COLOURS_MEAN = (
    "One pixel for each pair: rows are baselines, columns candidates, from the least accurate (top, left). Blue: "
    "both keep the baseline. Black: both prefer the candidate. Red: type I error. White: type II error."
)


def _images(result: "MethodComparison", measure: str, shown: float) -> Choice:
    """Return the outcome of every pair by method; of many pairs, only at the rate that is shown first."""
    order = np.argsort(result.accuracies, kind="stable")
    m = len(order)
    whole = m * m * len(result.contenders) * len(result.columns) <= _MOST_PAIRS
    panels: dict[str, list[Block]] = {}
    for method, (title, _) in result.contenders.items():
        own = [one.noise for one in result.tallies if (one.measure, one.method) == (measure, method)]
        images = [
            (f"{rate(noise)} wrong labels", png(COLOURS[result.matrix(method, noise, measure)[np.ix_(order, order)]]))
            for noise in own
            if whole or noise == shown
        ]
        drawn = Images(f"Outcomes: {name(title)}", [(name(measure), images)], max(1, _SIDE // m))
        panels |= {name(title): [drawn]} if images else {}
    return Choice("Method", panels)


# Tables ---------------------------------------------------------------------------------------------------------------


def _table(result: "MethodComparison", measure: str, shown: float) -> Table:
    columns: list[Column[Tally]] = [
        ("Method", "text", lambda one: _title(result, one.method)),
        ("Type I error", "percent", lambda one: one.type_1 / 100),
        ("SE", "percent.1?", lambda one: one.type_1_se / 100),
        ("Power", "percent", lambda one: 1 - one.type_2 / 100),
        ("SE of power", "percent.1?", lambda one: one.type_2_se / 100),
        ("Agreement", "percent?", lambda one: one.agreement / 100),
        ("Contradicted", "count", "reversed"),
        ("Expert labels", "count", "labels_asked"),
        ("Known to the method", "text?", lambda one: result.contenders[one.method][1]),
    ]
    caption = f"Errors at {rate(shown)} wrong labels: {name(measure)}"
    return listed(caption, _at(result, measure, shown).values(), columns, first=40)


#: What a cell of a matrix holds, by its number; the source's colours are blue, black, red and white.
OUTCOMES = ("same model", "both keep the baseline", "both take the candidate", "type I", "type II")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRate:
    """One noise rate: what was asked for, and the share of wrong labels that was made."""

    wanted: float
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How often one method errs at one noise rate; shares in percent.

    Attributes
    ----------
    type_1 : float
        Of the pairs whose baseline model the reference keeps: candidate taken. NaN without such a pair.
    type_2 : float
        Of the pairs whose candidate the reference takes: baseline kept.
    agreement : float
        Of all pairs.
    type_1_se, type_2_se, agreement_se : float
        Standard errors by leaving out one classifier at a time: how much another choice of classifiers would have
        changed the figure, with the same noise.
    reversed : int
        Pairs with opposite claims of method and reference. Most type I errors are none: the reference is inconclusive.
    labels_asked : float
        Expert labels per pair.
    """

    method: str
    measure: str
    noise: float
    rate: float
    type_1: float
    type_2: float
    agreement: float
    type_1_se: float
    type_2_se: float
    agreement_se: float
    n_type_1: int
    n_type_2: int
    n_kept: int
    n_taken: int
    inconclusive: float
    reversed: int
    labels_asked: float


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MethodComparison(Result):
    """Decisions of comparison methods on all ordered pairs of classifiers, with error rates and power.

    Attributes
    ----------
    names : tuple of str
        The classifiers, in the order of the rows and columns of every matrix.
    accuracies : array of shape (n_models,)
        On true labels.
    contenders : mapping of str to (title, inputs)
        The methods.
    columns : tuple of NoiseRate
        The noise rates.
    measures : tuple of str
    tallies : tuple of Tally
        One for each method, noise rate and measure.
    n : int
        Instances.
    reference : str
        Reference for verdicts: ``"overlap"``, ``"paired"`` or ``"sample"``.
    at : float, optional
        Noise rate that the table of the document shows: 0.05, or the nearest, by default.
    indicators : array of shape (n_models, 3 K), optional
        F_c of each class, then F_n, then F_r, of classifiers that were chosen by them.
    """

    _kind, _rows = "method comparison", "tallies"

    names: tuple[str, ...]
    accuracies: Floats
    contenders: Mapping[str, tuple[str, str]]
    columns: tuple[NoiseRate, ...]
    measures: tuple[str, ...]
    tallies: tuple[Tally, ...]
    references: Mapping[str, Decided] = field(metadata={"json": False})
    decided: Mapping[tuple[float, str, str], Decided] = field(metadata={"json": False})
    n: int
    classes: tuple[int | str, ...]
    level: float
    seed: int
    noise: str
    title: str
    version: str
    reference: str = "overlap"
    at: float | None = None
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    indicators: Floats | None = None

    document = methods_document

    def table(self, figure: str = "type_1", measure: str | None = None) -> "pd.DataFrame":
        """Return one figure of every method (rows) at every noise rate (columns), in percent.

        Parameters
        ----------
        figure : str, default "type_1"
            "type_1", "type_2", "agreement", "inconclusive", or another field of :class:`Tally`.
        measure : str, optional
            By default the first.

        Raises
        ------
        UnknownNameError
        """
        measure = self.measures[0] if measure is None else measure
        known = [one.name for one in fields(Tally)][4:]
        for argument, value, among in (("figure", figure, known), ("measure", measure, self.measures)):
            checked_name(value, argument, among)
        rows: dict[str, dict[float, float]] = {}
        for one in self.tallies:
            if one.measure == measure:
                rows.setdefault(one.method, {})[one.noise] = getattr(one, figure)
        kept = {name: rows[name] for name in self.contenders if name in rows}
        return pd.DataFrame.from_dict(kept, orient="index").rename_axis(index="method", columns="noise")

    def tally(self, method: str, noise: float, measure: str | None = None) -> Tally:
        """Return the error counts of one method.

        Raises
        ------
        UnknownNameError
            If it did not take part.
        """
        measure = self.measures[0] if measure is None else measure
        for one in self.tallies:
            if (one.method, one.measure) == (method, measure) and abs(one.noise - noise) < 1e-12:
                return one
        raise UnknownNameError(
            f"expected a method among {shown(list(self.contenders), 40)}, a noise rate among "
            f"{shown([column.wanted for column in self.columns])} and a measure among {shown(self.measures)}, got "
            f"{method!r}, {noise!r} and {measure!r}"
        )

    def matrix(self, method: str, noise: float, measure: str | None = None) -> NDArray[np.int8]:
        """Return the outcome of each pair, shape (n_models, n_models); row = baseline, column = candidate.

        0: the same model; 1: method and reference keep the baseline; 2: both take the candidate; 3: type I error;
        4: type II error (the source's figure 6.6).

        Raises
        ------
        UnknownNameError
            If the method did not take part.
        """
        one = self.tally(method, noise, measure)
        found, truth = self.decided[one.noise, one.measure, method].candidate, self.references[one.measure].candidate
        return outcomes(found, truth, len(self.names))


def outcomes(found: Flags, truth: Flags, m: int) -> NDArray[np.int8]:
    """Return the number of the outcome of each ordered pair as a square of models: see :data:`OUTCOMES`."""
    table = np.zeros((m, m), dtype=np.int8)
    table[~np.eye(m, dtype=np.bool_)] = np.select([found & truth, found, truth], [2, 3, 4], default=1)
    return table


def tallied(found: Decided, truth: Decided, m: int, *, method: str, measure: str, column: NoiseRate) -> Tally:
    """Count the errors of one method on one noisy version."""
    cells = outcomes(found.candidate, truth.candidate, m)
    counts = np.bincount(cells.ravel(), minlength=len(OUTCOMES)).tolist()
    # what is left of each outcome without each model's row and column, shape (n_outcomes, n_models)
    each = [cells == number for number in range(len(OUTCOMES))]
    left = np.array([own.sum() - own.sum(axis=0) - own.sum(axis=1) for own in each], dtype=np.float64)

    def share(hits: list[int], among: list[int]) -> tuple[float, float]:
        whole = sum(counts[number] for number in among)
        value = 100 * sum(counts[number] for number in hits) / whole if whole else float("nan")
        with np.errstate(divide="ignore", invalid="ignore"):
            without = 100 * left[hits].sum(axis=0) / left[among].sum(axis=0)
        if m < 3 or not np.isfinite(without).all():
            return value, float("nan")
        # a jackknife over the models (Efron and Tibshirani 1993)
        return value, float(np.sqrt((m - 1) / m * np.square(without - without.mean()).sum()))

    figures: dict[str, Any] = {}
    for one, hits, among in (("type_1", [3], [1, 3]), ("type_2", [4], [2, 4]), ("agreement", [1, 2], [1, 2, 3, 4])):
        figures[one], figures[f"{one}_se"] = share(hits, among)
    reversed_pairs = (found.candidate & truth.baseline) | (found.baseline & truth.candidate)
    return Tally(
        method=method,
        measure=measure,
        noise=column.wanted,
        rate=column.rate,
        **figures,
        n_type_1=counts[3],
        n_type_2=counts[4],
        n_kept=counts[1] + counts[3],
        n_taken=counts[2] + counts[4],
        inconclusive=100 * float(np.mean(~found.candidate & ~found.baseline)),
        reversed=int(np.count_nonzero(reversed_pairs)),
        labels_asked=found.labels_asked,
    )
