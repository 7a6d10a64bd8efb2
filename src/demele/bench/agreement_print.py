"""Published rank correlations between metrics, and their similarity to other matrices."""

import csv
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.bench.rank_correlation import column_pairs
from demele.core.errors import UnknownNameError
from demele.core.kinds import checked
from demele.core.names import suggestion

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "Boilard's review, figures 2.1 and 2.2: beta-VAEs of one architecture, beta .001 to 100, 2 to 64 codes"
#: From here on a published tau of 36 models is significant (two standard errors without association).
STRONG = 0.23
#: Below this share of what our taus vary by, what is left without their noise says nothing.
_LEAST_LEFT = 0.1
#: Of fewer configurations, resamples do not say well enough how large the sampling error is.
_ENOUGH = 24
_FILE = Path(__file__).with_name("kendall_published.csv")
_TITLES = {"cars3d": "Cars3D", "smallnorb": "SmallNORB"}

Reading = Literal["row", "column"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublishedAgreement:
    """A published matrix of Kendall's tau between metrics.

    Attributes
    ----------
    name, title : str
        The data set.
    metrics : tuple of str
        Registered names, in the published order.
    printed : array of shape (n_metrics, n_metrics)
        Cell by cell as published.
    source : str

    Examples
    --------
    >>> from demele import bench
    >>> printed = bench.published_agreement("smallnorb")
    >>> float(printed.table().loc["z_min_variance", "z_diff"]), printed.disputed
    (0.71, ())
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    printed: NDArray[np.float64] = field(repr=False)
    source: str = SOURCE

    @property
    def disputed(self) -> tuple[tuple[str, str], ...]:
        """Pairs whose two cells differ.

        Cars3D has nine, all with DCI Lasso modularity, and they differ in sign. No 36 rankings without ties have the
        taus of its column, but some have those of its row. So the upper triangle is read, and results are given without
        these pairs, too.
        """
        first, second = column_pairs(len(self.metrics))
        return tuple(
            (self.metrics[one], self.metrics[other])
            for one, other in zip(first, second, strict=True)
            if self.printed[one, other] != self.printed[other, one]
        )

    def tau(self, first: str, second: str) -> float:
        """Return the tau of two metrics in the upper triangle."""
        places = sorted((self.metrics.index(first), self.metrics.index(second)))
        return float(self.printed[places[0], places[1]])

    @checked
    def table(self, reading: Reading = "row") -> "pd.DataFrame":
        """Return a symmetric table of tau.

        Parameters
        ----------
        reading : {"row", "column"}
            "row": the upper triangle, whose cells can all be true; "column": the lower one.

        Raises
        ------
        InputError
        """
        import pandas as pd

        upper = np.triu(self.printed if reading == "row" else self.printed.T, 1)
        return pd.DataFrame(upper + upper.T + np.eye(len(upper)), index=self.metrics, columns=self.metrics)


class Measured(NamedTuple):
    """A figure and its interval; NaN where there is none."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:z.3f} [{self.low:z.3f}, {self.high:z.3f}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Similarity of a matrix to a published one, with intervals over other samples of configurations.

    Attributes
    ----------
    published, matrix : str
        The two matrices.
    disputed : {"kept", "left out"}
        Treatment of the pairs whose two published cells differ.
    pairs, strong_pairs : int
        Pairs of metrics in both; those with a published tau of at least 0.23 or at most -0.23.
    r : Measured
        Pearson correlation of the taus.
    same_sign : Measured
        Share of equal signs among the strong pairs.
    difference : Measured
        Mean absolute difference of the taus.
    r_without_noise : float
        Approximate correlation if our taus had no sampling error (Spearman 1904); published taus keep theirs. NaN with
        fewer than 24 configurations, or if our taus vary by little more than their error.

    Notes
    -----
    A resample has the sampling error of its sample twice, so that its taus are less similar to the published ones than
    those of the sample. Percentiles of resamples are moved until their mean is the estimate: for r as Fisher's z, for
    the difference as logarithms. Simulated, such 95% intervals hold the mean of
    other configurations in 86 to 100 of 100 samples, and plain percentiles of r in 54 to 98.
    """

    published: str
    matrix: str
    disputed: str
    pairs: int
    strong_pairs: int
    r: Measured
    same_sign: Measured
    difference: Measured
    r_without_noise: float

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns."""
        found = {name: getattr(self, name) for name in ("published", "matrix", "disputed", "pairs", "strong_pairs")}
        for name in MEASURES:
            figure: Measured = getattr(self, name)
            found |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
        return found | {"r_without_noise": self.r_without_noise}


#: What is measured of likeness, in the order in which it is shown.
MEASURES = ("r", "same_sign", "difference")


@cache
def _published() -> Mapping[str, PublishedAgreement]:
    text = _FILE.read_text(encoding="utf-8")
    cells: dict[str, dict[tuple[str, str], float]] = {}
    for line in csv.DictReader(io.StringIO(text)):
        cells.setdefault(line["dataset"], {})[line["metric_row"], line["metric_col"]] = float(line["tau"])
    found = {}
    for name, taus in cells.items():
        metrics = tuple(dict.fromkeys(row for row, _ in taus))
        printed = np.array([[taus[row, column] for column in metrics] for row in metrics])
        found[name] = PublishedAgreement(name=name, title=_TITLES[name], metrics=metrics, printed=printed)
    return found


def published_agreement_names() -> list[str]:
    """Return the data sets with a published matrix.

    Examples
    --------
    >>> from demele import bench
    >>> bench.published_agreement_names()
    ['cars3d', 'smallnorb']
    """
    return list(_published())


def published_agreement(name: str) -> PublishedAgreement:
    """Return the published Kendall rank correlations of 17 metrics over models of one family.

    Parameters
    ----------
    name : str
        The data set: see :func:`published_agreement_names`.

    Returns
    -------
    PublishedAgreement

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> from demele import bench
    >>> len(bench.published_agreement("cars3d").disputed)
    9
    """
    if not isinstance(name, str) or name not in _published():
        raise UnknownNameError("published", f"no published matrix for {name!r}{suggestion(str(name), _published())}")
    return _published()[name]


# Likeness -------------------------------------------------------------------------------------------------------------


def likeness(
    ours: NDArray[np.float64],
    printed: NDArray[np.float64],
    draws: NDArray[np.float64],
    *,
    level: float,
    configurations: int,
) -> dict[str, Any]:
    """Return the similarity of taus to published ones: the figures of :class:`Likeness`.

    Parameters
    ----------
    ours, printed : array of shape (n_pairs,)
    draws : array of shape (n_draws, n_pairs)
        Ours from resampled configurations; those with an undefined tau are left out.
    level : float
        Level of the intervals.
    configurations : int
        That ours are of.
    """
    strong = np.abs(printed) >= STRONG - 1e-12
    whole = draws[np.isfinite(draws).all(axis=1)]

    def measured(measure: Callable[[NDArray[np.float64]], NDArray[np.float64]], scale: str) -> Measured:
        value = float(measure(ours[None])[0])
        return Measured(value, *centred_interval(value, measure(whole), level=level, scale=scale))

    return {
        "pairs": int(printed.size),
        "strong_pairs": int(strong.sum()),
        "r": measured(lambda taus: _correlations(taus, printed), "z"),
        "same_sign": measured(lambda taus: _same_signs(taus[:, strong], printed[strong]), "plain"),
        "difference": measured(lambda taus: np.abs(taus - printed).mean(axis=1), "log"),
        "r_without_noise": _without_noise(ours, printed, whole) if configurations >= _ENOUGH else math.nan,
    }


def _correlations(taus: NDArray[np.float64], printed: NDArray[np.float64]) -> NDArray[np.float64]:
    ours, theirs = taus - taus.mean(axis=1, keepdims=True), printed - printed.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(ours @ theirs / np.sqrt(np.square(ours).sum(axis=1) * np.square(theirs).sum()))


def _same_signs(taus: NDArray[np.float64], printed: NDArray[np.float64]) -> NDArray[np.float64]:
    if not printed.size:
        return np.full(len(taus), math.nan)
    return np.asarray((np.sign(taus) == np.sign(printed)).mean(axis=1))


def _without_noise(ours: NDArray[np.float64], printed: NDArray[np.float64], draws: NDArray[np.float64]) -> float:
    """Return the correlation corrected for attenuation by the sampling error of our taus."""
    if len(draws) < 2:
        return math.nan
    noise = float(draws.var(axis=0, ddof=1).mean() - draws.mean(axis=1).var(ddof=1))
    whole = float(ours.var())
    if whole - noise < _LEAST_LEFT * whole:
        return math.nan
    value = float(_correlations(ours[None], printed)[0]) * math.sqrt(whole / (whole - noise))
    return min(max(value, -1.0), 1.0)


_SCALES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float, float]] = {
    "z": (lambda r: np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9)), np.tanh, -1.0, 1.0),
    "log": (lambda m: np.log(np.maximum(m, 1e-9)), np.exp, 0.0, math.inf),
    "plain": (lambda s: s, lambda s: s, 0.0, 1.0),
}


def centred_interval(value: float, draws: NDArray[np.float64], *, level: float, scale: str) -> tuple[float, float]:
    """Return percentiles of draws, moved so that their mean is the value; NaN without both.

    Examples
    --------
    >>> low, high = centred_interval(0.5, np.linspace(0.1, 0.3, 1001), level=0.9, scale="plain")
    >>> round(low, 3), round(high, 3)
    (0.41, 0.59)
    """
    draws = draws[np.isfinite(draws)]
    if not math.isfinite(value) or draws.size < 2:
        return math.nan, math.nan
    there, back, least, most = _SCALES[scale]
    moved = there(draws)
    low, high = np.quantile(moved, [(1 - level) / 2, (1 + level) / 2]) - moved.mean() + there(value)
    return float(np.clip(back(low), least, most)), float(np.clip(back(high), least, most))
