"""``demele score``: codes and factors in files, or the bundled demonstration; scores out."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli import score_sparse
from demele.cli.factor_options import add_reading
from demele.cli.functions import PythonFiles, folders_on_path, named_files, scored_metrics
from demele.cli.options import command, given, items_in, option, refuse, told_by
from demele.cli.output import FORMATS_FOR_PAPERS, format_of, warned, warnings_in_one_line, write_result
from demele.cli.progress import reporting
from demele.cli.score_files import DRAWN, reader, warn_of_shared_columns
from demele.cli.score_noise import add_noise, check_noise, read_noise
from demele.cli.score_several import add_several, in_groups, place_files, run_several
from demele.cli.targets import check_targets
from demele.core.errors import InputError, UnknownNameError
from demele.core.kinds import unquoted
from demele.core.score_documents import value_tables
from demele.files.label_files import column
from demele.files.named import holds_sparse, split_name

if TYPE_CHECKING:
    import pandas as pd

    from demele.core.results import Evaluation, Score

_DESCRIPTION = """\
Score a representation: one metric of each property, those named, or all.

CODES and FACTORS are files of the same rows: .npy, .npz, .csv, .tsv, .parquet or .json.
FILE::name picks an array of an .npz, FILE::a,b columns of a table; both may be the same file. A name with commas, or
with spaces at its ends, stands between double quotes, as in CSV: 'FILE::"score,v2",z1', --kinds '"size,v2"=continuous'.
Sparse CODES, an .npz of scipy.sparse.save_npz, are scored from their non-zeros, however many codes there are.
Several representations of the same rows, with --factors: scores side by side, and which differences are shown.
FOLDER, FOLDER::a,b: the rows of all its .parquet files. Folders, and files of over 4 GiB (.npy, .parquet), are read a
piece at a time: metrics of histograms count all rows, the others are of a random sample (--rows).
"""
_EXAMPLES = """\
examples:
  demele score codes.npy factors.csv
  demele score data.csv::z1,z2,z3 data.csv::shape,size --bootstrap 200
  demele score run/::z1,z2,z3 run/::shape,size --jobs 2
  demele score run.npz::codes run.npz::factors --metrics mig,dci_forest_modularity,irs
  demele score codes.csv factors.csv --metrics mig,mine.py::my_metric
  demele score codes.npy factors.csv --protocol robust --permutations 50 --report report.html
  demele score old.npy new.npy --factors factors.csv --bootstrap 50 --report both.html
  demele score --group beta1 b1/*.npy --group beta4 b4/*.npy --factors factors.csv
  demele score frames.csv::z1,z2 frames.csv::x,y --permutations 100 --blocks frames.csv::video
  demele score codes.csv factors.csv --code-groups circle=z1,z2 tilt=z3,z4
  demele score codes.npy factors.csv --factor-audit audited.csv --level 0.9
  demele score codes.npy factors.csv --aligned --bootstrap 50 --report axes.html
  demele score --demo --report demo.html
  demele score --replay "mig(bins=EqualWidth(bins=10), seed=0)" codes.npy factors.csv

Results go to stdout (a table on a terminal, JSON otherwise), progress and warnings to stderr.
Exit status: 0 done, 2 a mistake in the arguments or the data, 130 interrupted.
"""
#: What a signature already says; giving it again could only contradict it.
_IN_SIGNATURE = (
    *("metrics", "protocol", "bins", *DRAWN, "level", "seed", "missing", "kinds", "reg_dim"),
    *("rows", "ignore_index", "code_groups", "reduce_groups"),
)


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele score`` to the commands."""
    parser = command(
        commands,
        "score",
        _run,
        help="score a representation against known factors",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="CODES and FACTORS: the representation, one row per sample, and the known factors of the same rows; with "
        "--factors, CODES of one or several representations",
    )
    parser.add_argument("--demo", action="store_true", help="score four bundled representations of real digits")
    option(
        parser,
        "--replay",
        argument="signature",
        metavar="SIGNATURE",
        help="make one number again from its signature",
    )

    add_several(parser)

    what = parser.add_argument_group("what is computed")
    option(
        what,
        "--metrics",
        metavar="A,B,FILE.py::F",
        help="names, functions of Python files, or all (default: mig_sup,mig,explicitness)",
    )
    option(what, "--protocol")
    option(
        what,
        "--bins",
        metavar="B",
        help="bins of continuous columns: a number, equal-frequency:B or adaptive (default: the protocol's)",
    )
    option(what, "--seed", help="seed of everything random (default: 0)")
    option(
        what,
        "--reg-dim",
        type=_codes_named,
        metavar="I,J",
        help="the code meant for each factor: numbers from 0, or names",
    )
    option(
        what,
        "--code-groups",
        nargs="+",
        action="extend",
        type=_code_group,
        metavar="NAME=COLUMNS",
        help="columns that are one code together, such as circle=z1,z2: numbers from 0, or names",
    )
    option(
        what,
        "--reduce-groups",
        choices=("pca1",),
        help="take the first principal component of each group in place of its columns",
    )
    option(
        what,
        "--rows",
        argument="sample",
        help="of data read a piece at a time: rows for what is not counted (default: 100000)",
    )
    option(what, "--codes-std", metavar="FILE", help="standard deviations of stochastic codes, for rmig")
    yes: dict[str, Any] = {"action": "store_const", "const": True}
    option(
        what,
        "--aligned",
        help="score once more after the codes were turned towards the factors: raw, aligned and gap",
        **yes,
    )
    option(what, "--whiten", help="with --aligned: undo oblique maps and scales as well", **yes)
    option(what, "--code-names", metavar="FILE", help="names of sparse codes: one per line, or a column, FILE::column")

    trust = parser.add_argument_group("how far to trust it")
    option(
        trust,
        "--repeats",
        argument="n_repeats",
        dest="n_repeats",
        type=int,
        metavar="N",
        help="seeds for each stochastic metric (default: 1)",
    )
    option(
        trust,
        "--bootstrap",
        argument="n_bootstrap",
        dest="n_bootstrap",
        type=int,
        metavar="B",
        help="resamples, for intervals (default: 40, or 0 with --metrics)",
    )
    option(trust, "--level")
    option(
        trust,
        "--permutations",
        argument="n_permutations",
        dest="n_permutations",
        type=int,
        metavar="N",
        help="shuffles, for chance levels (default: 20, or 0 with --metrics)",
    )
    option(
        trust,
        "--blocks",
        metavar="FILE",
        help="which rows depend on each other, such as the video of each frame: one column of numbers or names; "
        "--permutations shuffles whole blocks",
    )

    add_noise(parser)
    reading = add_reading(parser)
    option(
        reading,
        "--ignore-index",
        action="store_const",
        const=True,
        help="pair the rows by position, also where Parquet files hold indexes with different labels",
    )

    out = parser.add_argument_group("output")
    option(
        out,
        "--name",
        metavar="N",
        help="what to call the representation (default: the CODES file); of several, a list A,B,...",
    )
    option(out, "--format", choices=FORMATS_FOR_PAPERS)
    option(out, "--details", action="store_true", help="per-factor and per-code values in the table too")
    option(out, "--output", "--report", "--methods", "--explain", "--force", "--jobs", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    place_files(arguments)
    if arguments.replay is not None:
        arguments.decided = {"sample" if name == "rows" else name for name in _IN_SIGNATURE}
    paths = named_files(arguments.metrics or ())
    _check(arguments, paths)
    with folders_on_path(paths):
        if arguments.metrics is not None:
            arguments.metrics = scored_metrics(arguments.metrics, PythonFiles())
        _score(arguments)


def _score(arguments: argparse.Namespace) -> None:
    if arguments.several or arguments.demo:
        run_several(arguments)
        return
    if arguments.codes is not None and holds_sparse(arguments.codes):
        if arguments.replay is not None:
            raise InputError("--replay: is for dense codes; the signature of sparse ones is the call that repeats them")
        score_sparse.run(arguments)
        return
    if arguments.code_names is not None and split_name(arguments.codes)[0].exists():
        raise InputError("--code-names: is for sparse codes; those of CODES are named by its columns; leave it out")
    if arguments.details and format_of(arguments.format, arguments.output, papers=True) != "table":
        raise InputError("--details: is for tables; the other formats hold all values")
    if arguments.replay is not None:
        score = _replayed(arguments)
        _write(arguments, score, [score], frame=lambda: _one_row(score))
        return
    evaluation = _evaluated(arguments)
    _write(arguments, evaluation, evaluation.scores)


def _write(
    arguments: argparse.Namespace,
    result: "Evaluation | Score",
    scores: "Sequence[Score]",
    frame: "Callable[[], pd.DataFrame] | None" = None,
) -> None:
    document = result.document()
    if arguments.details:
        document = replace(document, beside=[*document.beside, *value_tables(scores)])
    write_result(arguments, result, told_by(arguments), document=document, frame=frame)


def _one_row(score: "Score") -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame([score.row()])


# Before any computing --------------------------------------------------------------------------------------------


def check_metrics_are_one_list(argv: Sequence[str]) -> None:
    """Refuse ``--metrics mig sap``, whose second name would be taken for a file."""
    for position, word in enumerate(argv):
        option, _, value = word.partition("=")
        if option != "--metrics":
            continue
        first = [value] if value else []
        named = [*first, *takewhile(_is_no_file, argv[position + 1 :])]
        names = [name.strip() for word in named for name in word.split(",") if name.strip()]
        if len(named) > 1 and any(map(_is_metric, names[1:])):
            raise InputError(f"--metrics takes one list: {','.join(names)}")


def _is_no_file(word: str) -> bool:
    return not word.startswith("-") and not set(word) & set("./\\:") and not os.path.exists(word)


def _is_metric(name: str) -> bool:
    from demele.metrics.catalogue import resolve

    try:
        resolve(name)
    except UnknownNameError:
        return False
    return True


def _check(arguments: argparse.Namespace, files: Sequence[Path]) -> None:
    tables = [*arguments.several, *given(arguments, "codes", "factors", "codes_std", "code_names", "blocks").values()]
    if arguments.demo:
        if tables or arguments.replay is not None:
            raise InputError("--demo: brings its own codes and factors; leave out the files and --replay")
        if arguments.name is not None:
            raise InputError("--name: the representations of --demo have their names; leave it out")
    elif not arguments.several and (arguments.codes is None or arguments.factors is None):
        missing = "CODES and FACTORS" if arguments.codes is None else "FACTORS"
        raise InputError(f"{missing}: expected a file; --demo scores bundled data (see demele score --help)")
    if arguments.replay is not None:
        refuse(arguments, ("report", "aligned", "whiten"), "needs whole evaluations; leave it out with --replay")
        refuse(arguments, _IN_SIGNATURE, "with --replay, the signature decides; leave it out")
    check_noise(arguments)
    check_targets(arguments, ("report", "output", "methods"), files, files=tables)
    if arguments.protocol is not None:
        from demele.metrics.protocols import protocol

        protocol(arguments.protocol)


# Computing -------------------------------------------------------------------------------------------------------


def _evaluated(arguments: argparse.Namespace) -> "Evaluation":
    import demele

    named = ("protocol", "bins", "seed", "reg_dim", *DRAWN, "level", "missing", "kinds")
    options = given(arguments, *named, "ignore_index", "reduce_groups", "aligned", "whiten", sample="rows")
    options |= in_groups(arguments.code_groups) | _blocks(arguments)
    name, codes, factors, codes_std = _files(arguments)
    with (
        reporting(arguments.quiet, even=False) as report,
        warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)),
    ):
        return demele.evaluate(
            codes,
            factors,
            arguments.metrics,
            codes_std=codes_std,
            name=arguments.name or name,
            n_jobs=arguments.jobs,
            progress=report or False,
            **options,
            **read_noise(arguments, factors, warned(arguments.quiet)),
        )


def _replayed(arguments: argparse.Namespace) -> "Score":
    import demele

    _, codes, factors, codes_std = _files(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)):
        return demele.replay(arguments.replay, codes, factors, codes_std=codes_std, **_blocks(arguments))


def _blocks(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the blocks of rows, as the library takes them."""
    return {} if arguments.blocks is None else {"blocks": column(arguments.blocks, warned(arguments.quiet))}


def _files(arguments: argparse.Namespace) -> tuple[str, object, object, object]:
    read = reader(quiet=arguments.quiet)
    if not arguments.quiet:
        warn_of_shared_columns(arguments.codes, arguments.factors)
    codes, factors = read(arguments.codes), read(arguments.factors)
    codes_std = None if arguments.codes_std is None else read(arguments.codes_std)
    return split_name(arguments.codes)[0].stem, codes, factors, codes_std


# Arguments -------------------------------------------------------------------------------------------------------


def _codes_named(text: str) -> list[int | str]:
    return [int(item) if item.lstrip("-").isdecimal() else unquoted(item) for item in items_in(text)]


def _code_group(text: str) -> tuple[str, list[int | str]]:
    name, mark, columns = text.partition("=")
    if not mark or not name.strip():
        raise argparse.ArgumentTypeError(f"expected NAME=COLUMNS, such as circle=z1,z2, got {text!r}")
    return unquoted(name), _codes_named(columns)
