"""Evaluations of rows that do not fit into memory: counts of all of them, and a sample where all rows are needed.

One pass finds the kinds, levels and extremes, a second one counts all pairs of columns under fixed edges and keeps a
sample. Whole numbers add up in any order, so that metrics of histograms have the bits that they have in memory, however
the rows are cut and whoever counts them. The other metrics are computed on a random sample of bounded size: the rows
with the smallest keys, hashed from their number among all rows.

Quantiles as edges of bins come from the sample too. Sketches of quantiles that merge, as KLL and t-digest, are no more
exact at this size (a quantile of 100 000 rows is off by 0.16% of the rows in standard error) and depend on the order of
merging or on draws that cannot be seeded.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UndefinedFactorWarning
from demele.core.inputs import Missing, read_pair
from demele.core.results import Evaluation, LeftOut, Note, Score
from demele.core.sentences import marked
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.estimation.discretise import Binning
from demele.estimation.information import InformationTable
from demele.metrics.chosen import Choice, asked_of, chosen_metrics, given_options
from demele.metrics.data import TableSettings
from demele.metrics.metric import Reading
from demele.metrics.options import Run, as_binning
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import Asked, applies, reading_of
from demele.metrics.run import computed, evaluation, scores_of
from demele.metrics.source import InMemory, Source, Subject
from demele.outofcore.counting import RowCounter
from demele.outofcore.passes import Sampled, Tally
from demele.outofcore.whole_rows import WholeRows, first_pass, further_passes, pieces_of
from demele.runtime.progress import Report, reporting
from demele.streaming.frame import Frame
from demele.streaming.source import is_counted, of_varying

#: Rows that metrics which cannot be counted are computed on, unless told otherwise.
SAMPLE = 100_000

#: Notes on how few rows there are: of a sample they say nothing of all rows.
OF_ROWS = ("few-rows", "many-codes")


def evaluate_in_pieces(
    codes: object,
    factors: object,
    metrics: Sequence[Choice] | Choice | None = None,
    *,
    protocol: str = DEFAULT_PROTOCOL,
    seed: int = 0,
    repeats: int = 1,
    bootstrap: int = 0,
    level: float = 0.95,
    chance: int = 0,
    missing: Missing = "raise",
    kinds: object = None,
    codes_std: object = None,
    reg_dim: object = None,
    bins: object = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "codes",
    n_jobs: int = 1,
    progress: bool | Callable[[float, float, str], None] = False,
    sample: int = SAMPLE,
) -> Evaluation:
    """Do what :func:`demele.evaluate` does, reading rows a piece at a time.

    Parameters
    ----------
    codes, factors
        Dask collections, tables of :func:`demele.scan_parquet`, or arrays.
    metrics, protocol, seed, repeats, missing, kinds, reg_dim, bins, options, name, n_jobs, progress, sample
        As there. Dask collections are worked on by the active scheduler, whatever ``n_jobs``.
    bootstrap, chance, codes_std, level
        Refused: what they need is drawn from all rows at once.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
    """
    named = metrics is not None
    run = Run.checked(
        seed=seed, repeats=repeats, bootstrap=bootstrap, level=level, chance=chance, n_jobs=n_jobs, missing=missing
    )
    _refuse(bootstrap=bootstrap, chance=chance, codes_std=codes_std)
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 4:
        raise InputError("sample", f"expected a number of rows of at least 4, got {sample!r}")
    settings = protocol_named(protocol)
    chosen = chosen_metrics(metrics)
    rule = None if bins is None else as_binning(bins)
    asked = asked_of(chosen, settings, given_options(options, chosen), rule, {"reg_dim": reg_dim})
    if not isinstance(name, str):
        raise InputTypeError("name", f"expected a string, got {name!r}")
    with reporting(progress) as report:
        pieces = pieces_of(codes, factors, run.n_jobs)
        rows, subject = first_pass(pieces, kinds, missing, int(sample), run.seed, report)
        source = Pieces(rows, subject)
        asked, left_out = _applying(asked, source, named=named)
        counted = [one for one in asked if reading_of(one.metric, source, one.options) is not None]
        kept = source.read(list(dict.fromkeys(one.options["bins"] for one in counted)), report)
        whole = computed(counted, source, run, named=named)
        asked = [one for one in asked if one.name not in whole.refused]
        left_out += whole.left_out
        scores = {score.metric: score for score in scores_of(whole, source, run, settings.name, kinds, warn=False)}
        about, reason = _of_sample(rows, kept, asked, run, settings.name, False if report is None else report)
    if about is None and named and len(counted) < len(asked):
        raise NotEnoughData(reason)
    of_sample = {} if about is None else {score.metric: score for score in about}
    reasons = {} if about is None else {one.metric: one.reason for one in about.left_out}
    for one in asked:
        own = of_sample.get(one.name)
        if one.name in scores:
            scores[one.name] = _checked(scores[one.name], own, rows)
        elif own is not None:
            scores[one.name] = _told(own, rows)
        else:
            left_out.append(LeftOut(metric=one.name, reason=reasons.get(one.name, reason)))
    return Evaluation(
        scores=tuple(scores[one.name] for one in asked if one.name in scores),
        left_out=tuple(left_out),
        protocol=settings.name,
        name=name,
        n=rows.n,
        code_names=subject.codes.names,
        factors=subject.summaries(),
        dependency=() if about is None else about.dependency,
        notes=subject.notes,
        version=__version__,
    )


class Pieces(Source):
    """Rows that are read a piece at a time: after the passes, counts of all of them.

    Parameters
    ----------
    rows : WholeRows
        What the first pass found.
    subject : Subject
    """

    states = frozenset({"table"})
    name = "data read a piece at a time"

    def __init__(self, rows: WholeRows, subject: Subject) -> None:
        self._rows, self._subject = rows, subject
        self._frame: Frame = rows.frame
        self._rules: list[Binning] = []
        self._tally: Tally | None = None

    def read(self, rules: list[Binning], report: Report | None) -> Sampled:
        """Count all rows under these rules, and return a sample of them."""
        self._frame, self._tally, kept = further_passes(self._rows, rules, report)
        self._rules = rules
        return kept

    def has(self, reading: Reading, options: Mapping[str, Any]) -> bool:
        """Whether a metric counts every row."""
        return is_counted(reading, options)

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns as the first pass found them."""
        return self._subject

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the information table of all rows."""
        if self._tally is None:
            raise ValueError("rows are counted before tables are read")
        counter = RowCounter(self._frame.bins(settings.binning), self._rows.incomplete)
        counts = counter.joint_counts(self._tally.cells[self._rules.index(settings.binning)])
        counts = of_varying(counts, list(self._subject.active))
        return self.information(counts if pairs else replace(counts, factor_tables={}), settings.correction)

    def notes(self, options: Mapping[str, Any]) -> tuple[Note, ...]:
        """Say where edges are quantiles, and of which rows."""
        rows = self._rows
        if not options["bins"].needs_values or rows.n <= rows.sample:
            return ()
        message = f"the edges of the bins are quantiles of a random sample of {rows.sample:,} of {rows.n:,} rows"
        return (Note(code="edges-of-sample", message=message),)


def _applying(asked: Sequence[Asked], source: Pieces, *, named: bool) -> tuple[list[Asked], list[LeftOut]]:
    """Return what is to be computed, and what does not apply; where metrics were named, that is an error."""
    found: list[Asked] = []
    left_out: list[LeftOut] = []
    for one in asked:
        try:
            applies(one, source.subject("rows"))
        except NotEnoughData as error:
            if named:
                raise
            left_out.append(LeftOut(metric=one.name, reason=str(error)))
        else:
            found.append(one)
    if not found:
        raise NotEnoughData("metrics", f"none applies; {left_out[0].metric}: {marked(left_out[0].reason)}")
    return found, left_out


def _refuse(**given: Any) -> None:
    """Refuse what would need all rows at once."""
    wants = {
        "bootstrap": "resamples are drawn from all rows",
        "chance": "all rows are permuted",
        "codes_std": "standard deviations are spread over all rows",
    }
    for name, value in given.items():
        if value is not None and value is not False and not (isinstance(value, int) and value == 0):
            raise InputError(
                name,
                f"{wants[name]}, which rows read a piece at a time do not allow; leave it out, or pass a "
                "sample of the rows as an array",
            )


# Scores ---------------------------------------------------------------------------------------------------------------


def _of_sample(
    rows: WholeRows,
    kept: Sampled,
    asked: Sequence[Asked],
    run: Run,
    protocol: str,
    progress: bool | Callable[[float, float, str], None],
) -> tuple[Evaluation | None, str]:
    """Score the sample: with every metric, since it also shows what makes counted ones fragile."""
    d = len(rows.frame.codes)
    codes = _table(kept.columns[:d], rows.frame.codes, "z")
    columns = [
        _category(column, about.levels) if own else column
        for column, about, own in zip(kept.columns[d:], rows.frame.columns, rows.ordered, strict=True)
    ]
    factors = _table(columns, rows.frame.factors, "v")
    kinds = dict(rows.kinds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedFactorWarning)  # told of all rows already
            subject = Subject.of(*read_pair(codes, factors, kinds=kinds, missing=run.missing))
            found = evaluation(
                asked,
                InMemory(subject),
                run,
                protocol=protocol,
                kinds=kinds,
                name="codes",
                named=True,
                progress=progress,
            )
    except NotEnoughData as error:
        return None, f"on a random sample of {len(kept.keys):,} rows: {error}"
    return found, ""


def _category(numbers: NDArray[Any], levels: tuple[str, ...]) -> Any:
    import pandas as pd

    known: NDArray[np.intp] = np.where(numbers < len(levels), numbers, -1).astype(np.intp)
    return pd.Categorical.from_codes(known, categories=pd.Index(levels))


def _table(columns: Sequence[Any], names: tuple[str, ...], default: str) -> Any:
    """Return an array of rows where an array came: solvers that sum in another order give other last bits."""
    numeric = all(isinstance(column, np.ndarray) and column.dtype.kind in "fiub" for column in columns)
    if numeric and names == tuple(f"{default}{index + 1}" for index in range(len(columns))):
        return np.column_stack(columns)
    import pandas as pd

    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _checked(score: Score, of_sample: Score | None, rows: WholeRows) -> Score:
    """Add what makes a score fragile; how few rows there are is no matter of the sample."""
    whole = rows.n <= rows.sample
    found = () if of_sample is None else of_sample.notes
    fragile = [note for note in found if note.severity == "fragile" and (whole or note.code not in OF_ROWS)]
    told = "" if whole else f" (seen in a random sample of {rows.sample:,} rows)"
    if any(note.code == "edges-of-sample" for note in score.notes):
        score = replace(score, signature=_signed(score.signature, rows))
    return replace(
        score, notes=(*score.notes, *(replace(note, message=f"{marked(note.message)}{told}") for note in fragile))
    )


def _told(score: Score, rows: WholeRows) -> Score:
    """Say of how many rows a score is, where it is not of all."""
    if rows.n <= rows.sample:
        return score
    message = f"of a random sample of {rows.sample:,} of {rows.n:,} rows (sample={rows.sample})"
    score = replace(score, signature=_signed(score.signature, rows))
    return replace(score, notes=(*score.notes, Note(code="sampled", message=message)))


def _signed(signature: Signature, rows: WholeRows) -> Signature:
    """Return the signature of what depends on a sample: replayed, the same rows are drawn."""
    drawn = {"sample": str(rows.sample), "sample_of": str(rows.n), "sample_seed": str(rows.seed)}
    return Signature(signature.metric, signature.arguments, {**signature.context, **drawn})
