"""DCI: disentanglement (modularity), completeness (compactness) and informativeness (Eastwood and Williams 2018)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Annotated, Any, Literal

import numpy as np

from demele.core.arrays import Flags, Floats
from demele.core.inputs import read_given
from demele.core.kinds import Count, Positive, Several, checked_name
from demele.core.results import DCI, Note, Score
from demele.core.signature import Signature
from demele.estimation.importance import FittedImportance, Shuffled, Shuffles, lasso_importance
from demele.estimation.information import mean_of_defined
from demele.estimation.univariate import variance_shares
from demele.metrics.data import Data, annotated_rows, fewer_than_asked, sizes
from demele.metrics.guards import ASK, FRAGILE, many_codes
from demele.metrics.importances import compactness_of_factors, mean_compactness, modularity_of_codes
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import Default, RunOptions
from demele.metrics.run import scored
from demele.report.words import joined

# Predictors of all factors, and how important each code is to them ----------------------------------------------------

#: The importance that no predictor has of its own.
PERMUTATION = "permutation"
#: Level at which the predictors of all factors together are held to chance before a shuffled code counts.
LEVEL = 0.01
#: Smaller losses of a score are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Importances:
    """What the predictors of all factors gave.

    Attributes
    ----------
    matrices : mapping of str to array of shape (n_codes, n_factors)
        Importance of each code for each factor, by the name of the importance.
    explicitness, unclipped : arrays of shape (n_factors,)
        How well each factor is predicted: at least 0, and as it came.
    read : array of bool of shape (n_factors,)
        Whether a factor is predicted better than chance; of all factors, where no code was shuffled.
    settings : mapping of factor to mapping
        Chosen by validation.
    n : int
        Rows.
    notes : tuple of Note
    factor_names : tuple of str
    """

    matrices: Mapping[str, Floats]
    explicitness: Floats
    unclipped: Floats
    read: Flags
    settings: Mapping[str, Mapping[str, Any]]
    n: int
    notes: tuple[Note, ...]
    factor_names: tuple[str, ...]


def _importances(
    data: Data,
    streams: Streams,
    fit: Callable[..., Any],
    options: Mapping[str, Any],
    *of_fit: str,
) -> Importances:
    """Fit one predictor for each factor, on the rows that are annotated for it."""
    importance, how = options["importance"], (options["informativeness"], options["report"])
    n_train, n_test = options.get("n_train"), options.get("n_test")
    predictor = {name: options[name] for name in of_fit}
    codes, m = data.standardised(), data.factors.m
    own = np.zeros((data.codes.d, m))
    lost, read = np.zeros((data.n_codes, m)), np.ones(m, dtype=np.bool_)
    unclipped, settings = np.empty(m), {}
    for index, factor in enumerate(data.factors.columns):
        rows, values = annotated_rows(factor, codes)
        if factor.categorical:
            values = np.asarray(values, dtype=np.intp)
        elif not factor.cyclic:  # to the unit interval: the unit of a factor must not matter to a solver's tolerance
            values = (np.asarray(values, dtype=np.float64) - factor.low) / (factor.high - factor.low)
        if n_train or n_test:
            predictor["n_train"], predictor["n_test"] = sizes(len(rows), n_train, n_test)
        drawn_from = round(data.drawn_from * len(rows) / data.n)
        rng = streams("factor", index)
        if PERMUTATION in importance:
            groups = tuple(tuple(data.columns_of([code])) for code in range(data.n_codes))
            predictor["shuffles"] = Shuffles(groups, streams("factor", index, "shuffles"))
        predict = partial(fit, rows, categorical=factor.categorical, rng=rng, drawn_from=drawn_from, **predictor)
        fitted = _on_circle(predict, values) if factor.cyclic else predict(values)
        own[:, index] = fitted.importance
        unclipped[index] = _informativeness(fitted.score, fitted.mse, fitted.chance, *how)
        if fitted.shuffled is not None:
            shuffled, errors = fitted.shuffled.score, fitted.shuffled.mse
            drop = unclipped[index] - _informativeness(shuffled, errors, fitted.chance, *how)
            # better than the best constant, and by more than its predictions of rows in random order are; the level is
            # shared among the factors: of codes of noise, not one in a hundred calls finds any factor read
            above = fitted.shuffled.above_chance > NormalDist().inv_cdf(1 - LEVEL / m)
            read[index] = fitted.score > (fitted.chance or 0.0) and above
            lost[:, index] = np.where(read[index] & (drop > ROUNDING), drop, 0.0)
        settings[factor.name] = dict(fitted.settings)
    notes = fewer_than_asked(data.n, n_train, n_test)
    matrices = {one: lost if one == PERMUTATION else data.summed_by_code(own) for one in importance}
    clipped, names = np.maximum(unclipped, 0.0), data.factors.names
    return Importances(matrices, clipped, unclipped, read, settings, data.n, notes, names)


def _on_circle(predict: Callable[[Floats], FittedImportance], points: Floats) -> FittedImportance:
    """Predict cosine and sine (n, 2), of the angle from the first row's, so that scores do not see where it is 0."""
    cosine, sine = points[0]
    columns = points @ np.array([[cosine, -sine], [sine, cosine]])
    weights = variance_shares(columns)
    found = [(weight, predict(column)) for weight, column in zip(weights, columns.T, strict=True) if weight > ROUNDING]

    def mean(*values: Any) -> Any:
        return sum(weight * value for (weight, _), value in zip(found, values, strict=True))

    fits = [one for _, one in found]
    looks = [one.shuffled for one in fits if one.shuffled is not None]
    shuffled = Shuffled(*(mean(*(getattr(one, f) for one in looks)) for f in Shuffled.__slots__)) if looks else None
    settings = {name: tuple(one.settings[name] for one in fits) for name in fits[0].settings}
    importance, score = mean(*(one.importance for one in fits)), mean(*(one.score for one in fits))
    return FittedImportance(importance, score, None, None, settings, shuffled)


