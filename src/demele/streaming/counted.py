"""Scores of what was counted: from tables under the edges of a frame, through the same functions as from rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FragileScoreWarning, InputError, NotEnoughData, UndefinedFactorWarning, warn_user
from demele.core.inputs import Factors, Missing, given_kinds
from demele.core.results import Dependency, Evaluation, FactorSummary, LeftOut, Note, Score, Severity
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.estimation.counts import JointCounts
from demele.estimation.independence import Finding, dependence_of_counts
from demele.estimation.information import information_table
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.data import Data
from demele.metrics.fragility import FRAGILE
from demele.metrics.information.scores import native_of
from demele.metrics.information.tables import TableSettings
from demele.metrics.noise_notes import unchecked_notes
from demele.metrics.options import regularising_codes
from demele.metrics.outcomes import Outcome, assumed_codes
from demele.metrics.presented import score_of
from demele.metrics.requests import Request, Run, Subject, request_for
from demele.streaming.frame import Frame
from demele.streaming.states import CountState

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning

__all__ = ["Counted", "Seen", "Stated", "check_with_frame", "counted_metrics", "table_settings", "warn_of_constants"]

#: Share of values beyond a frame's ranges from which a score says more of the frame than of the codes.
MUCH = 0.05


@dataclass(frozen=True, slots=True)
class Seen:
    """What results say of the rows so far, of which there are states only.

    Attributes
    ----------
    frame : Frame
    n : int
        Rows.
    annotated : list of int
        Rows annotated for each factor.
    clipped : int
        Values that were moved to the ends of their ranges.
    active : list of int
        Factors that vary.
    bins : tuple of (bins from the first to the last with rows, bins), one per code
        Of counted metrics; else empty.
    """

    frame: Frame
    n: int
    annotated: list[int]
    clipped: int
    active: list[int]
    bins: tuple[tuple[int, int], ...] = ()

    def subject(self) -> Subject:
        """Return the representation without its rows."""
        codes, factors = self.frame.described(self.n, self.annotated)
        varying = Factors(tuple(factors.columns[index] for index in self.active), factors.missing)
        notes = []
        for index, factor in enumerate(factors.columns):
            if index not in self.active:
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
        notes += self._badly_framed()
        return Subject(codes, factors, tuple(self.active), Data(codes, varying), tuple(notes))

    def _badly_framed(self) -> list[Note]:
        """Say where the ranges of the frame do not fit the rows: what was clipped, and bins that no code reaches."""
        notes = []
        if self.clipped:
            values = self.n * (len(self.frame.codes) + sum(one.kind == "continuous" for one in self.frame.columns))
            message = f"{self.clipped:,} values outside the frame's ranges were counted in the first or last bin"
            severity: Severity = "fragile" if self.clipped > MUCH * values else "warning"
            notes.append(Note(code="clipped", message=message, severity=severity))
        narrow = [
            (name, used, bins)
            for name, (used, bins) in zip(self.frame.codes, self.bins, strict=False)
            if bins > 1 and used * 2 < bins
        ]
        if narrow:
            told = ", ".join(f"{name!r} uses {used} of {bins}" for name, used, bins in narrow[:5])
            more = ", ..." if len(narrow) > 5 else ""
            message = (
                f"the frame's ranges are wide for {len(narrow)} of {len(self.frame.codes)} codes: of its bins, {told}"
                f"{more}; ranges that fit (Frame.of) tell more of them"
            )
            subject = tuple(name for name, _, _ in narrow)
            notes.append(Note(code="wide-frame", message=message, subject=subject, severity="fragile"))
        return notes

    def nothing_varies(self, metric: str) -> LeftOut:
        """Say that a metric has no value, since no factor varies."""
        listed = ", ".join(map(repr, self.frame.factors[:6]))
        reason = f"factors: none of them varies in the {self.n} rows so far: {listed}"
        return LeftOut(metric=metric, reason=reason)

    def framed(self, score: Score) -> Score:
        """Return a score whose signature says which frame it was computed under."""
        signature = score.signature
        context = {**signature.context, "frame": self.frame.digest()}
        return replace(score, signature=Signature(signature.metric, signature.arguments, context))

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
            notes=self.subject().notes,
            version=__version__,
        )

    def summaries(self) -> tuple[FactorSummary, ...]:
        """Say of each factor what an evaluation does."""
        return tuple(
            FactorSummary(
                name=column.name,
                kind=column.kind,
                n_levels=len(column.levels) if column.kind == "categorical" else None,
                n_annotated=known,
                constant=index not in self.active,
            )
            for index, (column, known) in enumerate(zip(self.frame.columns, self.annotated, strict=True))
        )


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
        warned: set[str],
    ) -> tuple[dict[str, Score], dict[str, LeftOut]]:
        """Return scores by metric, and why others have none; ``warned`` are messages that need not come again."""
        stated = Stated(options, protocol=protocol, reg_dim=reg_dim, missing=missing, seed=seed, kinds=kinds)
        findings: dict[Binning, Finding] = {}
        for name, settings in tables.items():
            counts = self.states[settings.binning].counted
            if counts is None:
                raise ValueError("a settled state with rows has counts")
            active = self.varying(counts)
            used = _reached(counts)
            pairs = zip(used.tolist(), counts.code_bins.tolist(), strict=True)
            seen = replace(self.seen(active), bins=tuple(pairs))
            request = stated.request(name, seen, warned)
            if request is None:
                continue
            # A code that stays in one bin is constant for these metrics, as one without a range is.
            kept = replace(_only(counts, active), code_bins=np.where(used > 1, counts.code_bins, 1))
            table = information_table(kept, settings.correction)
            native = native_of(name, table, request.reg_dim)
            value = float(native.value)
            notes = assumed_codes(request, table)
            if value > FRAGILE:
                if settings.binning not in findings:
                    findings[settings.binning] = dependence_of_counts(kept)
                notes += unchecked_notes(value, self.n, len(self.frame.codes), finding=findings[settings.binning])
            stated.add(seen, request, Outcome(native=native, notes=notes))
        return stated.scores, stated.left_out

    def varying(self, counts: JointCounts) -> list[int]:
        """Return the factors that fall into more than one bin."""
        return [index for index, table in enumerate(counts.tables) if (table[0].sum(axis=0) > 0).sum() > 1]

    def seen(self, active: list[int] | None = None) -> Seen:
        """Return what results say of the rows; the factors that vary are those under the first rule, if not given."""
        if active is None:
            counts = next(iter(self.states.values())).counted
            active = [] if counts is None else self.varying(counts)
        return Seen(self.frame, self.n, self.annotated, self.clipped, active)


class Stated:
    """Scores of states, as they are made: the checks, notes and signatures that scores of rows have.

    Parameters
    ----------
    options : mapping of name to mapping
        All options of each metric.
    protocol, reg_dim, missing, seed, kinds
        As in :func:`demele.evaluate`.
    """

    def __init__(
        self,
        options: Mapping[str, dict[str, Any]],
        *,
        protocol: str,
        reg_dim: object,
        missing: Missing,
        seed: int,
        kinds: object,
    ) -> None:
        self._run = Run.checked(seed=seed, repeats=1, bootstrap=0, level=0.95, chance=0, n_jobs=1, missing=missing)
        self._options, self._protocol, self._reg_dim, self._kinds = options, protocol, reg_dim, kinds
        self.scores: dict[str, Score] = {}
        self.left_out: dict[str, LeftOut] = {}

    def request(self, name: str, seen: Seen, warned: set[str]) -> Request | None:
        """Return what is asked of a metric; None, with the reason in ``left_out``, where it does not apply."""
        if not seen.active:
            self.left_out[name] = seen.nothing_varies(name)
            return None
        subject = seen.subject()
        warn_of_constants(subject, warned)
        try:
            return request_for(CATALOGUE[name], self._options[name], subject, self._reg_dim)
        except NotEnoughData as error:
            self.left_out[name] = LeftOut(metric=name, reason=str(error))
            return None

    def add(self, seen: Seen, request: Request, outcome: Outcome) -> None:
        """Name, note and sign what was computed."""
        score = score_of(request, outcome, seen.subject(), self._run, self._protocol, self._kinds)
        self.scores[request.name] = seen.framed(score)


def _reached(counts: JointCounts) -> NDArray[np.intp]:
    """Count the bins of each code from the first to the last that holds rows."""
    held = np.any([table.sum(axis=-1) > 0 for table in counts.tables], axis=0)
    return np.asarray(held.shape[1] - held.argmax(axis=1) - held[:, ::-1].argmax(axis=1), dtype=np.intp)


def warn_of_constants(subject: Subject, warned: set[str]) -> None:
    """Warn of factors that do not vary, and of a frame that does not fit, of each once."""
    for note in subject.notes:
        fragile = note.severity == "fragile"
        key = note.code if fragile else note.message  # the numbers of the one grow with the rows
        if (fragile or note.code == "constant-factor") and key not in warned:
            warned.add(key)
            warn_user(note.message, FragileScoreWarning if fragile else UndefinedFactorWarning)


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
        Under an estimator other than histograms they are computed from a sample of the rows, as the others are. With
        a frame, SAP of continuous factors and IRS are of every row too; they sum floats, and so are exact to rounding,
        not to the bit: :func:`demele.streaming.accumulator.accumulated_metrics`.

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
                "kinds",
                f"factor {name!r} is {frame.kinds[name]} in the frame, got {kind!r}; make the frame with "
                f"Frame.of(codes, factors, kinds=...)",
            )
    if reg_dim is not None:
        regularising_codes(reg_dim, frame.codes, frame.factors)
