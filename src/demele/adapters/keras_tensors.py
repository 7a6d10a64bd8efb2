"""What Keras passes to a metric, as arrays: values of tensors, or why there are none."""

from typing import Any

import numpy as np

from demele.core.errors import InputError, InputTypeError
from demele.core.sentences import plural

__all__ = ["check_weights", "rows_of"]


def rows_of(data: Any, argument: str) -> Any:
    """Return the values of a tensor of the backend as a NumPy array, and all else as it is: it is read later."""
    import keras

    if isinstance(data, keras.KerasTensor):
        raise _without_values(argument, data)
    if not keras.ops.is_tensor(data):
        return data
    try:
        array = keras.ops.convert_to_numpy(data)
    except (TypeError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _without_values(argument, data) from error
    return array.astype(np.float32) if array.dtype.kind == "V" else array  # bfloat16 and its like


def _without_values(argument: str, tensor: Any) -> InputTypeError:
    return InputTypeError(
        argument,
        f"expected a tensor with values, got a {type(tensor).__name__}, which stands for one in a compiled "
        "step; compile the model with run_eagerly=True, or call update_state outside of compiled functions",
    )


def check_weights(sample_weight: Any) -> None:
    """Refuse weights other than ones."""
    weights = np.asarray(rows_of(sample_weight, "sample_weight"))
    unlike = np.flatnonzero(~(weights.ravel() == 1))
    if unlike.size:
        raise InputError(
            "sample_weight",
            f"weights are not supported, expected None or ones, got {plural(unlike.size, 'other', 'others')}, first "
            f"{weights.ravel()[unlike[0]]} at row {unlike[0]}; leave it out, or repeat rows",
        )
