"""What codes alone show, without factors: dependence, informativeness (Do and Tran 2020), agreement of models (UDR)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Annotated, Any, Literal

import numpy as np

from demele.core.arrays import Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Codes, Factors, read_codes
from demele.core.kinds import FILES, Amount, Bins, CountOrNone, Seed, Several, checked
from demele.core.result import Note, TableResult
from demele.core.signature import Signature
from demele.core.table_columns import real_numbers
from demele.estimation.counts import column_bins, cut
from demele.estimation.information import mutual_information
from demele.estimation.linear_recovery import mid_ranks
from demele.metrics.data import Data
from demele.metrics.options import as_binning
from demele.metrics.source import checked_std, crossed
from demele.report.document import Document, Heat, Section
from demele.report.words import name, written

#: Codes, or models, whose pairs are drawn.
MOST_DRAWN = 60
#: Names of the scores, as disentanglement_lib has them.
SCORES = (
    "gaussian_total_correlation",
    "gaussian_wasserstein_correlation",
    "gaussian_wasserstein_correlation_norm",
    "mutual_info_score",
)
#: Of the standardised codes: a direction with a smaller variance is a copy of others, to rounding.
COLLINEAR = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnsupervisedScores(TableResult):
    """Dependence of codes on each other; made by :func:`demele.probes.unsupervised_scores`.

    Attributes
    ----------
    gaussian_total_correlation : float
        In nats; infinite where a code is a linear combination of others.
    gaussian_wasserstein_correlation, gaussian_wasserstein_correlation_norm : float
        In squared units of the codes, and as a share of the sum of their variances.
    mutual_info_score : float
        Mean information of two codes, in nats.
    information : array of shape (n_codes, n_codes)
        Information of each pair, in nats; NaN on the diagonal and for codes that are left out.
    chance : mapping of str to float
        Means of the scores over shuffles that make the codes independent; empty where none were asked for.
    code_names : tuple of str
    n : int
        Rows.
    notes : tuple of Note
    signature : Signature
    """

    _kind = "unsupervised scores"

    gaussian_total_correlation: float
    gaussian_wasserstein_correlation: float
    gaussian_wasserstein_correlation_norm: float
    mutual_info_score: float
    information: Floats
    chance: Mapping[str, float]
    code_names: tuple[str, ...]
    n: int
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the dependence of codes on each other."""
        norm = written(self.gaussian_wasserstein_correlation_norm)
        return (
            f"Two codes share {written(self.mutual_info_score)} nats of information on average; their normalised "
            f"Wasserstein correlation is {norm}."
        )

    def document(self) -> Document:
        """Return the document: the scores, whose units differ, and the information of each pair of codes."""
        names, values = list(map(name, self.code_names[:MOST_DRAWN])), self.information[:MOST_DRAWN, :MOST_DRAWN]
        pairs = Heat("Information of two codes, nats", names, names, values.tolist(), axes=("code", "code"))
        return replace(super(UnsupervisedScores, self).document(), figure=pairs)

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each score, with its value and its mean by chance (NaN where not asked for)."""
        rows = {name: (getattr(self, name), self.chance.get(name, np.nan)) for name in SCORES}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "chance"]).rename_axis("score")


@checked
def unsupervised_scores(
    codes: object, *, bins: Bins = 20, n_permutations: CountOrNone = 0, seed: Seed = 0
) -> UnsupervisedScores:
    r"""Dependence of codes on each other, without factors.

    Three numbers describe the covariance of the codes, one the information that pairs of codes share. All are 0 for
    independent codes, up to chance, and say nothing about what codes stand for: codes of pure noise are perfect here,
    and a rotation of the right codes that leaves them uncorrelated is not seen by the Gaussian scores.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        At least two that vary; constant codes are left out, with a note.
    bins : int, str, Binning or edges, default 20
        How codes are cut for their information; 20 of equal width in the study of 2019.
    n_permutations : int, default 0
        Shuffles that permute each code on its own. Their mean is what independent codes with these values score: the
        information of pairs is about (bins - 1)^2 / 2n too large.
    seed : int
        Of the shuffles.

    Returns
    -------
    UnsupervisedScores

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Locatello et al. 2019; the code ``unsupervised_metrics`` of disentanglement_lib. There a constant code makes the
    Gaussian scores NaN and counts as independent in the mean information; copies have a large finite total correlation
    that is rounding error, and are infinite here. Otherwise both give the same numbers.
    Cost: O(n d^2).

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.normal(size=(2, 5000))
    >>> codes = np.column_stack([first, 0.6 * first + 0.8 * second])
    >>> found = demele.probes.unsupervised_scores(codes, n_permutations=5)
    >>> round(found.gaussian_total_correlation, 2), round(found.gaussian_wasserstein_correlation_norm, 2)
    (0.23, 0.1)
    >>> found.mutual_info_score > 5 * found.chance["mutual_info_score"]
    True
    """
    read, binning = read_codes(codes), as_binning(bins)
    if read.n < 2:
        raise NotEnoughData("codes", "expected at least 2 rows, got 1")
    alive = np.flatnonzero(~read.constant)
    if len(alive) < 2:
        raise NotEnoughData("codes", f"expected at least 2 codes that vary, got {len(alive)}; one depends on no other")
    bins, _ = column_bins(read, Factors(()), binning)
    labels = [cut(read.values[:, index], bins[index]) for index in alive]
    scores = _scores(read, alive, labels)
    information = np.full((read.d, read.d), np.nan)
    information[np.ix_(alive, alive)] = scores.pop("information")
    arguments: dict[str, object] = {"bins": binning}
    if n_permutations:
        arguments |= {"n_permutations": n_permutations, "seed": seed}
    notes, dead = [], tuple(np.array(read.names)[read.constant].tolist())
    if dead:
        message = f"left out, since constant: {len(dead)} of {read.d} codes, such as {dead[0]!r}"
        notes.append(Note(code="constant-code", message=message, subject=dead, severity="warning"))
    if np.isinf(scores["gaussian_total_correlation"]):
        message = "a code is a linear combination of others: the total correlation of a Gaussian is infinite"
        notes.append(Note(code="collinear-codes", message=message, severity="warning"))
    if read.n < 10 * len(alive):
        few = f"{read.n} rows are few for the covariance of {len(alive)} codes"
        message = f"{few}: independent codes score above 0 too"
        notes.append(Note(code="few-rows", message=message, severity="warning"))
    drawn = []
    for shuffle in range(n_permutations):  # codes are shuffled one by one
        rng = rng_for(seed, "unsupervised_scores", "chance", shuffle)
        orders = np.column_stack([rng.permutation(read.n) for _ in alive])
        values = np.array(read.values, dtype=np.float64)
        values[:, alive] = np.take_along_axis(values[:, alive], orders, axis=0)
        mixed = [own[order] for own, order in zip(labels, orders.T, strict=True)]
        drawn.append(_scores(Codes(values, read.names, read.low, read.high), alive, mixed))
    return UnsupervisedScores(
        **scores,
        information=information,
        chance={name: float(np.mean([one[name] for one in drawn])) for name in SCORES} if drawn else {},
        code_names=read.names,
        n=read.n,
        notes=tuple(notes),
        signature=Signature.of("unsupervised_scores", arguments, rows=read.n, codes=read.d),
    )


def _scores(codes: Codes, alive: Rows, labels: list[Rows]) -> dict[str, Any]:
    """Return the four scores by name, and the information of each pair of codes that vary."""
    deviations = Data(codes, Factors(())).deviations()[alive] * np.sqrt(codes.n / (codes.n - 1))
    standard = Data(codes, Factors(())).standardised()[:, alive]
    correlation = standard.T @ standard / codes.n
    np.fill_diagonal(correlation, 1.0)
    variances = np.linalg.eigvalsh(correlation)
    copies = variances[0] <= COLLINEAR * len(variances)
    unit = float(deviations.max())  # or squares would leave the range of floats
    covariance = correlation * np.outer(deviations / unit, deviations / unit)
    own = np.sqrt(np.diag(covariance))  # 2 tr S - 2 tr (D^1/2 S D^1/2)^1/2, D being the diagonal of S
    squares = np.linalg.eigvalsh(covariance * np.outer(own, own))
    distance = float(max(2 * np.trace(covariance) - 2 * np.sqrt(np.maximum(squares, 0.0)).sum(), 0.0))
    information = np.full((len(labels), len(labels)), np.nan)
    for i, k in combinations(range(len(labels)), 2):
        information[i, k] = information[k, i] = mutual_information(crossed(labels[k], labels[i]))
    return {
        "gaussian_total_correlation": float("inf") if copies else float(max(-0.5 * np.log(variances).sum(), 0.0)),
        "gaussian_wasserstein_correlation": distance * unit * unit,
        "gaussian_wasserstein_correlation_norm": distance / float(np.square(deviations / unit).sum()),
        "mutual_info_score": float(np.nanmean(information)),
        "information": information,
    }


# What stochastic codes tell of the rows they are made from, together and each alone (Do and Tran 2020) ----------------

#: Share of log(rows), which no estimate of the information can exceed, above which it says little.
NEAR_LIMIT = 0.8
#: Densities in memory at a time.
BLOCK = 2**21


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StochasticScores(TableResult):
    """Information of stochastic codes on their rows, in nats; made by :func:`demele.metrics.stochastic_scores`.

    Attributes
    ----------
    wsepin : float
        Mean of ``sepin`` weighted by ``weights``: WSEPIN, and WINDIN too, which is the same number where the noise of
        the codes is independent.
    wsep : float
        Mean of ``sep`` so weighted.
    information : array of shape (n_codes,)
        I(x; z_j): what each code tells of the row.
    sep : array of shape (n_codes,)
        I(z_j; z_-j): what each code shares with all others.
    sepin : array of shape (n_codes,)
        I(x; z_j | z_-j): what each code tells of the row that no others do.
    weights : array of shape (n_codes,)
        Shares of the informations; NaN where no code tells anything.
    total : float
        I(x; z): what all tell together.
    error : float
        Standard error of ``wsepin`` by the draws, the weights taken as they are.
    code_names : tuple of str
    n : int
        Rows.
    notes : tuple of Note
    signature : Signature
    """

    _kind, _figure = "stochastic scores", "sepin"

    wsepin: float
    wsep: float
    information: Floats
    sep: Floats
    sepin: Floats
    weights: Floats
    total: float
    error: float
    code_names: tuple[str, ...]
    n: int
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def windin(self) -> float:
        """WINDIN, the mean of I(x; z_j) - I(z_j; z_-j): WSEPIN, since each of these is I(x; z_j | z_-j)."""
        return self.wsepin

    def headline(self) -> str:
        """Return the unique information of codes."""
        return (
            f"WSEPIN (and WINDIN) is {written(self.wsepin)} ± {written(self.error)} nats, WSEP {written(self.wsep)} "
            f"nats; all codes together carry {written(self.total)} nats about the row."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each code, with its information, ``sep``, ``sepin`` and weight."""
        columns = {name: getattr(self, name) for name in ("information", "sep", "sepin", "weights")}
        return pd.DataFrame(columns, index=list(self.code_names)).rename_axis("code")


