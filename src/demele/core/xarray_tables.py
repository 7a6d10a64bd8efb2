"""Arrays and data sets of xarray as columns with the names that they bring; xarray itself is never imported."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, quoted

Columns = tuple[list[NDArray[Any]], tuple[str, ...]]


def labelled_columns(data: Any, argument: str) -> Columns | None:
    """Split an object of xarray into columns and names.

    Parameters
    ----------
    data : xarray.DataArray or xarray.Dataset
        A ``DataArray`` of one dimension has its own name, one of two the labels of its second. A ``Dataset`` has a
        variable of one dimension, the same for all, for each column.
    argument : str
        What messages call it.

    Returns
    -------
    tuple of list of ndarray, and tuple of str, or None
        None for a ``DataArray`` without names, which is read as the array that it is.

    Raises
    ------
    InputError, InputTypeError
        If two columns have one name; if a ``Dataset`` is no table, or it is another object of xarray.
    """
    if hasattr(data, "data_vars"):
        columns, names = _of_data_set(data, argument)
    elif hasattr(data, "coords") and hasattr(data, "values"):
        dimensions = tuple(data.dims)
        if len(dimensions) == 1 and data.name is not None:
            return [np.asarray(data.values)], (str(data.name),)
        if len(dimensions) != 2 or dimensions[1] not in data.coords:
            return None
        values = np.asarray(data.values)
        columns = [values[:, place] for place in range(values.shape[1])]
        names = tuple(str(label) for label in np.asarray(data.coords[dimensions[1]].values).tolist())
    else:
        raise InputTypeError(
            argument, f"expected a DataArray or a Dataset of xarray, got {type(data).__name__}; take its .values"
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(argument, f"expected distinct column names, got {quoted(repeated[0])} more than once; rename")
    return columns, names


def _of_data_set(data: Any, argument: str) -> Columns:
    variables = {str(name): variable for name, variable in data.data_vars.items()}
    shapes = {tuple(variable.dims) for variable in variables.values()}
    if len(shapes) != 1 or any(len(dimensions) != 1 for dimensions in shapes):
        held = ", ".join(f"{name} ({', '.join(map(str, one.dims))})" for name, one in list(variables.items())[:6])
        raise InputError(
            argument,
            f"expected a Dataset whose variables are columns along one dimension, got {held or 'no variable'}",
            "pick variables of one dimension, or give one DataArray (n_samples, n_columns)",
        )
    return [np.asarray(variable.values) for variable in variables.values()], tuple(variables)
