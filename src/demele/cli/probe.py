"""``demele probe``: how few codes of a dictionary tell each class, among how many it is split, what absorbs it."""

import argparse
from typing import TYPE_CHECKING, Any

from demele.cli.codes_alone import add_output
from demele.cli.factor_options import add_reading
from demele.cli.options import command, given, option, refuse, told_by, whole_numbers_in
from demele.cli.output import log, warned, warnings_in_one_line, write_result
from demele.cli.score_files import warn_of_shared_columns
from demele.cli.score_sparse import names_of_codes
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.files.named import holds_sparse, read_sparse, read_table

if TYPE_CHECKING:
    from demele.core.results import Score

_DESCRIPTION = """\
Say how well one code, or a few, tell each class of the factors: codes of a sparse dictionary, or dense ones.

  demele probe CODES FACTORS                 2 accuracy - 1 of a probe of the 1, 2 and 5 codes that differ most
  demele probe CODES FACTORS --splitting     among how many codes each class is divided
  demele probe CODES FACTORS --absorption    share of each class on which its codes are silent and another carries it

CODES: an .npz of scipy.sparse.save_npz, which is never made dense, or any file of numbers.
"""
_EXAMPLES = """\
examples:
  demele probe codes.npz factors.csv --code-names names.txt --permutations 20
  demele probe codes.npz factors.csv --top 1,10 --format csv
  demele probe codes.npz factors.csv --absorption --decoder decoder.npy --activations activations.npy
"""
_OF_PROBING = ("top", "ranking", "n_permutations")
_OF_CLASSES = ("jump", "most", "screen")
_OF_ABSORPTION = ("decoder", "activations")


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele probe`` to the commands."""
    parser = command(
        commands,
        "probe",
        _run,
        help="say how few codes of a dictionary tell each class, and how classes are split and absorbed",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument("codes", metavar="CODES", help="one row per sample, one column per code, sparse or dense")
    parser.add_argument("factors", metavar="FACTORS", help="the same rows, one column per factor")
    task = parser.add_argument_group("what is asked").add_mutually_exclusive_group()
    option(task, "--splitting", action="store_true", help="count the codes among which each class is divided")
    option(task, "--absorption", action="store_true", help="look for codes that take rows from those of a class")
    how = parser.add_argument_group("how")
    option(how, "--top", argument="k", type=whole_numbers_in, metavar="K,K", help="codes in a probe (default: 1,2,5)")
    option(how, "--ranking", choices=("standardised", "raw"), help="how codes are ranked (default: standardised)")
    option(how, "--jump", type=float, metavar="F", help="gain of F1 that makes a code one of the class (default: 0.03)")
    option(how, "--most", type=int, metavar="K", help="most codes of a class (default: 10)")
    option(how, "--screen", type=int, metavar="K", help="codes that the probe of a class is given (default: 200)")
    option(how, "--decoder", metavar="FILE", help="with --absorption: a row for each code, see --activations")
    option(how, "--activations", metavar="FILE", help="with --absorption: a row for each sample, of what was encoded")
    option(how, "--score-on", choices=("unseen", "training"), help="rows that probes are judged on (default: unseen)")
    option(how, "--rows", argument="n_rows", type=int, metavar="N", help="most rows of a probe (default: 20000)")
    option(
        how,
        "--permutations",
        argument="n_permutations",
        dest="n_permutations",
        type=int,
        metavar="N",
        help="repeat all with C shuffles of the factors (default: 0)",
    )
    option(how, "--code-names", metavar="FILE", help="names of sparse codes: one per line, or a column, FILE::column")
    option(how, "--seed")
    add_reading(parser)
    add_output(parser)


def _run(arguments: argparse.Namespace) -> None:
    import demele

    files = [getattr(arguments, name) for name in ("codes", "factors", *_OF_ABSORPTION, "code_names")]
    check_targets(arguments, ("output",), files=[file for file in files if file is not None])
    function: Any = demele.sparse_probing
    options = given(arguments, "score_on", "seed", "missing", "kinds", n_rows="rows")
    if arguments.splitting or arguments.absorption:
        refuse(arguments, _OF_PROBING, "has no part in --splitting and --absorption")
        options |= given(arguments, *_OF_CLASSES)
        function = demele.absorption if arguments.absorption else demele.splitting
    else:
        refuse(arguments, _OF_CLASSES, "is for --splitting and --absorption")
        options |= given(arguments, "ranking", "n_permutations", k="top")
    if not arguments.absorption:
        refuse(arguments, _OF_ABSORPTION, "is for --absorption")
    warn, words = warned(arguments.quiet), told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        if holds_sparse(arguments.codes):
            codes: Any = read_sparse(arguments.codes)
            if arguments.code_names is not None:
                options["code_names"] = names_of_codes(arguments.code_names, warn=warn)
        elif arguments.code_names is not None:
            raise InputError("--code-names: is for sparse codes; those of CODES are named by its columns; leave it out")
        else:
            codes = read_table(arguments.codes, warn=warn)
        factors = read_table(arguments.factors, warn=warn)
        options |= {name: read_table(file, warn=warn) for name, file in given(arguments, *_OF_ABSORPTION).items()}
        if not arguments.quiet:
            warn_of_shared_columns(arguments.codes, arguments.factors)
        found = function(codes, factors, **options)
    _write(arguments, found)


def _write(arguments: argparse.Namespace, found: "Score") -> None:
    write_result(arguments, found, told_by(arguments), frame=lambda: _frame(found), papers=False)
    if arguments.output is not None and not arguments.quiet:
        log(f"demele: results in {arguments.output}")


def _frame(found: "Score") -> Any:
    """Return a row for each class, of several codes their names in one cell."""
    import pandas as pd

    return pd.DataFrame([{name: _joined(cell) for name, cell in row.items()} for row in found.details["classes"]])


def _joined(cell: object) -> object:
    return " ".join(map(str, cell)) if isinstance(cell, tuple) else cell
