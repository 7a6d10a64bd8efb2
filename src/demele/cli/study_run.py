"""``demele study run`` and ``demele study plan``: train and score models, or estimate the time."""

import argparse
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, given, names_in, option, told_by, whole_numbers_in
from demele.cli.output import emit, format_of, log, result_text, warnings_in_one_line
from demele.cli.progress import reporting, saying_where_it_stopped
from demele.cli.study_show import print_study
from demele.cli.targets import check_folder, check_targets
from demele.core.errors import InputError
from demele.data.drawn import named_images

if TYPE_CHECKING:
    from demele.studies import StudyPlan

_DESCRIPTION = """\
Train a family of models, keep their codes, score them with 17 metrics, and measure the agreement of the metrics.
Everything is kept in the folder STUDY: the same command continues where it was stopped, to the same bits; with more
betas, latents, seeds or metrics it adds to the study.
"""
_EXAMPLES = """\
presets:
  ci              4 models of 16 x 16 sprites, less than a minute: the first try
  embedded        36 models of 32 x 32 sprites, about half an hour on two cores (the default)
  embedded-room   the same on a coloured room
  print           published network and training, for --data of 64 x 64, with a GPU

examples:
  demele study run --preset ci --store first
  demele study plan --seeds 3
  demele study run --jobs 2 --store study
  demele study run --beta-scale per_pixel --jobs 2 --store per-pixel
  demele study run --objective beta_tcvae --betas 1,2,4,8 --latents 4,10 --store tc
  demele study show study --report study.html

Results go to stdout (a table on a terminal and with --report, JSON otherwise), progress to stderr.
Exit status: 0 done, 2 a mistake in the arguments, 130 interrupted: what was finished is kept.
"""
_SETTINGS = (
    *("betas", "latents", "seeds", "preset", "objective", "beta_scale", "steps", "metrics", "protocol", "rows"),
    *("nulls", "codes", "seed"),
)


def add_run(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele study run`` to the actions."""
    parser = command(
        actions,
        "run",
        _run,
        help="run or resume a study",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    _add_settings(parser)
    out = parser.add_argument_group("output")
    option(
        out,
        "--store",
        metavar="STUDY",
        required=True,
        help="folder of the study; an existing study continues",
    )
    option(out, "--jobs", "--format", "--output", "--report", "--explain", "--force", "--quiet")


def add_plan(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele study plan`` to the actions."""
    parser = command(
        actions,
        "plan",
        _plan,
        help="models, time and disk space of a study, without running it",
        description="Tell what demele study run would train with the same options; a few steps are timed, and nothing "
        "is kept.",
    )
    _add_settings(parser)
    option(parser, "--format", "--output", "--force", "--quiet")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    models = parser.add_argument_group("models")
    option(models, "--preset", metavar="P", help="ci, embedded, embedded-room or print (default: embedded)")
    option(
        models,
        "--data",
        metavar="IMAGES",
        help="sprites, room, squares, clutter, or a file or folder (default: the preset's)",
    )
    option(models, "--size", type=int, metavar="S", help="height and width of --data")
    option(models, "--betas", type=_numbers, metavar="A,B,...", help="strengths of the penalty (default: the preset's)")
    option(
        models, "--latents", type=whole_numbers_in, metavar="A,B,...", help="numbers of codes (default: the preset's)"
    )
    option(models, "--seeds", type=int, metavar="K", help="trainings of each (default: 1)")
    option(models, "--objective", metavar="O", help="objective, as for demele vae train (default: beta_vae)")
    option(
        models,
        "--beta-scale",
        choices=("raw", "per_pixel"),
        help="per_pixel: as strong as at 64 x 64 x 3 (default: raw)",
    )
    option(models, "--steps", type=int, metavar="N", help="steps of each training (default: the preset's)")
    scores = parser.add_argument_group("scores")
    option(scores, "--metrics", help="registered names (default: the 17 of the published study)")
    option(scores, "--rows", help="images whose codes are scored (default: 5000)")
    option(scores, "--nulls", type=int, metavar="K", help="scores against permuted factors (default: 1)")
    option(scores, "--codes", choices=("mean", "sampled"), help="codes to score (default: mean)")
    option(scores, "--protocol", "--seed")


def _numbers(text: str) -> list[float]:
    try:
        return [float(one) for one in names_in(text)]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected numbers, separated by commas, got {text!r}") from error


def _planned(arguments: argparse.Namespace) -> "StudyPlan":
    from demele.studies import plan_model_family

    settings: dict[str, Any] = given(arguments, *_SETTINGS)
    if arguments.data is not None:
        settings["data"] = named_images(arguments.data, arguments.size)
    elif arguments.size is not None:
        raise InputError("--size: is of --data, which is not given")
    return plan_model_family(**settings)


def _run(arguments: argparse.Namespace) -> None:
    from demele.studies.model_family import run_plan

    check_targets(arguments, ("report", "output"))
    check_folder(arguments.store)
    plan = _planned(arguments)
    rows = arguments.store / "rows.jsonl"
    with (
        warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)),
        saying_where_it_stopped(rows),
        reporting(arguments.quiet) as report,
    ):
        study = run_plan(plan, store=arguments.store, n_jobs=arguments.jobs, progress=report or False)
    print_study(study, arguments)
    if not arguments.quiet:
        log(f"demele: kept in {arguments.store}; demele study show {arguments.store} --report study.html")


def _plan(arguments: argparse.Namespace) -> None:
    from demele.studies.planning import estimated

    check_targets(arguments, ("output",))
    plan = _planned(arguments)
    found = estimated(plan)
    emit(result_text(found, format_of(arguments.format, arguments.output), output=arguments.output), arguments.output)
