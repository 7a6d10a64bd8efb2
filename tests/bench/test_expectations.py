"""What a good metric does, as inequalities: each kind by hand."""

from demele.bench.expectations import (
    AtLeast,
    AtMost,
    Expectation,
    Falls,
    Holds,
    Keeps,
    NotAbove,
    Same,
)

SEVERITIES = (0.0, 0.5, 1.0)
LABELS = ("none", "half", "all")


def told(expectation: Expectation) -> list[tuple[dict[int, float], float]]:
    return [(dict(item.weights), item.bound) for item in expectation.contrasts(SEVERITIES, LABELS)]


CASES: list[tuple[Expectation, list[tuple[dict[int, float], float]]]] = [
    (
        Falls(total=0.2, step=0.01),
        [({0: 1, 1: -1}, 0.01), ({1: 1, 2: -1}, 0.01), ({0: 1, 2: -1}, 0.2)],
    ),
    (Falls(step=0.01), [({0: 1, 1: -1}, 0.01), ({1: 1, 2: -1}, 0.01)]),
    (Falls(total=0.2, every_step=False), [({0: 1, 2: -1}, 0.2)]),
    (Falls(step=0.01, start=0.5), [({1: 1, 2: -1}, 0.01)]),
    (Falls(step=0.01, stop=0.5), [({0: 1, 1: -1}, 0.01)]),
    (
        Holds(0.1),
        [({1: 1, 0: -1}, -0.1), ({0: 1, 1: -1}, -0.1), ({2: 1, 0: -1}, -0.1), ({0: 1, 2: -1}, -0.1)],
    ),
    (Holds(0.1, stop=0.5), [({1: 1, 0: -1}, -0.1), ({0: 1, 1: -1}, -0.1)]),
    (Keeps(0.5), [({0: 1}, 0.1), ({1: 1, 0: -0.5}, 0.0), ({2: 1, 0: -0.5}, 0.0)]),
    (Keeps(0.8, stop=0.5, least=0.2), [({0: 1}, 0.2), ({1: 1, 0: -0.8}, 0.0)]),
    (AtLeast(0.9, at=0.5), [({1: 1}, 0.9)]),
    (AtLeast(0.9), [({0: 1}, 0.9), ({1: 1}, 0.9), ({2: 1}, 0.9)]),
    (AtMost(0.1, at=1.0), [({2: -1}, -0.1)]),
    (AtMost(0.1), [({0: -1}, -0.1), ({1: -1}, -0.1), ({2: -1}, -0.1)]),
    (NotAbove(at=1.0, than=0.0, margin=0.05), [({0: 1, 2: -1}, -0.05)]),
    (Same(at=0.5, than=1.0, within=0.1), [({2: 1, 1: -1}, -0.1), ({1: 1, 2: -1}, -0.1)]),
]


def test_each_kind_by_hand() -> None:
    for expectation, expected in CASES:
        assert told(expectation) == expected
