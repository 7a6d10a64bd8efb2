"""What is known of the labels: options that ``demele assess`` and ``demele compare`` share, and their files."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.cli.options import given, option
from demele.core.errors import InputError
from demele.core.sentences import plural
from demele.files.audit_files import TRUE, audit_of, read_answers
from demele.files.expert_sheets import key_path
from demele.files.label_files import classes_named, column, in_file, read_transition
from demele.files.model_logs import OTHER_ANSWER
from demele.files.named import split_name
from demele.files.sheet_answers import read_sheet
from demele.files.table_files import Warn
from demele.files.workbooks import is_sheet_name

if TYPE_CHECKING:
    from demele.files.prediction_sets import PredictionSet
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
    parser.set_defaults(second_audit=None)
    option(known, "--noise-rate", "--transition", "--audit", "--audit-design", "--audit-key")
    option(known, "--unseen-positives", "--expert-error", "--expert-errors", "--true-labels", "--groups", "--classes")


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


def read_knowledge(arguments: argparse.Namespace, found: "PredictionSet", warn: Warn) -> dict[str, Any]:
    """Return what was given, as arguments of the library; but for the true labels, whose classes others may change.

    A second audit was drawn where the classifiers of ``found`` disagree, or where the only one contradicts the labels.
    """
    from demele.core.labelled import read_labels

    labels = read_labels(found.labels, "labels")
    known = given(arguments, "level", "expert_error", "expert_errors", noise="noise_rate")
    if found.classes is not None:
        known["classes"] = found.classes
    if arguments.transition is not None:
        known["noise"] = read_transition(arguments.transition, labels, warn)
    if arguments.groups is not None:
        known["groups"] = _groups(arguments.groups, found, warn)
    if arguments.classes is not None:
        known["classes"] = classes_named(arguments.classes, labels)
    if arguments.audit is not None:
        texts = [text for text in (arguments.audit, arguments.second_audit) if text is not None]
        audits = [_audit(text, arguments, labels, found, known.get("classes"), warn) for text in texts]
        known["audit"] = audits[0] if len(audits) == 1 else _joined(audits, texts, found.predictions.values(), labels)
    if arguments.unseen_positives is not None:
        known["audit"] = _assuming(known.get("audit"), arguments.unseen_positives)
    return known


def _assuming(audit: "Audit | None", most: float) -> "Audit":
    """Return an audit in strata with an assumption on the rows outside the first."""
    if audit is None or audit.within is None:
        raise InputError("--unseen-positives: expected an --audit that demele audit --positive drew")
    kept: dict[str, Any] = {"design": audit.design, "unclear": audit.unclear, "within": audit.within}
    return type(audit)(audit.rows, audit.labels, unseen_positives=most, **kept)


def _groups(text: str, found: "PredictionSet", warn: Warn) -> Any:
    """Read which rows belong together, from a file or from a field of logs."""
    if not found.fields or split_name(text)[0].exists():
        return column(text, warn)
    values = found.values_of(text)
    if None in values:
        first = found.fields[values.index(None)]["id"]
        lacking = plural(values.count(None), "question has", "questions have")
        raise InputError(f"--groups: {lacking} no {text}, first {first}")
    return [f"{fields['task']}/{value}" for fields, value in zip(found.fields, values, strict=True)]


def _joined(audits: Sequence["Audit"], texts: Sequence[str], predictions: Iterable[Any], labels: Any) -> "Audit":
    """Join an audit of all rows and one of the rows on which classifiers disagree."""
    from demele.core.labelled import read_labels
    from demele.labels import join_audits

    said = [read_labels(values, "predictions") for values in predictions]
    others, what = (
        (said[1:], "the classifiers disagree") if len(said) > 1 else ([labels], "PREDICTIONS contradict LABELS")
    )
    apart = np.any([said[0] != other for other in others], axis=0)
    if not apart.any():
        raise InputError(f"--audit {texts[1]}: expected rows on which {what}, of which there are none; leave it out")
    with in_file("--audit", first=texts[0], second=texts[1], within=f"rows on which {what}"):
        return join_audits(*audits, within=np.flatnonzero(apart))


def _audit(
    text: str,
    arguments: argparse.Namespace,
    labels: NDArray[Any],
    found: "PredictionSet",
    classes: Sequence[object] | None,
    warn: Warn,
) -> "Audit":
    """Read an expert's sheet, if there is a key to it, or else the file that has the rows themselves."""
    sheet, key, as_known = Path(text), arguments.audit_key, found.as_known if found.open else None
    if key is None and not (is_sheet_name(sheet) and key_path(sheet).exists()):
        if sheet.suffix.lower() == ".xlsx":
            raise InputError(f"--audit-key: {sheet} is an expert's sheet, and {key_path(sheet)} is not there; name it")
        answers = read_answers(text, labels, warn, as_known)
    else:
        answers = read_sheet(sheet, labels, key=key, classes=classes, as_known=as_known)
    audit = audit_of(answers, arguments.audit_design, warn)
    others = list(audit.labels).count(OTHER_ANSWER)
    if others:
        warn(
            f"{text}: {plural(others, 'answer is', 'answers are')} none that a model or a log gave: no model is right "
            "there"
        )
    return audit
