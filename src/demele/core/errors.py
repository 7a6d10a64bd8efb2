"""The exceptions and warnings of demele.

Every message says which argument (and column), what was expected, what came (how many, first row), and what to do.
Arguments inside a message stand between backticks: `` `classes` ``, `` `missing='omit'` ``, `` `draw_audit()` ``. The
program shows its own options and commands instead, see :func:`demele.cli.engine.execute`.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

# What messages repeat of data, cut to a length that can be read; and numbers of things --------------------------------

#: Characters of a field, and of a path, that a message repeats.
MOST_REPEATED = 200
MOST_OF_PATH = 1000
_LONG_WORD = re.compile(rf"\S{{{MOST_REPEATED + 1},}}")
#: A value of NumPy, alone or within a list or a mapping.
_OF_NUMPY = re.compile(r"np\.(?:\w+\(([^()]*)\)|(True|False)_)")


def plural(how_many: int, one: str, many: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "criterion", "criteria"), plural(1200, "row", "rows")
    ('1 criterion', '1,200 rows')
    """
    return f"{how_many:,} {one if how_many == 1 else many}"


def shortened(text: str, most: int = MOST_REPEATED) -> str:
    """Return a text as a message repeats it: not more of it than ``most`` characters.

    Examples
    --------
    >>> shortened("short"), len(shortened("long" * 1000)), shortened("long" * 1000)[-24:]
    ('short', 200, '... (of 4000 characters)')
    """
    if len(text) <= most:
        return text
    tail = f"... (of {len(text)} characters)"
    return text[: most - len(tail)] + tail


def short_words(text: str) -> str:
    """Return a message with its overlong words cut: the last guard against a field that is repeated as a whole.

    Examples
    --------
    >>> short_words("no column called " + "z" * 5000)[-40:]
    'zzzzzzzzzzzzzzzz... (of 5000 characters)'
    """
    if len(text) <= MOST_REPEATED:
        return text
    return _LONG_WORD.sub(lambda it: shortened(it[0], MOST_OF_PATH if os.sep in it[0] else MOST_REPEATED), text)


