"""A small Lightning module, and what encodes with it."""

from typing import Any

import lightning.pytorch
import torch
from torch.utils.data import DataLoader, TensorDataset

from tests.adapters.rows import D


class Linear(lightning.pytorch.LightningModule):
    """Learns the identity from noisy codes, slowly; dropout makes its mode matter."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = torch.nn.Dropout(0.5)
        self.map = torch.nn.Linear(D, D, dtype=torch.float64)
        with torch.no_grad():
            self.map.weight.copy_(torch.eye(D))
            self.map.bias.zero_()

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Encode."""
        found: torch.Tensor = self.map(self.drop(z))
        return found

    def training_step(self, batch: Any, number: int) -> torch.Tensor:
        """Draw from the global generator, through dropout."""
        loss: torch.Tensor = ((self(batch[0]) - batch[0]) ** 2).mean()
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Go slowly."""
        return torch.optim.SGD(self.parameters(), lr=1e-3)


def encode(module: Any, batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the codes of the module and the factors of the batch."""
    return module(batch[0]), batch[1]


def loader(z: torch.Tensor, a: torch.Tensor, size: int) -> DataLoader[Any]:
    """Return batches in the order of the rows."""
    return DataLoader(TensorDataset(z, a), batch_size=size)
