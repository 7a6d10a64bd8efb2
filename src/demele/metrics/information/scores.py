"""The information-based metrics by name."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.estimation.information import InformationTable
from demele.metrics.information import dcimig, dlig, dmig, jemmig, mig, mig_sup, modularity, xmig
from demele.metrics.native import Native

__all__ = ["native_of", "read_factor_pairs"]

_FROM_TABLE = {
    "mig_sup": mig_sup.score,
    "modularity": modularity.score,
    "dcimig": dcimig.score,
    "jemmig": jemmig.score,
}
_FROM_TABLE_AND_CODES = {"dmig": dmig.score, "xmig": xmig.score, "dlig": dlig.score}
_READ_FACTOR_PAIRS = {"dmig", "dlig"}


def read_factor_pairs(names: Iterable[str]) -> bool:
    """Whether one of these metrics reads what factors tell of one another."""
    return not _READ_FACTOR_PAIRS.isdisjoint(names)


def native_of(name: str, table: InformationTable, reg_dim: NDArray[np.intp] | None) -> Native:
    """Return one metric of an information table.

    Corrected informations may be slightly negative, which a ratio of two of them would magnify without limit: metrics
    take them as 0. The matrix of the result keeps them.
    """
    if (table.information >= 0).all() and (table.factor_information is None or (table.factor_information >= 0).all()):
        return _native(name, table, reg_dim)
    between = table.factor_information
    usable = replace(
        table,
        information=np.maximum(table.information, 0.0),
        factor_information=None if between is None else np.maximum(between, 0.0),
    )
    return replace(_native(name, usable, reg_dim), matrix=table.information)


def _native(name: str, table: InformationTable, reg_dim: NDArray[np.intp] | None) -> Native:
    if name in ("mig", "rmig"):
        return mig.score(table, reg_dim)
    if name in _FROM_TABLE:
        return _FROM_TABLE[name](table)
    if reg_dim is None:
        raise ValueError(f"{name} needs the code of each factor")
    return _FROM_TABLE_AND_CODES[name](table, reg_dim)
