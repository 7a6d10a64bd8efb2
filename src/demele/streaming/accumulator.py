"""One accumulator for every metric: update with batches, merge with others, compute when asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import IncompatibleState, InputError, InputTypeError, NotEnoughData
from demele.core.inputs import Factors, Missing, split_columns
from demele.core.results import Evaluation, Note, Score
from demele.core.seeds import checked_seed
from demele.core.signature import Signature
from demele.estimation.information import information_table
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.data import Data
from demele.metrics.evaluate import evaluate
from demele.metrics.information.scores import native_of
from demele.metrics.information.tables import TableSettings
from demele.metrics.options import checked_option
from demele.metrics.outcomes import Outcome
from demele.metrics.presented import score_of
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.requests import Run, Subject, chosen_metrics, given_options, merged_options, request_for
from demele.streaming.frame import Frame
from demele.streaming.states import CountState, SampleState

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning

__all__ = ["BOUND", "Accumulator", "counted_metrics"]

#: Rows that sampled metrics keep, unless told otherwise.
BOUND = 100_000


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is computed, and from which state; the same for accumulators that merge."""

    names: tuple[str, ...]
    single: bool
    protocol: str
    options: tuple[tuple[str, Any], ...]
    seed: int
    bound: int
    outside: str
    missing: Missing
    kinds: Any
    reg_dim: Any
    bins: Any


