"""Importance maps of networks, and their predictions as functions of arrays: what a perturbation test takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Array, Counts, Floats
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Count, checked, checked_number, checked_whole
from demele.core.lazy import require
from demele.models.encode import Layout, checked_range, telling_of_shapes
from demele.models.fabric.model import Fabric
from demele.runtime.work import reporting

if TYPE_CHECKING:
    import torch

Method = Literal["gradient", "gradient_x_input", "integrated_gradients", "occlusion"]
Outputs = Literal["probabilities", "scores"]


@checked
def importance_maps(
    model: Any,
    images: ArrayLike,
    targets: ArrayLike | None = None,
    *,
    method: Method = "gradient",
    layout: Layout = "NCHW",
    value_range: tuple[float, float] = (0.0, 1.0),
    baseline: float = 0.0,
    window: int | None = None,
    steps: Count = 50,
    batch: Count = 64,
    threads: Count | None = 1,
) -> Floats:
    """Compute the importance of each pixel for a network, by one of four methods of captum.

    Parameters
    ----------
    model : torch.nn.Module or Fabric
        Returns one output per class: (b, n_classes).
    images : array-like of shape (n, height, width) or (n, height, width, channels)
        Whole numbers from 0 to 255, or real numbers, which are given to the network as they are.
    targets : array-like of int of shape (n,), optional
        The class whose output is explained; by default the one that is predicted.
    method : {"gradient", "gradient_x_input", "integrated_gradients", "occlusion"}
        See the notes.
    layout : {"NCHW", "NHWC"}, default "NCHW"
        Axes of what the network takes; a fabric has its own.
    value_range : (float, float), default (0, 1)
        What 0 and 255 are to the network; a fabric has its own.
    baseline : float, default 0
        Of integrated gradients and occlusion: the pixel that tells nothing, as the network sees it.
    window : int, optional
        Of occlusion: side of the square that is covered, moved by half of it; by default an eighth of the longer side.
    steps : int, default 50
        Number of steps of integrated gradients: points between baseline and image.
    batch : int, default 64
        Images that the network is given at once.
    threads : int or None, default 1
        Of PyTorch on the CPU, restored afterwards; None leaves them as they are.

    Returns
    -------
    array of float64 of shape (n, height, width)
        More is more important; all but ``"gradient"`` may be negative, where a pixel speaks against the class.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        For images, targets or options that cannot be used, or that the network does not take.
    MissingExtraError
        Without captum (``demele[explain]``).

    Notes
    -----
    With f the output of the class, x the image as the network sees it and b the baseline:

    * ``"gradient"``: the norm over channels of df / dx (Simonyan et al. 2014; Benjelloun, eq. 5.4): how sensitive the
      output is, which is not what the pixel adds to it.
    * ``"gradient_x_input"``: x df / dx, summed over channels (Shrikumar et al. 2016). It depends on where 0 is.
    * ``"integrated_gradients"``: (x - b) times the mean gradient between b and x, summed over channels; all pixels
      together make f(x) - f(b) (Sundararajan et al. 2017).
    * ``"occlusion"``: by how much f falls on average when a square around the pixel is covered with b (Zeiler and
      Fergus 2014). It needs no gradient.

    The network is put into evaluation mode and restored; its weights keep the gradients that they have. Whether a map
    holds is what :func:`demele.explain.perturbation_test` asks.

    Examples
    --------
    >>> import torch
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 2, bias=False))
    >>> with torch.no_grad():
    ...     _ = net[1].weight.zero_()
    ...     net[1].weight[1, 5] = 2.0
    >>> images = np.full((3, 4, 4), 255, dtype=np.uint8)
    >>> importance_maps(net, images, [1, 1, 1], method="gradient_x_input")[0].tolist()
    [[0.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    attr = require("captum.attr", purpose="importance_maps")
    network = _network_of(model, layout, value_range, threads)
    shown = network.images(images)
    ground = checked_number(baseline, "baseline", "a finite number", inside=lambda one: bool(np.isfinite(one)))
    sides = shown.shape[2:] if network.channels_first else shown.shape[1:3]
    most, side = min(sides), max(1, max(sides) // 8)
    if window is not None:
        side = checked_whole(window, "window", f"a side from 1 to {most} pixels", inside=lambda one: 1 <= one <= most)
    with network.evaluating(shown):
        wanted = _checked_targets(targets, network, shown, batch)
        how = {"baseline": ground, "window": side, "steps": steps, "batch": batch}
        found = []
        with reporting() as report:
            for start in range(0, len(shown), batch):
                part = network.tensor(shown[start : start + batch])
                found.append(_by_pixel(attr, method, network, part, wanted[start : start + batch], **how))
                if report is not None:
                    done = start + len(part)
                    report(done, len(shown), f"{done:,} of {len(shown):,} images explained")
    maps = np.concatenate(found)
    wrong = np.flatnonzero(~np.isfinite(maps).all(axis=(1, 2)))
    if wrong.size:
        raise InputError("model", f"maps of {wrong.size} of {len(maps)} images are not finite, first at row {wrong[0]}")
    return maps


@checked
def predictor(
    model: Any,
    *,
    outputs: Outputs = "probabilities",
    layout: Layout = "NCHW",
    value_range: tuple[float, float] = (0.0, 1.0),
) -> Callable[[Array], Floats]:
    """Make a function of arrays of a network, such as a perturbation test asks.

    Parameters
    ----------
    model : torch.nn.Module or Fabric
        Returns one output per class: (b, n_classes).
    outputs : {"probabilities", "scores"}, default "probabilities"
        Probabilities are the softmax of what it returns, scores what it returns.
    layout, value_range
        As for :func:`importance_maps`.

    Returns
    -------
    callable
        Takes images of shape (n, height, width) or (n, height, width, channels), returns an array of float64 of shape
        (n, n_classes). The network is in evaluation mode meanwhile, and no gradient is kept.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        If it is no network, or the options are not known.
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    It computes with the threads that PyTorch has. A perturbation test asks often, and for little at a time: one thread,
    ``torch.set_num_threads(1)``, is faster for small networks, by far on a busy machine.

    Examples
    --------
    >>> import torch
    >>> predict = predictor(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 3)))
    >>> predict(np.zeros((2, 4, 4), dtype=np.uint8)).sum(axis=1).round(6).tolist()
    [1.0, 1.0]
    """
    network = _network_of(model, layout, value_range, None)

    def predict(images: Array) -> Floats:
        import torch

        shown = network.images(images)
        with network.evaluating(shown), torch.no_grad():
            found = network.outputs(network.tensor(shown)).double()
        return (found.softmax(dim=1) if outputs == "probabilities" else found).cpu().numpy()

    return predict


@dataclass(frozen=True, slots=True)
class _Network:
    """A module of PyTorch, and how it sees images."""

    module: Any
    channels_first: bool
    seen: Callable[[torch.Tensor], torch.Tensor]
    threads: int | None

    @contextmanager
    def evaluating(self, images: Array) -> Iterator[None]:
        """Put it into evaluation mode, with gradients whatever the caller's mode is; restore both."""
        from demele.models.training import computing, in_eval_mode

        remedy = "`layout` says where channels are; a network may also take another size of images"
        computed = computing(threads=self.threads, device=None, gradients=True)
        with computed, in_eval_mode(self.module), telling_of_shapes("model", images.shape, remedy):
            yield

    def images(self, images: Any) -> Array:
        """Return images with the axes that it takes."""
        found = np.asarray(images)
        if found.dtype.kind not in "fiu":
            hint = "; draw them: images.images(range(len(images)))" if hasattr(images, "images") else ""
            raise InputTypeError("images", f"expected an array of numbers, got values of type {found.dtype}{hint}")
        found = found[..., None] if found.ndim == 3 else found
        if found.ndim != 4 or 0 in found.shape:
            expected = "expected shape (n, height, width) or (n, height, width, channels)"
            raise InputError("images", f"{expected}, got shape {np.shape(images)}")
        return found.transpose(0, 3, 1, 2) if self.channels_first else found

    def tensor(self, images: Array) -> torch.Tensor:
        """Return images as the network sees them."""
        import torch

        weight = next((one for one in self.module.parameters() if one.is_floating_point()), torch.empty(0))
        whole = torch.from_numpy(np.ascontiguousarray(images)).to(weight.device)
        return (self.seen(whole) if images.dtype.kind in "ui" else whole).to(weight.dtype)

    def outputs(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return what it says, one output per class."""
        found = self.module(pixels)
        shape = tuple(getattr(found, "shape", ()))
        if len(shape) != 2 or shape[0] != len(pixels) or shape[1] < 2:
            got = f"shape {shape}" if shape else type(found).__name__
            raise InputError("model", f"expected one output per class, shape ({len(pixels)}, n_classes), got {got}")
        outputs: torch.Tensor = found
        return outputs


def _network_of(model: Any, layout: Any, value_range: Any, threads: Any) -> _Network:
    torch = require("torch", purpose="a network")
    if isinstance(model, Fabric):
        from demele.models.fabric.network import seen

        return _Network(model.network, True, seen, threads)
    if not isinstance(model, torch.nn.Module):
        raise InputTypeError("model", f"expected a module of PyTorch or a fabric, got {type(model).__name__}")
    low, high = checked_range(value_range)
    return _Network(model, layout == "NCHW", lambda pixels: pixels.float() * ((high - low) / 255) + low, threads)


def _checked_targets(targets: Any, network: _Network, images: Array, size: int) -> Counts:
    """Return the class that is explained of each image."""
    import torch

    with torch.no_grad():
        parts = [network.outputs(network.tensor(images[k : k + size])) for k in range(0, len(images), size)]
    said = torch.cat(parts)
    if targets is None:
        return np.asarray(said.argmax(dim=1).cpu().numpy())
    found = np.asarray(targets)
    if found.shape != (len(images),) or found.dtype.kind not in "iu":
        raise InputError("targets", f"expected a class number for each of {len(images)} images, got {found.shape}")
    if found.min() < 0 or found.max() >= said.shape[1]:
        raise InputError(
            "targets", f"expected classes from 0 to {said.shape[1] - 1}, got {found.min()} to {found.max()}"
        )
    return found.astype(np.int64)


def _by_pixel(attr: Any, method: str, network: _Network, pixels: torch.Tensor, wanted: Counts, **how: Any) -> Floats:
    """Return the importance of each pixel, gathered from what is said of its channels."""
    target = require("torch", purpose="a network").from_numpy(wanted).to(pixels.device)
    axis = 1 if network.channels_first else 3
    given = pixels.detach().requires_grad_(method != "occlusion")
    if method == "gradient":
        found = attr.Saliency(network.outputs).attribute(given, target=target, abs=False)
        gathered = found.double().square().sum(dim=axis).sqrt()
    elif method == "gradient_x_input":
        gathered = attr.InputXGradient(network.outputs).attribute(given, target=target).double().sum(dim=axis)
    elif method == "integrated_gradients":
        options = {"n_steps": how["steps"], "internal_batch_size": max(how["batch"], len(given))}
        ways = attr.IntegratedGradients(network.outputs)
        found = ways.attribute(given, baselines=how["baseline"], target=target, **options)
        gathered = found.double().sum(dim=axis)
    else:
        channels = given.shape[axis]
        covered, moved = (
            (channels, side, side) if network.channels_first else (side, side, channels)
            for side in (how["window"], max(1, how["window"] // 2))
        )
        ways = attr.Occlusion(network.outputs)
        found = ways.attribute(given, covered, strides=moved, baselines=how["baseline"], target=target)
        gathered = found.double().mean(dim=axis)  # it covers all channels at once, and says the same of each
    return np.asarray(gathered.detach().cpu().numpy())
