"""A family of models that differ in two settings, trained and scored: about these, which metrics agree."""

import inspect
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Annotated, Any, Literal

from demele.core.kinds import Kind
from demele.data.images import ImageSet
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.studies.folders import StudyFolder
from demele.studies.planning import MOST_ROWS, StudyPlan, checked_plan
from demele.studies.study import Study

#: Arguments of :func:`model_family` that say where and how to work.
_WHERE = ("store", "n_jobs", "executor")


def model_family(
    data: Annotated[ImageSet | str | Path | None, Kind("IMAGES", is_file=True)] = None,
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
    given = {name: value for name, value in bound.arguments.items() if name not in _WHERE}
    return checked_plan(**given)
