"""One training of any network: opened from its file or begun, worked off, saved on the way and at Ctrl-C."""

from __future__ import annotations

import io
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demele.core.arrays import Counts
from demele.core.errors import FormatError, InputError, NotConvergedWarning, failing, quoted, shortened, warn_user
from demele.core.lazy import require
from demele.core.outputs import write_whole
from demele.core.reading import parsing, regular_file
from demele.core.store import locked
from demele.core.version import __version__
from demele.data.images import ImageSet
from demele.models.specs import Plain, refuse_other
from demele.runtime.work import Report, held_interrupts, reporting

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a network")
    Tensor, nn = torch.Tensor, torch.nn


# Files of trainings ---------------------------------------------------------------------------------------------------

#: What every file says of itself.
_HEAD = ("format", "format_version", "demele", "torch")


@dataclass(frozen=True, slots=True)
class Layout:
    """What files of one kind of training are called and hold.

    Attributes
    ----------
    name : str
    version : int
    keys : tuple of str
        Keys of a file in addition to those that all files have.
    what : str
        What such a file is, for messages.
    reader : str
        How to open it without going on with the training, for messages.
    """

    name: str
    version: int
    keys: tuple[str, ...]
    what: str
    reader: str


def write_checkpoint(path: Path, content: Mapping[str, Any], layout: Layout) -> None:
    """Write a training as one file, so that a kill or a full disk leaves the one before.

    Parameters
    ----------
    path : Path
    content : mapping
        Tensors, and plain values of Python only: reading refuses all else.
    layout : Layout

    Raises
    ------
    OutputError
    """
    held = io.BytesIO()
    head = dict(zip(_HEAD, (layout.name, layout.version, __version__, torch.__version__), strict=True))
    torch.save({**{name: str(value) for name, value in head.items()}, **_plain_tensors(content)}, held)
    write_whole(path, held.getvalue())


def read_checkpoint(path: Path, layout: Layout) -> dict[str, Any]:
    """Return what a file of a training holds, on the CPU.

    Raises
    ------
    InputError
        If there is no such file, or demele wrote it in another format.
    FormatError
        If it is something else, or holds what only running code could make.
    """
    what = f"{path}: not {layout.what}"
    with failing(f"cannot read {path}", kind=InputError, argument="checkpoint"):
        regular_file(path)
    only = "nothing but tensors and plain values is read, for loading anything else can run code"
    with parsing(f"{what}, or cut short; {only}", details=False):
        content = torch.load(path, map_location="cpu", weights_only=True)
        _plain_tensors(content)  # sparse ones are refused
    if not isinstance(content, dict) or content.get("format") != layout.name:
        raise FormatError(what)
    if content.get("format_version") != str(layout.version):
        raise InputError(
            "checkpoint",
            f"{path} has format version {quoted(content.get('format_version'))}, this demele reads {layout.version}; "
            f"use the demele that made it ({shortened(str(content.get('demele')), 40)})",
        )
    if set(content) != {*_HEAD, *layout.keys}:
        odd = sorted(map(str, set(content) ^ {*_HEAD, *layout.keys}))
        raise FormatError(what, f"missing or not known: {quoted(odd)}")
    return content


def _plain_tensors(value: Any) -> Any:
    """Return a copy with all tensors on the CPU, so that a file can be read anywhere."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            raise TypeError(f"a tensor of layout {value.layout}")
        return value.detach().cpu()
    if isinstance(value, Mapping):
        return {name: _plain_tensors(item) for name, item in value.items()}
    return value


# What all networks share ----------------------------------------------------------------------------------------------

# How PyTorch computes -------------------------------------------------------------------------------------------------


@contextmanager
def computing(*, threads: int | None, device: str | None, gradients: bool) -> Iterator[None]:
    """Compute with some threads, on the CPU with deterministic algorithms only, with or without gradients.

    Parameters
    ----------
    threads : int or None
        None leaves them as they are. The last bits of sums depend on their number.
    device : str or None
        None leaves the algorithms as they are.
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


# Images ---------------------------------------------------------------------------------------------------------------


#: Sets of at most so many bytes are kept in memory while a network is trained on them.
MOST_HELD = 256 << 20


def is_held(images: ImageSet) -> bool:
    """Whether a set is small enough to be drawn or read once, not at every step."""
    return len(images) * math.prod(images.shape) <= MOST_HELD


def stored(images: ImageSet, rows: Counts, device: str) -> Tensor:
    """Return images as they are stored, channels first: (k, C, H, W), uint8."""
    return torch.from_numpy(images.images(rows)).to(device).permute(0, 3, 1, 2).contiguous()


def pixels(images: ImageSet, rows: Counts, device: str) -> Tensor:
    """Return images in single precision, in [0, 1]: (k, C, H, W)."""
    return stored(images, rows, device).float().div_(255)


Row = dict[str, float]
OnRow = Callable[[Row], object]


