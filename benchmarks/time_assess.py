"""Assessing a classifier of many classes on many instances: CPU seconds and peak memory, one process per case.

``python -m benchmarks.time_assess``: each case runs in a process of its own.
"""

import time

import numpy as np

from benchmarks.cases import peak_mib
from benchmarks.loop import Row, Table, main

CASES = [
    (100_000, 10, "nothing"),
    (1_000_000, 10, "rate"),
    (1_000_000, 1_000, "nothing"),
    (1_000_000, 1_000, "rate"),
    (1_000_000, 1_000, "matrix"),
    (1_000_000, 1_000, "counts"),
    (1_000_000, 1_000, "audit"),
    (1_000_000, 1_000, "true labels"),
    (1_000_000, 1_000, "names"),
]


def measure(case: tuple[int, int, str]) -> Row:
    """Assess once; peak memory is of the whole process, with its input and imports."""
    from demele.evaluation.measures.assess import assess
    from demele.noise.audit_drawing import draw_audit
    from demele.noise.transition import TransitionCounts, TransitionMatrix, estimate_transition

    n, k, known = case
    rng = np.random.default_rng(0)
    true = rng.integers(0, k, n)
    labels = np.where(rng.random(n) < 0.05, rng.integers(0, k, n), true)
    predictions = np.where(rng.random(n) < 0.85, true, rng.integers(0, k, n))
    options: dict[str, object] = {}
    if known in ("rate", "names"):
        options["noise"] = 0.05
    elif known == "matrix":
        options["noise"] = TransitionMatrix(0.95 * np.eye(k) + 0.05 / k)
    elif known == "counts":
        counts: TransitionCounts = estimate_transition(true[:50_000], labels[:50_000], classes=range(k))
        options["noise"] = counts
    elif known == "audit":
        plan = draw_audit(n, 2_000, seed=0)
        options["audit"] = plan.answered(true[plan.rows])
    elif known == "true labels":
        options["true_labels"] = true
    given: tuple[object, object] = (predictions, labels)
    if known == "names":
        words = np.array([f"class {i:04d}" for i in range(k)])
        given = words[predictions], words[labels]
    started = time.process_time()
    found = assess(*given, **options)  # type: ignore[arg-type]
    cpu = time.process_time() - started
    right = float((predictions == labels).mean())
    assert abs(found["accuracy"].value - right) < 1e-12
    assert len(found.estimates) == 2 + 3 * k + 6
    figures = {"cpu seconds": round(cpu, 2), "peak MiB": round(peak_mib()), "accuracy": round(right, 4)}
    return {"rows": n, "classes": k, "known": known, **figures}


if __name__ == "__main__":
    main({"assess_speed": Table(cells=CASES, measured=measure, alone=True)})
