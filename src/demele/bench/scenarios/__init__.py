"""The scenarios that come with demele, by name."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demele.bench.expectations import Scenario, expectation_of
from demele.bench.scenarios.draws import DECLINES, DRAWS
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.kinds import suggestion
from demele.core.table_columns import items_of


def _scenario(entry: dict[str, Any]) -> Scenario:
    """Return a scenario of the file; ``because`` is for its readers."""
    entry.pop("because", "")
    wanted = {key: tuple(map(expectation_of, several)) for key, several in entry.pop("wanted", {}).items()}
    functions: dict[str, Any] = {"draw": DRAWS[entry.pop("draw")], "declines": DECLINES.get(entry.pop("declines", ""))}
    lists: dict[str, Any] = {"severities": tuple(entry.pop("severities")), "labels": tuple(entry.pop("labels", ()))}
    return Scenario(**entry, **functions, **lists, wanted=wanted)


#: They stand in ``scenarios.json``, with every threshold.
SCENARIOS: dict[str, Scenario] = {
    entry["name"]: _scenario(entry)
    for entry in json.loads(Path(__file__).with_name("scenarios.json").read_text(encoding="utf-8"))
}
#: Names that stand for several.
_SETS = ("source", "added", "all")


def scenario_names() -> list[str]:
    """Return the names of the scenarios, those of the review first.

    Examples
    --------
    >>> from demele import bench
    >>> bench.scenario_names()[:5]
    ['noise', 'mixing', 'non_linear', 'redundant', 'partial']
    """
    return list(SCENARIOS)


def scenario(name: str) -> Scenario:
    """Return a scenario by name.

    Parameters
    ----------
    name : str
        One of :func:`scenario_names`.

    Returns
    -------
    Scenario

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> from demele import bench
    >>> bench.scenario("mixing").severities
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    """
    if isinstance(name, str) and name in SCENARIOS:
        return SCENARIOS[name]
    hint = suggestion(name, [*SCENARIOS, *_SETS]) if isinstance(name, str) else ""
    raise UnknownNameError("scenarios", f"unknown scenario {quoted(name)}{hint}")


def chosen_scenarios(scenarios: Sequence[str | Scenario] | str | Scenario | None) -> tuple[Scenario, ...]:
    """Return scenarios for names, sets of names ("source", "added", "all") and objects, each once; None is all."""
    if scenarios is None:
        return tuple(SCENARIOS.values())
    listed = [scenarios] if isinstance(scenarios, str | Scenario) else scenarios
    chosen: dict[str, Scenario] = {}
    for item in items_of(listed, "scenarios", "names or Scenario objects"):
        if not isinstance(item, str | Scenario):
            raise InputTypeError("scenarios", f"expected a name or a Scenario, got {type(item).__name__}")
        is_set = isinstance(item, str) and item in _SETS
        several = [one for one in SCENARIOS.values() if item == "all" or (one.kind == "source") == (item == "source")]
        for found in several if is_set else [scenario(item) if isinstance(item, str) else item]:
            if SCENARIOS.get(found.name, found).draw is not found.draw:
                raise InputError("scenarios", f"{found.name!r} is a scenario of demele; give yours another name")
            if chosen.setdefault(found.name, found) is not found:
                raise InputError("scenarios", f"two are called {found.name!r}; rename one")
    if not chosen:
        raise InputError("scenarios", "expected at least one, got none")
    return tuple(chosen.values())
