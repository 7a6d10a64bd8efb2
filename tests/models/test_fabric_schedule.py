"""Fabrics that are pruned while they are trained: when, how much, and to the same bits after a stop."""

from pathlib import Path
from typing import Any

import pytest

from demele.core.errors import InputError, InputTypeError
from demele.lab import Fabric, PruningSchedule, fit_pruned
from tests.models.fabrics import TRAINED, images, labels, small
from tests.models.test_fabric_training import assert_same
from tests.tolerances import ROUNDING, assert_close


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
    with pytest.raises(InputError, match="last: expected a whole number >= 5"):
        PruningSchedule.iterative(5, 1, 4)


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


def test_channels_alone_are_those_of_the_whole_fabric() -> None:
    alone = pruned(PruningSchedule.iterative(1, 1, 2), levels=("channels",), pruning={"round_to": 1})
    assert [one["requested"] for one in alone.prunings] == [48 - 38, 38 - 29]
    assert (alone.counts().channels, len(alone.links)) == (29, 26)


def test_what_is_kept_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    schedule = PruningSchedule.iterative(1, 1, 2)
    whole = pruned(schedule)
    assert_same(whole, pruned(schedule, folder=tmp_path))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["0-1", "1-2", "2-3"]
    (tmp_path / "2-3").unlink()  # as after a kill
    assert_same(whole, pruned(schedule, folder=tmp_path))
    with pytest.raises(InputError, match="was trained with `rate` = "):
        pruned(schedule, folder=tmp_path, rate=0.2)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"epochs": 0}, InputError, "schedule: expected no pruning after the last epoch, 0, got 1"),
        ({"fraction": 1.5}, InputError, r"fraction: expected a number in \(0, 1\)"),
        ({"levels": ("filters",)}, InputError, "levels: expected some of 'links', 'channels', 'weights', got"),
        ({"levels": "links"}, InputError, "levels: expected some of 'links', 'channels', 'weights', got 'links'"),
        (
            {"levels": ("links", "channels"), "criterion": "gate", "judged_on": (images(), labels())},
            InputError,
            "criterion: 'gate' scores links, and neither weights nor channels",
        ),
        ({"schedule": 5}, InputTypeError, "schedule: expected a PruningSchedule, got int"),
        ({"folder": "/nowhere"}, InputError, "folder: there is no folder"),
        ({"criterion": "gate"}, InputError, "images: criterion 'gate' looks at images"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments = {"epochs": 1, "schedule": PruningSchedule.once(1), "fraction": 0.5, "batch": 60, **given}
    with pytest.raises(error, match=message):
        fit_pruned(small(), images(), labels(), **arguments)
