"""Cleaning by entropy: wrong labels found with the fixed threshold 0.3, and with the default, read off the data.

``python -m benchmarks.entropy_threshold`` (seconds, one core); writes results/entropy_threshold.csv. The folder that
the environment variable DEMELE_LABEL_SOURCES names holds ``label_errors/*.npz``, with probabilities of published
models; their wrong labels are those that reviewers found, so that precision is a lower limit. ``mmlu_redux`` and
``geirhos`` are bundled: shares of the votes of their models as probabilities. Digits: logistic regression, out of fold,
trained on the wrong labels too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from benchmarks.cases import sources
from benchmarks.loop import Table, main
from demele.data import label_set
from demele.labels import add_feature_noise, add_uniform_noise, artificial_annotators, clean

Array = NDArray[Any]
#: Name, given labels, true ones, features or probabilities, and further options of ``clean``.
Case = tuple[str, Array, Array, Array, dict[str, Any]]
FIXED = 0.3


def reviewed(folder: Path) -> Iterator[Case]:
    """Published test sets: a label that no review settled counts as right."""
    for name in ("cifar10", "mnist", "imdb", "news20"):
        with np.load(folder / "label_errors" / f"{name}.npz") as stored:
            given, probabilities, corrected = stored["given"], stored["pyx"].astype(float), stored["corrected"]
        true = np.where(corrected >= 0, corrected, given)
        classes = list(range(probabilities.shape[1]))
        yield f"{name}, reviewed", given, true, probabilities, {"kind": "probabilities", "classes": classes}


def voted() -> Iterator[Case]:
    """Bundled sets, with shares of the models' votes."""
    questions = label_set("mmlu_redux")
    images = label_set("geirhos_16class_rotation")
    noisy = add_uniform_noise(images.labels, 0.05, seed=0)
    for name, found, given, true in (
        ("mmlu_redux, votes of 10 models", questions, questions.labels, questions.true_labels),
        ("geirhos rotation, votes of 23 models, 5 % wrong anywhere", images, noisy.labels, images.labels),
    ):
        classes = list(found.classes)
        votes = np.stack([(found.predictions.to_numpy() == one).mean(axis=1) for one in classes], axis=1)
        yield name, given, np.asarray(true), votes, {"kind": "probabilities", "classes": classes}


def trained() -> Iterator[Case]:
    """Digits with wrong labels everywhere alike, and where annotators err."""
    digits = load_digits()
    annotators = artificial_annotators(digits.data, digits.target, n_annotators=12, seed=0)
    for rate in (0.05, 0.1, 0.2, 0.4):
        for name, noisy in (
            ("anywhere", add_uniform_noise(digits.target, rate, seed=0)),
            ("where annotators err", add_feature_noise(digits.target, annotators.predictions, rate)),
        ):
            yield f"digits, {100 * rate:g} % wrong {name}", noisy.labels, digits.target, digits.data, {}


def row(case: Case) -> dict[str, object]:
    """Clean both ways."""
    name, given, true, table, options = case
    wrong = given != true
    told: dict[str, object] = {"set": name, "labels": given.size, "wrong": int(wrong.sum())}
    for way, threshold in (("fixed", FIXED), ("default", None)):
        found = clean(given, table, method="entropy", threshold=threshold, **options)
        if found.signature is None:
            raise RuntimeError("a cleaning by a method has a signature")
        hits = int(np.count_nonzero(found.suspect & wrong))
        told |= {
            f"{way} threshold": f"{found.signature.arguments['threshold']:g}",
            f"{way} suspects": found.n_suspects,
            f"{way} found": hits,
            f"{way} share found": f"{hits / wrong.sum():.3f}",
            f"{way} precision": f"{hits / found.n_suspects:.3f}" if found.n_suspects else "nan",
        }
    return told


def cleaned(kind: str) -> list[dict[str, object]]:
    """Clean every set of a kind."""
    made = {"voted": voted, "trained": trained}
    return [row(case) for case in (made[kind]() if kind in made else reviewed(sources("label_errors")))]


if __name__ == "__main__":
    main({"entropy_threshold": Table(cells=("reviewed", "voted", "trained"), measured=cleaned)})
