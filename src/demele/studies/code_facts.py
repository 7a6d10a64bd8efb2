"""Facts about codes: information about factors, which are active, and responses along a factor."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleWarning
from demele.core.inputs import read_pair
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.verdict import FactorVerdict, RepresentationVerdict
from demele.metrics.data import Data
from demele.metrics.source import Subject
from demele.metrics.verdict import shares_of, verdict_of
from demele.models.vae.run import is_active
from demele.studies.examination import Sweep

if TYPE_CHECKING:
    import pandas as pd

    from demele.data.images import ImageSet


def shares_of_entropy(codes: pd.DataFrame, factors: pd.DataFrame, *, kinds: object = None) -> pd.DataFrame:
    r"""Return how much each code tells of each factor: :math:`I(z_j; v_i) / H(v_i)`.

    Parameters
    ----------
    codes : DataFrame of shape (n_samples, n_codes)
    factors : DataFrame of shape (n_samples, n_factors)
    kinds : optional
        Kinds of the factors, as in :func:`demele.evaluate`.

    Returns
    -------
    DataFrame of shape (n_codes, n_factors)
        In [0, 1], NaN for factors that do not vary. Bins of equal frequency, as many as the rows fill (at most 20),
        Miller-Madow's correction of the bias upwards; what it takes below 0 is 0.

    Examples
    --------
    >>> import pandas as pd
    >>> factors = pd.DataFrame({"a": ["x", "x", "y", "y"] * 25, "b": ["p", "q"] * 50})
    >>> codes = pd.DataFrame({"z1": [0.0, 0.0, 1.0, 1.0] * 25, "z2": [0.5] * 100})
    >>> shares_of_entropy(codes, factors).round(2).to_numpy().tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    import pandas as pd

    subject = _subject(codes, factors, kinds)
    shares = subject.spread_factors(shares_of(Data(subject.codes, subject.varying)).share)
    return pd.DataFrame(shares, index=pd.Index(codes.columns, name="code"), columns=list(factors.columns))


def _subject(codes: pd.DataFrame, factors: pd.DataFrame, kinds: object) -> Subject:
    with warnings.catch_warnings(action="ignore", category=DemeleWarning):  # the evaluation says the same
        return Subject.of(*read_pair(codes, factors, kinds=kinds, missing="omit"))


def code_facts(codes: pd.DataFrame, std: pd.DataFrame | None, shares: pd.DataFrame | None) -> pd.DataFrame:
    """Return the activity of each code, and the factor that it carries most of.

    Parameters
    ----------
    codes : DataFrame of shape (n_samples, n_codes)
        Means of the posteriors.
    std : DataFrame of the same shape, or None
        Their standard deviations.
    shares : DataFrame of shape (n_codes, n_factors), or None
        What :func:`shares_of_entropy` returns.

    Returns
    -------
    DataFrame of shape (n_codes, 5)
        ``kl``, ``std``, ``active``, ``best_factor``, ``information``; ``best_factor`` is "" where there is none.
    """
    import pandas as pd

    kl = np.full(codes.shape[1], np.nan) if std is None else divergences(codes.to_numpy(), std.to_numpy())
    spread = codes.to_numpy().std(axis=0)
    best, told = [""] * codes.shape[1], np.full(codes.shape[1], np.nan)
    if shares is not None and shares.size:
        known = np.nan_to_num(shares.to_numpy())
        told = known.max(axis=1)
        best = [
            str(shares.columns[place]) if most > 0 else ""
            for place, most in zip(known.argmax(axis=1), told, strict=True)
        ]
    columns = {"kl": kl, "std": spread, "active": is_active(kl, spread), "best_factor": best, "information": told}
    return pd.DataFrame(columns, index=pd.Index(codes.columns, name="code"))


