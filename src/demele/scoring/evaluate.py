"""Many metrics of one representation in one call: shared work done once, with uncertainty, chance levels and notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.inputs import Missing
from demele.core.kinds import Bins, CodeNames, Data, FactorNoise, Groups, Kinds
from demele.core.names import NEW_ARGUMENTS, renamed
from demele.core.pieces import SAMPLE
from demele.core.results import Evaluation
from demele.metrics.options import Run, as_binning, check_blocks
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import (
    Choice,
    Metrics,
    Request,
    are_named,
    chosen_metrics,
    draws_of,
    given_options,
    requests_of,
    unnamed_metrics,
)
from demele.metrics.run import evaluation, rows_in_memory
from demele.metrics.source import InMemory
from demele.scoring.pieces import read_in_pieces


@renamed(**NEW_ARGUMENTS)
def evaluate(
    codes: object,
    factors: object,
    metrics: Metrics = None,
    *,
    protocol: str = DEFAULT_PROTOCOL,
    seed: int = 0,
    n_repeats: int = 1,
    n_bootstrap: int | None = None,
    level: float = 0.95,
    n_permutations: int | None = None,
    missing: Missing = "raise",
    kinds: Kinds = None,
    codes_std: Data = None,
    reg_dim: CodeNames = None,
    code_groups: Groups = None,
    reduce_groups: Literal["pca1"] | None = None,
    blocks: Data = None,
    bins: Bins = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "codes",
    n_jobs: int = 1,
    sample: int = SAMPLE,
    ignore_index: bool = False,
    factor_noise: FactorNoise = None,
    factor_noise_method: str | None = None,
    aligned: bool = False,
    whiten: bool = False,
) -> Evaluation:
    """Score a representation with one recommended metric for each property, with those named, or with all.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        The representation: NumPy array (memory-mapped too), pandas or polars frame, PyTorch tensor, SciPy sparse
        matrix. Any unit. Larger than memory: a Dask array or data frame, columns of :func:`demele.scan_parquet`, and
        memory-mapped arrays of over 4 GiB (together with the factors) are read a piece at a time.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        The known factors of the same rows; continuous and categorical columns may be mixed.
    metrics : None, "all", or sequence of names, callables and Metrics
        Metrics to compute, or all (default: mig_sup, mig, explicitness). None: MIG-sup (modularity), MIG (compactness)
        and Explicitness, with intervals and chance levels. ``"all"``: every metric that applies, but for the newer ones
        (``in_all=False``), and for those that need the intended order of the codes where ``reg_dim`` does not tell it.
        A callable is called with the codes, an array (n_samples, n_codes), and the factors, an array (n_samples,
        n_factors) that holds level numbers for categorical ones, and returns a float. A
        :class:`demele.metrics.Metric` of your own need not be registered.
    protocol : str, default "review2022"
        Named settings of the metrics. See :func:`demele.list_protocols`.
    seed : int >= 0
        Random seed. Same seed, same input: same bits, whatever ``n_jobs``.
    n_repeats : int >= 1
        Runs of each stochastic metric. They have different streams; the value is then their mean.
    n_bootstrap : int >= 0, optional
        Resamples of the rows for the intervals (default: 20, or 0 with named metrics). Intervals are percentiles of the
        resampled values, moved so that their mean is at the value (resamples repeat the bias of the sample). Histogram
        metrics: bootstrap. Others: half of the rows without replacement, whose spread has the standard error of the
        whole and never puts one row into a predictor's training and test rows at once.
    level : float in (0, 1)
        Confidence of the intervals.
    n_permutations : int >= 0, optional
        Permutations for the chance level (default: 20, or 0 with named metrics). Of the factors' rows.
    missing : {"raise", "omit"}
        Missing annotations: refuse them, or omit rows factor by factor.
    kinds : None, str, mapping or sequence
        Type of a factor, if the detected type is wrong. "continuous", "categorical" or, of an angle in degrees,
        "cyclic:360". "cyclic" alone finds the period of angles that span 360 or 2 pi. Metrics that do not know cyclic
        factors are left out, with the reason.
    codes_std : array-like of shape (n_samples, n_codes), optional
        Standard deviations of stochastic codes, for RMIG.
    reg_dim : sequence of int or str, optional
        Code that regularises each factor. For DMIG, XMIG, DLIG and (if given) MIG and SAP.
    code_groups : mapping of name to columns, or sequence with a label for each column, optional
        Codes of several columns. ``{"circle": [0, 1], "v": [2]}``, columns by number or name. Each group is one code,
        named as the group; columns in none are codes of their own. Of codes of shape (n_samples, n_slots, n_columns)
        each slot is a group, named ``"slot0"`` and so on. Metrics that have no form for groups are left out,
        with the reason. There is no verdict in words then.
    reduce_groups : None or "pca1"
        Use the first principal component of each group. Papers on vector-valued codes do so.
    blocks : array-like of shape (n_samples,), optional
        Rows that depend on each other, such as frames of a video. Numbers or names: ``n_permutations`` then
        permutes whole blocks, each in its own order; with single rows, scores of dependent rows look rarer than they
        are. Exact for blocks of equal length; others are laid end to end. At least five; without ``n_bootstrap``.
    bins : int, Binning or edges, optional
        Number of bins, or a rule such as equal-frequency:8. Overrides the protocol's bins for every metric that
        discretises.
    options : mapping of metric or group to mapping, optional
        Overrides single options, such as ``{"dci_forest": {"n_trees": 50}}``.
    name : str
        What tables and reports call this representation.
    n_jobs : int
        Processes, -1 for all processors.
    sample : int >= 4, default 100 000
        Rows to sample, for data read a piece at a time. Metrics of histograms count all rows, and have the bits that
        they have in memory; SAP and MCC of continuous factors, IRS and OMES sum over all rows, equal to rounding; all
        others, and edges at quantiles, are of a random sample of so many rows, as their notes say. The sample depends
        on ``seed`` and the numbers of the rows only. ``n_bootstrap``, ``n_permutations`` and ``codes_std`` are refused
        for such data.
    ignore_index : bool, default False
        Pair rows by position, even if indexes differ. Pandas codes and factors whose indexes hold different labels are
        refused; True pairs them all the same. Without an index there is nothing to ignore.
    factor_noise : mapping of factor to knowledge, optional
        Wrong annotations: a share, transition matrix or audit of a factor. For each noisy factor a
        :class:`~demele.labels.TransitionMatrix` or :class:`~demele.labels.TransitionCounts`, the confusion matrices of
        three or more annotators, true values of rows drawn at random (:class:`~demele.labels.Audit`,
        :class:`~demele.labels.FactorAudit`), or the share of wrong annotations, from which bounds follow. Factors that
        are not named are taken as right. Values stay those of the annotations as given; ``score.corrected`` says what
        they would be if all annotations were right, with an interval at ``level``, and on which assumptions.
    factor_noise_method : str, optional
        Correction method: transition, audited or bounds. ``"transition"``: from how true values are mistaken, if that
        does not depend on the codes. ``"audited"``: any score, from true values of rows drawn at random, whatever the
        errors depend on; each score that is no function of counts is then computed some thirty times more. By default
        the method that assumes least, given what is known: ``"audited"`` where all noisy factors have an audit.
        ``"bounds"``: all that a rate leaves of MIG, MIG-sup and DCIMIG.
    aligned : bool, default False
        Score again after rotating the codes towards the factors. ``score.alignment`` has the raw score, the
        aligned one and the gap, all on rows that were not used to turn them; ``score.value`` stays as it is. With
        ``n_bootstrap`` gaps have an interval, with ``n_permutations`` a chance level. Needs rows in memory.
    whiten : bool, default False
        Undo oblique maps and scales as well, with ``aligned``. Codes are made uncorrelated, of equal variance, before
        they are rotated.

    Returns
    -------
    Evaluation
        Iterates over Scores; ``evaluation["mig"]``; ``to_frame()``, ``to_json(path)``, ``to_html(path)``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before any computing, naming argument, column and row.
    WorkerError
        If, with ``n_jobs``, a process is killed or runs out of memory.

    Warns
    -----
    UndefinedFactorWarning
        A constant factor was left out.
    FragileScoreWarning
        A score would change much under another defensible setting, or codes of noise would score as well.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((1000, 2))
    >>> evaluation = demele.evaluate(2 * factors, factors, ["mig", "modularity"])
    >>> [round(score.value, 2) for score in evaluation]
    [0.98, 1.0]
    """
    in_memory = not read_in_pieces(codes, factors)  # others have neither intervals nor chance levels
    draws = draws_of(
        metrics if in_memory else "all",
        n_bootstrap=n_bootstrap if blocks is None else n_bootstrap or 0,
        n_permutations=n_permutations,
    )
    call = checked_call(
        metrics,
        Run.checked(seed=seed, n_repeats=n_repeats, level=level, n_jobs=n_jobs, missing=missing, **draws),
        protocol=protocol,
        kinds=kinds,
        reg_dim=reg_dim,
        code_groups=code_groups,
        reduce_groups=reduce_groups,
        blocks=blocks,
        bins=bins,
        options=options,
        sample=sample,
        ignore_index=ignore_index,
    )
    if not isinstance(name, str):
        raise InputTypeError("name", f"expected a string, got {quoted(name)}")
    if isinstance(codes, dict) and codes and all(len(np.shape(each)) == 2 for each in codes.values()):
        raise InputTypeError(
            "codes",
            f"expected one representation, got {len(codes)} in a dict",
            "demele.compare_representations scores several, side by side",
        )
    if aligned is not False or whiten is not False:
        from demele.scoring.alignment import alignable, check_alignment, with_alignment

        check_alignment(aligned, whiten)
    if code_groups is not None:
        for argument, value in (("aligned", aligned or None), ("factor_noise", factor_noise)):
            if value is not None:
                raise InputError(argument, "reads columns one by one, not in groups; leave it out, or the groups")
    if blocks is not None:
        check_blocks(call.run, aligned=aligned, factor_noise=factor_noise is not None)
    if factor_noise is None:
        refuse_method(factor_noise_method)
    data = call.read(codes, factors, codes_std)
    rows = alignable(data) if aligned else None
    if factor_noise is None:
        scored = call.evaluation(data, name)
    else:
        from demele.scoring.noisy.correct import checked_noise, corrected

        memory, noise = checked_noise(factor_noise, factor_noise_method, data)
        scored = corrected(call.evaluation(data, name), call.asked, memory, call.run, noise, factor_noise_method)
    if rows is not None:
        return with_alignment(scored, rows, call.asked, call.run, whiten=whiten)
    return scored


def refuse_method(method: object) -> None:
    """Refuse a method where nothing is known of the noise.

    Raises
    ------
    InputError
    """
    if method is not None:
        raise InputError("factor_noise_method", "needs `factor_noise`")


@dataclass(frozen=True, slots=True)
class Pieces:
    """Data that are read a piece at a time, as they were given."""

    codes: object
    factors: object
    codes_std: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is asked of representations, checked; one call may score several.

    ``named``: whether a metric that does not apply is an error, since it was asked for by name.
    """

    asked: Sequence[Request]
    run: Run
    protocol: str
    named: bool
    kinds: object
    sample: int
    ignore_index: bool
    code_groups: object = None
    reduce_groups: object = None
    blocks: object = None

    def read(self, codes: object, factors: object, codes_std: object = None) -> InMemory | Pieces:
        """Read and check the data; data that are read in pieces are only recognised.

        Raises
        ------
        InputError, InputTypeError, NotEnoughData
        """
        if read_in_pieces(codes, factors):
            if self.code_groups is not None or self.reduce_groups is not None:
                raise InputError("code_groups", "data that are read a piece at a time are scored column by column")
            if self.blocks is not None:
                raise InputError("blocks", "data that are read a piece at a time have no chance level; leave them out")
            return Pieces(codes, factors, codes_std)
        return rows_in_memory(
            codes,
            factors,
            self.run.missing,
            codes_std=codes_std,
            kinds=self.kinds,
            ignore_index=self.ignore_index,
            code_groups=self.code_groups,
            reduce_groups=self.reduce_groups,
            blocks=self.blocks,
        )

    def evaluation(self, data: InMemory | Pieces, name: str) -> Evaluation:
        """Score what was read."""
        how: dict[str, Any] = {"protocol": self.protocol, "kinds": self.kinds, "named": self.named}
        how |= {"name": name}
        if isinstance(data, Pieces):
            from demele.outofcore.source import evaluation_in_pieces

            given = data.codes, data.factors, self.run
            found = evaluation_in_pieces(self.asked, *given, codes_std=data.codes_std, sample=self.sample, **how)
        else:
            found = evaluation(self.asked, data, self.run, **how)
        unnamed = () if self.named else unnamed_metrics(self.protocol)
        return replace(found, notes=(*found.notes, *unnamed)) if unnamed else found


def checked_call(
    metrics: Sequence[Choice] | Choice | None,
    run: Run,
    *,
    protocol: str,
    reg_dim: object,
    bins: object,
    options: Mapping[str, Mapping[str, Any]] | None,
    **reading: Any,
) -> Call:
    """Check what is asked, as :func:`evaluate` takes it, before any data are looked at.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    settings = protocol_named(protocol)
    chosen = chosen_metrics(metrics, reg_dim=reg_dim)
    rule = None if bins is None else as_binning(bins)
    asked = requests_of(chosen, settings, given_options(options, chosen), bins=rule, reg_dim=reg_dim)
    return Call(asked=asked, run=run, protocol=settings.name, named=are_named(metrics), **reading)
