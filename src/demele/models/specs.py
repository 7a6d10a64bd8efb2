"""What a training is, as plain values that two trainings can be compared by."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any, Self

from demele.core.errors import FormatError, InputError, quoted

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
