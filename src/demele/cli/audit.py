"""``demele audit``: rows that an expert labels, planned, drawn, and asked for one at a time."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from demele.classifiers.comparison.audit_forecast import plan_audit
from demele.classifiers.comparison.decision import Decision
from demele.classifiers.comparison.sequential import SequentialComparison
from demele.cli.classifiers import OfTestSet, read_test_set, two_of
from demele.cli.engine import Call, Command, Given
from demele.cli.results import Warned, check_writable
from demele.core.arrays import Array, pd
from demele.core.errors import InputError
from demele.core.labelled import read_labels
from demele.core.outputs import write_whole
from demele.files.audit_files import COMPARISON, TRUE, Answers, AsKnown, answer_rows, answers_text, read_answers
from demele.files.expert_sheets import ANSWER, draw_rows, kept_columns, key_path, new_key, read_sheet, write_sheet
from demele.files.label_files import class_texts, column, in_file, in_one_vocabulary, models
from demele.files.named import check_sheet_name, split_name
from demele.files.prediction_sets import is_log, read_predictions
from demele.files.table_files import first_row, text_of


class Plan(OfTestSet):
    """Simulate which audits would settle a comparison.

    Audits of each size and design are simulated, for wrong labels anywhere and for ones that favour the model that
    leads, and read by the methods of demele compare. With --audit: how many more rows would settle it, or that none
    would.

    Examples
    --------
    demele audit plan data.csv::a,b data.csv::label -o plan.html
    demele audit plan data.csv::a,b data.csv::label --sizes 100,300 --wrong 0.02,0.1
    demele audit plan data.csv::a,b data.csv::label --audit audit.csv
    """

    functions: ClassVar = {"": plan_audit}
    usage = ("PREDICTIONS... LABELS", "LOG...")
    short = "sizes wrong audit measure of groups level seed"
    without = "single unseen_positives"

    def _run(self, given: Given) -> Call:
        if {"audit", "wrong"} <= given.options.keys():
            raise InputError("--wrong: has no part with --audit, which says how many labels are wrong; leave it out")
        found, known = given.call(read_test_set, given, given.files)
        return given.bind(plan_audit, found.predictions, found.labels, **known)


# The sheet that ``--blind`` writes ------------------------------------------------------------------------------------


def check_sheet(path: Path | None, option: str, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse a sheet that could not be written, or whose key could not be.

    Raises
    ------
    InputError, MissingExtraError
    """
    if path is None:
        raise InputError(
            f"{option}: --blind writes a sheet and a key next to it; name the sheet, such as {option} sheet.csv"
        )
    check_sheet_name(path, option)
    check_writable(key_path(path), force=force, inputs=inputs)


# ``demele audit draw`` ------------------------------------------------------------------------------------------------


class Draw(Command):
    """Draw random rows for an expert to label.

    The expert fills in the column true_label, and leaves out no row because it is hard; demele assess and compare read
    the file with --audit. --blind writes a sheet without labels and predictions (.csv, .tsv, .xlsx): a random key per
    row, the columns to --keep, and an empty column answer. What leads back to the rows is next to it, in NAME.key.json.
    An expert who cannot tell writes unclear. About 200 rows say within a few percent how many labels are wrong.

    Examples
    --------
    demele audit draw data.csv::label --size 200 -o audit.csv
    demele audit draw data.csv::label --size 200 --disagreement data.csv::a,b,c -o audit.csv
    demele audit draw data.csv::label --size 200 --blind --keep id,text -o sheet.xlsx
    """

    functions: ClassVar = {"": draw_rows}
    usage = ("LABELS --size N", "LOG... --size N")
    short = "size disagreement keep blind positive seed"
    without = "id scores"
    readers = (read_predictions, kept_columns)

    def _run(self, given: Given) -> Call:
        files, word, blind = given.files, given.take("disagreement"), given.options.get("blind", False)
        logs = None
        if any(map(is_log, files)):
            logs = given.call(read_predictions, list(dict.fromkeys([*files, *([word] if word else [])])))
            if logs.graded:
                raise InputError(f"{files[0]}: says only whether answers were right: there is no label to audit")
            labels, predicted = read_labels(logs.labels, "labels"), logs.predictions if word else {}
        else:
            if len(files) > 1:
                raise InputError(f"expected LABELS, got {len(files)} files; only logs may be several")
            labels = read_labels(column(files[0], given.warn), "labels")
            predicted = {} if word is None else models(word, given.warn, labels=files[0])
        more: dict[str, Any] = {"disagreement": in_one_vocabulary(predicted)} if predicted else {}
        if blind:
            for path in given.written() or (None,):
                check_sheet(path, "-o", force=given.options.get("force", False), inputs=[split_name(files[0])[0]])
            more["offered"] = () if logs is None else None if logs.open else logs.classes or ()
        elif "positive" in given.options:
            raise InputError("--positive: give --blind as well; the key next to the expert's sheet holds the strata")
        kept = given.call(kept_columns, blind, files[0], labels.size, given.warn, (*files, word), logs)
        if blind and (kept is None or kept.empty):
            given.warn("the sheet has no column that shows what to label; --keep COLUMNS adds some")
        return given.bind(draw_rows, labels, kept=kept, **more)


# ``demele audit next``: rows that an expert labels next, until a comparison is decided --------------------------------


