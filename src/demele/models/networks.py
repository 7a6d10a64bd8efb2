"""What all networks share: how PyTorch computes, initial weights, and images as networks see them."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, quoted
from demele.core.extras import require
from demele.data.images import ImageSet

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a network")
    Tensor, nn = torch.Tensor, torch.nn


# How PyTorch computes -------------------------------------------------------------------------------------------------


@contextmanager
def computing(*, threads: int | None, device: str, gradients: bool) -> Iterator[None]:
    """Compute with some threads, on the CPU with deterministic algorithms only, with or without gradients.

    Parameters
    ----------
    threads : int or None
        None leaves them as they are. The last bits of sums depend on their number.
    device : str
    gradients : bool
        Whatever mode this is called in.
    """
    before = torch.get_num_threads()
    strict, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    if threads is not None:
        torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(strict or device == "cpu", warn_only=warns)
    try:
        with torch.inference_mode(False), torch.set_grad_enabled(gradients):
            yield
    finally:
        torch.use_deterministic_algorithms(strict, warn_only=warns)
        torch.set_num_threads(before)


@contextmanager
def in_eval_mode(network: nn.Module) -> Iterator[None]:
    """Look at a network in eval mode; afterwards each of its parts has its own mode again."""
    modes = [(one, one.training) for one in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for one, training in modes:
            one.training = training


def checked_device(device: Any) -> str:
    """Return where to compute: a device that was named, or with "auto" CUDA if there is one.

    Raises
    ------
    InputError
        If there is no such device.
    """
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:  # AssertionError: PyTorch without CUDA
        raise InputError(
            "device", f"expected 'auto', 'cpu' or 'cuda', got {quoted(device)}, which cannot be used here"
        ) from error
    return str(device)


# Weights --------------------------------------------------------------------------------------------------------------


def initialised(module: nn.Module, rng: np.random.Generator, init: str = "torch") -> nn.Module:
    """Return a module of ours with weights drawn from a generator, in single precision on the CPU.

    Parameters
    ----------
    module : torch.nn.Module
        Of linear layers, (transposed) convolutions and batch norms, which begin as the identity; its weights may be on
        the device "meta".
    rng : numpy.random.Generator
    init : {"torch", "glorot"}
        "torch": weights and biases uniform within 1 / sqrt(fan in), the default of PyTorch's layers. "glorot": weights
        uniform within sqrt(6 / (fan in + fan out)), biases 0, the default of TensorFlow's.

    Returns
    -------
    torch.nn.Module
    """
    module = module.to_empty(device="cpu").float()
    for layer in module.modules():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            layer.reset_parameters()  # nothing is drawn
            continue
        weight, bias = getattr(layer, "weight", None), getattr(layer, "bias", None)
        if weight is None:
            continue
        area = math.prod(weight.shape[2:])
        fan_in, fan_out = weight.shape[1] * area, weight.shape[0] * area
        bound = 1 / math.sqrt(fan_in) if init == "torch" else math.sqrt(6 / (fan_in + fan_out))
        with torch.no_grad():
            weight.copy_(torch.from_numpy(rng.uniform(-bound, bound, size=tuple(weight.shape))))
            if bias is None:
                continue
            bias.copy_(torch.from_numpy(rng.uniform(-bound, bound, size=tuple(bias.shape))))
            if init == "glorot":
                bias.zero_()
    return module


def restore(optimiser: torch.optim.Optimizer, held: Mapping[str, Any]) -> None:
    """Take what an optimiser had kept of each weight; its settings stay those that it was made with.

    Raises
    ------
    ValueError
        If it is not what such an optimiser keeps of such weights.
    """
    own = optimiser.state_dict()
    kept = {"step", "exp_avg", "exp_avg_sq"} if isinstance(optimiser, torch.optim.Adam) else {"momentum_buffer"}
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    for place, values in held["state"].items():
        wanted = {name: torch.Size() if name == "step" else weights[place].shape for name in kept}
        if wanted != {name: one.shape for name, one in values.items() if one is not None}:
            raise ValueError(f"its optimiser keeps other numbers of weight {place}")
    optimiser.load_state_dict({"state": held["state"], "param_groups": own["param_groups"]})


def parameter_count(*modules: nn.Module) -> int:
    """Return the number of trained numbers of some networks."""
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


# Images ---------------------------------------------------------------------------------------------------------------


#: Sets of at most so many bytes are kept in memory while a network is trained on them.
MOST_HELD = 256 << 20


def is_held(images: ImageSet) -> bool:
    """Whether a set is small enough to be drawn or read once, not at every step."""
    return len(images) * math.prod(images.shape) <= MOST_HELD


def stored(images: ImageSet, rows: NDArray[np.int64], device: str) -> Tensor:
    """Return images as they are stored, channels first: (k, C, H, W), uint8."""
    return torch.from_numpy(images.images(rows)).to(device).permute(0, 3, 1, 2).contiguous()


def pixels(images: ImageSet, rows: NDArray[np.int64], device: str) -> Tensor:
    """Return images in single precision, in [0, 1]: (k, C, H, W)."""
    return stored(images, rows, device).float().div_(255)
