"""Forecasts of audits: simulated answers for each size, and the comparisons that they allow."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

import numpy as np

from demele.classifiers.comparison.audit import by_audit
from demele.classifiers.comparison.compare import LEAST_AUDITED, asked_as, class_asked
from demele.classifiers.comparison.forecast_result import (
    AuditForecast,
    AuditProspect,
    ForecastDesign,
    PairOutlook,
    Truths,
    World,
    assumed_worlds,
)
from demele.classifiers.comparison.sequential_plan import sequential_many
from demele.classifiers.measures.audit_interval import AuditInference
from demele.classifiers.question import Outcomes, Question, classes_of
from demele.classifiers.results import Measure
from demele.classifiers.row_groups import group_notes, read_groups
from demele.core.arrays import Counts, Floats, Rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import (
    Classes,
    Confidence,
    Data,
    OneClass,
    Seed,
    Several,
    checked,
    checked_number,
    is_whole,
    renamed,
)
from demele.core.labelled import Indices, plain_text, read_labelled, read_models
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.table_columns import items_of
from demele.core.version import __version__
from demele.noise.audit import Audit, AuditData, CodedAudit, disagreement, draw_audit
from demele.noise.transition import digest
from demele.runtime.progress import reporting

#: Of each pair: 1 the candidate is better, -1 the other, 0 neither; and the half width of the interval.
Shown = tuple[Counts, Floats]


def uniform_audit(question: Question, truth: Indices, size: int, rng: np.random.Generator, begun: Rows) -> Shown:
    """Return what a simple random audit shows that begins with the rows ``begun``."""
    n = question.data.n
    if begun.size:
        rest = np.setdiff1d(np.arange(n), begun, assume_unique=True)
        rows = np.concatenate([begun, rng.permutation(rest)[: size - begun.size]])
    else:
        rows = rng.permutation(n)[:size]
    return _shown(question, CodedAudit(rows, truth[rows], np.full(size, size / n), "uniform", n))


def weighted_audit(question: Question, truth: Indices, size: int, disagreement: Floats, seed: int) -> Shown:
    """Return what an audit shows in which rows with disagreement are drawn more often."""
    plan = draw_audit(question.data.n, size, disagreement=disagreement, seed=seed)
    chances = cast("Floats", plan.probabilities)  # a weighted plan has them
    drawn = CodedAudit(plan.rows, truth[plan.rows], chances, "weighted", plan.n, plan.least_probability)
    return _shown(question, drawn)


def _shown(question: Question, audit: CodedAudit) -> Shown:
    found: Outcomes = by_audit(replace(question, audit=audit))
    verdict = found.candidate.astype(np.int64) - found.baseline.astype(np.int64)
    return verdict, (found.high - found.low) / 2


def labels_to_verdict(question: Question, truth: Indices, *, cap: int, seed: int) -> tuple[Floats, Counts]:
    """Return how many labels a sequential comparison asks of each pair until a verdict, and which verdict it is.

    Returns
    -------
    labels : array of shape (n_pairs,)
        Infinite where ``cap`` labels give no verdict.
    verdict : array of shape (n_pairs,)
        1 the candidate is better, -1 the baseline, 0 neither.
    """
    both = np.column_stack([question.baseline, question.candidate])
    found, used = sequential_many(
        question.data.labels,
        question.data.predictions,
        np.concatenate([both, both[:, ::-1]]),
        truth,
        alpha=question.tail,
        inference=question.inference,
        level=question.level,
        cap=cap,
        seed=seed,
    )
    labels = np.where(found, used.astype(np.float64), np.inf).reshape(2, -1)
    first = labels.min(axis=0)
    verdict = np.where(np.isinf(first), 0, np.where(labels[0] <= labels[1], 1, -1))
    return first, verdict


# Forecasts of audits: simulated answers for each size, and the comparisons that they allow ----------------------------


#: Sizes that are looked at before an audit, and what is added to an audit that there is.
_SIZES = (50, 100, 200, 500, 1000)
_MORE = (50, 100, 200, 400, 800, 1600)
#: Most models: each audit is read for every pair of them.
_MOST_MODELS = 40


@renamed(target="inference")
@checked
def plan_audit(
    predictions: object,
    labels: object,
    *,
    sizes: int | Sequence[int] | None = None,
    wrong: float | Sequence[float] = (0.01, 0.05),
    audit: AuditData = None,
    level: Confidence = 0.95,
    inference: AuditInference = "population",
    measure: Measure = "accuracy",
    of: OneClass = None,
    groups: Data = None,
    classes: Classes = None,
    draws: Several = 40,
    seed: Seed = 0,
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
    data = read_labelled(models, labels, classes=classes_of(None, audit, classes))
    if data.k < 2:
        raise InputError("labels", "expected at least 2 classes, got 1: no label could be wrong")
    coded = None if audit is None else audit.coded(data.vocabulary, data.n)
    if coded is not None and coded.design == "selective":
        raise InputError(
            "audit", "its rows were chosen for a reason (design 'selective'), so they do not represent the other rows"
        )
    if coded is not None and coded.design == "stratified":
        raise InputError("audit", "audits in strata are not simulated; of joined ones, give the first of the two")
    if coded is None:
        several = [wrong] if np.isscalar(wrong) else items_of(wrong, "wrong", "shares of wrong labels")
        expected = "shares of wrong labels in [0, 1), such as 0.05"
        rates = [checked_number(one, "wrong", expected, inside=lambda rate: 0 <= rate < 1) for one in several]
        if not rates:
            raise InputError("wrong", "expected at least one share of wrong labels, such as 0.05, got none")
        worlds = assumed_worlds(tuple(dict.fromkeys(sorted(rates))))
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
    sizes = _checked_sizes(sizes, data.n, coded, LEAST_AUDITED if question.of_table else 1)
    doubts = disagreement(list(data.predictions))
    begun = coded.rows if coded is not None and coded.design == "uniform" else np.zeros(0, np.intp)
    truths, everything = Truths(data, coded), np.arange(data.n)
    # What simulated audits showed, of shape (worlds, designs, sizes, draws, pairs); of a sequential comparison the
    # labels, and the verdict on all rows, of shape (worlds, draws, pairs).
    shape = (len(worlds), draws, question.n_pairs)
    verdicts = np.zeros((len(worlds), 3, len(sizes), *shape[1:]), np.int64)
    half_widths = np.full(verdicts.shape, np.nan)
    asked, at_most = np.full(shape, np.nan), np.zeros(shape, np.int64)
    with reporting() as report:
        for done, (place, draw) in enumerate(itertools.product(range(len(worlds)), range(draws)), start=1):
            of_truth, of_audit = (
                rng_for(seed, "forecast_audits", what, str(place), str(draw)) for what in ("truth", "audit")
            )
            truth, own = truths.drawn(worlds[place], of_truth), int(of_audit.integers(2**31))
            for at, size in enumerate(sizes):
                # The same stream for every size, so that a larger uniform audit begins with the rows of a smaller.
                uniform = uniform_audit(question, truth, size, np.random.default_rng(own), begun)
                weighted = weighted_audit(question, truth, size, doubts, own)
                for design, (verdict, half_width) in enumerate((uniform, weighted)):
                    verdicts[place, design, at, draw], half_widths[place, design, at, draw] = verdict, half_width
            if one_by_one:
                asked[place, draw], verdict = labels_to_verdict(question, truth, cap=data.n, seed=own)
                for at, size in enumerate(sizes):
                    verdicts[place, 2, at, draw] = np.where(asked[place, draw] <= size, verdict, 0)
            whole = CodedAudit(everything, truth, np.ones(data.n), "uniform", data.n)
            at_most[place, draw] = _shown(question, whole)[0]
            if report is not None:
                report(done, len(worlds) * draws, f"audits simulated: {worlds[place].name}")
    designs: tuple[ForecastDesign, ...] = get_args(ForecastDesign)[: 3 if one_by_one else 2]
    prospects, outlooks = [], []
    for (place, world), pair in itertools.product(enumerate(worlds), range(question.n_pairs)):
        baseline, candidate = (data.names[role[pair]] for role in (question.baseline, question.candidate))
        named = {"baseline": baseline, "candidate": candidate, "world": world.name}
        for (design, name), (at, size) in itertools.product(enumerate(designs), enumerate(sizes)):
            here = place, design, at, slice(None), pair
            prospects.append(AuditProspect.of(verdicts[here], half_widths[here], design=name, rows=size, **named))
        outlooks.append(PairOutlook.of(at_most[place, :, pair], asked[place, :, pair], **named))
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
        signature=Signature("plan_audit", arguments | {"draws": draws, "seed": seed}, {**met, "demele": __version__}),
    )


def _checked_sizes(sizes: int | Sequence[int] | None, n: int, coded: CodedAudit | None, least: int) -> tuple[int, ...]:
    done = 0 if coded is None else coded.k
    if n < least:
        raise NotEnoughData("labels", f"this measure needs {least} audited rows or more, got {n} rows")
    if sizes is None:
        wanted = _SIZES if coded is None else (done, *(done + more for more in _MORE))
        return tuple(size for size in wanted if least <= size <= n) or (n,)
    several: list[int] = [sizes] if isinstance(sizes, int) else items_of(sizes, "sizes", "numbers of rows")
    for size in several:
        if not is_whole(size) or not max(least, done) <= size <= n:
            start = f"{done}, the rows that were audited," if done > least else str(least)
            raise InputError("sizes", f"expected whole numbers from {start} to {n}, the rows, got {plain_text(size)}")
    if not several:
        raise InputError("sizes", "expected at least one number of rows, such as 200, got none")
    return tuple(sorted({int(size) for size in several}))
