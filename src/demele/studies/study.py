"""What a study found: its models, their scores, and how far metrics agree about them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.bench.agreement import agreement
from demele.bench.agreement_result import Agreement
from demele.core.checked_numbers import checked_count
from demele.core.errors import InputTypeError, NotEnoughData
from demele.core.names import checked_name
from demele.core.outputs import write_whole
from demele.core.result import Result
from demele.core.store import Key
from demele.core.version import __version__
from demele.report.document import Document
from demele.runtime.sweep import Record
from demele.studies.jobs import Kind, score_key
from demele.studies.packed import packed
from demele.studies.study_documents import study_document
from demele.studies.trained import COLLAPSED, DIVERGED, FAILED, TrainedModel, known

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Study"]


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
    >>> from demele import studies
    >>> tiny = {"preset": "ci", "betas": [0.1, 100.0], "steps": 10, "metrics": ["mig", "sap"], "rows": 50}
    >>> found = studies.model_family(**tiny)
    >>> found.to_frame()[["beta", "latents", "status"]].to_numpy().tolist()
    [[0.1, 6, 'done'], [100.0, 6, 'done']]
    """

    _kind = "study"

    settings: Mapping[str, Any]
    models: tuple[TrainedModel, ...]
    scores: Mapping[Key, Record]
    version: str = __version__

    def document(self) -> Document:
        """Return the document: the agreement of the metrics, or the scores of a few models."""
        return study_document(self)

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
        """Write models and scores compactly, without native values; :func:`demele.studies.load` reads it.

        Raises
        ------
        OutputError
        """
        return write_whole(path, packed(self.settings, self.models, self.scores, self.version))
