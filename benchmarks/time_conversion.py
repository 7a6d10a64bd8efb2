"""Published sets at their full size, made up: seconds and peak memory of a conversion, and of opening it again.

``python -m benchmarks.time_conversion`` (some minutes, 10 GB of disk while it runs) writes results/conversion.csv.
dSprites is an archive whose 3.0 GB of pixels are deflated, Shapes3D 5.9 GB of pixels in HDF5, packed by gzip; both hold
the labels that were published, and images that repeat. Each step runs in a process of its own, so that its peak is its
own.
"""

import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import peak_mib
from benchmarks.loop import Table, alone, main

#: Most resident memory of a conversion in MiB, and most seconds of a second opening.
WANTED = 300, 1.0
_ROWS = 4096


def positions_of(sizes: tuple[int, ...]) -> Any:
    return np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=-1)


def write_member(archive: zipfile.ZipFile, name: str, dtype: str, shape: tuple[int, ...], parts: Any) -> None:
    """Write an array into an archive part by part, as numpy.savez_compressed has it."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, header)
        for part in parts:
            member.write(np.ascontiguousarray(part, dtype=dtype).tobytes())


def make_dsprites(folder: Path) -> Path:
    sizes = (3, 6, 40, 32, 32)
    positions = positions_of(sizes)
    n = len(positions)
    some = np.random.default_rng(0).integers(0, 2, (_ROWS, 64, 64), dtype=np.uint8)
    path = folder / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    values = np.insert(positions / (np.array(sizes) - 1), 0, 1.0, axis=1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        parts = (some[: min(_ROWS, n - start)] for start in range(0, n, _ROWS))
        write_member(archive, "imgs", "u1", (n, 64, 64), parts)
        write_member(archive, "latents_classes", "i8", (n, 6), [np.insert(positions, 0, 0, axis=1)])
        write_member(archive, "latents_values", "f8", (n, 6), [values])
    return path


def make_shapes3d(folder: Path) -> Path:
    import h5py

    sizes = (10, 10, 10, 8, 4, 15)
    positions = positions_of(sizes)
    n = len(positions)
    small = np.random.default_rng(0).integers(0, 256, (_ROWS, 8, 8, 3), dtype=np.uint8)
    some = small.repeat(8, axis=1).repeat(8, axis=2)
    path = folder / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        images = file.create_dataset("images", (n, 64, 64, 3), "u1", chunks=(64, 64, 64, 3), compression="gzip")
        for start in range(0, n, _ROWS):
            images[start : start + _ROWS] = some[: min(_ROWS, n - start)]
        file["labels"] = positions / (np.array(sizes) - 1.0)
    return path


MAKERS = {"dsprites": make_dsprites, "shapes3d": make_shapes3d}


def opened(name: str, path: Path, cache: Path) -> dict[str, float]:
    """Load a set through its cache, look at some images, and say what it took."""
    from demele.data.loaders.loading import load, published_set

    found = published_set(name)
    # what is made up has not the bytes that were published
    published = replace(found, files=())
    started = time.perf_counter()
    images = load(published, path, cache=cache)
    images.images(np.arange(0, len(images), len(images) // 100))
    return {"seconds": round(time.perf_counter() - started, 2), "peak": round(peak_mib()), "images": len(images)}


def measured(name: str) -> dict[str, object]:
    """Make a set, convert it, and open it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = MAKERS[name](Path(folder))
        cache = Path(folder, f"{name}.npy")
        first, again = (alone(opened, name, path, cache) for _ in range(2))
        return {
            "set": name,
            "images": first["images"],
            "MB of the file": round(path.stat().st_size / 1e6),
            "MB of pixels": round(cache.stat().st_size / 1e6),
            "seconds to convert": first["seconds"],
            "peak MiB": first["peak"],
            "wanted peak MiB": WANTED[0],
            "seconds to open again": again["seconds"],
            "wanted seconds": WANTED[1],
        }


if __name__ == "__main__":
    main({"conversion": Table(cells=list(MAKERS), measured=measured)})
