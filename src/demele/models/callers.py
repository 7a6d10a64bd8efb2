"""How a model of any framework is called without changing it, and how its output is read as means and deviations."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleError, InputError, InputTypeError, quoted, short_words
from demele.core.names import checked_name

# Calls ----------------------------------------------------------------------------------------------------------------


#: Takes pixels, single precision, and returns what the model does.
Call = Callable[[NDArray[np.float32]], Any]


@contextmanager
def called(model: Any) -> Iterator[Call]:
    """Yield what calls a model on arrays; its modes are restored afterwards, and no gradient is kept.

    Of a plain function, modules that its variables hold get their buffers back, such as the running statistics of
    batch norm, which every call in training mode moves.

    Parameters
    ----------
    model : torch.nn.Module, method of one, keras.Model, or callable

    Raises
    ------
    InputTypeError
        If it is nothing that can be called.
    """
    if _is_of("keras", "Layer", model):  # first: on its torch backend a model of Keras is a module too
        with _without_gradients():
            yield lambda pixels: model(pixels, training=False)
    elif _is_of("torch.nn", "Module", _owner(model)):
        import torch

        from demele.models.networks import in_eval_mode

        network = _owner(model)
        weights = next((one for one in network.parameters() if one.is_floating_point()), torch.empty(0))
        with in_eval_mode(network), torch.no_grad():
            yield lambda pixels: model(torch.from_numpy(pixels).to(device=weights.device, dtype=weights.dtype))
    elif callable(model):
        with _without_gradients(), _buffers_kept(reached_modules(model)):
            yield model
    else:
        raise InputTypeError(
            "model",
            f"expected a module of PyTorch, a model of Keras, or a function of arrays, got {type(model).__name__}",
        )


def default_layout(model: Any) -> str:
    """Return the order of axes that the framework of a model is used with."""
    is_keras = _is_of("keras", "Layer", model)
    return "NCHW" if not is_keras and _is_of("torch.nn", "Module", _owner(model)) else "NHWC"


def is_module(model: Any) -> bool:
    """Whether a model is a layer of Keras, a module of PyTorch, or a method of one: its mode is known, and set."""
    return _is_of("keras", "Layer", model) or _is_of("torch.nn", "Module", _owner(model))


def reached_modules(model: Any) -> list[Any]:
    """Return the modules of PyTorch that the variables of a plain function hold.

    Looked through are variables of the function and of those that it calls, and their attributes; arguments of
    ``functools.partial``; attributes of an object that is called, or whose method is; and lists, tuples, sets and
    dictionaries among all these.
    """
    found: list[Any] = []
    seen: set[int] = set()
    left = [model]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if _is_of("torch.nn", "Module", one):
            found.append(one)
        else:
            left += _held_by(one, is_first=one is model)
    return found


def _held_by(one: Any, *, is_first: bool) -> list[Any]:
    """Return what a function, an object with methods, or a collection holds; of other objects nothing."""
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, MethodType):
        return [one.__self__, one.__func__, *getattr(one.__self__, "__dict__", {}).values()]
    if isinstance(one, FunctionType):
        known = inspect.getclosurevars(one)
        held = [*known.nonlocals.values(), *known.globals.values(), *(one.__defaults__ or ())]
        attributes = [value for other in held for value in list(getattr(other, "__dict__", {}).values())]
        return held + [value for value in attributes if _is_of("torch.nn", "Module", value)]
    if isinstance(one, Mapping):
        return list(one.values())
    if isinstance(one, list | tuple | set):
        return list(one)
    return list(getattr(one, "__dict__", {}).values()) if is_first else []


@contextmanager
def telling_of_shapes(argument: str, shape: tuple[int, ...], remedy: str) -> Iterator[None]:
    """Say which array a model was given where it raises what frameworks raise for arrays of another shape.

    Raises
    ------
    InputError
        From the error of the model.
    """
    try:
        yield
    except DemeleError:
        raise
    except (RuntimeError, ValueError, TypeError) as error:
        first = short_words(next(iter(str(error).splitlines()), ""))
        raise InputError(
            argument, f"given an array of shape {shape}, it raises {type(error).__name__}: {first}", remedy
        ) from error


@contextmanager
def _buffers_kept(modules: list[Any]) -> Iterator[None]:
    """Give modules the buffers back that they have now."""
    held = [(buffer, buffer.detach().clone()) for module in modules for buffer in module.buffers()]
    try:
        yield
    finally:
        for buffer, before in held:
            buffer.copy_(before)


def _without_gradients() -> AbstractContextManager[object]:
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.no_grad()


def _owner(model: Any) -> Any:
    """Return the object that a bound method belongs to; anything else as it is."""
    return getattr(model, "__self__", model)


def _is_of(module: str, name: str, model: Any) -> bool:
    """Whether a model is of a class of a package; if that is not imported, it is not."""
    found = sys.modules.get(module)
    return found is not None and isinstance(model, getattr(found, name))


# Outputs --------------------------------------------------------------------------------------------------------------


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


#: Standard deviations from each of the numbers that encoders return in their place.
_DEVIATIONS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "std": lambda std: std,
    "variance": np.sqrt,
    "logvar": lambda logvar: np.exp(logvar / 2),
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
    return None if output is None else checked_name(output, "output", OUTPUTS)


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
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.distributions.Distribution):
        return _of_parts({"mean": given.mean, "std": given.stddev})
    arrays = list(given) if isinstance(given, tuple | list) else [given]
    if output is None and len(arrays) > 1:
        raise InputError(
            "output",
            f"the encoder returns {len(arrays)} arrays, and what the second is changes every number; say which: "
            "`output='mean_logvar'`, 'mean_variance' or 'mean_std'",
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


def _of_parts(parts: Mapping[str, Any]) -> Encoded:
    mean = _matrix(parts["mean"], "mean")
    spread = next((name for name in _DEVIATIONS if name in parts), None)
    if spread is None:
        return Encoded(mean, None)
    std = _DEVIATIONS[spread](_matrix(parts[spread], spread))
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
