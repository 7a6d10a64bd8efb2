"""Trained models: VAEs, fabrics that can be pruned, encoders of any framework; and studies of one or many of them.

Names are imported when they are used, and PyTorch where networks are made.

>>> from demele import lab
>>> len(lab.plan_model_family().configurations)
36
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.models.encode import encode as encode
    from demele.models.fabric.annotators import AnnotatorRecipe as AnnotatorRecipe
    from demele.models.fabric.annotators import FabricAnnotator as FabricAnnotator
    from demele.models.fabric.annotators import FabricAnnotators as FabricAnnotators
    from demele.models.fabric.annotators import FabricPreset as FabricPreset
    from demele.models.fabric.annotators import annotator_recipe as annotator_recipe
    from demele.models.fabric.annotators import fabric_annotators as fabric_annotators
    from demele.models.fabric.annotators import fabric_preset as fabric_preset
    from demele.models.fabric.lattice import FabricCounts as FabricCounts
    from demele.models.fabric.lattice import Pruning as Pruning
    from demele.models.fabric.model import Fabric as Fabric
    from demele.models.fabric.screening import PruningSchedule as PruningSchedule
    from demele.models.fabric.screening import Screening as Screening
    from demele.models.fabric.screening import benchmark as benchmark
    from demele.models.fabric.screening import fit_pruned as fit_pruned
    from demele.models.fabric.screening import screen_links as screen_links
    from demele.models.results import FabricReport as FabricReport
    from demele.models.results import FabricRun as FabricRun
    from demele.models.results import Run as Run
    from demele.models.vae.model import VAE as VAE
    from demele.models.vae.model import Preset as Preset
    from demele.models.vae.model import encode_images as encode_images
    from demele.models.vae.model import load_vae as load_vae
    from demele.models.vae.model import preset as preset
    from demele.models.vae.model import train_vae as train_vae
    from demele.studies.examination import Examination as Examination
    from demele.studies.examination import Reconstructions as Reconstructions
    from demele.studies.examination import Sweep as Sweep
    from demele.studies.examination import Traversals as Traversals
    from demele.studies.examine import examine as examine
    from demele.studies.examine import examine_file as examine_file
    from demele.studies.examine import examine_model as examine_model
    from demele.studies.fabrics import Parts as Parts
    from demele.studies.fabrics import divide_images as divide_images
    from demele.studies.fabrics import prune_fabric as prune_fabric
    from demele.studies.fabrics import show_fabric as show_fabric
    from demele.studies.fabrics import train_fabric as train_fabric
    from demele.studies.planning import StudyPlan as StudyPlan
    from demele.studies.planning import model_family as model_family
    from demele.studies.planning import plan_model_family as plan_model_family
    from demele.studies.pruning.configurations import PruningConfiguration as PruningConfiguration
    from demele.studies.pruning.planning import pruning_study as pruning_study
    from demele.studies.pruning.study import PruningStudy as PruningStudy
    from demele.studies.pruning.study import load_pruning as load_pruning
    from demele.studies.pruning.study import pruning_demo as pruning_demo
    from demele.studies.ratings import RatedTraversals as RatedTraversals
    from demele.studies.ratings import rated_traversals as rated_traversals
    from demele.studies.ratings import rating_sheet as rating_sheet
    from demele.studies.study import Study as Study
    from demele.studies.study import TrainedModel as TrainedModel
    from demele.studies.study import load_study as load_study
    from demele.studies.study import study_demo as study_demo

__getattr__, __dir__, __all__ = lazily(__name__)
