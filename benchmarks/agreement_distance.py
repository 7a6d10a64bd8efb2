"""What explains the distance between our matrix of agreement and the two in print: one cause moved at a time.

``python -m benchmarks.agreement_distance STUDY [--beside OTHER] [--jobs 2]`` scores the codes that
``demele lab study run --preset embedded --store STUDY`` left (a quarter of an hour of CPU), keeps the scores in
``STUDY/distance.jsonl``, goes on where it stopped, and writes results/agreement_distance.csv: r, the share of equal
signs and the mean difference, with print, for each cause. OTHER is a study of ``--beta-scale per_pixel``.

Causes: codes that are drawn in place of their means; factors read as numbers, as the review's code does by default; and
what that code does beside the definitions (``benchmarks/put_back.py``).
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import demele
from benchmarks import put_back
from benchmarks.cases import Array, write_rows
from demele import bench, lab
from demele.bench.agreement_result import Agreement
from demele.core.arrays import rng_for
from demele.core.errors import DemeleError
from demele.metrics import dci_compactness
from demele.runtime.sweep import Record, Sweep, Task
from demele.studies.planning import METRICS, plan_model_family
from demele.studies.study import COLLAPSED, Study, read_codes

#: What is scored anew of each model.
SCORED = ("sampled", "as numbers", "put back", "put back, sampled")
_SEED = 0


@dataclass(frozen=True)
class About:
    """Codes of one model, and what is asked of them."""

    what: str
    identifier: str
    mean: Array
    std: Array
    factors: pd.DataFrame
    numbers: Array


def worked(tasks: tuple[About, ...]) -> list[Record]:
    """Return the scores of each task."""
    return [{"scores": _SCORERS[one.what](one)} for one in tasks]


def _evaluated(codes: Array, factors: object, *, kinds: object = None, **options: object) -> dict[str, float | None]:
    """Return all 17 scores; None where there is none."""
    try:
        found = demele.evaluate(
            codes, demele.Factors(factors, kinds=kinds, missing="omit"), list(METRICS), seed=_SEED, **options
        )  # type: ignore[arg-type]
    except DemeleError:
        return dict.fromkeys(METRICS)
    values = {score.metric: float(score.value) for score in found}
    return {name: values[name] if np.isfinite(values.get(name, np.nan)) else None for name in METRICS}


def _drawn(one: About) -> Array:
    noise = rng_for(_SEED, "distance", one.identifier).standard_normal(one.mean.shape)
    return one.mean + one.std * noise


def _of_defects(codes: Array, numbers: Array) -> dict[str, float | None]:
    """Return 17 scores as the review's code computes them, of factors read as numbers."""
    raw = {"z_diff": {"units": "raw"}, "z_min_variance": {"prune_below": 0.05}}
    raw |= {"irs": {"weights": "raw-deviation", "normaliser": "maximum", "value_weights": "uniform"}}
    raw |= {"explicitness": {"score_on": "training"}}
    found = _evaluated(codes, numbers, kinds="continuous", options=raw)
    found |= {name: put_back.gaps_by_code_entropy(codes, numbers, sup=name == "mig_sup") for name in ("mig", "mig_sup")}
    for model, fits in (("lasso", put_back.lasso_fits), ("forest", _forest_fits)):
        importance, predicted = fits(codes, numbers)
        found[f"dci_{model}_modularity"] = put_back.until_dead(importance)
        found[f"dci_{model}_compactness"] = dci_compactness(importance)
        found[f"dci_{model}_explicitness"] = put_back.in_sample_explicitness(predicted, numbers)
    return found


def _forest_fits(codes: Array, factors: Array) -> tuple[Array, Array]:
    from sklearn.ensemble import RandomForestRegressor

    scaled = put_back.columns_in_unit(factors)
    models = [RandomForestRegressor(10, max_depth=16, random_state=_SEED).fit(codes, factor) for factor in scaled.T]
    importance = np.column_stack([model.feature_importances_ for model in models])
    return importance, np.column_stack([model.predict(codes) for model in models])


_SCORERS: Mapping[str, Callable[[About], dict[str, float | None]]] = {
    "sampled": lambda one: _evaluated(_drawn(one), one.factors),
    "as numbers": lambda one: _evaluated(one.mean, one.numbers, kinds="continuous"),
    "put back": lambda one: _of_defects(one.mean, one.numbers),
    "put back, sampled": lambda one: _of_defects(_drawn(one), one.numbers),
}

# The study ------------------------------------------------------------------------------------------------------------


def tasks(study: Study, folder: Path) -> list[Task[About]]:
    """Return what is to be scored: the codes at the end of each training."""
    images = demele.data.sprites(study.settings["shape"][0])
    rows = scored_rows(study)
    factors, numbers = images.factors(rows), images.positions(rows).astype(float)
    found = []
    for model in study.models:
        mean, std = read_codes(folder / "runs" / model.id / f"codes-{study.steps[-1]}.npz", len(rows))
        if std is None:
            raise SystemExit(f"{model.id}: the codes have no deviations")
        for what in SCORED:
            about = About(what, model.id, mean.astype(float), std.astype(float), factors, numbers)
            label = f"{what}: {model.configuration.name}"
            found.append(Task(key=("distance", model.id, what), about=about, weight=1 + mean.shape[1] / 8, label=label))
    return found


