"""Several representations of the same rows: scores side by side, paired differences, and how sure their order is."""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.columns import Missing
from demele.core.errors import DemeleWarning, InputError, InputTypeError, quoted, warn_user
from demele.core.given_data import Codes, Factors
from demele.core.inputs import read_pair
from demele.core.kinds import Bins, Kinds, Runs, checked_name
from demele.core.proportions import holm
from demele.core.representation_comparison import (
    ModelScore,
    RepresentationComparison,
    ScoreDifference,
    without_intervals,
)
from demele.core.result import TableResult
from demele.core.results import Evaluation, Interval
from demele.core.version import __version__
from demele.estimation.counts import bin_rows, column_bins, joint_counts
from demele.estimation.differences import Difference, over_runs, run_difference
from demele.estimation.information import InformationTable
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.options import as_binning
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.request import Metrics
from demele.metrics.source import InMemory, Subject
from demele.report import words
from demele.report.document import Document, Mark, Strip, Strips
from demele.report.words import at_most, count, written
from demele.runtime.work import Report, part_of, reported_to, reporting
from demele.scoring.evaluate import Call, checked_call

if TYPE_CHECKING:
    from demele.estimation.annotation_errors import BinnedCodes

# Differences between representations, or models of several training runs, with intervals over rows, runs or both ------

