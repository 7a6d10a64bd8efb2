"""Z-diff, the metric of beta-VAE (Higgins et al. 2017, section 3)."""

from typing import Annotated, Any, Literal, Unpack

from demele.core.results import Note, Score
from demele.estimation.discretise import Binning
from demele.estimation.groups import Units
from demele.metrics.data import Data
from demele.metrics.guards import units_notes
from demele.metrics.metric import Guards, Metric, Native, Streams, of_rows
from demele.metrics.options import Bins, Count, RunOptions, at_least
from demele.metrics.run import score
from demele.metrics.splits import above


def accuracy_of_pairs(
    data: Data, streams: Streams, bins: Binning, units: Units, batch_size: int, n_train: int, n_test: int, report: str
) -> Native:
    """Accuracy above chance of telling which factor two samples share from their mean code difference."""
    from demele.estimation.groups import z_diff_accuracy, z_diff_points
    from demele.estimation.raw_classifiers import raw_logistic_accuracy

    labels, _ = data.factor_labels(bins)

    def accuracy_in(chosen: Units) -> float:
        codes = data.codes.dense() if chosen == "raw" else data.standardised()
        rng = streams("points")
        sizes: dict[str, Any] = {
            "batch_size": batch_size,
            "rng": rng,
            "factor_names": data.factors.names,
            "units": chosen,
        }
        train = z_diff_points(codes, labels, n_points=n_train, **sizes)
        test = z_diff_points(codes, labels, n_points=n_test, **sizes)
        return raw_logistic_accuracy(*train, *test) if chosen == "raw" else z_diff_accuracy(*train, *test)

    accuracy = accuracy_in(units)
    value = above(accuracy, 1 / data.factors.m, report)
    notes: tuple[Note, ...] = ()
    if units == "raw":
        notes = units_notes(float(value), float(above(accuracy_in("standard"), 1 / data.factors.m, report)))
    return Native(value=value, details={"accuracy": accuracy}, notes=notes)


def z_diff(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    units: Literal["standard", "raw"] = "standard",
    batch_size: Annotated[int, at_least(2)] = 200,
    n_train: Count = 10_000,
    n_test: Count = 5_000,
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
    return score(METRIC, locals())


METRIC = Metric(
    "z_diff",
    z_diff,
    title="Z-diff",
    family="intervention",
    properties=("modularity",),
    native="whole",
    range=(-1.0, 1.0),
    source="Higgins et al. 2017, section 3 (beta-VAE metric)",
    references=("higgins2017beta",),
    definition="accuracy above chance of telling which factor two samples share from their mean code difference",
    stochastic=True,
    needs_factors=2,
    aliases=("Z-diff", "beta_vae_score"),
    readings=(of_rows(accuracy_of_pairs),),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    probe=("batch_size", (200, 50, 100, 400, 800)),
    in_groups=True,
    order=130,
)
