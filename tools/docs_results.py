"""The page of speed and scale: what ``make bench`` measured, read off the files of ``benchmarks/results``.

``machine.csv`` becomes a sentence, and every other CSV a table, under the first line of the docstring of the benchmark
that names it, with the picture ``NAME.svg`` if there is one; but for those that stand on other pages.
"""

import ast
from functools import cache
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
    facts = ", ".join(f"{name} {value}" for row in read(folder / "machine.csv") for name, value in row.items())
    machine = f"Machine and versions: {facts}." if facts else ""
    parts = [f"# {TITLE}\n\nMeasured by `make bench`; every table is a file in `benchmarks/results`. {machine}\n"]
    for name, rows in tables.items():
        title = name.replace("_", " ").capitalize().replace("Irs", "IRS")
        cells = [["0.0" if text == "-0.0" else text or "" for text in row.values()] for row in rows]
        shown = table(rows[0], cells) if rows else "No rows.\n"
        parts.append(f"## {title}\n\n{_summary(name)}\n\n{shown}")
        if (folder / f"{name}.svg").exists():
            parts.append(f"![{_summary(name)}]({name}.svg)\n")
    return "\n".join(parts)


def _summary(name: str) -> str:
    """Return the first line of the docstring of the benchmark that writes the table, where there is one."""
    return next((text.partition("\n")[0] for text in _docstrings() if f"results/{name}.csv" in text), "")


@cache
def _docstrings() -> list[str]:
    modules = (ast.parse(module.read_text(encoding="utf-8")) for module in sorted(BENCHMARKS.glob("*.py")))
    return [ast.get_docstring(module) or "" for module in modules]
