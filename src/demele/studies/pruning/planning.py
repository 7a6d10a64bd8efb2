"""Fabrics pruned in many ways, with true and wrong labels: the plan and its tasks."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from demele.classifiers.comparison.compare import compare, rank
from demele.classifiers.comparison.methods import HardRows
from demele.core.arrays import Counts, Floats
from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, quoted, warn_user
from demele.core.kinds import checked_count, checked_name
from demele.core.outputs import write_whole
from demele.core.reading import read_whole
from demele.core.result import plain
from demele.core.table_columns import check_distinct
from demele.core.version import __version__
from demele.data.images import ImageSet
from demele.models.fabric.annotators import fabric_preset
from demele.models.fabric.lattice import CAP, Lattice, scales_of
from demele.models.fabric.model import Fabric
from demele.runtime.sweep import Record, Task
from demele.studies.fabrics import Classes, LabelNoise, Part, Source, checked_source
from demele.studies.folders import GridPlan, Records, Stage, StudyFolder, record_or_reason, trained_in_stages
from demele.studies.pruning.configurations import CI, CLAIMS, EMBEDDED, PRINT, WHOLE, PruningConfiguration, Times
from demele.studies.pruning.study import PRUNING, TRUE, PruningStudy

#: Settings of a preset other than structure and training.
_USUAL: Mapping[str, Mapping[str, Any]] = {
    "ci": {
        "configurations": CI,
        "times": Times(early=1, every=1, late=3),
        "noises": ("none",),
        "seeds": 1,
        "source": partial(Source.clutter, level=1, n=1000, held=100, test=1000),
    },
    "embedded": {
        "configurations": EMBEDDED,
        "times": Times(early=3, every=2, late=7),
        "noises": ("none", "visibility:0.1", "visibility:0.2"),
        "seeds": 5,
        "source": partial(Source.clutter, level=3, n=6000, held=600, test=10_000),
    },
    "print": {
        "configurations": PRINT,
        "times": Times(early=5, every=10, late=75),
        "noises": ("none", "uniform:0.1", "uniform:0.2"),
        "seeds": 1,
        "source": None,
    },
}
#: Share of a user's images of the training that is held out for criteria.
_HELD = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningPlan(GridPlan[PruningStudy]):
    """All that a study trains, prunes and decides.

    Attributes
    ----------
    preset : str
    configurations : tuple of PruningConfiguration
        Without the whole fabric, which is always there.
    noises : tuple of LabelNoise
    seeds : int
    source : Source
    structure, training : mapping
    times : Times
    """

    kept: ClassVar = PRUNING
    preset: str
    configurations: tuple[PruningConfiguration, ...]
    noises: tuple[LabelNoise, ...]
    seeds: int
    source: Source
    structure: Mapping[str, Any]
    training: Mapping[str, Any]
    times: Times

    @property
    def identity(self) -> dict[str, str | int]:
        """What all records have in common: a store of another identity is not of this study."""
        return {
            "demele": __version__,
            "study": "pruning",
            "preset": self.preset,
            "times": f"{self.times.early} {self.times.every} {self.times.late}",
            "source": f"{self.source.train.digest} {self.source.test.digest} {self.source.held}",
            **{f"structure_{name}": repr(value) for name, value in sorted(self.structure.items())},
            **{f"training_{name}": repr(value) for name, value in sorted(self.training.items())},
        }

    def content(self) -> dict[str, Any]:
        """Return what a reader of the results wants to know, as plain values."""
        names = ("structure", "training", "times", "noises", "configurations", "seeds")
        rest = plain({name: getattr(self, name) for name in names})
        return {"settings": {"preset": self.preset, "data": self.source.about(), **rest}}

    def stages(self, folder: Path, done: Records) -> Iterator[Stage]:
        """Yield whole fabrics, then pruned ones, then decisions about those that are there."""
        whole, ways = self._fabrics(folder, WHOLE), self._fabrics(folder, *self.configurations)
        yield Stage("whole fabrics to train", trained_or_pruned, whole, (0.0, 0.3))
        yield Stage("fabrics to prune", trained_or_pruned, ways, (0.3, 0.99))
        decisions = []
        for seed, noise in itertools.product(range(self.seeds), self.noises):
            own = [task for task in (*whole, *ways) if (task.about.seed, task.about.noise) == (seed, noise)]
            jobs = [task.about for task in own if done.get(task.key, {}).get("status") == "done"]
            if len(jobs) < 2 or any(task.key not in done for task in own):
                continue
            # the key names the number of fabrics, so that a decision is made again when there are more
            key, label = ("decisions", noise.name, seed, len(jobs)), f"decisions, labels {noise.name}, seed {seed}"
            decisions.append(Task(key=key, about=jobs, seed=seed, label=label))
        yield Stage("seeds to decide", decided, decisions, (0.99, 1.0))

    def _fabrics(self, folder: Path, *ways: PruningConfiguration) -> list[Task[PruningJob]]:
        """Return the fabrics to train or to prune, such that a study that is stopped is balanced: seed by seed."""
        tasks, last = [], self.training["epochs"]
        for seed, noise, way in itertools.product(range(self.seeds), self.noises, ways):
            own = folder / f"{_file_name(noise.name)}-{seed}"
            job = PruningJob(configuration=way, noise=noise, seed=seed, plan=self, folder=own)
            begins = 0 if way.strategy == "whole" else self.times.steps(way.strategy)[0][0]
            label = f"{way.name}, labels {noise.name}, seed {seed}"
            key = ("fabric", noise.name, way.name, seed)
            tasks.append(Task(key=key, about=job, seed=seed, weight=float(last - begins), label=label))
        return tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningJob:
    """One fabric of a study.

    Attributes
    ----------
    configuration : PruningConfiguration
    noise : LabelNoise
    seed : int
    plan : PruningPlan
    folder : Path
        Folder of all fabrics of this seed under this noise.
    """

    configuration: PruningConfiguration
    noise: LabelNoise
    seed: int
    plan: PruningPlan
    folder: Path

    @property
    def stages(self) -> tuple[int, ...]:
        """After which epochs the whole fabric is kept: where pruning begins, and the end."""
        last, times = self.plan.training["epochs"], self.plan.times
        return tuple(sorted({one for one in (times.early, times.late) if one < last} | {last}))

    def kept(self, epoch: int) -> Path:
        """Return where the whole fabric after an epoch is."""
        return self.folder / f"whole-{epoch}.pt"

    @property
    def predictions(self) -> Path:
        """Where the predictions on the images of the test are."""
        return self.folder / f"{_file_name(self.configuration.name)}.predictions"


def _file_name(name: str) -> str:
    return name.replace(" ", "-").replace("%", "")


def checked_plan(
    data: Any,
    *,
    preset: str,
    configurations: Sequence[PruningConfiguration] | None,
    noises: Sequence[str] | None,
    seeds: int | None,
) -> PruningPlan:
    """Check every argument of :func:`demele.lab.pruning_study`, and return the plan; nothing is trained.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    checked_name(preset, "preset", _USUAL)
    usual, trained = _USUAL[preset], fabric_preset(preset)
    if data is None and usual["source"] is None:
        raise InputError("data", f"preset {preset!r} needs images: (training, test), such as those of CIFAR-10")
    source: Source = usual["source"]() if data is None else checked_source(data, _HELD)
    given = usual["noises"] if noises is None else noises
    if isinstance(given, str | bytes) or not isinstance(given, Sequence) or not given:
        raise InputTypeError("noises", f"expected a list such as ['none', 'uniform:0.2'], got {quoted(given)}")
    found = tuple(map(LabelNoise.of, given))
    check_distinct([one.name for one in found], "noises", "different ones")
    if data is not None and any(one.kind == "visibility" for one in found):
        raise InputError(
            "noises", "'visibility' is known of clutter alone; others take 'uniform:RATE' or 'resubstitution:RATE'"
        )
    about = source.about()
    structure = {
        "layers": trained.layers,
        "scales": trained.scales if data is None else scales_of(about["shape"], "data"),
        "channels": trained.channels,
        "image_channels": about["shape"][2],
        "classes": about["classes"],
    }
    ways = _configurations(usual["configurations"] if configurations is None else configurations)
    return PruningPlan(
        preset=preset,
        configurations=_run_once(ways, Lattice.whole(structure["layers"], structure["scales"])),
        noises=found,
        seeds=usual["seeds"] if seeds is None else checked_count(seeds, "seeds", 1),
        source=source,
        structure=structure,
        training=dict(trained.training),
        times=usual["times"],
    )


