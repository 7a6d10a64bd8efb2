"""Whether several Markov chains sample the same distribution, and how many independent draws theirs are worth."""

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError

Floats = NDArray[np.float64]

#: Half a chain must have a variance and an autocorrelation at lag 1.
FEWEST_DRAWS = 4


def split_r_hat(draws: NDArray[np.floating]) -> Floats:
    """Return the potential scale reduction of each quantity, with each chain split into halves.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws, ...)
        Successive draws of each chain; at least 4 of them. Of an odd number, the first is left out.

    Returns
    -------
    array of shape (...)
        Square root of the ratio of the variance over all halves to that within halves; 1 is best. Infinite where the
        halves are constant and differ, NaN where nothing varies at all.

    Raises
    ------
    InputError
        If there are too few draws.

    Notes
    -----
    Gelman et al., Bayesian Data Analysis, 3rd edition, equations 11.1 to 11.4. Draws are not replaced by their ranks,
    as Vehtari et al. (2021) do against infinite variances: proportions and shares have finite ones.

    Examples
    --------
    >>> float(split_r_hat(np.array([[1.0, 2, 1, 2], [3, 4, 3, 4]])).round(4))
    1.7795
    """
    halves = _halves(draws)
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)  # B / n of the equations
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((n - 1) / n + between / within))


def effective_samples(draws: NDArray[np.floating]) -> Floats:
    """Return how many independent draws would give the mean of each quantity as small a Monte-Carlo error.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws, ...)
        As in :func:`split_r_hat`.

    Returns
    -------
    array of shape (...)
        In draws, above 0 and at most m log10(m) with m draws in all; NaN where nothing varies.

    Raises
    ------
    InputError
        If there are too few draws.

    Notes
    -----
    Vehtari et al. (2021), section 3.2, without ranks: autocorrelations of the split chains, compared with the variance
    over all of them; summed over pairs of lags while the sums are positive, each at most the one before (Geyer 1992).
    By fast Fourier transforms: O(m log m) per quantity.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(3000 < effective_samples(rng.normal(size=(4, 1000))) < 5000)
    True
    """
    halves = _halves(draws)
    m, n = halves.shape[:2]
    flat = halves.reshape(m, n, -1)
    within = flat.var(axis=1, ddof=1).mean(axis=0)
    overall = (n - 1) / n * within + flat.mean(axis=1).var(axis=0, ddof=1)
    found = np.full(flat.shape[2], np.nan)
    for quantity in np.flatnonzero(overall > 0):
        covariances = _autocovariances(flat[:, :, quantity]).mean(axis=0)
        # BDA3 11.7 in the form of Vehtari et al. (10); the estimate at lag 0 is 1 by definition.
        correlations = 1 - (within[quantity] - covariances * n / (n - 1)) / overall[quantity]
        correlations[0] = 1.0
        found[quantity] = m * n / max(_time(correlations), 1 / np.log10(m * n))
    return found.reshape(halves.shape[2:])


def _halves(draws: NDArray[np.floating]) -> Floats:
    given = np.asarray(draws, dtype=np.float64)
    if given.ndim < 2 or given.shape[1] < FEWEST_DRAWS:
        raise InputError(
            "draws",
            f"expected an array of shape (n_chains, n_draws, ...) with at least {FEWEST_DRAWS} draws, got "
            f"shape {given.shape}",
        )
    half = given.shape[1] // 2
    return np.concatenate([given[:, -2 * half : -half], given[:, -half:]])


def _autocovariances(chains: Floats) -> Floats:
    """Of each row, at all lags, divided by the length."""
    n = chains.shape[1]
    size = 1 << (2 * n - 1).bit_length()  # padded, so that the ends do not meet
    spectrum = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), size, axis=1)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n] / n)


def _time(correlations: Floats) -> float:
    """Autocorrelation time: how many successive draws are worth an independent one."""
    pairs = correlations[: correlations.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    positive = np.flatnonzero(pairs <= 0)
    kept = np.minimum.accumulate(pairs[: positive[0] if positive.size else pairs.size])
    return float(2 * kept.sum() - 1)
