"""Models: a small family of VAEs, convolutional fabrics that can be pruned, and what turns any encoder into codes.

PyTorch is imported where networks are made: :func:`demele.models.encode` needs none for a callable or a Keras model.
"""

from demele.models.encode import encode
from demele.models.explained import importance_maps, predictor
from demele.models.fabric.annotators import FabricAnnotator, FabricAnnotators, fabric_annotators
from demele.models.fabric.benchmark import benchmark
from demele.models.fabric.lattice import FabricCounts
from demele.models.fabric.model import Fabric
from demele.models.fabric.planning import Pruning
from demele.models.fabric.presets import AnnotatorRecipe, FabricPreset, annotator_recipe, fabric_preset
from demele.models.fabric.results import FabricReport, FabricRun
from demele.models.fabric.schedule import PruningSchedule, fit_pruned
from demele.models.presets import Preset, preset
from demele.models.vae.model import VAE, load
from demele.models.vae.run import Run

__all__ = [
    "VAE",
    "AnnotatorRecipe",
    "Fabric",
    "FabricAnnotator",
    "FabricAnnotators",
    "FabricCounts",
    "FabricPreset",
    "FabricReport",
    "FabricRun",
    "Preset",
    "Pruning",
    "PruningSchedule",
    "Run",
    "annotator_recipe",
    "benchmark",
    "encode",
    "fabric_annotators",
    "fabric_preset",
    "fit_pruned",
    "importance_maps",
    "load",
    "predictor",
    "preset",
]