def scored_rows(study: Study) -> NDArray[np.int64]:
    """Return the rows that the study scored: they are drawn by its seed."""
    plan = plan_model_family(
        preset=study.settings["preset"],
        beta_scale=study.settings["model"]["beta_scale"],
        protocol=study.settings["protocol"],
        n_rows=study.settings["scored_rows"],
        seed=study.settings["seed"],
    )
    return plan.rows


# Tables ---------------------------------------------------------------------------------------------------------------

#: Causes that change some metrics only, by name.
PARTS: Mapping[str, tuple[str, ...]] = {
    "MIG and MIG-sup divided by the entropy of the code": ("mig", "mig_sup"),
    "DCI modularity stops at the first unused code": ("dci_lasso_modularity", "dci_forest_modularity"),
    "DCI as in the review's code": tuple(name for name in METRICS if name.startswith("dci_")),
    "Explicitness of the rows that were fitted": ("explicitness",),
    "units of the codes count (Z-diff, Z-min, IRS)": ("z_diff", "z_min_variance", "irs"),
    "SAP by squared correlation": ("sap",),
}


def tables(study: Study, scores: Mapping[tuple[str, str], Record]) -> dict[str, pd.DataFrame]:
    """Return a table of scores for each cause, models by rows."""

    def of(what: str) -> pd.DataFrame:
        return pd.DataFrame([scores[model.id, what]["scores"] for model in study.models], columns=METRICS, dtype=float)

    whole = study.to_frame()[list(METRICS)].astype(float)
    earlier = {
        f"after {step:,} steps": study.to_frame(step=step)[list(METRICS)].astype(float) for step in study.steps[:-1]
    }
    found = {
        "as it is": whole,
        **earlier,
        "codes drawn, not means": of("sampled"),
        "factors read as numbers": of("as numbers"),
    }
    replaced = of("put back")
    for name, metrics in PARTS.items():
        found[name] = whole.assign(**{metric: replaced[metric] for metric in metrics})
    return found | {
        "all of these, of means": replaced,
        "all of these, of drawn codes": of("put back, sampled"),
        "codes and rows out of step": study.to_frame(kind="null-0")[list(METRICS)].astype(float),
    }


def rows_of(cause: str, table: pd.DataFrame, collapsed: Sequence[bool]) -> list[dict[str, object]]:
    """Return a row for each printed matrix, with and without collapsed models."""
    found: Agreement = bench.agreement(table.assign(collapsed=list(collapsed)), collapsed="collapsed")
    rows: list[dict[str, object]] = []
    for matrix in ("all", "without collapsed"):
        if matrix not in found.matrices:
            continue
        for printed in bench.published_agreement_names():
            like = found.against(printed, matrix=matrix)
            row: dict[str, object] = {"cause": cause, "models": matrix, "print": printed, "pairs": like.pairs}
            for name in ("r", "same_sign", "difference"):
                one = getattr(like, name)
                row |= {name: f"{one.value:.3f}", f"{name}_low": f"{one.low:.3f}", f"{name}_high": f"{one.high:.3f}"}
            tau = found.matrix(matrix).tau
            negative = f"{np.mean(tau[np.isfinite(tau)] < 0):.3f}"
            rows.append(row | {"negative": negative, "mean_abs_tau": f"{found.matrix(matrix).mean_size.value:.3f}"})
    return rows


def main() -> None:
    """Score what is left, compare, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement_distance", description=__doc__)
    parser.add_argument("study", type=Path)
    parser.add_argument("--beside", type=Path, help="a study of --beta-scale per_pixel")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    study = lab.load_study(given.study)
    identity = {"demele": demele.__version__, "distance": study.settings["images"], "seed": _SEED}
    with demele.progress(), Sweep(identity, store=given.study / "distance.jsonl", n_jobs=given.jobs) as sweep:
        sweep.run(worked, tasks(study, given.study))
        scores = {(str(key[1]), str(key[2])): sweep.records[key] for key in sweep.records}
    collapsed = [model.flag == COLLAPSED for model in study.models]
    rows = [row for cause, table in tables(study, scores).items() for row in rows_of(cause, table, collapsed)]
    if given.beside:
        other = lab.load_study(given.beside)
        own = other.to_frame()[list(METRICS)].astype(float)
        cause = f"beta per pixel, after {other.steps[-1]:,} steps"
        rows += rows_of(cause, own, [model.flag == COLLAPSED for model in other.models])
    print(write_rows("agreement_distance", rows))


if __name__ == "__main__":
    main()
