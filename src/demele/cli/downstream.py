"""``demele downstream``: how well factors are learnt from codes, and what predictions follow."""

import argparse
from typing import Any

from demele.cli.codes_alone import add_output, write
from demele.cli.factor_options import add_reading
from demele.cli.options import command, given, option, refuse, told_by, whole_numbers_in
from demele.cli.output import warned, warnings_in_one_line
from demele.cli.score_files import warn_of_shared_columns
from demele.cli.targets import check_targets
from demele.files.named import read_table

_DESCRIPTION = """\
Say how well each factor is learnt from the codes: accuracy of classes, R2 of numbers, on rows that the predictor has
not seen.

  demele downstream CODES FACTORS                     from few rows and from many
  demele downstream CODES FACTORS --without-best 1    from the best code alone, and from all others
  demele downstream CODES FACTORS --new-values        where another factor takes values that training rows never had
  demele downstream CODES FACTORS --fairness          how far predictions differ between groups of other factors
"""
_EXAMPLES = """\
examples:
  demele downstream codes.npy factors.csv --probe logistic --repeats 5
  demele downstream data.csv::z1,z2 data.csv::shape,size --sizes 50,500 --format csv
  demele downstream codes.npy factors.csv --fairness --permutations 20
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele downstream`` to the commands."""
    parser = command(
        commands,
        "downstream",
        _run,
        help="say how well, and from how few rows, factors are learnt from codes",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument("codes", metavar="CODES", help="one row per sample, one column per code")
    parser.add_argument("factors", metavar="FACTORS", help="the same rows, one column per factor")
    task = parser.add_argument_group("what is asked").add_mutually_exclusive_group()
    option(
        task,
        "--without-best",
        argument="remove",
        type=int,
        metavar="K",
        help="predict each factor from its best K codes alone, and from all others",
    )
    option(task, "--new-values", action="store_true", help="train on one value of another factor, test on the others")
    option(task, "--fairness", action="store_true", help="compare predictions between groups of other factors")
    how = parser.add_argument_group("how")
    option(how, "--probe", choices=("boosting", "logistic"), help="who predicts (default: boosting)")
    option(how, "--sizes", type=whole_numbers_in, metavar="N,N", help="training rows (default: 10,100,1000,10000)")
    option(how, "--test-rows", argument="n_test", type=int, metavar="N", help="rows to test on (default: 5000)")
    option(
        how,
        "--repeats",
        argument="n_repeats",
        dest="n_repeats",
        type=int,
        metavar="N",
        help="splits whose scores are averaged (default: 1)",
    )
    option(
        how,
        "--permutations",
        argument="n_permutations",
        dest="n_permutations",
        type=int,
        metavar="N",
        help="with --fairness: shuffles of the groups (default: 0)",
    )
    option(how, "--seed")
    add_reading(parser)
    add_output(parser)


def _run(arguments: argparse.Namespace) -> None:
    import demele

    check_targets(arguments, ("output",), files=[arguments.codes, arguments.factors])
    options = given(arguments, "probe", "seed", "missing", "kinds", n_test="test_rows")
    function: Any = demele.downstream
    if arguments.fairness:
        refuse(arguments, ("sizes", "n_repeats"), "has no part in --fairness")
        function, options = demele.fairness, options | given(arguments, "n_permutations")
    else:
        refuse(arguments, ("n_permutations",), "is for --fairness")
    if arguments.without_best is not None or arguments.new_values:
        refuse(arguments, ("sizes", "n_repeats"), "has no part in --without-best and --new-values")
    if arguments.without_best is not None:
        function, options = demele.reduced_downstream, options | {"remove": arguments.without_best}
    elif arguments.new_values:
        function = demele.strong_downstream
    elif not arguments.fairness:
        options |= given(arguments, "sizes", "n_repeats")
    warn, words = warned(arguments.quiet), told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        codes = read_table(arguments.codes, warn=warn)
        factors = read_table(arguments.factors, warn=warn)
        if not arguments.quiet:
            warn_of_shared_columns(arguments.codes, arguments.factors)
        found = function(codes, factors, **options)
    write(arguments, found)
