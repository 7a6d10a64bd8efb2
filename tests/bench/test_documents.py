"""What the document of a characterisation says: worked results, and that of all stored rows."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from scipy import stats

from demele import bench
from demele.bench.run import candidate, chosen_candidates
from demele.bench.stored import card_of
from demele.bench.verdicts import Curve
from demele.report.document import Pill
from demele.report.words import name
from tests.bench.sample_comparisons import measured
from tests.tolerances import ROUNDING, assert_close


def found_of(item: bench.Candidate, curves: Sequence[Curve]) -> bench.Characterisation:
    """Return a characterisation of a metric from its curves."""
    scenarios = tuple(bench.scenario(curve.scenario) for curve in curves)
    return bench.Characterisation(
        candidates=(item,),
        scenarios=scenarios,
        protocol="review2022",
        n_samples=500,
        level=0.9,
        seeds={scenario.name: 3 for scenario in scenarios},
        slow_seeds={scenario.name: 3 for scenario in scenarios},
        curves={(curve.metric, curve.scenario): curve for curve in curves},
        seconds={},
    )


def test_a_metric_of_your_own_is_said_first_with_what_it_meets_and_fails() -> None:
    falling = {"mixing": [1.0, 0.8, 0.6, 0.4, 0.2, 0.0], "non_linear": [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]}
    curves = [Curve("<b>", scenario, [[value] * 3 for value in values]) for scenario, values in falling.items()]
    own = candidate(lambda codes, factors: 0.0, name="<b>", claims="modularity", discretises=False)
    document = found_of(own, curves).document()
    assert document.headline == f"{name('<b>')} meets 2 of 3 criteria and fails 1."
    assert (document.tone, document.title) == ("open", f"Properties of {name('<b>')}")
    assert [section.title for section in document.sections] == ["Measures", "Criteria", "Curves", "Data"]
    met, failed, left = document.table.rows[0][1:4]
    assert isinstance(met, Pill)
    # coherent modularity and no discretisation are met; the scores of bent relations are not those of straight ones
    assert (met.text, failed, left) == ("2/3", 1, 0)
    assert document.table.note == f"{name('<b>')} fails {name('Non-linear relations')}."
    assert document.scope == ("1 metric", "2 scenarios", "500 rows each", "3 seeds", f"protocol {name('review2022')}")


#: Values by seed; None where a seed gave none.
Points = Mapping[int, Sequence[float | None]]


def card(scenario: bench.Scenario, points: Points, elsewhere: Sequence[float | None]) -> dict[str, Any]:
    """Return the card of a metric with these values at some places of the sweep, and the same everywhere else."""
    every = [points.get(place, elsewhere) for place in range(len(scenario.severities))]
    outcomes = [["none" if value is None else value for value in own] for own in every]
    (item,) = chosen_candidates("mig")
    return card_of(found_of(item, [Curve("mig", scenario.name, outcomes)]), item)


NOISE, INVARIANCES = bench.scenario("noise"), bench.scenario("invariances")


# Chance ---------------------------------------------------------------------------------------------------------------


def test_chance_is_the_score_of_nothing_but_noise() -> None:
    values = [0.1, 0.2, 0.6]
    place = NOISE.severities.index(1.0)
    told = card(NOISE, {place: values}, [0.9, 0.8])["chance"]
    low, high = stats.t.interval(0.9, 2, loc=0.3, scale=stats.sem(values))
    assert_close([told["mean"], told["low"], told["high"]], [0.3, low, high], ROUNDING)
    assert (set(told), told["n"]) == ({"mean", "low", "high", "n"}, 3)


# Invariances ----------------------------------------------------------------------------------------------------------


def changes(points: Points, elsewhere: Sequence[float] = ()) -> dict[str, tuple[float, str]]:
    lines = card(INVARIANCES, points, elsewhere)["invariances"]
    return {line["change"]: (line["difference"], line["status"]) for line in lines}


def test_what_moves_nothing_holds_and_what_moves_much_fails() -> None:
    base = [0.5, 0.625, 0.75, 0.375]
    moved = [value + step for value, step in zip(base, [0.25, 0.125, 0.25, 0.125], strict=True)]
    little = [value + 2**-10 for value in base]
    told = changes({0: base, 2: moved, 3: [value - 0.25 for value in base], 4: little}, elsewhere=base)
    assert list(told) == list(INVARIANCES.labels[1:])
    assert told["rows permuted"] == (0.0, "holds")
    assert told["codes permuted"] == (0.1875, "fails")
    assert told["factors permuted"] == (0.25, "fails")
    assert told["codes times 1000"] == (2**-10, "holds")  # moved, by less than counts
    assert told["rows doubled"] == (0.0, "holds")


def test_seeds_that_differ_both_ways_do_not_cancel() -> None:
    base = [0.5] * 4
    difference, status = changes({0: base, 1: [0.75, 0.25, 0.75, 0.25]})["rows permuted"]
    assert difference == 0.25
    assert status == "inconclusive"


SMALL: dict[str, Any] = {"seeds": 2, "n_rows": 100}


@functools.cache
def reference() -> dict[str, Any]:
    """Return what is shown of registered metrics, on more scenarios, with other numbers."""
    metrics = ["mig", "sap", "z_min_variance"]
    found = bench.check_metrics(metrics, ["mixing", "redundant"], seeds=3, n_rows=150)
    return found.to_dict()


# One ------------------------------------------------------------------------------------------------------------------


def test_printed_cells_are_compared_under_the_protocol_of_the_review_only() -> None:
    told = reference()
    cells = [item for item in told["verdicts"] if item["printed"] is not None]
    assert {item["row"] for item in cells} == {"mig", "sap", "z_min_variance"}
    assert told["agreement"]["cells"] == len(cells)
    assert told["agreement"]["agree"] == sum(item["agrees"] for item in cells)
    assert {item["metric"] for item in told["printed_scores"]} == {"mig", "sap", "z_min_variance"}
    other = bench.check_metrics("mig", "redundant", protocol="latte", **SMALL).to_dict()
    assert {item["printed"] for item in other["verdicts"]} == {item["agrees"] for item in other["verdicts"]} == {None}
    assert (other["agreement"], other["printed_scores"]) == (None, [])


# Two ------------------------------------------------------------------------------------------------------------------


def test_the_verdict_counts_methods_without_type_one_errors() -> None:
    found, document = measured(), measured().document()
    free = {method for method in found.contenders if not found.table("n_type_1").loc[method].any()}
    assert document.headline.startswith(f"{len(free)} of 5 methods make no type I error at any noise rate; ")
    share = found.tally("overlap", 0.05).type_1
    assert f"interval overlap makes {share:.1f}% with 5% wrong labels." in document.headline
    assert document.title == name("Error rates of comparison methods")
    assert [section.title for section in document.sections] == ["Measures", "Pairwise results", "Curves"]
