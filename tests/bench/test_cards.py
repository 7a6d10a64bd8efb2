"""The card of a metric, from curves and times that are written by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from scipy import stats

from demele import bench
from demele.bench.run import chosen_candidates
from demele.bench.stored import card_of
from demele.bench.verdicts import Curve
from tests.tolerances import ROUNDING, assert_close

#: Values by seed; None where a seed gave none.
Points = Mapping[int, Sequence[float | None]]


def curve_of(
    scenario: bench.Scenario, points: Points, *, elsewhere: Sequence[float | None] = (), **given: Any
) -> Curve:
    """Return a curve with these values at some places of the sweep, and the same everywhere else."""
    every = [points.get(place, elsewhere) for place in range(len(scenario.severities))]
    outcomes = [["none" if value is None else value for value in own] for own in every]
    return Curve("mig", scenario.name, outcomes, **given)


def found_of(curves: Sequence[Curve]) -> bench.Characterisation:
    return bench.Characterisation(
        candidates=chosen_candidates("mig"),
        scenarios=tuple(bench.scenario(curve.scenario) for curve in curves),
        protocol="review2022",
        n_samples=500,
        level=0.9,
        seeds={curve.scenario: 3 for curve in curves},
        slow_seeds={curve.scenario: 3 for curve in curves},
        curves={("mig", curve.scenario): curve for curve in curves},
        seconds={},
    )


def card(curves: Sequence[Curve]) -> dict[str, Any]:
    found = found_of(curves)
    return card_of(found, found.candidates[0])


NOISE, CHANCE, INVARIANCES = (bench.scenario(name) for name in ("noise", "chance", "invariances"))


# Chance ---------------------------------------------------------------------------------------------------------------


def test_chance_is_the_score_of_nothing_but_noise() -> None:
    values = [0.1, 0.2, 0.6]
    place = NOISE.severities.index(1.0)
    told = card([curve_of(NOISE, {place: values}, elsewhere=[0.9, 0.8])])["chance"]
    low, high = stats.t.interval(0.9, 2, loc=0.3, scale=stats.sem(values))
    assert_close([told["mean"], told["low"], told["high"]], [0.3, low, high], ROUNDING)
    assert (set(told), told["n"]) == ({"mean", "low", "high", "n"}, 3)


# Invariances ----------------------------------------------------------------------------------------------------------


def changes(points: Points, elsewhere: Sequence[float] = ()) -> dict[str, tuple[float, str]]:
    lines = card([curve_of(INVARIANCES, points, elsewhere=elsewhere)])["invariances"]
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
