"""What accumulators and passes know of all rows, as a source: joint counts under fixed edges, moments, extremes."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from demele.core.arrays import Rows
from demele.core.errors import FragileScoreWarning, InputError, NotEnoughData, UndefinedFactorWarning, quoted, warn_user
from demele.core.inputs import given_kinds
from demele.core.result import Note, Severity
from demele.estimation.counts import JointCounts
from demele.estimation.independence import Finding, dependence_of_counts
from demele.estimation.information import InformationTable
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.data import TableSettings
from demele.metrics.metric import SUMMED, Metric
from demele.metrics.source import Source, Subject, constant_codes_note, incomplete_note, regularising_codes
from demele.streaming.frame import BinEdges
from demele.streaming.states import CountState, Key, State, key_of

if TYPE_CHECKING:
    from demele.estimation.counts import Binning


#: Share of values beyond a frame's ranges from which a score says more of the frame than of the codes.
MUCH = 0.05


def described(frame: BinEdges, state: State, *, bins: bool) -> Subject:
    """Return the representation without its rows: only a state of them is kept.

    Notes say where the ranges of the frame do not fit the rows: what was clipped, and, with ``bins``, which codes reach
    less than half of those of a state of counts.
    """
    n, varying, clipped = state.n, state.varying, state.clipped
    codes, factors = frame.described(n, state.annotated.tolist())
    notes = []
    for index, factor in enumerate(factors.columns):
        if index not in varying:
            message = f"factor {factor.name!r} is constant and was left out"
            if not factor.constant:
                message = f"factor {factor.name!r} stays in one bin of its range and was left out"
            notes.append(Note(code="constant-factor", message=message, subject=(factor.name,), severity="warning"))
        if not factor.complete:
            notes.append(incomplete_note(factor, n))
    if codes.constant.any():
        notes.append(constant_codes_note(codes))
    if clipped:
        values = n * (len(frame.codes) + sum(one.kind == "continuous" for one in frame.columns))
        message = f"{clipped:,} values outside the frame's ranges were counted in the first or last bin"
        severity: Severity = "fragile" if clipped > MUCH * values else "warning"
        notes.append(Note(code="clipped", message=message, severity=severity))
    narrow = []
    if bins and isinstance(state, CountState):
        reached = zip(frame.codes, _reached(state.counted).tolist(), state.counted.code_bins.tolist(), strict=True)
        narrow = [(name, used, own) for name, used, own in reached if own > 1 and used * 2 < own]
    if narrow:
        told = ", ".join(f"{name!r} uses {used} of {own}" for name, used, own in narrow[:5])
        more = ", ..." if len(narrow) > 5 else ""
        message = (
            f"the frame's ranges are wide for {len(narrow)} of {len(frame.codes)} codes: of its bins, {told}"
            f"{more}; ranges that fit (BinEdges.of) tell more of them"
        )
        subject = tuple(name for name, _, _ in narrow)
        notes.append(Note(code="wide-frame", message=message, subject=subject, severity="fragile"))
    return Subject(codes, factors, tuple(varying), tuple(notes))


class AllRows(Source):
    """All rows: states of them are kept, and no row.

    Attributes
    ----------
    frame : BinEdges
    held : mapping of keys to states
    active : tuple of int or None
        The factors that vary; None: those that vary under the bins of each state.
    """

    states = frozenset({"table", *SUMMED})
    frame: BinEdges
    held: Mapping[Key, State]
    active: tuple[int, ...] | None = None

    def state_for(self, metric: Metric, options: Mapping[str, Any]) -> str | None:
        """Return the state of every row that a metric can be read off; tables are of histograms only."""
        state = super().state_for(metric, options)
        counted = not metric.soft and options.get("estimator", "histogram") == "histogram"
        return state if state != "table" or counted else None

    def counts(self, rule: "Binning") -> JointCounts:
        """Return the counts of the factors that vary."""
        return cast("JointCounts", self.held["table", rule].of_varying(self.active))

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the information table of all rows."""
        counts = self.counts(settings.binning)
        return self.information(counts if pairs else replace(counts, factor_tables={}), settings.correction)

    def sums(self, state: str, options: Mapping[str, Any]) -> Any:
        """Return the sums of all rows, for the factors that vary."""
        return self.held[key_of(state, options)].of_varying(self.active)


