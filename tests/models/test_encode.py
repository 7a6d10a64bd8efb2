"""The bridge: models of every framework give the same codes, and every common mistake is found."""

import functools
from collections import OrderedDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.lab import encode
from tests.models.squares import squares
from tests.refusals import refuses
from tests.tolerances import SINGLE, assert_close, assert_exact

IMAGES = squares()
PIXELS = IMAGES.images(np.arange(144)) / 255


def linear(weights: NDArray[Any], *, channels_first: bool = True) -> Callable[[Any], Any]:
    """A plain function of arrays: the pixels times weights."""

    def codes(x: Any) -> Any:
        assert x.shape[1:] == ((1, 16, 16) if channels_first else (16, 16, 1))
        assert x.dtype == np.float32
        return x.reshape(len(x), -1) @ weights

    return codes


WEIGHTS = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
CODES = PIXELS.reshape(144, -1) @ WEIGHTS


class Encoder(nn.Module):
    """Returns what its function makes of mean and log-variance."""

    def __init__(self, form: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__()
        self.form = form
        self.weights = nn.Parameter(torch.from_numpy(WEIGHTS))
        self.dropout, self.norm = nn.Dropout(0.5), nn.BatchNorm1d(256)

    def forward(self, x: Tensor) -> Any:
        codes = self.dropout(x.flatten(1)) @ self.weights
        return self.form(codes[:, :2], codes[:, 2:] / 10)


# What comes ---------------------------------------------------------------------------------------------------------


MEAN, STD = CODES[:, :2], np.exp(CODES[:, 2:] / 20)
FORMS: dict[str, tuple[Callable[[Tensor, Tensor], Any], str | None]] = {
    "pair": (lambda m, v: (m, v), "mean_logvar"),
    "halves": (lambda m, v: torch.cat([m, v], dim=1), "mean_logvar"),
    "variance": (lambda m, v: [m, v.exp()], "mean_variance"),
    "std": (lambda m, v: (m, (v / 2).exp()), "mean_std"),
    "with a sample": (lambda m, v: (m, v, m + 1), "mean_logvar_sample"),
    "pythae": (lambda m, v: OrderedDict(embedding=m, log_covariance=v), None),
    "dictionary": (lambda m, v: {"mu": m, "logvar": v, "z": m + 1}, None),
    "scale": (lambda m, v: {"loc": m, "scale": (v / 2).exp()}, None),
    "distribution": (lambda m, v: torch.distributions.Normal(m, (v / 2).exp()), None),
}


@pytest.mark.parametrize("name", FORMS)
def test_means_and_deviations_are_read(name: str) -> None:
    form, output = FORMS[name]
    sample = encode(Encoder(form), IMAGES, output=output)
    assert_close(sample.codes, MEAN, SINGLE)
    assert sample.codes_std is not None
    assert_close(sample.codes_std, STD, SINGLE)
    assert list(sample.codes) == ["z1", "z2"]
    assert_exact(sample.factors, IMAGES.factors())


def test_what_two_arrays_are_is_asked_for() -> None:
    refuses(InputError, r"output: the encoder returns 2", encode, Encoder(lambda m, v: (m, v)), IMAGES)
    with pytest.raises(InputError, match=r"'mean_std' is 2 arrays \(mean, std\), the encoder returns 3"):
        encode(Encoder(lambda m, v: (m, v, m)), IMAGES, output="mean_std")
    with pytest.raises(InputError, match=r"expected an even number of columns, .* got shape \(8, 3\)"):
        encode(Encoder(lambda m, v: torch.cat([m, v[:, :1]], dim=1)), IMAGES, output="mean_logvar")
    refuses(InputError, r"expected a dictionary", encode, Encoder(lambda m, v: {"z": m}), IMAGES)


# Who is asked -------------------------------------------------------------------------------------------------------


def test_functions_are_given_arrays() -> None:
    assert_close(encode(linear(WEIGHTS, channels_first=False), IMAGES).codes, CODES, SINGLE)
    assert_close(encode(linear(WEIGHTS), IMAGES, layout="NCHW").codes, CODES, SINGLE)
    assert_close(encode(linear(WEIGHTS), IMAGES, layout="NCHW", rows=[9, 2, 9]).codes, CODES[[9, 2, 9]], SINGLE)


@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (0, 255)])
def test_pixels_are_as_in_the_training_of_the_model(ends: tuple[float, float]) -> None:
    seen: list[NDArray[Any]] = []

    def codes(x: Any) -> Any:
        seen.append(x)
        return x.mean(axis=(1, 2))

    encode(codes, IMAGES, value_range=ends)
    assert {(float(x.min()), float(x.max())) for x in seen} == {ends}


