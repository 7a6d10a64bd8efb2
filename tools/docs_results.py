"""Pages of measured results, read off the files in ``benchmarks/results``; nothing is typed in.

A hook of MkDocs, named in ``mkdocs.yml``. A page exists where its files do. ``machine.csv`` becomes a sentence, and
every other CSV a table on the page of speed and scale, under the first line of the docstring of the benchmark that
names it, with the picture ``NAME.svg`` if there is one; but for those that have a page of their own.
"""

import ast
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
RESULTS = BENCHMARKS / "results"
TITLES = {"results/speed.md": "Speed and scale"}
#: Files for developers, too long for a page.
DEVELOPERS = ("profile", "causes")
#: What docs_mmlu.py, docs_comparisons.py, docs_comparison_methods.py, docs_annotators.py and docs_protocols.py show
#: elsewhere.
OWN_PAGES = (
    *("mmlu_redux", "mmlu_redux_ranks", "mmlu_redux_pairs", "mmlu_redux_subjects"),
    *("comparison_power", "sequential_power", "guarantees", "audited_level"),
    *("comparison_methods", "comparison_methods_time", "annotators", "consensus", "entropy_threshold"),
    *("protocols", "protocols_published"),
)
NOT_SHOWN = (*DEVELOPERS, *OWN_PAGES)

Row = Mapping[str, str]


def on_config(config: Any) -> Any:
    """Add "Results" to the navigation, before the architecture, with the pages that exist."""
    pages = result_pages(RESULTS)
    if pages:
        position = next(index for index, item in enumerate(config.nav) if "Architecture" in item)
        config.nav.insert(position, {"Results": [{TITLES[path]: path} for path in pages]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and their pictures."""
    for path, content in result_pages(RESULTS).items():
        files.append(File.generated(config, path, content=content))
    for picture in sorted(RESULTS.glob("*.svg")):
        files.append(File.generated(config, f"results/{picture.name}", content=picture.read_text(encoding="utf-8")))
    return files


def result_pages(folder: Path) -> dict[str, str]:
    """Return the pages, by path, for the files that are in a folder."""
    tables = {file.stem: _read(file) for file in sorted(folder.glob("*.csv")) if file.stem not in NOT_SHOWN}
    machine = _machine(tables.pop("machine", []))
    pages = {}
    if tables:
        pages["results/speed.md"] = speed_page(tables, machine, {file.stem for file in folder.glob("*.svg")})
    return pages


def speed_page(tables: Mapping[str, Sequence[Row]], machine: str, pictures: set[str]) -> str:
    """Return one table per benchmark."""
    parts = [
        f"# {TITLES['results/speed.md']}\n",
        f"Measured by `make bench`; every table is a file in `benchmarks/results`. {machine}\n",
    ]
    for name, rows in tables.items():
        title = name.replace("_", " ").capitalize().replace("Irs", "IRS")
        parts.append(f"## {title}\n\n{_summary(name)}\n\n{_table(rows)}")
        if name in pictures:
            parts.append(f"![{_summary(name)}]({name}.svg)\n")
    return "\n".join(parts)


def _read(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


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


def _table(rows: Sequence[Row]) -> str:
    if not rows:
        return "No rows.\n"
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([_cell(row[name]) for name in header] for row in rows)]
    return "\n".join(_line(cells) for cells in lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str | None) -> str:
    text = "0.0" if text == "-0.0" else text or ""
    return text.replace("|", "\\|").replace("*", "\\*").replace("\n", " ")
