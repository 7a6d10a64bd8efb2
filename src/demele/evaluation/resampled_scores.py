"""Scores of one classifier over many splits, and the test that compares two of them."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import checked_flag, checked_level, checked_number
from demele.core.errors import InputError, NotEnoughData
from demele.core.given_arrays import real_numbers
from demele.core.names import checked_name
from demele.core.result import TableResult
from demele.core.results import Interval, Note
from demele.core.sentences import plural
from demele.core.signature import Signature
from demele.evaluation.results import Verdict
from demele.report.words import count, ends, written

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]


Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ResampledScores(TableResult):
    """The scores of one estimator, trained and tested repeatedly on parts of the same data.

    Attributes
    ----------
    measure : str
        What the scores are: ``"error"``, or the name of a scorer.
    scores : array of shape (n_scores,)
        One per training.
    better : {"higher", "lower"}
        Which scores are better.
    n, n_train, n_test : float
        Instances in all, and on average over the trainings: distinct ones trained on, and ones tested on.
    interval : Interval
        Its kind says what it covers: ``"sampling"``, what other data would have given on average; ``"resampling"``,
        where the scores of single trainings lie.
    parts : mapping of str to array of shape (n_scores,)
        What each score was made of.
    signature : Signature
        How they were made. Scores with the same arguments and the same digest of ``splits`` can be paired.
    """

    _kind = "resampled scores"

    measure: str
    scores: Floats
    better: Better
    n: int
    n_train: float
    n_test: float
    interval: Interval
    parts: Mapping[str, Floats] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    signature: Signature

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return float(np.mean(self.scores))

    @property
    def std(self) -> float:
        """Standard deviation of the scores (n - 1); NaN for a single one."""
        return float(np.std(self.scores, ddof=1)) if self.scores.size > 1 else math.nan

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per training: the score, and what it was made of."""
        import pandas as pd

        return pd.DataFrame({self.measure: self.scores, **self.parts})

    def headline(self) -> str:
        """Return the mean score with its interval."""
        trained = count(self.scores.size, "training")
        span = written(ends(self.interval))
        return f"The mean {self.measure} over {trained} is {written(self.mean)} {span} ({self.interval.kind})."


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TTest(TableResult):
    """A paired t-test of two estimators over the same splits.

    Attributes
    ----------
    verdict : {"baseline", "candidate", "inconclusive"}
        Which is shown to be better, if any.
    difference : float
        Mean of candidate minus baseline.
    interval : Interval
        Interval of that difference.
    t, degrees_of_freedom, p_value : float
        Student's statistic, and two-sided probability of one as far from 0. NaN if all differences are the same.
    ratio : float
        Instances tested on per instance trained on, which the correction adds; 0 without correction.
    """

    _kind = "paired t-test"

    verdict: Verdict
    difference: float
    interval: Interval
    t: float
    degrees_of_freedom: int
    p_value: float
    ratio: float
    n_scores: int
    notes: tuple[Note, ...] = ()

    def headline(self) -> str:
        """Return the better estimator, and the difference."""
        better = f"The {self.verdict} is significantly better"
        verdict = "Inconclusive" if self.verdict == "inconclusive" else better
        by = f"candidate minus baseline {written(self.difference)} {written(ends(self.interval))}"
        return f"{verdict}: {by}, p = {written(self.p_value, 'p')}, over {count(self.n_scores, 'score')}."

    def to_frame(self) -> "pd.DataFrame":
        """Return the test as one row."""
        import pandas as pd

        keys = ("verdict", "difference", "low", "high", "t", "degrees_of_freedom", "p_value")
        found = asdict(self) | {"low": self.interval.low, "high": self.interval.high}
        return pd.DataFrame([{key: found[key] for key in keys}])

    @property
    def corrected(self) -> bool:
        """Whether it allows for folds that share training data."""
        return self.ratio > 0


