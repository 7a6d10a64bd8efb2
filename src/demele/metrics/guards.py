"""Scores that would change much under another defensible setting, or that codes of noise have as well, say so."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Array, Floats
from demele.core.errors import NotEnoughData
from demele.core.inputs import Factors
from demele.core.result import Note, Severity
from demele.estimation.counts import EqualFrequency, EqualWidth
from demele.estimation.independence import Finding
from demele.estimation.information import InformationTable
from demele.metrics.data import TableSettings
from demele.metrics.metric import Draws, Guards
from demele.metrics.request import Request
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
ASK_INTERVAL = "`n_bootstrap=1000` gives an interval"
ASK = "`n_permutations=20` gives the level of chance"


def beside_level(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Return notes of a score whose level of chance is known: they ask for none."""
    return tuple(replace(note, message=note.message.removesuffix(f"; {ASK}")) for note in notes)


# Another setting ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableScores:
    """Scores read off one table, and read again off tables of other bins, of clipped rows, or adjusted for chance.

    ``requests`` are those whose scores bins can move, ``values`` their scores; ``pairs`` says whether any of them reads
    informations between factors.
    """

    source: Source
    settings: TableSettings
    table: InformationTable
    requests: Sequence[Request]
    values: Mapping[str, float]
    pairs: bool

    def notes(self) -> dict[str, tuple[Note, ...]]:
        """Return notes by metric for scores that other bins move.

        Something suspicious is looked for first, since it costs nothing: bins that hold almost all rows, tied codes.
        Only then is the other setting computed, and a note written where the score moves by more than 0.1. Other bins
        change what is read of all columns, which can hide what outliers do: where bins are crowded and a score has no
        note of it, the outliers alone are clipped.
        """
        found: dict[str, tuple[Note, ...]] = {}
        rule, of_entropy = self.settings.binning, [one for one in self.requests if one.metric.guards.code_entropy]
        if not isinstance(rule, EqualWidth | EqualFrequency) or self.settings.estimator != "histogram":
            return found
        if not (of_entropy or (self.requests and isinstance(rule, EqualWidth))):
            return found
        data = self.source.rows()
        repeats = np.diff(_sample(data.codes.values), axis=0) == 0
        distinct = 1 + (~repeats).sum(axis=0)
        of_columns = self.source.table_of_columns(self.settings) if self.source.in_groups else self.table
        if isinstance(rule, EqualWidth):
            crowded: list[str] = []  # codes, then factors, whose rows sit in few of the equal-width bins
            joint, bins = of_columns.joint_entropy, of_columns.code_bins
            if joint is not None and bins is not None:
                code_entropy = (joint - of_columns.factor_entropy[None, :] + of_columns.information).max(axis=1)
                full = np.log(np.maximum(bins, 2))
                spread = distinct > bins  # a code of few values crowds no bins, it has few
                crowded += [data.codes.names[one] for one in np.flatnonzero((code_entropy < 0.6 * full) & spread)]
                for index, factor in enumerate(data.factors.columns):
                    if not factor.categorical and of_columns.factor_entropy[index] < 0.6 * full.max():
                        ordered = _sample(factor.values[factor.annotated()])
                        if 1 + (np.diff(ordered) != 0).sum() > bins.max():
                            crowded.append(factor.name)
            tied = np.flatnonzero((repeats.mean(axis=0) > TIED) & ~data.codes.constant & (distinct > 2))
            what = "outliers or spikes crowd" if len(crowded) > 1 else "an outlier or a spike crowds"
            few = f"into few of the {rule.bins} equal-width bins; under equal-frequency bins"
            code, text = "crowded-bins", f"{what} the rows of {listed(crowded)} {few}"
            if not crowded:
                named = listed([data.codes.names[one] for one in tied])
                code, text = "tied-codes", f"values of {named} are tied; under bins that respect ties"
            if crowded or len(tied):
                for name, before, after in self._moved(self.requests, binning=EqualFrequency(rule.bins)):
                    found[name] = moved_notes(code, text, before, after)
            silent = [one for one in self.requests if crowded and one.name not in found]
            outlying = data.outlying() if silent else ()
            if outlying:
                (clipped,) = self.source.tables(self.settings, "clipped", 1, 0, pairs=self.pairs)
                for one in silent:
                    own = moved_by_outliers(self.values[one.name], float(one.read(clipped).value), outlying)
                    found |= {one.name: own} if own else {}
        bins = of_columns.code_bins
        if of_entropy and bins is not None and (distinct > bins).any():
            n_bins = FINER * rule.bins
            for name, before, after in self._moved(of_entropy, binning=replace(rule, bins=n_bins)):
                message = (
                    f"the entropy of a continuous code is that of its bins: with {n_bins} bins instead of {rule.bins} "
                    f"it would be {after:.3f}, not {before:.3f}"
                )
                found[name] = (*found.get(name, ()), Note(code="finer-bins", message=message, severity="fragile"))
        return found

    def adjusted(self, resamples: Mapping[str, Draws], level: float) -> dict[str, tuple[Note, dict[str, float]]]:
        """Return notes by metric for scores of few rows, with what information adjusted for chance gives.

        A score that moves by more than 0.1 has one, and a score that moves by more than a quarter of its interval's
        width: resamples repeat the bias of few rows, so that the interval is in the wrong place. The adjusted table is
        computed only where its bias could be as large.
        """
        settings, source = self.settings, self.source
        if not self.requests or settings.estimator != "histogram" or settings.correction != "none" or settings.soft:
            return {}
        ranges = {one.name: one.metric.range for one in self.requests}

        def span(name: str, centre: float) -> list[float]:
            values = resamples[name].value if name in resamples else np.empty(0)
            return [*map(float, Draws.quantiles(values, level, ranges[name], centre))]

        limits = {name: min(FRAGILE, float(np.ptp(span(name, value))) / 4) for name, value in self.values.items()}
        bias, most_bins = 0.0, 1 if self.table.code_bins is None else int(self.table.code_bins.max())
        for factor, height in zip(source.rows().factors.columns, self.table.factor_entropy.tolist(), strict=True):
            cells = (most_bins - 1) * ((len(factor.levels) if factor.categorical else most_bins) - 1)
            if height > 0:  # expected bias of the plug-in information, in units of the factor's entropy
                bias = max(bias, cells / (2 * factor.n_annotated * height))
        if bias <= min(0.02, *(limit / 2 for limit in limits.values())):
            return {}
        notes = {}
        # Miller-Madow hardly corrects these
        for name, before, after in self._moved(self.requests, limits, correction="adjusted"):
            low, high = span(name, after)
            message = (
                f"{source.rows().n:,} rows are few for so many bins: `correction='adjusted'` gives "
                f"{after:.3f} instead of {before:.3f}"
            )
            severity: Severity = "fragile" if abs(after - before) > FRAGILE else "warning"
            note = Note(code="few-rows", message=message, severity=severity)
            notes[name] = (note, {"value": after, "low": low, "high": high})
        return notes

    def _moved(
        self, requests: Sequence[Request], limits: Mapping[str, float] = MappingProxyType({}), **changed: Any
    ) -> Iterator[tuple[str, float, float]]:
        """Yield the scores that another setting moves by more than they may be moved, before and after."""
        table = self.source.table(replace(self.settings, **changed), pairs=self.pairs)
        for one in requests:
            with suppress(NotEnoughData):  # groups of columns may have too many cells to be counted there
                before, after = self.values[one.name], float(one.read(table).value)
                if abs(after - before) > limits.get(one.name, FRAGILE):
                    yield one.name, before, after