#: Why scores of resamples say too little of a metric of extreme values; measured by benchmarks/paired_differences.py.
_EXTREMES = "it depends on extreme values; resampling repeats these, so an interval would be too narrow"


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """One metric of the runs of a model.

    ``rows`` is the mean over runs on each resample of the rows, (n_resamples,), ``bounds`` (n_runs, 2) are certified
    ones; ``reason`` says why the metric cannot be compared.
    """

    values: Floats
    rows: Floats | None
    bounds: Floats | None
    fragile: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Compared:
    """What is compared, and how.

    Attributes
    ----------
    call : Call
    evaluations : mapping of str to Evaluation
    models : mapping of str to tuple of str
        The runs of each model; without runs each representation is the one run of itself.
    by_runs, paired : bool
        Whether intervals are over runs, and whether these are paired.
    noisy : bool
        Whether scores corrected for noisy factors are compared.
    primary : tuple of str
        The metrics that share the error; empty: all.
    """

    call: Call
    evaluations: Mapping[str, Evaluation]
    models: Mapping[str, tuple[str, ...]]
    by_runs: bool
    paired: bool
    noisy: bool
    primary: tuple[str, ...]

    def differences(self, pairs: Iterable[tuple[str, str]]) -> tuple[ScoreDifference, ...]:
        """Return the difference of each pair by each metric; those that are significant together name the better."""
        found = [self._difference(metric, *pair) for pair in pairs for metric in self._metrics()]
        family = [each for each in found if each.interval is not None and not each.exploratory]
        flags = holm(np.array([each.p_value for each in family], dtype=np.float64), 1 - self.call.run.level)
        rejected = {id(each) for each, flag in zip(family, flags, strict=True) if flag}
        return tuple(replace(each, better=each.ahead) if id(each) in rejected else each for each in found)

    def model_scores(self) -> Iterator[ModelScore]:
        """Yield the mean of each model by each metric, with its interval."""
        ranges = {one.name: one.metric.range for one in self.call.asked}
        for model, metric in product(self.models, self._metrics()):
            own = self._runs(model, metric)
            n = own.values.size
            if not n:
                continue
            found = Difference(float(own.values.mean()), reason="one run")
            if n > 1:
                found = over_runs(found.value, [own.values], self.call.run.level, own.rows, ranges[metric])
            yield ModelScore(
                model=model,
                metric=metric,
                values=tuple(float(value) for value in own.values),
                mean=found.value,
                std=float(own.values.std(ddof=1)) if n > 1 else np.nan,
                interval=self._interval(found, f"Student's t over {n} runs{self._of_rows(own.rows, ' and ')}"),
            )

    def _metrics(self) -> list[str]:
        return list(dict.fromkeys(score.metric for each in self.evaluations.values() for score in each.scores))

    def _runs(self, model: str, metric: str) -> _Runs:
        values, draws, bounds, fragile = [], [], [], False
        reasons: list[str] = []
        for run in self.models[model]:
            score = next((one for one in self.evaluations[run].scores if one.metric == metric), None)
            if score is None or not np.isfinite(score.value):
                reasons.append(f"{run} has no score by it" if score is None else f"it is undefined for {run}")
                continue
            fragile |= score.fragile
            if any(note.code == "assumed-reg-dim" and note.severity == "warning" for note in score.notes):
                reasons.append("which code is meant for which factor was assumed by their order")
            found = score.corrected if self.noisy else None
            if self.noisy and found is None:
                reasons.append(f"it is not corrected for {run}")
            if found is not None and found.draws is None and found.interval is not None:
                bounds.append((found.interval.low, found.interval.high))
                found = None
            values.append(score.value if found is None else found.value)
            draws.append(score.halves if found is None else found.draws)
        drawn = [one for one in draws if one is not None]
        alike = drawn and len(drawn) == len(draws) and len({one.size for one in drawn}) == 1
        return _Runs(
            np.array(values, dtype=np.float64),
            np.stack(drawn).mean(axis=0) if alike else None,
            np.array(bounds) if bounds else None,
            fragile,
            next(iter(reasons), ""),
        )

    def _difference(self, metric: str, first: str, second: str) -> ScoreDifference:
        both = [self._runs(model, metric) for model in (first, second)]
        found, method = Difference(np.nan, reason=both[0].reason or both[1].reason), ""
        known = not found.reason
        if known:
            found, method = self._measured(metric, *both)
        best = next((one.metric.best for one in self.call.asked if one.name == metric), 1.0)
        sign = found.low + found.high if np.isnan(found.value) else found.value  # of bounds there is no value
        return ScoreDifference(
            metric=metric,
            first=first,
            second=second,
            value=found.value,
            interval=self._interval(found, method),
            p_value=found.p_value,
            ahead="" if np.isnan(sign) else (first, second)[(sign > 0) == (best > 0)],
            fragile=known and any(one.fragile for one in both),
            exploratory=bool(self.primary) and metric not in self.primary,
            reason=found.reason,
        )

    def _interval(self, found: Difference, method: str) -> Interval | None:
        if found.reason:
            return None
        kind = "training" if self.by_runs else "sampling"
        return Interval(low=found.low, high=found.high, level=self.call.run.level, method=method, kind=kind)

    def _of_rows(self, rows: Floats | None, before: str) -> str:
        what = "resamples" if self.noisy else "half-samples"
        return "" if rows is None else f"{before}{rows.size} paired {what} of the rows"

    def _measured(self, metric: str, first: _Runs, second: _Runs) -> tuple[Difference, str]:
        """Return the difference with its interval, and how that was made."""
        value, run = float(second.values.mean() - first.values.mean()), self.call.run
        rows = None if first.rows is None or second.rows is None else second.rows - first.rows
        if run.n_bootstrap or self.noisy or not self.by_runs:  # over rows
            if any(one.name == metric and "extremes" in one.metric.states for one in self.call.asked):
                return Difference(value, reason=_EXTREMES if run.n_bootstrap else without_intervals(0)), ""
            if rows is None:
                return Difference(value, reason=without_intervals(run.n_bootstrap)), ""

        def moved(shift: float) -> Difference:
            if self.by_runs:
                return run_difference(first.values, second.values + shift, run.level, paired=self.paired, rows=rows)
            return over_runs(value + shift, [], run.level, rows)

        how = "Student's t over runs paired by seed" if self.paired else "Welch's t over runs"
        method = how + self._of_rows(rows, " and ") if self.by_runs else self._of_rows(rows, "Student's t over ")
        if first.bounds is None or second.bounds is None:
            return moved(0.0), method
        ends = second.bounds.mean(axis=0) - first.bounds.mean(axis=0)[::-1]
        lowest, highest = (moved(float(end) - value) for end in ends)
        p_value = 1.0 if ends[0] <= 0 <= ends[1] else max(lowest.p_value, highest.p_value)
        found = Difference(np.nan, lowest.low, highest.high, p_value, lowest.reason)
        return found, f"certified bounds, widened by {method}"