def log_densities(means: Floats, deviations: Floats, drawn: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the logarithms of the densities of drawn codes under the mixture of the posteriors of all rows.

    Parameters
    ----------
    means, deviations : arrays of shape (n_samples, n_codes)
    drawn : array of shape (n_draws, n_codes)

    Returns
    -------
    all_codes : array of shape (n_draws,)
    each, others : arrays of shape (n_draws, n_codes)
        Of each code alone, and of all codes but it.
    """
    n, d = means.shape
    each, others, whole = np.empty_like(drawn), np.empty_like(drawn), np.empty(len(drawn))
    height = -np.log(deviations) - 0.5 * np.log(2 * np.pi)
    step = max(1, BLOCK // (n * d))
    for start in range(0, len(drawn), step):
        rows = slice(start, start + step)
        of_row = height - 0.5 * ((drawn[rows, None, :] - means) / deviations) ** 2
        together = of_row.sum(axis=2)
        whole[rows] = _mean_of_exponentials(together)
        for j in range(d):
            each[rows, j] = _mean_of_exponentials(of_row[:, :, j])
            others[rows, j] = _mean_of_exponentials(together - of_row[:, :, j])
    return whole, each, others


def _mean_of_exponentials(logarithms: Floats) -> Floats:
    """Return log(mean(exp)) of each row; the largest is taken out, so that no density is floored."""
    largest = logarithms.max(axis=1, keepdims=True)
    return np.asarray(largest[:, 0] + np.log(np.exp(logarithms - largest).mean(axis=1)))


@checked
def stochastic_scores(codes: object, codes_std: object, *, n_draws: Several = 1000, seed: Seed = 0) -> StochasticScores:
    r"""WSEPIN, WINDIN and WSEP of stochastic codes: unique information of each on the row, without factors.

    .. math:: \mathrm{WSEPIN} = \sum_j w_j\, I(x; z_j | z_{-j}),\quad w_j = I(x; z_j) / \sum_k I(x; z_k)

    For codes z_j that are normal with the mean and standard deviation that an encoder gives each row x. No factors are
    needed: codes that are informative and independent of each other score high, whatever they stand for.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Means of q(z|x).
    codes_std : array-like of shape (n_samples, n_codes), > 0
        Standard deviations of q(z|x), in the unit of the codes.
    n_draws : int, default 1000
        Rows and codes that are drawn; the densities of each are means over all rows.
    seed : int

    Returns
    -------
    StochasticScores
        In nats, without an upper limit.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Do & Tran 2020. **No estimate of I(x; z) exceeds log(n_samples)**, since each row finds itself in the mixture:
    precise codes all seem redundant. Four independent codes of standard deviation 0.1 with 1,000 rows give about 0.68
    instead of 2.30, and eight less than 0.01: if I(x; z) is above 0.8 log(n_samples), a note says that the number of
    rows limits the values. Public code also floors densities at 1e-8. WINDIN is the weighted mean of I(x; z_j) - I(z_j;
    z_-j). With independent noise of the codes, each difference is I(x; z_j | z_-j), so WINDIN is WSEPIN. Codes of pure
    noise score 0, and rotations of the right codes score the same as these. O(n_draws n_samples n_codes).

    Examples
    --------
    >>> import numpy as np, demele
    >>> means = np.random.default_rng(0).normal(scale=np.sqrt(0.75), size=(2000, 2))
    >>> found = demele.metrics.stochastic_scores(means, np.full(means.shape, 0.5))  # independent: -log 0.5
    >>> round(found.wsepin, 1), found.notes
    (0.7, ())
    """
    read = read_codes(codes)
    deviations = checked_std(codes_std, read, "codes_std", positive=True)
    if read.n < 2:
        raise NotEnoughData("codes", f"expected at least 2 rows, got {read.n}")
    rng = rng_for(seed, "stochastic_scores")
    means, rows = read.dense(), rng.integers(0, read.n, n_draws)
    noise = rng.standard_normal((n_draws, read.d))
    drawn = means[rows] + deviations[rows] * noise
    own = -np.log(deviations[rows]) - 0.5 * np.log(2 * np.pi) - 0.5 * noise**2
    whole, each, others = log_densities(means, deviations, drawn)
    information, sep = (own - each).mean(axis=0), (whole[:, None] - each - others).mean(axis=0)
    unique = own - whole[:, None] + others
    known = np.maximum(information, 0.0)
    weights = known / known.sum() if known.sum() > 0 else np.full(read.d, np.nan)
    total, limit = float((own.sum(axis=1) - whole).mean()), float(np.log(read.n))
    notes: tuple[Note, ...] = ()
    if np.isnan(weights).any():
        message = "no code tells anything of the row: its weights, and the scores, are not defined"
        notes = (Note(code="undefined-value", message=message, severity="warning"),)
    elif total > NEAR_LIMIT * limit:
        message = (
            f"all codes together tell {total:.2f} nats of the row, and {read.n} rows allow no more than {limit:.2f}: "
            "what single codes add is too small by an unknown amount; use more rows, or fewer codes"
        )
        notes = (Note(code="limit-of-rows", message=message, severity="fragile"),)
    return StochasticScores(
        wsepin=float(weights @ unique.mean(axis=0)),
        wsep=float(weights @ sep),
        information=information,
        sep=sep,
        sepin=unique.mean(axis=0),
        weights=weights,
        total=total,
        error=float((unique @ weights).std(ddof=1) / np.sqrt(n_draws)),
        code_names=read.names,
        n=read.n,
        notes=notes,
        signature=Signature.of("stochastic_scores", {"n_draws": n_draws, "seed": seed}, rows=read.n, codes=read.d),
    )


# Unsupervised disentanglement ranking ---------------------------------------------------------------------------------

Similarity = Literal["lasso", "spearman"]
#: Penalty of the Lasso in the published code, for standardised codes.
PENALTY = 0.1


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
    if not isinstance(codes, Sequence | Mapping) or isinstance(codes, str):
        raise InputTypeError("codes", f"expected the codes of several models in a list, got {type(codes).__name__}")
    every = dict(codes) if isinstance(codes, Mapping) else {f"model {i}": one for i, one in enumerate(codes)}
    if len(every) < 2:
        raise NotEnoughData("codes", f"expected at least 2 models, got {len(every)}; they are compared in pairs")
    read = {str(title): read_codes(one, f"codes of {title}") for title, one in every.items()}
    sizes = {model.n for model in read.values()}
    if len(sizes) > 1:
        listed = ", ".join(f"{name}: {model.n}" for name, model in read.items())
        raise InputError("codes", f"expected the same samples in the same order for all models, got rows {listed}")
    if min(sizes) < 2:
        raise NotEnoughData("codes", "expected at least 2 rows, got 1")
    if codes_std is not None and kl is not None:
        raise InputError(("codes_std", "kl"), "expected one of the two; divergences follow from the deviations")
    argument = "kl" if codes_std is None else "codes_std"
    of_models: Any = kl if codes_std is None else codes_std
    if isinstance(of_models, Mapping):
        missing = [name for name in read if name not in of_models]
        if missing:
            raise InputError(argument, f"nothing came for {quoted(missing[0])}")
        of_models = [of_models[name] for name in read]
    own: list[Any] = [None] * len(read) if of_models is None else list(of_models)
    if len(own) != len(read):
        raise InputError(argument, f"expected one array for each of the {len(read)} models, got {len(own)}")
    informative, columns = [], []
    for (title, model), given in zip(read.items(), own, strict=True):
        if codes_std is None:
            values = np.full(model.d, np.inf) if given is None else real_numbers(given, argument)
            if values.shape != (model.d,):
                raise InputError(argument, f"expected {model.d} values for {title}, one for each code")
        else:  # of each code's posterior from a standard normal distribution, in nats
            std = checked_std(given, model, f"codes_std of {title}", positive=True)
            values = 0.5 * (model.dense() ** 2 + std**2 - 2 * np.log(std) - 1).mean(axis=0)
        kept = np.flatnonzero(~model.constant & (values > threshold))
        informative.append(tuple(model.names[index] for index in kept))
        if similarity == "lasso":
            columns.append(Data(model, Factors(())).standardised()[:, kept])
        else:  # ranks with mean 0 and standard deviation 1
            ranks = mid_ranks(model.dense()[:, kept])
            ranks = ranks - ranks.mean(axis=0)
            columns.append(ranks / np.sqrt(np.square(ranks).mean(axis=0)))

    def alike(first: Floats, second: Floats) -> Floats:
        if similarity == "spearman":
            return np.minimum(np.abs(first.T @ second) / len(first), 1.0)
        from sklearn.linear_model import Lasso

        weights = Lasso(alpha=PENALTY, precompute=True).fit(first, second).coef_
        return np.abs(np.asarray(weights, dtype=np.float64).reshape(second.shape[1], first.shape[1])).T

    m = len(columns)
    pairs = np.full((m, m), np.nan)
    for i, j in permutations(range(m), 2):
        if columns[i].shape[1] and columns[j].shape[1]:
            pairs[i, j] = relative_strength(alike(columns[i], columns[j]))
    defined = [own[~np.isnan(own)] for own in pairs.T]
    scores = np.array([float(np.median(own)) if len(own) else np.nan for own in defined])
    n = next(iter(read.values())).n
    arguments: dict[str, object] = {"similarity": similarity}
    notes = []
    if m < 5:
        message = f"medians of {m - 1} pairs: the published studies compare 5 models or more"
        notes.append(Note(code="few-models", message=message))
    if codes_std is not None or kl is not None:
        arguments["threshold"] = float(threshold)
    else:
        message = "no divergences were given, so all codes that vary count as informative, those of noise too"
        notes.append(Note(code="no-gate", message=message))
    none = tuple(name for name, kept in zip(read, informative, strict=True) if not kept)
    if none:
        message = f"{len(none)} models have no informative code, such as {none[0]}; their pairs have no value"
        notes.append(Note(code="no-informative-code", message=message, subject=none, severity="warning"))
    return UDR(
        scores=scores,
        pairs=pairs,
        informative=tuple(informative),
        model_names=tuple(read),
        n=n,
        notes=tuple(notes),
        signature=Signature.of("udr", arguments, rows=n, models=m),
    )
