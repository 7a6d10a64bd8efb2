"""Comparison methods x noise rates x measures: what a run consists of, and deciding it."""

import base64
import itertools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.bench.comparisons.contenders import reference_choice
from demele.bench.comparisons.setting import Asked, Contender, Decided, Flags, Setting
from demele.core.errors import FormatError, quoted
from demele.core.fingerprint import fingerprint
from demele.core.labelled import Indices, Labelled
from demele.core.results import Note
from demele.core.store import Key, Store, reading_record
from demele.core.version import __version__
from demele.noise.square_tables import digest
from demele.runtime.sweep import Record, Task

__all__ = ["Plan", "Version", "decided", "decision_key", "decisions", "packed", "unpacked"]


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
    reference: str
    noise: str
    notes: tuple[Note, ...]

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

    def rounds(self) -> "list[tuple[Version, Asked, Contender]]":
        """Return the rounds of the run: one method, asked about all pairs, on one noisy version, for one measure."""
        every = itertools.product(self.versions, self.asked, self.contenders)
        return [round_ for round_ in every if round_[1].measure in round_[2].measures]

    def tasks(self) -> "list[Task[tuple[Setting, Contender]]]":
        """Return the rounds as tasks; those on one version, for one measure, share a setting."""
        settings = {
            (version.wanted, asked): self.setting(version, asked) for version in self.versions for asked in self.asked
        }
        return [
            Task(
                key=decision_key(version, asked, contender),
                about=(settings[version.wanted, asked], contender),
                label=f"{contender.name} at {version.wanted:.3g} noise",
            )
            for version, asked, contender in self.rounds()
        ]

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


def decisions(plan: Plan, records: Store) -> dict[tuple[float, str, str], Decided]:
    """Return all decisions of a finished run by noise rate, measure and method."""
    n_pairs = len(plan.clean.names) * (len(plan.clean.names) - 1)
    found = {}
    for version, asked, contender in plan.rounds():
        key = decision_key(version, asked, contender)
        record = records[key]
        with reading_record(key):
            labels = record["labels_asked"]
            if not (isinstance(labels, int | float) and abs(labels) < 1e300):
                raise FormatError(f"its labels_asked are {quoted(labels)}")
            candidate, baseline = (unpacked(record[name], n_pairs) for name in ("candidate", "baseline"))
        found[version.wanted, asked.text, contender.name] = Decided(candidate, baseline, labels)
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


def decided(rounds: "tuple[tuple[Setting, Contender], ...]") -> list[Record]:
    """Ask methods about all pairs, and return what is kept of what they say."""
    records = []
    for setting, contender in rounds:
        started = time.perf_counter()
        found = contender.decide(setting)
        records.append(
            {
                "candidate": packed(found.candidate),
                "baseline": packed(found.baseline),
                "labels_asked": found.labels_asked,
                "seconds": round(time.perf_counter() - started, 3),
            }
        )
    return records
