"""Ways to join answers on simulated crowds whose truth is known: percent of right labels, beside the majority's.

``python -m benchmarks.consensus`` (about two minutes, one core); writes results/consensus.csv, a row per world.

Of each world 40 crowds: 300 items, each answered by so many annotators, each annotator answering so often. An annotator
is right with a probability drawn from beta(6a, 6(1 - a)), and else gives any other class alike: what the one-coin model
supposes. Classes are equally frequent, or fall: K, K - 1, ..., 1 parts. A tie counts as the share of a draw. ``least``
and ``below by 3`` are over the crowds: the worst one, and how many where the blend is 3 points or more below.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Table, main
from demele.core.seeds import rng_for
from demele.labels import Annotations, Consensus, consensus

Ints = NDArray[np.intp]

ITEMS, CROWDS = 300, 40
#: Classes, answers per item, answers per annotator, mean accuracy of annotators.
WORLDS = ((5, 5, 4, 0.75), (2, 5, 4, 0.75), (2, 5, 50, 0.7), (10, 4, 60, 0.6), (2, 10, 100, 0.8))
METHODS = ("majority", "dawid-skene", "one-coin", "own-prior", "blend")
#: Rounding of sums in another order.
SAME = 1e-12


def assigned(rng: np.random.Generator, per_item: int, n_annotators: int) -> Ints:
    """Who answers about each item, shape (items, per_item): nobody twice, and all as often as can be."""
    deck = np.repeat(np.arange(n_annotators), -(-ITEMS * per_item // n_annotators))[: ITEMS * per_item]
    who = rng.permutation(deck).reshape(ITEMS, per_item)
    for item in range(ITEMS):
        for place in range(per_item):
            while np.count_nonzero(who[item] == who[item, place]) > 1:  # exchange with an item that lacks both
                other, there = rng.integers(ITEMS), rng.integers(per_item)
                if who[other, there] not in who[item] and who[item, place] not in who[other]:
                    who[item, place], who[other, there] = who[other, there], who[item, place]
    return who


def crowd(world: tuple[int, int, int, float], shares: str, repetition: int) -> tuple[Annotations, Ints]:
    """Answers, and the class of each item."""
    k, per_item, per_annotator, accuracy = world
    rng = rng_for(0, "benchmarks.consensus", *map(str, world), shares, repetition)
    n_annotators = ITEMS * per_item // per_annotator
    parts = np.ones(k) if shares == "equal" else np.arange(k, 0, -1.0)
    truth = rng.choice(k, ITEMS, p=parts / parts.sum())
    who = assigned(rng, per_item, n_annotators)
    skill = rng.beta(6 * accuracy, 6 * (1 - accuracy), n_annotators)
    wrong = (truth[:, None] + rng.integers(1, k, who.shape)) % k
    said = np.where(rng.random(who.shape) < skill[who], truth[:, None], wrong)
    return Annotations(np.repeat(np.arange(ITEMS), per_item), who.ravel(), said.ravel(), classes=range(k)), truth


def right(found: Consensus, truth: Ints) -> float:
    """Percent of right labels."""
    tied = found.probabilities >= found.probabilities.max(axis=1, keepdims=True) - SAME
    return float(100 * (tied[np.arange(ITEMS), truth] / tied.sum(axis=1)).mean())


def row(cell: tuple[tuple[int, int, int, float], str], crowds: int) -> dict[str, object]:
    """Measure one world."""
    world, shares = cell
    found = np.empty((crowds, len(METHODS)))
    for repetition in range(crowds):
        table, truth = crowd(world, shares, repetition)
        for place, method in enumerate(METHODS):
            chosen: Any = method
            found[repetition, place] = right(consensus(table, method=chosen), truth)
    gain = found[:, -1] - found[:, 0]
    return {
        "classes": world[0],
        "answers per item": world[1],
        "answers per annotator": world[2],
        "accuracy": world[3],
        "class shares": shares,
        "crowds": crowds,
        **{name: f"{value:.1f}" for name, value in zip(METHODS, found.mean(axis=0), strict=True)},
        "blend - majority": f"{gain.mean():.2f}",
        "standard error": f"{gain.std(ddof=1) / crowds**0.5:.2f}",
        "least": f"{gain.min():.1f}",
        "below by 3": int(np.count_nonzero(gain <= -3)),
    }


CELLS = [(world, shares) for world in WORLDS for shares in ("equal", "falling")]

if __name__ == "__main__":
    main({"consensus": Table(cells=CELLS, measured=row, repeats=CROWDS)})
