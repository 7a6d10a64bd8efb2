"""One label at a time: a file asks an expert for labels, and a comparison goes on with the answers."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.options import option, refuse
from demele.cli.sheets import check_sheet
from demele.core.errors import InputError
from demele.core.outputs import write_whole
from demele.files.audit_files import COMPARISON, TRUE, Answers, AsKnown, answers_text, read_answers
from demele.files.expert_sheets import ANSWER, new_key, write_sheet
from demele.files.label_files import class_texts, in_file
from demele.files.sheet_answers import read_sheet
from demele.files.table_files import Warn, first_row, text_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from demele.evaluation import SequentialComparison

#: Rows that are asked for at a time.
_BATCH = 20


def add_ask(group: "argparse._ArgumentGroup") -> None:
    """Add the options that ask for labels."""
    option(
        group,
        "--ask",
        type=Path,
        metavar="FILE",
        help="sequential: write here which rows an expert should label next, and read the answers on the next run",
    )
    option(
        group, "--blind", help="--ask writes a sheet for the expert: neither labels nor predictions; see demele audit"
    )
    option(group, "--keep")
    option(group, "--batch", type=int, metavar="K", help=f"rows that --ask writes at a time (default: {_BATCH})")


def check_ask(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be asked for one label at a time, and options that have no part in it."""
    if arguments.ask is None:
        refuse(arguments, ("batch", "blind", "keep"), "is for --ask")
        return
    if arguments.method not in (None, "sequential"):
        raise InputError(f"--ask: is for --method sequential, got {arguments.method}")
    if arguments.measure not in (None, "accuracy"):
        raise InputError(f"--measure: labels are asked one at a time for accuracy, got {arguments.measure}")
    if arguments.audit is not None:
        raise InputError("--audit: --ask keeps the expert's answers itself; leave one of them out")
    others = ("of", "true_labels", "difficulty", "prudence", "suspects", "reference", "exact", "errors")
    refuse(arguments, others, "has no part in --ask; leave it out")
    if arguments.batch is not None and arguments.batch < 1:
        raise InputError(f"--batch: expected a number of rows from 1, got {arguments.batch}")
    if arguments.blind:
        check_sheet(arguments.ask, "--ask", force=True)
        return
    if arguments.keep is not None:
        raise InputError("--keep: says what an expert is shown in the sheet of --blind, which is not given")
    if arguments.ask.suffix.lower() not in (".csv", ".tsv"):
        raise InputError(f"--ask: expected a file called .csv, for the expert to fill in, got {arguments.ask}")


def asked_labels(
    comparison: "SequentialComparison",
    path: Path,
    given: "NDArray[Any]",
    warn: Warn,
    *,
    kept: "pd.DataFrame | None" = None,
    seed: int = 0,
    classes: Sequence[object] | None = None,
    batch: int | None = None,
    as_known: AsKnown | None = None,
) -> str:
    """Tell a comparison the answers that the file holds, and add rows to it if the verdict is open.

    Parameters
    ----------
    comparison : SequentialComparison
        A new one; it has the answers afterwards.
    path : Path
        The file of rows for the expert; it is made if there is none. Answers that it holds are kept.
    given : ndarray, shape (n,)
        What LABELS holds.
    warn : callable
        Tells of answers that do not count yet.
    kept : DataFrame of n rows, optional
        What the expert is shown, in a sheet that has neither labels nor predictions.
    seed : int
        Of the keys, and of the order of the rows in the sheet.
    classes : sequence, optional
        Further classes that an answer in the sheet may be.
    batch : int, optional
        Rows that should wait for an answer; 20 if not given.
    as_known : callable, optional
        Of answers in words, which may be any text.

    Returns
    -------
    str
        How far the comparison is, and what to do next.

    Raises
    ------
    InputError
        If the rows of the file were asked for another comparison.
    """
    batch, digest, column = batch or _BATCH, str(comparison.to_dict()["digest"]), TRUE if kept is None else ANSWER
    answers: Answers | None = None
    if path.exists() and kept is None:
        answers = read_answers(str(path), given, warn, as_known)
    elif path.exists():
        answers = read_sheet(path, given, classes=classes, as_known=as_known)
    asked = 0 if answers is None else answers.rows.size
    waiting = 0 if answers is None else int((~(answers.known | answers.unclear)).sum())
    if answers is not None:
        if answers.comparison != digest or answers.rows.tolist() != comparison.ask(asked).tolist():
            raise InputError(
                f"{path}: its rows were asked for another comparison (other predictions, labels, --classes, --level, "
                "--inference, noise or --seed); give the same ones, or another --ask FILE"
            )
        _tell(comparison, answers, warn)
    if not comparison.done and waiting < batch:
        rows = comparison.ask(batch)[waiting:]
        waiting += rows.size
        if kept is None:
            _add_rows(path, rows, given, first=asked + 1, key=digest)
        else:
            before, cells = (None, []) if answers is None else (answers.key, answers.cells)
            key = new_key(rows, given, "sequential", seed=seed, before=before, comparison=digest)
            offered = class_texts([*given.tolist(), *(classes or ())]) if as_known is None else ()
            write_sheet(path, key, kept, classes=offered, held=cells)
    return _progress(comparison, waiting, path, column)


def _tell(comparison: "SequentialComparison", answers: Answers, warn: Warn) -> None:
    """Tell the comparison the answers that there are; those after a gap wait until it is filled."""
    with in_file(answers.text, labels=f"column {answers.column}"):
        if answers.known.any():
            labels = [label for label in answers.labels if label is not None]
            comparison.tell(answers.rows[answers.known], labels)
        comparison.pass_over(answers.rows[answers.unclear])
    used = comparison.labels_used
    later = int((answers.known | answers.unclear)[used:].sum())
    if later and not comparison.done:
        warn(f"{answers.text}: {answers.names[used]} has no answer; the {later} after it count once it has")


def _progress(comparison: "SequentialComparison", waiting: int, path: Path, column: str) -> str:
    used = comparison.labels_used
    answers = f"{used} answer{'' if used == 1 else 's'}"
    rows = f"the row that has no {column}" if waiting == 1 else f"the {waiting} rows that have no {column}"
    if comparison.done:
        if comparison.decision().verdict == "inconclusive":
            return f"{answers}, inconclusive, and more of them would hardly decide it"
        return f"{answers} decide it; no more are needed"
    more = comparison.expected_labels
    if math.isfinite(more):
        hope = f"about {math.ceil(more):,} more to expect"
        return f"{answers}, inconclusive, {hope}; label {rows} in {path}, then run this again"
    if not used:
        return f"{answers}, inconclusive; label {rows} in {path}, then run this again"
    return f"{answers}, inconclusive, and more like them would not decide it; to go on, label {rows} in {path}"


def _add_rows(path: Path, rows: "NDArray[Any]", given: "NDArray[Any]", *, first: int, key: str) -> None:
    """Add rows to the file, below those that it has, whatever program wrote it last."""
    held, head, delimiter = "", None, "\t" if path.suffix.lower() == ".tsv" else ","
    if path.exists():
        held = text_of(path)
        delimiter, head = first_row(path)
        held = held if held.endswith("\n") else held + "\n"
    more = answers_text(rows, given, "sequential", first=first, more={COMPARISON: key}, head=head, delimiter=delimiter)
    write_whole(path, held + more, replace=bool(held))
