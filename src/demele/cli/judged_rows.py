"""Scores of rows and people's scores of them, read from files as comparisons take them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from demele.classifiers.row_scores import RowScores, ScoreAudit
from demele.core.errors import DemeleWarning, warn_user
from demele.core.kinds import Kind
from demele.files.score_files import Scale, Words, read_human, read_scores, systems_of


def read_judged(
    files: Sequence[str],
    *,
    human: Annotated[str | Path | None, Kind("FILE", is_file=True)] = None,
    score: Sequence[str] | str | None = None,
    human_score: str | None = None,
    id: str | None = None,  # noqa: A002 - the column is mostly called so
    group: str | None = None,
    scale: Scale = None,
    map: Words = None,  # noqa: A002 - the option is called so
    by_epoch: bool = False,
    weight: str | None = None,
    slice: str | None = None,  # noqa: A002 - the option is called so
    seed: int = 0,
) -> tuple[dict[str, RowScores], ScoreAudit | None, list[Any] | None]:
    """Read scores by a judge, and human scores of some of the rows.

    Parameters
    ----------
    files : sequence of str
        As :func:`demele.files.score_files.read_scores` takes them, with the options of the same names.
    human : str, optional
        File of human scores, with a column of items. Its scores are the column ``human``, or ``human_SYSTEM`` or
        ``SYSTEM`` for each system. Without it, human scores in the files themselves are used.
    score : str or sequence of str, optional
        Score to read: a column, scorer, measure or filter.
    human_score : str, optional
        Column or score that holds what people say.
    id : str, optional
        Column that identifies items.
    group : str, optional
        Column or field of what belongs together.
    scale : pair of float, optional
        Least and largest score, such as 1,5 (default: 0,1).
    map : mapping of str to float, optional
        What a word counts, such as ``partly=0.5``.
    by_epoch : bool
        Each repeat of an item is a row.
    weight : str, optional
        Column of what each row counts in the mean.
    slice : str, optional
        Column or field of slices, such as a language. Each has a corrected mean.
    seed : int
        Seed of the order of human scores. Files do not say it, and ``exact`` depends on it.

    Returns
    -------
    dict of str to RowScores
    ScoreAudit or None
    list or None
        The slice of each row.
    """
    systems = [] if human is None else systems_of(human)
    found = read_scores(
        files, score=score, id=id, group=group, scale=scale, map=map, by_epoch=by_epoch, systems=systems
    )
    people = found.human if human is None else read_human(human, found, human_score=human_score, id=id, map=map)
    repeats = max(len(one) for own in found.epochs.values() for one in own)
    averaged = (
        f"a score is the mean of up to {repeats} repeats of an item; `by_epoch` makes each repeat a row, which gives "
        "sensitivity and specificity"
    )
    for note in (*found.notes, *(people.notes if people else ()), *([averaged] if repeats > 1 else [])):
        warn_user(note, DemeleWarning)
    task = found.tasks if len(set(found.tasks)) > 1 else None
    weights = None if weight is None else found.values_of(weight)
    scores = {
        name: RowScores(values, found.low, found.high, task=task, group=found.groups, weight=weights)
        for name, values in found.scores.items()
    }
    slices = None if slice is None else found.values_of(slice)
    return scores, None if people is None else ScoreAudit.of_columns(people.scores, seed), slices
