"""Single-code classification: how well one code, of its own, tells each factor (Mahon et al. 2024)."""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np

from demele.core.arrays import Floats, Rows, rng_for
from demele.core.errors import NotEnoughData
from demele.core.kinds import Count
from demele.core.result import Note
from demele.estimation.counts import PackedRows, bin_rows, column_bins, joint_counts
from demele.estimation.information import InformationTable, information_table, mean_of_defined, mutual_information
from demele.estimation.linear_recovery import matched
from demele.metrics.code_groups import joint_rows
from demele.metrics.data import Data, above, fewer_than_asked, folds, split
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import Bins, RunOptions, as_binning
from demele.metrics.source import crossed

Report = Literal["above-chance", "unscaled"]
#: Times that the rows are dealt to two halves.
DEALS = 2
#: Counts of rows to learn from and to score: each (n_codes, code bins, values of the factor).
Halves = list[tuple[Floats, Floats]]


# Halves ---------------------------------------------------------------------------------------------------------------


def dealt(table: Floats, score_on: str) -> Halves:
    """Return counts (n_codes, bins, values) of rows dealt to two halves by coins: one to learn from, one to score.

    Coins thrown for counts are as good as for rows, and need none; each code has its own, named by its counts, so that
    the order of the codes does not matter. Each deal is used both ways.
    """
    if score_on == "training":
        return [(table, table)]
    first = np.zeros((DEALS, *table.shape))
    for index, one in enumerate(table):
        rows, columns = np.nonzero(one)
        cells = np.rint(one[rows, columns]).astype(np.int64)
        name = hashlib.blake2b(cells.tobytes(), digest_size=16).hexdigest()
        first[:, index, rows, columns] = rng_for(0, "halves of counts", name).binomial(cells, 0.5, (DEALS, len(cells)))
    second = table - first
    return [one for pair in zip(first, second, strict=True) for one in (pair, pair[::-1])]


def told_by_majority(train: Floats, test: Floats) -> Floats:
    """Return the share of test rows whose value is that of most training rows in their bin, by code.

    A bin without training rows has the value of most training rows of all.
    """
    most = np.broadcast_to(train.sum(axis=-2).argmax(axis=-1)[:, None], train.shape[:-1])
    chosen = np.where(train.any(axis=-1), train.argmax(axis=-1), most)
    right = np.take_along_axis(test, chosen[..., None], axis=-1).sum(axis=(-2, -1))
    return np.asarray(right / np.maximum(test.sum(axis=(-2, -1)), 1.0))


def guessed(train: Floats, test: Floats) -> Floats:
    """Return the share of test rows with the commonest training value, by code: the baseline without codes."""
    most = train.sum(axis=-2).argmax(axis=-1)
    right = np.take_along_axis(test.sum(axis=-2), most[:, None], axis=-1)[:, 0]
    return np.asarray(right / np.maximum(test.sum(axis=(-2, -1)), 1.0))


def told_one_to_one(train: Floats, test: Floats) -> Floats:
    """Return the share of test rows predicted by the best one-to-one map of bins to training values, by code."""
    found = []
    for learnt, scored in zip(train, test, strict=True):
        bins = matched(learnt)
        right = sum(scored[one, value] for value, one in enumerate(bins) if one >= 0)
        found.append(right / max(scored.sum(), 1.0))
    return np.array(found)


