"""One of two processes that exchange states over gloo: run as ``python -m tests.adapters.one_process RANK FOLDER``.

Writes what it found to a file, for ``test_distributed.py`` to compare with one process that has all rows.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from torchmetrics import MetricCollection

import demele
from demele.adapters.torchmetrics import TorchMetric
from tests.adapters.rows import KINDS, OPTIONS, A, Z

#: Rows of rank 0; those of rank 1 follow.
CUT = 150
#: Rows of a batch, by rank: other numbers of batches, and uneven last ones.
BATCH = (40, 70)
#: All registered metrics but those of counts; RMIG, which needs standard deviations, has a case of its own.
SAMPLED = [name for name in demele.list_metrics() if name not in (*demele.counted_metrics(), "rmig")]


def shares(rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    part = slice(0, CUT) if rank == 0 else slice(CUT, None)
    return Z[part], A[part]


def feed(metric: Any, rank: int) -> Any:
    z, a = shares(rank)
    for start in range(0, len(z), BATCH[rank]):
        metric.update(z[start : start + BATCH[rank]], a[start : start + BATCH[rank]])
    return metric


def plain(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: plain(value) for name, value in found.items()}
    return found.tolist()


def frame() -> demele.bins.BinEdges:
    return demele.bins.BinEdges.of(Z.numpy(), A.numpy(), kinds=KINDS)


def counted(rank: int) -> Any:
    metric = feed(TorchMetric(demele.counted_metrics(), frame=frame()), rank)
    first = plain(metric.compute())
    local = metric.accumulator.n
    metric.update(*shares(rank))
    return {"values": first, "local": local, "again": plain(metric.compute())}


def sampled(rank: int) -> Any:
    return plain(feed(TorchMetric(SAMPLED, kinds=KINDS, options=OPTIONS), rank).compute())


def with_deviations(rank: int) -> Any:
    metric = TorchMetric("rmig", kinds=KINDS)
    z, a = shares(rank)
    metric.update(z, a, torch.full_like(z, 0.1))
    return plain(metric.compute())


def summed(rank: int) -> Any:
    own = demele.bins.BinEdges.of(Z.numpy(), A.numpy(), kinds="continuous")
    metric = feed(TorchMetric(["sap", "irs"], frame=own), rank)
    return {"values": plain(metric.compute()), "local": metric.accumulator.n}


def one_without_rows(rank: int) -> Any:
    metric = TorchMetric(["mig", "sap"], kinds=KINDS)
    return plain((feed(metric, 0) if rank == 0 else metric).compute())


def none_with_rows(rank: int) -> Any:
    metric = TorchMetric(["mig", "sap"], kinds=KINDS)
    try:
        return plain(metric.compute())
    except demele.errors.NotEnoughData as error:
        metric.update(*shares(rank))
        return {"message": str(error), "then": plain(metric.compute())}


def collection(rank: int) -> Any:
    both = MetricCollection({"mig": TorchMetric("mig", frame=frame()), "sap": TorchMetric("sap", kinds=KINDS)})
    found = plain(feed(both, rank).compute())
    both.reset()
    return {"first": found, "second": plain(feed(both, rank).compute())}


def a_group(rank: int) -> Any:
    group = torch.distributed.new_group([0, 1])
    return plain(feed(TorchMetric("sap", kinds=KINDS, process_group=group), rank).compute())


def other_settings(rank: int) -> Any:
    metric = feed(TorchMetric("sap", kinds=KINDS, seed=rank), rank)
    try:
        return plain(metric.compute())
    except demele.errors.IncompatibleState as error:
        return {"message": str(error), "local": metric.accumulator.n}


def lightning(rank: int) -> Any:
    """A fit by two processes; the loader is not shared out, so the callback deals its batches out."""
    import lightning.pytorch

    from demele.adapters.lightning import ScoreCallback
    from tests.adapters.modules import Linear, encode, loader

    callback = ScoreCallback(loader(Z, A, 48), encode, ["mig", "sap"], kinds=KINDS)
    warnings.simplefilter("ignore")
    trainer = lightning.pytorch.Trainer(
        accelerator="cpu",
        devices=2,
        strategy="ddp",
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
    )
    trainer.fit(Linear(), loader(Z, A, 48))
    trainer.callbacks.append(callback)  # type: ignore[attr-defined]
    trainer.fit_loop.max_epochs = 2
    trainer.fit(Linear(), loader(Z, A, 48))
    ((_, evaluation),) = callback.history
    logged = {name: float(value) for name, value in trainer.callback_metrics.items()}
    return {"n": evaluation.n, "values": {score.metric: score.value for score in evaluation}, "logged": logged}


CASES: dict[str, Callable[[int], Any]] = {
    case.__name__: case
    for case in (
        *(counted, sampled, with_deviations, summed, one_without_rows, none_with_rows, collection, a_group),
        *(other_settings, lightning),
    )
}


def main(rank: int, folder: Path) -> None:
    """Run every case in the same order as the other process does."""
    torch.set_num_threads(1)
    os.environ |= {"LOCAL_RANK": str(rank), "NODE_RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder / 'meeting'}", rank=rank, world_size=2, timeout=timedelta(seconds=120)
    )
    found = {name: case(rank) for name, case in CASES.items()}
    (folder / f"found{rank}.json").write_text(json.dumps(found), encoding="utf-8")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
