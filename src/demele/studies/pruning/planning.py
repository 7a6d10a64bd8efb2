"""Fabrics pruned in many ways, with true and wrong labels: the plan and its tasks."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from demele.core.checked_numbers import checked_count
from demele.core.errors import DemeleWarning, InputError, InputTypeError, quoted, warn_user
from demele.core.names import checked_name
from demele.core.store import Key
from demele.core.version import __version__
from demele.models.fabric.lattice import Lattice, scales_of
from demele.models.fabric.planning import CAP
from demele.models.fabric.presets import fabric_preset
from demele.runtime.sweep import Task
from demele.studies.pruning.configurations import CI, EMBEDDED, PRINT, WHOLE, LabelNoise, PruningConfiguration, Times
from demele.studies.pruning.pictures import ClutterSource, GivenSource, Source, checked_given

#: Folder of the files of all fabrics, in that of a study.
RUNS = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Usual:
    """Settings of a preset other than structure and training."""

    configurations: tuple[PruningConfiguration, ...]
    times: Times
    noises: tuple[str, ...]
    seeds: int
    source: ClutterSource | None
    held: float = 0.1


_USUAL: Mapping[str, _Usual] = {
    "ci": _Usual(
        configurations=CI,
        times=Times(early=1, every=1, late=3),
        noises=("none",),
        seeds=1,
        source=ClutterSource(level=1, size=16, n=1000, held=100, test=1000),
    ),
    "embedded": _Usual(
        configurations=EMBEDDED,
        times=Times(early=3, every=2, late=7),
        noises=("none", "visibility:0.1", "visibility:0.2"),
        seeds=5,
        source=ClutterSource(level=3, size=16, n=6000, held=600, test=10_000),
    ),
    "print": _Usual(
        configurations=PRINT,
        times=Times(early=5, every=10, late=75),
        noises=("none", "uniform:0.1", "uniform:0.2"),
        seeds=1,
        source=None,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningPlan:
    """All that a study trains, prunes and decides.

    Attributes
    ----------
    preset : str
    configurations : tuple of PruningConfiguration
        Without the whole fabric, which is always there.
    noises : tuple of LabelNoise
    seeds : int
    source : Source
    structure, training : mapping
    times : Times
    """

    preset: str
    configurations: tuple[PruningConfiguration, ...]
    noises: tuple[LabelNoise, ...]
    seeds: int
    source: Source
    structure: Mapping[str, Any]
    training: Mapping[str, Any]
    times: Times

    @property
    def identity(self) -> dict[str, str | int]:
        """What all records have in common: a store of another identity is not of this study."""
        source = self.source
        own = {"source": repr(source)}
        if isinstance(source, GivenSource):
            own = {"source": f"{source.train.digest} {source.test.digest} {source.held}"}
        return {
            "demele": __version__,
            "study": "pruning",
            "preset": self.preset,
            "times": f"{self.times.early} {self.times.every} {self.times.late}",
            **own,
            **{f"structure_{name}": repr(value) for name, value in sorted(self.structure.items())},
            **{f"training_{name}": repr(value) for name, value in sorted(self.training.items())},
        }

    def settings(self) -> dict[str, Any]:
        """Return what a reader of the results wants to know, as plain values."""
        return {
            "preset": self.preset,
            "data": self.source.about(),
            "structure": dict(self.structure),
            "training": dict(self.training),
            "times": asdict(self.times),
            "noises": [one.to_dict() for one in self.noises],
            "configurations": [one.to_dict() for one in self.configurations],
            "seeds": self.seeds,
        }

    def fabrics(self, folder: Path, *ways: PruningConfiguration) -> list[Task[PruningJob]]:
        """Return the fabrics to train or to prune, such that a study that is stopped is balanced: seed by seed."""
        places = itertools.product(range(self.seeds), self.noises, ways)
        return [self._task(way, noise, seed, folder) for seed, noise, way in places]

    def _task(
        self, configuration: PruningConfiguration, noise: LabelNoise, seed: int, folder: Path
    ) -> Task[PruningJob]:
        job = PruningJob(
            configuration=configuration,
            noise=noise,
            seed=seed,
            plan=self,
            folder=folder / RUNS / f"{noise.name.replace(' ', '-').replace('%', '')}-{seed}",
        )
        return Task(
            key=("fabric", noise.name, configuration.name, seed),
            about=job,
            seed=seed,
            weight=_epochs(configuration, self.times, self.training["epochs"]),
            label=f"{configuration.name}, labels {noise.name}, seed {seed}",
        )

    def decisions(self, folder: Path, done: Mapping[Key, Mapping[str, Any]]) -> list[Task[DecisionJob]]:
        """Return what is to be decided: once for each noise and seed whose fabrics are all there, as far as they are.

        The key of a decision names its fabrics, so that it is made again when there are more.
        """
        tasks = []
        for seed in range(self.seeds):
            for noise in self.noises:
                own = [self._task(one, noise, seed, folder) for one in (WHOLE, *self.configurations)]
                ended = [task for task in own if done.get(task.key, {}).get("status") == "done"]
                if len(ended) < 2 or any(task.key not in done for task in own):
                    continue
                files = {task.about.configuration.name: task.about.predictions for task in ended}
                job = DecisionJob(noise=noise, seed=seed, source=self.source, predictions=files)
                label = f"decisions, labels {noise.name}, seed {seed}"
                tasks.append(Task(key=("decisions", noise.name, seed, len(files)), about=job, seed=seed, label=label))
        return tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningJob:
    """One fabric of a study.

    Attributes
    ----------
    configuration : PruningConfiguration
    noise : LabelNoise
    seed : int
    plan : PruningPlan
    folder : Path
        Folder of all fabrics of this seed under this noise.
    """

    configuration: PruningConfiguration
    noise: LabelNoise
    seed: int
    plan: PruningPlan
    folder: Path

    @property
    def stages(self) -> tuple[int, ...]:
        """After which epochs the whole fabric is kept: where pruning begins, and the end."""
        last, times = self.plan.training["epochs"], self.plan.times
        return tuple(sorted({one for one in (times.early, times.late) if one < last} | {last}))

    def kept(self, epoch: int) -> Path:
        """Return where the whole fabric after an epoch is."""
        return self.folder / f"whole-{epoch}.pt"

    @property
    def predictions(self) -> Path:
        """Where the predictions on the images of the test are."""
        return self.folder / f"{self.configuration.name.replace(' ', '-').replace('%', '')}.predictions"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionJob:
    """The fabrics of one seed under one noise.

    Attributes
    ----------
    noise : LabelNoise
    seed : int
    source : Source
    predictions : mapping of str to Path
        Files of predictions, by the name of the configuration.
    """

    noise: LabelNoise
    seed: int
    source: Source
    predictions: Mapping[str, Path]


def _epochs(configuration: PruningConfiguration, times: Times, last: int) -> float:
    """Return about how many epochs of a whole fabric a task takes."""
    if configuration.strategy == "whole":
        return float(last)
    steps = times.steps(configuration.strategy)
    left = 1.0 if configuration.level == "weights" else 1 - max(configuration.shares().values()) / 1.5
    return (last - steps[-1][0]) * left + (steps[-1][0] - steps[0][0]) * (1 + left) / 2 + 0.3


def checked_plan(
    data: Any,
    *,
    preset: str,
    configurations: Sequence[PruningConfiguration] | None,
    noises: Sequence[str] | None,
    seeds: int | None,
) -> PruningPlan:
    """Check every argument of :func:`demele.lab.pruning_study`, and return the plan; nothing is trained.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    checked_name(preset, "preset", _USUAL)
    usual, trained = _USUAL[preset], fabric_preset(preset)
    if data is None and usual.source is None:
        raise InputError("data", f"preset {preset!r} needs images: (training, test), such as those of CIFAR-10")
    source: Source = usual.source if data is None else checked_given(data, held=_held(data, usual.held))  # type: ignore[assignment]
    found = _noises(usual.noises if noises is None else noises, given=data is not None)
    about = source.about()
    structure = {
        "layers": trained.layers,
        "scales": trained.scales if data is None else scales_of(about["shape"], "data"),
        "channels": trained.channels,
        "image_channels": about["shape"][2],
        "classes": about["classes"],
    }
    ways = _configurations(usual.configurations if configurations is None else configurations)
    return PruningPlan(
        preset=preset,
        configurations=_run_once(ways, Lattice.whole(structure["layers"], structure["scales"])),
        noises=found,
        seeds=usual.seeds if seeds is None else checked_count(seeds, "seeds", 1),
        source=source,
        structure=structure,
        training=dict(trained.training),
        times=usual.times,
    )


