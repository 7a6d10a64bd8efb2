"""Errors about values that the door refuses: which column, how many, the first row, and what to do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Factor, Missing
from demele.core.errors import InputError, quoted
from demele.core.sentences import plural, setting


def non_finite_codes(values: NDArray[Any], names: tuple[str, ...], argument: str, missing: Missing) -> InputError:
    """Return what to say of codes (n_samples, n_codes) that are not all finite."""
    bad = ~np.isfinite(np.asarray(values, dtype=np.float64))
    wrong = np.flatnonzero(bad.any(axis=0))
    rows = np.flatnonzero(bad[:, wrong[0]])
    more = plural(len(wrong) - 1, "other column", "other columns")
    others = "" if len(wrong) == 1 else f" (and {more}: {_listed(names, wrong[1:])})"
    of_both = f"drop those rows of both, or impute: {setting(missing='omit')} is for factors"
    remedy = of_both if missing == "omit" else "drop or impute them"
    return InputError(
        argument,
        f"{plural(len(rows), 'non-finite value', 'non-finite values')} (NaN or infinite) in column "
        f"{quoted(names[wrong[0]])}{others}, first at row {rows[0]}; {remedy}",
    )


def _listed(names: tuple[str, ...], indices: NDArray[np.intp]) -> str:
    shown = ", ".join(quoted(names[index]) for index in indices[:5])
    return shown + (", ..." if len(indices) > 5 else "")


def missing_annotations(columns: tuple[Factor, ...]) -> InputError:
    """Return the error for factors with missing annotations."""
    incomplete = [factor for factor in columns if not factor.complete]
    first = incomplete[0]
    row = int(np.flatnonzero(~first.annotated())[0])
    more = plural(len(incomplete) - 1, "other column", "other columns")
    others = "" if len(incomplete) == 1 else f" (and in {more})"
    return InputError(
        "factors",
        f"{plural(len(first.values) - first.n_annotated, 'missing annotation', 'missing annotations')} in column "
        f"{quoted(first.name)}{others}, first at row {row}; drop those rows, or pass {setting(missing='omit')} to "
        "score each factor on the rows annotated for it",
    )


def infinite_values(column: NDArray[Any], name: str, how_many: int) -> InputError:
    """Return what to say of a column of a factor, of shape (n_samples,), with infinite values."""
    row = int(np.flatnonzero(np.isinf(np.asarray(column, dtype=np.float64)))[0])
    return InputError(
        "factors",
        f"{plural(how_many, 'infinite value', 'infinite values')} in column {quoted(name)}, first at row {row}; "
        "drop or mark them missing",
    )
