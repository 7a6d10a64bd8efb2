"""The plan of a study: a grid of models, their trainings and scores, and how long they take."""

import inspect
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from demele.bench.agreement_result import published_agreement
from demele.core import kinds
from demele.core.arrays import Counts, pd, rng_for
from demele.core.errors import DemeleError, InputError, InputTypeError, quoted
from demele.core.given_data import Codes
from demele.core.result import TableResult, plain
from demele.core.results import Evaluation
from demele.core.table_columns import check_distinct
from demele.core.version import __version__
from demele.data.images import ImageSet
from demele.data.own_files import named_images
from demele.metrics.catalogue import resolve
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.models.vae.model import VAE
from demele.models.vae.model import preset as preset_named
from demele.report.words import count, title_of
from demele.runtime.sweep import Record, Task
from demele.runtime.work import time_left
from demele.scoring.evaluate import evaluate
from demele.studies.folders import GridPlan, Records, Stage, StudyFolder, record_or_reason, trained_in_stages
from demele.studies.study import STUDY, Configuration, Study, codes_digest, read_codes, write_codes

#: What the grid of strengths is of, by objective; the others have none.
STRENGTHS: Mapping[str, str] = {
    **dict.fromkeys(("beta_vae", "beta_tcvae", "ada_gvae", "ada_mlvae"), "beta"),
    "capacity": "c_max",
    "factor_vae": "gamma",
    **dict.fromkeys(("dip_vae_i", "dip_vae_ii"), "lambda_od"),
}
#: The 17 of the printed study, in its order.
METRICS = published_agreement("cars3d").metrics
#: Strengths and numbers of codes of the printed study; of the first try, four that differ in all that can go wrong.
_BETAS, _LATENTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0), (2, 4, 8, 16, 32, 64)
_GRIDS: Mapping[str, tuple[tuple[float, ...], tuple[int, ...]]] = {"ci": ((0.1, 1.0, 4.0, 100.0), (6,))}
#: Scored rows, drawn once for all models.
MOST_ROWS = 5000
#: Step, kind and metric of a score.
Place = tuple[int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyPlan(GridPlan[Study]):
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
        Seed of all draws outside the trainings.
    model, training : mapping
        Arguments of every model, and of its training.
    train : callable(Job) -> Record, or None
        Leaves a file of codes for each of ``steps``, and returns what becomes of the training; by default a VAE is
        trained.
    """

    kept: ClassVar = STUDY
    configurations: tuple[Configuration, ...]
    images: ImageSet
    preset: str
    steps: tuple[int, ...]
    rows: Counts
    metrics: tuple[str, ...]
    kinds: tuple[str, ...]
    protocol: str
    codes: str
    seed: int
    model: Mapping[str, Any]
    training: Mapping[str, Any]
    train: "Callable[[Job], Record] | None" = None

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

    def content(self) -> dict[str, Any]:
        """Return the settings that describe all results, and the models, as plain values."""
        images, names = self.images, ("metrics", "kinds", "protocol", "codes", "seed", "model", "training")
        settings = {
            "preset": self.preset,
            "images": images.name,
            "provenance": images.provenance,
            "shape": images.shape,
            "n_images": len(images),
            "n_factors": images.factors([0]).shape[1],
            "steps": self.steps,
            "scored_rows": len(self.rows),
            **{name: getattr(self, name) for name in names},
        }
        models = [{"id": one.identified(self.identity), **asdict(one)} for one in self.configurations]
        return {"settings": plain(settings), "configurations": models}

    def job(self, configuration: Configuration, folder: Path) -> "Job":
        """Return the job of one model; its files are in their own folder."""
        identifier = configuration.identified(self.identity)
        return Job(id=identifier, configuration=configuration, plan=self, folder=folder / identifier)

    @property
    def scored(self) -> list[Place]:
        """The scores of a model: at every step against the factors, at the last against all."""
        places = [*((step, "real") for step in self.steps), *((self.steps[-1], kind) for kind in self.kinds[1:])]
        return [(*place, metric) for place in places for metric in self.metrics]

    def stages(self, folder: Path, done: Records) -> Iterator[Stage]:
        """Yield all tasks: all records of one model go together, in one process."""
        tasks = list[Task[tuple[Job, Place | None]]]()
        for configuration in self.configurations:
            job = self.job(configuration, folder)
            label = f"{configuration.name}, seed {configuration.seed}"
            how: Any = {"together": job.id, "label": label, "seed": configuration.seed}
            tasks.append(Task(key=("train", job.id), about=(job, None), weight=self.steps[-1] / 170, **how))
            how["weight"] = seconds_of_score(configuration.latents, len(self.rows))
            tasks += [Task(key=("score", job.id, *place), about=(job, place), **how) for place in self.scored]
        yield Stage("models to train", worked, tasks)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """All that is needed to train one model and to score its codes, here or in another process.

    Attributes
    ----------
    id : str
    configuration : Configuration
    plan : StudyPlan
    folder : Path
        For the model's files.
    """

    id: str
    configuration: Configuration
    plan: StudyPlan
    folder: Path

    def codes_file(self, step: int) -> Path:
        """Return where the codes after some steps are."""
        return self.folder / f"codes-{step}.npz"

    def model(self) -> VAE:
        """Return the model, untrained."""
        own = self.configuration
        return VAE(own.objective, latents=own.latents, **{**self.plan.model, **own.options})


def seconds_of_score(latents: int, rows: int) -> float:
    """Return about how many CPU seconds one of the 17 scores takes: the forests of DCI, by far, take the longest."""
    return (2.5 + 0.19 * latents) * rows / MOST_ROWS / len(METRICS)


@kinds.checked
def checked_plan(
    data: ImageSet | str | Path | None,
    *,
    image_size: int | None,
    betas: Sequence[float] | None,
    latents: Sequence[int] | None,
    seeds: kinds.Count,
    preset: str,
    objective: str,
    options: Mapping[str, Any] | None,
    beta_scale: str,
    steps: int | None,
    checkpoints: Sequence[float],
    metrics: Sequence[str] | None,
    protocol: str,
    n_rows: Annotated[int, kinds.at_least(20)],
    nulls: kinds.CountOrNone,
    halves: bool,
    codes: Literal["mean", "sampled"],
    seed: kinds.Seed,
) -> StudyPlan:
    """Check every argument of :func:`demele.lab.model_family`, and return the plan; nothing is trained.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, MissingExtraError
    """
    from demele.models.vae.objectives import objective_of
    from demele.models.vae.train import check_size

    chosen = preset_named(preset)
    if not isinstance(data, ImageSet | str | Path | None):
        raise InputTypeError("data", f"expected an image set, got {type(data).__name__}; see demele.data.sprites")
    images = named_images(chosen.images() if data is None else data, image_size)
    last = kinds.checked_count(chosen.steps if steps is None else steps, "steps", 10)
    if len(images) < 20:
        raise InputError("data", f"expected 20 or more images, got {len(images)}")
    shares = [kinds.checked_share(one, "checkpoints", 0, 1) for one in _listed(checkpoints, (), "checkpoints")]
    order = rng_for(seed, "study", "rows").permutation(len(images))  # in no order: halves of them are samples too
    names = tuple(METRICS if metrics is None else map(resolve, _listed(metrics, (), "metrics")))
    if len(names) < 2:
        raise InputError("metrics", "expected two or more: a study measures their agreement")
    protocol_named(protocol)
    objective_of(objective)
    usual, strength = _GRIDS.get(chosen.name, (_BETAS, _LATENTS)), STRENGTHS.get(objective)
    if strength is None and betas is not None:
        raise InputError("betas", f"{objective} has no strength to vary; objectives that have: {', '.join(STRENGTHS)}")
    given = {**chosen.options.get(objective, {}), **(options or {})}
    strengths: list[dict[str, Any]] = [{}]
    if strength is not None:
        strengths = [
            {strength: kinds.checked_size(one, "betas", zero=True)} for one in _listed(betas, usual[0], "betas")
        ]
    sizes = [kinds.checked_count(one, "latents", 1) for one in _listed(latents, usual[1], "latents")]
    plan = StudyPlan(
        configurations=tuple(
            Configuration(objective=objective, options={**given, **own}, latents=d, seed=number)
            for number in range(seeds)
            for own in strengths
            for d in sizes
        ),
        images=images,
        preset=chosen.name,
        steps=tuple(sorted({max(1, round(share * last)) for share in shares} | {last})),
        rows=np.asarray(order[:n_rows], dtype=np.int64),
        metrics=names,
        kinds=(
            "real",
            *(f"null-{number}" for number in range(nulls)),
            *(("half-0", "half-1") if halves else ()),
        ),
        protocol=protocol,
        codes=codes,
        seed=seed,
        model={"network": chosen.network, "init": chosen.init, "beta_scale": beta_scale},
        training={**chosen.training, "steps": last},
    )
    check_size(chosen.network, images.shape)
    if plan.training["batch"] > len(images):
        raise InputError("data", f"expected at least a batch of {plan.training['batch']} images, got {len(images)}")
    for configuration in plan.configurations:
        if configuration.seed == 0:
            plan.job(configuration, Path()).model()  # what cannot be made is refused before an hour of training
    return plan


def _listed(given: Sequence[Any] | None, usual: Sequence[Any], argument: str) -> list[Any]:
    if given is None:
        return list(usual)
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
        raise InputTypeError(argument, f"expected a list of numbers, got {quoted(given)}")
    check_distinct(given, argument, "different ones")
    return list(given)


# Training -------------------------------------------------------------------------------------------------------------


def train_vae(job: Job) -> Record:
    """Train a model, keep its codes after each stage, and return what became of it.

    Raises
    ------
    InputError, OutputError, FormatError
        If files cannot be read or written.
    """
    import torch

    from demele.models.training import checked_device, computing

    plan, checkpoint, last = job.plan, job.folder / "checkpoint.pt", job.plan.steps[-1]

    def fit(vae: VAE, step: int) -> tuple[str, int]:
        run = vae.fit(
            plan.images, **{**plan.training, "steps": step}, seed=job.configuration.seed, checkpoint=checkpoint
        )
        return run.status, run.steps

    def keep(vae: VAE, path: Path) -> None:
        sample = vae.encode(plan.images, plan.rows, plan.codes, seed=plan.seed)  # type: ignore[arg-type]
        std = sample.codes_std if path == job.codes_file(last) else None
        write_codes(path, sample.codes.to_numpy(), None if std is None else std.to_numpy())

    with computing(threads=1, device=checked_device("auto"), gradients=True):
        files = {step: job.codes_file(step) for step in plan.steps}
        run: Any = trained_in_stages(checkpoint, files, job.model, fit, keep).run
    kept = {str(step): codes_digest(*read_codes(path, len(plan.rows))) for step, path in files.items() if path.exists()}
    own = {name: getattr(run, name) for name in _OF_RUN} | {name: list(getattr(run, name)) for name in ("kl", "std")}
    record = {**own, "reason": run.problem, "active": int(run.active.sum()), "codes": kept}
    return {**plain(record), "torch": str(torch.__version__)}


#: What a record keeps of a run.
_OF_RUN = (
    *("status", "steps", "seconds", "reconstruction", "floor", "total_correlation", "largest_logvar"),
    *("parameters", "beta_normalised"),
)

# Scores ---------------------------------------------------------------------------------------------------------------


def worked(wanted: tuple[tuple[Job, Place | None], ...]) -> list[Record]:
    """Return the records that are wanted of one model, in their order; nothing is scored twice, or in vain."""
    job, places = wanted[0][0], dict[tuple[int, str], list[str]]()
    training = record_or_reason(job.plan.train or train_vae, job)
    for _, place in wanted:
        if place is not None:
            places.setdefault(place[:2], []).append(place[2])
    found = {place: scored(job, *place, metrics, training) for place, metrics in places.items()}
    return [training if place is None else found[place[:2]][place[2]] for _, place in wanted]


def scored(job: Job, step: int, kind: str, metrics: Sequence[str], training: Record) -> dict[str, Record]:
    """Return the scores of the codes of one stage, a record for each metric: null with a reason where there is none."""
    if str(step) not in training.get("codes", {}):
        reason = training["reason"] or f"the training ended as {training['status']} before step {step:,}"
        return {metric: {"value": None, "reason": reason} for metric in metrics}
    mean, std = read_codes(job.codes_file(step), len(job.plan.rows))
    n = len(job.plan.rows)  # in no order, so that halves of them are samples too
    chosen = {"half-0": slice(n // 2), "half-1": slice(n // 2, n)}.get(kind, slice(n))
    try:
        found = evaluate(
            Codes(mean[chosen].astype(np.float64), std=None if std is None else std[chosen].astype(np.float64)),
            seen_factors(job, kind, chosen),
            list(metrics),
            protocol=job.plan.protocol,
            seed=job.plan.seed,
        )
    except DemeleError as error:  # such as codes that are all alike
        return {metric: {"value": None, "reason": str(error)} for metric in metrics}
    whole = kind == "real" and step == job.plan.steps[-1]
    return {metric: _score_record(found, metric, whole=whole) for metric in metrics}


def seen_factors(job: Job, kind: str, chosen: slice) -> "pd.DataFrame":
    """Return the factors that codes are scored against; for a null, those of other rows, kept together.

    Each model has a permutation of its own: one for all would be noise that their scores share.
    """
    rows = job.plan.rows[chosen]
    if kind.startswith("null-"):
        rows = rng_for(job.plan.seed, "study", kind, job.id).permutation(rows)
    return job.plan.images.factors(rows)


def _score_record(found: Evaluation, metric: str, *, whole: bool) -> Record:
    """Return the stored part of a score; ``whole``: with its native values, its notes, and its signature."""
    left_out = {item.metric: item.reason for item in found.left_out}
    if metric in left_out:
        return {"value": None, "reason": left_out[metric]}
    score = found[metric]
    record = {"value": plain(float(score.value)), "seconds": plain(score.seconds)}
    if record["value"] is None:
        record["reason"] = "; ".join(note.message for note in score.notes) or "undefined"
    native = {"native": plain(score.native), "notes": [note.code for note in score.notes]}
    return record | ({**native, "signature": str(score.signature)} if whole else {})


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
        rows = [(title_of(quantity), float(value)) for quantity, value in asdict(self).items()]
        return pd.DataFrame(rows, columns=["quantity", "value"])


def estimated(plan: StudyPlan) -> Estimate:
    """Return what a study would take; a few steps of its model of middle size are made and timed."""
    sizes = sorted(one.latents for one in plan.configurations)
    middle = next(one for one in plan.configurations if one.latents == sizes[len(sizes) // 2])
    vae, moments = plan.job(middle, Path()).model(), list[float]()
    training = {**plan.training, "steps": 2 * _TIMED}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        vae.fit(plan.images, **training, checkpoint=path, on_event=lambda _: moments.append(time.process_time()))
        kept = path.stat().st_size
    each = (moments[-1] - moments[-1 - _TIMED]) / _TIMED
    each_score = [seconds_of_score(one.latents, len(plan.rows)) for one in plan.configurations]
    codes = sum(4 * len(plan.rows) * one.latents * (len(plan.steps) + 1) for one in plan.configurations)
    return Estimate(
        models=len(plan.configurations),
        scores=len(plan.scored) * len(plan.configurations),
        training_seconds=each * plan.steps[-1] * len(plan.configurations),
        scoring_seconds=len(plan.scored) * sum(each_score),
        megabytes=(codes + kept * len(plan.configurations)) / 1e6,
    )


# A family of models that differ in two settings, trained and scored ---------------------------------------------------

#: Arguments of :func:`model_family` that say where and how to work.
_WHERE = ("store", "n_jobs", "executor")


def model_family(
    data: Annotated[ImageSet | str | Path | None, kinds.Kind("IMAGES", is_file=True)] = None,
    *,
    image_size: int | None = None,
    betas: Sequence[float] | None = None,
    latents: Sequence[int] | None = None,
    seeds: int = 1,
    preset: Literal["ci", "embedded", "embedded-room", "print"] = "embedded",
    objective: str = "beta_vae",
    options: Mapping[str, Any] | None = None,
    beta_scale: Literal["raw", "per_pixel"] = "raw",
    steps: int | None = None,
    checkpoints: Sequence[float] = (0.2, 0.5, 1),
    metrics: Sequence[str] | None = None,
    protocol: str = DEFAULT_PROTOCOL,
    n_rows: int = MOST_ROWS,
    nulls: int = 1,
    halves: bool = True,
    codes: Literal["mean", "sampled"] = "mean",
    seed: int = 0,
    store: StudyFolder = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
) -> Study:
    """Train a family of models, score them with many metrics, and measure the agreement of the metrics.

    Models of one family that differ in the strength of a penalty and in their number of codes: metrics that agree about
    those do not only tell good models from bad ones.

    Parameters
    ----------
    data : ImageSet, str or Path, optional
        Images: a drawn set, a file or folder (default: by preset).
    image_size : int, optional
        Height and width (default: as the images are).
    betas : sequence of float, optional
        Strengths of the penalty (default: by preset). They are beta, or of other objectives c_max, gamma or lambda_od:
        0.001, 0.01, 0.1, 1, 10, 100; of the preset ci 0.1, 1, 4, 100.
    latents : sequence of int, optional
        Numbers of codes (default: by preset). They are 2, 4, 8, 16, 32, 64; of the preset ci 6.
    seeds : int, default 1
        Trainings of each configuration. All first seeds are trained before the second ones.
    preset : {"ci", "embedded", "embedded-room", "print"}
        Images, network and training that go together. ``ci``: 4 models of 16 x 16 sprites, less than a minute: the
        first try. ``embedded``: 36 models of 32 x 32 sprites, about half an hour on two cores. ``embedded-room``: the
        same on a coloured room. ``print``: published network and training, for ``data`` of 64 x 64, with a GPU.
    objective : str, default "beta_vae"
        Objective, as of demele lab vae train.
    options : mapping, optional
        Options of the objective, as of :class:`demele.lab.VAE`.
    beta_scale : {"raw", "per_pixel"}, default "raw"
        Scale of the penalty; per_pixel: as at 64 x 64 x 3.
    steps : int, optional
        Steps of each training (default: by preset).
    checkpoints : sequence of float, default (0.2, 0.5, 1)
        Shares of the steps after which codes are scored.
    metrics : sequence of str, optional
        Metrics to compute (default: the 17 of the published study).
    protocol : str, default "review2022"
        Named settings of the metrics.
    n_rows : int, default 5000
        Images whose codes are scored. They are drawn once for all models.
    nulls : int, default 1
        Scores of each metric against permuted factors.
    halves : bool, default True
        Whether either half of the rows is scored too.
    codes : {"mean", "sampled"}, default "mean"
        Codes to score.
    seed : int, default 0
        Random seed. Trainings have the seeds 0, 1, ...
    store : str or Path, optional
        Folder that keeps the study. A killed study continues where it was, to the same bits; a later one with
        more betas, latents, seeds, metrics or nulls adds to it.
    n_jobs : int, default 1
        Processes, -1 for all processors. Rows are the same bits for any number.
    executor : concurrent.futures.Executor, optional
        Where to work instead; it must see the folder.

    Returns
    -------
    Study

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        Before anything is trained; also if the folder is of another study, or another process writes to it.
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    A training that diverges, or fails, is a row with its reason, and the rest goes on. After Boilard's review, section
    2.3, where 36 beta-VAEs were trained on Cars3D and SmallNORB.

    Examples
    --------
    >>> from demele import lab
    >>> found = lab.model_family(preset="ci", betas=[0.1, 100], latents=[2], steps=10, metrics=["mig", "sap"])
    >>> [model.status for model in found.models], len(found.scores)
    (['done', 'done'], 24)
    """
    settings = dict(locals())
    where = {name: settings.pop(name) for name in _WHERE}
    return checked_plan(**settings).run(**where)


def plan_model_family(data: ImageSet | str | Path | None = None, **settings: Any) -> StudyPlan:
    """Return what :func:`model_family` would train and score with some of its arguments; it has the same defaults.

    Parameters
    ----------
    data : ImageSet, str or Path, optional
    **settings
        Arguments of :func:`model_family` but those that say where and how to work.

    Returns
    -------
    StudyPlan

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, MissingExtraError
    TypeError
        For an argument that it does not have.

    Examples
    --------
    >>> plan = plan_model_family(preset="ci", seeds=2)
    >>> len(plan.configurations), plan.steps
    (8, (200, 500, 1000))
    """
    bound = inspect.signature(model_family).bind(data, **settings)
    bound.apply_defaults()
    return checked_plan(**{name: value for name, value in bound.arguments.items() if name not in _WHERE})
