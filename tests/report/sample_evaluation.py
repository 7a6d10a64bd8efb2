"""Evaluations built by hand: what a page must be able to show, including names and gaps that break pages."""

import math

import numpy as np

from demele.core.results import (
    Chance,
    Dependency,
    Evaluation,
    FactorSummary,
    Interval,
    LeftOut,
    MetricFacts,
    Note,
    Score,
    Spread,
)
from demele.core.signature import Signature

_CATALOGUE = (
    ("mig", "MIG", "information", "compactness", "per factor"),
    ("rmig", "RMIG", "information", "compactness", "per factor"),
    ("mig_sup", "MIG-sup", "information", "modularity", "per code"),
    ("modularity", "Modularity score", "information", "modularity", "per code"),
    ("dcimig", "DCIMIG", "information", "modularity compactness explicitness", "per factor"),
    ("jemmig", "JEMMIG", "information", "modularity compactness explicitness", "per factor"),
    ("dmig", "DMIG", "information", "compactness", "per factor"),
    ("xmig", "XMIG", "information", "compactness", "per factor"),
    ("dlig", "DLIG", "information", "modularity", "per factor"),
    ("dci_forest_modularity", "DCI modularity (forest)", "predictor", "modularity", "per code"),
    ("dci_forest_compactness", "DCI compactness (forest)", "predictor", "compactness", "per factor"),
    ("dci_forest_explicitness", "DCI explicitness (forest)", "predictor", "explicitness", "per factor"),
    ("dci_lasso_modularity", "DCI modularity (Lasso)", "predictor", "modularity", "per code"),
    ("dci_lasso_compactness", "DCI compactness (Lasso)", "predictor", "compactness", "per factor"),
    ("dci_lasso_explicitness", "DCI explicitness (Lasso)", "predictor", "explicitness", "per factor"),
    ("dci_boosting_modularity", "DCI modularity (boosting)", "predictor", "modularity", "per code"),
    ("dci_boosting_compactness", "DCI compactness (boosting)", "predictor", "compactness", "per factor"),
    ("dci_boosting_explicitness", "DCI explicitness (boosting)", "predictor", "explicitness", "per factor"),
    ("explicitness", "Explicitness score", "predictor", "explicitness", "per factor"),
    ("sap", "SAP", "predictor", "compactness", "per factor"),
    ("z_diff", "Z-diff", "intervention", "modularity", "whole"),
    ("z_min_variance", "Z-min variance", "intervention", "modularity", "whole"),
    ("z_max_variance", "Z-max variance", "intervention", "modularity", "whole"),
    ("irs", "IRS", "intervention", "modularity", "per code"),
)

FACTS = {
    name: MetricFacts(
        title=title,
        family=family,
        properties=tuple(properties.split()),
        range=(-1.0, 1.0) if name in {"dmig", "xmig", "dlig"} else (0.0, 1.0),
        source="Chen et al. 2018, eq. 6" if name == "mig" else "A paper of 2020, eq. 3",
        definition="Gap between the two codes that know most about a factor, as a share of the factor's entropy.",
    )
    for name, title, family, properties, _ in _CATALOGUE
}
_UNITS = {name: native for name, *_, native in _CATALOGUE}


def sample_evaluation(
    name: str = "betavae",
    *,
    seed: int = 0,
    n: int = 1797,
    code_names: tuple[str, ...] = ("z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8"),
    factor_names: tuple[str, ...] = ("shape", "scale", "orientation", "x position", "constant"),
    quality: float = 0.8,
    intervals: bool = True,
) -> Evaluation:
    """A full evaluation: every metric but two, a constant last factor, intervals, spreads, chance levels, notes."""
    rng = np.random.default_rng(seed)
    n_codes, n_factors = len(code_names), len(factor_names)
    strength = rng.uniform(0, 0.25, (n_codes, n_factors))
    for factor in range(n_factors - 1):
        strength[factor % n_codes, factor] += quality * rng.uniform(0.7, 1)
    strength[:, -1] = np.nan
    scores = tuple(
        _score(metric, rng, strength, code_names, factor_names, n=n, quality=quality, intervals=intervals)
        for metric, *_ in _CATALOGUE
        if metric not in {"rmig", "dmig"}
    )
    left_out = (
        LeftOut(metric="rmig", reason="it needs the standard deviations of the codes: give codes_std"),
        LeftOut(metric="dmig", reason=f"reg_dim names 5 codes, codes has {n_codes}: say which code is meant for which"),
    )
    factors = tuple(
        FactorSummary(
            name=factor,
            kind="continuous" if index == 1 else "categorical",
            n_levels=1 if index == n_factors - 1 else 3 + index,
            n_annotated=n - 7 * index,
            constant=index == n_factors - 1,
        )
        for index, factor in enumerate(factor_names)
    )
    return Evaluation(
        scores=scores,
        left_out=left_out,
        protocol="review2022",
        name=name,
        n=n,
        code_names=code_names,
        factors=factors,
        dependency=tuple(_dependencies(rng, strength, code_names, factors)),
        notes=(
            Note(
                code="constant-factor",
                message=f"factor {factor_names[-1]!r} has one value in {n} rows: no metric is defined for it",
                subject=(factor_names[-1],),
                severity="warning",
            ),
            Note(
                code="kinds", message=f"factor {factor_names[1]!r} was read as continuous", subject=(factor_names[1],)
            ),
        ),
        version="0.1.0",
    )


