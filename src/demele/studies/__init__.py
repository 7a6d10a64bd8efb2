"""Studies: trained models looked at, by scores and in pictures; many of them trained, and what their scores say.

>>> from demele import studies
>>> len(studies.plan_model_family().configurations)
36
"""

from demele.studies.examination import Examination, Reconstructions, Sweep, Traversals
from demele.studies.examine import examine
from demele.studies.files import demo, load
from demele.studies.model_family import model_family, plan_model_family
from demele.studies.planning import StudyPlan
from demele.studies.study import Study
from demele.studies.trained import TrainedModel

__all__ = [
    "Examination",
    "Reconstructions",
    "Study",
    "StudyPlan",
    "Sweep",
    "TrainedModel",
    "Traversals",
    "demo",
    "examine",
    "load",
    "model_family",
    "plan_model_family",
]