def corrected_t_test(
    scores_baseline: "ArrayLike | ResampledScores",
    scores_candidate: "ArrayLike | ResampledScores",
    *,
    test_fraction: float | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    corrected: bool = True,
    better: Better | None = None,
    level: float = 0.95,
) -> TTest:
    """Compare two estimators by their scores over the same splits, corrected for shared training data.

    Parameters
    ----------
    scores_baseline, scores_candidate : array-like of shape (n_scores,), or results of :func:`repeated_scores`
        Score r of both comes from the same split. Results know the sizes of their splits, and are refused if these
        were not the same splits.
    test_fraction : float in (0, 1)
        Share of the instances that each training was tested on: 0.1 for 10 folds.
    n_train, n_test : float > 0
        The same by numbers of instances.
    corrected : bool
        False: the plain paired t-test, as if the scores were independent.
    better : {"higher", "lower"}
        Which scores are better; by default higher, and what results say of themselves.
    level : float in (0, 1)
        Two-sided: each of the verdicts "candidate" and "baseline" errs with probability (1 - level) / 2, as far as
        the test keeps its level.

    Returns
    -------
    TTest

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Source: Nadeau and Bengio 2003; for repeated folds, Bouckaert and Frank 2004. With J differences of mean m and
    variance s^2: t = m / sqrt(s^2 (1/J + n_test/n_train)), on J - 1 degrees of freedom.

    The plain test takes s^2 / J for the variance of m, as for independent differences. They are not: any two trainings
    share most of their instances, so that all differences move together when other data are drawn. More repeats make
    s^2 / J as small as one likes while m stays as uncertain as the data leave it. The plain test then finds differences
    where there are none, far more often than its level says (simulated: two equally good classifiers, 15 holdouts of a
    third of 60 instances, level 90%: 50 to 54% of verdicts wrong instead of 10%, with the correction 7 to 10%); that is
    why it is not the default. The added n_test/n_train stands for the correlation of the differences, which cannot be
    estimated from the same scores.

    Examples
    --------
    >>> test = corrected_t_test([0.80, 0.81, 0.82], [0.81, 0.83, 0.85], test_fraction=0.1)
    >>> round(test.t, 6), test.verdict
    (3.0, 'inconclusive')
    >>> plain = corrected_t_test([0.80, 0.81, 0.82], [0.81, 0.83, 0.85], corrected=False)
    >>> round(plain.t, 4)
    3.4641
    """
    from scipy import stats

    level = checked_level(level)
    both = [result for result in (scores_baseline, scores_candidate) if isinstance(result, ResampledScores)]
    if len(both) == 2:
        _check_same_splits(*both)
    first = _read_scores(scores_baseline, "scores_baseline")
    second = _read_scores(scores_candidate, "scores_candidate")
    if first.size != second.size:
        raise InputError(
            ("scores_baseline", "scores_candidate"),
            f"expected as many scores of both, got {first.size} and "
            f"{second.size}; score r of both must come from the same split",
        )
    if first.size < 2:
        raise NotEnoughData("scores_baseline", f"expected at least 2 scores, got {first.size}")
    direction = _direction(better, both)
    ratio = _ratio(test_fraction, n_train, n_test, both) if checked_flag(corrected, "corrected") else 0.0
    differences = second - first
    mean, count = float(differences.mean()), differences.size
    t, p_value, low, high = (math.nan,) * 4
    notes: tuple[Note, ...] = ()
    if varies(differences, scale=float(max(np.abs(first).max(), np.abs(second).max()))):
        t = mean / math.sqrt(float(differences.var(ddof=1)) * (1 / count + ratio))
        p_value = float(2 * stats.t.sf(abs(t), count - 1))
        low, high = t_interval(differences, ratio, level)
    else:
        message = "all differences are the same, so their spread is unknown and no test is possible"
        notes = (Note(code="constant-differences", message=message),)
    verdict: Verdict = "inconclusive"
    if p_value <= 1 - level:
        verdict = "candidate" if mean * direction > 0 else "baseline"
    method = "corrected resampled t-test" if corrected else "paired t-test"
    return TTest(
        verdict=verdict,
        difference=mean,
        interval=Interval(low=low, high=high, level=level, method=method),
        t=t,
        degrees_of_freedom=count - 1,
        p_value=p_value,
        ratio=ratio,
        n_scores=count,
        notes=notes,
    )


def t_interval(values: Floats, ratio: float, level: float) -> tuple[float, float]:
    """Return the interval of the mean of values that share training data."""
    from scipy import stats

    deviation = math.sqrt(float(values.var(ddof=1)) * (1 / values.size + ratio))
    half = float(stats.t.isf((1 - level) / 2, values.size - 1)) * deviation
    return float(values.mean()) - half, float(values.mean()) + half


def varies(values: Floats, scale: float | None = None) -> bool:
    """Whether values differ by more than the rounding of numbers of that size."""
    size = float(np.abs(values).max()) if scale is None else scale
    return bool(np.ptp(values) > 8 * np.finfo(np.float64).eps * size)


def value_or(value: Any, default: Any) -> Any:
    """Return the value, or a default instead of None."""
    return default if value is None else value


def _read_scores(scores: Any, argument: str) -> Floats:
    values = scores.scores if isinstance(scores, ResampledScores) else scores
    array = real_numbers(values, argument, "numbers of shape (n_scores,)")
    if array.ndim != 1:
        raise InputError(argument, f"expected shape (n_scores,), got {array.shape}; put all repeats in one row")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InputError(
            argument, f"{plural(bad.size, 'score is', 'scores are')} NaN or infinite, first at position {bad[0]}"
        )
    return array


def _check_same_splits(first: ResampledScores, second: ResampledScores) -> None:
    if first.measure != second.measure:
        raise InputError("scores_candidate", f"expected {first.measure}, as the baselines, got {second.measure}")
    if first.signature.context["splits"] != second.signature.context["splits"]:
        raise InputError(
            ("scores_baseline", "scores_candidate"),
            "they come from different splits, and cannot be paired; "
            f"use the same data, folds and seed: {first.signature} and {second.signature}",
        )


def _direction(better: object, results: list[ResampledScores]) -> int:
    known = {result.better for result in results}
    if better is None:
        better = next(iter(known), "higher")
    checked_name(better, "better", ("higher", "lower"))
    if known and known != {better}:
        raise InputError(
            "better", f"{better} was given, but of {results[0].measure} {', '.join(sorted(known))} is better"
        )
    return 1 if better == "higher" else -1


def _ratio(test_fraction: Any, n_train: Any, n_test: Any, results: list[ResampledScores]) -> float:
    """Return the instances tested on per instance trained on."""
    if test_fraction is None and n_train is None and n_test is None and results:
        n_train, n_test = results[0].n_train, results[0].n_test
    if test_fraction is not None:
        if n_train is not None or n_test is not None:
            raise InputError("test_fraction", "expected it, or n_train and n_test, got both")
        expected = "a number between 0 and 1, such as 0.1"
        share = checked_number(test_fraction, "test_fraction", expected, inside=lambda share: 0 < share < 1)
        return share / (1 - share)
    if n_train is None or n_test is None:
        raise InputError(
            "test_fraction",
            "expected the share of the instances that is tested on, such as 0.1 for 10 folds "
            "(or n_train and n_test), got none; the correction depends on it",
        )
    for name, value in (("n_train", n_train), ("n_test", n_test)):
        checked_number(value, name, "a positive number of instances", inside=lambda count: 0 < count < math.inf)
    return float(n_test / n_train)
