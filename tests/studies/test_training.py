"""Training a model of a study in stages: codes of each, and the same bits after whatever was lost."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.lab import VAE, plan_model_family
from demele.runtime.sweep import Record
from demele.studies.planning import Job, train_vae
from demele.studies.study import codes_digest, read_codes
from tests.tolerances import assert_exact

pytest.importorskip("torch")


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