def _run_once(ways: tuple[PruningConfiguration, ...], lattice: Lattice) -> tuple[PruningConfiguration, ...]:
    """Keep the first of ways to prune once that end in one network, since as many links or weights must stay; say so.

    Ways to prune in steps are kept: their steps differ.
    """
    links = len(lattice.links)
    found: dict[Hashable, list[PruningConfiguration]] = {}
    for way in ways:
        shares = way.shares()
        reached: Hashable = way
        if way.strategy != "iterative":
            gone = min(round(shares.get("links", 0.0) * links), links - lattice.longest)
            masked = shares.get("weights", 0.0)
            cap = CAP if way.fraction_of == "live" else 1.0
            reached = (way.strategy, way.level, way.criterion, gone, min(masked, cap))
        found.setdefault(reached, []).append(way)
    for first, *others in found.values():
        if others:
            warn_user(
                f"{first.name!r} and {', '.join(repr(one.name) for one in others)} end in one network, because "
                f"{lattice.longest} of {links} links and {1 - CAP:.0%} of each kernel must stay; it is run once, as "
                "the first of them",
                DemeleWarning,
            )
    return tuple(first for first, *_ in found.values())


def _configurations(given: Any) -> tuple[PruningConfiguration, ...]:
    from demele.models.fabric.criteria import CRITERIA, OF_WEIGHTS

    if not isinstance(given, Sequence) or not all(isinstance(one, PruningConfiguration) for one in given):
        raise InputTypeError("configurations", f"expected a list of PruningConfiguration, got {quoted(given)}")
    found = tuple(one for one in given if one.strategy != "whole")
    if not found:
        raise InputError("configurations", "expected at least one that prunes")
    check_distinct([one.name for one in found], "configurations", "different ones")
    for one in found:
        checked_name(one.criterion, "configurations", sorted(CRITERIA))
        if "weights" in one.level and one.criterion not in OF_WEIGHTS:
            raise InputError("configurations", f"{one.criterion!r} scores links, and no weights: {one.name}")
    return found


