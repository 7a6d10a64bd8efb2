"""How a model is called: with its own kind of tensors, in evaluation mode, without gradients; and left as it was."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleError, InputError, InputTypeError, short_words

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
        with _evaluating(_owner(model)) as tensor_of:
            yield lambda pixels: model(tensor_of(pixels))
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


@contextmanager
def _evaluating(module: Any) -> Iterator[Callable[[NDArray[np.float32]], Any]]:
    """Yield what makes tensors as the weights are; within, the module evaluates and keeps no gradients."""
    import torch

    modes = [(one, one.training) for one in module.modules()]
    weights = next((one for one in module.parameters() if one.is_floating_point()), torch.empty(0))
    module.eval()
    try:
        with torch.no_grad():
            yield lambda pixels: torch.from_numpy(pixels).to(device=weights.device, dtype=weights.dtype)
    finally:
        for one, training in modes:
            one.training = training
