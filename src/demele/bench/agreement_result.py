"""Agreement between metrics: Kendall's tau of every two, how stable each ranking is, and what was published."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from demele.core.arrays import Floats, Rows, pd
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import checked, checked_name
from demele.core.result import Note, Result, about
from demele.metrics.catalogue import CATALOGUE
from demele.report.document import Block, Cell, Choice, Document, Heat, Pill, Section, Table
from demele.report.listing import Column, listed
from demele.report.words import count, joined, name, rate, written

# Published rank correlations between metrics, and their similarity to other matrices ----------------------------------

SOURCE = "Boilard's review, figures 2.1 and 2.2: beta-VAEs of one architecture, beta .001 to 100, 2 to 64 codes"
#: From here on a published tau of 36 models is significant (two standard errors without association).
STRONG = 0.23
_FILE = Path(__file__).with_name("kendall_published.csv")
_DATA_SETS = {"cars3d": "Cars3D", "smallnorb": "SmallNORB"}

Reading = Literal["row", "column"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublishedAgreement:
    """A published matrix of Kendall's tau between metrics.

    Attributes
    ----------
    name, title : str
        The data set.
    metrics : tuple of str
        Registered names, in the published order.
    printed : array of shape (n_metrics, n_metrics)
        Cell by cell as published.
    source : str

    Examples
    --------
    >>> from demele import bench
    >>> printed = bench.published_agreement("smallnorb")
    >>> float(printed.table().loc["z_min_variance", "z_diff"]), printed.disputed
    (0.71, ())
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    printed: Floats = field(repr=False)
    source: str = SOURCE

    @property
    def disputed(self) -> tuple[tuple[str, str], ...]:
        """Pairs whose two cells differ.

        Cars3D has nine, all with DCI Lasso modularity, and they differ in sign. No 36 rankings without ties have the
        taus of its column, but some have those of its row. So the upper triangle is read, and results are given without
        these pairs, too.
        """
        unlike = self.table() != self.table("column")
        return tuple(pair for pair in combinations(self.metrics, 2) if unlike.loc[pair])

    def tau(self, first: str, second: str) -> float:
        """Return the tau of two metrics in the upper triangle."""
        places = sorted((self.metrics.index(first), self.metrics.index(second)))
        return float(self.printed[places[0], places[1]])

    @checked
    def table(self, reading: Reading = "row") -> "pd.DataFrame":
        """Return a symmetric table of tau.

        Parameters
        ----------
        reading : {"row", "column"}
            "row": the upper triangle, whose cells can all be true; "column": the lower one.

        Raises
        ------
        InputError
        """
        upper = np.triu(self.printed if reading == "row" else self.printed.T, 1)
        return pd.DataFrame(upper + upper.T + np.eye(len(upper)), index=self.metrics, columns=self.metrics)


