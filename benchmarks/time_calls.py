"""What calls on 20 000 rows, 8 codes and 8 factors cost beside another commit: metrics alone, and all that apply.

``python -m benchmarks.time_calls --against COMMIT``; writes results/calls.csv. Single thread.
"""

import statistics
from collections.abc import Callable

import demele
from benchmarks.cases import levels, mixing, write_rows
from benchmarks.paired import Case, Ratio, against

N = 20_000


def alone(name: str, *, classes: bool = False) -> Case:
    """One metric by its function: checks and guards, but no verdict on all codes."""

    def prepared() -> Callable[[], object]:
        codes, factors = mixing(N, 8, 0.2)
        given = levels(factors) if classes else factors
        return lambda: getattr(demele, name)(codes, given).value

    return prepared


def together(*names: str) -> Case:
    """Metrics in one call; those that are scored by default unless some are named."""

    def prepared() -> Callable[[], object]:
        given = mixing(N, 8, 0.2)
        return lambda: [score.value for score in demele.evaluate(*given, *([list(names)] if names else []))]

    return prepared


CASES: dict[str, Case] = {
    "mig": alone("mig"),
    "mcc": alone("mcc"),
    "mcc_rank": alone("mcc_rank"),
    "mcc_weak": alone("mcc_weak"),
    "mcc_weak, classes": alone("mcc_weak", classes=True),
    "r2_affine": alone("r2_affine"),
    "explicitness, classes": alone("explicitness", classes=True),
    "infoe, classes": alone("infoe", classes=True),
    "dci_lasso": together("dci_lasso_modularity"),
    "dci_boosting": together("dci_boosting_modularity"),
    "dci_forest": together("dci_forest_modularity"),
    "all": together("all"),
    "one of each property, with intervals and chance": together(),
    "mig, evaluated": together("mig"),
}


def row(found: Ratio, commit: str) -> dict[str, object]:
    """Return one line of the table."""
    return {
        "call": found.name,
        "then, CPU s": float(f"{statistics.median(found.then):.3g}"),
        "now, CPU s": float(f"{statistics.median(found.now):.3g}"),
        "ratio of turns": round(found.ratio, 2),
        "values": "the same bits" if found.same else "others",
        "against": commit,
    }


if __name__ == "__main__":
    commit, found = against("benchmarks.time_calls", CASES, __doc__)
    if len(found) == len(CASES):
        write_rows("calls", [row(one, commit) for one in found])
