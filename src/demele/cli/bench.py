"""``demele bench``: metrics and comparison methods themselves are measured, a user's own among them."""

import argparse
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli import bench_comparisons
from demele.cli.functions import PythonFiles, chosen_metrics, chosen_scenarios, folders_on_path, named_files
from demele.cli.options import command, given, names_in, option, told_by
from demele.cli.output import emit, format_of, log, result_text, say_written, warnings_in_one_line
from demele.cli.progress import reporting, saying_where_it_stopped
from demele.cli.targets import check_targets
from demele.core.reading import parsing
from demele.files.sheets import csv_text

if TYPE_CHECKING:
    import pandas as pd

    from demele.bench import Characterisation, Scenario

_DESCRIPTION = """\
Measure metrics on representations whose properties are known, and judge them by stated criteria:
those of demele, and any function (codes, factors) -> float of a Python file of yours.
"""
_EXAMPLES = """\
examples:
  demele bench metrics --metrics mine.py::best_correlation --quick --report mine.html
  demele bench metrics --metrics mig,sap,mine.py::best_correlation --seeds 20 --store rows.jsonl
  demele bench metrics --metrics mine.py::best_correlation --scenarios source,mine.py::gaps
  demele bench metrics --scenarios all --seeds source=100,added=20 --jobs 2 --store rows.jsonl --save all.json.gz

A function gets arrays (n_samples, n_codes) and (n_samples, n_factors) and returns a number. With --store, the
same command continues where it stopped; metrics from an edited Python file are measured again.
Results go to stdout (a table on a terminal, JSON otherwise), progress and warnings to stderr.
Exit status: 0 done, 2 mistake in the arguments, 130 interrupted.
"""
#: What the ten criteria of the review need.
_SCENARIOS = ("source", "settings")


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele bench`` to the commands."""
    group = commands.add_parser(
        "bench",
        help="measure metrics and comparison methods, also your own",
        description="Measure the measures: what they do where the truth is known.",
        epilog="demele bench ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    group.set_defaults(run=lambda _: group.print_help())
    actions = group.add_subparsers(title="actions", metavar="ACTION")
    _add_metrics(actions)
    _add_show(actions)
    bench_comparisons.add_action(actions)


def _add_metrics(actions: "argparse._SubParsersAction[Any]") -> None:
    parser = command(
        actions,
        "metrics",
        _run,
        help="characterise disentanglement metrics on representations whose properties are known",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    what = parser.add_argument_group("what is measured")
    option(
        what,
        "--metrics",
        metavar="A,B,FILE.py::F",
        help="registered names and functions of Python files (default: all registered metrics)",
    )
    option(
        what,
        "--scenarios",
        type=names_in,
        metavar="A,B,FILE.py::S",
        help="names, the sets source, added and all, and demele.bench.Scenario objects of Python files "
        "(default: source,settings: for the review's ten criteria)",
    )
    option(
        what,
        "--seeds",
        type=_seeds,
        metavar="N",
        help="draws of each representation: a number, or source=100,added=20 (default: 100)",
    )
    option(
        what,
        "--slow-seeds",
        type=_seeds,
        metavar="N",
        help="the same for DCI and Explicitness, which train predictors (default: at most 20 of --seeds)",
    )
    option(what, "--rows", argument="n_samples", help="rows of each representation (default: 20000)")
    option(what, "--protocol", "--level")
    option(
        what,
        "--quick",
        action="store_true",
        help="a first look: all scenarios with few seeds and rows, about 870 calls of your metric; without the slow "
        "metrics of demele",
    )
    option(
        what,
        "--alone",
        action="store_true",
        help="do not show the stored results of the published metrics under your own",
    )

    out = parser.add_argument_group("output")
    option(out, "--format", "--output", "--explain", "--report")
    option(out, "--save", type=Path, metavar="FILE", help="write every value, for demele.bench.load (.json.gz)")
    option(out, "--force", "--store", "--jobs", "--quiet")


def _add_show(actions: "argparse._SubParsersAction[Any]") -> None:
    parser = command(
        actions,
        "show",
        _show,
        help="show a characterisation that was saved, or the one of the published metrics that comes with demele",
        description="Show the verdicts of a characterisation that was saved, without measuring anything.",
        called={"path": "FILE"},
    )
    parser.add_argument(
        "saved",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="what demele bench metrics --save wrote (default: the stored results of the published metrics)",
    )
    option(parser, "--alone", action="store_true", help="do not show the published metrics under your own")
    option(parser, "--format", "--output", "--explain", "--report", "--force", "--quiet")
    parser.set_defaults(store=None, save=None)


def _show(arguments: argparse.Namespace) -> None:
    from demele import bench

    _check(arguments, [] if arguments.saved is None else [arguments.saved])
    if arguments.saved is None:
        _shown(bench.reference(), arguments, measured="stored")
    else:
        found = bench.load(arguments.saved)
        with parsing(f"{arguments.saved}: not a characterisation that can be shown"):
            _shown(found, arguments)


def _run(arguments: argparse.Namespace) -> None:
    paths = named_files([*(arguments.metrics or ()), *(arguments.scenarios or ())])
    _check(arguments, paths)
    with folders_on_path(paths):
        files = PythonFiles()
        metrics = chosen_metrics(arguments.metrics or _usual_metrics(arguments), files)
        scenarios = chosen_scenarios(arguments.scenarios or (["all"] if arguments.quick else _SCENARIOS), files)
        found = _characterised(arguments, metrics, scenarios)
    if arguments.save is not None:
        found.save(arguments.save)
    _shown(found, arguments)


def _shown(found: "Characterisation", arguments: argparse.Namespace, *, measured: str = "measured") -> None:
    """Write the results; ``measured`` is the origin of those that are not your own."""
    stored = None if arguments.alone or not any(row.own for row in found.rows) else _stored()
    shown = found if stored is None else found.compared_with(stored)
    kind = format_of(arguments.format, arguments.output)
    options = {"explain": arguments.explain, "words": told_by(arguments), "output": arguments.output}
    emit(csv_text(_frame(shown, measured)) if kind == "csv" else result_text(shown, kind, **options), arguments.output)
    if arguments.report is not None:
        shown.to_html(arguments.report)
    say_written(arguments, report="report written to", save="every value saved to")
    if arguments.store is not None and not arguments.quiet:
        log(f"demele: rows kept in {arguments.store}; a later run with more metrics, scenarios or seeds adds to them")


# Before any computing --------------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace, files: list[Path]) -> None:
    check_targets(arguments, ("report", "output", "save", "store"), files)


# Computing -------------------------------------------------------------------------------------------------------


def _characterised(
    arguments: argparse.Namespace, metrics: list[Any], scenarios: "list[str | Scenario]"
) -> "Characterisation":
    from demele import bench
    from demele.bench.run import QUICK_SAMPLES

    if arguments.quick and arguments.rows is None:
        arguments.rows = QUICK_SAMPLES
    usual = given(arguments, "protocol", "level", n_samples="rows")
    options = {**_how_often(arguments), **usual, "n_jobs": arguments.jobs, "store": arguments.store}
    with (
        saying_where_it_stopped(arguments.store),
        warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)),
        reporting(arguments.quiet) as report,
    ):
        if not arguments.quiet:
            _say_what_is_there(metrics or None, scenarios, options)
        return bench.characterise(metrics or None, scenarios, **options, progress=False if report is None else report)


def _say_what_is_there(metrics: list[Any] | None, scenarios: "list[str | Scenario]", options: dict[str, Any]) -> None:
    """Tell how much of a run the store holds; of one that belongs to another run, the run itself tells."""
    import inspect

    from demele.bench.characterise import characterise
    from demele.bench.run import checked_plan
    from demele.core.store import Store

    path = options["store"]
    if path is None or not path.is_file() or not path.stat().st_size:
        return
    asked = inspect.signature(characterise).bind(metrics, scenarios, **options)
    asked.apply_defaults()
    plan = checked_plan(**{name: asked.arguments[name] for name in inspect.signature(checked_plan).parameters})
    identity, records = Store.read(path)
    if all(identity.get(what) == value for what, value in plan.identity.items()):
        keys = {task.key for task in plan.tasks()}
        there = sum(key in records for key in keys)
        log(f"demele: {path} holds {there:,} of {len(keys):,} records of this run")


def _usual_metrics(arguments: argparse.Namespace) -> list[str]:
    """Return no names where all metrics are meant."""
    if not arguments.quick:
        return []
    from demele.bench.candidates import chosen_candidates

    return [item.name for item in chosen_candidates(None) if not item.slow]


def _how_often(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the seeds; what a list such as source=50 leaves out is as usual."""
    import inspect

    from demele.bench.characterise import characterise
    from demele.bench.run import QUICK_SEEDS, SLOW_SEEDS

    usual: Mapping[str, int] = QUICK_SEEDS
    if not arguments.quick:
        usual = dict.fromkeys(QUICK_SEEDS, inspect.signature(characterise).parameters["seeds"].default)
    asked = arguments.seeds
    seeds = asked if isinstance(asked, int) else {**usual, **(asked or {})}
    if arguments.slow_seeds is None:
        return {"seeds": seeds}
    slow = arguments.slow_seeds
    if not isinstance(slow, int):
        by_set = dict.fromkeys(usual, seeds) if isinstance(seeds, int) else {name: seeds[name] for name in usual}
        slow = {**{name: min(number, SLOW_SEEDS) for name, number in by_set.items()}, **slow}
    return {"seeds": seeds, "slow_seeds": slow}


