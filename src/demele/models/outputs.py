"""What encoders return, in every shape that frameworks and libraries have for it: read as means and deviations."""

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.names import checked_name
from demele.core.sentences import setting

#: What each array is, for each name of an output; "sample" is not looked at.
OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "mean": ("mean",),
    "mean_logvar": ("mean", "logvar"),
    "mean_variance": ("mean", "variance"),
    "mean_std": ("mean", "std"),
    "mean_logvar_sample": ("mean", "logvar", "sample"),
    "mean_variance_sample": ("mean", "variance", "sample"),
    "mean_std_sample": ("mean", "std", "sample"),
}
#: Keys of dictionaries and what they hold: those of PyTorch, pythae, and common examples.
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("mean", "mu", "loc", "embedding", "z_mean"), "mean"),
    **dict.fromkeys(("logvar", "log_var", "log_variance", "log_covariance", "z_log_var", "z_logvar"), "logvar"),
    **dict.fromkeys(("std", "stddev", "scale", "sigma"), "std"),
    **dict.fromkeys(("var", "variance"), "variance"),
}


class Encoded(NamedTuple):
    """Means of shape (n, d), and standard deviations if there are any."""

    mean: NDArray[np.float64]
    std: NDArray[np.float64] | None


def checked_output(output: Any) -> str | None:
    """Return the name of an output, if it is one.

    Raises
    ------
    UnknownNameError
    """
    if output is not None:
        checked_name(output, "output", OUTPUTS)
    return None if output is None else str(output)


def read_output(given: Any, output: str | None) -> Encoded:
    """Return means and standard deviations from what an encoder returned for one batch.

    Parameters
    ----------
    given : array, tensor, tuple or list of them, dictionary, or distribution
    output : str or None
        What it is, a key of :data:`OUTPUTS`. Dictionaries and distributions say so themselves.

    Raises
    ------
    InputError, InputTypeError
        If the outputs are ambiguous: two arrays could hold variances or their logarithms, and demele never guesses.
    """
    if isinstance(given, Mapping):
        return _of_parts(_of_keys(given))
    if _is_distribution(given):
        return _of_parts({"mean": given.mean, "std": given.stddev})
    arrays = list(given) if isinstance(given, tuple | list) else [given]
    if output is None and len(arrays) > 1:
        raise InputError(
            "output",
            f"the encoder returns {len(arrays)} arrays, and what the second is changes every number; say which: "
            f"{setting(output='mean_logvar')}, 'mean_variance' or 'mean_std'",
        )
    names = OUTPUTS[output or "mean"]
    if len(arrays) == 1 and len(names) == 2:  # both in one array, means first
        whole = as_array(arrays[0])
        if whole.ndim != 2 or whole.shape[1] % 2:
            raise InputError(
                "output", f"expected an even number of columns, means and then {names[1]}s, got shape {whole.shape}"
            )
        arrays = np.split(whole, 2, axis=1)
    if len(arrays) != len(names):
        raise InputError(
            "output",
            f"{output or 'mean'!r} is {len(names)} arrays ({', '.join(names)}), the encoder returns {len(arrays)}",
        )
    return _of_parts(dict(zip(names, arrays, strict=True)))


def _of_keys(given: Mapping[Any, Any]) -> dict[str, Any]:
    found = {_KEYS[key]: value for key, value in given.items() if isinstance(key, str) and key in _KEYS}
    if "mean" not in found:
        keys = ", ".join(map(quoted, list(given)[:10]))
        raise InputError(
            "model",
            f"expected a dictionary with a key 'mean', 'mu', 'loc' or 'embedding', got the keys {keys}; "
            "return the array instead",
        )
    return found


def _is_distribution(given: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.distributions.Distribution)


def _of_parts(parts: Mapping[str, Any]) -> Encoded:
    mean = _matrix(parts["mean"], "mean")
    if "std" in parts:
        std = _matrix(parts["std"], "std")
    elif "variance" in parts:
        std = np.sqrt(_matrix(parts["variance"], "variance"))
    elif "logvar" in parts:
        std = np.exp(_matrix(parts["logvar"], "logvar") / 2)
    else:
        return Encoded(mean, None)
    if std.shape != mean.shape:
        raise InputError("model", f"expected deviations of the shape of the means, {mean.shape}, got {std.shape}")
    return Encoded(mean, std)


def _matrix(given: Any, what: str) -> NDArray[np.float64]:
    array = as_array(given)
    if array.dtype.kind not in "fiu":
        raise InputTypeError("model", f"expected numbers as {what}, got {array.dtype}")
    if array.ndim != 2 or array.shape[1] == 0:
        hint = "; flatten it, or average over its positions" if array.ndim > 2 else ""
        raise InputError("model", f"expected {what} of shape (n_images, n_codes), got {array.shape}{hint}")
    return array.astype(np.float64)


def as_array(given: Any) -> NDArray[Any]:
    """Return a tensor of any framework, or anything that NumPy reads, as an array on the host."""
    if hasattr(given, "detach"):  # of PyTorch, which may have gradients, be on a device, or have a type of its own
        tensor = given.detach().cpu()
        return np.asarray(tensor.float() if tensor.is_floating_point() else tensor)
    keras = sys.modules.get("keras")
    if keras is not None and keras.ops.is_tensor(given):
        return np.asarray(keras.ops.convert_to_numpy(given))
    return np.asarray(given)
