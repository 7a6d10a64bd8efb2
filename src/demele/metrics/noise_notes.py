"""Scores that codes of noise would have as well say so, also where no chance level was asked for."""

from collections.abc import Mapping, Sequence

import numpy as np

from demele.core.results import Note, Severity
from demele.core.sentences import setting
from demele.estimation.independence import Finding, dependence
from demele.metrics.data import Data
from demele.metrics.fragility import FRAGILE
from demele.metrics.native import Native

__all__ = [
    "FEW_ROWS_PER_CODE",
    "at_chance_notes",
    "findings_of",
    "many_codes",
    "noise_notes",
    "unchecked_notes",
    "unexplained_notes",
]

#: Fewer rows than this for each code, and the level of chance is looked at.
FEW_ROWS_PER_CODE = 20
#: Predictors explain next to nothing below this explicitness: on enough rows, and where the codes are many for them.
UNEXPLAINED, UNEXPLAINED_BY_MANY = 0.05, 0.2
ASK = f"{setting('demele.evaluate(..., chance=20)', chance=20)} gives the level of chance"


def many_codes(n: int, d: int) -> bool:
    """Whether the codes are many for the rows."""
    return n < FEW_ROWS_PER_CODE * d


def findings_of(data: Data, *, n_codes: int | None = None) -> Finding:
    """Look for anything that the codes tell of the factors."""
    factors = [(factor.values, factor.categorical) for factor in data.factors.columns]
    return dependence(data.codes.values, factors, n_codes=n_codes)


def noise_notes(value: float, finding: Finding) -> tuple[Note, ...]:
    """Return a note where a score is above 0 and no code tells anything of any factor."""
    if finding.told or not value > FRAGILE:
        return ()
    message = (
        "in these rows no code tells anything of any factor (smallest p-value of "
        f"{finding.n_pairs:,} comparisons, corrected for their number: {finding.p:.2g}): codes of noise score about as "
        f"well; {ASK}"
    )
    return (Note(code="noise", message=message, severity="fragile"),)


def at_chance_notes(value: float, chance: Sequence[float], n: int, d: int, *, of: str = "") -> tuple[Note, ...]:
    """Return a note where the codes are many for the rows and score above 0 with the rows of the factors shuffled.

    ``of`` says of which codes the level is, where not of all.
    """
    level = float(np.mean(chance)) if len(chance) else float("nan")
    if not (value > FRAGILE and level > FRAGILE and many_codes(n, d)):
        return ()
    how = "one shuffle" if len(chance) == 1 else f"mean of {len(chance)}"
    message = (
        f"{d:,} codes are many for {n:,} rows: with the rows of the factors shuffled, so that codes tell nothing of "
        f"them, it is {level:.3f} instead of {value:.3f} ({how}{of}); {ASK}"
    )
    return (Note(code="many-codes", message=message, severity="fragile"),)


def unexplained_notes(natives: Mapping[str, Native], n: int, d: int) -> dict[str, tuple[Note, ...]]:
    """Return notes, by metric, for DCI whose predictors predict nothing: what is important to them is chance."""
    explicitness = next((float(one.value) for name, one in natives.items() if name.endswith("_explicitness")), np.nan)
    if not explicitness < (UNEXPLAINED_BY_MANY if many_codes(n, d) else UNEXPLAINED):
        return {}
    message = (
        f"the predictors explain little of the factors (explicitness {explicitness:.3f}, {d:,} codes, {n:,} rows): "
        f"which codes are important to them is largely chance; {ASK}"
    )
    note = Note(code="unexplained", message=message, severity="fragile")
    return {
        name: (note,)
        for name, one in natives.items()
        if not name.endswith("_explicitness") and float(one.value) > FRAGILE
    }


def unchecked_notes(value: float, n: int, d: int, *, finding: Finding | None) -> tuple[Note, ...]:
    """Return what must be said of a score of counts or sums, whose rows cannot be shuffled.

    Parameters
    ----------
    value : float
    n, d : int
        Rows and codes.
    finding : Finding or None
        What counts tell; None where only sums are kept.
    """
    if not value > FRAGILE:
        return ()
    if finding is not None:
        found = noise_notes(value, finding)
        if found or not many_codes(n, d):
            return found
        message = (
            f"{d:,} codes are many for {n:,} rows: codes of noise may score as well. Only counts are kept, which "
            "cannot be shuffled: score the rows, or a sample of them, with demele.evaluate(chance=20)"
        )
        return (Note(code="many-codes", message=message, severity="fragile"),)
    message = (
        "only sums are kept: whether codes of noise would score as much was not looked at; score a sample of the rows "
        "with demele.evaluate(chance=20)"
    )
    severity: Severity = "fragile" if many_codes(n, d) else "info"
    return (Note(code="chance-unchecked", message=message, severity=severity),)
