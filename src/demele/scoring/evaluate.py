"""Many metrics of one representation in one call, with uncertainty and chance levels; and a number made again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, warn_user
from demele.core.given_data import Codes, Factors, read_code_groups, slots_as_groups
from demele.core.inputs import read_pair
from demele.core.kinds import Bins
from demele.core.lazy import SAMPLE
from demele.core.results import Evaluation, Score
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.metrics import request
from demele.metrics.catalogue import CATALOGUE, resolve
from demele.metrics.metric import Metric
from demele.metrics.options import Run, as_binning, check_blocks, checked_run, restored
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.run import evaluation, rows_in_memory
from demele.metrics.source import InMemory
from demele.runtime.work import is_collection

# Which data are read a piece at a time, and what a metric's own function gives of them --------------------------------

#: Bytes of memory-mapped arrays that are still scored in memory. Fixed, so that scores do not depend on the machine.
LARGEST_MAPPED = 1 << 32


def read_in_pieces(*tables: object) -> bool:
    """Return whether one of the tables is a Dask collection or names Parquet files, or mapped ones are large."""
    if all(type(table) is np.ndarray for table in tables):
        return False
    mapped = [table.nbytes for table in tables if isinstance(table, np.memmap)]
    return sum(mapped) > LARGEST_MAPPED or any(
        is_collection(table) or type(table).__name__ == "ParquetTable" for table in tables
    )


def scores_in_pieces(asked: Sequence[request.Request], codes: Codes, factors: Factors, run: Run) -> list[Score] | None:
    """Score metrics as their own functions do; None where the data are to be read in memory."""
    if not read_in_pieces(codes.values, factors.values):
        return None
    from demele.outofcore.passes import evaluation_in_pieces

    evaluation = evaluation_in_pieces(asked, codes, factors, run, protocol=DEFAULT_PROTOCOL, named=True)
    if evaluation.left_out:
        raise NotEnoughData(evaluation.left_out[0].reason)
    return list(evaluation)


def evaluate(
    codes: object,
    factors: object,
    metrics: request.Metrics = None,
    *,
    protocol: str = DEFAULT_PROTOCOL,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    bins: Bins = None,
    n_repeats: int = 1,
    n_bootstrap: int | None = None,
    n_permutations: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
) -> Evaluation:
    """Score a representation with one recommended metric for each property, with those named, or with all.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite, or Codes
        The representation: NumPy array (memory-mapped too), pandas or polars frame, PyTorch tensor, SciPy sparse
        matrix. Any unit. Larger than memory: a Dask array or data frame, columns of :func:`demele.scan_parquet`, and
        memory-mapped arrays of over 4 GiB (together with the factors) are read a piece at a time.
        :class:`demele.Codes` adds standard deviations, groups of columns, alignment and a name.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,), or Factors
        The known factors of the same rows; continuous and categorical columns may be mixed.
        :class:`demele.Factors` adds kinds, missing and wrong annotations, the code of each factor, and blocks of rows.
    metrics : None, "all", or sequence of names, callables and Metrics
        Metrics to compute, or all (default: mig_sup, mig, explicitness). None: MIG-sup (modularity), MIG (compactness)
        and Explicitness, with intervals and chance levels. ``"all"``: every metric that applies, but for the newer ones
        (``in_all=False``), and for those that need the intended order of the codes without ``Factors(reg_dim=)``. A
        callable is called with the codes, an array (n_samples, n_codes), and the factors, an array (n_samples,
        n_factors) that holds level numbers for categorical ones, and returns a float. A
        :class:`demele.metrics.Metric` of your own need not be registered.
    protocol : str, default "review2022"
        Named settings of the metrics. See :func:`demele.list_protocols`.
    options : mapping of metric or group to mapping, optional
        Overrides single options, such as ``{"dci_forest": {"n_trees": 50}}``.
    bins : int, Binning or edges, optional
        Number of bins, or a rule such as equal-frequency:8. Overrides the protocol's bins for every metric that
        discretises.
    n_repeats : int >= 1
        Runs of each stochastic metric. They have different streams; the value is then their mean.
    n_bootstrap : int >= 0, optional
        Resamples of the rows for the intervals (default: 20, or 0 with named metrics). Intervals are percentiles of the
        resampled values, moved so that their mean is at the value (resamples repeat the bias of the sample). Histogram
        metrics: bootstrap. Others: half of the rows without replacement, whose spread has the standard error of the
        whole and never puts one row into a predictor's training and test rows at once.
    n_permutations : int >= 0, optional
        Permutations for the chance level (default: 20, or 0 with named metrics). Of the factors' rows.
    level : float in (0, 1)
        Confidence of the intervals.
    seed : int >= 0
        Random seed. Same seed, same input: same bits, whatever ``n_jobs``.
    n_jobs : int
        Processes, -1 for all processors.

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
    given, held = Codes.of(codes), Factors.of(factors)
    call = checked_call(
        metrics,
        [given],
        held,
        protocol=protocol,
        options=options,
        bins=bins,
        n_repeats=n_repeats,
        n_bootstrap=n_bootstrap,
        n_permutations=n_permutations,
        level=level,
        seed=seed,
        n_jobs=n_jobs,
    )
    if isinstance(codes, dict) and codes and all(len(np.shape(each)) == 2 for each in codes.values()):
        raise InputTypeError(
            "codes",
            f"expected one representation, got {len(codes)} in a dict",
            "demele.compare_representations scores several, side by side",
        )
    return call.read(given, held)()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is asked of representations, checked; one call may score several.

    ``named``: whether a metric that does not apply is an error, since it was asked for by name.
    """

    asked: list[request.Request]
    run: Run
    protocol: str
    named: bool

    def read(self, codes: Codes, factors: Factors) -> Callable[[], Evaluation]:
        """Read and check the data, and return what scores them; data that are read in pieces are only recognised.

        Raises
        ------
        InputError, InputTypeError, NotEnoughData
        """
        if factors.blocks is not None:
            check_blocks(self.run, align=codes.align, noise=factors.noise)
        if read_in_pieces(codes.values, factors.values):
            from demele.outofcore.passes import evaluation_in_pieces

            scored = partial(evaluation_in_pieces, self.asked, codes, factors, self.run)
            return lambda: self._noted(scored(protocol=self.protocol, named=self.named))
        source, noise = rows_in_memory(codes, factors), None
        for argument, value in (("align", codes.align), ("noise", factors.noise)):
            if value is not None and "code_groups" in source.subject("rows").arguments:
                raise InputError(argument, "reads columns one by one, not in groups; leave it out, or the groups")
        if factors.noise is not None:
            from demele.scoring.noisy_factors import checked_noise

            noise = checked_noise(factors.noise, factors.noise_method, source)
        return lambda: self._evaluation(source, codes, factors, noise)

    def _evaluation(self, source: InMemory, codes: Codes, factors: Factors, noise: Any) -> Evaluation:
        """Score rows in memory; then what the scores would be with right annotations, and with rotated codes."""
        found = evaluation(
            self.asked,
            source,
            self.run,
            protocol=self.protocol,
            name=codes.name,
            named=self.named,
        )
        found = self._noted(found)
        if noise is not None:
            from demele.scoring.noisy_factors import corrected

            found = corrected(found, self.asked, source, self.run, noise, factors.noise_method)
        if codes.align is None:
            return found
        from demele.scoring.alignment import with_alignment

        return with_alignment(found, source, self.asked, self.run, whiten=codes.align == "whitening")

    def _noted(self, found: Evaluation) -> Evaluation:
        return found if self.named else replace(found, notes=(*found.notes, *request.unnamed_metrics(self.protocol)))


def checked_call(
    metrics: request.Metrics,
    codes: Sequence[Codes],
    factors: Factors,
    *,
    protocol: str,
    options: Mapping[str, Mapping[str, Any]] | None,
    bins: object,
    n_bootstrap: int | None,
    n_permutations: int | None,
    **run: Any,
) -> Call:
    """Check what is asked, as :func:`evaluate` takes it, before any data are looked at.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    in_pieces = any(read_in_pieces(each.values, factors.values) for each in codes)  # without intervals, chance levels
    draws = request.draws_of(
        "all" if in_pieces else metrics,
        n_bootstrap=n_bootstrap if factors.blocks is None else n_bootstrap or 0,
        n_permutations=n_permutations,
    )
    checked = checked_run(**run | draws)
    settings = protocol_named(protocol)
    chosen = request.chosen_metrics(metrics, reg_dim=factors.reg_dim)
    rule = None if bins is None else as_binning(bins)
    asked = request.requests_of(
        chosen, settings, request.given_options(options, chosen), bins=rule, reg_dim=factors.reg_dim
    )
    return Call(asked=asked, run=checked, protocol=settings.name, named=request.are_named(metrics))


