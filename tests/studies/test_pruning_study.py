"""A study of pruning as a whole: its rows are what the fabrics say, a stop loses nothing, other folders are refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="fabrics need PyTorch: pip install 'demele[torch]'")

from demele import lab
from demele.classifiers import HardRows, compare, rank
from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.data import ArrayImages, clutter, clutter_labels
from demele.lab import Fabric
from demele.models.training import computing
from demele.runtime.work import progress
from demele.studies.fabrics import LabelNoise, Source
from demele.studies.pruning import planning
from demele.studies.pruning.configurations import CI, EMBEDDED, PRINT, Claim
from demele.studies.pruning.planning import checked_plan, decided, read_predictions
from tests.refusals import refuses
from tests.studies.pruned import WAYS, tiny_plan, without_seconds


def fabric_of(study: lab.PruningStudy, noise: str, name: str, seed: int = 0) -> dict[str, Any]:
    """Return what a study says of one fabric."""
    rows = study.to_frame().to_dict(orient="records")
    found = [row for row in rows if (row["noise"], row["configuration"], row["seed"]) == (noise, name, seed)]
    (one,) = found
    return {str(column): value for column, value in one.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny study, run at once."""
    where = tmp_path_factory.mktemp("pruning") / "study"
    tiny_plan().run(store=where)
    return where


def test_a_row_is_what_doing_it_by_hand_gives(folder: Path) -> None:
    plan, study = tiny_plan(), lab.load_pruning(folder)
    images = clutter(120, level=0)
    labels = clutter_labels(images, 0.2)
    fit, held = images.subset(range(100)), images.subset(range(100, 120))
    test = clutter(60, level=0, seed=2)
    training = {name: value for name, value in plan.training.items() if name != "epochs"}
    fabric = Fabric(2, 5, 4, image_channels=1, seed=0)
    with computing(threads=1, device="cpu", gradients=True):
        for epoch, part in ((1, 0.5), (2, 1.0)):
            fabric.fit(fit, labels[:100], epochs=epoch, seed=0, **training)
            fabric.prune("links", part * 0.4, "sensitivity", held, labels[100:], fraction_of="whole", seed=0)
            raw = fabric.error(test, test.positions()[:, 0])
            fabric.recalibrate(fit, batch=25)
            again = fabric.error(test, test.positions()[:, 0])
        fabric.fit(fit, labels[:100], epochs=4, seed=0, **training)
    predicted = fabric.predict(test)

    row = fabric_of(study, "uniform 20%", "iterative links 40% sensitivity")
    true, given = test.positions()[:, 0], clutter_labels(test, 0.2)
    assert row["error"] == float(np.mean(predicted != true))
    assert row["given_error"] == float(np.mean(predicted != given))
    assert (row["raw"], row["recalibrated"]) == (raw, again)
    assert row["wrong_again_test"] == float(np.mean(predicted[given != true] == given[given != true]))
    assert row["right_again_test"] == float(np.mean(predicted[given == true] == true[given == true]))
    assert row["links"] == len(fabric.links)
    assert row["multiply_adds"] == fabric.counts().multiply_adds
    alive = study.links(row["configuration"], "uniform 20%")
    assert {name for name, part in alive.items() if part == 1} == set(fabric.links)


