"""One training of any network: opened from its file or begun, worked off, saved on the way and at Ctrl-C."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from demele.core.errors import InputError, NotConvergedWarning, shortened, warn_user
from demele.core.reading import parsing
from demele.core.store import locked
from demele.core.version import __version__
from demele.models.checkpoint import Layout, read_checkpoint, write_checkpoint
from demele.models.networks import checked_device, computing
from demele.models.specs import Plain, refuse_other
from demele.runtime.interrupts import held_interrupts
from demele.runtime.progress import Report, reporting

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
    layout : Layout
        Of the file.
    checkpoint : Path or None
    device : str
    threads : int or None
    """

    #: Advice to add to the warning about a training that diverged.
    remedy = ""

    def __init__(
        self, spec: Plain, layout: Layout, *, checkpoint: Path | None, device: str, threads: int | None
    ) -> None:
        self._settings, self._layout, self._path = spec.to_dict(), layout, checkpoint
        self._device, self._threads = checked_device(device), threads
        self._history: dict[str, list[float]] = {}
        self._seconds, self._begun = 0.0, time.monotonic()

    @property
    @abstractmethod
    def done(self) -> int:
        """Steps or epochs that were made."""

    @abstractmethod
    def _settings_in(self, content: Mapping[str, Any], what: str) -> dict[str, Any]:
        """Return the settings of the training in a file."""

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
    def _is_due(self, until: int) -> bool:
        """Whether the file is to be written after this step."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """Return what the file holds besides status, history, seconds and problem; later steps do not change it."""

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
            self._open(content, until)
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
        content = read_checkpoint(self._path, self._layout)
        what = f"{self._path}: not {self._layout.what}"
        with parsing(what):
            refuse_other(self._settings_in(content, what), self._settings, self._path)
        if content["demele"] != __version__:
            made_by = shortened(str(content["demele"]), 40)
            raise InputError(
                "checkpoint",
                f"{self._path} was trained by demele {made_by}, this is {__version__}; finish it with that version, "
                f"{self._layout.reader}, or give another file",
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
            "status": status,
            "history": self._history,
            "seconds": self._seconds + time.monotonic() - self._begun,
            "problem": problem,
            **more,
        }
        if self._path is not None:
            write_checkpoint(self._path, content, self._layout)
        return content
