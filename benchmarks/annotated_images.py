"""Label noise on images: fabrics as annotators, and how comparison methods err on the noise that they make.

``python -m benchmarks.annotated_images`` trains 100 annotators (``demele.lab.fabric_annotators``) on digits of 8 x 8
and on clutter of 16 x 16, and says what they cost and how varied they are; then the experiment of Benjelloun, section
6.5, on the clutter: 24 classifiers of other images, whose test labels carry noise of these annotators, or uniform noise
of the same rates. Writes results/annotated_images_annotators.csv (a row per set of images) and
results/annotated_images.csv (a row per kind of noise, rate and method). Goes on where it stopped, from files
beside them; what was not computed in one go has no time. About a quarter of an hour of CPU on a busy machine.
"""

import resource
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import RESULTS
from benchmarks.comparison_methods import table_of
from benchmarks.loop import Row, Table, main
from demele import bench
from demele.core.store import packed_classes, unpacked_classes
from demele.core.version import __version__
from demele.data import ArrayImages, ImageSet, clutter
from demele.lab import Fabric, FabricAnnotators, fabric_annotators
from demele.labels import add_feature_noise
from demele.runtime.sweep import Record, Sweep, Task

JOBS = 2
#: Images of the test set, which the annotators are trained on; the classifiers learn from others of the same stream.
N, LEVEL, OTHERS = 1500, 1, 100_000
RATES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
#: Training images of the classifiers; each kind is trained on every number.
SIZES = (250, 500, 1000, 2000)
#: Epochs of fabrics with 3 layers of 16 channels, by training images.
EPOCHS = {250: 12, 500: 10, 1000: 8, 2000: 5}

Classes = NDArray[Any]


def digits() -> tuple[ImageSet, Classes]:
    """Scikit-learn's digits as images of 8 x 8, and their classes."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return ArrayImages(np.round(found.images * 255 / 16).astype(np.uint8), name="digits"), found.inference


def glyphs() -> tuple[ImageSet, Classes]:
    """The test set of clutter, and its classes."""
    images = clutter(N, level=LEVEL)
    return images, images.positions()[:, 0]


#: What is annotated, by the name of the file that keeps it; the last is what the experiment is about.
SETS: Mapping[str, Callable[[], tuple[ImageSet, Classes]]] = {
    "digits": digits,
    "clutter": glyphs,
}


# Annotators ----------------------------------------------------------------------------------------------------------


def annotated(name: str) -> tuple[FabricAnnotators, dict[str, object]]:
    """Return 100 annotators of a set, and what is to be said of them."""
    (images, labels), store = SETS[name](), kept(name)
    begun, started, cpu = store.exists(), perf_counter(), _cpu()
    found = fabric_annotators(images, labels, n_jobs=JOBS, store=store, progress=True)
    seconds = perf_counter() - started
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # what processes used is known once they have ended
    rates = [rate / 100 for rate in range(1, 31) if rate / 100 <= found.highest_rate]
    made = [add_feature_noise(labels, found.predictions, rate).counts.wrong for rate in rates]
    size = "x".join(map(str, images.shape[:2]))
    return found, {
        "images": f"clutter, level {LEVEL}" if images.name == "clutter" else images.name,
        "size": size,
        "n": len(images),
        "annotators": len(found.annotators),
        "fabrics trained": found.n_fabrics,
        "lowest error": round(float(found.errors.min()), 4),
        "median error": round(float(np.median(found.errors)), 4),
        "highest error": round(float(found.errors.max()), 4),
        "disagreement": round(found.disagreement, 3),
        "images without a wrong vote": round((1 - found.highest_rate) * len(images)),
        "rates of 1 to 30 % made exactly": sum(
            wrong == round(rate * len(images)) for wrong, rate in zip(made, rates, strict=True)
        ),
        "seconds": "" if begun else round(seconds, 1),
        "CPU seconds": "" if begun else round(_cpu() - cpu, 1),
    }


def kept(name: str) -> Path:
    """Return the file that keeps what is finished."""
    return RESULTS / f"annotated_images_{name}.jsonl"


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


# Classifiers ---------------------------------------------------------------------------------------------------------


def _fabric(n: int, images: ImageSet) -> Classes:
    own, labels = _training(n)
    fabric = Fabric(3, 5, 16, image_channels=1, seed=n)
    fabric.fit(own, labels, epochs=EPOCHS[n], rate=0.05, milestones=(), seed=n)
    return fabric.predict(images)


def _estimator(make: Callable[[int], Any], n: int, images: ImageSet) -> Classes:
    own, labels = _training(n)
    return np.asarray(make(n).fit(_rows(own), labels).predict(_rows(images)))


def _training(n: int) -> tuple[ImageSet, Classes]:
    """Return images that no annotator and no other classifier has seen."""
    images = clutter(n, level=LEVEL, first=OTHERS * (1 + SIZES.index(n)))
    return images, images.positions()[:, 0]


def _rows(images: ImageSet) -> NDArray[np.float64]:
    return (images.images(range(len(images))).reshape(len(images), -1) - 128.0) / 64


def _perceptron(hidden: int, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier((hidden,), max_iter=30, early_stopping=True, random_state=seed)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(60, random_state=seed)


def _neighbours(seed: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(3 + seed % 2, algorithm="brute")


def _kernel(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(C=3.0, random_state=seed)


#: (training images, test images) -> predictions.
KINDS: Mapping[str, Callable[[int, ImageSet], Classes]] = {
    "fabric": _fabric,
    "perceptron of 64": partial(_estimator, partial(_perceptron, 64)),
    "perceptron of 256": partial(_estimator, partial(_perceptron, 256)),
    "forest": partial(_estimator, _forest),
    "neighbours": partial(_estimator, _neighbours),
    "support vectors": partial(_estimator, _kernel),
}


def classified(about: tuple[tuple[str, int], ...]) -> list[Record]:
    """Train classifiers, by kind and number of training images, and keep what they take the test images for."""
    import warnings

    images, _ = glyphs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some stop early on purpose
        return [{"predictions": packed_classes(KINDS[kind](n, images))} for kind, n in about]


def classifiers() -> dict[str, Classes]:
    """Return predictions of the test images, by the name of the classifier."""
    jobs = [(kind, n) for n in SIZES for kind in KINDS]
    identity = {"demele": __version__, "run": "classifiers of clutter", "n": N, "level": LEVEL}
    with Sweep(identity, store=kept("classifiers"), n_jobs=JOBS, progress=True) as sweep:
        tasks = [Task(key=job, about=job, weight=job[1], label=f"{job[0]}, {job[1]} images") for job in jobs]
        sweep.run(classified, tasks, what="classifiers to train")
        return {f"{kind}, {n} images": unpacked_classes(sweep.records[kind, n]["predictions"], N) for kind, n in jobs}


# The experiment ------------------------------------------------------------------------------------------------------


def compared(noise: str) -> list[Row]:
    """Return the errors of all methods under noise of the annotators, or under uniform noise."""
    labels = glyphs()[1]
    votes = annotated("clutter")[0].predictions if noise == "feature" else None
    found = bench.check_methods(classifiers(), labels, RATES, kind=noise, annotations=votes, n_jobs=JOBS)
    return table_of(found, f"clutter, level {LEVEL}")


if __name__ == "__main__":
    main(
        {
            "annotated_images_annotators": Table(cells=list(SETS), measured=lambda name: annotated(name)[1]),
            "annotated_images": Table(cells=("feature", "uniform"), measured=compared),
        }
    )
