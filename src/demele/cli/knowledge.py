"""What is known of the labels: options that ``demele assess`` and ``demele compare`` share, and their files."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from demele.cli.options import given, option
from demele.core.errors import InputError
from demele.files.audit_files import TRUE, read_audit
from demele.files.expert_sheets import key_path
from demele.files.label_files import classes_named, column, read_transition
from demele.files.sheet_answers import read_sheet, sheet_audit
from demele.files.table_files import Warn
from demele.files.workbooks import is_sheet_name

if TYPE_CHECKING:
    from demele.noise.audit import Audit

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
    option(known, "--noise-rate", "--transition", "--audit", "--audit-design", "--audit-key")
    option(known, "--expert-error", "--expert-errors", "--true-labels", "--groups", "--classes")


def check_knowledge(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other."""
    if arguments.noise_rate is not None and arguments.transition is not None:
        raise InputError("--transition: --noise-rate is given too; one of them")
    if arguments.audit_design is not None and arguments.audit is None:
        raise InputError("--audit-design: says how the rows of --audit were chosen, which is not given")
    if arguments.audit_key is not None and arguments.audit is None:
        raise InputError("--audit-key: leads from the sheet of --audit back to its rows, which is not given")
    if arguments.expert_errors is not None and arguments.expert_error is None:
        raise InputError("--expert-errors: says how the expert errs, but not how often; give --expert-error E as well")


def read_knowledge(arguments: argparse.Namespace, labels: NDArray[Any], warn: Warn) -> dict[str, Any]:
    """Return what was given, as arguments of the library; but for the true labels, whose classes others may change."""
    known = given(arguments, "level", "expert_error", "expert_errors", noise="noise_rate")
    if arguments.transition is not None:
        known["noise"] = read_transition(arguments.transition, labels, warn)
    if arguments.groups is not None:
        known["groups"] = column(arguments.groups, warn)
    if arguments.classes is not None:
        known["classes"] = classes_named(arguments.classes, labels)
    if arguments.audit is not None:
        known["audit"] = _audit(arguments, labels, known.get("classes"), warn)
    return known


def _audit(
    arguments: argparse.Namespace, labels: NDArray[Any], classes: Sequence[object] | None, warn: Warn
) -> "Audit":
    """Read an expert's sheet, if there is a key to it, or else the file that has the rows themselves."""
    sheet, key = Path(arguments.audit), arguments.audit_key
    if key is None and not (is_sheet_name(sheet) and key_path(sheet).exists()):
        if sheet.suffix.lower() == ".xlsx":
            raise InputError(f"--audit-key: {sheet} is an expert's sheet, and {key_path(sheet)} is not there; name it")
        return read_audit(arguments.audit, arguments.audit_design, labels, warn)
    answers = read_sheet(sheet, labels, key=key, classes=classes)
    if arguments.audit_design not in (None, answers.key.design):
        raise InputError(f"--audit-design {arguments.audit_design}: the key of {sheet} says {answers.key.design}")
    return sheet_audit(sheet, answers, warn)
