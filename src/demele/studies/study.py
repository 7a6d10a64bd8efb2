"""A study: its models, their scores, its compact file, and how far metrics agree."""

import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from demele.bench.agreement_result import LEAST_FOR_INTERVALS, Agreement, title_of_metric
from demele.bench.rank_agreement import agreement
from demele.core.arrays import pd
from demele.core.errors import FormatError, InputError, InputTypeError, NotEnoughData, failing
from demele.core.kinds import checked_count, checked_name
from demele.core.outputs import write_whole
from demele.core.reading import check_shape, parsing, read_whole
from demele.core.result import Result, plain
from demele.core.store import Key, reading_record
from demele.core.table_columns import as_float
from demele.core.version import __version__
from demele.metrics.request import RECOMMENDED
from demele.models.results import settings_table
from demele.report.document import NOTHING, Block, Choice, Document, Heat, Mark, Section, Strip, Strips, Table
from demele.report.listing import Column, listed
from demele.report.words import count, name, written
from demele.runtime.sweep import Record
from demele.studies.folders import StudyFormat

# One model of a study -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One model to train.

    Attributes
    ----------
    objective : str
    options : mapping
        Options of the objective.
    latents : int
        Number of codes.
    seed : int
        Random seed of the training.
    """

    objective: str
    options: Mapping[str, float | int | str | bool | None] = field(default_factory=dict)
    latents: int
    seed: int = 0

    @property
    def name(self) -> str:
        """Its name, the same for all seeds.

        Examples
        --------
        >>> Configuration(objective="beta_vae", options={"beta": 0.01}, latents=4, seed=2).name
        'beta_vae(beta=0.01), 4 codes'
        """
        options = ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.options.items()
        )
        return f"{self.objective}({options}), {self.latents} codes"

    def identified(self, identity: Mapping[str, str | int]) -> str:
        """Return a short text that differs where anything differs that changes a number."""
        whole = json.dumps([dict(identity), asdict(self)], sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()


# Codes ---------------------------------------------------------------------------------------------------------------


def write_codes(path: Path, mean: NDArray[np.floating], std: NDArray[np.floating] | None) -> str:
    """Write codes of single precision, and return their digest.

    Raises
    ------
    OutputError
    """
    arrays = {"mean": np.asarray(mean, dtype=np.float32)}
    if std is not None:
        arrays["std"] = np.asarray(std, dtype=np.float32)
    held = io.BytesIO()
    np.savez(held, **arrays)  # type: ignore[arg-type]
    write_whole(path, held.getvalue())
    return codes_digest(arrays["mean"], arrays.get("std"))


def read_codes(path: Path, n: int) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """Return means, shape (n, n_codes), and standard deviations, if they are there.

    Raises
    ------
    FormatError, InputError
    """
    with failing(f"cannot read {path}", kind=InputError, argument="store"):
        content = read_whole(path)
    what = f"{path}: not the codes of a study; delete it, and the next run makes it again"
    with parsing(what), np.load(io.BytesIO(content), allow_pickle=False) as held:
        found = {name: held[name] for name in held.files}
    mean, std = found.get("mean"), found.get("std")
    if mean is None or mean.dtype != np.float32 or mean.ndim != 2 or len(mean) != n:
        raise FormatError(what)
    if std is not None and (std.dtype != np.float32 or std.shape != mean.shape):
        raise FormatError(what)
    return mean, std


def codes_digest(mean: NDArray[np.float32], std: NDArray[np.float32] | None) -> str:
    """Return a short text that changes with a bit of the codes; the file of them has a date in it."""
    held = mean.tobytes() + (b"" if std is None else std.tobytes())
    return hashlib.blake2b(held, digest_size=16).hexdigest()


# What a study of trained models says: its document --------------------------------------------------------------------

#: Models whose scores are drawn.
_MOST_MODELS = 40
_FLAGS = {
    "collapsed": "collapsed (no active code, so scores are noise)",
    "partial": "with fewer active codes than factors",
    "diverged": "diverged",
    "failed": "failed",
    "missing": "not trained yet",
}


def study_document(result: "Study") -> Document:
    """Say which metrics agree about the models of a study; of few models, how they score."""
    done = {model.configuration.name for model in result.done()}
    settings, models, numbers = result.settings, _models(result), Counter(model.flag for model in result.models)
    document = Document(
        kind="Study of trained models",
        title=f"Agreement of metrics about models of {name(settings['images'])}",
        headline=f"{count(len(done), 'trained configuration')} cannot show which metrics agree: "
        f"{LEAST_FOR_INTERVALS} are needed.",
        figure=_strips(result),
        table=models,
        scope=(
            count(len(result.models), "model"),
            *(f"{numbers[flag]} {words}" for flag, words in _FLAGS.items() if numbers[flag]),
            f"{written(result.steps[-1], 'count')} steps",
            str(settings["protocol"]),
        ),
        sections=[_grids(result), Section("Models", [models]), Section("Data", [settings_table(settings)])],
        methods=[
            f"{count(len(result.models), 'model')} were trained on {name(settings['images'])} and scored with",
            f"{count(len(result.metrics), 'metric')} by demele [@demele], under the protocol {settings['protocol']}.",
        ],
        version=result.version,
    )
    if len(done) < LEAST_FOR_INTERVALS:
        return document
    agreement = result.agreement().document()
    grids, *others = document.sections
    return replace(
        agreement,
        kind=document.kind,
        title=document.title,
        scope=document.scope,
        sections=[grids, *agreement.sections, *others],
        methods=[*document.methods, *agreement.methods[2:]],
        version=document.version,
    )


def _shown(result: "Study") -> Sequence[str]:
    """Return a metric of each property, as far as the study has them."""
    return [metric for metric in RECOMMENDED if metric in result.metrics] or result.metrics[: len(RECOMMENDED)]


def _called(model: "TrainedModel") -> str:
    return f"{name(model.configuration.name)}, seed {model.configuration.seed}"


def _strips(result: "Study") -> Strips:
    metrics = _shown(result)
    strips = []
    for model in result.models[:_MOST_MODELS]:
        marks = [Mark("dot", result.value(model, metric), None, place) for place, metric in enumerate(metrics)]
        strips.append(Strip(_called(model), marks))
    return Strips("Scores", strips, "number.2", "score", dict(enumerate(map(title_of_metric, metrics))))


def _grids(result: "Study") -> Section:
    """Show the mean of each score by the one option that varies and the number of codes."""
    frame = result.to_frame()
    options = sorted({key for model in result.models for key in model.configuration.options})
    varied = [key for key in options if frame[key].nunique() > 1] or options
    if len(varied) != 1:
        return NOTHING
    (option,) = varied
    cells = frame.groupby([option, "latents"])[list(result.metrics)].mean()
    panels: dict[str, list[Block]] = {}
    for metric in result.metrics:
        means, title = cells[metric].unstack(), title_of_metric(metric)
        rows, columns = list(map(str, means.index)), list(map(str, means.columns))
        caption, axes = f"{title} by {name(option)} and codes", (name(option), "codes")
        panels[title] = [Heat(caption, rows, columns, means.to_numpy().tolist(), "number.2", axes)]
    text = "Means over seeds; a cell is empty if no model of it has a score."
    return Section("Scores", [Choice("Metric", panels), text])


def _models(result: "Study") -> Table:
    metrics = _shown(result)
    columns: list[Column[TrainedModel]] = [
        ("Model", "text", _called),
        ("Flag", "text", lambda model: model.flag),
        ("Active", "count", "active"),
        *((title_of_metric(one), "number", lambda model, one=one: result.value(model, one)) for one in metrics),
        ("Codes", "count?", "configuration.latents"),
        ("Reconstruction error", "number.1?", "reconstruction"),
        ("Above its floor", "number.1?", lambda model: model.reconstruction - model.floor),
        ("Divergence", "number.2?", lambda model: float(np.sum(model.kl)) if model.kl else None),
        ("Total correlation", "number.2?", "total_correlation"),
        ("Steps", "count?", "steps"),
        ("Seconds", "number.0?", "seconds"),
        ("Reason", "text?", "reason"),
    ]
    note = (
        f"{len(metrics)} of {count(len(result.metrics), 'metric')}; to_frame() and CSV have all. Reconstruction error, "
        "divergence from the prior and total correlation are in nats per image."
    )
    return listed("Models", result.models, columns, note, first=_MOST_MODELS)


# One model ------------------------------------------------------------------------------------------------------------


#: What stands for a model whose codes hold nothing, fewer than there are factors, or that did not end.
COLLAPSED, PARTIAL, DIVERGED, FAILED, MISSING = "collapsed", "partial", "diverged", "failed", "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel:
    """One model of a study, and the outcome of its training.

    Attributes
    ----------
    id : str
    configuration : Configuration
    status : str
        "done", "diverged", "failed", or "missing" while it is still to be trained.
    reason : str
        Why it diverged or failed.
    flag : str
        "collapsed": no code is in use, so that scores are of noise; "partial": fewer are than there are factors;
        "diverged", "failed", "missing"; else nothing.
    steps : int
    seconds, reconstruction, floor, total_correlation, largest_logvar : float
        See :class:`demele.lab.Run`.
    kl, std : tuple of float
        By code: divergence from the prior in nats, and standard deviation of the means.
    active : int
        Codes in use.
    beta_normalised : float
    parameters : int
    torch : str
        Version of PyTorch.
    codes : mapping of step to text
        Digests of the codes.
    """

    id: str
    configuration: Configuration
    status: str
    reason: str = ""
    flag: str = ""
    steps: int = 0
    seconds: float = math.nan
    reconstruction: float = math.nan
    floor: float = math.nan
    total_correlation: float = math.nan
    largest_logvar: float = math.nan
    kl: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    active: int = 0
    beta_normalised: float = math.nan
    parameters: int = 0
    torch: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, identifier: str, configuration: Configuration, record: Record | None, factors: int) -> "TrainedModel":
        """Return the model of a record; None: it is still to be trained."""
        record = {"status": MISSING} if record is None else record
        status = str(record["status"])
        flag = status if status in (DIVERGED, FAILED, MISSING) else ""
        figures: dict[str, Any] = {"reason": str(record.get("reason") or ""), "flag": flag}
        if status not in (FAILED, MISSING):
            numbers = ("seconds", "reconstruction", "floor", "total_correlation", "largest_logvar", "beta_normalised")
            figures |= {name: int(record[name]) for name in ("steps", "active", "parameters")}
            figures |= {name: known(record[name]) for name in numbers}
            figures |= {name: tuple(map(known, record[name])) for name in ("kl", "std")}
            figures |= {"torch": str(record["torch"]), "codes": dict(record["codes"])}
            few = COLLAPSED if figures["active"] == 0 else PARTIAL if figures["active"] < factors else ""
            figures["flag"] = flag or few
        return cls(id=identifier, configuration=configuration, status=status, **figures)

    def record(self) -> Record | None:
        """Return what a packed file keeps; None of one that is still to be trained."""
        if self.status == MISSING:
            return None
        names = [name for name in self.__slots__ if name not in ("id", "configuration", "flag")]
        return dict(plain({name: getattr(self, name) for name in names}))

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns."""
        own = self.configuration
        names = ("status", "flag", "active", "steps", "seconds", "reconstruction", "floor")
        return {
            "id": self.id,
            "configuration": own.name,
            "objective": own.objective,
            **own.options,
            "latents": own.latents,
            "seed": own.seed,
            **{name: getattr(self, name) for name in names},
            "kl": float(np.sum(self.kl)) if self.kl else math.nan,
            "total_correlation": self.total_correlation,
            "reason": self.reason,
        }


