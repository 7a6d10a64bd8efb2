"""The page of speed and scale: what ``make bench`` measured, read off the files of ``benchmarks/results``.

``machine.csv`` becomes a sentence, and every other CSV a table, under the first line of the docstring of the benchmark
that names it, with the picture ``NAME.svg`` if there is one; but for those that stand on other pages.
"""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.docs_tables import Row, read, table

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PAGE, TITLE = "results/speed.md", "Speed and scale"
#: Files for developers, too long for a page.
DEVELOPERS = ("profile", "causes")
#: What docs_agreement.py, docs_mmlu.py, docs_comparisons.py, docs_comparison_methods.py, docs_annotated_images.py,
#: docs_annotators.py and docs_protocols.py show elsewhere.
OWN_PAGES = (
    *("mmlu_redux", "mmlu_redux_ranks", "mmlu_redux_pairs", "mmlu_redux_subjects"),
    *("comparison_power", "sequential_power", "guarantees", "audited_level"),
    *("comparison_methods", "comparison_methods_time", "annotators", "consensus", "entropy_threshold"),
    *("annotated_images", "annotated_images_annotators"),
    *("protocols", "protocols_published"),
    *("agreement_coverage", "agreement_likeness"),
)
NOT_SHOWN = (*DEVELOPERS, *OWN_PAGES)


def page(folder: Path) -> str:
    """Return the page of the files that are in a folder; empty without one."""
    tables = {file.stem: read(file) for file in sorted(folder.glob("*.csv")) if file.stem not in NOT_SHOWN}
    machine = _machine(tables.pop("machine", []))
    return speed_page(tables, machine, {file.stem for file in folder.glob("*.svg")}) if tables else ""


def speed_page(tables: Mapping[str, Sequence[Row]], machine: str, pictures: set[str]) -> str:
    """Return one table per benchmark."""
    parts = [
        f"# {TITLE}\n",
        f"Measured by `make bench`; every table is a file in `benchmarks/results`. {machine}\n",
    ]
    for name, rows in tables.items():
        title = name.replace("_", " ").capitalize().replace("Irs", "IRS")
        parts.append(f"## {title}\n\n{_summary(name)}\n\n{_rows(rows)}")
        if name in pictures:
            parts.append(f"![{_summary(name)}]({name}.svg)\n")
    return "\n".join(parts)


def _machine(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    facts = ", ".join(f"{name} {value}" for name, value in rows[0].items())
    return f"Machine and versions: {facts}."


def _summary(name: str) -> str:
    """Return the first line of the docstring of the benchmark that writes the table, where there is one."""
    for module in sorted(BENCHMARKS.glob("*.py")):
        docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
        if f"results/{name}.csv" in docstring:
            return docstring.partition("\n")[0]
    return ""


def _rows(rows: Sequence[Row]) -> str:
    if not rows:
        return "No rows.\n"
    cells = [["0.0" if text == "-0.0" else text or "" for text in row.values()] for row in rows]
    return table(rows[0], cells)
