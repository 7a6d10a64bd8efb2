"""MPI3D: a robot's arm with an object, drawn, rendered or photographed; five releases with the same key."""

from __future__ import annotations

from demele.core.errors import FormatError, InputError
from demele.data.loaders.archives import npz_images, npz_member
from demele.data.loaders.published import Factor, Grid, PublishedFile, PublishedSet, Read, Request

_ADDRESS = "https://storage.googleapis.com/disentanglement_dataset"


def _read(request: Request) -> Read:
    """Find the images; their order is the label, and their number says which releases they can be of."""
    grids = request.published.grids
    variants = [request.variant] if request.variant else list(grids)
    path = request.file(*dict.fromkeys(f"mpi3d_{one.removesuffix('2019')}.npz" for one in variants))
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise FormatError(path, "expected an archive of NumPy, and it does not begin as one", "copy it again")
    if request.variant is None:
        _, header = npz_member(request, path, "images")
        n = header.shape[0] if header.shape else 0
        fit = [name for name, grid in grids.items() if grid.n == n]
        if len(fit) != 1:
            told = ", ".join(
                f"{name!r} ({grids[name].n:,}: {' x '.join(map(str, grids[name].sizes))})" for name in fit or grids
            )
            request.note(f"{path}::images", f"{n:,} images", f"one of {told}", "differs")
            several = f"{path} holds {n:,} images, as {'several variants do' if fit else 'no variant does'}: {told}"
            raise InputError("variant", several, "name one" if fit else None)
        request.variant = fit[0]
    grid = request.grid
    return Read(images=npz_images(request, path, "images", (grid.n, *grid.pixels)), files=(path,))


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
    read=_read,
    grids={
        **dict.fromkeys(("toy", "realistic", "real"), _SIX),
        "complex": _COMPLEX,
        "toy2019": _FOUR,
        "realistic2019": _FOUR,
    },
    files=(
        PublishedFile("mpi3d_toy.npz", digest="55889cb7c7dfc655d6e0277beee88868"),
        PublishedFile("mpi3d_realistic.npz", digest="59a6225b88b635365f70c91b3e52f70f"),
        PublishedFile("mpi3d_real.npz", digest="0f33f609918fb5c97996692f91129802"),
    ),
    notes=(
        "The file holds no labels: its order is the label. Three releases have 1,036,800 images, three others 460,800, "
        "with other colours and shapes; variant= says which one a file is.",
    ),
)
