"""What an evaluation says of axes: scores of the codes as they are and of turned codes, on the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from demele.core.chance import Chance
from demele.core.checked_numbers import is_number
from demele.core.errors import InputTypeError
from demele.core.result import TableResult
from demele.core.uncertainty import Interval

Reading = Literal[
    "off the axes", "partly off the axes", "on the axes", "entangled", "absent", "partly", "unknown", "any axes"
]
#: A gap that is not above this is small, whatever the score: noise has gaps of up to half of it.
NOTABLE = 0.02
#: A gap that is at least this share of the aligned score is large; from the second on, a part of it is off the axes.
SHARE, PART = 0.25, 0.1
#: An aligned score below this is low.
LOW = 0.15
#: A score of explicitness from the first on says that the factors can be read, one below the second that they cannot.
READ, UNREAD = 0.5, 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedHalf:
    """One half of the rows, scored with axes that were found on the other half.

    Attributes
    ----------
    candidate : str
        How the codes were turned: "identity" (not at all), "readout", "class means" or "joint diagonalisation"; after
        "whitened, ", of whitened codes.
    raw, aligned : float
        Scores of these rows, of the codes as they are and turned.
    """

    candidate: str
    raw: float
    aligned: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Alignment(TableResult):
    """Change of a score when the codes are rotated towards the factors.

    Attributes
    ----------
    raw, aligned, gap : float
        Means over two halves of the rows. Axes are found, and one way to turn is chosen, on the other half. ``raw`` is
        of half as many rows as the score's own value, which stays as it is. ``gap`` is ``aligned - raw``, a low
        estimate that grows with the rows.
    halves : tuple of AlignedHalf
    interval : Interval or None
        Interval of the gap, if resamples were asked for.
    chance : Chance or None
        Gaps of the whole procedure on permuted rows of the factors, if permutations were asked for.
    whitened : bool
        Whether codes might be made uncorrelated, of equal variance, before they were turned.
    reading : str
        ``"off the axes"``: the gap is large. ``"partly off the axes"``: it is a smaller share of a score that is not
        low. ``"on the axes"``: it is small, the score is not low. Small and low:
        ``"entangled"``, ``"absent"``, ``"partly"`` or ``"unknown"``, by the largest score of explicitness.
        ``"any axes"``: a score of explicitness alone, for which axes do not matter.
    explicitness : tuple of (str, float), or None
        The score of explicitness behind the reading.
    """

    _kind = "alignment"

    raw: float
    aligned: float
    gap: float = field(init=False)
    halves: tuple[AlignedHalf, ...]
    interval: Interval | None = None
    chance: Chance | None = None
    whitened: bool = False
    reading: Reading = "unknown"
    explicitness: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        """Compute the gap."""
        for name in ("raw", "aligned"):
            if not is_number(getattr(self, name)):
                raise InputTypeError(name, f"expected a number, got {type(getattr(self, name)).__name__}")
        object.__setattr__(self, "gap", self.aligned - self.raw)

    def headline(self) -> str:
        """Return the reading of the gap."""
        return said(self.reading, self.explicitness, whitened=self.whitened)

    def row(self) -> dict[str, object]:
        """Return the columns that tables and CSV files add to the score, in a fixed order."""
        return {
            "raw": self.raw,
            "aligned": self.aligned,
            "gap": self.gap,
            "gap_low": None if self.interval is None else self.interval.low,
            "gap_high": None if self.interval is None else self.interval.high,
        }


def reading_of(
    raw: float,
    aligned: float,
    *,
    interval: Interval | None = None,
    chance: Chance | None = None,
    explicitness: float | None = None,
    floor: bool = False,
) -> Reading:
    """Return what raw and aligned scores say together.

    Parameters
    ----------
    raw, aligned : float
    interval, chance : optional
        Of the gap, which counts only above 0 by the one, and above all that chance gives by the other.
    explicitness : float, optional
        The largest score of explicitness.
    floor : bool
        Whether the metric rates codes of noise far above 0, so that only explicitness tells that nothing is there.

    Examples
    --------
    >>> reading_of(0.1, 0.9), reading_of(0.9, 0.91), reading_of(0.03, 0.04, explicitness=0.8)
    ('off the axes', 'on the axes', 'entangled')
    """
    gap = aligned - raw
    shown = interval is None or interval.low > 0
    above_chance = chance is None or gap > max(chance.values)
    notable = gap > NOTABLE and shown and above_chance
    if notable and gap >= SHARE * aligned:
        return "off the axes"
    low = max(raw, aligned) < LOW
    if explicitness is not None and explicitness < UNREAD and (low or floor):
        return "absent"
    if not low:
        return "partly off the axes" if notable and gap >= PART * aligned else "on the axes"
    if explicitness is None:
        return "unknown"
    return "entangled" if explicitness >= READ else "partly"


def said(reading: Reading, explicitness: tuple[str, float] | None = None, *, whitened: bool = False) -> str:
    """Return a reading as a sentence."""
    by = "" if explicitness is None else f" ({explicitness[0]} {explicitness[1]:z.2f})"
    no_map = "Neither a rotation nor whitening" if whitened else "No rotation"
    sentences: Mapping[Reading, str] = {
        "off the axes": "The codes carry the information, but not on the axes.",
        "partly off the axes": "The codes carry a part of the information, but not on the axes.",
        "on the axes": "The information is on these axes about as much as on any others.",
        "entangled": f"{no_map} separates the factors: all codes together encode them{by}, single codes do not.",
        "absent": f"The information is missing: no axes help, and all codes together encode almost nothing{by}.",
        "partly": f"{no_map} helps, and all codes together encode only a part of the factors{by}.",
        "unknown": f"{no_map} helps. A score of explicitness would show whether the codes carry the information.",
        "any axes": "This score uses all codes together: turning them changes it only by the scaling of its predictor.",
    }
    return sentences[reading]
