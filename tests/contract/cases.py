"""Small data and cheap settings on which every registered metric has a number, for the tests of what they share."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import demele

N = 160

#: Options that keep stochastic metrics cheap; by group, as ``evaluate(options=...)`` takes them.
CHEAP: dict[str, dict[str, Any]] = {
    "dci_forest": {"n_trees": 3},
    "dci_boosting": {"n_trees": 3},
    "unique_information": {"n_trees": 6},
    "nk": {"n_trees": 3},
    "capacity_explicitness": {"largest": 64},
    "z_diff": {"n_train": 120, "n_test": 120, "batch_size": 10},
    "z_min_variance": {"n_train": 80, "n_test": 80, "batch_size": 10},
    "z_max_variance": {"n_train": 80, "n_test": 80, "batch_size": 10},
}

NAMES = demele.list_metrics()
#: Metrics that share one computation, and so need only one call.
GROUPS: dict[str, list[str]] = {}
for _name in NAMES:
    _spec = demele.metrics.describe(_name)
    GROUPS.setdefault(_name if _spec.group == "information" else _spec.group, []).append(_name)

#: Metrics of which the work of one run is a few milliseconds, whatever the options.
QUICK = [name for name in NAMES if not name.startswith(("dci", "explicitness", "z_", "unique"))]


def small(n: int = N, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray[Any, np.dtype[np.float64]]]:
    """Codes (4 columns), factors (continuous, classes, two levels) that they hold in part, and the codes' spreads."""
    rng = np.random.default_rng(seed)
    size = rng.random(n)
    shape = rng.integers(0, 3, n)
    light = rng.integers(0, 2, n)
    noise = rng.standard_normal((n, 4))
    codes = pd.DataFrame(
        {
            "first": size + 0.1 * noise[:, 0],
            "second": shape + 0.4 * noise[:, 1],
            "third": light + size + 0.3 * noise[:, 2],
            "noise": noise[:, 3],
        }
    )
    factors = pd.DataFrame({"size": size, "shape": np.array(["ball", "cone", "cube"])[shape], "light": light})
    return codes, factors, np.full((n, 4), 0.2)


def scored(name: str, codes: object, factors: object, *, std: object = None, **keywords: Any) -> demele.Score:
    """Return one registered metric under the cheap settings."""
    keywords.setdefault("options", CHEAP)
    return demele.evaluate(demele.Codes(codes, std=std), factors, [name], **keywords)[name]


def with_options(**own: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the cheap settings with some options of some groups or metrics changed."""
    return {key: {**CHEAP.get(key, {}), **own.get(key, {})} for key in {**CHEAP, **own}}


# The public functions, all called alike -----------------------------------------------------------------------------

_PLAIN = (
    "mig mig_sup modularity dcimig jemmig dmig xmig dlig explicitness sap z_diff z_min_variance z_max_variance irs dci "
    "interventional_robustness interventional_disentanglement"
)


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return every public metric function as a callable of codes, factors and keywords."""

    def rmig(codes: object, factors: object, **keywords: Any) -> Any:
        given = demele.Codes.of(codes)
        std = np.full((40, 4), 0.1) if given.std is None else given.std
        return demele.metrics.rmig(replace(given, std=std), factors, **keywords)

    def domain_shift_robustness(codes: object, factors: object, **keywords: Any) -> Any:
        keywords.setdefault("domain", [0])
        return demele.metrics.domain_shift_robustness(codes, factors, **keywords)

    def evaluate(codes: object, factors: object, **keywords: Any) -> Any:
        keywords.setdefault("metrics", ["mig", "irs", "sap"])
        return demele.evaluate(codes, factors, **keywords)

    found: dict[str, Callable[..., Any]] = {name: getattr(demele.metrics, name) for name in _PLAIN.split()}
    return {**found, "rmig": rmig, "domain_shift_robustness": domain_shift_robustness, "evaluate": evaluate}
