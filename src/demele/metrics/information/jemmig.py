"""Joint entropy minus mutual information gap (Do and Tran 2020)."""

from typing import Unpack

import numpy as np

from demele.core.errors import NotEnoughData
from demele.core.results import Score
from demele.estimation.information import TIE, Correction, InformationTable, mean_of_defined, top_two
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, RunOptions
from demele.metrics.run import score


def joint_gap(table: InformationTable) -> Native:
    """1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + log B_z]; the raw bracket is kept in the details.

    Of codes with equally large information, z_* is the one that scores best, whatever their order.
    """
    if table.joint_entropy is None or table.code_bins is None:
        raise NotEnoughData("codes", "JEMMIG needs joint entropies, which these codes have none of")
    information = table.information
    first, second = top_two(information, axis=-2)
    brackets = table.joint_entropy - (first - second)[..., None, :]
    largest = table.factor_entropy[..., None, :] + np.log(table.code_bins)[:, None]
    scores = np.where(largest > 1e-12, 1.0 - brackets / np.maximum(largest, 1e-12), np.nan)
    candidates = np.where(information >= first[..., None, :] - TIE, scores, -np.inf)
    best = candidates.argmax(axis=-2)[..., None, :]
    per_factor = np.take_along_axis(scores, best, axis=-2)[..., 0, :]
    raw = np.take_along_axis(brackets, best, axis=-2)[..., 0, :]
    return Native(
        value=mean_of_defined(per_factor),
        per_factor=per_factor,
        matrix=information,
        matrix_of=MATRIX,
        details={"raw": mean_of_defined(raw), "raw_per_factor": raw},
    )


def jemmig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    correction: Correction = "none",
    **run: Unpack[RunOptions],
) -> Score:
    r"""Joint entropy minus mutual information gap, recalibrated: holistic.

    .. math:: 1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + \log B_z]

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, correction
        As in :func:`mig`. There is no neighbour estimate: a continuous code has no joint entropy with a factor.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``; ``details["raw"]`` and ``["raw_per_factor"]`` keep the bracket in
        nats, of which 0 is best; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Do & Tran 2020; recalibrated as in Carbonneau et al. 2022.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((5000, 2))
    >>> demele.jemmig(factors, factors).value > 0.98
    True
    """
    return score(METRIC, locals())


METRIC = Metric(
    "jemmig",
    jemmig,
    title="JEMMIG",
    family="information",
    shares="information",
    properties=("modularity", "compactness", "explicitness"),
    native="per factor",
    range=(0.0, 1.0),
    source="Do & Tran 2020, section 4; recalibrated as in Carbonneau et al. 2022",
    references=("do2020theory", "carbonneau2022measuring"),
    definition="1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + log B_z]",
    aliases=("JEMMIG",),
    readings=(of_table(joint_gap),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    order=60,
    corrected_by=("transition",),
)
