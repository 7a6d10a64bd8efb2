"""Sparse codes, such as the activations of a sparse dictionary, scored from their non-zeros alone, and the result."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal, cast

import numpy as np

from demele.core.arrays import Rows, pd
from demele.core.columns import SparseCodes, read_sparse_codes
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Codes, Factors, Missing, check_pair, read_factors, refuse_cyclic
from demele.core.kinds import FILE, Bins, Count, Kinds, at_least, checked, checked_name, checked_whole, is_whole
from demele.core.result import Result, plain
from demele.core.results import FactorSummary, LeftOut, Note, Score, ScoresByName
from demele.core.score_documents import about_scores, factors_table, glossary, scope_of, score_strips, scores_table
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.guards import FRAGILE, at_chance_notes, few_rows_notes, many_codes, noise_notes, unprobed_notes
from demele.metrics.options import Run, as_binning, checked_run
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.request import Choice, Metrics, Request, chosen_metrics, given_options, merged_options
from demele.metrics.run import Found, warn_of_fragile
from demele.metrics.source import Subject
from demele.metrics.sparse_source import SHUFFLED_CODES, Active, SparseRows, TopCode
from demele.report.document import Document, Section, Table
from demele.report.listing import Column, drawn, listed
from demele.report.words import count, name, written
from demele.runtime.work import reporting

# What scoring sparse codes returns ------------------------------------------------------------------------------------

#: Tables of all codes are no part of the JSON.
_WHOLE = {"json": False}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SparseEvaluation(Result, ScoresByName):
    """The scores of sparse codes, and the codes of each factor.

    Iterates over its scores; ``evaluation["mig"]`` is one of them. ``left_out`` says which metrics have no number
    and why.

    Attributes
    ----------
    code_names : tuple of str
    information : DataFrame of shape (n_codes, n_factors)
        Mutual information in nats; NaN for a factor that is constant.
    joint_entropy : DataFrame of shape (n_codes, n_factors)
        Entropy of the code's bins and the factor together, nats.
    factor_entropy : Series of shape (n_factors,), nats
    code_entropy : Series of shape (n_codes,), nats
        Entropy of each code's bins, zero being one of them.
    activity : Series of shape (n_codes,)
        Share of the rows in which each code is not zero.
    top : tuple of TopCode
        The codes that inform most on each factor, factor by factor.
    screened : tuple of str
        The codes that predictors were fitted on; empty if none were.
    """

    _kind = "sparse evaluation"

    scores: tuple[Score, ...] = field(metadata=_WHOLE)
    left_out: tuple[LeftOut, ...]
    name: str
    n: int
    code_names: tuple[str, ...] = field(metadata=_WHOLE)
    factors: tuple[FactorSummary, ...]
    information: "pd.DataFrame" = field(metadata=_WHOLE)
    joint_entropy: "pd.DataFrame" = field(metadata=_WHOLE)
    factor_entropy: "pd.Series[float]"
    code_entropy: "pd.Series[float]" = field(metadata=_WHOLE)
    activity: "pd.Series[float]" = field(metadata=_WHOLE)
    top: tuple[TopCode, ...]
    screened: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    version: str = ""
    protocol: str = "sparse: zero is a bin"

    def document(self) -> Document:
        """Return which codes inform most on each factor, and what all codes score."""
        best = _top_table([one for one in self.top if one.rank == 1])
        alive = f"{count(self.d - len(self.dead), 'code')} of {self.d:,} are active"
        first, most = max(self.top, key=lambda one: one.relative, default=None), ""
        if first is not None:
            share = f"{written(first.relative, 'percent.0')} of {name(first.factor)}"
            most = f"; {name(first.code)} carries most of a factor: {share}"
        return Document(
            kind="Scores of sparse codes",
            title=f"Scores of {name(self.name)}",
            headline=f"{alive}{most}.",
            figure=drawn(
                best, "Share", caption="Best code of each factor", axis="Share of its entropy", ends=(0.0, 1.0)
            ),
            table=scores_table(self.scores),
            below=[best],
            scope=scope_of(self),
            sections=[
                Section("Scores", [score_strips(self.scores), scores_table(self.scores)]),
                Section("Code-factor matrix", [_top_table(self.top)]),
                Section("Data", [factors_table(self)]),
                glossary(self.scores),
            ],
            **about_scores([self]),
        )

    @property
    def d(self) -> int:
        """Number of codes."""
        return len(self.activity)

    @property
    def dead(self) -> Rows:
        """Positions of the codes that are zero in every row."""
        return np.flatnonzero(self.activity.to_numpy() == 0)

    def top_codes(self, factor: str | int, k: int | None = None) -> tuple[TopCode, ...]:
        """Return the codes that inform most on a factor, the best first.

        Parameters
        ----------
        factor : str or int
            Name or position of the factor.
        k : int, optional
            How many; all that were kept (``top`` of :func:`demele.evaluate_sparse`) by default.

        Raises
        ------
        UnknownNameError, InputError
            For a factor that there is not, or more codes than were kept.
        """
        names = [item.name for item in self.factors]
        if not isinstance(factor, str):
            expected = f"a position from 0 to {len(names) - 1}"
            factor = names[checked_whole(factor, "factor", expected, inside=lambda place: 0 <= place < len(names))]
        checked_name(factor, "factor", names)
        return tuple(item for item in self._best(k) if item.factor == factor)

    def top_frame(self, k: int | None = None) -> "pd.DataFrame":
        """Return the best codes of every factor as a table: one row per code and factor."""
        return pd.DataFrame([asdict(item) for item in self._best(k)], columns=list(TopCode.__dataclass_fields__))

    def _best(self, k: int | None) -> tuple[TopCode, ...]:
        if k is None:
            return self.top
        kept = max((item.rank for item in self.top), default=0)
        most = kept if kept < self.d else np.inf
        expected = f"a number from 1 to {kept}, as many codes as `top` has kept; evaluate with a larger `top`"
        k = checked_whole(k, "k", expected, inside=lambda number: 1 <= number <= most)
        return tuple(item for item in self.top if item.rank <= k)

    def to_frame(self) -> "pd.DataFrame":
        """One row per score, in a fixed column order."""
        return pd.DataFrame([{"name": self.name, **score.row()} for score in self.scores])

    def to_dict(self) -> dict[str, Any]:
        """Scores and top codes as plain values that JSON can hold (NaN becomes None).

        Matrices, and values of codes that are nowhere among the top ones, are left out: with 65 536 codes they would
        be hundreds of megabytes of text. They are in ``information``, ``activity`` and each score.
        """
        top = {item.code for item in self.top}
        short = []
        for score in self.scores:
            kept = [index for index, code in enumerate(score.code_names) if code in top]
            large = {key for key, value in score.details.items() if isinstance(value, np.ndarray) and value.size > 1000}
            short.append(
                replace(
                    score,
                    matrix_values=None,
                    details={key: value for key, value in score.details.items() if key not in large},
                    code_names=tuple(score.code_names[index] for index in kept),
                    per_code=None if score.per_code is None else score.per_code[kept],
                )
            )
        found = super(SparseEvaluation, self).to_dict()
        return {**found, "n_codes": self.d, "scores": [plain(score) for score in short]}


def _top_table(codes: "Sequence[TopCode]") -> Table:
    """Return the codes that inform most on each factor."""
    columns: list[Column[TopCode]] = [
        ("Factor", "text", "factor"),
        ("Code", "text", "code"),
        ("Share", "percent.1", "relative"),
        ("Active", "percent.2", "activity"),
        ("Active there", "percent.1?", "activity_there"),
        ("Highest at", "text", "direction"),
    ]
    return listed("Codes that inform most", codes, columns)


@checked
def evaluate_sparse(
    codes: object,
    factors: object,
    metrics: Metrics = None,
    *,
    bins: Bins = 10,
    factor_bins: Bins = 10,
    correction: Literal["none", "miller-madow"] = "none",
    screen: Annotated[int, at_least(2)] = 200,
    n_rows: Annotated[int, at_least(50)] = 20_000,
    top: Count = 10,
    code_names: Annotated[Sequence[str] | None, FILE] = None,
    seed: int = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "codes",
    n_jobs: int = 1,
) -> SparseEvaluation:
    """Score sparse codes with up to 1e5 dimensions, and name the codes that hold each factor.

    Parameters
    ----------
    codes : SciPy sparse matrix or array of shape (n_samples, n_codes), real, finite
        Any format, such as the activations of a sparse dictionary; negative values are allowed. Stored zeros are
        zeros, and entries that stand twice are added up. Never made dense.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        The known factors of the same rows, as for :func:`demele.evaluate`.
    metrics : None, or sequence of names
        mig, mig_sup, modularity, dcimig, jemmig, sap and the dci_* metrics; None: all but DCI, whose predictors take
        seconds to minutes for each factor.
    bins : int, str, Binning or edges, default 10
        Cuts the non-zeros of each code, between its smallest and its largest one. Zero is always a bin of its own. 1:
        a code is active or not.
    factor_bins : int, str, Binning or edges, default 10
        Number of bins of continuous factors.
    correction : {"none", "miller-madow"}
        Correction of the bias of information. About (B_z - 1)(B_v - 1) / 2n upwards.
    screen : int >= 2, default 200
        Codes on which predictors are fitted. SAP of categorical factors, DCI: each factor's best by information, each
        factor's second best, and so on.
    n_rows : int >= 50, default 20 000
        Rows on which predictors are fitted at most. A seeded sample.
    top : int >= 1, default 10
        Codes kept per factor.
    code_names : sequence of str, optional
        Names of the codes: a line or a cell each (default: z1, z2, ...).
    seed : int >= 0
        Random seed of the sample of rows and the predictors. Same seed, same input: same bits, whatever ``n_jobs``.
    missing : {"raise", "omit"}
        Missing annotations: refuse them, or omit rows factor by factor.
    kinds : None, str, mapping or sequence
        Type of a factor, if the detected type is wrong. "continuous" or "categorical".
    options : mapping of metric or group to mapping, optional
        Options of SAP and DCI, such as ``{"dci_forest": {"n_trees": 50}}``.
    name : str
        What tables call this representation.
    n_jobs : int
        Threads for counting, processes for predictors; -1 for all processors.

    Returns
    -------
    SparseEvaluation
        Iterates over Scores; ``evaluation["mig"]``; ``information``, a table (n_codes, n_factors) in nats;
        ``top_codes(factor)`` and ``top_frame()``; ``activity``; ``to_frame()``, ``to_json(path)``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before any computing, naming argument, column and row.

    Warns
    -----
    UndefinedFactorWarning
        A constant factor was left out.
    AmbiguousKindWarning
        Whole numbers could be classes or a quantity.

    Notes
    -----
    The formulas are those of :func:`demele.evaluate`; what they are computed from differs so. (1) Information: zero
    has a bin of its own and the non-zeros are cut by themselves, so that one large value does not put the whole code
    into the bin of zero. Where a code is never zero it has no such bin. (2) SAP of a continuous factor is that of all
    codes on all rows (squared correlation, from sums over the non-zeros); SAP of a categorical factor and DCI are
    those of the screened codes on at most ``n_rows`` rows; a note says how many codes and what share of the
    information the others hold. With as many screened codes and rows as there are, they equal the dense scores. The
    compactness of DCI counts the screened codes as all there are. (3) Codes that are zero in every row score 0 in
    Modularity and MIG-sup, as constant ones do; a note tells the mean of the others.

    Cost: O(non-zeros x n_factors) time to count plus O(n_codes x bins x levels) for the tables; a copy of the
    non-zeros, the factors at a byte each, and a few (n_codes, n_factors) tables of memory.

    Examples
    --------
    >>> import demele, numpy as np, scipy.sparse
    >>> concept = np.arange(1000) % 2
    >>> codes = scipy.sparse.csr_array(np.column_stack([concept * 0.5, 1.0 - concept, np.zeros(1000)]))
    >>> evaluation = demele.evaluate_sparse(codes, concept, ["dcimig"], code_names=["on", "off", "dead"])
    >>> evaluation["dcimig"].value
    1.0
    >>> [(code.code, code.direction) for code in evaluation.top_codes("v1", 2)]
    [('on', '1'), ('off', '0')]
    """
    if (is_whole(bins) or isinstance(bins, str)) and bins in (1, "1"):
        bins = Active()
    try:
        of_factors = as_binning(factor_bins)
    except InputError as error:
        raise type(error)(f"factor_{error}") from error
    if not isinstance(name, str):
        raise InputTypeError("name", f"expected a string, got {quoted(name)}")
    rule = bins if isinstance(bins, Active) else as_binning(bins)
    run = checked_run(seed=seed, n_jobs=n_jobs)
    fitted_on = {"screen": screen, "n_rows": n_rows}
    asked = _asked(metrics, options, bins=rule, correction=correction)
    read = read_sparse_codes(codes, code_names)
    columns = read_factors(factors, kinds=kinds, missing=missing)
    refuse_cyclic(columns.columns, "evaluate_sparse")
    check_pair(read.n, read.d, columns)

    subject, named = _subject(read, columns), metrics is not None
    counted, fitted = ([one for one in asked if one.metric.screened == own] for own in (False, True))
    screened: tuple[str, ...] = ()
    with reporting() as report:
        source = SparseRows(
            read,
            subject,
            bins=rule,
            factor_bins=of_factors,
            correction=correction,
            n_jobs=run.n_jobs,
            correlations=any(one.metric.of_each_code for one in asked),
            report=report,
        )
        counts = Found(source, run, guards=False, named=named).compute(counted)
        found = [_counted(score, source) for score in counts.scores(DEFAULT_PROTOCOL, warn=False)]
        left_out = {item.metric: item for item in counts.left_out}
        if fitted:
            rows = source.screened(screen, n_rows, run.seed)
            screened = rows.subject("rows").codes.names
            of_rows = Found(rows, run, report, named=named).compute(fitted)
            left_out |= {item.metric: item for item in of_rows.left_out}
            noted = tuple(note for note in subject.notes if note.code != "missing-annotations")
            for score in of_rows.scores(DEFAULT_PROTOCOL, warn=False):
                own = source.sap_of_all(score, rows.chosen) if CATALOGUE[score.metric].of_each_code else score
                found.append(replace(own, notes=noted + own.notes))
        if named and left_out:
            raise NotEnoughData(next(iter(left_out.values())).reason)
        scores = {score.metric: _signed(score, source, fitted_on, run) for score in found}
        scores = _guarded(scores, source, counts.requests, run)
    table = source.counted.information
    entropies = np.zeros(columns.m)
    entropies[list(subject.active)] = table.factor_entropy
    if table.joint_entropy is None:
        raise ValueError("counts give joint entropies")
    information, joint_entropy = (
        pd.DataFrame(subject.spread_factors(values), index=list(read.names), columns=list(columns.names))
        for values in (table.information, table.joint_entropy)
    )
    return SparseEvaluation(
        scores=tuple(scores[one.name] for one in asked if one.name in scores),
        left_out=tuple(left_out[one.name] for one in asked if one.name in left_out),
        name=name,
        n=read.n,
        code_names=tuple(map(str, read.names)),
        factors=subject.summaries(),
        information=information,
        joint_entropy=joint_entropy,
        factor_entropy=pd.Series(entropies, index=list(columns.names)),
        code_entropy=pd.Series(source.counted.code_entropy, index=list(read.names)),
        activity=pd.Series(read.activity, index=list(read.names)),
        top=source.top_codes(top),
        screened=screened,
        notes=subject.notes,
        version=__version__,
    )


# Before any computing --------------------------------------------------------------------------------------------


def sparse_metrics() -> tuple[str, ...]:
    """Return the metrics of sparse codes: those read off counts, and those fitted on the codes that inform most."""
    return tuple(
        name
        for name, metric in CATALOGUE.items()
        if metric.screened or (SparseRows.reads(metric) and not metric.needs_order)
    )


def _asked(metrics: Sequence[Choice] | Choice | None, options: object, **shared: object) -> list[Request]:
    """Check metrics, and options of those that are fitted; those read off counts have bins and correction."""
    chosen = {name: CATALOGUE[name] for name in sparse_metrics()}
    fitted = [metric for metric in chosen.values() if metric.screened]
    if metrics is None:
        chosen = {name: one for name, one in chosen.items() if one.in_all and not (one.screened and one.slow >= 2)}
    else:
        named = chosen_metrics(metrics)
        for metric_name, metric in named.items():
            if CATALOGUE.find(metric_name) is not metric:
                raise InputTypeError(
                    "metrics", f"expected names, got {quoted(metric.call)}; a callable needs dense codes"
                )
            if metric_name not in chosen:
                raise InputError(
                    "metrics", f"{metric_name} is not computed of sparse codes; there are {', '.join(sparse_metrics())}"
                )
        chosen = named
    given = given_options(options)
    groups = {metric.group for metric in fitted}
    for key in given:
        if key not in groups | {metric.name for metric in fitted}:
            raise InputError(
                "options",
                f"{key!r} has none here; sparse codes take options of {', '.join(sorted(groups))}, and bins "
                "and correction as arguments",
            )
    return [
        Request(
            metric,
            name,
            merged_options(metric, {}, given)
            if metric.screened
            else {option: shared.get(option, one.default) for option, one in metric.option_table.items()},
        )
        for name, metric in chosen.items()
    ]


def _guarded(scores: dict[str, Score], source: SparseRows, of_counts: list[Request], run: Run) -> dict[str, Score]:
    """Add a note to scores that codes of noise would have as well, and warn of it."""
    high = {name: one for name, one in scores.items() if one.value > FRAGILE}
    if not high:
        return scores
    codes, finding = source.codes, source.finding()
    shuffled: dict[str, float] = {}
    requests = [one for one in of_counts if one.name in high]
    if finding.detected and requests and many_codes(codes.n, codes.d):
        settings = next(one.settings for one in requests if one.settings is not None)
        (table,) = source.tables(settings, "permutations", 1, run.seed)
        shuffled = {one.name: float(one.read(table).value) for one in requests}
    of = f" of {SHUFFLED_CODES:,} of the codes" if codes.d > SHUFFLED_CODES else ""
    found = dict(scores)
    for metric_name, score in high.items():
        notes = noise_notes(score.value, finding)
        if metric_name in shuffled:
            notes += at_chance_notes(score.value, [shuffled[metric_name]], codes.n, codes.d, of=of)
        found[metric_name] = replace(score, notes=(*score.notes, *notes))
    warn_of_fragile(list(found.values()))
    return found


def _subject(codes: SparseCodes, factors: Factors) -> Subject:
    """Say what does not vary, what is not annotated and what was guessed; warn of it too."""
    notes = []
    dead = np.flatnonzero(codes.n_nonzeros == 0)
    flat = np.flatnonzero(codes.constant & (codes.n_nonzeros > 0))
    for code, which, what in (("dead-codes", dead, "zero in every row"), ("constant-code", flat, "constant")):
        if len(which):
            shown = tuple(codes.names[int(index)] for index in which[:5])
            listed = ", ".join(map(repr, shown)) + (", ..." if len(which) > 5 else "")
            verb, carry = ("is", "it carries") if len(which) == 1 else ("are", "they carry")
            message = f"{len(which):,} of {codes.d:,} codes ({listed}) {verb} {what}: {carry} no information"
            notes.append(Note(code=code, message=message, subject=shown))
    # names and numbers of columns are all that such a subject is asked for
    return Subject.of(cast("Codes", codes), factors, notes)


def _counted(score: Score, source: SparseRows) -> Score:
    """Say of a score that is read off counts what was not looked at, and what codes that do not vary do to it."""
    guards, codes = CATALOGUE[score.metric].guards, source.codes
    notes = few_rows_notes(guards, source.subject("table").varying, {})
    notes += unprobed_notes(guards, score.value, codes.n, codes.d, kept="counts", chance=True)
    score = replace(score, notes=score.notes + notes)
    alive = ~codes.constant
    if score.per_code is None or alive.all() or not alive.any():
        return score
    others = float(np.nanmean(score.per_code[alive]))
    message = f"constant codes count 0 in the mean over codes; without them it would be {others:.3f}"
    return replace(score, notes=(*score.notes, Note(code="mean-of-living-codes", message=message)))


def _signed(score: Score, source: SparseRows, fitted_on: Mapping[str, int], run: Run) -> Score:
    """Sign a score with the call that makes it again."""
    codes, factors = source.codes, source.subject("table").factors
    arguments: dict[str, object] = {"metrics": score.metric, "bins": source.bins}
    if not all(factor.categorical for factor in factors.columns):
        arguments["factor_bins"] = source.factor_bins
    arguments["correction"] = source.correction
    metric = CATALOGUE[score.metric]
    if metric.screened:
        arguments |= {**fitted_on, "seed": run.seed, "options": {metric.group: dict(score.signature.arguments)}}
    arguments |= factors.reading
    met = {"rows": codes.n, "codes": codes.d, "nonzeros": len(codes.values), "factors": factors.m}
    return replace(score, signature=Signature.of("evaluate_sparse", arguments, **met), protocol=None)
