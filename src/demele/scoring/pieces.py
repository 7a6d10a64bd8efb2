"""Which data are read a piece at a time, and what a metric's own function gives of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from demele.core.errors import NotEnoughData
from demele.core.results import Score
from demele.metrics.metric import Metric
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


def single_in_pieces(
    metrics: Sequence[Metric],
    codes: object,
    factors: object,
    options: Mapping[str, Any],
    run: Mapping[str, Any],
    *,
    codes_std: object = None,
) -> list[Score] | None:
    """Score metrics that share their options; None where the data are to be read in memory."""
    if not read_in_pieces(codes, factors):
        return None
    from demele.outofcore.scores import evaluate_in_pieces

    own = {metric.name: options for metric in metrics}
    evaluation = evaluate_in_pieces(codes, factors, list(metrics), options=own, codes_std=codes_std, **run)
    if evaluation.left_out:
        raise NotEnoughData(evaluation.left_out[0].reason)
    return list(evaluation)
