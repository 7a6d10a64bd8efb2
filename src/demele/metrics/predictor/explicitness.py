"""Explicitness: how well probes of the codes tell each value, and by predictors of growing capacity."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import NotEnoughData
from demele.core.inputs import Factor
from demele.core.kinds import Count, Fraction, Positive
from demele.core.result import Note, Severity
from demele.estimation.information import mean_of_defined
from demele.metrics.data import Data, above, factor_splits, fewer_than_asked, split
from demele.metrics.guards import FRAGILE, moved_notes
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import Bins, RunOptions

_ProbeMetric = partial(
    Metric, family="predictor", properties=("explicitness",), native="per factor", range=(-1.0, 1.0), slow=1
)
#: Up to so many training rows a fixed penalty of the probes is worth a second look.
PENALTY_MATTERS = 5_000


@_ProbeMetric(
    title="Explicitness",
    source="Ridgeway & Mozer 2018, section 3",
    references=("ridgeway2018learning",),
    definition="2 AUC - 1 of one-vs-rest logistic regressions on the codes, mean over the factor's values",
    aliases=("explicitness_score",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    undefined="no value of them is both in the training and in the test rows",
    probe=("penalty", (1.0, 0.25, 0.5, 2.0, 4.0)),
    in_groups=True,
    corrected_by=("transition",),
)
def explicitness(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = 10,
    classifier: Literal["one-vs-rest", "multinomial"] = "one-vs-rest",
    probabilities: Literal["normalised", "raw"] = "normalised",
    penalty: Positive = 1.0,
    class_weight: Literal["balanced"] | None = "balanced",
    scaling: Literal["min-max", "standard"] = "min-max",
    score_on: Literal["unseen", "training"] = "unseen",
    n_train: Count | None = None,
    n_test: Count | None = None,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Native:
    """Explicitness score: accuracy of linear classifiers of the values of each factor from the codes.

    For each value of a factor, the area under the ROC curve of a logistic regression of that value against the rest;
    2 AUC - 1, mean over values, then over factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are scaled on the training rows.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    classifier : {"one-vs-rest", "multinomial"}
    probabilities : {"normalised", "raw"}
        One-vs-rest probabilities divided by their sum over the values, as a multi-class classifier gives them, or each
        as it is. Matters for a factor that one code follows monotonically: one linear function cannot detect its middle
        values, so ``"raw"`` gives a perfect code about 0.56.
    penalty : float, default 1.0
        Inverse strength C of the quadratic penalty.
    class_weight : {"balanced", None}
        Whether all values weigh the same in training, or all rows.
    scaling : {"min-max", "standard"}
    score_on : {"unseen", "training"}
        Rows on which the AUC is measured. On the training rows noise scores above 0.
    n_train, n_test : int, optional
        Rows of the split; halves by default.
    report : {"above-chance", "unscaled"}
        2 AUC - 1, or the AUC itself, as disentanglement_lib reports it.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [-1, 1], best 1, chance 0 (unscaled: in [0, 1], chance 0.5); ``per_factor``;
        ``details["by_value"]``: of each value of each factor.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Ridgeway & Mozer 2018, section 3.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> shape = rng.integers(0, 3, 600)
    >>> codes = np.eye(3)[shape] + 0.01 * rng.normal(size=(600, 3))
    >>> round(demele.metrics.explicitness(codes, shape).value, 2)
    1.0
    """
    from demele.estimation.logistic import explicitness_by_value

    labels, n_levels = data.factor_labels(bins)
    codes = data.standardised()
    scores = np.full(data.factors.m, np.nan)
    freer = np.full(data.factors.m, np.nan)
    by_value: dict[str, Any] = {}
    notes = list(fewer_than_asked(data.n, n_train, n_test))
    for index, factor, train, test in factor_splits(data, n_train, n_test, score_on, streams):
        aucs_at = partial(
            explicitness_by_value,
            codes,
            labels[:, index],
            n_levels[index],
            train_rows=train,
            test_rows=test,
            classifier=classifier,
            probabilities=probabilities,
            scaling=scaling,
            balanced=class_weight == "balanced",
            transition=data.transition_of(factor),
        )
        aucs = aucs_at(C=penalty)
        if len(train) <= PENALTY_MATTERS and not data.drawn_from:  # what a part would say of it, nobody reads
            freer[index] = mean_of_defined(above(aucs_at(C=100 * penalty), 0.5, report))
        occupied = np.bincount(labels[labels[:, index] >= 0, index], minlength=n_levels[index]) > 0
        undefined = int((occupied & np.isnan(aucs)).sum())
        if undefined:
            are, they = ("is", "it is") if undefined == 1 else ("are", "they are")
            message = (
                f"{undefined} of {int(occupied.sum())} values of factor {factor.name!r} {are} too rare to be both in "
                f"the training and in the test rows; {they} left out"
            )
            notes.append(Note(code="value-without-auc", message=message, subject=(factor.name,), severity="warning"))
        by_value[factor.name] = above(aucs, 0.5, report)
        scores[index] = mean_of_defined(by_value[factor.name])
    value, free = float(mean_of_defined(scores)), float(mean_of_defined(freer))
    reason = f"the penalty of the probes decides much of it: with penalty={100 * penalty:g}"
    notes += moved_notes("penalty", reason, value, free)
    return Native(value=mean_of_defined(scores), per_factor=scores, details={"by_value": by_value}, notes=tuple(notes))


# Explicitness by loss and capacity ------------------------------------------------------------------------------------

# Probes of growing capacity -------------------------------------------------------------------------------------------

#: Penalties tried, relative to the mean eigenvalue.
PENALTIES = np.geomspace(1e-8, 1e2, 21)
#: Rows among which distances are taken.
DISTANT_ROWS = 500
#: Depths of forests, and their trees.
DEPTHS, N_TREES = (1, 2, 4, 8, 16, 32), 30


def area_explicitness(capacity: Sequence[float], loss: Sequence[float], worst: float = 1.0) -> float:
    """Return the explicitness of one curve of losses over capacities (Eastwood et al. 2023).

    Parameters
    ----------
    capacity : sequence of float, increasing
        Such as the logarithm of a number of features.
    loss : sequence of float
        On rows not seen. The smallest so far counts, and at most ``worst``.
    worst : float
        Loss of knowing nothing.

    Returns
    -------
    float
        In [-1, 1]: 1 where the smallest capacity does as well as any, 0 for a straight line from ``worst`` to 0, -1
        where only the largest gains anything.

    Examples
    --------
    >>> area_explicitness([1, 2], [0.5, 0.0]), area_explicitness([1, 2, 3], [1.0, 1.0, 0.0])
    (0.5, -0.5)
    """
    x, y = np.asarray(capacity, dtype=float), np.minimum(np.minimum.accumulate(np.asarray(loss, dtype=float)), worst)
    above = y - y[-1]
    area = float(((above[1:] + above[:-1]) / 2 * np.diff(x)).sum())
    return float(1.0 - 2.0 * area / ((x[-1] - x[0]) * worst))


def fourier_features(codes: Floats, train: Rows, n_features: int, rng: np.random.Generator) -> Floats:
    """Return random Fourier features of standardised codes, centred on the training rows.

    The bandwidth is the median distance of training rows. Features are nested: fewer are the first of more.
    """
    some = codes[rng.permutation(train)[:DISTANT_ROWS]]
    squares = (some**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * some @ some.T, 0.0))[np.triu_indices(len(some), 1)]
    bandwidth = float(np.median(distances)) if len(distances) else 1.0
    waves = rng.standard_normal((n_features, codes.shape[1])) / (bandwidth or 1.0)
    phases = rng.uniform(0, 2 * np.pi, n_features)
    features = np.cos(codes @ waves.T + phases)
    return np.asarray(features - features[train].mean(axis=0))


def ridge_predictions(
    features: Floats, targets: Sequence[Floats], train: Rows, test: Rows, sizes: Sequence[int]
) -> list[list[Floats]]:
    """Return predictions of test rows from the first columns of the features, for each size and each target.

    Parameters
    ----------
    features : array of shape (n, n_features), centred on the training rows
    targets : sequence of arrays of shape (n, n_outputs)
        All in one solution; each has its own penalty, by generalised cross-validation of all its outputs.
    sizes : sequence of int
        Columns that are used.
    """
    seen, unseen, n = features[train], features[test], len(train)
    gram = seen.T @ seen
    means = [target[train].mean(axis=0) for target in targets]
    centred = [target[train] - mean for target, mean in zip(targets, means, strict=True)]
    products = [seen.T @ one for one in centred]
    totals = [float((one**2).sum()) for one in centred]
    found = []
    for size in sizes:
        values, vectors = np.linalg.eigh(gram[:size, :size])
        values = np.maximum(values, 0.0)
        penalties = PENALTIES * max(float(values.mean()), np.finfo(float).tiny)
        shrunk = values[:, None] + penalties
        room = np.maximum(n - 1.0 - (values[:, None] / shrunk).sum(axis=0), 1e-9)
        own = []
        for product, total, mean in zip(products, totals, means, strict=True):
            turned = vectors.T @ product[:size]
            power = (turned**2).sum(axis=1)[:, None]
            rest = np.maximum(total - (power * (shrunk + penalties) / shrunk**2).sum(axis=0), 0.0)
            best = int(np.argmin(rest / room**2))
            weights = vectors @ (turned / shrunk[:, [best]])
            own.append(mean + unseen[:, :size] @ weights)
        found.append(own)
    return found


#: Numbers of random features; a linear predictor counts as one.
FEATURES = tuple(16 * 4**step for step in range(12))
#: Deviations by which the smallest of several losses must be below that of knowing nothing.
GAINED = 3.0
#: Training rows up to which features are drawn a second time, to see how far the score hangs on the draw: it costs
#: little there.
DRAWN_TWICE = 1_000
#: Scores of two draws that are closer are alike.
SAME = 0.01


def loss_of(predicted: Floats, factor: Factor, train: Rows, test: Rows) -> float:
    """Return 1 - accuracy, or the squared error relative to the variance around the mean of the training rows."""
    truth = factor.values[test]
    if factor.categorical:
        return float((predicted != truth).mean())
    around = float(np.square(truth - factor.values[train].mean()).sum())
    return float(np.square(truth - predicted).sum()) / around if around > 0 else float("nan")


def worst_loss(factor: Factor, train: Rows, test: Rows, baseline: str) -> float:
    """Return the loss of knowing nothing."""
    if not factor.categorical:
        return 1.0
    if baseline == "uniform":
        return 1.0 - 1.0 / len(factor.levels)
    most = np.bincount(factor.values[train].astype(np.intp)).argmax()
    return float((factor.values[test] != most).mean())


def _by_features(
    codes: Floats, factors: list[Factor], train: Rows, test: Rows, sizes: list[int], rng: np.random.Generator
) -> list[list[float]]:
    """Return the losses of each factor: of a linear predictor, and of ridge regression on more and more features."""
    targets, scales = [], []  # an indicator of each class, or values in standard deviations
    for factor in factors:
        known = factor.values[factor.annotated()]
        mean, unit = known.mean(), max(float(known.std()), 1e-300)
        columns = factor.values[:, None] == np.arange(len(factor.levels))
        columns = columns if factor.categorical else ((factor.values - mean) / unit)[:, None]
        targets.append(np.asarray(columns, dtype=np.float64))
        scales.append((mean, unit))
    found = ridge_predictions(codes - codes[train].mean(axis=0), targets, train, test, [codes.shape[1]])
    found += ridge_predictions(fourier_features(codes, train, sizes[-1], rng), targets, train, test, sizes)
    losses = []
    for factor, (mean, unit), of_sizes in zip(factors, scales, zip(*found, strict=True), strict=True):
        said = (one.argmax(axis=1) if factor.categorical else mean + one[:, 0] * unit for one in of_sizes)
        losses.append([loss_of(one, factor, train, test) for one in said])
    return losses


@_ProbeMetric(
    title="Capacity explicitness",
    source="Eastwood et al. 2023 (DCI-ES)",
    references=("eastwood2023dcies",),
    definition="area between a factor's losses and their smallest, over the capacity of the predictor",
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    undefined="no predictor reads them",
    probe=("largest", (1024, 64, 256, 512, 4096)),
    in_all=False,
)
def capacity_explicitness(
    data: Data,
    streams: Streams,
    *,
    probe: Literal["fourier", "forest"] = "fourier",
    largest: Count = 1024,
    baseline: Literal["majority", "uniform"] = "majority",
    most_loss: Fraction = 0.95,
    n_train: Count | None = None,
    n_test: Count | None = None,
    **run: Unpack[RunOptions],
) -> Native:
    r"""Explicitness by loss and capacity: how early the loss of growing predictors of each factor stops falling.

    .. math:: E_i = 1 - 2 A_i / [(x_m - x_1)\, \ell^0_i]

    A is the area between the losses on rows not seen and the smallest of them, over the capacity x of the predictor,
    and :math:`\ell^0` the loss of knowing nothing.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: they are divided by the standard deviation of their central 99%.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Loss: 1 - R2 of continuous ones, 1 - accuracy of categorical ones.
    probe : {"fourier", "forest"}
        ``"fourier"``: a linear predictor, then ridge regression on 16, 64, 256, ... random Fourier features of the
        codes, one nested draw, the penalty by generalised cross-validation; x is the logarithm of their number, 0 for
        the linear one. ``"forest"``: forests of depth 1 to 32, and x the depth, as published.
    largest : int, default 1024
        Most random features. E depends on the range of capacities: compare under the same ones only.
    baseline : {"majority", "uniform"}
        Loss of knowing nothing of K classes: of the most frequent one, or 1 - 1/K, as published.
    most_loss : float in (0, 1], default 0.95
        A factor whose smallest loss is more than this share of that of knowing nothing has no score: of what no
        predictor reads there is nothing to gain, and a code of noise would score 1. On few rows the smallest of several
        losses is lower by luck: it must be so by three standard deviations.
    n_train, n_test : int, optional
        Rows of the split; halves by default.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [-1, 1], best 1: the smallest predictor is as good as any; 0: a straight line down to 0; -1: only the
        largest predictor gains; ``per_factor``, NaN if no predictor gains. Read it together with
        ``details["least_loss"]``: the score says how early the loss falls, not how far. ``["losses"]`` (n_factors,
        n_capacities), ``["capacity"]``, ``["worst_loss"]``, ``["size"]``: codes for each factor; ``["second_draw"]``:
        scores of a second draw of features.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Eastwood et al. 2023 (DCI-ES), whose probes are networks, up to 131 072 random features, and forests. It does not
    see codes that are mixed linearly, nor copies. O(N m^2) for m features, once for all factors that are annotated on
    the same rows.

    The score depends on the draw of features if much capacity is needed: for codes v1 + sin(12 v2) / 2 and v2, its
    standard deviation over draws is 0.11, 0.04 and 0.07 for 200, 400 and 800 training rows, of a circle 0.006. Up to
    1000 training rows features are drawn twice; the score is that of the first draw, and a note says what the second
    would give. ``n_repeats=20`` averages.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((600, 2))
    >>> angle = 2 * np.pi * factors[:, 0]
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> capacity = demele.metrics.capacity_explicitness
    >>> plain, curved = (capacity(codes, factors[:, 0], largest=64) for codes in (factors, circle))
    >>> plain.value > 0.99 > curved.value
    True
    """
    if probe == "forest":
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    codes = data.standardised()[:, ~data.codes.constant]
    if not codes.shape[1]:
        raise NotEnoughData("codes", "none of them varies: there is nothing to read the factors from")
    # by the deviation of their central 99%: else one outlier sets how much a code weighs in distances
    usual = np.clip(codes, *np.quantile(codes, (0.005, 0.995), axis=0)).std(axis=0)
    codes = codes / np.where(usual > 0, usual, 1.0)
    curves, again = ([[np.nan] for _ in data.factors.columns] for _ in range(2))
    worst, deviation = np.empty(data.factors.m), np.empty(data.factors.m)
    sizes = [size for size in FEATURES if size <= max(largest, FEATURES[0])]
    shared = split(data.n, n_train, n_test, streams("rows"), "codes")
    groups: dict[bytes, list[int]] = {}  # factors that are annotated on the same rows share a solution
    for index, factor in enumerate(data.factors.columns):
        groups.setdefault(factor.annotated().tobytes(), []).append(index)
    for members in groups.values():
        factors = [data.factors.columns[index] for index in members]
        known = factors[0].annotated()
        train, test = (rows[known[rows]] for rows in shared)
        if probe == "fourier":
            found = _by_features(codes, factors, train, test, sizes, streams("features"))
            if len(train) <= DRAWN_TWICE and not data.drawn_from:
                second = _by_features(codes, factors, train, test, sizes, streams("features", "second"))
                for index, own in zip(members, second, strict=True):
                    again[index] = own
        else:
            found = []
            for index, factor in zip(members, factors, strict=True):
                seed = int(streams("factor", index).integers(2**31))
                kind = RandomForestClassifier if factor.categorical else RandomForestRegressor
                grown = (kind(N_TREES, max_depth=depth, random_state=seed) for depth in DEPTHS)
                said = (one.fit(codes[train], factor.values[train]).predict(codes[test]) for one in grown)
                found.append([loss_of(np.asarray(one), factor, train, test) for one in said])
        for index, factor, own in zip(members, factors, found, strict=True):
            curves[index], worst[index] = own, worst_loss(factor, train, test, baseline)
            spread = worst[index] * (1 - worst[index]) if factor.categorical else 1.0
            deviation[index] = np.sqrt(spread / max(len(test), 1))
    x = [float(one) for one in DEPTHS] if probe == "forest" else np.log([1, *sizes]).tolist()
    least = np.array([min(own) for own in curves])
    known_at_all = (worst > 0) & (least <= most_loss * worst) & (worst - least > GAINED * deviation)
    scores, redrawn = np.full((2, len(worst)), np.nan)
    for index in np.flatnonzero(known_at_all).tolist():
        scores[index] = area_explicitness(x, curves[index], worst[index])
        if len(again[index]) == len(x):
            redrawn[index] = area_explicitness(x, again[index], worst[index])
    notes, both = fewer_than_asked(data.n, n_train, n_test), ~np.isnan(scores + redrawn)
    drawn, other = (float(mean_of_defined(one[both])) for one in (scores, redrawn))
    if abs(other - drawn) >= SAME:
        message = f"with another draw of random features it would be {other:.3f} instead of {drawn:.3f}; "
        message += "`n_repeats=20` gives the mean over draws and splits"
        severity: Severity = "fragile" if abs(other - drawn) > FRAGILE else "info"
        notes += (Note(code="one-draw", message=message, severity=severity),)
    return Native(
        value=mean_of_defined(scores),
        per_factor=scores,
        details={
            "least_loss": least,
            "losses": np.array(curves),
            "capacity": x,
            "worst_loss": worst,
            "size": data.codes.d / data.factors.m,
            "second_draw": redrawn,
        },
        notes=notes,
    )
