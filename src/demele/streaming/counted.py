"""Scores of what was counted: from tables under the edges of a frame, through the same functions as from rows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from demele import __version__
from demele.core.errors import InputError, NotEnoughData, UndefinedFactorWarning, warn_user
from demele.core.inputs import Factors, Missing, given_kinds
from demele.core.results import Dependency, Evaluation, FactorSummary, LeftOut, Note, Score
from demele.core.signature import Signature
from demele.estimation.counts import JointCounts
from demele.estimation.information import information_table
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.data import Data
from demele.metrics.information.scores import native_of
from demele.metrics.information.tables import TableSettings
from demele.metrics.options import regularising_codes
from demele.metrics.outcomes import Outcome, assumed_codes
from demele.metrics.presented import score_of
from demele.metrics.requests import Run, Subject, request_for
from demele.streaming.frame import Frame
from demele.streaming.states import CountState

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning

__all__ = ["Counted", "check_with_frame", "counted_metrics", "table_settings"]


class Counted:
    """Counts of all rows so far under each rule, and the scores that are read off them.

    Parameters
    ----------
    frame : Frame
    states : mapping of Binning to CountState
        At least one, with rows.
    """

    def __init__(self, frame: Frame, states: "Mapping[Binning, CountState]") -> None:
        self.frame = frame
        self.states = {rule: state.settled() for rule, state in states.items()}
        state = next(iter(self.states.values()))
        self.n = state.n
        self.clipped = state.clipped
        self.annotated = [0] * len(frame.columns) if state.annotated is None else [int(one) for one in state.annotated]

    def scores(
        self,
        tables: Mapping[str, TableSettings],
        options: Mapping[str, dict[str, Any]],
        *,
        protocol: str,
        reg_dim: object,
        missing: Missing,
        seed: int,
        kinds: object,
    ) -> tuple[dict[str, Score], dict[str, LeftOut]]:
        """Return scores by metric, and why others have none."""
        run = Run.checked(seed=seed, repeats=1, bootstrap=0, level=0.95, chance=0, n_jobs=1, missing=missing)
        found: dict[str, Score] = {}
        left_out: dict[str, LeftOut] = {}
        warned: set[str] = set()
        for name, settings in tables.items():
            counts = self.states[settings.binning].counted
            if counts is None:
                raise ValueError("a settled state with rows has counts")
            active = self.varying(counts)
            if not active:
                listed = ", ".join(map(repr, self.frame.factors[:6]))
                left_out[name] = LeftOut(
                    metric=name, reason=f"factors: none of them varies in the {self.n} rows so far: {listed}"
                )
                continue
            subject = self._subject(active)
            for note in subject.notes:
                if note.code == "constant-factor" and note.message not in warned:
                    warned.add(note.message)
                    warn_user(note.message, UndefinedFactorWarning)
            try:
                request = request_for(CATALOGUE[name], options[name], subject, reg_dim)
            except NotEnoughData as error:
                left_out[name] = LeftOut(metric=name, reason=str(error))
                continue
            table = information_table(_only(counts, active), settings.correction)
            native = native_of(name, table, request.reg_dim)
            outcome = Outcome(native=native, notes=assumed_codes(request, table))
            score = score_of(request, outcome, subject, run, protocol, kinds)
            context = {**score.signature.context, "frame": self.frame.digest()}
            found[name] = replace(score, signature=Signature(name, score.signature.arguments, context))
        return found, left_out

    def evaluation(
        self,
        scores: tuple[Score, ...],
        left_out: tuple[LeftOut, ...],
        protocol: str,
        dependency: tuple[Dependency, ...],
    ) -> Evaluation:
        """Return scores with what is known of the representation."""
        return Evaluation(
            scores=scores,
            left_out=left_out,
            protocol=protocol,
            name="codes",
            n=self.n,
            code_names=self.frame.codes,
            factors=self.summaries(),
            dependency=dependency,
            notes=self.notes(),
            version=__version__,
        )

    def varying(self, counts: JointCounts) -> list[int]:
        """Return the factors that fall into more than one bin."""
        return [index for index, table in enumerate(counts.tables) if (table[0].sum(axis=0) > 0).sum() > 1]

    def summaries(self) -> tuple[FactorSummary, ...]:
        """Say of each factor what an evaluation does."""
        counts = next(iter(self.states.values())).counted
        active = [] if counts is None else self.varying(counts)
        return tuple(
            FactorSummary(
                name=column.name,
                kind=column.kind,
                n_levels=len(column.levels) if column.kind == "categorical" else None,
                n_annotated=known,
                constant=index not in active,
            )
            for index, (column, known) in enumerate(zip(self.frame.columns, self.annotated, strict=True))
        )

    def notes(self) -> tuple[Note, ...]:
        """Return the notes of the representation."""
        counts = next(iter(self.states.values())).counted
        return self._subject([] if counts is None else self.varying(counts)).notes

    def _subject(self, active: list[int]) -> Subject:
        codes, factors = self.frame.described(self.n, self.annotated)
        varying = Factors(tuple(factors.columns[index] for index in active), factors.missing)
        notes = []
        for index, factor in enumerate(factors.columns):
            if index not in active:
                message = f"factor {factor.name!r} is constant and was left out"
                if not factor.constant:
                    message = f"factor {factor.name!r} stays in one bin of its range and was left out"
                notes.append(Note(code="constant-factor", message=message, subject=(factor.name,), severity="warning"))
            if not factor.complete:
                message = f"factor {factor.name!r} is annotated on {factor.n_annotated} of {self.n} rows"
                notes.append(Note(code="missing-annotations", message=message, subject=(factor.name,)))
        constant = tuple(name for name, dead in zip(codes.names, codes.constant, strict=True) if dead)
        if constant:
            listed = ", ".join(repr(item) for item in constant[:5]) + (", ..." if len(constant) > 5 else "")
            message = f"constant codes ({listed}) carry no information and no importance"
            notes.append(Note(code="constant-code", message=message, subject=constant))
        if self.clipped:
            message = f"{self.clipped:,} values outside the frame's ranges were counted in the first or last bin"
            notes.append(Note(code="clipped", message=message, severity="warning"))
        return Subject(codes, factors, tuple(active), Data(codes, varying), tuple(notes))


def _only(counts: JointCounts, active: list[int]) -> JointCounts:
    """Return the counts of some factors."""
    return JointCounts(
        tuple(counts.tables[index] for index in active),
        {
            (active.index(i), active.index(k)): table
            for (i, k), table in counts.factor_tables.items()
            if i in active and k in active
        },
        np.asarray(counts.code_bins),
    )


def table_settings(name: str, options: Mapping[str, Any]) -> TableSettings | None:
    """Return how a metric reads its information table, if it counts whole rows in bins."""
    spec = CATALOGUE[name]
    if spec.group != "information" or spec.needs_codes_std or options.get("estimator", "histogram") != "histogram":
        return None
    return TableSettings(binning=options["bins"], correction=options.get("correction", "none"))


def counted_metrics() -> tuple[str, ...]:
    """Return the metrics that count every row when an accumulator has a frame.

    Returns
    -------
    tuple of str
        Under an estimator other than histograms they are computed from a sample of the rows, as the others are.

    Examples
    --------
    >>> counted_metrics()[:3]
    ('mig', 'mig_sup', 'modularity')
    """
    return tuple(name for name, spec in CATALOGUE.items() if spec.group == "information" and not spec.needs_codes_std)


def check_with_frame(frame: Frame, kinds: object, reg_dim: object) -> None:
    """Refuse kinds other than those of a frame, and codes that it does not have.

    Raises
    ------
    InputError, InputTypeError
    """
    for name, kind in given_kinds(kinds, frame.factors).items():
        if frame.kinds[name] != kind:
            raise InputError(
                f"kinds: factor {name!r} is {frame.kinds[name]} in the frame, got {kind!r}; make the frame with "
                f"Frame.of(codes, factors, kinds=...)"
            )
    if reg_dim is not None:
        regularising_codes(reg_dim, frame.codes, frame.factors)
