"""An agreement and a study for pages, without training anything."""

from dataclasses import asdict
from functools import cache

import numpy as np
import pandas as pd

from demele import bench
from demele.core.store import Key
from demele.core.version import __version__
from demele.lab import Study
from demele.runtime.sweep import Record
from demele.studies.study import Configuration, study_of

METRICS = ("mig", "sap", "irs", "mine")
BETAS, SIZES = (0.1, 1.0, 100.0), (2, 4, 8)
STEPS = (50, 100)


@cache
def sample_study() -> Study:
    """Nine models: those of the largest beta collapsed, one diverged, and scores that follow a quality."""
    rng = np.random.default_rng(0)
    configurations: dict[str, Configuration] = {}
    records: dict[Key, Record] = {}
    for beta in BETAS:
        for size in SIZES:
            name = f"b{beta:g}-d{size}"
            configurations[name] = Configuration(objective="beta_vae", options={"beta": beta}, latents=size)
            diverged = (beta, size) == (0.1, 8)
            active = 0 if beta == 100 else min(size, 3)
            records["train", name] = training(size, active, "diverged" if diverged else "done")
            quality = rng.normal() + np.log2(size)
            for step, kind in ((50, "real"), (100, "real"), (100, "null-0"), (100, "half-0"), (100, "half-1")):
                base = 0.0 if kind == "null-0" else quality
                for place, metric in enumerate(METRICS):
                    value = None if diverged else float(base + (0.3 + place) * rng.normal())
                    records["score", name, step, kind, metric] = {"value": value, "reason": "it diverged"}
    settings = {
        "preset": "ci",
        "images": "sprites",
        "provenance": "White shapes on black.",
        "shape": [16, 16, 1],
        "n_images": 1296,
        "n_factors": 3,
        "steps": list(STEPS),
        "scored_rows": 500,
        "metrics": list(METRICS),
        "kinds": ["real", "null-0", "half-0", "half-1"],
        "protocol": "review2022",
        "codes": "mean",
        "seed": 0,
        "model": {"network": "mlp"},
        "training": {"steps": 100, "batch": 32},
    }
    models = [{"id": name, **asdict(one)} for name, one in configurations.items()]
    about = {"demele": __version__, "settings": settings, "configurations": models}
    return study_of(about, records)


def training(size: int, active: int, status: str = "done") -> Record:
    """What is kept of a training."""
    return {
        "status": status,
        "reason": "the loss was not finite" if status == "diverged" else "",
        "steps": STEPS[-1],
        "seconds": 2.5,
        "reconstruction": 40.5,
        "floor": 13.25,
        "kl": [1.0] * active + [0.0] * (size - active),
        "std": [1.0] * active + [0.0] * (size - active),
        "active": active,
        "total_correlation": 0.25,
        "largest_logvar": 0.5,
        "parameters": 1000,
        "beta_normalised": 0.5,
        "codes": {str(step): "0f" * 16 for step in STEPS},
        "torch": "2.0",
    }


@cache
def sample_agreement() -> bench.Agreement:
    """Five metrics, three of them published, with all that scores can be given with."""
    rng = np.random.default_rng(1)
    size = np.repeat([2, 4, 8], 8)
    quality = rng.normal(size=24)

    def table(noise: float) -> pd.DataFrame:
        columns = {"mig": 0.3, "sap": 0.5, "irs": 2.0, "modularity": 1.0}
        drawn = {name: quality + (sd + noise) * rng.normal(size=24) for name, sd in columns.items()}
        return pd.DataFrame({**drawn, "mine": 0.5})

    return bench.agreement(
        table(0.0),
        configuration=[f"model {place}" for place in range(24)],
        collapsed=[False] * 20 + [True] * 4,
        within=size,
        null=table(20.0),
        halves=(table(0.1), table(0.1)),
        again={"early": table(1.0)},
        draws=200,
    )
