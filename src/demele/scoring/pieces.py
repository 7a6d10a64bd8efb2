"""Which data are read a piece at a time, and what a metric's own function gives of them."""

from collections.abc import Sequence

import numpy as np

from demele.core.errors import NotEnoughData
from demele.core.given_data import Codes, Factors
from demele.core.results import Score
from demele.metrics.options import Run
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.request import Request
from demele.runtime.dask import is_collection

#: Bytes of memory-mapped arrays that are still scored in memory. Fixed, so that scores do not depend on the machine.
LARGEST_MAPPED = 1 << 32


def read_in_pieces(*tables: object) -> bool:
    """Return whether one of the tables is a Dask collection or names Parquet files, or mapped ones are large."""
    if all(type(table) is np.ndarray for table in tables):
        return False
    mapped = [table.nbytes for table in tables if isinstance(table, np.memmap)]
    return sum(mapped) > LARGEST_MAPPED or any(
        is_collection(table) or type(table).__name__ == "ParquetTable" for table in tables
    )


def scores_in_pieces(asked: Sequence[Request], codes: Codes, factors: Factors, run: Run) -> list[Score] | None:
    """Score metrics as their own functions do; None where the data are to be read in memory."""
    if not read_in_pieces(codes.values, factors.values):
        return None
    from demele.outofcore.source import evaluation_in_pieces

    evaluation = evaluation_in_pieces(asked, codes, factors, run, protocol=DEFAULT_PROTOCOL, named=True)
    if evaluation.left_out:
        raise NotEnoughData(evaluation.left_out[0].reason)
    return list(evaluation)
