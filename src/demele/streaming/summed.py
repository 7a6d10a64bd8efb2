"""Scores of what was summed: SAP and IRS from states, through the same functions as from rows."""

from collections.abc import Mapping
from typing import Any

from demele.core.inputs import Missing
from demele.core.results import LeftOut, Score
from demele.estimation.extremes import crossed_from_extremes
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.fragility import few_rows_notes
from demele.metrics.native import Native
from demele.metrics.noise_notes import unchecked_notes
from demele.metrics.outcomes import Outcome
from demele.metrics.runners import DEAD_VARIANCE, irs_native, sap_native
from demele.streaming.counted import Seen, Stated
from demele.streaming.frame import Frame
from demele.streaming.sums import ExtremeState, MomentState, Sums

__all__ = ["accumulated_metrics", "seen_of", "sums_for", "sums_scores"]


def seen_of(frame: Frame, state: Sums) -> Seen:
    """Return what results say of the rows of a state."""
    return Seen(frame, state.n, [int(one) for one in state.annotated], state.clipped, state.varying)


def sums_scores(
    frame: Frame,
    states: Mapping[str, Sums],
    options: Mapping[str, dict[str, Any]],
    *,
    protocol: str,
    reg_dim: object,
    missing: Missing,
    seed: int,
    kinds: object,
    warned: set[str],
) -> tuple[dict[str, Score], dict[str, LeftOut]]:
    """Return scores by metric of states with rows, and why others have none.

    Parameters
    ----------
    frame : Frame
    states : mapping of name to MomentState or ExtremeState
        By metric, see :func:`sums_for`.
    options : mapping of name to mapping
        All options of each metric.
    protocol, reg_dim, missing, seed, kinds
        As in :func:`demele.evaluate`.
    warned : set of str
        Messages that need not come again.

    Returns
    -------
    scores : dict of str to Score
    left_out : dict of str to LeftOut
    """
    stated = Stated(options, protocol=protocol, reg_dim=reg_dim, missing=missing, seed=seed, kinds=kinds)
    for name, state in states.items():
        seen = seen_of(frame, state)
        request = stated.request(name, seen, warned)
        if request is None:
            continue
        native = _native(state, seen.active, options[name])
        few_rows = few_rows_notes(CATALOGUE[name].group, seen.subject().data, options[name])
        unchecked = unchecked_notes(float(native.value), state.n, len(frame.codes), finding=None)
        stated.add(seen, request, Outcome(native=native, notes=request.notes + few_rows + unchecked))
    return stated.scores, stated.left_out


def _native(state: Sums, active: list[int], options: Mapping[str, Any]) -> Native:
    if isinstance(state, MomentState):
        matrix = state.squared_correlations()[:, active]
        if options["units"] == "raw":
            matrix[state.code_variances() * (state.n / max(state.n - 1, 1)) <= DEAD_VARIANCE] = 0.0
        return sap_native(matrix)
    crossed = crossed_from_extremes(state.extremes(active), value_weights=options["value_weights"])
    return irs_native(crossed, options)


def sums_for(name: str, options: Mapping[str, Any], frame: Frame) -> Sums | None:
    """Return the empty state of sums of a metric; None, if it is computed otherwise.

    Parameters
    ----------
    name : str
        Registered.
    options : mapping
        All options of the metric.
    frame : Frame

    Returns
    -------
    MomentState, ExtremeState or None
        None for SAP with a categorical factor, and for IRS with a quantile below 1 or with bins that look at values
        which the frame has not seen: these need rows.
    """
    if name == "sap" and all(column.kind == "continuous" for column in frame.columns):
        return MomentState.empty(frame)
    if name == "irs" and options["quantile"] == 1.0:
        rule = options["bins"]
        return None if rule.needs_values and rule not in frame.exact else ExtremeState.empty(frame, rule)
    return None


def accumulated_metrics(frame: Frame) -> tuple[str, ...]:
    """Return the metrics that an accumulator sums over every row of a frame: exact, to rounding.

    Parameters
    ----------
    frame : Frame

    Returns
    -------
    tuple of str
        Under the default options. IRS with a quantile below 1 needs rows, and is computed from a sample of them.

    Examples
    --------
    >>> from demele import Frame
    >>> accumulated_metrics(Frame.fixed([(-4, 4)], {"size": (0.0, 1.0)}))
    ('sap', 'irs')
    >>> accumulated_metrics(Frame.fixed([(-4, 4)], {"shape": ["disc", "square"]}))
    ('irs',)
    """
    continuous = all(column.kind == "continuous" for column in frame.columns)
    return ("sap", "irs") if continuous else ("irs",)
