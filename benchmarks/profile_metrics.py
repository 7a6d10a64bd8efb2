"""Where the time goes: the functions that take most of each metric's own time.

Run alone: ``python -m benchmarks.profile_metrics``; writes results/profile.csv.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cProfile
import pstats
import warnings
from pathlib import Path

import demele
from benchmarks.cases import levels, mixing, write_rows

N = 20_000
GROUPS = {
    "histogram family": (["mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "dlig"], False),
    "Explicitness": (["explicitness"], False),
    "SAP, categorical": (["sap"], True),
    "Z-diff": (["z_diff"], False),
    "Z-min variance": (["z_min_variance"], False),
    "Z-max variance": (["z_max_variance"], False),
    "IRS": (["irs"], False),
    "DCI Lasso": (["dci_lasso_modularity"], False),
    "DCI forest": (["dci_forest_modularity"], False),
    "DCI boosted trees": (["dci_boosting_modularity"], True),
}


def main() -> None:
    """Profile each group once, after a warm-up, and write the five largest shares."""
    warnings.simplefilter("ignore")
    codes, factors = mixing(N, 8, 0.2)
    rows = []
    for name, (metrics, categorical) in GROUPS.items():
        given = levels(factors) if categorical else factors
        demele.evaluate(codes[:500], given[:500], metrics)
        profile = cProfile.Profile()
        profile.enable()
        demele.evaluate(codes, given, metrics)
        profile.disable()
        stats = pstats.Stats(profile)
        total = stats.total_tt  # type: ignore[attr-defined]
        entries = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:5]  # type: ignore[attr-defined]
        for (file, _, function), (_, calls, own, _, _) in entries:
            rows.append(
                {
                    "metric": name,
                    "seconds": round(total, 3),
                    "function": f"{Path(file).stem}.{function}" if file != "~" else function.strip("<>{}"),
                    "calls": calls,
                    "own share": f"{own / total:.0%}",
                }
            )
        print(name, round(total, 3), [(row["function"], row["own share"]) for row in rows[-5:]], flush=True)
    write_rows("profile", rows)


if __name__ == "__main__":
    main()
