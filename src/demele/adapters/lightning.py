"""A Lightning callback that scores the codes of a validation set every few epochs.

Install ``demele[lightning]``. Trainers of ``lightning`` and of ``pytorch_lightning`` take it.
"""

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from demele.adapters.shared import DEFAULT_METRICS, ScoredEpochs, chosen_metrics
from demele.core.errors import InputTypeError, NotEnoughData
from demele.core.lazy import require

__all__ = ["DEFAULT_METRICS", "ScoreCallback"]


_INSTALLED = [name for name in ("lightning", "pytorch_lightning") if importlib.util.find_spec(name) is not None]
_PACKAGES = ["lightning.pytorch" if name == "lightning" else name for name in _INSTALLED or ["lightning"]]
_BASES = dict.fromkeys(require(name, purpose="demele.adapters.lightning").Callback for name in _PACKAGES)
#: A base class that the trainers of every installed package take for one of theirs.
_Callback: Any = type("Callback", tuple(_BASES), {})


class ScoreCallback(ScoredEpochs, _Callback):  # type: ignore[misc]
    """Score the codes of a validation set every k epochs, and log the scores as flat scalars.

    Parameters
    ----------
    data : data loader, iterable of batches, or LightningDataModule
        What is encoded; of a data module, what ``val_dataloader()`` returns.
    encode : callable (pl_module, batch) -> (codes, factors) or (codes, factors, codes_std)
        Called without gradients on a batch that is on the module's device.
    metrics : sequence of str, optional
        Registered names; :data:`DEFAULT_METRICS` unless given.
    every : int, default 1
        Score at the end of each epoch whose number, counted from 1, is a multiple of this, and of every
        ``trainer.validate``.
    prefix : str, default "demele/"
        Prefix of the logged names: ``demele/mig``.
    native : bool, default False
        Log the value of each factor or code too: ``demele/mig/v1``.
    seed : int, default 0
        Of the metrics, and of what the encoder draws. The generators of the training are restored afterwards, so that
        it goes on as it would have without the callback.
    **keywords
        ``frame``, ``bound``, ``protocol``, ... as of :class:`demele.adapters.torchmetrics.TorchMetric`.

    Attributes
    ----------
    history : list of (int, Evaluation)
        Every evaluation with the number of its epoch, counted from 0 as Lightning does.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Notes
    -----
    Scores are logged through ``pl_module.log_dict``, so that every logger has them, and ``ModelCheckpoint`` and
    ``EarlyStopping`` can monitor them. Where the loop validates, that is at the end of the validation of the epoch,
    else at the end of its training; sanity checks are left alone. Scores that are not defined are not logged; the
    evaluation in ``history`` says why.

    With several processes, each encodes its own batches and all of them log the scores of all rows. A loader with a
    distributed sampler has shared the rows out already (it repeats a few rows to make the shares equal); the batches of
    any other are dealt out in turn.

    Examples
    --------
    >>> callback = ScoreCallback([], encode=lambda module, batch: (module(batch[0]), batch[1]), every=5)
    >>> callback.history
    []
    """

    def __init__(
        self,
        data: Any,
        encode: Callable[[Any, Any], Sequence[Any]],
        metrics: Sequence[str] | None = None,
        *,
        every: int = 1,
        prefix: str = "demele/",
        native: bool = False,
        seed: int = 0,
        **keywords: Any,
    ) -> None:
        from demele.adapters.torchmetrics import TorchMetric

        super().__init__()
        self._set(data, encode, every, prefix, native)
        if not (hasattr(data, "val_dataloader") or isinstance(data, Iterable)):
            raise InputTypeError("data", f"expected a data loader or data module, got {type(data).__name__}")
        self._seed = seed
        self._metric = TorchMetric(chosen_metrics(metrics), seed=seed, **keywords)
        self._scored: int | None = None
        self._set_up = False

    # Hooks ----------------------------------------------------------------------------------------------------------

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Forget which epoch was scored last: a new fit may count from 0 again."""
        self._scored = None

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Score with the validation of the epoch, where monitors look."""
        if trainer.sanity_checking:
            return
        if str(trainer.state.fn) == "validate" or getattr(trainer.state.fn, "value", None) == "validate":
            self._score(trainer, pl_module)
        else:
            self.on_train_epoch_end(trainer, pl_module)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Score at the end of an epoch that was not validated."""
        epoch = int(trainer.current_epoch)
        if (epoch + 1) % self._every == 0 and self._scored != epoch:
            self._score(trainer, pl_module)
            self._scored = epoch

    # Scoring ----------------------------------------------------------------------------------------------------------

    def _score(self, trainer: Any, pl_module: Any) -> None:
        metric = self._metric.to(pl_module.device)
        metric.reset()
        with _as_found(pl_module, self._seed):
            for batch in self._batches(trainer):
                on_device = trainer.strategy.batch_to_device(batch, pl_module.device)
                metric.update(*self._encoded(pl_module, on_device))
            metric.compute()
        evaluation = metric.evaluation
        metric.reset()
        if evaluation is None:
            raise NotEnoughData("data", "the metrics found no result")
        # every process has the same numbers; with sync_dist Lightning does not warn that they might differ
        pl_module.log_dict(
            self._logged(int(trainer.current_epoch), evaluation),
            on_step=False,
            on_epoch=True,
            sync_dist=trainer.world_size > 1,
            batch_size=1,
        )

    def _batches(self, trainer: Any) -> Iterator[Any]:
        """Yield the batches that this process encodes."""
        rank, world = int(trainer.global_rank), int(trainer.world_size)
        for loader in self._loaders(trainer):
            from torch.utils.data.distributed import DistributedSampler

            holders = (loader, getattr(loader, "batch_sampler", None))
            shared_out = any(isinstance(getattr(one, "sampler", None), DistributedSampler) for one in holders)
            for number, batch in enumerate(loader):
                if shared_out or number % world == rank:
                    yield batch

    def _loaders(self, trainer: Any) -> list[Any]:
        if not hasattr(self._data, "val_dataloader"):
            return [self._data]
        if getattr(trainer, "datamodule", None) is not self._data and not self._set_up:
            per_node = getattr(self._data, "prepare_data_per_node", True)
            if trainer.local_rank == 0 if per_node else trainer.is_global_zero:
                self._data.prepare_data()
            trainer.strategy.barrier()
            self._data.setup("validate")
            self._set_up = True
        loaders = self._data.val_dataloader()
        if isinstance(loaders, Mapping):
            return list(loaders.values())
        return list(loaders) if isinstance(loaders, list | tuple) else [loaders]


@contextmanager
def _as_found(pl_module: Any, seed: int) -> Iterator[None]:
    """Evaluate without gradients, and leave modes and generators as they were."""
    import torch

    modes = [(module, module.training) for module in pl_module.modules()]
    devices = [pl_module.device] if pl_module.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        torch.manual_seed(seed)
        pl_module.eval()
        try:
            yield
        finally:
            for module, training in modes:
                module.training = training