def test_decisions_are_those_of_compare_and_rank(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (f"late links 30% {name}" for name in ("random", "magnitude"))
    claim = Claim(name="", title="", says="", expected="", pairs=((first, second), (first, "not there")))
    monkeypatch.setattr(planning, "CLAIMS", [claim])
    tasks = tiny_plan()._fabrics(folder / "runs", WAYS[1], WAYS[0])
    jobs = [task.about for task in tasks if task.about.noise.name == "uniform 20%"]
    (record,) = decided((jobs,))
    assert list(record["pairs"]) == [f"{first} | {second}"]

    test = clutter(60, level=0, seed=2)
    true, given = test.positions()[:, 0], clutter_labels(test, 0.2)
    own, other = (read_predictions(path, 60) for path in (job.predictions for job in jobs))
    assert record["pairs"][f"{first} | {second}"] == {
        "overlap": compare(own, other, given, method="overlap").verdict,
        "worst-case-overlap": compare(own, other, given, method="worst-case-overlap", noise=0.2).verdict,
        "hard-rows": compare(own, other, given, method=HardRows((own != other) / 2, prudence=0.2)).verdict,
        "worst-case": compare(own, other, given, method="worst-case", noise=0.2).verdict,
        "true labels": compare(own, other, true, noise=0.0).verdict,
    }
    ranking = rank({first: own, second: other}, given, noise=0.2)
    assert record["ranks"]["worst-case"] == {
        name: [best, worst]
        for name, best, worst in zip(ranking.names, ranking.best_rank, ranking.worst_rank, strict=True)
    }


def test_stopped_and_gone_on_with_it_is_the_same_and_more_seeds_add_to_it(folder: Path, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    calls = 0

    def stop(done: float, total: float, label: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise Stopped

    where = tmp_path / "study"
    with pytest.raises(Stopped), progress(stop):
        tiny_plan().run(store=where)
    part = lab.load_pruning(where)
    assert 0 < sum(part.to_frame().status == "done") < 10
    assert part.document().scope[0] != "10 of 10 fabrics"
    whole = tiny_plan().run(store=where)
    assert without_seconds(whole) == without_seconds(lab.load_pruning(folder))
    more = tiny_plan(configurations=WAYS[:1], seeds=2, noises=tiny_plan().noises[:1]).run(store=where)
    assert more.document().scope[:4] == ("12 of 20 fabrics", "4 ways to prune", "2 label noises", "2 seeds")
    kept = without_seconds(more)
    assert {key: kept[key] for key in without_seconds(whole)} == without_seconds(whole)


def test_saved_and_loaded_it_says_the_same(folder: Path, tmp_path: Path) -> None:
    study = lab.load_pruning(folder)
    found = lab.load_pruning(study.save(tmp_path / "packed.jsonl"))
    assert str(found) == str(study)
    own, other = study.to_frame(), found.to_frame()
    assert own.equals(other)
    assert study.ranks_frame().equals(found.ranks_frame())


def test_a_training_that_diverges_is_a_row_with_its_reason(tmp_path: Path) -> None:
    training = {**tiny_plan().training, "rate": 1e30, "weight_decay": 5e-4}
    plan = tiny_plan(training=training, configurations=WAYS[:1], noises=tiny_plan().noises[:1])
    study = plan.run(store=tmp_path / "study")
    frame = study.to_frame()
    assert set(frame.status) <= {"diverged", "failed"}
    assert "not finite" in frame.reason[0]
    assert study.differences() == ()
    study.to_html(tmp_path / "page.html")
    assert "diverged" in (tmp_path / "page.html").read_text()


def test_what_cannot_be_studied() -> None:
    planned = partial(checked_plan, None, preset="ci", configurations=None, noises=None, seeds=None)
    refuses(UnknownNameError, "did you mean", planned, preset="embeded")
    refuses(InputTypeError, "expected a list", planned, noises="none")
    refuses(InputTypeError, "expected a list", planned, noises=[])
    refuses(InputError, "more than once", planned, noises=["none", "none"])
    refuses(InputError, "at least one", planned, configurations=[])
    refuses(InputTypeError, "PruningConfiguration", planned, configurations=["late"])
    refuses(InputError, "more than once", planned, configurations=[WAYS[0], WAYS[0]])
    other, of_links = replace(WAYS[0], criterion="magnitud"), replace(WAYS[0], level="weights", criterion="gate")
    refuses(UnknownNameError, "did you mean", planned, configurations=[other])
    refuses(InputError, "no weights", planned, configurations=[of_links])


def test_images_of_a_user_are_held_out_by_seed_and_noise_is_uniform() -> None:
    rng = np.random.default_rng(0)
    train, test = (
        ArrayImages(rng.integers(0, 255, (n, 8, 8, 3), dtype=np.uint8), {"class": ["a", "b", "c", "d"] * (n // 4)})
        for n in (80, 40)
    )
    printed = partial(checked_plan, preset="print", configurations=None, seeds=2)
    with pytest.warns(DemeleWarning, match=r"because 13 of 76 links and 10% of each kernel must stay") as told:
        plan = printed((train, test), noises=["none", "uniform:0.25"])
    # early and late, three criteria: 95, 97 and 99 % end in one network each; in steps they do not
    assert [one.name for one in PRINT if one not in plan.configurations] == [
        f"{strategy} links then weights {share}% {criterion}"
        for strategy in ("early", "late")
        for share in (97, 99)
        for criterion in ("random", "magnitude", "sensitivity")
    ]
    assert len(told) == 6
    fabrics = []
    for share in (0.95, 0.99):
        fabric = Fabric(8, 4, 8, seed=0)
        fabric.prune("links", share, "magnitude")
        fabric.prune("weights", share, "magnitude")
        fabrics.append((fabric.links, fabric.counts()))
    assert fabrics[0] == fabrics[1]
    assert plan.structure["scales"] == 4
    assert plan.structure["classes"] == 4
    clean, noisy = (plan.source.split(0, noise) for noise in plan.noises)
    assert [len(part.images) for part in clean] == [72, 8, 40]
    assert (clean[0].labels == clean[0].true).all()
    others = plan.source.split(1, plan.noises[0])[1]
    assert not np.array_equal(others.images.images(range(8)), clean[1].images.images(range(8)))
    fit, held, seen = (int((part.labels != part.true).sum()) for part in noisy)
    assert (fit + held, seen) == (20, 10)
    for preset, ways in (("ci", CI), ("embedded", EMBEDDED)):
        assert checked_plan(None, preset=preset, configurations=None, noises=None, seeds=None).configurations == ways
    refuses(InputError, "clutter alone", printed, (train, test), noises=["visibility:0.1"])
    refuses(InputTypeError, "two image sets", printed, train, noises=None)
    small = ArrayImages(rng.integers(0, 255, (8, 6, 6, 3), dtype=np.uint8), {"class": ["a", "b", "c", "d"] * 2})
    refuses(InputError, "one size", printed, (train, small), noises=None)
    refuses(InputError, "power of two", printed, (small, small), noises=None)


def test_folders_of_something_else_are_refused_and_left_alone(folder: Path, tmp_path: Path) -> None:
    other = tiny_plan(training={**tiny_plan().training, "rate": 0.01})
    refuses(InputError, r"rows\.jsonl", other.run, store=folder)
    refuses(InputError, "expected the folder", lab.load_pruning, tmp_path)


def test_predictions_that_were_lost_are_told_of(folder: Path, tmp_path: Path) -> None:
    refuses(NotEnoughData, "cannot be read", read_predictions, tmp_path / "none.predictions", 60)
    (tmp_path / "short.predictions").write_bytes(b"\x01\x00" * 59)
    refuses(NotEnoughData, "expected 60", read_predictions, tmp_path / "short.predictions", 60)


@pytest.mark.parametrize("own", [False, True])
def test_labels_by_a_fabric_are_wrong_at_the_rate_in_training_and_test_together(own: bool) -> None:
    """The share of labels that the fabric mistakes is near the rate, and both parts come from one fabric."""
    source = Source.clutter(level=0, n=300, held=20, test=200)
    if own:
        images, test = clutter(300, level=0).resized(8), clutter(200, level=0, seed=2).resized(8)
        source = checked_plan((images, test), preset="ci", configurations=None, noises=["none"], seeds=1).source
    parts = source.split(0, LabelNoise.of("resubstitution:0.2"))
    wrong = [int((one.labels != one.true).sum()) for one in parts]
    assert abs(sum(wrong) / 500 - 0.2) <= 0.02
    assert wrong[2]
    again = source.split(0, LabelNoise.of("resubstitution:0.2"))
    assert np.array_equal(parts[2].labels, again[2].labels)
