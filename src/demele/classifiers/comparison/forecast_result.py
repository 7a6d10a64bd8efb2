"""What a forecast of audits returns: the share of simulated audits that settle each comparison, by design and size."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demele.classifiers.comparison.forecast_documents import forecast_document
from demele.classifiers.comparison.forecast_parts import ENOUGH, AuditProspect, ForecastDesign, PairOutlook, World
from demele.core.errors import UnknownNameError, quoted
from demele.core.kinds import Fraction, checked
from demele.core.names import checked_name
from demele.core.result import Result
from demele.core.results import Note
from demele.core.signature import Signature

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditForecast(Result):
    """Forecasts of audits by design and size; see :func:`demele.classifiers.plan_audit`.

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
    measure : str
    of : int, str or None
        The class that the measure is of.
    audited : int
        Rows that an audit has labelled already.
    design : str or None
        Design of that audit.
    assumptions : tuple of str
    notes : tuple of Note
    signature : Signature
    """

    _kind, _rows = "audit plan", "prospects"

    names: tuple[str, ...]
    n: int
    worlds: tuple[World, ...]
    prospects: tuple[AuditProspect, ...]
    outlooks: tuple[PairOutlook, ...]
    sizes: tuple[int, ...]
    draws: int
    level: float
    inference: str
    measure: str
    of: int | str | None
    audited: int
    design: ForecastDesign | None
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    @checked
    def smallest(
        self,
        design: ForecastDesign,
        *,
        share: Fraction = ENOUGH,
        world: str | None = None,
        pair: tuple[str, str] | None = None,
    ) -> int | None:
        """Return the smallest size at which simulated audits settle the comparison.

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

    document = forecast_document
