"""Examples that come with demele, by name: representations, test sets with wrong labels, and answers of crowds."""

from __future__ import annotations

import importlib.resources
import io
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Array, Counts, Flags, Floats, Rows, pd
from demele.core.errors import InputError, UnknownNameError, quoted
from demele.core.kinds import checked_name
from demele.core.table_columns import real_numbers, whole_array
from demele.data.space import Sample, refuse_outside

# Real test sets with published labels, predictions of real models and findings of experts; answers of real crowds -----
#
# Bundled, small and ready to use, without downloads. ``bundled/LICENSES.md`` next to this module lists sources,
# licences and changes.

Indices = Rows

LabelSetName = Literal[
    "mmlu_redux",
    "label_errors_caltech256",
    "label_errors_cifar10",
    "label_errors_cifar100",
    "label_errors_imagenet",
    "label_errors_imdb",
    "label_errors_mnist",
    "label_errors_news20",
    "geirhos_16class_colour",
    "geirhos_16class_contrast",
    "geirhos_16class_highpass",
    "geirhos_16class_lowpass",
    "geirhos_16class_noise",
    "geirhos_16class_phase_scrambling",
    "geirhos_16class_rotation",
    "geirhos_16class_salt_and_pepper",
]
LABEL_SETS: tuple[str, ...] = get_args(LabelSetName)
CrowdName = Literal["mozafari_1000", "hitspam_crowdflower"]
CROWDS: tuple[str, ...] = get_args(CrowdName)


# Frames and arrays have no single truth value, so a generated == would fail: label sets compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelSet:
    """One test set: given labels, predictions of models, and the known true labels.

    Attributes
    ----------
    name : str
        As :func:`load_example` takes it.
    labels : array of shape (n,)
        Labels that the set was published with, which may be wrong: whole numbers or strings, as in ``classes``.
    predictions : DataFrame of shape (n, n_models)
        One column per model.
    classes : tuple
        All classes, in the order of results. Some, such as ``"no answer"``, are predicted and are never a label: pass
        ``classes=`` on.
    true_labels : array of shape (n,) or None
        None where they are not known for every row.
    groups : array of str of shape (n,) or None
        What each row belongs to: ``group_kind`` says what that is, such as the subject of a question.
    audit_rows, audit_labels : arrays of shape (k,) or None
        Rows that were reviewed, and the label that reviewers gave. ``audit_design`` says how the rows were chosen, as
        :class:`demele.labels.Audit` wants it: ``"selective"`` means that they do not represent the other rows.
    provenance, licence : str
    """

    name: str
    labels: Array
    predictions: pd.DataFrame
    classes: tuple[int | str, ...]
    true_labels: Array | None = None
    groups: Array | None = None
    group_kind: str | None = None
    audit_rows: Indices | None = None
    audit_labels: Array | None = None
    audit_design: str | None = None
    provenance: str
    licence: str

    @property
    def n(self) -> int:
        """Number of instances."""
        return int(self.labels.size)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(str(name) for name in self.predictions.columns)

    @property
    def noise_rate(self) -> float | None:
        """Share of labels that differ from the true ones; None if these are not known."""
        return None if self.true_labels is None else float(np.mean(self.labels != self.true_labels))

    def group_names(self) -> tuple[str, ...]:
        """Return the groups in alphabetical order; none if the set has no groups."""
        return () if self.groups is None else tuple(sorted(set(self.groups.tolist())))

    def of_group(self, group: str) -> LabelSet:
        """Return the rows of one group, such as one subject.

        Raises
        ------
        UnknownNameError
            If the set has no such group.
        """
        if self.groups is None or group not in self.group_names():
            known = ", ".join(map(repr, self.group_names())) or "none"
            raise UnknownNameError("group", f"expected one of the groups of {self.name} ({known}), got {quoted(group)}")
        return self.take(np.flatnonzero(self.groups == group))

    def take(self, rows: Any) -> LabelSet:
        """Return some rows, by position; a review of rows keeps those among them.

        Parameters
        ----------
        rows : array-like of whole numbers, or of bool of shape (n,)

        Raises
        ------
        InputError
            If a row does not exist or comes twice.
        """
        flags = np.asarray(rows)
        if flags.dtype == bool and flags.shape != (self.n,):
            raise InputError("rows", f"expected {self.n} flags, one per row, got shape {flags.shape}")
        chosen = np.flatnonzero(flags) if flags.dtype == bool else whole_array(rows, "rows", dimensions=1)
        refuse_outside(chosen, self.n, "rows")
        if np.unique(chosen).size < chosen.size:
            repeated = chosen.size - np.unique(chosen).size
            raise InputError("rows", f"expected each row once, got {repeated} more than once")
        audit_rows, audit_labels = self.audit_rows, self.audit_labels
        if audit_rows is not None and audit_labels is not None:
            place = np.full(self.n, -1, dtype=np.intp)
            place[chosen] = np.arange(chosen.size)
            kept = place[audit_rows] >= 0
            audit_rows, audit_labels = place[audit_rows][kept], audit_labels[kept]
        return replace(
            self,
            labels=self.labels[chosen],
            predictions=self.predictions.iloc[chosen].reset_index(drop=True),
            true_labels=None if self.true_labels is None else self.true_labels[chosen],
            groups=None if self.groups is None else self.groups[chosen],
            audit_rows=audit_rows,
            audit_labels=audit_labels,
        )

    def __repr__(self) -> str:
        rate = self.noise_rate
        known = "" if rate is None else f", {rate:.2%} of labels wrong"
        reviewed = "" if self.audit_rows is None else f", {self.audit_rows.size} rows reviewed ({self.audit_design})"
        models = "1 model" if len(self.models) == 1 else f"{len(self.models)} models"
        return f"LabelSet({self.name}: {self.n} rows, {models}, {len(self.classes)} classes{known}{reviewed})"


