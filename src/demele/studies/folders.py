"""How a study is kept: in a folder while it runs, and packed into one file."""

import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

from demele.core import errors
from demele.core.kinds import Kind
from demele.core.outputs import write_whole
from demele.core.reading import check_nesting, check_shape, parsed_json, parsing, path_of, read_whole
from demele.core.store import Key, Store
from demele.core.version import __version__
from demele.runtime.sweep import Record, Sweep, Task

Study = TypeVar("Study")
Job = TypeVar("Job")
Model = TypeVar("Model")
Records = Mapping[Key, Record]
#: In the folder of a study: its rows, and the files of its trainings.
ROWS, RUNS = "rows.jsonl", "runs"
#: The folder that keeps a study.
StudyFolder = Annotated[str | Path | None, Kind("FOLDER", Path)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFormat(Generic[Study]):
    """How studies of one kind are kept.

    Attributes
    ----------
    name, what : str
        In the files, and in messages: "a study of demele".
    file : str
        File of the folder that says what the study is.
    shape : object
        Shape of that: see :func:`demele.core.reading.check_shape`.
    made : callable
        Takes what the study is and its records, and returns the study; raises an exception for what no study is.
    """

    name: str
    what: str
    file: str
    shape: Any
    made: Callable[[Mapping[str, Any], Records], Study]

    def packed(self, content: Mapping[str, Any], records: Records, version: str) -> str:
        """Return a study as text: a line about it, then one for each record, in the order of their keys."""
        keys = sorted(records, key=lambda key: [*map(str, key)])
        lines = [self.about(content, version), *([list(key), records[key]] for key in keys)]
        return "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)

    def load(self, path: str | Path) -> Study:
        """Return the study of a folder, finished or not, or of a packed file.

        Raises
        ------
        InputError, FormatError
            If there is none, it cannot be read, or is of another version.
        """
        path = path_of(path)
        with parsing(f"{path}: not {self.what}"):
            if not path.is_dir():
                about, *rest = self.read(path, packed=True)
                return self.made(about, {tuple(key): dict(record) for key, record in rest})
            if not (path / self.file).exists() or not (path / ROWS).exists():
                problem = f"{path}: expected the folder of {self.what}, which holds {self.file} and {ROWS}"
                others = ", ".join(one.name for one in path.glob("*.json"))
                raise errors.InputError("study", problem, f"it holds {others}" if others else None)
            return self.made(self.read(path / self.file, packed=False)[0], Store.read(path / ROWS)[1])

    def about(self, content: Mapping[str, Any], version: str = __version__) -> dict[str, Any]:
        """Return what a file says that a study is."""
        return {"format": self.name, "format_version": 1, "demele": version, **content}

    def read(self, path: Path, *, packed: bool) -> list[Any]:
        """Return what a file says that a study is, and its further lines if it is packed."""
        with errors.failing(f"cannot read {path}", kind=errors.InputError, argument="study"):
            content = read_whole(path)
        check_nesting(str(path), content)
        with parsing(f"{path}: not {self.what}"):
            about, *rest = map(parsed_json, (content.splitlines() or [b"null"]) if packed else [content])
        if not isinstance(about, dict) or about.get("format") != self.name:
            raise errors.FormatError(f"{path}: not {self.what}")
        if about.get("format_version") != 1:
            raise errors.InputError(
                f"{path} has format version {errors.quoted(about.get('format_version'))}, this demele reads 1; "
                f"use the demele that made it ({errors.shortened(str(about.get('demele')), 40)})"
            )
        with parsing(f"{path}: not {self.what}"):
            check_shape(about, self.shape)
            self.made(about, {})
        return [about, *rest]


def grown(before: Any, own: Any) -> Any:
    """Return what a study is, with what it was before: lists are joined, and of two numbers the larger one counts.

    Examples
    --------
    >>> grown({"metrics": ["mig"], "seeds": 5}, {"metrics": ["sap", "mig"], "seeds": 1})
    {'metrics': ['mig', 'sap'], 'seeds': 5}
    """
    if isinstance(own, dict):
        return {name: grown(before[name], value) if name in before else value for name, value in own.items()}
    if isinstance(own, list):
        return [*before, *(one for one in own if one not in before)]
    return max(before, own) if isinstance(own, int) else own


# Plans ----------------------------------------------------------------------------------------------------------------


class Stage(NamedTuple):
    """Tasks of a study that can be worked off together.

    ``what`` is how progress calls them, ``share`` their part of the whole progress.
    """

    what: str
    work: Callable[[tuple[Any, ...]], Sequence[Record]]
    tasks: Sequence[Task[Any]]
    share: tuple[float, float] = (0.0, 1.0)


class GridPlan(ABC, Generic[Study]):
    """All that a study does: what its records have in common, what it is, and its tasks."""

    __slots__ = ()
    kept: ClassVar[StudyFormat[Any]]

    @property
    @abstractmethod
    def identity(self) -> dict[str, str | int]:
        """What all records have in common: a store of another identity is of another study."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return what a reader of the results wants to know, as plain values."""

    @abstractmethod
    def stages(self, folder: Path, done: Records) -> Iterator[Stage]:
        """Yield the stages, each made when those before are done."""

    def run(self, store: StudyFolder = None, n_jobs: int = 1, executor: Executor | None = None) -> Study:
        """Do what the folder does not hold yet, and return the study.

        Parameters
        ----------
        store : str, Path or None
            Made if need be; None: gone afterwards.
        n_jobs, executor
            Of :class:`demele.runtime.sweep.Sweep`.

        Raises
        ------
        InputError, InputTypeError, OutputError
            If something else is there.
        """
        with ExitStack() as stack:
            if store is None:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="demele-study-")))
            else:
                folder = path_of(store, "store")
                if folder.exists() and not folder.is_dir():
                    raise errors.InputError("store", f"{folder}: expected a folder, got a file")
                if folder.is_dir() and any(folder.iterdir()) and not (folder / ROWS).exists():
                    raise errors.InputError(
                        "store", f"{folder} holds other files; give a new folder, or that of a study"
                    )
                with errors.failing(f"cannot make {folder}", argument="store"):
                    folder.mkdir(exist_ok=True)
            rows = None if store is None else folder / ROWS
            sweep = stack.enter_context(Sweep(self.identity, store=rows, n_jobs=n_jobs, executor=executor))
            about, file = self.kept.about(self.content()), folder / self.kept.file
            if file.exists():
                about = grown(self.kept.read(file, packed=False)[0], about)
            write_whole(file, json.dumps(about, indent=1) + "\n")
            for what, work, tasks, share in self.stages(folder / RUNS, sweep.records):
                sweep.run(work, tasks, what=what, share=share)
            found: Study = self.kept.made(about, sweep.records)
            return found


