"""Fabrics pruned and trained: what goes and what stays, the same bits however a training is stopped, files."""

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demele
from demele.core.errors import FormatError, InputError, InputTypeError, NotConvergedWarning
from demele.core.store import locked
from demele.lab import Fabric, PruningSchedule, benchmark, fit_pruned
from demele.models.fabric.lattice import Lattice, Link, Node, plan_channels, plan_links, plan_weights
from demele.models.fabric.network import LAYOUT, Feed, augmented
from demele.models.training import read_checkpoint
from tests.models.fabrics import TRAINED, images, labels, small, trained, weights
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SINGLE, assert_close, assert_exact


def lattice(*pairs: tuple[tuple[int, int], tuple[int, int]]) -> Lattice:
    links = [Link(Node(*source), Node(*target)) for source, target in pairs]
    ordered = tuple(sorted(links, key=lambda link: (link.target, link.source)))
    return Lattice(max(node.layer for link in links for node in link) + 1, 3, ordered)


#: A chain of three links and two short ways beside it.
CHAIN = lattice(
    *(((0, 0), (0, 1)), ((0, 1), (0, 2)), ((0, 2), (1, 2))),
    *(((0, 0), (1, 0)), ((0, 0), (1, 1)), ((1, 0), (1, 1)), ((1, 1), (1, 2))),
)


def scores(**given: float) -> list[float]:
    """Scores by name, such as ``a00_01=1``; 10 for the others."""
    return [given.get(f"a{link.name.replace('.', '').replace('-', '_')}", 10.0) for link in CHAIN.links]


# Links ----------------------------------------------------------------------------------------------------------------


def test_a_removal_counts_with_all_that_it_drags() -> None:
    left, plan = plan_links(CHAIN, scores(a01_02=1), remove=3, least=1, overshoot=0)
    assert plan.chosen == ("0.1-0.2",)
    assert set(plan.cascaded) == {"0.0-0.1", "0.2-1.2"}
    assert (plan.requested, plan.removed, plan.total) == (3, 3, 7)
    assert plan.achieved == 3 / 7
    assert [link.name for link in left.links] == ["0.0-1.0", "0.0-1.1", "1.0-1.1", "1.1-1.2"]


def test_a_removal_that_drags_too_many_is_left_out() -> None:
    left, plan = plan_links(CHAIN, scores(a01_02=1, a00_11=2), remove=1, least=1, overshoot=1)
    assert plan.rejected == ("0.1-0.2",)
    assert plan.chosen == ("0.0-1.1",)
    _, wider = plan_links(CHAIN, scores(a01_02=1, a00_11=2), remove=1, least=1, overshoot=2)
    assert (wider.chosen, wider.removed) == (("0.1-0.2",), 3)
    assert len(left.links) == 6


@pytest.mark.parametrize("seed", range(5))
def test_links_go_in_the_order_of_a_slow_walk(seed: int) -> None:
    whole = Lattice.whole(4, 4)
    values = np.random.default_rng(seed).integers(0, 8, len(whole.links)).astype(float)  # with ties
    left, plan = plan_links(whole, values, remove=20, least=whole.longest, overshoot=2)
    kept = list(whole.links)
    for link in sorted(whole.links, key=lambda link: values[whole.links.index(link)]):
        trial = [one for one in kept if one != link]
        while True:  # links without a way in or out go, one after the other
            dead = [
                one
                for one in trial
                if (one.source != whole.start and not any(other.target == one.source for other in trial))
                or (one.target != whole.end and not any(other.source == one.target for other in trial))
            ]
            if not dead:
                break
            trial = [one for one in trial if one not in dead]
        gone = len(whole.links) - len(trial)
        if len(whole.links) - len(kept) < 20 and link in kept and len(trial) >= whole.longest and gone <= 22:
            kept = trial
    assert set(left.links) == set(kept)
    assert plan.removed == len(whole.links) - len(kept)


# Channels and weights -------------------------------------------------------------------------------------------------


def test_the_lowest_channels_of_all_nodes_go() -> None:
    given = {Node(0, 0): np.array([5.0, 1.0, 6.0, 2.0]), Node(0, 1): np.array([3.0, 7.0, 8.0, 9.0])}
    kept, plan = plan_channels(given, remove=3, round_to=1)
    assert {node: list(one) for node, one in kept.items()} == {Node(0, 0): [0, 2], Node(0, 1): [1, 2, 3]}
    assert (plan.requested, plan.removed, plan.total) == (3, 3, 8)
    rounded, plan = plan_channels(given, remove=3, round_to=2)
    assert {node: list(one) for node, one in rounded.items()} == {Node(0, 0): [0, 2], Node(0, 1): [0, 1, 2, 3]}
    assert plan.removed == 2
    least, _ = plan_channels(given, remove=8, round_to=1)
    assert [list(one) for one in least.values()] == [[2], [3]]
    whole, _ = plan_channels(given, remove=8, round_to=8)
    assert [len(one) for one in whole.values()] == [4, 4]