def compare_representations(
    codes: Mapping[str, object] | Sequence[object],
    factors: object,
    metrics: Metrics = None,
    *,
    runs: Runs = None,
    paired_runs: bool = False,
    against: str | None = None,
    primary: str | Sequence[str] | None = None,
    protocol: str = DEFAULT_PROTOCOL,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    bins: Bins = None,
    n_repeats: int = 1,
    n_bootstrap: int | None = None,
    n_permutations: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
) -> RepresentationComparison:
    """Score several representations of the same rows, and test the differences between them.

    Parameters
    ----------
    codes : mapping of str to array-like of shape (n_samples, n_codes) or Codes, or sequence of them
        The representations by name, each as :func:`demele.evaluate` takes it; row r of all is the same sample, and
        numbers of codes may differ. Those of a sequence are called ``codes 1``, ``codes 2``, ...
    factors : array-like of shape (n_samples, n_factors) or (n_samples,), or Factors
        The known factors of these rows. With ``Factors(noise=)`` differences are those of the corrected scores, by
        their values on the same resamples of the rows. Of a rate alone they are the certified bounds, widened by the
        interval over rows (``n_bootstrap``).
    runs : mapping of str to sequence of str, optional
        Training runs of each model: its name and their files. Names of representations; one that is named nowhere is a
        model of one run.
        Differences are then between models. Their intervals are over runs on these rows; with ``n_bootstrap``, over
        runs and rows.
    paired_runs : bool
        Pair runs of models by their order. Run k of every model has the same seed then.
    against : str, optional
        Compare all others with this one (default: all pairs). A representation, or a model.
    primary : str or sequence of str, optional
        Metrics to test; all others are exploratory. They were chosen before the scores were seen. Only their
        differences share the error and can be significant together; all others are exploratory.
    n_bootstrap : int >= 0
        Resamples of the rows. Intervals of single scores are those of :func:`demele.evaluate`; those of differences
        are of scores on as many half-samples, the same for all representations and for every metric.
    level : float in (0, 1)
        Level of every interval by itself. The error of all that is significant together is 1 - level.
    metrics, protocol, options, bins, n_repeats, n_permutations, seed, n_jobs
        As in :func:`demele.evaluate`, for all representations.

    Returns
    -------
    RepresentationComparison
        ``comparison["name"]`` is an Evaluation; ``.differences``, ``.sentence``, ``.sentences``, ``.to_frame()``,
        ``.to_html(path)``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before any computing, naming the representation, column and row.
    WorkerError

    Warns
    -----
    DemeleWarning
        As :func:`demele.evaluate`, with the name of the representation, unless it is true of all.

    Notes
    -----
    Over rows: the standard error of a difference is the standard deviation of the paired differences over half-samples
    without replacement, which have the standard error of the whole; the interval is Student's with ``bootstrap - 1``
    degrees of freedom. Metrics of extreme values (IRS) get none: half of the rows repeat the extremes of all. Over
    runs: Student's interval of the mean of a model, and Welch's of a difference of means, or the paired one. Over runs
    and rows: the variances of both are added (Satterthwaite's degrees of freedom). A difference is significant alone
    where its interval excludes 0, and significant together with all others where Holm's procedure (1979) rejects it.
    Coverage and error were simulated: ``benchmarks/results/paired_differences.csv``, ``run_differences.csv``.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.random((500, 2))
    >>> clean, noisy = factors + 0.05 * rng.normal(size=(500, 2)), factors + 0.3 * rng.normal(size=(500, 2))
    >>> found = demele.compare_representations({"noisy": noisy, "clean": clean}, factors, ["mig"], n_bootstrap=20)
    >>> found.differences[0].better, round(found["clean"]["mig"].value, 2)
    ('clean', 0.56)
    >>> print(found.sentence)
    clean is significantly better by 1 of 1 metric (Holm, 95%).
    """
    if isinstance(codes, Mapping):
        given = dict(codes)
        for name in given:
            if not isinstance(name, str) or not name.strip():
                raise InputTypeError("codes", f"expected names of representations, got {quoted(name)}")
    elif isinstance(codes, list | tuple):
        given = {f"codes {place}": each for place, each in enumerate(codes, start=1)}
    else:
        what = type(codes).__name__
        raise InputTypeError("codes", f"expected a dict of names and codes, or a list of codes, got {what}")
    if len(given) < 2:
        raise InputError(
            "codes", f"expected at least 2 representations, got {len(given)}", "demele.evaluate scores one by itself"
        )
    held = {name: replace(Codes.of(each), name=name) for name, each in given.items()}
    known = Factors.of(factors)
    call = checked_call(
        metrics,
        list(held.values()),
        known,
        protocol=protocol,
        options=options,
        bins=bins,
        n_repeats=n_repeats,
        n_bootstrap=n_bootstrap,
        n_permutations=n_permutations,
        level=level,
        seed=seed,
        n_jobs=n_jobs,
    )
    call = replace(call, run=replace(call.run, halves=True))
    models = checked_models(given, runs, paired=paired_runs)
    pairs = list(combinations(models, 2))
    if against is not None:
        checked_name(against, "against", models)
        pairs = [(against, name) for name in models if name != against]
    chosen = (primary,) if isinstance(primary, str) else tuple(primary or ())
    for name in chosen:
        checked_name(name, "primary", [one.name for one in call.asked])
    said: dict[tuple[str, type[Warning]], dict[str, None]] = {}
    read: dict[str, Callable[[], Evaluation]] = {}
    for name, own in held.items():
        with _naming(name, said):
            read[name] = call.read(own, known)
    evaluations: dict[str, Evaluation] = {}
    with reporting() as report:
        for index, name in enumerate(held):
            part = part_of(report, index, len(held), f"{name}: ")
            with _naming(name, said), reported_to(part):
                evaluations[name] = read.pop(name)()
    for (text, category), names in said.items():  # each once, with the names unless it is about all
        sentence = text if len(names) == len(held) else f"{', '.join(names)}: {text}"
        if issubclass(category, DemeleWarning):
            warn_user(sentence, category)
        else:
            warnings.warn(sentence, category, stacklevel=2)
    compared = _Compared(
        call=call,
        evaluations=evaluations,
        models=models,
        by_runs=runs is not None,
        paired=paired_runs,
        noisy=known.noise is not None,
        primary=chosen,
    )
    return RepresentationComparison(
        evaluations=tuple(evaluations.values()),
        differences=compared.differences(pairs),
        level=call.run.level,
        models=models if runs is not None else {},
        model_scores=tuple(compared.model_scores()) if runs is not None else (),
        paired_runs=paired_runs,
        version=__version__,
    )


