"""Scores that would change much under another defensible setting say so."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.results import Note
from demele.estimation.discretise import EqualFrequency, EqualWidth
from demele.estimation.information import InformationTable
from demele.metrics.data import Data
from demele.metrics.information import scores as information_scores
from demele.metrics.information.tables import TableSettings, information_of
from demele.metrics.native import Native

__all__ = ["FRAGILE", "few_rows_notes", "fragility_notes", "moved_by_outliers", "pruned_notes", "units_notes"]

#: A change of a score, on its scale of 0 to 1, that a reader must be told of.
FRAGILE = 0.1
#: Rows looked at for tied values.
PROBE = 2000
#: Share of repeated values among them that makes a continuous code tied.
TIED = 0.05

#: Fewest rows, and rows per value of a factor, from which codes of noise score clearly less than codes that know.
FEWEST_ROWS = {
    **dict.fromkeys(("dci_forest", "dci_lasso", "dci_boosting", "explicitness", "sap"), 50),
    **dict.fromkeys(("z_diff", "z_min_variance", "z_max_variance", "irs"), 50),
}
ROWS_PER_VALUE = 5
BINNED = ("explicitness", "z_diff", "z_min_variance", "irs")

Scored = Mapping[str, tuple[Native, NDArray[np.intp] | None]]


def fragility_notes(
    data: Data, settings: TableSettings, table: InformationTable, scored: Scored
) -> dict[str, tuple[Note, ...]]:
    """Return notes by metric for scores read off equal-width histograms.

    Something suspicious is looked for first, since it costs nothing: bins that hold almost all rows, tied codes, few
    rows for the number of cells. Only then is the other setting computed, and a note written where the score moves by
    more than 0.1.
    """
    if settings.estimator != "histogram" or settings.soft:
        return {}
    reasons: list[tuple[str, str, TableSettings]] = []
    bins = settings.binning.bins if isinstance(settings.binning, EqualWidth) else 10
    if isinstance(settings.binning, EqualWidth):
        crowded = _crowded(data, table)
        if crowded:
            other = replace(settings, binning=EqualFrequency(bins))
            reasons.append(("crowded-bins", _crowded_text(data, crowded, bins), other))
        tied = _tied(data)
        if tied and not crowded:
            other = replace(settings, binning=EqualFrequency(bins))
            listed = ", ".join(repr(data.codes.names[code]) for code in tied[:3])
            reasons.append(("tied-codes", f"values of {listed} are tied; under bins that respect ties", other))
    if settings.correction == "none" and _bias(data, table) > 0.02:
        other = replace(settings, correction="adjusted")  # Miller-Madow hardly corrects a sparse table
        text = f"{data.n} rows are few for the number of cells; with the information adjusted for chance"
        reasons.append(("few-rows", text, other))
    notes: dict[str, tuple[Note, ...]] = {}
    pairs = information_scores.read_factor_pairs(scored)
    for code, text, other in reasons:
        changed = information_of(data, other, factor_pairs=pairs)
        for name, (native, reg_dim) in scored.items():
            before = float(native.value)
            after = float(information_scores.native_of(name, changed, reg_dim).value)
            if abs(after - before) > FRAGILE:
                message = f"{text} it would be {after:.3f} instead of {before:.3f}"
                notes[name] = (*notes.get(name, ()), Note(code=code, message=message, severity="fragile"))
    return notes


def _crowded(data: Data, table: InformationTable) -> list[int]:
    """Codes (then factors, counted from the number of codes) whose rows sit in few of the equal-width bins."""
    if table.joint_entropy is None or table.code_bins is None:
        return []
    code_entropy = (table.joint_entropy - table.factor_entropy[None, :] + table.information).max(axis=1)
    full = np.log(np.maximum(table.code_bins, 2))
    spread = _distinct(data.codes.values) > table.code_bins  # a code of few values crowds no bins, it has few
    found = [int(code) for code in np.flatnonzero((code_entropy < 0.6 * full) & spread)]
    for index, factor in enumerate(data.factors.columns):
        if factor.categorical or table.factor_entropy[index] >= 0.6 * full.max():
            continue
        if _distinct(factor.values[factor.annotated()][:, None])[0] > table.code_bins.max():
            found.append(data.codes.d + index)
    return found


def _distinct(columns: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of distinct values of each column, in a sample of its rows."""
    ordered = _sample(columns)
    distinct: NDArray[np.intp] = 1 + (np.diff(ordered, axis=0) != 0).sum(axis=0)
    return distinct


