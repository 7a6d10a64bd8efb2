"""MED compactness: DCI's entropy of each factor, on shares of information (Cao et al. 2022)."""

from typing import Unpack

import numpy as np

from demele.core.results import Score
from demele.estimation.discretise import Binning
from demele.estimation.information import Correction, InformationTable, mean_of_defined
from demele.metrics.data import Data
from demele.metrics.information.infom import barely_beyond_chance
from demele.metrics.information.med_modularity import (
    Counted,
    all_codes,
    best_codes,
    check_estimator,
    compact_entropy,
    shares_of_codes,
    split_tables,
)
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_rows, of_table
from demele.metrics.options import Bins, Count, Estimator, RunOptions
from demele.metrics.run import score


def compact_shares(table: InformationTable, active: str) -> Native:
    """MED compactness of a table: C_i = 1 - H(R_i.) / log d, mean over the factors of which anything is known."""
    shares = shares_of_codes(table, active)
    per_factor = compact_entropy(shares)
    notes = barely_beyond_chance(table, np.asarray(shares.any(axis=-1))) if active == "informative" else ()
    value = mean_of_defined(per_factor)
    return Native(value=value, per_factor=per_factor, matrix=table.information, matrix_of=MATRIX, notes=notes)


def compact_shares_of_best(
    data: Data, bins: Binning, estimator: str, correction: str, active: str, top_k: int
) -> Native:
    """MED compactness over the k best codes of each factor, chosen on one half of the rows and scored on the other."""
    check_estimator(estimator, correction)
    whole, halves = split_tables(data, bins)
    kept = [best_codes(choosing, top_k, active) for choosing, _ in halves]
    own = [
        compact_entropy(shares_of_codes(scoring, active)[best]) for best, (_, scoring) in zip(kept, halves, strict=True)
    ]
    per_factor = mean_of_defined(np.stack(own, axis=-1))
    return Native(
        value=mean_of_defined(per_factor),
        per_factor=per_factor,
        matrix=whole.information,
        matrix_of=MATRIX,
        details={"kept": [best.tolist() for best in kept]},
    )


def med_compactness(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    active: Counted = "informative",
    top_k: Count | None = None,
    **run: Unpack[RunOptions],
) -> Score:
    r"""MED compactness: whether the information of single codes on each factor is in one of them.

    .. math:: C_i = 1 - H(R_{i \cdot}) / \log d,\quad R_{ij} = I(v_i; z_j) / \textstyle\sum_{j'} I(v_i; z_{j'})

    and the mean over factors: the compactness of DCI with information in place of importances, at the cost of MIG.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), at least two
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active, top_k
        As in :func:`med_modularity`. With ``top_k`` the entropy is over the codes that are kept, and not defined where
        one alone is.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``, NaN where no active code informs on the factor, which is then left out;
        ``matrix``: mutual information (n_codes, n_factors) in nats; with ``top_k`` ``details["kept"]``: the codes of
        each half by their places.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Cao et al. 2022, whose settings are the protocol ``med2022``; published code weighs factors by their sums of shares,
    which are 1 but with ``top_k``. c copies of every one of d codes that hold one factor each score
    1 - log c / log(c d). It does not see how much is known: codes with a tenth of the information on each factor score
    as well. Two codes that each hold half of a factor, as the sine and the cosine of an angle do, count as copies.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> round(demele.med_compactness(factors[:, [0, 0, 1, 1]], factors, kinds="categorical").value, 6)
    0.5
    """
    return score(METRIC, locals())


METRIC = Metric(
    "med_compactness",
    med_compactness,
    title="MED compactness",
    family="information",
    shares="information",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Cao et al. 2022 (MED)",
    references=("cao2022empirical",),
    definition="1 - entropy of the codes' shares of the information on a factor, relative to its largest",
    needs_codes=2,
    readings=(of_table(compact_shares, when=all_codes), of_rows(compact_shares_of_best)),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    undefined="no active code informs on them",
    order=290,
    in_all=False,
)
