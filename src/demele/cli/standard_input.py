"""Standard input instead of a file: ``-`` where a command reads one, ``-::a,b`` for columns of it."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, get_args

from demele.core.errors import InputError
from demele.core.outputs import WholeFile, writing_whole

#: What may come: all that the readers of tables read.
Format = Literal["csv", "tsv", "json", "npy", "npz", "parquet"]
#: Bytes copied at a time, and left free on the disk.
_PIECE, _KEPT_FREE = 1 << 22, 1 << 27


def is_stream(word: object) -> bool:
    """Whether a word names standard input, or columns of it.

    Examples
    --------
    >>> is_stream("-"), is_stream("-::z1,z2"), is_stream("--seed")
    (True, True, False)
    """
    return isinstance(word, str) and word.partition("::")[0] == "-"


@contextmanager
def on_disk(format: Format | None, words: list[Any]) -> Iterator[Callable[[Any], Any]]:  # noqa: A002 - as the option
    """Put standard input, if one of the words names it, into a temporary file within.

    Yields
    ------
    callable
        That returns a word, or a list of words, with that file for standard input. It is read once.

    Raises
    ------
    InputError
        If it is to be read and its format is not said, or the other way round.
    """
    if not any(map(is_stream, words)):
        if format is not None:
            raise InputError("--input-format: is for standard input; give - instead of a file, or leave it out")
        yield lambda value: value
        return
    if format is None:
        raise InputError(f"-: say what standard input is, with --input-format {'|'.join(get_args(Format))}")
    with tempfile.TemporaryDirectory(prefix="demele-") as folder:
        file = Path(folder) / f"stdin.{format}"
        with writing_whole(file) as whole:
            _copy(sys.stdin.buffer, whole, Path(folder))

        def replaced(value: Any) -> Any:
            if isinstance(value, list):
                return list(map(replaced, value))
            return f"{file}{value[1:]}" if is_stream(value) else value

        yield replaced


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
                f"-: standard input is larger than the room in {folder.parent}, where {_KEPT_FREE >> 20} MiB stay "
                f"free; it ended after {copied >> 20} MiB. Give a file instead, or set TMPDIR to a folder with "
                "more room"
            )
        whole.write(piece)
        copied += len(piece)
