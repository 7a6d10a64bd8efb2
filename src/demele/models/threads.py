"""How PyTorch computes while we use it, restored afterwards: threads, deterministic algorithms, gradients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from demele.core.errors import InputError, quoted
from demele.core.extras import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", purpose="a network")


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