# A number made again from its signature -------------------------------------------------------------------------------

_RUN_KEYS = ("seed", "n_repeats", "n_bootstrap", "level", "n_permutations")
#: Fields of codes, and how signatures call them.
_OF_CODES = {"groups": "code_groups", "reduce": "reduce_groups"}


def replay(signature: str | Signature, codes: object, factors: object) -> Score:
    """Make a number again from its signature: same rows, same bits.

    Parameters
    ----------
    signature : str or Signature
        As ``score.signature`` prints it.
    codes, factors : array-like, Codes or Factors
        The same data: for RMIG with ``Codes(std=)``, for a chance level of whole blocks of rows with
        ``Factors(blocks=)``. How columns were read stands in the signature.

    Returns
    -------
    Score

    Raises
    ------
    InputError
        If the text is not a signature, the data have another number of rows, or the metric is not one of demele's and
        its code is another now.
    UnknownNameError
        If its metric is not known here; with the package that it is from.

    Warns
    -----
    DemeleWarning
        If another version of demele made it, or of Python or the package, where the metric is not one of demele's.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> score = demele.metrics.z_min_variance(factors, factors, seed=3, n_train=100, n_test=100)
    >>> demele.replay(str(score.signature), factors, factors).value == score.value
    True
    """
    if not isinstance(signature, str | Signature):
        raise InputTypeError("signature", f"expected its text, got {type(signature).__name__}")
    parsed = Signature.parse(signature) if isinstance(signature, str) else signature
    arguments = {key: restored(value) for key, value in parsed.arguments.items()}
    run = {key: arguments.pop(key) for key in _RUN_KEYS if key in arguments}
    reading: dict[str, Any] = {key: arguments.pop(key) for key in ("kinds", "missing") if key in arguments}
    given, known = Codes.of(codes), Factors.of(factors)
    if parsed.metric in ("sparse_probing", "splitting", "absorption"):
        from demele.scoring import concepts

        made: Score = getattr(concepts, parsed.metric)(given.values, known.values, **arguments, **run, **reading)
        return made
    if read_in_pieces(given.values, known.values):
        given = replace(given, sample=int(parsed.context.get("sample", SAMPLE)))
        run = {"seed": int(parsed.context.get("sample_seed", 0)), **run}
    else:
        _same_shape(parsed, given.values, known.values)
    if parsed.metric in ("interventional_robustness", "interventional_disentanglement"):
        from demele.metrics.intervention import effects

        again: Score = getattr(effects, parsed.metric)(codes, replace(known, **reading), **arguments, **run)
        return again
    spec = CATALOGUE[resolve(parsed.metric, made_by=parsed.context)]
    _same_code(parsed, spec)
    n_blocks = parsed.context.get("blocks")
    if n_blocks is not None and known.blocks is None:
        raise InputError("signature", f"its chance level permuted {n_blocks} blocks of rows; pass `Factors(blocks=)`")
    if n_blocks is None and known.blocks is not None:
        raise InputError("blocks", "the signature's chance level permuted single rows; leave them out")
    of_codes: dict[str, Any] = {name: arguments.pop(key, None) for name, key in _OF_CODES.items()}
    reading |= {"reg_dim": arguments.pop("reg_dim", None)}
    evaluation = evaluate(
        Codes(given.values, std=given.std, sample=given.sample, **of_codes),
        Factors(known.values, blocks=known.blocks, ignore_index=known.ignore_index, **reading),
        [spec.name],
        protocol=parsed.context.get("protocol", DEFAULT_PROTOCOL),
        options={spec.name: arguments},
        **run,  # type: ignore[arg-type]
    )
    rows = parsed.context.get("sample_of", parsed.context.get("rows", str(evaluation.n)))
    if rows != str(evaluation.n):
        raise InputError("signature", f"it was made from {rows} rows, the data have {evaluation.n}")
    return evaluation[spec.name]


