"""``demele audit plan``: what an audit would settle before anybody labels a row, and how many more rows would after."""

import argparse
from typing import TYPE_CHECKING, Any

from demele.cli.knowledge import CALLED, check_knowledge, read_knowledge
from demele.cli.options import command, given, option, shares_in, told_by, whole_numbers_in
from demele.cli.output import deliver, warned, warnings_in_one_line
from demele.cli.progress import reporting
from demele.cli.several_files import add_joining, read_models
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.files.label_files import suggesting_classes
from demele.files.log_sets import is_log

if TYPE_CHECKING:
    from demele.evaluation import AuditForecast

_DESCRIPTION = """\
Say what an audit would settle, before an expert labels a row: audits of each size and design are simulated, for wrong
labels anywhere and for ones that favour the model that leads, and read by the comparisons of demele compare. With the
--audit that there is: how many more rows would settle it, or that none would.

  demele audit plan PREDICTIONS LABELS     models, one column each
  demele audit plan A B LABELS             a file for each model
  demele audit plan LOG LOG                logs of lm-evaluation-harness or Inspect, which bring their labels

A file of labels that is called plan is written ./plan.
"""
_EXAMPLES = """\
examples:
  demele audit plan data.csv::a,b data.csv::label --report plan.html
  demele audit plan data.csv::a,b data.csv::label --rows 100,300 --wrong 0.02,0.1
  demele audit plan data.csv::a,b data.csv::label --audit audit.csv     (how many more?)

Results go to stdout (a table on a terminal, JSON otherwise), warnings to stderr.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele audit plan`` to the commands."""
    parser = command(
        commands,
        "audit plan",
        _run,
        help="what audits of which size would settle, or how many more rows would",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called=CALLED,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="predictions, and labels last; or logs")
    add_joining(parser)
    what = parser.add_argument_group("what is simulated")
    option(
        what,
        "--rows",
        argument="sizes",
        type=whole_numbers_in,
        metavar="K,K",
        help="rows that the expert labels, in all (default: 50,100,200,500,1000; after an audit up to 1600 more)",
    )
    option(
        what,
        "--wrong",
        type=shares_in,
        metavar="R,R",
        help="shares of wrong labels that are assumed, one after the other (default: 0.01,0.05)",
    )
    option(what, "--audit", help="expert labels that there are: how many more rows would settle it?")
    option(what, "--audit-design", "--audit-key", "--classes")
    option(what, "--level", help="confidence of the verdict (default: 0.95)")
    option(what, "--inference", choices=("population", "test_set"), help="on new instances (the default), or on these")
    option(what, "--draws", type=int, metavar="N", help="simulated truths for each assumption (default: 40)")
    option(what, "--seed")
    out = parser.add_argument_group("output")
    option(out, "--format", "--output", "--report", "--explain", "--force", "--quiet")
    unused = "second_audit noise_rate transition groups expert_error expert_errors true_labels unseen_positives"
    parser.set_defaults(**dict.fromkeys(unused.split()))


def _run(arguments: argparse.Namespace) -> None:
    check_targets(arguments, ("report", "output"), files=[*arguments.files, arguments.audit])
    check_knowledge(arguments)
    if arguments.audit is not None and arguments.wrong is not None:
        raise InputError("--wrong: has no part beside --audit, which says how many labels are wrong")
    warn, words = warned(arguments.quiet), told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        found = _forecast(arguments, warn)
    deliver(arguments, found, words)


def _forecast(arguments: argparse.Namespace, warn: Any) -> "AuditForecast":
    from demele import evaluation

    files = arguments.files
    if len(files) < (1 if any(map(is_log, files)) else 2):
        raise InputError(f"expected PREDICTIONS LABELS, got {len(files)} file (see demele audit plan --help)")
    found, _ = read_models(arguments, files, warn)
    known = read_knowledge(arguments, found, warn)
    known |= given(arguments, "wrong", "inference", "draws", "seed", sizes="rows")
    with suggesting_classes([*found.predictions.values(), found.labels]), reporting(arguments.quiet) as report:
        return evaluation.plan_audit(found.predictions, found.labels, progress=report or False, **known)