def known(value: float | None) -> float:
    """Return a number of a record; what is null there is NaN."""
    return math.nan if value is None else as_float(value)


# All models -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Study(Result):
    """A family of trained models with their scores.

    Attributes
    ----------
    settings : mapping
        Images, training, scored rows, metrics, protocol: what all models have in common.
    models : tuple of TrainedModel
    scores : mapping of (id, step, kind, metric) to record
        With a ``value``, None where there is a ``reason`` instead; at the end of a training also the native values,
        notes and signature.
    version : str
        The demele that trained and scored.

    Examples
    --------
    >>> from demele import lab
    >>> tiny = {"preset": "ci", "betas": [0.1, 100.0], "steps": 10, "metrics": ["mig", "sap"], "n_rows": 50}
    >>> found = lab.model_family(**tiny)
    >>> found.to_frame()[["beta", "latents", "status"]].to_numpy().tolist()
    [[0.1, 6, 'done'], [100.0, 6, 'done']]
    """

    _kind = "study"
    _files: ClassVar[Mapping[str, str]] = {".pairs.csv": "pairs_frame"}

    settings: Mapping[str, Any]
    models: tuple[TrainedModel, ...]
    scores: Mapping[Key, Record]
    version: str = __version__

    document = study_document

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, in the order in which they were asked for."""
        return tuple(self.settings["metrics"])

    @property
    def steps(self) -> tuple[int, ...]:
        """Steps after which codes were scored; the last is the end."""
        return tuple(self.settings["steps"])

    @property
    def failures(self) -> tuple[TrainedModel, ...]:
        """The models that diverged or failed, with their reasons."""
        return tuple(model for model in self.models if model.flag in (DIVERGED, FAILED))

    def value(self, model: TrainedModel, metric: str, *, step: int | None = None, kind: str = "real") -> float:
        """Return a score; NaN where there is none."""
        if not isinstance(model, TrainedModel):
            raise InputTypeError("model", f"expected one of the models of the study, got {type(model).__name__}")
        checked_name(metric, "metric", self.metrics)
        checked_name(kind, "kind", self.settings["kinds"])
        place = self.steps[-1] if step is None else checked_count(step, "step", 0)
        return known(self.scores.get((model.id, place, kind, metric), {}).get("value"))

    def to_frame(self, *, step: int | None = None, kind: str = "real") -> "pd.DataFrame":
        """Return one row for each model, with its scores; those at the end against its factors by default."""
        about = pd.DataFrame([model.row() for model in self.models])
        return pd.concat([about, self._table(self.models, step=step, kind=kind)], axis=1)

    def agreement(self, *, level: float = 0.95, draws: int = 2000, seed: int = 0) -> Agreement:
        """Return the agreement of the metrics on the trained models.

        Parameters
        ----------
        level, draws, seed
            See :func:`demele.bench.agreement`.

        Raises
        ------
        NotEnoughData
            If fewer than two models were trained.
        """
        done = self.done()
        if len(done) < 2:
            raise NotEnoughData("study", f"expected two or more trained and scored models, got {len(done)}")
        first = self.steps[:-1]
        nulls, halves = (
            [self._table(done, kind=kind) for kind in self.settings["kinds"] if kind.startswith(beginning)] or None
            for beginning in ("null-", "half-")
        )
        return agreement(
            self._table(done),
            configuration=[model.configuration.name for model in done],
            collapsed=[model.flag == COLLAPSED for model in done],
            within=[model.configuration.latents for model in done],
            null=nulls,
            halves=halves,
            again={f"{step:,} and {self.steps[-1]:,} steps": self._table(done, step=step) for step in first},
            level=level,
            draws=draws,
            seed=seed,
        )

    def pairs_frame(self) -> "pd.DataFrame":
        """Return one row for each pair of metrics: their agreement."""
        return self.agreement().to_frame()

    def done(self) -> list[TrainedModel]:
        """Return the models that are trained and scored."""
        wanted = [(self.steps[-1], "real", metric) for metric in self.metrics]
        return [
            model
            for model in self.models
            if model.status == "done" and all((model.id, *one) in self.scores for one in wanted)
        ]

    def _table(self, models: Sequence[TrainedModel], **which: Any) -> "pd.DataFrame":

        return pd.DataFrame(
            [{metric: self.value(model, metric, **which) for metric in self.metrics} for model in models]
        )

    def save(self, path: str | Path) -> Path:
        """Write models and scores compactly, without native values; :func:`demele.lab.load_study` reads it.

        Raises
        ------
        OutputError
        """
        models = [{"id": model.id, **asdict(model.configuration)} for model in self.models]
        records: dict[Key, Record] = {
            ("train", model.id): held for model in self.models if (held := model.record()) is not None
        }
        for key, record in self.scores.items():
            value = record.get("value")
            records["score", *key] = {"value": value} | ({} if value is not None else {"reason": record.get("reason")})
        return write_whole(
            path, STUDY.packed({"settings": dict(self.settings), "configurations": models}, records, self.version)
        )


# Files ----------------------------------------------------------------------------------------------------------------


_SHAPE = {
    "demele": str,
    "settings": {
        **dict.fromkeys(("images", "provenance", "protocol", "codes"), str),
        **dict.fromkeys(("n_images", "n_factors", "scored_rows", "seed"), int),
        "shape": [int],
        "steps": [int],
        "metrics": [str],
        "kinds": [str],
        "model": dict,
        "training": dict,
    },
    "configurations": [{"id": str, "objective": str, "options": dict, "latents": int, "seed": int}],
}
_SCORE = {"value": (float, int, type(None)), "step": int, "names": [str]}
#: The rows of the embedded study that come with demele.
DEMO = Path(__file__).with_name("embedded.jsonl")


def study_of(about: Mapping[str, Any], records: Mapping[Key, Record]) -> Study:
    """Return the study of some rows.

    Raises
    ------
    FormatError
        If a row is not what it should be.
    """
    settings, models, scores = about["settings"], [], {}
    if not settings["steps"] or len(settings["shape"]) != 3 or not settings["metrics"]:
        raise ValueError("it has no step, no metric, or images of no shape")
    options = [one["options"] for one in about["configurations"]]
    check_shape([value for own in options for value in own.values()], [(float, int, str, bool, type(None))])
    check_shape([own.get("beta", 1.0) for own in options], [(float, int)])
    for one in about["configurations"]:
        identifier, own = one["id"], Configuration(**{name: value for name, value in one.items() if name != "id"})
        with reading_record(("train", identifier)):
            record = records.get(("train", identifier))
            models.append(TrainedModel.of(identifier, own, record, int(settings["n_factors"])))
    for key, record in records.items():
        if key[:1] == ("score",):
            with reading_record(key):
                identifier, step, kind, metric = key[1:]
                check_shape({**record, "step": step, "names": [identifier, kind, metric]}, _SCORE)
            scores[key[1:]] = record
    return Study(settings=settings, models=tuple(models), scores=dict(sorted(scores.items())), version=about["demele"])


STUDY = StudyFormat(name="demele-study", what="a study of demele", file="study.json", shape=_SHAPE, made=study_of)


def load_study(path: str | Path) -> Study:
    """Return the study of a folder, finished or not, or of a file that :meth:`Study.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Study

    Raises
    ------
    InputError, FormatError
        If there is none.

    Examples
    --------
    >>> import tempfile
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tiny = {"preset": "ci", "betas": [1.0], "steps": 10, "metrics": ["mig", "sap"], "n_rows": 50}
    ...     found = lab.model_family(**tiny, store=f"{folder}/study")
    ...     len(lab.load_study(f"{folder}/study").models)
    1
    """
    return STUDY.load(path)


def study_demo() -> Study:
    """Return the study that comes with demele: 36 beta-VAEs on sprites of 32 x 32, 17 metrics.

    Returns
    -------
    Study

    Examples
    --------
    >>> from demele import lab
    >>> found = lab.study_demo()
    >>> found.settings["preset"], len(found.models)
    ('embedded', 36)
    >>> [model.flag for model in found.models].count("collapsed")
    6
    """
    return STUDY.load(DEMO)
