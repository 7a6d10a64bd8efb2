"""Weights of networks: drawn without the generator of the process, and counted."""

import math
from typing import TYPE_CHECKING

import numpy as np

from demele.core.extras import require

if TYPE_CHECKING:
    import torch
    from torch import nn
else:
    torch = require("torch", purpose="a network")
    nn = torch.nn

#: How weights are drawn: as PyTorch does, or as TensorFlow's layers do.
INITS = ("torch", "glorot")


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


def parameter_count(*modules: nn.Module) -> int:
    """Return the number of trained numbers of some networks."""
    return sum(parameter.numel() for module in modules for parameter in module.parameters())
