"""A study: its models, their scores, its compact file, and how far metrics agree."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demele.bench.agreement import agreement
from demele.bench.agreement_result import Agreement
from demele.core.checked_numbers import checked_count
from demele.core.errors import InputTypeError, NotEnoughData
from demele.core.names import checked_name
from demele.core.outputs import write_whole
from demele.core.result import Result, plain
from demele.core.store import Key
from demele.core.table_columns import as_float
from demele.core.version import __version__
from demele.runtime.sweep import Record
from demele.studies.folders import packed
from demele.studies.jobs import Configuration, Kind, score_key, train_key
from demele.studies.study_documents import study_document

if TYPE_CHECKING:
    import pandas as pd


# One model ------------------------------------------------------------------------------------------------------------


#: What stands for a model whose codes hold nothing, fewer than there are factors, or that did not end.
COLLAPSED, PARTIAL, DIVERGED, FAILED, MISSING = "collapsed", "partial", "diverged", "failed", "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel:
    """One model of a study, and the outcome of its training.

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
        See :class:`demele.lab.Run`.
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
        figures: dict[str, Any] = {name: int(record[name]) for name in ("steps", "active", "parameters")}
        figures |= {name: known(record[name]) for name in numbers}
        figures |= {name: tuple(map(known, record[name])) for name in ("kl", "std")}
        few = COLLAPSED if active == 0 else PARTIAL if active < factors else ""
        return cls(
            id=identifier,
            configuration=configuration,
            status=status,
            reason=str(record["reason"] or ""),
            flag=DIVERGED if status == DIVERGED else few,
            torch=str(record["torch"]),
            codes=dict(record["codes"]),
            **figures,
        )

    def record(self) -> Record | None:
        """Return what a packed file keeps; None of one that is still to be trained."""
        if self.status == MISSING:
            return None
        names = [name for name in self.__slots__ if name not in ("id", "configuration", "flag")]
        return dict(plain({name: getattr(self, name) for name in names}))

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns."""
        own = self.configuration
        model = {"objective": own.objective, **own.options, "latents": own.latents, "seed": own.seed}
        names = ("status", "flag", "active", "steps", "seconds", "reconstruction", "floor")
        return {
            "id": self.id,
            "configuration": own.name,
            **model,
            **{name: getattr(self, name) for name in names},
            "kl": float(np.sum(self.kl)) if self.kl else math.nan,
            "total_correlation": self.total_correlation,
            "reason": self.reason,
        }


def known(value: float | None) -> float:
    """Return a number of a record; what is null there is NaN."""
    return math.nan if value is None else as_float(value)


# The compact file -----------------------------------------------------------------------------------------------------


FORMAT, FORMAT_VERSION = "demele-study", 1


def header(settings: Mapping[str, Any], configurations: Mapping[str, Configuration], version: str) -> dict[str, Any]:
    """Return what a study is, as plain values."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "demele": version,
        "settings": dict(settings),
        "configurations": [{"id": name, **one.to_dict()} for name, one in configurations.items()],
    }


