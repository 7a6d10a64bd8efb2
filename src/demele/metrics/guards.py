"""Scores that would change much under another defensible setting, or that codes of noise have as well, say so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.core.inputs import Factors
from demele.core.results import Note, Severity
from demele.core.sentences import marked, setting
from demele.estimation.discretise import EqualFrequency, EqualWidth
from demele.estimation.independence import Finding
from demele.estimation.information import InformationTable
from demele.metrics.data import Data, TableSettings
from demele.metrics.draws import Draws
from demele.metrics.metric import Guards, Native
from demele.metrics.source import Source

#: A change of a score, on its scale of 0 to 1, that a reader must be told of.
FRAGILE = 0.1
#: Rows looked at for tied values.
PROBE = 2000
#: Share of repeated values among them that makes a continuous code tied.
TIED = 0.05
#: Fewer rows than this for each code, and the level of chance is looked at.
FEW_ROWS_PER_CODE = 20
#: Times the bins, and the entropy of a continuous code is that of finer ones.
FINER = 4
ASK_INTERVAL = f"{setting('demele.evaluate(..., n_bootstrap=1000)', n_bootstrap=1000)} gives an interval"
ASK = f"{setting('demele.evaluate(..., n_permutations=20)', n_permutations=20)} gives the level of chance"


def beside_level(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Return notes of a score whose level of chance is known: they ask for none."""
    return tuple(replace(note, message=marked(note.message).removesuffix(f"; {ASK}")) for note in notes)


# Another setting ------------------------------------------------------------------------------------------------------


def table_notes(
    source: Source,
    settings: TableSettings,
    table: InformationTable,
    values: Mapping[str, tuple[float, Callable[[InformationTable], Native]]],
    *,
    pairs: bool,
) -> dict[str, tuple[Note, ...]]:
    """Return notes by metric for scores read off equal-width histograms.

    Something suspicious is looked for first, since it costs nothing: bins that hold almost all rows, tied codes. Only
    then is the other setting computed, and a note written where the score moves by more than 0.1. Other bins change
    what is read of all columns, which can hide what outliers do: where bins are crowded and a score has no note of it,
    the outliers alone are clipped.

    Parameters
    ----------
    source : Source
        With rows.
    settings, table
        What the scores were read off.
    values : mapping of name to (float, callable)
        Each score, and how it is read off a table.
    pairs : bool
        Whether any of them reads informations between factors.
    """
    if settings.estimator != "histogram" or not isinstance(settings.binning, EqualWidth):
        return {}
    data, bins = source.rows(), settings.binning.bins
    repeats = np.diff(_sample(data.codes.values), axis=0) == 0
    distinct = 1 + (~repeats).sum(axis=0)
    crowded = _crowded(data, source.table_of_columns(settings) if source.in_groups else table, distinct)
    tied = np.flatnonzero((repeats.mean(axis=0) > TIED) & ~data.codes.constant & (distinct > 2))
    if crowded:
        code, text = "crowded-bins", _crowded_text(data, crowded, bins)
    elif len(tied):
        listed = ", ".join(repr(data.codes.names[code]) for code in tied[:3])
        code, text = "tied-codes", f"values of {listed} are tied; under bins that respect ties"
    else:
        return {}
    changed = source.table(replace(settings, binning=EqualFrequency(bins)), pairs=pairs)
    notes: dict[str, tuple[Note, ...]] = {}
    for name, (before, read) in values.items():
        after = _read_again(read, changed) if source.in_groups else float(read(changed).value)
        if abs(after - before) > FRAGILE:
            message = f"{text} it would be {after:.3f} instead of {before:.3f}"
            notes[name] = (Note(code=code, message=message, severity="fragile"),)
    silent = {name: value for name, value in values.items() if crowded and name not in notes}
    return notes | _clipped_notes(source, settings, silent, pairs=pairs)


