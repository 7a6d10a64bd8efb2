"""Python files of the user: run once, guarded, as modules that nothing else can import."""

import ast
import contextlib
import hashlib
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from demele.core.errors import FormatError, InputError, UnknownNameError, in_backticks, quoted, shortened
from demele.core.kinds import suggestion
from demele.core.reading import parsing, read_whole, real_path

#: Returns the names in a module that an option may mean.
Names = Callable[[ModuleType], list[str]]


class PythonFiles:
    """The files of one command, each run once, whatever is taken from it."""

    def __init__(self) -> None:
        self._modules: dict[Path, tuple[ModuleType, str]] = {}

    def chosen(
        self,
        items: Sequence[str],
        argument: str,
        known: Callable[[str], object],
        made: Callable[[Any, Path, str, str], Any],
        *,
        kind: str,
        names: Names,
    ) -> list[Any]:
        """Return names as they are, and for each ``FILE.py::name`` what is made of it.

        Parameters
        ----------
        items : sequence of str
        argument : str
            Named in errors.
        known : callable
            Raises UnknownNameError for a name that is none.
        made : callable
            Takes what the file holds, the file, the name in it, and a digest of the file's code.
        kind : str
            What messages call what is taken from files.
        names : callable

        Raises
        ------
        UnknownNameError, InputError, FormatError
            With the nearest names; or if a file cannot be read or run.
        """
        chosen: list[Any] = []
        for item in dict.fromkeys(items):
            file, mark, name = item.rpartition("::")
            if mark:
                path = Path(file)
                if path not in self._modules:
                    self._modules[path] = _run(path, argument)
                module, source = self._modules[path]
                if name not in vars(module):
                    near = suggestion(name, names(module)) if names(module) else "; it has none"
                    raise UnknownNameError(argument, f"{path} has no {kind} called {quoted(name)}{near}")
                chosen.append(made(vars(module)[name], path, name, source))
                continue
            try:
                known(item)
            except UnknownNameError as error:
                # FILE.py::a,b must be FILE.py::a,FILE.py::b; and a file alone is not enough
                own = next((path for path, (module, _) in self._modules.items() if item in names(module)), None)
                hint = "" if own is None else f"; a {kind} of {own} is written {own}::{item}"
                hint = f"; a {kind} of a file is written {item}::NAME" if item.endswith(".py") else hint
                raise UnknownNameError(f"{error.said(in_backticks)}{hint}") from error
            chosen.append(item)
        return chosen


@contextmanager
def folders_on_path(items: Sequence[object]) -> Iterator[None]:
    """Let the files of ``FILE.py::name`` items import modules from their own folders; installed ones go first."""
    files = [Path(item.rpartition("::")[0]) for item in items if isinstance(item, str) and ".py::" in item]
    before = list(sys.path)
    sys.path += [one for one in dict.fromkeys(str(real_path(file).parent) for file in files) if one not in sys.path]
    try:
        yield
    finally:
        sys.path[:] = before


def _run(path: Path, argument: str) -> tuple[ModuleType, str]:
    """Run a file, and return what it defines, and a digest of its code.

    The module is not among those of this process, so that its functions go to other processes as code, not by name.
    """
    if path.suffix != ".py":
        raise FormatError(argument, f"{path}: expected a Python file, called .py")
    if not path.is_file():
        raise InputError(argument, f"{path}: {'expected a file, got a folder' if path.is_dir() else 'no such file'}")
    try:
        with parsing(f"`{argument}`: {path}: not a Python file"), warnings.catch_warnings(action="ignore"):
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
    module = ModuleType(f"_functions_of_{path.stem}_{digest}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # only while it runs: dataclasses look their module up
    try:
        with contextlib.redirect_stdout(sys.stderr):
            _Compiled(module.__name__, str(path), code).exec_module(module)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {lines[-1]}" if lines else ""
        told = traceback.format_exception_only(error)[-1].strip()
        raise InputError(argument, f"{path}{where}: raised {shortened(told)}") from error
    finally:
        del sys.modules[module.__name__]
    return module, digest


class _Compiled(SourceFileLoader):
    """Runs a file that was compiled already, and writes no cache."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code
