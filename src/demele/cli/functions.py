"""What is in a user's Python file, as metrics, scenarios and comparison methods: ``FILE.py::name``."""

import ast
import contextlib
import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Literal

from demele.core.errors import FormatError, InputError, InputTypeError, UnknownNameError, quoted, shortened
from demele.core.reading import parsing, read_whole, real_path
from demele.core.sentences import arg, marked

if TYPE_CHECKING:
    from demele.bench import Candidate, Scenario
    from demele.metrics.metric import Metric


class PythonFiles:
    """The files of one command, each run once, whatever is taken from it."""

    def __init__(self) -> None:
        self._modules: dict[Path, tuple[ModuleType, str]] = {}

    def module(self, path: Path, argument: str) -> tuple[ModuleType, str]:
        """Return what a file defines, and a digest of its code; ``argument`` is named in errors."""
        if path not in self._modules:
            self._modules[path] = _loaded(path, argument)
        return self._modules[path]

    def holding(self, name: str, names: Callable[[ModuleType], list[str]]) -> Path | None:
        """Return the first file that has something of that name."""
        return next((path for path, (module, _) in self._modules.items() if name in names(module)), None)


def named_files(items: Sequence[str]) -> list[Path]:
    """Return the files that ``FILE.py::name`` items name, each once.

    Examples
    --------
    >>> [file.name for file in named_files(["mig", "mine.py::a", "mine.py::b"])]
    ['mine.py']
    """
    return list(dict.fromkeys(Path(item.rpartition("::")[0]) for item in items if "::" in item))


@contextmanager
def folders_on_path(files: Sequence[Path]) -> Iterator[None]:
    """Let files import modules from their own folder, as ``python FILE`` does; installed ones go first."""
    folders = list(dict.fromkeys(str(real_path(file).parent) for file in files))
    before = list(sys.path)
    sys.path += [folder for folder in folders if folder not in sys.path]
    try:
        yield
    finally:
        sys.path[:] = before


def chosen_metrics(items: Sequence[str], files: PythonFiles) -> "list[str | Candidate]":
    """Return registered names as they are, and functions of files as candidates.

    Parameters
    ----------
    items : sequence of str
        Registered names, and ``FILE.py::name``: a function ``(codes, factors) -> float``, or what
        :func:`demele.bench.candidate` returns.
    files : PythonFiles
        Those that were run already.

    Raises
    ------
    UnknownNameError
        If a metric or function is not known; with the nearest names.
    InputError, InputTypeError, FormatError
        If a file cannot be read or run, or something in it is no such function.
    """
    from demele.bench.candidates import chosen_candidates
    from demele.metrics.catalogue import CATALOGUE

    chosen: dict[str, str | Candidate] = {}
    taken: list[str] = list(CATALOGUE)
    for item in items:
        if item in chosen:
            continue
        file, mark, name = item.rpartition("::")
        if not mark:
            try:
                chosen_candidates(item)
            except UnknownNameError as error:
                raise UnknownNameError(
                    f"{marked(error)}{_meant_of_file(item, 'function', files, _functions)}"
                ) from error
            chosen[item] = item
            continue
        path = Path(file)
        module, source = files.module(path, "metrics")
        chosen[item] = found = _candidate(_picked(module, name, path), source, taken, path)
        taken.append(found.name)
    return list(chosen.values())


def scored_metrics(items: Sequence[str], files: PythonFiles) -> "list[str | Metric]":
    """Return registered names as they are, and functions and metrics of files as metrics.

    Parameters
    ----------
    items : sequence of str
        Registered names, and ``FILE.py::name``: a function ``(codes, factors) -> float`` or a :class:`demele.Metric`.
    files : PythonFiles
        Those that were run already.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        As :func:`chosen_metrics`.
    """
    from demele.metrics.catalogue import resolve

    if [*items] == ["all"]:
        return ["all"]
    chosen: dict[str, str | Metric] = {}
    for item in items:
        file, mark, name = item.rpartition("::")
        if mark:
            module, source = files.module(Path(file), "metrics")
            chosen[item] = _metric(_picked(module, name, Path(file)), name, Path(file), source)
            continue
        try:
            resolve(item)
        except UnknownNameError as error:
            raise UnknownNameError(f"{error}{_meant_of_file(item, 'function', files, _functions)}") from error
        chosen[item] = item
    return list(chosen.values())


