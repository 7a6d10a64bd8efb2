"""Method ``transition``: informations of true values from a known or counted transition, with signed cells."""

import numpy as np

from demele.core.corrected import CorrectedScore
from demele.core.results import Interval
from demele.metrics.data import TableSettings
from demele.scoring.noisy.case import Case, NotCorrected, Work, half_width
from demele.scoring.noisy.consistency import consistency
from demele.scoring.noisy.halves import draws_of_halves
from demele.scoring.noisy.signed_tables import SignedTables, signed_tables
from demele.scoring.noisy.transition_rows import of_classifiers

NAME = "transition"
#: What must be true, always said.
INDEPENDENT = "Given the true value of a factor, errors of its annotation do not depend on the codes."
#: What must be said of scores that train classifiers.
TRAINED = (
    "Classifiers are trained on the annotations as given, and judged as by true values: trained on right annotations, "
    "they may score higher."
)
_OF_KIND = {
    "transition": "The transition of {} is known exactly.",
    "counts": "The rows that were counted for {} are a random sample of rows like these.",
    "audit": "The audited rows of {} were drawn at random, and their true values are right.",
}


def correct(case: Case, work: Work) -> CorrectedScore | NotCorrected:
    """Correct a score that is a function of informations and entropies."""
    settings = work.request.settings
    if NAME not in work.asked.metric.corrected_by:
        return NotCorrected(
            "the score is not made of tables of a code and a factor alone, in which a transition undoes errors; with "
            "true values of rows that are drawn at random, method 'audited' corrects it"
        )
    if settings is None:
        return _of_classifiers(case, work)
    if settings.estimator != "histogram":
        return NotCorrected("a transition undoes errors in counts, not among nearest neighbours; take histograms")
    if settings.correction != "none":
        return NotCorrected(
            f"signed information is not biased as plug-in information is, so correction {settings.correction!r} does "
            "not go with it; leave it at 'none'"
        )
    tables = shared_tables(case, settings)
    return tables if isinstance(tables, NotCorrected) else _corrected(case, work, tables)


def _of_classifiers(case: Case, work: Work) -> CorrectedScore | NotCorrected:
    """Correct a score whose classifiers are judged by rows."""
    found = of_classifiers(case, work)
    if isinstance(found, NotCorrected):
        return found
    value, halves = found
    interval = None
    if len(halves) > 1:
        wide = half_width(float(np.sqrt(np.mean((halves[:, 0] - halves[:, 1]) ** 2) / 4)), case.run.level)
        method = f"normal, {len(halves)} splits into halves, approximate"
        interval = Interval(low=value - wide, high=value + wide, level=case.run.level, method=method)
    return CorrectedScore(
        value=value,
        interval=interval,
        method=NAME,
        assumptions=(INDEPENDENT, TRAINED, *_assumed(case), *case.right_factors()),
        notes=work.out_of_range(value),
        signature=case.signature(NAME, splits=len(halves)),
        draws=draws_of_halves(value, halves),
    )


def shared_tables(case: Case, settings: TableSettings) -> SignedTables | NotCorrected:
    """Return the signed tables of a case, made once for all scores of the same settings."""
    key = (NAME, settings)
    if key not in case.shared:
        case.shared[key] = signed_tables(case, settings)
    found: SignedTables | NotCorrected = case.shared[key]
    return found


def _corrected(case: Case, work: Work, tables: SignedTables) -> CorrectedScore | NotCorrected:
    value = float(work.request.read(tables.table).value)
    if value != value:
        return NotCorrected("the corrected annotations leave a factor without entropy; count or audit more rows")
    agreed = consistency(work, tables)
    if agreed is not None and not agreed.holds and not case.by_name:
        return NotCorrected(f"{agreed.sentence}; method 'audited' makes no such assumption")
    notes = tables.notes if agreed is None or agreed.holds else (*tables.notes, agreed.note())
    draws = work.request.read(tables.draws).value
    wide = half_width(float(draws.std(ddof=1)), case.run.level)
    method = f"normal, bootstrap of {len(draws)} resamples"
    return CorrectedScore(
        value=value,
        interval=Interval(low=value - wide, high=value + wide, level=case.run.level, method=method),
        method=NAME,
        assumptions=(INDEPENDENT, *_assumed(case), *case.right_factors()),
        notes=notes + work.out_of_range(value),
        signature=case.signature(NAME, resamples=case.resamples),
        draws=draws,
    )


def _assumed(case: Case) -> tuple[str, ...]:
    """Return what is assumed of each kind of knowledge."""
    said = []
    for kind, sentence in _OF_KIND.items():
        names = [repr(one.name) for one in case.noise.factors.values() if one.kind == kind]
        if names:
            said.append(sentence.format(", ".join(names)))
    return tuple(said)
