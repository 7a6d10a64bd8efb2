"""Numbers that a change of shape must not change: scores, decisions, rankings, assessments, consensus, bench rows.

python -m tests.golden.numbers            says which differ from numbers.json, to the bit
python -m tests.golden.numbers --write    writes numbers.json: where a number was meant to change
"""

import json
import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import demele
from demele import bench, classifiers, data, labels

FILE = Path(__file__).with_name("numbers.json")
#: Relative difference that sums in another order, on another processor, can make.
ROUNDING = 1e-7
#: L1 regressions of classes stop near the minimum; where classes can be separated, processors stop at other places.
SOLVED = {"dci_lasso": 0.1}
Numbers = dict[str, list[float | None]]
Named = Iterator[tuple[str, Any]]


def flat(value: Any) -> list[float | None]:
    """Return the numbers of an array, a number, or the columns of numbers of a frame; None for those undefined."""
    if hasattr(value, "select_dtypes"):
        value = value.select_dtypes("number").to_numpy()
    return [
        float(x) if math.isfinite(x) else None for x in np.asarray(value, dtype=np.float64).ravel(order="K").tolist()
    ]


def scores() -> Named:
    """Yield value and details of every metric, under every protocol, on few rows of mixed codes."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 4, 5], size=(150, 3))
    codes = factors @ rng.normal(size=(3, 5)) + 0.3 * rng.normal(size=(150, 5))
    codes[:, 0] = factors[:, 0] + 0.1 * rng.normal(size=150)
    for protocol in demele.list_protocols():
        found = demele.evaluate(
            codes, demele.Factors(factors, reg_dim=[0, 1, 2]), metrics="all", protocol=protocol, seed=1
        )
        for score in found.scores:
            name = score.metric
            yield f"{protocol}: {name}", score.value
            if score.per_factor is not None:
                yield f"{protocol}: {name}, factors", score.per_factor
            if score.per_code is not None:
                yield f"{protocol}: {name}, codes", score.per_code
    shown = demele.evaluate(
        codes, factors, metrics=["mig", "sap", "modularity"], n_bootstrap=20, n_permutations=10, seed=2
    )
    yield "intervals and chance", shown.to_frame()
    corrected = demele.evaluate(codes, factors, metrics=["mig"], options={"mig": {"correction": "adjusted"}})
    yield "adjusted", corrected.to_frame()


def decided(decision: Any) -> list[float]:
    """Return what a comparison found: difference, its interval, p-value."""
    among = decision.interval
    found = (decision.difference, *((among.low, among.high) if among else ()), decision.p_value)
    return [math.nan if value is None else float(value) for value in found]


def decisions() -> Named:
    """Yield decisions, rankings and assessments by every method that needs nothing but labels."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 600)
    given = np.where(rng.random(600) < 0.1, rng.integers(0, 4, 600), truth)
    models = {
        name: np.where(rng.random(600) < right, truth, rng.integers(0, 4, 600))
        for name, right in {"b": 0.7, "a": 0.75, "c": 0.85}.items()
    }
    for method in (None, "overlap", "worst-case-overlap", "worst-case"):
        noise = 0.1 if method in ("worst-case-overlap", "worst-case") else None
        decision = classifiers.compare(models["a"], models["c"], given, method=method, noise=noise)
        yield f"compare, {method}", decided(decision)
        ranking = classifiers.rank(models, given, method=method, noise=noise)
        yield f"rank, {method}", ranking.to_frame()
    for measure in ("precision", "recall", "f1"):
        decision = classifiers.compare(models["a"], models["c"], given, measure=measure, of=1)
        yield f"compare by {measure}", decided(decision)
    yield "assess", classifiers.assess(models["a"], given).to_frame()
    transition = labels.estimate_transition(truth, given)
    yield "transition", transition.counts
    yield "assess with a transition", classifiers.assess(models["a"], given, noise=transition).to_frame()
    yield "pseudo-supervised", classifiers.stats.pseudo_supervised(models, labels=given).to_frame()


def consensus() -> Named:
    """Yield what votes and models of annotators make of sparse answers."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 200)
    answers = np.where(rng.random((200, 6)) < 0.7, truth[:, None], rng.integers(0, 3, (200, 6))).astype(float)
    answers[rng.random((200, 6)) < 0.3] = np.nan
    table = labels.Annotations.from_matrix(answers.T)
    for method in (labels.majority_vote, labels.one_coin, labels.dawid_skene):
        yield method.__name__, method(table).probabilities
    yield "bayesian_consensus", labels.bayesian_consensus(table, n_samples=50, n_warmup=50, n_chains=2).probabilities


def judged() -> Named:
    """Yield the scores that two metrics get on scenarios."""
    found = bench.check_metrics(["mig", "sap"], ["rotation", "noise"], seeds=2, n_rows=500)
    yield "bench", found.value_frame()
    yield "demonstration", data.load_example().codes[:3]


def computed() -> Numbers:
    """Return every number, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: flat(value) for part in (scores, decisions, consensus, judged) for name, value in part()}


def differing(found: Numbers, stored: Numbers, tolerance: float) -> list[str]:
    """Name what is in one only, or whose numbers are further apart than a relative tolerance."""

    def same(name: str, a: float | None, b: float | None) -> bool:
        near = max((SOLVED[part] for part in SOLVED if part in name and tolerance), default=tolerance)
        return a == b if a is None or b is None else math.isclose(a, b, rel_tol=near, abs_tol=tolerance)

    return [
        name
        for name in sorted(found | stored)
        if name not in found
        or name not in stored
        or len(found[name]) != len(stored[name])
        or not all(same(name, a, b) for a, b in zip(found[name], stored[name], strict=True))
    ]


if __name__ == "__main__":
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(computed(), indent=0) + "\n", encoding="utf-8")
    else:
        print("\n".join(differing(computed(), json.loads(FILE.read_text(encoding="utf-8")), 0.0)) or "all the same")
