"""``demele score A B --factors F``: several representations of the same rows, side by side."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.options import given, items_in, option, refuse, told_by
from demele.cli.output import format_of, warned, warnings_in_one_line, write_result
from demele.cli.progress import reporting
from demele.cli.score_files import DRAWN, reader, warn_of_shared_columns
from demele.cli.score_noise import read_noise
from demele.core.comparison_documents import differences_table, tables_of
from demele.core.errors import InputError
from demele.core.kinds import unquoted
from demele.files.named import holds_sparse, split_name

if TYPE_CHECKING:
    import pandas as pd

    from demele.core.representation_comparison import RepresentationComparison

#: What is of one representation, or of one number.
_OF_ONE = ("codes_std", "code_names", "aligned", "whiten", "blocks", "replay")


def add_several(parser: argparse.ArgumentParser) -> None:
    """Add what several representations take."""
    several = parser.add_argument_group("several representations of the same rows")
    option(
        several,
        "--factors",
        argument="factors_file",
        action="append",
        dest="factors_file",
        metavar="FILE",
        help="the factors; all other files are then representations",
    )
    option(
        several,
        "--group",
        argument="runs",
        action="append",
        nargs="+",
        metavar=("NAME", "CODES"),
        help="training runs of one model; differences are then between models, and intervals over runs",
    )
    option(
        several,
        "--paired-runs",
        action="store_const",
        const=True,
        help="run k of every model has the same seed: differences are paired by it",
    )
    option(several, "--against", metavar="NAME", help="baseline for all differences (default: each against each)")
    option(several, "--primary", type=items_in, metavar="M,M", help="metrics to test; all others are exploratory")


def place_files(arguments: argparse.Namespace) -> None:
    """Say which file is what: ``codes``, ``factors``, and ``several`` where more than one holds codes.

    Raises
    ------
    InputError
    """
    files, factors, groups = list(arguments.files), arguments.factors_file or [], arguments.group or []
    for name, *own in groups:
        if not own:
            raise InputError(f"--group: {name}: expected the name of a model, then the files of its runs")
        files += own
    if len(factors) > 1:
        raise InputError(f"--factors: given {len(factors)} times; all representations have the same rows and factors")
    if not factors:
        if groups:
            raise InputError("--group: needs --factors FILE, since all other files are representations")
        if len(files) > 2:
            raise InputError(
                f"{len(files)} files: expected CODES and FACTORS; several representations need --factors FILE"
            )
        files, factors = files[:1], files[1:]
    elif not files:
        raise InputError("--factors: expected CODES beside it, at least one file")
    arguments.factors = factors[0] if factors else None
    arguments.several = files if len(files) > 1 or groups else []
    arguments.codes = files[0] if files and not arguments.several else None
    if not arguments.several:
        only = ("against", "paired_runs", "primary")
        refuse(arguments, only, "is for several representations; give them with --factors")


def run_several(arguments: argparse.Namespace) -> None:
    """Score several representations, and write what they score and how they differ.

    Raises
    ------
    InputError, FormatError, OSError
    """
    if arguments.details and format_of(arguments.format, arguments.output, papers=True) != "table":
        raise InputError("--details: is for tables; the other formats hold all values")
    refuse(arguments, _OF_ONE, "is for one representation; score it by itself")
    found = _compared(arguments)
    document, words = found.document(), told_by(arguments)
    if arguments.details:
        document = replace(document, beside=[differences_table(found), *tables_of(found)])
    write_result(arguments, found, words, document=document, frame=lambda: _frame(found, words))


def _compared(arguments: argparse.Namespace) -> "RepresentationComparison":
    import demele

    codes, factors, runs = _demonstration() if arguments.demo else _files(arguments)
    named = ("protocol", "bins", "seed", "reg_dim", *DRAWN, "level", "missing", "kinds")
    more = ("ignore_index", "reduce_groups", "paired_runs", "against", "primary")
    options = given(arguments, *named, *more, sample="rows")
    options |= in_groups(arguments.code_groups) | read_noise(arguments, factors, warned(arguments.quiet))
    with (
        reporting(arguments.quiet, even=False) as report,
        warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)),
    ):
        return demele.compare_representations(
            codes,
            factors,
            arguments.metrics,
            runs=runs,
            n_jobs=arguments.jobs,
            progress=report or False,
            **options,
        )


def _demonstration() -> tuple[dict[str, Any], Any, None]:
    from demele.data.demo import demo, demo_names

    names: tuple[Any, ...] = demo_names()
    samples = {name: demo(name) for name in names}
    return {name: one.codes for name, one in samples.items()}, next(iter(samples.values())).factors, None


def _files(arguments: argparse.Namespace) -> tuple[dict[str, Any], Any, dict[str, list[str]] | None]:
    names = names_of(arguments.several, arguments.name)
    runs = _runs(arguments, names)
    sparse = next((file for file in arguments.several if holds_sparse(file)), None)
    if sparse is not None:
        raise InputError(f"{sparse}: holds sparse codes, which are scored one representation at a time")
    read = reader(quiet=arguments.quiet)
    if not arguments.quiet:
        for file in arguments.several:
            warn_of_shared_columns(file, arguments.factors)
    factors = read(arguments.factors)
    return {name: read(file) for name, file in zip(names, arguments.several, strict=True)}, factors, runs


def in_groups(groups: Sequence[tuple[str, list[int | str]]] | None) -> dict[str, Any]:
    """Return groups of columns as the library takes them."""
    names = [name for name, _ in groups or ()]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--code-groups: {name} is given {names.count(name)} times; list its columns once")
    return {"code_groups": dict(groups)} if groups else {}


def _runs(arguments: argparse.Namespace, names: Sequence[str]) -> dict[str, list[str]] | None:
    """Return the names of the runs of each model; files of no group are models of their own."""
    if not arguments.group:
        return None
    runs: dict[str, list[str]] = {}
    place = len(arguments.files)
    for model, *own in arguments.group:
        runs.setdefault(model, []).extend(names[place : place + len(own)])
        place += len(own)
    return runs


def names_of(files: Sequence[str], asked: str | None = None) -> list[str]:
    """Return what to call representations: the stems of their files, with so many folders that no two are equal.

    Parameters
    ----------
    files : sequence of str
        ``FILE`` or ``FILE::name``.
    asked : str, optional
        Names, separated by commas.

    Raises
    ------
    InputError
        If a file is given twice, or the names are as many as the files, or one is there twice.

    Examples
    --------
    >>> names_of(["old.npy", "new.npy"]), names_of(["run1/codes.npy", "run2/codes.npy"])
    (['old', 'new'], ['run1/codes', 'run2/codes'])
    >>> names_of(["all.csv::a,b", "all.csv::c,d"])
    ['all::a,b', 'all::c,d']
    """
    twice = next((file for place, file in enumerate(files) if file in files[:place]), None)
    if twice is not None:
        raise InputError(f"{twice}: given twice; each file is one representation")
    if asked is not None:
        names = [unquoted(item) for item in items_in(asked)]
        if len(names) != len(files) or not all(names):
            raise InputError(f"--name: expected {len(files)} names, separated by commas, got {asked!r}")
        if len(set(names)) < len(names):
            raise InputError(f"--name: expected names that differ, got {asked!r}")
        return names
    paths = [split_name(file)[0] for file in files]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(Path(*path.parts[-depth:]).with_suffix("").parts) for path in paths]
        if len(set(names)) == len(names):
            return names
    names = [f"{path.stem}{file.removeprefix(str(path))}" for path, file in zip(paths, files, strict=True)]
    return names if len(set(names)) == len(names) else list(files)


# Writing --------------------------------------------------------------------------------------------------------------


def _frame(found: "RepresentationComparison", words: Callable[[str | Exception], str]) -> "pd.DataFrame":
    """Return one table for programs: scores, then differences, whose ``minus`` says what was taken off."""
    import pandas as pd

    differences = found.to_frame().rename(columns={"second": "name", "first": "minus", "difference": "value"})
    differences["reason"] = [words(each.reason) for each in found.differences]
    whole = pd.concat([found.scores_frame(), differences], ignore_index=True)
    return whole.astype({"n": "Int64"})
