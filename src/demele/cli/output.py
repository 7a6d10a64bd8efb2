"""Where results go: table for eyes, JSON and CSV for programs; and one line on stderr for anything else."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from demele.cli.words import in_options
from demele.core.errors import DemeleWarning, OutputError, short_words
from demele.core.outputs import write_whole

__all__ = ["FORMATS", "emit", "format_of", "log", "naming_stdout", "warnings_in_one_line"]

FORMATS = ("table", "json", "csv")
_BY_SUFFIX = {".json": "json", ".csv": "csv", ".txt": "table"}


def format_of(asked: str | None, output: Path | None) -> str:
    """Return the format asked for; else the one of the file's name; else table for a terminal, JSON for a program."""
    if asked is not None:
        return asked
    if output is not None:
        return _BY_SUFFIX.get(output.suffix.lower(), "json")
    return "table" if sys.stdout.isatty() else "json"


@contextmanager
def naming_stdout() -> Iterator[None]:
    """Let a failure to write name standard output, as one of a file names the file.

    Raises
    ------
    OutputError
    """
    try:
        yield
    except BrokenPipeError:  # nobody reads any more: no fault of anyone
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror or error}") from error


def emit(text: str, output: Path | None) -> None:
    """Write results to the file, or to stdout."""
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        with naming_stdout():
            sys.stdout.write(text)
    else:
        write_whole(output, text.encode("utf-8", "backslashreplace"))


def log(message: str, *, stream: TextIO | None = None) -> None:
    """Write one line to stderr."""
    print(short_words(" ".join(message.split())), file=stream or sys.stderr)


@contextmanager
def warnings_in_one_line(
    *, quiet: bool, prefix: str = "", replayed: bool = False, words: Callable[[str], str] | None = None
) -> Iterator[None]:
    """Show each warning once, as one line on stderr without the place in the code; not at all if ``quiet``.

    ``words`` says a message in the words of the command.
    """
    seen: set[str] = set()
    tell = words if words is not None else partial(in_options, replayed=replayed)

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        own = issubclass(category, DemeleWarning)
        text = prefix + (tell(str(message)) if own else str(message))
        if text not in seen and not quiet:
            seen.add(text)
            kind = "" if own else f"{category.__name__}: "
            log(f"demele: warning: {kind}{text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", DemeleWarning)  # others as the user's -W and PYTHONWARNINGS say
        warnings.showwarning = show
        yield
