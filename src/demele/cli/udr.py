"""``demele udr``: trained models ranked without factors."""

import argparse
from typing import Any

from demele.cli.codes_alone import add_output, write
from demele.cli.options import command, given, option, told_by
from demele.cli.output import warned, warnings_in_one_line
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.files.named import read_table

_DESCRIPTION = """\
Rank trained models without factors: how well each one's codes are found again by the others (UDR, Duan et al. 2020).
Each file holds the codes of one model, of the same samples in the same order.
"""
_EXAMPLES = """\
examples:
  demele udr seed0.npy seed1.npy seed2.npy
  demele udr a.npy b.npy c.npy --codes-std a-std.npy b-std.npy c-std.npy --similarity spearman
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele udr`` to the commands."""
    parser = command(
        commands,
        "udr",
        _run,
        help="rank trained models by how well others find their codes, without factors",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument("codes", nargs="+", metavar="CODES", help="the codes of a model; at least two files")
    option(parser, "--similarity", choices=("lasso", "spearman"), help="of codes of two models (default: lasso)")
    option(
        parser,
        "--codes-std",
        nargs="+",
        metavar="FILE",
        help="standard deviations of the posteriors, a file for each model: codes that hold nothing are left out",
    )
    add_output(parser)


def _run(arguments: argparse.Namespace) -> None:
    import demele

    stds = arguments.codes_std or ()
    check_targets(arguments, ("output",), files=[*arguments.codes, *stds])
    if stds and len(stds) != len(arguments.codes):
        raise InputError(f"--codes-std: expected a file for each of the {len(arguments.codes)} models, got {len(stds)}")
    repeated = sorted({name for name in arguments.codes if arguments.codes.count(name) > 1})
    if repeated:
        raise InputError(f"CODES: {repeated[0]} is given twice; a model agrees with itself")
    warn, words = warned(arguments.quiet), told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        models = {name: read_table(name, warn=warn) for name in arguments.codes}
        options = given(arguments, "similarity")
        if stds:
            options["codes_std"] = [read_table(name, warn=warn) for name in stds]
        found = demele.udr(models, **options)
    write(arguments, found)