def pruning_study(
    data: tuple[ImageSet, ImageSet] | None = None,
    *,
    preset: Literal["ci", "embedded", "print"] = "embedded",
    configurations: Sequence[PruningConfiguration] | None = None,
    noises: Sequence[str] | None = None,
    seeds: int | None = None,
    store: StudyFolder = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
) -> PruningStudy:
    """Prune fabrics in many ways, with true and wrong labels, and test which way is better.

    A whole fabric is trained for each seed under each label noise; every way to prune begins with it, so that ways are
    compared in pairs. All train for the same number of epochs. What print claims about them is then tested twice: over
    seeds, and by comparisons on a test set whose labels are wrong as those of the training are.

    Parameters
    ----------
    data : (ImageSet, ImageSet), optional
        Of training and test; their first factor is the class. By default glyphs among clutter.
    preset : {"ci", "embedded", "print"}
        Structure, training, ways and noises that go together. ``"embedded"``: 22 ways, 5 seeds, three noises, some 40
        minutes on two cores. ``"ci"``: seconds, to see it at work. ``"print"``: the 18 published ways and their
        control, 200 epochs, for a GPU and your own images of 32 x 32.
    configurations : sequence of PruningConfiguration, optional
        Other ways.
    noises : sequence of str, optional
        Label noises: none, uniform:RATE, visibility:RATE or resubstitution:RATE (default: by preset). See
        :func:`demele.data.clutter_labels`.
    seeds : int, optional
        Whole fabrics under each noise (default: by preset).
    store : str or Path, optional
        Folder that keeps the study. A study that was killed goes on where it was, to the same bits; a later one with
        more seeds, noises or ways adds to it.
    n_jobs : int, default 1
        Processes, -1 for all processors. Each has one thread. Rows are the same bits for any number.
    executor : concurrent.futures.Executor, optional
        Where to work instead; it must see the folder.

    Returns
    -------
    PruningStudy

    Warns
    -----
    DemeleWarning
        If several shares end in one network, because as many links or weights must stay: it is run once. The early and
        late ways of ``"print"`` do.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        Before anything is trained; also if the folder is of another study, or another process writes to it.
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    Source: Benjelloun, sections 7.5 to 7.8, on other images and with a smaller fabric; ``"late"`` is after 7 of 10
    epochs, as it is there just before the rate falls.

    Examples
    --------
    >>> from demele import lab
    >>> found = lab.pruning_study(preset="ci")
    >>> len(found.to_frame())
    4
    >>> bool(found.to_frame()["error"].max() < 0.9)
    True
    """
    plan = checked_plan(data, preset=preset, configurations=configurations, noises=noises, seeds=seeds)
    return plan.run(store, n_jobs, executor)


