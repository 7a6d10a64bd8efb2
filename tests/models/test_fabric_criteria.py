"""Criteria, screening and Sobol indices: against finite differences, formulas written out, SciPy and cases by hand."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import sobol_indices
from torch.nn import functional

from demele.core.arrays import rng_for
from demele.errors import InputError
from demele.lab import Screening, screen_links
from demele.models.fabric import criteria
from demele.models.fabric.criteria import CRITERIA, OF_LINKS, Judge, radial_runs, shapley_values
from tests.models.fabrics import batches, disturbed, images, labels, small
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SINGLE, SOLVER, assert_close, assert_exact, assert_mean, assert_rate_at_most


def exact(**options: Any) -> Any:
    """A disturbed fabric in double precision."""
    return disturbed(small(**options)).network.double()


def data(size: int = 20) -> Any:
    return [(pixels.double(), classes) for pixels, classes in batches(size)]


def called(name: str, network: Any, given: Any, **options: Any) -> Any:
    if name in OF_LINKS:
        return OF_LINKS[name](network, given, rng_for(0, name), **options)
    return Judge(criterion=name, data=given, seed=0, options=options).weights(network)


def loss(network: Any, given: Any, temperature: float = 1.0) -> float:
    with torch.no_grad():
        parts = [functional.cross_entropy(network(x) / temperature, y, reduction="sum") for x, y in given]
    return float(sum(parts)) / sum(len(y) for _, y in given)


def some_weights(network: Any, n: int = 20) -> Any:
    """Some weights of kernels: the link, the kernel, the place in it."""
    rng = np.random.default_rng(1)
    for place in rng.integers(0, len(network.lattice.links), n):
        link = network.lattice.links[place]
        kernel = network.layer(link).conv.weight
        yield link, kernel, tuple(int(rng.integers(0, size)) for size in kernel.shape)


def moved(kernel: Any, place: Any, value: Any, function: Any) -> Any:
    """What a function gives with one weight changed."""
    with torch.no_grad():
        held = kernel[place].clone()
        kernel[place] = value
        found = function()
        kernel[place] = held
    return found


def slope(kernel: Any, place: Any, function: Any, step: float = 1e-5) -> float:
    weight = kernel[place].item()
    ends = [moved(kernel, place, weight + side * step, function) for side in (1, -1)]
    return float((ends[0] - ends[1]) / (2 * step))


# Scores of weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalisation", ["link", "node"])
def test_sensitivity_is_that_of_finite_differences(normalisation: Any) -> None:
    network, given = exact(normalisation=normalisation), data()
    found = called("sensitivity", network, given)
    for link, kernel, place in some_weights(network):
        expected = abs(kernel[place].item() * slope(kernel, place, lambda: loss(network, given)))
        assert_close(found[link][place], expected, SOLVER)


def test_the_label_free_criterion_is_that_of_finite_differences() -> None:
    network, given = exact(), data()

    def length() -> float:
        with torch.no_grad():
            return float(lengths(network, given).mean())

    found = called("label_free", network, given)
    for link, kernel, place in some_weights(network):
        assert_close(found[link][place], abs(kernel[place].item() * slope(kernel, place, length)), SOLVER)
    others = called("label_free", network, [(pixels, classes * 0) for pixels, classes in given])
    assert all(torch.equal(found[link], others[link]) for link in found)


def test_fisher_is_the_mean_square_over_batches() -> None:
    network, given = exact(), data(size=15)
    found = called("fisher", network, given)
    for link, kernel, place in some_weights(network, 8):
        squares = [slope(kernel, place, lambda part=part: loss(network, [part])) ** 2 for part in given]
        assert_close(found[link][place], kernel[place].item() ** 2 * np.mean(squares), SOLVER)
    assert all(bool((one >= 0).all()) for one in found.values())


@pytest.mark.parametrize("temperature", [1.0, 5.0])
def test_curvature_is_that_of_differences_of_gradients(temperature: float) -> None:
    network, given = exact(activation="relu"), data()
    kernels = [network.layer(link).conv.weight for link in network.lattice.links]

    def gradients() -> list[Any]:
        parts = [functional.cross_entropy(network(x) / temperature, y, reduction="sum") for x, y in given]
        return list(torch.autograd.grad(torch.stack(parts).sum() / 40, kernels))

    with torch.enable_grad():
        g = gradients()
        ends = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                for kernel, one in zip(kernels, g, strict=True):
                    kernel.add_(step * one)
            ends.append(gradients())
            with torch.no_grad():
                for kernel, one in zip(kernels, g, strict=True):
                    kernel.sub_(step * one)
    found = called("grasp", network, given, temperature=temperature)
    unsigned = called("grasp_abs", network, given, temperature=temperature)
    for link, kernel, up, down in zip(network.lattice.links, kernels, *ends, strict=True):
        expected = kernel.detach() * (up - down) / 2e-6
        scale = expected.abs().max()
        assert_close(found[link] / scale, expected / scale, SOLVER)
        assert_close(unsigned[link], found[link].abs(), ROUNDING)


def test_synflow_of_a_chain_by_hand() -> None:
    """One link at one pixel: only the middle of a kernel meets it, and what flows is a product."""
    network = small(layers=2, scales=1, channels=3, classes=2).network.double()
    (link,) = network.lattice.links
    entering = network.input.conv.weight.detach()[:, 0, 1, 1].abs()
    kernel = network.layer(link).conv.weight.detach()[:, :, 1, 1].abs()
    leaving = network.head.weight.detach().abs().sum(dim=0)
    found = called("synflow", network, [])[link]
    assert_close(found[:, :, 1, 1], leaving[:, None] * kernel * entering[None], SINGLE)
    assert float(found.sum()) == pytest.approx(float(found[:, :, 1, 1].sum()))


# Scores of links ------------------------------------------------------------------------------------------------------


def test_a_gate_is_that_of_finite_differences() -> None:
    network, given = exact(), data()
    found = called("gate", network.float(), [(pixels.float(), classes) for pixels, classes in given])
    network.double()
    for place in range(len(network.lattice.links)):
        ends = []
        for step in (1e-5, -1e-5):
            gates = torch.ones(len(network.lattice.links), dtype=torch.double)
            gates[place] += step
            with torch.no_grad():
                parts = [functional.cross_entropy(network(x, gates), y, reduction="sum") for x, y in given]
            ends.append(float(sum(parts)) / 40)
        assert_close(found[place], abs(ends[0] - ends[1]) / 2e-5, SOLVER)


def test_leaving_one_out_is_removing_it() -> None:
    fabric = disturbed(small())
    given = batches()
    found = called("leave_one_out", fabric.network, given)
    for place in (0, 4, 11):
        other = fabric.copy()
        other.remove([fabric.links[place]])
        assert_close(found[place], loss(other.network, given) - loss(fabric.network, given), SINGLE)


def lengths(network: Any, given: Any) -> Any:
    """Lengths of the value of the last node, one for each image."""
    return torch.cat([network.output_node(pixels).flatten(1).norm(dim=1) for pixels, _ in given])


def test_screening_is_the_root_of_mean_squared_changes() -> None:
    fabric = disturbed(small())
    given, step = batches(), 0.05
    found = criteria.screening(fabric.network, given, rng_for(0), n_repeats=2, step=step)
    rng, link = rng_for(0), fabric.lattice.links[0]
    drawn = rng.permutation(40)[:32]
    given = [(torch.cat([pixels for pixels, _ in given])[drawn], None)]
    squares = []
    for _ in range(2):
        signs = rng.choice([-1.0, 1.0], fabric.network.layer(link).conv.weight.shape)
        other = fabric.copy()
        with torch.no_grad():
            other.network.layer(link).conv.weight.add_(torch.from_numpy(step * signs).float())
            change = lengths(other.network, given) - lengths(fabric.network, given)
        squares.append(float((change.double() ** 2).mean()))
    assert_close(found[0], np.sqrt(np.mean(squares)), SOLVER)


def test_links_have_the_norms_of_their_kernels() -> None:
    fabric = disturbed(small())
    expected = [fabric.network.layer(link).conv.weight.norm().item() for link in fabric.lattice.links]
    assert_close(fabric.scores("magnitude"), expected, SINGLE)
    signed = called("grasp", fabric.network, batches(64))
    found = fabric.scores("grasp", images(40, seed=2), labels(40))
    assert_close(found, [float(signed[link].double().sum()) for link in fabric.lattice.links], SOLVER)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_scores_leave_the_network_as_it_was(name: str, training: bool) -> None:
    network = disturbed(small()).network.train(training)
    before = {key: values.clone() for key, values in network.state_dict().items()}
    options = {"permutations": 1} if name == "shapley" else {}
    again = [
        np.concatenate([np.ravel(one) for one in _values(called(name, network, batches(), **options))]) for _ in "ab"
    ]
    assert_exact(again[0], again[1])
    assert network.training == training
    assert all(one.training == training for one in network.modules())
    assert all(one.grad is None and one.requires_grad for one in network.parameters())
    for key, values in network.state_dict().items():
        assert_exact(values, before[key])


def _values(found: Any) -> Any:
    parts = [one.numpy() for one in found.values()] if isinstance(found, dict) else [found]
    return np.concatenate([part.ravel() for part in parts])


# Shapley values -------------------------------------------------------------------------------------------------------


def glove(members: Any) -> float:
    """Two left gloves and one right: a pair is worth 1, and the last player nothing."""
    return float((members[0] or members[1]) and members[2])


def test_exact_values_are_means_over_all_permutations() -> None:
    """In the game of gloves the right one has 2/3, each left one 1/6 (by hand)."""

    class Each:
        """All permutations, one after the other."""

        def __init__(self) -> None:
            self._orders = itertools.permutations(range(4))

        def permutation(self, n: int) -> Any:
            return np.array(next(self._orders))

    found = shapley_values(glove, 4, permutations=24, rng=Each())  # type: ignore[arg-type]
    assert_close(found.mean(axis=0), [1 / 6, 1 / 6, 2 / 3, 0], ROUNDING)
    assert_exact(found.sum(axis=1), np.ones(24))
    assert_exact(found[:, 3], np.zeros(24))


def test_what_is_void_is_not_looked_at() -> None:
    asked = []

    def worth(members: Any) -> float:
        asked.append(members.copy())
        return glove(members)

    def is_void(members: Any) -> bool:
        return not (members[2] and (members[0] or members[1]))

    rng = np.random.default_rng(0)
    short = shapley_values(worth, 4, permutations=20, rng=rng, is_void=is_void)
    assert not any(is_void(members) for members in asked[2:])
    assert len(asked) < 2 + 20 * 4
    assert_exact(short, shapley_values(glove, 4, permutations=20, rng=np.random.default_rng(0)))


def test_values_of_links_share_out_the_likelihood() -> None:
    fabric = disturbed(small(layers=2, scales=2))
    with torch.no_grad():
        fabric.network.head.bias.zero_()
        norm: Any = fabric.network.links["1_0-1_1"].norm
        norm.weight.zero_()
        norm.bias.zero_()  # adds nothing to the last node, nor does what leads to it
    given = [(pixels[..., :2, :2], classes) for pixels, classes in batches()]
    found = criteria.shapley_of_links(fabric.network, given, rng_for(0), 12)
    all_of_it = max(-loss(fabric.network, given), -math.log(10)) + math.log(10)
    assert_close(found.sum(axis=1), np.full(12, all_of_it), SINGLE)
    idle = [place for place, name in enumerate(fabric.links) if name in ("1.0-1.1", "0.0-1.0", "0.1-1.0")]
    assert len(idle) == 3
    assert_close(found[:, idle], np.zeros((12, 3)), SINGLE)


def test_shapley_values_come_with_intervals() -> None:
    fabric = disturbed(small())
    table = fabric.shapley(images(20), labels(20), permutations=3)
    assert list(table.index) == list(fabric.links)
    assert (table["lower"] <= table["value"]).all()
    assert (table["value"] <= table["upper"]).all()
    assert fabric.shapley(images(20), labels(20), permutations=1)[["lower", "upper"]].isna().all(axis=None)
    assert_close(table["value"], fabric.scores("shapley", images(20), labels(20), permutations=3), ROUNDING)


# Screening and Sobol indices ------------------------------------------------------------------------------------------


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
