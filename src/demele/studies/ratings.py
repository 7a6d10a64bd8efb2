"""Traversals rated by people: a blind sheet, agreement of the raters, and rank correlations of ratings and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from demele.core.arrays import pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Level, Seed, checked, checked_count
from demele.core.result import Interval, TableResult
from demele.core.table_columns import items_of
from demele.labels.joined.agreement_coefficients import annotator_agreement
from demele.labels.joined.annotations import Annotations
from demele.report.words import count, ends, name, written

#: Resamples of the models for an interval, and the fewest models: with 4, it left out a true 0 in 16% of cases.
_RESAMPLES, _FEWEST = 1000, 8


@checked
def rating_sheet(
    models: Mapping[str, int], raters: Sequence[str], *, seed: Seed = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a blind sheet on which people rate latent traversals, and the key to it.

    Parameters
    ----------
    models : mapping of name to int
        Number of codes of each model: each code is one traversal.
    raters : sequence of str
    seed : int, default 0
        Random seed of the keys, and of the order, another one for each rater.

    Returns
    -------
    (sheet, key) : DataFrame
        The sheet has ``rater``, ``traversal`` and an empty ``rating``: 1, changes several things at once, to 5, changes
        one thing. The key has ``traversal``, ``model`` and ``code``; raters must not see it.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> sheet, key = rating_sheet({"beta 1": 2, "beta 4": 2}, ["ann", "bob"])
    >>> sheet.shape, sorted(key.columns)
    ((8, 3), ['code', 'model', 'traversal'])
    """
    if not isinstance(models, Mapping):
        raise InputTypeError("models", f"expected a mapping of names to numbers of codes, got {quoted(models)}")
    raters = list(map(str, items_of(raters, "raters", "names")))
    places = [(model, code) for model, codes in models.items() for code in range(checked_count(codes, "models", 0))]
    if not places or not raters:
        raise NotEnoughData("models", "expected at least one code and one rater")
    numbers = rng_for(seed, "rating sheet").permutation(len(places)) + 1
    key = pd.DataFrame([(f"t{one}", *place) for one, place in zip(numbers, places, strict=True)])
    key = key.set_axis(["traversal", "model", "code"], axis=1).sort_values("traversal", ignore_index=True)
    orders = [(rater, rng_for(seed, "rating sheet", rater).permutation(len(places))) for rater in raters]
    rows = [(rater, key["traversal"][place], np.nan) for rater, order in orders for place in order]
    return pd.DataFrame(rows, columns=["rater", "traversal", "rating"]), key


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RatedTraversals(TableResult):
    """How metrics rank models, compared with people who rated traversals.

    Attributes
    ----------
    table : DataFrame
        A row for each metric: ``correlation``, Spearman's, of its scores and the mean ratings of models, with ``low``
        and ``high`` over models drawn again, of at least 8 models.
    ratings : mapping of str to float
        Mean rating of each model: of its codes, each the mean of its raters.
    agreement : float
        Krippendorff's alpha of the raters, on an ordinal scale.
    agreement_interval : Interval or None
    """

    _kind, _figure = "rated traversals", "correlation"
    _forms: ClassVar[dict[str, str]] = {"correlation": "number.3"}

    table: pd.DataFrame
    ratings: Mapping[str, float]
    agreement: float
    agreement_interval: Interval | None

    def headline(self) -> str:
        """Return the metric that ranks models most as people do, and how far people agree."""
        models = count(len(self.ratings), "model")
        alpha = f"Krippendorff's alpha {written(self.agreement, 'number.3')}"
        alpha += f" {written(ends(self.agreement_interval), 'number.3')}" if self.agreement_interval else ""
        known = self.table.dropna(subset=["correlation"])
        if known.empty:
            return f"Each metric gives all {models} one score ({alpha} of the raters)."
        best: Any = known.iloc[int(known["correlation"].to_numpy().argmax())]
        share = written(float(best["correlation"]), "number.3")
        if best["correlation"] <= 0:
            return f"No metric ranks {models} as people do: {name(best['metric'])} has {share} ({alpha} of the raters)."
        return f"{name(best['metric'])} ranks {models} most as people do: correlation {share} ({alpha} of the raters)."

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table


