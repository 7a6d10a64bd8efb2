"""Names that were not found, and names that changed."""

import inspect
from collections.abc import Callable

import numpy as np
import pytest

import demele
from demele.core import names
from demele.core.errors import InputTypeError


@names.renamed(size="n_rows", doubt="disagreement")
def drawn(labels: list[int], *, n_rows: int = 2, disagreement: int = 0) -> int:
    """Return a sum."""
    return len(labels) + n_rows + disagreement


def test_an_old_keyword_is_refused_with_the_new_one() -> None:
    assert drawn([1], n_rows=4) == 5
    assert drawn.__doc__ == "Return a sum."
    assert list(inspect.signature(drawn).parameters) == ["labels", "n_rows", "disagreement"]
    with pytest.raises(InputTypeError, match=r"^doubt: this argument was replaced; use `disagreement`$"):
        drawn([1], doubt=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        drawn([1], other=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        (lambda rows, **old: demele.evaluate(rows, rows, **old), "bootstrap", "n_bootstrap"),
        (lambda rows, **old: demele.evaluate(rows, rows, **old), "chance", "n_permutations"),
        (lambda rows, **old: demele.metrics.mig(rows, rows, **old), "repeats", "n_repeats"),
        (lambda rows, **old: demele.probes.fairness(rows, rows, **old), "chance", "n_permutations"),
    ],
)
def test_old_arguments_name_the_new_ones(call: Callable[..., object], old: str, new: str) -> None:
    with pytest.raises(InputTypeError, match=f"^{old}: this argument was replaced; use `{new}`$"):
        call(np.eye(8), **{old: 3})
