"""``demele lab study``: many models trained, scored and compared; and fabrics pruned in many ways."""

from collections.abc import Callable
from functools import partial
from typing import Any

from demele.cli.engine import Command, Given
from demele.core.errors import InputError
from demele.studies.files import load_study, study_demo
from demele.studies.model_family import model_family, plan_model_family
from demele.studies.planning import estimated
from demele.studies.pruning.files import load_pruning, pruning_demo
from demele.studies.pruning.run import pruning_study

_SETTINGS = "preset data betas latents seeds objective beta_scale steps metrics n_rows"


def _plan(given: Given) -> "partial[Any]":
    given.expected(0, 0)
    return given.bind(estimated, plan_model_family(**given.bind(model_family).keywords))


def _kept(function: Callable[..., Any], given: Given) -> "partial[Any]":
    given.expected(0, 0)
    if "store" not in given.options:
        raise InputError("--store: expected the folder that keeps the study, such as --store study")
    return given.bind(function)


PLAN = Command(
    {"": model_family},
    ("",),
    _plan,
    short=_SETTINGS,
    without="store n_jobs",
    details="""\
Estimate models, time and disk space of a study.

Takes the options of demele lab study run. A few steps are timed, and nothing is kept.
""",
    examples="demele lab study plan --seeds 3\n",
)
RUN = Command(
    {"": model_family},
    ("--store FOLDER",),
    partial(_kept, model_family),
    short=f"{_SETTINGS} store n_jobs",
    details="""\
Train a family of models, score them, and measure the agreement of metrics.

Everything is kept in the folder: the same command continues where it was stopped, to the same bits; with more betas,
latents, seeds or metrics it adds to the study. -o NAME.pairs.csv has a row for each pair of metrics.

Presets:
  ci              4 models of 16 x 16 sprites, less than a minute: the first try
  embedded        36 models of 32 x 32 sprites, about half an hour on two cores
  embedded-room   the same on a coloured room
  print           published network and training, for --data of 64 x 64, with a GPU
""",
    examples="""\
demele lab study run --preset ci --store first
demele lab study run --objective beta_tcvae --betas 1,2,4,8 --latents 4,10 --jobs 2 --store tc -o tc.html
""",
)
SHOW = Command(
    {"": load_study},
    ("STUDY",),
    lambda given: given.bind(load_study, *given.expected(1, 1)),
    details="""\
Show the results of a study: agreement of metrics, stability, models.

STUDY is the folder of demele lab study run, finished or not, or a file of a packed study. CSV has a row for each
model, with its scores; -o NAME.pairs.csv one for each pair of metrics. demele demo study shows a study of 36 models.
""",
    examples="demele lab study show study -o study.html -o study.pairs.csv\n",
)
RUN_PRUNING = Command(
    {"": pruning_study},
    ("--store FOLDER",),
    partial(_kept, pruning_study),
    short="preset noises seeds store n_jobs",
    details="""\
Prune fabrics in many ways, with true and wrong labels, and compare the ways.

Everything is kept in the folder: the same command continues where it was stopped, to the same bits; with more seeds or
noises it adds to the study. The published ways, for your own images such as CIFAR-10, are in Python:
demele.lab.pruning_study(..., preset="print").

Presets:
  ci              3 ways, 1 seed, seconds: the first try
  embedded        22 ways, 5 seeds, three noises, about 40 minutes on two cores
""",
    examples="""\
demele lab study pruning run --preset ci --store first
demele lab study pruning run --noises none,uniform:0.2 --seeds 3 --jobs 2 --store uniform -o uniform.html
""",
)
SHOW_PRUNING = Command(
    {"": load_pruning},
    ("STUDY",),
    lambda given: given.bind(load_pruning, *given.expected(1, 1)),
    details="""\
Show the results of a study of pruning: published claims, errors, ranks.

STUDY is the folder of demele lab study pruning run, finished or not, or a file of a packed study. CSV has a row for
each fabric; -o NAME.differences.csv, NAME.decisions.csv and NAME.ranks.csv have further tables. demele demo pruning
shows a study of 345 fabrics.
""",
    examples="demele lab study pruning show pruning -o pruning.html -o pruning.differences.csv\n",
)


def _demo(function: Callable[..., Any], given: Given) -> "partial[Any]":
    given.expected(0, 0)
    return given.bind(function)


DEMO = Command(
    {"": study_demo},
    ("",),
    partial(_demo, study_demo),
    details="Show a stored study: which metrics agree on 36 VAEs.",
    examples="demele demo study -o study.html\n",
)
DEMO_PRUNING = Command(
    {"": pruning_demo},
    ("",),
    partial(_demo, pruning_demo),
    details="Show a stored study: fabrics pruned in 22 ways under label noise.",
    examples="demele demo pruning -o pruning.html\n",
)