def _run_once(ways: tuple[PruningConfiguration, ...], lattice: Lattice) -> tuple[PruningConfiguration, ...]:
    """Keep the first of ways to prune once that end in one network, since as many links or weights must stay; say so.

    Ways to prune in steps are kept: their steps differ.
    """
    links = len(lattice.links)
    found: dict[Hashable, list[PruningConfiguration]] = {}
    for way in ways:
        shares = way.shares()
        reached: Hashable = way
        if way.strategy != "iterative":
            gone = min(round(shares.get("links", 0.0) * links), links - lattice.longest)
            masked = shares.get("weights", 0.0)
            cap = CAP if way.fraction_of == "live" else 1.0
            reached = (way.strategy, way.level, way.criterion, gone, min(masked, cap))
        found.setdefault(reached, []).append(way)
    for first, *others in found.values():
        if others:
            warn_user(
                f"{first.name!r} and {', '.join(repr(one.name) for one in others)} end in one network, because "
                f"{lattice.longest} of {links} links and {1 - CAP:.0%} of each kernel must stay; it is run once, as "
                "the first of them",
                DemeleWarning,
            )
    return tuple(first for first, *_ in found.values())


def _held(data: Any, share: float) -> int:
    pair = tuple(data) if isinstance(data, tuple | list) else ()
    return max(1, round(share * len(pair[0]))) if pair and hasattr(pair[0], "__len__") else 1


