"""Joint entropy minus mutual information gap."""

import numpy as np

from demele.estimation.gaps import top_two
from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX
from demele.metrics.native import Native, mean_of_defined

__all__ = ["score"]


def score(table: InformationTable) -> Native:
    """1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + log B_z]; the raw bracket is kept in the details."""
    if table.joint_entropy is None or table.code_bins is None:
        raise ValueError("JEMMIG needs joint entropies")
    information = table.information
    best = information.argmax(axis=-2)
    first, second = top_two(information, axis=-2)
    joint = np.take_along_axis(table.joint_entropy, best[..., None, :], axis=-2)[..., 0, :]
    raw = joint - first + second
    largest = table.factor_entropy + np.log(table.code_bins)[best]
    per_factor = np.where(largest > 1e-12, 1.0 - raw / np.maximum(largest, 1e-12), np.nan)
    return Native(
        value=mean_of_defined(per_factor),
        per_factor=per_factor,
        matrix=information,
        matrix_of=MATRIX,
        details={"raw": mean_of_defined(raw), "raw_per_factor": raw},
    )
