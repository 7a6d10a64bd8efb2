"""``demele compare``: is the candidate really better, when some labels are wrong? Two classifiers, or many."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from demele.cli.ask import add_ask, asked_labels, check_ask
from demele.cli.knowledge import CALLED, add_knowledge, check_knowledge, read_knowledge
from demele.cli.options import command, flag_of, given, option, told_by
from demele.cli.output import FORMATS_FOR_PAPERS, deliver, log, warned, warnings_in_one_line
from demele.cli.several_files import add_joining, read_models
from demele.cli.sheets import kept_columns
from demele.cli.targets import check_targets, check_writable
from demele.core.errors import InputError, shortened
from demele.core.sentences import marked
from demele.files.label_files import (
    classes_named,
    column,
    name_of,
    read_cleaning,
    suggesting_classes,
)
from demele.files.log_sets import is_log
from demele.files.named import listed_items, split_name, unquoted
from demele.files.prediction_sets import PredictionSet
from demele.files.table_files import Warn

if TYPE_CHECKING:
    from demele.evaluation import Decision, Ranking

_DESCRIPTION = """\
Compare classifiers on labels that may be wrong. Prefers the baseline unless the candidate is significantly better, and
reports how many wrong labels could reverse the result.

  demele compare BASELINE CANDIDATE LABELS        two classifiers
  demele compare PREDICTIONS LABELS               several models, one column each: a ranking with ties
  demele compare A B C LABELS                     the same, a file for each model
  demele compare LOG LOG ...                      logs of lm-evaluation-harness or Inspect, which bring their labels;
                                                  or folders of such

Files have the same rows with one class in each: .npy, .npz, .csv, .tsv, .parquet, .json or .jsonl. --id C joins tables
by a column; logs are joined by their questions.
FILE::name picks an array of an .npz, FILE::a,b columns of a table; all may be the same file. A name with commas, or
with spaces at its ends, stands between double quotes, as in CSV: 'FILE::"score,v2"', --names '"old, 1","new, 2"'.
"""
_EXAMPLES = """\
methods:
  overlap              overlap of the two intervals; takes every label as correct (default for measures other than
                       accuracy, if nothing is known of the noise)
  true-labels          overlap on the true labels; needs --true-labels
  worst-case-overlap   overlap after the worst bias of both; needs --noise-rate or --transition
  hard-rows            overlap, with the hardest rows given to the baseline; needs --difficulty
  cleaned              overlap after a cleaning; needs --suspects
  agreement            agreement with a third classifier; needs --reference and independent errors
  worst-case           exact paired worst case (default for accuracy); without --noise-rate or --transition it is
                       McNemar's exact test, which takes every label as correct
  audit                expert labels of a random sample (default with --audit)
  sequential           expert labels one at a time, valid whenever it stops; see --ask

measures of all classes (macro-f1, balanced-accuracy, matthews): overlap, true-labels, cleaned, audit with at least 100
audited rows, worst-case-overlap (not matthews)

examples:
  demele compare data.csv::old data.csv::new data.csv::label
  demele compare data.csv::old data.csv::new data.csv::label --noise-rate 0.03 --report report.html
  demele compare data.csv::old data.csv::new data.csv::label --method cleaned --suspects suspects.csv
  demele compare models.csv labels.npy --noise-rate 0.03
  demele compare data.csv::old data.csv::new data.csv::label --groups data.csv::patient
  demele compare data.csv::old data.csv::new data.csv::label --ask answers.csv     (label its rows; run it again)
  demele compare data.csv::old data.csv::new data.csv::label --measure macro-f1
  demele compare a.csv b.csv gold.csv --id question
  demele compare old/samples_mmlu.jsonl new/samples_mmlu.jsonl --noise-rate 0.03
  demele compare --demo --report demo.html

