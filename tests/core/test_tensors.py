"""Tensors of every kind are read as what they hold, or refused in words that name the argument."""

from typing import Any

import numpy as np
import pytest

import demele
from demele import classifiers
from demele.core.errors import InputTypeError
from tests.refusals import refuses
from tests.tolerances import assert_exact

CODES: Any = np.random.default_rng(0).random((40, 3))
FACTOR: Any = np.arange(40) % 3
torch: Any = pytest.importorskip("torch")
TENSOR = torch.tensor(CODES)


@pytest.mark.parametrize(
    "tensor",
    [TENSOR.to("meta"), TENSOR.to_sparse(), torch.nested.nested_tensor([TENSOR[0], TENSOR[1]], layout=torch.jagged)],
    ids=["meta", "sparse", "nested"],
)
def test_tensors_without_plain_numbers_are_refused(tensor: Any) -> None:
    refuses(InputTypeError, "codes: expected a dense tensor of numbers, got one", demele.metrics.mig, tensor, FACTOR)
    refuses(InputTypeError, "labels: expected a dense tensor of numbers, got one", classifiers.assess, FACTOR, tensor)


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_tensors_that_are_views_of_others_are_read() -> None:
    expected = demele.metrics.mig(CODES, FACTOR).value
    negative = torch.complex(TENSOR, -TENSOR).conj().imag
    assert negative.is_neg()
    for tensor in (torch._neg_view(-TENSOR), negative, TENSOR.clone().requires_grad_()):
        assert_exact(demele.metrics.mig(tensor, FACTOR).value, expected)
    small = TENSOR.to(torch.float8_e4m3fn)
    assert_exact(demele.metrics.mig(small, FACTOR).value, demele.metrics.mig(small.float(), FACTOR).value)
