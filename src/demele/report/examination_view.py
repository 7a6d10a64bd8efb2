"""A trained model as pages and figures look at it: which codes come first, and which respond to a factor."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["MOST_CODES", "ModelView"]

Item = Mapping[str, Any]
#: Codes that are shown, in their order by K, and codes whose responses are drawn for each factor.
MOST_CODES, MOST_RESPONSES = 24, 8


class ModelView:
    """An examination, and the order in which its codes are shown.

    Parameters
    ----------
    data : mapping
        What ``Examination.to_dict()`` returns.
    """

    def __init__(self, data: Item) -> None:
        self.data, self.names, self.factors = data, list(data["code_names"]), list(data["factor_names"])
        codes = data["codes"]
        #: Those in use first, largest K (or spread) first.
        self.order = sorted(
            range(len(codes)),
            key=lambda j: (not codes[j]["active"], -_known(codes[j]["kl"]), -_known(codes[j]["std"]), j),
        )

    @property
    def active(self) -> list[int]:
        """Codes in use, in their order."""
        return [j for j in self.order if self.data["codes"][j]["active"]]

    def matrix_order(self, values: Sequence[Sequence[float | None]]) -> list[int]:
        """Return the codes as rows of a matrix: those in use first, by the factor of which they tell most."""
        place = {name: index for index, name in enumerate(self.factors)}
        codes = self.data["codes"]
        return sorted(
            self.order,
            key=lambda j: (not codes[j]["active"], place.get(codes[j]["best_factor"], len(place)), -_most(values[j])),
        )[:MOST_CODES]

    def shares(self, factor: str) -> dict[int, float | None]:
        """Return how much each code tells of a factor, None where that is not known."""
        information = self.data["information"]
        column = self.factors.index(factor) if factor in self.factors else None
        return {j: None if column is None or information is None else information[j][column] for j in self.order}

    def responding(self, factor: str) -> list[int]:
        """Return the codes in use that tell most of a factor, first those that tell most."""
        shares = self.shares(factor)
        return sorted(self.active, key=lambda j: -_known(shares[j]))[:MOST_RESPONSES]

    def ends(self, code: int) -> tuple[float, float]:
        """Return the ends of what a code does over all factors."""
        lows = [row[code] for sweep in self.data["sweeps"] for row in sweep["low"]]
        highs = [row[code] for sweep in self.data["sweeps"] for row in sweep["high"]]
        return min(lows), max(highs)


def _known(value: float | None) -> float:
    return 0.0 if value is None else float(value)


def _most(values: Sequence[float | None]) -> float:
    return max(map(_known, values), default=0.0)
