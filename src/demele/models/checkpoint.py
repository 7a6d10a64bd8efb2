"""Files of trainings: tensors and plain values, read without running anything that is in them."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.core.errors import FormatError, InputError, quoted, shortened
from demele.core.extras import require
from demele.core.outputs import write_whole
from demele.core.reading import parsing, regular_file
from demele.core.version import __version__

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", purpose="a network")

#: What every file says of itself.
_HEAD = ("format", "format_version", "demele", "torch")


@dataclass(frozen=True, slots=True)
class Layout:
    """What files of one kind of training are called and hold.

    Attributes
    ----------
    name : str
    version : int
    keys : tuple of str
        Keys of a file in addition to those that all files have.
    what : str
        What such a file is, for messages.
    reader : str
        How to open it without going on with the training, for messages.
    """

    name: str
    version: int
    keys: tuple[str, ...]
    what: str
    reader: str


def write_checkpoint(path: Path, content: Mapping[str, Any], layout: Layout) -> None:
    """Write a training as one file, so that a kill or a full disk leaves the one before.

    Parameters
    ----------
    path : Path
    content : mapping
        Tensors, and plain values of Python only: reading refuses all else.
    layout : Layout

    Raises
    ------
    OutputError
    """
    held = io.BytesIO()
    head = dict(zip(_HEAD, (layout.name, layout.version, __version__, torch.__version__), strict=True))
    torch.save({**{name: str(value) for name, value in head.items()}, **_plain_tensors(content)}, held)
    write_whole(path, held.getvalue())


def read_checkpoint(path: Path, layout: Layout) -> dict[str, Any]:
    """Return what a file of a training holds, on the CPU.

    Raises
    ------
    InputError
        If there is no such file, or demele wrote it in another format.
    FormatError
        If it is something else, or holds what only running code could make.
    """
    what = f"{path}: not {layout.what}"
    try:
        regular_file(path)
    except OSError as error:
        raise InputError("checkpoint", f"cannot read {path}: {error.strerror or error}") from error
    only = "nothing but tensors and plain values is read, for loading anything else can run code"
    with parsing(f"{what}, or cut short; {only}", details=False):
        content = torch.load(path, map_location="cpu", weights_only=True)
        _plain_tensors(content)  # sparse ones are refused
    if not isinstance(content, dict) or content.get("format") != layout.name:
        raise FormatError(what)
    if content.get("format_version") != str(layout.version):
        raise InputError(
            "checkpoint",
            f"{path} has format version {quoted(content.get('format_version'))}, this demele reads {layout.version}; "
            f"use the demele that made it ({shortened(str(content.get('demele')), 40)})",
        )
    if set(content) != {*_HEAD, *layout.keys}:
        odd = sorted(map(str, set(content) ^ {*_HEAD, *layout.keys}))
        raise FormatError(what, f"missing or not known: {quoted(odd)}")
    return content


def _plain_tensors(value: Any) -> Any:
    """Return a copy with all tensors on the CPU, so that a file can be read anywhere."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            raise TypeError(f"a tensor of layout {value.layout}")
        return value.detach().cpu()
    if isinstance(value, Mapping):
        return {name: _plain_tensors(item) for name, item in value.items()}
    return value
