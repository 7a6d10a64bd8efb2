"""ScoreCallback: what it scores, when, what it logs, and that the training does not notice."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lightning.pytorch
import numpy as np
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

import demele
from demele.adapters.lightning import ScoreCallback
from tests.adapters.modules import Linear, encode, loader
from tests.adapters.rows import KINDS, A, Z
from tests.refusals import refuses
from tests.tolerances import assert_exact

pytestmark = [
    pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning"),  # 240 rows are few
    pytest.mark.filterwarnings("ignore:.*does not have many workers:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning"),  # Lightning's use of torch
]


def callback(**keywords: Any) -> ScoreCallback:
    return ScoreCallback(loader(Z, A, 50), encode, **({"metrics": ["mig", "sap"], "kinds": KINDS} | keywords))


def fit(*callbacks: Any, epochs: int = 3, val: Any = None, module: Any = None, package: Any = None, **more: Any) -> Any:
    trainer = (package or lightning.pytorch).Trainer(
        accelerator="cpu",
        max_epochs=epochs,
        callbacks=list(callbacks),
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
        **({"logger": False, "enable_checkpointing": False} | more),
    )
    trainer.fit(module or Linear(), loader(Z, A, 60), val)
    return trainer


class Validating(Linear):
    """Has a validation loop of its own."""

    def validation_step(self, batch: Any, number: int) -> None:
        """Do nothing."""


def test_every_k_epochs_with_the_values_of_one_call() -> None:
    torch.manual_seed(0)
    scores, module = callback(every=2), Linear()
    trainer = fit(scores, epochs=4, module=module)
    assert [epoch for epoch, _ in scores.history] == [1, 3]
    codes = module.map(Z).detach().numpy()  # without dropout
    expected = demele.evaluate(codes, demele.Factors(A.numpy(), kinds=KINDS), ["mig", "sap"])
    last = scores.history[-1][1]
    assert {one.metric: one.value for one in last} == {one.metric: one.value for one in expected}
    logged = {name: value.item() for name, value in trainer.callback_metrics.items()}
    assert logged == {f"demele/{one.metric}": float(np.float32(one.value)) for one in expected}
    assert last.n == len(Z)


def test_the_training_does_not_notice() -> None:
    weights = []
    for callbacks in ([], [callback()]):
        torch.manual_seed(0)
        module = Linear()
        fit(*callbacks, module=module)
        assert module.training
        weights.append(module.map.weight.detach().numpy())
        assert module.map.weight.requires_grad
    assert_exact(weights[0], weights[1])


def test_modes_gradients_and_generators_are_as_they_were_found_even_after_an_error() -> None:
    seen = {}

    def looking(module: Any, batch: Any) -> Any:
        seen["training"] = module.training or module.drop.training
        seen["gradients"] = torch.is_grad_enabled()
        torch.rand(3)
        raise KeyError("stop")

    module = Linear()
    module.map.eval()
    torch.manual_seed(0)
    before = torch.get_rng_state()
    trainer = lightning.pytorch.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False)
    with pytest.raises(KeyError, match="stop"):
        ScoreCallback(loader(Z, A, 50), looking)._score(trainer, module)
    assert seen == {"training": False, "gradients": False}
    assert (module.training, module.drop.training, module.map.training) == (True, True, False)
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before)


def test_random_encoders_draw_the_same_every_time() -> None:
    def noisy(module: Any, batch: Any) -> Any:
        return batch[0] + 0.1 * torch.randn_like(batch[0]), batch[1]

    scores = ScoreCallback(loader(Z, A, 50), noisy, ["mig"], kinds=KINDS)
    fit(scores, epochs=2)
    first, second = (evaluation["mig"].value for _, evaluation in scores.history)
    assert first == second


def test_checkpoints_can_monitor_scores(tmp_path: Path) -> None:
    keeper = ModelCheckpoint(tmp_path, monitor="demele/mig", mode="max", save_top_k=1)
    scores = callback()
    more = {"module": Validating(), "val": loader(Z, A, 60), "enable_checkpointing": True}
    fit(scores, keeper, epochs=2, **more)
    best = max(evaluation["mig"].value for _, evaluation in scores.history)
    assert keeper.best_model_score.item() == float(np.float32(best))


def test_validate_alone_scores() -> None:
    scores = callback(every=5)
    trainer = lightning.pytorch.Trainer(
        accelerator="cpu", logger=False, callbacks=[scores], enable_progress_bar=False, enable_checkpointing=False
    )
    trainer.validate(Validating(), loader(Z, A, 60), verbose=False)
    assert len(scores.history) == 1


def test_loggers_have_flat_scalars(tmp_path: Path) -> None:
    scores = callback(prefix="val_", native=True)
    fit(scores, epochs=2, logger=CSVLogger(tmp_path))
    header, *lines = next(tmp_path.rglob("metrics.csv")).read_text(encoding="utf-8").splitlines()
    assert {f"val_{name}" for name in ("mig", "sap", "mig/v1", "mig/v3", "sap/v2")} <= set(header.split(","))
    assert len(lines) == 2


def test_batches_are_dealt_out_unless_a_sampler_has_done_it() -> None:
    def encoded(data: Any, rank: int) -> list[float]:
        trainer = SimpleNamespace(global_rank=rank, world_size=2, datamodule=None)
        return torch.cat([batch[0][:, 0] for batch in ScoreCallback(data, encode)._batches(trainer)]).tolist()

    plain = loader(Z, A, 50)
    numbers = [[row for row in range(len(Z)) if (row // 50) % 2 == rank] for rank in range(2)]
    assert [encoded(plain, rank) for rank in range(2)] == [Z[rows, 0].tolist() for rows in numbers]
    for rank in range(2):
        shares: DistributedSampler[Any] = DistributedSampler(plain.dataset, num_replicas=2, rank=rank, shuffle=False)
        sampled: DataLoader[Any] = DataLoader(plain.dataset, batch_size=50, sampler=shares)
        assert encoded(sampled, rank) == Z[rank::2, 0].tolist()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"every": True}, "every: expected a number of epochs"),
        ({"encode": 3}, "encode: expected a function"),
        ({"prefix": 3}, "prefix: expected a string"),
        ({"data": 3}, "data: expected a data loader or data module"),
    ],
)
def test_bad_arguments_are_refused(keywords: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"data": loader(Z, A, 50), "encode": encode} | keywords
    refuses(demele.errors.InputError, message, ScoreCallback, **given)


class Data(lightning.pytorch.LightningDataModule):
    """Two validation loaders, and a count of how often it was set up."""

    set_up = 0

    def setup(self, stage: str) -> None:
        """Count."""
        self.set_up += 1

    def val_dataloader(self) -> Any:
        """Return two halves."""
        return [loader(Z[:120], A[:120], 50), loader(Z[120:], A[120:], 50)]


def test_a_data_module_gives_its_validation_loaders() -> None:
    data = Data()
    scores = ScoreCallback(data, encode, ["mig"], kinds=KINDS)
    fit(scores, epochs=2)
    assert data.set_up == 1
    assert [evaluation.n for _, evaluation in scores.history] == [len(Z)] * 2


def test_an_encoder_that_returns_something_else_is_told() -> None:
    with pytest.raises(demele.errors.InputTypeError, match=r"encode: expected to return \(codes, factors\)"):
        fit(ScoreCallback(loader(Z, A, 50), lambda module, batch: batch[0], ["mig"]), epochs=1)