def bundled_arrays(name: str) -> dict[str, Array]:
    """Return the arrays of a bundled file. It is packed as a whole, since its arrays resemble each other."""
    packed = (importlib.resources.files(__package__) / "bundled" / f"{name}.npz.xz").read_bytes()
    with np.load(io.BytesIO(lzma.decompress(packed))) as arrays:
        return dict(arrays)


def label_example(name: str) -> LabelSet:
    """Return a test set with real label errors, or with real models."""
    arrays = bundled_arrays(name)
    classes = arrays["classes"]
    # Names as Python strings, which data frames of every version hold without converting.
    words = classes.astype(object) if classes.dtype.kind == "U" else classes.astype(np.int64)

    def decoded(key: str) -> Array | None:
        return words[arrays[key]] if key in arrays else None

    groups = arrays["group_names"].astype(object)[arrays["groups"]] if "groups" in arrays else None
    rows = arrays["audit_rows"].astype(np.intp) if "audit_rows" in arrays else None
    return LabelSet(
        name=name,
        labels=words[arrays["labels"]],
        predictions=pd.DataFrame(dict(zip(arrays["models"].tolist(), words[arrays["predictions"]], strict=True))),
        classes=tuple(classes.tolist()),
        true_labels=decoded("true_labels"),
        groups=groups,
        group_kind=str(arrays["group_kind"]) if groups is not None else None,
        audit_rows=rows,
        audit_labels=decoded("audit_labels"),
        audit_design=None if rows is None else "selective",
        provenance=str(arrays["provenance"]),
        licence=str(arrays["licence"]),
    )