# What is compared -----------------------------------------------------------------------------------------------------


def checked_models(
    names: Sequence[str] | Mapping[str, object], runs: Mapping[str, Sequence[str]] | None, *, paired: bool = False
) -> dict[str, tuple[str, ...]]:
    """Return the runs of each model: those named, and every other representation as a model of one run.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        If a run is unknown or named twice, a model has none or the name of another, or runs cannot be paired.
    """
    if runs is None:
        if paired:
            raise InputError("paired_runs", "pairs the runs of models, and no runs are named")
        return {name: (name,) for name in names}
    if not isinstance(runs, Mapping) or not runs:
        raise InputTypeError("runs", "expected a dict of models and the names of their runs")
    model_of: dict[str, str] = {}
    models: dict[str, tuple[str, ...]] = {}
    for model, own in runs.items():
        if isinstance(own, str) or not isinstance(own, Sequence) or not own:
            raise InputTypeError(
                "runs", f"model {model!r}: expected a list of names of representations, got {quoted(own)}"
            )
        for name in own:
            checked_name(name, f"runs[{model!r}]", names)
            if name in model_of:
                other = "twice" if model_of[name] == model else f"and in {model_of[name]!r}"
                raise InputError("runs", f"{name!r} is in {model!r} {other}; a run belongs to one model")
            model_of[name] = str(model)
        models[str(model)] = tuple(own)
    for name in names:
        if name not in model_of:
            if name in models:
                raise InputError("runs", f"model {name!r} has the name of a representation that is not one of its runs")
            models[name] = (name,)
    sizes = {model: len(own) for model, own in models.items()}
    if paired and len(set(sizes.values())) > 1:
        told = ", ".join(f"{model}: {size}" for model, size in sizes.items())
        raise InputError("paired_runs", f"expected as many runs of every model, got {told}")
    return models