def _informativeness(
    score: float | Floats, mse: float | Floats | None, chance: float | None, informativeness: str, report: str
) -> float | Floats:
    """Return the explicitness that scores on unseen rows stand for; there is a chance of categorical factors only."""
    if chance is not None:
        if report == "unscaled":
            return score
        return (score - chance) / (1 - chance) if chance < 1 else np.nan
    if informativeness == "uniform-6" and mse is not None:  # source equation 1.5, on factors scaled to [0, 1]
        return 1 - 6 * mse
    return score


def _sorting_once(fit: Callable[..., FittedImportance]) -> Callable[..., FittedImportance]:
    """Return a fit of trees that sorts the same codes once, for all factors that are annotated on all rows."""
    from demele.estimation.trees import Presorted, presort

    held: list[tuple[Floats, Presorted]] = []

    def fitted(codes: Floats, values: Floats, **options: Any) -> FittedImportance:
        if not held or held[0][0] is not codes:
            held[:] = [(codes, presort(codes))]
        return fit(codes, values, presorted=held[0][1], **options)

    return fitted


def forest(data: Data, streams: Streams, **options: Any) -> Importances:
    """Return the importances of random forests."""
    from demele.estimation.tree_importance import forest_importance

    return _importances(data, streams, _sorting_once(forest_importance), options, "n_trees")


def lasso(data: Data, streams: Streams, **options: Any) -> Importances:
    """Return those of linear predictors with an L1 penalty chosen by validation."""
    return _importances(data, streams, lasso_importance, options)


def boosting(data: Data, streams: Streams, **options: Any) -> Importances:
    """Return those of gradient-boosted trees."""
    from demele.estimation.tree_importance import boosting_importance

    own = ("n_trees", "max_depth", "learning_rate", "max_bins")
    return _importances(data, streams, _sorting_once(boosting_importance), options, *own)


