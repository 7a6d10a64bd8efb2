"""Rows that belong together, such as the images of a patient: their information compared with independent rows.

Groups are what is drawn from the population, with their rows; what is claimed is about rows. An estimate then varies as
its sums over groups do. The *design effect* is that variance over the variance of as many rows apart: n rows are worth
n over it.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.arrays import Array, Counts, Floats, Rows
from demele.core.columns import numbered_rows
from demele.core.errors import InputError, NotEnoughData
from demele.core.proportions import normal_quantile, score_interval
from demele.core.uncertainty import Note
from demele.noise.audit import CodedAudit
from demele.noise.transition import digest

if TYPE_CHECKING:
    from demele.core.labelled import Labelled


#: Fewer groups say nothing of the groups to come.
LEAST_GROUPS = 10
#: With fewer groups a note is attached: that errors are kept was simulated from here on.
FEW_GROUPS = 30
#: So many groups of several rows that were audited whole were not met by drawing rows.
WHOLE_GROUPS = 3
#: A group with a larger share of the disagreements is named.
MOST = 0.5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Groups:
    """The group of every row.

    Attributes
    ----------
    codes : array of intp of shape (n,)
        Group of each row, from 0.
    sizes : array of int64 of shape (n_groups,)
    """

    codes: Rows
    sizes: Counts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.bincount(self.codes).astype(np.int64))

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.sizes.size)

    @property
    def single(self) -> bool:
        """Whether every group is one row, which is as having no groups."""
        return self.count == self.codes.size

    def sums(self, values: Any) -> Floats:
        """Sum values of shape (n,) over the rows of each group."""
        return np.asarray(np.bincount(self.codes, weights=values, minlength=self.count), dtype=np.float64)

    def spread(self) -> float:
        """Factor that makes a sum of squares over groups a variance: G / (G - 1)."""
        return self.count / (self.count - 1)

    def __repr__(self) -> str:
        return f"Groups(n={self.codes.size}, groups={self.count}, digest={digest(self.codes)!r})"


def read_groups(values: object, n: int, *, population: bool = True) -> Groups | None:
    """Read the group of every row, in the order of the rows; for claims about a population, there must be some.

    Raises
    ------
    InputError
        If there are not ``n`` of them, or some are missing.
    NotEnoughData
        If there are fewer groups than can be said anything from.
    """
    if values is None:
        return None
    codes, count = numbered_rows(values, "groups", n, "labels")
    if population and count < LEAST_GROUPS:
        message = f"expected at least {LEAST_GROUPS} groups, got {count}; collect more, or use `inference='test_set'`"
        raise NotEnoughData("groups", message)
    return Groups(codes)


def refuse_whole_groups(groups: Groups, audit: CodedAudit) -> None:
    """Refuse an audit of whole groups: rows that were drawn together are no random sample of rows.

    Raises
    ------
    InputError
        If every group of several rows with an audited one was audited whole, and others were not.
    """
    if audit.design == "selective" or audit.k >= audit.n:
        return
    met = np.bincount(groups.codes[audit.rows], minlength=groups.count)
    several = (groups.sizes > 1) & (met > 0)
    if np.count_nonzero(several) < WHOLE_GROUPS or (met[several] < groups.sizes[several]).any():
        return
    message = (
        f"all {np.count_nonzero(several)} audited groups of several rows were audited whole, but "
        f"design={audit.design!r} says that rows were drawn; draw rows, whatever their groups (`draw_audit()`)"
    )
    raise InputError(("audit", "groups"), message)


def group_notes(groups: Groups | None, *, used: bool, apart: Any = None, largest: float = 0.0) -> tuple[Note, ...]:
    """Say how many groups there are and what their rows are worth; warn where these are few, or one stands for most.

    Parameters
    ----------
    groups : Groups or None
    used : bool
        Whether sampling is by groups.
    apart : float, optional
        Rows apart that these are worth.
    largest : float
        Largest share of the disagreements that one group has.
    """
    if groups is None:
        return ()
    n = groups.codes.size
    if not used:
        why = "each is one row" if groups.single else "the result is about these rows alone"
        return (Note(code="groups", message=f"{n} rows in {groups.count} groups: {why}, so nothing changes"),)
    message = f"{n} rows in {groups.count} groups"
    if apart is not None:
        worth = f"as informative as about {apart:.0f} independent rows"
        message += "; rows of a group are as different as others" if apart > 0.98 * n else f"; {worth}"
    notes = [Note(code="groups", message=message)]
    if groups.count < FEW_GROUPS:
        message = f"only {groups.count} groups: their spread is uncertain, so intervals are wide"
        notes.append(Note(code="few-groups", message=message, severity="warning"))
    if largest > MOST:
        message = f"one group holds {largest:.0%} of the rows on which two classifiers disagree: the others say little"
        notes.append(Note(code="one-group", message=message, severity="warning"))
    return tuple(notes)


def ends_at(hits: Floats, trials: Floats, share: Floats | float, *, level: float) -> tuple[Floats, Floats]:
    """Score intervals at a share of the trials; everything is possible where trials are worth nothing."""
    low, high = score_interval(hits * share, trials * share, level=level)
    nothing = (trials > 0) & (np.asarray(share) <= 0)
    return np.where(nothing, 0.0, low), np.where(nothing, 1.0, high)


def effective_share(hits: Array, trials: Array, groups: Groups, *, level: float) -> float:
    """Return what share of the trials of a proportion counts in its score interval; 0 with one group.

    Parameters
    ----------
    hits, trials : arrays of shape (n,)
        What each row adds to the successes and to the trials.
    groups : Groups
    level : float in (0, 1)

    Notes
    -----
    With p the proportion of u trials, the design effect is G / (G - 1) sum_g (T_g - p U_g)^2 over u p (1 - p), not
    below 1; if no row differs from the others, it is that of constant groups, sum U_g^2 / u. Trials are
    divided by it and, for the few degrees of freedom, by (t / z)^2 with t of one less than the groups that have a trial
    (Korn and Graubard 1998).
    """
    if groups.single:
        return 1.0
    within = groups.sums(trials)
    total, count = float(within.sum()), int(np.count_nonzero(within))
    if count < 2:
        return 0.0 if count and total > 1 else 1.0
    alike = float((within**2).sum() / total)
    p = float(np.sum(hits)) / total
    apart = total * p * (1 - p)
    between = float(((groups.sums(hits) - p * within) ** 2).sum()) * count / (count - 1)
    effect = max(between / apart, 1.0) if apart > 0 else alike
    return student_share(count - 1, level=level) / effect


def class_shares(data: "Labelled", measure: str, groups: Groups, *, level: float) -> Floats:
    """Return :func:`effective_share` of the first model: of its accuracy, shape (1,), or of each class."""
    classes: Any = [None] if measure == "accuracy" else range(data.k)
    shares = [effective_share(*row_counts(data, measure, of, 0), groups, level=level) for of in classes]
    return np.array(shares)


def alike_share(groups: Groups, *, level: float) -> float:
    """Return the effective share of all rows if those of each group are all the same."""
    if groups.single:
        return 1.0
    effect = float(groups.sizes @ groups.sizes) / groups.codes.size
    return student_share(groups.count - 1, level=level) / effect


def student_share(degrees: int, *, level: float) -> float:
    """Return (z / t)^2: what share of the trials counts for the few degrees of freedom of their variance."""
    from scipy.special import stdtrit

    probability = (1 + level) / 2
    return (normal_quantile(probability) / float(stdtrit(degrees, probability))) ** 2


def row_counts(data: "Labelled", measure: str, of: int | None, model: int) -> tuple[Array, Array]:
    """Return what each row adds to the successes and trials of a proportion; shape (n,) each."""
    predictions, labels = data.predictions[model], data.labels
    right = predictions == labels
    if measure == "accuracy":
        return right, np.ones(data.n)
    predicted, labelled = predictions == of, labels == of
    trials = {"precision": predicted, "recall": labelled, "f1": predicted | labelled}[measure]
    return predicted & labelled, trials
