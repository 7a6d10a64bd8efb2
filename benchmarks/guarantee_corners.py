"""How often the audited comparison errs where it is weakest: few wrong labels, equal classifiers.

``benchmarks.guarantees`` draws test sets at random over a grid. Here the candidate is exactly as good as the other (or
leads by the most that is still no claim), and a few wrong labels repeat its errors: on all disagreements alike, or in
one tenth of their disagreement. Every claim is an error. Rows are in the order of their error rates, the worst first.

    python -m benchmarks.guarantee_corners   goes on where it stopped
                                             writes results/guarantee_corners.csv and audited_power.csv
"""

from typing import Any

from benchmarks.audit_worlds import Corner, drawn
from benchmarks.loop import Row, Table, main, share
from demele.classifiers.comparison.methods import METHODS
from demele.core.arrays import rng_for
from demele.core.proportions import exact_interval

REPEATS = 2000
POWER_REPEATS = 400


def corners() -> list[Corner]:
    """All corners in which every claim is an error."""
    two: dict[str, Any] = {"n": 2000, "apart": 260}
    pool: dict[str, Any] = {**two, "others": 4}
    few: dict[str, Any] = {"n": 2000, "scattered": True}
    found = [
        # Those of the specification.
        *(Corner(**two, copies=copies) for copies in (4, 2, 8, 20)),
        Corner(**two, neither=6),
        Corner(**two, copies=8, neither=8),
        *(Corner(**pool, copies=copies) for copies in (20, 25)),
        Corner(**pool, copies=20, place="least"),
        Corner(n=2000, apart=80, copies=6, size=100),
        Corner(n=200, apart=60, copies=6, size=50),
        Corner(n=20_000, apart=2600, copies=60, size=500),
        # Beyond overlap, with few wrong labels.
        *(Corner(**two, copies=copies, inference="overlap") for copies in (0, 4, 20)),
        *(Corner(**pool, copies=copies, inference="overlap") for copies in (4, 20)),
        Corner(**pool, copies=20, inference="overlap", place="least"),
        *(Corner(**two, copies=copies, inference="overlap", design="uniform") for copies in (4, 20, 60)),
        # One tenth of the disagreement.
        *(Corner(**pool, copies=11, place=f"decile {tenth}") for tenth in range(1, 11)),
        *(Corner(**pool, copies=copies, place=place) for copies in (5, 10, 40) for place in ("least", "most")),
        # Weights above and below 2.
        *(Corner(**two, copies=copies, size=size) for copies in (4, 20) for size in (100, 150, 190, 380)),
        Corner(**two, both=20),
        Corner(**two, copies=8, both=20, size=150),
        # Few disagreements, few of them audited, and perhaps none of those that could speak against the claim.
        *(Corner(**few, apart=30, copies=3, size=100, others=others) for others in (4, 8)),
        Corner(**few, apart=16, copies=2, size=100, others=4),
        Corner(**few, apart=60, copies=4, size=100, others=4),
        Corner(**few, apart=100, copies=5, size=40, others=8),
        *(Corner(**few, apart=30, copies=10, size=size, others=4, inference="population") for size in (40, 50, 100)),
        Corner(**few, apart=30, copies=3, size=100, others=4, inference="overlap"),
        # Other designs and inferences.
        *(Corner(**two, copies=copies, size=130, design="simple") for copies in (4, 20)),
        *(Corner(**two, copies=copies, design="uniform", size=size) for copies in (4, 20, 60) for size in (100, 300)),
        *(Corner(**two, copies=copies, inference="population") for copies in (0, 4, 20)),
        *(Corner(**pool, copies=copies, inference="population") for copies in (4, 20)),
        *(Corner(**two, copies=copies, inference="population", design="uniform") for copies in (4, 60)),
        # The proven bet.
        *(Corner(**two, copies=copies, exact=True) for copies in (4, 20)),
        Corner(**pool, copies=20, place="least", exact=True),
        Corner(n=200, apart=60, copies=6, size=50, exact=True),
    ]
    assert len({corner.name for corner in found}) == len(found)
    return found


def leads() -> list[Corner]:
    """Return corners in which the candidate is better: how often is it found?"""
    two: dict[str, Any] = {"n": 2000, "apart": 260}
    return [
        Corner(**two, noise=100, gap=20),
        Corner(**two, noise=100, size=100, gap=40),
        Corner(**two, both=20, size=100, gap=40),
        Corner(**two, noise=100, others=4, gap=40),
        Corner(**two, noise=100, others=4, gap=60),
        Corner(**two, noise=100, others=4, size=500, gap=40),
        Corner(n=20_000, apart=2600, noise=1000, size=500, gap=200),
        Corner(**two, noise=100, gap=20, exact=True),
        Corner(**two, noise=100, size=100, gap=40, exact=True),
        Corner(**two, both=20, size=100, gap=40, exact=True),
        Corner(**two, noise=100, others=4, gap=60, exact=True),
        Corner(n=2000, apart=80, size=100, gap=6),
        Corner(n=2000, apart=80, size=400, gap=6),
    ]


def measured(corner: Corner, repeats: int) -> dict[str, Any]:
    """Count the claims in a corner, with the mean distance between estimate and lower end, in rows."""
    claims, distance, leads = 0, 0.0, 0.0
    for repeat in range(repeats):
        rng = rng_for(0, "guarantee corners", corner.name, repeat)
        test_set = drawn(corner, rng, repeat)
        found = METHODS["audit"](test_set.question)
        claims += int(found.candidate[0])
        distance += float(found.difference[0] - found.low[0]) * corner.n
        leads += test_set.true_gap
    return {"claims": claims, "repeats": repeats, "distance": distance / repeats, "true_gap": leads / repeats}


def rows_of(found: list[tuple[Corner, dict[str, Any]]]) -> dict[str, list[Row]]:
    """Return the tables: errors, the worst first, and power."""
    rows: dict[str, list[Row]] = {"guarantee_corners": [], "audited_power": []}
    for corner, record in sorted(found, key=lambda item: -item[1]["claims"] / item[1]["repeats"]):
        repeats, power = record["repeats"], corner.gap > 0
        low, high = exact_interval(record["claims"], repeats, level=0.95)
        percent, error = share(record["claims"] / repeats, repeats, percent=True)
        row = {
            "cell": corner.name,
            "power_percent" if power else "error_percent": percent,
            "standard_error": error,
            "low": f"{100 * float(low):.2f}",
            "high": f"{100 * float(high):.2f}",
            "test_sets": repeats,
            "mean_distance_rows": f"{record['distance']:.1f}",
        }
        rows["audited_power" if power else "guarantee_corners"].append(row)
    return {file: own for file, own in rows.items() if own}


if __name__ == "__main__":
    table = Table(
        cells=lambda: [*corners(), *leads()],
        measured=measured,
        repeats=lambda corner: POWER_REPEATS if corner.gap else REPEATS,
        rows=rows_of,
        store=True,
        jobs=2,
    )
    main({"guarantee_corners": table})
