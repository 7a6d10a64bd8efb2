"""Options of metrics: checked once, turned into the frozen objects that a signature prints."""

import inspect
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.core.inputs import Missing
from demele.core.signature import OptionText
from demele.estimation.discretise import Adaptive, Binning, Edges, EqualFrequency, EqualWidth
from demele.metrics.catalogue import suggestion

__all__ = ["RunOptions", "as_binning", "checked_option", "regularising_codes", "restored"]


class RunOptions(TypedDict, total=False):
    """Keywords that every metric takes.

    ``seed`` (default 0), ``repeats`` (1), ``bootstrap`` (0 resamples), ``level`` (0.95), ``chance`` (0 permutations),
    ``missing`` ("raise" or "omit"), ``kinds``, ``n_jobs`` (1): see :func:`demele.evaluate`.
    """

    seed: int
    repeats: int
    bootstrap: int
    level: float
    chance: int
    missing: Missing
    kinds: object
    n_jobs: int


_BINNINGS: dict[str, type[Any]] = {
    "EqualWidth": EqualWidth,
    "EqualFrequency": EqualFrequency,
    "Adaptive": Adaptive,
    "Edges": Edges,
}
_BINNING_WORDS: dict[str, type[EqualWidth] | type[EqualFrequency]] = {
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "quantile": EqualFrequency,
}


def as_binning(bins: object) -> Binning:
    """Turn a number, a word, edges or a rule into a rule.

    ``10`` is ``EqualWidth(10)``; ``"equal-frequency:10"``, ``"equal-width:10"`` and ``"adaptive"`` are words for the
    command line; a sequence of numbers is ``Edges``.
    """
    if isinstance(bins, EqualWidth | EqualFrequency | Adaptive | Edges):
        return bins
    if isinstance(bins, bool):
        raise InputTypeError("bins", f"expected a number, a Binning or edges, got {bins!r}")
    if isinstance(bins, numbers.Integral):
        return EqualWidth(int(bins))
    if isinstance(bins, str):
        word, _, count = bins.partition(":")
        if word == "adaptive" and not count:
            return Adaptive()
        if bins.isdecimal():
            return EqualWidth(int(bins))
        if word in _BINNING_WORDS and (count.isdecimal() or not count):
            return _BINNING_WORDS[word](int(count or 10))
        raise InputError("bins", f"expected a number, 'equal-width:B', 'equal-frequency:B' or 'adaptive', got {bins!r}")
    edges = bins.tolist() if isinstance(bins, np.ndarray) and bins.ndim else bins
    if isinstance(edges, Sequence) and len(edges):
        try:
            return Edges(tuple(float(edge) for edge in edges))
        except (TypeError, ValueError) as error:
            raise InputError("bins", f"expected increasing edges, got {bins!r}") from error
    if hasattr(bins, "column_bins") and hasattr(bins, "needs_values"):
        return cast("Binning", bins)  # a user's own rule
    raise InputTypeError("bins", f"expected a number, a Binning or edges, got {bins!r}")


def restored(value: object) -> object:
    """Return option objects for their text in a parsed signature."""
    if isinstance(value, OptionText):
        if value.name not in _BINNINGS:
            raise InputError("signature", f"unknown option {value!r}")
        try:
            return _BINNINGS[value.name](**dict(value.arguments))
        except TypeError as error:
            raise InputError("signature", f"unknown option {value!r}") from error
    return value


_CHOICES: dict[str, tuple[object, ...]] = {
    "estimator": ("histogram", "knn", "robust"),
    "correction": ("none", "miller-madow", "adjusted"),
    "score_on": ("unseen", "training"),
    "classifier": ("one-vs-rest", "multinomial"),
    "probabilities": ("normalised", "raw"),
    "scaling": ("min-max", "standard"),
    "class_weight": (None, "balanced"),
    "weights": ("deviation", "raw-deviation", "uniform"),
    "value_weights": ("frequency", "uniform"),
    "informativeness": ("variance", "uniform-6"),
    "model": ("forest", "lasso", "boosting"),
    "units": ("standard", "raw"),
    "normaliser": ("quantile", "maximum"),
    "factor_weights": ("uniform", "importance"),
    "report": ("above-chance", "unscaled"),
}
_COUNTS = {
    "n_neighbors": 1,
    "n_trees": 1,
    "batch_size": 2,
    "n_train": 1,
    "n_test": 1,
    "max_depth": 1,
    "max_bins": 2,
    "repeats": 1,
    "bootstrap": 0,
    "chance": 0,
    "seed": 0,
}
_OPTIONAL_COUNTS = ("n_train", "n_test", "max_bins")


