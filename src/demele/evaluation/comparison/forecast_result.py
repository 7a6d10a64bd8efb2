"""What a forecast of audits returns: the share of simulated audits that settle each comparison, by design and size."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from demele.core.checked_numbers import checked_share
from demele.core.errors import UnknownNameError, quoted
from demele.core.names import checked_name
from demele.core.results import Note
from demele.core.shown import Tabled
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.core.written import Published, plain
from demele.evaluation.comparison.audit_worlds import World
from demele.evaluation.comparison.forecast_parts import ENOUGH, AuditProspect, ForecastDesign, PairOutlook
from demele.evaluation.comparison.forecast_words import words

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditForecast(Published, Tabled):
    """What audits of which design and size would settle; see :func:`demele.evaluation.plan_audit`.

    Attributes
    ----------
    names : tuple of str
        The models.
    n : int
        Rows of the test set.
    worlds : tuple of World
        The assumptions, with ``name``, ``rate`` and ``side``.
    prospects : tuple of AuditProspect
        For each assumption, pair, design and size.
    outlooks : tuple of PairOutlook
        For each assumption and pair.
    sizes : tuple of int
    draws : int
        Simulated truths for each assumption.
    level : float
    inference : str
    audited : int
        Rows that an audit has labelled already.
    design : str or None
        Of that audit.
    assumptions : tuple of str
    notes : tuple of Note
    signature : Signature
    """

    _page = "audit forecast"

    names: tuple[str, ...]
    n: int
    worlds: tuple[World, ...]
    prospects: tuple[AuditProspect, ...]
    outlooks: tuple[PairOutlook, ...]
    sizes: tuple[int, ...]
    draws: int
    level: float
    inference: str
    audited: int
    design: ForecastDesign | None
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def smallest(
        self,
        design: ForecastDesign,
        *,
        share: float = ENOUGH,
        world: str | None = None,
        pair: tuple[str, str] | None = None,
    ) -> int | None:
        """Return the least of the sizes at which simulated audits settle what is asked.

        Parameters
        ----------
        design : {"uniform", "weighted", "sequential"}
        share : float in (0, 1]
            Of the simulated audits.
        world : str, optional
            Name of the assumption; every one of them by default.
        pair : tuple of two names, optional
            In either order; every pair by default.

        Returns
        -------
        int or None
            None if no size is enough.

        Raises
        ------
        InputError, UnknownNameError
        """
        checked_name(design, "design", get_args(ForecastDesign))
        share = checked_share(share, "share", 0, 1)
        asked = [one for one in self._asked(world, pair) if one.design == design]
        for size in self.sizes:
            if all(one.settled >= share for one in asked if one.rows == size):
                return size
        return None

    def _asked(self, world: str | None, pair: tuple[str, str] | None) -> Iterator[AuditProspect]:
        if world is not None:
            checked_name(world, "world", [one.name for one in self.worlds])
        if pair is not None and (len(set(pair)) != 2 or not set(pair) <= set(self.names)):
            raise UnknownNameError("pair", f"expected two of the models, got {quoted(pair)}")
        for one in self.prospects:
            if world in (None, one.world) and (pair is None or set(pair) == {one.baseline, one.candidate}):
                yield one

    @property
    def sentence(self) -> str:
        """What would settle it, in words."""
        return words(self)

    def to_frame(self) -> "pd.DataFrame":
        """Row per assumption, pair, design and size; columns as in :class:`AuditProspect`."""
        import pandas as pd

        return pd.DataFrame([asdict(one) for one in self.prospects])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN and infinity become None)."""
        found: dict[str, Any] = plain(
            {
                "kind": "audit forecast",
                "sentence": self.sentence,
                "names": self.names,
                "n": self.n,
                "sizes": self.sizes,
                "draws": self.draws,
                "level": self.level,
                "inference": self.inference,
                "audited": self.audited,
                "design": self.design,
                "worlds": [asdict(world) for world in self.worlds],
                "prospects": [asdict(one) for one in self.prospects],
                "outlooks": [{**asdict(one), "hopeless": one.hopeless, "winner": one.winner} for one in self.outlooks],
                "assumptions": self.assumptions,
                "notes": [asdict(note) for note in self.notes],
                "signature": str(self.signature),
                "demele": __version__,
            }
        )
        return found

    def __repr__(self) -> str:
        return f"AuditForecast({len(self.names)} models, n={self.n}, draws={self.draws}: {self.sentence})"
