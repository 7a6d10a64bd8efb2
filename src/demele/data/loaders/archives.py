"""Archives of NumPy as sets are published in them: members are looked at by their headers before any is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.npy_files import members_of, opened_archive, opened_member, read_member
from demele.data.loaders.published import Description, Request
from demele.data.loaders.stores import Store, member_store


def image_member(
    request: Request, path: Path, name: str, shapes: Sequence[tuple[int, ...]], *, scale: int = 1
) -> Store:
    """Return the images of a member, if it is uint8 and has one of the shapes expected.

    Raises
    ------
    FormatError
        If there is no such member, listing those that there are, or it is another.
    """
    with opened_archive(path) as archive:
        info = members_of(archive).get(name)
        if info is None:
            raise missing_key(request, path, name, list(members_of(archive)))
        with opened_member(archive, info) as (header, _):
            found = Description(str(header.dtype), header.shape)
        expected = [Description("uint8", shape) for shape in shapes]
        request.expect(f"{path}::{name}", found, found if found in expected else expected[0])
        return member_store(path, info, header.shape, columns_first=header.columns_first, scale=scale)


def number_member(request: Request, path: Path, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a member of numbers, whole, if it has the shape expected.

    Raises
    ------
    FormatError
    """
    with opened_archive(path) as archive:
        info = members_of(archive).get(name)
        if info is None:
            raise missing_key(request, path, name, list(members_of(archive)))
        with opened_member(archive, info) as (header, _):
            kind = str(header.dtype)
        expected = Description(kind if header.dtype.kind in "iuf" else "numbers", shape)
        request.expect(f"{path}::{name}", Description(kind, header.shape), expected)
        return np.ascontiguousarray(read_member(archive, info))


def missing_key(request: Request, path: Path, name: str, held: Sequence[str]) -> FormatError:
    """Return the error of a name that a file does not hold."""
    told = ", ".join(map(quoted, held[:12])) or "nothing"
    request.note(f"{path}::{name}", "nothing", "an array", "missing")
    return FormatError(
        path, f"expected an array {quoted(name)}, found {told}; is it a file of {request.published.title}?"
    )