def _same_shape(parsed: Signature, codes: object, factors: object) -> None:
    """Refuse data of another shape than the signature's, warn of another version."""
    if getattr(codes, "ndim", 2) == 3:
        codes, _ = slots_as_groups(codes, None)
    read_codes_, read_factors_ = read_pair(codes, factors, kinds=parsed.arguments.get("kinds"), missing="omit")
    shape = {"rows": read_codes_.n, "codes": read_codes_.d, "factors": read_factors_.m}
    if "code_groups" in parsed.arguments:
        shape["codes"] = len(read_code_groups(parsed.arguments["code_groups"], read_codes_.names).names)
    for what, number in shape.items():
        if parsed.context.get(what, str(number)) != str(number):
            raise InputError("signature", f"it was made from {parsed.context[what]} {what}, the data have {number}")
    made = parsed.context.get("demele", __version__)
    if made != __version__:
        warn_user(f"signature: made by demele {made}, replayed by {__version__}; numbers may differ", DemeleWarning)


def _same_code(parsed: Signature, metric: Metric) -> None:
    """Refuse a metric of other code than the signature's; warn if its code is unknown."""
    made, here = ({key: said.get(key, "") for key in ("code", "from")} for said in (parsed.context, metric.provenance))
    if made == here:
        return
    (code, _, python), (code_here, _, python_here) = (said["code"].partition("/") for said in (made, here))
    if made["code"] and here["code"] and python != python_here:
        message = (
            f"made under {python}, replayed under {python_here}, where the code of {metric.name} cannot be compared; "
            "numbers may differ"
        )
        warn_user(f"signature: {message}", DemeleWarning)
    elif code != code_here:
        raise InputError(
            "signature",
            f"it was made by {_told(metric.name, made)}, and the metric of that name here is {_told('', here)}; "
            "register the function that made it, see demele.register_metric",
        )
    else:
        message = f"made by {made['from'] or 'a function'}, replayed by {here['from'] or 'a function'} of the same code"
        warn_user(f"signature: {message}; what it calls may differ", DemeleWarning)


def _told(name: str, said: Mapping[str, str]) -> str:
    if not said["code"]:
        return f"{name} of demele".strip()
    return f"{name} of code {said['code']}".strip() + (f" from {said['from']}" if said["from"] else "")
