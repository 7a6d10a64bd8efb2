"""A trainer that trains nothing: codes are the factors, mixed more or less as the configuration says."""

from dataclasses import replace
from typing import Any

from demele.core.arrays import rng_for
from demele.lab import StudyPlan, plan_model_family
from demele.runtime.sweep import Record
from demele.studies.planning import Job
from demele.studies.study import codes_digest, read_codes, write_codes

#: Small, and with metrics that are computed at once.
SETTINGS: dict[str, Any] = {
    "preset": "ci",
    "betas": [0.1, 10.0, 100.0],
    "latents": [2, 6],
    "steps": 10,
    "metrics": ["mig", "sap", "irs"],
    "n_rows": 200,
}


def made_up(job: Job) -> Record:
    """Leave a line in ``calls`` beside the folder of the model, and codes for each stage."""
    job.folder.mkdir(parents=True, exist_ok=True)
    with (job.folder.parent / "calls").open("a") as file:
        file.write(f"{job.id}\n")
    own = job.configuration
    beta, d = float(own.options["beta"] or 0), own.latents
    if (beta, d) == (10.0, 6):
        raise RuntimeError("out of luck")
    diverged = (beta, d) == (10.0, 2)
    factors = job.plan.images.positions(job.plan.rows).astype(float)
    digests = {}
    for step in job.plan.steps[: 1 if diverged else None]:
        rng = rng_for(own.seed, "made up", job.id, step)
        noise = 0.0 if beta < 1 else 30.0
        codes = factors @ rng.normal(size=(factors.shape[1], d)) + noise * rng.normal(size=(len(factors), d))
        path = job.codes_file(step)
        if not path.exists():
            write_codes(path, codes, None)
        digests[str(step)] = codes_digest(*read_codes(path, len(job.plan.rows)))
    active = 0 if beta == 100 else d
    return {
        "status": "diverged" if diverged else "done",
        "reason": "the loss was not finite at step 4" if diverged else "",
        "steps": 4 if diverged else job.plan.steps[-1],
        "seconds": 1.0,
        "reconstruction": 40.0,
        "floor": 13.0,
        "kl": [1.0] * active + [0.0] * (d - active),
        "std": [1.0] * d,
        "active": active,
        "total_correlation": None,
        "largest_logvar": 0.0,
        "parameters": 10,
        "beta_normalised": beta,
        "codes": digests,
        "torch": "none",
    }


def plan(**changed: Any) -> StudyPlan:
    """Return a plan whose models are made up."""
    return replace(plan_model_family(**{**SETTINGS, **changed}), train=made_up)
