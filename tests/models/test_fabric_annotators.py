"""Fabrics as artificial annotators: what they say, the noise they make, and the same bits in any way of working."""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.data import ArrayImages
from demele.lab import FabricAnnotator, FabricAnnotators, annotator_recipe, fabric_annotators
from demele.labels.made.noise import add_feature_noise
from demele.models.fabric.annotators import FEWEST
from demele.runtime.work import progress
from tests.models.fabrics import images, labels
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

N = 60
SMALL = replace(
    annotator_recipe(), layers=(2, 2), channels=(16,), epochs=12, batch=12, every=1, rate=(0.03, 0.06), pruned=(0, 0.8)
)


def made(n_annotators: int = 6, **options: Any) -> FabricAnnotators:
    return fabric_annotators(images(N), labels(N), n_annotators, **{"recipe": SMALL, **options})


@functools.cache
def pool() -> FabricAnnotators:
    return made()


def assert_same(one: FabricAnnotators, other: FabricAnnotators) -> None:
    assert_exact(one.predictions, other.predictions)
    assert one.annotators == other.annotators
    assert one.n_fabrics == other.n_fabrics


def test_errors_are_those_of_the_answers_and_near_what_is_wanted() -> None:
    found = pool()
    assert found.predictions.shape == (6, N)
    assert_exact(found.errors, (found.predictions != labels(N)).mean(axis=1))
    assert (np.diff(found.errors) >= 0).all()
    assert ((found.errors > 0) & (found.errors < 0.4)).all()
    assert (np.abs(found.errors - 0.05 * np.round(found.errors / 0.05)) < 0.01 + 1e-9).all()
    assert len({(one.fabric, round(one.error / 0.05)) for one in found.annotators}) == 6, "a later state replaces one"
    assert_exact(found.to_frame()["legitimacy"].to_numpy(), 1 - found.errors)
    assert found.to_frame()["layers"].tolist() == [2] * 6
    assert str(found.signature).startswith("fabric_annotators(n_annotators=6, recipe=AnnotatorRecipe(layers=(2, 2)")


def test_noise_depends_on_the_images() -> None:
    """Of the pictures, 7 are the same even grey: chance would make 1 or less of the 6 wrong labels theirs."""
    pictures = images(N).images(range(N)).copy()
    grey = np.arange(20, 27)
    pictures[grey] = 128
    found = fabric_annotators(ArrayImages(pictures), labels(N), 3, recipe=SMALL)
    noisy = add_feature_noise(labels(N), found.predictions, 0.1)
    assert noisy.counts.wrong == 6
    assert np.count_nonzero(noisy.mislabelled[grey]) >= 5
    assert set(found.hardest(6)) == set(np.flatnonzero(noisy.mislabelled))


def test_processes_do_not_matter() -> None:
    assert_same(made(n_jobs=2), pool())


def test_what_is_kept_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "fabrics.jsonl"
    assert_same(made(store=path), pool())
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + pool().n_fabrics
    path.write_bytes(b"".join([lines[0], lines[2], lines[1][:20]]))  # killed while a record was written
    told: list[str] = []
    with progress(lambda done, total, label: told.append(label)):
        assert_same(made(store=path), pool())
    assert told == ["1 fabrics to train", "fabric 0"]
    assert len(made(5, store=path).annotators) == 5
    refuses(InputError, "seed", made, store=path, seed=1)


def by_hand() -> FabricAnnotators:
    """Three annotators of four images, with errors 1/4, 1/2 and 1/2."""
    own: dict[str, Any] = {"layers": 2, "channels": 8, "links": 16, "pruned": 0.0, "rate": 0.1, "epoch": 1, "steps": 8}
    return FabricAnnotators(
        predictions=np.array([[0, 1, 2, 1], [0, 0, 2, 1], [1, 1, 2, 1]]),
        true_labels=np.array([0, 1, 2, 0]),
        annotators=tuple(FabricAnnotator(fabric=number, error=e, **own) for number, e in enumerate((0.25, 0.5, 0.5))),
        n_fabrics=3,
        notes=(),
        signature=pool().signature,
    )


def test_what_is_said_of_them_by_hand() -> None:
    found = by_hand()
    assert_close(found.difficulty, np.array([0.5, 0.5, 0.0, 1.75]) / 1.75, ROUNDING)
    assert found.hardest(3).tolist() == [3, 0, 1]
    assert found.highest_rate == 0.75
    assert found.sentence == "3 annotators of 3 fabrics: 25.0% to 50.0% of the labels of each are wrong."
    refuses(InputError, "n: expected a number of images from 1 to 4, got 5", found.hardest, 5)


def test_bad_input_is_refused() -> None:
    expected = "labels: expected"
    refuses(InputError, f"{expected} one for each of the {N} images, got 59", fabric_annotators, images(N), labels(59))
    refuses(NotEnoughData, f"{expected} at least 2 classes, got only 0", fabric_annotators, images(N), labels(N) * 0)
    refuses(NotEnoughData, f"{expected} fewer classes than .*60 of 60", fabric_annotators, images(N), np.arange(N))
    refuses(UnknownNameError, "recipe: expected 'embedded' or 'print', got 'paper'", made, recipe="paper")
    refuses(InputTypeError, "recipe: expected a name or an AnnotatorRecipe, got int", made, recipe=3)
    refuses(InputError, r"stop_at: expected a number in \[0, 1\), got 1", made, stop_at=1)


def test_a_pool_that_cannot_be_filled_says_what_to_change() -> None:
    refuses(NotEnoughData, r"images: 2 fabrics left .* 50 are wanted of at most 2", made, 50, most_fabrics=2)
    slow = replace(SMALL, rate=(1e-6, 1e-6), epochs=1)
    with pytest.raises(NotEnoughData, match=rf"{FEWEST} fabrics left 0 states.*learn too slowly.*epochs=2\)"):
        made(1, recipe=slow, most_fabrics=FEWEST)


def test_recipes_that_make_no_sense_are_refused() -> None:
    refuses(InputError, "layers: expected the lower end first", replace, SMALL, layers=(4, 3))
    refuses(InputError, r"rate: expected \(low, high\), both above 0, got 0.1", replace, SMALL, rate=0.1)
    refuses(InputError, "channels: expected a tuple", replace, SMALL, channels=())
    refuses(InputError, "first_epoch: expected fewer than the 12 epochs, got 12", replace, SMALL, first_epoch=12)
