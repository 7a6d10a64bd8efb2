"""Method ``bounds``: all that can be said of a score if only a rate of wrong annotations is known."""

from demele.core.errors import quoted
from demele.core.results import CorrectedScore, Interval, Note
from demele.estimation.noise_bounds import BOUNDS, InformationBounds, information_bounds
from demele.metrics.data import TableSettings
from demele.scoring.noisy.case import Case, NotCorrected, Work

NAME = "bounds"
#: From this rate on, bounds are close to empty: that is said first.
SAYS_LITTLE = 0.1
ASSUMPTIONS = (
    "The true values are among those that occur; which annotations are wrong, and how, is left open.",
    "The bounds are of these rows: what other rows would have given is not in them.",
)


def correct(case: Case, work: Work) -> CorrectedScore | NotCorrected:
    """Bound a score that is a gap of informations."""
    settings = work.request.settings
    if NAME not in work.asked.metric.corrected_by or settings is None:
        return NotCorrected(
            f"bounds under a rate of wrong annotations are known of {', '.join(BOUNDS)}, and not of {work.title}"
        )
    if settings.estimator != "histogram" or settings.correction != "none":
        return NotCorrected("bounds are of plug-in information in counts; take histograms and correction 'none'")
    if work.request.options.get("reg_dim") is not None:
        return NotCorrected("bounds are of the gap between the two codes that inform most, not of codes that are named")
    others = [one.name for one in case.noise.factors.values() if one.kind != "rate"]
    if others:
        return NotCorrected(
            f"bounds need a rate of wrong annotations for each noisy factor, and {', '.join(map(quoted, others))} has "
            "something else"
        )
    key = (NAME, settings)
    if key not in case.shared:
        case.shared[key] = _bounds(case, settings)
    low, high = BOUNDS[work.asked.metric.name](case.shared[key])
    return CorrectedScore(
        value=float("nan"),
        interval=Interval(low=low, high=high, level=1.0, method="certified bounds", kind="bounds"),
        method=NAME,
        assumptions=(*_rates(case), *ASSUMPTIONS, *case.right_factors()),
        notes=_notes(case, low, high),
        signature=case.signature(NAME),
    )


def _bounds(case: Case, settings: TableSettings) -> InformationBounds:
    counts = case.source.counts_behind(settings)
    if counts is None:
        raise ValueError("nothing was counted")
    shares = [0.0 if one is None else one.share for one in case.of_factors]
    return information_bounds(list(counts.tables), shares)


def _rates(case: Case) -> tuple[str, ...]:
    return tuple(
        f"At most {100 * one.share:.3g}% of the annotations of {one.name!r} are wrong."
        for one in case.noise.factors.values()
    )


def _notes(case: Case, low: float, high: float) -> tuple[Note, ...]:
    found = []
    largest = max(one.share for one in case.noise.factors.values())
    if largest >= SAYS_LITTLE:
        message = (
            f"if {largest:.0%} of the annotations are wrong, in the worst case, the bounds of the score are wide: "
            f"it is between {low:.2f} and {high:.2f}; an audit of random rows narrows them"
        )
        found.append(Note(code="bounds-say-little", message=message, severity="warning"))
    continuous = tuple(
        one.name
        for one, known in zip(case.source.data.factors.columns, case.of_factors, strict=True)
        if known is not None and not one.categorical
    )
    if continuous:
        message = f"an annotation of {', '.join(map(quoted, continuous))} counts as wrong if it is in another bin"
        found.append(Note(code="wrong-is-another-bin", message=message, subject=continuous))
    return tuple(found)
