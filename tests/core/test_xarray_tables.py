"""Names of xarray are kept: held to what its objects have, and to xarray itself where it is installed."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import demele
from demele.core.errors import InputError, InputTypeError
from demele.core.inputs import read_codes, read_factors
from demele.core.labelled import read_labels
from tests.refusals import refuses

VALUES = np.random.default_rng(0).random((40, 2))


@dataclass
class DataArray:
    """What is asked of an array of xarray."""

    values: Any
    dims: tuple[str, ...]
    coords: dict[str, Any] = field(default_factory=dict)
    name: object = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.values, dtype=dtype)


@dataclass
class Dataset:
    """What is asked of a data set of xarray; it makes no array of itself."""

    data_vars: dict[str, DataArray]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("cannot directly convert an xarray.Dataset into a numpy array")


class DataTree:
    """Another object of xarray."""


for one in (DataArray, Dataset, DataTree):
    one.__module__ = "xarray.core.made_for_tests"


def _labelled(labels: Any) -> DataArray:
    return DataArray(VALUES, ("row", "code"), {"code": DataArray(np.array(labels), ("code",))})


def _columns(**values: Any) -> Dataset:
    return Dataset({name: DataArray(np.asarray(column), ("row",)) for name, column in values.items()})


def test_an_array_brings_its_names() -> None:
    read = read_codes(_labelled(["left", "right"]))
    assert read.names == ("left", "right")
    np.testing.assert_array_equal(read.values, VALUES)
    assert read_codes(_labelled([10, 20])).names == ("10", "20")
    assert read_codes(DataArray(VALUES, ("row", "code"))).names == ("z1", "z2")
    assert read_factors(DataArray(VALUES[:, 0], ("row",), name="size")).names == ("size",)
    assert read_factors(DataArray(VALUES[:, 0], ("row",))).names == ("v1",)


@pytest.mark.filterwarnings("ignore::demele.core.errors.FragileScoreWarning")
def test_a_data_set_brings_its_columns() -> None:
    factors = _columns(size=VALUES[:, 0], shape=["disc", "square"] * 20)
    read = read_factors(factors)
    assert read.names == ("size", "shape")
    assert [column.kind for column in read.columns] == ["continuous", "categorical"]
    scored = demele.evaluate(_labelled(["left", "right"]), factors, "irs")
    assert scored["irs"].code_names == ("left", "right")


def test_what_is_no_table_is_refused_in_words() -> None:
    image = Dataset(
        {"image": DataArray(np.zeros((40, 4, 4)), ("row", "y", "x")), "size": DataArray(VALUES[:, 0], ("row",))}
    )
    refuses(InputError, r"factors: expected a Dataset whose.* got image, size", read_factors, image)
    apart = Dataset({name: DataArray(VALUES[:, 0], (name,)) for name in "ab"})
    refuses(InputError, r"codes: .* along one dimension", read_codes, apart)
    refuses(InputError, "got no variable", read_codes, Dataset({}))
    refuses(InputError, "distinct column names, got 'left'", read_codes, _labelled(["left", "left"]))
    refuses(InputTypeError, "DataTree", read_codes, DataTree())
    refuses(InputError, "expected one column, got 2", read_labels, _columns(a=[0, 1], b=[1, 0]), "labels")
