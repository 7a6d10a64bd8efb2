"""Mutual information gap (Chen et al. 2018, eq. 6)."""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.errors import InputError
from demele.core.given_arrays import real_numbers
from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, best_other, mean_of_defined, ratio, top_two
from demele.metrics.importances import checked_table
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RegDim, RunOptions
from demele.metrics.run import score


def gap(table: InformationTable, reg_dim: NDArray[np.intp] | None = None) -> Native:
    """MIG_i = [I(v_i; z_*) - I(v_i; z_o)] / H(v_i); with ``reg_dim``, z_* is the code named for the factor."""
    information = table.information
    if reg_dim is None:
        first, second = top_two(information, axis=-2)
    else:
        first = information[..., reg_dim, np.arange(information.shape[-1])]
        second, _ = best_other(information, reg_dim)
    gaps = ratio(first - second, table.factor_entropy)
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=information, matrix_of=MATRIX)


def mig_from_information(information: ArrayLike, entropy: ArrayLike) -> float:
    """Mutual information gap of a given matrix (Chen et al. 2018, eq. 6).

    Parameters
    ----------
    information : array-like of shape (n_codes, n_factors), nats
    entropy : array-like of shape (n_factors,), nats
        Entropies of the factors.

    Returns
    -------
    float
        At most 1, which is best.

    Examples
    --------
    >>> from demele.metrics import mig_from_information
    >>> mig_from_information([[0.6, 0.0], [0.2, 0.5]], [1.0, 0.5])
    0.7
    """
    table = InformationTable(checked_table(information, "information"), real_numbers(entropy, "entropy"))
    if table.factor_entropy.shape != table.information.shape[1:]:
        raise InputError("entropy", f"expected one for each factor, got shape {table.factor_entropy.shape}")
    return float(gap(table).value)


def mig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    reg_dim: RegDim = None,
    fill_reg_dim: bool = False,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Mutual information gap of each factor, and its mean: compactness.

    .. math:: \mathrm{MIG}_i = [I(v_i; z_*) - I(v_i; z_o)] / H(v_i)

    for the two codes that inform most on the factor: 1 when one code holds all, 0 when two hold as much.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit; invariant to an increasing affine map of a column.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous or categorical columns; kinds are detected and can be given with ``kinds``.
    bins : int, str, Binning or edges, default 10
        Cuts continuous columns; 10 is ``EqualWidth(10)``. Categorical values are their own bins.
    estimator : {"histogram", "knn", "robust"}
        ``"knn"``: scikit-learn's nearest-neighbour estimates, as in Latte. There the entropy of a continuous factor
        is its information with itself, which is not an entropy: it grows with the number of rows, so the score of
        one representation falls with it. ``"robust"``: exact neighbours on ranks, in units between 0 and 1.
    correction : {"none", "miller-madow", "adjusted"}
        Of the bias of histogram information, about (B_z - 1)(B_v - 1) / 2n upwards.
    n_neighbors : int, default 3
        For the neighbour estimators.
    reg_dim : sequence of int or str, optional
        The code that is meant to hold each factor: it is then the minuend whatever its rank, and the score may be
        negative.
    fill_reg_dim : bool, default False
        Take code i as meant for factor i.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1] (at least -1 with ``reg_dim``), best 1, no unit; ``per_factor``: one gap per factor;
        ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Warns
    -----
    UndefinedFactorWarning, FragileScoreWarning

    Notes
    -----
    Chen et al. 2018, eq. 6. Differs from print: disentanglement_lib uses 20 bins; the code of Carbonneau et al.
    divides by the entropy of the code. Cost: O(n d M) time, O(d M B^2) memory beyond the input.

    Examples
    --------
    >>> import demele
    >>> codes = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 25
    >>> score = demele.mig(codes, ["a", "a", "b", "b"] * 25, bins=2)
    >>> score.value, score.matrix.shape
    (1.0, (2, 1))
    """
    return score(METRIC, locals())


METRIC = Metric(
    "mig",
    mig,
    title="MIG",
    family="information",
    shares="information",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Chen et al. 2018, eq. 6",
    references=("chen2018isolating",),
    definition="[I(v_i; z_*) - I(v_i; z_o)] / H(v_i): the gap between the two codes that inform most on a factor",
    aliases=("MIG", "discrete_mig", "MutualInformationGap"),
    readings=(of_table(gap),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    side=("reg_dim?",),
    order=10,
    corrected_by=("transition", "bounds"),
)