def checked_jobs(n_jobs: object) -> int:
    """Validate a number of processes."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0 or n_jobs < -1:
        raise InputError("n_jobs", f"expected a number of processes, or -1 for all processors, got {n_jobs!r}")
    return int(n_jobs)


def checked_option(name: str, value: object) -> object:
    """Validate one option by its name and return it in its frozen form."""
    if name == "bins":
        return as_binning(value)
    if name in _CHOICES:
        if not (value is None or isinstance(value, str)) or value not in _CHOICES[name]:
            wanted = ", ".join(repr(choice) for choice in _CHOICES[name])
            raise InputError(name, f"expected one of {wanted}, got {value!r}")
        return value
    if name in _COUNTS:
        if value is None and name in _OPTIONAL_COUNTS:
            return None
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise InputTypeError(name, f"expected a whole number, got {value!r}")
        if name == "bootstrap" and int(value) == 1:
            raise InputError("bootstrap", "expected 0 or at least 2 resamples (100 or more for an interval), got 1")
        if int(value) < _COUNTS[name]:
            raise InputError(name, f"expected at least {_COUNTS[name]}, got {value}")
        return int(value)
    if name in ("level", "quantile", "penalty", "learning_rate"):
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
            raise InputTypeError(name, f"expected a number, got {value!r}")
        top = {"level": 1.0, "quantile": 1.0}.get(name, np.inf)
        if not 0 < float(value) <= top or (name == "level" and float(value) >= 1):
            bound = "below" if name == "level" else "at most"
            raise InputError(name, f"expected a number above 0 and {bound} {top:g}, got {value}")
        return float(value)
    if name == "prune_below":
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
            raise InputTypeError(name, f"expected a number, got {value!r}")
        if float(value) < 0:
            raise InputError(name, f"expected a standard deviation of at least 0, got {value}")
        return float(value)
    if name == "fill_reg_dim" and not isinstance(value, bool | np.bool_):
        raise InputTypeError(name, f"expected True or False, got {value!r}")
    return value


def checked_options(function: Any, given: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """Fill in the defaults of a public function's signature and validate every option."""
    defaults = {
        parameter.name: parameter.default
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    for name in given:
        if name not in defaults:
            raise UnknownNameError("options", f"{metric} has no option {name!r}{suggestion(name, defaults)}")
    return {name: checked_option(name, given.get(name, default)) for name, default in defaults.items()}


def regularising_codes(reg_dim: object, code_names: Sequence[str], factor_names: Sequence[str]) -> NDArray[np.intp]:
    """Return, for each factor, the index of the code that regularises it.

    Raises
    ------
    InputError, NotEnoughData
        If there is not one valid code for each factor.
    """
    d, m = len(code_names), len(factor_names)
    if reg_dim is None:
        if d < m:
            raise NotEnoughData(
                "reg_dim",
                f"by default code i regularises factor i, which needs at least {m} codes, got {d}; "
                "name the code of each factor",
            )
        return np.arange(m)
    if isinstance(reg_dim, str) or not isinstance(reg_dim, Sequence | np.ndarray):
        raise InputTypeError("reg_dim", f"expected one code (index or name) for each factor, got {reg_dim!r}")
    if len(reg_dim) != m:
        raise InputError("reg_dim", f"expected one code for each of the {m} factors, got {len(reg_dim)}")
    found = np.empty(m, dtype=np.intp)
    for index, code in enumerate(reg_dim):
        if isinstance(code, str):
            if code not in code_names:
                raise UnknownNameError(
                    "reg_dim",
                    f"no code is called {code!r} (for factor {factor_names[index]!r}){suggestion(code, code_names)}",
                )
            found[index] = list(code_names).index(code)
        elif isinstance(code, bool) or not isinstance(code, numbers.Integral):
            raise InputTypeError(
                "reg_dim", f"expected a code's index or name for factor {factor_names[index]!r}, got {code!r}"
            )
        elif not 0 <= int(code) < d:
            raise InputError(
                "reg_dim", f"expected an index from 0 to {d - 1} for factor {factor_names[index]!r}, got {code}"
            )
        else:
            found[index] = int(code)
    return found
