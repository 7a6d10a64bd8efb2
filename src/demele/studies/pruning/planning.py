"""Fabrics pruned in many ways, with true and wrong labels: the plan, its tasks, and the run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from demele.core.checked_numbers import checked_count
from demele.core.errors import DemeleWarning, InputError, InputTypeError, quoted, warn_user
from demele.core.names import checked_name
from demele.core.outputs import write_whole
from demele.core.store import Key
from demele.core.version import __version__
from demele.data.images import ImageSet
from demele.models.fabric.lattice import Lattice
from demele.models.fabric.planning import CAP
from demele.models.fabric.presets import fabric_preset
from demele.runtime.progress import Report
from demele.runtime.sweep import Sweep, Task
from demele.studies.folders import working_folder
from demele.studies.pruning.configurations import CI, EMBEDDED, PRINT, WHOLE, LabelNoise, PruningConfiguration, Times
from demele.studies.pruning.files import FILE, ROWS, header, study_of
from demele.studies.pruning.pictures import ClutterSource, GivenSource, Source, checked_given
from demele.studies.pruning.study import PruningStudy
from demele.studies.pruning.work import DecisionJob, PruningJob, decided, trained_or_pruned

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

    def whole(self, folder: Path) -> list[Task[PruningJob]]:
        """Return the trainings of whole fabrics, from which all others begin."""
        return [self._task(WHOLE, noise, seed, folder) for seed in range(self.seeds) for noise in self.noises]

    def pruned(self, folder: Path) -> list[Task[PruningJob]]:
        """Return the fabrics to prune, such that a study that is stopped is balanced: seed by seed."""
        return [
            self._task(configuration, noise, seed, folder)
            for seed in range(self.seeds)
            for noise in self.noises
            for configuration in self.configurations
        ]

    def _task(
        self, configuration: PruningConfiguration, noise: LabelNoise, seed: int, folder: Path
    ) -> Task[PruningJob]:
        job = PruningJob(
            configuration=configuration,
            noise=noise,
            seed=seed,
            source=self.source,
            structure=self.structure,
            training=self.training,
            times=self.times,
            folder=folder / RUNS / f"{noise.name.replace(' ', '-').replace('%', '')}-{seed}",
        )
        return Task(
            key=fabric_key(noise.name, configuration.name, seed),
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
                key = decision_key(noise.name, seed, len(files))
                tasks.append(Task(key=key, about=job, seed=seed, label=f"decisions, labels {noise.name}, seed {seed}"))
        return tasks


def fabric_key(noise: str, configuration: str, seed: int) -> Key:
    """Return the key of a fabric."""
    return ("fabric", noise, configuration, seed)


def decision_key(noise: str, seed: int, fabrics: int) -> Key:
    """Return the key of the decisions about some fabrics."""
    return ("decisions", noise, seed, fabrics)


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
    """Check every argument of :func:`demele.studies.pruning_study`, and return the plan; nothing is trained.

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
        "scales": _scales(about["shape"], trained.scales, given=data is not None),
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


def _scales(shape: Sequence[int], usual: int, *, given: bool) -> int:
    height, width = int(shape[0]), int(shape[1])
    if height != width or height & (height - 1):
        raise InputError("data", f"expected square images, a power of 2 a side, got {height} x {width}")
    return height.bit_length() if given else usual


def _noises(given_noises: Any, *, given: bool) -> tuple[LabelNoise, ...]:
    if isinstance(given_noises, str | bytes) or not isinstance(given_noises, Sequence) or not given_noises:
        raise InputTypeError("noises", f"expected a list such as ['none', 'uniform:0.2'], got {quoted(given_noises)}")
    found = tuple(LabelNoise.of(one) for one in given_noises)
    if len({one.name for one in found}) < len(found):
        raise InputError("noises", "expected different ones, got some twice")
    if given and any(one.kind == "visibility" for one in found):
        raise InputError("noises", "'visibility' is known of clutter alone; images of others take 'uniform:RATE'")
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


# The run --------------------------------------------------------------------------------------------------------------