Results go to stdout (a table on a terminal, JSON otherwise), warnings to stderr.
CSV has a row for each measure, and of a ranking a row per model: the verdicts on its pairs are in JSON.
Exit status: 0 done, whatever the verdict; 2 a mistake in the arguments or the data.
"""

#: Options that name files to read.
_FROM_FILES = ("transition", "audit", "true_labels", "groups", "difficulty", "suspects", "reference")
_DEMO_AUDIT = 500
_DEMO_TITLE = "Which differences between ten language models survive the label errors of MMLU?"


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele compare`` to the commands."""
    parser = command(
        commands,
        "compare",
        _run,
        help="compare classifiers on labels that may be wrong",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called=CALLED,
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="BASELINE CANDIDATE LABELS, or PREDICTIONS LABELS, or logs"
    )
    parser.add_argument(
        "--demo", action="store_true", help="ten language models on questions with expert-corrected labels"
    )

    what = parser.add_argument_group("what is asked")
    option(what, "--method", metavar="M", help="see below (default: the sharpest that is possible)")
    option(
        what,
        "--measure",
        metavar="M",
        help="accuracy, error, precision, recall, f1, macro-f1, balanced-accuracy, matthews, sensitivity, specificity, "
        "PPV or NPV (default: accuracy); of two classifiers also several: the first decides",
    )
    option(what, "--of", metavar="CLASS", help="the class of a precision, recall or f1")
    option(what, "--positive", metavar="CLASS", help="the positive class of a sensitivity, specificity, PPV or NPV")
    option(what, "--level", help="confidence of the verdict (default: 0.95)")
    option(
        what,
        "--inference",
        metavar="I",
        help="population: better on new rows (default); test_set: on these rows with true labels; overlap: by more "
        "than the overlap of the intervals on true labels",
    )
    option(
        what,
        "--correction",
        metavar="C",
        help="of several comparisons: holm, bonferroni or none (default: holm where possible)",
    )
    add_joining(parser)
    add_knowledge(parser)
    special = parser.add_argument_group("for single methods")
    option(special, "--difficulty", metavar="FILE", help="hard-rows: a number per row, larger is harder")
    option(special, "--prudence", type=float, metavar="P", help="hard-rows: share of hardest rows (default: 0.1)")
    option(
        special,
        "--suspects",
        argument="cleaning",
        metavar="FILE",
        help="cleaned: flags, and perhaps a second column of right classes",
    )
    option(
        special,
        "--exact",
        action="store_true",
        default=None,
        help="audit: a verdict whose level is proved, with wider intervals",
    )
    option(
        special,
        "--errors",
        choices=("any", "undirected"),
        help="audit, two classifiers: undirected adds an interval that assumes that wrong labels side with neither; "
        "it never decides",
    )
    option(special, "--reference", metavar="FILE", help="agreement: the predictions of a third classifier")
    add_ask(special)
    option(special, "--seed")

    out = parser.add_argument_group("output")
    option(out, "--names", metavar="A,B", help="what to call the models (default: their columns or files)")
    option(out, "--format", choices=FORMATS_FOR_PAPERS)
    option(out, "--output", "--report", "--methods", "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    _check(arguments)
    words = told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        result = _demonstration(arguments) if arguments.demo else _decided(arguments)
    deliver(arguments, result, words)


# Before any computing --------------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> None:
    files = arguments.files
    if arguments.demo:
        own = [name for name in ("ask", "names", *_FROM_FILES) if getattr(arguments, name) is not None]
        if files or own:
            raise InputError(f"--demo: brings its own data; leave out {'files' if files else flag_of(own[0])}")
    elif len(files) < (1 if any(map(is_log, files)) else 2):
        raise InputError(
            f"expected BASELINE CANDIDATE LABELS or PREDICTIONS LABELS, got {len(files)} "
            f"{'file' if len(files) == 1 else 'files'} (see demele compare --help)"
        )
    check_knowledge(arguments)
    check_ask(arguments)
    read = [*files, *(getattr(arguments, name) for name in _FROM_FILES), arguments.second_audit]
    if arguments.ask is not None:  # its answers are kept
        check_writable(arguments.ask, force=True, inputs=[split_name(text)[0] for text in read if text is not None])
    check_targets(
        arguments, ("report", "output", "methods"), [] if arguments.ask is None else [arguments.ask], files=read
    )


def _check_number(arguments: argparse.Namespace, *, several: bool) -> None:
    """Refuse options that are for two classifiers, or for more."""
    if several and arguments.ask is not None:
        raise InputError("--ask: is for one baseline classifier and one candidate")
    if not several and arguments.correction is not None:
        raise InputError("--correction: is for several models, compared as PREDICTIONS LABELS")
    if several and arguments.errors is not None:
        raise InputError("--errors: is for two classifiers, as BASELINE CANDIDATE LABELS")


# Reading ---------------------------------------------------------------------------------------------------------


def _knowledge(arguments: argparse.Namespace, read: "PredictionSet", warn: Warn) -> dict[str, Any]:
    from demele.core.labelled import read_labels

    plain = ("method", "measure", "inference", "prudence", "correction", "exact", "errors", "seed")
    found, labels = read_knowledge(arguments, read, warn) | given(arguments, *plain), read_labels(read.labels, "labels")
    if arguments.difficulty is not None:
        found["difficulty"] = column(arguments.difficulty, warn, numbers=True)
    if arguments.suspects is not None:
        found["cleaning"] = read_cleaning(arguments.suspects, labels, warn)
    if "," in found.get("measure", ""):
        found["measure"] = listed_items(found["measure"])
    for name, text in given(arguments, "of", "positive").items():
        found[name] = classes_named(text, labels)[0] if "," not in text else text
    return found


def _two_names(files: Sequence[str]) -> tuple[str, str]:
    first, second = (name_of(text) for text in files[:2])
    if first == second:
        first, second = (split_name(text)[0].stem for text in files[:2])
    return (first, second) if first != second else ("baseline", "candidate")


def _pair(found: "PredictionSet") -> dict[str, Any]:
    """Return two classifiers and the labels as the library calls them."""
    if len(found.predictions) != 2:
        raise InputError(
            f"expected one column of predictions in each file, got {', '.join(map(shortened, found.predictions))}"
        )
    baseline, candidate = found.predictions.values()
    names = tuple(found.predictions)
    return {"baseline": baseline, "candidate": candidate, "labels": found.labels, "names": names}


def _decided(arguments: argparse.Namespace) -> "Decision | Ranking":
    from demele import evaluation

    files, warn = arguments.files, warned(arguments.quiet)
    found, columns = read_models(arguments, files, warn, names=_two_names(files) if len(files) == 3 else ())
    several = len(files) == 1 or len(found.predictions) != 2 if found.fields else len(files) != 3
    _check_number(arguments, several=several)
    if arguments.names is not None:
        names, n = [unquoted(name) for name in listed_items(arguments.names)], len(found.predictions)
        if len(set(names)) != n or len(names) != n or not all(names):
            raise InputError(f"--names: expected {n} different names, such as old,new, got {arguments.names!r}")
        found = replace(found, predictions=dict(zip(names, found.predictions.values(), strict=True)))
    known = _knowledge(arguments, found, warn) | columns
    if several:
        return _ranked(arguments, found, known)
    if arguments.ask is not None:
        return _asked(arguments, found, known, warn)
    with suggesting_classes([*found.predictions.values(), found.labels]):
        return evaluation.compare(**_pair(found), **known)


def _asked(arguments: argparse.Namespace, found: "PredictionSet", known: dict[str, Any], warn: Warn) -> "Decision":
    """Decide with the answers so far, and ask for more if the verdict is open."""
    from demele import evaluation
    from demele.core.labelled import read_labels

    known.pop("method", None)
    known.pop("measure", None)
    with suggesting_classes([*found.predictions.values(), found.labels]):
        comparison = evaluation.SequentialComparison(**_pair(found), **known)
    held = read_labels(found.labels, "labels")
    hidden, kept = arguments.files, None
    if arguments.blind:
        kept = kept_columns(arguments, hidden[-1], held.size, warn, hidden=hidden, logs=found)
    progress = asked_labels(
        comparison,
        arguments.ask,
        held,
        warn,
        kept=kept,
        seed=arguments.seed or 0,
        classes=known.get("classes"),
        batch=arguments.batch,
        as_known=found.as_known if found.open else None,
    )
    if not arguments.quiet:
        log(f"demele: {progress}")
    return comparison.decision()


def _ranked(arguments: argparse.Namespace, found: "PredictionSet", known: dict[str, Any]) -> "Ranking":
    from demele import evaluation

    files, read = arguments.files, found.predictions
    if len(read) < 2:
        if arguments.true_labels is not None:
            raise InputError(
                "--true-labels: stands beside the given LABELS; without them, give the true labels as LABELS: "
                "demele compare BASELINE CANDIDATE TRUE_LABELS"
            )
        raise InputError(
            f"{files[0]}: expected the predictions of at least 2 models, one column each, got {len(read)}; "
            "to compare two files, give BASELINE CANDIDATE LABELS"
        )
    try:
        with suggesting_classes([*read.values(), found.labels]):
            return evaluation.rank(read, found.labels, **known)
    except InputError as error:
        if len(files) > 2 or split_name(files[0])[1] or error.argument not in read:
            raise
        hint = f"if it is no model, pick those that are: {files[0]}::A,B,..."
        raise type(error)(f"{marked(error)}; {hint}") from error


def _demonstration(arguments: argparse.Namespace) -> "Ranking":
    """Rank language models, with an audit whose answers are those that experts gave to every question."""
    import numpy as np

    from demele import evaluation
    from demele.data import label_set
    from demele.labels import disagreement, draw_audit

    questions = label_set("mmlu_redux")
    truth = np.asarray(questions.true_labels)
    known = _knowledge(arguments, PredictionSet({}, questions.labels), warned(arguments.quiet))
    if "noise" not in known and known.get("method") in (None, "audit", "sequential"):
        # One label at a time is read in the order of a uniform sample only.
        likely = None if known.get("method") == "sequential" else disagreement(questions.predictions)
        plan = draw_audit(questions.n, _DEMO_AUDIT, disagreement=likely, seed=known.get("seed", 0))
        known["audit"] = plan.answered(truth[plan.rows])
        if not arguments.quiet:
            log(
                f"demele: {len(questions.models)} language models on {questions.n:,} questions of MMLU-Redux, whose "
                f"published answers are partly wrong; experts corrected {_DEMO_AUDIT} questions drawn at "
                "random" + (", more often where the models disagree" if likely is not None else "")
            )
    return evaluation.rank(
        questions.predictions,
        questions.labels,
        true_labels=truth,
        title=_DEMO_TITLE,
        **{"classes": questions.classes, **known},
    )
