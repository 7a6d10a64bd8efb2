"""Dictionaries of decisions, rankings and assessments as the pages read them: consistent numbers, hostile names."""

import math
from typing import Any

import numpy as np
from scipy.stats import binom

#: What a name may hold at worst.
HOSTILE = "</script><script>document.title='broken out'</script><b>\"'> & {{data}}"


def _interval(
    low: float, high: float, method: str = "score", kind: str = "sampling", level: float = 0.95
) -> dict[str, Any]:
    return {"low": low, "high": high, "level": level, "method": method, "kind": kind}


def _wilson(hits: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    share = hits / n
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    centre = share + z * z / (2 * n)
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def estimate(
    measure: str, of: object, hits: float, n: float, *, rate: float | None = None, kind: str = "bias-union"
) -> dict[str, Any]:
    """An estimate with its score interval, widened both ways by a rate of wrong labels where one is given."""
    low, high = _wilson(hits, n)
    widened = None if rate is None else _interval(max(low - rate, 0.0), min(high + rate, 1.0), kind=kind)
    return {
        "measure": measure,
        "of": of,
        "value": hits / n,
        "successes": hits,
        "trials": n,
        "interval": _interval(low, high),
        "bias": None if rate is None else [-rate, rate],
        "corrected": widened,
    }


def largest_bearable(lost: int, won: int, neither: int, *, tail: float = 0.025) -> int:
    """How many wrong labels McNemar's exact test bears in the worst case: tried one by one."""
    bears = -1
    for wrong in range(won + neither + 1):
        turned = min(wrong, won)
        taken = min(wrong - turned, neither)
        n = lost + won + taken
        if binom.sf(won - turned - 1, n, 0.5) > tail:
            break
        bears = wrong
    return bears


def decision(
    verdict: str = "candidate",
    *,
    names: tuple[str, str] = ("resnet-18", "vit-small"),
    counts: tuple[int, int, int] = (312, 684, 101),
    measure: str = "accuracy",
    of: object = None,
    method: str = "worst-case",
    interval: tuple[float, float] | None = (0.019, 0.044),
    prospect: bool = True,
    classes: int = 10,
) -> dict[str, Any]:
    """What ``Decision.to_dict()`` returns."""
    n = 12_000
    lost, won, neither = counts
    both = 10_200 - lost
    gap = (won - lost) / n
    sign = -1 if measure == "error" else 1
    low, high = (None, None) if interval is None else (interval if sign > 0 else (-interval[1], -interval[0]))
    bears = largest_bearable(lost, won, neither) if verdict == "candidate" else largest_bearable(won, lost, neither)
    bears = -1 if verdict == "inconclusive" else bears
    by_class = [
        {"class": name, "lost": int(a), "won": int(b), "neither": int(o)}
        for name, a, b, o in zip(
            [f"class {index}" for index in range(classes - 1)] + [HOSTILE],
            np.diff(np.linspace(0, lost, classes + 1).astype(int)),
            np.diff(np.linspace(0, won, classes + 1).astype(int)),
            np.diff(np.linspace(0, neither, classes + 1).astype(int)),
            strict=True,
        )
    ]
    hits = [both + lost, both + won]
    sides = [estimate("accuracy", of, hit, n, rate=0.01) for hit in hits]
    if measure == "error":
        sides = [estimate("error", of, n - hit, n, rate=0.01) for hit in hits]
    for side in sides:
        side["measure"] = measure
    return {
        "kind": "decision",
        "demele": "1.0.0",
        "baseline": sides[0],
        "candidate": sides[1],
        "measure": measure,
        "of": of,
        "verdict": verdict,
        "choice": "candidate" if verdict == "candidate" else "baseline",
        "difference": sign * gap,
        "low": low,
        "high": high,
        "inference": "population",
        "level": 0.95,
        "p_value": 0.00042 if verdict == "candidate" else 0.31,
        "breakdown_rate": bears / n if bears >= 0 else None,
        "method": method,
        "n": n,
        "names": list(names),
        "interval": {"low": low, "high": high, "level": 0.95, "method": "exact worst case", "kind": "sampling"},
        "breakdown": None if verdict == "inconclusive" else {"labels": bears, "n": n, "rate": bears / n},
        "assumptions": ["At most 1% of the labels are wrong", "The instances are a random sample of those to come."],
        "notes": [
            {
                "code": "matrix",
                "message": "3 classes have fewer than 10 labels",
                "subject": ["a", HOSTILE],
                "severity": "warning",
            }
        ],
        "details": {
            "label_says_baseline": lost,
            "label_says_candidate": won,
            "label_says_neither": neither,
            "wrong_labels": 120,
            "by_class": by_class,
            **(
                {
                    "prospect": [
                        {"labels": 50, "certified_if_clean": False, "half_width": 0.0712, "certified_if_rate": False},
                        {"labels": 100, "certified_if_clean": True, "half_width": 0.0358, "certified_if_rate": False},
                        {"labels": 500, "certified_if_clean": True, "half_width": 0.0098, "certified_if_rate": True},
                        {"labels": 1000, "certified_if_clean": True, "half_width": 0.0061, "certified_if_rate": True},
                    ]
                }
                if prospect
                else {}
            ),
        },
        "signature": f"compare(method='{method}', measure='{measure}', level=0.95, inference='population', "
        "noise=0.01)  # n=12000, demele=1.0.0",
    }


def inconclusive() -> dict[str, Any]:
    """A decision that keeps the baseline for want of evidence."""
    return decision("inconclusive", counts=(480, 520, 60), interval=(-0.0121, 0.0188))


def ranking(models: int = 10, *, reference: bool = False, hostile: bool = True) -> dict[str, Any]:
    """What ``Ranking.to_dict()`` returns: accuracies two points apart at the top, less further down."""
    n = 12_000
    names = [f"model {index + 1}" for index in range(models)]
    if hostile:
        names[1] = HOSTILE
    hits = [round(n * (0.93 - 0.28 * (index / max(models, 10)) ** 1.3)) for index in range(models)]

    def verdict(first: int, second: int, needed: float) -> str:
        gap = (hits[second] - hits[first]) / n
        return "candidate" if gap > needed else "baseline" if gap < -needed else "inconclusive"

    def pairs(needed: float, method: str) -> list[dict[str, Any]]:
        rows = []
        for i in range(models):
            for j in range(models):
                if i == j:
                    continue
                gap = hits[j] - hits[i]
                common = 300 + abs(gap) // 3
                said = verdict(i, j, needed)
                rows.append(
                    {
                        "baseline": names[i],
                        "candidate": names[j],
                        "measure": "accuracy",
                        "of": None,
                        "verdict": said,
                        "choice": "candidate" if said == "candidate" else "baseline",
                        "difference": gap / n,
                        "low": gap / n - needed,
                        "high": gap / n + needed,
                        "level": 0.95,
                        "p_value": 0.5 if said == "inconclusive" else 0.0001,
                        "breakdown_rate": None if said == "inconclusive" else max(abs(gap) / 2 / n - 0.002, 0.0),
                        "method": method,
                        "n": n,
                        "lost": common + max(-gap, 0),
                        "won": common + max(gap, 0),
                        "neither": 80,
                    }
                )
        return rows

    needed = 0.022

    def rank_ends(i: int) -> tuple[int, int]:
        above = sum(verdict(i, j, needed) == "candidate" for j in range(models) if j != i)
        below = sum(verdict(i, j, needed) == "baseline" for j in range(models) if j != i)
        return 1 + above, models - below

    return {
        "kind": "ranking",
        "demele": "1.0.0",
        "n": n,
        "level": 0.95,
        "method": "worst-case",
        "measure": "accuracy",
        "correction": "holm",
        "models": [
            {
                "name": names[i],
                "best_rank": rank_ends(i)[0],
                "worst_rank": rank_ends(i)[1],
                **estimate("accuracy", None, hits[i], n, rate=0.01),
            }
            for i in range(models)
        ],
        "pairs": pairs(needed, "worst-case"),
        "assumptions": ["At most 1% of the labels are wrong."],
        "notes": [],
        "signature": "rank(method='worst-case', measure='accuracy', level=0.95, noise=0.01)  # n=12000, demele=1.0.0",
        "title": None,
        "reference": pairs(0.012, "reference") if reference else None,
    }


def assessment(classes: int = 10, *, noise: bool = True, kind: str = "bias-union") -> dict[str, Any]:
    """What ``Assessment.to_dict()`` returns."""
    rng = np.random.default_rng(7)
    names: list[Any] = [f"class {index}" for index in range(classes - 1)] + [HOSTILE]
    counts = rng.integers(0, 9, (classes, classes)) if classes <= 50 else rng.integers(0, 2, (classes, classes))
    counts[np.diag_indices(classes)] = rng.integers(150, 900, classes)
    if classes > 3:
        counts[2, 3] = 120
        counts[:, 1] = 0  # never predicted: its precision is not defined
    n = int(counts.sum())
    rate = 0.02 if noise else None
    hits = float(np.trace(counts))
    estimates = [
        estimate("accuracy", None, hits, n, rate=rate, kind=kind),
        estimate("error", None, n - hits, n, rate=rate, kind=kind),
    ]
    per_class = []
    for index, name in enumerate(names):
        right, predicted, labelled = (int(counts[index, index]), int(counts[:, index].sum()), int(counts[index].sum()))
        for measure, trials in (("precision", predicted), ("recall", labelled)):
            if trials:
                per_class.append(estimate(measure, name, right, trials, rate=rate, kind=kind))
            else:
                per_class.append(
                    {
                        "measure": measure,
                        "of": name,
                        "value": None,
                        "successes": 0.0,
                        "trials": 0.0,
                        "interval": None,
                        "bias": None,
                        "corrected": None,
                    }
                )
        jaccard = estimate("f1", name, right, predicted + labelled - right, rate=rate, kind=kind)
        jaccard["value"] = 2 * right / (predicted + labelled)
        for key in ("interval", "corrected"):
            if jaccard[key]:
                for end in ("low", "high"):
                    jaccard[key][end] = 2 * jaccard[key][end] / (1 + jaccard[key][end])
        per_class.append(jaccard)
    averages = [
        {
            "measure": measure,
            "of": average,
            "value": float(np.mean([item["value"] or 0.0 for item in per_class if item["measure"] == measure])),
            "successes": None,
            "trials": None,
            "interval": None,
            "bias": None,
            "corrected": None,
        }
        for measure in ("precision", "recall", "f1")
        for average in ("macro", "weighted")
    ]
    return {
        "kind": "assessment",
        "demele": "1.0.0",
        "n": n,
        "classes": names,
        "level": 0.95,
        "estimates": [*estimates, *per_class, *averages],
        "confusion": {"rows": "label", "classes": names, "counts": counts.tolist()} if classes <= 50 else None,
        "assumptions": ["At most 2% of the labels are wrong."] if noise else ["Every given label is right."],
        "notes": [
            {
                "code": "no-trial",
                "message": "precision of 1 class is not defined: it is never predicted",
                "subject": ["class 1"],
                "severity": "info",
            }
        ],
        "signature": "assess(noise=0.02, level=0.95)  # n=1, demele=1.0.0",
    }
