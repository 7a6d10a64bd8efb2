"""What a long evaluation will cost, from the time of one run of each metric; and what makes it cheaper."""

import math
from collections.abc import Sequence
from typing import NamedTuple

#: An evaluation that takes less is not forecast.
LONG = 60.0
#: Time of a run on half of the rows, in runs on all: fits take about as long as they have rows.
OF_HALF = 0.5
#: A metric is named if it takes so much of the time.
_MUCH = 0.2


class Runs(NamedTuple):
    """Runs of metrics that share a fit: seconds of the first one, and how many others of each kind are to come."""

    name: str
    seconds: float
    halves: int
    wholes: int

    @property
    def left(self) -> float:
        """Seconds of the runs to come, on one processor."""
        return self.seconds * (self.wholes + OF_HALF * self.halves)


def forecast(runs: Sequence[Runs], n_jobs: int = 1, *, processors: int = 1, begun: bool = True) -> str | None:
    """Say how long it will take and what takes longest, with cheaper settings and their price.

    Parameters
    ----------
    runs : sequence of Runs
    n_jobs : int >= 1
        Processes that share the runs.
    processors : int >= 1
        As many processes are offered, where one does it all.
    begun : bool
        Whether the first runs are done, so that the time is the one to go.

    Returns
    -------
    str or None
        None if it will not take long.

    Notes
    -----
    Seconds of the first run x runs to come / processes. The ends of an interval of B resamples are quantiles, whose
    error falls with sqrt(B): of half as many, it is 1.4 times as large.

    Examples
    --------
    >>> told = forecast([Runs("dci_forest", 4.0, 30, 12), Runs("sap", 1.0, 30, 10)])
    >>> print(*told.split(". "), sep="; ")
    about 130 s to go: dci_forest takes 81%; Without it less than a minute; Half as many half-samples: about 100 s, \
and ends of intervals vary 1.4 times as much from seed to seed
    """
    n_jobs = max(1, min(n_jobs, _count(runs)))
    left = sum(one.left for one in runs) / n_jobs
    if not runs or left < LONG:
        return None
    ranked = sorted(runs, key=lambda one: -one.left)
    share = {one.name: one.left / n_jobs / left for one in ranked}
    much = [f"{name} {part:.0%}" for name, part in share.items() if part >= _MUCH] or [f"{ranked[0].name} most"]
    first, *others = much
    name, _, part = first.rpartition(" ")
    told = f"{_about(left)} {'to go' if begun else 'in all'}: {name} takes {part}" + (
        f", {', '.join(others)}" if others else ""
    )
    cheaper = []
    others_free = min(processors, _count(runs))
    if n_jobs == 1 and others_free > 1:
        cheaper.append(f"In {others_free} processes {_about(left / others_free)}")
    if len(runs) > 1:
        cheaper.append(f"Without {'it' if not others else ranked[0].name} {_about(left - ranked[0].left / n_jobs)}")
    halves = sum(one.seconds * OF_HALF * one.halves for one in runs) / n_jobs
    if halves > 0.2 * left:
        price = f"ends of intervals vary {math.sqrt(2):.1f} times as much from seed to seed"
        cheaper.append(f"Half as many half-samples: {_about(left - halves / 2)}, and {price}")
    return ". ".join([told, *cheaper])


def together(runs: Sequence[Runs]) -> Runs:
    """Return the runs of one metric on several representations as one.

    Examples
    --------
    >>> together([Runs("sap", 1.0, 10, 2), Runs("sap", 3.0, 10, 2)])
    Runs(name='sap', seconds=2.0, halves=20, wholes=4)
    """
    halves, wholes = sum(one.halves for one in runs), sum(one.wholes for one in runs)
    return Runs(runs[0].name, sum(one.left for one in runs) / (wholes + OF_HALF * halves), halves, wholes)


def _count(runs: Sequence[Runs]) -> int:
    return sum(one.halves + one.wholes for one in runs)


def _about(seconds: float) -> str:
    """Write a time as roughly as it is known, so that a half of it is told from it."""
    if seconds < 60:
        return "less than a minute"
    if seconds < 180:
        return f"about {10 * round(seconds / 10)} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
