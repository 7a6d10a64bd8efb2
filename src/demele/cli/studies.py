"""``demele lab study``: many models trained, scored and compared; and fabrics pruned in many ways."""

from typing import ClassVar

from demele.cli.engine import Call, Command, Given
from demele.studies.planning import estimated, model_family, plan_model_family
from demele.studies.pruning.planning import pruning_study
from demele.studies.pruning.study import load_pruning, pruning_demo
from demele.studies.study import load_study, study_demo

_SETTINGS = "preset data betas latents seeds objective beta_scale steps metrics n_rows"


class Plan(Command):
    """Estimate models, time and disk space of a study.

    Examples
    --------
    demele lab study plan --seeds 3
    """

    functions: ClassVar = {"": model_family}
    short = _SETTINGS
    without = "store n_jobs"

    def _run(self, given: Given) -> Call:
        return given.bind(estimated, plan_model_family(**given.bind(model_family).keywords))


class Run(Command):
    """Train and score a family of models.

    Everything is kept in the folder: the same command continues where it was stopped, to the same bits; with more
    betas, latents, seeds or metrics it adds to the study. -o NAME.pairs.csv has a row for each pair of metrics.

    Examples
    --------
    demele lab study run --preset ci --store first
    demele lab study run --objective beta_tcvae --betas 1,2,4,8 --latents 4,10 --jobs 2 --store tc -o tc.html
    """

    functions: ClassVar = {"": model_family}
    usage = ("--store FOLDER",)
    short = f"{_SETTINGS} store n_jobs"


class Show(Command):
    """Show the results of a study.

    STUDY is the folder of demele lab study run, finished or not, or a file of a packed study. CSV has a row for each
    model, with its scores; -o NAME.pairs.csv one for each pair of metrics. demele demo study shows a study of 36
    models.

    Examples
    --------
    demele lab study show study -o study.html -o study.pairs.csv
    """

    functions: ClassVar = {"": load_study}
    usage = ("STUDY",)


class RunPruning(Command):
    """Prune fabrics in many ways, and compare the ways.

    Everything is kept in the folder: the same command continues where it was stopped, to the same bits; with more seeds
    or noises it adds to the study. The published ways, for your own images such as CIFAR-10, are in Python:
    demele.lab.pruning_study(..., preset="print").

    Examples
    --------
    demele lab study pruning run --preset ci --store first
    demele lab study pruning run --noises none,uniform:0.2 --seeds 3 --jobs 2 --store uniform -o uniform.html
    """

    functions: ClassVar = {"": pruning_study}
    usage = ("--store FOLDER",)
    short = "preset noises seeds store n_jobs"


class ShowPruning(Command):
    """Show the results of a study of pruning.

    STUDY is the folder of demele lab study pruning run, finished or not, or a file of a packed study. CSV has a row for
    each fabric; -o NAME.differences.csv, NAME.decisions.csv and NAME.ranks.csv have further tables. demele demo pruning
    shows a study of 345 fabrics.

    Examples
    --------
    demele lab study pruning show pruning -o pruning.html -o pruning.differences.csv
    """

    functions: ClassVar = {"": load_pruning}
    usage = ("STUDY",)


class Demo(Command):
    """Which metrics agree on 36 trained VAEs.

    Examples
    --------
    demele demo study -o study.html
    """

    functions: ClassVar = {"": study_demo}


class DemoPruning(Command):
    """Fabrics pruned in 22 ways under label noise.

    Examples
    --------
    demele demo pruning -o pruning.html
    """

    functions: ClassVar = {"": pruning_demo}
