"""Unsupervised disentanglement ranking: models whose codes other models find as well (Duan et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Codes, Factors, read_codes
from demele.core.kinds import FILES, Amount, checked
from demele.core.result import TableResult
from demele.core.results import Note
from demele.core.signature import Signature
from demele.core.table_columns import real_numbers
from demele.estimation.correlations import mid_ranks
from demele.metrics.data import Data
from demele.report.document import Document, Heat, Section
from demele.report.words import name, written

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["UDR", "udr"]

Similarity = Literal["lasso", "spearman"]
#: Penalty of the Lasso in the published code, for standardised codes.
PENALTY = 0.1
#: Models whose pairs are drawn.
MOST_DRAWN = 60


def relative_strength(similarity: Floats) -> float:
    r"""How far codes of two models are similar one to one.

    Half the sum of the means over columns and over rows of :math:`\max^2 / \sum`; a column of zeros counts as 0.

    Examples
    --------
    >>> relative_strength(np.array([[1.0, 0.0], [0.0, 0.5]]))
    0.75
    >>> relative_strength(np.array([[0.5, 0.5], [0.5, 0.5]]))
    0.25
    """
    total = 0.0
    for axis in (0, 1):
        largest, whole = similarity.max(axis=axis), similarity.sum(axis=axis)
        total += float(np.divide(largest**2, whole, out=np.zeros_like(whole), where=whole > 0).mean())
    return total / 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UDR(TableResult):
    """Scores of models by the agreement of other models with them; made by :func:`demele.probes.udr`.

    Attributes
    ----------
    scores : array of shape (n_models,)
        The median of a model's pairs; NaN where no pair has informative codes.
    pairs : array of shape (n_models, n_models)
        Row i, column j: how one to one the codes of i and of j are; NaN on the diagonal.
    informative : tuple of tuple of str
        For each model, the codes that were looked at.
    model_names : tuple of str
    n : int
        Rows.
    notes : tuple of Note
    signature : Signature
    """

    _kind = "udr"

    scores: Floats
    pairs: Floats
    informative: tuple[tuple[str, ...], ...]
    model_names: tuple[str, ...]
    n: int
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the model that the others agree with most."""
        if np.isnan(self.scores).all():
            return "No model has a score: none has informative codes."
        best = name(self.best())
        return f"The other models agree most with {best}: its UDR is {written(float(np.nanmax(self.scores)))}."

    def document(self) -> Document:
        """Return the document: the scores, and the pairs that they are medians of."""
        made = super(UDR, self).document()
        shown = min(len(self.model_names), MOST_DRAWN)
        names, values = list(map(name, self.model_names[:shown])), self.pairs[:shown, :shown].tolist()
        pairs = Heat("Agreement of pairs of models", names, names, values, axes=("model", "model"))
        return replace(made, sections=[*made.sections, Section("Pairwise results", [pairs])])

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each model, with its score and its number of informative codes."""
        import pandas as pd

        rows = {"udr": self.scores, "informative_codes": [len(codes) for codes in self.informative]}
        return pd.DataFrame(rows, index=pd.Index(self.model_names, name="model"))

    def best(self) -> str:
        """Return the name of the model with the largest score; the first, if several have it."""
        if np.isnan(self.scores).all():
            raise NotEnoughData("codes", "no model has a score: none has informative codes")
        return self.model_names[int(np.nanargmax(self.scores))]


@checked
def udr(
    codes: Sequence[object] | Mapping[str, object],
    *,
    similarity: Similarity = "lasso",
    codes_std: Annotated[Sequence[object] | Mapping[str, object] | None, FILES] = None,
    kl: Sequence[object] | Mapping[str, object] | None = None,
    threshold: Amount = 0.01,
) -> UDR:
    r"""UDR: agreement of each of several models with the others, from their codes of the same samples.

    Models that differ in their seed alone should find the same factors, each in a code of its own up to order and sign:
    entangled ones differ in their rotation. A model's score is the median, over the other models, of

    .. math:: \tfrac12 \Big( \tfrac1d \sum_b \frac{\max_a R_{ab}^2}{\sum_a R_{ab}}
              + \tfrac1{d'} \sum_a \frac{\max_b R_{ab}^2}{\sum_b R_{ab}} \Big)

    where R is how similar the codes of two models are. No factor is looked at.

    Parameters
    ----------
    codes : sequence, or mapping of name to, array-likes of shape (n_samples, n_codes)
        Of at least two models, row r of all being the same sample. Means of the posterior.
    similarity : {"lasso", "spearman"}
        Similarity of codes of two models. Absolute weights of a Lasso (penalty 0.1) from the standardised codes of one
        model to each of the other, or absolute rank correlations.
    codes_std : the same, optional
        Standard deviations of the posteriors, a file for each model. Codes whose divergence from a standard normal
        distribution, averaged over rows, is not above ``threshold`` are not informative, and left out.
    kl : sequence, or mapping of name to, arrays of shape (n_codes,), optional
        These divergences, where you have them. Without either, all codes that vary are informative.
    threshold : float, at least 0
        Divergence, in nats, from which a code is informative. 0.01 in the published code.

    Returns
    -------
    UDR

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Duan et al. 2020; ``compute_udr_sklearn`` of disentanglement_lib, whose values these are (models may differ in their
    number of codes here). Models that all have one code, or the same wrong codes, score high. A Lasso takes 0.1 off
    every weight, so that identical models with independent codes score 0.9.
    Cost: O(m^2 n d^2) for m models.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).normal(size=(2000, 3))
    >>> turned = factors @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    >>> models = {"a": factors, "b": -factors[:, [2, 0, 1]], "c": 5 * factors, "turned": turned}
    >>> found = demele.probes.udr(models, similarity="spearman")
    >>> found.best(), bool(found.scores[3] < 0.7 < 0.9 < found.scores[0])
    ('a', True)
    """
    read = _models(codes)
    informative = _informative(read, codes_std, kl, threshold)
    columns = [_columns(model, kept, similarity) for model, kept in zip(read.values(), informative, strict=True)]
    m = len(columns)
    pairs = np.full((m, m), np.nan)
    for i in range(m):
        for j in range(m):
            if i != j and columns[i].shape[1] and columns[j].shape[1]:
                pairs[i, j] = relative_strength(_similar(columns[i], columns[j], similarity))
    scores = np.array([_median(np.delete(pairs[:, j], j)) for j in range(m)])
    n = next(iter(read.values())).n
    arguments: dict[str, object] = {"similarity": similarity}
    if codes_std is not None or kl is not None:
        arguments["threshold"] = float(threshold)
    return UDR(
        scores=scores,
        pairs=pairs,
        informative=tuple(
            tuple(model.names[index] for index in kept) for model, kept in zip(read.values(), informative, strict=True)
        ),
        model_names=tuple(read),
        n=n,
        notes=tuple(_notes(tuple(read), informative, gated=codes_std is not None or kl is not None)),
        signature=Signature.of("udr", arguments, rows=n, models=m),
    )


def _models(codes: object) -> dict[str, Codes]:
    if not isinstance(codes, Sequence | Mapping) or isinstance(codes, str):
        raise InputTypeError("codes", f"expected the codes of several models in a list, got {type(codes).__name__}")
    given = dict(codes) if isinstance(codes, Mapping) else {f"model {i}": one for i, one in enumerate(codes)}
    if len(given) < 2:
        raise NotEnoughData("codes", f"expected at least 2 models, got {len(given)}; they are compared in pairs")
    read = {str(name): read_codes(one, f"codes of {name}") for name, one in given.items()}
    sizes = {model.n for model in read.values()}
    if len(sizes) > 1:
        listed = ", ".join(f"{name}: {model.n}" for name, model in read.items())
        raise InputError("codes", f"expected the same samples in the same order for all models, got rows {listed}")
    if min(sizes) < 2:
        raise NotEnoughData("codes", "expected at least 2 rows, got 1")
    return read


def _informative(read: Mapping[str, Codes], codes_std: object, kl: object, threshold: float) -> list[NDArray[np.intp]]:
    """Return the indices of the codes of each model that are looked at."""
    if codes_std is not None and kl is not None:
        raise InputError(("codes_std", "kl"), "expected one of the two; divergences follow from the deviations")
    argument = "kl" if codes_std is None else "codes_std"
    own = _for_each(read, kl if codes_std is None else codes_std, argument)
    found = []
    for (title, model), given in zip(read.items(), own, strict=True):
        alive = ~model.constant
        if given is not None:
            values = real_numbers(given, argument)
            if codes_std is not None:
                values = _divergences(model, values, title)
            if values.shape != (model.d,):
                raise InputError(argument, f"expected {model.d} values for {title}, one for each code")
            alive &= values > threshold
        found.append(np.flatnonzero(alive))
    return found


def _for_each(read: Mapping[str, Codes], given: object, argument: str) -> list[Any]:
    if given is None:
        return [None] * len(read)
    if isinstance(given, Mapping):
        missing = [name for name in read if name not in given]
        if missing:
            raise InputError(argument, f"nothing came for {quoted(missing[0])}")
        return [given[name] for name in read]
    listed: list[Any] = list(given)  # type: ignore[call-overload]
    if len(listed) != len(read):
        raise InputError(argument, f"expected one array for each of the {len(read)} models, got {len(listed)}")
    return listed


def _divergences(model: Codes, deviations: Floats, name: str) -> Floats:
    """Return the mean divergence of each code's posterior from a standard normal distribution, in nats."""
    if deviations.shape != (model.n, model.d):
        raise InputError(
            "codes_std", f"expected the shape {(model.n, model.d)} of the codes of {name}, got {deviations.shape}"
        )
    if not (np.isfinite(deviations).all() and (deviations > 0).all()):
        raise InputError("codes_std", f"expected standard deviations above 0 for {name}")
    found: Floats = 0.5 * (model.dense() ** 2 + deviations**2 - 2 * np.log(deviations) - 1).mean(axis=0)
    return found


def _columns(model: Codes, kept: NDArray[np.intp], similarity: Similarity) -> Floats:
    """Return the informative codes, or their ranks, with mean 0 and standard deviation 1."""
    if similarity == "lasso":
        return Data(model, Factors(())).standardised()[:, kept]
    ranks = mid_ranks(model.dense()[:, kept])
    ranks = ranks - ranks.mean(axis=0)
    found: Floats = ranks / np.sqrt(np.square(ranks).mean(axis=0))
    return found


def _similar(first: Floats, second: Floats, similarity: Similarity) -> Floats:
    """Return how similar codes are, (codes of the first, codes of the second), >= 0."""
    if similarity == "spearman":
        return np.minimum(np.abs(first.T @ second) / len(first), 1.0)
    from sklearn.linear_model import Lasso

    weights = Lasso(alpha=PENALTY, precompute=True).fit(first, second).coef_
    return np.abs(np.asarray(weights, dtype=np.float64).reshape(second.shape[1], first.shape[1])).T


def _median(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(np.median(defined)) if len(defined) else float("nan")


def _notes(names: Sequence[str], informative: Sequence[NDArray[np.intp]], *, gated: bool) -> list[Note]:
    notes = []
    if len(names) < 5:
        message = f"medians of {len(names) - 1} pairs: the published studies compare 5 models or more"
        notes.append(Note(code="few-models", message=message))
    if not gated:
        message = "no divergences were given, so all codes that vary count as informative, those of noise too"
        notes.append(Note(code="no-gate", message=message))
    none = tuple(name for name, kept in zip(names, informative, strict=True) if not len(kept))
    if none:
        message = f"{len(none)} models have no informative code, such as {none[0]}; their pairs have no value"
        notes.append(Note(code="no-informative-code", message=message, subject=none, severity="warning"))
    few = tuple(name for name, kept in zip(names, informative, strict=True) if len(kept) == 1)
    if few:
        message = f"{len(few)} models have one informative code only, such as {few[0]}, which nothing can entangle"
        notes.append(Note(code="one-informative-code", message=message, subject=few, severity="warning"))
    return notes
