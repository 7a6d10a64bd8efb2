"""Facts about single metrics, by the name of their group: what the bench waits for, and what it varies."""

from collections.abc import Mapping

__all__ = ["FEW_BINS", "OWN_SETTINGS", "SLOW", "WITH_MODELS"]

#: Train a model for each factor: a call takes some seconds.
WITH_MODELS = ("dci_forest", "dci_lasso", "dci_boosting")
#: Train predictors on all rows: the same number of seeds would take them most of the time.
SLOW = (*WITH_MODELS, "explicitness")
#: Its few bins decide whether rows agree on all factors but one, so they are a setting of its own.
FEW_BINS = "z_max_variance"
#: Group of metrics, option, and its value at each of the multiples. Two settings cannot be multiplied so. The quantile
#: of IRS, the largest value at 1, can only be lowered; its values go down in the order of the sweep. The bins of Z-max
#: variance, 3, are few whole numbers: they decide how many rows agree on all factors but one.
OWN_SETTINGS: Mapping[str, tuple[str, tuple[int | float, ...]]] = {
    "z_diff": ("batch_size", (200, 50, 100, 400, 800)),
    "z_min_variance": ("batch_size", (200, 50, 100, 400, 800)),
    "z_max_variance": ("bins", (3, 2, 4, 6, 10)),
    "irs": ("quantile", (1.0, 0.99, 0.95, 0.9, 0.8)),
    "dci_forest": ("n_trees", (10, 2, 5, 20, 40)),
    "dci_boosting": ("n_trees", (100, 25, 50, 200, 400)),
    "explicitness": ("penalty", (1.0, 0.25, 0.5, 2.0, 4.0)),
}