def next_rows(
    comparison: SequentialComparison,
    labels: Array,
    warn: Warned,
    *,
    answers: Path,
    batch: int = 20,
    blind: bool = False,
    kept: "pd.DataFrame | None" = None,
    classes: Sequence[object] | None = None,
    as_known: AsKnown | None = None,
    choices: bool = True,
) -> Decision:
    """Decide with the answers so far, and ask the expert for more if the comparison is open.

    Parameters
    ----------
    answers : Path
        Rows for the expert. The file is made if it does not exist, and read on the next run.
    batch : int
        Rows that wait for an answer.
    blind : bool
        Write a sheet without labels and predictions, as .csv, .tsv or .xlsx.

    Raises
    ------
    InputError
        If the rows of the file were asked for another comparison.
    """
    digest = str(comparison.to_dict()["digest"])
    held: Answers | None = None
    if answers.exists():
        held = (
            read_sheet(answers, labels, classes=classes, as_known=as_known)
            if blind
            else read_answers(str(answers), labels, warn, as_known)
        )
    asked = 0 if held is None else held.rows.size
    waiting = 0 if held is None else int((~(held.known | held.unclear)).sum())
    if held is not None:
        if held.comparison != digest or held.rows.tolist() != comparison.ask(asked).tolist():
            raise InputError(
                f"{answers}: its rows were asked for another comparison (other predictions, labels, --classes, "
                "--level, --inference, noise or --seed); give the same ones, or another --answers FILE"
            )
        with in_file(held.text, labels=f"column {held.column}"):  # answers after a gap wait until it is filled
            if held.known.any():
                comparison.tell(held.rows[held.known], [label for label in held.labels if label is not None])
            comparison.pass_over(held.rows[held.unclear])
        used = comparison.labels_used
        later = int((held.known | held.unclear)[used:].sum())
        if later and not comparison.done:
            warn(f"{held.text}: {held.names[used]} has no answer; the {later} after it count once it has")
    if not comparison.done and waiting < batch:
        rows = comparison.ask(batch)[waiting:]
        waiting += rows.size
        if kept is None:
            # below the rows that the file has, whatever program wrote it last
            text, head, delimiter = "", None, "\t" if answers.suffix.lower() == ".tsv" else ","
            if answers.exists():
                text = text_of(answers)
                delimiter, head = first_row(answers)
                text = text if text.endswith("\n") else text + "\n"
            lines = [{**line, COMPARISON: digest} for line in answer_rows(rows, labels, "sequential", first=asked + 1)]
            more = answers_text(lines, head=head, delimiter=delimiter)
            write_whole(answers, text + more, replace=bool(text))
        else:
            before, cells = (None, []) if held is None else (held.key, held.cells)
            key = new_key(rows, labels, "sequential", seed=comparison.seed, before=before, comparison=digest)
            offered = class_texts([*labels.tolist(), *(classes or ())]) if choices else ()
            write_sheet(answers, key, kept, classes=offered, held=cells)
    warn.note(_progress(comparison, waiting, answers, ANSWER if blind else TRUE))
    return comparison.decision()


def _progress(comparison: SequentialComparison, waiting: int, path: Path, column: str) -> str:
    """Return how far the comparison is, and what to do next."""
    used, inconclusive = comparison.labels_used, comparison.decision().verdict == "inconclusive"
    answers = f"{used} answer{'' if used == 1 else 's'}"
    if comparison.done:
        return f"{answers}, inconclusive; more would not decide it" if inconclusive else f"{answers} decide it"
    rows = f"the row that has no {column}" if waiting == 1 else f"the {waiting} rows that have no {column}"
    more = comparison.expected_labels
    hope = f" about {math.ceil(more):,} more to expect;" if math.isfinite(more) else ""
    hope = hope or (" more like them would not decide it;" if used else "")
    return f"{answers}, inconclusive;{hope} label {rows} in {path}, then run this again"


class Next(OfTestSet):
    """Ask an expert for one label at a time.

    The file of --answers holds the rows to label next. Fill in its column true_label, and run the command again: it
    goes on until the comparison is decided. The verdict is valid whenever you stop.

    Examples
    --------
    demele audit next data.csv::old data.csv::new data.csv::label --answers answers.csv
    demele audit next old.eval new.eval --answers sheet.xlsx --blind
    """

    functions: ClassVar = {"": next_rows}
    usage = ("BASELINE CANDIDATE LABELS --answers FILE", "LOG... --answers FILE")
    short = "answers batch blind keep level classes groups expert_error seed"
    without = "single unseen_positives audit_design audit_key disagreement gate"
    readers = (SequentialComparison, read_predictions, read_test_set, kept_columns)

    def _run(self, given: Given) -> Call:
        files, blind = given.files, given.options.get("blind", False)
        path = Path(given.take("answers"))
        if blind:
            check_sheet(path, "--answers", force=True)
        elif path.suffix.lower() not in (".csv", ".tsv"):
            raise InputError(f"--answers: expected a file called .csv, for the expert to fill in, got {path}")
        check_writable(path, force=True, inputs=[split_name(text)[0] for text in files])
        found, known = given.call(read_test_set, given, files, single=True)
        labels = read_labels(found.labels, "labels")
        comparison = given.call(SequentialComparison, **two_of(found), **known)
        kept = given.call(kept_columns, blind, files[-1], labels.size, given.warn, files, found)
        return given.bind(
            next_rows,
            comparison,
            labels,
            given.warn,
            answers=path,
            kept=kept,
            classes=known.get("classes"),
            as_known=found.as_known,
            choices=not found.open,
        )
