"""MIG-sup: the gap seen from the codes."""

from demele.estimation.gaps import top_two
from demele.estimation.information import InformationTable
from demele.metrics.information._common import MATRIX, ratio
from demele.metrics.native import Native, mean_of_defined

__all__ = ["score"]


def score(table: InformationTable) -> Native:
    """MIG-sup_j = I(z_j; v_*) / H(v_*) - I(z_j; v_o) / H(v_o), ranked on the normalised values."""
    normalised = ratio(table.information, table.factor_entropy[..., None, :])
    first, second = top_two(normalised, axis=-1)
    gaps = first - second
    return Native(value=mean_of_defined(gaps), per_code=gaps, matrix=table.information, matrix_of=MATRIX)
