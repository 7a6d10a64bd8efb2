"""The metrics as functions: codes and factors in, a score with all its details out.

Every function also takes the keywords of :class:`demele.metrics.options.RunOptions`: ``seed``, ``repeats``,
``bootstrap``, ``level``, ``chance``, ``missing``, ``kinds``, ``n_jobs``, with the meaning that
:func:`demele.evaluate` documents.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Unpack

from numpy.typing import NDArray

from demele.core.results import DCI, Score
from demele.estimation.discretise import Binning
from demele.estimation.information import Correction
from demele.metrics.evaluate import single
from demele.metrics.information.tables import Estimator
from demele.metrics.options import RunOptions

__all__ = [
    "FUNCTIONS",
    "dci",
    "dcimig",
    "dlig",
    "dmig",
    "explicitness",
    "irs",
    "jemmig",
    "mig",
    "mig_sup",
    "modularity",
    "rmig",
    "sap",
    "xmig",
    "z_diff",
    "z_max_variance",
    "z_min_variance",
]

Bins = int | str | Binning | Sequence[float] | NDArray[Any]
RegDim = Sequence[int] | Sequence[str] | None


def mig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: int = 3,
    reg_dim: RegDim = None,
    fill_reg_dim: bool = False,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Mutual information gap of each factor, and its mean: compactness.

    .. math:: \mathrm{MIG}_i = [I(v_i; z_*) - I(v_i; z_o)] / H(v_i)

    for the two codes that inform most on the factor: 1 when one code holds all, 0 when two hold as much.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit; invariant to an increasing affine map of a column.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous or categorical columns; kinds are detected and can be given with ``kinds``.
    bins : int, str, Binning or edges, default 10
        Cuts continuous columns; 10 is ``EqualWidth(10)``. Categorical values are their own bins.
    estimator : {"histogram", "knn", "robust"}
        ``"knn"``: scikit-learn's nearest-neighbour estimates, as in Latte. There the entropy of a continuous factor
        is its information with itself, which is not an entropy: it grows with the number of rows, so the score of
        one representation falls with it. ``"robust"``: exact neighbours on ranks, in units between 0 and 1.
    correction : {"none", "miller-madow", "adjusted"}
        Of the bias of histogram information, about (B_z - 1)(B_v - 1) / 2n upwards.
    n_neighbors : int, default 3
        For the neighbour estimators.
    reg_dim : sequence of int or str, optional
        The code that is meant to hold each factor: it is then the minuend whatever its rank, and the score may be
        negative.
    fill_reg_dim : bool, default False
        Take code i as meant for factor i.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1] (at least -1 with ``reg_dim``), best 1, no unit; ``per_factor``: one gap per factor;
        ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Warns
    -----
    UndefinedFactorWarning, FragileScoreWarning

    Notes
    -----
    Chen et al. 2018, eq. 6. Differs from print: disentanglement_lib uses 20 bins; the code of Carbonneau et al.
    divides by the entropy of the code. Cost: O(n d M) time, O(d M B^2) memory beyond the input.

    Examples
    --------
    >>> import demele
    >>> codes = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 25
    >>> score = demele.mig(codes, ["a", "a", "b", "b"] * 25, bins=2)
    >>> score.value, score.matrix.shape
    (1.0, (2, 1))
    """
    options = {
        "bins": bins,
        "estimator": estimator,
        "correction": correction,
        "n_neighbors": n_neighbors,
        "reg_dim": reg_dim,
        "fill_reg_dim": fill_reg_dim,
    }
    return single("mig", codes, factors, options, run)[0]


