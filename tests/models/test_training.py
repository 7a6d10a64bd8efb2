"""Training: the same bits however it is stopped, nothing left behind, and what is refused."""

import functools
import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demele import errors
from demele.lab import VAE, Run, load_vae
from demele.models.results import TrainingSpec
from demele.models.training import read_checkpoint
from demele.models.vae.objectives import ESTIMATORS, decomposition
from demele.models.vae.train import LAYOUT, Training
from tests.models.squares import fitted, squares, weights
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

#: Columns of a history that no seed decides.
TIMED = ["images_per_second"]


def assert_same(one: tuple[VAE, Run], other: tuple[VAE, Run]) -> None:
    """Same bits: weights, history, figures and codes."""
    for left, right in zip(weights(one[0]), weights(other[0]), strict=True):
        assert_exact(left, right)
    assert_exact(one[1].history.drop(columns=TIMED), other[1].history.drop(columns=TIMED))
    assert one[1].reconstruction == other[1].reconstruction
    assert_exact(one[0].encode(squares()).codes, other[0].encode(squares()).codes)


def begun(vae: VAE) -> Training:
    """A training of the squares at its beginning."""
    images = squares()
    data: Any = {"images": images.name, "digest": images.digest, "n": len(images), "shape": list(images.shape)}
    spec = TrainingSpec(**vae._model, **data, batch=8, lr=1e-3, seed=0)
    return Training(spec, network="mlp", images=images, checkpoint=None, device="cpu", threads=None)


# Bits ---------------------------------------------------------------------------------------------------------------


def test_the_seed_decides_every_bit() -> None:
    first = fitted("factor_vae", width=8, fit={"seed": 3})
    assert_same(first, fitted("factor_vae", width=8, fit={"seed": 3}))
    other = fitted("factor_vae", width=8, fit={"seed": 4})
    assert not np.array_equal(weights(first[0])[0], weights(other[0])[0])


def test_each_step_changes_its_own_network_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    training = begun(VAE("factor_vae", latents=3, network="mlp", width=8))
    teach, taught = Training._teach, list[Any]()
    monkeypatch.setattr(Training, "_teach", lambda *given: taught.append(given))

    def bits() -> list[bytes]:
        parts = (training.pair.encoder, training.pair.decoder, *(training.discriminator or ())[:1])
        return [b"".join(one.detach().numpy().tobytes() for one in part.parameters()) for part in parts]

    before = bits()
    training.advance()
    after = bits()
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, False, True]
    teach(*taught[0])
    assert [one == other for one, other in zip(after, bits(), strict=True)] == [True, True, False]


def test_the_discriminator_sees_a_second_batch() -> None:
    one = fitted("factor_vae", width=8, same_batch=True)
    other = fitted("factor_vae", width=8)
    assert not np.array_equal(weights(one[0])[0], weights(other[0])[0])


# Stopping and going on ------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Ends a training as a kill does: nothing is saved."""


@pytest.mark.parametrize("objective", ["ada_gvae", "factor_vae"])
def test_a_training_that_is_killed_anywhere_goes_on_to_the_same_bits(objective: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"steps": 60} | ({"width": 8} if objective == "factor_vae" else {})
    whole = fitted(objective, **options)
    last = np.random.default_rng(0).choice(np.arange(1, 60), 10, replace=False)

    for step in np.sort(last):

        def die(row: dict[str, float], step: int = int(step)) -> None:
            if row["step"] == step:
                raise Killed

        with pytest.raises(Killed):
            fitted(objective, fit={"checkpoint": tmp_path / "run", "on_event": die}, **options)
    found = fitted(objective, fit={"checkpoint": tmp_path / "run"}, **options)
    assert_same(found, whole)
    assert_same((load_vae(tmp_path / "run"), found[1]), whole)
    assert os.listdir(tmp_path) == ["run"]


def test_ctrl_c_saves_the_training_whole(tmp_path: Path) -> None:
    def interrupt(row: dict[str, float]) -> None:
        if row["step"] == 7:
            signal.raise_signal(signal.SIGINT)

    fit = {"checkpoint": tmp_path / "run", "on_event": interrupt}
    with pytest.raises(KeyboardInterrupt):
        fitted(fit=fit)
    kept = load_vae(tmp_path / "run")
    assert (kept.run.status, kept.run.steps) == ("interrupted", 8)
    assert math.isnan(kept.run.reconstruction)  # nothing was measured
    assert_same(fitted(fit={"checkpoint": tmp_path / "run"}), fitted())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_training_that_is_done_returns_at_once_and_a_longer_one_goes_on(tmp_path: Path) -> None:
    fit = {"checkpoint": tmp_path / "run"}
    first = fitted(fit=fit)
    before = (tmp_path / "run").stat().st_mtime_ns
    seen: list[object] = []
    again = fitted(fit={**fit, "on_event": seen.append})
    assert_same(first, again)
    assert (seen, (tmp_path / "run").stat().st_mtime_ns) == ([], before)
    assert again[1].seconds == first[1].seconds
    longer = fitted(steps=30, fit={**fit, "on_event": seen.append})
    assert_same(longer, fitted(steps=30))
    assert len(seen) == 10


# What a file must be --------------------------------------------------------------------------------------------------