def _noises(given_noises: Any, *, given: bool) -> tuple[LabelNoise, ...]:
    if isinstance(given_noises, str | bytes) or not isinstance(given_noises, Sequence) or not given_noises:
        raise InputTypeError("noises", f"expected a list such as ['none', 'uniform:0.2'], got {quoted(given_noises)}")
    found = tuple(LabelNoise.of(one) for one in given_noises)
    if len({one.name for one in found}) < len(found):
        raise InputError("noises", "expected different ones, got some twice")
    if given and any(one.kind == "visibility" for one in found):
        raise InputError(
            "noises", "'visibility' is known of clutter alone; others take 'uniform:RATE' or 'resubstitution:RATE'"
        )
    return found


def _configurations(given: Any) -> tuple[PruningConfiguration, ...]:
    from demele.models.fabric.criteria import CRITERIA, OF_WEIGHTS

    if not isinstance(given, Sequence) or not all(isinstance(one, PruningConfiguration) for one in given):
        raise InputTypeError("configurations", f"expected a list of PruningConfiguration, got {quoted(given)}")
    found = tuple(one for one in given if one.strategy != "whole")
    if not found:
        raise InputError("configurations", "expected at least one that prunes")
    if len({one.name for one in found}) < len(found):
        raise InputError("configurations", "expected different ones, got some twice")
    for one in found:
        checked_name(one.criterion, "configurations", sorted(CRITERIA))
        if "weights" in one.level and one.criterion not in OF_WEIGHTS:
            raise InputError("configurations", f"{one.criterion!r} scores links, and no weights: {one.name}")
    return found