def chosen_scenarios(items: Sequence[str], files: PythonFiles) -> "list[str | Scenario]":
    """Return names of scenarios and of sets as they are, and scenarios of files as objects.

    Parameters
    ----------
    items : sequence of str
        Names, and ``FILE.py::name``: a :class:`demele.bench.Scenario`.
    files : PythonFiles
        Those that were run already.

    Raises
    ------
    UnknownNameError
        If a name is not known; with the nearest names.
    InputError, InputTypeError, FormatError
        If a file cannot be read or run, or something in it is no scenario.
    """
    from demele.bench import scenarios

    chosen: dict[tuple[str, int], str | Scenario] = {}
    for item in items:
        file, mark, name = item.rpartition("::")
        if not mark:
            try:
                scenarios.chosen_scenarios(item)
            except UnknownNameError as error:
                raise UnknownNameError(
                    f"{marked(error)}{_meant_of_file(item, 'scenario', files, _scenarios)}"
                ) from error
            chosen[item, 0] = item
            continue
        path = Path(file)
        module, source = files.module(path, "scenarios")
        found = _picked_scenario(module, name, path)
        if ("", id(found)) not in chosen:  # two names of one object
            chosen["", id(found)] = _drawn_from(found, source)
    return list(chosen.values())


def chosen_methods(items: Sequence[str], files: PythonFiles) -> "list[str | Callable[..., Any]]":
    """Return names of comparison methods as they are, and functions of files as what calls them.

    Parameters
    ----------
    items : sequence of str
        Names, perhaps with options, and ``FILE.py::name``: a function ``(baseline, candidate, labels) -> verdict``.
    files : PythonFiles
        Those that were run already.

    Raises
    ------
    UnknownNameError
        If a method or function is not known; with the nearest names.
    InputError, InputTypeError, FormatError
        If a file cannot be read or run, or something in it is no such function.
    """
    from demele.bench.comparisons.contenders import chosen_contenders

    chosen: dict[str, str | Callable[..., Any]] = {}
    for item in items:
        file, mark, name = item.rpartition("::")
        if not mark:
            try:
                chosen_contenders(item)
            except UnknownNameError as error:
                raise UnknownNameError(
                    f"{marked(error)}{_meant_of_file(item, 'function', files, _functions)}"
                ) from error
            chosen[item] = item
            continue
        path = Path(file)
        module, source = files.module(path, "methods")
        found = _found(module, name, path, "function", _functions, argument="methods")
        if not callable(found):
            raise InputTypeError(
                "methods",
                f"{path}::{name} is no function (baseline, candidate, labels) -> verdict, but {type(found).__name__}",
            )
        chosen[item] = method = _MethodOfFile(found, name, source)
        chosen_contenders(method)  # that it can be called so
    return list(chosen.values())


class _FromFile:
    """A function of a file. What is stored of it is kept under the code of the whole file, helpers included."""

    def __init__(self, function: Callable[..., Any], name: str, source: str) -> None:
        self.function = function
        self.source = source
        self.__name__ = name

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        with contextlib.redirect_stdout(sys.stderr):  # only results go to stdout
            return self.function(*arguments, **more)

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
    from dataclasses import replace

    from demele.metrics.metric import as_metric

    metric = as_metric(found, name)
    metric.check_call()
    wrapped: dict[int, _OfMetric] = {}

    def quiet(function: Callable[..., Any] | None) -> Any:
        return None if function is None else wrapped.setdefault(id(function), _OfMetric(function))

    own = {name: quiet(getattr(metric, name)) for name in ("call", "formula", "fit")}
    return replace(metric, **own, package=f"{path.name}-{source}")


class _MethodOfFile(_FromFile):
    """A comparison method of a file: says what its code is, as itself."""

    def __repr__(self) -> str:
        return f"{self.__name__} of code {self.source}"


def _candidate(found: Any, source: str, taken: Sequence[str], path: Path) -> "Candidate":
    from dataclasses import replace

    from demele import bench
    from demele.bench.candidates import of_metric
    from demele.metrics.metric import Metric
    from demele.metrics.request import free_name

    if isinstance(found, Metric):
        return of_metric(_metric(found, found.name, path, source), taken)

    if isinstance(found, bench.Candidate):
        if found.function is None or isinstance(found.function, Metric):
            return found
        return replace(found, function=_FromFile(found.function, found.name, source))
    name = free_name(found, taken)
    return bench.candidate(_FromFile(found, name, source), name=name)


def _drawn_from(found: "Scenario", source: str) -> "Scenario":
    from dataclasses import replace

    from demele.bench.scenarios import SCENARIOS

    known = SCENARIOS.get(found.name)
    if known is not None and known.draw is found.draw:  # one of demele's, perhaps at other severities
        return found
    return replace(found, draw=_FromFile(found.draw, found.name, source))


