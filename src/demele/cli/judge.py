"""``demele judge``: scores by a judge, corrected by human scores of some rows."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from demele.classifiers.judge import Judgement, judge
from demele.classifiers.row_scores import RowScores, human_scores
from demele.cli.engine import Call, Command, Given
from demele.core.errors import DemeleWarning, warn_user
from demele.core.kinds import Kind, number
from demele.core.result import Note
from demele.files.score_files import read_human, read_scores, systems_of


class Judge(Command):
    """Correct scores of a judge by human scores of some rows.

    Human scores of some rows, drawn at random, say how often the judge errs. Each mean and each difference is corrected
    by them. Without human scores, the result says how many wrong scores would change it. Exits with 1 if a system is
    not shown to be above the gate; without a gate or --fail-unless, if neither of two systems is shown to be better.

    Examples
    --------
    demele judge answers.csv --human people.csv --gate 0.8
    demele judge a.eval b.eval --human people.csv --group metadata.passage -o report.html
    demele judge answers.csv --human people.csv --slice language
    """

    functions: ClassVar = {"": judge}
    usage = ("RESULTS...",)
    short = "human gate noise score id group scale expert_error level exact"
    without = "systems"
    readers = (read_scores, read_human)
    called: ClassVar = {"audit": "--human", "slices": "--slice"}

    def _run(
        self,
        given: Given,
        *,
        human: Annotated[str | Path | None, Kind("FILE", is_file=True)] = None,
        weight: str | None = None,
        slice: str | None = None,  # noqa: A002 - the option is called so
        seed: int = 0,
    ) -> Call:
        """Read scores by a judge, and human scores of some of the rows.

        Parameters
        ----------
        human : str, optional
            File of human scores, with a column of items. Its scores are the column ``"human"``, or ``human_SYSTEM`` or
            ``SYSTEM`` for each system. Without it, human scores in the files themselves are used.
        weight : str, optional
            Column of what each row counts in the mean.
        slice : str, optional
            Column or field of slices, such as a language. Each has a corrected mean.
        seed : int
            Seed of the order of human scores. Files do not say it, and ``exact`` depends on it.
        """
        found = given.call(read_scores, given.files, systems=[] if human is None else systems_of(human))
        people = found.human if human is None else given.call(read_human, human, found)
        n_tasks = len(set(found.tasks))
        repeats = max(len(one) for own in found.epochs.values() for one in own)
        for note in (*found.notes, *(people.notes if people else ())):
            warn_user(note, DemeleWarning)
        task = found.tasks if n_tasks > 1 else None
        weights = None
        if weight is not None:
            weights = [number(one) if isinstance(one, str) else one for one in found.values_of(weight)]
        scores = {
            name: RowScores(values, found.low, found.high, task=task, group=found.groups, weight=weights)
            for name, values in found.scores.items()
        }
        audit = None if people is None else human_scores(people.scores, seed)
        call = given.bind(judge, scores, audit, slices=None if slice is None else found.values_of(slice))
        if repeats < 2:
            return call
        message = f"a score is the mean of up to {repeats} repeats of an item; `by_epoch` makes each repeat a row"
        verdicts = all(set(one) <= {found.low, found.high} for own in found.epochs.values() for one in own)
        message += ", which gives sensitivity and specificity" if verdicts else ""
        return partial(_with_note, call, Note(code="repeats-averaged", message=message))


def _with_note(call: Call, note: Note) -> Judgement:
    """Return the judgement of a call with one more note."""
    found: Judgement = call()
    return replace(found, notes=(*found.notes, note))
