"""The door for features of items that annotators answer about."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, NotEnoughData, UnknownNameError
from demele.core.inputs import read_codes
from demele.core.labelled import plain_text, shown
from demele.core.sentences import plural, setting
from demele.labels.joined.annotations import Annotations
from demele.labels.joined.gibbs import CountFeatures, FeatureModel, NormalFeatures
from demele.noise.square_tables import digest

Floats = NDArray[np.float64]

FEATURE_MODELS = ("counts", "normal")


@dataclass(frozen=True, slots=True)
class ItemFeatures:
    """Features as the sampler wants them; ``constant`` names those left out."""

    model: FeatureModel
    digest: str
    constant: tuple[str, ...] = ()


def named_feature_model(name: object) -> str:
    """Return the name of a feature model, if it is one."""
    if not isinstance(name, str) or name not in FEATURE_MODELS:
        raise UnknownNameError("feature_model", f"expected one of {shown(FEATURE_MODELS)}, got {plain_text(name)}")
    return name


def read_item_features(features: object, annotations: Annotations, model: str, prior: float) -> ItemFeatures:
    """Validate the features of all items.

    Parameters
    ----------
    features : array-like of shape (n_items, n_features)
        In the order of the items; a SciPy sparse table of counts stays sparse.
    model : {"counts", "normal"}
    prior : float above 0
        As in :func:`demele.labels.bayesian_consensus`.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If rows and items do not fit, or values do not fit the model.
    """
    _check_order(features, annotations)
    return (_counts if model == "counts" else _normal)(features, annotations, prior)


def _counts(features: Any, annotations: Annotations, prior: float) -> ItemFeatures:
    from scipy.sparse import csr_array, issparse

    if issparse(features):
        table = csr_array(features).astype(np.float64)
        table.sum_duplicates()
    else:
        table = csr_array(read_codes(features, "features").dense())
    _check_size(table.shape[0], annotations)
    wrong = np.flatnonzero(~((table.data >= 0) & (table.data == np.floor(table.data)) & np.isfinite(table.data)))
    if wrong.size:
        row = int(np.searchsorted(table.indptr, wrong[0], side="right")) - 1
        raise InputError(
            "features",
            f"expected counts, whole numbers of 0 or more, got {plural(wrong.size, 'other', 'others')}, first "
            f"{table.data[wrong[0]]:g} at row {row}, column {table.indices[wrong[0]]}; for measurements pass "
            f"{setting(feature_model='normal')}",
        )
    if not table.data.any():
        raise NotEnoughData("features", "expected at least 1 count above 0, got none")
    model = CountFeatures(table, prior, annotations.k)
    return ItemFeatures(model, digest(table.data, table.indices, table.indptr, table.shape))


def _normal(features: Any, annotations: Annotations, prior: float) -> ItemFeatures:
    read = read_codes(features, "features")
    _check_size(read.n, annotations)
    varying = np.flatnonzero(~read.constant)
    if not varying.size:
        raise NotEnoughData("features", "expected at least 1 feature that varies, got only constant ones")
    values = read.dense()[:, varying]
    # Halved ranges first, so that no square overflows or vanishes.
    centre, half = (read.low[varying] / 2 + read.high[varying] / 2), (read.high[varying] / 2 - read.low[varying] / 2)
    with np.errstate(all="ignore"):  # of a range that cannot be told from 0: refused below
        scaled = (values - centre) / half
        standardised = (scaled - scaled.mean(axis=0)) / scaled.std(axis=0)
    if not np.isfinite(standardised).all():
        name = read.names[varying[int(np.argmin(np.isfinite(standardised).all(axis=0)))]]
        raise InputError("features", f"column {name!r} varies too little for its size to be standardised; shift it")
    constant = tuple(name for name, flat in zip(read.names, read.constant, strict=True) if flat)
    return ItemFeatures(NormalFeatures(standardised, prior, annotations.k), digest(values), constant)


def _check_size(n_rows: int, annotations: Annotations) -> None:
    if n_rows != annotations.n_items:
        raise InputError(
            "features",
            f"expected {annotations.n_items} rows, one per item of the annotations, got {n_rows}; items "
            "without an answer are listed by Annotations(..., all_items=...)",
        )


def _check_order(features: Any, annotations: Annotations) -> None:
    """Refuse a data frame whose index holds the items in another order: rows are paired by position."""
    if not (hasattr(features, "columns") and hasattr(features, "loc")):
        return
    index = list(features.index)
    if index != list(annotations.items) and len(index) == annotations.n_items and set(index) == set(annotations.items):
        raise InputError(
            "features",
            "the index holds the items in another order, and rows are paired by position; pass "
            "features.loc[list(annotations.items)]",
        )
