"""Rows for the tests of the torch adapters."""

from typing import Any

import torch

N, D, M = 240, 4, 3
KINDS = ["continuous", "continuous", "categorical"]
#: Settings under which 240 rows suffice, and nothing takes long.
OPTIONS: dict[str, dict[str, Any]] = {
    "dci_forest": {"n_trees": 3},
    "dci_boosting": {"n_trees": 3},
    "z_diff": {"n_train": 200, "n_test": 100, "batch_size": 10},
    "z_min_variance": {"n_train": 200, "n_test": 100, "batch_size": 10},
    "z_max_variance": {"n_train": 200, "n_test": 100, "batch_size": 5},
}


def rows(n: int = N, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes that mix three factors, the last of them in four classes."""
    generator = torch.Generator().manual_seed(seed)
    factors = torch.rand(n, M, generator=generator, dtype=torch.float64)
    factors[:, 2] = (4 * factors[:, 2]).floor()
    codes = 0.2 * torch.rand(n, D, generator=generator, dtype=torch.float64)
    codes[:, :M] += factors
    codes[:, 0] += 0.5 * factors[:, 1]
    return codes, factors


Z, A = rows()
