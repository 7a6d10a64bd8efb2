"""What a forecast of audits returns: the share of simulated audits that settle each comparison, by design and size."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.classifiers.documents import measure_of
from demele.core.arrays import Counts, Floats, Rows
from demele.core.errors import UnknownNameError, quoted
from demele.core.kinds import Fraction, checked, checked_name
from demele.core.labelled import Indices, Labelled
from demele.core.result import Result, about
from demele.core.results import Note
from demele.core.signature import Signature
from demele.noise.audit import CodedAudit
from demele.report.document import Cell, Choice, Document, Line, Lines, Section, Table
from demele.report.listing import Column, listed
from demele.report.words import count, joined, name, rate, sentence_of, written

if TYPE_CHECKING:
    pass


# The parts of a forecast of audits ------------------------------------------------------------------------------------

ForecastDesign = Literal["uniform", "weighted", "sequential"]

#: A size settles a comparison if this share of the simulated audits do.
ENOUGH = 0.8
#: Where fewer audits of all rows than this share would settle it, the difference is within what no audit decides.
HOPELESS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProspect:
    """What audits of one design and size would show of one pair, under one assumption.

    Attributes
    ----------
    baseline, candidate : str
        The candidate is the one that the given labels put ahead.
    world : str
        Name of the assumption.
    design : {"uniform", "weighted", "sequential"}
    rows : int
        Labels of the expert.
    settled : float
        Share of the simulated audits that show one of the two to be better.
    for_candidate : float
        Share that show the candidate to be better.
    error : float
        Standard error of ``settled``, by (settled draws + 1) / (draws + 2).
    half_width : float
        Mean half width of the interval of the difference; NaN for a sequential one, which stops at the verdict.
    """

    baseline: str
    candidate: str
    world: str
    design: ForecastDesign
    rows: int
    settled: float
    for_candidate: float
    error: float
    half_width: float

    @classmethod
    def of(cls, verdicts: Counts, half_widths: Floats, **named: Any) -> "AuditProspect":
        """Count verdicts of shape (draws,): 1 for the candidate, -1 for the baseline, 0 for neither."""
        draws, settled = verdicts.size, int(np.count_nonzero(verdicts))
        drawn = (settled + 1) / (draws + 2)
        return cls(
            settled=settled / draws,
            for_candidate=int(np.count_nonzero(verdicts > 0)) / draws,
            error=math.sqrt(drawn * (1 - drawn) / (draws + 2)),
            half_width=float(half_widths.mean()),
            **named,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutlook:
    """What can be settled of one pair at all, under one assumption.

    Attributes
    ----------
    baseline, candidate, world : str
    settled_by_all : float
        Share of the draws in which labels of all rows would settle it.
    for_candidate_by_all : float
        Share in which they would show the candidate to be better.
    labels_half, labels_most : float
        Labels by which half and 80% of the sequential comparisons have a verdict; infinite if they never do, NaN if
        these were not simulated.
    """

    baseline: str
    candidate: str
    world: str
    settled_by_all: float
    for_candidate_by_all: float
    labels_half: float
    labels_most: float

    @classmethod
    def of(cls, verdicts: Counts, labels: Floats, **named: Any) -> "PairOutlook":
        """Summarise verdicts on all rows, and labels until a sequential verdict; both of shape (draws,)."""
        ordered = np.sort(labels)
        half, most = (float(ordered[math.ceil(share * labels.size) - 1]) for share in (0.5, ENOUGH))
        return cls(
            settled_by_all=int(np.count_nonzero(verdicts)) / verdicts.size,
            for_candidate_by_all=int(np.count_nonzero(verdicts > 0)) / verdicts.size,
            labels_half=half,
            labels_most=most,
            **named,
        )

    @property
    def hopeless(self) -> bool:
        """Whether not even labels of all rows would settle it."""
        return self.settled_by_all < HOPELESS

    @property
    def winner(self) -> str:
        """Whom labels of all rows would show to be better, where they settle it; empty where now one, now the other."""
        share = self.for_candidate_by_all / self.settled_by_all if self.settled_by_all else 0.5
        return self.candidate if share >= ENOUGH else self.baseline if share <= 1 - ENOUGH else ""


# True classes that may stand behind given labels: what an audit is planned for, before an expert has seen a row -------


#: Where wrong labels are: on any row alike, or half of them where they speak for the model that leads.
Side = Literal["anywhere", "leader", "audit"]


@dataclass(frozen=True, slots=True)
class World:
    """One assumption on the wrong labels.

    Attributes
    ----------
    name : str
        In words, such as ``"5% wrong, anywhere"``.
    rate : float
        Share of wrong labels; for ``"audit"``, as the audit estimates it.
    side : {"anywhere", "leader", "audit"}
        ``"anywhere"``: on all rows equally often, with any other class as the true one. ``"leader"``: half of them so,
        the other half on rows whose label repeats the leading model, with a contradicting model correct. ``"audit"``:
        at the rates of an audit, by stratum, with their uncertainty.
    """

    name: str
    rate: float
    side: Side


def assumed_worlds(rates: tuple[float, ...]) -> tuple[World, ...]:
    """Return the worlds for some shares of wrong labels: with these anywhere, and with half of them for the leader."""
    found = []
    for wrong in rates:
        if wrong == 0:
            found.append(World("no label wrong", 0.0, "anywhere"))
            continue
        found.append(World(f"{100 * wrong:g}% wrong, anywhere", wrong, "anywhere"))
        found.append(World(f"{100 * wrong:g}% wrong, half for the leader", wrong, "leader"))
    return tuple(found)


class Truths:
    """Draws true classes of all rows of a test set, world by world.

    Parameters
    ----------
    data : Labelled
    audit : CodedAudit, optional
        What an expert said already: these rows are known in every draw, and the other wrong labels are like theirs.
    """

    def __init__(self, data: Labelled, audit: CodedAudit | None = None) -> None:
        self.data, self.audit = data, audit
        right = data.predictions == data.labels
        self._leader = int(np.argmax(right.sum(axis=1)))
        agree = right.sum(axis=0)
        self._contradicted = np.flatnonzero(right[self._leader] & (agree < len(right)))
        #: 0: all models say what the label does; 1: the leader and some; 2: some, not the leader; 3: none.
        self._strata = np.select([agree == len(right), right[self._leader], agree > 0], [0, 1, 2], 3)

    def drawn(self, world: World, rng: np.random.Generator) -> Indices:
        """Return true classes, of shape (n,)."""
        if self.audit is not None:
            return self._after_audit(self.audit, rng)
        truth = self.data.labels.copy()
        anywhere = world.rate / 2 if world.side == "leader" else world.rate
        wrong = rng.random(truth.size) < anywhere
        truth[wrong] = self._other_class(np.flatnonzero(wrong), rng)
        if world.side == "leader":
            size = min(round(world.rate / 2 * truth.size), self._contradicted.size)
            rows = rng.choice(self._contradicted, size, replace=False)
            truth[rows] = self._predicted_instead(rows, rng)
        return truth

    def _after_audit(self, audit: CodedAudit, rng: np.random.Generator) -> Indices:
        """Draw from what the audit leaves open.

        The share of wrong labels of each stratum has a Beta posterior; its prior is worth half a wrong label, at the
        rate of the whole audit. Whether a wrong label is truly what a model says, is drawn likewise.
        """
        rows, expert = audit.rows, audit.labels
        mistaken = expert != self.data.labels[rows]
        overall = (mistaken.sum() + 0.5) / (rows.size + 1)
        truth = self.data.labels.copy()
        for stratum in range(4):
            here = self._strata[rows] == stratum
            found = int((mistaken & here).sum())
            share = rng.beta(0.5 + found, 0.5 / overall - 0.5 + int(here.sum()) - found)
            members = np.flatnonzero(self._strata == stratum)
            wrong = members[rng.random(members.size) < share]
            if stratum == 0:
                truth[wrong] = self._other_class(wrong, rng)
                continue
            seen = rows[mistaken & here]
            by_models = int((self.data.predictions[:, seen] == expert[mistaken & here]).any(axis=0).sum())
            instead = rng.random(wrong.size) < rng.beta(0.5 + by_models, 0.5 + seen.size - by_models)
            truth[wrong[instead]] = self._predicted_instead(wrong[instead], rng)
            truth[wrong[~instead]] = self._other_class(wrong[~instead], rng)
        truth[rows] = expert
        return truth

    def _other_class(self, rows: Rows, rng: np.random.Generator) -> Indices:
        """Return any class but the given one, with equal probability."""
        k = self.data.k
        moved: Indices = ((self.data.labels[rows] + rng.integers(1, k, rows.size)) % k).astype(np.int32)
        return moved

    def _predicted_instead(self, rows: Rows, rng: np.random.Generator) -> Indices:
        """Return the prediction of a random model that contradicts the label; every row has one."""
        expert = self.data.predictions[:, rows]
        chances = np.where(expert != self.data.labels[rows], rng.random(expert.shape), -1.0)
        found: Indices = expert[chances.argmax(axis=0), np.arange(rows.size)].astype(np.int32)
        return found


# What a forecast of audits says: its document -------------------------------------------------------------------------

_DESIGNS: dict[ForecastDesign, str] = {
    "weighted": "weighted audit", "uniform": "uniform audit", "sequential": "one label at a time",
}  # fmt: skip
#: A range of further rows goes from where so many of the simulated audits settle a comparison to where so many do.
_RANGE = (0.5, 0.9)


def forecast_document(result: "AuditForecast") -> Document:
    """Say which audit would settle a comparison, or how many more rows would, under each assumption."""
    several = len(result.names) > 2
    simulated = {one.design for one in result.prospects}
    designs = [design for design in _DESIGNS if design in simulated and not (several and design == "sequential")]
    headline, *sentences = _several(result) if several else _after(result) if result.audited else _before(result)
    shares = _shares(result, designs)
    panels = {world.name: [_curves(result, world.name, designs)] for world in result.worlds}
    sizes = _sizes(result)
    asked = count(len(result.names), "model") if several else f"{name(result.names[0])} and {name(result.names[1])}"
    on = " on new rows" if result.inference == "population" else " on these rows"
    return Document(
        kind="Audit plan",
        title="How many more rows?" if result.audited else "Which audit would settle the comparison?",
        headline=headline,
        tone="open",
        sentences=sentences,
        figure=Choice("Assumption", panels),
        table=shares if several else sizes,
        scope=[
            "" if result.measure == "accuracy" else measure_of(result.measure, result.of),
            asked,
            count(result.n, "row"),
            f"{result.draws} draws for each assumption",
        ],
        sections=[Section("Audit plan", [sizes, shares])],
        methods=[
            f"Audits of {asked} were simulated with demele [@demele]: {result.draws} draws of true labels for each of",
            f"{count(len(result.worlds), 'assumption')} on the wrong labels, and sizes of",
            f"{joined(written(size, 'count') for size in result.sizes)} rows.",
            f"An audit settles a comparison if it shows which model is better{on} (level {rate(result.level)}).",
        ],
        **about(result),
    )


# Sentences ------------------------------------------------------------------------------------------------------------


def _before(result: "AuditForecast") -> list[str]:
    """Say the least size of each design that settles the comparison, for whom, and where none does."""
    closed = [one for one in result.outlooks if one.settled_by_all < ENOUGH]
    all_rows = f"labels of all {count(result.n, 'row')}"
    if len(closed) == len(result.outlooks):
        if all(one.hopeless for one in closed):
            return [f"No audit would settle the comparison: not even {all_rows} would."]
        return [f"Hardly any audit would settle the comparison: {all_rows} do so in {_draws(closed)}."]
    weighted, uniform = (_needs(result, design) for design in ("weighted", "uniform"))
    larger = [(design, _open(result, design)) for design in ("weighted", "uniform")]
    most = f"more than {result.sizes[-1]:,} rows"
    parts = [one.world.partition(", ") for one in closed]
    where = joined((f"{share} ({side})" if side else share for share, _, side in parts), "or")
    return [
        f"A weighted audit {weighted}, a uniform one {uniform}.",
        *(f"A {design} audit needs {most} if {worlds}." for design, worlds in larger if worlds),
        f"If {where}, {all_rows} settle it in {_draws(closed)} only." if closed else "",
    ]


def _needs(result: "AuditForecast", design: ForecastDesign) -> str:
    sizes = {world.name: result.smallest(design, world=world.name) for world in result.worlds}
    known = [size for size in sizes.values() if size is not None]
    if not known:
        return f"needs more than {result.sizes[-1]:,} rows"
    return f"needs {_span(known)} rows"


def _open(result: "AuditForecast", design: ForecastDesign) -> str:
    """Name the assumptions under which no audit of a design settles the comparison, where others do."""
    worlds = [world.name for world in result.worlds if result.smallest(design, world=world.name) is None]
    said = [world.replace(" wrong", " of the labels are wrong") for world in worlds]
    return joined(said, "or") if len(worlds) < len(result.worlds) else ""


def _after(result: "AuditForecast") -> list[str]:
    """Say how many more rows settle the comparison, as a range, and for whom; or that none do."""
    (outlook, *_) = result.outlooks
    all_rows = f"labels of all {count(result.n, 'row')} settle it in {_draws([outlook])}"
    design: ForecastDesign = result.design or "uniform"
    least, most = (result.smallest(design, share=share) for share in _RANGE)
    if least == most == result.audited:
        return [f"The {result.audited:,} audited rows settle the comparison already."]
    if outlook.settled_by_all < _RANGE[0]:
        return [f"No audit will probably settle the comparison: {all_rows}.", "Collect new rows."]
    fewest = max((least or 0) - result.audited, 0)
    if least is None:
        last = max((one for one in result.prospects if one.design == design), key=lambda one: one.rows)
        more = f"{last.rows - result.audited:,} more rows settle it in {rate(round(last.settled, 2))} of the draws"
    elif most is None:
        more = f"{fewest:,} more rows settle it in half of the draws, no size in nine tenths"
    else:
        more = f"{_span([fewest, most - result.audited])} more rows settle it (in half and nine tenths of the draws)"
    how = "Going on with the audit" if design == "uniform" else "In a larger audit of the same kind"
    return [f"{how}, {more}.", sentence_of(all_rows)]


def _several(result: "AuditForecast") -> list[str]:
    """Say how many pairs the largest audits of both designs settle, at best and at worst."""
    pairs = len(result.outlooks) // len(result.worlds)
    largest = [one for one in result.prospects if one.rows == result.sizes[-1]]
    counts = {
        design: [
            sum(one.settled for one in largest if (one.design, one.world) == (design, world.name))
            for world in result.worlds
        ]
        for design in ("weighted", "uniform")
    }
    never = [sum(one.hopeless for one in result.outlooks if one.world == world.name) for world in result.worlds]
    size = written(result.sizes[-1], "count")
    return [
        f"A weighted audit of {size} rows settles {_span(counts['weighted'])} of {count(pairs, 'pair')}.",
        f"A uniform audit of {size} rows settles {_span(counts['uniform'])}.",
        f"Labels of all {count(result.n, 'row')} do not settle {_span(never)} of the pairs." if any(never) else "",
    ]


def _draws(outlooks: Sequence[PairOutlook]) -> str:
    low, high = (round(100 * bound(one.settled_by_all for one in outlooks)) for bound in (min, max))
    return f"{high}% of the draws" if low == high else f"{low}% to {high}% of the draws"


def _span(values: Sequence[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


# Figures and tables ---------------------------------------------------------------------------------------------------


def _settled(result: "AuditForecast", world: str, design: ForecastDesign) -> Iterator[tuple[int, float, float]]:
    """Yield each size with the mean share of pairs that are settled, and its standard error.

    The pairs of one draw share their labels and so are not independent: their errors are averaged as they are.
    """
    own = [one for one in result.prospects if (one.world, one.design) == (world, design)]
    for size in sorted({one.rows for one in own}):
        here = [one for one in own if one.rows == size]
        yield size, *(sum(getattr(one, key) for one in here) / len(here) for key in ("settled", "error"))


def _curves(result: "AuditForecast", world: str, designs: Sequence[ForecastDesign]) -> Lines:
    lines = []
    for design in designs:
        sizes, shares, errors = zip(*_settled(result, world, design), strict=True)
        low = [max(share - 2 * error, 0.0) for share, error in zip(shares, errors, strict=True)]
        high = [min(share + 2 * error, 1.0) for share, error in zip(shares, errors, strict=True)]
        lines.append(Line(_DESIGNS[design], sizes, shares, low, high))
    return Lines(f"Settled: {world}", lines, ("Rows labelled", "count"), ("Settled", "percent.0"), zero=0.0)


def _shares(result: "AuditForecast", designs: Sequence[ForecastDesign]) -> Table:
    columns = {"Wrong labels": "text", "Design": "text", **{f"{size:,} rows": "percent.0" for size in result.sizes}}
    rows = []
    for world in result.worlds:
        for design in designs:
            found = {size: share for size, share, _ in _settled(result, world.name, design)}
            rows.append(
                (world.name.replace(" wrong,", ","), _DESIGNS[design], *(found.get(size) for size in result.sizes))
            )
    return Table("Share settled, by size", columns, rows)


def _sizes(result: "AuditForecast") -> Table:
    """Return the least size of each design that settles a pair in 80% of the draws."""
    several = len(result.names) > 2

    def size(outlook: PairOutlook, design: ForecastDesign) -> Cell:
        pair = (outlook.baseline, outlook.candidate)
        return _size(outlook, result.smallest(design, world=outlook.world, pair=pair), result.sizes[-1])

    columns: list[Column[PairOutlook]] = [
        ("Candidate", "text", lambda one: name(one.candidate) if several else ""),
        ("Baseline", "text", lambda one: name(one.baseline) if several else ""),
        ("Wrong labels", "text", lambda one: one.world.replace(" wrong,", ",")),
        ("Weighted", "count", lambda one: size(one, "weighted")),
        ("Uniform", "count", lambda one: size(one, "uniform")),
        (
            "Sequential",
            "count",
            lambda one: "" if math.isnan(one.labels_most) else _size(one, one.labels_most, result.n),
        ),
        ("All rows", "percent.0", "settled_by_all"),
        ("Better", "text", lambda one: name(one.winner) if one.winner and not one.hopeless else "open"),
    ]
    one_by_one = any(one.design == "sequential" for one in result.prospects)
    note = (
        "Rows that settle the comparison in 80% of the draws; never: labels of all rows would not. "
        f"{'Sequential: one label at a time. ' if one_by_one else ''}"
        "All rows: share of the draws that labels of all rows settle."
    )
    outlooks = sorted(result.outlooks, key=lambda one: one.settled_by_all) if several else result.outlooks
    return listed("Rows needed", outlooks, columns, note)


def _size(outlook: PairOutlook, size: float | None, most: int) -> Cell:
    if size is not None and math.isfinite(size):
        return size
    return "never" if outlook.hopeless else f"> {most:,}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditForecast(Result):
    """Forecasts of audits by design and size; see :func:`demele.classifiers.plan_audit`.

    Attributes
    ----------
    names : tuple of str
        The models.
    n : int
        Rows of the test set.
    worlds : tuple of World
        The assumptions, with ``name``, ``rate`` and ``side``.
    prospects : tuple of AuditProspect
        For each assumption, pair, design and size.
    outlooks : tuple of PairOutlook
        For each assumption and pair.
    sizes : tuple of int
    draws : int
        Simulated truths for each assumption.
    level : float
    inference : str
    measure : str
    of : int, str or None
        The class that the measure is of.
    audited : int
        Rows that an audit has labelled already.
    design : str or None
        Design of that audit.
    assumptions : tuple of str
    notes : tuple of Note
    signature : Signature
    """

    _kind, _rows = "audit plan", "prospects"

    names: tuple[str, ...]
    n: int
    worlds: tuple[World, ...]
    prospects: tuple[AuditProspect, ...]
    outlooks: tuple[PairOutlook, ...]
    sizes: tuple[int, ...]
    draws: int
    level: float
    inference: str
    measure: str
    of: int | str | None
    audited: int
    design: ForecastDesign | None
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    @checked
    def smallest(
        self,
        design: ForecastDesign,
        *,
        share: Fraction = ENOUGH,
        world: str | None = None,
        pair: tuple[str, str] | None = None,
    ) -> int | None:
        """Return the smallest size at which simulated audits settle the comparison.

        Parameters
        ----------
        design : {"uniform", "weighted", "sequential"}
        share : float in (0, 1]
            Of the simulated audits.
        world : str, optional
            Name of the assumption; every one of them by default.
        pair : tuple of two names, optional
            In either order; every pair by default.

        Returns
        -------
        int or None
            None if no size is enough.

        Raises
        ------
        InputError, UnknownNameError
        """
        asked = [one for one in self._asked(world, pair) if one.design == design]
        for size in self.sizes:
            if all(one.settled >= share for one in asked if one.rows == size):
                return size
        return None

    def _asked(self, world: str | None, pair: tuple[str, str] | None) -> Iterator[AuditProspect]:
        if world is not None:
            checked_name(world, "world", [one.name for one in self.worlds])
        if pair is not None and (len(set(pair)) != 2 or not set(pair) <= set(self.names)):
            raise UnknownNameError("pair", f"expected two of the models, got {quoted(pair)}")
        for one in self.prospects:
            if world in (None, one.world) and (pair is None or set(pair) == {one.baseline, one.candidate}):
                yield one

    document = forecast_document
