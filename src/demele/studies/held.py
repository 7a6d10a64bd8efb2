"""What codes hold of factors: information, which code holds which factor, which codes are in use."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleWarning
from demele.core.inputs import read_pair
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.estimation.discretise import EqualWidth
from demele.estimation.information import ratio, top_two
from demele.metrics.data import TableSettings
from demele.metrics.source import InMemory, Subject
from demele.models.vae.active import is_active

if TYPE_CHECKING:
    import pandas as pd

    from demele.studies.examination import Verdict

#: A factor of which no code tells more than this share is held by none.
LOST = 0.1
#: A factor is shared where the next code tells more than this share of what the best one does.
SHARED = 0.5
#: Draws that say what chance tells.
_PERMUTATIONS = 5
#: Bins of codes and of continuous factors, as in the published studies of trained models.
BINS = 20


def shares_of_entropy(codes: pd.DataFrame, factors: pd.DataFrame, *, kinds: object = None) -> pd.DataFrame:
    r"""Return how much each code tells of each factor: :math:`I(z_j; v_i) / H(v_i)`.

    Parameters
    ----------
    codes : DataFrame of shape (n_samples, n_codes)
    factors : DataFrame of shape (n_samples, n_factors)
    kinds : optional
        Of the factors, as in :func:`demele.evaluate`.

    Returns
    -------
    DataFrame of shape (n_codes, n_factors)
        In [0, 1], NaN for factors that do not vary. 20 bins of equal width, Miller-Madow's correction of the bias
        upwards; what it takes below 0 is 0.

    Examples
    --------
    >>> import pandas as pd
    >>> factors = pd.DataFrame({"a": ["x", "x", "y", "y"] * 25, "b": ["p", "q"] * 50})
    >>> codes = pd.DataFrame({"z1": [0.0, 0.0, 1.0, 1.0] * 25, "z2": [0.5] * 100})
    >>> shares_of_entropy(codes, factors).round(2).to_numpy().tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    import pandas as pd

    with warnings.catch_warnings(action="ignore", category=DemeleWarning):  # the evaluation says the same
        subject = Subject.of(*read_pair(codes, factors, kinds=kinds, missing="omit"))
    table = InMemory(subject).table(TableSettings(binning=EqualWidth(BINS), correction="miller-madow"))
    shares = np.clip(ratio(table.information, table.factor_entropy), 0.0, 1.0)
    return pd.DataFrame(subject.spread_factors(shares), index=list(codes.columns), columns=list(factors.columns))


def code_facts(codes: pd.DataFrame, std: pd.DataFrame | None, shares: pd.DataFrame | None) -> pd.DataFrame:
    """Return of each code how far it is in use, and the factor of which it tells most.

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
    return pd.DataFrame(columns, index=list(codes.columns))


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


def chance_shares(
    codes: pd.DataFrame, factors: pd.DataFrame, *, kinds: object = None, seed: int = 0
) -> NDArray[np.float64]:
    """Return by factor the most that any code tells of it when the rows of the factors are permuted, in five draws."""
    codes, found = codes.reset_index(drop=True), np.zeros(factors.shape[1])
    for draw in range(_PERMUTATIONS):
        order = rng_for(seed, "permuted factors", draw).permutation(len(factors))
        shares = shares_of_entropy(codes, factors.iloc[order].reset_index(drop=True), kinds=kinds)
        found = np.fmax(found, np.nan_to_num(shares.to_numpy()).max(axis=0, initial=0.0))
    return found


def factor_facts(
    shares: pd.DataFrame,
    chance: NDArray[np.float64] | None = None,
    *,
    active: NDArray[np.bool_] | None = None,
) -> pd.DataFrame:
    """Return of each factor which code holds it, or that several codes share it, or that none does.

    Parameters
    ----------
    shares : DataFrame of shape (n_codes, n_factors)
    chance : array of shape (n_factors,), optional
        What :func:`chance_shares` returns.
    active : array of bool of shape (n_codes,), optional
        Which codes are in use; the others hold nothing, however much their traces tell. By default all.

    Returns
    -------
    DataFrame of shape (n_factors, 6)
        ``verdict``, ``code`` ("" where none is in use), ``information``, ``second``, ``chance`` and ``words``.

    Notes
    -----
    No code: the best one tells at most a tenth of the factor's entropy, or no more than chance. Several codes: the next
    one tells more than half of what the best one does. Mixed code: one code holds the factor, and of another factor it
    tells more than half as much. The limits are conventions, near which a verdict says little.

    Examples
    --------
    >>> import pandas as pd
    >>> names = {"index": ["z1", "z2", "z3"], "columns": ["x", "y", "hue", "size"]}
    >>> shares = pd.DataFrame([[0.9, 0.2, 0.0, 0.1], [0.1, 0.3, 0.1, 0.1], [0.0, 0.2, 0.0, 0.2]], **names)
    >>> factor_facts(shares)["verdict"].tolist()
    ['one code', 'several codes', 'no code', 'mixed code']
    """
    import pandas as pd

    used = np.ones(len(shares), dtype=bool) if active is None else np.asarray(active, dtype=bool)
    known = np.where(used[:, None], np.nan_to_num(shares.to_numpy()), 0.0)
    first, second = top_two(known, axis=0)
    limits = np.zeros(len(first)) if chance is None else chance
    rows = []
    for place, factor in enumerate(shares.columns):
        column, most = known[:, place], float(first[place])
        holder = int(column.argmax())
        beside = known[holder] > SHARED * most
        beside[place] = False
        found = _Held(
            factor=str(factor),
            code=str(shares.index[holder]) if used.any() else "",
            sharing=[str(name) for name in shares.index[column > SHARED * most]],
            beside=[str(name) for name in shares.columns[beside]],
        )
        rows.append(_row(found, most, float(second[place]), float(limits[place])))
    names = ("verdict", "code", "information", "second", "chance", "words")
    return pd.DataFrame(rows, index=list(shares.columns), columns=list(names))


class _Held(NamedTuple):
    """A factor, the code that tells most of it, codes that tell about as much, and what else the first one tells of."""

    factor: str
    code: str
    sharing: list[str]
    beside: list[str]


def _row(held: _Held, most: float, second: float, chance: float) -> dict[str, Any]:
    verdict: Verdict
    factor, code = held.factor, held.code
    if most <= max(LOST, chance):
        least = "no code is in use" if not code else "no code tells anything of it"
        told_little = f"no code tells more than {most:.0%} of it"
        verdict, words = "no code", f"{factor} is lost: {told_little if round(most, 2) else least}"
        words += f", as chance does ({chance:.0%})" if most > LOST else ""
    elif second > SHARED * most:
        verdict = "several codes"
        words = f"{factor} is shared by {_listed(held.sharing)}: the best of them, {code}, tells {most:.0%}"
    elif held.beside:
        verdict = "mixed code"
        words = f"{factor} is held by {code}, which tells of {_listed(held.beside)} as well: it tells {most:.0%} of it"
        words += f", the next code {second:.0%}"
    else:
        verdict, words = "one code", f"{factor} is held by {code}: it tells {most:.0%} of it, the next {second:.0%}"
    told = {"information": most, "second": second, "chance": chance}
    return {"verdict": verdict, "code": code, **told, "words": words}


def _listed(names: list[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


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
