"""Weights of networks: drawn without the generator of the process, and counted."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
