"""Scores of one classifier over many splits, and the test that compares two of them."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from demele.classifiers.results import Verdict
from demele.core.arrays import Array, Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.kinds import Count, Jobs, Level, Positive, Seed, Several, between, checked
from demele.core.labelled import read_labels
from demele.core.result import Interval, Note, TableResult
from demele.core.signature import Signature
from demele.core.table_columns import check_same_order, items_of, number_column, real_numbers, whole_array
from demele.core.version import __version__
from demele.report.words import count, ends, written
from demele.runtime.work import Watched, lost_workers_told

Better = Literal["higher", "lower"]
#: Rows to train on, and to test on.
Split = tuple[Rows, Rows]


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
        keys = ("verdict", "difference", "low", "high", "t", "degrees_of_freedom", "p_value")
        found = asdict(self) | {"low": self.interval.low, "high": self.interval.high}
        return pd.DataFrame([{key: found[key] for key in keys}])

    @property
    def corrected(self) -> bool:
        """Whether it allows for folds that share training data."""
        return self.ratio > 0


@checked
def corrected_t_test(
    scores_baseline: "ArrayLike | ResampledScores",
    scores_candidate: "ArrayLike | ResampledScores",
    *,
    test_fraction: Annotated[float, between(0, 1, "()")] | None = None,
    n_train: Positive | None = None,
    n_test: Positive | None = None,
    corrected: bool = True,
    better: Better | None = None,
    level: Level = 0.95,
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

    both = [result for result in (scores_baseline, scores_candidate) if isinstance(result, ResampledScores)]
    if len(both) == 2:
        if both[0].measure != both[1].measure:
            raise InputError("scores_candidate", f"expected {both[0].measure}, as the baselines, got {both[1].measure}")
        if both[0].signature.context["splits"] != both[1].signature.context["splits"]:
            message = f"different splits cannot be paired: {both[0].signature} and {both[1].signature}"
            raise InputError(("scores_baseline", "scores_candidate"), message, "use the same data, folds and seed")
    first = _read_scores(scores_baseline, "scores_baseline")
    second = _read_scores(scores_candidate, "scores_candidate")
    if first.size != second.size:
        message = f"expected as many scores of both, got {first.size} and {second.size}"
        raise InputError(("scores_baseline", "scores_candidate"), message, "score r of both must come from one split")
    if first.size < 2:
        raise NotEnoughData("scores_baseline", f"expected at least 2 scores, got {first.size}")
    known = {result.better for result in both}
    better = better or next(iter(known), "higher")
    if known and known != {better}:
        raise InputError("better", f"{better} was given, but of {both[0].measure} {', '.join(sorted(known))} is better")
    ratio = 0.0
    if corrected:  # the instances tested on per instance trained on
        if both and test_fraction is None and n_train is None and n_test is None:
            n_train, n_test = both[0].n_train, both[0].n_test
        if test_fraction is not None and n_train is None and n_test is None:
            ratio = test_fraction / (1 - test_fraction)
        elif test_fraction is None and n_train is not None and n_test is not None:
            ratio = float(n_test / n_train)
        else:
            message = "expected the share of the instances that is tested on, or else n_train and n_test"
            raise InputError("test_fraction", message, "give one of them, such as 0.1 for 10 folds")
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
        verdict = "candidate" if (mean > 0) == (better == "higher") else "baseline"
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


def _read_scores(scores: Any, argument: str) -> Floats:
    values = scores.scores if isinstance(scores, ResampledScores) else scores
    array = real_numbers(values, argument, "numbers of shape (n_scores,)")
    return number_column(array, argument, array.size, "split", "finite numbers", inside=np.isfinite)


# Test procedures: how well what an estimator learns will do, and whether one learns better than another ---------------


#: A random sample with replacement of n of n holds a given one with probability 1 - (1 - 1/n)^n, about 1 - 1/e.
SEEN = 0.632
#: Draws of a bootstrap sample that nothing can be learned from, before its data are given up.
DRAWS = 100


@checked
def bootstrap_632(
    estimator: Any,
    X: Any,  # noqa: N803 - scikit-learn's name
    y: object,
    *,
    n_repeats: Several = 100,
    stratified: bool = False,
    seed: Seed = 0,
    level: Level = 0.95,
    n_jobs: Jobs | None = None,
) -> ResampledScores:
    """Estimate the error by the .632 bootstrap: trained on n instances drawn with replacement, tested on the others.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Cloned for each repeat, never changed. Where its ``random_state`` is None it gets one from ``seed``.
    X : array-like of shape (n, n_features)
        Anything that the estimator and scikit-learn's indexing take.
    y : array-like of shape (n,)
        Classes.
    n_repeats : int >= 2
        Number of samples drawn.
    stratified : bool
        Draw as many instances of each class as there are.
    seed : int >= 0
    level : float in (0, 1)
        Level of the interval.
    n_jobs : int, optional
        Processes, as in scikit-learn; the result does not depend on them.

    Returns
    -------
    ResampledScores
        One error in [0, 1] per repeat, 0 is best; ``parts`` holds ``"test"`` and ``"resubstitution"``. The interval
        goes from one percentile of the repeats to another: it shows the spread of single trainings, and is not an
        interval of the error on new data (the instances not drawn differ little between repeats).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Source: Efron 1983; Witten et al., chapter 5; Benjelloun, eq. 2.1. Each repeat gives
    err = 0.632 err_test + 0.368 err_resub: the error on the instances not drawn is too high, since only 63.2% of the
    instances were trained on; that on the drawn ones is too low. Others compute the second part once, from a training
    on all instances. An estimator that learns by heart has err_resub = 0 and so an error that is too low by a third.

    A sample is drawn again if it leaves no instance to test on, or holds one class only although y holds more.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestCentroid
    >>> x = np.arange(40.0)[:, None]
    >>> result = bootstrap_632(NearestCentroid(), x, x[:, 0] >= 20, n_repeats=50)
    >>> result.scores.size, result.mean < 0.05, round(result.n_train / result.n, 1)
    (50, True, 0.6)
    """
    from sklearn.utils import resample

    classes = _read_data(estimator, X, y)
    several, index = bool((classes != classes[0]).any()), np.arange(classes.size)
    splits, redrawn = list[Split](), 0
    for repeat in range(n_repeats):
        rng = rng_for(seed, "bootstrap_632", repeat)
        for _ in range(DRAWS):
            state = int(rng.integers(2**32))
            drawn = resample(index, stratify=classes if stratified else None, random_state=state)
            rest = np.setdiff1d(index, drawn)
            if rest.size and (not several or (classes[drawn] != classes[drawn[0]]).any()):
                splits.append((drawn, rest))
                break
            redrawn += 1
        else:
            message = f"{DRAWS} bootstrap samples of {index.size} instances left none to test on, or hold one class"
            remedy = "give more instances" + ("" if stratified else ", or pass stratified=True")
            raise NotEnoughData("y", message, remedy)
    arguments: dict[str, object] = {"n_repeats": n_repeats, "stratified": stratified, "seed": seed, "level": level}
    right = _cross_validate(estimator, X, classes, splits, "accuracy", seed, n_jobs, return_train_score=True)
    test, resubstitution = 1 - right["test_score"], 1 - right["train_score"]
    scores = SEEN * test + (1 - SEEN) * resubstitution
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    message = f"{redrawn} samples were drawn again: they left no instance to test on, or had one class only"
    return _result(
        "bootstrap_632",
        estimator,
        arguments,
        classes.size,
        splits,
        measure="error",
        scores=scores,
        better="lower",
        interval=Interval(low=float(low), high=float(high), level=level, method="percentiles", kind="resampling"),
        parts={"test": test, "resubstitution": resubstitution},
        notes=(Note(code="redrawn-samples", message=message),) if redrawn else (),
    )


@checked
def repeated_scores(
    estimator: Any,
    X: Any,  # noqa: N803 - scikit-learn's name
    y: object,
    *,
    folds: Several | None = None,
    n_repeats: Count | None = None,
    stratified: bool | None = None,
    scoring: str | Callable[[Any, Any, Any], float] = "accuracy",
    cv: Any = None,
    seed: Seed = 0,
    level: Level = 0.95,
    n_jobs: Jobs | None = None,
) -> ResampledScores:
    """Score an estimator by repeated k-fold cross-validation, or by any of scikit-learn's splitters.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Cloned for each training, never changed. Where its ``random_state`` is None it gets one from ``seed``.
    X : array-like of shape (n, n_features)
        Anything that the estimator and scikit-learn's indexing take.
    y : array-like of shape (n,)
        Classes.
    folds : int >= 2
        By default 10. Each instance is tested on once per repeat.
    n_repeats : int >= 1
        By default 10, each with other folds.
    stratified : bool
        By default True: each fold holds about the same share of each class.
    scoring : str or callable
        A name of scikit-learn's scorers, or a function of (estimator, X, y); more is better.
    cv : splitter or iterable of (train, test) indices, optional
        Instead of the three above: ``StratifiedShuffleSplit`` with ``n_splits=1`` for a holdout, ``LeaveOneOut``, a
        list of ``GroupKFold().split(X, y, groups)`` if instances belong together.
    seed : int >= 0
    level : float in (0, 1)
        Level of the interval.
    n_jobs : int, optional
        Processes, as in scikit-learn; the result does not depend on them.

    Returns
    -------
    ResampledScores
        One score per training. The interval is of the expected score of a training on so many instances, with
        the correction of :func:`corrected_t_test`: the scores share training data, so that their own standard error
        is far too small. Its ends are NaN for a single training, and where all scores are the same: for a holdout,
        take :func:`demele.classifiers.stats.score_interval` of the instances predicted right.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError

    Notes
    -----
    Source: Benjelloun, chapter 2; interval: Nadeau and Bengio 2003, mean -+ t sqrt(variance (1/J + n_test/n_train)).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestCentroid
    >>> x = np.arange(40.0)[:, None]
    >>> result = repeated_scores(NearestCentroid(), x, x[:, 0] >= 20, folds=5, n_repeats=2)
    >>> result.scores.size, result.n_train, result.n_test, result.mean > 0.9
    (10, 32.0, 8.0, True)
    """
    from sklearn.metrics import get_scorer_names
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv

    classes = _read_data(estimator, X, y)
    given = {"folds": folds, "n_repeats": n_repeats, "stratified": stratified}
    if cv is None:
        folds, n_repeats, stratified = folds or 10, n_repeats or 10, stratified is not False
        if folds > classes.size:
            raise NotEnoughData("folds", f"expected at most {classes.size}, the number of instances, got {folds}")
        names, counts = np.unique(classes, return_counts=True)
        if stratified and counts.min() < folds:
            rare = names[counts.argmin()]
            message = f"class {rare!s} has {counts.min()} instances, fewer than the {folds} folds"
            raise NotEnoughData("y", message, "use fewer folds, or pass stratified=False")
        splitter = RepeatedStratifiedKFold if stratified else RepeatedKFold
        state = int(rng_for(seed, "repeated_scores").integers(2**32))
        cv = splitter(n_splits=folds, n_repeats=n_repeats, random_state=state)
        arguments: dict[str, object] = {"folds": folds, "n_repeats": n_repeats, "stratified": stratified}
    else:
        extra = [name for name, value in given.items() if value is not None]
        if extra:
            raise InputError(f"cv and {extra[0]}: expected one of them, got both; cv says how to split all by itself")
        arguments = {"cv": cv if isinstance(cv, int) else type(cv).__name__}
    named = str(getattr(scoring, "__name__", type(scoring).__name__)) if callable(scoring) else scoring
    if not isinstance(named, str):
        raise InputTypeError("scoring", f"expected one name or a function, got {type(scoring).__name__}")
    if not callable(scoring) and named not in get_scorer_names():
        raise UnknownNameError("scoring", f"{scoring!r} is no scorer of scikit-learn, such as 'accuracy', 'f1_macro'")
    if hasattr(cv, "split") and not hasattr(cv, "get_n_splits"):
        raise InputTypeError("cv", f"expected a splitter of scikit-learn, got {type(cv).__name__}")
    try:
        of_indices = isinstance(cv, Iterable) and not hasattr(cv, "split")
        pairs = list(cv if of_indices else check_cv(cv, classes, classifier=True).split(X, classes))
    except (TypeError, ValueError) as error:
        told = f"expected a splitter of scikit-learn or pairs of indices, got {quoted(cv)}: {error}"
        raise InputError("cv", told) from error
    splits = list[Split]()
    for pair in pairs:
        parts = [whole_array(part, "cv", dimensions=1) for part in items_of(pair, "cv", "pairs of indices")]
        if len(parts) != 2:
            raise InputError("cv", f"expected pairs of indices, got {quoted(pair)}")
        splits.append((parts[0], parts[1]))
    scores = np.asarray(_cross_validate(estimator, X, classes, splits, scoring, seed, n_jobs)["test_score"], np.float64)
    notes: tuple[Note, ...] = ()
    low, high = math.nan, math.nan
    if varies(scores):
        n_train, n_test = _sizes(splits)
        low, high = t_interval(scores, n_test / n_train, level)
    elif scores.size > 1:
        notes = (Note(code="constant-scores", message="all scores are equal, so their spread gives no interval"),)
    return _result(
        "repeated_scores",
        estimator,
        arguments | {"scoring": named, "seed": seed, "level": level},
        classes.size,
        splits,
        measure=named,
        scores=scores,
        better="higher",
        interval=Interval(low=low, high=high, level=level, method="corrected resampled t"),
        notes=notes,
    )


# Training and testing -----------------------------------------------------------------------------------------------


def _sizes(splits: list[Split]) -> tuple[float, float]:
    """Return how many instances are trained on, each once, and tested on; on average."""
    trained = float(np.mean([np.unique(train).size for train, _ in splits]))
    return trained, float(np.mean([test.size for _, test in splits]))


def _result(
    name: str, estimator: Any, arguments: dict[str, object], n: int, splits: list[Split], **known: Any
) -> ResampledScores:
    """Return scores with what the splits were, and the call that made them."""
    digest = hashlib.blake2b(b"".join(part.tobytes() + b"|" for pair in splits for part in pair), digest_size=6)
    made = {"estimator": type(estimator).__name__, "splits": digest.hexdigest()}
    n_train, n_test = _sizes(splits)
    signature = Signature(name, arguments, {"n": str(n), **made, "demele": __version__})
    return ResampledScores(n=n, n_train=n_train, n_test=n_test, signature=signature, **known)


def _cross_validate(
    estimator: Any,
    X: Any,  # noqa: N803 - scikit-learn's name
    y: Array,
    splits: list[Split],
    scoring: Any,
    seed: int,
    n_jobs: int | None,
    **options: bool,
) -> dict[str, Floats]:
    """Train and test on every split, as scikit-learn does."""
    from sklearn.base import clone
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import cross_validate

    parameters = estimator.get_params(deep=True)
    unset = [name for name in sorted(parameters) if name.split("__")[-1] == "random_state" and parameters[name] is None]
    seeds = {name: int(rng_for(seed, "estimator", name).integers(2**31)) for name in unset}
    # The scorer is what we can give to processes of scikit-learn: where it arrives, they begin to look after this one.
    scorer = scoring if n_jobs in (None, 1) else Watched(check_scoring(estimator, scoring=scoring))
    known = {"cv": splits, "scoring": scorer, "n_jobs": n_jobs, "error_score": "raise", **options}
    with lost_workers_told("n_jobs"):
        return dict(cross_validate(clone(estimator).set_params(**seeds), X, y, **known))


# The door -----------------------------------------------------------------------------------------------------------


def _read_data(estimator: Any, X: Any, y: object) -> Array:  # noqa: N803 - scikit-learn's name
    """Check the estimator and that rows match; return the classes as integers or strings."""
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in ("fit", "predict", "get_params")):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
        raise InputTypeError("estimator", f"expected a classifier such as LogisticRegression(), got {what}")
    classes = read_labels(y, "y")
    shape = getattr(X, "shape", None)
    if shape == () or not isinstance(shape, tuple | None) or (shape is None and not hasattr(X, "__len__")):
        raise InputTypeError(f"X: expected a table of shape (n, n_features), got {type(X).__name__}")
    rows = shape[0] if shape else len(X)
    if rows != classes.size:
        raise InputError(f"X and y: expected the same number of rows, got {rows} and {classes.size}")
    check_same_order(X, y, ("X", "y"))
    if rows < 2:
        raise NotEnoughData("y", f"expected at least 2 instances, got {rows}")
    return classes.astype(str) if classes.dtype.kind == "O" else classes