class DivergedError(Exception):
    """The loss, its gradient or a weight is not finite; the message says where."""


class KeptTraining(ABC):
    """A training with its file; subclasses say what a step is and what a file holds of their networks.

    Parameters
    ----------
    spec : Plain
        Everything that changes the bits of the training, but its length.
    begins : mapping, optional
        Where it begins: the content that a file would have.
    checkpoint : Path or None
    device : str
    threads : int or None

    Attributes
    ----------
    done : int
        Steps or epochs that were made.
    """

    #: Of the file, and under which key it holds the settings of the training.
    layout: ClassVar[Layout]
    key: ClassVar[str]
    #: Advice to add to the warning about a training that diverged.
    remedy: ClassVar[str] = ""

    def __init__(
        self,
        spec: Plain,
        *,
        begins: Mapping[str, Any] | None = None,
        checkpoint: Path | None,
        device: str,
        threads: int | None,
    ) -> None:
        self._kind, self._settings, self._begins, self._path = type(spec), spec.to_dict(), begins, checkpoint
        self._device, self._threads = checked_device(device), threads
        self._history: dict[str, list[float]] = {}
        self._seconds, self._begun, self.done = 0.0, time.monotonic(), 0

    @abstractmethod
    def _open(self, content: Mapping[str, Any] | None, until: int) -> None:
        """Make networks and optimisers, with the state that a file holds, if there is one."""

    @abstractmethod
    def _advance(self, until: int, interrupted: Callable[[], bool]) -> tuple[int, Row, str] | None:
        """Make one step; return progress, row of the history and label, if the step has any.

        Raises
        ------
        DivergedError
        """

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """Return what the file holds of networks and optimisers; later steps do not change it."""

    def _is_due(self, until: int) -> bool:
        """Whether the file is to be written after this step."""
        return self.done < until

    def _end(self, problem: str) -> dict[str, Any]:
        """Write the file for the last time."""
        return self._save("diverged" if problem else "done", problem)

    def run(self, until: int, *, on_row: OnRow | None) -> dict[str, Any]:
        """Train up to ``until``; return the content of the file, written or not.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, with the training saved.
        """
        alone = nullcontext() if self._path is None else locked(self._path, "checkpoint")
        computed = computing(threads=self._threads, device=self._device, gradients=True)
        with alone, computed, reporting() as report:
            content = self._stored()
            held = self._begins if content is None else content
            with parsing(f"{self._path}: not {self.layout.what}"):
                self._open(held, until)
                if held is not None:
                    self._history = {name: list(values) for name, values in held["history"].items()}
                    self._seconds = float(held["seconds"])
            status = "" if content is None else content["status"]
            if status != "diverged" and self.done < until:
                content = self._end(self._work_off(until, report, on_row))
            elif content is None or status not in ("done", "diverged"):
                content = self._end("")
        if content["problem"]:
            warn_user(f"{content['problem']}{self.remedy}", NotConvergedWarning)
        return content

    def _stored(self) -> dict[str, Any] | None:
        """Return what the file holds, if there is one, and it is of this training."""
        if self._path is None or not self._path.exists():
            return None
        content = read_checkpoint(self._path, self.layout)
        what, given = f"{self._path}: not {self.layout.what}", content[self.key]
        if not isinstance(given, Mapping):
            problem = f"{self._path}: holds a network and no training of one"
            raise FormatError(problem, f"got {quoted(given)}; give another file as checkpoint")
        with parsing(what):
            refuse_other(self._kind.from_dict(given, what).to_dict(), self._settings, self._path)
        if content["demele"] != __version__:
            made_by = shortened(str(content["demele"]), 40)
            raise InputError(
                "checkpoint",
                f"{self._path} was trained by demele {made_by}, this is {__version__}; finish it with that version, "
                f"{self.layout.reader}, or give another file",
            )
        return content

    def _work_off(self, until: int, report: Report | None, on_row: OnRow | None) -> str:
        """Make the steps that are left; return why the training diverged, or an empty text."""
        self._begun = time.monotonic()
        with held_interrupts() as interrupted:
            while self.done < until:
                try:
                    found = self._advance(until, interrupted)
                except DivergedError as error:
                    return str(error)
                for name, value in found[1].items() if found else ():
                    self._history.setdefault(name, []).append(value)
                if self._is_due(until):
                    self._save("running")
                if found and on_row is not None:
                    on_row(found[1])
                if found and report is not None:
                    report(found[0], until, found[2])
                if interrupted():
                    self._save("interrupted")
                    raise KeyboardInterrupt
        return ""

    def _save(self, status: str, problem: str = "", **more: Any) -> dict[str, Any]:
        content = {
            **self._state(),
            self.key: self._settings,
            "status": status,
            "history": self._history,
            "seconds": self._seconds + time.monotonic() - self._begun,
            "problem": problem,
            **more,
        }
        if self._path is not None:
            write_checkpoint(self._path, content, self.layout)
        return content