def _score(
    metric: str,
    rng: np.random.Generator,
    strength: np.ndarray,
    code_names: tuple[str, ...],
    factor_names: tuple[str, ...],
    *,
    n: int,
    quality: float,
    intervals: bool,
) -> Score:
    unit = _UNITS[metric]
    names = {"per factor": factor_names, "per code": code_names, "whole": ()}[unit]
    native = np.clip(rng.normal(quality - 0.1, 0.15, len(names)), 0, 1)
    if unit == "per factor":
        native[-1] = math.nan
    value = float(np.nanmean(native)) if len(names) else float(np.clip(rng.normal(quality, 0.1), 0, 1))
    notes: tuple[Note, ...] = ()
    if metric == "sap":
        value = math.nan
        notes = (Note(code="too-few-rows", message="a class has one row: no split is possible", severity="warning"),)
    if metric in {"mig", "jemmig", "z_max_variance"}:
        notes = (
            Note(
                code="bins",
                message=f"20 bins in place of 10 give {value - 0.2:.3f}: the number of bins decides",
                severity="fragile",
            ),
        )
    stochastic = metric.startswith(("z_", "dci_forest"))
    return Score(
        metric=metric,
        value=value,
        n=n,
        signature=Signature(metric, {"bins": 10, "seed": 0}, {"n": str(n), "protocol": "review2022", "demele": "0.1"}),
        code_names=code_names,
        factor_names=factor_names,
        per_factor=native if unit == "per factor" else None,
        per_code=native if unit == "per code" else None,
        native_intervals=tuple(_interval(item, 0.06) for item in native) if len(names) and intervals else None,
        matrix_values=_matrix(metric, strength),
        matrix_of=_matrix_of(metric),
        interval=_interval(value, 0.03) if intervals else None,
        spread=Spread(tuple(value + np.array([-0.02, 0.0, 0.01]))) if stochastic and intervals else None,
        chance=Chance((0.01, 0.02, 0.015), observed=value) if intervals else None,
        notes=notes,
        details={"bins": 10, "edges": np.linspace(0, 1, 3)} if metric == "mig" else {},
        protocol="review2022",
        seconds=0.0123,
        facts=FACTS[metric],
    )


def _interval(value: float, half: float) -> Interval:
    return Interval(low=value - half, high=min(value + half, 1.0), level=0.95, method="percentile bootstrap, B=200")


def _matrix_of(metric: str) -> str | None:
    if metric.startswith("dci_"):
        return f"importance ({metric.split('_')[1]})"
    if metric.startswith("z_"):
        return None
    return {"irs": "IRS", "sap": "separability score", "explicitness": None}.get(metric, "mutual information (nats)")


def _matrix(metric: str, strength: np.ndarray) -> np.ndarray | None:
    what = _matrix_of(metric)
    if what is None:
        return None
    values = strength * 1.6 if what.startswith("mutual") else strength / np.nansum(strength, axis=0)
    if what == "separability score":
        values = strength - 0.1
    return np.asarray(values)


def _dependencies(
    rng: np.random.Generator, strength: np.ndarray, code_names: tuple[str, ...], factors: tuple[FactorSummary, ...]
) -> list[Dependency]:
    pictures = []
    for row, code in enumerate(code_names):
        for column, factor in enumerate(factors):
            if factor.constant:
                continue
            levels = 10 if factor.kind == "continuous" else int(factor.n_levels or 1)
            share = float(np.clip(strength[row, column], 0, 1))
            mean = 2 * share * np.linspace(-1, 1, levels) + 0.1 * rng.normal(size=levels)
            half = (1.1 - share) * rng.uniform(0.8, 1.2, levels)
            pictures.append(
                Dependency(
                    code=code,
                    factor=factor.name,
                    levels=tuple(str(round(0.5 + 0.05 * k, 2)) for k in range(levels))
                    if factor.kind == "continuous"
                    else tuple(("square", "<i>ellipse</i>", "heart", "k4", "k5", "k6", "k7", "k8")[:levels]),
                    mean=tuple(mean),
                    low=tuple(mean - half),
                    high=tuple(mean + half),
                    count=(120,) * levels,
                    score=share,
                )
            )
    return pictures