# Trainings ------------------------------------------------------------------------------------------------------------


def trained_or_pruned(jobs: tuple[PruningJob, ...]) -> list[Record]:
    """Return a record for each fabric."""
    return [record_or_reason(_one, job) for job in jobs]


def _one(job: PruningJob) -> Record:
    """Train a whole fabric and keep it where pruning begins; or continue from there, prune, and train to the end."""
    from demele.models.training import checked_device, computing

    training, judged, test = job.plan.source.split(job.seed, job.noise)
    last, times, way = job.plan.training["epochs"], job.plan.times, job.configuration
    work, reached, before = 0, 0, dict[str, float]()
    checkpoint = job.folder / "checkpoint.pt" if way.strategy == "whole" else None

    def fit(fabric: Fabric, epochs: int) -> tuple[str, int]:
        nonlocal work, reached
        work, reached = work + (epochs - reached) * fabric.counts().multiply_adds, epochs
        options = {**job.plan.training, "epochs": epochs, "seed": job.seed}
        run = fabric.fit(training.images, training.labels, **options, checkpoint=checkpoint)
        return run.status, run.epochs

    with computing(threads=1, device=checked_device("auto"), gradients=True):
        if checkpoint is not None:
            begin = partial(Fabric, **job.plan.structure, seed=job.seed)
            fabric = trained_in_stages(checkpoint, {one: job.kept(one) for one in job.stages}, begin, fit, Fabric.save)
        else:
            steps = times.steps(way.strategy)
            fabric = Fabric.load(job.kept(steps[0][0]))
            for epoch, part in steps:
                if fit(fabric, epoch)[0] == "diverged":
                    break
                for level, share in way.shares().items():
                    of = "whole" if level == "links" else way.fraction_of
                    fabric.prune(level, part * share, way.criterion, *judged[:2], fraction_of=of, seed=job.seed)  # type: ignore[arg-type]
                if epoch == steps[-1][0]:
                    before["raw"] = fabric.error(test.images, test.true)
                fabric.recalibrate(training.images, batch=job.plan.training["batch"])
                if epoch == steps[-1][0]:
                    before["recalibrated"] = fabric.error(test.images, test.true)
            else:
                fit(fabric, last)
        if fabric.run.status == "diverged":
            return {"status": "diverged", "reason": fabric.run.problem}
        return _judged(job, fabric, training, test, work=work, before=before)


# What is kept of a fabric ---------------------------------------------------------------------------------------------


