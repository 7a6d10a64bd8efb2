"""Fabrics that are pruned while they are trained: when, how much, and to the same bits after a stop."""

from pathlib import Path
from typing import Any

import pytest

from demele.core.errors import InputError, InputTypeError, NotConvergedWarning
from demele.models import Fabric, PruningSchedule, fit_pruned
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


def test_links_go_before_weights() -> None:
    both = pruned(PruningSchedule.iterative(1, 1, 2), levels=("weights", "links"))
    assert [one["level"] for one in both.prunings] == ["links", "weights"] * 2
    counts = both.counts()
    assert counts.nonzero == counts.weights - round(0.4 * counts.weights)


def test_pruning_before_the_first_epoch() -> None:
    fabric = pruned(PruningSchedule.once(0), epochs=1, criterion="grasp", judged_on=(images(), labels()))
    assert fabric.prunings[0]["epoch"] == 0
    assert fabric.prunings[0]["criterion"] == "grasp"
    assert fabric.run.epochs == 1


def test_what_is_kept_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    schedule = PruningSchedule.iterative(1, 1, 2)
    whole = pruned(schedule)
    assert_same(whole, pruned(schedule, folder=tmp_path))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["0-1", "1-2", "2-3"]
    (tmp_path / "2-3").unlink()  # as after a kill
    assert_same(whole, pruned(schedule, folder=tmp_path))
    with pytest.raises(InputError, match="was trained with rate = "):
        pruned(schedule, folder=tmp_path, rate=0.2)


def test_a_training_that_diverges_is_not_pruned() -> None:
    fabric = small()
    with pytest.warns(NotConvergedWarning):
        run = fit_pruned(
            *(fabric, images(), labels()), epochs=2, schedule=PruningSchedule.once(1), fraction=0.5, rate=1e30, batch=20
        )
    assert run.status == "diverged"
    assert not fabric.prunings


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"epochs": 0}, InputError, "schedule: expected no pruning after the last epoch, 0, got 1"),
        ({"fraction": 1.5}, InputError, "fraction: expected a share between 0 and 1"),
        ({"levels": ("channels",)}, InputError, "levels: expected 'links', 'weights' or both"),
        ({"schedule": 5}, InputTypeError, "schedule: expected a PruningSchedule, got int"),
        ({"folder": "/nowhere"}, InputError, "folder: there is no folder"),
        ({"criterion": "gate"}, InputError, "images: criterion 'gate' looks at images"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments = {"epochs": 1, "schedule": PruningSchedule.once(1), "fraction": 0.5, "batch": 60, **given}
    with pytest.raises(error, match=message):
        fit_pruned(small(), images(), labels(), **arguments)
