"""A number made again from its signature."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from demele.core.errors import DemeleWarning, InputError, InputTypeError, warn_user
from demele.core.given_data import Codes, Factors, read_code_groups, slots_as_groups
from demele.core.inputs import read_pair
from demele.core.lazy import SAMPLE
from demele.core.results import Score
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE, resolve
from demele.metrics.metric import Metric
from demele.metrics.options import restored
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.scoring.evaluate import evaluate, read_in_pieces


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
        from demele.metrics.intervention import irs

        again: Score = getattr(irs, parsed.metric)(codes, replace(known, **reading), **arguments, **run)
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


_RUN_KEYS = ("seed", "n_repeats", "n_bootstrap", "level", "n_permutations")
#: Fields of codes, and how signatures call them.
_OF_CODES = {"groups": "code_groups", "reduce": "reduce_groups"}