def rmig(codes: object, codes_std: object, factors: object, *, bins: Bins = 10, **run: Unpack[RunOptions]) -> Score:
    """Robust mutual information gap of stochastic codes: compactness.

    As :func:`mig`, but each sample spreads its weight over the bins of a code by the Gaussian mass of each bin. With
    standard deviations of 0 it equals MIG.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Means of q(z|x).
    codes_std : array-like of shape (n_samples, n_codes), >= 0
        Standard deviations of q(z|x), in the unit of the codes.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins : int, str, Binning or edges, default 10
        Edges come from the means; mass beyond the outermost edges counts as in the outermost bins.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Do & Tran 2020, section 4. Cost: O(n d M B).

    Examples
    --------
    >>> import numpy as np, demele
    >>> codes = np.random.default_rng(0).random((2000, 2))
    >>> sharp = demele.rmig(codes, 0 * codes, codes)
    >>> blurred = demele.rmig(codes, 0 * codes + 0.1, codes)
    >>> sharp.value == demele.mig(codes, codes).value, blurred.value < sharp.value
    (True, True)
    """
    return single("rmig", codes, factors, {"bins": bins}, run, codes_std=codes_std)[0]


def mig_sup(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: int = 3,
    **run: Unpack[RunOptions],
) -> Score:
    r"""MIG-sup: the gap of mutual information seen from each code, and its mean: modularity.

    .. math:: \mathrm{MIG\text{-}sup}_j = I(z_j; v_*) / H(v_*) - I(z_j; v_o) / H(v_o)

    ranked on the normalised values. With a single factor the second term is 0.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_code``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Li et al. 2020, eq. 3. A code that informs on nothing scores 0.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> one_code_for_both = factors.sum(axis=1, keepdims=True)
    >>> demele.mig_sup(one_code_for_both, factors).value < 0.1
    True
    """
    options = {"bins": bins, "estimator": estimator, "correction": correction, "n_neighbors": n_neighbors}
    return single("mig_sup", codes, factors, options, run)[0]


def modularity(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: int = 3,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Modularity score: how little each code informs on other factors than its best one.

    .. math:: 1 - \sum_{i \ne i*} I(v_i; z_j)^2 / [(M - 1) I(v_{i*}; z_j)^2]

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_code``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Ridgeway & Mozer 2018, section 3. A code whose largest information is below 1e-12 scores 0. The score of noise is
    far from 0 (about 0.4 for 8 factors): ask for ``chance``.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 3))
    >>> round(demele.modularity(factors, factors).value, 3)
    1.0
    """
    options = {"bins": bins, "estimator": estimator, "correction": correction, "n_neighbors": n_neighbors}
    return single("modularity", codes, factors, options, run)[0]


def dcimig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: int = 3,
    **run: Unpack[RunOptions],
) -> Score:
    """DCIMIG (3CharM): the entropy of the factors that codes hold exclusively: holistic.

    For each factor the largest gap I(v_*, z_j) - I(v_o, z_j) among the codes whose best factor it is, summed, over
    the sum of the factors' entropies.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``: each factor's own ratio, of which the value is the mean weighted by
        entropy; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Sepliarskaia et al. 2020.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> demele.dcimig(factors[:, :1], factors).value < 0.55      # only one of two factors is held
    True
    """
    options = {"bins": bins, "estimator": estimator, "correction": correction, "n_neighbors": n_neighbors}
    return single("dcimig", codes, factors, options, run)[0]


def jemmig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    correction: Correction = "none",
    **run: Unpack[RunOptions],
) -> Score:
    r"""Joint entropy minus mutual information gap, recalibrated: holistic.

    .. math:: 1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + \log B_z]

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, correction
        As in :func:`mig`. There is no neighbour estimate: a continuous code has no joint entropy with a factor.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``; ``details["raw"]`` and ``["raw_per_factor"]`` keep the bracket in
        nats, of which 0 is best; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Do & Tran 2020; recalibrated as in Carbonneau et al. 2022.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((5000, 2))
    >>> demele.jemmig(factors, factors).value > 0.98
    True
    """
    return single("jemmig", codes, factors, {"bins": bins, "correction": correction}, run)[0]


def dmig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: int = 3,
    reg_dim: RegDim = None,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Dependency-aware mutual information gap, for factors that depend on each other: compactness.

    .. math:: \mathrm{DMIG}_i = [I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l)

    for the factor's code z_j, the best other code z_k, and the factor v_l that z_k regularises; H(v_i) if none.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, optional
        The code of each factor; by default code i is that of factor i, which a note says.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most about 1, best 1, negative where another code informs more; ``per_factor`` (NaN where another
        factor determines v_i); ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Watcharasupat & Lerch 2021, eq. 2.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> swapped = factors[:, ::-1]
    >>> demele.dmig(swapped, factors).value < -0.9 < 0.9 < demele.dmig(swapped, factors, reg_dim=[1, 0]).value
    True
    """
    options = {"bins": bins, "estimator": estimator, "correction": correction, "n_neighbors": n_neighbors}
    return single("dmig", codes, factors, options | {"reg_dim": reg_dim}, run)[0]