class Counted(AllRows):
    """All rows so far under a frame: counts under each rule, and sums.

    Parameters
    ----------
    frame : BinEdges
    held : mapping of keys to states
        All rows counted.
    """

    name = "an accumulator with a frame"
    probed = False

    def __init__(self, frame: BinEdges, held: Mapping[Key, State] = MappingProxyType({})) -> None:
        self.frame = frame
        self.held = held
        self._kept: dict[Binning, JointCounts] = {}
        self._findings: dict[Binning, Finding] = {}
        self._warned: set[str] = set()
        self._subjects: dict[Key, Subject] = {}

    @property
    def complete(self) -> bool:
        """Whether the frame refuses rows that are not annotated for all factors."""
        return self.frame.missing == "raise"

    def factor_kinds(self) -> tuple[str, ...]:
        """Return the kind of each factor."""
        return tuple(column.kind for column in self.frame.columns)

    def knows_bins(self, rule: "Binning") -> bool:
        """Whether the frame knows the edges, or can cut them from its ranges."""
        return not rule.needs_values or rule in self.frame.exact

    @property
    def context(self) -> Mapping[str, str]:
        """What a signature says of the source: which frame scores were computed under."""
        return {"frame": self.frame.digest()}

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the representation without its rows; warn once of what does not vary in it.

        Raises
        ------
        NotEnoughData
            If no factor varies.
        """
        key = key_of(state, options or {})
        if key not in self._subjects:
            self._subjects[key] = described(self.frame, self.held[key], bins=True)
        subject = self._subjects[key]
        if not subject.active:
            listed = ", ".join(map(repr, self.frame.factors[:6]))
            raise NotEnoughData("factors", f"none of them varies in the {subject.n} rows so far: {listed}")
        for note in subject.notes:
            fragile = note.severity == "fragile"
            once = note.code if fragile else note.message  # the numbers of the one grow with the rows
            if (fragile or note.code == "constant-factor") and once not in self._warned:
                self._warned.add(once)
                warn_user(note.message, FragileScoreWarning if fragile else UndefinedFactorWarning)
        return subject

    def about(self) -> Subject:
        """Return what an evaluation says of the rows, under the first of the rules."""
        return described(self.frame, self.held[min(self.held, key=lambda key: key[0] != "table")], bins=False)

    def counts(self, rule: "Binning") -> JointCounts:
        """Return the counts of the factors that vary; a code that stays in one bin has one: it is constant here."""
        if rule not in self._kept:
            found = super().counts(rule)
            whole = cast("CountState", self.held["table", rule]).counted
            self._kept[rule] = replace(found, code_bins=np.where(_reached(whole) > 1, whole.code_bins, 1))
        return self._kept[rule]

    def finding(self, options: Mapping[str, Any] | None = None) -> Finding | None:
        """Look for anything that single codes tell of the factors in their joint counts."""
        rule = (options or {}).get("bins")
        if rule is None or ("table", rule) not in self.held:
            return None
        if rule not in self._findings:
            self._findings[rule] = dependence_of_counts(self.counts(rule))
        return self._findings[rule]


def _reached(counts: JointCounts) -> Rows:
    """Count the bins of each code from the first to the last that holds rows."""
    held = np.any([table.sum(axis=-1) > 0 for table in counts.tables], axis=0)
    return np.asarray(held.shape[1] - held.argmax(axis=1) - held[:, ::-1].argmax(axis=1), dtype=np.intp)


def counted_metrics() -> tuple[str, ...]:
    """Return the metrics that count every row when an accumulator has a frame.

    Returns
    -------
    tuple of str
        Under an estimator other than histograms they are computed from a sample of the rows, as the others are. With
        a frame, SAP of continuous factors, IRS, OMES, MCC and affine R2 are of every row too; they sum floats, so are
        exact to rounding, not to the bit.

    Examples
    --------
    >>> counted_metrics()[:3]
    ('mig', 'mig_sup', 'modularity')
    """
    return tuple(name for name, metric in CATALOGUE.items() if "table" in metric.states and not metric.soft)


def check_with_frame(frame: BinEdges, kinds: object, reg_dim: object) -> None:
    """Refuse kinds other than those of a frame, and codes that it does not have.

    Raises
    ------
    InputError, InputTypeError
    """
    for name, kind in given_kinds(kinds, frame.factors).items():
        if frame.kinds[name] != kind:
            raise InputError(
                "kinds",
                f"factor {name!r} is {frame.kinds[name]} in the frame, got {quoted(kind)}; make the frame with "
                f"BinEdges.of(codes, factors, kinds=...)",
            )
    if reg_dim is not None:
        regularising_codes(reg_dim, frame.codes, frame.factors)