def keras_encoder() -> Any:
    keras = pytest.importorskip("keras")
    inputs = keras.Input((16, 16, 1))
    hidden = keras.layers.Dropout(0.5)(keras.layers.Flatten()(inputs))
    model = keras.Model(inputs, [keras.layers.Dense(2, name=name)(hidden) for name in ("mean", "logvar")])
    model.get_layer("mean").set_weights([WEIGHTS[:, :2], np.zeros(2, np.float32)])
    model.get_layer("logvar").set_weights([WEIGHTS[:, 2:] / 10, np.zeros(2, np.float32)])
    return model


def test_models_of_keras() -> None:
    sample = encode(keras_encoder(), IMAGES, output="mean_logvar")
    assert_close(sample.codes, MEAN, SINGLE)
    assert sample.codes_std is not None
    assert_close(sample.codes_std, STD, SINGLE)


# Left as it was -----------------------------------------------------------------------------------------------------


def test_modes_and_gradients_are_left_as_they_were() -> None:
    model = Encoder(lambda m, v: m)
    model.norm.eval()
    model.weights.grad = torch.ones_like(model.weights)
    encode(model, IMAGES)
    assert (model.training, model.dropout.training, model.norm.training) == (True, True, False)
    assert_exact(model.weights.grad, np.ones((256, 4)))
    assert torch.is_grad_enabled()

    def fail(m: Tensor, v: Tensor) -> Any:
        raise ArithmeticError

    model.form = fail
    with pytest.raises(ArithmeticError):
        encode(model, IMAGES)
    assert (model.training, model.dropout.training, model.norm.training) == (True, True, False)


@pytest.mark.parametrize("batch", [1, 7, 64, 1000])
def test_memory_is_bounded_by_the_batch(batch: int) -> None:
    seen: list[int] = []

    def codes(x: Any) -> Any:
        seen.append(len(x))
        return x.reshape(len(x), -1) @ WEIGHTS

    assert_close(encode(codes, IMAGES, batch=batch).codes, CODES, SINGLE)
    assert max(seen) <= max(batch, 8)


# The checks ---------------------------------------------------------------------------------------------------------


def test_an_encoder_that_samples_is_refused() -> None:
    draws = Encoder(lambda m, v: m + torch.randn_like(m) / 100)
    refuses(InputError, r"two calls .* the encoder samples, ", encode, draws, IMAGES)
    model = Encoder(lambda m, v: m)
    # the function hides the module from eval()
    refuses(InputError, "or dropout is on", encode, lambda x: model(torch.from_numpy(x)), IMAGES)


def test_rows_that_are_missing_are_refused() -> None:
    with pytest.raises(InputError, match="expected 64 rows of codes, one per image, got 63 from image 0 on"):
        encode(lambda x: x.reshape(len(x), -1)[: 63 if len(x) == 64 else None] @ WEIGHTS, IMAGES)
    with pytest.raises(InputError, match="expected 4 codes as before, got 3 from image 128 on"):
        encode(lambda x: x.reshape(len(x), -1) @ WEIGHTS[:, : 3 if len(x) == 16 else 4], IMAGES)
    with pytest.raises(InputError, match=r"expected mean of shape \(n_images, n_codes\), got \(8, 1, 16, 16\)"):
        encode(lambda x: x, IMAGES, layout="NCHW")


