"""Data: the bundled demonstrations and the types that every data set returns."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demele.data.array_images import ArrayImages
    from demele.data.catalogue import ImageSetFacts, describe, image_set_names
    from demele.data.digits import FACTOR_UNITS, demo, demo_names, digit_factors
    from demele.data.images import ImageSet
    from demele.data.label_sets import CrowdSet, LabelSet, crowd_set, crowd_set_names, label_set, label_set_names
    from demele.data.loaders.loading import load
    from demele.data.own_files import open_images, save_images
    from demele.data.procedural.clutter import clutter, clutter_labels
    from demele.data.procedural.room import room
    from demele.data.procedural.sprites import sprites
    from demele.data.procedural.squares import squares
    from demele.data.resample import resampling_matrix
    from demele.data.sample import Sample
    from demele.data.space import FactorSpace, Symmetry

_HOMES = {
    "demele.data.array_images": "ArrayImages",
    "demele.data.catalogue": "ImageSetFacts describe image_set_names",
    "demele.data.digits": "FACTOR_UNITS demo demo_names digit_factors",
    "demele.data.images": "ImageSet",
    "demele.data.label_sets": "CrowdSet LabelSet crowd_set crowd_set_names label_set label_set_names",
    "demele.data.loaders.loading": "load",
    "demele.data.own_files": "open_images save_images",
    "demele.data.procedural.clutter": "clutter clutter_labels",
    "demele.data.procedural.room": "room",
    "demele.data.procedural.sprites": "sprites",
    "demele.data.procedural.squares": "squares",
    "demele.data.resample": "resampling_matrix",
    "demele.data.sample": "Sample",
    "demele.data.space": "FactorSpace Symmetry",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "FACTOR_UNITS",
    "ArrayImages",
    "CrowdSet",
    "FactorSpace",
    "ImageSet",
    "ImageSetFacts",
    "LabelSet",
    "Sample",
    "Symmetry",
    "clutter",
    "clutter_labels",
    "crowd_set",
    "crowd_set_names",
    "demo",
    "demo_names",
    "describe",
    "digit_factors",
    "image_set_names",
    "label_set",
    "label_set_names",
    "load",
    "open_images",
    "resampling_matrix",
    "room",
    "save_images",
    "sprites",
    "squares",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'demele.data' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