def _picked_scenario(module: ModuleType, name: str, path: Path) -> "Scenario":
    from demele import bench

    found = _found(module, name, path, "scenario", _scenarios, argument="scenarios")
    if not isinstance(found, bench.Scenario):
        raise InputTypeError("scenarios", f"{path}::{name} is no demele.bench.Scenario, but {type(found).__name__}")
    return found


def _picked(module: ModuleType, name: str, path: Path) -> Any:
    from demele import bench
    from demele.bench.candidates import why_not_callable
    from demele.metrics.metric import Metric

    found = _found(module, name, path, "function", _functions, argument="metrics")
    if isinstance(found, bench.Candidate | Metric):
        return found
    if not callable(found):
        raise InputTypeError(
            "metrics", f"{path}::{name} is no function (codes, factors) -> float, but {type(found).__name__}"
        )
    reason = why_not_callable(found)
    if reason is not None:
        raise InputTypeError(
            "metrics",
            f"{path}::{name} cannot be called with (codes, factors): {reason}; it takes {inspect.signature(found)}",
        )
    return found


def _found(
    module: ModuleType,
    name: str,
    path: Path,
    kind: Literal["function", "scenario"],
    names: Callable[..., list[str]],
    *,
    argument: str,
) -> Any:
    """Return what a file calls by a name; ``names`` tells what could have been meant."""
    from demele.core.names import suggestion

    if name in vars(module):
        return vars(module)[name]
    known = names(module)
    hint = suggestion(name, known) if known else "; it has none"
    raise UnknownNameError(argument, f"{path} has no {kind} called {quoted(name)}{hint}")


def _functions(module: ModuleType) -> list[str]:
    return [
        name
        for name, item in vars(module).items()
        if not name.startswith("_")
        and ((inspect.isfunction(item) and item.__module__ == module.__name__) or type(item).__name__ == "Metric")
    ]


def _scenarios(module: ModuleType) -> list[str]:
    from demele import bench

    return [
        name for name, item in vars(module).items() if isinstance(item, bench.Scenario) and not name.startswith("_")
    ]


def _meant_of_file(name: str, kind: str, files: PythonFiles, names: Callable[[ModuleType], list[str]]) -> str:
    """Tell that FILE.py::a,b must be FILE.py::a,FILE.py::b; and that a file alone is not enough."""
    if name.endswith(".py"):
        return f"; a {kind} of a file is written {name}::NAME"
    path = files.holding(name, names)
    return "" if path is None else f"; a {kind} of {path} is written {path}::{name}"


class _Compiled(importlib.machinery.SourceFileLoader):
    """Runs a file that was compiled already, and writes no cache."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


def _told(error: BaseException) -> str:
    try:
        return shortened(str(error))
    except Exception:  # noqa: BLE001 - an exception of the user's own may fail to say what it is
        return "an error without a text"


def _loaded(path: Path, argument: str) -> tuple[ModuleType, str]:
    """Run a file as a module that no other module can import; and return a digest of its code.

    It is not among the modules of this process, so that its functions go to other processes as code, not by name.
    """
    if path.suffix != ".py":
        raise FormatError(argument, f"{path}: expected a Python file, called .py")
    if not path.is_file():
        raise InputError(argument, f"{path}: {'expected a file, got a folder' if path.is_dir() else 'no such file'}")
    try:
        with parsing(f"{arg(argument)}: {path}: not a Python file"), warnings.catch_warnings(action="ignore"):
            tree = ast.parse(read_whole(path), str(path))
            code = compile(tree, str(path), "exec", dont_inherit=True)
            dumped = ast.dump(tree)
    except FormatError as error:
        cause = error.__cause__
        if not isinstance(cause, SyntaxError):
            raise
        line = "" if cause.lineno is None else f", line {cause.lineno}"
        raise FormatError(argument, f"{path}{line}: {shortened(str(cause.msg))}") from error
    digest = hashlib.blake2b(dumped.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    name = f"_functions_of_{path.stem}_{digest}"
    loader = _Compiled(name, str(path), code)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=str(path))
    spec.has_location = True  # so that the module has a __file__
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # only while it runs: dataclasses look their module up
    try:
        with contextlib.redirect_stdout(sys.stderr):
            loader.exec_module(module)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {lines[-1]}" if lines else ""
        raise InputError(argument, f"{path}{where}: raised {type(error).__name__}: {_told(error)}") from error
    finally:
        del sys.modules[name]
    return module, digest
