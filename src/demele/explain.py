"""Explanations of classifiers, and whether they hold when pixels are taken away."""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.classifiers.explanations.perturbation import PerturbationTest as PerturbationTest
    from demele.classifiers.explanations.perturbation import perturbation_test as perturbation_test
    from demele.models.explained import importance_maps as importance_maps
    from demele.models.explained import predictor as predictor

__getattr__, __dir__, __all__ = lazily(__name__)
