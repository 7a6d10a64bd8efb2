"""Defects that an option of a score corrects: wrong annotations with known errors, and rotated codes."""

from dataclasses import replace

import numpy as np

from demele.bench.scenario import Candidate, Holds, Keeps, Representation, Scenario, corrected_by
from demele.bench.scenarios.geometry import ROTATION
from demele.bench.scenarios.sizes import SOME_NOISE
from demele.bench.scenarios.source import M
from demele.noise.transition import TransitionMatrix

__all__ = ["MENDED_SCENARIOS", "MISLABELLED", "MISLABELLED_CORRECTED", "ROTATION_ALIGNED"]

#: Classes of each factor.
CLASSES = 5


def _mislabelled(rng: np.random.Generator, severity: float, n: int) -> Representation:
    # as in "categorical" every class has an interval of the code, but codes are partly noise: a score of 1 on true
    # annotations would hide corrections that go too far. A wrong annotation is the next class, the last one's the first
    classes = rng.integers(0, CLASSES, (n, M))
    codes = (1 - SOME_NOISE) * (classes + rng.random((n, M))) / CLASSES + SOME_NOISE * rng.random((n, M))
    wrong = rng.random((n, M)) < severity
    mistaken = TransitionMatrix((1 - severity) * np.eye(CLASSES) + severity * np.roll(np.eye(CLASSES), 1, axis=1))
    return Representation(
        codes=codes,
        factors=np.where(wrong, (classes + 1) % CLASSES, classes),
        kinds="categorical",
        factor_noise={f"v{number}": mistaken for number in range(1, M + 1)},
    )


def _not_corrected(candidate: Candidate) -> str | None:
    return None if "transition" in corrected_by(candidate.name) else "no transition corrects it"


#: What is lost where nothing is corrected: shown beside the corrected scores, and not judged.
MISLABELLED = Scenario(
    name="mislabelled",
    title="Wrong classes",
    question="How far does the score fall when classes of factors are mistaken for others, and nothing is corrected?",
    sweep="share of annotations that are wrong",
    severities=(0.0, 0.1, 0.3),
    draw=_mislabelled,
    paired=True,
    declines=_not_corrected,
)

MISLABELLED_CORRECTED = replace(
    MISLABELLED,
    name="mislabelled_corrected",
    title="Wrong classes, corrected",
    question="Is the corrected score what it is on true annotations, if it is known how classes are mistaken?",
    wanted={"any": (Holds(0.05),)},
    score="corrected",
)

ROTATION_ALIGNED = replace(
    ROTATION,
    name="rotation_aligned",
    title="Rotation, aligned",
    question="Does the aligned score stay as axes turn by 45 degrees in pairs?",
    severities=(0.0, 0.4, 1.0),
    wanted={"any": (Keeps(0.95),)},
    score="aligned",
)

MENDED_SCENARIOS = (MISLABELLED, MISLABELLED_CORRECTED, ROTATION_ALIGNED)
