"""What a test set with wrong labels says of pruned fabrics: compared in pairs, and ranked, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.evaluation.comparison.compare import compare
from demele.evaluation.comparison.rank import rank
from demele.runtime.sweep import Record
from demele.studies.pruning.claims import all_pairs
from demele.studies.pruning.configurations import LabelNoise
from demele.studies.pruning.pictures import Labelled, Source
from demele.studies.pruning.work import read_predictions

#: The true labels, every one of them believed: what the others are held against.
TRUE = "true labels"
#: By which a pair is decided: those of print, ours with bounds, and the true labels.
METHODS = ("overlap", "worst-case-overlap", "hard-rows", "worst-case", TRUE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionJob:
    """The fabrics of one seed under one noise.

    Attributes
    ----------
    noise : LabelNoise
    seed : int
    source : Source
    predictions : mapping of str to Path
        Files of predictions, by the name of the configuration.
    """

    noise: LabelNoise
    seed: int
    source: Source
    predictions: Mapping[str, Path]


def decided(jobs: tuple[DecisionJob, ...]) -> list[Record]:
    """Return the decisions about each seed under a noise."""
    return [_decided(job) for job in jobs]


def _decided(job: DecisionJob) -> Record:
    """Decide every pair that a claim is about, the second being the candidate, and rank all fabrics.

    The noise rate is known to the methods that ask for it, as it is to who made the noise.
    """
    test = job.source.split(job.seed, job.noise).test
    predictions = {name: read_predictions(path, len(test.true)) for name, path in job.predictions.items()}
    difficulty = disagreement(np.stack(list(predictions.values())))
    found: dict[str, dict[str, str]] = {}
    for first, second in all_pairs():
        if first in predictions and second in predictions:
            pair = predictions[first], predictions[second]
            found[f"{first} | {second}"] = {
                method: _verdict(pair, *_asked(method, test, job.noise, difficulty)) for method in METHODS
            }
    ranks = {
        method: _ranks(predictions, *_asked(method, test, job.noise, difficulty))
        for method in ("overlap", "worst-case", TRUE)
    }
    return {"pairs": found, "ranks": ranks}


def _verdict(pair: tuple[Any, Any], labels: NDArray[np.int64], known: dict[str, Any]) -> str:
    return compare(*pair, labels, **known).verdict


def _asked(
    method: str, test: Labelled, noise: LabelNoise, difficulty: NDArray[np.float64]
) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Return the labels and the other arguments of a method."""
    if method == TRUE:
        return test.true, {"method": "worst-case", "noise": 0.0}
    known: dict[str, Any] = {"method": method}
    if method in ("worst-case-overlap", "worst-case"):
        known["noise"] = noise.rate
    if method == "hard-rows":
        known |= {"difficulty": difficulty, "prudence": noise.rate}
    return test.given, known


def _ranks(predictions: Mapping[str, Any], labels: NDArray[np.int64], known: dict[str, Any]) -> dict[str, list[int]]:
    found = rank(dict(predictions), labels, **known)
    return {
        name: [int(best), int(worst)]
        for name, best, worst in zip(found.names, found.best_rank, found.worst_rank, strict=True)
    }


def disagreement(predictions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return of each image the share of models that do not predict what most of them do: no label is looked at.

    Parameters
    ----------
    predictions : array of int of shape (n_models, n_images)

    Examples
    --------
    >>> disagreement(np.array([[0, 1], [0, 2], [0, 2], [1, 2]])).tolist()
    [0.25, 0.25]
    """
    classes = np.arange(int(predictions.max()) + 1)
    votes = (predictions[None] == classes[:, None, None]).sum(axis=1)
    shares: NDArray[np.float64] = 1 - votes.max(axis=0) / len(predictions)
    return shares
