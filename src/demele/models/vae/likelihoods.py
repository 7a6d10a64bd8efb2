"""How probable an image is under what the decoder says: sums over pixels, never means."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demele.core.checked_numbers import checked_number
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.extras import require
from demele.core.names import suggestion

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a VAE")
    Tensor = torch.Tensor


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """Each pixel is a probability; images may be grey. The least that an image can cost is its entropy, not 0.

    Examples
    --------
    >>> grey = torch.full((1, 1, 1, 1), 0.5)
    >>> round(Bernoulli().errors(torch.zeros(1, 1, 1, 1), grey).item(), 4)  # log 2
    0.6931
    """

    @property
    def name(self) -> str:
        """As :func:`likelihood_of` reads it."""
        return "bernoulli"

    def errors(self, logits: Tensor, images: Tensor) -> Tensor:
        """Return -log p(x | z) of each image, in nats, summed over its pixels.

        Parameters
        ----------
        logits : tensor of shape (n, C, H, W)
            What the decoder returns.
        images : tensor of the same shape, in [0, 1]

        Returns
        -------
        tensor of shape (n,)
        """
        entropies = torch.nn.functional.binary_cross_entropy_with_logits(logits, images, reduction="none")
        return entropies.flatten(1).sum(dim=1)

    def floor(self, images: Tensor) -> Tensor:
        """Return the least that each image can cost: that of a decoder that returns the image itself."""
        return -(torch.xlogy(images, images) + torch.xlogy(1 - images, 1 - images)).flatten(1).sum(dim=1)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Each pixel is the sigmoid of the decoder's output with normal noise of one standard deviation.

    Parameters
    ----------
    std : float > 0
        In units of the pixels, whose range is [0, 1]. The squared error of disentanglement_lib is that of
        std^2 = 1/2, without the constant.

    Raises
    ------
    InputError

    Examples
    --------
    >>> black = torch.zeros(1, 1, 1, 1)
    >>> round(Gaussian(std=0.5).errors(black, black).item(), 4)  # (1/2)^2 / (2 / 4) + log(sqrt(2 pi) / 2)
    0.7258
    """

    std: float

    def __post_init__(self) -> None:
        checked_number(self.std, "std", "a number above 0", inside=lambda std: 0 < std < math.inf)

    @property
    def name(self) -> str:
        """As :func:`likelihood_of` reads it."""
        return f"gaussian:{self.std!r}"

    def errors(self, logits: Tensor, images: Tensor) -> Tensor:
        """Return -log p(x | z) of each image, in nats, summed over its pixels; see :meth:`Bernoulli.errors`."""
        squares = (images - torch.sigmoid(logits)).square() / (2 * self.std**2)
        return squares.flatten(1).sum(dim=1) + self._constant(images)

    def floor(self, images: Tensor) -> Tensor:
        """Return the least that each image can cost: that of a decoder that returns the image itself."""
        return torch.full((len(images),), self._constant(images), dtype=images.dtype, device=images.device)

    def _constant(self, images: Tensor) -> float:
        return images[0].numel() * math.log(self.std * math.sqrt(2 * math.pi))


Likelihood = Bernoulli | Gaussian


def likelihood_of(given: Any) -> Likelihood:
    """Return the likelihood that was asked for: one of the classes above, or its name.

    Parameters
    ----------
    given : Bernoulli, Gaussian, "bernoulli", or "gaussian:" and a standard deviation

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Examples
    --------
    >>> likelihood_of("gaussian:0.1")
    Gaussian(std=0.1)
    """
    if isinstance(given, Bernoulli | Gaussian):
        return given
    if not isinstance(given, str):
        raise InputTypeError("likelihood", f"expected 'bernoulli' or Gaussian(std=...), got {quoted(given)}")
    name, _, std = given.partition(":")
    if name == "bernoulli" and not std:
        return Bernoulli()
    if name != "gaussian":
        known = suggestion(given, ["bernoulli", "gaussian"])
        raise UnknownNameError("likelihood", f"unknown likelihood {quoted(given)}{known}")
    try:
        return Gaussian(float(std))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "likelihood", f"expected a standard deviation, as in 'gaussian:0.1', got {quoted(given)}"
        ) from error