def divergences(mean: NDArray[np.float64], std: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return the mean divergence of each code from the standard normal, in nats.

    .. math:: K_j = \mathrm{mean}_n\, (\mu_{nj}^2 + \sigma_{nj}^2 - 1 - \log \sigma_{nj}^2) / 2

    Infinite where a deviation is 0.

    Examples
    --------
    >>> divergences(np.array([[1.0, 2.0]]), np.array([[1.0, 0.5]])).round(6).tolist()
    [0.5, 2.318147]
    """
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = ((mean**2 + std**2 - 1) / 2 - np.log(std)).mean(axis=0)
    return found


def verdict_on(
    codes: pd.DataFrame,
    factors: pd.DataFrame,
    *,
    active: NDArray[np.bool_] | None = None,
    kinds: object = None,
    seed: int = 0,
) -> RepresentationVerdict:
    """Return which active code holds which factor, as ``evaluate`` says it of these codes alone.

    Parameters
    ----------
    codes : DataFrame of shape (n_samples, n_codes)
    factors : DataFrame of shape (n_samples, n_factors)
    active : array of bool of shape (n_codes,), optional
        Which codes are active; the others hold nothing, however much their traces tell. By default all.
    kinds : optional
        Kinds of the factors, as in :func:`demele.evaluate`.
    seed : int
        Random seed of the permutations that give the chance level.

    Examples
    --------
    >>> import pandas as pd
    >>> x, y = np.random.default_rng(0).random((2, 500))
    >>> codes = pd.DataFrame({"z1": x, "z2": 0.0})
    >>> [row.status for row in verdict_on(codes, pd.DataFrame({"x": x, "y": y})).factors]
    ['one code', 'no code']
    """
    used = np.ones(codes.shape[1], dtype=bool) if active is None else np.asarray(active, dtype=bool)
    if used.any():
        subject = _subject(codes.loc[:, used], factors, kinds)
        return verdict_of(Data(subject.codes, subject.varying), subject.factors.names, seed=seed)
    lost = (
        FactorVerdict(factor=str(one), status="no code", words=f"{one} is lost: no code is active") for one in factors
    )
    none = np.zeros((0, factors.shape[1]))
    return RepresentationVerdict(
        factors=tuple(lost), codes=(), shares=none, above_chance=none.astype(bool), n=len(codes), bins=0
    )


def twin_notes(codes: pd.DataFrame) -> list[Note]:
    """Return a note for codes that equal others up to sign and scale; codes that do not vary are left out."""
    values = codes.to_numpy()
    spread = values.std(axis=0)
    varies = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0, initial=0.0)))
    scaled = (values[:, varies] - values[:, varies].mean(axis=0)) / spread[varies]
    alike = np.abs(scaled.T @ scaled) / max(len(values), 1) > 1 - 1e-9
    notes = []
    for second in range(1, len(varies)):
        if (same := np.flatnonzero(alike[second, :second])).size:
            names = tuple(str(codes.columns[varies[place]]) for place in (same[0], second))
            message = f"code {names[1]!r} is code {names[0]!r} again, up to sign and scale: no score needs both"
            notes.append(Note(code="equal-codes", message=message, subject=names, severity="warning"))
    return notes


# Responses along one factor of a complete grid ------------------------------------------------------------------------


#: Images that are shown of a factor at most.
SHOWN = 9
#: Quantiles of a code over the other factors, between which its range is drawn.
ENDS = 0.05, 0.95


def sweeps(codes: NDArray[np.float64], images: ImageSet, *, seed: int) -> tuple[Sweep, ...]:
    """Return one sweep per factor; none unless the set is a complete grid.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
        Of all images.
    images : ImageSet
    seed : int
        Draws the image whose other factors are held.
    """
    if images.space is None or not images.complete:
        return ()
    positions = images.positions()
    start = positions[rng_for(seed, "start of sweeps", len(positions)).integers(len(positions))]
    found = []
    for factor, name in enumerate(images.space.names):
        values = images.space.values[factor]
        shown = np.unique(np.linspace(0, len(values) - 1, min(SHOWN, len(values))).round().astype(np.int64))
        asked = np.repeat(start[None], len(shown), axis=0)
        asked[:, factor] = shown
        mean, low, high = responses(codes, positions[:, factor], len(values))
        found.append(
            Sweep(
                factor=name,
                values=tuple(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values),
                mean=mean,
                low=low,
                high=high,
                shown=tuple(shown.tolist()),
                images=images.images(images.index(asked)),
            )
        )
    return tuple(found)


def responses(
    codes: NDArray[np.float64], positions: NDArray[np.int64], n_values: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return mean, 5 % and 95 % quantile of each code at each value of a factor, of shape (n_values, n_codes).

    Examples
    --------
    >>> mean, low, high = responses(np.array([[0.0], [1.0], [5.0], [5.0]]), np.array([0, 0, 1, 1]), 2)
    >>> mean.tolist(), low.round(2).tolist(), high.round(2).tolist()
    ([[0.5], [5.0]], [[0.05], [5.0]], [[0.95], [5.0]])
    """
    groups = [codes[positions == value] for value in range(n_values)]
    ends = [np.quantile(group, ENDS, axis=0) for group in groups]
    low, high = (np.array([pair[end] for pair in ends]) for end in (0, 1))
    return np.array([group.mean(axis=0) for group in groups]), low, high
