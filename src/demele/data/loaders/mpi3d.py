"""MPI3D: a robot's arm with an object, drawn, rendered or photographed; five releases with the same key."""

from __future__ import annotations

from pathlib import Path

from demele.core.errors import FormatError, InputError
from demele.core.npy_files import members_of, opened_archive, opened_member
from demele.data.loaders.archives import image_member, missing_key
from demele.data.loaders.published import Factor, Grid, Opened, PublishedFile, PublishedSet, Request, file_of

_ADDRESS = "https://storage.googleapis.com/disentanglement_dataset"


def read_mpi3d(request: Request) -> Opened:
    """Find the images; their order is the label, and their number says which releases they can be of."""
    grids = request.published.grids
    names = {"toy2019": "toy", "realistic2019": "realistic"}
    variants = [request.variant] if request.variant else list(grids)
    path = file_of(request, tuple(dict.fromkeys(f"mpi3d_{names.get(one, one)}.npz" for one in variants)))
    n = _images_in(request, path)
    grid = grids[request.variant or _only_variant(request, n, path)]
    store = image_member(request, path, "images", [(grid.n, *grid.pixels)])
    return Opened(store, (path,), grid.space())


def _images_in(request: Request, path: Path) -> int:
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise FormatError(path, "expected an archive of NumPy, and it does not begin as one", "copy it again")
    with opened_archive(path) as archive:
        members = members_of(archive)
        if "images" not in members:
            raise missing_key(request, path, "images", list(members))
        with opened_member(archive, members["images"]) as (header, _):
            return header.shape[0] if header.shape else 0


def _only_variant(request: Request, n: int, path: Path) -> str:
    """Return the variant that has so many images, if one has.

    Raises
    ------
    InputError
        Listing the variants with their sizes.
    """
    grids = request.published.grids
    fit = [name for name, grid in grids.items() if grid.n == n]
    if len(fit) == 1:
        return fit[0]
    sizes = " or ".join(f"{size:,}" for size in sorted({grid.n for grid in grids.values()}))
    expected = f"{n:,} images of a variant that is named" if fit else f"{sizes} images"
    request.note(f"{path}::images", f"{n:,} images", expected, "differs")
    told = [f"{name!r} ({grid.n:,}: {' x '.join(map(str, grid.sizes))})" for name, grid in grids.items()]
    if fit:
        told = [one for one, name in zip(told, grids, strict=True) if name in fit]
        raise InputError("variant", f"{path} holds {n:,} images, as several variants do: {', '.join(told)}", "name one")
    raise InputError("variant", f"{path} holds {n:,} images, as no variant does: {', '.join(told)}")


def _grid(colours: tuple[str, ...], shapes: tuple[str, ...]) -> Grid:
    return Grid(
        (
            Factor("colour", len(colours), colours, "categorical"),
            Factor("shape", len(shapes), shapes, "categorical"),
            Factor("size", 2, ("small", "large"), "categorical"),
            Factor("camera_height", 3, ("top", "centre", "bottom"), "categorical"),
            Factor("background", 3, ("purple", "sea green", "salmon"), "categorical"),
            Factor("horizontal_axis", 40, tuple(range(40))),
            Factor("vertical_axis", 40, tuple(range(40))),
        ),
        (64, 64, 3),
    )


_SIX = _grid(
    ("white", "green", "red", "blue", "brown", "olive"),
    ("cone", "cube", "cylinder", "hexagonal", "pyramid", "sphere"),
)
_FOUR = _grid(("green", "red", "blue", "brown"), ("cone", "cube", "hexagonal prism", "sphere"))
_COMPLEX = _grid(("yellow", "green", "olive", "red"), ("coffee-cup", "tennis-ball", "croissant", "beer-cup"))

MPI3D = PublishedSet(
    name="mpi3d",
    title="MPI3D",
    publisher="the Max Planck Institute for Intelligent Systems",
    download=f"mpi3d_toy.npz and others of 5.7 or 12.7 GB once unpacked, at {_ADDRESS}",
    licence="CC BY 4.0",
    provenance="MPI3D: M. W. Gondal et al., NeurIPS 2019 (arXiv:1906.03292)",
    read=read_mpi3d,
    grids={
        "toy": _SIX,
        "realistic": _SIX,
        "real": _SIX,
        "complex": _COMPLEX,
        "toy2019": _FOUR,
        "realistic2019": _FOUR,
    },
    files=(
        PublishedFile("mpi3d_toy.npz", md5="55889cb7c7dfc655d6e0277beee88868"),
        PublishedFile("mpi3d_realistic.npz", md5="59a6225b88b635365f70c91b3e52f70f"),
        PublishedFile("mpi3d_real.npz", md5="0f33f609918fb5c97996692f91129802"),
    ),
    notes=(
        "The file holds no labels: its order is the label. Three releases have 1,036,800 images, three others 460,800, "
        "with other colours and shapes; variant= says which one a file is.",
    ),
)
