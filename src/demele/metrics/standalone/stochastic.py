"""What stochastic codes tell of the rows they are made from, together and each alone (Do and Tran 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from demele.core.arrays import Floats
from demele.core.errors import InputError, NotEnoughData
from demele.core.inputs import read_codes
from demele.core.kinds import Seed, Several, checked
from demele.core.result import TableResult
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.metrics.source import checked_std
from demele.report.words import written

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StochasticScores", "stochastic_scores"]

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
        import pandas as pd

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
    mean: Floats = largest[:, 0] + np.log(np.exp(logarithms - largest).mean(axis=1))
    return mean


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
    deviations = checked_std(codes_std, read, "codes_std")
    if not (deviations > 0).all():
        row, column = (int(one) for one in np.argwhere(~(deviations > 0))[0])
        raise InputError(
            "codes_std",
            f"expected numbers above 0, got {deviations[row, column]:g} in row {row} of code {read.names[column]!r}: a "
            "code without noise tells which row it is",
        )
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
    total = float((own.sum(axis=1) - whole).mean())
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
        notes=_notes(total, read.n, bool(np.isnan(weights).any())),
        signature=Signature.of("stochastic_scores", {"n_draws": n_draws, "seed": seed}, rows=read.n, codes=read.d),
    )


def _notes(total: float, n: int, nothing: bool) -> tuple[Note, ...]:
    """Say where rows are too few for what codes tell, and where they tell nothing."""
    if nothing:
        message = "no code tells anything of the row: its weights, and the scores, are not defined"
        return (Note(code="undefined-value", message=message, severity="warning"),)
    if total <= NEAR_LIMIT * np.log(n):
        return ()
    message = (
        f"all codes together tell {total:.2f} nats of the row, and {n} rows allow no more than {np.log(n):.2f}: what "
        "single codes add is too small by an unknown amount; use more rows, or fewer codes"
    )
    return (Note(code="limit-of-rows", message=message, severity="fragile"),)