# Scores ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _naming(name: str, said: dict[tuple[str, type[Warning]], dict[str, None]]) -> Iterator[None]:
    """Let errors say which representation they are about, and keep what is warned of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DemeleWarning)
        try:
            yield
        except InputError as error:
            raise error.within(name, codes="codes", factors="factors") from error
    for each in caught:
        said.setdefault((str(each.message), each.category), {})[name] = None


# The rate of wrong annotations at which the order of two can turn round -----------------------------------------------

#: Rates are told to this precision.
PRECISION = 2.5e-4
#: Rates up to this one are looked at.
MOST = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Breakdown(TableResult):
    """The breakdown point of the order of two representations, between two rates of wrong annotations.

    Attributes
    ----------
    metric : str
    ahead, behind : str
        Names of the representation that scores higher on the annotations as given, and of the other.
    value_ahead, value_behind : float
        Their scores.
    guaranteed : float
        Certified rate: the order stays with up to this rate of wrong annotations in each factor, in the worst case.
    attained : float
        The order reversed at this rate, with the worst annotations that were found; NaN if half of the annotations did
        not reverse it. The breakdown point lies between the two rates.
    n : int
        Rows (the largest number over factors, where annotations are missing).
    """

    _kind = "breakdown"
    _forms: ClassVar[Mapping[str, str]] = {"guaranteed": "percent.2", "attained": "percent.2"}

    metric: str
    ahead: str
    behind: str
    value_ahead: float
    value_behind: float
    guaranteed: float
    attained: float
    n: int

    def headline(self) -> str:
        """Return the share of wrong annotations up to which the order is certain."""
        title, both = CATALOGUE[self.metric].title, [words.name(one) for one in (self.ahead, self.behind)]
        ahead, behind = written(self.value_ahead), written(self.value_behind)
        if self.value_ahead == self.value_behind:
            return f"By {title}, {both[0]} and {both[1]} score the same, {ahead}."
        rate = f"at most {at_most(self.guaranteed)} of the annotations of each factor are wrong"
        return f"By {title}, {both[0]} ({ahead}) stays ahead of {both[1]} ({behind}) if {rate}."

    def document(self) -> Document:
        """Return the document: the two rates between which the order breaks down."""
        turned = f"Changing {written(self.attained, 'percent.2')} of the annotations of each factor reverses the order"
        worst = f"{turned}, in the worst places that were found."
        none = "No change of half of the annotations was found that reverses the order."
        rates = {"Order certain up to": self.guaranteed, "Order reversed at": self.attained}
        strips = [Strip(title, [Mark("bar", at)], written(at, "percent.2")) for title, at in rates.items()]
        return replace(
            super(Breakdown, self).document(),
            sentences=[none if math.isnan(self.attained) else worst] if self.value_ahead > self.value_behind else [],
            figure=Strips("Wrong annotations of each factor", strips, "percent", zero=0.0),
            scope=[count(self.n, "row")],
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """One representation in bins: its score, its bounds, and what relabelling needs."""

    name: str
    counts: list[Floats]
    codes: "BinnedCodes"
    factors: Rows
    value: float


def breakdown(
    codes_a: object,
    codes_b: object,
    factors: object,
    metric: str = "mig",
    *,
    bins: Bins = 10,
    kinds: Kinds = None,
    missing: Missing = "raise",
    names: tuple[str, str] = ("A", "B"),
) -> Breakdown:
    """Return the rate of wrong annotations that the order of two representations holds up to.

    Parameters
    ----------
    codes_a, codes_b : array-like of shape (n_samples, n_codes), real, finite
        Two representations of the same rows; the numbers of codes may differ.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        The annotations of the same rows.
    metric : {"mig", "mig_sup", "dcimig"}
        By which the two are ordered.
    bins : int, Binning or edges, default 10
        As in :func:`demele.metrics.mig`. An annotation of a continuous factor is wrong if it is in another bin.
    kinds : None, str, mapping or sequence
        As in :func:`demele.evaluate`.
    missing : {"raise", "omit"}, default "raise"
        What to do where annotations are missing: refuse them, or take each factor on the rows annotated for it. Rates
        then are shares of the annotations that a factor has.
    names : tuple of two str
        What the result calls them.

    Returns
    -------
    Breakdown
        ``guaranteed``, a certified rate up to which the order stays; ``attained``, a rate that reversed it. Print it,
        or its ``sentence``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError

    Notes
    -----
    The rate is that of each factor. Guaranteed: the largest rate at which the lower bound of the one is above the upper
    bound of the other (bisection). Attained: annotations are changed where the slope of the difference is steepest, the
    same for both. Both are of these rows; sampling is not in them. Cost: seconds for ten codes and four factors.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> shape = rng.integers(0, 4, (400, 2)).astype(str)
    >>> known = (shape == "0") + 2.0 * (shape == "1") + 3.0 * (shape == "2")
    >>> found = demele.probes.breakdown(known, known + rng.normal(size=(400, 2)), shape, names=("exact", "noisy"))
    >>> found.ahead, 0.01 < found.guaranteed < found.attained
    ('exact', True)
    """
    from demele.estimation.annotation_errors import BOUNDS, BinnedCodes, attained_share, information_bounds, table_of

    rule, of_table = as_binning(bins), CATALOGUE[checked_name(metric, "metric", BOUNDS)].formula

    def formula(table: InformationTable) -> Floats:
        return np.asarray(of_table(table).value)

    if not isinstance(names, Sequence) or len(names) != 2:
        raise InputTypeError("names", f"expected two names, got {quoted(names)}")
    both = []
    for own_name, codes in zip(names, (codes_a, codes_b), strict=True):
        data = InMemory(Subject.of(*read_pair(codes, factors, kinds=kinds, missing=missing))).data
        bins_of = column_bins(data.codes, data.factors, rule)
        rows = bin_rows(data.codes, data.factors, *bins_of)
        counts = list(joint_counts(data.codes, data.factors, *bins_of).tables)
        binned = BinnedCodes(rows.codes, int(rows.code_bins.max()))
        both.append(_Scored(own_name, counts, binned, rows.factors, float(formula(table_of(counts)))))
    ahead, behind = both if both[0].value >= both[1].value else both[::-1]
    guaranteed, attained = 0.0, 0.0
    if ahead.value > behind.value:
        n_values = [table.shape[-1] for table in ahead.counts]
        with reporting() as report:
            attained = attained_share(
                ahead.codes,
                behind.codes,
                ahead.factors,
                n_values,
                formula,
                MOST,
                _half(report, 0, "annotations are changed where it hurts most"),
            )
            high = MOST if math.isnan(attained) else attained
            halvings = math.ceil(math.log2(high / PRECISION)) if high > PRECISION else 0
            for done in range(halvings):
                _half(report, 1, "the order is certified")(done / halvings)
                middle = (guaranteed + high) / 2
                of_both = [information_bounds(one.counts, [middle] * len(n_values)) for one in (ahead, behind)]
                if BOUNDS[metric](of_both[0])[0] > BOUNDS[metric](of_both[1])[1]:
                    guaranteed = middle
                else:
                    high = middle
    return Breakdown(
        metric=metric,
        ahead=ahead.name,
        behind=behind.name,
        value_ahead=ahead.value,
        value_behind=behind.value,
        guaranteed=guaranteed,
        attained=attained,
        n=int(max(table[0].sum() for table in ahead.counts)),
    )


def _half(report: Report | None, half: int, label: str) -> Callable[[float], None]:
    """Return what tells how much of one half of the work is done."""
    return lambda part: None if report is None else report(half + part, 2.0, label)