def test_where_rounding_leaves_too_many_channels_the_lowest_multiples_go() -> None:
    """Six of the first node are lowest, and it keeps 2; then 2 more go from where they matter least."""
    given = {
        Node(0, 0): np.arange(6.0),
        Node(0, 1): np.array([10.0, 11, 30, 31]),
        Node(0, 2): np.array([20.0, 21, 22, 23]),
    }
    kept, plan = plan_channels(given, remove=6, round_to=2)
    assert {node: list(one) for node, one in kept.items()} == {
        Node(0, 0): [4, 5],
        Node(0, 1): [2, 3],
        Node(0, 2): [0, 1, 2, 3],
    }
    assert (plan.removed, plan.limit) == (6, "")


@pytest.mark.parametrize("seed", range(5))
def test_weights_go_as_in_a_walk_with_a_count_for_each_link(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = [rng.integers(0, 6, size).astype(float) for size in (10, 25, 40)]  # with ties
    masked, plan = plan_weights(given, remove=60, cap=0.7)
    expected = [np.zeros(len(own), dtype=bool) for own in given]
    ranked = sorted((value, link, place) for link, own in enumerate(given) for place, value in enumerate(own))
    for _, link, place in ranked:
        if sum(map(sum, expected)) < 60 and sum(expected[link]) + 1 <= 0.7 * len(given[link]) + 1e-9:
            expected[link][place] = True
    for one, other in zip(masked, expected, strict=True):
        assert_exact(one, other)
    assert plan.removed == sum(map(sum, masked)) == min(60, 7 + 17 + 28)


def test_masked_weights_stay_masked_and_no_kernel_is_emptied() -> None:
    fabric = small()
    first = fabric.prune("weights", 0.5, "random", seed=0)
    before = {link: fabric.network.layer(link).mask for link in fabric.lattice.links}
    second = fabric.prune("weights", 0.99, "random", seed=1)
    assert_close(first.achieved, 0.5, ROUNDING)
    assert second.requested == round(0.99 * second.total)
    assert second.removed == 16 * int(0.9 * 144)
    for link in fabric.lattice.links:
        mask = fabric.network.layer(link).mask
        assert (mask == 0).sum() == int(0.9 * 144)
        old = before[link]
        assert old is not None
        assert not mask[old == 0].any()
    assert fabric.counts().nonzero == 16 * (144 - int(0.9 * 144))
    assert fabric.counts().weights == 16 * 144


# Fabrics --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["random", "magnitude", "sensitivity", "gate"])
def test_what_is_left_is_a_fabric(criterion: str) -> None:
    fabric = small(layers=4)
    before = fabric.counts()
    plan = fabric.prune("links", 0.5, criterion, images(), labels(), recalibrate=images())
    after = fabric.counts()
    assert before.links - after.links == plan.removed
    assert abs(plan.removed - 0.5 * before.links) <= 0.05 * before.links + 1
    assert fabric.lattice.useful() == set(fabric.lattice.links)
    assert after.links >= 9  # the longest path
    assert after.multiply_adds < before.multiply_adds
    assert fabric.prunings[0]["criterion"] == criterion
    assert fabric.prunings[0]["removed"] == plan.removed
    fabric.fit(images(), labels(), epochs=1, **TRAINED)


def test_scores_of_ones_own_decide() -> None:
    fabric = small()
    given = {name: float(place) for place, name in enumerate(fabric.links)}
    worst = fabric.links[0]
    plan = fabric.prune("links", 0.07, given, overshoot=1.0, min_links="shortest")
    assert plan.chosen == (worst,)
    assert fabric.prunings[0]["criterion"] == "given"
    refuses(InputTypeError, "criterion: expected the name of one for weights", fabric.prune, "weights", 0.5, given)
    refuses(InputTypeError, "scores: expected one for each link", fabric.prune, "links", 0.5, [1.0, 2.0])


def test_what_cannot_be_pruned_is_refused() -> None:
    fabric = small()
    refuses(InputError, "criterion 'fisher' looks at classes", fabric.prune, "links", 0.5, "fisher", images())
    refuses(InputTypeError, "'magnitude' has no option 'temperature'; it", fabric.prune, "links", 0.5, temperature=2)
    assert len(fabric.links) == 16
    assert not fabric.prunings


def test_links_go_by_name_unless_that_cuts_the_fabric() -> None:
    fabric = small()
    refuses(InputError, r"links: expected one of 0.0-0.1, .*, got '0.0-9.9'; did you mean", fabric.remove, ["0.0-9.9"])
    with pytest.raises(InputError, match="links: expected to leave a path from input to output"):
        fabric.remove([name for name in fabric.links if name.endswith("-1.3")])
    assert len(fabric.links) == 16


# What it gains --------------------------------------------------------------------------------------------------------


def test_a_benchmark_counts_what_it_times() -> None:
    whole = small()
    whole.network.train()
    pruned, masked = whole.copy(), whole.copy()
    assert not pruned.network.training
    pruned.prune("links", 0.4, min_links="shortest")
    masked.prune("weights", 0.5)
    table = benchmark({"whole": whole, "pruned": pruned, "masked": masked}, batch=4, n_repeats=1)
    assert list(table.index) == ["whole", "pruned", "masked"]
    assert_exact(table["links"], [16, len(pruned.links), 16])
    assert table["nonzero"]["masked"] == table["nonzero"]["whole"] // 2
    assert table["multiply_adds"]["masked"] == table["multiply_adds"]["whole"] > table["multiply_adds"]["pruned"]
    assert_close(table.loc["whole", ["forward_gain", "training_gain"]], [1, 1], ROUNDING)
    assert_close(table["exported_gain"], table["forward_ms"]["whole"] / table["exported_ms"], SINGLE)
    refuses(InputTypeError, "fabrics: expected a mapping of names to fabrics", benchmark, [whole])
    refuses(InputError, "fabrics: expected fabrics for", lambda: benchmark({"one": whole, "other": small(scales=3)}))


# Fabrics that are pruned while they are trained ----------------------------------------------------------------------


def pruned(schedule: PruningSchedule, *, epochs: int = 3, **options: Any) -> Fabric:
    fabric = small(layers=3)
    given = {"fraction": 0.4, **TRAINED, **options}
    fit_pruned(fabric, images(), labels(), epochs=epochs, schedule=schedule, **given)
    return fabric


def test_schedules_in_print() -> None:
    assert PruningSchedule.iterative() == PruningSchedule.iterative(5, 10, 75)
    assert PruningSchedule.iterative().epochs == (5, 15, 25, 35, 45, 55, 65, 75)
    assert_close(PruningSchedule.iterative().shares, [part / 8 for part in range(1, 9)], ROUNDING)
    assert PruningSchedule.once(75) == PruningSchedule((75,), (1.0,))
    refuses(InputError, "last: expected a whole number >= 5", PruningSchedule.iterative, 5, 1, 4)


def test_steps_add_up_to_the_fraction() -> None:
    """Of 26 links 10 shall go; in two steps 5 after each, what a step drags along counting for the next."""
    once = pruned(PruningSchedule.once(1))
    assert [one["requested"] for one in once.prunings] == [round(0.4 * 26)]
    steps = pruned(PruningSchedule.iterative(1, 1, 2))
    first, second = steps.prunings
    assert [one["epoch"] for one in steps.prunings] == [1, 2]
    assert first["requested"] == round(0.2 * 26)
    assert second["requested"] == round(0.4 * 26 - first["removed"])
    assert abs(26 - len(steps.links) - 10) <= 2
    assert steps.run.epochs == 3
    assert len(steps.run.history) == 3


@pytest.mark.parametrize(
    ("schedule", "parts"),
    [
        (PruningSchedule.once(1), [1.0]),
        (PruningSchedule.once(3), [1.0]),
        (PruningSchedule.iterative(1, 1, 2), [0.5, 1]),
    ],
    ids=["early", "late", "iterative"],
)
def test_channels_go_between_links_and_weights(schedule: PruningSchedule, parts: list[float]) -> None:
    """Of 12 nodes with 4 channels, 0.4 of the 48 shall be gone at the end, those of nodes without links included."""
    every = pruned(schedule, levels=("weights", "channels", "links"), pruning={"round_to": 1})
    assert [one["level"] for one in every.prunings] == ["links", "channels", "weights"] * len(parts)
    for part, step in zip(parts, every.prunings[1::3], strict=True):
        left = round((1 - part * 0.4) * 48)
        assert step["total"] - step["requested"] == min(left, step["total"])
        assert step["removed"] == step["requested"]
    assert every.counts().channels == min(round(0.6 * 48), every.prunings[-2]["total"])
    assert every.run.epochs == 3


def test_a_pruned_training_that_is_kept_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    schedule = PruningSchedule.iterative(1, 1, 2)
    whole = pruned(schedule)
    assert_same(whole, pruned(schedule, folder=tmp_path))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["0-1", "1-2", "2-3"]
    (tmp_path / "2-3").unlink()  # as after a kill
    assert_same(whole, pruned(schedule, folder=tmp_path))
    refuses(InputError, "was trained with `rate` = ", pruned, schedule, folder=tmp_path, rate=0.2)


def test_what_cannot_be_scheduled_is_refused() -> None:
    once = PruningSchedule.once(1)
    refuses(InputError, "schedule: expected no pruning after the last epoch, 0, got 1", pruned, once, epochs=0)
    refuses(InputError, "levels: expected some of 'links', 'channels', 'weights', got", pruned, once, levels="links")
    refuses(InputTypeError, "schedule: expected a PruningSchedule, got int", pruned, 5)
    refuses(InputError, "folder: there is no folder", pruned, once, folder="/nowhere")


# Training -------------------------------------------------------------------------------------------------------------


#: Columns of a history that no seed decides.
TIMED = ["images_per_second"]


def assert_same(one: Fabric, other: Fabric) -> None:
    """Same bits: structure, weights, running statistics, history."""
    assert one.links == other.links
    found = weights(other)
    for name, values in weights(one).items():
        assert_exact(values, found[name])
    assert_exact(one.run.history.drop(columns=TIMED), other.run.history.drop(columns=TIMED))


# Bits -----------------------------------------------------------------------------------------------------------------


def test_the_seed_decides_every_bit() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state(), torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    first = trained()
    assert_exact(torch.random.get_rng_state(), before[0])
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before[1:]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert_same(first, trained())
    other, order = weights(trained(seed=1)), weights(trained(fit={"seed": 1}))
    name = "input.conv.weight"
    assert not np.array_equal(weights(first)[name], other[name])
    assert not np.array_equal(weights(first)[name], order[name])


def test_a_step_is_that_of_the_formula() -> None:
    """One batch of all images: w - rate (g + decay w)."""
    fabric = small()
    before = {name: one.detach().clone() for name, one in fabric.network.named_parameters()}
    network = fabric.copy().network.train()
    ((pixels, classes),) = Feed(images(), labels(), "cpu").batches(size=60)
    torch.nn.functional.cross_entropy(network(pixels), classes).backward()  # type: ignore[no-untyped-call]
    gradients: dict[str, Any] = {name: one.grad for name, one in network.named_parameters()}
    fabric.fit(images(), labels(), epochs=1, batch=60, rate=0.05, weight_decay=0.01)
    for name, one in fabric.network.named_parameters():
        expected = before[name] - 0.05 * (gradients[name] + 0.01 * before[name])
        assert_close(one.detach(), expected, SINGLE)


# Stopped and gone on --------------------------------------------------------------------------------------------------


def test_a_training_in_parts_is_the_training_in_one(tmp_path: Path) -> None:
    whole = trained(4)
    parts = small()
    for epochs in (1, 3, 4):
        parts.fit(images(), labels(), epochs=epochs, **TRAINED)
    assert_same(whole, parts)
    path = tmp_path / "fabric"
    for epochs in (2, 4):
        again = small()
        again.fit(images(), labels(), epochs=epochs, checkpoint=path, **TRAINED)
    assert_same(whole, again)
    loaded = Fabric.load(path)
    assert_same(whole, loaded)
    loaded.fit(images(), labels(), epochs=5, checkpoint=path, **TRAINED)
    assert_same(trained(5), loaded)


def test_crops_and_flips_are_those_of_the_epoch_however_a_training_is_stopped(tmp_path: Path) -> None:
    fit = {"crop": 2, "flip": True, "checkpoint": tmp_path / "file"}
    parts = trained(1, fit=fit)
    assert_same(trained(3, fit={"crop": 2, "flip": True}), trained(3, fit=fit))
    with pytest.raises(InputError, match="crop"):
        small().fit(images(), labels(), epochs=4, **{**TRAINED, "checkpoint": tmp_path / "file"})
    assert not np.array_equal(weights(parts)["head.weight"], weights(trained(1))["head.weight"])


def test_a_crop_moves_the_image_and_a_flip_mirrors_it() -> None:
    """By hand: the row above is grey, and the last column of the frame is cut off; then left is right."""
    image = torch.arange(1.0, 10.0).reshape(1, 1, 3, 3)
    corner, no = np.array([[0, 1]]), np.array([False])
    assert augmented(image, 1, corner, no)[0, 0].tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 6]]
    assert augmented(image, 1, corner, ~no)[0, 0].tolist() == [[0, 0, 0], [3, 2, 1], [6, 5, 4]]
    assert_exact(augmented(image, 1, np.array([[1, 1]]), no), image)