class DemeleError(Exception):
    """Anything that demele refuses, with a message made for its user.

    Words of more than 200 characters in it, which can only come from data, are cut; paths at 1000.

    Parameters
    ----------
    argument : str, tuple of str or Path
        What the problem is with: an argument, several, or a file. If it is given alone, it is the whole message.
    problem : str, optional
        What was expected, what came.
    remedy : str, optional
        What to do.

    Attributes
    ----------
    argument, problem, remedy
        As given.

    Examples
    --------
    >>> error = InputError("rate", "expected a share in [0, 1), got 2", "write 0.02 for 2%")
    >>> str(error), error.argument
    ('rate: expected a share in [0, 1), got 2; write 0.02 for 2%', 'rate')
    """

    def __init__(self, argument: object, problem: str | None = None, remedy: str | None = None) -> None:
        if problem is None:
            argument, problem = None, str(argument) if not isinstance(argument, str) else argument
        self.argument, self.problem, self.remedy = argument, problem, remedy
        super().__init__(self.said(str))

    def __str__(self) -> str:
        message: str = self.args[0]
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the message was made of."""
        made_of = (self.problem,) if self.argument is None else (self.argument, self.problem, self.remedy)
        return type(self), made_of

    def said(self, name: Callable[[str], str]) -> str:
        """Return the message; ``name`` says what its arguments are called.

        Examples
        --------
        >>> InputError("rate", "expected a share").said(in_backticks)
        '`rate`: expected a share'
        """
        given = self.argument if isinstance(self.argument, tuple) else (self.argument,)
        heads = [_ARGUMENT.sub(lambda found: name(found[0]), str(one)) for one in given if one is not None]
        head = f"{' and '.join(heads)}: " if any(heads) else ""
        return short_words(f"{head}{self.problem}{f'; {self.remedy}' if self.remedy else ''}")

    def within(self, file: str, **columns: str) -> Self:
        """Return the error of what a file holds; ``columns``: what arguments are called there, "" for the whole file.

        Examples
        --------
        >>> str(InputError("labels", "2 gaps, first at row 3").within("audit.csv", labels="column true_label"))
        'audit.csv: column true_label: 2 gaps, first at row 3'
        """
        said = self.said(lambda name: columns.get(name, in_backticks(name)))
        for name, column in columns.items():
            said = said.replace(f"`{name}`", column or "it")
        return type(self)(f"{file}: {said.removeprefix(': ')}")


#: The name of an argument, at the beginning of ``annotations, annotator 3`` and ``seeds['source']``.
_ARGUMENT = re.compile(r"^[A-Za-z_][\w.]*(?=[,\[]|$)")


def in_backticks(name: str) -> str:
    """Return the name of an argument as it stands inside a message; a file as it is."""
    return f"`{name}`" if name.isidentifier() else name


class InputError(DemeleError, ValueError):
    """A value that cannot be used: wrong shape, length, kind, not finite, out of range."""


class InputTypeError(InputError, TypeError):
    """An argument of a type that cannot be used."""


class UnknownNameError(InputError):
    """A name that is not registered; the message suggests the nearest ones."""


class NotEnoughData(InputError):  # noqa: N818 - the name reads as the sentence that it is
    """Too few samples, groups, classes, codes or factors for the call."""


class IncompatibleState(InputError):  # noqa: N818 - the name reads as the sentence that it is
    """Two states do not add up: they count other columns, other bins, or belong to other metrics."""


class FormatError(InputError):
    """A file, or bytes, with invalid content, or that would exceed the memory limit."""


class OutputError(InputError, OSError):
    """A file that cannot be written: no permission, no folder, a full disk. A file that was there is untouched."""


@contextmanager
def failing(
    what: str, after: str = "", *, kind: type[InputError] = OutputError, argument: str | None = None
) -> Iterator[None]:
    """Turn what the system says of a file into an error of demele: ``what`` failed, why, and what is ``after``."""
    try:
        yield
    except (BrokenPipeError, DemeleError):  # nobody reads any more: no fault of the file
        raise
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        failure = kind(argument, f"{what}: {getattr(error, 'strerror', None) or error}{after}")
        if isinstance(failure, OSError):
            failure.errno = getattr(error, "errno", None)
        raise failure from error


class WorkerError(DemeleError, RuntimeError):
    """A process that worked for this one ended before its work was done: killed, or out of memory."""


class MissingExtraError(DemeleError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


def quoted(value: object) -> str:
    """Return a value as code shows it, for a message: not more of it than 200 characters.

    Examples
    --------
    >>> quoted("z1"), quoted("z" * 5000)[-27:], quoted(10**5000)
    ("'z1'", "zz'... (of 5000 characters)", 'a whole number of about 5001 digits')
    >>> import numpy as np
    >>> quoted(np.float64(0.5)), quoted(np.str_("z1")), quoted([np.int64(1), np.True_])
    ('0.5', "'z1'", '[1, True]')
    """
    if isinstance(value, int) and value.bit_length() > 4 * MOST_REPEATED:
        return f"a whole number of about {int(value.bit_length() * 0.30103) + 1} digits"
    if isinstance(value, str):
        if len(value) > MOST_REPEATED:
            return f"{value[: MOST_REPEATED // 2]!r}... (of {len(value)} characters)"
        return repr(str.__str__(value))
    try:
        return _OF_NUMPY.sub(r"\1\2", shortened(repr(value)))
    except Exception:  # noqa: BLE001 - whatever a class of the user's does, the message is about its value
        return f"a value of {type(value).__name__}"


def listed(names: Iterable[object], most: int = 3) -> str:
    """Return the first of some names for a message.

    Examples
    --------
    >>> listed(["a.png", "b.png", "c.png", "d.png"]), listed([])
    ("'a.png', 'b.png', 'c.png', ...", 'nothing')
    """
    names = list(names)
    return ", ".join(map(quoted, names[:most])) + ", ..." * (len(names) > most) or "nothing"


def warn_user(message: str, category: "type[DemeleWarning]") -> None:
    """Warn at the line of the user's code that called demele, however deep inside the reason was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "demele":
        level, frame = level + 1, frame.f_back
    warnings.warn(short_words(message), category, stacklevel=level)


class DemeleWarning(UserWarning):
    """Base of the warnings of demele."""


class AmbiguousKindWarning(DemeleWarning):
    """Whole numbers could be classes or a quantity; the message says how they were read."""


class UndefinedFactorWarning(DemeleWarning):
    """A factor (or code) for which a metric is not defined was left out; the result carries the same note."""


class NotConvergedWarning(DemeleWarning):
    """An iteration stopped before it converged."""


class FragileScoreWarning(DemeleWarning):
    """A score would change much under another defensible setting, or noise scores as well; the result says so too."""


class OutOfDomainWarning(DemeleWarning):
    """What was supplied and the data contradict each other; the result is as wide as safety needs, and says so."""


class RepackedFileWarning(DemeleWarning):
    """A file of a published data set has the right names and shapes, but another checksum: it was repacked."""
