"""How often the candidate is taken wrongly when the expert repeats its errors: with and without ``expert_error=``.

    python -m benchmarks.expert_error     a few minutes on one core

Writes results/expert_error.csv. Test sets of 2 000 rows on which two equally good classifiers disagree on D rows. On a
share e of these, where the baseline is right, the expert says what the candidate says; the given labels say so
too, and on ``copies`` more rows. Each "candidate better" is an error, at a level of 2.5%. What is to be better: more
right answers on these rows.
"""

from dataclasses import asdict, dataclass, replace

import numpy as np

from benchmarks import pairs
from benchmarks.loop import Row, Table, main, share
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.question import Question
from demele.core.arrays import rng_for
from demele.noise.audit import CodedAudit, disagreement, draw_audit

K, N = 10, 2000
REPEATS, UNAWARE_REPEATS = 2000, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One world: the method with its audit, disagreements, share of the expert's errors, copies in the labels."""

    method: str
    design: str
    labels: int
    disagreements: int
    error: float
    copies: int


CELLS = (
    Cell(method="sequential", design="uniform", labels=2000, disagreements=260, error=0.02, copies=0),
    Cell(method="sequential", design="uniform", labels=1000, disagreements=260, error=0.05, copies=10),
    Cell(method="sequential", design="uniform", labels=1000, disagreements=600, error=0.02, copies=10),
    Cell(method="audit", design="weighted", labels=300, disagreements=260, error=0.02, copies=0),
    Cell(method="audit", design="weighted", labels=300, disagreements=260, error=0.02, copies=4),
    Cell(method="audit", design="weighted", labels=300, disagreements=260, error=0.05, copies=10),
    Cell(method="audit", design="weighted", labels=100, disagreements=80, error=0.05, copies=6),
    Cell(method="audit", design="uniform", labels=300, disagreements=260, error=0.02, copies=10),
)


def question(cell: Cell, rng: np.random.Generator, seed: int) -> Question:
    """Draw a test set and its audit."""
    d = cell.disagreements
    truth = rng.integers(0, K, N).astype(np.int32)
    wrong = ((truth + rng.integers(1, K, N)) % K).astype(np.int32)
    other = ((truth + 1 + ((wrong - truth - 1) % K + rng.integers(1, K - 1, N)) % (K - 1)) % K).astype(np.int32)
    # Rows 0 to d - 1 are the disagreements: as many that one has right as that the other has, a tenth none.
    each = (9 * d) // 20
    kind = np.select([np.arange(N) < each, np.arange(N) < 2 * each, np.arange(N) < d], [0, 1, 2], 3)
    same = np.where(rng.random(N) < 0.9, truth, wrong)
    old = np.select([kind == 0, kind == 3], [truth, same], wrong)
    new = np.select([kind == 1, kind == 0, kind == 2], [truth, wrong, other], same)
    mistaken = int(np.floor(cell.error * d + 1e-9))
    rows = rng.permutation(each)
    expert, given = truth.copy(), truth.copy()
    expert[rows[:mistaken]] = new[rows[:mistaken]]
    given[rows[: mistaken + cell.copies]] = new[rows[: mistaken + cell.copies]]
    if cell.design == "uniform":
        drawn = draw_audit(N, cell.labels, seed=seed).rows
        inclusion = np.full(drawn.size, drawn.size / N)
    else:
        plan = draw_audit(N, cell.labels, disagreement=disagreement([old, new]), seed=seed)
        drawn, inclusion = plan.rows, np.asarray(plan.probabilities)
    audit = CodedAudit(drawn, expert[drawn], inclusion, cell.design, N)  # type: ignore[arg-type]
    return pairs.asked(given, [old, new], K, inference="test_set", audit=audit)


def taken(cell: Cell, *, aware: bool, repeats: int) -> float:
    """Share of test sets on which the candidate is taken."""
    claims = 0
    for repeat in range(repeats):
        asked = question(cell, rng_for(0, "expert_error", str(asdict(cell)), repeat), repeat)
        asked = replace(asked, expert_error=cell.error) if aware else asked
        claims += int(METHODS[cell.method](asked).candidate[0])
    return claims / repeats


def errors(cell: Cell, repeats: int) -> Row:
    """Simulate a cell, knowing of the expert's errors and not."""
    fewer = min(repeats, UNAWARE_REPEATS)
    found, unaware = taken(cell, aware=True, repeats=repeats), taken(cell, aware=False, repeats=fewer)
    row: Row = asdict(cell)
    row["type_1"], row["standard_error"] = share(found, repeats)
    return {
        **row,
        "test_sets": repeats,
        "type_1_without_expert_error": f"{unaware:.4f}",
        "test_sets_without": fewer,
    }


def worst_first(found: list[tuple[Cell, Row]]) -> list[Row]:
    """Return the rows by how often the candidate is taken."""
    return sorted((row for _, row in found), key=lambda row: -float(row["type_1"]))


if __name__ == "__main__":
    main({"expert_error": Table(cells=CELLS, measured=errors, repeats=REPEATS, rows=worst_first)})