class Accumulator:
    """A metric, or several, whose rows come in batches.

    Updating and merging return new accumulators and leave the old ones as they are.

    Parameters
    ----------
    metrics : str or sequence of str
        Registered names. One name computes a :class:`demele.Score`, several an :class:`demele.Evaluation`.
    frame : Frame, optional
        Columns, levels and ranges. With a frame, metrics of histograms (:func:`counted_metrics`) count every row
        under fixed edges: batches in any order, merged in any way, give the bits that one call on all rows gives.
        Without one they are computed as the others are.
    bound : int, default 100 000
        Rows kept for all other metrics: those with the smallest keys, hashed from stream and row number, so that the
        choice does not depend on the order of merging. While fewer rows came, the value is that of one call on all of
        them; afterwards that of a random sample, and a note says of how many.
    stream : str or int, default 0
        Where the rows come from, such as the number of a process. Accumulators that are merged need streams of their
        own for sampled metrics.
    outside : {"raise", "clip"}
        What to do with values outside the ranges of the frame: refuse the batch, or count them in the first or last
        bin; a note says how many.
    protocol, seed, missing, kinds, reg_dim, bins, options
        As in :func:`demele.evaluate`. With a frame, kinds and missing are the frame's.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.random((1000, 2))
    >>> parts = [demele.Accumulator("mig", frame=demele.Frame.of(factors, factors), stream=i) for i in range(2)]
    >>> parts = [part.update(half, half) for part, half in zip(parts, np.split(factors, 2))]
    >>> parts[1].merge(parts[0]).compute().value == demele.mig(factors, factors).value
    True
    """

    __slots__ = ("_columns", "_counts", "_frame", "_plan", "_sample", "_stream", "_tables")

    def __init__(
        self,
        metrics: str | Sequence[str],
        *,
        frame: Frame | None = None,
        bound: int = BOUND,
        stream: str | int = 0,
        outside: str = "raise",
        protocol: str = DEFAULT_PROTOCOL,
        seed: int = 0,
        missing: Missing = "raise",
        kinds: object = None,
        reg_dim: object = None,
        bins: object = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        chosen = chosen_metrics(metrics)
        names = tuple(str(name) for name in chosen if isinstance(name, str))
        if len(names) < len(chosen):
            raise InputTypeError("metrics: expected registered names; functions of your own are for demele.evaluate")
        if frame is not None and not isinstance(frame, Frame):
            raise InputTypeError(f"frame: expected a Frame, got {type(frame).__name__}; make one with Frame.of(...)")
        if isinstance(bound, bool) or not isinstance(bound, int | np.integer) or bound < 4:
            raise InputError(f"bound: expected a number of rows of at least 4, got {bound!r}")
        if outside not in ("raise", "clip"):
            raise InputError(f"outside: expected 'raise' or 'clip', got {outside!r}")
        if not isinstance(stream, str | int) or isinstance(stream, bool):
            raise InputTypeError(f"stream: expected a name or a number, got {stream!r}")
        self._plan = _Plan(
            names=names,
            single=isinstance(metrics, str),
            protocol=protocol_named(protocol).name,
            options=tuple(given_options(options).items()),
            seed=checked_seed(seed),
            bound=int(bound),
            outside=outside,
            missing=missing if frame is None else frame.missing,
            kinds=kinds if frame is None else frame.kinds,
            reg_dim=reg_dim,
            bins=None if bins is None else checked_option("bins", bins),
        )
        self._frame = frame
        self._stream = str(stream)
        self._columns: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        settings = self._settings()
        counted = {} if frame is None else {name: settings[name] for name in names if _counts(settings.get(name))}
        self._tables: dict[str, TableSettings] = {name: one for name, one in counted.items() if one is not None}
        rules = dict.fromkeys(one.binning for one in self._tables.values())
        self._counts: dict[Binning, CountState] = (
            {} if frame is None else {rule: CountState(frame.bins(rule)) for rule in rules}
        )
        rest = [name for name in names if name not in self._tables]
        self._sample = SampleState(int(bound), self._plan.seed) if rest else None

    # Rows -----------------------------------------------------------------------------------------------------------

    def update(self, codes: object, factors: object, codes_std: object = None) -> "Accumulator":
        """Add a batch, and return the accumulator that holds it too.

        Parameters
        ----------
        codes : array-like of shape (n_rows, n_codes)
        factors : array-like of shape (n_rows, n_factors)
            An empty batch changes nothing.
        codes_std : array-like of shape (n_rows, n_codes), optional
            Standard deviations of stochastic codes, for RMIG.

        Returns
        -------
        Accumulator

        Raises
        ------
        InputError, InputTypeError
            For a batch with other columns, or values that are refused; this accumulator stays as it was.
        """
        found = self._copy()
        if self._counts and self._frame is not None:
            rows = self._frame.read(codes, factors, outside=self._plan.outside)
            found._counts = {rule: state.update(rows) for rule, state in self._counts.items()}
        if self._sample is not None:
            columns, names = self._raw(codes, factors, codes_std)
            if columns is not None:
                found._columns = names
                found._sample = self._sample.update(columns, self._stream)
        return found

    def merge(self, other: "Accumulator") -> "Accumulator":
        """Return an accumulator that holds the rows of both; neither changes.

        Raises
        ------
        IncompatibleState
            If they compute other metrics, or with other settings, columns or edges.
        """
        if not isinstance(other, Accumulator):
            raise InputTypeError(f"merge: expected an Accumulator, got {type(other).__name__}")
        if _comparable(self._plan) != _comparable(other._plan):
            told = _difference(self._plan, other._plan)
            raise IncompatibleState(f"the two accumulators differ in {told}; give both the same arguments")
        if (self._frame is None) != (other._frame is None) or (self._frame is not None and self._frame != other._frame):
            raise IncompatibleState("the two accumulators have other frames: other columns, ranges or levels")
        if self._columns is not None and other._columns is not None and self._columns != other._columns:
            raise IncompatibleState(f"the two hold other columns: {self._columns} and {other._columns}")
        found = self._copy()
        found._columns = self._columns or other._columns
        found._counts = {rule: state.merge(other._counts[rule]) for rule, state in self._counts.items()}
        if self._sample is not None and other._sample is not None:
            found._sample = self._sample.merge(other._sample)
        return found

    def reset(self) -> "Accumulator":
        """Return the same accumulator without rows: the identity of :meth:`merge`."""
        found = self._copy()
        found._columns = None
        found._counts = {rule: CountState(state.binned) for rule, state in self._counts.items()}
        if self._sample is not None:
            found._sample = SampleState(self._sample.bound, self._sample.seed)
        return found

    @property
    def n(self) -> int:
        """Rows seen."""
        if self._sample is not None:
            return self._sample.n
        return next(iter(self._counts.values())).n

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of what is computed."""
        return self._plan.names

    @property
    def frame(self) -> Frame | None:
        """The frame, if there is one."""
        return self._frame

    def __repr__(self) -> str:
        counted = ", ".join(self._tables) or "nothing"
        kept = "" if self._sample is None else f", {self._sample.n_kept} rows kept"
        return f"Accumulator({', '.join(self._plan.names)}; n={self.n}, counted: {counted}{kept})"

    # Values ---------------------------------------------------------------------------------------------------------

    def compute(self) -> Any:
        """Return the Score, or the Evaluation of several metrics, of all rows so far.

        Returns
        -------
        Score or Evaluation
            Without intervals and checks of fragility: these need the rows, see :func:`demele.evaluate`.

        Raises
        ------
        NotEnoughData
            Before the first rows, or if nothing varies in them.
        """
        if self.n == 0:
            raise NotEnoughData(f"{', '.join(self._plan.names)}: no rows yet; call update(codes, factors) first")
        found: dict[str, Score] = {}
        left_out: dict[str, Any] = {}
        about: Evaluation | None = None
        if self._counts:
            scores, reasons = self._counted()
            found |= scores
            left_out |= reasons
        rest = [name for name in self._plan.names if name not in self._tables]
        if rest and self._sample is not None:
            about = self._sampled(rest)
            found |= {score.metric: self._told(score) for score in about}
            left_out |= {one.metric: one for one in about.left_out}
        if self._plan.single:
            name = self._plan.names[0]
            if name not in found:
                raise NotEnoughData(left_out[name].reason)
            return found[name]
        return self._evaluation(found, left_out, about)

    # Inside -----------------------------------------------------------------------------------------------------------

    def _copy(self) -> "Accumulator":
        found = object.__new__(Accumulator)
        for name in self.__slots__:
            object.__setattr__(found, name, getattr(self, name))
        return found

    def _settings(self) -> dict[str, TableSettings | None]:
        """How each metric reads an information table, if it does."""
        protocol = protocol_named(self._plan.protocol)
        found: dict[str, TableSettings | None] = {}
        for name in self._plan.names:
            spec = CATALOGUE[name]
            options = merged_options(spec, protocol.options, dict(self._plan.options), self._plan.bins)
            if spec.group != "information" or spec.needs_codes_std:
                continue
            found[name] = TableSettings(
                binning=options["bins"],
                estimator=options.get("estimator", "histogram"),
                correction=options.get("correction", "none"),
                n_neighbors=options.get("n_neighbors", 3),
            )
        return found

    def _raw(
        self, codes: object, factors: object, codes_std: object
    ) -> tuple[tuple[NDArray[Any], ...] | None, tuple[tuple[str, ...], tuple[str, ...]] | None]:
        """Return the batch as columns, after the checks that need no other batch."""
        table, code_names = split_columns(codes, "codes", default="z")
        columns, factor_names = split_columns(factors, "factors", default="v")
        n = len(table) if isinstance(table, np.ndarray) else len(table[0])
        rows = len(columns) if isinstance(columns, np.ndarray) else len(columns[0])
        if n != rows:
            raise InputError(
                f"codes and factors: expected the same number of rows, got {n} rows of codes and {rows} rows of "
                "factors; row r of both must describe the same sample"
            )
        names = (code_names, factor_names)
        if self._columns is not None and names != self._columns:
            for argument, mine, theirs in zip(("codes", "factors"), self._columns, names, strict=True):
                if mine != theirs:
                    raise InputError(
                        f"{argument}: expected the {len(mine)} columns of the batches before, "
                        f"{', '.join(map(repr, mine[:6]))}, got {len(theirs)}: {', '.join(map(repr, theirs[:6]))}"
                    )
        if n == 0:
            return None, None
        listed: list[NDArray[Any]] = []
        parts: list[Any] = [table, columns]
        if "rmig" in self._plan.names:
            if codes_std is None:
                raise NotEnoughData("codes_std: rmig needs the standard deviations of the codes; pass codes_std")
            deviations = split_columns(codes_std, "codes_std", default="z")[0]
            rows, d = deviations.shape if isinstance(deviations, np.ndarray) else (len(deviations[0]), len(deviations))
            if (rows, d) != (n, len(code_names)):
                raise InputError(f"codes_std: expected the shape of codes, ({n}, {len(code_names)}), got ({rows}, {d})")
            parts.append(deviations)
        for part in parts:
            listed += [
                np.asarray(part[:, index] if isinstance(part, np.ndarray) else part[index])
                for index in range(part.shape[1] if isinstance(part, np.ndarray) else len(part))
            ]
        for name, column in zip(code_names, listed, strict=False):
            if column.dtype.kind == "f" and not np.isfinite(column).all():
                bad = np.flatnonzero(~np.isfinite(column))
                raise InputError(
                    f"codes: {bad.size} values are missing or infinite, first in column {name!r} at row {bad[0]} of "
                    "this batch; drop those rows"
                )
        return tuple(listed), names

    def _counted(self) -> tuple[dict[str, Score], dict[str, Any]]:
        from demele.core.results import LeftOut

        frame = self._frame
        if frame is None:
            raise ValueError("counted metrics have a frame")
        run = Run.checked(
            seed=self._plan.seed, repeats=1, bootstrap=0, level=0.95, chance=0, n_jobs=1, missing=self._plan.missing
        )
        protocol = protocol_named(self._plan.protocol)
        found: dict[str, Score] = {}
        left_out: dict[str, Any] = {}
        states = {rule: state.settled() for rule, state in self._counts.items()}
        for name, settings in self._tables.items():
            state = states[settings.binning]
            counted, annotated = state.counted, state.annotated
            if counted is None or annotated is None:
                raise ValueError("a state with rows has counts")
            active = [index for index, table in enumerate(counted.tables) if (table[0].sum(axis=0) > 0).sum() > 1]
            if not active:
                left_out[name] = LeftOut(metric=name, reason="factors: none of them varies in the rows so far")
                continue
            codes, factors = frame.described(state.n, [int(number) for number in annotated])
            varying = Factors(tuple(factors.columns[index] for index in active), factors.missing)
            subject = Subject(codes, factors, tuple(active), Data(codes, varying), self._notes(state, active))
            spec = CATALOGUE[name]
            options = merged_options(spec, protocol.options, dict(self._plan.options), self._plan.bins)
            try:
                request = request_for(spec, options, subject, self._plan.reg_dim)
            except NotEnoughData as error:
                left_out[name] = LeftOut(metric=name, reason=str(error))
                continue
            kept = replace(
                counted,
                tables=tuple(counted.tables[index] for index in active),
                factor_tables={
                    (active.index(i), active.index(k)): table
                    for (i, k), table in counted.factor_tables.items()
                    if i in active and k in active
                },
            )
            table = information_table(kept, settings.correction)
            native = native_of(name, table, request.reg_dim)
            outcome = Outcome(native=native, notes=request.notes)
            found[name] = score_of(request, outcome, subject, run, protocol.name, None)
        return found, left_out

    def _notes(self, state: CountState, active: list[int]) -> tuple[Note, ...]:
        notes = []
        frame = self._frame
        if frame is not None:
            for index, column in enumerate(frame.columns):
                if index not in active:
                    message = f"factor {column.name!r} is constant and was left out"
                    notes.append(
                        Note(code="constant-factor", message=message, subject=(column.name,), severity="warning")
                    )
        if state.clipped:
            message = f"{state.clipped} values outside the frame's ranges were counted in the first or last bin"
            notes.append(Note(code="clipped", message=message, severity="warning"))
        return tuple(notes)

    def _sampled(self, names: list[str]) -> Evaluation:
        if self._sample is None or self._columns is None:
            raise ValueError("sampled metrics have rows")
        columns = self._sample.rows()
        d, m = len(self._columns[0]), len(self._columns[1])
        codes = _table(columns[:d], self._columns[0], "z")
        factors = _table(columns[d : d + m], self._columns[1], "v")
        return evaluate(
            codes,
            factors,
            names if not self._plan.single else names[0],
            protocol=self._plan.protocol,
            seed=self._plan.seed,
            missing=self._plan.missing,
            kinds=self._plan.kinds,
            codes_std=np.column_stack(columns[d + m :]) if len(columns) > d + m else None,
            reg_dim=self._plan.reg_dim,
            bins=self._plan.bins,
            options=dict(self._plan.options),
        )

    def _told(self, score: Score) -> Score:
        """Say of how many rows a sampled score is, where it is not of all."""
        if self._sample is None or self._sample.n_kept == self._sample.n:
            return score
        message = f"of a random sample of {self._sample.n_kept:,} of {self._sample.n:,} rows (bound={self._plan.bound})"
        context = {**score.signature.context, "sample_of": str(self._sample.n)}
        signature = Signature(score.signature.metric, score.signature.arguments, context)
        return replace(score, notes=(*score.notes, Note(code="sampled", message=message)), signature=signature)

    def _evaluation(
        self, found: Mapping[str, Score], left_out: Mapping[str, Any], about: Evaluation | None
    ) -> Evaluation:
        order = [name for name in self._plan.names if name in found]
        missing = tuple(left_out[name] for name in self._plan.names if name in left_out)
        scores = tuple(found[name] for name in order)
        if about is not None:
            return replace(about, scores=scores, left_out=missing, n=self.n)
        from demele import __version__
        from demele.core.results import FactorSummary

        frame = self._frame
        if frame is None:
            raise ValueError("without a frame everything is sampled")
        annotated = next(iter(self._counts.values())).annotated
        counts = [0] * len(frame.columns) if annotated is None else [int(number) for number in annotated]
        return Evaluation(
            scores=scores,
            left_out=missing,
            protocol=self._plan.protocol,
            name="codes",
            n=self.n,
            code_names=frame.codes,
            factors=tuple(
                FactorSummary(
                    name=column.name,
                    kind=column.kind,
                    n_levels=len(column.levels) if column.kind == "categorical" else None,
                    n_annotated=known,
                    constant=False,
                )
                for column, known in zip(frame.columns, counts, strict=True)
            ),
            dependency=(),
            notes=(),
            version=__version__,
        )


def counted_metrics() -> tuple[str, ...]:
    """Return the metrics that count every row when an accumulator has a frame.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> counted_metrics()[:3]
    ('mig', 'mig_sup', 'modularity')
    """
    return tuple(name for name, spec in CATALOGUE.items() if spec.group == "information" and not spec.needs_codes_std)


def _table(columns: tuple[NDArray[Any], ...], names: tuple[str, ...], default: str) -> Any:
    """Return columns as they came: an array of rows if they have no names, else a frame.

    Solvers that sum in another order, as they do for another layout, give other last bits.
    """
    numeric = all(column.dtype.kind in "fiub" for column in columns)
    if numeric and names == tuple(f"{default}{index + 1}" for index in range(len(columns))):
        return np.column_stack(columns)
    import pandas as pd

    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _counts(settings: TableSettings | None) -> bool:
    return settings is not None and settings.estimator == "histogram"


def _comparable(plan: _Plan) -> tuple[str, ...]:
    return tuple(repr(getattr(plan, name)) for name in _Plan.__slots__)


def _difference(first: _Plan, second: _Plan) -> str:
    names = [name for name in _Plan.__slots__ if repr(getattr(first, name)) != repr(getattr(second, name))]
    shown = {"names": "metrics"}
    return ", ".join(
        f"{shown.get(name, name)} ({getattr(first, name)!r} and {getattr(second, name)!r})" for name in names
    )
