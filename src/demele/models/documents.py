"""What results about trainings have in common: their settings and lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from demele.report.document import Line, Lines, Table
from demele.report.words import is_missing, joined, name, title_of

if TYPE_CHECKING:
    import pandas as pd


def settings_table(settings: Mapping[str, Any]) -> Table:
    """Return settings as they were given, a row for each; of long lists the first ones.

    Examples
    --------
    >>> settings_table({"n_images": 20, "sizes": [8, 16]}).rows[0][0]
    'N images'
    """
    rows = [(title_of(key), _words(value)) for key, value in settings.items()]
    return Table("Settings", {"Setting": "text", "Value": "text"}, rows)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name(key)} {_words(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return joined(map(_words, value), most=6)
    return name(value)


def history_lines(history: "pd.DataFrame", along: str, columns: Sequence[tuple[str, str, str]]) -> list[Lines]:
    """Return a figure for each column of a history: its name, its title, its format.

    The first twentieth is left out: it falls from so high that nothing else would be visible.
    """
    late = history.iloc[len(history) // 20 :]
    x = [float(step) for step in late[along]] if along in late else []
    figures = []
    for column, title, form in columns:
        y = [float(value) for value in late[column]] if column in late else []
        if sum(not is_missing(value) for value in y) > 1:
            figures.append(Lines(title, [Line(title, x, y)], (along, "count"), ("", form)))
    return figures