def adjusted_notes(
    source: Source,
    settings: TableSettings,
    table: InformationTable,
    values: Mapping[str, tuple[float, Callable[[InformationTable], Native]]],
    spans: Mapping[str, tuple[NDArray[np.float64], float, tuple[float, float]]],
    *,
    pairs: bool,
) -> dict[str, tuple[Note, dict[str, float]]]:
    """Return notes by metric for scores of few rows, with what information adjusted for chance gives.

    A score that moves by more than 0.1 has one, and a score that moves by more than a quarter of its interval's width:
    resamples repeat the bias of few rows, so that the interval is in the wrong place. The adjusted table is computed
    only where its bias could be as large.

    Parameters
    ----------
    spans : mapping of name to (array, float, (float, float))
        The score on resamples, the level of its interval and the range of the metric, where an interval is asked for.
    """
    if not values or settings.estimator != "histogram" or settings.correction != "none" or settings.soft:
        return {}
    widths = {
        name: np.ptp(Draws.quantiles(*spans[name], value)) for name, (value, _) in values.items() if name in spans
    }
    limits = {name: min(FRAGILE, float(widths.get(name, 1.0)) / 4) for name in values}
    bias, most_bins = 0.0, 1 if table.code_bins is None else int(table.code_bins.max())
    for factor, height in zip(source.rows().factors.columns, table.factor_entropy.tolist(), strict=True):
        cells = (most_bins - 1) * ((len(factor.levels) if factor.categorical else most_bins) - 1)
        if height > 0:  # expected bias of the plug-in information, in units of the factor's entropy
            bias = max(bias, cells / (2 * factor.n_annotated * height))
    if bias <= min(0.02, *(limit / 2 for limit in limits.values())):
        return {}
    other = source.table(replace(settings, correction="adjusted"), pairs=pairs)  # Miller-Madow hardly corrects these
    notes = {}
    for name, (before, read) in values.items():
        after = _read_again(read, other) if source.in_groups else float(read(other).value)
        if abs(after - before) > limits[name]:
            low, high = Draws.quantiles(*spans[name], after) if name in spans else (np.nan, np.nan)
            span = f" [{low:.3f}, {high:.3f}]" if name in spans else ""
            message = (
                f"{source.rows().n} rows are few for the cells: adjusted for chance it would be "
                f"{after:.3f}{span} instead of {before:.3f} ({setting(correction='adjusted')})"
            )
            severity: Severity = "fragile" if abs(after - before) > FRAGILE else "warning"
            note = Note(code="few-rows", message=message, severity=severity)
            notes[name] = (note, {"value": after, "low": float(low), "high": float(high)})
    return notes


def finer_bins_notes(
    source: Source,
    settings: TableSettings,
    table: InformationTable,
    values: Mapping[str, tuple[float, Callable[[InformationTable], Native]]],
    notes: Mapping[str, tuple[Note, ...]],
) -> dict[str, tuple[Note, ...]]:
    """Return the notes with those of scores that finer bins would move, of codes that have more values than bins.

    ``values`` are scores that the entropy of the codes' bins enters, and how they are read off a table.
    """
    found, rule = dict(notes), settings.binning
    if not values or table.code_bins is None or not isinstance(rule, EqualWidth | EqualFrequency):
        return found
    distinct = 1 + (np.diff(_sample(source.rows().codes.values), axis=0) != 0).sum(axis=0)
    of_columns = source.table_of_columns(settings) if source.in_groups else table
    if of_columns.code_bins is None or not (distinct > of_columns.code_bins).any():
        return found
    finer = source.table(replace(settings, binning=replace(rule, bins=FINER * rule.bins)))
    for name, (before, read) in values.items():
        after = _read_again(read, finer) if source.in_groups else float(read(finer).value)
        if abs(after - before) > FRAGILE:
            message = (
                f"the entropy of a continuous code is that of its bins: with {FINER * rule.bins} bins instead of "
                f"{rule.bins} it would be {after:.3f}, not {before:.3f}"
            )
            found[name] = (*found.get(name, ()), Note(code="finer-bins", message=message, severity="fragile"))
    return found


def _read_again(read: Callable[[InformationTable], Native], table: InformationTable) -> float:
    """Return a score under another setting; NaN where groups of columns have too many cells to be counted there."""
    try:
        return float(read(table).value)
    except NotEnoughData:
        return float("nan")


def _clipped_notes(
    source: Source,
    settings: TableSettings,
    values: Mapping[str, tuple[float, Callable[[InformationTable], Native]]],
    *,
    pairs: bool,
) -> dict[str, tuple[Note, ...]]:
    """Return notes by metric for scores that move when outlying columns are clipped, under the same bins."""
    outlying = source.rows().outlying()
    if not outlying or not values:
        return {}
    (clipped,) = source.tables(settings, "clipped", 1, 0, pairs=pairs)
    found = {
        name: moved_by_outliers(value, float(read(clipped).value), outlying) for name, (value, read) in values.items()
    }
    return {name: notes for name, notes in found.items() if notes}


def _crowded(data: Data, table: InformationTable, distinct: NDArray[np.intp]) -> list[int]:
    """Codes (then factors, counted from the number of codes) whose rows sit in few of the equal-width bins.

    ``distinct`` is the number of distinct values of each code, in a sample of its rows.
    """
    if table.joint_entropy is None or table.code_bins is None:
        return []
    code_entropy = (table.joint_entropy - table.factor_entropy[None, :] + table.information).max(axis=1)
    full = np.log(np.maximum(table.code_bins, 2))
    spread = distinct > table.code_bins  # a code of few values crowds no bins, it has few
    found = [int(code) for code in np.flatnonzero((code_entropy < 0.6 * full) & spread)]
    for index, factor in enumerate(data.factors.columns):
        if factor.categorical or table.factor_entropy[index] >= 0.6 * full.max():
            continue
        ordered = _sample(factor.values[factor.annotated()])
        if 1 + (np.diff(ordered) != 0).sum() > table.code_bins.max():
            found.append(data.codes.d + index)
    return found


