"""``demele study pruning run`` and ``show``: fabrics pruned in many ways, under right and wrong labels."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, given, names_in, option, told_by
from demele.cli.output import emit, format_of, log, result_text, say_written, warnings_in_one_line
from demele.cli.progress import reporting, saying_where_it_stopped
from demele.cli.study_show import asked_for
from demele.cli.targets import check_folder, check_targets

if TYPE_CHECKING:
    from demele.studies import PruningStudy

_DESCRIPTION = """\
Train whole fabrics, prune each in many ways, with true and with wrong labels, and test which way is better: over
seeds, and by comparisons on a test set with wrong labels. Everything is kept in the folder STUDY: the same command
continues where it was stopped, to the same bits; with more seeds or noises it adds to the study.
"""
_EXAMPLES = """\
presets:
  ci              3 ways, 1 seed, seconds: the first try
  embedded        22 ways, 5 seeds, three noises, about 40 minutes on two cores (the default)

examples:
  demele study pruning run --preset ci --store first
  demele study pruning run --jobs 2 --store pruning
  demele study pruning run --noises none,uniform:0.2 --seeds 3 --jobs 2 --store uniform
  demele study pruning show pruning --report pruning.html

The published ways, for your own images such as CIFAR-10, are demele.studies.pruning_study(..., preset="print").
Results go to stdout (a table on a terminal and with --report, JSON otherwise), progress to stderr.
Exit status: 0 done, 2 a mistake in the arguments, 130 interrupted: what was finished is kept.
"""
_SHOW = """\
Show the results of a study of pruning: the published claims that hold, and the errors of all fabrics. STUDY is the
folder of demele study pruning run, finished or not, or a file of a packed study.
"""
_SHOW_EXAMPLES = """\
examples:
  demele study pruning show --demo
  demele study pruning show pruning --report pruning.html
  demele study pruning show --demo --list differences --format csv > differences.csv

csv has a row for each fabric; with --list one for each difference, decision or rank.
Exit status: 0 done, 2 a mistake in the arguments.
"""
_ROWS = ("fabrics", "differences", "decisions", "ranks")


def add_actions(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele study pruning`` to the actions of ``demele study``."""
    group = actions.add_parser(
        "pruning",
        help="prune fabrics in many ways, and test which is better",
        description="Prune fabrics in many ways, with right and wrong labels, and ask which way is really better. "
        "Needs PyTorch to run: pip install 'demele[torch]'.",
        epilog="demele study pruning ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    group.set_defaults(run=lambda _: group.print_help())
    own = group.add_subparsers(title="actions", metavar="ACTION")
    _add_run(own)
    _add_show(own)


def _add_run(actions: "argparse._SubParsersAction[Any]") -> None:
    parser = command(
        actions,
        "run",
        _run,
        help="run or resume a study",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    option(parser, "--preset", metavar="P", help="ci or embedded (default: embedded)")
    option(
        parser,
        "--noises",
        type=names_in,
        metavar="A,B,...",
        help="none, uniform:RATE, visibility:RATE (default: the preset's)",
    )
    option(parser, "--seeds", type=int, metavar="K", help="whole fabrics under each noise (default: the preset's)")
    out = parser.add_argument_group("output")
    option(
        out,
        "--store",
        metavar="STUDY",
        required=True,
        help="folder of the study; an existing study continues",
    )
    option(out, "--jobs", "--format", "--output", "--report", "--explain", "--force", "--quiet")


def _add_show(actions: "argparse._SubParsersAction[Any]") -> None:
    parser = command(
        actions, "show", _show, help="show the results of a study", description=_SHOW, examples=_SHOW_EXAMPLES
    )
    option(parser, "study", nargs="?", type=Path, metavar="STUDY", help="folder of a study, or a packed one")
    option(parser, "--demo", action="store_true", help="the stored study of demele")
    out = parser.add_argument_group("output")
    option(out, "--list", dest="listed", choices=_ROWS, default="fabrics", help="rows of csv (default: fabrics)")
    option(out, "--format", "--output", "--report", "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele import studies

    check_targets(arguments, ("report", "output"))
    check_folder(arguments.store)
    with (
        warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)),
        saying_where_it_stopped(arguments.store / "rows.jsonl"),
        reporting(arguments.quiet) as report,
    ):
        found = studies.pruning_study(
            **given(arguments, "preset", "noises", "seeds"),
            store=arguments.store,
            n_jobs=arguments.jobs,
            progress=report or False,
        )
    _print(found, arguments)
    if not arguments.quiet:
        log(f"demele: kept in {arguments.store}; demele study pruning show {arguments.store} --report pruning.html")


def _show(arguments: argparse.Namespace) -> None:
    from demele import studies

    _print(asked_for(arguments, studies.pruning_demo, studies.load_pruning), arguments)


def _print(found: "PruningStudy", arguments: argparse.Namespace) -> None:
    frames = {
        "fabrics": found.to_frame,
        "differences": found.differences_frame,
        "decisions": found.decisions_frame,
        "ranks": found.ranks_frame,
    }
    # Who asks for the page reads that: thousands of lines of JSON only where they are asked for.
    is_summary = arguments.report is not None and arguments.output is None and arguments.format is None
    kind = "table" if is_summary else format_of(arguments.format, arguments.output)
    words, frame = told_by(arguments), frames[getattr(arguments, "listed", "fabrics")]
    text = result_text(found, kind, explain=arguments.explain, words=words, output=arguments.output, frame=frame)
    emit(text, arguments.output)
    if arguments.report is not None:
        found.to_html(arguments.report)
    say_written(arguments, report="report written to")
