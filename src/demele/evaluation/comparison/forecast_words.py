"""What a forecast of audits says in a sentence or two."""

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from demele.evaluation.comparison.audit_worlds import World
from demele.evaluation.comparison.forecast_parts import ENOUGH, AuditProspect, ForecastDesign, PairOutlook

__all__ = ["words"]

#: A range of further rows goes from where so many of the simulated audits settle it to where so many do.
RANGE = (0.5, 0.9)


class Forecast(Protocol):
    """What is told of a forecast, as :class:`~demele.evaluation.AuditForecast` has it."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def n(self) -> int: ...

    @property
    def worlds(self) -> tuple[World, ...]: ...

    @property
    def prospects(self) -> tuple[AuditProspect, ...]: ...

    @property
    def outlooks(self) -> tuple[PairOutlook, ...]: ...

    @property
    def sizes(self) -> tuple[int, ...]: ...

    @property
    def audited(self) -> int: ...

    @property
    def design(self) -> ForecastDesign | None: ...

    def smallest(self, design: ForecastDesign, *, share: float = ..., world: str | None = ...) -> int | None: ...


def words(found: Forecast) -> str:
    """Say which audit would settle the comparison, or how many rows more; and where none would."""
    if len(found.names) > 2:
        return _several(found)
    if found.audited:
        return _how_many_more(found)
    return _before(found)


def _before(found: Forecast) -> str:
    """Say the least size of each design at which it is settled whatever is assumed, for whom, and where it is not."""
    closed = [one for one in found.outlooks if one.settled_by_all < ENOUGH]
    if len(closed) == len(found.worlds):
        return _settled_by_none(found, closed)
    open_ones = [one for one in found.outlooks if one.settled_by_all >= ENOUGH]
    open_worlds = [one.world for one in open_ones]
    told = [
        _needs(found, "weighted", "a weighted audit", open_worlds),
        _needs(found, "uniform", "a uniform audit", open_worlds),
        _one_at_a_time(found, open_worlds),
    ]
    which = "Depending on how many labels are wrong, and for whom, " if len(open_worlds) > 1 else ""
    sentence = f"{which}{'; '.join(told)}."
    sentence = f"{sentence[0].upper()}{sentence[1:]} {_for_whom(open_ones)}"
    if closed:
        worlds = _or([one.world for one in closed])
        sentence += f" Not if {worlds}: then labels of all {found.n:,} rows would settle it in {_shares(closed)}."
    return sentence


def _settled_by_none(found: Forecast, closed: Sequence[PairOutlook]) -> str:
    if all(one.hopeless for one in closed):
        return f"Not even labels of all {found.n:,} rows would settle it under any of the assumptions."
    return (
        f"Hardly any audit would settle it: under the assumptions made, labels of all {found.n:,} rows do in "
        f"{_shares(closed)}. New rows would be needed."
    )


def _shares(outlooks: Sequence[PairOutlook]) -> str:
    low, high = (bound(one.settled_by_all for one in outlooks) for bound in (min, max))
    return (
        f"{high:.0%} of the draws" if round(100 * low) == round(100 * high) else f"{low:.0%} to {high:.0%} of the draws"
    )


def _for_whom(outlooks: Sequence[PairOutlook]) -> str:
    """Say who would be shown to be better, and under which assumptions."""
    winners: dict[str, list[str]] = {}
    for one in outlooks:
        winners.setdefault(one.winner, []).append(one.world)
    if len(winners) == 1:
        (only,) = winners
        return f"It would be settled for {only}." if only else "For whom is open."
    told = [f"for {name} if {_or(worlds)}" for name, worlds in winners.items() if name]
    told += [f"for one or the other if {_or(worlds)}" for name, worlds in winners.items() if not name]
    return f"It would be settled {'; '.join(told)}."


def _needs(found: Forecast, design: ForecastDesign, name: str, worlds: Sequence[str]) -> str:
    sizes = [found.smallest(design, world=world) for world in worlds]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        if not known:
            return f"{name} needs more than {found.sizes[-1]:,} rows"
        return f"{name} needs {_span(known)} rows, and more under {len(sizes) - len(known)} of {len(sizes)} assumptions"
    return f"{name} of {_span(known)} rows settles it in 4 of 5 draws"


def _one_at_a_time(found: Forecast, worlds: Iterable[str]) -> str:
    labels = [one.labels_most for one in found.outlooks if one.world in set(worlds)]
    known = [size for size in labels if math.isfinite(size)]
    if not known:
        return "labels asked one at a time would hardly settle it"
    few = "" if len(known) == len(labels) else f", under {len(known)} of {len(labels)} assumptions"
    return f"asked one at a time, {_span(known)} labels do{few}"


def _how_many_more(found: Forecast) -> str:
    """Say how many more rows would settle it, as a range, and for whom; or that none would."""
    outlook = found.outlooks[0]
    if outlook.hopeless:
        return (
            f"Never, as far as the {found.audited:,} audited rows tell: labels of all {found.n:,} rows would settle it "
            f"in {outlook.settled_by_all:.0%} of the draws; the difference is within what this test set can show."
        )
    own = "by going on" if found.design == "uniform" else "by a larger audit of the same kind"
    other: ForecastDesign = "weighted" if found.design == "uniform" else "uniform"
    more = _more(found, found.design or "uniform", own)
    if more.endswith("already."):
        return more
    if outlook.settled_by_all < RANGE[0]:
        return (
            f"Probably never: as far as the {found.audited:,} audited rows tell, labels of all {found.n:,} rows would "
            f"settle it in {outlook.settled_by_all:.0%} of the draws. New rows would be needed."
        )
    last = f"Labels of all {found.n:,} rows would settle it in {outlook.settled_by_all:.0%} of the draws."
    return " ".join([more, _in_its_place(found, other), last, _for_whom([outlook])])


def _more(found: Forecast, design: ForecastDesign, name: str) -> str:
    name = f"{name[0].upper()}{name[1:]}"
    least, most = (found.smallest(design, share=share) for share in RANGE)
    if least == most == found.audited:
        return f"The {found.audited:,} rows settle it already."
    if least is None:
        reached = max(_of(found, design), key=lambda one: one.rows)
        return f"{name}, {reached.rows - found.audited:,} more rows settle it in {reached.settled:.0%} of the draws."
    fewest = max(least - found.audited, 0)
    if most is None:
        return f"{name}, {fewest:,} more rows settle it in half of the draws, and no size looked at in nine tenths."
    return f"{name}, {_span([fewest, most - found.audited])} more rows settle it (half and nine tenths of the draws)."


def _in_its_place(found: Forecast, design: ForecastDesign) -> str:
    """Say what an audit of the other design would need, all of whose rows are drawn anew."""
    size = found.smallest(design, share=RANGE[1])
    if size is None:
        return f"A {design} audit in its place would not do with {found.sizes[-1]:,} rows."
    at_most = "at most " if size == found.sizes[0] else ""
    return f"A {design} audit in its place would need {at_most}{size:,} rows in all."


def _of(found: Forecast, design: str) -> list[AuditProspect]:
    return [one for one in found.prospects if one.design == design]


def _several(found: Forecast) -> str:
    """Say how many pairs the largest audits of both designs settle on average, at best and at worst."""
    pairs = len(found.outlooks) // len(found.worlds)
    told = []
    for design, name in (("weighted", "a weighted"), ("uniform", "a uniform")):
        counts = [_mean_settled(found, design, world.name) for world in found.worlds]
        told.append(f"{name} audit of {found.sizes[-1]:,} rows settles {_span(counts)}")
    never = [sum(one.hopeless for one in found.outlooks if one.world == world.name) for world in found.worlds]
    sentence = f"Of {pairs:,} pairs, {'; '.join(told)}"
    if not any(never):
        return f"{sentence}."
    return f"{sentence}; not even labels of all {found.n:,} rows would settle {_span(never)} of them."


def _mean_settled(found: Forecast, design: str, world: str) -> float:
    size = found.sizes[-1]
    return sum(one.settled for one in _of(found, design) if one.rows == size and one.world == world)


def _span(values: Sequence[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _or(worlds: Sequence[str]) -> str:
    names = [f"{rate} ({side})" if side else rate for rate, _, side in (world.partition(", ") for world in worlds)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