Informativeness = Literal["variance", "uniform-6"]
FactorWeights = Literal["uniform", "importance"]
Report = Literal["above-chance", "unscaled"]
ImportanceOfTrees = Literal["impurity", "permutation"]
ImportanceOfWeights = Literal["coefficients", "permutation"]
#: Trees see only the order of the codes, but the values of the factors.
_TREES = Guards(outliers="of factors move it", bins=False, fewest_rows=50)
_LINEAR = Guards(outliers="move it", bins=False, fewest_rows=50)
#: Predictors explain next to nothing below this explicitness: on enough rows, and where the codes are many for them.
UNEXPLAINED, UNEXPLAINED_BY_MANY = 0.05, 0.2


def modularity(fitted: Importances, *, importance: str, **options: object) -> Native:
    """D_j = 1 + sum_i p_ij log_M p_ij, weighted by the codes' shares of the importance."""
    matrix = fitted.matrices[importance]
    per_code, weights = modularity_of_codes(matrix)
    native = _of_importances(fitted, importance, min(float(np.nansum(per_code * weights)), 1.0))
    if importance != PERMUTATION and not matrix.any():
        note = Note(code="no-importance", message="no code helps to predict any factor: modularity counts as 0")
        native = replace(native, notes=(*native.notes, note))
    return replace(native, per_code=per_code, details={**native.details, "weights": weights})


def compactness(fitted: Importances, *, factor_weights: str, importance: str, **options: object) -> Native:
    """C_i = 1 + sum_j p_ij log_d p_ij of the importances of one factor."""
    matrix = fitted.matrices[importance]
    native = _of_importances(fitted, importance, mean_compactness(matrix, factor_weights))
    return replace(native, per_factor=compactness_of_factors(matrix))


def _of_importances(fitted: Importances, importance: str, value: float) -> Native:
    """Return a value of importances, and notes on factors that no shuffled code matters for, or nothing predicts.

    Where no shuffled code counts at all the value is none: an accidental 0.01 would be a 1.
    """
    matrix, notes, predicted = fitted.matrices[importance], fitted.notes, fitted.explicitness
    unread = [fitted.factor_names[place] for place in np.flatnonzero(~matrix.any(axis=0))]
    if importance == PERMUTATION:
        value = value if matrix.any() else math.nan
        predicted = np.where(fitted.read, predicted, np.nan)  # the others have no part in the score
        if unread:
            reason = (
                f"no code is important for {joined(unread) if matrix.any() else 'any factor'}: on unseen rows the "
                "predictors are no better than chance, or lose nothing when the values of any one code are shuffled"
            )
            of_some = Note(code="unread-factor", message=reason, subject=tuple(unread))
            of_none = Note(code="no-importance", message=f"{reason}; there is no score", severity="warning")
            notes += (of_some if matrix.any() else of_none,)
    told, d = float(mean_of_defined(predicted)), len(matrix)
    unexplained: tuple[Note, ...] = ()
    if told < (UNEXPLAINED_BY_MANY if many_codes(fitted.n, d) else UNEXPLAINED) and value > FRAGILE:
        message = (
            f"the predictors explain little of the factors (explicitness {told:.3f}, {d:,} codes, {fitted.n:,} rows): "
            f"which codes are important to them is largely chance; {ASK}"
        )
        unexplained = (Note(code="unexplained", message=message, severity="fragile"),)
    return Native(
        value=np.asarray(value),
        details={"predictors": dict(fitted.settings)},
        notes=notes,
        chance_notes=unexplained,
        matrix=matrix,
        matrix_of="importance",
    )


def explicitness(fitted: Importances, *, importance: str, **options: object) -> Native:
    """1 - MSE/Var, or accuracy above chance, on rows that the predictor has not seen."""
    return Native(
        value=mean_of_defined(fitted.explicitness),
        per_factor=fitted.explicitness,
        details={"predictors": dict(fitted.settings), "unclipped": fitted.unclipped},
        notes=fitted.notes,
        matrix=fitted.matrices[importance],
        matrix_of="importance",
    )


