"""Turning codes towards factors: covariances between the values of a factor, and orthogonal matrices made of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats

#: Added to the diagonal of the covariance of the codes, as a share of their mean variance.
RIDGE = 1e-6
#: Directions whose variance is below this share of the largest are no part of what is whitened.
NEGLIGIBLE = 1e-10
#: Sweeps of Jacobi rotations, and the angle below which all of a sweep are taken for none.
MOST_SWEEPS, SMALLEST_ANGLE = 60, 1e-7
#: The least that a readout counts beside another one.
SMALLEST_WEIGHT = 1e-6
#: Axes that joint diagonalisation turns; a sweep takes their third power.
MOST_AXES = 64


@dataclass(frozen=True, slots=True)
class Scatter:
    """How codes vary, in all and between the values of each factor.

    Attributes
    ----------
    total : array of shape (n_codes, n_codes)
        Covariance of the codes.
    between : array of shape (n_factors, n_codes, n_codes)
        Covariance of their means at the values of each factor, without what sampling alone makes of it.
    n : array of shape (n_factors,)
        Rows annotated for each factor.
    n_values : array of shape (n_factors,)
        Values, or bins, of each factor that have rows.
    """

    total: Floats
    between: Floats
    n: NDArray[np.intp]
    n_values: NDArray[np.intp]

    @classmethod
    def of(cls, codes: Floats, labels: NDArray[np.intp]) -> "Scatter":
        """Find both from rows.

        Parameters
        ----------
        codes : array of shape (n_samples, n_codes)
        labels : array of shape (n_samples, n_factors)
            The number of each factor's value, or bin; -1 where it is not annotated.
        """
        centred = codes - codes.mean(axis=0)
        total = centred.T @ centred / len(codes)
        found = [between_covariance(centred, own) for own in labels.T]
        rows = (labels >= 0).sum(axis=0)
        return cls(total, np.stack([own for own, _ in found]), rows, np.array([values for _, values in found]))

    def turned(self, matrix: Floats) -> "Scatter":
        """Return the same of the codes times a matrix (n_codes, n_new_codes)."""
        return Scatter(matrix.T @ self.total @ matrix, matrix.T @ self.between @ matrix, self.n, self.n_values)


def between_covariance(codes: Floats, labels: NDArray[np.intp]) -> tuple[Floats, int]:
    """Return the covariance of the means of codes at each value of one factor, and how many values there are.

    Means of few rows differ by chance alone. What that adds is taken off: S - W (k - 1) / (n - k), with W the
    covariance within values, k the number of values and n that of rows.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
    labels : array of shape (n_samples,)
        Whole numbers; rows with -1 are left out.

    Examples
    --------
    >>> codes = np.array([[0.0], [2.0], [10.0], [12.0]])
    >>> between_covariance(codes, np.array([0, 0, 1, 1]))[0].tolist()  # 25, less 1 x 1 / 2
    [[24.5]]
    """
    known = labels >= 0
    if not known.all():
        codes, labels = codes[known], labels[known]
    n = len(codes)
    if not n:
        return np.zeros((codes.shape[1], codes.shape[1])), 0
    centred = codes - codes.mean(axis=0)
    rows = np.bincount(labels)
    rows = rows[rows > 0]
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    means = np.add.reduceat(centred[np.argsort(labels, kind="stable")], starts, axis=0) / rows[:, None]
    between = (means.T * (rows / n)) @ means
    within = centred.T @ centred / n - between
    return between - within * (len(rows) - 1) / max(n - len(rows), 1), len(rows)


# Directions, and matrices that turn the axes to them ------------------------------------------------------------------


def readouts(scatter: Scatter) -> tuple[Floats, Floats]:
    """Return, for each factor, the direction that tells its values apart best, and the share of variance between them.

    The leading generalised eigenvectors of the covariance between values and in all.

    Returns
    -------
    shares : array of shape (n_factors,)
    directions : array of shape (n_codes, n_factors)
        Of unit length; a code in this direction is codes @ direction.
    """
    d = len(scatter.total)
    ridged = scatter.total + RIDGE * max(float(np.trace(scatter.total)) / d, np.finfo(float).tiny) * np.eye(d)
    inverse = np.linalg.inv(np.linalg.cholesky(ridged))
    shares, vectors = np.linalg.eigh(inverse @ scatter.between @ inverse.T)
    directions = inverse.T @ vectors[:, :, -1].T
    return shares[:, -1], directions / np.linalg.norm(directions, axis=0)


def class_means(scatter: Scatter) -> Floats:
    """Return, for each factor, the direction in which the means at its values differ most (n_codes, n_factors)."""
    return np.ascontiguousarray(np.linalg.eigh(scatter.between)[1][:, :, -1].T)


def told(scatter: Scatter, shares: Floats) -> NDArray[np.intp]:
    """Return the factors that the codes carry information on, at most as many as codes, in their order.

    Codes of noise have a largest share of about ((sqrt(k - 1) + sqrt(d))^2 - (k - 1)) / n, as the largest eigenvalue
    of a random covariance; a factor counts from two standard deviations of a Gaussian beyond, under the square.
    """
    d = len(scatter.total)
    freedom = np.maximum(scatter.n_values - 1, 0)
    limit = ((np.sqrt(freedom) + np.sqrt(d) + 2.0) ** 2 - freedom) / np.maximum(scatter.n, 1)
    telling = np.flatnonzero(shares > limit)
    return np.sort(telling[np.argsort(-shares[telling], kind="stable")[:d]])


def polar_factor(matrix: Floats) -> Floats:
    """Return the matrix with orthonormal columns that is nearest to one with at least as many rows as columns.

    Examples
    --------
    >>> polar_factor(np.array([[2.0, 0.0], [0.0, 0.5]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(left @ right)


def completed(axes: Floats, spread: Floats) -> Floats:
    """Return an orthogonal matrix that begins with some axes; the others go by what varies most in the rest.

    Parameters
    ----------
    axes : array of shape (n_codes, n_axes)
        Orthonormal columns.
    spread : array of shape (n_codes, n_codes)
        Symmetric: the other axes are its eigenvectors in the rest, so that they do not depend on the order of codes.
    """
    kept = axes.shape[1]
    rest = np.linalg.svd(axes, full_matrices=True)[0][:, kept:]
    if not rest.shape[1]:
        return axes
    vectors = np.linalg.eigh(rest.T @ spread @ rest)[1][:, ::-1]
    return np.hstack([axes, rest @ vectors])


def joint_diagonaliser(matrices: Floats, start: Floats) -> Floats:
    """Return the orthogonal matrix that makes symmetric matrices as diagonal as they can be made together.

    Jacobi rotations of Cardoso & Souloumiac (1996); pairs of axes that share none are turned at the same time.

    Parameters
    ----------
    matrices : array of shape (n_matrices, n_codes, n_codes)
    start : array of shape (n_codes, n_axes)
        Orthonormal columns to begin with.

    Returns
    -------
    array of shape (n_codes, n_axes)
    """
    axes = start.copy()
    turned = axes.T @ matrices @ axes
    pairs = list(_rounds(axes.shape[1]))
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        for p, q in pairs:
            apart = turned[:, p, p] - turned[:, q, q]
            beside = 2.0 * turned[:, p, q]
            on = (apart**2).sum(axis=0) - (beside**2).sum(axis=0)
            cross = 2.0 * (apart * beside).sum(axis=0)
            angle = 0.5 * np.arctan2(cross, on + np.hypot(on, cross))
            largest = max(largest, float(np.abs(angle).max()))
            cosine, sine = np.cos(angle), np.sin(angle)
            for array in (axes, turned, turned.transpose(0, 2, 1)):  # the columns of each, and the rows of the second
                first, second = array[..., p], array[..., q]
                array[..., p], array[..., q] = cosine * first + sine * second, cosine * second - sine * first
        if largest < SMALLEST_ANGLE:
            break
    return axes


def _rounds(n: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield all pairs of n axes, in rounds in which no axis is twice, as a tournament is planned."""
    places = list(range(n + n % 2))  # with an odd number, the one that meets the last place rests
    for _ in range(len(places) - 1):
        half = len(places) // 2
        met = [sorted(pair) for pair in zip(places[:half], reversed(places[half:]), strict=True)]
        playing = np.array([pair for pair in met if pair[1] < n], dtype=np.intp)
        if len(playing):
            yield playing[:, 0], playing[:, 1]
        places = [places[0], places[-1], *places[1:-1]]


def whitener(total: Floats) -> Floats:
    """Return the inverse square root of a covariance; directions that do not vary are left out.

    Examples
    --------
    >>> whitener(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    variances, vectors = np.linalg.eigh(total)
    varies = variances > NEGLIGIBLE * max(float(variances[-1]), np.finfo(float).tiny)
    lengths = np.where(varies, np.sqrt(np.where(varies, variances, 1.0)), np.inf)
    return np.asarray((vectors / lengths) @ vectors.T)


# Candidates -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidates:
    """Ways to turn codes; the first leaves them unchanged.

    Attributes
    ----------
    matrices : mapping of str to array of shape (n_codes, n_codes)
        By name, in the order in which ties are settled.
    scales : float
        How many times the standard deviation along one factor's readout is that along another's; 1 for fewer than two.
    """

    matrices: dict[str, Floats]
    scales: float


def candidates(codes: Floats, labels: NDArray[np.intp], *, whiten: bool = False) -> Candidates:
    """Return matrices that may turn codes so that every factor has an axis of its own.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
        Those that do not vary stay as they are.
    labels : array of shape (n_samples, n_factors)
        The number of each factor's value, or bin; -1 where it is not annotated.
    whiten : bool
        Whether codes may also be made uncorrelated, of equal variance, before they are turned: which undoes oblique
        maps as well.

    Notes
    -----
    "readout": the orthogonal matrix nearest to the directions that separate the values of each factor best, each with
    the inverse variance along it as weight. "class means": to the directions in which the means at its values differ
    most. "joint diagonalisation": the covariances between the values of all factors, each over its trace, made as
    diagonal together as can be, from "class means" on. Only factors that the codes encode beyond chance take part;
    without such factors, codes stay unchanged. O(N M d + N d^2 + M d^3).
    """
    d = codes.shape[1]
    alive = np.flatnonzero(codes.min(axis=0) < codes.max(axis=0))
    unturned = {"identity": np.eye(d)}
    if len(alive) < 2:
        return Candidates(unturned, 1.0)
    varying = codes[:, alive] / np.abs(codes[:, alive]).max()  # one scale for all: squares must stay within floats
    scatter = Scatter.of(varying, labels)
    shares, directions = readouts(scatter)
    factors = told(scatter, shares)
    if not len(factors):
        return Candidates(unturned, 1.0)
    deviations = np.sqrt(np.einsum("if,ij,jf->f", directions, scatter.total, directions)[factors])
    scales = float(deviations.max() / max(float(deviations.min()), np.finfo(float).tiny))
    found = _turns(scatter, factors, directions)
    if whiten:
        root = whitener(scatter.total)
        white = scatter.turned(root)
        found |= {f"whitened, {name}": root @ turn for name, turn in _turns(white, factors).items()}
    return Candidates(unturned | {name: _embedded(turn, alive, d) for name, turn in found.items()}, scales)


def _turns(scatter: Scatter, factors: NDArray[np.intp], directions: Floats | None = None) -> dict[str, Floats]:
    """Return the orthogonal matrices; of whitened codes, readouts are directions of class means, and left out."""
    between = scatter.between[factors]
    traces = np.trace(between, axis1=1, axis2=2)
    relative = between[traces > 0] / traces[traces > 0, None, None]
    spread = relative.sum(axis=0)
    found = {}
    if directions is not None:
        found["readout"] = completed(
            polar_factor(directions[:, factors] * _weights(scatter, factors, directions)), spread
        )
    by_means = completed(polar_factor(class_means(scatter)[:, factors]), spread)
    found["class means"] = by_means
    if len(relative):
        turned = joint_diagonaliser(relative, by_means[:, :MOST_AXES])
        found["joint diagonalisation"] = np.hstack([turned, by_means[:, MOST_AXES:]])
    return found


def _weights(scatter: Scatter, factors: NDArray[np.intp], directions: Floats) -> Floats:
    """Return what each readout counts where two are not orthogonal: the inverse variance of the codes along it.

    Rows make every direction err towards the others, in proportion to its own deviation over theirs: where one factor
    varies ten times as much as another, the direction of the fine one is a hundred times as sure.
    """
    variances = np.einsum("if,ij,jf->f", directions, scatter.total, directions)[factors]
    weights: Floats = variances.min() / np.maximum(variances, np.finfo(float).tiny)
    return np.maximum(weights, SMALLEST_WEIGHT)


def _embedded(matrix: Floats, places: NDArray[np.intp], d: int) -> Floats:
    """Return a matrix of some codes as one of all, which leaves the others as they are."""
    whole = np.eye(d)
    whole[np.ix_(places, places)] = matrix
    return whole
