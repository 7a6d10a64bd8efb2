"""Standard input in place of a file: ``-`` where a command reads one, in a format that is said."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from demele.core.errors import InputError
from demele.core.outputs import WholeFile, writing_whole

#: What may come: all that the readers of tables read.
INPUT_FORMATS = ("csv", "tsv", "json", "npy", "npz", "parquet")
#: What stands for ``-`` before ``::name``, which argparse would take for an option.
_STREAM = "/dev/stdin"
#: Bytes copied at a time, and left free on the disk.
_PIECE, _KEPT_FREE = 1 << 22, 1 << 27


def as_words(words: Sequence[str]) -> list[str]:
    """Return the arguments with ``-::name`` written so that it is taken for a file, not for an option.

    Examples
    --------
    >>> as_words(["score", "-::z1,z2", "factors.csv", "-", "--seed", "-1"])
    ['score', '/dev/stdin::z1,z2', 'factors.csv', '-', '--seed', '-1']
    """
    return [_STREAM + word[1:] if word.startswith("-::") else word for word in words]


@contextmanager
def standard_input(arguments: argparse.Namespace) -> Iterator[None]:
    """Put standard input, if a command is to read it, into a temporary file within, and name that file instead.

    Several arguments may name columns of it: it is read once. Only commands that have ``--input-format`` read it.

    Raises
    ------
    InputError
        If it is to be read and its format is not said, or the other way round.
    """
    if not hasattr(arguments, "input_format"):
        yield
        return
    actions = [action for action in arguments.parser._actions if _is_of_files(action)]
    named = [action.dest for action in actions if any(map(_is_stream, _words(getattr(arguments, action.dest))))]
    if not named:
        if arguments.input_format is not None:
            raise InputError("--input-format: is for standard input; give - in place of a file, or leave it out")
        yield
        return
    if arguments.input_format is None:
        raise InputError(f"-: say what standard input is, with --input-format {'|'.join(INPUT_FORMATS)}")
    with tempfile.TemporaryDirectory(prefix="demele-") as folder:
        file = Path(folder) / f"stdin.{arguments.input_format}"
        with writing_whole(file) as whole:
            _copy(sys.stdin.buffer, whole, Path(folder))
        for name in named:
            setattr(arguments, name, _replaced(getattr(arguments, name), file))
        yield


def _copy(stream: IO[bytes], whole: WholeFile, folder: Path) -> None:
    """Copy a stream whose length nobody knows, as long as the disk has room.

    Raises
    ------
    InputError
        Before the disk of the folder is full: other programs write there as well.
    """
    copied = 0
    while piece := stream.read(_PIECE):
        if shutil.disk_usage(folder).free < _KEPT_FREE + len(piece):
            raise InputError(
                f"-: standard input is larger than the room in {folder.parent}, of which {_KEPT_FREE >> 20} MiB stay "
                f"free; it ended after {copied >> 20} MiB. Give a file in place of it, or set TMPDIR to a folder with "
                "more room"
            )
        whole.write(piece)
        copied += len(piece)


def _is_of_files(action: argparse.Action) -> bool:
    """Whether an argument is a file to read: all positional ones are, and options that say FILE; paths are written."""
    return action.type is None and (not action.option_strings or str(action.metavar).startswith("FILE"))


def _words(value: Any) -> list[str]:
    return [word for word in (value if isinstance(value, list) else [value]) if isinstance(word, str)]


def _is_stream(word: str) -> bool:
    return word.partition("::")[0] in ("-", _STREAM)


def _replaced(value: Any, file: Path) -> Any:
    if isinstance(value, list):
        return [_replaced(one, file) for one in value]
    if not isinstance(value, str) or not _is_stream(value):
        return value
    _, mark, names = value.partition("::")
    return f"{file}{mark}{names}"
