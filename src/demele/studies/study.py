"""A study: its models, their scores, its compact file, and how far metrics agree."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demele.bench.agreement import agreement
from demele.bench.agreement_result import Agreement
from demele.core.checked_numbers import checked_count
from demele.core.errors import InputTypeError, NotEnoughData, quoted
from demele.core.names import checked_name
from demele.core.outputs import write_whole
from demele.core.reading import check_shape
from demele.core.result import Result, plain
from demele.core.store import Key, reading_record
from demele.core.table_columns import as_float
from demele.core.version import __version__
from demele.runtime.sweep import Record
from demele.studies.folders import StudyFormat
from demele.studies.jobs import Configuration, Kind, score_key, train_key
from demele.studies.study_documents import study_document

if TYPE_CHECKING:
    import pandas as pd


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
        if record is None:
            return cls(id=identifier, configuration=configuration, status=MISSING, flag=MISSING)
        status, figures = str(record["status"]), dict[str, Any](reason=str(record["reason"] or ""))
        if status == FAILED:
            return cls(id=identifier, configuration=configuration, status=status, flag=FAILED, **figures)
        numbers = ("seconds", "reconstruction", "floor", "total_correlation", "largest_logvar", "beta_normalised")
        figures |= {name: int(record[name]) for name in ("steps", "active", "parameters")}
        figures |= {name: known(record[name]) for name in numbers}
        figures |= {name: tuple(map(known, record[name])) for name in ("kl", "std")}
        figures |= {"torch": str(record["torch"]), "codes": dict(record["codes"])}
        few = COLLAPSED if figures["active"] == 0 else PARTIAL if figures["active"] < factors else ""
        flag = DIVERGED if status == DIVERGED else few
        return cls(id=identifier, configuration=configuration, status=status, flag=flag, **figures)

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

    def value(self, model: TrainedModel, metric: str, *, step: int | None = None, kind: Kind = "real") -> float:
        """Return a score; NaN where there is none."""
        if not isinstance(model, TrainedModel):
            raise InputTypeError("model", f"expected one of the models of the study, got {type(model).__name__}")
        checked_name(metric, "metric", self.metrics)
        checked_name(kind, "kind", self.settings["kinds"])
        key = score_key(model.id, self.steps[-1] if step is None else checked_count(step, "step", 0), kind, metric)[1:]
        record = self.scores.get(key)
        return math.nan if record is None else known(record.get("value"))

    def to_frame(self, *, step: int | None = None, kind: Kind = "real") -> "pd.DataFrame":
        """Return one row for each model, with its scores; those at the end against its factors by default."""
        import pandas as pd

        scored = [
            {metric: self.value(model, metric, step=step, kind=kind) for metric in self.metrics}
            for model in self.models
        ]
        return pd.DataFrame([{**model.row(), **scores} for model, scores in zip(self.models, scored, strict=True)])

    def scores_frame(self) -> "pd.DataFrame":
        """Return one row for each score: model, step, kind, metric, value, and the reason where there is none."""
        import pandas as pd

        names: dict[Any, Configuration] = {model.id: model.configuration for model in self.models}
        columns = ["id", "configuration", "seed", "step", "kind", "metric", "value", "reason"]
        rows = [
            (
                one,
                names[str(one)].name,
                names[str(one)].seed,
                *place,
                known(record.get("value")),
                record.get("reason") or "",
            )
            for (one, *place), record in self.scores.items()
            if one in names
        ]
        return pd.DataFrame(rows, columns=columns)

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
        nulls = [self._table(done, kind=kind) for kind in self.settings["kinds"] if kind.startswith("null-")]
        halves = [self._table(done, kind=kind) for kind in self.settings["kinds"] if kind.startswith("half-")]
        return agreement(
            self._table(done),
            configuration=[model.configuration.name for model in done],
            collapsed=[model.flag == COLLAPSED for model in done],
            within=[model.configuration.latents for model in done],
            null=nulls or None,
            halves=halves or None,
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

    def _table(self, models: list[TrainedModel], **which: Any) -> "pd.DataFrame":
        import pandas as pd

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
        records = {train_key(model.id): held for model in self.models if (held := model.record()) is not None}
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
    for one in about["configurations"]:
        identifier, own = one["id"], Configuration(**{name: value for name, value in one.items() if name != "id"})
        with reading_record(train_key(identifier)):
            record = records.get(train_key(identifier))
            models.append(TrainedModel.of(identifier, own, record, int(settings["n_factors"])))
    for key, record in records.items():
        if key[:1] == ("score",):
            with reading_record(key):
                identifier, step, kind, metric = key[1:]
                check_shape({**record, "step": step, "names": [identifier, kind, metric]}, _SCORE)
            scores[key[1:]] = record
    return Study(settings=settings, models=tuple(models), scores=dict(sorted(scores.items())), version=about["demele"])


def _check(about: dict[str, Any]) -> None:
    places = about["settings"]["steps"], about["settings"]["shape"], about["settings"]["metrics"]
    if not places[0] or len(places[1]) != 3 or not places[2]:
        raise ValueError(f"it holds {quoted(places)}")
    options = [one["options"] for one in about["configurations"]]
    check_shape([value for own in options for value in own.values()], [(float, int, str, bool, type(None))])
    check_shape([own.get("beta", 1.0) for own in options], [(float, int)])


STUDY = StudyFormat(
    name="demele-study", what="a study of demele", file="study.json", shape=_SHAPE, made=study_of, check=_check
)


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
