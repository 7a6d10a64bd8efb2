"""Whether errors depend on the codes: a transition and the audited rows give the same score only if they do not."""

from dataclasses import dataclass

import numpy as np

from demele.core.results import Note
from demele.scoring.noisy.case import Work
from demele.scoring.noisy.signed_tables import SignedTables

#: Distance in standard deviations from which the two disagree: a level of 1 %.
FARTHEST = 2.58


@dataclass(frozen=True, slots=True)
class Consistency:
    """How far a transition and the audited rows disagree about one score.

    Attributes
    ----------
    distance : float
        In standard deviations of the bootstrap; the nearer one to 0, with the bias that the bootstrap shows or without.
    """

    distance: float

    @property
    def holds(self) -> bool:
        """Whether the two agree."""
        return not abs(self.distance) > FARTHEST

    @property
    def sentence(self) -> str:
        """What is said where they do not."""
        return (
            "errors depend on the codes; the transition correction does not hold (it and the audited rows differ by "
            f"{abs(self.distance):.1f} standard deviations)"
        )

    def note(self) -> Note:
        """Return the warning for a score."""
        return Note(code="errors-depend-on-codes", message=self.sentence, severity="warning")


def consistency(work: Work, tables: SignedTables) -> Consistency | None:
    """Compare a score by a transition with that by audited rows; None where no factor is audited.

    Parameters
    ----------
    work : Work
    tables : SignedTables
        With the same resamples for both.
    """
    if tables.difference is None or tables.difference_draws is None:
        return None
    read = work.request.read
    apart = float(read(tables.table).value) - float(read(tables.difference).value)
    draws = np.asarray(read(tables.draws).value) - np.asarray(read(tables.difference_draws).value)
    spread = float(draws.std(ddof=1))
    if not spread > 1e-12:  # no error among the audited rows: both are the score as given
        return Consistency(0.0)
    return Consistency(nearer(apart / spread, (2 * apart - float(draws.mean())) / spread))


def nearer(plain: float, unbiased: float) -> float:
    """Return the distance nearer to 0, with or without the bias that resamples show; 0 where they lie on both sides.

    Resamples of a table whose empty cells are noise show more bias than the table has: taken off alone, it makes false
    alarms of one in ten.
    """
    if plain * unbiased <= 0:
        return 0.0
    return min(plain, unbiased, key=abs)
