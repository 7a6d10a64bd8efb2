"""The plan of a study: a grid of models, the scores of each, and how long they take."""

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.bench.agreement_print import published_agreement
from demele.core.checked_numbers import checked_count, checked_number
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.names import checked_name, suggestion
from demele.core.result import TableResult
from demele.core.seeds import checked_seed, rng_for
from demele.core.version import __version__
from demele.data.images import ImageSet
from demele.metrics.catalogue import metric_names
from demele.metrics.protocols import protocol as protocol_named
from demele.models.presets import Preset, preset
from demele.report.words import count
from demele.runtime.progress import time_left
from demele.runtime.sweep import Record, Task
from demele.studies.jobs import Configuration, Job, Kind, Piece, scored_places
from demele.studies.work import train_vae

if TYPE_CHECKING:
    import pandas as pd


#: What the grid of strengths is of, by objective; the others have none.
STRENGTHS: Mapping[str, str] = {
    "beta_vae": "beta",
    "beta_tcvae": "beta",
    "capacity": "c_max",
    "factor_vae": "gamma",
    "dip_vae_i": "lambda_od",
    "dip_vae_ii": "lambda_od",
    "ada_gvae": "beta",
    "ada_mlvae": "beta",
}
#: The 17 of the printed study, in its order.
METRICS = published_agreement("cars3d").metrics
#: Strengths and numbers of codes of the printed study; of the first try, four that differ in all that can go wrong.
_BETAS, _LATENTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0), (2, 4, 8, 16, 32, 64)
_GRIDS: Mapping[str, tuple[tuple[float, ...], tuple[int, ...]]] = {"ci": ((0.1, 1.0, 4.0, 100.0), (6,))}
#: Scored rows, drawn once for all models.
MOST_ROWS = 5000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyPlan:
    """All that a study trains and scores.

    Attributes
    ----------
    configurations : tuple of Configuration
        One for each seed of each place of the grid.
    images : ImageSet
    preset : str
    steps : tuple of int
        After which codes are scored; the last is the end.
    rows : array of int
        Images whose codes are scored.
    metrics : tuple of str
    kinds : tuple of str
        Against what the codes at the end are scored: "real", "null-0", ..., "half-0", "half-1".
    protocol, codes : str
    seed : int
    model, training : mapping
        Arguments of every model, and of its training.
    train : callable
        What trains one.
    """

    configurations: tuple[Configuration, ...]
    images: ImageSet
    preset: str
    steps: tuple[int, ...]
    rows: NDArray[np.int64]
    metrics: tuple[str, ...]
    kinds: tuple[Kind, ...]
    protocol: str
    codes: str
    seed: int
    model: Mapping[str, Any]
    training: Mapping[str, Any]
    train: Callable[[Job], Record] = train_vae

    @property
    def identity(self) -> dict[str, str | int]:
        """The common settings of all records: a store with another identity belongs to another study."""
        return {
            "demele": __version__,
            "study": "model family",
            "images": f"{self.images.name} {self.images.digest}",
            "scored_rows": len(self.rows),
            "scored_after": ",".join(map(str, self.steps)),
            "codes": self.codes,
            "protocol": self.protocol,
            "seed": self.seed,
            **{f"model_{name}": repr(value) for name, value in sorted(self.model.items())},
            **{f"training_{name}": repr(value) for name, value in sorted(self.training.items())},
        }

    def settings(self) -> dict[str, Any]:
        """Return the settings that describe all results, as plain values."""
        height, width, channels = self.images.shape
        return {
            "preset": self.preset,
            "images": self.images.name,
            "provenance": self.images.provenance,
            "shape": [int(height), int(width), int(channels)],
            "n_images": len(self.images),
            "n_factors": self.images.factors([0]).shape[1],
            "steps": list(self.steps),
            "scored_rows": len(self.rows),
            "metrics": list(self.metrics),
            "kinds": list(self.kinds),
            "protocol": self.protocol,
            "codes": self.codes,
            "seed": self.seed,
            "model": dict(self.model),
            "training": dict(self.training),
        }

    def job(self, configuration: Configuration, folder: Path) -> Job:
        """Return the job of one model; its files are in their own folder."""
        identifier = configuration.identified(self.identity)
        return Job(
            id=identifier,
            configuration=configuration,
            images=self.images,
            rows=self.rows,
            steps=self.steps,
            model=self.model,
            training=self.training,
            codes=self.codes,
            protocol=self.protocol,
            seed=self.seed,
            folder=folder / identifier,
            train=self.train,
        )

    def pieces(self, job: Job) -> Iterator[Piece]:
        """Yield every record that is wanted of a model."""
        yield Piece(job)
        for step, kind in scored_places(self.steps, self.kinds):
            yield from (Piece(job, step, kind, metric) for metric in self.metrics)

    def tasks(self, folder: Path) -> list[Task[Piece]]:
        """Return the tasks of the study: all records of one model go together, in one process."""
        found = []
        for configuration in self.configurations:
            job = self.job(configuration, folder)
            found += [
                Task(
                    key=piece.key,
                    about=piece,
                    seed=configuration.seed,
                    together=job.id,
                    weight=self.steps[-1] / 170
                    if not piece.kind
                    else seconds_of_score(configuration.latents, len(self.rows)),
                    label=f"{configuration.name}, seed {configuration.seed}",
                )
                for piece in self.pieces(job)
            ]
        return found


def seconds_of_score(latents: int, rows: int) -> float:
    """Return about how many CPU seconds one of the 17 scores takes: the forests of DCI, by far, take the longest."""
    return (2.5 + 0.19 * latents) * rows / MOST_ROWS / len(METRICS)


