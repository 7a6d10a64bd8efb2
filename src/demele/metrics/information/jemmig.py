"""Joint entropy minus mutual information gap."""

import numpy as np

from demele.estimation.gaps import top_two
from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, TIE
from demele.metrics.native import Native, mean_of_defined

__all__ = ["score"]


def score(table: InformationTable) -> Native:
    """1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + log B_z]; the raw bracket is kept in the details.

    Of codes with equally large information, z_* is the one that scores best, whatever their order.
    """
    if table.joint_entropy is None or table.code_bins is None:
        raise ValueError("JEMMIG needs joint entropies")
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
