"""The work of a study of pruning: a fabric trained or pruned, and decisions by a test set with wrong labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.comparison.compare import compare
from demele.classifiers.comparison.method_options import HardRows
from demele.classifiers.comparison.ranking import rank
from demele.core.errors import DemeleError, NotEnoughData, OutputError
from demele.core.outputs import write_whole
from demele.core.reading import read_whole
from demele.core.result import plain
from demele.models.fabric.model import Fabric
from demele.runtime.sweep import Record
from demele.studies.pruning.claims import all_pairs
from demele.studies.pruning.pictures import Labelled, Split
from demele.studies.pruning.planning import DecisionJob, PruningJob

Classes = NDArray[np.int64]


def trained_or_pruned(jobs: tuple[PruningJob, ...]) -> list[Record]:
    """Return a record for each fabric; a training that fails leaves its reason, so that the study goes on."""
    return [_one(job) for job in jobs]


def _one(job: PruningJob) -> Record:
    from demele.models.networks import checked_device, computing

    try:
        with computing(threads=1, device=checked_device("auto"), gradients=True):
            return _whole(job) if job.configuration.strategy == "whole" else _pruned(job)
    except OutputError:  # the disk is full: no fault of the fabric
        raise
    except (DemeleError, ArithmeticError, RuntimeError, ValueError) as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def _fit(fabric: Fabric, job: PruningJob, images: Labelled, epochs: int, checkpoint: Path | None = None) -> bool:
    """Train up to an epoch; return whether the loss stayed finite."""
    options = {**job.plan.training, "epochs": epochs, "seed": job.seed}
    run = fabric.fit(images.images, images.given, **options, checkpoint=checkpoint)
    return run.status != "diverged"


# The whole fabric -----------------------------------------------------------------------------------------------------


def _whole(job: PruningJob) -> Record:
    """Train a whole fabric from stage to stage, and go on with what a kill left.

    The fabric after a stage is kept before the next begins, so a file beyond a stage without a fabric lost it, and the
    training restarts.
    """
    job.folder.mkdir(parents=True, exist_ok=True)
    split = job.plan.source.split(job.seed, job.noise)
    found = _staged(job, split.fit)
    if found is None:
        (job.folder / "checkpoint.pt").unlink()
        found = _staged(job, split.fit)
    if found is None:
        raise NotEnoughData(f"{job.folder / 'checkpoint.pt'} is beyond its stages, and was not replaced")
    if found.run.status == "diverged":
        return {"status": "diverged", "reason": found.run.problem}
    work = job.plan.training["epochs"] * found.counts().multiply_adds
    return _judged(job, found, split, work=work, before={})


def _staged(job: PruningJob, images: Labelled) -> Fabric | None:
    fabric = Fabric(**job.plan.structure, seed=job.seed)
    for epoch in job.stages:
        if job.kept(epoch).exists():
            continue
        if not _fit(fabric, job, images, epoch, job.folder / "checkpoint.pt"):
            return fabric
        if fabric.run.epochs != epoch:
            return None
        fabric.save(job.kept(epoch))
    return Fabric.load(job.kept(job.stages[-1]))


# A pruned fabric ------------------------------------------------------------------------------------------------------


def _pruned(job: PruningJob) -> Record:
    """Continue from the whole fabric where pruning begins: prune, average the norms again, train to the end."""
    steps = job.plan.times.steps(job.configuration.strategy)
    fabric = Fabric.load(job.kept(steps[0][0]))
    split = job.plan.source.split(job.seed, job.noise)
    before: dict[str, Any] = {}
    work = reached = 0
    for epoch, part in steps:
        work, reached = work + (epoch - reached) * fabric.counts().multiply_adds, epoch
        if not _fit(fabric, job, split.fit, epoch):
            return {"status": "diverged", "reason": fabric.run.problem}
        _prune(fabric, job, split, part)
        last = (epoch, part) == steps[-1]
        if last:
            before["raw"] = fabric.error(split.test.images, split.test.true)
        fabric.recalibrate(split.fit.images, batch=job.plan.training["batch"])
        if last:
            before["recalibrated"] = fabric.error(split.test.images, split.test.true)
    work += (job.plan.training["epochs"] - fabric.run.epochs) * fabric.counts().multiply_adds
    if not _fit(fabric, job, split.fit, job.plan.training["epochs"]):
        return {"status": "diverged", "reason": fabric.run.problem}
    return _judged(job, fabric, split, work=work, before=before)


def _prune(fabric: Fabric, job: PruningJob, split: Split, part: float) -> None:
    configuration = job.configuration
    looked_at = (split.held.images, split.held.given)
    for level, share in configuration.shares().items():
        of = "whole" if level == "links" else configuration.fraction_of
        fabric.prune(level, part * share, configuration.criterion, *looked_at, fraction_of=of, seed=job.seed)  # type: ignore[arg-type]


# What is kept of a fabric ---------------------------------------------------------------------------------------------


def _judged(job: PruningJob, fabric: Fabric, split: Split, *, work: int, before: Mapping[str, float]) -> Record:
    """Return what is said of a fabric at its end, and keep its predictions.

    The cost of a training is given in multiplications per image: seconds would depend on other load of the machine.
    """
    test, counts, whole = split.test, fabric.counts(), fabric.spec.lattice()
    predicted = fabric.predict(test.images)
    write_whole(job.predictions, predicted.astype("<u2").tobytes())
    fitted = fabric.predict(split.fit.images)
    alive = set(fabric.lattice.links)
    return plain(  # type: ignore[no-any-return]
        {
            "status": "done",
            "reason": "",
            "error": float(np.mean(predicted != test.true)),
            "given_error": float(np.mean(predicted != test.given)),
            **before,
            **_followed(predicted, test, "test"),
            **_followed(fitted, split.fit, "training"),
            "links": counts.links,
            "parameters": counts.parameters,
            "kept_weights": counts.nonzero,
            "multiply_adds": counts.multiply_adds,
            "alive": "".join("1" if link in alive else "0" for link in whole.links),
            "training_work": work,
            "seconds": fabric.run.seconds,
            "training_error": fabric.run.history["error"].tolist(),
        }
    )


def _followed(predicted: Classes, images: Labelled, where: str) -> dict[str, float | None]:
    """Return F_n and F_c: the share of wrong labels, and of right ones, that the predictions give again."""
    wrong, again = images.given != images.true, predicted == images.given
    return {
        f"wrong_again_{where}": float(again[wrong].mean()) if wrong.any() else None,
        f"right_again_{where}": float(again[~wrong].mean()),
    }


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


#: The true labels, every one of them believed: what the others are held against.
TRUE = "true labels"
#: By which a pair is decided: those of print, ours with bounds, and the true labels.
METHODS = ("overlap", "worst-case-overlap", "hard-rows", "worst-case", TRUE)


def decided(jobs: tuple[DecisionJob, ...]) -> list[Record]:
    """Return the decisions about each seed under a noise."""
    return [_decided(job) for job in jobs]


def _decided(job: DecisionJob) -> Record:
    """Decide every pair that a claim is about, the second being the candidate, and rank all fabrics.

    The noise rate is known to the methods that ask for it, as it is to who made the noise: that of the test where a
    fabric made it.
    """
    test = job.source.split(job.seed, job.noise).test
    made = float(np.mean(test.given != test.true))
    rate = made if job.noise.kind == "resubstitution" else job.noise.rate
    predictions = {name: read_predictions(path, len(test.true)) for name, path in job.predictions.items()}
    difficulty = disagreement(np.stack(list(predictions.values())))
    found: dict[str, dict[str, str]] = {}
    for first, second in all_pairs():
        if first in predictions and second in predictions:
            pair = predictions[first], predictions[second]
            verdicts: dict[str, str] = {}
            for method in METHODS:
                labels, known = _asked(method, test, rate, difficulty)
                verdicts[method] = compare(*pair, labels, **known).verdict
            found[f"{first} | {second}"] = verdicts
    ranks = {
        method: _ranks(predictions, *_asked(method, test, rate, difficulty))
        for method in ("overlap", "worst-case", TRUE)
    }
    return {"pairs": found, "ranks": ranks}


def _asked(
    method: str, test: Labelled, rate: float, difficulty: NDArray[np.float64]
) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Return the labels and the other arguments of a method."""
    if method == TRUE:
        return test.true, {"method": "worst-case", "noise": 0.0}
    known: dict[str, Any] = {"method": method}
    if method in ("worst-case-overlap", "worst-case"):
        known["noise"] = rate
    if method == "hard-rows":
        known["method"] = HardRows(difficulty, rate)
    return test.given, known


def _ranks(predictions: Mapping[str, Any], labels: NDArray[np.int64], known: dict[str, Any]) -> dict[str, list[int]]:
    found = rank(dict(predictions), labels, **known)
    return {
        name: [int(best), int(worst)]
        for name, best, worst in zip(found.names, found.best_rank, found.worst_rank, strict=True)
    }


def disagreement(predictions: NDArray[np.int64]) -> NDArray[np.float64]:
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