def test_a_file_of_another_training_or_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    vae, _ = fitted("beta_vae", beta=2, steps=2, fit={"checkpoint": path})
    before, again = path.read_bytes(), functools.partial(fitted, "beta_vae", steps=4, fit={"checkpoint": path})
    refuses(errors.InputError, "trained with `beta` = 2.0, this call has 3.0", again, beta=3)
    faster = {"checkpoint": path, "lr": 0.01}
    refuses(errors.InputError, "trained with `lr` = 0.001, this call has 0.01", again, beta=2, fit=faster)
    refuses(errors.InputError, "trained with `latents` = 3", again, beta=2, latents=4)
    refuses(errors.InputError, "`objective` = 'beta_vae', this call has 'vae'", fitted, fit={"checkpoint": path})
    others = squares().subset(np.arange(144)[::-1])
    refuses(errors.InputError, "trained with other images", vae.fit, others, steps=4, batch=8, checkpoint=path)
    monkeypatch.setattr("demele.models.training.__version__", "9.9")
    refuses(errors.InputError, r"was trained by demele .*, this is 9\.9", again, beta=2)
    assert path.read_bytes() == before
    assert load_vae(path).run is not None


def test_files_that_were_changed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    fitted(steps=2, fit={"checkpoint": path})
    content = read_checkpoint(path, LAYOUT)
    for values, message in (
        ({"status": torch.nn.Linear(2, 2)}, "loading anything else can run code"),
        ({"format_version": "7"}, "has format version '7'"),
        ({"spec": {}}, "missing or not known"),
        ({"history": 3}, "its history or figures are not those of a training"),
        ({"figures": {"kl": 3}}, "its history or figures are not those of a training"),
        ({"model": {"encoder": {}, "decoder": {}}}, "its weights are not those of a encoder 'mlp' with 3 codes"),
    ):
        torch.save({**content, **values}, path)
        refuses(errors.InputError, message, load_vae, path)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    fitted(steps=2, fit={"checkpoint": path})
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for number in range(60):
        damaged = bytearray(whole[: rng.integers(len(whole))] if number % 6 == 0 else whole)
        for place in rng.integers(0, min(len(damaged), 6000), 3):  # where names and shapes are, not weights
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            load_vae(path)
        except errors.FormatError:
            refused += 1
    assert refused > 10


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    fitted(steps=2, fit={"checkpoint": path})
    path.write_bytes(path.read_bytes()[:-2000])
    refuses(errors.FormatError, "not a training of demele", load_vae, path)
    path.write_text("weights")
    refuses(errors.FormatError, "not a training of demele", fitted, fit={"checkpoint": path})
    refuses(errors.InputError, r"checkpoint: cannot read .*No such file", load_vae, tmp_path / "none")


# Divergence -----------------------------------------------------------------------------------------------------------


def test_a_loss_that_is_not_finite_ends_the_training(tmp_path: Path) -> None:
    fit: dict[str, Any] = {"checkpoint": tmp_path / "run", "lr": 50.0}
    with pytest.warns(errors.NotConvergedWarning, match="not finite at step .*lower `lr`"):
        vae, run = fitted(steps=200, fit=fit)
    assert run.status == "diverged"
    assert run.steps < 200
    assert "the largest log-variance" in run.problem
    assert all(np.isfinite(one).all() for one in weights(vae))
    assert np.isfinite(run.history["loss"]).all()
    with pytest.warns(errors.NotConvergedWarning):
        again = fitted(steps=200, fit=fit)
    assert again[1].steps == run.steps


# Histories and figures ----------------------------------------------------------------------------------------------


def test_the_total_correlation_in_the_history_is_the_stratified_estimate() -> None:
    training = begun(VAE("beta_tcvae", latents=3, network="mlp", estimator="mws"))
    terms, _ = training.advance()
    row, batch = training.row(terms, 1.0), terms.batch
    codes, mean, logvar = (part.detach() for part in (batch.codes, batch.mean, batch.logvar))
    found = {name: decomposition(codes, mean, logvar, n=144, estimator=name) for name in ESTIMATORS}
    expected = {name: one.total_correlation.item() for name, one in found.items()}
    assert row["total_correlation"] == expected["stratified"]
    assert len(set(expected.values())) == 3
    assert row["penalty"] == pytest.approx(row["kl"] + 3 * expected["mws"], rel=1e-5)


def test_figures_are_those_of_the_codes() -> None:
    vae, run = fitted(steps=60)
    sample = vae.encode(squares())
    codes, std = sample.codes.to_numpy(), sample.codes_std.to_numpy()
    assert_close(run.std, codes.std(axis=0), ROUNDING)
    assert_close(run.kl, ((codes**2 + std**2 - 1) / 2 - np.log(std)).mean(axis=0), ROUNDING)
    assert list(run.active) == [bool(one > 0.05 and other > 0.01) for one, other in zip(run.std, run.kl, strict=True)]
    assert run.examined == 144
    assert (run.floor, run.pixels) == (0.0, 256)
    assert run.parameters == (257 * 128 + 129 * 128 + 129 * 6) + (4 * 128 + 129 * 128 + 129 * 256)
    assert run.to_dict()["kl"].keys() == {"z1", "z2", "z3"}


@pytest.mark.parametrize("betas", [(), (0.9,), None, "x", (0.5, 0.5)])
def test_settings_of_an_optimiser_are_those_of_the_training(betas: Any, tmp_path: Path) -> None:
    path = tmp_path / "vae"
    whole = fitted(steps=6)
    fitted(steps=3, fit={"checkpoint": path})
    content = torch.load(path, weights_only=True)
    content["optimiser"]["param_groups"][0]["betas"] = betas
    torch.save(content, path)
    assert_same(fitted(steps=6, fit={"checkpoint": path}), whole)
