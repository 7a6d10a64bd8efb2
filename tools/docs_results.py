"""Pages of measured results, read off the CSV files in ``benchmarks/results``; nothing is typed in.

A hook of MkDocs, named in ``mkdocs.yml``. A page exists where its file does: ``redundant.csv`` becomes a comparison with
a published table, ``machine.csv`` a sentence, and every other file a table on the page of speed and scale, under the
first line of the docstring of the benchmark ``benchmarks/time_NAME.py`` that wrote it.
"""

import ast
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TITLES = {"results/redundant.md": "A published table, redone", "results/speed.md": "Speed and scale"}

Row = Mapping[str, str]


def on_config(config: Any) -> Any:
    """Add "Results" to the navigation, before the architecture, with the pages that exist."""
    pages = result_pages(RESULTS)
    if pages:
        position = next(index for index, item in enumerate(config.nav) if "Architecture" in item)
        config.nav.insert(position, {"Results": [{TITLES[path]: path} for path in pages]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    for path, content in result_pages(RESULTS).items():
        files.append(File.generated(config, path, content=content))
    return files


def result_pages(folder: Path) -> dict[str, str]:
    """Return the pages, by path, for the files that are in a folder."""
    rows = {file.stem: _read(file) for file in sorted(folder.glob("*.csv"))}
    machine = _machine(rows.pop("machine", []))
    pages = {}
    if "redundant" in rows:
        pages["results/redundant.md"] = redundant_page(rows.pop("redundant"))
    if rows:
        pages["results/speed.md"] = speed_page(rows, machine)
    return pages


def redundant_page(rows: Sequence[Row]) -> str:
    """Return the comparison with the published values: a table of all, then the differences one by one."""
    parts = [
        f"# {TITLES['results/redundant.md']}\n",
        'Scenario "redundant" of the review of disentanglement metrics by Carbonneau, Zaidi, Boilard and Gagnon (2022): '
        "several codes hold the same factor. Our values stand beside the printed ones, which have one decimal. "
        "Modularity should be 1, compactness below 1.\n",
        "A difference has a cause, and the last column names it. demele computes the definition; the printed values "
        "also carry choices and slips of the code that made them.\n",
        _table(rows),
    ]
    return "\n".join(parts)


def speed_page(tables: Mapping[str, Sequence[Row]], machine: str) -> str:
    """Return one table per benchmark."""
    parts = [
        f"# {TITLES['results/speed.md']}\n",
        "Measured by `make bench`; every table is a file in `benchmarks/results`.\n",
    ]
    if machine:
        parts.append(f"{machine}\n")
    for name, rows in tables.items():
        parts.append(f"## {name.replace('_', ' ').capitalize()}\n\n{_summary(name)}\n\n{_table(rows)}")
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
    """Return the first line of the docstring of the benchmark that wrote the table, where there is one."""
    for module in (ROOT / "benchmarks" / f"time_{name}.py", ROOT / "benchmarks" / f"{name}.py"):
        if module.exists():
            docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
            return docstring.partition("\n")[0]
    return ""


def _table(rows: Sequence[Row]) -> str:
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([_cell(row[name]) for name in header] for row in rows)]
    return "\n".join(_line(cells) for cells in lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("*", "\\*").replace("\n", " ")