# All models -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Study(Result):
    """A family of trained models with their scores.

    Attributes
    ----------
    settings : mapping
        Images, training, scored rows, metrics, protocol: what all models have in common.
    models : tuple of TrainedModel
    scores : mapping of (id, step, kind, metric) to record
        With a ``value``, None where there is a ``reason`` instead; at the end of a training also the native values,
        notes and signature.
    version : str
        The demele that trained and scored.

    Examples
    --------
    >>> from demele import lab
    >>> tiny = {"preset": "ci", "betas": [0.1, 100.0], "steps": 10, "metrics": ["mig", "sap"], "n_rows": 50}
    >>> found = lab.model_family(**tiny)
    >>> found.to_frame()[["beta", "latents", "status"]].to_numpy().tolist()
    [[0.1, 6, 'done'], [100.0, 6, 'done']]
    """

    _kind = "study"
    _files: ClassVar[Mapping[str, str]] = {".pairs.csv": "pairs_frame"}

    settings: Mapping[str, Any]
    models: tuple[TrainedModel, ...]
    scores: Mapping[Key, Record]
    version: str = __version__

    document = study_document

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, in the order in which they were asked for."""
        return tuple(self.settings["metrics"])

    @property
    def steps(self) -> tuple[int, ...]:
        """Steps after which codes were scored; the last is the end."""
        return tuple(self.settings["steps"])

    @property
    def failures(self) -> tuple[TrainedModel, ...]:
        """The models that diverged or failed, with their reasons."""
        return tuple(model for model in self.models if model.flag in (DIVERGED, FAILED))

    def value(self, model: TrainedModel, metric: str, *, step: int | None = None, kind: Kind = "real") -> float:
        """Return a score; NaN where there is none."""
        if not isinstance(model, TrainedModel):
            raise InputTypeError("model", f"expected one of the models of the study, got {type(model).__name__}")
        checked_name(metric, "metric", self.metrics)
        checked_name(kind, "kind", self.settings["kinds"])
        key = score_key(model.id, self.steps[-1] if step is None else checked_count(step, "step", 0), kind, metric)[1:]
        record = self.scores.get(key)
        return math.nan if record is None else known(record.get("value"))

    def to_frame(self, *, step: int | None = None, kind: Kind = "real") -> "pd.DataFrame":
        """Return one row for each model, with its scores; those at the end against its factors by default."""
        import pandas as pd

        scored = [
            {metric: self.value(model, metric, step=step, kind=kind) for metric in self.metrics}
            for model in self.models
        ]
        return pd.DataFrame([{**model.row(), **scores} for model, scores in zip(self.models, scored, strict=True)])

    def scores_frame(self) -> "pd.DataFrame":
        """Return one row for each score: model, step, kind, metric, value, and the reason where there is none."""
        import pandas as pd

        names = {model.id: model.configuration for model in self.models}
        rows = [
            {
                "id": identifier,
                "configuration": names[identifier].name,
                "seed": names[identifier].seed,
                "step": step,
                "kind": kind,
                "metric": metric,
                "value": known(record.get("value")),
                "reason": record.get("reason") or "",
            }
            for (identifier, step, kind, metric), record in self.scores.items()
            if identifier in names
        ]
        return pd.DataFrame(rows)

    def agreement(self, *, level: float = 0.95, draws: int = 2000, seed: int = 0) -> Agreement:
        """Return the agreement of the metrics on the trained models.

        Parameters
        ----------
        level, draws, seed
            See :func:`demele.bench.agreement`.

        Raises
        ------
        NotEnoughData
            If fewer than two models were trained.
        """
        done = self.done()
        if len(done) < 2:
            raise NotEnoughData("study", f"expected two or more trained and scored models, got {len(done)}")
        first = self.steps[:-1]
        nulls = [self._table(done, kind=kind) for kind in self.settings["kinds"] if kind.startswith("null-")]
        halves = [self._table(done, kind=kind) for kind in self.settings["kinds"] if kind.startswith("half-")]
        return agreement(
            self._table(done),
            configuration=[model.configuration.name for model in done],
            collapsed=[model.flag == COLLAPSED for model in done],
            within=[model.configuration.latents for model in done],
            null=nulls or None,
            halves=halves or None,
            again={f"{step:,} and {self.steps[-1]:,} steps": self._table(done, step=step) for step in first},
            level=level,
            draws=draws,
            seed=seed,
        )

    def pairs_frame(self) -> "pd.DataFrame":
        """Return one row for each pair of metrics: their agreement."""
        return self.agreement().to_frame()

    def done(self) -> list[TrainedModel]:
        """Return the models that are trained and scored."""
        wanted = [(self.steps[-1], "real", metric) for metric in self.metrics]
        return [
            model
            for model in self.models
            if model.status == "done" and all((model.id, *one) in self.scores for one in wanted)
        ]

    def _table(self, models: list[TrainedModel], **which: Any) -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(
            [{metric: self.value(model, metric, **which) for metric in self.metrics} for model in models]
        )

    def save(self, path: str | Path) -> Path:
        """Write models and scores compactly, without native values; :func:`demele.lab.load_study` reads it.

        Raises
        ------
        OutputError
        """
        about = header(self.settings, {model.id: model.configuration for model in self.models}, self.version)
        records = {train_key(model.id): held for model in self.models if (held := model.record()) is not None}
        for key, record in self.scores.items():
            value = record.get("value")
            records["score", *key] = {"value": value} | ({} if value is not None else {"reason": record.get("reason")})
        return write_whole(path, packed(about, records))
