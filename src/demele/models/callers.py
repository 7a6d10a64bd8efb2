"""How a model is called: with its own kind of tensors, in evaluation mode, without gradients; and left as it was."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputTypeError

#: Takes pixels, single precision, and returns what the model does.
Call = Callable[[NDArray[np.float32]], Any]


@contextmanager
def called(model: Any) -> Iterator[Call]:
    """Yield what calls a model on arrays; its modes are restored afterwards, and no gradient is kept.

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
        with _without_gradients():
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
