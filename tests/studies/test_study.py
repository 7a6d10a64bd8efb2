"""Studies: what is planned, trained in stages, kept, gone on with, flagged, and said to be wrong."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele import lab
from demele.core.errors import FormatError, InputError, InputTypeError, OutputError
from demele.core.store import Store
from demele.data import sprites
from demele.lab import VAE, Study, plan_model_family
from demele.runtime.sweep import Record
from demele.runtime.work import progress
from demele.studies.folders import record_or_reason
from demele.studies.planning import Job, seen_factors, train_vae
from demele.studies.study import Configuration, TrainedModel, codes_digest, read_codes, write_codes
from tests.refusals import refuses
from tests.report.sample_agreement import sample_study
from tests.report.sample_agreement import training as sample_training
from tests.studies.made_up import SETTINGS, plan
from tests.tolerances import assert_exact


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study of six models: one diverged, one failed, two collapsed."""
    path = tmp_path_factory.mktemp("studies") / "study"
    plan().run(store=path)
    return path


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    return lab.load_study(folder)


def rows(folder: Path) -> dict[Any, Record]:
    """Return the rows of a folder without the seconds that they took."""
    _, records = Store.read(folder / "rows.jsonl")
    return {
        key: {name: value for name, value in row.items() if name != "seconds"} for key, row in sorted(records.items())
    }


def calls(folder: Path) -> int:
    return len((folder / "runs" / "calls").read_text().splitlines())


# The plan ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": 11},
        {"n_rows": 190},
        {"seed": 1},
        {"codes": "sampled"},
        {"beta_scale": "per_pixel"},
        {"protocol": "dlib2019"},
        {"checkpoints": [0.5, 1]},
        {"preset": "embedded", "n_rows": 150},
    ],
)
def test_whatever_changes_a_number_changes_the_identity(changed: Mapping[str, Any]) -> None:
    usual, other = plan(), plan(**changed)
    assert usual.identity != other.identity
    assert usual.job(usual.configurations[0], Path()).id != other.job(other.configurations[0], Path()).id


def test_bad_input_is_refused_before_anything_is_trained() -> None:
    planned = partial(lab.plan_model_family, **SETTINGS)
    refuses(InputError, "two or more", planned, metrics=["mig"])
    refuses(InputTypeError, "a list of numbers", planned, betas=[])
    refuses(InputError, "more than once", planned, betas=[1.0, 1.0])
    refuses(InputError, "betas: expected a finite number >= 0", planned, betas=[-1.0])
    refuses(InputError, "no strength", planned, objective="vae")
    refuses(InputError, "checkpoints: expected a number in", planned, checkpoints=[2.0])
    refuses(InputTypeError, "expected an image set", planned, np.zeros((30, 16, 16)))
    refuses(InputError, "resized", planned, sprites(24))


# What is kept --------------------------------------------------------------------------------------------------------


def test_every_model_has_its_scores(folder: Path, study: Study) -> None:
    found = rows(folder)
    # three stages, one null, two halves, three metrics
    assert len(found) == 6 * (1 + 6 * 3)
    assert [model.status for model in study.models] == ["done", "done", "diverged", "failed", "done", "done"]
    assert [model.flag for model in study.models] == ["partial", "", "diverged", "failed", "collapsed", "collapsed"]
    assert study.document().scope[:5] == (
        "6 models",
        "2 collapsed (no active code, so scores are noise)",
        "1 with fewer active codes than factors",
        "1 diverged",
        "1 failed",
    )


@pytest.mark.parametrize(("active", "flag"), [(0, "collapsed"), (4, "partial"), (5, ""), (6, "")])
def test_a_model_with_fewer_codes_in_use_than_factors_is_partial(active: int, flag: str) -> None:
    own = Configuration(objective="beta_vae", latents=6)
    record = {**sample_training(6, active), "status": "done"}
    assert TrainedModel.of("x", own, record, 5).flag == flag
    assert TrainedModel.of("x", own, {**record, "status": "diverged"}, 5).flag == "diverged"