def _sample(columns: NDArray[Any]) -> NDArray[np.float64]:
    """Return some rows of each column, evenly spaced, in increasing order."""
    step = max(len(columns) // PROBE, 1)
    return np.sort(np.asarray(columns[::step][:PROBE], dtype=np.float64), axis=0)


def _crowded_text(data: Data, crowded: list[int], bins: int) -> str:
    names = (*data.codes.names, *data.factors.names)
    listed = ", ".join(repr(names[index]) for index in crowded[:3]) + (", ..." if len(crowded) > 3 else "")
    what = "outliers or spikes crowd" if len(crowded) > 1 else "an outlier or a spike crowds"
    return f"{what} the rows of {listed} into few of the {bins} equal-width bins; under equal-frequency bins"


def _tied(data: Data) -> list[int]:
    ordered = _sample(data.codes.values)
    share = (np.diff(ordered, axis=0) == 0).mean(axis=0)
    return [int(code) for code in np.flatnonzero((share > TIED) & ~data.codes.constant & (_distinct(ordered) > 2))]


def _bias(data: Data, table: InformationTable) -> float:
    """Largest expected bias of the plug-in information, in units of a factor's entropy."""
    if table.code_bins is None:
        return 0.0
    worst = 0.0
    for index, factor in enumerate(data.factors.columns):
        values = len(factor.levels) if factor.categorical else int(table.code_bins.max())
        cells = (int(table.code_bins.max()) - 1) * (values - 1)
        height = float(table.factor_entropy[index])
        if height > 0:
            worst = max(worst, cells / (2 * factor.n_annotated * height))
    return worst


def moved_by_outliers(value: float, without: float, outlying: tuple[str, ...]) -> tuple[Note, ...]:
    """Return a note where a score moves when outlying columns are clipped to their central 99%."""
    if not abs(without - value) > FRAGILE:
        return ()
    listed = ", ".join(repr(name) for name in outlying[:3]) + (", ..." if len(outlying) > 3 else "")
    message = (
        f"outliers of {listed} decide it: with these columns clipped to their central 99% it would be "
        f"{without:.3f} instead of {value:.3f}"
    )
    return (Note(code="outliers", message=message, subject=outlying, severity="fragile"),)


def units_notes(value: float, standardised: float) -> tuple[Note, ...]:
    """Return a note where a score of codes in raw units would be another one with all codes in standard deviations."""
    if not abs(standardised - value) > FRAGILE:
        return ()
    message = (
        f"the units of the codes decide much of it: with codes in standard deviations it would be {standardised:.3f} "
        f"instead of {value:.3f}"
    )
    return (Note(code="raw-units", message=message, severity="fragile"),)


def pruned_notes(value: float, without: float, names: tuple[str, ...], threshold: float) -> tuple[Note, ...]:
    """Return a note on codes that vary, but too little in their own unit to vote."""
    listed = ", ".join(repr(name) for name in names[:3]) + (", ..." if len(names) > 3 else "")
    message = (
        f"{len(names)} codes ({listed}) vary, but by less than prune_below={threshold:g} (their standard deviation, in "
        f"their own unit), and do not vote; with them it would be {without:.3f} instead of {value:.3f}"
    )
    moved = abs(without - value) > FRAGILE
    return (Note(code="pruned-codes", message=message, subject=names, severity="fragile" if moved else "warning"),)


def few_rows_notes(group: str, data: Data, options: Mapping[str, Any]) -> tuple[Note, ...]:
    """Return a note where metrics that fit predictors, or form groups, have too few rows to tell codes from noise."""
    if group not in FEWEST_ROWS:
        return ()
    bins = getattr(options.get("bins"), "bins", 10)
    for factor in data.factors.columns:
        values = len(factor.levels) if factor.categorical else int(bins)
        if factor.n_annotated < max(FEWEST_ROWS[group], ROWS_PER_VALUE * values * (group in BINNED)):
            message = (
                f"{factor.n_annotated} rows with {values} values of factor {factor.name!r} are few: codes of noise may "
                "score as well; ask for chance levels"
            )
            return (Note(code="few-rows", message=message, subject=(factor.name,), severity="fragile"),)
    return ()
