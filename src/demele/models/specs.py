"""What a training is, as plain values that two trainings can be compared by."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Self

from demele.core.arrays import pd
from demele.core.errors import FormatError, InputError, quoted
from demele.report.document import Line, Lines, Table
from demele.report.words import is_missing, joined, name, title_of

#: What is compared by its digest, and what that is of.
DIGESTS = {"digest": "images", "labels": "labels", "begins": "initial weights"}


class Plain:
    """A dataclass of plain values, which a file holds by name."""

    def to_dict(self) -> dict[str, Any]:
        """Return all as plain values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], what: str) -> Self:
        """Return what a file holds.

        Raises
        ------
        FormatError
            If something is missing or is not known.
        """
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        if sorted(given) != sorted(names):
            odd = sorted(map(str, set(given) ^ set(names)))
            raise FormatError(what, f"expected {', '.join(names)}; missing or not known: {quoted(odd)}")
        return cls(**given)


def refuse_other(found: Mapping[str, Any], wanted: Mapping[str, Any], path: object) -> None:
    """Refuse a file of another training, naming the first thing that differs.

    Parameters
    ----------
    found, wanted : mapping of str to plain value
        All that changes the bits of the training in the file, and of this one, in the same order; mappings among the
        values are compared name by name. ``digest`` is that of the set called ``images``.
    path : object
        The file, for the message.

    Raises
    ------
    InputError
    """
    for (setting, one), (_, other) in zip(_flat(found), _flat(wanted), strict=False):
        if one == other:
            continue
        if setting == "digest":
            told = f"other images, these are {wanted['images']}"
        elif setting in DIGESTS:
            told = f"other {DIGESTS[setting]}"
        else:
            told = f"`{setting}` = {quoted(one)}, this call has {quoted(other)}"
        raise InputError("checkpoint", f"{path} was trained with {told}; use the same, or give another file")


def _flat(spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names and values in order; the items of a mapping replace it."""
    for setting, value in spec.items():
        if isinstance(value, Mapping):
            yield from sorted(value.items())
        else:
            yield setting, value


# What results about trainings have in common: their settings and lines ------------------------------------------------


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
