"""What a small call costs, and which files and functions it enters: ``demele.mig`` of 200 rows, 8 codes, 4 factors.

``python -m benchmarks.route [--against COMMIT]``: the files and functions that a call enters, then, against a commit,
the ratios of CPU seconds of the whole call and of what is beyond reading the input and making the table.
"""

import argparse
import functools
import importlib
import importlib.util
import inspect
import statistics
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import demele
from benchmarks.paired import HEAD, Case, Ratio, compared, sources

HOUSE = Path(demele.__file__).parent
#: Rooms whose functions a call shares with every other, and which are not counted among the functions of the route.
SHARED = ("core", "estimation")


def data(n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Half of the codes know a factor each, the others nothing."""
    rng = np.random.default_rng(0)
    factors = rng.random((n, m))
    noise = rng.standard_normal((n, d))
    noise[:, :m] = factors[:, :d] + 0.2 * noise[:, :m]
    return noise, factors


def entered(call: Callable[[], object]) -> list[tuple[str, str]]:
    """Return files (without folder and ending) and functions that a call enters, in the order of first entry.

    Properties, comprehensions and what a dataclass generates are left out.
    """
    properties = _properties()
    found: dict[tuple[str, str], None] = {}

    def look(frame: types.FrameType, event: str, _: object) -> None:
        code = frame.f_code
        ours = event == "call" and code.co_filename.startswith(str(HOUSE))
        if ours and code not in properties and not code.co_name.startswith("<"):
            found.setdefault((str(Path(code.co_filename).relative_to(HOUSE)), code.co_qualname))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(found)


def _properties() -> set[types.CodeType]:
    found = set()
    for module in [one for name, one in sys.modules.items() if name.startswith("demele")]:
        for _, kind in inspect.getmembers(module, inspect.isclass):
            for one in vars(kind).values():
                if isinstance(one, property) and one.fget is not None:
                    found.add(one.fget.__code__)
    return found


def whole() -> Callable[[], object]:
    """Return the call as a user makes it."""
    given = data(200, 8, 4)
    return lambda: float(demele.mig(*given).value)


def door() -> Callable[[], object]:
    """Return what reads the input."""
    from demele.core.inputs import read_pair

    given = data(200, 8, 4)
    return lambda: read_pair(*given)[0].names


def table() -> Callable[[], object]:
    """Return what makes the table of information: of the present code, or of that before it had sources."""
    from demele.core.inputs import read_pair
    from demele.estimation.discretise import EqualWidth

    read = read_pair(*data(200, 8, 4))
    if importlib.util.find_spec("demele.metrics.source") is None:
        tables: Any = importlib.import_module("demele.metrics.information.tables")
        rows = importlib.import_module("demele.metrics.data").Data(*read)
        settings = tables.TableSettings(EqualWidth(10))
        return lambda: tables.information_of(rows, settings).information.tolist()
    from demele.metrics.data import TableSettings
    from demele.metrics.source import InMemory, Subject

    source = InMemory(Subject.of(*read))
    return lambda: source.table(TableSettings(EqualWidth(10))).information.tolist()


def unguarded() -> Callable[[], object]:
    """Return the call without guards: nothing is looked for that would make the number fragile."""
    given = data(200, 8, 4)
    if importlib.util.find_spec("demele.metrics.source") is None:
        modules: Any = [importlib.import_module(f"demele.metrics.{name}") for name in ("outcomes", "evaluate")]
        modules[0].fragility_notes = lambda *_: {}
        modules[1].guarded = lambda found, *_: found
    else:
        engine: Any = importlib.import_module("demele.metrics.run")
        engine.computed = functools.partial(engine.computed, guards=False)
    return lambda: float(demele.mig(*given).value)


CASES: dict[str, Case] = {"whole": whole, "door": door, "table": table, "unguarded": unguarded}


def beyond(parts: dict[str, Ratio]) -> tuple[float, float]:
    """Return the seconds beyond door and table, without guards, now and then."""

    def left(when: str) -> float:
        medians = {name: statistics.median(getattr(parts[name], when)) for name in ("unguarded", "door", "table")}
        return float(medians["unguarded"] - medians["door"] - medians["table"])

    return left("now"), left("then")


def main() -> None:
    """Print the route, and ratios if a commit is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="COMMIT", help="print ratios of CPU seconds to those of this commit")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    given = data(500, 3, 2)
    demele.mig(*given)  # imports are not part of the route
    route = entered(lambda: demele.mig(*given))
    files = list(dict.fromkeys(file for file, _ in route))
    own = [name for file, name in route if not file.startswith(SHARED)]
    print(f"{len(files)} files: {', '.join(files)}")
    print(f"{len(own)} functions outside {' and '.join(SHARED)}: {', '.join(own)}")
    if arguments.against:
        print(HEAD)
        with sources(arguments.against) as folders:
            parts = {}
            for case in CASES:
                parts[case] = compared("benchmarks.route", case, *folders)
                print(parts[case], flush=True)
        new, old = beyond(parts)
        print(
            f"beyond door and table, without guards: {1e3 * old:.2f} ms then, {1e3 * new:.2f} ms now, {new / old:.2f}"
        )


if __name__ == "__main__":
    main()
