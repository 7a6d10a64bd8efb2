"""Rows that are kept rather than counted: read without a frame, and given back to an evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, NotEnoughData
from demele.core.factor_columns import read_factor
from demele.core.inputs import Missing, given_kinds, read_codes
from demele.core.results import Note, Score
from demele.core.sentences import give, setting
from demele.core.signature import Signature
from demele.core.table_columns import as_column, check_same_order, split_columns
from demele.metrics.source import checked_std
from demele.streaming.columns import column_order, storage
from demele.streaming.frame import Frame
from demele.streaming.reading import OTHER_ROWS
from demele.streaming.rows import n_rows

#: Of codes and of factors.
Names = tuple[tuple[str, ...], tuple[str, ...]]


def read_rows(
    codes: object,
    factors: object,
    *,
    names: Names | None,
    before: tuple[NDArray[Any], ...],
    kinds: object,
    missing: Missing,
) -> tuple[Names, list[NDArray[Any]], int]:
    """Read a batch without a frame: names, columns of codes and then of factors, and the number of rows.

    ``names`` and ``before`` are the columns of the batches before, if there were any.

    Raises
    ------
    InputError, InputTypeError
    """
    table, code_names = split_columns(codes, "codes", default="z")
    raw, factor_names = split_columns(factors, "factors", default="v")
    n, rows = n_rows(table), n_rows(raw)
    if n != rows:
        raise InputError(OTHER_ROWS.format(n, rows))
    own = names or (code_names, factor_names)
    where = "of the batches before"
    in_codes = column_order(code_names, own[0], "codes", named=not isinstance(table, np.ndarray), where=where)
    in_factors = column_order(factor_names, own[1], "factors", named=not isinstance(raw, np.ndarray), where=where)
    if n == 0:
        return own, [], 0
    check_same_order(codes, factors, ("codes", "factors"))
    values = read_codes(table if isinstance(table, np.ndarray) else codes).values
    columns = [values[:, at] for at in in_codes or range(values.shape[1])]
    given = given_kinds(kinds, own[1])
    for index, (at, name) in enumerate(zip(in_factors or range(len(own[1])), own[1], strict=True)):
        column = as_column(raw[:, at] if isinstance(raw, np.ndarray) else raw[at], "factors")
        factor = read_factor(column, name, given.get(name))
        if missing == "raise" and not factor.complete:
            row = int(np.flatnonzero(~factor.annotated())[0])
            raise InputError(
                "factors",
                f"{n - factor.n_annotated} missing annotations in column {name!r}, first at row {row} of "
                f"this batch; drop those rows, or pass {setting(missing='omit')}",
            )
        if before and mixed(before[index], column):
            told = ("numbers", "text") if storage(column) else ("text", "numbers")
            raise InputError("factors", f"column {name!r} holds {told[0]} in this batch, and held {told[1]} before")
        columns.append(column)
    return own, columns, n


def read_deviations(codes_std: object, names: tuple[str, ...], n: int) -> list[NDArray[Any]]:
    """Read the standard deviations of n rows of codes, as columns in their order.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    if codes_std is None:
        raise NotEnoughData(
            "codes_std", f"rmig needs the standard deviations of the codes; {give('codes_std', codes_std=...)}"
        )
    table, own = split_columns(codes_std, "codes_std", default="z")
    if (n_rows(table), len(own)) != (n, len(names)):
        raise InputError(
            "codes_std", f"expected the shape of codes, ({n}, {len(names)}), got ({n_rows(table)}, {len(own)})"
        )
    order = column_order(own, names, "codes_std", named=not isinstance(table, np.ndarray), where="of codes")
    read = read_codes(table if isinstance(table, np.ndarray) else codes_std, "codes_std")
    values = checked_std(read.values, read)
    if values is None:
        raise ValueError("standard deviations that were given are there")
    return [values[:, at] for at in order or range(len(names))]


def mixed(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether joining two columns would turn the numbers of one into text."""
    kinds = [column.dtype.kind for column in (first, second)]
    if all(kind in "fiub" for kind in kinds) or all(kind in "US" for kind in kinds):
        return False
    own = {"text" if not stored else "numbers" for stored in map(storage, (first, second)) if stored != "?"}
    return len(own) > 1


def as_tables(columns: tuple[NDArray[Any], ...], names: Names, frame: Frame | None) -> tuple[Any, Any, Any]:
    """Return codes, factors and standard deviations (or None) of the columns of rows that were kept."""
    d, m = len(names[0]), len(names[1])
    own = columns[d : d + m]
    return (
        table_of_columns(columns[:d], names[0], "z"),
        table_of_columns(own, names[1], "v") if frame is None else frame.restored(own),
        np.column_stack(columns[d + m :]) if len(columns) > d + m else None,
    )


def table_of_columns(columns: Sequence[Any], names: tuple[str, ...], default: str) -> Any:
    """Return columns as they came: an array of rows if they have no names, else a frame.

    Solvers that sum in another order, as they do for another layout, give other last bits.
    """
    numeric = all(isinstance(column, np.ndarray) and column.dtype.kind in "fiub" for column in columns)
    if numeric and names == tuple(f"{default}{index + 1}" for index in range(len(columns))):
        return np.column_stack(columns)
    import pandas as pd

    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def of_sample(score: Score, n_kept: int, n: int, how: str, context: Mapping[str, str]) -> Score:
    """Say of how many rows a sampled score is, where it is not of all; ``context`` is what its signature adds."""
    if n_kept == n:
        return score
    note = Note(code="sampled", message=f"of a random sample of {n_kept:,} of {n:,} rows ({how})")
    return with_context(replace(score, notes=(*score.notes, note)), context)


def with_context(score: Score, context: Mapping[str, str]) -> Score:
    """Return a score whose signature says more of where it came from."""
    signature = score.signature
    added = Signature(signature.metric, signature.arguments, {**signature.context, **context})
    return replace(score, signature=added)