#: Parts of the progress: whole fabrics, pruned ones, decisions.
_SHARES = ((0.0, 0.3), (0.3, 0.99), (0.99, 1.0))


def pruning_study(
    data: tuple[ImageSet, ImageSet] | None = None,
    *,
    preset: str = "embedded",
    configurations: Sequence[PruningConfiguration] | None = None,
    noises: Sequence[str] | None = None,
    seeds: int | None = None,
    store: str | Path | None = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
    progress: bool | Report = False,
) -> PruningStudy:
    """Prune fabrics in many ways, with true and wrong labels, and test which way is better.

    A whole fabric is trained for each seed under each label noise; every way to prune begins with it, so that ways are
    compared in pairs. All train for the same number of epochs. What print claims about them is then tested twice: over
    seeds, and by comparisons on a test set whose labels are wrong as those of the training are.

    Parameters
    ----------
    data : (ImageSet, ImageSet), optional
        Of training and test; their first factor is the class. By default glyphs among clutter.
    preset : {"embedded", "ci", "print"}
        Structure, training, ways and noises. ``"embedded"``: 22 ways, 5 seeds, three noises, some 40 minutes on two
        cores. ``"ci"``: seconds, to see it at work. ``"print"``: the 18 published ways and their control, 200 epochs,
        for a GPU and your own images of 32 x 32.
    configurations : sequence of PruningConfiguration, optional
        Other ways.
    noises : sequence of str, optional
        ``"none"``, ``"uniform:RATE"``, and of clutter ``"visibility:RATE"``: see :func:`demele.data.clutter_labels`.
    seeds : int, optional
    store : str or Path, optional
        A folder that keeps everything. A study that was killed goes on where it was, to the same bits; a later one with
        more seeds, noises or ways adds to it.
    n_jobs : int, default 1
        Processes of one thread each; -1 for all processors. Rows are the same bits for any number.
    executor : concurrent.futures.Executor, optional
        Where to work instead; it must see the folder.
    progress : bool or callable(done, total, label), default False

    Returns
    -------
    PruningStudy

    Warns
    -----
    DemeleWarning
        If several shares end in one network, because as many links or weights must stay: it is run once. The early and
        late ways of ``"print"`` do.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        Before anything is trained; also if the folder is of another study, or another process writes to it.
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    Source: Benjelloun, sections 7.5 to 7.8, on other images and with a smaller fabric; ``"late"`` is after 7 of 10
    epochs, as it is there just before the rate falls.

    Examples
    --------
    >>> from demele import studies
    >>> found = studies.pruning_study(preset="ci")
    >>> len(found.to_frame())
    4
    >>> bool(found.to_frame()["error"].max() < 0.9)
    True
    """
    plan = checked_plan(data, preset=preset, configurations=configurations, noises=noises, seeds=seeds)
    return run_pruning_plan(plan, store=store, n_jobs=n_jobs, executor=executor, progress=progress)


def run_pruning_plan(
    plan: PruningPlan,
    *,
    store: str | Path | None = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
    progress: bool | Report = False,
) -> PruningStudy:
    """Train, prune and decide what a plan holds and the folder does not; see :func:`pruning_study`.

    Raises
    ------
    InputError, OutputError
    """
    with contextlib.ExitStack() as opened:
        folder = opened.enter_context(working_folder(store, ROWS, prefix="demele-pruning-"))
        rows = folder / ROWS
        sweep = opened.enter_context(
            Sweep(plan.identity, store=rows, n_jobs=n_jobs, executor=executor, progress=progress)
        )
        about = header(plan.settings(), folder)
        write_whole(folder / FILE, json.dumps(about, indent=1) + "\n")
        going = sweep.run(trained_or_pruned, plan.whole(folder), what="whole fabrics to train", share=_SHARES[0])
        if going and sweep.run(trained_or_pruned, plan.pruned(folder), what="fabrics to prune", share=_SHARES[1]):
            records = {key: sweep.records[key] for key in sweep.records}
            sweep.run(decided, plan.decisions(folder, records), what="seeds to decide", share=_SHARES[2])
        return study_of(about, {key: sweep.records[key] for key in sweep.records})
