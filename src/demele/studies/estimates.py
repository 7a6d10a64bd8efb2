"""How long a study takes and how much it keeps, before it is begun."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from demele.core.result import TableResult
from demele.report.written import count
from demele.runtime.progress import time_left
from demele.studies.jobs import Job
from demele.studies.planning import StudyPlan, seconds_of_score

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Estimate", "estimated"]

#: Steps that are timed, after as many that are not.
_TIMED = 50


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimate(TableResult):
    """What a study would take.

    Attributes
    ----------
    models, scores : int
        To train, and to compute.
    training_seconds, scoring_seconds : float
        Of one processor, about; of the training from some steps that were made, of the scores from what they take
        elsewhere.
    megabytes : float
        Megabytes of disk.
    """

    _kind, _forms = "estimate of a study", {"value": "count.1"}

    models: int
    scores: int
    training_seconds: float
    scoring_seconds: float
    megabytes: float

    def headline(self) -> str:
        """Return how long the study takes."""
        work = f"{count(self.models, 'model')} to train and {count(self.scores, 'score')} to compute"
        both = self.training_seconds + self.scoring_seconds
        return f"{work}: {time_left(both)} of one processor, {time_left(both / 2)} with two processes."

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each quantity."""
        import pandas as pd

        values = {
            "Models": self.models,
            "Scores": self.scores,
            "Training, hours": self.training_seconds / 3600,
            "Scoring, hours": self.scoring_seconds / 3600,
            "Disk, MB": self.megabytes,
        }
        return pd.DataFrame({"quantity": list(values), "value": list(map(float, values.values()))})


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
