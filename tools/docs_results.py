"""The page of speed and scale: what ``make bench`` measured, read off the files of ``benchmarks/results``.

``machine.csv`` becomes a sentence, and every other CSV a table, under the first line of the docstring of the benchmark
that names it; but for those that stand on other pages.
"""

import ast
from pathlib import Path

from tools.docs_tables import read, table

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PAGE, TITLE = "results/speed.md", "Speed and scale"
#: What other pages show, and what is too long for a page.
ELSEWHERE = (
    *("mmlu_redux", "mmlu_redux_ranks", "mmlu_redux_pairs", "mmlu_redux_subjects"),
    *("comparison_power", "sequential_power", "guarantees", "audited_level"),
    *("comparison_methods", "comparison_methods_time", "annotators", "consensus", "entropy_threshold"),
    *("annotated_images", "annotated_images_annotators", "protocols", "protocols_published"),
    *("agreement_coverage", "agreement_likeness", "causes", "machine"),
)


def page(folder: Path) -> str:
    """Return the page of the files that are in a folder, a table for each; empty without one."""
    tables = {file.stem: read(file) for file in sorted(folder.glob("*.csv")) if file.stem not in ELSEWHERE}
    if not tables:
        return ""
    modules = (ast.parse(module.read_text(encoding="utf-8")) for module in sorted(BENCHMARKS.glob("*.py")))
    docstrings = [ast.get_docstring(module) or "" for module in modules]
    facts = ", ".join(f"{name} {value}" for row in read(folder / "machine.csv") for name, value in row.items())
    machine = f"Machine and versions: {facts}." if facts else ""
    parts = [f"# {TITLE}\n\nMeasured by `make bench`; every table is a file in `benchmarks/results`. {machine}\n"]
    for name, rows in tables.items():
        summary = next((text.partition("\n")[0] for text in docstrings if f"results/{name}.csv" in text), "")
        title = name.replace("_", " ").capitalize()
        parts.append(f"## {title}\n\n{summary}\n\n{table(rows[0], (row.values() for row in rows))}")
    return "\n".join(parts)
