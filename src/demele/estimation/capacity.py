"""Probes of growing capacity: ridge regression on more and more random Fourier features, forests of growing depth."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
#: Penalties tried, relative to the mean eigenvalue.
PENALTIES = np.geomspace(1e-8, 1e2, 21)
#: Rows among which distances are taken.
DISTANT_ROWS = 500
#: Depths of forests, and their trees.
DEPTHS, N_TREES = (1, 2, 4, 8, 16, 32), 30


def area_explicitness(
    capacity: Sequence[float], loss: Sequence[float], worst: float = 1.0, *, until: float | None = None
) -> float:
    """Return the explicitness of one curve of losses over capacities (Eastwood et al. 2023).

    Parameters
    ----------
    capacity : sequence of float, increasing
        Such as the logarithm of a number of features.
    loss : sequence of float
        On rows not seen. The smallest so far counts, and at most ``worst``.
    worst : float
        Loss of knowing nothing.
    until : float, optional
        The curve is extended flat to this capacity, where others reach further.

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
    if until is not None and until > x[-1]:
        x, y = np.append(x, until), np.append(y, y[-1])
    above = y - y[-1]
    area = float(((above[1:] + above[:-1]) / 2 * np.diff(x)).sum())
    return float(1.0 - 2.0 * area / ((x[-1] - x[0]) * worst))


def fourier_features(codes: Floats, train: Ints, n_features: int, rng: np.random.Generator) -> Floats:
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
    features: Floats, targets: Sequence[Floats], train: Ints, test: Ints, sizes: Sequence[int]
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


def forest_predictions(
    codes: Floats, target: Floats | Ints, train: Ints, test: Ints, *, categorical: bool, seed: int
) -> list[Floats]:
    """Return predictions of test rows by random forests of growing depth."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if categorical else RandomForestRegressor
    fits = (kind(N_TREES, max_depth=depth, random_state=seed).fit(codes[train], target[train]) for depth in DEPTHS)
    return [np.asarray(fit.predict(codes[test])) for fit in fits]
