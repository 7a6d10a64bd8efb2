"""Screening and Sobol indices: a game by hand, SciPy's indices of the same runs, coverage, and links of fabrics."""

from typing import Any

import numpy as np
import torch
from scipy.stats import sobol_indices

from demele.core.arrays import rng_for
from demele.errors import InputError
from demele.lab import Screening, screen_links
from demele.models.fabric.criteria import Judge, radial_runs
from tests.models.fabrics import batches, disturbed, images, labels, small
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SINGLE, SOLVER, assert_close, assert_exact, assert_mean, assert_rate_at_most

#: By hand, of the game below: variances 16/12, 4/12 and, of the product, 144/12²; in all 32/12.
FIRST = np.array([1 / 2, 1 / 8, 0, 0, 0])
TOTAL = np.array([1 / 2, 1 / 8, 3 / 8, 3 / 8, 0])


def game(x: Any) -> Any:
    """Two inputs alone, two that only act together, and one that does nothing."""
    return 4 * x[:, 0] + 2 * x[:, 1] + 12 * (x[:, 2] - 0.5) * (x[:, 3] - 0.5)


def test_effects_and_indices_of_a_game_are_those_found_by_hand() -> None:
    """An effect of the product is 12 (x - 1/2): its absolute value is 3 on average, its spread 12/sqrt(12)."""
    runs = radial_runs(game, 5, repeats=4000, rng=rng_for(0, "game"))
    assert runs.values.shape == (4000, 7)
    effects = runs.effects
    assert_close(effects[:, [0, 1, 4]], np.tile([4.0, 2.0, 0.0], (4000, 1)), SOLVER)
    assert_mean(np.abs(effects[:, 2]), 3.0)
    assert_mean(effects[:, 3] ** 2, 12.0)
    drawn = runs.intervals(0.999, rng_for(0, "ends"))
    for (lower, upper), truth in zip(drawn, (FIRST, TOTAL), strict=True):
        assert ((lower <= truth + 1e-9) & (truth <= upper + 1e-9)).all()
    assert (drawn[1][1] - drawn[1][0] < 0.1).all()


def test_indices_are_those_of_scipy_from_the_same_runs() -> None:
    runs = radial_runs(lambda x: np.exp(x[:, 0] * x[:, 1]) + x[:, 2], 3, repeats=64, rng=rng_for(2, "game"))
    values = runs.values.T[:, None]
    held = {"f_A": values[0], "f_B": values[1], "f_AB": values[2:]}
    peer = sobol_indices(func=held, n=64)
    assert_close(runs.indices()[0], peer.first_order, ROUNDING)
    assert_close(runs.indices()[1], peer.total_order, ROUNDING)


def test_a_function_that_does_not_vary_has_no_indices() -> None:
    assert np.isnan(radial_runs(lambda x: np.ones(len(x)), 2, repeats=3, rng=rng_for(0)).indices()).all()


def test_intervals_of_total_indices_cover() -> None:
    missed, trials = 0, 60
    for seed in range(trials):
        runs = radial_runs(game, 5, repeats=200, rng=rng_for(seed, "coverage"))
        lower, upper = runs.intervals(0.9, rng_for(seed, "ends"))[1]
        missed += int(((lower > TOTAL) | (upper < TOTAL))[:4].sum())
    assert_rate_at_most(missed, 4 * trials, 0.13)  # percentiles of ratios: a little less than nominal
    assert missed > 0.04 * 4 * trials


def test_a_link_that_adds_nothing_has_no_effect() -> None:
    fabric = disturbed(small())
    norm: Any = fabric.network.links["0_0-1_1"].norm
    with torch.no_grad():
        norm.weight.zero_()
        norm.bias.zero_()
    found = screen_links(fabric, images(20), n_repeats=4)
    assert isinstance(found, Screening)
    assert list(found.table.index) == list(fabric.links)
    assert found.evaluations == 4 * (len(fabric.links) + 2)
    assert_exact(found.table.loc["0.0-1.1", ["mean", "spread", "total"]].to_numpy(), np.zeros(3))
    assert found.table["total"].max() > 0
    again = screen_links(fabric, images(20), n_repeats=4)
    assert found.table.equals(again.table)
    assert_exact(fabric.scores("sobol", images(20), n_repeats=4).to_numpy(), found.table["total"].to_numpy())


def test_a_gate_of_one_moves_nothing() -> None:
    refuses(InputError, "low", screen_links, small(), images(20), low=1.0)


def test_values_of_groups_share_out_the_likelihood() -> None:
    """They sum to what all kernels add to kernels of 0; a kernel of 0 adds nothing; a group has one value."""
    network = disturbed(small()).network
    with torch.no_grad():
        network.layer(network.lattice.links[3]).conv.weight.zero_()
    given = batches()
    found = Judge(criterion="shapley_groups", data=given, seed=0, options={"groups": 2, "permutations": 3}).weights(
        network
    )
    kernels = [network.layer(link).conv.weight for link in network.lattice.links]
    with torch.no_grad():
        whole = _likelihood(network, given)
        for kernel in kernels:
            kernel.zero_()
        nothing = _likelihood(network, given)
    assert_close(sum(float(one.double().sum()) for one in found.values()), whole - nothing, SINGLE)
    assert float(found[network.lattice.links[3]].abs().max()) < 1e-6
    for one in found.values():
        assert len(np.unique(one[:2].numpy())) == len(np.unique(one[2:].numpy())) == 1


def _likelihood(network: Any, given: Any) -> float:
    parts = [torch.log_softmax(network(x), dim=1)[range(len(y)), y].sum() for x, y in given]
    return float(sum(parts)) / sum(len(y) for _, y in given)


def test_groups_of_weights_are_pruned_at_every_level() -> None:
    for level in ("links", "channels", "weights"):
        fabric = disturbed(small())
        plan = fabric.prune(level, 0.3, "shapley_groups", images(20), labels(20), groups=2, permutations=1, round_to=1)
        assert plan.removed > 0