def test_pruning_within_a_training_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    def early(path: Path | None, stops: tuple[int, ...]) -> Fabric:
        fabric = trained(1)
        fabric.prune("links", 0.3, "magnitude")
        fabric.prune("weights", 0.5, "magnitude")
        fabric.prune("channels", 0.3, "magnitude", round_to=1)
        for epochs in stops:
            fabric.copy().fit(images(), labels(), epochs=epochs, checkpoint=path, **TRAINED)
        if path is not None:
            return Fabric.load(path)
        fabric.fit(images(), labels(), epochs=3, **TRAINED)
        return fabric

    assert_same(early(tmp_path / "fabric", (2, 3)), early(None, ()))


def test_masked_weights_stay_at_zero() -> None:
    fabric = trained(1)
    fabric.prune("weights", 0.6, "magnitude")
    before = fabric.counts().nonzero
    fabric.fit(images(), labels(), epochs=3, **TRAINED)
    zeros = sum(int((fabric.network.layer(link).conv.weight == 0).sum()) for link in fabric.lattice.links)
    assert fabric.counts().weights - zeros == fabric.counts().nonzero == before


def test_a_training_that_overflows_keeps_the_last_good_weights(tmp_path: Path) -> None:
    path = tmp_path / "fabric"
    fabric = trained(1, fit={"checkpoint": path})
    before = weights(fabric)
    fabric = small()
    with pytest.warns(NotConvergedWarning, match="in epoch 1, at rate 1e[+]30; the weights are those after 0 epochs"):
        run = fabric.fit(images(), labels(), epochs=2, rate=1e30, **TRAINED)
    assert (run.status, run.epochs) == ("diverged", 0)
    assert_same(fabric, small())
    assert fabric.fit(images(), labels(), epochs=1, **TRAINED).status == "done"
    for name, values in weights(fabric).items():
        assert_exact(values, before[name])