def test_codes_that_are_not_finite_are_told_with_their_factors() -> None:
    def codes(x: Any) -> Any:
        found = x.reshape(len(x), -1) @ WEIGHTS
        if len(x) == 16:
            found[5, 1] = np.nan
        return found

    side, column, row = IMAGES.factors([133]).iloc[0]
    message = f"codes of 1 of 144 images are not finite, first of image 133 .side {side}, x {column}, y {row}."
    refuses(InputError, message, encode, codes, IMAGES)
    with pytest.raises(InputError, match="standard deviations of 1 of 144 images are not finite"):
        encode(lambda x: (np.zeros((len(x), 4)), codes(x)), IMAGES, output="mean_std")


def test_arguments_that_cannot_be_used() -> None:
    given = functools.partial(encode, linear(WEIGHTS), IMAGES)
    refuses(UnknownNameError, "did you mean 'mean_logvar'", given, output="mean_logvars")
    refuses(UnknownNameError, "layout: expected 'NCHW' or 'NHWC', got 'NWHC'", given, layout="NWHC")
    for ends in (255, (1, 1)):
        refuses(InputTypeError, r"value_range: expected \(black, white\)", given, value_range=ends)
    refuses(InputTypeError, "model: expected a module of PyTorch, .* got str", encode, "encoder", IMAGES)
    refuses(InputTypeError, "images: expected an image set, got ndarray; wrap an array", encode, WEIGHTS.dot, PIXELS)
    refuses(InputError, "rows: expected 0 to 143", given, layout="NCHW", rows=[144])


# Functions, whose modules nobody sets to evaluation ------------------------------------------------------------------


def with_batch_norm() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.BatchNorm1d(256), nn.Linear(256, 2)).train()


class Holder:
    """An object that no framework knows, with a network in it."""

    def __init__(self, net: nn.Module) -> None:
        self.parts = {"encoder": net}

    def __call__(self, x: NDArray[Any]) -> Tensor:
        found: Tensor = self.parts["encoder"](torch.from_numpy(x))
        return found

    def codes(self, x: NDArray[Any]) -> Tensor:
        return self(x)


NET = with_batch_norm()
WAYS: dict[str, Callable[[nn.Module], Any]] = {
    "variable of the function": lambda net: lambda x: net(torch.from_numpy(x)),
    "its method": lambda net: (lambda forward: lambda x: forward(torch.from_numpy(x)))(net.forward),
    "a function that it calls": lambda net: (lambda inner: lambda x: inner(x))(lambda x: net(torch.from_numpy(x))),
    "partial": lambda net: functools.partial(lambda own, x: own(torch.from_numpy(x)), net),
    "object": Holder,
    "method of an object": lambda net: Holder(net).codes,
    "attribute of an object": lambda net: (lambda held: lambda x: held.net(torch.from_numpy(x)))(
        SimpleNamespace(net=net)
    ),
    "global": lambda net: lambda x: NET(torch.from_numpy(x)),
}


@pytest.mark.parametrize("way", WAYS)
def test_running_statistics_are_put_back(way: str) -> None:
    net = NET if way == "global" else with_batch_norm()
    before = {name: held.clone() for name, held in net.state_dict().items()}
    with pytest.raises(InputError, match="batch norm in training mode") as error:
        encode(WAYS[way](net), IMAGES)
    assert "load its weights again" not in str(error.value)
    assert net.training
    for name, held in net.state_dict().items():
        assert_exact(held, before[name])


def test_images_that_a_model_cannot_take_are_told_with_their_shape() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2 * 14 * 14, 2)).eval()
    with pytest.raises(InputError, match=r"shape \(8, 16, 16, 1\).*RuntimeError.*pass `layout='NCHW'`"):
        encode(lambda x: net(torch.from_numpy(x)), IMAGES)
    refuses(InputError, r"\(8, 16, 16, 1\).*RuntimeError.*now NHWC", encode, net, IMAGES, layout="NHWC")
    assert encode(lambda x: net(torch.from_numpy(x)), IMAGES, layout="NCHW").codes.shape == (144, 2)
