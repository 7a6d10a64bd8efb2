"""Expert labels of some rows: how the rows were chosen decides what may be concluded from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from demele.core.arrays import Array, Flags, Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Count, CountOrNone, Fraction, Kind, Rate, Seed, checked
from demele.core.labelled import Indices, Vocabulary, common_vocabulary, read_labels, read_models
from demele.core.result import Note
from demele.core.table_columns import as_column, items_of, number_column, optional_numbers
from demele.noise.transition import changed, digest, set_fields

Design = Literal["uniform", "weighted", "stratified", "selective"]
#: What an audit found contradicts an assumption under which it is found more seldom than this.
UNLIKELY = 0.01
#: Arithmetic on shares of rows may be off by so much.
SLACK = 1e-9
#: Of fewer rows, most may well be wrong.
FEW_AUDITED = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CodedAudit:
    """An audit in the vocabulary of a test set.

    Attributes
    ----------
    rows : array of intp of shape (k,)
        Distinct, in the order in which they were drawn.
    labels : array of int32 of shape (k,)
        What the expert says, as class indices.
    inclusion : array of shape (k,)
        Probability that each of these rows was to be drawn: k / n for a uniform design, NaN for a selective one.
    design : {"uniform", "weighted", "stratified", "selective"}
    n : int
        Rows of the test set.
    least : float or None
        For a weighted or stratified design, if known: the least such probability of all rows on which models disagree.
    unclear : int
        Rows that were drawn and that the expert could not label; they are none of the k.
    within : array of bool of shape (n,) or None
        For a stratified design: the rows of the first stratum.
    unseen : float in [0, 1]
        Assumed of the other rows: at most this share is truly of a class that none of them is labelled.
    """

    rows: Rows
    labels: Indices
    inclusion: Floats
    design: Design
    n: int
    least: float | None = None
    unclear: int = 0
    within: Flags | None = None
    unseen: float = 1.0

    @property
    def k(self) -> int:
        """Number of audited rows."""
        return int(self.rows.size)

    @property
    def strata(self) -> tuple[tuple[Flags, Flags], ...]:
        """Parts in which the audited rows are a simple random sample: flags of all rows and of the audited ones."""
        if self.within is None:
            return ((np.ones(self.n, np.bool_), np.ones(self.k, np.bool_)),)
        return tuple((part, part[self.rows]) for part in (self.within, ~self.within))

    def unseen_rows(self, given: Indices, k: int) -> Floats:
        """Return how many labels of the last stratum are wrong at most, for each of ``k`` classes; given labels (n,).

        What is assumed limits classes without a label there; if all labels there are of one class, every class.
        """
        rest = self.strata[-1][0]
        labelled = np.bincount(given[rest], minlength=k) > 0
        limited = ~labelled | (labelled.sum() == 1)
        return np.where(limited, np.floor(self.unseen * rest.sum() + SLACK), np.inf)

    def assumed(self, given: Indices) -> tuple[str, ...]:
        """Return what is assumed of the rows outside the first stratum, from the given labels of shape (n,).

        Raises
        ------
        InputError
            If each class is the label of one of these rows, or the audited ones contradict it.
        """
        from scipy.stats import hypergeom

        if self.unseen >= 1:
            return ()
        rest, drawn = self.strata[-1]
        size, labelled = int(rest.sum()), np.unique(given[rest])
        if labelled.size == np.unique(given).size:
            raise InputError("unseen_positives", "every class is the label of a row outside `within`; leave it out")
        most, found = int(self.unseen * size + SLACK), int(np.count_nonzero(~np.isin(self.labels[drawn], labelled)))
        allowed = f"at most a share of {self.unseen:g} ({most}) of the {size:,} rows outside the first stratum"
        if hypergeom.sf(found - 1, size, most, drawn.sum()) < UNLIKELY:
            told = f"but {found} of {drawn.sum()} audited ones are"
            raise InputError("unseen_positives", f"{allowed} can be positive, {told}; give a larger share")
        return (f"Assumed, not measured: {allowed} has a true class that no label there has.",)

    def wrong_labels(self, given: Indices) -> float:
        """Estimate how many of all given labels, of shape (n,), are wrong: each found one counts as 1 / inclusion."""
        return float((1 / self.inclusion[given[self.rows] != self.labels]).sum())

    def notes(self, given: Indices) -> tuple[Note, ...]:
        """Say what the expert changed of the given labels, of shape (n,), and what the expert could not label.

        A warning, if most labels were changed.
        """
        changed = int(np.count_nonzero(given[self.rows] != self.labels))
        message = f"the expert changed {changed} of {self.k} audited labels"
        most = self.k >= FEW_AUDITED and 2 * changed > self.k
        if most:
            message += ", more than half: are its rows those of this test set, from 0, and its classes the same?"
        changes = Note(code="audit", message=message, severity="warning" if most else "info")
        return changes, *unclear_notes(self.k, self.unclear)

    def __repr__(self) -> str:
        known = (self.rows, self.labels, self.inclusion, *(() if self.unseen >= 1 else (self.unseen,)))
        return f"CodedAudit(k={self.k}, n={self.n}, design={self.design!r}, digest={digest(*known)!r})"


def unclear_notes(k: int, unclear: int) -> tuple[Note, ...]:
    """Say how many rows the expert could not label, besides ``k`` audited ones."""
    if not unclear:
        return ()
    message = f"{unclear} of {k + unclear} rows were unclear to the expert and are taken to be as the audited ones are"
    return (Note(code="audit-unclear", message=message, severity="warning"),)


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Audit:
    """Expert labels of some rows, and the design by which the rows were chosen.

    Parameters
    ----------
    rows : array-like of int of shape (k,)
        Distinct row numbers, from 0, in the order in which they were drawn.
    labels : array-like of shape (k,), or mapping of str to array-like
        What the expert says, in the same order; it is taken as true: classes, or scores of one system, or scores of
        several systems by name. A score is NaN or None where a row was not scored.
    design : {"uniform", "weighted", "stratified", "selective"}
        ``"uniform"``: a simple random sample of all rows, without replacement. ``"weighted"``: a random sample in which
        each row had a known probability. ``"stratified"``: two simple random samples, one among the rows ``within`` and
        one among all others; :func:`join_audits` makes one. ``"selective"``: rows chosen for a reason, such as those
        that models disagree on; nothing can be said of the other rows from them, whatever their number.
    probabilities : array-like of shape (k,), optional
        For ``"weighted"``: the probability in (0, 1] that each audited row was to be drawn.
    least_probability : float, optional
        For ``"weighted"``: the least such probability of all rows, audited or not, on which the compared classifiers
        disagree. Only ``compare(..., exact=True)`` needs it; :func:`draw_audit` keeps it.
    unclear : int >= 0
        Further rows that were drawn and that the expert could not label. They are left out of ``rows``, and named in
        the notes of every result; probabilities are those of the rows that are left, each times the share of clear
        rows.
    within : array-like of int of shape (m,), optional
        For ``"stratified"``: all rows of the first stratum, audited or not.
    unseen_positives : float in [0, 1]
        For ``"stratified"``, an assumption where it is below 1: at most this share of the rows outside ``within`` is
        truly of a class that none of them is labelled. It narrows what a rare class leaves open, and is not measured:
        if more are, the intervals miss by as much. An audit that contradicts it is refused.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If rows are repeated, negative or no whole numbers, if lengths differ, or probabilities are missing or odd.

    Attributes
    ----------
    labels : array of shape (k,), or (k, n_systems)
        Scores of several systems are columns.
    systems : tuple of str
        Their names; none for classes, and for scores of one system.

    Examples
    --------
    >>> audit = Audit([7, 2, 5], ["cat", "dog", "cat"], design="uniform")
    >>> audit.k, audit.design
    (3, 'uniform')
    """

    checked_by_kind = True

    rows: Rows
    labels: Array
    systems: tuple[str, ...]
    design: Design
    probabilities: Floats | None
    least_probability: float | None
    unclear: int
    within: Rows | None
    unseen_positives: float

    @checked
    def __init__(
        self,
        rows: object,
        labels: object,
        *,
        design: Design,
        probabilities: object = None,
        least_probability: Fraction | None = None,
        unclear: CountOrNone = 0,
        within: object = None,
        unseen_positives: Rate = 1.0,
    ) -> None:
        drawn, systems = read_rows(rows), tuple(map(str, labels)) if isinstance(labels, Mapping) else ()
        if isinstance(labels, Mapping) and not systems:
            raise NotEnoughData("labels", "expected scores of at least one system, got none")
        read = []
        for one in labels.values() if isinstance(labels, Mapping) else [labels]:
            column = as_column(one, "labels")
            real = column.dtype.kind == "f" and column.ndim == 1 and (column != np.round(column)).any()
            read.append(optional_numbers(one, "labels", "score") if systems or real else read_labels(one, "labels"))
            if read[-1].size != drawn.size:
                raise InputError("labels", f"expected one per audited row, {drawn.size}, got {read[-1].size}")
        for name, value, of in (
            ("probabilities", probabilities, "weighted"),
            ("least_probability", least_probability, "weighted"),
            ("within", within, "stratified"),
            ("unseen_positives", unseen_positives if unseen_positives < 1 else None, "stratified"),
        ):
            if value is not None and design != of:
                raise InputError(name, f"only for design {of!r}, got it with {design!r}; leave out one of them")
            if value is None and design == of and name in ("probabilities", "within"):
                needed = "the probability in (0, 1] that each audited row was to be drawn"
                needed = needed if name == "probabilities" else "all rows of the first stratum; see join_audits"
                raise InputError(name, f"a {design} design needs {needed}")
        chances = None
        if probabilities is not None:
            wanted = "numbers in (0, 1]"
            chances = number_column(
                probabilities, "probabilities", drawn.size, "audited row", wanted, inside=lambda p: (p > 0) & (p <= 1)
            )
        set_fields(
            self,
            rows=drawn,
            labels=np.stack(read, axis=1) if systems else read[0],
            systems=systems,
            design=design,
            probabilities=chances,
            least_probability=least_probability,
            unclear=unclear,
            within=None if within is None else read_rows(within, "within"),
            unseen_positives=unseen_positives,
        )

    def __repr__(self) -> str:
        known = digest(self.rows, self.labels, self.probabilities if self.within is None else self.within)
        return f"Audit(k={self.k}, design={self.design!r}, digest={known!r})"

    @property
    def k(self) -> int:
        """Number of audited rows."""
        return int(self.rows.size)

    @property
    def scores(self) -> Mapping[str, Floats]:
        """The true scores of each system; of one alone, the name is ""."""
        if self.systems:
            return dict(zip(self.systems, self.labels.T, strict=True))
        return {"": optional_numbers(self.labels, "labels", "score")}

    def scores_of(self, name: str) -> Floats:
        """Return the true scores of one system.

        Raises
        ------
        InputError
            If it has none of it.
        """
        held = self.scores
        if name not in held and set(held) != {""}:
            raise InputError("audit", f"has no true scores of {name!r}; it has those of {', '.join(held)}")
        return held[name if name in held else ""]

    def of(self, name: str) -> "Audit":
        """Return the audit of the scores of one system."""
        return changed(self, labels=self.scores_of(name), systems=())

    def inclusion(self, n: int, argument: str = "audit") -> tuple[Floats, Flags | None]:
        """Return the probability of each audited row to be drawn of ``n`` rows, and which rows are the first stratum.

        NaN for a selective design; no stratum but for a stratified one.
        """
        if self.probabilities is not None:
            return self.probabilities, None
        if self.within is None:
            return np.full(self.k, self.k / n if self.design == "uniform" else np.nan), None
        refuse_beyond(self.within, n, f"{argument}.within")
        within = np.zeros(n, np.bool_)
        within[self.within] = True
        # The share of each stratum that was audited is the probability of its rows.
        inclusion = np.ones(self.k)
        for part, where in ((within, "within"), (~within, "outside")):
            here = part[self.rows]
            inclusion[here] = here.sum() / max(part.sum(), 1)
            if part.any() and not here.any():
                size = self.within.size
                raise NotEnoughData(argument, f"none of its rows lies {where} the {size:,} rows of `within`")
        return inclusion, within

    def coded(self, vocabulary: Vocabulary, n: int, argument: str = "audit") -> CodedAudit:
        """Return the audit of a test set of ``n`` rows, with labels as indices of its classes.

        Raises
        ------
        InputError
            If it names rows that do not exist, or labels that are no classes.
        """
        refuse_beyond(self.rows, n, argument)
        if self.systems or self.labels.dtype.kind == "f":
            raise InputError(argument, "has scores, where classes are expected")
        labels = vocabulary.encode(self.labels, f"{argument}.labels")
        inclusion, within = self.inclusion(n, argument)
        least = self.least_probability if within is None else float(inclusion.min())
        known = (least, self.unclear, within, self.unseen_positives)
        return CodedAudit(self.rows, labels, inclusion, self.design, n, *known)

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with columns row, label (or of each system) and, if weighted, probability."""
        said = self.scores if self.systems else {"label": self.labels}
        columns: dict[str, Any] = {"row": self.rows, **said}
        if self.probabilities is not None:
            columns["probability"] = self.probabilities
        return pd.DataFrame(columns)


