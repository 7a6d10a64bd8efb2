"""Training one model of a study: in stages, whose codes are kept, and from where a kill left it."""

from demele.core.errors import NotEnoughData
from demele.core.result import plain
from demele.models.vae.model import VAE
from demele.models.vae.run import Run
from demele.runtime.sweep import Record
from demele.studies.jobs import Job, codes_digest, read_codes, write_codes

__all__ = ["model_of", "train_vae"]


def model_of(job: Job) -> VAE:
    """Return the model of a job, untrained."""
    configuration = job.configuration
    return VAE(configuration.objective, latents=configuration.latents, **{**job.model, **configuration.options})


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
    return _record(job, run)


def _staged(job: Job) -> Run | None:
    """Train from stage to stage; None if the file is beyond one whose codes are missing."""
    vae = model_of(job)
    run: Run | None = None
    for step in job.steps:
        path, last = job.codes_file(step), step == job.steps[-1]
        if path.exists() and not last:
            continue
        run = vae.fit(
            job.images,
            **{**job.training, "steps": step},
            seed=job.configuration.seed,
            checkpoint=job.folder / "checkpoint.pt",
        )
        if run.status == "diverged":
            return run
        if run.steps != step:
            return None
        if not path.exists():
            sample = vae.encode(job.images, job.rows, job.codes, seed=job.seed)  # type: ignore[arg-type]
            std = sample.codes_std if last else None
            write_codes(path, sample.codes.to_numpy(), None if std is None else std.to_numpy())
    return run


def _record(job: Job, run: Run) -> Record:
    import torch

    kept = [step for step in job.steps if job.codes_file(step).exists()]
    found: Record = plain(
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
            "codes": {str(step): codes_digest(*read_codes(job.codes_file(step), len(job.rows))) for step in kept},
            "torch": str(torch.__version__),
        }
    )
    return found
