"""``demele compare`` and ``assess``; and a test set as every command on classifiers reads it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from demele.classifiers.comparison.compare import compare, rank
from demele.classifiers.measures.assess import assess
from demele.cli.engine import Call, Command, Given, flag_of
from demele.core.arrays import pd
from demele.core.errors import InputError, plural, shortened
from demele.core.labelled import read_labels
from demele.files import label_files
from demele.files.audit_files import TRUE
from demele.files.expert_sheets import read_any_audit
from demele.files.named import split_name
from demele.files.prediction_sets import PredictionSet, is_log, read_predictions

if TYPE_CHECKING:
    from demele.noise.audit import Audit


#: Options with the rows of LABELS in their order; of these, what is checked against the labels or may be a field of
#: logs; and what names a class of each row.
_BY_ROW = ("audit", "answers", "true_labels", "difficulty", "cleaning", "reference", "groups")
_CHECKED = ("audit", "answers", "groups")
_CLASSES = ("true_labels", "reference")


def read_test_set(
    given: Given,
    files: Sequence[str],
    *,
    single: bool | None = None,
    names: Sequence[str] | None = None,
    audit_design: Literal["uniform", "weighted", "selective"] | None = None,
    audit_key: Path | None = None,
    unseen_positives: float | None = None,
) -> tuple[PredictionSet, dict[str, Any]]:
    """Read predictions and labels, and the options of the same rows as arguments of the library.

    Parameters
    ----------
    names : sequence of str, optional
        Names of the models (default: their columns or files).
    audit_design : str, optional
        Design of the audit, if its file does not say it.
    audit_key : Path, optional
        Key of the expert's sheet (default: NAME.key.json next to it).
    unseen_positives : float, optional
        Largest share of positive rows outside the stratum of --positive.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    logs, joined = any(map(is_log, files)), {"id", "scores"} & given.options.keys()
    if not logs and len(files) < 2:
        raise InputError(f"expected PREDICTIONS LABELS, got {files[0]} alone; only logs bring their labels")
    models: Any = files if logs else files[:-1]
    if single and not logs and not joined:
        called = (list(map(label_files.name_of, models)), [split_name(text)[0].stem for text in models])
        alone = next((one for one in called if len(set(one)) == len(models)), ("baseline", "candidate"))
        models = dict(zip(alone, models, strict=True))
    found: PredictionSet = given.call(read_predictions, models, None if logs else files[-1])
    for note in found.notes:
        given.warn(note)
    held = [name for name in _BY_ROW if name in given.options]
    if found.left_out:
        by_row = [name for name in held if not (found.fields and name in _CHECKED)]
        if by_row:
            raise InputError(f"{flag_of(by_row[0])}: counts the rows of LABELS, but --ids common leaves some out")
        rows = plural(found.left_out, "row", "rows")
        given.warn(f"{rows} that not all files have left out; {found.labels.size} are compared")
    wrong = [name for name in held if name not in ("difficulty", "groups")]
    if found.graded and wrong:
        raise InputError(f"{flag_of(wrong[0])}: holds classes, but the logs say only whether an answer was right")
    if names is not None:
        if len(set(names)) != len(names) or len(names) != len(found.predictions):
            raise InputError(f"--names: expected {len(found.predictions)} different names, got {','.join(names)}")
        found = replace(found, predictions=dict(zip(names, found.predictions.values(), strict=True)))
    columns: dict[Any, Any] = {("model", name): values for name, values in found.predictions.items()}
    classes = given.read(**dict.fromkeys(_CLASSES, lambda file: label_files.column(file, given.warn)))
    columns = label_files.in_one_vocabulary({**columns, "labels": found.labels, **classes})
    predictions = {name: columns["model", name] for name in found.predictions}
    found = replace(found, predictions=predictions, labels=columns["labels"])
    labels, warn = read_labels(found.labels, "labels"), given.warn
    known: dict[str, Any] = {} if found.classes is None else {"classes": found.classes}
    known |= given.read(
        noise=lambda word: label_files.read_transition(word, labels, warn) if isinstance(word, str) else word,
        groups=lambda word: _groups(word, found, warn),
        classes=lambda word: label_files.classes_named(word, labels),
        difficulty=lambda word: label_files.column(word, warn, numbers=True),
        cleaning=lambda word: label_files.read_cleaning(word, labels, warn),
        of=lambda word: label_files.classes_named(word, labels)[0] if "," not in word else word,
    )
    known |= {name: columns[name] for name in classes}
    if "audit" in given.options:
        texts = given.take("audit")
        asked: dict[str, Any] = {"design": audit_design, "key": audit_key, "classes": known.get("classes")}
        audits = [read_any_audit(text, labels, given.warn, as_known=found.as_known, **asked) for text in texts]
        known["audit"] = audits[0] if len(audits) == 1 else _joined(audits, texts, found)
    elif audit_design is not None or audit_key is not None:
        raise InputError("--audit-design and --audit-key: are for --audit, which is not given")
    if unseen_positives is not None:
        audit = known.get("audit")
        if audit is None or audit.within is None:
            raise InputError("--unseen-positives: expected an --audit that demele audit draw --positive drew")
        kept: dict[str, Any] = {"design": audit.design, "unclear": audit.unclear, "within": audit.within}
        known["audit"] = type(audit)(audit.rows, audit.labels, unseen_positives=unseen_positives, **kept)
    given.within.enter_context(label_files.suggesting_classes([*found.predictions.values(), found.labels]))
    return found, known


