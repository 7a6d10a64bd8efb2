"""A study of pruning that takes seconds: small images, a small fabric, few epochs."""

from typing import Any

from demele.studies.fabrics import LabelNoise, Source
from demele.studies.pruning.configurations import PruningConfiguration, Times
from demele.studies.pruning.planning import PruningPlan

WAYS = (
    PruningConfiguration(strategy="late", criterion="magnitude", fraction=0.3),
    PruningConfiguration(strategy="late", criterion="random", fraction=0.3),
    PruningConfiguration(strategy="iterative", criterion="sensitivity", fraction=0.4),
    PruningConfiguration(strategy="early", level="links and weights", criterion="magnitude", fraction=0.5),
)


def tiny_plan(**changes: Any) -> PruningPlan:
    """Return a plan of four ways under two noises with one seed."""
    usual: dict[str, Any] = {
        "preset": "tiny",
        "configurations": WAYS,
        "noises": (LabelNoise(), LabelNoise(kind="uniform", rate=0.2)),
        "seeds": 1,
        "source": Source.clutter(level=0, n=120, held=20, test=60),
        "structure": {"layers": 2, "scales": 5, "channels": 4, "image_channels": 1, "classes": 10},
        "training": {"epochs": 4, "milestones": (3,), "batch": 25, "rate": 0.05, "momentum": 0.9, "weight_decay": 0.0},
        "times": Times(early=1, every=1, late=2),
    }
    return PruningPlan(**{**usual, **changes})


def without_seconds(study: Any) -> dict[Any, Any]:
    """Return the records of a study but what the clock says."""
    return {
        key: {name: own for name, own in record.items() if name != "seconds"} for key, record in study.records.items()
    }