def dci(
    codes: object,
    factors: object,
    *,
    model: Literal["forest", "lasso", "boosting"] = "forest",
    informativeness: Literal["variance", "uniform-6"] = "variance",
    **options: Any,
) -> DCI:
    """Modularity, compactness and explicitness from the importances of predictors of the factors.

    One predictor per factor, from all codes; R_ij is the importance of code j for factor i.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors get regressors, categorical ones classifiers. A cyclic one gets two regressors, of cosine
        and sine of its angle from the first row's; what they give is weighted by the variances of the two.
    model : {"forest", "lasso", "boosting"}
        Forest: impurity importances, depth and features per split tuned. Lasso: absolute coefficients, penalty tuned.
        Boosting: gradient-boosted trees.
    informativeness : {"variance", "uniform-6"}
        Explicitness of a continuous factor: 1 - MSE / Var, or 1 - 6 MSE on the factor scaled to [0, 1], as in a
        published equation, which gives a useless representation 0.5.
    **options
        ``importance``: the predictor's own (``"impurity"`` of trees, ``"coefficients"`` of the Lasso), as published, or
        ``"permutation"``: what the explicitness of the factor loses when the values of the code are shuffled among the
        rows that the predictor has not seen (mean of 5 shuffles, at least 0); see the notes.
        ``factor_weights`` ("uniform"): the mean of compactness over factors; ``"importance"``: weighted by the factors'
        sums of importances, so that a factor that no code predicts drops out instead of counting 0.
        ``report`` ("above-chance"): explicitness of a categorical factor is (accuracy - chance) / (1 - chance), chance
        being the majority class's share; ``"unscaled"``: the accuracy itself.
        ``max_bins`` (256; boosting): splits lie between so many bins of rows; None: between any two values, the trees
        of scikit-learn, in about 17 times the time.
        Others of the model (``n_trees``, ...), and the keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    DCI
        ``modularity`` (per code), ``compactness`` (per factor), ``explicitness`` (per factor; on rows that the
        predictor has not seen): Scores in [0, 1], best 1; ``importance``: DataFrame (n_codes, n_factors).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Eastwood & Williams 2018, section 2. A single factor has no modularity, a single code no compactness: their
    values are NaN, with a note.

    Permutation importances ask what the predictor needs, own ones what it used. Trees that try few codes at a split
    must often do without the best one, and codes of many values offer more splits than binary ones: impurity goes to
    them too, and a perfect code among codes of noise loses compactness. Shuffling a code of noise costs nothing. But
    of codes that can stand in for each other each is of little importance, and it takes 5 more predictions for each
    code. Where a factor is not predicted better than the best constant does, and better than the same predictions score
    for rows in random order (level 0.01, shared among the factors), no code is important for it; where that holds for
    all factors, modularity and compactness are NaN, with a note: one accidental 0.01 would be a perfect score.

    The Lasso's penalty is chosen among 100 that span what the data allow. The review's code chooses among eight fixed
    ones, on columns scaled to [0, 1], where 0.0001 leaves weights on codes of noise and 0.001 hardly predicts: three
    noisy codes with four of noise, 1,000 rows, have a compactness of 0.952 there and of 0.983 here.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((400, 2))
    >>> scores = demele.metrics.dci(factors, factors, model="lasso")
    >>> [round(score.value, 1) for score in scores]
    [1.0, 1.0, 1.0]
    """
    checked_name(model, "model", _MODELS)
    of, given = {metric.name: metric for metric in METRICS}, {"informativeness": informativeness, **options}
    names = {prop: f"dci_{model}_{prop}" for prop in _FORMULAS}
    read_codes, read_factors = read_given(codes, factors)
    varying = sum(not factor.constant for factor in read_factors.columns)
    defined = ["explicitness"] + ["modularity"] * (varying > 1) + ["compactness"] * (read_codes.d > 1)
    found = {score.metric: score for score in scored([of[names[prop]] for prop in defined], codes, factors, given)}
    of_explicitness = found[names["explicitness"]]
    triple = [found.get(names[prop]) or _undefined(names[prop], of_explicitness) for prop in _FORMULAS]
    if of_explicitness.matrix is None:
        raise ValueError("DCI keeps its importances")
    return DCI(triple[0], triple[1], triple[2], of_explicitness.matrix)


