"""Codes and factors from a trained model of any framework, with checks for common mistakes."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from types import FunctionType, MethodType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.arrays import Array, Floats, pd
from demele.core.errors import DemeleError, InputError, InputTypeError, quoted, short_words
from demele.core.kinds import Count, checked, checked_name, is_number
from demele.core.table_columns import whole_array
from demele.data.images import ImageSet
from demele.data.space import Sample
from demele.runtime.work import reporting

# How a model of any framework is called without changing it, and how its output is read as means and deviations -------

# Calls ----------------------------------------------------------------------------------------------------------------


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
    torch: Any = sys.modules.get("torch")
    with nullcontext() if torch is None else torch.no_grad():
        if _is_of("keras", "Layer", model):  # first: on its torch backend a model of Keras is a module too
            yield lambda pixels: model(pixels, training=False)
        elif _is_of("torch.nn", "Module", network := _owner(model)):
            from demele.models.training import in_eval_mode

            weights = next((one for one in network.parameters() if one.is_floating_point()), torch.empty(0))
            with in_eval_mode(network):
                yield lambda pixels: model(torch.from_numpy(pixels).to(device=weights.device, dtype=weights.dtype))
        elif callable(model):
            buffers = [one for module in reached_modules(model) for one in module.buffers()]
            before = [one.detach().clone() for one in buffers]
            try:
                yield model
            finally:
                for buffer, held in zip(buffers, before, strict=True):
                    buffer.copy_(held)
        else:
            raise InputTypeError(
                "model",
                f"expected a module of PyTorch, a model of Keras, or a function of arrays, got {type(model).__name__}",
            )


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


def _owner(model: Any) -> Any:
    """Return the object that a bound method belongs to; anything else as it is."""
    return getattr(model, "__self__", model)


def _is_of(module: str, name: str, model: Any) -> bool:
    """Whether a model is of a class of a package; if that is not imported, it is not."""
    found = sys.modules.get(module)
    return found is not None and isinstance(model, getattr(found, name))


# Outputs --------------------------------------------------------------------------------------------------------------


#: What each array is, for each name of an output; "sample" is not looked at.
OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "mean": ("mean",),
    **{f"mean_{spread}": ("mean", spread) for spread in ("logvar", "variance", "std")},
    **{f"mean_{spread}_sample": ("mean", spread, "sample") for spread in ("logvar", "variance", "std")},
}
#: Keys of dictionaries and what they hold: those of PyTorch, pythae, and common examples.
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("mean", "mu", "loc", "embedding", "z_mean"), "mean"),
    **dict.fromkeys(("logvar", "log_var", "log_variance", "log_covariance", "z_log_var", "z_logvar"), "logvar"),
    **dict.fromkeys(("std", "stddev", "scale", "sigma"), "std"),
    **dict.fromkeys(("var", "variance"), "variance"),
}


#: Standard deviations from each of the numbers that encoders return in their place.
_DEVIATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "std": lambda std: std,
    "variance": np.sqrt,
    "logvar": lambda logvar: np.exp(logvar / 2),
}


class Encoded(NamedTuple):
    """Means of shape (n, d), and standard deviations if there are any."""

    mean: Floats
    std: Floats | None


def read_output(given: Any, output: str | None) -> Encoded:
    """Return means and standard deviations from what an encoder returned for one batch.

    Parameters
    ----------
    given : array, tensor, tuple or list of them, dictionary, or distribution
    output : str or None
        What it is, a key of :data:`OUTPUTS`. Dictionaries and distributions say so themselves.

    Raises
    ------
    InputError, InputTypeError
        If the outputs are ambiguous: two arrays could hold variances or their logarithms, and demele never guesses.
    """
    if isinstance(given, Mapping):
        found = {_KEYS[key]: value for key, value in given.items() if isinstance(key, str) and key in _KEYS}
        if "mean" not in found:
            keys = ", ".join(map(quoted, list(given)[:10]))
            raise InputError(
                "model",
                f"expected a dictionary with a key 'mean', 'mu', 'loc' or 'embedding', got the keys {keys}; "
                "return the array instead",
            )
        return _of_parts(found)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.distributions.Distribution):
        return _of_parts({"mean": given.mean, "std": given.stddev})
    arrays = list(given) if isinstance(given, tuple | list) else [given]
    if output is None and len(arrays) > 1:
        raise InputError(
            "output",
            f"the encoder returns {len(arrays)} arrays, and what the second is changes every number; say which: "
            "`output='mean_logvar'`, 'mean_variance' or 'mean_std'",
        )
    names = OUTPUTS[output or "mean"]
    if len(arrays) == 1 and len(names) == 2:  # both in one array, means first
        whole = as_array(arrays[0])
        if whole.ndim != 2 or whole.shape[1] % 2:
            raise InputError(
                "output", f"expected an even number of columns, means and then {names[1]}s, got shape {whole.shape}"
            )
        arrays = np.split(whole, 2, axis=1)
    if len(arrays) != len(names):
        raise InputError(
            "output",
            f"{output or 'mean'!r} is {len(names)} arrays ({', '.join(names)}), the encoder returns {len(arrays)}",
        )
    return _of_parts(dict(zip(names, arrays, strict=True)))


def _of_parts(parts: Mapping[str, Any]) -> Encoded:
    mean = _matrix(parts["mean"], "mean")
    spread = next((name for name in _DEVIATIONS if name in parts), None)
    if spread is None:
        return Encoded(mean, None)
    std = _DEVIATIONS[spread](_matrix(parts[spread], spread))
    if std.shape != mean.shape:
        raise InputError("model", f"expected deviations of the shape of the means, {mean.shape}, got {std.shape}")
    return Encoded(mean, std)


def _matrix(given: Any, what: str) -> Floats:
    array = as_array(given)
    if array.dtype.kind not in "fiu":
        raise InputTypeError("model", f"expected numbers as {what}, got {array.dtype}")
    if array.ndim != 2 or array.shape[1] == 0:
        hint = "; flatten it, or average over its positions" if array.ndim > 2 else ""
        raise InputError("model", f"expected {what} of shape (n_images, n_codes), got {array.shape}{hint}")
    return array.astype(np.float64)


def as_array(given: Any) -> Array:
    """Return a tensor of any framework, or anything that NumPy reads, as an array on the host."""
    if hasattr(given, "detach"):  # of PyTorch, which may have gradients, be on a device, or have a type of its own
        tensor = given.detach().cpu()
        return np.asarray(tensor.float() if tensor.is_floating_point() else tensor)
    keras = sys.modules.get("keras")
    if keras is not None and keras.ops.is_tensor(given):
        return np.asarray(keras.ops.convert_to_numpy(given))
    return np.asarray(given)


Layout = Literal["NCHW", "NHWC"]
#: Images that are encoded twice, and the first of them apart from the others.
_TRIED = 8
#: How far codes may differ, relative to the largest, between two calls, and apart and in a batch: half precision and
#: sums in another order differ by less.
_REPEATED, _APART = 1e-5, 1e-2


@checked
def encode(
    model: Any,
    images: ImageSet,
    *,
    output: str | None = None,
    layout: Layout | None = None,
    value_range: tuple[float, float] = (0.0, 1.0),
    rows: ArrayLike | None = None,
    batch: Count = 64,
) -> Sample:
    """Encode images with a trained model of any framework, for the metrics.

    Parameters
    ----------
    model : torch.nn.Module, method of one, keras.Model, or callable(array) -> codes
        What gives the codes: the *encoder*. A callable is given an array of single precision. It may return an array
        or tensor, a tuple of them, a dictionary (``mean``, ``mu``, ``loc`` or ``embedding``; ``logvar``, ``log_var``,
        ``log_covariance``, ``std`` or ``scale``), or a distribution of PyTorch. A :class:`demele.lab.VAE` has an
        ``encode`` of its own.
    images : ImageSet
        Wrap an array with ``demele.data.ArrayImages(array, factors=frame)``.
    output : str, optional
        What comes: ``"mean"``, ``"mean_logvar"``, ``"mean_variance"`` or ``"mean_std"``, each also with ``"_sample"``
        at its end, for encoders that return a draw besides. Two parts may come as one array, means first. One array
        is taken for means unless this is given; several are refused.
    layout : {"NCHW", "NHWC"}, optional
        Axes of what the model takes. By default channels come first for PyTorch, and last for all else.
    value_range : (float, float), default (0, 1)
        What black and white are to the model: as in its training, such as (-1, 1) or (0, 255).
    rows : array-like of int, optional
        Which images; all by default.
    batch : int, default 64
        Images that are encoded at once, which bounds the memory.

    Returns
    -------
    Sample
        ``codes`` z1, z2, ... (means), ``factors``, and ``codes_std`` if the model gives deviations.

    Raises
    ------
    InputError
        If the encoder samples (two calls differ), the codes of an image depend on the other images of its batch (batch
        norm in training mode), rows are missing, codes are not finite (with the factors of the first such image), two
        arrays are returned and ``output`` does not name them, or the model takes no arrays of that shape.
    InputTypeError, UnknownNameError
        For arguments of another type, and names that are not known.

    Notes
    -----
    Modules are put into evaluation mode, run without gradients, and restored. Modules that a plain function calls are
    not put into any mode: call ``eval()`` on them first. In training mode calls move the running statistics of batch
    norm; they are put back where the variables of the function hold the module (or a method of it), and the error
    says so where none was found.

    Examples
    --------
    >>> from demele.data import ArrayImages, FactorSpace
    >>> grey = np.repeat(np.arange(12, dtype=np.uint8), 16).reshape(12, 4, 4)
    >>> images = ArrayImages(grey, space=FactorSpace({"shade": 12}))
    >>> sample = encode(lambda x: x.mean(axis=(1, 2)), images, value_range=(0, 255))
    >>> sample.codes["z1"].tolist()[:3]
    [0.0, 1.0, 2.0]
    """
    check_images(images)
    known = None if output is None else checked_name(output, "output", OUTPUTS)
    is_torch = _is_of("torch.nn", "Module", _owner(model)) and not _is_of("keras", "Layer", model)
    axes = layout or ("NCHW" if is_torch else "NHWC")
    low, high = checked_range(value_range)
    wanted = np.arange(len(images)) if rows is None else whole_array(rows, "rows", dimensions=1)

    def pixels(part: Array) -> NDArray[np.float32]:
        drawn = images.images(part).astype(np.float32) * np.float32((high - low) / 255) + np.float32(low)
        return np.ascontiguousarray(drawn.transpose(0, 3, 1, 2)) if axes == "NCHW" else drawn

    with called(model) as call, reporting() as report:
        first = pixels(wanted[: max(batch, _TRIED)])
        remedy = f"`layout` says where channels are, now {axes}; a network may also take another size of images"
        if layout is None and axes == "NHWC":
            remedy = "a function is given channels last; if its model takes them first, pass `layout='NCHW'`"
        with telling_of_shapes("model", first[:_TRIED].shape, remedy):
            _check_calls(call, first, known, moved=_moved(model))
        found: list[Encoded] = []
        for start in range(0, len(wanted), batch):
            part = wanted[start : start + batch]
            own = read_output(call(pixels(part)), known)
            if len(own.mean) != len(part):
                expected = f"expected {len(part)} rows of codes, one per image"
                raise InputError("model", f"{expected}, got {len(own.mean)} from image {part[0]} on")
            if found and own.mean.shape[1] != found[0].mean.shape[1]:
                expected = f"expected {found[0].mean.shape[1]} codes as before"
                raise InputError("model", f"{expected}, got {own.mean.shape[1]} from image {part[0]} on")
            found.append(own)
            if report is not None:
                done = start + len(part)
                report(done, len(wanted), f"{done:,} of {len(wanted):,} images encoded")
    mean = np.concatenate([one.mean for one in found]) if found else np.zeros((0, 0))
    stds = [one.std for one in found if one.std is not None]
    name = getattr(model, "__qualname__", type(model).__name__)
    stored = "" if (low, high) == (0, images.stored_white) else f", stored from 0 to {images.stored_white}"
    told = f"Codes of {images.name} by {name}; pixels from {low:g} to {high:g}{stored}."
    return sample_of(mean, np.concatenate(stds) if stds else None, images, wanted, provenance=told)


def sample_of(
    mean: Floats,
    std: Floats | None,
    images: ImageSet,
    rows: Array,
    *,
    provenance: str,
) -> Sample:
    """Return codes with the factors of their images.

    Raises
    ------
    InputError
        If a number is not finite, naming the first row and its factors.
    """
    factors = images.factors(rows)
    for what, numbers in (("codes", mean), ("standard deviations", std)):
        if numbers is not None:
            check_finite(numbers, factors, "model", what=what, rows=rows)
    return Sample(mean, factors, provenance, codes_std=std)  # type: ignore[arg-type]


def check_finite(
    numbers: Floats, factors: "pd.DataFrame", argument: str, *, what: str, rows: Array | None = None
) -> None:
    """Refuse numbers that are not finite, with the factors of the first such row; ``rows``: those of the images.

    Raises
    ------
    InputError
    """
    wrong = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if wrong.size:
        noun, row = ("row", wrong[0]) if rows is None else ("image", rows[wrong[0]])
        values = factors.iloc[wrong[0]].to_dict().items()
        held = ", ".join(f"{name} {value}" for name, value in values) or "no factors"
        them = f"{what} of {wrong.size} of {len(numbers)} {noun}s"
        raise InputError(argument, f"{them} are not finite, first of {noun} {row} ({held})")


def _moved(model: Any) -> str:
    """Say what may have become of running statistics, where nobody could put them back."""
    known = _is_of("keras", "Layer", model) or _is_of("torch.nn", "Module", _owner(model))  # its mode is set
    if known or "torch" not in sys.modules or reached_modules(model):
        return ""
    return (
        "; no variable of the function holds its network, so running statistics of batch norm have moved if it was in "
        "training mode: load its weights again"
    )


def _check_calls(call: Call, first: NDArray[np.float32], output: str | None, *, moved: str) -> None:
    """Refuse encoders that draw, and those whose codes depend on the batch; found out on the first images.

    ``moved`` says what the calls may have changed.

    Raises
    ------
    InputError
    """
    tried = first[:_TRIED]
    if not len(tried):
        return
    once, again = (read_output(call(tried.copy()), output) for _ in range(2))
    if len(once.mean) != len(tried) or not np.isfinite(once.mean).all():
        return  # told with its row where all images are encoded
    if not _are_same(once.mean, again.mean, _REPEATED):
        raise InputError(
            "model",
            "two calls on the same images give different codes: the encoder samples, or dropout is on; give what "
            f"returns the mean, and say so with `output='mean_logvar'` if the variance comes with it{moved}",
        )
    # Twice, since batch norm in training mode takes no single image.
    apart = read_output(call(tried[[0, 0]]), output).mean[:1]
    whole = read_output(call(first.copy()), output).mean[: len(apart)]
    if len(first) > 1 and apart.shape == whole.shape and not _are_same(apart, whole, _APART):
        raise InputError(
            "model",
            "the codes of an image depend on the rest of its batch, as with batch norm in training mode; call eval() "
            f"on the network, or training=False{moved}",
        )


def _are_same(one: Floats, other: Floats, tolerance: float) -> bool:
    return one.shape == other.shape and bool(np.abs(one - other).max() <= tolerance * max(np.abs(one).max(), 1e-12))


def checked_range(value_range: Any) -> tuple[float, float]:
    """Return what black and white are to a model.

    Raises
    ------
    InputTypeError
    """
    ends = tuple(value_range) if isinstance(value_range, tuple | list) else ()
    if len(ends) != 2 or not all(is_number(end) and np.isfinite(end) for end in ends) or ends[0] == ends[1]:
        raise InputTypeError("value_range", f"expected (black, white), such as (0, 1), got {quoted(value_range)}")
    return float(ends[0]), float(ends[1])


def check_images(images: Any) -> None:
    """Refuse what is no image set.

    Raises
    ------
    InputTypeError
    """
    if not isinstance(images, ImageSet):
        hint = (
            "; wrap an array: demele.data.ArrayImages(array, factors=frame)" if isinstance(images, np.ndarray) else ""
        )
        raise InputTypeError("images", f"expected an image set, got {type(images).__name__}{hint}")
