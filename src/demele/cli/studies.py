"""``demele lab study``: many models trained, scored and compared; and fabrics pruned in many ways."""

from demele.cli.engine import Call, Command, Given
from demele.studies.planning import estimated, model_family, plan_model_family
from demele.studies.pruning.planning import pruning_study
from demele.studies.pruning.study import load_pruning, pruning_demo
from demele.studies.study import load_study, study_demo

_SETTINGS = "preset data betas latents seeds objective beta_scale steps metrics n_rows"


def _plan(given: Given) -> Call:
    return given.bind(estimated, plan_model_family(**given.bind(model_family).keywords))


PLAN = Command(
    {"": model_family},
    run=_plan,
    short=_SETTINGS,
    without="store n_jobs",
    examples="demele lab study plan --seeds 3\n",
)
RUN = Command(
    {"": model_family},
    ("--store FOLDER",),
    short=f"{_SETTINGS} store n_jobs",
    details="""\
Everything is kept in the folder: the same command continues where it was stopped, to the same bits; with more betas,
latents, seeds or metrics it adds to the study. -o NAME.pairs.csv has a row for each pair of metrics.
""",
    examples="""\
demele lab study run --preset ci --store first
demele lab study run --objective beta_tcvae --betas 1,2,4,8 --latents 4,10 --jobs 2 --store tc -o tc.html
""",
)
SHOW = Command(
    {"": load_study},
    ("STUDY",),
    details="""\
STUDY is the folder of demele lab study run, finished or not, or a file of a packed study. CSV has a row for each
model, with its scores; -o NAME.pairs.csv one for each pair of metrics. demele demo study shows a study of 36 models.
""",
    examples="demele lab study show study -o study.html -o study.pairs.csv\n",
)
RUN_PRUNING = Command(
    {"": pruning_study},
    ("--store FOLDER",),
    short="preset noises seeds store n_jobs",
    details="""\
Everything is kept in the folder: the same command continues where it was stopped, to the same bits; with more seeds or
noises it adds to the study. The published ways, for your own images such as CIFAR-10, are in Python:
demele.lab.pruning_study(..., preset="print").
""",
    examples="""\
demele lab study pruning run --preset ci --store first
demele lab study pruning run --noises none,uniform:0.2 --seeds 3 --jobs 2 --store uniform -o uniform.html
""",
)
SHOW_PRUNING = Command(
    {"": load_pruning},
    ("STUDY",),
    details="""\
STUDY is the folder of demele lab study pruning run, finished or not, or a file of a packed study. CSV has a row for
each fabric; -o NAME.differences.csv, NAME.decisions.csv and NAME.ranks.csv have further tables. demele demo pruning
shows a study of 345 fabrics.
""",
    examples="demele lab study pruning show pruning -o pruning.html -o pruning.differences.csv\n",
)

DEMO = Command({"": study_demo}, examples="demele demo study -o study.html\n")
DEMO_PRUNING = Command({"": pruning_demo}, examples="demele demo pruning -o pruning.html\n")