# Trainings ------------------------------------------------------------------------------------------------------------


def trained_in_stages(
    checkpoint: Path,
    files: Mapping[int, Path],
    begin: Callable[[], Model],
    fit: Callable[[Model, int], tuple[str, int]],
    keep: Callable[[Model, Path], object],
) -> Model:
    """Train a model and keep a file after each stage; an interrupted training continues.

    The file of a stage is kept before the next begins, so a checkpoint beyond a stage without a file lost it, and the
    training restarts.

    Parameters
    ----------
    checkpoint : Path
    files : mapping of int to Path
        By the step, or the epoch, at which a stage ends.
    begin : callable
        Returns a new model.
    fit : callable
        Trains it up to the end of a stage, and returns its status and the step that it reached.
    keep : callable
        Writes what is kept of it.

    Raises
    ------
    NotEnoughData
        If the checkpoint stays beyond its stages.
    """
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        model = begin()
        for stage, path in files.items():
            if path.exists() and stage != max(files):
                continue
            status, reached = fit(model, stage)
            if status == "diverged":
                return model
            if reached != stage:
                break
            if not path.exists():
                keep(model, path)
        else:
            return model
        checkpoint.unlink()
    raise errors.NotEnoughData(f"{checkpoint} is beyond its stages, and was not replaced")


def record_or_reason(train: Callable[[Job], Record], job: Job) -> Record:
    """Return the record of a training; one that fails leaves its reason, so that the study goes on.

    Raises
    ------
    OutputError
        If the disk is full: no fault of the model.
    """
    try:
        return train(job)
    except errors.OutputError:
        raise
    except (errors.DemeleError, ArithmeticError, RuntimeError, ValueError) as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
