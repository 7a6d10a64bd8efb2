"""What codes alone show, without factors: how far they depend on each other (Locatello et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import NotEnoughData
from demele.core.inputs import Codes, Factor, Factors, read_codes
from demele.core.kinds import Bins, CountOrNone, Seed, checked
from demele.core.result import TableResult
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.estimation.counts import column_bins
from demele.estimation.discretise import Binning, cut
from demele.estimation.information import mutual_information
from demele.metrics.data import Data
from demele.metrics.options import as_binning
from demele.report.document import Document, Heat
from demele.report.words import name, written

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["UnsupervisedScores", "unsupervised_scores"]

#: Codes whose pairs are drawn.
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


def gaussian_total_correlation(correlation: Floats) -> float:
    r"""Total correlation of a Gaussian, in nats: :math:`-\tfrac12 \log\det R`; infinite where codes are copies.

    Examples
    --------
    >>> round(gaussian_total_correlation(np.array([[1.0, 0.6], [0.6, 1.0]])), 6)
    0.223144
    """
    variances = np.linalg.eigvalsh(correlation)
    if variances[0] <= COLLINEAR * len(variances):
        return float("inf")
    return float(max(-0.5 * np.log(variances).sum(), 0.0))


def gaussian_wasserstein_correlation(covariance: Floats) -> float:
    r"""Squared 2-Wasserstein distance of a Gaussian from the product of its margins, in squared units of the codes.

    :math:`2\,\mathrm{tr}\,S - 2\,\mathrm{tr}\,(D^{1/2} S D^{1/2})^{1/2}`, where D is the diagonal of S.

    Examples
    --------
    >>> round(gaussian_wasserstein_correlation(np.array([[1.0, 0.6], [0.6, 1.0]])), 6)
    0.205267
    """
    deviations = np.sqrt(np.diag(covariance))
    squares = np.linalg.eigvalsh(covariance * np.outer(deviations, deviations))
    return float(max(2 * np.trace(covariance) - 2 * np.sqrt(np.maximum(squares, 0.0)).sum(), 0.0))


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
        import pandas as pd

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
    labels = _labels(read, alive, binning)
    scores = _scores(read, alive, labels)
    information = np.full((read.d, read.d), np.nan)
    information[np.ix_(alive, alive)] = scores.pop("information")
    arguments: dict[str, object] = {"bins": binning}
    if n_permutations:
        arguments |= {"n_permutations": n_permutations, "seed": seed}
    by_chance = _by_chance(read, alive, labels, n_permutations, seed)
    return UnsupervisedScores(
        **scores,
        information=information,
        chance=by_chance,
        code_names=read.names,
        n=read.n,
        notes=tuple(_notes(read, alive, scores)),
        signature=Signature.of("unsupervised_scores", arguments, rows=read.n, codes=read.d),
    )


def _labels(codes: Codes, alive: NDArray[np.intp], binning: Binning) -> tuple[Factor, ...]:
    """Return the codes that vary, cut: each as a column of classes."""
    no_factors = Factors(())
    own_bins, _ = column_bins(codes, no_factors, binning)
    columns = []
    for index in alive:
        labels = cut(codes.values[:, index], own_bins[index])
        levels = tuple(map(str, range(own_bins[index].n_bins)))
        columns.append(Factor(codes.names[index], "categorical", labels, levels, 0.0, len(levels) - 1.0, codes.n))
    return tuple(columns)


def _scores(codes: Codes, alive: NDArray[np.intp], labels: tuple[Factor, ...]) -> dict[str, Any]:
    """Return the four scores by name, and the information of each pair of codes that vary."""
    deviations = Data(codes, Factors(())).deviations()[alive] * np.sqrt(codes.n / (codes.n - 1))
    standard = Data(codes, Factors(())).standardised()[:, alive]
    correlation = standard.T @ standard / codes.n
    np.fill_diagonal(correlation, 1.0)
    unit = float(deviations.max())  # or squares would leave the range of floats
    distance = gaussian_wasserstein_correlation(correlation * np.outer(deviations / unit, deviations / unit))
    information = _pair_information(labels)
    return {
        "gaussian_total_correlation": gaussian_total_correlation(correlation),
        "gaussian_wasserstein_correlation": distance * unit * unit,
        "gaussian_wasserstein_correlation_norm": distance / float(np.square(deviations / unit).sum()),
        "mutual_info_score": float(np.nanmean(information)),
        "information": information,
    }


def _pair_information(labels: tuple[Factor, ...]) -> Floats:
    """Return the information of each pair of columns of classes, in nats; NaN on the diagonal."""
    n_columns = len(labels)
    information = np.full((n_columns, n_columns), np.nan)
    for i, first in enumerate(labels):
        for k, second in enumerate(labels[:i]):
            shape = len(first.levels), len(second.levels)
            cells = np.bincount(first.values * shape[1] + second.values, minlength=shape[0] * shape[1])
            information[i, k] = information[k, i] = mutual_information(cells.reshape(shape).astype(np.float64))
    return information


def _by_chance(
    codes: Codes, alive: NDArray[np.intp], labels: tuple[Factor, ...], n_permutations: int, seed: int
) -> dict[str, float]:
    """Return the means of the scores of codes that are shuffled one by one."""
    if not n_permutations:
        return {}
    drawn = []
    for shuffle in range(n_permutations):
        rng = rng_for(seed, "unsupervised_scores", "chance", shuffle)
        orders = [rng.permutation(codes.n) for _ in alive]
        values = np.array(codes.values, dtype=np.float64)
        for index, order in zip(alive, orders, strict=True):
            values[:, index] = values[order, index]
        mixed = tuple(column.take(order) for column, order in zip(labels, orders, strict=True))
        drawn.append(_scores(Codes(values, codes.names, codes.low, codes.high), alive, mixed))
    return {name: float(np.mean([one[name] for one in drawn])) for name in SCORES}


def _notes(codes: Codes, alive: NDArray[np.intp], scores: Mapping[str, float]) -> list[Note]:
    notes = []
    dead = tuple(codes.names[index] for index in range(codes.d) if index not in alive)
    if dead:
        message = f"{len(dead)} of {codes.d} codes are constant, such as {dead[0]!r}; they are left out"
        if len(dead) == 1:
            message = f"1 of {codes.d} codes, {dead[0]!r}, is constant; it is left out"
        notes.append(Note(code="constant-code", message=message, subject=dead, severity="warning"))
    if np.isinf(scores["gaussian_total_correlation"]):
        message = "a code is a linear combination of others: the total correlation of a Gaussian is infinite"
        notes.append(Note(code="collinear-codes", message=message, severity="warning"))
    if codes.n < 10 * len(alive):
        message = (
            f"{codes.n} rows are few for the covariance of {len(alive)} codes: independent codes score above 0 too"
        )
        notes.append(Note(code="few-rows", message=message, severity="warning"))
    return notes
