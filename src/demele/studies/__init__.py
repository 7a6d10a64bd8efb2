"""Studies: trained models looked at, by scores and in pictures; many of them trained, and what their scores say.

>>> from demele import studies
>>> len(studies.plan_model_family().configurations)
36
"""

from demele.studies.examination import Examination, Reconstructions, Sweep, Traversals
from demele.studies.examine import examine, examine_model
from demele.studies.files import demo, load
from demele.studies.model_family import model_family, plan_model_family
from demele.studies.planning import StudyPlan
from demele.studies.pruning.configurations import PruningConfiguration
from demele.studies.pruning.files import load_pruning, pruning_demo
from demele.studies.pruning.run import pruning_study
from demele.studies.pruning.study import PruningStudy
from demele.studies.study import Study, TrainedModel

__all__ = [
    "Examination",
    "PruningConfiguration",
    "PruningStudy",
    "Reconstructions",
    "Study",
    "StudyPlan",
    "Sweep",
    "TrainedModel",
    "Traversals",
    "demo",
    "examine",
    "examine_model",
    "load",
    "load_pruning",
    "model_family",
    "plan_model_family",
    "pruning_demo",
    "pruning_study",
]
