"""Comparison methods x noise rates x measures: what is left to decide, deciding it, and keeping every decision."""

import base64
import time
import warnings
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.bench.comparisons.contenders import reference_choice
from demele.bench.comparisons.own import fingerprint
from demele.bench.comparisons.setting import Asked, Contender, Decided, Flags, Setting
from demele.core.errors import FormatError, quoted
from demele.core.labelled import Indices, Labelled
from demele.core.store import Key, Store, reading_record
from demele.core.version import __version__
from demele.noise.transition import digest
from demele.runtime.progress import Report
from demele.runtime.work import completed

__all__ = ["Plan", "Version", "decisions", "packed", "run_plan", "unpacked"]


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """One noisy version of the labels.

    ``wanted`` is the rate asked for, ``rate`` the share of wrong labels.
    """

    wanted: float
    rate: float
    labels: Indices


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """Everything that a run is to decide."""

    clean: Labelled
    versions: tuple[Version, ...]
    contenders: tuple[Contender, ...]
    asked: tuple[Asked, ...]
    level: float
    difficulty: "np.ndarray[Any, np.dtype[np.float64]] | None"
    seed: int
    reference: str = "overlap"

    def setting(self, version: Version, asked: Asked) -> Setting:
        """Return one noisy version, asked for one measure."""
        return Setting(
            data=self.clean.relabelled(version.labels),
            true_labels=self.clean.labels,
            rate=version.rate,
            asked=asked,
            level=self.level,
            difficulty=self.difficulty,
            seed=self.seed,
        )

    def references(self) -> dict[str, Decided]:
        """Compare all pairs on true labels, by the text of each measure."""
        clean = Version(0.0, 0.0, self.clean.labels)
        return {asked.text: reference_choice(self.setting(clean, asked), self.reference) for asked in self.asked}

    def pieces(self) -> dict[Key, tuple[Version, Asked, Contender]]:
        """Return every piece of work by the key of its record."""
        return {
            decision_key(version, asked, contender): (version, asked, contender)
            for version in self.versions
            for asked in self.asked
            for contender in self.contenders
            if asked.measure in contender.measures
        }

    @property
    def identity(self) -> dict[str, str | int]:
        """What all records of the run have in common: a store of another identity is not of this run.

        What verdicts are held against is not part of it: no verdict depends on that.
        """
        difficulty = np.empty(0) if self.difficulty is None else self.difficulty
        return {
            "demele": __version__,
            "run": "comparisons",
            "predictions": digest(self.clean.predictions),
            "true_labels": digest(self.clean.labels),
            "noise": digest(*(version.labels for version in self.versions), difficulty),
            "level": repr(self.level),
            "seed": self.seed,
        }


def decision_key(version: Version, asked: Asked, contender: Contender) -> Key:
    """Return what a decision is kept under; that of a user's method changes with its code."""
    function = getattr(contender.decide, "function", None)
    name = contender.name if function is None else f"{contender.name}@{fingerprint(function)}"
    return ("decided", repr(version.wanted), asked.text, name)


def run_plan(
    plan: Plan, store: Store, *, n_jobs: int = 1, executor: Executor | None = None, report: Report | None = None
) -> None:
    """Decide what the store does not hold yet; every decision of a method about all pairs is stored as it finishes.

    Raises
    ------
    InputError
        If a method fails. What was finished is stored.
    """
    left = {key: piece for key, piece in plan.pieces().items() if key not in store}
    total = len(left)
    if report is not None and left:
        report(0, total, f"{total:,} rounds of all pairs to decide")
    jobs = [(key, plan.setting(version, asked), contender) for key, (version, asked, contender) in left.items()]
    finished = completed(_decided, jobs, n_jobs=n_jobs, executor=executor)
    for done, (key, record) in enumerate(finished, start=1):
        store.append([(key, record)])
        if report is not None:
            report(done, total, f"{key[3]} at {float(key[1]):.3g} noise".partition("@")[0])


def decisions(plan: Plan, records: Mapping[Key, Mapping[str, Any]] | Store) -> dict[Key, Decided]:
    """Return all decisions of a finished run."""
    n_pairs = len(plan.clean.names) * (len(plan.clean.names) - 1)
    found = {}
    for key in plan.pieces():
        record = records[key]
        with reading_record(key):
            asked = record["labels_asked"]
            if not (isinstance(asked, int | float) and abs(asked) < 1e300):
                raise FormatError(f"its labels_asked are {quoted(asked)}")
            flags = [unpacked(record[name], n_pairs) for name in ("candidate", "established")]
        found[key] = Decided(flags[0], flags[1], asked)
    return found


def packed(flags: Flags) -> str:
    """Write flags as text, six to a character."""
    return base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")


def unpacked(text: str, n: int) -> Flags:
    """Read flags that :func:`packed` wrote.

    Raises
    ------
    ValueError
        If they are not n flags.
    """
    held = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8)
    if held.size != -(-n // 8):
        raise ValueError(f"expected {n} flags, got {8 * held.size}")
    return np.unpackbits(held, count=n).astype(np.bool_)


def _decided(job: "tuple[Key, Setting, Contender]") -> tuple[Key, dict[str, Any]]:
    key, setting, contender = job
    started = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # of single comparisons; thousands of them would drown the rest
        found = contender.decide(setting)
    return key, {
        "candidate": packed(found.candidate),
        "established": packed(found.established),
        "labels_asked": found.labels_asked,
        "seconds": round(time.perf_counter() - started, 3),
    }
