"""Files of NumPy and of sparse matrices: what they declare is held against their size before any of it is loaded."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, UnknownNameError, quoted
from demele.core.npy_files import mapped_array, members_of, objects_refused, opened_archive, read_member
from demele.core.reading import check_unpacked, parsing, regular_file
from demele.core.sparse_structure import checked_structure
from demele.files.table_files import check_known, listed, picking

if TYPE_CHECKING:
    import pandas as pd

#: Arrays that every archive of ``scipy.sparse.save_npz`` holds, and those of positions that some do.
_OF_SPARSE = {"format", "shape", "data"}
_POSITIONS = ("indices", "indptr", "row", "col", "coords", "offsets")
#: What a column of sparse codes takes while it is scored, an upper estimate: its name, its counts, its scores.
_BYTES_PER_CODE = 1024


def read_numpy(path: Path, names: tuple[str, ...]) -> "NDArray[Any] | pd.DataFrame":
    """Read an array, mapped into memory, or arrays of an archive.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    regular_file(path)
    with path.open("rb") as file:
        start = file.read(6)
        if start == npy.MAGIC_PREFIX:
            if names:
                raise UnknownNameError(f"{path}: holds one array without a name; leave out '::{','.join(names)}'")
            return mapped_array(path)
    if start[:1] == b"\x80":
        raise FormatError(objects_refused(path))
    if start[:1] not in (b"P", b"\x93"):
        raise FormatError(f"{path}: not a NumPy file that can be read: it does not start as one")
    with opened_archive(path) as archive:
        return _from_archive(archive, path, names)


# Archives --------------------------------------------------------------------------------------------------------


def _loaded(archive: zipfile.ZipFile, path: Path, chosen: Sequence[str]) -> list[NDArray[Any]]:
    """Load arrays of an archive, if they are what its directory says and take no more than they may."""
    held = members_of(archive)
    members = [held[name] for name in chosen]
    check_unpacked(path, sum(info.file_size for info in members), stored=regular_file(path))
    return [read_member(archive, info) for info in members]


def _from_archive(archive: zipfile.ZipFile, path: Path, names: tuple[str, ...]) -> "NDArray[Any] | pd.DataFrame":
    held = list(members_of(archive))
    if not held:
        raise FormatError(f"{path}: holds no array")
    if not names and set(held) >= _OF_SPARSE:
        raise FormatError(
            f"{path}: holds a sparse matrix, of scipy.sparse.save_npz; only demele score and probe sparse read one, "
            "as the first file, CODES; make other tables dense with .toarray()"
        )
    if not names and len(held) > 1:
        raise InputError(
            f"{path}: holds {len(held)} arrays ({listed(held)}); pick one, such as {picking(path, held[0])}"
        )
    chosen = names or (held[0],)
    check_known(chosen, held, path, "array")
    arrays = _loaded(archive, path, chosen)
    if len(arrays) == 1:
        return arrays[0]
    lengths = {len(array) for array in arrays if array.ndim == 1}
    if len(lengths) != 1 or any(array.ndim != 1 for array in arrays):
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(chosen, arrays, strict=True))
        raise InputError(f"{path}: several arrays make a table only as columns of equal length, got {shapes}")
    import pandas as pd

    with parsing(f"{path}: not columns of a table"):
        return pd.DataFrame(dict(zip(chosen, arrays, strict=True)))


# Sparse matrices -------------------------------------------------------------------------------------------------


def is_sparse(path: Path) -> bool:
    """Whether a file is a sparse matrix, as ``scipy.sparse.save_npz`` writes it."""
    if path.suffix.lower() != ".npz" or not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with opened_archive(path) as archive:
            return set(members_of(archive)) >= _OF_SPARSE
    except FormatError:  # told by the reader
        return False


def load_sparse(path: Path) -> Any:
    """Read a file of ``scipy.sparse.save_npz``.

    Raises
    ------
    FormatError
        If it cannot be read, has positions outside its shape, or declares more than a file may.
    """
    import scipy.sparse

    size = regular_file(path)
    what = f"{path}: not a sparse matrix that can be read"
    with opened_archive(path) as archive:
        names = list(members_of(archive))
        held = dict(zip(names, _loaded(archive, path, names), strict=True))
    shape, data = held["shape"], held["data"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise FormatError(f"{what} (expected a shape of two whole numbers, got {quoted(shape.tolist())})")
    n_rows, n_columns = (int(length) for length in shape)
    if data.dtype.kind not in "biufc":
        raise FormatError(f"{what} (its values are {data.dtype})")
    for name in _POSITIONS:
        if name in held and held[name].dtype.kind not in "iu":
            raise FormatError(f"{what} (its {name} are {held[name].dtype}, not whole numbers)")
    check_unpacked(path, n_columns * _BYTES_PER_CODE, stored=size)
    if n_rows > np.iinfo(np.int64).max // max(n_columns, 1):
        raise FormatError(f"{what} (it declares a shape of {n_rows:,} x {n_columns:,})")
    with parsing(what):
        return checked_structure(scipy.sparse.load_npz(path), str(path))