def _stored() -> "Characterisation | None":
    """Return the stored results of the published metrics; an installation may come without them."""
    from demele import bench

    try:
        return bench.reference()
    except FileNotFoundError:
        return None


# Writing ---------------------------------------------------------------------------------------------------------


def _frame(found: "Characterisation", measured: str) -> "pd.DataFrame":
    """Return a line for each verdict, with the run that it comes from."""
    import pandas as pd

    asked, taken = {item.name for item in found.criteria}, {row.name for row in found.rows}
    lines = []
    for run in (found, found.stored) if found.stored is not None else (found,):
        for row in (row for row in run.rows if run is found or row.name not in taken):
            origin = "yours" if row.own else measured if run is found else "stored"
            seeds, rows = run.fewer(row.members[0].name) or (max(run.seeds.values()), run.n_samples)
            lines += [
                (item.row, item.criterion, item.status, item.summary, origin, rows, seeds)
                for item in run.verdicts
                if item.row == row.name and item.criterion in asked
            ]
    columns = ["metric", "criterion", "status", "summary", "origin", "n_samples", "seeds"]
    return pd.DataFrame(lines, columns=columns)


# Arguments -------------------------------------------------------------------------------------------------------


def _seeds(text: str) -> int | dict[str, int]:
    with contextlib.suppress(ValueError):
        return int(text)
    found: dict[str, int] = {}
    for pair in text.split(","):
        name, mark, number = (part.strip() for part in pair.partition("="))
        try:
            given = int(number)
        except ValueError:
            given = None
        if given is None or not mark or not name or name in found:
            raise argparse.ArgumentTypeError(f"expected a number, or such as source=100,added=20, got {text!r}")
        found[name] = given
    return found
