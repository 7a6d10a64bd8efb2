"""Data: the bundled demonstrations and the types that every data set returns."""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.data.array_images import ArrayImages as ArrayImages
    from demele.data.examples import FACTOR_UNITS as FACTOR_UNITS
    from demele.data.examples import CrowdSet as CrowdSet
    from demele.data.examples import LabelSet as LabelSet
    from demele.data.examples import digit_factors as digit_factors
    from demele.data.examples import example_names as example_names
    from demele.data.examples import load_example as load_example
    from demele.data.images import ImageSet as ImageSet
    from demele.data.images import resampling_matrix as resampling_matrix
    from demele.data.loaders.loading import load as load
    from demele.data.own_files import ImageSetFacts as ImageSetFacts
    from demele.data.own_files import describe as describe
    from demele.data.own_files import image_set_names as image_set_names
    from demele.data.own_files import open_images as open_images
    from demele.data.own_files import save_images as save_images
    from demele.data.procedural.clutter import clutter as clutter
    from demele.data.procedural.clutter import clutter_labels as clutter_labels
    from demele.data.procedural.grids import room as room
    from demele.data.procedural.grids import sprites as sprites
    from demele.data.procedural.grids import squares as squares
    from demele.data.space import FactorSpace as FactorSpace
    from demele.data.space import Sample as Sample
    from demele.data.space import Symmetry as Symmetry

__getattr__, __dir__, __all__ = lazily(__name__)
