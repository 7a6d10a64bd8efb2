"""Neuron knockout: how much of each factor is lost without the code that is its own (Mahon et al. 2024)."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.kinds import Count
from demele.estimation.counts import PackedRows, bin_rows, column_bins, joint_counts
from demele.estimation.information import information_table, mean_of_defined
from demele.estimation.joint_codes import joint_rows
from demele.metrics.data import Data
from demele.metrics.information.snc import own_codes, without_code
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import Bins, RunOptions, as_binning
from demele.metrics.splits import fewer_than_asked, split

#: Most rows that trees are grown on, and scored on, unless others are asked for.
MOST_ROWS = 5_000
#: Few stages suffice with it.
LEARNING_RATE = 0.3
#: A code with a smaller share of the importance for a factor is not knocked out to see: nothing would be lost.
NEGLIGIBLE = 0.02
#: Standard deviations of an accuracy by which codes must beat the most frequent value.
BEATEN = 2.0


class _Fits:
    """Boosted trees of one factor on one split of its rows, with all codes or without some."""

    def __init__(
        self, codes: Floats, values: NDArray[np.intp], train: NDArray[np.intp], test: NDArray[np.intp], n_trees: int
    ) -> None:
        self.codes, self.values, self.train, self.test, self.n_trees = codes, values, train, test, n_trees

    @property
    def guess(self) -> float:
        """Share of test rows with the value of most training rows."""
        return float((self.values[self.test] == np.bincount(self.values[self.train]).argmax()).mean())

    def accuracy(self, rng: np.random.Generator, without: Sequence[int] = ()) -> tuple[float, Floats]:
        """Return the share of test rows that are predicted, and the share of each column of the importance."""
        from demele.estimation.boosting_importance import boosted_fit
        from demele.estimation.trees import presort

        codes = self.codes
        if without:
            codes = codes.copy()
            codes[:, list(without)] = 0.0  # which no tree can split
        alive = np.ptp(codes[self.train], axis=0) > 0
        if not alive.any() or len(np.unique(self.values[self.train])) < 2:
            return self.guess, np.zeros(codes.shape[1])
        sorted_codes, rows = presort(codes[:, alive]), (self.train, self.test)
        fit = boosted_fit(
            sorted_codes,
            self.values,
            *rows,
            categorical=True,
            rng=rng,
            n_trees=self.n_trees,
            learning_rate=LEARNING_RATE,
        )
        importance = np.zeros(codes.shape[1])
        importance[alive] = fit.importance
        return float((fit.predict(fit.unseen) == self.values[self.test]).mean()), importance


@Metric(
    title="NK",
    family="predictor",
    properties=("compactness",),
    native="per factor",
    range=(-1.0, 1.0),
    source="Mahon et al. 2024 (NK)",
    references=("mahon2024correcting",),
    definition="accuracy of boosted trees that is lost without the code of a factor",
    aliases=("NK",),
    guards=Guards(outliers="of factors move it", bins=False, fewest_rows=50),
    slow=2,
    probe=("n_trees", (20, 5, 10, 40, 80)),
    in_groups=True,
    in_all=False,
)
def nk(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = "equal-frequency:10",
    share: bool = False,
    n_trees: Count = 20,
    n_train: Count | None = None,
    n_test: Count | None = None,
    **run: Unpack[RunOptions],
) -> Native:
    r"""Neuron knockout: the loss of accuracy on each factor without its own code: exclusiveness.

    .. math:: \mathrm{NK}_i = \mathrm{accuracy}_i(z) - \mathrm{accuracy}_i(z_{-a(i)})

    of boosted trees on rows that they have not seen, and the mean over factors. Codes and factors are paired as in
    :func:`snc`.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous ones are cut into bins, which are their values.
    bins : int, str, Binning or edges, default "equal-frequency:10"
        As in :func:`mig`, for factors, and for paired codes. Bins of equal width would depend on outliers.
    share : bool, default False
        With fewer codes than factors: whether factors share codes, or those without one count 0.
    n_trees : int, default 20
        Stages of boosting, each of a tree of depth 3 for each value of the factor.
    n_train, n_test : int, optional
        Rows of the split; halves by default, of at most 5 000 rows each.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1 - 1 / K for factors of K values that are equally frequent, and 0 where every code can be spared;
        ``per_factor``; ``matrix``: accuracy lost for each factor without each code (n_codes, n_factors);
        ``details["knockout"]``: the same without the code of each factor (column), off whose diagonal stands what
        factors have in each other's codes; ``details["scaled"]`` and ``["scaled_per_factor"]``:
        relative to the accuracy above that of the most frequent value, 1 where all is lost, NaN where codes do not beat
        it by two standard deviations; ``["accuracy_per_factor"]``, ``["majority"]``, ``["assignment"]``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Mahon et al. 2024 (NK), whose classifier is a network with a hidden layer of 256. Copies of a code, and codes that
    mix the factors, make every one of them dispensable: 0, though one code is perfect; :func:`snc` sees that one. A
    code with less than 2 % of the importance for a factor is not knocked out for it: its loss is 0.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> score = demele.metrics.nk(factors[:, [0, 0, 1]], demele.Factors(factors, kinds="categorical"))
    >>> bool(score.per_factor[0] == 0), bool(score.details["scaled_per_factor"][1] > 0.9)
    (True, True)
    """
    half = data.n // 2
    asked = (min(half, MOST_ROWS) if n_train is None else n_train, min(half, MOST_ROWS) if n_test is None else n_test)
    train, test = split(data.n, *asked, streams("rows"), "codes")
    labels, _ = data.factor_labels(bins)
    of_codes, of_factors = column_bins(data.codes, data.factors, as_binning(bins))
    seen = data.take(train)
    if data.groups is None:
        counts = joint_counts(seen.codes, seen.factors, of_codes, of_factors)
    else:
        cells = joint_rows(bin_rows(seen.codes, seen.factors, of_codes, of_factors), data.groups.columns)
        counts = PackedRows(cells, factor_pairs=False).count()
    information = information_table(counts).information
    code = own_codes(information, share)
    codes, (d, m) = data.standardised(), information.shape
    lost, whole, guess = np.zeros((d, m)), np.empty(m), np.empty(m)
    for index in range(m):
        known = labels[:, index] >= 0
        fits = _Fits(codes, labels[:, index], train[known[train]], test[known[test]], n_trees)
        whole[index], importance = fits.accuracy(streams("factor", index))
        importance, guess[index] = data.summed_by_code(importance), fits.guess
        for other in np.flatnonzero(importance):
            if other == code[index] or importance[other] > NEGLIGIBLE:
                without, _ = fits.accuracy(streams("factor", index), data.columns_of([int(other)]))
                lost[other, index] = whole[index] - without
    per_factor = np.where(code >= 0, lost[np.maximum(code, 0), np.arange(m)], 0.0)
    told = whole - guess
    beaten = told > BEATEN * np.sqrt(guess * (1 - guess) / max(len(test), 1))
    scaled = np.where(beaten, per_factor / np.where(beaten, told, 1.0), np.nan)
    knockout = np.full((m, m), np.nan)
    for place, own in enumerate(code.tolist()):
        if own >= 0:
            knockout[:, place] = lost[own]
    return Native(
        value=np.asarray(per_factor.mean()),
        per_factor=per_factor,
        matrix=lost,
        matrix_of="accuracy lost without the code",
        details={
            "scaled": float(mean_of_defined(scaled)),
            "scaled_per_factor": scaled,
            "accuracy_per_factor": whole,
            "majority": guess,
            "knockout": knockout,
            "assignment": [int(one) if one >= 0 else None for one in code],
        },
        notes=fewer_than_asked(data.n, n_train, n_test) + without_code([code.tolist()], data.factors.names),
    )
