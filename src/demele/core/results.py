"""What the public functions return: values with their details, frozen, never rounded."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from demele.core.arrays import Array, Floats, pd
from demele.core.errors import InputTypeError, NotEnoughData, UnknownNameError, quoted, short_words
from demele.core.kinds import checked_count, suggestion
from demele.core.lazy import Later
from demele.core.result import AboveChance, Result, TableResult, page_of, plain, table_above_chance
from demele.core.result import Chance as Chance
from demele.core.result import Interval as Interval
from demele.core.result import Note as Note
from demele.core.result import Severity as Severity
from demele.core.result import Spread as Spread
from demele.core.score_documents import evaluation_document, score_document
from demele.core.signature import Signature
from demele.core.verdict import RepresentationVerdict
from demele.report.document import Document, Line, Lines, Rows
from demele.report.words import count, ends, joined, name, written

# What an evaluation says of axes --------------------------------------------------------------------------------------

Reading = Literal[
    "off the axes", "partly off the axes", "on the axes", "entangled", "absent", "partly", "unknown", "any axes"
]
#: A gap that is not above this is small, whatever the score: noise has gaps of up to half of it.
NOTABLE = 0.02
#: A gap that is at least this share of the aligned score is large; from the second on, a part of it is off the axes.
SHARE, PART = 0.25, 0.1
#: An aligned score below this is low.
LOW = 0.15
#: A score of explicitness from the first on says that the factors can be read, one below the second that they cannot.
READ, UNREAD = 0.5, 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedHalf:
    """One half of the rows, scored with axes that were found on the other half.

    Attributes
    ----------
    candidate : str
        How the codes were turned: "identity" (not at all), "readout", "class means" or "joint diagonalisation"; after
        "whitened, ", of whitened codes.
    raw, aligned : float
        Scores of these rows, of the codes as they are and turned.
    """

    candidate: str
    raw: float
    aligned: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Alignment(TableResult):
    """Change of a score when the codes are rotated towards the factors.

    Attributes
    ----------
    raw, aligned, gap : float
        Means over two halves of the rows. Axes are found, and one way to turn is chosen, on the other half. ``raw`` is
        of half as many rows as the score's own value, which stays as it is. ``gap`` is ``aligned - raw``, a low
        estimate that grows with the rows.
    halves : tuple of AlignedHalf
    interval : Interval or None
        Interval of the gap, if resamples were asked for.
    chance : Chance or None
        Gaps of the whole procedure on permuted rows of the factors, if permutations were asked for.
    whitened : bool
        Whether codes might be made uncorrelated, of equal variance, before they were turned.
    reading : str
        ``"off the axes"``: the gap is large. ``"partly off the axes"``: it is a smaller share of a score that is not
        low. ``"on the axes"``: it is small, the score is not low. Small and low:
        ``"entangled"``, ``"absent"``, ``"partly"`` or ``"unknown"``, by the largest score of explicitness.
        ``"any axes"``: a score of explicitness alone, for which axes do not matter.
    explicitness : tuple of (str, float), or None
        The score of explicitness behind the reading.
    """

    _kind = "alignment"

    raw: float
    aligned: float
    gap: float = field(init=False)
    halves: tuple[AlignedHalf, ...]
    interval: Interval | None = None
    chance: Chance | None = None
    whitened: bool = False
    reading: Reading = "unknown"
    explicitness: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        """Compute the gap."""
        object.__setattr__(self, "gap", self.aligned - self.raw)

    def headline(self) -> str:
        """Return the reading of the gap."""
        return said(self.reading, self.explicitness, whitened=self.whitened)

    def row(self) -> dict[str, object]:
        """Return the columns that tables and CSV files add to the score, in a fixed order."""
        low, high = ends(self.interval) or (None, None)
        return {"raw": self.raw, "aligned": self.aligned, "gap": self.gap, "gap_low": low, "gap_high": high}


def reading_of(
    raw: float,
    aligned: float,
    *,
    interval: Interval | None = None,
    chance: Chance | None = None,
    explicitness: float | None = None,
    floor: bool = False,
) -> Reading:
    """Return what raw and aligned scores say together.

    Parameters
    ----------
    raw, aligned : float
    interval, chance : optional
        Of the gap, which counts only above 0 by the one, and above all that chance gives by the other.
    explicitness : float, optional
        The largest score of explicitness.
    floor : bool
        Whether the metric rates codes of noise far above 0, so that only explicitness tells that nothing is there.

    Examples
    --------
    >>> reading_of(0.1, 0.9), reading_of(0.9, 0.91), reading_of(0.03, 0.04, explicitness=0.8)
    ('off the axes', 'on the axes', 'entangled')
    """
    gap = aligned - raw
    shown = interval is None or interval.low > 0
    above_chance = chance is None or gap > max(chance.values)
    notable = gap > NOTABLE and shown and above_chance
    if notable and gap >= SHARE * aligned:
        return "off the axes"
    low = max(raw, aligned) < LOW
    if explicitness is not None and explicitness < UNREAD and (low or floor):
        return "absent"
    if not low:
        return "partly off the axes" if notable and gap >= PART * aligned else "on the axes"
    if explicitness is None:
        return "unknown"
    return "entangled" if explicitness >= READ else "partly"


def said(reading: Reading, explicitness: tuple[str, float] | None = None, *, whitened: bool = False) -> str:
    """Return a reading as a sentence."""
    by = "" if explicitness is None else f" ({explicitness[0]} {explicitness[1]:z.2f})"
    no_map = "Neither a rotation nor whitening" if whitened else "No rotation"
    sentences: Mapping[Reading, str] = {
        "off the axes": "The codes carry the information, but not on the axes.",
        "partly off the axes": "The codes carry a part of the information, but not on the axes.",
        "on the axes": "The information is on these axes about as much as on any others.",
        "entangled": f"{no_map} separates the factors: all codes together encode them{by}, single codes do not.",
        "absent": f"The information is missing: no axes help, and all codes together encode almost nothing{by}.",
        "partly": f"{no_map} helps, and all codes together encode only a part of the factors{by}.",
        "unknown": f"{no_map} helps. A score of explicitness would show whether the codes carry the information.",
        "any axes": "This score uses all codes together: turning them changes it only by the scaling of its predictor.",
    }
    return sentences[reading]


# Some rows of an evaluation, for pictures -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSample:
    """Some rows of an evaluation, drawn at random.

    Attributes
    ----------
    codes : array of shape (n_rows, n_codes)
    code_names : tuple of str
    factors : mapping of str to array of shape (n_rows,)
        Continuous: floats, NaN where there is no annotation. Classes: numbers of ``levels``, -1 likewise.
    levels : mapping of str to tuple of str
        Of the factors that are classes.
    n : int
        Rows that they were drawn from.
    """

    codes: Floats
    code_names: tuple[str, ...]
    factors: Mapping[str, Array]
    levels: Mapping[str, tuple[str, ...]]
    n: int

    def first(self, most: int) -> "RowSample | None":
        """Return the first rows, at most so many; None for none."""
        most = checked_count(most, "rows", 0)
        factors = {name: values[:most] for name, values in self.factors.items()}
        return replace(self, codes=self.codes[:most], factors=factors) if most else None

    def columns(self) -> Rows | None:
        """Return the rows as pages hold them, classes as their numbers; None where a code and a factor share a name."""
        codes = {name(code): values for code, values in zip(self.code_names, self.codes.T, strict=True)}
        factors = {
            name(factor): np.where(values < 0, np.nan, values) if factor in self.levels else values
            for factor, values in self.factors.items()
        }
        shown = {key: values.astype(np.float64).tolist() for key, values in {**codes, **factors}.items()}
        return Rows(shown) if len(shown) == len(codes) + len(factors) else None


# A score corrected for noisy annotations of the factors ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CorrectedScore(TableResult):
    """A score corrected for wrong annotations of the factors: an estimate, or bounds.

    Attributes
    ----------
    value : float
        Never rounded, never clipped to the range of the metric; NaN where only an interval can be given.
    interval : Interval or None
        Interval of sampling and of what is known of the noise, together; for bounds, what the truth cannot leave.
    method : str
        How it was corrected: ``"transition"``, ``"audited"``, ...
    assumptions : tuple of str
        Whole sentences: what must be true for the value to be right.
    notes : tuple of Note
    audited_alone : float or None
        What the audited rows alone score by their true values, where rows were audited.
    signature : Signature or None
        The method with every option that can change the numbers.
    draws : array or None
        Values on resamples. Draw k is of the same rows for every representation of these rows that is corrected with
        the same seed, so that differences of draws are paired. None where nothing was resampled.

    Examples
    --------
    >>> CorrectedScore(value=0.62, method="transition", assumptions=("Errors do not depend on the codes.",))
    CorrectedScore(Corrected by the method transition, the score is 0.620)
    """

    _kind = "corrected score"

    value: float
    method: str
    assumptions: tuple[str, ...]
    interval: Interval | None = None
    notes: tuple[Note, ...] = ()
    audited_alone: float | None = None
    signature: Signature | None = None
    draws: Floats | None = field(default=None, compare=False, metadata={"json": False})

    def __float__(self) -> float:
        return self.value

    def headline(self) -> str:
        """Return the value, or the interval where only that is known."""
        span = "" if self.interval is None else written(ends(self.interval))
        if math.isnan(self.value):
            return f"Whatever annotations are wrong, the score is within {span}."
        return f"Corrected by the method {self.method}, the score is {f'{written(self.value)} {span}'.strip()}."

    def row(self) -> dict[str, object]:
        """Return the columns that tables and CSV files add to the score, in a fixed order."""
        low, high = ends(self.interval) or (None, None)
        return {"corrected": self.value, "corrected_low": low, "corrected_high": high, "correction": self.method}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFacts:
    """What a score carries of its metric.

    Attributes
    ----------
    title, family : str
        Name in papers, and the kind of metric.
    properties : tuple of str
        What it claims to measure: modularity, compactness, explicitness.
    definition, source : str
    references : tuple of str
        Keys of what to cite.
    range : (float, float)
    best : float
    defaults : mapping of str to str
        Default values of its options, as Python writes them.
    """

    title: str = ""
    family: str = ""
    properties: tuple[str, ...] = ()
    definition: str = ""
    source: str = ""
    references: tuple[str, ...] = ()
    range: tuple[float, float] = (-math.inf, math.inf)
    best: float = 1.0
    defaults: Mapping[str, str] = field(default_factory=dict, metadata={"json": False})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Score(Result):
    """One metric of one representation, with everything that is known about the number.

    Attributes
    ----------
    metric : str
        Registered name.
    value : float
        The aggregate, never rounded; NaN when undefined.
    per_factor, per_code : array or None
        The metric's native values, in the order of the columns; NaN where undefined (a note says why).
    factor_names, code_names : tuple of str
        Names of the columns.
    matrix : DataFrame of shape (n_codes, n_factors) or None
        What the score was computed from; ``matrix_of`` says what it holds. A frame of its own at each reading, of the
        array ``matrix_values``.
    n : int
        Rows used (the largest number over factors, where annotations are missing).
    interval, spread, chance
        Sampling interval, repeats, chance level; None when not asked for.
    halves : array or None
        The values on half-samples, where they were drawn; NaN where one failed. Half k is of the same rows for every
        representation of as many rows that is scored with the same seed: such values are paired.
    notes : tuple of Note
        What was left out and why, and what makes the number fragile.
    signature : Signature
        Everything that changes the number.
    corrected : CorrectedScore or None
        What the score would be if all annotations of the factors were right, where ``Factors(noise=)`` said what is
        known of their errors; None where it was not asked for, or where a note ``"not-corrected"`` says why there is
        none.
    details : mapping
        Further quantities of the metric (settings chosen by validation, raw values).
    alignment : Alignment or None
        How the score changes when the codes are turned towards the factors, where that was asked for.
    facts : MetricFacts
        What is true of the metric, whatever it scores.
    cited : tuple of str
        Keys of the works that describe the protocol.
    """

    _kind = "score"
    _files: ClassVar[Mapping[str, str]] = {".classes.csv": "classes_frame"}

    metric: str
    value: float
    n: int
    signature: Signature
    code_names: tuple[str, ...] = ()
    factor_names: tuple[str, ...] = ()
    per_factor: Floats | None = None
    per_code: Floats | None = None
    native_intervals: tuple[Interval, ...] | None = None
    matrix_values: Floats | None = None
    matrix_of: str | None = None
    interval: Interval | None = None
    halves: Floats | None = field(default=None, metadata={"json": False})
    spread: Spread | None = None
    chance: Chance | None = None
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    protocol: str | None = None
    seconds: float = math.nan
    corrected: CorrectedScore | None = None
    alignment: Alignment | None = None
    facts: MetricFacts = MetricFacts()
    cited: tuple[str, ...] = field(default=(), metadata={"json": False})

    document = score_document

    def __float__(self) -> float:
        return self.value

    @property
    def matrix(self) -> "pd.DataFrame | None":
        """The matrix behind the score, by code and factor."""
        if self.matrix_values is None:
            return None

        return pd.DataFrame(self.matrix_values.copy(), index=list(self.code_names), columns=list(self.factor_names))

    @property
    def fragile(self) -> bool:
        """True when the score would change much under another defensible setting, or noise would score as well."""
        return any(note.severity == "fragile" for note in self.notes)

    @property
    def native(self) -> dict[str, float]:
        """Per-factor or per-code values by column name; empty for a metric of the whole."""
        names, values = self._native()
        return dict(zip(names, values, strict=True))

    @property
    def native_unit(self) -> str:
        """``"per factor"``, ``"per code"`` or ``"whole"``."""
        if self.per_factor is not None:
            return "per factor"
        return "per code" if self.per_code is not None else "whole"

    @property
    def above_chance(self) -> AboveChance | None:
        """The score adjusted for chance: 0 at the chance level, 1 at the best value; None without permutations.

        Not a corrected score, and not to be preferred to the value: on few rows it is farther from what many rows give.
        """
        if self.chance is None:
            return None
        names, values = self._native()
        return self.chance.above(names, np.array(values) if names else None)

    def _native(self) -> tuple[tuple[str, ...], list[float]]:
        for names, values in ((self.factor_names, self.per_factor), (self.code_names, self.per_code)):
            if values is not None:
                return names, np.asarray(values, dtype=float).tolist()
        return (), []

    def row(self) -> dict[str, object]:
        """Flat, in a fixed column order: what tables and CSV files hold."""
        low, high = ends(self.interval) or (None, None)
        chance, p_value = (None, None) if self.chance is None else (self.chance.mean, self.chance.p_value)
        spread, notes = self.spread and self.spread.std, "; ".join(note.message for note in self.notes)
        numbers = {"metric": self.metric, "value": self.value, "low": low, "high": high, "std": spread}
        numbers |= {"chance": chance, "p_value": p_value, "n": self.n, "fragile": self.fragile, "notes": notes}
        return {**numbers, "protocol": self.protocol, "signature": str(self.signature)}

    def to_frame(self) -> "pd.DataFrame":
        """Long form of the native values: columns ``metric``, ``unit``, ``name``, ``value``, ``low``, ``high``."""
        names, values = self._native()
        if not names:
            names, values = ("all",), [self.value]
        intervals = self.native_intervals or (None,) * len(names)
        return pd.DataFrame(
            {
                "metric": self.metric,
                "unit": self.native_unit,
                "name": list(names),
                "value": values,
                "low": [math.nan if interval is None else interval.low for interval in intervals],
                "high": [math.nan if interval is None else interval.high for interval in intervals],
            }
        )

    def classes_frame(self) -> "pd.DataFrame":
        """One row per class, of scores that have them: sparse probing, splitting, absorption."""
        if "classes" not in self.details:
            raise NotEnoughData(f"{self.metric} has no values of single classes")
        return pd.DataFrame(
            [
                {name: " ".join(map(str, cell)) if isinstance(cell, tuple) else cell for name, cell in row.items()}
                for row in self.details["classes"]
            ]
        )


@dataclass(frozen=True, slots=True, eq=False)
class DCI:
    """The three scores of Eastwood & Williams (2018) and the importances that they share."""

    modularity: Score
    compactness: Score
    explicitness: Score
    importance: "pd.DataFrame"

    def __iter__(self) -> Iterator[Score]:
        return iter((self.modularity, self.compactness, self.explicitness))


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorSummary:
    """What was read of one factor."""

    name: str
    kind: str
    n_levels: int | None
    n_annotated: int
    constant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """The interventional picture of one code and one factor (Suter et al. 2019).

    For each value of the factor: the conditional mean of the code (in the code's own unit) and the range that the
    other factors cause at that value.
    """

    code: str
    factor: str
    levels: tuple[str, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A metric that was asked for, or would have applied, and why there is no number."""

    metric: str
    reason: str

    def __post_init__(self) -> None:
        """Cut the overlong words of the reason, which come from data."""
        object.__setattr__(self, "reason", short_words(self.reason))


class ScoresByName:
    """What several scores of one representation share: found by name, gone through, counted."""

    __slots__ = ()
    name: str
    n: int
    protocol: str
    version: str
    code_names: tuple[str, ...]
    factors: tuple[FactorSummary, ...]
    scores: tuple[Score, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[Note, ...]

    def __getitem__(self, metric: str) -> Score:
        for score in self.scores:
            if score.metric == metric:
                return score
        for missing in self.left_out:
            if missing.metric == metric:
                raise UnknownNameError(f"{metric} has no score here: {missing.reason}")
        known = ", ".join(score.metric for score in self.scores)
        raise UnknownNameError(f"{metric!r} is not among the scores of this evaluation: {known}")

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evaluation(Result, ScoresByName):
    """Many scores of one representation.

    Iterates over its scores; ``evaluation["mig"]`` is one of them. ``left_out`` says which metrics have no number
    and why. ``later`` holds what is computed when it is first read: ``verdict`` and ``rows``.
    """

    _kind = "evaluation"

    scores: tuple[Score, ...]
    left_out: tuple[LeftOut, ...]
    protocol: str
    name: str
    n: int
    code_names: tuple[str, ...]
    factors: tuple[FactorSummary, ...]
    dependency: tuple[Dependency, ...] = ()
    notes: tuple[Note, ...] = ()
    version: str = ""
    later: Later = field(default_factory=Later, metadata={"json": False})

    document = evaluation_document

    @property
    def verdict(self) -> RepresentationVerdict | None:
        """Which code holds which factor: ``print(evaluation.verdict)``; computed when first read.

        Of data that are read a piece at a time it is about a sample; None where there are no rows, as in a stream.
        """
        found: RepresentationVerdict | None = self.later["verdict"]
        return found

    @property
    def rows(self) -> "RowSample | None":
        """Some rows for pictures."""
        found: RowSample | None = self.later["rows"]
        return found

    def to_frame(self) -> "pd.DataFrame":
        """One row per score, in a fixed column order; corrected and aligned scores in columns at the end, if any."""
        rows = []
        for score in self.scores:
            rows.append({"name": self.name, **score.row()})
            if score.corrected is not None:
                rows[-1] |= score.corrected.row()
            if score.alignment is not None:
                rows[-1] |= score.alignment.row()
        return pd.DataFrame(rows)

    def above_chance(self) -> "pd.DataFrame":
        """One row per score with a level of chance: its p-value, and where the score lies between chance and the best.

        See :attr:`Score.above_chance`: not corrected scores.
        """
        return table_above_chance(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """Everything, with the verdict, as plain values that JSON can hold (NaN becomes None)."""
        return {**super(Evaluation, self).to_dict(), "verdict": plain(self.verdict)}

    def to_html(self, path: str | Path, *, rows: int | None = None) -> Path:
        """Write one self-contained, interactive HTML page.

        Parameters
        ----------
        path : str or Path
        rows : int, optional
            Rows of the data that the page holds, to draw codes against factors; by default up to 1,500, drawn at
            random. 0: none leaves this machine with the page.
        """
        kept = self.rows if rows is None or self.rows is None else self.rows.first(rows)
        shown = replace(self, later=Later(verdict=self.verdict, rows=kept))
        return page_of(shown, path)


# Scores of one model at several moments of its training: a table, and a picture ---------------------------------------


# Evaluations compare by identity, and so do curves of them.
@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class ScoreCurve(TableResult):
    """The evaluations of a model in training, in order.

    The callbacks of Lightning and Keras have one; from a loop of your own, make it of what you collected.

    Parameters
    ----------
    evaluations : iterable of (int, Evaluation)
        The moment of each, such as the number of its epoch or step.
    unit : str, default "epoch"
        What the moments count.

    Raises
    ------
    InputTypeError
        For anything but pairs of a number and an evaluation.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.random((500, 2))
    >>> noise = rng.normal(size=(500, 2))
    >>> curve = ScoreCurve(
    ...     (epoch, demele.evaluate(factors + scale * noise, factors, ["mig", "sap"]))
    ...     for epoch, scale in enumerate([1.0, 0.1])
    ... )
    >>> curve.to_frame()["sap"].round(1).tolist()
    [0.1, 0.9]
    >>> curve.best("mig")
    1
    """

    _kind = "score curve"

    points: tuple[tuple[int, Evaluation], ...]
    unit: str

    def __init__(self, evaluations: Iterable[tuple[int, Evaluation]], *, unit: str = "epoch") -> None:
        points = []
        for point in evaluations:
            match point:
                case (int() | np.integer() as moment, Evaluation() as evaluation) if not isinstance(moment, bool):
                    points.append((int(moment), evaluation))
                case _:
                    expected = "expected pairs of a number and an Evaluation"
                    raise InputTypeError("evaluations", f"{expected}, got {quoted(point)}")
        object.__setattr__(self, "points", tuple(points))
        object.__setattr__(self, "unit", str(unit))

    def __len__(self) -> int:
        return len(self.points)

    def headline(self) -> str:
        """Return when each metric is largest."""
        frame = self.to_frame().dropna(axis=1, how="all")
        best = [
            f"{one} is largest at {self.unit} {self.best(one):,} ({written(frame[one].max())})"
            for one in map(str, frame)
        ]
        return f"{joined(best, most=3)}." if best else "No metric has a score."

    def document(self) -> Document:
        """Return the document: the scores at each moment."""
        lines = []
        for metric in self.metrics:
            found = [(float(at), score) for at, each in self.points for score in each if score.metric == metric]
            ends = [one.interval for _, one in found if one.interval is not None]
            low, high = ([getattr(one, end) for one in ends] for end in ("low", "high"))
            band = (low, high) if len(ends) == len(found) else (None, None)
            lines.append(Line(metric, [at for at, _ in found], [one.value for _, one in found], *band))
        return replace(
            super(ScoreCurve, self).document(),
            figure=Lines("Scores in training", lines, (self.unit, "count"), ("score", "number")),
            scope=[count(len(self), "evaluation"), joined(self.metrics)],
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that have a score somewhere, in their order."""
        return tuple(dict.fromkeys(score.metric for _, evaluation in self.points for score in evaluation))

    def to_frame(self) -> "pd.DataFrame":
        """Return a table: a row for each moment, a column for each metric; NaN where it has no score."""
        return pd.DataFrame(
            [{score.metric: score.value for score in evaluation} for _, evaluation in self.points],
            index=pd.Index([moment for moment, _ in self.points], name=self.unit),
            columns=pd.Index(self.metrics, name="metric"),
            dtype=float,
        )

    def best(self, metric: str) -> int:
        """Return the moment of the largest score.

        Parameters
        ----------
        metric : str

        Returns
        -------
        int
            The first, if several are as large.

        Raises
        ------
        UnknownNameError
            If the metric has no score in this curve.
        """
        defined = self.to_frame().dropna(axis=1, how="all")
        if metric not in defined:
            hint = suggestion(str(metric), list(map(str, defined)))
            raise UnknownNameError("metric", f"{quoted(metric)} has no score in this curve{hint}")
        return self.points[int(np.nanargmax(defined[metric].to_numpy()))][0]
