"""How long a study takes and how much it keeps, before it is begun."""

import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from demele.core.written import Written
from demele.runtime.progress import time_left
from demele.studies.jobs import Job
from demele.studies.planning import StudyPlan, seconds_of_score

__all__ = ["Estimate", "estimated"]

#: Steps that are timed, after as many that are not.
_TIMED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Written):
    """What a study would take.

    Attributes
    ----------
    models, scores : int
        To train, and to compute.
    training_seconds, scoring_seconds : float
        Of one processor, about; of the training from some steps that were made, of the scores from what they take
        elsewhere.
    megabytes : float
        Of disk.
    """

    models: int
    scores: int
    training_seconds: float
    scoring_seconds: float
    megabytes: float

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)

    def text(self) -> str:
        """Return it as lines."""
        both = self.training_seconds + self.scoring_seconds
        return (
            f"{self.models:,} models to train, {self.scores:,} scores\n"
            f"training   {time_left(self.training_seconds)} of one processor\n"
            f"scores     {time_left(self.scoring_seconds)}\n"
            f"together   {time_left(both)}; with two processes {time_left(both / 2)}\n"
            f"disk       about {self.megabytes:,.0f} MB\n"
        )


def estimated(plan: StudyPlan) -> Estimate:
    """Return what a study would take; a few steps of its model of middle size are made and timed."""
    sizes = sorted(one.latents for one in plan.configurations)
    middle = next(one for one in plan.configurations if one.latents == sizes[len(sizes) // 2])
    pieces = [len([piece for piece in plan.pieces(plan.job(one, Path())) if piece.kind]) for one in plan.configurations]
    scores = [
        count * seconds_of_score(one.latents, len(plan.rows))
        for one, count in zip(plan.configurations, pieces, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        each, kept = _timed_step(plan.job(middle, Path(folder)))
    codes = sum(4 * len(plan.rows) * one.latents * (len(plan.steps) + 1) for one in plan.configurations)
    return Estimate(
        models=len(plan.configurations),
        scores=sum(pieces),
        training_seconds=each * plan.steps[-1] * len(plan.configurations),
        scoring_seconds=sum(scores),
        megabytes=(codes + kept * len(plan.configurations)) / 1e6,
    )


def _timed_step(job: Job) -> tuple[float, int]:
    """Return the seconds of a step and the size of a file of a training."""
    from demele.studies.training import model_of

    path = job.folder.parent / "run"
    vae = model_of(job)
    moments: list[float] = []
    training = {**job.training, "steps": 2 * _TIMED}
    vae.fit(job.images, **training, checkpoint=path, on_event=lambda _: moments.append(time.process_time()))
    return (moments[-1] - moments[-1 - _TIMED]) / _TIMED, path.stat().st_size