def _sample(columns: Array) -> Floats:
    """Return some rows of each column, evenly spaced, in increasing order."""
    step = max(len(columns) // PROBE, 1)
    return np.sort(np.asarray(columns[::step][:PROBE], dtype=np.float64), axis=0)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return the first names."""
    return ", ".join(map(repr, names[:most])) + ", ..." * (len(names) > most)


def moved_notes(code: str, reason: str, value: float, other: float, subject: tuple[str, ...] = ()) -> tuple[Note, ...]:
    """Return a note of what a score would be under another choice, if that moves it much."""
    if not abs(other - value) > FRAGILE:
        return ()
    message = f"{reason} it would be {other:.3f} instead of {value:.3f}"
    return (Note(code=code, message=message, subject=subject, severity="fragile"),)


def moved_by_outliers(value: float, without: float, outlying: tuple[str, ...]) -> tuple[Note, ...]:
    """Return a note where a score moves when outlying columns are clipped to their central 99%."""
    reason = f"outliers of {listed(outlying)} decide it: with these columns clipped to their central 99%"
    return moved_notes("outliers", reason, value, without, outlying)


def units_notes(value: float, standardised: float) -> tuple[Note, ...]:
    """Return a note where a score of codes in raw units would be another one with all codes in standard deviations."""
    reason = "the units of the codes decide much of it: with codes in standard deviations"
    return moved_notes("raw-units", reason, value, standardised)


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


def at_chance_notes(value: float, chance: ArrayLike, n: int, d: int, *, of: str = "") -> tuple[Note, ...]:
    """Return a note where the codes are many for the rows and score above 0 with the rows of the factors shuffled.

    ``of`` names the codes of the level, if not all.
    """
    drawn = np.asarray(chance, dtype=np.float64)
    known = drawn[~np.isnan(drawn)]
    level = float(known.mean()) if known.size else float("nan")
    if not (value > FRAGILE and level > FRAGILE and many_codes(n, d)):
        return ()
    how = "one shuffle" if known.size == 1 else f"mean of {known.size}"
    message = (
        f"{d:,} codes are many for {n:,} rows: with the rows of the factors shuffled, so that codes tell nothing of "
        f"them, it is {level:.3f} instead of {value:.3f} ({how}{of}); {ASK}"
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
