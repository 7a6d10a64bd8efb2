"""Metrics, scenarios and comparison methods of a user's Python files: ``FILE.py::name``."""

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from demele.core.errors import InputTypeError
from demele.files.python_files import PythonFiles

if TYPE_CHECKING:
    from demele.bench import Scenario
    from demele.metrics.metric import Metric


def scored_metrics(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return registered names as they are, and functions and metrics of files as metrics.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        For names that are not known, files that cannot be run, and what is no function (codes, factors).
    """
    from demele.metrics.catalogue import resolve

    def made(found: Any, path: Path, name: str, source: str) -> Any:
        return _metric(_measuring(found, path, name), name, path, source)

    known = ["all"] if [*items] == ["all"] else None
    return known or files.chosen(items, "metrics", resolve, made, kind="function", names=_functions)


def chosen_metrics(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return registered names as they are, and functions, metrics and candidates of files as candidates.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        As :func:`scored_metrics`.
    """
    from demele import bench
    from demele.bench.run import chosen_candidates, of_metric
    from demele.metrics.catalogue import CATALOGUE
    from demele.metrics.metric import Metric
    from demele.metrics.request import free_name

    taken: list[str] = list(CATALOGUE)

    def made(found: Any, path: Path, name: str, source: str) -> bench.Candidate:
        _measuring(found, path, name)
        if isinstance(found, Metric):
            candidate = of_metric(_metric(found, found.name, path, source), taken)
        elif not isinstance(found, bench.Candidate):
            own = free_name(found, taken)
            candidate = bench.candidate(_FromFile(found, own, source), name=own)
        elif found.function is None or isinstance(found.function, Metric):
            candidate = found
        else:
            candidate = replace(found, function=_FromFile(found.function, found.name, source))
        taken.append(candidate.name)
        return candidate

    return files.chosen(items, "metrics", chosen_candidates, made, kind="function", names=_functions)


def chosen_scenarios(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return names of scenarios and of sets as they are, and scenarios of files as objects.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        As :func:`scored_metrics`.
    """
    from demele import bench
    from demele.bench import scenarios

    drawn: dict[int, Scenario] = {}

    def made(found: Any, path: Path, name: str, source: str) -> "Scenario":
        if not isinstance(found, bench.Scenario):
            raise _other("scenarios", path, name, "demele.bench.Scenario", found)
        known = scenarios.SCENARIOS.get(found.name)
        same = known is not None and known.draw is found.draw  # one of demele's, perhaps at other severities
        own = found if same else replace(found, draw=_FromFile(found.draw, found.name, source))
        return drawn.setdefault(id(found), own)

    def names(module: ModuleType) -> list[str]:
        return [name for name, item in vars(module).items() if isinstance(item, bench.Scenario) and name[:1] != "_"]

    chosen = files.chosen(items, "scenarios", scenarios.chosen_scenarios, made, kind="scenario", names=names)
    return list({id(one): one for one in chosen}.values())  # two names of one object


def chosen_methods(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return names of comparison methods as they are, and functions of files as what calls them.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        As :func:`scored_metrics`.
    """
    from demele.bench.comparisons.contenders import chosen_contenders

    def made(found: Any, path: Path, name: str, source: str) -> Any:
        if not callable(found):
            raise _other("methods", path, name, "function (baseline, candidate, labels) -> verdict", found)
        method = _FromFile(found, name, source)
        chosen_contenders(method)  # that it can be called so
        return method

    return files.chosen(items, "methods", chosen_contenders, made, kind="function", names=_functions)


class _FromFile:
    """A function of a file. What is stored of it is kept under the code of the whole file, helpers included."""

    def __init__(self, function: Callable[..., Any], name: str, source: str) -> None:
        self.function = function
        self.source = source
        self.__name__ = name

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        with contextlib.redirect_stdout(sys.stderr):  # only results go to stdout
            return self.function(*arguments, **more)

    def __repr__(self) -> str:
        return f"{self.__name__} of code {self.source}"

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)


class _OfMetric:
    """A function of a file's metric, which is called, and fingerprinted, as itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.__annotations__ = getattr(function, "__annotations__", {})

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        with contextlib.redirect_stdout(sys.stderr):  # only results go to stdout
            return vars(self)["__wrapped__"](*arguments, **more)


def _metric(found: Any, name: str, path: Path, source: str) -> "Metric":
    """Return a metric of a file; the code of the file distinguishes its functions from others of their name."""
    from demele.metrics.metric import as_metric

    metric = as_metric(found, name)
    metric.check_call()
    wrapped: dict[int, _OfMetric] = {}

    def quiet(function: Callable[..., Any] | None) -> Any:
        return None if function is None else wrapped.setdefault(id(function), _OfMetric(function))

    own = {name: quiet(getattr(metric, name)) for name in ("call", "formula", "fit")}
    return replace(metric, **own, package=f"{path.name}-{source}")


def _measuring(found: Any, path: Path, name: str) -> Any:
    """Return what a file holds, if it is a metric, a candidate, or a function of codes and factors."""
    from demele import bench
    from demele.bench.run import why_not_callable
    from demele.metrics.metric import Metric

    if isinstance(found, bench.Candidate | Metric):
        return found
    if not callable(found):
        raise _other("metrics", path, name, "function (codes, factors) -> float", found)
    reason = why_not_callable(found)
    if reason is not None:
        takes = f"cannot be called with (codes, factors): {reason}; it takes {inspect.signature(found)}"
        raise InputTypeError("metrics", f"{path}::{name} {takes}")
    return found


def _other(argument: str, path: Path, name: str, expected: str, found: Any) -> InputTypeError:
    return InputTypeError(argument, f"{path}::{name} is no {expected}, but {type(found).__name__}")


def _functions(module: ModuleType) -> list[str]:
    return [
        name
        for name, item in vars(module).items()
        if not name.startswith("_")
        and ((inspect.isfunction(item) and item.__module__ == module.__name__) or type(item).__name__ == "Metric")
    ]
