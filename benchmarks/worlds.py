"""Simulated test sets on which comparisons of classifiers are judged: annotators, classifiers and several label noises.

A world stands in for the experiment of Benjelloun, section 6.5 (CIFAR-10 and 100 classifiers), whose predictions are
not published. Each instance has a difficulty that all raters share, a few further traits that each rater minds
differently, and a class that it is mistaken for. The constants below were set once, so that the comparisons of the
thesis err about as often at 5% noise as it reports (overlap 1.6 / 1.6%, worst-case-overlap 0 / 67%, hard-rows 0 / 53%);
no other method was looked at while they were set.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.comparison.methods import overlap
from demele.classifiers.question import Question
from demele.core.arrays import rng_for
from demele.core.labelled import Indices, Labelled, Vocabulary

Flags = NDArray[np.bool_]
Kind = Literal["uniform", "class", "feature", "adversarial"]

N_CLASSES = 10
N_RATERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What raters look at: shares of variance, and how often a mistake is the usual one."""

    shared: float = 0.65
    own_view: float = 0.20
    usual_mistake: float = 0.52
    usual_mistake_spread: float = 0.13
    mean_accuracy: float = 0.75
    accuracy_spread: float = 0.088


#: "thesis" meets the figures of the thesis; in "hard", classifiers repeat the annotators' mistakes very unequally.
KINDS = {"thesis": Traits(), "hard": Traits(usual_mistake_spread=0.45)}


@dataclass(frozen=True, slots=True)
class World:
    """One test set.

    ``annotations`` and ``predictions`` are of shape (100, n): those of 100 annotators with 0 to 42% errors, from whom
    the feature-dependent noise is made, and of the 100 classifiers to compare, 55 to 90% right.
    """

    true_labels: Indices
    annotations: Indices
    predictions: Indices
    seed: int

    @property
    def n(self) -> int:
        """Number of instances."""
        return int(self.true_labels.size)

    def labelled(self, labels: Indices) -> Labelled:
        """Return the classifiers' predictions with some labels."""
        names = tuple(f"model {j}" for j in range(len(self.predictions)))
        return Labelled(labels.astype(np.int32), self.predictions, names, Vocabulary(tuple(range(N_CLASSES))))


def world(seed: int, *, n: int = 12_000, kind: Literal["thesis", "hard"] = "thesis") -> World:
    """Draw a test set, its annotators and its classifiers."""
    from scipy.special import ndtri

    traits = KINDS[kind]
    rng = rng_for(seed, "world", kind, n)
    truth = rng.integers(0, N_CLASSES, n)
    # Most instances of a class are mistaken for one same class.
    step = np.where(rng.random(n) < 0.6, (3 * truth + 1) % (N_CLASSES - 1), rng.integers(0, N_CLASSES - 1, n))
    usual = (truth + 1 + step) % N_CLASSES
    difficulty = rng.standard_normal(n)
    views = rng.standard_normal((4, n))

    def answers(errors: NDArray[np.float64]) -> Indices:
        weights = rng.standard_normal((errors.size, len(views)))
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
        rest = 1 - traits.shared - traits.own_view
        hardness = np.sqrt(traits.shared) * difficulty + np.sqrt(traits.own_view) * (weights @ views)
        hardness += np.sqrt(rest) * rng.standard_normal((errors.size, n))
        wrong = hardness > -ndtri(np.maximum(errors, 1e-9))[:, None]
        follows = np.clip(traits.usual_mistake + traits.usual_mistake_spread * rng.standard_normal(errors.size), 0, 1)
        other = (truth + 1 + rng.integers(0, N_CLASSES - 1, wrong.shape)) % N_CLASSES
        mistake = np.where(rng.random(wrong.shape) < follows[:, None], usual, other)
        return np.where(wrong, mistake, truth).astype(np.int32)

    annotations = answers(np.linspace(0, 0.42, N_RATERS))
    ranks = (rng.permutation(N_RATERS) + 0.5) / N_RATERS
    accuracies = np.clip(traits.mean_accuracy + traits.accuracy_spread * ndtri(ranks), 0.55, 0.90)
    return World(truth.astype(np.int32), annotations, answers(1 - accuracies), seed)


def noisy_labels(
    world: World, rate: float, kind: Kind = "feature", *, baseline: int = 0, candidate: int = 1, seed: int = 0
) -> Indices:
    """Make labels of which a share is wrong.

    ``"uniform"``: any row, any other class. ``"class"``: each class is mistaken for the next one, the even ones three
    times as often as the odd ones. ``"feature"``: the hardest rows of the annotators. ``"adversarial"``: rows where the
    baseline model is right and the candidate is not, labelled as the candidate says; then rows where neither is
    right, labelled as the candidate says; then any row.
    """
    truth, n = world.true_labels, world.n
    rng = rng_for(seed, "noise", kind, world.seed)
    wrong = int(rate * n + 1e-9)
    if kind == "feature":
        from demele.labels.made.noise import add_feature_noise

        labels: Indices = add_feature_noise(truth, world.annotations, rate).labels.astype(np.int32)
        return labels
    labels = truth.copy()
    if kind == "uniform":
        rows = rng.permutation(n)[:wrong]
        labels[rows] = (truth[rows] + rng.integers(1, N_CLASSES, wrong)) % N_CLASSES
    elif kind == "class":
        order = np.argsort(rng.exponential(size=n) / np.where(truth % 2 == 0, 3.0, 1.0))
        rows = order[:wrong]
        labels[rows] = (truth[rows] + 1) % N_CLASSES
    elif kind == "adversarial":
        first, second = world.predictions[baseline], world.predictions[candidate]
        rank = np.where((first == truth) & (second != truth), 0, np.where((first != second) & (second != truth), 1, 2))
        rows = np.lexsort((rng.random(n), rank))[:wrong]
        labels[rows] = np.where(second[rows] != truth[rows], second[rows], (truth[rows] + 1) % N_CLASSES)
    else:
        raise ValueError(f"kind: expected one of {get_args(Kind)}, got {kind!r}")
    return labels.astype(np.int32)


def all_pairs(n_models: int) -> NDArray[np.intp]:
    """Return all ordered pairs (baseline, candidate) of distinct models, shape (n_pairs, 2)."""
    first, second = np.nonzero(~np.eye(n_models, dtype=bool))
    return np.stack([first, second], axis=1).astype(np.intp)


def question(world: World, labels: Indices, *, pairs: NDArray[np.intp] | None = None, **known: Any) -> Question:
    """Ask about pairs of classifiers of a world (by default all ordered pairs)."""
    pairs = all_pairs(len(world.predictions)) if pairs is None else pairs
    return Question(data=world.labelled(labels), baseline=pairs[:, 0], candidate=pairs[:, 1], **known)


def reference(world: World, *, level: float = 0.95, pairs: NDArray[np.intp] | None = None, **known: Any) -> Flags:
    """Say for which pairs the comparison on true labels takes the candidate."""
    asked = question(world, world.true_labels, pairs=pairs, level=level, **known)
    return overlap(asked, assumptions=()).candidate


@dataclass(frozen=True, slots=True)
class Rates:
    """Type I: candidate chosen though the reference keeps the baseline; type II: the converse. In percent."""

    type_1: float
    type_2: float
    agreement: float


def rates(choices: Flags, reference: Flags) -> Rates:
    """Compare choices of the candidate with those of the reference; NaN where the reference never says so."""
    kept = ~reference

    def percent(flags: Flags) -> float:
        return 100 * float(np.mean(flags)) if flags.size else float("nan")

    return Rates(percent(choices[kept]), percent(~choices[reference]), percent(choices == reference))