def checked_plan(
    data: ImageSet | None,
    *,
    betas: Sequence[float] | None,
    latents: Sequence[int] | None,
    seeds: int,
    preset_name: str,
    objective: str,
    options: Mapping[str, Any] | None,
    beta_scale: str,
    steps: int | None,
    checkpoints: Sequence[float],
    metrics: Sequence[str] | None,
    protocol: str,
    rows: int,
    nulls: int,
    halves: bool,
    codes: str,
    seed: int,
) -> StudyPlan:
    """Check every argument of :func:`demele.studies.model_family`, and return the plan; nothing is trained.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, MissingExtraError
    """
    chosen = preset(preset_name)
    images = chosen.images() if data is None else data
    if not isinstance(images, ImageSet):
        raise InputTypeError("data", f"expected an image set, got {type(images).__name__}; see demele.data.sprites")
    last = checked_count(chosen.steps if steps is None else steps, "steps", 10)
    seed = checked_seed(seed)
    protocol_named(protocol)
    checked_name(codes, "codes", ("mean", "sampled"))
    plan = StudyPlan(
        configurations=_grid(chosen, betas, latents, checked_count(seeds, "seeds", 1), objective, options),
        images=images,
        preset=chosen.name,
        steps=_stages(checkpoints, last),
        rows=_scored_rows(images, checked_count(rows, "rows", 20), seed),
        metrics=_metrics(metrics),
        kinds=(
            "real",
            *(f"null-{number}" for number in range(checked_count(nulls, "nulls", 0))),
            *(("half-0", "half-1") if halves else ()),
        ),
        protocol=protocol,
        codes=codes,
        seed=seed,
        model={"network": chosen.network, "init": chosen.init, "beta_scale": beta_scale},
        training={**chosen.training, "steps": last},
    )
    _try_models(plan)
    return plan


def _grid(
    chosen: Preset,
    betas: Sequence[float] | None,
    latents: Sequence[int] | None,
    seeds: int,
    objective: str,
    options: Mapping[str, Any] | None,
) -> tuple[Configuration, ...]:
    from demele.models.vae.objectives import objective_of

    objective_of(objective)
    usual = _GRIDS.get(chosen.name, (_BETAS, _LATENTS))
    strength = STRENGTHS.get(objective)
    if strength is None and betas is not None:
        raise InputError("betas", f"{objective} has no strength to vary; objectives that have: {', '.join(STRENGTHS)}")
    given = {**chosen.options.get(objective, {}), **(options or {})}
    strengths: list[dict[str, Any]] = [{}]
    if strength is not None:
        strengths = [{strength: one} for one in _numbers(betas, usual[0], "betas")]
    sizes = [checked_count(one, "latents", 1) for one in _listed(latents, usual[1], "latents")]
    return tuple(
        Configuration(objective=objective, options={**given, **own}, latents=d, seed=seed)
        for seed in range(seeds)
        for own in strengths
        for d in sizes
    )


def _listed(given: Sequence[Any] | None, usual: Sequence[Any], argument: str) -> list[Any]:
    if given is None:
        return list(usual)
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
        raise InputTypeError(argument, f"expected a list of numbers, got {quoted(given)}")
    values = list(given)
    if len(set(values)) < len(values):
        raise InputError(argument, "expected different numbers, got some twice")
    return values


def _numbers(given: Sequence[float] | None, usual: Sequence[float], argument: str) -> list[float]:
    return [
        checked_number(one, argument, "numbers of 0 or more", inside=lambda value: 0 <= value < math.inf)
        for one in _listed(given, usual, argument)
    ]


def _stages(checkpoints: Sequence[float], last: int) -> tuple[int, ...]:
    shares = [
        checked_number(one, "checkpoints", "shares of the steps in (0, 1]", inside=lambda share: 0 < share <= 1)
        for one in _listed(checkpoints, (), "checkpoints")
    ]
    return tuple(sorted({max(1, round(share * last)) for share in shares} | {last}))


def _scored_rows(images: ImageSet, rows: int, seed: int) -> NDArray[np.int64]:
    """Draw the rows that are scored, in no order, so that halves of them are samples too."""
    if len(images) < 20:
        raise InputError("data", f"expected 20 or more images, got {len(images)}")
    order = rng_for(seed, "study", "rows").permutation(len(images))
    return np.asarray(order[:rows], dtype=np.int64)


def _metrics(metrics: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(METRICS if metrics is None else _listed(metrics, (), "metrics"))
    for name in names:
        if name not in metric_names():
            raise UnknownNameError("metrics", f"unknown metric {quoted(name)}{suggestion(str(name), metric_names())}")
    if len(names) < 2:
        raise InputError("metrics", "expected two or more: a study measures their agreement")
    return names


def _try_models(plan: StudyPlan) -> None:
    """Refuse what no model can be made of, and images that no network takes, before an hour of training."""
    from demele.models.vae.nets import check_size
    from demele.studies.work import model_of

    check_size(plan.model["network"], plan.images.shape)
    if plan.training["batch"] > len(plan.images):
        raise InputError(
            "data", f"expected at least a batch of {plan.training['batch']} images, got {len(plan.images)}"
        )
    for configuration in plan.configurations:
        if configuration.seed == 0:
            model_of(plan.job(configuration, Path()))


# How long it takes ----------------------------------------------------------------------------------------------------


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
    from demele.studies.work import model_of

    path = job.folder.parent / "run"
    vae = model_of(job)
    moments: list[float] = []
    training = {**job.training, "steps": 2 * _TIMED}
    vae.fit(job.images, **training, checkpoint=path, on_event=lambda _: moments.append(time.process_time()))
    return (moments[-1] - moments[-1 - _TIMED]) / _TIMED, path.stat().st_size
