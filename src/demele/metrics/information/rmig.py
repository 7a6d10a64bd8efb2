"""Robust MIG: each sample spread over the bins by its q(z|x) (Do and Tran 2020)."""

from typing import Unpack

from demele.core.results import Score
from demele.metrics.information import InformationMetric
from demele.metrics.information.gaps import mig
from demele.metrics.options import Bins, RunOptions
from demele.metrics.run import scored


def rmig(codes: object, codes_std: object, factors: object, *, bins: Bins = 10, **run: Unpack[RunOptions]) -> Score:
    """Robust mutual information gap of stochastic codes: compactness.

    As :func:`mig`, but each sample spreads its weight over the bins of a code by the Gaussian mass of each bin. With
    standard deviations of 0 it equals MIG.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Means of q(z|x).
    codes_std : array-like of shape (n_samples, n_codes), >= 0
        Standard deviations of q(z|x), in the unit of the codes.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins : int, str, Binning or edges, default 10
        Edges come from the means; mass beyond the outermost edges counts as in the outermost bins.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Do & Tran 2020, section 4. Cost: O(n d M B).

    Examples
    --------
    >>> import numpy as np, demele
    >>> codes = np.random.default_rng(0).random((2000, 2))
    >>> sharp = demele.metrics.rmig(codes, 0 * codes, codes)
    >>> blurred = demele.metrics.rmig(codes, 0 * codes + 0.1, codes)
    >>> sharp.value == demele.metrics.mig(codes, codes).value, blurred.value < sharp.value
    (True, True)
    """
    return scored(METRICS, codes, factors, {"bins": bins, **run}, codes_std=codes_std)[0]


METRICS = (
    InformationMetric(
        "rmig",
        rmig,
        title="RMIG",
        properties=("compactness",),
        native="per factor",
        range=(0.0, 1.0),
        source="Do & Tran 2020, section 4",
        references=("do2020theory",),
        definition="MIG with each sample spread over the bins by its q(z|x), from the codes' standard deviations",
        aliases=("RMIG",),
        formula=mig.formula,
        states=("table",),
        soft=True,
    ),
)
