"""Data: the bundled demonstrations and the types that every data set returns."""

from demele.data.array_images import ArrayImages
from demele.data.catalogue import ImageSetFacts, describe, image_set_names
from demele.data.demo import FACTOR_UNITS, demo, demo_names, digit_factors
from demele.data.images import ImageSet
from demele.data.label_sets import CrowdSet, LabelSet, crowd_set, crowd_set_names, label_set, label_set_names
from demele.data.loaders import load
from demele.data.own_files import open_images, save_images
from demele.data.procedural.clutter import clutter, clutter_labels
from demele.data.procedural.room import room
from demele.data.procedural.sprites import sprites
from demele.data.procedural.squares import squares
from demele.data.resample import resampling_matrix
from demele.data.sample import Sample
from demele.data.space import FactorSpace, Symmetry

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
