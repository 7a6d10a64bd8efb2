"""The errors that artificial annotators should have: small, and near the multiples of a step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.kinds import checked_share

#: Errors are shares of counts: a tolerance of 1% holds 1% itself, whatever its last bit.
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class ErrorAims:
    """The multiples that errors should be near.

    Attributes
    ----------
    highest : float
        Errors are below it.
    step : float
        Errors are near a multiple of it, 0 being one.
    tolerance : float
        How near.

    Examples
    --------
    >>> aims = ErrorAims(0.4, 0.05, 0.01)
    >>> len(aims), aims.near(0.26), aims.near(0.27), aims.near(0.395), aims.near(0.4)
    (9, 5, None, 8, None)
    """

    highest: float
    step: float
    tolerance: float

    @classmethod
    def checked(cls, highest_error: object, step: object, tolerance: object) -> "ErrorAims":
        """Return the aims that a user asked for.

        Raises
        ------
        InputError
        """
        highest = checked_share(highest_error, "highest_error", 0, 1)
        apart = checked_share(step, "step", 0, highest)
        return cls(highest, apart, checked_share(tolerance, "tolerance", 0, apart / 2))

    def __len__(self) -> int:
        """Count the multiples, from 0, that an eligible error can be near."""
        return int(np.ceil((self.highest + self.tolerance - SLACK) / self.step))

    def interval(self, turn: int) -> tuple[float, float]:
        """Return the errors that are near a multiple; turns go round all of them."""
        middle = turn % len(self) * self.step
        return max(0.0, middle - self.tolerance), min(self.highest - SLACK, middle + self.tolerance)

    def near(self, error: float) -> int | None:
        """Return which multiple an error is near; None if it is near none, or too large."""
        if error >= self.highest - SLACK:
            return None
        multiple = round(error / self.step)
        return multiple if abs(error - multiple * self.step) <= self.tolerance + SLACK else None


def in_turn(groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the first of each group, then the second of each, and so on.

    Examples
    --------
    >>> in_turn([[0, 4, 5], [], [2, 3]])
    [0, 2, 4, 3, 5]
    """
    longest = max((len(group) for group in groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]
