"""Method ``audited``: the score of true values of audited rows, plus what all rows add to these; no noise model."""

import numpy as np
from numpy.typing import NDArray

from demele.core.corrected import CorrectedScore
from demele.core.errors import quoted
from demele.core.results import Interval, Note
from demele.scoring.noisy.audited_rows import of_rows
from demele.scoring.noisy.audited_tables import of_tables
from demele.scoring.noisy.case import Case, NotCorrected, Work
from demele.scoring.noisy.consistency import consistency
from demele.scoring.noisy.halves import Parts, draws_of_halves
from demele.scoring.noisy.knowledge import NoiseOfFactor
from demele.scoring.noisy.transition import NAME as TRANSITION
from demele.scoring.noisy.transition import shared_tables

NAME = "audited"
#: Audited rows below which nothing is corrected, and below which nothing was measured.
FEWEST, MEASURED = 100, 300
#: Audited rows for each value that a factor takes.
ROWS_PER_VALUE = 5


#: What of the distance to the score as given is none of the annotations'.
BIAS_TOO = (
    "The bias of information from few rows is corrected as well (Miller-Madow), which it is not in the score as given."
)


def correct(case: Case, work: Work) -> CorrectedScore | NotCorrected:
    """Correct any score by true values of rows that were drawn at random."""
    refused = _refused(case)
    if refused is not None:
        return refused
    settings = work.request.settings
    counted = settings is not None and settings.resamples_by_weight
    parts = of_tables(case, work) if counted else of_rows(case, work)
    if isinstance(parts, NotCorrected):
        return parts
    if not np.isfinite(parts.value):
        return NotCorrected("the score is not defined on the audited rows; audit more of them")
    return CorrectedScore(
        value=parts.value,
        interval=_interval(case, parts),
        method=NAME,
        assumptions=(
            "The audited rows were drawn at random, and their true values are right.",
            *case.right_factors(),
            *((BIAS_TOO,) if counted and settings is not None and settings.correction == "none" else ()),
        ),
        audited_alone=parts.audit_true,
        notes=_notes(case, work, parts, counted=counted),
        signature=case.signature(NAME, splits=len(parts.halves), extrapolated=parts.extrapolates),
        draws=draws_of_halves(parts.value, parts.halves),
    )


def _interval(case: Case, parts: Parts) -> Interval | None:
    if not parts.halves.size:
        return None
    wide = parts.half_width(case.run.level)
    method = f"normal, {len(parts.halves)} splits into halves" + ("" if parts.extrapolates else ", approximate")
    return Interval(low=parts.value - wide, high=parts.value + wide, level=case.run.level, method=method)


def _refused(case: Case) -> NotCorrected | None:
    """Say why the audit does not do; None where it does."""
    noisy = list(case.noise.factors.values())
    without = [one for one in noisy if one.kind != "audit"]
    if without:
        return NotCorrected(
            f"factor {quoted(without[0].name)} has no audited rows, but method 'audited' needs some; draw rows at "
            "random with demele.labels.draw_audit, and get the true values of all noisy factors for these rows"
        )
    sets = {frozenset(_rows(one).tolist()) for one in noisy}
    if len(sets) > 1:
        return NotCorrected(
            "the audits are of different rows; method 'audited' needs the true values of all noisy factors"
        )
    k = len(next(iter(sets)))
    if k < FEWEST:
        return NotCorrected(f"{k} audited rows are too few; audit at least {FEWEST}, better {MEASURED} or more")
    for one in noisy:
        if one.values is None or not one.classes:
            continue
        values = np.unique(one.values).size
        if k < ROWS_PER_VALUE * values:
            return NotCorrected(
                f"{k} audited rows are too few for the {values} values of factor {quoted(one.name)}; audit at least "
                f"{ROWS_PER_VALUE} for each"
            )
    return None


def _rows(known: NoiseOfFactor) -> NDArray[np.intp]:
    if known.rows is None:
        raise ValueError("an audit without rows")
    return known.rows


def _notes(case: Case, work: Work, parts: Parts, *, counted: bool) -> tuple[Note, ...]:
    """Return what is to be known of a corrected score."""
    noisy = list(case.noise.factors.values())
    k = _rows(noisy[0]).size
    notes: list[Note] = []
    if k < MEASURED:
        few = f"{k} audited rows are few: how often such intervals hold the truth was measured from {MEASURED} rows on"
        notes.append(Note(code="few-audited", message=few, severity="warning"))
    unclear = max(one.unclear for one in noisy)
    if unclear:
        told = f"{unclear} of {k + unclear} drawn rows have unclear true values; they are assumed to be like others"
        notes.append(Note(code="audit-unclear", message=told, severity="warning"))
    if not counted and parts.halves.size:
        rough = "the interval is approximate: how often it holds the truth was measured for scores of counts only"
        notes.append(Note(code="approximate-interval", message=rough))
    notes += _dependence(case, work)
    return (*notes, *work.out_of_range(parts.value))


def _dependence(case: Case, work: Work) -> list[Note]:
    """Say that errors depend on the codes, where that can be seen: noisy annotations may then flatter a code."""
    settings = work.request.settings
    if settings is None or settings.correction != "none" or TRANSITION not in work.asked.metric.corrected_by:
        return []
    tables = shared_tables(case, settings)
    agreed = None if isinstance(tables, NotCorrected) else consistency(work, tables)
    return [] if agreed is None or agreed.holds else [agreed.note()]
