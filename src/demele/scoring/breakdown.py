"""At which rate of wrong annotations the order of two representations can turn round."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.columns import Missing
from demele.core.errors import InputTypeError, quoted
from demele.core.inputs import read_pair
from demele.core.kinds import Bins, Kinds, checked_name
from demele.core.result import TableResult
from demele.estimation.counts import bin_rows, column_bins, joint_counts
from demele.estimation.information import InformationTable
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.options import as_binning
from demele.metrics.source import InMemory, Subject
from demele.report.document import Document, Mark, Strip, Strips
from demele.report.words import at_most, count, name, written
from demele.runtime.work import Report, reporting

if TYPE_CHECKING:
    from demele.estimation.annotation_errors import BinnedCodes

#: Rates are told to this precision.
PRECISION = 2.5e-4
#: Rates up to this one are looked at.
MOST = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Breakdown(TableResult):
    """The breakdown point of the order of two representations, between two rates of wrong annotations.

    Attributes
    ----------
    metric : str
    ahead, behind : str
        Names of the representation that scores higher on the annotations as given, and of the other.
    value_ahead, value_behind : float
        Their scores.
    guaranteed : float
        Certified rate: the order stays with up to this rate of wrong annotations in each factor, in the worst case.
    attained : float
        The order reversed at this rate, with the worst annotations that were found; NaN if half of the annotations did
        not reverse it. The breakdown point lies between the two rates.
    n : int
        Rows (the largest number over factors, where annotations are missing).
    """

    _kind = "breakdown"
    _forms: ClassVar[Mapping[str, str]] = {"guaranteed": "percent.2", "attained": "percent.2"}

    metric: str
    ahead: str
    behind: str
    value_ahead: float
    value_behind: float
    guaranteed: float
    attained: float
    n: int

    def headline(self) -> str:
        """Return the share of wrong annotations up to which the order is certain."""
        ahead, behind = (
            f"{name(one)} ({written(value)})"
            for one, value in ((self.ahead, self.value_ahead), (self.behind, self.value_behind))
        )
        title = CATALOGUE[self.metric].title
        if self.value_ahead == self.value_behind:
            return (
                f"By {title}, {name(self.ahead)} and {name(self.behind)} score the same, {written(self.value_ahead)}."
            )
        return (
            f"By {title}, {ahead} stays ahead of {behind} if at most {at_most(self.guaranteed)} of the annotations of "
            "each factor are wrong."
        )

    def document(self) -> Document:
        """Return the document: the two rates between which the order breaks down."""
        turned = f"Changing {written(self.attained, 'percent.2')} of the annotations of each factor reverses the order"
        worst = f"{turned}, in the worst places that were found."
        none = "No change of half of the annotations was found that reverses the order."
        rates = {"Order certain up to": self.guaranteed, "Order reversed at": self.attained}
        strips = [Strip(title, [Mark("bar", at)], written(at, "percent.2")) for title, at in rates.items()]
        return replace(
            super(Breakdown, self).document(),
            sentences=[none if math.isnan(self.attained) else worst] if self.value_ahead > self.value_behind else [],
            figure=Strips("Wrong annotations of each factor", strips, "percent", zero=0.0),
            scope=[count(self.n, "row")],
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """One representation in bins: its score, its bounds, and what relabelling needs."""

    name: str
    counts: list[Floats]
    codes: "BinnedCodes"
    factors: Rows
    value: float


def breakdown(
    codes_a: object,
    codes_b: object,
    factors: object,
    metric: str = "mig",
    *,
    bins: Bins = 10,
    kinds: Kinds = None,
    missing: Missing = "raise",
    names: tuple[str, str] = ("A", "B"),
) -> Breakdown:
    """Return the rate of wrong annotations that the order of two representations holds up to.

    Parameters
    ----------
    codes_a, codes_b : array-like of shape (n_samples, n_codes), real, finite
        Two representations of the same rows; the numbers of codes may differ.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        The annotations of the same rows.
    metric : {"mig", "mig_sup", "dcimig"}
        By which the two are ordered.
    bins : int, Binning or edges, default 10
        As in :func:`demele.metrics.mig`. An annotation of a continuous factor is wrong if it is in another bin.
    kinds : None, str, mapping or sequence
        As in :func:`demele.evaluate`.
    missing : {"raise", "omit"}, default "raise"
        What to do where annotations are missing: refuse them, or take each factor on the rows annotated for it. Rates
        then are shares of the annotations that a factor has.
    names : tuple of two str
        What the result calls them.

    Returns
    -------
    Breakdown
        ``guaranteed``, a certified rate up to which the order stays; ``attained``, a rate that reversed it. Print it,
        or its ``sentence``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError

    Notes
    -----
    The rate is that of each factor. Guaranteed: the largest rate at which the lower bound of the one is above the upper
    bound of the other (bisection). Attained: annotations are changed where the slope of the difference is steepest, the
    same for both. Both are of these rows; sampling is not in them. Cost: seconds for ten codes and four factors.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> shape = rng.integers(0, 4, (400, 2)).astype(str)
    >>> known = (shape == "0") + 2.0 * (shape == "1") + 3.0 * (shape == "2")
    >>> found = demele.probes.breakdown(known, known + rng.normal(size=(400, 2)), shape, names=("exact", "noisy"))
    >>> found.ahead, 0.01 < found.guaranteed < found.attained
    ('exact', True)
    """
    from demele.estimation.annotation_errors import BOUNDS, BinnedCodes, attained_share, information_bounds, table_of

    rule, of_table = as_binning(bins), CATALOGUE[checked_name(metric, "metric", BOUNDS)].formula

    def formula(table: InformationTable) -> Floats:
        return np.asarray(of_table(table).value)

    if not isinstance(names, Sequence) or len(names) != 2:
        raise InputTypeError("names", f"expected two names, got {quoted(names)}")
    both = []
    for own_name, codes in zip(names, (codes_a, codes_b), strict=True):
        data = InMemory(Subject.of(*read_pair(codes, factors, kinds=kinds, missing=missing))).data
        bins_of = column_bins(data.codes, data.factors, rule)
        rows = bin_rows(data.codes, data.factors, *bins_of)
        counts = list(joint_counts(data.codes, data.factors, *bins_of).tables)
        binned = BinnedCodes(rows.codes, int(rows.code_bins.max()))
        both.append(_Scored(own_name, counts, binned, rows.factors, float(formula(table_of(counts)))))
    ahead, behind = both if both[0].value >= both[1].value else both[::-1]
    guaranteed, attained = 0.0, 0.0
    if ahead.value > behind.value:
        n_values = [table.shape[-1] for table in ahead.counts]
        with reporting() as report:
            attained = attained_share(
                ahead.codes,
                behind.codes,
                ahead.factors,
                n_values,
                formula,
                MOST,
                _half(report, 0, "annotations are changed where it hurts most"),
            )
            high = MOST if math.isnan(attained) else attained
            halvings = math.ceil(math.log2(high / PRECISION)) if high > PRECISION else 0
            for done in range(halvings):
                _half(report, 1, "the order is certified")(done / halvings)
                middle = (guaranteed + high) / 2
                of_both = [information_bounds(one.counts, [middle] * len(n_values)) for one in (ahead, behind)]
                if BOUNDS[metric](of_both[0])[0] > BOUNDS[metric](of_both[1])[1]:
                    guaranteed = middle
                else:
                    high = middle
    return Breakdown(
        metric=metric,
        ahead=ahead.name,
        behind=behind.name,
        value_ahead=ahead.value,
        value_behind=behind.value,
        guaranteed=guaranteed,
        attained=attained,
        n=int(max(table[0].sum() for table in ahead.counts)),
    )


def _half(report: Report | None, half: int, label: str) -> Callable[[float], None]:
    """Return what tells how much of one half of the work is done."""
    return lambda part: None if report is None else report(half + part, 2.0, label)
