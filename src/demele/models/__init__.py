"""Models: a small family of VAEs, convolutional fabrics that can be pruned, and what turns any encoder into codes.

PyTorch is imported where networks are made: :func:`demele.models.encode` needs none for a callable or a Keras model.
"""

from demele.models.encode import encode
from demele.models.explained import importance_maps, predictor
from demele.models.fabric.annotator_pool import FabricAnnotator, FabricAnnotators
from demele.models.fabric.annotators import fabric_annotators
from demele.models.fabric.benchmark import benchmark
from demele.models.fabric.counts import FabricCounts
from demele.models.fabric.model import Fabric
from demele.models.fabric.planning import Pruning
from demele.models.fabric.presets import FabricPreset, fabric_preset
from demele.models.fabric.recipe import AnnotatorRecipe, annotator_recipe
from demele.models.fabric.report import FabricReport
from demele.models.fabric.run import FabricRun
from demele.models.fabric.schedule import PruningSchedule, fit_pruned
from demele.models.presets import Preset, preset
from demele.models.vae.load import load
from demele.models.vae.model import VAE
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