# Arrays have no single truth value, so a generated == would fail: crowd sets compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrowdSet:
    """Answers of annotators on items: one entry per answer.

    Attributes
    ----------
    name : str
        As :func:`load_example` takes it.
    item, annotator : arrays of int of shape (n_answers,)
        Numbers of the item and of who answered; answers are sorted by both.
    answer : array of str of shape (n_answers,)
    classes : tuple of str
        All answers that there are, in the order of results.
    items : array of int of shape (n_items,)
        All items, those without an answer included.
    gold : mapping of int to str
        The right answer, by item, where it is known; possibly of an item without an answer.
    provenance, licence : str
    """

    name: str
    item: Counts
    annotator: Counts
    answer: Array
    classes: tuple[str, ...]
    items: Counts
    gold: Mapping[int, str]
    provenance: str
    licence: str

    def __repr__(self) -> str:
        return (
            f"CrowdSet({self.name}: {self.item.size} answers of {np.unique(self.annotator).size} annotators, "
            f"{self.items.size} items, {len(self.classes)} classes, {len(self.gold)} right answers known)"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per answer: item, annotator, answer; the methods of :mod:`demele.labels` read it."""
        return pd.DataFrame({"item": self.item, "annotator": self.annotator, "answer": self.answer})


def crowd_example(name: str) -> CrowdSet:
    """Return answers of a crowd of annotators."""
    arrays = bundled_arrays(f"crowd/{name}")
    per_item = arrays["answers_per_item"]
    words = arrays["classes"].astype(object)
    return CrowdSet(
        name=name,
        item=np.repeat(np.arange(per_item.size), per_item),
        annotator=arrays["annotator"].astype(np.int64),
        answer=words[np.unpackbits(arrays["answer"], count=arrays["annotator"].size)],
        classes=tuple(words.tolist()),
        items=np.arange(per_item.size),
        gold=dict(zip(arrays["gold_items"].tolist(), words[arrays["gold"]].tolist(), strict=True)),
        provenance=str(arrays["provenance"]),
        licence=str(arrays["licence"]),
    )


# Real codes of real images, bundled -----------------------------------------------------------------------------------
#
# Nothing was simulated. The 1797 images of 8 x 8 pixels are handwritten digits; the factors, class aside, are measured
# on each image, as Morpho-MNIST does for MNIST; the codes were learned without labels. Two consequences, which toy
# data hide: the factors depend on each other (a longer stroke is a thinner one), and no representation is perfect.

DemoName = Literal["pca", "ica", "nmf", "autoencoder"]
DIGITS: Final[tuple[str, ...]] = get_args(DemoName)

#: The measured factors, in the order of the columns, and their units. A pixel is one of the 8 x 8.
FACTOR_UNITS: Final[Mapping[str, str]] = {
    "area": "pixels",
    "slant": "degrees, positive when the top leans to the right",
    "width": "pixels",
    "height": "pixels",
    "length": "pixels",
    "thickness": "pixels",
    "centre_x": "pixels, from 0 (left column) to 7",
    "centre_y": "pixels, from 0 (top row) to 7",
}

FULL_INK = 16.0  # the intensity of a pixel covered with ink: each counts the black cells of a 4 x 4 block
SCALE = 8  # subpixels along the side of a pixel
# Covered by this much, a subpixel is ink. At 0.4 the digits have the holes that they should more often than at 0.3 or
# 0.5 (0.3 fills the loops of 6, 8, 9; 0.5 opens those of 0). Rounding must not decide, hence the hair's breadth.
INK_LEVEL = 0.4 - 1e-9
CHUNK = 64  # images thinned together: their masks fit in a processor's cache


def digits_example(name: str) -> Sample:
    """Return ten learned codes and nine factors of 1797 real handwritten digits."""
    from sklearn.datasets import load_digits

    digits, arrays = load_digits(), bundled_arrays("digits/demo")
    ink = digits.images / FULL_INK
    measured = {**_moments(ink), "length": arrays["length"], "thickness": arrays["thickness"]}
    codes = arrays["nmf_codes"] if name == "nmf" else ink.reshape(-1, 64)
    for layer in (arrays[key] for key in sorted(arrays) if key.startswith(f"{name}_layer")):
        codes = codes @ layer[:-1] + layer[-1]
        codes = np.tanh(codes) if name == "autoencoder" else codes
    # Single precision is the same on every machine.
    numbers = {key: values.astype(np.float32).astype(float) for key, values in {**measured, "codes": codes}.items()}
    factors = {
        "class": pd.Categorical(digits.target, categories=range(10)),
        **{key: numbers[key] for key in FACTOR_UNITS},
    }
    columns = [f"z{j + 1}" for j in range(codes.shape[1])]
    return Sample(
        pd.DataFrame(numbers["codes"], columns=columns), pd.DataFrame(factors), str(arrays[f"{name}_provenance"])
    )


def digit_factors(images: ArrayLike) -> pd.DataFrame:
    r"""Measure eight factors on each image of a digit.

    Parameters
    ----------
    images : array-like of shape (n, 8, 8)
        Intensities from 0 (paper) to 16 (ink), row 0 at the top, as ``sklearn.datasets.load_digits().images``.

    Returns
    -------
    DataFrame of shape (n, 8), float64
        Columns and units as in :data:`FACTOR_UNITS`. On an image without ink, area and length are 0 and the rest is
        NaN; with all its ink in one row, slant and width are NaN.

    Raises
    ------
    InputError
        If the shape is another, or a value is not finite or outside 0 to 16.

    Notes
    -----
    With ink :math:`w_{yx}` = intensity / 16, and means, variances and covariance of the pixels' positions weighted
    by it:

    - area: :math:`\sum w`.
    - centre_x, centre_y: the means of x and of y.
    - slant: :math:`\arctan(-\mathrm{cov}(x, y) / \mathrm{var}(y))`, the shear that makes the ink upright.
    - height: :math:`\sqrt{12\,\mathrm{var}(y) + 1}`, the height of the evenly inked box with the same spread. It is
      exact for a box of whole pixels, and more than 8 where top and bottom hold most of the ink.
    - width: the same for x after the shear is undone.

    A pixel is then cut into 8 x 8 subpixels by cubic spline interpolation, and those that are at least 0.4 inked are
    thinned to a skeleton one subpixel wide (Guo and Hall 1989, first algorithm):

    - length: the steps between neighbouring subpixels of the skeleton, 1 along an axis and :math:`\sqrt 2` along a
      diagonal. Oblique strokes come out up to 8 % too long, and a free end is shorter by about half the thickness.
    - thickness: twice the mean distance from the skeleton to the paper. The threshold widens every stroke a little.

    Morpho-MNIST (Castro, Tan, Kainz, Konukoglu and Glocker, JMLR 2019) measures the same quantities with a bounding
    parallelogram. It would be of no use here: the digits were scaled to fill their square, so that nearly all have a
    bounding height of 8. How the ink spreads inside still differs.

    Cost: about 1.5 ms per image.

    Examples
    --------
    An upright bar, two pixels wide and six high:

    >>> import numpy as np
    >>> from demele.data import digit_factors
    >>> bar = np.zeros((1, 8, 8))
    >>> bar[0, 1:7, 3:5] = 16
    >>> digit_factors(bar)[["area", "slant", "width", "height", "centre_x"]].round(6).abs()
       area  slant  width  height  centre_x
    0  12.0    0.0    2.0     6.0       3.5
    """
    array = real_numbers(images, "images")
    if array.ndim != 3 or array.shape[1:] != (8, 8):
        raise InputError("images", f"expected shape (n, 8, 8); got {array.shape}; reshape rows of 64 with (-1, 8, 8)")
    wrong = ~((array >= 0) & (array <= FULL_INK)).all(axis=(1, 2))  # NaN compares false, so it is wrong too
    if wrong.any():
        raise InputError(
            "images", f"{wrong.sum()} images are outside 0 to {FULL_INK:g}, first: {wrong.argmax()}; rescale them"
        )
    ink = array / FULL_INK
    columns = {**_moments(ink), **_strokes(ink)}
    return pd.DataFrame({name: columns[name] for name in FACTOR_UNITS})


def _moments(ink: Floats) -> dict[str, Floats]:
    """Return what follows from the sums over the pixels of (n, 8, 8) ink."""
    y, x = (axis.astype(float) for axis in np.indices(ink.shape[1:]))
    area = ink.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):  # no ink, or ink in one row: NaN, as documented

        def mean(values: Floats) -> Floats:
            return np.asarray((ink * values).sum(axis=(1, 2)) / area)

        centre_x, centre_y = mean(x), mean(y)
        across, down = x - centre_x[:, None, None], y - centre_y[:, None, None]
        slope = mean(across * down) / mean(down**2)
        upright = across - slope[:, None, None] * down
        # A pixel is one wide, which its centre alone does not show: hence the 1.
        width, height = np.sqrt(12 * mean(upright**2) + 1), np.sqrt(12 * mean(down**2) + 1)
    return {
        "area": area,
        "slant": np.degrees(np.arctan(-slope)),
        "width": width,
        "height": height,
        "centre_x": centre_x,
        "centre_y": centre_y,
    }


def _strokes(ink: Floats) -> dict[str, Floats]:
    """Return what follows from the skeletons of (n, 8, 8) ink."""
    length, thickness = np.zeros(len(ink)), np.full(len(ink), np.nan)
    for start in range(0, len(ink), CHUNK):
        part = slice(start, start + CHUNK)
        covered = _enlarge(ink[part]) >= INK_LEVEL
        skeleton = _thin(covered)
        # The length of each skeleton as a chain of steps, in subpixels
        straight = sum((one[:, 1:] & one[:, :-1]).sum(axis=(1, 2)) for one in (skeleton, skeleton.swapaxes(1, 2)))
        a, b, c, d = skeleton[:, :-1, :-1], skeleton[:, :-1, 1:], skeleton[:, 1:, :-1], skeleton[:, 1:, 1:]
        diagonal = ((a & d & ~b & ~c) | (b & c & ~a & ~d)).sum(axis=(1, 2))
        length[part] = np.asarray(straight + np.sqrt(2) * diagonal) / SCALE
        from scipy import ndimage

        distances = [
            ndimage.distance_transform_edt(mask)[line].mean() if line.any() else np.nan
            for mask, line in zip(covered, skeleton, strict=True)
        ]
        thickness[part] = (2 * np.array(distances, dtype=float) - 0.5) / SCALE
    return {"length": length, "thickness": thickness}


def _enlarge(ink: Floats) -> Floats:
    """Interpolate (n, 8, 8) by cubic splines on SCALE times as many points, with one pixel of paper around.

    Interpolation is linear in the image, and the same for rows and columns, so one matrix does it for all images.
    """
    from scipy import ndimage

    side = ink.shape[1] + 2
    spline = np.stack(
        [ndimage.zoom(unit, SCALE, order=3, mode="grid-constant", grid_mode=True) for unit in np.eye(side)], axis=1
    )
    return np.asarray(spline @ np.pad(ink, ((0, 0), (1, 1), (1, 1))) @ spline.T)


# The neighbours p2 to p9 of a point p1: from the one above, clockwise. Bit k of a code is neighbour p(k + 2).
RING = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


def _thin(covered: Flags) -> Flags:
    """Return the skeletons of masks (n, height, width) whose outermost rows and columns are empty."""
    ink = covered.astype(np.uint8)
    inner = ink[:, 1:-1, 1:-1]
    height, width = inner.shape[1:]
    p2, p3, p4, p5, p6, p7, p8, p9 = ((np.arange(256) >> np.arange(8)[:, None]) & 1).astype(bool)
    branches = sum(np.int8(~a & (b | c)) for a, b, c in ((p2, p3, p4), (p4, p5, p6), (p6, p7, p8), (p8, p9, p2)))
    pairs = sum(np.int8(a | b) for a, b in ((p9, p2), (p3, p4), (p5, p6), (p7, p8)))
    other_pairs = sum(np.int8(a | b) for a, b in ((p2, p3), (p4, p5), (p6, p7), (p8, p9)))
    few = np.minimum(pairs, other_pairs)
    border = (branches == 1) & (few >= 2) & (few <= 3)  # its removal neither splits the ink nor shortens an end
    passes = border & ~((p2 | p3 | ~p5) & p4), border & ~((p6 | p7 | ~p9) & p8)
    while True:
        before = inner.sum()
        for removable in passes:
            code = np.zeros_like(inner)
            for bit, (dy, dx) in enumerate(RING):
                code |= ink[:, 1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width] << np.uint8(bit)
            inner &= ~removable[code]  # all points of a pass go at once
        if inner.sum() == before:
            return ink.astype(bool)


def example_names() -> tuple[str, ...]:
    """Return the names that :func:`load_example` accepts.

    Examples
    --------
    >>> from demele.data import example_names
    >>> example_names()[:5]
    ('pca', 'ica', 'nmf', 'autoencoder', 'mmlu_redux')
    """
    return (*DIGITS, *LABEL_SETS, *CROWDS)


@overload
def load_example(name: DemoName = "autoencoder") -> Sample: ...
@overload
def load_example(name: LabelSetName) -> LabelSet: ...
@overload
def load_example(name: CrowdName) -> CrowdSet: ...
@overload
def load_example(name: str) -> Sample | LabelSet | CrowdSet: ...
def load_example(name: str = "autoencoder") -> Sample | LabelSet | CrowdSet:
    """Return data that come with demele: a representation, a test set, or the answers of a crowd.

    Parameters
    ----------
    name : str
        - ``"autoencoder"``, ``"pca"``, ``"ica"``, ``"nmf"``: ten codes of 1,797 handwritten digits, learned without
          labels, and nine factors: the class, and measurements of :func:`digit_factors`. The codes are the bottleneck
          of a small neural network, principal components, independent components, or non-negative factors.
        - ``"mmlu_redux"``: ten language models on 5,432 questions of 57 subjects, the published answers (1.9% wrong),
          and the answers that experts corrected. 268 more questions have no single right answer and are left out. A
          reply other than the four letters is the class ``"no answer"``, always wrong.
        - ``"label_errors_cifar10"`` and six others: the published labels of a test set, one model's predictions, and
          the answers of five crowd workers on rows where an algorithm suspected an error: a selective review that
          allows no estimate of an accuracy.
        - ``"geirhos_16class_contrast"`` and seven others: 20 to 23 networks on the same distorted images of 16 classes.
          Labels are taken as true: add noise to study its effects.
        - ``"mozafari_1000"``: 5,000 answers of 83 annotators, five about each of 1,000 items of two classes; the right
          one is known of all.
        - ``"hitspam_crowdflower"``: 42,762 answers of 153 annotators about 5,380 items (and one without an answer): is
          a task that was offered to a crowd spam? The right answer is known of 101. Some annotators answered the same
          question several times: 4,169 repeats.

    Returns
    -------
    Sample, LabelSet or CrowdSet
        A representation with its factors; labels and predictions; or answers. Arrays are new at each call.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest one.

    Notes
    -----
    The digits are the test part of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine
    Learning Repository, 1998, CC BY 4.0), as scikit-learn's ``load_digits`` gives them. ``DIGITS_LICENSE.md`` next to
    this module lists the derived arrays. The arrays are stored in single precision. Codes are in the units of their
    method: those of ``"nmf"`` differ fifteenfold in spread. Thirteen people wrote the digits, and who wrote which is
    not known, so the rows are not quite independent. Some factors depend on each other: the correlation is -0.78
    between length and thickness, -0.72 between slant and centre_y, 0.70 between length and width, and at most 0.57 in
    size elsewhere.

    Sources of test sets: Gema et al. 2024; Northcutt, Athalye and Mueller 2021; Geirhos et al. 2018. Source of crowds:
    P. G. Ipeirotis, F. Provost and J. Wang, *Quality management on Amazon Mechanical Turk* (2010).

    Examples
    --------
    >>> from demele.data import load_example
    >>> sample = load_example("pca")
    >>> sample.codes.shape, list(sample.factors)[:4]
    ((1797, 10), ['class', 'area', 'slant', 'width'])
    >>> questions = load_example("mmlu_redux")
    >>> questions
    LabelSet(mmlu_redux: 5432 rows, 10 models, 5 classes, 1.86% of labels wrong)
    >>> questions.of_group("virology")
    LabelSet(mmlu_redux: 76 rows, 10 models, 5 classes, 43.42% of labels wrong)
    >>> load_example("label_errors_mnist")
    LabelSet(label_errors_mnist: 10000 rows, 1 model, 10 classes, 82 rows reviewed (selective))
    >>> load_example("mozafari_1000").to_frame().head(2)
       item  annotator answer
    0     0          2      0
    1     0         34      0
    """
    checked_name(name, "name", example_names())
    if name in DIGITS:
        return digits_example(name)
    return label_example(name) if name in LABEL_SETS else crowd_example(name)