def test_a_null_keeps_rows_of_factors_whole_and_differs_between_models(folder: Path) -> None:
    own = plan()
    jobs = [own.job(one, folder / "runs") for one in own.configurations[:2]]
    seen = [seen_factors(job, "null-0", slice(0, 200)) for job in jobs]
    whole = own.images.factors(own.rows)
    for table in seen:
        assert not table.equals(whole)
        assert sorted(map(tuple, table.astype(str).to_numpy())) == sorted(map(tuple, whole.astype(str).to_numpy()))
    assert not seen[0].equals(seen[1])
    assert seen_factors(jobs[0], "null-1", slice(0, 200)).equals(seen[0]) is False
    assert seen_factors(jobs[0], "real", slice(0, 200)).equals(whole)


def test_what_did_not_end_has_no_score_but_a_reason(folder: Path, study: Study) -> None:
    found = rows(folder)
    diverged, failed = study.models[2], study.models[3]
    assert found["score", diverged.id, 2, "real", "mig"]["value"] is not None
    assert found["score", diverged.id, 10, "real", "mig"] == {
        "value": None,
        "reason": "the loss was not finite at step 4",
    }
    assert found["score", failed.id, 10, "null-0", "mig"] == {"value": None, "reason": "RuntimeError: out of luck"}
    assert study.failures == (diverged, failed)
    assert failed.reason == "RuntimeError: out of luck"


def test_a_full_disk_is_no_fault_of_the_model(tmp_path: Path) -> None:
    def full(job: Job) -> Record:
        raise OutputError("cannot write")

    own = plan()
    with pytest.raises(OutputError):
        record_or_reason(full, own.job(own.configurations[0], tmp_path))


# Going on ------------------------------------------------------------------------------------------------------------


def test_a_study_goes_on_where_it_was_and_adds_what_is_new(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "study"
    plan(betas=[0.1], latents=[2]).run(store=path)
    assert calls(path) == 1
    plan().run(store=path)
    assert calls(path) == 6
    assert rows(path) == rows(folder)
    plan().run(store=path)
    assert calls(path) == 6
    more = plan(metrics=["mig", "modularity"], seeds=2).run(store=path)
    assert more.metrics == ("mig", "sap", "irs", "modularity")
    assert len(more.models) == 12
    assert more.value(more.models[0], "modularity") > 0
    assert {key: row for key, row in rows(path).items() if key in rows(folder)} == rows(folder)


def test_what_is_stopped_is_kept(tmp_path: Path, folder: Path) -> None:
    path, done = tmp_path / "study", []

    def report(_: float, total: float, label: str) -> None:
        done.append(label)
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress(report):
        plan().run(store=path)
    kept = lab.load_study(path)
    assert [model.status for model in kept.models].count("missing") == 4
    assert "4 not trained yet" in kept.document().scope
    plan().run(store=path)
    assert rows(path) == rows(folder)


def test_two_workers_give_the_same_rows(tmp_path: Path, folder: Path) -> None:
    plan().run(store=tmp_path / "study", n_jobs=2)
    assert rows(tmp_path / "study") == rows(folder)


def test_another_study_and_other_folders_are_refused(tmp_path: Path, folder: Path) -> None:
    refuses(InputError, "seed", plan(seed=1).run, store=folder)
    (tmp_path / "file").write_text("")
    refuses(InputError, "got a file", plan().run, store=tmp_path / "file")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    refuses(InputError, "other files", plan().run, store=tmp_path / "full")
    refuses(InputTypeError, "path of a file or folder", plan().run, store=3)


# Files ---------------------------------------------------------------------------------------------------------------


def test_codes_are_read_as_they_were_written(tmp_path: Path) -> None:
    codes = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    first = write_codes(tmp_path / "codes.npz", codes, codes**2)
    mean, std = read_codes(tmp_path / "codes.npz", 7)
    assert_exact(mean, codes)
    assert std is not None
    assert_exact(std, codes**2)
    assert write_codes(tmp_path / "again.npz", codes, codes**2) == first
    assert write_codes(tmp_path / "other.npz", -codes, codes**2) != first
    refuses(FormatError, "delete it", read_codes, tmp_path / "codes.npz", 8)
    (tmp_path / "codes.npz").write_bytes(b"PK")
    refuses(FormatError, "delete it", read_codes, tmp_path / "codes.npz", 7)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    path.write_text("{}\n")
    refuses(InputError, "not a study", lab.load_study, path)
    path.write_text('{"format": "demele-study", "format_version": 2, "demele": "9"}\n')
    refuses(InputError, "format version 2", lab.load_study, path)


def test_frames_hold_models_and_scores(study: Study) -> None:
    frame = study.to_frame()
    assert list(frame["beta"]) == [0.1, 0.1, 10, 10, 100, 100]
    assert frame["mig"].isna().tolist() == [False, False, True, True, False, False]
    assert len(study.scores) == 6 * 18
    assert {kind for _, _, kind, _ in study.scores} == {"real", "null-0", "half-0", "half-1"}
    assert all(record.get("value") is not None or record["reason"] for record in study.scores.values())


# The document ---------------------------------------------------------------------------------------------------------


def test_the_agreement_of_metrics_comes_first() -> None:
    study = sample_study()
    document, agreement = study.document(), study.agreement().document()
    assert (document.headline, document.sentences) == (agreement.headline, agreement.sentences)
    assert document.table == agreement.table  # 6 pairs
    titles = [section.title for section in document.sections]
    assert titles == ["Scores", "Measures", "Agreement matrix", "Published results", "Models", "Data"]
    assert document.scope[:4] == (
        "9 models",
        "3 collapsed (no active code, so scores are noise)",
        "2 with fewer active codes than factors",
        "1 diverged",
    )


# Training in stages ---------------------------------------------------------------------------------------------------


def job(folder: Path, **changed: Any) -> Job:
    settings = {"preset": "ci", "betas": [0.5], "latents": [3], "steps": 20, "n_rows": 100, **changed}
    plan = plan_model_family(**settings)
    return plan.job(plan.configurations[0], folder)


def told(record: Record) -> Record:
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, Record]:
    """A model that was trained without a stop."""
    own = job(tmp_path_factory.mktemp("whole"))
    return own, train_vae(own)


