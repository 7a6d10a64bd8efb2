"""One factor of a complete grid after the other: its images, and how the codes respond."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.seeds import rng_for
from demele.studies.examination import Sweep

if TYPE_CHECKING:
    from demele.data.images import ImageSet

#: Images that are shown of a factor at most.
SHOWN = 9
#: Quantiles of a code over the other factors, between which its range is drawn.
ENDS = 0.05, 0.95


def sweeps(codes: NDArray[np.float64], images: ImageSet, *, seed: int) -> tuple[Sweep, ...]:
    """Return one sweep per factor; none unless the set is a complete grid.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
        Of all images.
    images : ImageSet
    seed : int
        Draws the image whose other factors are held.
    """
    if images.space is None or not images.complete:
        return ()
    positions = images.positions()
    start = positions[rng_for(seed, "start of sweeps", len(positions)).integers(len(positions))]
    found = []
    for factor, name in enumerate(images.space.names):
        values = images.space.values[factor]
        shown = np.unique(np.linspace(0, len(values) - 1, min(SHOWN, len(values))).round().astype(np.int64))
        asked = np.repeat(start[None], len(shown), axis=0)
        asked[:, factor] = shown
        mean, low, high = responses(codes, positions[:, factor], len(values))
        found.append(
            Sweep(
                factor=name,
                values=tuple(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values),
                mean=mean,
                low=low,
                high=high,
                shown=tuple(shown.tolist()),
                images=images.images(images.index(asked)),
            )
        )
    return tuple(found)


def responses(
    codes: NDArray[np.float64], positions: NDArray[np.int64], n_values: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return mean, 5 % and 95 % quantile of each code at each value of a factor, of shape (n_values, n_codes).

    Examples
    --------
    >>> mean, low, high = responses(np.array([[0.0], [1.0], [5.0], [5.0]]), np.array([0, 0, 1, 1]), 2)
    >>> mean.tolist(), low.round(2).tolist(), high.round(2).tolist()
    ([[0.5], [5.0]], [[0.05], [5.0]], [[0.95], [5.0]])
    """
    groups = [codes[positions == value] for value in range(n_values)]
    ends = [np.quantile(group, ENDS, axis=0) for group in groups]
    low, high = (np.array([pair[end] for pair in ends]) for end in (0, 1))
    return np.array([group.mean(axis=0) for group in groups]), low, high
