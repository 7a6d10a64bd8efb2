"""The scenarios that come with demele, by name."""

from collections.abc import Iterable, Sequence

from demele.bench.scenario import Scenario
from demele.bench.scenarios.data_defects import COLUMN_SCENARIOS, DEFECT_SCENARIOS
from demele.bench.scenarios.geometry import GEOMETRY_SCENARIOS
from demele.bench.scenarios.invariance import INVARIANCES
from demele.bench.scenarios.mended import MENDED_SCENARIOS
from demele.bench.scenarios.sizes import SETTINGS, SIZE_SCENARIOS
from demele.bench.scenarios.source import SOURCE_SCENARIOS
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.names import suggestion

__all__ = ["SCENARIOS", "chosen_scenarios", "scenario", "scenario_names"]

SCENARIOS: dict[str, Scenario] = {
    item.name: item
    for item in (
        *SOURCE_SCENARIOS,
        *GEOMETRY_SCENARIOS,
        *DEFECT_SCENARIOS,
        *COLUMN_SCENARIOS,
        *SIZE_SCENARIOS,
        *MENDED_SCENARIOS,
        SETTINGS,
        INVARIANCES,
    )
}
#: Names that stand for several.
_SETS = {"source": "the five of the review", "added": "the others", "all": "all"}


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
    if isinstance(scenarios, str | Scenario):
        scenarios = [scenarios]
    if not isinstance(scenarios, Iterable):
        raise InputTypeError("scenarios", f"expected names or Scenario objects, got {type(scenarios).__name__}")
    chosen: dict[str, Scenario] = {}
    for item in scenarios:
        for found in _meant(item):
            known = SCENARIOS.get(found.name, found)
            if known.draw is not found.draw:
                raise InputError("scenarios", f"{found.name!r} is a scenario of demele; give yours another name")
            if chosen.setdefault(found.name, found) is not found:
                raise InputError("scenarios", f"two are called {found.name!r}; rename one")
    if not chosen:
        raise InputError("scenarios", "expected at least one, got none")
    return tuple(chosen.values())


def _meant(item: object) -> list[Scenario]:
    if isinstance(item, Scenario):
        return [item]
    if not isinstance(item, str):
        raise InputTypeError("scenarios", f"expected a name or a Scenario, got {type(item).__name__}")
    if item in _SETS:
        every = SCENARIOS.values()
        return [found for found in every if item == "all" or (found.kind == "source") == (item == "source")]
    return [scenario(item)]