def refuse_beyond(rows: Rows, n: int, argument: str = "audit") -> None:
    """Refuse row numbers that data of ``n`` rows do not have."""
    beyond = np.flatnonzero(rows >= n)
    if beyond.size:
        first = f"row {rows[beyond[0]]} (entry {beyond[0]})"
        raise InputError(argument, f"names {first}, which does not exist: the {n:,} rows are 0 to {n - 1}")


#: Problem and fix of an audit of another design.
_OTHER_DESIGNS = {
    "selective": (
        "rows that were chosen because they looked wrong do not represent the others",
        "draw rows at random, with demele.labels.draw_audit(n, size), and have these annotated",
    ),
    "weighted": (
        "scores are corrected from uniform audits, got a weighted one",
        "draw rows at random without disagreement=, with demele.labels.draw_audit(n, size)",
    ),
}


def refuse_other_designs(design: str) -> None:
    """Refuse audits of factors whose rows were not drawn uniformly, with what would help."""
    if design != "uniform":
        raise InputError("design", *_OTHER_DESIGNS.get(design, (f"expected 'uniform', got {quoted(design)}",)))


#: Files of expert labels on the command line: one, and perhaps a second one.
AuditData = Annotated[Audit | None, Kind("FILE", lambda word: [word], repeats=True, is_file=True)]


