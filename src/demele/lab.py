"""Trained models: VAEs, fabrics that can be pruned, encoders of any framework; and studies of one or many of them.

Names are imported when they are used, and PyTorch where networks are made.

>>> from demele import lab
>>> len(lab.plan_model_family().configurations)
36
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from demele.models.vae.model import VAE, load_vae
    from demele.models.vae.run import Run
    from demele.studies.examination import Examination, Reconstructions, Sweep, Traversals
    from demele.studies.examine import examine, examine_model
    from demele.studies.files import load_study, study_demo
    from demele.studies.model_family import model_family, plan_model_family
    from demele.studies.planning import StudyPlan
    from demele.studies.pruning.configurations import PruningConfiguration
    from demele.studies.pruning.files import load_pruning, pruning_demo
    from demele.studies.pruning.run import pruning_study
    from demele.studies.pruning.study import PruningStudy
    from demele.studies.study import Study, TrainedModel

_HOMES = {
    "demele.models.encode": "encode",
    "demele.models.explained": "importance_maps predictor",
    "demele.models.fabric.annotators": "FabricAnnotator FabricAnnotators fabric_annotators",
    "demele.models.fabric.benchmark": "benchmark",
    "demele.models.fabric.lattice": "FabricCounts",
    "demele.models.fabric.model": "Fabric",
    "demele.models.fabric.planning": "Pruning",
    "demele.models.fabric.presets": "AnnotatorRecipe FabricPreset annotator_recipe fabric_preset",
    "demele.models.fabric.results": "FabricReport FabricRun",
    "demele.models.fabric.schedule": "PruningSchedule fit_pruned",
    "demele.models.presets": "Preset preset",
    "demele.models.vae.model": "VAE load_vae",
    "demele.models.vae.run": "Run",
    "demele.studies.examination": "Examination Reconstructions Sweep Traversals",
    "demele.studies.examine": "examine examine_model",
    "demele.studies.files": "load_study study_demo",
    "demele.studies.model_family": "model_family plan_model_family",
    "demele.studies.planning": "StudyPlan",
    "demele.studies.pruning.configurations": "PruningConfiguration",
    "demele.studies.pruning.files": "load_pruning pruning_demo",
    "demele.studies.pruning.run": "pruning_study",
    "demele.studies.pruning.study": "PruningStudy",
    "demele.studies.study": "Study TrainedModel",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "VAE",
    "AnnotatorRecipe",
    "Examination",
    "Fabric",
    "FabricAnnotator",
    "FabricAnnotators",
    "FabricCounts",
    "FabricPreset",
    "FabricReport",
    "FabricRun",
    "Preset",
    "Pruning",
    "PruningConfiguration",
    "PruningSchedule",
    "PruningStudy",
    "Reconstructions",
    "Run",
    "Study",
    "StudyPlan",
    "Sweep",
    "TrainedModel",
    "Traversals",
    "annotator_recipe",
    "benchmark",
    "encode",
    "examine",
    "examine_model",
    "fabric_annotators",
    "fabric_preset",
    "fit_pruned",
    "importance_maps",
    "load_pruning",
    "load_study",
    "load_vae",
    "model_family",
    "plan_model_family",
    "predictor",
    "preset",
    "pruning_demo",
    "pruning_study",
    "study_demo",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'demele.lab' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
