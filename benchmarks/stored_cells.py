"""Cells of a benchmark that are measured one by one and kept, so that a run that was stopped goes on."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

from benchmarks.cases import RESULTS
from demele.core.store import Store
from demele.runtime.work import completed

Row = dict[str, Any]


class Named(Protocol):
    """What is measured, under a name of its own."""

    @property
    def name(self) -> str: ...


Cell = TypeVar("Cell", bound=Named)


def stored_cells(
    file: str, what: str, everything: Mapping[str, Cell], measured: Callable[[Cell], Row]
) -> dict[str, Row]:
    """Measure what the store ``results/FILE.jsonl`` does not hold yet, with progress on stderr; return what it holds.

    The first argument of the program is the number of processes (default: 2), or ``summary`` to measure nothing.
    """
    path = RESULTS / f"{file}.jsonl"
    if sys.argv[1:] != ["summary"]:
        with Store(path, {"what": what}) as store:
            todo = [cell for name, cell in everything.items() if (name,) not in store]
            print(f"{len(everything) - len(todo)} of {len(everything)} cells are done", file=sys.stderr)
            n_jobs = int(sys.argv[1]) if sys.argv[1:] else 2
            for done, (name, row) in enumerate(completed(partial(_named, measured), todo, n_jobs=n_jobs), 1):
                store.append([((name,), row)])
                print(f"\r{done} of {len(todo)} cells", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    _, records = Store.read(path)
    return {name: records[(name,)] for name in everything if (name,) in records}


def _named(measured: Callable[[Any], Row], cell: Named) -> tuple[str, Row]:
    return cell.name, measured(cell)
