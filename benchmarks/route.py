"""Which files and functions a small call enters, ``demele.metrics.mig`` of 500 rows, 3 codes and 2 factors.

``python -m benchmarks.route`` prints them.
"""

import inspect
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import demele

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


def main() -> None:
    """Print the route."""
    warnings.simplefilter("ignore")
    given = data(500, 3, 2)
    demele.metrics.mig(*given)  # imports are not part of the route
    route = entered(lambda: demele.metrics.mig(*given))
    files = list(dict.fromkeys(file for file, _ in route))
    own = [name for file, name in route if not file.startswith(SHARED)]
    print(f"{len(files)} files: {', '.join(files)}")
    print(f"{len(own)} functions outside {' and '.join(SHARED)}: {', '.join(own)}")


if __name__ == "__main__":
    main()