def _judged(
    job: PruningJob, fabric: Fabric, training: Part, test: Part, *, work: int, before: Mapping[str, float]
) -> Record:
    """Return what is said of a fabric at its end, and keep its predictions.

    The cost of a training is given in multiplications per image: seconds would depend on other load of the machine.
    ``wrong_again`` and ``right_again`` are F_n and F_c: the shares of wrong labels, and of right ones, that the
    predictions give again.
    """
    counts, alive, again = fabric.counts(), set(fabric.lattice.links), dict[str, float | None]()
    predicted = fabric.predict(test.images)
    write_whole(job.predictions, predicted.astype("<u2").tobytes())
    for where, images, found in (("test", test, predicted), ("training", training, fabric.predict(training.images))):
        wrong, same = images.labels != images.true, found == images.labels
        again[f"wrong_again_{where}"] = float(same[wrong].mean()) if wrong.any() else None
        again[f"right_again_{where}"] = float(same[~wrong].mean())
    return plain(  # type: ignore[no-any-return]
        {
            "status": "done",
            "reason": "",
            "error": float(np.mean(predicted != test.true)),
            "given_error": float(np.mean(predicted != test.labels)),
            **before,
            **again,
            "links": counts.links,
            "parameters": counts.parameters,
            "kept_weights": counts.nonzero,
            "multiply_adds": counts.multiply_adds,
            "alive": "".join("1" if link in alive else "0" for link in fabric.spec.lattice().links),
            "training_work": work,
            "seconds": fabric.run.seconds,
            "training_error": fabric.run.history["error"].tolist(),
        }
    )


def read_predictions(path: Path, n: int) -> Classes:
    """Return the predictions that a fabric left.

    Raises
    ------
    NotEnoughData
        If it is not there any more, or of another length.
    """
    try:
        found = np.frombuffer(read_whole(path), dtype="<u2").astype(np.int64)
    except (OSError, ValueError) as error:
        raise NotEnoughData(f"{path}: the predictions of a fabric cannot be read; restart the study") from error
    if len(found) != n:
        raise NotEnoughData(f"{path}: expected {n} predictions, got {len(found)}; restart the study")
    return found


# Decisions ------------------------------------------------------------------------------------------------------------


def decided(tasks: tuple[Sequence[PruningJob], ...]) -> list[Record]:
    """Return the decisions about the fabrics of each seed under a noise."""
    return list(map(_decided, tasks))


def _decided(jobs: Sequence[PruningJob]) -> Record:
    """Decide every pair that a claim is about, the second being the candidate, and rank all fabrics.

    The noise rate is known to the methods that ask for it, as it is to who made the noise: that of the test where a
    fabric made it.
    """
    noise = jobs[0].noise
    test = jobs[0].plan.source.split(jobs[0].seed, noise)[2]
    rate = float(np.mean(test.labels != test.true)) if noise.kind == "resubstitution" else noise.rate
    predictions = {job.configuration.name: read_predictions(job.predictions, len(test.true)) for job in jobs}
    asked: dict[str, tuple[Classes, dict[str, Any]]] = {
        "overlap": (test.labels, {"method": "overlap"}),
        "worst-case-overlap": (test.labels, {"method": "worst-case-overlap", "noise": rate}),
        "hard-rows": (test.labels, {"method": HardRows(disagreement(np.stack(list(predictions.values()))), rate)}),
        "worst-case": (test.labels, {"method": "worst-case", "noise": rate}),
        TRUE: (test.true, {"method": "worst-case", "noise": 0.0}),
    }
    pairs = dict.fromkeys(pair for claim in CLAIMS if claim.measure == "error" for pair in claim.pairs)
    found = {
        f"{first} | {second}": {
            method: compare(predictions[first], predictions[second], labels, **known).verdict
            for method, (labels, known) in asked.items()
        }
        for first, second in pairs
        if first in predictions and second in predictions
    }
    ranks = {}
    for method in ("overlap", "worst-case", TRUE):
        labels, known = asked[method]
        own = rank(dict[str, object](predictions), labels, **known)
        places = zip(own.names, own.best_rank, own.worst_rank, strict=True)
        ranks[method] = {name: [int(best), int(worst)] for name, best, worst in places}
    return {"pairs": found, "ranks": ranks}


def disagreement(predictions: Counts) -> Floats:
    """Return of each image the share of models that do not predict what most of them do: no label is looked at.

    Parameters
    ----------
    predictions : array of int of shape (n_models, n_images)

    Examples
    --------
    >>> disagreement(np.array([[0, 1], [0, 2], [0, 2], [1, 2]])).tolist()
    [0.25, 0.25]
    """
    classes = np.arange(int(predictions.max()) + 1)
    votes = (predictions[None] == classes[:, None, None]).sum(axis=1)
    return np.asarray(1 - votes.max(axis=0) / len(predictions))
