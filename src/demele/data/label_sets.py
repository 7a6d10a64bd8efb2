"""Real test sets with published labels, predictions of real models and findings of experts; answers of real crowds.

Bundled, small and ready to use, without downloads. ``bundled/LICENSES.md`` next to this module lists sources, licences
and changes.
"""

from __future__ import annotations

import importlib.resources
import io
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, UnknownNameError, quoted
from demele.core.given_arrays import whole_array
from demele.data.space import refuse_outside

if TYPE_CHECKING:
    import pandas as pd


Indices = NDArray[np.intp]

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
    labels: NDArray[Any]
    predictions: pd.DataFrame
    classes: tuple[int | str, ...]
    true_labels: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    group_kind: str | None = None
    audit_rows: Indices | None = None
    audit_labels: NDArray[Any] | None = None
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


def bundled_arrays(name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a bundled file. It is packed as a whole, since its arrays resemble each other."""
    packed = (importlib.resources.files(__package__) / "bundled" / f"{name}.npz.xz").read_bytes()
    with np.load(io.BytesIO(lzma.decompress(packed))) as arrays:
        return dict(arrays)


def label_example(name: str) -> LabelSet:
    """Return a test set with real label errors, or with real models."""
    import pandas as pd

    arrays = bundled_arrays(name)
    classes = arrays["classes"]
    # Names as Python strings, which data frames of every version hold without converting.
    words = classes.astype(object) if classes.dtype.kind == "U" else classes.astype(np.int64)

    def decoded(key: str) -> NDArray[Any] | None:
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
    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    answer: NDArray[Any]
    classes: tuple[str, ...]
    items: NDArray[np.int64]
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
        import pandas as pd

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
