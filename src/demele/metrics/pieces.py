"""Which data are read a piece at a time, and who does it."""

import importlib
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from demele.runtime.dask import is_collection

if TYPE_CHECKING:
    from demele.core.results import Evaluation

__all__ = ["LARGEST_MAPPED", "SAMPLE", "evaluated_in_pieces", "read_in_pieces"]

#: Bytes of memory-mapped arrays that are still scored in memory. Fixed, so that scores do not depend on the machine.
LARGEST_MAPPED = 1 << 32
#: Rows that metrics which cannot be counted are computed on, unless told otherwise.
SAMPLE = 100_000


def read_in_pieces(*tables: object) -> bool:
    """Return whether one of the tables is a Dask collection or names Parquet files, or mapped ones are large."""
    mapped = [table.nbytes for table in tables if isinstance(table, np.memmap)]
    return sum(mapped) > LARGEST_MAPPED or any(
        is_collection(table) or type(table).__name__ == "ParquetTable" for table in tables
    )


def evaluated_in_pieces(codes: object, factors: object, metrics: Any, **arguments: Any) -> "Evaluation":
    """Score in passes; the room that does it is found when it is needed, since it stands on this one."""
    room = importlib.import_module("demele.outofcore.scores")
    return cast("Evaluation", room.evaluate_in_pieces(codes, factors, metrics, **arguments))
