"""The exceptions and warnings of demele.

Every message says which argument (and column), what was expected, what came (how many, first row), and what to do.
"""

import sys
import warnings

__all__ = [
    "AmbiguousKindWarning",
    "DemeleError",
    "DemeleWarning",
    "FormatError",
    "FragileScoreWarning",
    "IncompatibleState",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "NotConvergedWarning",
    "NotEnoughData",
    "OutOfDomainWarning",
    "OutputError",
    "UndefinedFactorWarning",
    "UnknownNameError",
    "WorkerError",
    "warn_user",
]


class DemeleError(Exception):
    """Anything that demele refuses, with a message made for its user."""


class InputError(DemeleError, ValueError):
    """A value that cannot be used: wrong shape, length, kind, not finite, out of range."""


class InputTypeError(InputError, TypeError):
    """An argument of a type that cannot be used."""


class UnknownNameError(InputError):
    """A name that is not registered; the message suggests the nearest ones."""


class NotEnoughData(InputError):  # noqa: N818 - the name reads as the sentence that it is
    """Too few samples, groups, classes, codes or factors for what was asked."""


class IncompatibleState(InputError):  # noqa: N818 - the name reads as the sentence that it is
    """Two states do not add up: they count other columns, other bins, or belong to other metrics."""


class FormatError(DemeleError, ValueError):
    """A file that is not what it should be."""


class OutputError(InputError, OSError):
    """A file that cannot be written: no permission, no folder, a full disk. A file that was there is untouched."""


class WorkerError(DemeleError, RuntimeError):
    """A process that worked for this one ended before its work was done: killed, or out of memory."""


class MissingExtraError(DemeleError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


def warn_user(message: str, category: "type[DemeleWarning]") -> None:
    """Warn at the line of the user's code that called demele, however deep inside the reason was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "demele":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class DemeleWarning(UserWarning):
    """Base of the warnings of demele."""


class AmbiguousKindWarning(DemeleWarning):
    """Whole numbers could be classes or a quantity; the message says how they were read."""


class UndefinedFactorWarning(DemeleWarning):
    """A factor (or code) for which a metric is not defined was left out; the result carries the same note."""


class NotConvergedWarning(DemeleWarning):
    """An iteration stopped before it converged."""


class FragileScoreWarning(DemeleWarning):
    """A score would change much under another defensible setting; the result carries the same note."""


class OutOfDomainWarning(DemeleWarning):
    """What was supplied and the data contradict each other; the result is as wide as safety needs, and says so."""