# Files ----------------------------------------------------------------------------------------------------------------


def test_what_is_no_file_of_a_training_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fabric"
    refuses(InputError, "checkpoint: cannot read", Fabric.load, path)
    path.write_bytes(b"no fabric")
    refuses(FormatError, "not a fabric of demele", Fabric.load, path)
    small().save(path)
    refuses(FormatError, "holds a network and no training of one", trained, 1, fit={"checkpoint": path})
    path.unlink()
    trained(1, fit={"checkpoint": path})
    with locked(path, "checkpoint"), pytest.raises(InputError, match="another run is writing"):
        trained(2, fit={"checkpoint": path})
    refuses(FormatError, "not a training of demele", demele.lab.load_vae, path)
    monkeypatch.setattr("demele.models.training.__version__", "9.9")
    refuses(InputError, r"was trained by demele .*load it with", trained, 2, fit={"checkpoint": path})


def test_files_that_were_changed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fabric"
    content = read_checkpoint(small().save(path), LAYOUT)
    one_node = {**content["fabric"], "layers": 1, "scales": 1}
    for changed, message in (
        ({"fabric": one_node}, "its structure is none of a fabric"),
        ({"links": ["0.0-5.5"]}, "no links of 2 layers and 4 scales"),
        ({"links": ["0.0-1.0"]}, "do not all lie on a path"),
        ({"widths": {}}, "its channels are not those of its nodes"),
        ({"history": 3}, "its history is not that of a training"),
    ):
        torch.save({**content, **changed}, path)
        refuses(FormatError, message, Fabric.load, path)


# What is refused ------------------------------------------------------------------------------------------------------


def test_what_cannot_be_trained_on_is_refused() -> None:
    expected, fit = "labels: expected classes from 0 to 9, ", small().fit
    refuses(InputError, f"{expected}.* got 10 at row 10", fit, images(), np.arange(60), epochs=1)
    refuses(InputError, "expected one for each of the 60 images, got 59", fit, images(), labels(59), epochs=1)
    refuses(InputTypeError, f"{expected}.*; number the classes", fit, images(), ["a"] * 60, epochs=1)
