"""One model of a study, and what became of its training."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from demele.core.result import plain
from demele.core.table_columns import as_float
from demele.runtime.sweep import Record
from demele.studies.jobs import Configuration

__all__ = ["COLLAPSED", "DIVERGED", "FAILED", "MISSING", "PARTIAL", "TrainedModel", "known"]

#: What stands for a model whose codes hold nothing, fewer than there are factors, or that did not end.
COLLAPSED, PARTIAL, DIVERGED, FAILED, MISSING = "collapsed", "partial", "diverged", "failed", "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel:
    """One model of a study, and what became of its training.

    Attributes
    ----------
    id : str
    configuration : Configuration
    status : str
        "done", "diverged", "failed", or "missing" while it is still to be trained.
    reason : str
        Why it diverged or failed.
    flag : str
        "collapsed": no code is in use, so that scores are of noise; "partial": fewer are than there are factors;
        "diverged", "failed", "missing"; else nothing.
    steps : int
    seconds, reconstruction, floor, total_correlation, largest_logvar : float
        See :class:`demele.models.Run`.
    kl, std : tuple of float
        By code: divergence from the prior in nats, and standard deviation of the means.
    active : int
        Codes in use.
    beta_normalised : float
    parameters : int
    torch : str
        Version of PyTorch.
    codes : mapping of step to text
        Digests of the codes.
    """

    id: str
    configuration: Configuration
    status: str
    reason: str = ""
    flag: str = ""
    steps: int = 0
    seconds: float = math.nan
    reconstruction: float = math.nan
    floor: float = math.nan
    total_correlation: float = math.nan
    largest_logvar: float = math.nan
    kl: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    active: int = 0
    beta_normalised: float = math.nan
    parameters: int = 0
    torch: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, identifier: str, configuration: Configuration, record: Record | None, factors: int) -> "TrainedModel":
        """Return the model of a record; None: it is still to be trained."""
        if record is None:
            return cls(id=identifier, configuration=configuration, status=MISSING, flag=MISSING)
        status = str(record["status"])
        if status == FAILED:
            return cls(id=identifier, configuration=configuration, status=status, reason=record["reason"], flag=FAILED)
        numbers = ("seconds", "reconstruction", "floor", "total_correlation", "largest_logvar", "beta_normalised")
        active = int(record["active"])
        few = COLLAPSED if active == 0 else PARTIAL if active < factors else ""
        return cls(
            id=identifier,
            configuration=configuration,
            status=status,
            reason=str(record["reason"] or ""),
            flag=DIVERGED if status == DIVERGED else few,
            steps=int(record["steps"]),
            kl=_floats(record["kl"]),
            std=_floats(record["std"]),
            active=active,
            parameters=int(record["parameters"]),
            torch=str(record["torch"]),
            codes=dict(record["codes"]),
            **{name: known(record[name]) for name in numbers},
        )

    def record(self) -> Record | None:
        """Return what a packed file keeps; None of one that is still to be trained."""
        if self.status == MISSING:
            return None
        names = [name for name in self.__slots__ if name not in ("id", "configuration", "flag")]
        found: Record = plain({name: getattr(self, name) for name in names})
        return found

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns."""
        own = self.configuration
        return {
            "id": self.id,
            "configuration": own.name,
            "objective": own.objective,
            **own.options,
            "latents": own.latents,
            "seed": own.seed,
            "status": self.status,
            "flag": self.flag,
            "active": self.active,
            "steps": self.steps,
            "seconds": self.seconds,
            "reconstruction": self.reconstruction,
            "floor": self.floor,
            "kl": float(np.sum(self.kl)) if self.kl else math.nan,
            "total_correlation": self.total_correlation,
            "reason": self.reason,
        }


def known(value: float | None) -> float:
    """Return a number of a record; what is null there is NaN."""
    return math.nan if value is None else as_float(value)


def _floats(values: "list[float | None]") -> tuple[float, ...]:
    return tuple(map(known, values))
