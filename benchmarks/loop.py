"""The one loop of all benchmarks: cells are measured one by one, and become the rows of a file in ``results``.

A module says what its tables are and calls :func:`main`. Then it takes

    python -m benchmarks.NAME [TABLE ...]   all tables, or those whose names end so
        --quick        the first cell with two repetitions, printed and not written
        --only TEXT    cells whose names hold a text, printed and not written
        --jobs J       processes
        --summary      of a table with a store: write what it holds, measure nothing
"""

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import RESULTS, csv_text, write_rows
from demele.core.store import Store
from demele.runtime.work import completed

Row = dict[str, Any]
QUICK_REPEATS = 2


@dataclass(frozen=True, kw_only=True)
class Table:
    """How the rows of one file come about.

    Attributes
    ----------
    cells : sequence, or callable that returns one
        What is measured; a cell is known by its ``name``, or by its text.
    measured : callable
        Takes a cell, and the number of repetitions if there is one, and returns a row, some rows, or a record.
    rows : callable, optional
        Takes all cells and what was measured of each, in their order, and returns the rows, or those of several files
        by name. Unless given, what was measured are rows.
    repeats : int, or callable of a cell, optional
        Repetitions of each cell.
    store : bool
        Keep what is finished in ``results/TABLE.jsonl``, so that a run that was stopped goes on.
    alone : bool
        Measure each cell in a process of its own, so that its peak of memory is its own.
    jobs : int
        Processes, unless ``--jobs`` says otherwise.
    """

    cells: Sequence[Any] | Callable[[], Sequence[Any]]
    measured: Callable[..., Any]
    rows: Callable[[list[tuple[Any, Any]]], Any] | None = None
    repeats: int | Callable[[Any], int] | None = None
    store: bool = False
    alone: bool = False
    jobs: int = 1


def repeated(once: Callable[[Any, int], Mapping[str, Any]], cell: Any, repeats: int) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of all repetitions of a cell, by name."""
    found = [once(cell, index) for index in range(repeats)]
    return {name: np.array([one[name] for one in found], dtype=np.float64) for name in found[0]}


def share(value: float, trials: int, *, percent: bool = False, digits: int | None = None) -> tuple[str, str]:
    """Return a share and its standard error as texts, with four decimals, or in percent with two."""
    digits = digits if digits is not None else 2 if percent else 4
    error = np.sqrt(value * (1 - value) / trials)
    return tuple(f"{(100 if percent else 1) * one:.{digits}f}" for one in (value, error))  # type: ignore[return-value]


def main(tables: Mapping[str, Table], *, about: str | None = None) -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(tables)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="the first cell with two repetitions; writes nothing")
    parser.add_argument("--only", metavar="TEXT", help="cells whose names hold this; writes nothing")
    parser.add_argument("--jobs", type=int, metavar="J", help="processes")
    parser.add_argument("--summary", action="store_true", help="write what the store holds; measures nothing")
    asked = parser.parse_args()
    for name, table in tables.items():
        if asked.tables and not name.endswith(tuple(asked.tables)):
            continue
        made = _rows(name, table, asked)
        for file, rows in (made if isinstance(made, Mapping) else {name: made}).items():
            if asked.quick or asked.only is not None:
                print(csv_text(list(rows)), end="", flush=True)
            else:
                print(write_rows(file, list(rows)))


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a process of its own, whose peak of memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _rows(name: str, table: Table, asked: argparse.Namespace) -> Any:
    """Measure the cells that are wanted, and return their rows."""
    cells = table.cells() if callable(table.cells) else table.cells
    if asked.quick:
        cells = cells[:1]
    if asked.only is not None:
        cells = [cell for cell in cells if asked.only in name_of(cell)]
    with ExitStack() as stack:
        found: dict[str, Any] = {}
        store = None
        if table.store and not asked.quick and asked.only is None:
            store = stack.enter_context(Store(RESULTS / f"{name}.jsonl", {"what": name}))
            found = {str(key[0]): store[key]["found"] for key in store}
        todo = [] if asked.summary else [cell for cell in cells if name_of(cell) not in found]
        for done, (key, record) in enumerate(_measured(table, todo, asked), 1):
            if store is not None:
                store.append([((key,), {"found": record})])
            found[key] = record
            print(f"\r{done} of {len(todo)}: {key}", end="\n" if done == len(todo) else "", file=sys.stderr, flush=True)
    pairs = [(cell, found[name_of(cell)]) for cell in cells if name_of(cell) in found]
    if table.rows is not None:
        return table.rows(pairs)
    return [row for _, record in pairs for row in ([record] if isinstance(record, Mapping) else record)]


def _measured(table: Table, cells: Sequence[Any], asked: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """Yield the name of each cell, and what was measured."""
    work = partial(_one, table.measured, table.repeats if not asked.quick or table.repeats is None else QUICK_REPEATS)
    if table.alone:
        yield from (alone(work, cell) for cell in cells)
    else:
        yield from completed(work, cells, n_jobs=asked.jobs or table.jobs)


def _one(measured: Callable[..., Any], repeats: Any, cell: Any) -> tuple[str, Any]:
    number = () if repeats is None else (repeats(cell) if callable(repeats) else repeats,)
    found = measured(cell, *number)
    return name_of(cell), found if isinstance(found, Mapping | list) else list(found)


def name_of(cell: Any) -> str:
    """Return what a cell is known by."""
    if isinstance(cell, tuple):
        return ", ".join(map(name_of, cell))
    return str(getattr(cell, "name", None) or getattr(cell, "__name__", None) or cell)