class Measured(NamedTuple):
    """A figure and its interval; NaN where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Similarity of a matrix to a published one, with intervals over other samples of configurations.

    Attributes
    ----------
    published, matrix : str
        The two matrices.
    disputed : {"kept", "left out"}
        Treatment of the pairs whose two published cells differ.
    pairs, strong_pairs : int
        Pairs of metrics in both; those with a published tau of at least 0.23 or at most -0.23.
    r : Measured
        Pearson correlation of the taus.
    same_sign : Measured
        Share of equal signs among the strong pairs.
    difference : Measured
        Mean absolute difference of the taus.

    Notes
    -----
    A resample has the sampling error of its sample twice, so that its taus are less similar to the published ones than
    those of the sample. Percentiles of resamples are moved until their mean is the estimate: for r as Fisher's z, for
    the difference as logarithms. Simulated, such 95% intervals hold the mean of
    other configurations in 86 to 100 of 100 samples, and plain percentiles of r in 54 to 98.
    """

    published: str
    matrix: str
    disputed: str
    pairs: int
    strong_pairs: int
    r: Measured
    same_sign: Measured
    difference: Measured

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns."""
        found = {name: getattr(self, name) for name in ("published", "matrix", "disputed", "pairs", "strong_pairs")}
        for figure in ("r", "same_sign", "difference"):
            value, low, high = getattr(self, figure)
            found |= {figure: value, f"{figure}_low": low, f"{figure}_high": high}
        return found


@cache
def _all_published() -> Mapping[str, PublishedAgreement]:
    found = {}
    for key, taus in pd.read_csv(_FILE).groupby("dataset", sort=False):
        metrics = tuple(taus["metric_row"].unique())
        square = taus.pivot(index="metric_row", columns="metric_col", values="tau").loc[list(metrics), list(metrics)]
        data_set = str(key)
        found[data_set] = PublishedAgreement(
            name=data_set, title=_DATA_SETS[data_set], metrics=metrics, printed=square.to_numpy()
        )
    return found


def published_agreement_names() -> list[str]:
    """Return the data sets with a published matrix.

    Examples
    --------
    >>> from demele import bench
    >>> bench.published_agreement_names()
    ['cars3d', 'smallnorb']
    """
    return list(_all_published())


def published_agreement(name: str) -> PublishedAgreement:
    """Return the published Kendall rank correlations of 17 metrics over models of one family.

    Parameters
    ----------
    name : str
        The data set: see :func:`published_agreement_names`.

    Returns
    -------
    PublishedAgreement

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> from demele import bench
    >>> len(bench.published_agreement("cars3d").disputed)
    9
    """
    return _all_published()[checked_name(name, "published", _all_published())]


# Likeness -------------------------------------------------------------------------------------------------------------


def likeness(
    ours: Floats,
    printed: Floats,
    draws: Floats,
    *,
    level: float,
) -> dict[str, Any]:
    """Return the similarity of taus to published ones: the figures of :class:`Likeness`.

    Parameters
    ----------
    ours, printed : array of shape (n_pairs,)
    draws : array of shape (n_draws, n_pairs)
        Ours from resampled configurations; those with an undefined tau are left out.
    level : float
        Level of the intervals.
    """
    strong = np.abs(printed) >= STRONG - 1e-12
    whole = draws[np.isfinite(draws).all(axis=1)]

    def measured(measure: Callable[[Floats], Floats], scale: str) -> Measured:
        value = float(measure(ours[None])[0])
        return Measured(value, *centred_interval(value, measure(whole), level=level, scale=scale))

    def correlations(taus: Floats) -> Floats:
        ours, theirs = taus - taus.mean(axis=1, keepdims=True), printed - printed.mean()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(ours @ theirs / np.sqrt(np.square(ours).sum(axis=1) * np.square(theirs).sum()))

    def same_signs(taus: Floats) -> Floats:
        same = np.sign(taus[:, strong]) == np.sign(printed[strong])
        return np.asarray(same.mean(axis=1)) if strong.any() else np.full(len(taus), math.nan)

    return {
        "pairs": int(printed.size),
        "strong_pairs": int(strong.sum()),
        "r": measured(correlations, "z"),
        "same_sign": measured(same_signs, "plain"),
        "difference": measured(lambda taus: np.abs(taus - printed).mean(axis=1), "log"),
    }


_SCALES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float, float]] = {
    "z": (lambda r: np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9)), np.tanh, -1.0, 1.0),
    "log": (lambda m: np.log(np.maximum(m, 1e-9)), np.exp, 0.0, math.inf),
    "plain": (lambda s: s, lambda s: s, 0.0, 1.0),
}


def centred_interval(value: float, draws: Floats, *, level: float, scale: str) -> tuple[float, float]:
    """Return percentiles of draws, moved so that their mean is the value; NaN without both.

    Examples
    --------
    >>> low, high = centred_interval(0.5, np.linspace(0.1, 0.3, 1001), level=0.9, scale="plain")
    >>> round(low, 3), round(high, 3)
    (0.41, 0.59)
    """
    draws = draws[np.isfinite(draws)]
    if not math.isfinite(value) or draws.size < 2:
        return math.nan, math.nan
    there, back, least, most = _SCALES[scale]
    moved = there(draws)
    low, high = np.quantile(moved, [(1 - level) / 2, (1 + level) / 2]) - moved.mean() + there(value)
    return float(np.clip(back(low), least, most)), float(np.clip(back(high), least, most))


# What the agreement between metrics says: its document, whose parts a study shows too ---------------------------------

_TITLES = {
    "all": "All configurations",
    "without collapsed": "Without collapsed ones",
    "permuted": "Permuted factors",
    "within groups": "Within groups",
}
_PILLS = {
    "significant": Pill("significant", "good", 3),
    "significant alone": Pill("before correction", "open", 2),
    "not significant": Pill("not significant", "none", 1),
    "undefined": Pill("undefined", "none"),
}
#: A larger grid is slow to lay out in a browser.
_MOST_METRICS = 60


def agreement_document(result: "Agreement") -> Document:
    """Say which metrics rank configurations the same way."""
    alone, corrected = result.matrix().lines
    table = _pairs(result)
    sizes = [count(len(result.metrics), "metric"), count(len(result.configurations), "configuration")]
    found = {(one.metric, one.between): one.tau for one in result.stability}
    best = {one.metric: one for one in result.best}
    columns: list[Column[str]] = [
        ("Metric", "text", title_of_metric),
        *(
            (f"tau between {key}", "number.2", lambda metric, key=key: found.get((metric, key)))
            for key in dict.fromkeys(one.between for one in result.stability)
        ),
        ("Best configuration", "text", lambda metric: name(best[metric].configuration) if metric in best else None),
        ("Remains best", "percent?", lambda metric: best[metric].stays if metric in best else None),
    ]
    whole = [f"{key} {written(value, 'number.2')}" for key, value in result.matrix_stability.items()]
    note = f"Correlation of all taus: {joined(whole)}." if whole else ""
    return Document(
        kind="Agreement between metrics",
        headline=_headline(result.pairs()),
        figure=_matrices(result),
        table=table,
        scope=sizes,
        sections=[
            Section("Measures", [_measures(result), listed("Stability of rankings", result.metrics, columns, note)]),
            Section("Agreement matrix", [table]),
            Section("Published results", [_published(result)]),
        ],
        methods=[
            f"Rankings of {sizes[1]} by",
            f"{sizes[0]} were compared by Kendall's tau-b with demele [@demele].",
            f"Pairs were tested at {rate(1 - result.level)} with Bonferroni's correction: a |tau| of about",
            f"{written(corrected, 'number.2')} is significant, and {written(alone, 'number.2')} before correction.",
            f"Intervals are percentiles of resampled configurations ({rate(result.level)}, seed {result.seed}).",
        ],
        **about(result),
    )


def title_of_metric(metric: str) -> str:
    """Return the title of a metric; one without a catalogue entry keeps its name."""
    return name(CATALOGUE[metric].title if metric in CATALOGUE else metric)


# Sentences ------------------------------------------------------------------------------------------------------------


def _headline(pairs: "Sequence[PairAgreement]") -> str:
    found = [pair for pair in pairs if pair.verdict == "significant"]
    against = sum(pair.tau < 0 for pair in found)
    split = f" ({len(found) - against} positively, {against} negatively)" if found else ""
    verb = "correlates" if len(found) == 1 else "correlate"
    return f"{len(found)} of {count(len(pairs), 'metric pair')} {verb} significantly{split}."


# Figures and tables ---------------------------------------------------------------------------------------------------


def _matrices(result: "Agreement") -> Choice:
    """Return a heat map of each matrix, and of each published one of these metrics."""
    shown = [result.metrics[place] for place in result.order][:_MOST_METRICS]
    null = " Without colour: no more than with permuted factors." if "permuted" in result.matrices else ""
    ring = f"A ring: significant after Bonferroni's correction.{null}"
    panels: dict[str, list[Block]] = {}
    for key, title in _TITLES.items():
        pairs = {(one.first, one.second): one for one in result.pairs(key)} if key in result.matrices else {}
        pairs |= {(second, first): one for (first, second), one in pairs.items()}
        panels |= {title: [_heat(f"Kendall's tau: {title}", shown, pairs), ring]} if pairs else {}
    for printed in _printed(result):
        names = [metric for metric in shown if metric in printed.metrics]
        titles = list(map(title_of_metric, names))
        values = [[None if one == other else printed.tau(one, other) for other in names] for one in names]
        caption = f"Published: {printed.title}"
        panels[caption] = [Heat(caption, titles, titles, values, "number.2", ("metric", "metric"), "both ways")]
    return Choice("Matrix", panels)


def _heat(caption: str, shown: Sequence[str], pairs: "Mapping[tuple[str, str], PairAgreement]") -> Heat:
    titles, found = list(map(title_of_metric, shown)), [[pairs.get((one, other)) for other in shown] for one in shown]
    values = [[None if one is None else one.tau for one in row] for row in found]
    cells = [(i, j, one) for i, row in enumerate(found) for j, one in enumerate(row) if one is not None]
    rings = frozenset((i, j) for i, j, one in cells if one.verdict == "significant")
    struck = frozenset((i, j) for i, j, one in cells if one.within_null)
    return Heat(caption, titles, titles, values, "number.2", ("metric", "metric"), "both ways", rings, struck)


def _pairs(result: "Agreement") -> Table:
    printed = _printed(result)

    def published(one: "PairAgreement", found: PublishedAgreement) -> Cell:
        return found.tau(one.first, one.second) if {one.first, one.second} <= set(found.metrics) else None

    columns: list[Column[PairAgreement]] = [
        ("Metric", "text", lambda one: title_of_metric(one.first)),
        ("Other metric", "text", lambda one: title_of_metric(one.second)),
        ("tau", "number.2", "tau"),
        ("Interval", "number.2", lambda one: (one.low, one.high)),
        ("p", "p?", "p_value"),
        ("Result", "text", lambda one: _PILLS[one.verdict]),
        *((f"{of.title}, published", "number.2?", lambda one, of=of: published(one, of)) for of in printed),
    ]
    strongest = sorted(result.pairs(), key=lambda pair: 0.0 if math.isnan(pair.tau) else -abs(pair.tau))
    return listed("Pairs of metrics", strongest, columns)


def _measures(result: "Agreement") -> Table:
    """Return how many pairs are significant, and how large taus are, in each matrix."""
    columns: list[Column[RankMatrix]] = [
        ("Matrix", "text", lambda one: _TITLES[one.name]),
        ("Configurations", "count", "configurations"),
        ("Significant pairs", "count", lambda one: one.verdicts.count("significant")),
        ("Mean |tau|", "number.2", "mean_size.value"),
        ("Interval", "number.2", lambda one: one.mean_size),
    ]
    return listed("Matrices", result.matrices.values(), columns)


def _published(result: "Agreement") -> Table:
    columns: list[Column[Any]] = [
        ("Matrix", "text", lambda row: _TITLES[row["matrix"]]),
        ("Published", "text", lambda row: published_agreement(row["published"]).title),
        ("Disputed pairs", "text?", "disputed"),
        ("Pairs", "count", "pairs"),
        ("r", "number.2", "r"),
        ("Interval", "number.2", itemgetter("r_low", "r_high")),
        ("Same sign", "percent", "same_sign"),
        ("Mean difference", "number.2", "difference"),
    ]
    sources = " ".join(f"{printed.title}: {printed.source}." for printed in _printed(result))
    return listed("Similarity to published matrices", result.likeness_rows(), columns, sources)


def _printed(result: "Agreement") -> list[PublishedAgreement]:
    return [published_agreement(key) for key in result.comparable()]


# The result -----------------------------------------------------------------------------------------------------------

#: Resamples of fewer rows than this say too little: with ties, their intervals hold 85% instead of 95%.
LEAST_FOR_INTERVALS = 8


def error_without_association(n: int) -> float:
    """Return the standard error of tau of n untied rows where two columns have nothing to do with each other.

    Examples
    --------
    >>> round(error_without_association(36), 4)
    0.1165
    """
    return math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))) if n > 1 else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Kendall's tau-b between the scores of two metrics.

    Attributes
    ----------
    first, second : str
    tau, low, high : float
        With its interval; NaN where a metric gave all configurations the same score, or none.
    n : int
        Configurations that both metrics scored.
    p_value : float
        How often scores without association have a tau as large.
    verdict : str
        "significant" (Bonferroni, all pairs); "significant alone": before the correction; "not significant";
        "undefined".
    null_tau, null_low, null_high : float
        Of the same codes against permuted factors; NaN without.
    within_null : bool
        The tau lies in the interval of those: what the number of codes alone gives would explain it.
    """

    first: str
    second: str
    tau: float
    low: float
    high: float
    n: int
    p_value: float
    verdict: str
    null_tau: float = math.nan
    null_low: float = math.nan
    null_high: float = math.nan
    within_null: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankMatrix:
    """Kendall's tau-b of every two metrics over some configurations; arrays hold a value for each pair of metrics.

    Attributes
    ----------
    name : str
        "all", "without collapsed", "permuted" or "within groups".
    metrics : tuple of str
    tau, low, high, p_value : array of shape (n_pairs,)
        In the order of the upper triangle, row by row.
    n : array of int, shape (n_pairs,)
    configurations : int
    level : float
    draws : array of shape (n_draws, n_pairs)
        The taus of resampled configurations.
    """

    name: str
    metrics: tuple[str, ...]
    tau: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    p_value: Floats = field(repr=False)
    n: Rows = field(repr=False)
    configurations: int
    level: float
    draws: Floats = field(repr=False, metadata={"json": False})

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of each pair."""
        return tuple(combinations(self.metrics, 2))

    @property
    def _alphas(self) -> tuple[float, float]:
        """The error of a test before and after correction."""
        alpha = 1 - self.level
        return alpha, alpha / max(1, int(np.isfinite(self.tau).sum()))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Verdict on each pair: see :class:`PairAgreement`."""
        before, corrected = self._alphas
        alone = (self.p_value <= before) & ~((self.low <= 0) & (self.high >= 0))
        clear = alone & (self.p_value <= corrected)
        names = ["undefined", "significant", "significant alone"]
        return tuple(map(str, np.select([np.isnan(self.tau), clear, alone], names, default="not significant")))

    @property
    def lines(self) -> tuple[float, float]:
        """Approximate least ``|tau|`` of untied configurations that is significant before and after correction."""
        from scipy.stats import norm

        error = error_without_association(self.configurations)
        before, corrected = (float(norm.isf(alpha / 2)) * error for alpha in self._alphas)
        return before, corrected

    @property
    def mean_size(self) -> Measured:
        """Mean of |tau| over the pairs, with its interval; chance alone gives 0.09 with 36 configurations."""
        known = np.isfinite(self.tau)
        value = float(np.abs(self.tau[known]).mean()) if known.any() else math.nan
        draws = self.draws[:, known] if self.configurations >= LEAST_FOR_INTERVALS else self.draws[:0, known]
        whole = np.abs(draws[np.isfinite(draws).all(axis=1)]).mean(axis=1)
        return Measured(value, *centred_interval(value, whole, level=self.level, scale="log"))

    @checked
    def table(self, what: Literal["tau", "low", "high", "n", "p_value"] = "tau") -> "pd.DataFrame":
        """Return one figure of all pairs as a symmetric table, with 1 (of p-values 0, of n NaN) on the diagonal.

        Raises
        ------
        InputError
        """
        square = np.zeros((len(self.metrics),) * 2)
        square[np.triu_indices(len(self.metrics), 1)] = getattr(self, what)
        square += square.T
        np.fill_diagonal(square, {"p_value": 0.0, "n": math.nan}.get(what, 1.0))
        return pd.DataFrame(square, index=self.metrics, columns=self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Stability of the ranking by one metric when something is repeated.

    Attributes
    ----------
    metric : str
    between : str
        "seeds", "halves of the rows", or a name in ``again``.
    tau, low, high : float
        Kendall's tau-b, of more than two the mean over pairs.
    n : int
        Configurations with all scores.
    """

    metric: str
    between: str
    tau: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The configuration that a metric scores highest, and how stable that is.

    Attributes
    ----------
    metric : str
    configuration : str
    stays : float
        Share of resamples of seeds and rows in which it is still the best; NaN with one score per configuration.
    """

    metric: str
    configuration: str
    stays: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Agreement(Result):
    """Agreement of metrics on the order of configurations.

    Attributes
    ----------
    metrics : tuple of str
    matrices : mapping of str to RankMatrix
        "all"; "without collapsed", if ``collapsed`` was given; "permuted", with permuted factors, if given; "within
        groups", after the mean rank of each group is removed.
    stability : tuple of Stability
    matrix_stability : mapping of str to float
        Stability of the whole matrix when something is repeated: the correlation of the taus of all pairs.
    best : tuple of Best
    configurations : tuple of str
    level : float
    seed : int
    notes : tuple of Note
    version : str

    Examples
    --------
    >>> from demele import bench
    >>> scores = {"mig": [0.1, 0.4, 0.2, 0.6, 0.3, 0.5, 0.7, 0.9], "sap": [0.2, 0.3, 0.1, 0.7, 0.4, 0.5, 0.9, 0.8]}
    >>> found = bench.agreement(scores)
    >>> round(found.pair("mig", "sap").tau, 3), found.pair("mig", "sap").verdict
    (0.786, 'significant')
    """

    _kind = "agreement"

    metrics: tuple[str, ...]
    matrices: Mapping[str, RankMatrix]
    stability: tuple[Stability, ...]
    matrix_stability: Mapping[str, float]
    best: tuple[Best, ...]
    configurations: tuple[str, ...]
    level: float
    seed: int
    notes: tuple[Note, ...]
    version: str

    document = agreement_document

    @property
    def order(self) -> list[int]:
        """Places of the metrics, those that agree together."""
        return ordered(self.matrix().table().to_numpy())

    def matrix(self, name: str = "all") -> RankMatrix:
        """Return one of the matrices.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        """
        return self.matrices[checked_name(name, "matrix", self.matrices)]

    def pair(self, first: str, second: str, *, matrix: str = "all") -> PairAgreement:
        """Return all that is known of two metrics.

        Raises
        ------
        UnknownNameError
            If a metric or the matrix did not take part.
        """
        for one in (first, second):
            checked_name(one, "metric", self.metrics)
        if first == second:
            raise InputError(f"a metric agrees with itself: name two, not {first!r} twice")
        return next(one for one in self.pairs(matrix) if {one.first, one.second} == {first, second})

    def pairs(self, matrix: str = "all") -> tuple[PairAgreement, ...]:
        """Return all that is known of every two metrics."""
        found = self.matrix(matrix)
        null = self.matrices.get("permuted") if matrix != "permuted" else None
        rows = {name: getattr(found, name).tolist() for name in ("tau", "low", "high", "n", "p_value")}
        if null is not None:
            rows |= {f"null_{name}": getattr(null, name).tolist() for name in ("tau", "low", "high")}
            rows["within_null"] = ((null.low <= found.tau) & (found.tau <= null.high)).tolist()
        columns = zip(found.pairs, found.verdicts, *rows.values(), strict=True)
        return tuple(
            PairAgreement(first=first, second=second, verdict=verdict, **dict(zip(rows, values, strict=True)))
            for (first, second), verdict, *values in columns
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row for each matrix and pair of metrics."""
        rows = [{"matrix": name, **asdict(pair)} for name in self.matrices for pair in self.pairs(name)]
        return pd.DataFrame(rows)

    @checked
    def against(
        self, published: str | PublishedAgreement, *, matrix: str = "all", disputed: Literal["keep", "omit"] = "keep"
    ) -> Likeness:
        """Compare with a published matrix.

        Parameters
        ----------
        published : str or PublishedAgreement
            See :func:`demele.bench.published_agreement_names`.
        matrix : str, default "all"
            Which of ours.
        disputed : {"keep", "omit"}
            What becomes of pairs whose two printed cells differ: "keep" reads the upper one.

        Raises
        ------
        UnknownNameError
        NotEnoughData
            If fewer than three pairs are in both.
        """
        printed = published if isinstance(published, PublishedAgreement) else published_agreement(published)
        ours = self.matrix(matrix)
        left_out = {frozenset(pair) for pair in printed.disputed} if disputed == "omit" else set()
        shared = [
            place
            for place, pair in enumerate(ours.pairs)
            if set(pair) <= set(printed.metrics) and frozenset(pair) not in left_out and np.isfinite(ours.tau[place])
        ]
        if len(shared) < 3:
            raise NotEnoughData(
                "published",
                f"expected three or more pairs of metrics in both, got {len(shared)}; name metrics as demele does",
            )
        taus = np.array([printed.tau(*ours.pairs[place]) for place in shared])
        draws = ours.draws[:, shared] if ours.configurations >= LEAST_FOR_INTERVALS else ours.draws[:0, shared]
        return Likeness(
            published=printed.name,
            matrix=matrix,
            disputed="left out" if left_out else "kept",
            **likeness(ours.tau[shared], taus, draws, level=self.level),
        )

    def likeness_rows(self) -> list[dict[str, Any]]:
        """Return the similarity of every matrix to every published one."""
        rows = []
        for published in self.comparable():
            choices: tuple[Literal["keep", "omit"], ...] = ("keep", "omit")
            for choice in choices if published_agreement(published).disputed else choices[:1]:
                for matrix in self.matrices:
                    with suppress(NotEnoughData):  # such as metrics that are undefined once others are left out
                        rows.append(self.against(published, matrix=matrix, disputed=choice).row())
        return rows

    def comparable(self) -> list[str]:
        """Return the published matrices that hold three or more of the metrics."""
        names = published_agreement_names()
        return [name for name in names if len(set(published_agreement(name).metrics) & set(self.metrics)) >= 3]


def ordered(square: Floats) -> list[int]:
    """Return an order of metrics in which those that agree stand together: leaves of average linkage on 1 - tau.

    Examples
    --------
    >>> ordered(np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]]))
    [1, 2, 0]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

    n = len(square)
    if n < 3:
        return list(range(n))
    apart = (1 - np.nan_to_num(square))[np.triu_indices(n, 1)]
    return [int(place) for place in leaves_list(optimal_leaf_ordering(linkage(apart, "average"), apart))]