@checked
def rated_traversals(
    sheet: Any, key: Any, scores: Mapping[str, Mapping[str, float]] | Any, *, level: Level = 0.95, seed: Seed = 0
) -> RatedTraversals:
    """Return the agreement of raters, and the rank correlation of their ratings with each metric.

    Parameters
    ----------
    sheet, key : DataFrame
        Of :func:`rating_sheet`, the ratings filled in; rows without a rating are left out.
    scores : data frame, or mapping of metric to mapping of model to float
        Scores of each metric, by model.
    level : float, default 0.95
    seed : int, default 0

    Returns
    -------
    RatedTraversals

    Raises
    ------
    InputError, NotEnoughData
        For fewer than 3 models, or models without a score.

    Examples
    --------
    >>> sheet, key = rating_sheet({"a": 1, "b": 1, "c": 1}, ["ann", "bob"])
    >>> rating = sheet["traversal"].map(key.set_index("traversal")["model"]).map({"a": 1, "b": 3, "c": 5})
    >>> found = rated_traversals(sheet.assign(rating=rating), key, {"mig": {"a": 0.1, "b": 0.2, "c": 0.6}})
    >>> float(found.table["correlation"][0]), found.agreement
    (1.0, 1.0)
    """
    from scipy.stats import rankdata

    lacking = [one for one in ("rater", "traversal", "rating") if one not in sheet]
    if lacking:
        raise InputError("sheet", f"expected columns rater, traversal and rating; it has no {lacking[0]}")
    numbers = pd.to_numeric(sheet["rating"], errors="coerce")
    odd = sheet["rating"][numbers.isna() & sheet["rating"].notna()]
    if len(odd):
        raise InputError("sheet", f"expected ratings that are numbers, got {odd.iloc[0]!r}")
    given = sheet.assign(rating=numbers).dropna(subset=["rating"]).merge(key, on="traversal")
    by_code = given.groupby(["model", "code"])["rating"].mean()
    ratings = by_code.groupby("model").mean()
    if len(ratings) < 3:
        raise NotEnoughData("sheet", f"expected ratings of at least 3 models, got {len(ratings)}")
    table = pd.DataFrame(scores)
    missing = sorted(set(ratings.index) - set(table.index))
    if missing:
        raise InputError("scores", f"expected a score of each model, {missing[0]!r} has none")
    table = table.loc[ratings.index]
    answers = Annotations(given["traversal"], given["rater"], given["rating"].astype(int))
    agreed: Any = (
        annotator_agreement(answers, scale="ordinal", level=level, seed=seed).to_frame().set_index("coefficient")
    )
    alpha = agreed.loc["krippendorff"]

    def spearman(rows: Any, values: Any) -> float:
        ranks = np.stack([rankdata(ratings.to_numpy()[rows]), rankdata(values[rows])])
        return float(np.corrcoef(ranks)[0, 1]) if (np.ptp(ranks, axis=1) > 0).all() else np.nan

    n_draws = _RESAMPLES if len(ratings) >= _FEWEST else 0
    draws = rng_for(seed, "rated traversals").integers(0, len(ratings), (n_draws, len(ratings)))
    found = []
    for metric, column in table.items():
        values = column.to_numpy(dtype=float)
        drawn = np.array([spearman(rows, values) for rows in draws])
        known = drawn[np.isfinite(drawn)]
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if known.size else (np.nan, np.nan)
        found.append((str(metric), spearman(slice(None), values), low, high))
    interval = None
    if np.isfinite(alpha["low"]):
        interval = Interval(low=float(alpha["low"]), high=float(alpha["high"]), level=level, method="BCa")
    return RatedTraversals(
        table=pd.DataFrame(found, columns=["metric", "correlation", "low", "high"]),
        ratings=ratings.to_dict(),
        agreement=float(alpha["value"]),
        agreement_interval=interval,
    )