def _undefined(name: str, like: Score) -> Score:
    what = "two factors that vary" if name.endswith("modularity") else "two codes"
    message = f"{name} needs at least {what}"
    return Score(
        metric=name,
        value=math.nan,
        n=like.n,
        signature=Signature(name, like.signature.arguments, like.signature.context),
        code_names=like.code_names,
        factor_names=like.factor_names,
        matrix_values=like.matrix_values,
        matrix_of=like.matrix_of,
        notes=(*like.notes, Note(code="undefined", message=message, severity="warning")),
        protocol=like.protocol,
    )


class DCIOptions(RunOptions, total=False):
    """Options of the scores of all predictors."""

    informativeness: Annotated[Informativeness, Default("variance")]
    factor_weights: Annotated[FactorWeights, Default("uniform")]
    report: Annotated[Report, Default("above-chance")]


class LassoOptions(DCIOptions, total=False):
    """Options of the scores of linear predictors."""

    importance: Annotated[ImportanceOfWeights, Default("coefficients")]


class TreeOptions(DCIOptions, total=False):
    """Options of the scores of trees."""

    importance: Annotated[ImportanceOfTrees, Default("impurity")]


class ForestOptions(TreeOptions, total=False):
    """Options of the scores of random forests."""

    n_trees: Annotated[Count, Default(10)]


class BoostingOptions(TreeOptions, total=False):
    """Options of the scores of boosted trees."""

    n_trees: Annotated[Count, Default(100)]
    max_depth: Annotated[Count, Default(3)]
    learning_rate: Annotated[Positive, Default(0.1)]
    max_bins: Annotated[Several | None, Default(256)]
    n_train: Annotated[Count | None, Default(None)]
    n_test: Annotated[Count | None, Default(None)]


#: By model: its facts.
_MODELS: Mapping[str, dict[str, Any]] = {
    "forest": {"takes": ForestOptions, "fit": forest, "guards": _TREES, "probe": ("n_trees", (10, 2, 5, 20, 40))},
    "lasso": {"takes": LassoOptions, "fit": lasso, "guards": _LINEAR, "loads": "sklearn.linear_model"},
    "boosting": {
        "takes": BoostingOptions,
        "fit": boosting,
        "guards": _TREES,
        "probe": ("n_trees", (100, 25, 50, 200, 400)),
    },
}
_TITLES = {"forest": "forest", "lasso": "Lasso", "boosting": "boosted trees"}
#: By property: the formula, and its facts.
_FORMULAS: Mapping[str, tuple[Callable[..., Native], dict[str, Any]]] = {
    "modularity": (modularity, {"native": "per code", "needs_factors": 2}),
    "compactness": (compactness, {"native": "per factor", "needs_codes": 2}),
    "explicitness": (explicitness, {"native": "per factor"}),
}
METRICS = tuple(
    Metric(
        f"dci_{model}_{prop}",
        title=f"DCI {_TITLES[model]} {prop}",
        family="predictor",
        properties=(prop,),
        range=(0.0, 1.0),
        source="Eastwood & Williams 2018, section 2",
        references=("eastwood2018framework",),
        definition=(formula.__doc__ or "").removesuffix("."),
        shares=f"dci_{model}",
        serves="importance",
        slow=2,
        in_groups=True,
        on_circles=True,
        screened=True,
        **of_model,
        **of_property,
    )(formula).metric
    for model, of_model in _MODELS.items()
    for prop, (formula, of_property) in _FORMULAS.items()
)


def __getattr__(name: str) -> Any:
    """Return the public function of a metric: pickle looks for it here."""
    for metric in globals().get("METRICS", ()):
        if metric.name == name:
            return metric.call
    raise AttributeError(name)
