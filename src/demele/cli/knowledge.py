"""What is known of the labels: options that ``demele assess`` and ``demele compare`` share, and their files."""

import argparse
from typing import Any

from numpy.typing import NDArray

from demele.cli.options import given, option
from demele.core.errors import InputError
from demele.files.audit_files import TRUE, read_audit
from demele.files.label_files import classes_named, column, read_transition
from demele.files.table_files import Warn

#: Parts of arguments, by the columns that they come from; and positional files.
CALLED = {
    "audit.labels": f"--audit, column {TRUE}",
    "cleaning.suggested": "--suspects, second column",
    "predictions": "PREDICTIONS",
    "labels": "LABELS",
}


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """Add what may be known of the labels to the options of a command."""
    known = parser.add_argument_group("what is known of the labels")
    option(known, "--noise-rate", "--transition", "--audit", "--audit-design", "--expert-error", "--expert-errors")
    option(known, "--true-labels", "--groups", "--classes")


def check_knowledge(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other."""
    if arguments.noise_rate is not None and arguments.transition is not None:
        raise InputError("--transition: --noise-rate is given too; one of them")
    if arguments.audit_design is not None and arguments.audit is None:
        raise InputError("--audit-design: says how the rows of --audit were chosen, which is not given")
    if arguments.expert_errors is not None and arguments.expert_error is None:
        raise InputError("--expert-errors: says how the expert errs, but not how often; give --expert-error E as well")


def read_knowledge(arguments: argparse.Namespace, labels: NDArray[Any], warn: Warn) -> dict[str, Any]:
    """Return what was given, as arguments of the library; but for the true labels, whose classes others may change."""
    known = given(arguments, "level", "expert_error", "expert_errors", noise="noise_rate")
    if arguments.transition is not None:
        known["noise"] = read_transition(arguments.transition, labels, warn)
    if arguments.audit is not None:
        known["audit"] = read_audit(arguments.audit, arguments.audit_design, labels, warn)
    if arguments.groups is not None:
        known["groups"] = column(arguments.groups, warn)
    if arguments.classes is not None:
        known["classes"] = classes_named(arguments.classes, labels)
    return known