def own_codes(information: Floats, share: bool) -> Rows:
    """Return the code of each factor in the one-to-one pairs of the most information, -1 for a factor without one.

    With ``share`` codes are used as often as it takes for every factor to have one.
    """
    d, m = information.shape
    if not share or d >= m:
        return matched(information)
    return np.asarray(matched(np.tile(information, (-(-m // d), 1))) % d)


# The score ------------------------------------------------------------------------------------------------------------


def _of_halves(halves: list[Halves], names: tuple[str, ...] | None, mapping: str, share: bool, report: str) -> Native:
    """Return SNC of halves of the rows, a list for each factor."""
    told = told_by_majority if mapping == "majority" else told_one_to_one
    n, m, d = len(halves[0]), len(halves), len(halves[0][0][0])
    accuracy, guess, own, pairs = np.empty((n, d, m)), np.empty((n, d, m)), np.empty((2, n, m)), []
    for part in range(n):
        parts = [of_factor[part] for of_factor in halves]
        information = np.nan_to_num(np.stack([mutual_information(train) for train, _ in parts], axis=-1))
        accuracy[part] = np.stack([told(*one) for one in parts], axis=-1)
        guess[part] = np.stack([guessed(*one) for one in parts], axis=-1)
        code = own_codes(information, share)
        places = np.maximum(code, 0), np.arange(m)
        own[1, part] = np.where(code >= 0, guess[part][places], guess[part].mean(axis=0))
        own[0, part] = np.where(code >= 0, accuracy[part][places], own[1, part])
        pairs.append([int(one) if one >= 0 else None for one in code])
    raw, chance = own.mean(axis=1)
    rooms = [np.where(one < 1, one, np.nan) for one in (chance, guess.mean(axis=0))]  # else nothing can be gained
    value = above(raw, rooms[0], report)
    return Native(
        value=mean_of_defined(value),
        per_factor=value,
        matrix=above(accuracy.mean(axis=0), rooms[1], report),
        matrix_of="accuracy of a code" if report == "unscaled" else "accuracy of a code above chance",
        details={
            "accuracy": float(raw.mean()),
            "accuracy_per_factor": raw,
            "above_chance": float(mean_of_defined(above(raw, rooms[0], "above-chance"))),
            "majority": chance,
            "assignment": pairs[0] if n == 1 else pairs,
        },
        notes=without_code(pairs, names),
    )


def without_code(pairs: Sequence[Sequence[int | None]], names: tuple[str, ...] | None) -> tuple[Note, ...]:
    """Say which factors have no code of their own; a code that is None or negative is none."""
    lacking = sorted({index for one in pairs for index, code in enumerate(one) if code is None or code < 0})
    if not lacking:
        return ()
    subject = () if names is None else tuple(names[index] for index in lacking)
    listed = f": {', '.join(map(repr, subject))}" if subject else ""
    message = f"there are fewer codes than factors: {len(lacking)} of these have none of their own and count as chance"
    return (Note(code="no-code", message=message + listed, subject=subject, severity="warning"),)


@Metric(
    title="SNC",
    family="information",
    properties=("compactness", "explicitness"),
    native="per factor",
    range=(float("-inf"), 1.0),
    source="Mahon et al. 2024 (SNC)",
    references=("mahon2024correcting",),
    definition="accuracy of one code's bins for the factor that is its own, above chance",
    when={InformationTable: lambda _, options: bool(options["mapping"] == "majority")},
    joint=True,
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    in_all=False,
)
def snc(
    state: InformationTable | Data,
    *,
    bins: Bins = 10,
    mapping: Literal["majority", "one-to-one"] = "majority",
    share: bool = False,
    report: Report = "above-chance",
    score_on: Literal["unseen", "training"] = "unseen",
    **run: Unpack[RunOptions],
) -> Native:
    r"""Single-code classification: accuracy of one code per factor: compactness with explicitness.

    Each factor is paired with a code of its own, so that the pairs hold most information together; the bins of the code
    stand for values of the factor.

    .. math:: \mathrm{SNC}_i = (\mathrm{accuracy}_i - p_i) / (1 - p_i)

    p being the share of the value that is most frequent in training; the mean over factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous ones are cut into bins, which are their values.
    bins : int, str, Binning or edges, default 10
        As in :func:`mig`.
    mapping : {"majority", "one-to-one"}
        Each bin of a code stands for the value that most training rows in it have; or, as published, each code is cut
        into as many equal-frequency bins as the factor has values, mapped one to one. Cuts then depend on the sign of a
        code with ties: of a factor of two values, nine to one, itself scores 0.9 and itself negated 1 (accuracies).
    share : bool, default False
        With fewer codes than factors: whether factors share codes, as published, or those without one count as chance.
    report : {"above-chance", "unscaled"}
        ``"unscaled"``: the accuracy itself.
    score_on : {"unseen", "training"}
        Rows are dealt to two halves by coins; pairs and maps are found on one, and scored on the other. Coins are
        thrown for counts, once for all seeds. ``"training"``: found and scored on all rows, which flatters noise.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, 0 for codes that tell no more than the most frequent value, and below it where they
        mislead; ``per_factor``; ``matrix``: the same of each code for each factor (n_codes, n_factors);
        ``details["accuracy"]`` and ``["accuracy_per_factor"]``, ``["above_chance"]``, ``["majority"]``, and
        ``["assignment"]``: the code of each factor that varies, by its place, for each half, or None.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Mahon et al. 2024 (SNC). Their bins are K equal-frequency ones, at times K + 1 through rounding. It ignores copies
    and further codes that mix the factors: read it together with :func:`nk`, which measures only these. O(n d M).

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> rotated = np.column_stack([factors.sum(axis=1), factors[:, 0] - factors[:, 1]])
    >>> score = demele.metrics.snc(rotated, demele.Factors(factors, kinds="categorical"), score_on="training")
    >>> score.value, score.details["accuracy"]
    (0.25, 0.4375)
    """
    if isinstance(state, InformationTable):  # each bin of a code stands for the value of most of its training rows
        if state.counts is None:
            reason = "one code's bins are scored from joint counts, which are not kept of these codes"
            raise NotEnoughData("codes", reason)
        tables = state.counts.tables
        draws = [tables] if tables[0].ndim == 3 else zip(*tables, strict=True)
        natives = [_of_halves([dealt(one, score_on) for one in of], None, "majority", share, report) for of in draws]
        if tables[0].ndim == 3:
            return natives[0]
        parts = ("value", "per_factor", "matrix")
        value, own, matrix = (np.stack([getattr(one, name) for one in natives]) for name in parts)
        return Native(value=value, per_factor=own, matrix=matrix)
    # as published: as many equal-frequency bins of each code as the factor has values, mapped one to one
    labels, n_values = state.factor_labels(bins)
    codes = state.codes.dense()
    halves: list[Halves] = []
    for index in range(state.factors.m):
        rows = np.flatnonzero(labels[:, index] >= 0)
        own, values = codes[rows], labels[rows, index]
        k, everything = n_values[index], np.arange(len(rows))
        splits = [(everything, everything)] if score_on == "training" else list(folds(len(rows), 2))
        counts, places = np.zeros((len(splits), 2, own.shape[1], k, k)), np.arange(1, k)
        for split_rows, count in zip(splits, counts, strict=True):  # k bins, cut where equally many training rows lie
            for code, column in enumerate(own.T):
                cuts = np.sort(column[split_rows[0]])[places * len(split_rows[0]) // k]
                for part, rows in enumerate(split_rows):
                    cells = np.searchsorted(cuts, column[rows], side="right")
                    count[part, code] = crossed(cells, values[rows], (k, k))
        halves.append([(count[0], count[1]) for count in counts])
    return _of_halves(halves, state.factors.names, "one-to-one", share, report)


# Neuron knockout ------------------------------------------------------------------------------------------------------

#: Most rows that trees are grown on, and scored on, unless others are asked for.
MOST_ROWS = 5_000
#: Few stages suffice with it.
LEARNING_RATE = 0.3
#: A code with a smaller share of the importance for a factor is not knocked out to see: nothing would be lost.
NEGLIGIBLE = 0.02
#: Standard deviations of an accuracy by which codes must beat the most frequent value.
BEATEN = 2.0


@Metric(
    title="NK",
    family="predictor",
    properties=("compactness",),
    native="per factor",
    range=(-1.0, 1.0),
    source="Mahon et al. 2024 (NK)",
    references=("mahon2024correcting",),
    definition="accuracy of boosted trees that is lost without the code of a factor",
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
    from demele.estimation.tree_importance import boosted_fit
    from demele.estimation.trees import presort

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

    def accuracy(index: int, seen: Rows, unseen: Rows, without: list[int]) -> tuple[float, Floats]:
        """Return the share of rows that boosted trees predict without some columns, and each column's importance.

        Where nothing can be learned it is that of the guess.
        """
        values, alive, importance = labels[:, index], np.ptp(codes[seen], axis=0) > 0, np.zeros(codes.shape[1])
        alive[without] = False
        if not alive.any() or len(np.unique(values[seen])) < 2:
            return float(guess[index]), importance
        how: dict[str, Any] = {"rng": streams("factor", index), "n_trees": n_trees, "learning_rate": LEARNING_RATE}
        fit = boosted_fit(presort(codes[:, alive]), values, seen, unseen, categorical=True, **how)
        importance[alive] = fit.importance
        return float((fit.predict(fit.unseen) == values[unseen]).mean()), importance

    for index, values in enumerate(labels.T):
        rows = train[values[train] >= 0], test[values[test] >= 0]
        guess[index] = float((values[rows[1]] == np.bincount(values[rows[0]]).argmax()).mean())
        whole[index], of_columns = accuracy(index, *rows, [])
        importance = data.summed_by_code(of_columns)
        for other in np.flatnonzero(importance).tolist():
            if other == code[index] or importance[other] > NEGLIGIBLE:
                lost[other, index] = whole[index] - accuracy(index, *rows, data.columns_of([other]))[0]
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
