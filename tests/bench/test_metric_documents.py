"""What the document of a characterisation says: worked results, and that of all stored rows."""

from typing import Any

from demele import bench
from demele.bench.run import candidate
from demele.bench.scenarios import SCENARIOS
from demele.bench.verdicts import Curve
from demele.report.document import Pill
from demele.report.words import name


def made(curves: dict[tuple[str, str], list[float]], **given: Any) -> bench.Characterisation:
    """Return a characterisation whose every seed gave the same score, by metric and scenario."""
    metrics = dict.fromkeys(metric for metric, _ in curves)
    scenarios = tuple(SCENARIOS[scenario] for scenario in dict.fromkeys(scenario for _, scenario in curves))
    found = {
        key: Curve(*key, [[value] * 3 for value in values]) if values else Curve(*key, [], "takes no part")
        for key, values in curves.items()
    }
    return bench.Characterisation(
        candidates=tuple(
            candidate(lambda codes, factors: 0.0, name=metric, claims=given.get(metric), discretises=False)
            for metric in metrics
        ),
        scenarios=scenarios,
        protocol="review2022",
        n_samples=500,
        level=0.95,
        seeds={scenario.name: 3 for scenario in scenarios},
        slow_seeds={scenario.name: 3 for scenario in scenarios},
        curves=found,
        seconds={},
    )


def falling() -> bench.Characterisation:
    """A metric that falls as codes mix, and moves as relations bend."""
    return made(
        {("<b>", "mixing"): [1.0, 0.8, 0.6, 0.4, 0.2, 0.0], ("<b>", "non_linear"): [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]},
        **{"<b>": "modularity"},
    )


def test_a_metric_of_your_own_is_said_first_with_what_it_meets_and_fails() -> None:
    document = falling().document()
    assert document.headline == f"{name('<b>')} meets 2 of 3 criteria and fails 1."
    assert (document.tone, document.title) == ("open", f"Properties of {name('<b>')}")
    assert [section.title for section in document.sections] == ["Measures", "Criteria", "Curves", "Data"]
    met, failed, left = document.table.rows[0][1:4]
    assert isinstance(met, Pill)
    # coherent modularity and no discretisation are met; the scores of bent relations are not those of straight ones
    assert (met.text, failed, left) == ("2/3", 1, 0)
    assert document.table.note == f"{name('<b>')} fails {name('Non-linear relations')}."
    assert document.scope == ("1 metric", "2 scenarios", "500 rows each", "3 seeds", f"protocol {name('review2022')}")
