"""Modularity score of Ridgeway and Mozer (2018, section 3)."""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from demele.core.errors import NotEnoughData
from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, beyond_chance, mean_of_defined
from demele.metrics.importances import checked_table
from demele.metrics.information.infom import barely_beyond_chance
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RunOptions
from demele.metrics.run import score

#: A code whose largest information is below this (nats) informs on nothing and scores 0, as in Latte.
DEAD_CODE = 1e-12


def modularity_of(table: InformationTable, gate: bool = False) -> Native:
    """1 - sum_{i != i*} I(v_i; z_j)^2 / [(M - 1) I(v_i*; z_j)^2], per code; with ``gate``, of codes that inform."""
    information = table.information
    m = information.shape[-1]
    largest = information.max(axis=-1)
    alive = largest > DEAD_CODE
    relative = information / np.where(alive, largest, 1.0)[..., None]
    others = np.maximum((relative**2).sum(axis=-1) - 1.0, 0.0)
    per_code = np.where(alive, 1.0 - others / (m - 1), 0.0)
    if not gate:
        return Native(value=per_code.mean(axis=-1), per_code=per_code, matrix=information, matrix_of=MATRIX)
    informing = alive & beyond_chance(table).any(axis=-1)
    per_code = np.where(informing, per_code, np.nan)
    share = informing.mean(axis=-1)
    details = {"share_alive": float(share)} if share.ndim == 0 else {}
    notes = barely_beyond_chance(table, informing)
    value = mean_of_defined(per_code)
    return Native(value=value, per_code=per_code, matrix=information, matrix_of=MATRIX, details=details, notes=notes)


def modularity_from_information(information: ArrayLike) -> float:
    """Modularity score of a given matrix (Ridgeway & Mozer 2018, section 3).

    Parameters
    ----------
    information : array-like of shape (n_codes, n_factors), >= 0
        Mutual informations; at least two factors.

    Returns
    -------
    float
        In [0, 1], best 1. A code without information scores 0.

    Raises
    ------
    NotEnoughData
        For a single factor.

    Examples
    --------
    >>> from demele.metrics import modularity_from_information
    >>> modularity_from_information([[1.0, 0.0], [0.5, 1.0]])
    0.875
    """
    matrix = checked_table(information, "information")
    if matrix.shape[1] < 2:
        raise NotEnoughData("information", f"expected a matrix with at least 2 factors (columns), got {matrix.shape}")
    return float(modularity_of(InformationTable(matrix, np.ones(matrix.shape[1]))).value)


def modularity(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    gate: bool = False,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Modularity score: how little each code informs on other factors than its best one.

    .. math:: 1 - \sum_{i \ne i*} I(v_i; z_j)^2 / [(M - 1) I(v_{i*}; z_j)^2]

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    gate : bool, default False
        Not the published score: the mean over the codes that are *alive*, which inform on some factor beyond chance
        (the rule of :func:`infom`), of informations adjusted for chance unless Miller-Madow's correction is asked for.
        NaN, with a note, where no code is alive. ``details["share_alive"]`` is the share of alive codes: the mean of a
        few rests on little.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_code``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Ridgeway & Mozer 2018, section 3. A code whose largest information is below 1e-12 scores 0. The score of noise is
    far from 0 (about 0.4 for 8 factors, 0.9 with adjusted informations): ask for ``n_permutations``, or for the
    ``gate``.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 3))
    >>> round(demele.modularity(factors, factors).value, 3)
    1.0
    """
    return score(METRIC, locals())


METRIC = Metric(
    "modularity",
    modularity,
    title="Modularity",
    family="information",
    shares="information",
    properties=("modularity",),
    native="per code",
    range=(0.0, 1.0),
    source="Ridgeway & Mozer 2018, section 3",
    references=("ridgeway2018learning",),
    definition="1 - sum of squared informations on other factors / [(M - 1) x squared largest one]",
    needs_factors=2,
    aliases=("Modularity", "modularity_score"),
    readings=(of_table(modularity_of),),
    undefined="they inform on no factor beyond chance",
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    aligns_with=("gate", True),
    order=40,
)
