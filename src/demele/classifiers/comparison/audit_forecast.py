"""Forecasts of audits: simulated answers for each size, and the comparisons that they allow."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import numpy as np

from demele.classifiers.comparison.audit import by_audit
from demele.classifiers.comparison.compare import LEAST_AUDITED, asked_as, class_asked
from demele.classifiers.comparison.sequential_plan import sequential_many
from demele.classifiers.measures.audit_interval import AuditInference
from demele.classifiers.question import Question, group_notes, read_groups
from demele.classifiers.results import Measure, measure_of
from demele.core import kinds
from demele.core.arrays import Floats, Rows, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.labelled import Indices, Labelled, read_labelled, read_models
from demele.core.result import Note, Result, about
from demele.core.signature import Signature
from demele.core.table_columns import items_of
from demele.noise.audit import Audit, AuditData, CodedAudit, disagreement, draw_audit
from demele.noise.transition import digest
from demele.report.document import Cell, Choice, Document, Line, Lines, Section, Table
from demele.report.listing import Column, listed
from demele.report.words import count, joined, name, rate, sentence_of, written
from demele.runtime.work import reporting

ForecastDesign = Literal["uniform", "weighted", "sequential"]

#: A size settles a comparison if this share of the simulated audits do.
ENOUGH = 0.8
#: Where fewer audits of all rows than this share would settle it, the difference is within what no audit decides.
HOPELESS = 0.05
#: Further rows are given for these shares of the simulated audits.
_RANGE = (0.5, 0.9)
#: Sizes that are looked at before an audit, and what is added to an audit that there is.
_SIZES = (50, 100, 200, 500, 1000)
_MORE = (50, 100, 200, 400, 800, 1600)
#: Most models: each audit is read for every pair of them.
_MOST_MODELS = 40
_DESIGNS: dict[ForecastDesign, str] = {
    "weighted": "weighted audit", "uniform": "uniform audit", "sequential": "one label at a time",
}  # fmt: skip


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
    error: float
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutlook:
    """What can be settled of one pair at all, under one assumption.

    Attributes
    ----------
    baseline, candidate, world : str
    settled_by_all : float
        Share of the draws in which labels of all rows would settle it.
    labels_most : float
        Labels by which 80% of the sequential comparisons have a verdict; infinite if they never do, NaN if these were
        not simulated.
    """

    baseline: str
    candidate: str
    world: str
    settled_by_all: float
    labels_most: float

    @property
    def hopeless(self) -> bool:
        """Whether not even labels of all rows would settle it."""
        return self.settled_by_all < HOPELESS


# True classes that may stand behind given labels: what an audit is planned for, before an expert has seen a row -------


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


def assumed(rates: Iterable[float]) -> tuple[World, ...]:
    """Return the assumptions about shares of wrong labels: anywhere, and half of them in favour of the leader."""
    sides: dict[Side, str] = {"anywhere": "anywhere", "leader": "half for the leader"}
    return tuple(
        World(f"{100 * rate:g}% wrong, {words}" if rate else "no label wrong", rate, side)
        for rate in sorted(set(rates))
        for side, words in sides.items()
        if rate or side == "anywhere"
    )


def drawn_truth(data: Labelled, world: World, audit: CodedAudit | None, rng: np.random.Generator) -> Indices:
    """Draw true classes of all rows under an assumption.

    Notes
    -----
    Without an audit: a share of the labels is wrong, anywhere, or half of it where the leader agrees with the label and
    another model contradicts it; the true class is any other, or what a model predicts instead. After an audit, its
    rows are known; the share of wrong labels among rows that all, some with the leader, some without it, or none of the
    models say has a Beta posterior, whose prior is worth half a wrong label at the rate of the whole audit, and so has
    the share of true classes that a model predicts.
    """
    right = data.predictions == data.labels
    leader, agree, truth = int(np.argmax(right.sum(axis=1))), right.sum(axis=0), data.labels.copy()

    def other_class(rows: Rows) -> None:
        """Take any class but the given one, with equal probability."""
        truth[rows] = ((data.labels[rows] + rng.integers(1, data.k, rows.size)) % data.k).astype(np.int32)

    def predicted_instead(rows: Rows) -> None:
        """Take the prediction of a random model that contradicts the label; every row has one."""
        said = data.predictions[:, rows]
        chances = np.where(said != data.labels[rows], rng.random(said.shape), -1.0)
        truth[rows] = said[chances.argmax(axis=0), np.arange(rows.size)]

    if audit is None:
        halved = world.rate / 2 if world.side == "leader" else world.rate
        other_class(np.flatnonzero(rng.random(truth.size) < halved))
        if world.side == "leader":
            contradicted = np.flatnonzero(right[leader] & (agree < len(right)))
            size = min(round(halved * truth.size), contradicted.size)
            predicted_instead(rng.choice(contradicted, size, replace=False))
        return truth
    strata = np.select([agree == len(right), right[leader], agree > 0], [0, 1, 2], 3)
    mistaken = audit.labels != data.labels[audit.rows]
    overall = (mistaken.sum() + 0.5) / (audit.k + 1)
    for stratum in range(4):
        here = strata[audit.rows] == stratum
        found = int((mistaken & here).sum())
        share = rng.beta(0.5 + found, 0.5 / overall - 0.5 + int(here.sum()) - found)
        members = np.flatnonzero(strata == stratum)
        wrong = members[rng.random(members.size) < share]
        instead = np.zeros(wrong.size, dtype=bool)
        if stratum:  # some model contradicts the label there
            seen = mistaken & here
            by_models = int((data.predictions[:, audit.rows[seen]] == audit.labels[seen]).any(axis=0).sum())
            instead = rng.random(wrong.size) < rng.beta(0.5 + by_models, 0.5 + found - by_models)
            predicted_instead(wrong[instead])
        other_class(wrong[~instead])
    truth[audit.rows] = audit.labels
    return truth


def forecast_document(result: "AuditForecast") -> Document:
    """Say which audit would settle a comparison, or how many more rows would, under each assumption."""
    several = len(result.names) > 2
    simulated = {one.design for one in result.prospects}
    designs = [design for design in _DESIGNS if design in simulated and not (several and design == "sequential")]
    headline, *sentences = _several(result) if several else _one_pair(result)
    sizes = _sizes(result)
    asked = count(len(result.names), "model") if several else f"{name(result.names[0])} and {name(result.names[1])}"
    on = " on new rows" if result.inference == "population" else " on these rows"
    return Document(
        kind="Audit plan",
        title="How many more rows?" if result.audited else "Which audit would settle the comparison?",
        headline=headline,
        tone="open",
        sentences=sentences,
        figure=Choice("Assumption", {world.name: [_curves(result, world.name, designs)] for world in result.worlds}),
        table=sizes,
        scope=[
            "" if result.measure == "accuracy" else measure_of(result.measure, result.of),
            asked,
            count(result.n, "row"),
            f"{result.draws} draws for each assumption",
        ],
        sections=[Section("Audit plan", [sizes])],
        methods=[
            f"Audits of {asked} were simulated with demele [@demele]: {result.draws} draws of true labels for each of",
            f"{count(len(result.worlds), 'assumption')} on the wrong labels, and sizes of",
            f"{joined(written(size, 'count') for size in result.sizes)} rows.",
            f"An audit settles a comparison if it shows which model is better{on} (level {rate(result.level)}).",
        ],
        **about(result),
    )


def _one_pair(result: "AuditForecast") -> list[str]:
    """Say the least size of each design that settles the comparison, or that hardly any audit would."""
    closed = [one for one in result.outlooks if one.settled_by_all < ENOUGH]
    low, high = (round(100 * bound(one.settled_by_all for one in result.outlooks)) for bound in (min, max))
    share = f"{high}%" if low == high else f"{low}% to {high}%"
    all_rows = f"labels of all {count(result.n, 'row')} settle it in {share} of the draws"
    if len(closed) == len(result.outlooks):
        which = "No" if all(one.hopeless for one in closed) else "Hardly any"
        return [f"{which} audit would settle the comparison: {all_rows}.", "Collect new rows." * bool(result.audited)]
    last = result.sizes[-1] - result.audited
    if result.design is not None:
        least = [result.smallest(result.design, share=share) for share in _RANGE]
        if least == [result.audited] * 2:
            return [f"The {result.audited:,} audited rows settle the comparison already."]
        half, most = (f"more than {last:,}" if size is None else f"{size - result.audited:,}" for size in least)
        return [
            sentence_of(f"{half} more rows settle it in half of the draws, {most} in nine tenths"),
            sentence_of(all_rows),
        ]
    needs = []
    for design in ("weighted", "uniform"):
        sizes = [result.smallest(design, world=world.name) for world in result.worlds]
        known = [size for size in sizes if size is not None]
        span = f"more than {last:,}"
        if known:
            span = f"at least {min(known):,}" if None in sizes else _span(known)
        needs.append(f"{span} rows")
    return [
        f"A weighted audit needs {needs[0]}, a uniform one needs {needs[1]}.",
        f"Under some assumptions, {all_rows} only." if closed else "",
    ]


def _several(result: "AuditForecast") -> list[str]:
    """Say how many pairs the largest audits of both designs settle, at best and at worst."""
    pairs, size = len(result.outlooks) // len(result.worlds), written(result.sizes[-1], "count")
    frame = result.to_frame()
    settled = frame[frame["rows"] == result.sizes[-1]].groupby(["design", "world"])["settled"].sum()
    weighted, uniform = (_span(settled[design]) for design in ("weighted", "uniform"))
    never = [sum(one.hopeless for one in result.outlooks if one.world == world.name) for world in result.worlds]
    return [
        f"A weighted audit of {size} rows settles {weighted} of {count(pairs, 'pair')}.",
        f"A uniform audit of {size} rows settles {uniform}.",
        f"Labels of all {count(result.n, 'row')} do not settle {_span(never)} of the pairs." if any(never) else "",
    ]


def _span(values: Any) -> str:
    low, high = round(min(values)), round(max(values))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _curves(result: "AuditForecast", world: str, designs: Sequence[ForecastDesign]) -> Lines:
    """Return the mean share of pairs that are settled by size, with two standard errors.

    The pairs of one draw share their labels and so are not independent: their errors are averaged as they are.
    """
    lines, frame = [], result.to_frame()
    for design in designs:
        own = frame[(frame["world"] == world) & (frame["design"] == design)]
        means = own.groupby("rows")[["settled", "error"]].mean()
        sizes, (shares, errors) = means.index.tolist(), means.to_numpy().T
        low, high = np.maximum(shares - 2 * errors, 0.0), np.minimum(shares + 2 * errors, 1.0)
        lines.append(Line(_DESIGNS[design], sizes, shares.tolist(), low.tolist(), high.tolist()))
    return Lines(f"Settled: {world}", lines, ("Rows labelled", "count"), ("Settled", "percent.0"), zero=0.0)


def _sizes(result: "AuditForecast") -> Table:
    """Return the least size of each design that settles a pair in 80% of the draws."""
    several = len(result.names) > 2

    def size(one: PairOutlook, design: ForecastDesign) -> Cell:
        least: float | None = one.labels_most
        if design != "sequential":
            least = result.smallest(design, world=one.world, pair=(one.baseline, one.candidate))
        if least is not None and math.isfinite(least):
            return least
        most = result.n if design == "sequential" else result.sizes[-1]
        return "never" if one.hopeless else f"> {most:,}"

    columns: list[Column[PairOutlook]] = [
        ("Candidate", "text", lambda one: name(one.candidate) if several else ""),
        ("Baseline", "text", lambda one: name(one.baseline) if several else ""),
        ("Wrong labels", "text", lambda one: one.world.replace(" wrong,", ",")),
        ("Weighted", "count", lambda one: size(one, "weighted")),
        ("Uniform", "count", lambda one: size(one, "uniform")),
        ("Sequential", "count", lambda one: "" if math.isnan(one.labels_most) else size(one, "sequential")),
        ("All rows", "percent.0", "settled_by_all"),
    ]
    one_by_one = any(one.design == "sequential" for one in result.prospects)
    note = (
        "Rows that settle the comparison in 80% of the draws; never: labels of all rows would not. "
        f"{'Sequential: one label at a time. ' if one_by_one else ''}"
        "All rows: share of the draws that labels of all rows settle."
    )
    outlooks = sorted(result.outlooks, key=lambda one: one.settled_by_all) if several else result.outlooks
    return listed("Rows needed", outlooks, columns, note)


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

    @kinds.checked
    def smallest(
        self,
        design: ForecastDesign,
        *,
        share: kinds.Fraction = ENOUGH,
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
        if world is not None:
            kinds.checked_name(world, "world", [one.name for one in self.worlds])
        if pair is not None and (len(set(pair)) != 2 or not set(pair) <= set(self.names)):
            raise UnknownNameError("pair", f"expected two of the models, got {quoted(pair)}")
        asked = [
            one
            for one in self.prospects
            if one.design == design
            and world in (None, one.world)
            and (pair is None or set(pair) == {one.baseline, one.candidate})
        ]
        enough = (size for size in self.sizes if all(one.settled >= share for one in asked if one.rows == size))
        return next(enough, None)

    document = forecast_document


@kinds.checked
def plan_audit(
    predictions: object,
    labels: object,
    *,
    sizes: int | Sequence[int] | None = None,
    wrong: float | Sequence[float] = (0.01, 0.05),
    audit: AuditData = None,
    level: kinds.Confidence = 0.95,
    inference: AuditInference = "population",
    measure: Measure = "accuracy",
    of: kinds.OneClass = None,
    groups: kinds.Data = None,
    classes: kinds.Classes = None,
    draws: kinds.Several = 40,
    seed: kinds.Seed = 0,
) -> AuditForecast:
    """Forecast the results of an audit before it, and the number of further rows after one.

    Parameters
    ----------
    predictions : mapping of str to array-like of shape (n,), data frame or array of shape (n, n_models)
        Predicted classes of 2 to 40 models on the same instances.
    labels : array-like of shape (n,)
        The given labels.
    sizes : int or sequence of int in 1..n, optional
        Numbers of rows that an expert would label (default: 50 to 1000). By default 50, 100, 200, 500 and 1000; after
        an audit, its own size and 50, 100, 200, 400, 800 and 1600 more. Those above n are left out, unless they were
        named.
    wrong : float or sequence of float in [0, 1)
        Shares of wrong labels to assume, one after the other. Each anywhere, and with half of them in favour of the
        model that leads.
    audit : Audit, optional
        Expert labels of some rows, to plan how many more. Of design ``"uniform"`` or ``"weighted"``. Wrong labels are
        then as frequent and as one-sided as it found, and as uncertain as it leaves them; ``wrong`` has no part.
    level : float in (0, 1)
        Confidence of the verdict. Two-sided, of each pair by itself, as in :func:`demele.classifiers.compare`.
    inference : {"population", "test_set"}
        Rows that the verdict is about, as there.
    measure, of, groups
        As in :func:`demele.classifiers.compare`. One label at a time is simulated for the accuracy of rows apart only;
        measures of all classes need at least 100 audited rows.
    classes : sequence, optional
        All classes (default: those of the labels).
    draws : int >= 2
        Simulated audits for each assumption. The standard error of a share of 50% is 8 points at 40 draws.
    seed : int >= 0
        Random seed.

    Returns
    -------
    AuditForecast

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    For each draw, true classes of all rows are made under the assumption; audits of all sizes are drawn from them, and
    read by the methods that :func:`demele.classifiers.compare` uses: ``"audit"`` for uniform and weighted audits, with
    :func:`demele.labels.disagreement` of these models, and :class:`demele.classifiers.SequentialComparison` for labels
    that are requested one at a time. Nothing is approximated; each share has its simulation error.

    *After an audit* its rows are known in every draw. The share of wrong labels among rows that all, some with the
    leader, some without it, or none of the models say has a Beta posterior, whose prior is worth half a wrong label at
    the rate of the whole audit. A uniform audit continues with random rows. A weighted one is drawn again with more
    rows, as with :func:`demele.labels.draw_audit` and the same seed; most of its rows are then the same.

    Cost: about 10 ms for each audit of two models and 5000 rows; with the defaults 20 seconds.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 5, 1000)
    >>> shares = {"old": 0.8, "new": 0.9}
    >>> models = {name: np.where(rng.random(1000) < p, labels, (labels + 1) % 5) for name, p in shares.items()}
    >>> forecast = plan_audit(models, labels, sizes=[50, 300], wrong=0.02, draws=5)
    >>> forecast.smallest("weighted", share=0.8)
    300
    """
    models = read_models(predictions)
    if len(models) > _MOST_MODELS:
        raise InputError("predictions", f"expected at most {_MOST_MODELS} models, got {len(models)}; pick some of them")
    if audit is not None and not isinstance(audit, Audit):
        raise InputTypeError("audit", f"expected an Audit, got {type(audit).__name__}")
    inner = asked_as(measure)
    data = read_labelled(models, labels, classes=classes)
    if data.k < 2:
        raise InputError("labels", "expected at least 2 classes, got 1: no label could be wrong")
    coded = None if audit is None else audit.coded(data.vocabulary, data.n)
    if coded is not None and coded.design not in ("uniform", "weighted"):
        message = f"design {coded.design!r} is not simulated; give a uniform or weighted one, of joined ones the first"
        raise InputError("audit", message)
    if coded is None:
        shares = [wrong] if np.isscalar(wrong) else items_of(wrong, "wrong", "shares of wrong labels")
        expected = "shares of wrong labels in [0, 1), such as 0.05"
        rates = [kinds.checked_number(one, "wrong", expected, inside=lambda rate: 0 <= rate < 1) for one in shares]
        if not rates:
            raise InputError("wrong", "expected at least one share of wrong labels, such as 0.05, got none")
        worlds = assumed(rates)
    else:
        rate = coded.wrong_labels(data.labels) / data.n
        worlds = (World(f"as the audit found: about {100 * rate:.2g}% wrong", float(rate), "audit"),)
    every = np.arange(len(models))
    question = Question(
        data=data,
        baseline=every,
        candidate=every,
        measure=inner,  # type: ignore[arg-type]  # as asked_as returns it
        of=class_asked(data, measure, of, "labels"),
        level=level,
        inference=inference,
        groups=read_groups(groups, data.n, population=inference == "population"),
    )
    # Of every two models, the candidate is the one that the given labels put ahead.
    order = np.argsort(np.nan_to_num(question.observed()[1], nan=-1.0), kind="stable")
    first, second = np.triu_indices(order.size, 1)
    question = replace(question, baseline=order[first], candidate=order[second])
    one_by_one = inner == "accuracy" and question.clusters is None
    designs: tuple[ForecastDesign, ...] = get_args(ForecastDesign)[: 3 if one_by_one else 2]
    done, least, n = 0 if coded is None else coded.k, LEAST_AUDITED if question.of_table else 1, data.n
    if n < least:
        raise NotEnoughData("labels", f"this measure needs {least} audited rows or more, got {n} rows")
    wanted = _SIZES if coded is None else (done, *(done + more for more in _MORE))
    several: Sequence[int] = tuple(size for size in wanted if least <= size <= n) or (n,)
    if sizes is not None:
        several = [sizes] if isinstance(sizes, int) else items_of(sizes, "sizes", "numbers of rows")
    for size in several:
        if not kinds.is_whole(size) or not max(least, done) <= size <= n:
            start = f"{done}, the rows that were audited," if done > least else str(least)
            raise InputError("sizes", f"expected whole numbers from {start} to {n}, the rows, got {quoted(size)}")
    if not several:
        raise InputError("sizes", "expected at least one number of rows, such as 200, got none")
    sizes = tuple(sorted({int(size) for size in several}))
    doubts = disagreement(list(data.predictions))
    begun = coded.rows if coded is not None and coded.design == "uniform" else np.zeros(0, np.intp)
    rest = np.setdiff1d(np.arange(data.n), begun, assume_unique=True)
    both = np.column_stack([question.baseline, question.candidate])
    # What simulated audits showed, of shape (worlds, designs, sizes, draws, pairs); of a sequential comparison the
    # labels, and the verdict on all rows, of shape (worlds, draws, pairs).
    shape = (len(worlds), draws, question.n_pairs)
    settled = np.zeros((len(worlds), 3, len(sizes), *shape[1:]), bool)
    half_widths = np.full(settled.shape, np.nan)
    asked, by_all = np.full(shape, np.nan), np.zeros(shape, bool)
    with reporting() as report:
        for done, (place, draw) in enumerate(itertools.product(range(len(worlds)), range(draws)), start=1):
            of_truth, of_audit = (rng_for(seed, "forecast_audits", what, place, draw) for what in ("truth", "audit"))
            truth, own = drawn_truth(data, worlds[place], coded, of_truth), int(of_audit.integers(2**31))
            for at, size in enumerate(sizes):
                # The same stream for every size, so that a larger uniform audit begins with the rows of a smaller.
                rows = np.concatenate([begun, np.random.default_rng(own).permutation(rest)[: size - begun.size]])
                uniform = CodedAudit(rows, truth[rows], np.full(size, size / data.n), "uniform", data.n)
                drawn = draw_audit(data.n, size, disagreement=doubts, seed=own)
                chances = cast("Floats", drawn.probabilities)  # a weighted plan has them
                rows = drawn.rows
                weighted = CodedAudit(rows, truth[rows], chances, "weighted", data.n, drawn.least_probability)
                for of_design, made in enumerate((uniform, weighted)):
                    found = by_audit(replace(question, audit=made))
                    settled[place, of_design, at, draw] = found.candidate | found.baseline
                    half_widths[place, of_design, at, draw] = (found.high - found.low) / 2
            if one_by_one:
                certified, used = sequential_many(
                    data.labels,
                    data.predictions,
                    np.concatenate([both, both[:, ::-1]]),
                    truth,
                    alpha=question.tail,
                    inference=inference,
                    level=level,
                    cap=data.n,
                    seed=own,
                )
                asked[place, draw] = np.where(certified, used, np.inf).reshape(2, -1).min(axis=0)
                settled[place, 2, :, draw] = asked[place, draw] <= np.array(sizes)[:, None]
            whole = CodedAudit(np.arange(data.n), truth, np.ones(data.n), "uniform", data.n)
            found = by_audit(replace(question, audit=whole))
            by_all[place, draw] = found.candidate | found.baseline
            if report is not None:
                report(done, len(worlds) * draws, f"audits simulated: {worlds[place].name}")
    prospects, outlooks = [], []
    for (place, world), pair in itertools.product(enumerate(worlds), range(question.n_pairs)):
        baseline, candidate = (data.names[role[pair]] for role in (question.baseline, question.candidate))
        named: Any = {"baseline": baseline, "candidate": candidate, "world": world.name}
        for (design, kind), (at, size) in itertools.product(enumerate(designs), enumerate(sizes)):
            said = settled[place, design, at, :, pair]
            share = (np.count_nonzero(said) + 1) / (draws + 2)
            prospects.append(
                AuditProspect(
                    **named,
                    design=kind,
                    rows=size,
                    settled=np.count_nonzero(said) / draws,
                    error=math.sqrt(share * (1 - share) / (draws + 2)),
                    half_width=float(half_widths[place, design, at, :, pair].mean()),
                )
            )
        ordered = np.sort(asked[place, :, pair])
        outlooks.append(
            PairOutlook(
                **named,
                settled_by_all=float(by_all[place, :, pair].mean()),
                labels_most=float(ordered[math.ceil(ENOUGH * draws) - 1]),
            )
        )
    arguments: dict[str, object] = {"sizes": sizes, "level": level, "inference": inference}
    if measure != "accuracy":
        arguments |= {"measure": measure, "of": question.class_of(measure)}
    if question.groups is not None:
        arguments["groups"] = question.groups
    met = {"n": str(data.n), "models": str(len(data.names)), "digest": digest(data.labels, data.predictions)}
    if coded is None:
        arguments["wrong"] = tuple(dict.fromkeys(world.rate for world in worlds))
        assumptions = ["The share of wrong labels, and whom they side with, are as each assumption says."]
    else:
        met["audit"] = digest(coded.rows, coded.labels)
        assumptions = [
            "Wrong labels that were not met are as frequent and as one-sided as those that were, and as uncertain.",
            "A uniform audit goes on with random rows."
            if coded.design == "uniform"
            else "A larger weighted audit is a new draw; with the same seed, most of the earlier rows are in it.",
        ]
    return AuditForecast(
        names=data.names,
        n=data.n,
        worlds=worlds,
        prospects=tuple(prospects),
        outlooks=tuple(outlooks),
        sizes=sizes,
        draws=draws,
        level=level,
        inference=inference,
        measure=measure,
        of=question.class_of(measure),
        audited=0 if coded is None else coded.k,
        design=None if coded is None else cast("ForecastDesign", coded.design),
        assumptions=(*assumptions, "The expert's labels are right.", "Each pair is decided by itself."),
        notes=(() if coded is None else coded.notes(data.labels))
        + group_notes(question.groups, used=question.clusters is not None),
        signature=Signature.of("plan_audit", arguments | {"draws": draws, "seed": seed}, **met),
    )