@checked
def join_audits(first: Audit, second: Audit, *, within: object) -> Audit:
    """Join a random audit of all rows and one of a part of them, such as rows on which models disagree.

    Parameters
    ----------
    first : Audit
        Of design ``"uniform"``: a simple random sample of all rows.
    second : Audit
        Of design ``"uniform"`` too: a simple random sample of the rows ``within``, or of those that the first audit
        had left. It may hold rows of the first, with the same labels.
    within : array-like of int of shape (m,)
        All rows that the second was drawn among, audited or not. They must not depend on any audited label.

    Returns
    -------
    Audit
        Of design ``"stratified"``; :func:`demele.classifiers.compare` and :func:`demele.classifiers.assess` take it.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If a design is another, the second holds rows that are not ``within``, or the two differ on a row.

    Notes
    -----
    Of N rows, W are ``within``. The first audit drew n1 rows, m of them within; the second added n2. Given these
    numbers, the m + n2 rows are a simple random sample of the W, and the other n1 - m one of the N - W. So their
    probabilities are (m + n2) / W and (n1 - m) / (N - W) (poststratification; Holt and Smith 1979), and every stratum
    has an estimate of its own.

    Examples
    --------
    Of 10 rows, 4 were drawn at random, and 2 more of the 5 rows on which two models disagree:

    >>> first = Audit([0, 3, 6, 9], ["cat", "dog", "cat", "dog"], design="uniform")
    >>> second = Audit([1, 2], ["dog", "dog"], design="uniform")
    >>> joined = join_audits(first, second, within=[0, 1, 2, 4, 5])
    >>> joined.k, joined.design
    (6, 'stratified')
    """
    for name, audit in (("first", first), ("second", second)):
        if audit.design != "uniform":
            raise InputError(name, f"expected an audit of design 'uniform', got {quoted(audit.design)}")
    said, other = first.labels, second.labels
    if "f" in (said.dtype.kind, other.dtype.kind):
        raise InputError(("first", "second"), "expected audits of classes, got scores")
    among = read_rows(within, "within")
    stray = second.rows[~np.isin(second.rows, among)]
    if stray.size:
        raise InputError(("second", "within"), f"{stray.size} rows of the second are not within, first row {stray[0]}")
    rows, here, there = np.intersect1d(first.rows, second.rows, return_indices=True)
    unlike = np.flatnonzero(said[here] != other[there])
    if unlike.size:
        one, two = (quoted(labels[at[unlike[0]]]) for labels, at in ((said, here), (other, there)))
        raise InputError(("first", "second"), f"row {rows[unlike[0]]} is {one} in one, {two} in the other")
    new = np.isin(second.rows, first.rows, invert=True)
    return Audit(
        np.r_[first.rows, second.rows[new]],
        np.r_[said, other[new]],
        design="stratified",
        unclear=first.unclear + second.unclear,
        within=among,
    )