def _sample(columns: NDArray[Any]) -> NDArray[np.float64]:
    """Return some rows of each column, evenly spaced, in increasing order."""
    step = max(len(columns) // PROBE, 1)
    return np.sort(np.asarray(columns[::step][:PROBE], dtype=np.float64), axis=0)


def _crowded_text(data: Data, crowded: list[int], bins: int) -> str:
    names = (*data.codes.names, *data.factors.names)
    listed = ", ".join(repr(names[index]) for index in crowded[:3]) + (", ..." if len(crowded) > 3 else "")
    what = "outliers or spikes crowd" if len(crowded) > 1 else "an outlier or a spike crowds"
    return f"{what} the rows of {listed} into few of the {bins} equal-width bins; under equal-frequency bins"


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


def few_rows_notes(guards: Guards, factors: Factors, options: Mapping[str, Any]) -> tuple[Note, ...]:
    """Return a note if a metric has too few rows to distinguish codes from noise, or tables from each other."""
    if not guards.fewest_rows:
        return ()
    bins = getattr(options.get("bins"), "bins", 10)
    for factor in factors.columns:
        values = len(factor.levels) if factor.categorical else int(bins)
        if factor.n_annotated < max(guards.fewest_rows, guards.rows_per_value * values):
            message = f"{factor.n_annotated} rows with {values} values of factor {factor.name!r} are few: "
            if guards.bins:
                message += f"as many others may score otherwise; {ASK_INTERVAL}"
            else:
                message += "codes of noise may score as well; ask for chance levels"
            return (Note(code="few-rows", message=message, subject=(factor.name,), severity="fragile"),)
    return ()


# Codes of noise -------------------------------------------------------------------------------------------------------


def many_codes(n: int, d: int) -> bool:
    """Whether the codes are many for the rows."""
    return n < FEW_ROWS_PER_CODE * d


def noise_notes(value: float, finding: Finding) -> tuple[Note, ...]:
    """Return a note where a score is above 0 and no code tells anything of any factor."""
    if finding.detected or not value > FRAGILE:
        return ()
    message = (
        f"in these rows no code is seen to tell anything of any factor: of {finding.n_pairs:,} comparisons of a code "
        f"with a factor the smallest p-value, corrected for their number, is {finding.p:.2g}, and only one below "
        f"{finding.level:.1g}, which noise hardly ever has, would count; codes of noise score about as well; {ASK}"
    )
    return (Note(code="noise", message=message, severity="fragile"),)


def at_chance_notes(value: float, chance: Sequence[float], n: int, d: int, *, of: str = "") -> tuple[Note, ...]:
    """Return a note where the codes are many for the rows and score above 0 with the rows of the factors shuffled.

    ``of`` names the codes of the level, if not all.
    """
    level = float(np.mean(chance)) if len(chance) else float("nan")
    if not (value > FRAGILE and level > FRAGILE and many_codes(n, d)):
        return ()
    how = "one shuffle" if len(chance) == 1 else f"mean of {len(chance)}"
    message = (
        f"{d:,} codes are many for {n:,} rows: with the rows of the factors shuffled, so that codes tell nothing of "
        f"them, it is {level:.3f} instead of {value:.3f} ({how}{of}); {ASK}"
    )
    return (Note(code="many-codes", message=message, severity="fragile"),)


def beside_chance(native: Native, shuffled: NDArray[np.float64], data: Data) -> tuple[Note, ...]:
    """Return a note where a score is not far from its values with the rows of the factors shuffled."""
    known = [float(one) for one in shuffled if one == one]
    return at_chance_notes(float(native.value), known, data.n, data.codes.d)


def counted_noise_notes(value: float, n: int, d: int, finding: Finding) -> tuple[Note, ...]:
    """Return what counts, which cannot be shuffled, tell of codes of noise."""
    found = noise_notes(value, finding)
    if found or not (value > FRAGILE and many_codes(n, d)):
        return found
    message = (
        f"{d:,} codes are many for {n:,} rows: codes of noise may score as well. Only counts are kept, which "
        "cannot be shuffled: score the rows, or a sample of them, with demele.evaluate(n_permutations=20)"
    )
    return (Note(code="many-codes", message=message, severity="fragile"),)


def unprobed_notes(guards: Guards, value: float, n: int, d: int, *, kept: str, chance: bool) -> tuple[Note, ...]:
    """Return one note of all that was not looked at, since a source has no rows that could be changed or shuffled.

    Parameters
    ----------
    guards : Guards
        What the metric wants to be looked at.
    value : float
    n, d : int
        Rows and codes.
    kept : str
        The data that replace rows.
    chance : bool
        Whether anything was looked at that codes of noise would score.
    """
    reasons = []
    if guards.bins:
        reasons.append("outliers or ties crowd the bins, or few rows raise it")
    elif guards.outliers in ("move it", "of factors move it"):
        reasons.append("outliers decide it")
    noise = not chance and value > FRAGILE
    if noise:
        reasons.append("codes of noise would score as much")
    if not reasons:
        return ()
    message = (
        f"only {kept} are kept: whether {' and whether '.join(reasons)} was not looked at; score a sample of the rows "
        "with demele.evaluate(n_permutations=20)"
    )
    severity: Severity = "fragile" if noise and many_codes(n, d) else "info"
    return (Note(code="unprobed", message=message, severity=severity),)
