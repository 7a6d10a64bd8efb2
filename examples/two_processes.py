"""Score rows that are spread over two processes, as in distributed training: the values are those of one call."""

import tempfile

import torch
from torch import multiprocessing

import demele
from demele.adapters.torchmetrics import TorchMetric

NAMES = ["mig", "sap"]
KINDS = ["categorical"] + ["continuous"] * 8  # the class of the digit, and eight quantities
sample = demele.data.load_example()
codes, factors = sample.codes.to_numpy(), sample.factors.to_numpy()


def work(rank: int, folder: str) -> None:
    """Score half of the rows, as one process of two."""
    # --8<-- [start:process]
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    metric = TorchMetric(NAMES, kinds=KINDS)
    first, last = [(0, 900), (900, len(codes))][rank]  # each process has rows of its own
    for start in range(first, last, 100):
        rows = slice(start, min(start + 100, last))
        metric.update(torch.tensor(codes[rows]), torch.tensor(factors[rows]))
    values = metric.compute()  # of the rows of all processes, and the same in each
    # --8<-- [end:process]
    if rank == 0:
        print(f"{metric.accumulator.n} rows here; values of {metric.score.n}")
        whole = demele.evaluate(codes, demele.Factors(factors, kinds=KINDS), NAMES)
        for name, value in values.items():
            print(f"{name}: {value:.4f}; as in one call: {value.item() == whole[name].value}")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(work, (folder,), nprocs=2)