def read_rows(rows: object, argument: str = "rows") -> Rows:
    """Read distinct row numbers, counted from 0."""
    array = as_column(rows, argument)
    if array.ndim != 1:
        raise InputError(argument, f"expected row numbers of shape (k,), got shape {array.shape}")
    if array.size == 0:
        raise NotEnoughData(argument, "expected at least 1 row, got none")
    if array.dtype.kind not in "iu":
        remedy = "use numpy.flatnonzero(mask)" if array.dtype.kind == "b" else "use astype(int)"
        raise InputTypeError(argument, f"expected row numbers of an integer type, got {array.dtype}", remedy)
    below = np.flatnonzero(array < 0)
    if below.size:
        raise InputError(argument, f"expected row numbers from 0, got {array[below[0]]} (entry {below[0]})")
    array = array.astype(np.intp)
    distinct, counts = np.unique(array, return_counts=True)
    if distinct.size < array.size:
        twice = distinct[counts > 1]
        raise InputError(argument, f"expected each row once, got row {twice[0]} more than once; keep one label per row")
    return array


# Rows for an expert to label: drawn at random, more often where models disagree with the label ------------------------


#: Votes counted at a time, so that memory stays bounded.
CELLS_AT_ONCE = 1 << 23


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AuditPlan:
    """Rows to show to an expert.

    Attributes
    ----------
    rows : array of intp of shape (k,)
        In the order in which they were drawn.
    probabilities : array of shape (k,) or None
        Probability that each was to be drawn; None for a uniform design (k / n for all).
    design : {"uniform", "weighted", "stratified"}
    n : int
        Rows of the test set.
    least_probability : float or None
        For a weighted design: the least such probability of all rows with disagreement, drawn or not. If the
        disagreement is that of a pool, no row on which two models of the pool disagree had a smaller one.
    within : array of intp of shape (m,) or None
        For a stratified design: all rows of the first stratum, drawn or not.
    """

    rows: Rows
    probabilities: Floats | None
    design: Design
    n: int
    least_probability: float | None = None
    within: Rows | None = None

    def __repr__(self) -> str:
        return f"AuditPlan(k={self.rows.size}, n={self.n}, design={self.design!r}, digest={digest(self.rows)!r})"

    def answered(self, labels: object, *, unseen_positives: float = 1.0) -> Audit:
        """Return the audit, given the expert's labels in the order of ``rows``; ``unseen_positives`` as in ``Audit``.

        Raises
        ------
        InputError, InputTypeError, NotEnoughData
            If their number differs, or they are no classes.
        """
        return Audit(
            self.rows,
            labels,
            design=self.design,
            probabilities=self.probabilities,
            least_probability=self.least_probability,
            within=self.within,
            unseen_positives=unseen_positives,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with columns row and, for a weighted design, probability: a form to fill in."""
        columns: dict[str, Any] = {"row": self.rows}
        if self.probabilities is not None:
            columns["probability"] = self.probabilities
        return pd.DataFrame(columns)


@checked
def draw_audit(
    n: Count, size: Count, *, disagreement: object = None, floor: Fraction = 0.4, within: object = None, seed: Seed = 0
) -> AuditPlan:
    """Draw rows for an expert to label.

    Parameters
    ----------
    n : int
        Rows of the test set.
    size : int in 1..n
        Rows to draw.
    disagreement : array-like of shape (n,), optional
        Numbers >= 0, larger where a label is worth more, such as :func:`disagreement`. Without them every row is as
        likely (design ``"uniform"``). With them (design ``"weighted"``), the probability of a row is proportional to
        floor + (1 - floor) disagreement / mean(disagreement), and 1 where that would exceed 1.
    floor : float in (0, 1]
        What a row without disagreement keeps, relative to the mean; 1 ignores the disagreement.
    within : array-like of int of shape (m,), optional
        Draw half of the rows among these, or all of these if they are fewer, and the others among the other rows
        (design ``"stratified"``). For a rare class: all rows that the given label, a model or a reader calls so.
    seed : int >= 0

    Returns
    -------
    AuditPlan
        Exactly ``size`` distinct rows. With the same seed, a larger uniform audit begins with the rows of a smaller.

    Raises
    ------
    InputError, InputTypeError
        If there are fewer than ``size`` rows, the disagreement is not n finite numbers >= 0, or one of both strata is
        empty.

    Notes
    -----
    Source: Rosen 1997, Pareto order sampling: the ``size`` rows with the smallest [u / (1 - u)] / [p / (1 - p)], u
    uniform. The inclusion probabilities are p up to a difference that vanishes as the sample grows (below 0.001 from
    about 20 rows on).

    Examples
    --------
    >>> plan = draw_audit(1000, 3, seed=1)
    >>> plan.answered(["cat", "dog", "cat"]).design
    'uniform'
    """
    if size > n:
        raise InputError("size", f"expected at most {n} rows, as many as there are, got {size}")
    if within is not None:
        among = read_rows(within, "within")
        rest = np.setdiff1d(np.arange(n), among)
        if disagreement is not None or rest.size + among.size != n or not rest.size or size < 2:
            raise InputError("within", f"expected some of {n} rows, not all; a size of 2 or more, and no disagreement")
        k = min(max(size // 2, size - rest.size), among.size, size - 1)
        rng = rng_for(seed, "draw_audit", "stratified", n)
        rows = np.concatenate([rng.permutation(among)[:k], rng.permutation(rest)[: size - k]])
        return AuditPlan(rows.astype(np.intp), None, "stratified", n, within=among)
    if disagreement is None:
        rows = rng_for(seed, "draw_audit", "uniform", n).permutation(n)[:size]
        return AuditPlan(rows.astype(np.intp), None, "uniform", n)
    doubts = number_column(disagreement, "disagreement", n, "row")
    mean = doubts.mean() or 1.0
    chances = inclusion_probabilities(floor + (1 - floor) * doubts / mean, size)
    draws = rng_for(seed, "draw_audit", "weighted", n).random(n)
    with np.errstate(divide="ignore"):
        ranks = np.where(chances >= 1, 0.0, draws / (1 - draws) * (1 / chances - 1))
    first = np.argpartition(ranks, size - 1)[:size] if size < n else np.arange(n)
    rows = first[np.lexsort((first, ranks[first]))].astype(np.intp)
    doubtful = doubts > 0
    least = float(chances[doubtful].min() if doubtful.any() else chances.min())
    return AuditPlan(rows, chances[rows], "weighted", n, least)


def inclusion_probabilities(weights: Floats, size: int) -> Floats:
    """Return probabilities proportional to weights > 0 that sum to ``size``, none above 1; shape (n,).

    Rows that would exceed 1 are drawn surely, and the others share the rest, until none exceeds 1.
    """
    chances = np.ones(weights.size)
    order = np.argsort(weights, kind="stable")[::-1]
    sorted_weights = weights[order]
    rest = np.cumsum(sorted_weights[::-1])[::-1]
    # With the `sure` largest weights drawn surely, the next one must not exceed 1; the least such number is the answer.
    sure = np.arange(min(size, weights.size))
    scale = (size - sure) / rest[: sure.size]
    fits = scale * sorted_weights[: sure.size] <= 1
    if fits.any():
        start = int(np.argmax(fits))
        others = order[start:]
        chances[others] = np.minimum(scale[start] * weights[others], 1.0)
    return chances


def disagreement(predictions: object, labels: object = None) -> Floats:
    """Measure the disagreement of a pool of models on each instance, where expert labels are most useful.

    Parameters
    ----------
    predictions : array-like of shape (n_models, n), mapping of name to predictions, or data frame
        Predicted classes; a data frame has a column per model.
    labels : array-like of shape (n,), optional
        Given labels, which count as one more model.

    Returns
    -------
    array of shape (n,)
        Square of the entropy of the predictions, in squared nats: 0 where all agree.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Time O(n_models n), memory bounded. For two models: (log 2)^2 where they disagree, 0 elsewhere.

    Examples
    --------
    >>> disagreement([["cat", "dog", "cat"], ["cat", "cat", "cat"]]).round(4)
    array([0.    , 0.4805, 0.    ])
    """
    if isinstance(predictions, Mapping) or hasattr(predictions, "columns"):
        models = read_models(predictions)
    else:
        items = items_of(predictions, "predictions", "shape (n_models, n)")
        models = {f"predictions, model {index}": values for index, values in enumerate(items)}
        if len(models) < 2 and labels is None:
            raise NotEnoughData("predictions", f"expected at least 2 models, shape (n_models, n), got {len(models)}")
    rows = [read_labels(values, name) for name, values in models.items()]
    rows += [] if labels is None else [read_labels(labels, "labels")]
    n, n_voters = rows[0].size, len(rows)
    for index, row in enumerate(rows):
        if row.size != n:
            what = f"model {index}" if index < len(models) else "labels"
            hint = "; pass predictions.T" if what == "labels" and index == row.size else ""
            told = f"got {n} rows for model 0 and {row.size} for {what}{hint}"
            raise InputError("predictions", f"expected shape (n_models, n), the same n for all, {told}")
    words = common_vocabulary(rows)
    k, votes = len(words), np.stack([words.encode(row, f"predictions, model {i}") for i, row in enumerate(rows)])
    shares = np.arange(1, n_voters + 1) / n_voters
    terms = np.append(0.0, -shares * np.log(shares))  # of each number of votes for a class
    result = np.empty(n)
    step = max(1, CELLS_AT_ONCE // max(k, n_voters))
    for start in range(0, n, step):
        part = votes[:, start : start + step].astype(np.int64)
        width = part.shape[1]
        counts = np.bincount((part + np.arange(width) * k).ravel(), minlength=width * k).reshape(width, k)
        result[start : start + step] = terms[counts].sum(axis=1) ** 2
    return result
