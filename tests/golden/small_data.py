"""Data sets on which every metric has a number: small, and each hard in its own way."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["CHEAP", "DATA", "Data"]

#: Options that keep the stochastic metrics cheap.
CHEAP: dict[str, dict[str, Any]] = {
    "dci_forest": {"n_trees": 3},
    "dci_boosting": {"n_trees": 3},
    "explicitness": {},
    "z_diff": {"n_train": 60, "n_test": 60, "batch_size": 8},
    "z_min_variance": {"n_train": 60, "n_test": 60, "batch_size": 8},
    "z_max_variance": {"n_train": 60, "n_test": 60, "batch_size": 8},
}


@dataclass(frozen=True)
class Data:
    codes: pd.DataFrame
    factors: pd.DataFrame
    codes_std: Any
    keywords: dict[str, Any]


def _continuous(n: int = 120) -> Data:
    rng = np.random.default_rng(11)
    factors = pd.DataFrame(rng.random((n, 3)), columns=["size", "turn", "light"])
    mixed = factors.to_numpy() @ np.array([[1, 0.2, 0], [0, 1, 0.3], [0.1, 0, 1]])
    codes = pd.DataFrame(
        np.column_stack([mixed + 0.1 * rng.standard_normal((n, 3)), rng.standard_normal(n)]),
        columns=["a", "b", "c", "d"],
    )
    return Data(codes, factors, np.full(codes.shape, 0.1), {})


def _mixed(n: int = 110) -> Data:
    """Missing, constant and outlying columns, words and whole numbers."""
    rng = np.random.default_rng(12)
    size, shape, turn = rng.random(n), rng.integers(0, 3, n), rng.integers(0, 7, n)
    noise = rng.standard_normal((n, 5))
    codes = pd.DataFrame(
        {
            "first": size + 0.1 * noise[:, 0],
            "second": shape + 0.4 * noise[:, 1],
            "third": turn / 3 + size + 0.3 * noise[:, 2],
            "dead": 2.0,
            "spiked": np.where(np.arange(n) == 7, 1000.0, size + 0.2 * noise[:, 4]),
        }
    )
    size = size.copy()
    size[[3, 50, 51]] = np.nan
    factors = pd.DataFrame(
        {"size": size, "shape": np.array(["ball", "cone", "cube"])[shape], "still": "same", "turn": turn}
    )
    return Data(codes, factors, np.full(codes.shape, 0.2), {"missing": "omit", "kinds": {"turn": "continuous"}})


def _few(n: int = 60) -> Data:
    rng = np.random.default_rng(13)
    factors = pd.DataFrame({"shape": rng.integers(0, 2, n), "size": rng.random(n)})
    codes = factors.to_numpy() @ np.array([[1.0, 0.0, 0.5], [0.2, 1.0, 0.5]]) + 0.2 * rng.standard_normal((n, 3))
    return Data(pd.DataFrame(codes, columns=["z1", "z2", "z3"]), factors, np.full((n, 3), 0.3), {})


def _tied(n: int = 120) -> Data:
    """Codes that repeat a few values, most of them 0."""
    rng = np.random.default_rng(14)
    factors = pd.DataFrame({"shape": rng.integers(0, 4, n), "light": rng.integers(0, 2, n), "size": rng.random(n)})
    codes = pd.DataFrame(
        {
            "p": np.maximum(factors["shape"] - 1.0, 0.0),
            "q": np.round(factors["size"] * 3) / 3 * factors["light"],
            "r": np.where(rng.random(n) < 0.7, 0.0, np.round(rng.random(n), 1)),
            "s": factors["light"] * 1.0 + (rng.random(n) < 0.1),
        }
    )
    return Data(codes, factors, np.full(codes.shape, 0.05), {})


DATA: dict[str, Data] = {"continuous": _continuous(), "mixed": _mixed(), "few": _few(), "tied": _tied()}
