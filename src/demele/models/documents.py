"""What results about trainings have in common: their settings and lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from demele.report.document import Line, Lines
from demele.report.words import is_missing, name

if TYPE_CHECKING:
    import pandas as pd


def options_words(options: Mapping[str, object]) -> str:
    """Write settings in one line."""
    return ", ".join(f"{name(key)} {name(value)}" for key, value in options.items())


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
