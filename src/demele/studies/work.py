"""The work on one model of a study: train it in stages, score its codes, return a record for each."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.errors import DemeleError, NotEnoughData, OutputError
from demele.core.result import plain
from demele.core.results import Evaluation
from demele.core.seeds import rng_for
from demele.models.vae.run import Run
from demele.runtime.sweep import Record
from demele.scoring.evaluate import evaluate
from demele.studies.jobs import Kind, codes_digest, read_codes, write_codes
from demele.studies.planning import Job, Piece

if TYPE_CHECKING:
    import pandas as pd


# Training -------------------------------------------------------------------------------------------------------------


def train_vae(job: Job) -> Record:
    """Train a model, keep its codes after each stage, and return what became of it.

    An interrupted training continues. Codes of a stage are stored before the next begins, so a training beyond a stage
    without codes lost them, and restarts.

    Raises
    ------
    InputError, OutputError, FormatError
        If files cannot be read or written.
    """
    from demele.models.networks import checked_device, computing

    job.folder.mkdir(parents=True, exist_ok=True)
    checkpoint = job.folder / "checkpoint.pt"
    with computing(threads=1, device=checked_device("auto"), gradients=True):
        run = _staged(job)
        if run is None:
            checkpoint.unlink()
            run = _staged(job)
    if run is None:
        raise NotEnoughData(f"{checkpoint} is beyond the steps of its codes, and was not replaced")
    return _training_record(job, run)


def _staged(job: Job) -> Run | None:
    """Train from stage to stage; None if the file is beyond one whose codes are missing."""
    vae = job.model()
    run: Run | None = None
    for step in job.plan.steps:
        path, last = job.codes_file(step), step == job.plan.steps[-1]
        if path.exists() and not last:
            continue
        run = vae.fit(
            job.plan.images,
            **{**job.plan.training, "steps": step},
            seed=job.configuration.seed,
            checkpoint=job.folder / "checkpoint.pt",
        )
        if run.status == "diverged":
            return run
        if run.steps != step:
            return None
        if not path.exists():
            sample = vae.encode(job.plan.images, job.plan.rows, job.plan.codes, seed=job.plan.seed)  # type: ignore[arg-type]
            std = sample.codes_std if last else None
            write_codes(path, sample.codes.to_numpy(), None if std is None else std.to_numpy())
    return run


def _training_record(job: Job, run: Run) -> Record:
    import torch

    kept = [step for step in job.plan.steps if job.codes_file(step).exists()]
    return plain(  # type: ignore[no-any-return]
        {
            "status": run.status,
            "reason": run.problem,
            "steps": run.steps,
            "seconds": run.seconds,
            "reconstruction": run.reconstruction,
            "floor": run.floor,
            "kl": run.kl.tolist(),
            "std": run.std.tolist(),
            "active": int(run.active.sum()),
            "total_correlation": run.total_correlation,
            "largest_logvar": run.largest_logvar,
            "parameters": run.parameters,
            "beta_normalised": run.beta_normalised,
            "codes": {str(step): codes_digest(*read_codes(job.codes_file(step), len(job.plan.rows))) for step in kept},
            "torch": str(torch.__version__),
        }
    )


# Scores ---------------------------------------------------------------------------------------------------------------


def worked(pieces: tuple[Piece, ...]) -> list[Record]:
    """Return the records that are wanted of one model, in their order; nothing is scored twice, or in vain."""
    job = pieces[0].job
    training = trained(job)
    found: dict[tuple[int, Kind], Mapping[str, Record]] = {}
    records = []
    for piece in pieces:
        if not piece.kind:
            records.append(training)
            continue
        place = piece.step, piece.kind
        if place not in found:
            metrics = [other.metric for other in pieces if (other.step, other.kind) == place]
            found[place] = scored(job, *place, metrics, training)
        records.append(dict(found[place][piece.metric]))
    return records


def trained(job: Job) -> Record:
    """Return what became of a training; one that fails leaves its reason, so that the study goes on.

    Raises
    ------
    OutputError
        If the disk is full: no fault of the model.
    """
    try:
        return (job.plan.train or train_vae)(job)
    except OutputError:
        raise
    except (DemeleError, ArithmeticError, RuntimeError, ValueError) as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}", "codes": {}}


def scored(job: Job, step: int, kind: Kind, metrics: Sequence[str], training: Record) -> dict[str, Record]:
    """Return the scores of the codes of one stage, a record for each metric: null with a reason where there is none."""
    if str(step) not in training["codes"]:
        reason = training["reason"] or f"the training ended as {training['status']} before step {step:,}"
        return {metric: {"value": None, "reason": reason} for metric in metrics}
    mean, std = read_codes(job.codes_file(step), len(job.plan.rows))
    chosen = chosen_rows(kind, len(job.plan.rows))
    try:
        found = evaluate(
            mean[chosen].astype(np.float64),
            seen_factors(job, kind, chosen),
            list(metrics),
            protocol=job.plan.protocol,
            seed=job.plan.seed,
            codes_std=None if std is None else std[chosen].astype(np.float64),
        )
    except DemeleError as error:  # such as codes that are all alike
        return {metric: {"value": None, "reason": str(error)} for metric in metrics}
    whole = kind == "real" and step == job.plan.steps[-1]
    return {metric: _score_record(found, metric, whole=whole) for metric in metrics}


def chosen_rows(kind: Kind, n: int) -> slice:
    """Return which of the scored rows a kind of scores is of: a half, which are in no order, or all.

    Examples
    --------
    >>> chosen_rows("half-1", 7), chosen_rows("real", 7)
    (slice(3, 7, None), slice(0, 7, None))
    """
    if kind.startswith("half-"):
        middle = n // 2
        return slice(0, middle) if kind == "half-0" else slice(middle, n)
    return slice(0, n)


def seen_factors(job: Job, kind: Kind, chosen: slice) -> "pd.DataFrame":
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
    value = plain(float(score.value))
    record: dict[str, Any] = {"value": value, "seconds": plain(score.seconds)}
    if value is None:
        record["reason"] = "; ".join(note.message for note in score.notes) or "undefined"
    if whole:
        record |= {
            "native": plain(score.native),
            "notes": [note.code for note in score.notes],
            "signature": str(score.signature),
        }
    return record