def xmig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: int = 3,
    reg_dim: RegDim = None,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Dependency-blind mutual information gap: against the codes that regularise no factor: compactness.

    .. math:: \mathrm{XMIG}_i = [I(v_i; z_j) - \max_{k \notin reg\_dim} I(v_i; z_k)] / H(v_i)

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        At least one more than there are regularised codes.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, optional
        The code of each factor; by default code i is that of factor i, which a note says.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [-1, 1], best 1; ``per_factor``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Watcharasupat & Lerch 2021.

    Examples
    --------
    >>> import numpy as np, demele
    >>> codes = np.random.default_rng(0).random((2000, 3))
    >>> demele.xmig(codes, codes[:, :2]).value > 0.9
    True
    """
    options = {"bins": bins, "estimator": estimator, "correction": correction, "n_neighbors": n_neighbors}
    return single("xmig", codes, factors, options | {"reg_dim": reg_dim}, run)[0]


def dlig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: int = 3,
    reg_dim: RegDim = None,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Dependency-aware latent information gap: modularity of the regularised codes.

    .. math:: \mathrm{DLIG}_i = [I(v_i; z) - I(v_k; z)] / H(v_i | v_k)

    for the factor's code z and the best other factor v_k.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, optional
        The code of each factor; by default code i is that of factor i, which a note says.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most about 1, best 1; ``per_factor``: of each factor's code; ``matrix``: mutual information
        (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Watcharasupat 2021.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> demele.dlig(factors, factors).value > 0.9
    True
    """
    options = {"bins": bins, "estimator": estimator, "correction": correction, "n_neighbors": n_neighbors}
    return single("dlig", codes, factors, options | {"reg_dim": reg_dim}, run)[0]


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
        Continuous factors get regressors, categorical ones classifiers.
    model : {"forest", "lasso", "boosting"}
        Forest: impurity importances, depth and features per split tuned. Lasso: absolute coefficients, penalty tuned.
        Boosting: gradient-boosted trees.
    informativeness : {"variance", "uniform-6"}
        Explicitness of a continuous factor: 1 - MSE / Var, or 1 - 6 MSE on the factor scaled to [0, 1] as an equation
        in print has it, which gives a useless representation 0.5.
    **options
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

    The Lasso's penalty is chosen among 100 that span what the data allow. The review's code chooses among eight fixed
    ones, on columns scaled to [0, 1], where 0.0001 leaves weights on codes of noise and 0.001 hardly predicts: three
    noisy codes beside four of noise, 1 000 rows, have a compactness of 0.952 there and of 0.983 here.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((400, 2))
    >>> scores = demele.dci(factors, factors, model="lasso")
    >>> [round(score.value, 1) for score in scores]
    [1.0, 1.0, 1.0]
    """
    from demele.metrics.predictor.functions import dci_scores

    return dci_scores(codes, factors, model, {"informativeness": informativeness, **options})


def _dci_forest(
    *,
    n_trees: int = 10,
    informativeness: str = "variance",
    factor_weights: str = "uniform",
    report: str = "above-chance",
) -> None:
    """Options of the forest, in the one place where their defaults live."""


def _dci_lasso(
    *, informativeness: str = "variance", factor_weights: str = "uniform", report: str = "above-chance"
) -> None:
    """Options of the Lasso."""


def _dci_boosting(
    *,
    n_trees: int = 100,
    max_depth: int = 3,
    learning_rate: float = 0.1,
    max_bins: int | None = 256,
    n_train: int | None = None,
    n_test: int | None = None,
    informativeness: str = "variance",
    factor_weights: str = "uniform",
    report: str = "above-chance",
) -> None:
    """Options of the boosted trees."""


def explicitness(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    classifier: Literal["one-vs-rest", "multinomial"] = "one-vs-rest",
    probabilities: Literal["normalised", "raw"] = "normalised",
    penalty: float = 1.0,
    class_weight: Literal["balanced"] | None = "balanced",
    scaling: Literal["min-max", "standard"] = "min-max",
    score_on: Literal["unseen", "training"] = "unseen",
    n_train: int | None = None,
    n_test: int | None = None,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Score:
    """Explicitness score: how well linear classifiers tell the values of each factor from the codes.

    For each value of a factor, the area under the ROC curve of a logistic regression of that value against the rest;
    2 AUC - 1, mean over values, then over factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are scaled on the training rows.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    classifier : {"one-vs-rest", "multinomial"}
    probabilities : {"normalised", "raw"}
        One-vs-rest probabilities divided by their sum over the values, as a multi-class classifier gives them, or
        each as it is. Matters for a factor that one code follows monotonically: its middle values cannot be told by
        one linear function, so ``"raw"`` gives a perfect code about 0.56.
    penalty : float, default 1.0
        Inverse strength C of the quadratic penalty.
    class_weight : {"balanced", None}
        Whether all values weigh the same in training, or all rows.
    scaling : {"min-max", "standard"}
    score_on : {"unseen", "training"}
        Rows on which the AUC is measured. On the training rows noise scores above 0.
    n_train, n_test : int, optional
        Rows of the split; halves by default.
    report : {"above-chance", "unscaled"}
        2 AUC - 1, or the AUC itself, as disentanglement_lib reports it.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [-1, 1], best 1, chance 0 (unscaled: in [0, 1], chance 0.5); ``per_factor``;
        ``details["by_value"]``: of each value of each factor.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Ridgeway & Mozer 2018, section 3.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> shape = rng.integers(0, 3, 600)
    >>> codes = np.eye(3)[shape] + 0.01 * rng.normal(size=(600, 3))
    >>> round(demele.explicitness(codes, shape).value, 2)
    1.0
    """
    options = {
        "bins": bins,
        "classifier": classifier,
        "probabilities": probabilities,
        "penalty": penalty,
        "class_weight": class_weight,
        "scaling": scaling,
        "score_on": score_on,
        "n_train": n_train,
        "n_test": n_test,
        "report": report,
    }
    return single("explicitness", codes, factors, options, run)[0]


def sap(
    codes: object,
    factors: object,
    *,
    units: Literal["standard", "raw"] = "standard",
    penalty: float = 1.0,
    class_weight: Literal["balanced"] | None = None,
    score_on: Literal["unseen", "training"] = "unseen",
    n_train: int | None = None,
    n_test: int | None = None,
    **run: Unpack[RunOptions],
) -> Score:
    """Separated attribute predictability: the gap between the two single codes that predict a factor best.

    Squared correlation for a continuous factor; accuracy of a linear support vector classifier for a categorical one.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are standardised. A constant code predicts nothing: squared correlation 0, and the accuracy of
        the most frequent class as the guess. A single code is compared with one, and the guess never wins: where no
        code is better, the gap is 0.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    units : {"standard", "raw"}
        Codes in standard deviations, or as they come, as in public code: a classifier of scikit-learn's then sees each
        code with its unit and its origin, both of which move the score (so says a note), and for continuous factors
        codes with a variance of at most 1e-12 score 0.
    penalty : float, default 1.0
        C of the support vector classifier (``l2_reg`` of Latte; 0.01 in disentanglement_lib).
    class_weight : {"balanced", None}
    score_on : {"unseen", "training"}
        Rows on which the accuracy is measured: half of the rows that the classifier has not seen, or those it has.
    n_train, n_test : int, optional
        Rows of the split; halves by default.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``; ``matrix``: score of each code for each factor (n_codes, n_factors);
        ``details["majority"]``: of each categorical factor, the accuracy of its most frequent class as the guess.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Kumar et al. 2018, section 3. An accuracy has a floor of the majority class's share, so the gap of a perfect code
    for a factor of K equal classes is below 1 - 1/K.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> demele.sap(factors, factors).value > 0.99
    True
    """
    options = {
        "units": units,
        "penalty": penalty,
        "class_weight": class_weight,
        "score_on": score_on,
        "n_train": n_train,
        "n_test": n_test,
    }
    return single("sap", codes, factors, options, run)[0]


def z_diff(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    units: Literal["standard", "raw"] = "standard",
    batch_size: int = 200,
    n_train: int = 10_000,
    n_test: int = 5_000,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Score:
    """Z-diff (beta-VAE metric): modularity.

    A linear classifier tells, from the mean absolute difference of the codes over a batch of pairs that share the
    value of one factor, which factor it was. (accuracy - 1/M) / (1 - 1/M) on fresh points.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are standardised.
    factors : array-like of shape (n_samples, n_factors), at least two that vary
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    units : {"standard", "raw"}
        Codes, and the features of the classifier, in standard deviations, or as they come, as in disentanglement_lib:
        the penalty of the classifier then makes the score depend on the unit of each code (so says a note).
    batch_size : int, default 200
        Pairs per point.
    n_train, n_test : int
        Points.
    report : {"above-chance", "unscaled"}
        The accuracy above chance, or the accuracy itself.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, chance 0 (unscaled: 1/M); native: the whole; ``details["accuracy"]``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Higgins et al. 2017, section 3.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> demele.z_diff(factors, factors, n_train=200, n_test=200).value > 0.95
    True
    """
    options = {
        "bins": bins,
        "units": units,
        "batch_size": batch_size,
        "n_train": n_train,
        "n_test": n_test,
        "report": report,
    }
    return single("z_diff", codes, factors, options, run)[0]


def z_min_variance(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    prune_below: float = 0.0,
    batch_size: int = 200,
    n_train: int = 800,
    n_test: int = 800,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Score:
    """Z-min variance (FactorVAE metric): modularity.

    Samples share one factor's value; the code that varies least, relative to its variance over all samples, votes for
    the factor. Accuracy of the majority vote on fresh votes, above chance: (accuracy - 1/M) / (1 - 1/M).

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. Constant codes do not vote.
    factors : array-like of shape (n_samples, n_factors), at least two that vary
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    prune_below : float, default 0.0
        Codes with a smaller standard deviation, in their own unit, do not vote: the pruning threshold of public code
        (0.05 in the large study). It makes the score depend on the unit of the codes (so says a note).
    batch_size : int, default 200
        Samples per vote.
    n_train, n_test : int
        Votes.
    report : {"above-chance", "unscaled"}
        The accuracy above chance, or the accuracy itself, which then is 0 if no code votes.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, chance about 0 (unscaled: 1/M); native: the whole; ``details["accuracy"]``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Kim & Mnih 2018, section 4.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> demele.z_min_variance(factors, factors, n_train=100, n_test=100).value
    1.0
    """
    options = {
        "bins": bins,
        "prune_below": prune_below,
        "batch_size": batch_size,
        "n_train": n_train,
        "n_test": n_test,
        "report": report,
    }
    return single("z_min_variance", codes, factors, options, run)[0]


def z_max_variance(
    codes: object,
    factors: object,
    *,
    bins: Bins = 3,
    batch_size: int = 200,
    n_train: int = 800,
    n_test: int = 800,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Score:
    """Z-max variance (RF-VAE metric): modularity.

    Samples share the values of all factors but one; the code that varies most, relative to its variance over all
    samples, votes for the free factor. Accuracy of the majority vote on fresh votes, above chance.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit.
    factors : array-like of shape (n_samples, n_factors), at least two that vary
        Continuous factors are cut into ``bins``: few, since groups must agree on all factors but one.
    bins : int, str, Binning or edges, default 3
    batch_size : int, default 200
        Largest number of samples per vote.
    n_train, n_test : int
        Votes.
    report : {"above-chance", "unscaled"}
        The accuracy above chance, or the accuracy itself.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, chance about 0; native: the whole; ``details["usable_groups"]`` by factor.

    Raises
    ------
    InputError, InputTypeError
    NotEnoughData
        If no two rows agree on all factors but one.

    Notes
    -----
    Kim, Wang, Sahu & Pavlovic 2019. With many factors the groups shrink to pairs of rows, whose variance says
    little: a note says so.

    A group is drawn as often as it has rows, which is how often its fixed values occur. The review's code draws every
    combination of values alike, small groups included, whose votes are noise: with five noisy codes on 1 500 rows it
    gives 0.645 and this function 0.667; with eight on 20 000 rows, 0.37 and 0.41.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> demele.z_max_variance(factors, factors, n_train=100, n_test=100).value
    1.0
    """
    options = {"bins": bins, "batch_size": batch_size, "n_train": n_train, "n_test": n_test, "report": report}
    return single("z_max_variance", codes, factors, options, run)[0]


def irs(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    quantile: float = 1.0,
    normaliser: Literal["quantile", "maximum"] = "quantile",
    weights: Literal["deviation", "raw-deviation", "uniform"] = "deviation",
    value_weights: Literal["frequency", "uniform"] = "frequency",
    **run: Unpack[RunOptions],
) -> Score:
    """Interventional robustness score, form for crossed factors: modularity.

    Largest deviation of a code from its mean while one factor keeps a value, averaged over the values, over its
    largest deviation from its overall mean; 1 - that, for the best factor.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are standardised. Constant codes are left out.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    quantile : float in (0, 1], default 1.0
        Quantile of the deviations that is taken for the largest one; 1 is the maximum, which one outlier decides.
    normaliser : {"quantile", "maximum"}
        Deviations while a factor keeps a value are divided by the same quantile of all deviations, or by their maximum
        whatever the quantile, as in disentanglement_lib: noise then scores above 0 for any number of rows.
    weights : {"deviation", "raw-deviation", "uniform"}
        Weights of the codes in the mean: their largest deviation in standard deviations, or in their own unit, as in
        print and in public code (a useless code stretched a hundredfold then decides the score, and a note says so), or
        none.
    value_weights : {"frequency", "uniform"}
        Weights of a factor's values.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, slightly below 0 at worst; ``per_code`` (NaN for constant codes); ``matrix``:
        robustness of each code at fixed values of each factor (n_codes, n_factors).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Suter et al. 2019, section 5. Independent codes score above 0 in small samples: ask for ``chance``. It rests on
    maxima, which resamples do not follow: intervals cover less than they say (about 80% at a nominal 90% for 200 rows).
    :func:`demele.interventional_robustness` is the general form, for confounded factors.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).integers(0, 4, (1000, 2)).astype(float)
    >>> demele.irs(factors, factors).value
    1.0
    """
    options = {
        "bins": bins,
        "quantile": quantile,
        "normaliser": normaliser,
        "weights": weights,
        "value_weights": value_weights,
    }
    return single("irs", codes, factors, options, run)[0]


#: For each registered name, the function whose signature holds the defaults of its options, and options it fixes.
FUNCTIONS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    **{
        function.__name__: (function, {})
        for function in (
            mig, rmig, mig_sup, modularity, dcimig, jemmig, dmig, xmig, dlig,
            explicitness, sap, z_diff, z_min_variance, z_max_variance, irs,
        )
    },
    **{
        f"dci_{model}_{prop}": (function, {})
        for model, function in (("forest", _dci_forest), ("lasso", _dci_lasso), ("boosting", _dci_boosting))
        for prop in ("modularity", "compactness", "explicitness")
    },
}  # fmt: skip
