"""What a forecast of audits returns: the share of simulated audits that settle each comparison, by design and size."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_share
from demele.core.errors import InputError, UnknownNameError, quoted
from demele.core.results import Note
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.core.written import Published, plain
from demele.evaluation.comparison.audit_worlds import World
from demele.evaluation.comparison.forecast_words import words

if TYPE_CHECKING:
    import pandas as pd

ForecastDesign = Literal["uniform", "weighted", "sequential"]

#: A size settles a comparison if this share of the simulated audits do.
ENOUGH = 0.8
#: Where fewer audits of all rows than this share would settle it, the difference is within what no audit decides.
HOPELESS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProspect:
    """What audits of one design and size would show of one pair, under one assumption.

    Attributes
    ----------
    established, candidate : str
        The candidate is the one that the given labels put ahead.
    world : str
        Name of the assumption.
    design : {"uniform", "weighted", "sequential"}
    rows : int
        Labels of the expert.
    settled : float
        Share of the simulated audits that show one of the two to be better.
    for_candidate : float
        Share that show the candidate to be better.
    error : float
        Standard error of ``settled``, by (settled draws + 1) / (draws + 2).
    half_width : float
        Mean half width of the interval of the difference; NaN for a sequential one, which stops at the verdict.
    """

    established: str
    candidate: str
    world: str
    design: ForecastDesign
    rows: int
    settled: float
    for_candidate: float
    error: float
    half_width: float

    @classmethod
    def of(cls, verdicts: NDArray[np.int64], half_widths: NDArray[np.float64], **named: Any) -> "AuditProspect":
        """Count verdicts of shape (draws,): 1 for the candidate, -1 for the established one, 0 for neither."""
        draws, settled = verdicts.size, int(np.count_nonzero(verdicts))
        drawn = (settled + 1) / (draws + 2)
        return cls(
            settled=settled / draws,
            for_candidate=int(np.count_nonzero(verdicts > 0)) / draws,
            error=math.sqrt(drawn * (1 - drawn) / (draws + 2)),
            half_width=float(half_widths.mean()),
            **named,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutlook:
    """What can be settled of one pair at all, under one assumption.

    Attributes
    ----------
    established, candidate, world : str
    settled_by_all : float
        Share of the draws in which labels of all rows would settle it.
    labels_half, labels_most : float
        Labels by which half and 80% of the sequential comparisons have a verdict; infinite if they never do.
    """

    established: str
    candidate: str
    world: str
    settled_by_all: float
    labels_half: float
    labels_most: float

    @classmethod
    def of(cls, verdicts: NDArray[np.int64], labels: NDArray[np.float64], **named: Any) -> "PairOutlook":
        """Summarise verdicts on all rows, and labels until a sequential verdict; both of shape (draws,)."""
        ordered = np.sort(labels)
        half, most = (float(ordered[math.ceil(share * labels.size) - 1]) for share in (0.5, ENOUGH))
        return cls(
            settled_by_all=int(np.count_nonzero(verdicts)) / verdicts.size, labels_half=half, labels_most=most, **named
        )

    @property
    def hopeless(self) -> bool:
        """Whether not even labels of all rows would settle it."""
        return self.settled_by_all < HOPELESS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditForecast(Published):
    """What audits of which design and size would settle; see :func:`demele.evaluation.forecast_audits`.

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
    target : str
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
    target: str
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
        if design not in get_args(ForecastDesign):
            raise InputError("design", f"expected one of {', '.join(get_args(ForecastDesign))}, got {design!r}")
        share = checked_share(share, "share", 0, 1)
        asked = [one for one in self._asked(world, pair) if one.design == design]
        for size in self.sizes:
            if all(one.settled >= share for one in asked if one.rows == size):
                return size
        return None

    def _asked(self, world: str | None, pair: tuple[str, str] | None) -> Iterator[AuditProspect]:
        if world is not None and world not in {one.name for one in self.worlds}:
            raise UnknownNameError(
                "world", f"expected one of {', '.join(one.name for one in self.worlds)}, got {world!r}"
            )
        if pair is not None and (len(set(pair)) != 2 or not set(pair) <= set(self.names)):
            raise UnknownNameError("pair", f"expected two of the models, got {quoted(pair)}")
        for one in self.prospects:
            if world in (None, one.world) and (pair is None or set(pair) == {one.established, one.candidate}):
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
                "target": self.target,
                "audited": self.audited,
                "design": self.design,
                "worlds": [asdict(world) for world in self.worlds],
                "prospects": [asdict(one) for one in self.prospects],
                "outlooks": [{**asdict(one), "hopeless": one.hopeless} for one in self.outlooks],
                "assumptions": self.assumptions,
                "notes": [asdict(note) for note in self.notes],
                "signature": str(self.signature),
                "demele": __version__,
            }
        )
        return found

    def __repr__(self) -> str:
        return f"AuditForecast({len(self.names)} models, n={self.n}, draws={self.draws}: {self.sentence})"