def test_codes_of_each_stage_are_those_of_a_training_that_ends_there(whole: tuple[Job, Record]) -> None:
    own, record = whole
    assert own.plan.steps == (4, 10, 20)
    for step in own.plan.steps:
        vae = VAE("beta_vae", beta=0.5, latents=3, network="mlp")
        vae.fit(own.plan.images, steps=step, batch=32, lr=1e-3, seed=0)
        sample = vae.encode(own.plan.images, own.plan.rows)
        mean, std = read_codes(own.codes_file(step), 100)
        assert_exact(mean, sample.codes.to_numpy().astype(np.float32))
        assert record["codes"][str(step)] == codes_digest(mean, std)
        assert (std is not None) == (step == 20)
        if std is not None and sample.codes_std is not None:
            assert_exact(std, sample.codes_std.to_numpy().astype(np.float32))


@pytest.mark.parametrize(
    "lost", [("codes-4.npz",), ("codes-20.npz",), ("checkpoint.pt",), ("codes-4.npz", "codes-10.npz")]
)
def test_what_is_lost_is_made_again_to_the_same_bits(
    whole: tuple[Job, Record], lost: tuple[str, ...], tmp_path: Path
) -> None:
    own = job(tmp_path)
    train_vae(own)
    for name in lost:
        (own.folder / name).unlink()
    assert told(train_vae(own)) == told(whole[1])
    for step in own.plan.steps:
        assert_exact(read_codes(own.codes_file(step), 100)[0], read_codes(whole[0].codes_file(step), 100)[0])


def test_a_training_that_was_stopped_between_stages_goes_on(whole: tuple[Job, Record], tmp_path: Path) -> None:
    own = job(tmp_path)
    train_vae(replace(own, plan=replace(own.plan, steps=(4, 10))))
    own.codes_file(10).unlink()  # as after a kill before they were written
    assert told(train_vae(own)) == told(whole[1])


def test_a_training_that_diverges_says_so_and_keeps_earlier_codes(tmp_path: Path) -> None:
    own = job(tmp_path, checkpoints=[0.5, 1])
    own = replace(own, plan=replace(own.plan, training={**own.plan.training, "lr": 1e9}))
    with pytest.warns(UserWarning, match="not finite"):
        record = train_vae(own)
    assert record["status"] == "diverged"
    assert "not finite" in record["reason"]
    assert "20" not in record["codes"]