def _groups(text: str, found: PredictionSet, warn: Callable[[str], None]) -> Any:
    """Read which rows belong together, from a file or from a field of logs."""
    if not found.fields or split_name(text)[0].exists():
        return label_files.column(text, warn)
    values = found.values_of(text)
    if None in values:
        first = found.fields[values.index(None)]["id"]
        lacking = plural(values.count(None), "question has", "questions have")
        raise InputError(f"--groups: {lacking} no {text}, first {first}")
    return [f"{fields['task']}/{value}" for fields, value in zip(found.fields, values, strict=True)]


# Audits --------------------------------------------------------------------------------------------------------------


def _joined(audits: "Sequence[Audit]", texts: Sequence[str], found: PredictionSet) -> "Audit":
    """Join an audit of all rows and one of the rows on which classifiers disagree, or contradict the labels."""
    from demele.labels import join_audits

    said = [read_labels(values, "predictions") for values in found.predictions.values()]
    several = len(said) > 1
    others: Iterable[Any] = said[1:] if several else [read_labels(found.labels, "labels")]
    what = "the classifiers disagree" if several else "PREDICTIONS contradict LABELS"
    apart = np.any([said[0] != other for other in others], axis=0)
    if len(audits) > 2:
        raise InputError("--audit: expected at most 2 files, one of all rows and one of the rows in dispute")
    if not apart.any():
        raise InputError(f"--audit {texts[1]}: there are no rows on which {what}; leave it out")
    with label_files.in_file("--audit", first=texts[0], second=texts[1], within=f"rows on which {what}"):
        return join_audits(*audits, within=np.flatnonzero(apart))


# ``demele compare``: two classifiers, or a ranking of several, on labels that may be wrong ----------------------------


def two_of(found: PredictionSet) -> dict[str, Any]:
    """Return two classifiers and the labels as the library calls them."""
    if len(found.predictions) != 2:
        named = ", ".join(map(shortened, found.predictions))
        raise InputError(f"expected one column of predictions in each file, got {named}")
    (first, baseline), (second, candidate) = found.predictions.items()
    series = pd.Series(baseline, name=first), pd.Series(candidate, name=second)
    return {"baseline": series[0], "candidate": series[1], "labels": found.labels}


class OfTestSet(Command):
    """A command on predictions and labels; its arguments are called as they are on the command line."""

    without = "single"
    readers: ClassVar[tuple[Callable[..., Any], ...]] = (read_predictions, read_test_set)
    called: ClassVar = {
        "audit.labels": f"--audit, column {TRUE}",
        "cleaning.suggested": "--cleaning, second column",
        "predictions": "PREDICTIONS",
    }


class Compare(OfTestSet):
    """Compare two classifiers, or rank several.

    Prefers the baseline unless the candidate is significantly better, and reports how many wrong labels could reverse
    the result. Files have the same rows with one class in each; see demele help files.

    Names for --method:
      worst-case           exact paired worst case (default for accuracy); without --noise it is McNemar's exact test,
                           which takes every label as correct
      overlap              overlap of the two intervals; takes every label as correct (default for other measures)
      worst-case-overlap   overlap after the worst bias of both; needs --noise
      audit                expert labels of a random sample (default with --audit)
      sequential           expert labels one at a time; see demele audit next
      hard-rows            overlap, with the hardest rows given to the baseline; needs --difficulty
      cleaned              overlap after a cleaning; needs --cleaning
      agreement            agreement with a third classifier; needs --reference and independent errors
      true-labels          overlap on the true labels; needs --true-labels

    Examples
    --------
    demele compare data.csv::old data.csv::new data.csv::label
    demele compare models.csv labels.npy --noise 0.03 -o report.html
    demele compare old/samples_mmlu.jsonl new/samples_mmlu.jsonl --noise 0.03 --fail-unless candidate
    """

    functions: ClassVar = {"two classifiers": compare, "several models": rank}
    usage = ("BASELINE CANDIDATE LABELS", "PREDICTIONS... LABELS", "LOG...")
    short = "noise audit method measure of groups classes id level seed"

    def _run(self, given: Given) -> Call:
        files = given.files
        found, known = given.call(read_test_set, given, files, single=len(files) == 3)
        several = len(found.predictions) != 2 if found.fields else len(files) != 3
        if not several:
            return given.bind(compare, **two_of(found), **known)
        if len(found.predictions) < 2:
            raise InputError(
                f"{files[0]}: expected the predictions of at least 2 models, one column each, got 1; "
                "to compare two files, give BASELINE CANDIDATE LABELS"
            )
        return given.bind(rank, found.predictions, found.labels, **known)


# ``demele assess``: one classifier, and labels that may be wrong ------------------------------------------------------


class Assess(OfTestSet):
    """Accuracy of one classifier when labels may be wrong.

    Examples
    --------
    demele assess data.csv::predicted data.csv::label
    demele assess predicted.npy labels.npy --noise 0.03 -o report.html
    demele assess data.csv::predicted data.csv::label --audit audit.csv
    """

    functions: ClassVar = {"": assess}
    usage = ("PREDICTIONS LABELS", "LOG")
    short = "noise audit level groups classes id"

    def _run(self, given: Given) -> Call:
        found, known = given.call(read_test_set, given, given.files, single=len(given.files) == 2)
        if len(found.predictions) != 1:
            named = ", ".join(map(shortened, found.predictions))
            raise InputError(f"expected one model, got {named}; demele compare ranks several")
        (predictions,) = found.predictions.values()
        if found.open:  # measures of single texts
            known |= {"per_class": False, "average": ()}
        return given.bind(assess, predictions, found.labels, **known)
