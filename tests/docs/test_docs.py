"""README and documentation are true: what they show runs and prints what they say, what they link to exists."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import demele
from demele.classifiers.comparison.methods import METHODS
from demele.cli.main import COMMANDS
from demele.core.bibliography import bibliography, parse, referenced
from demele.metrics.catalogue import CATALOGUE
from tools import (
    docs_agreement,
    docs_api,
    docs_bench,
    docs_bibliography,
    docs_docstrings,
    docs_gallery,
    docs_landing,
    docs_measured,
    docs_metrics,
    docs_pruning,
    docs_results,
    docs_which,
)
from tools.docs_snippets import ROOT, corrected_page, pages

DOCS = ROOT / "docs"
ROOMS = ("bench", "bins", "classifiers", "data", "errors", "explain", "lab", "labels", "metrics", "probes")
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
GENERATED = {
    "reference/metrics.md",
    "reference/cli.md",
    *docs_landing.PICTURES,
    docs_bibliography.PAGE,
    docs_gallery.PAGE,
    docs_results.PAGE,
    *(page.path for page in (docs_measured.MMLU, docs_measured.COMPARISONS, docs_measured.METHODS)),
    docs_which.PAGE,
    *docs_bench.TITLES,
    docs_agreement.PAGE,
    docs_pruning.PAGE,
}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.name == "README.md" else pytest.mark.long) for page in pages()],
    ids=named,
)
def test_blocks_print_what_the_page_says(page: Path) -> None:
    assert corrected_page(page) == page.read_text(encoding="utf-8"), (
        "python -m tools.docs_snippets --write puts the new output in"
    )


def test_relative_links_resolve() -> None:
    for page in WRITTEN:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if "://" in target:
                continue
            path = (page.parent / target).resolve()
            generated = path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix() in GENERATED
            assert path.exists() or generated, f"{named(page)} links to {target}"


def test_modules_that_the_page_on_architecture_names_exist() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    house = ROOT / "src" / "demele"
    rooms = [path.name for path in house.iterdir() if (path / "__init__.py").exists()]
    found = re.findall(rf"`((?:{'|'.join(rooms)})(?:[./][a-z_0-9]+)+)(?:\.py)?`", page)
    assert len(found) > 60
    for name in found:
        parts = re.split(r"[./]", name)
        below = [house.joinpath(*parts[:place]) for place in (len(parts), len(parts) - 1)]
        assert (
            any(path.with_suffix(".py").exists() for path in below) or below[0].is_dir() or (house / name).exists()
        ), name


def test_included_files_exist() -> None:
    for page in WRITTEN:
        for target in re.findall(r'^--8<-- "([^":]+)', page.read_text(encoding="utf-8"), re.MULTILINE):
            assert (ROOT / target).exists(), f"{named(page)} includes {target}"


def test_public_names_are_documented() -> None:
    for name in [name for name in demele.__all__ if name not in ROOMS]:
        page = docs_api.text_of_pages()
        assert re.search(rf"^::: demele\.{name}$", page, re.MULTILINE) or f"`demele.{name}`" in page


def test_names_of_public_rooms_are_documented() -> None:
    for room in ROOMS:
        page = docs_api.text_of_pages()
        for name in getattr(demele, room).__all__:
            entries = re.findall(rf"^::: demele\.{room}\.(?:{name.lower()}\.)?{name}$", page, re.MULTILINE)
            assert len(entries) == 1 or (not entries and f"`demele.{room}.{name}`" in page), name


def test_the_list_of_names_leads_to_each_entry_once() -> None:
    listed = re.findall(r"^\| \[`[^`]+`\]\[([^\]]+)\] \| \S", docs_api.index(DOCS), re.MULTILINE)
    assert sorted(listed) == sorted(docs_docstrings.documented_names())
    assert len(listed) == len(set(listed)) > 200


def test_documented_names_exist() -> None:
    for path in docs_docstrings.documented_names():
        home, _, name = path.rpartition(".")
        found = getattr(importlib.import_module(home), name)  # a function may have the name of its module
        assert inspect.getdoc(found), f"{path} has no docstring"


def test_every_page_is_in_the_navigation() -> None:
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        assert re.search(rf"[:-] {re.escape(page.relative_to(DOCS).as_posix())}\n", configuration), page


def test_how_tos_are_short() -> None:
    for page in sorted((DOCS / "howto").glob("*.md")):
        assert len(page.read_text(encoding="utf-8").split()) <= 900


def test_the_index_for_language_models_names_what_exists() -> None:
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    found = re.findall(r"\]\(([^)]+)\.html\)", text)
    assert len(found) > 15
    for page in found:
        assert f"{page}.md" in GENERATED or (DOCS / f"{page}.md").exists(), page
    for name in re.findall(r"`demele\.([\w.]+)\(", text):
        module, _, function = f"demele.{name}".rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))


def test_the_first_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130


# What is generated ---------------------------------------------------------------------------------------------------


def test_metrics_page_holds_definition_source_and_defaults() -> None:
    for name in CATALOGUE:
        page, spec = docs_metrics.metrics_page(), CATALOGUE[name]
        entry = page.partition(f"{{#{name}}}")[2].partition("\n### ")[0]
        assert spec.source in entry
        for work in referenced(spec.references):
            assert docs_metrics.reference(work) in entry
        assert docs_metrics.escaped(spec.definition) in entry
        for parameter in inspect.signature(demele.metrics.describe(name).call).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                assert f"| `{parameter.name}` | `" in entry


def test_command_line_page_holds_the_help_of_every_command() -> None:
    page = docs_metrics.command_line_page()
    for text in (*(f"## demele {name}" for name in COMMANDS), "--bootstrap", "--noise RATE|FILE"):
        assert text in page


def test_page_on_comparisons_names_every_method() -> None:
    for name in METHODS:
        page = (DOCS / "howto" / "choose-a-comparison-method.md").read_text(encoding="utf-8")
        shown = (
            rf"\| `({name}|{name.title().replace('-', '')}\(\w*\))`"  # by its name, or as an object with its options
        )
        assert any(
            line.startswith("| ") and re.search(shown, line) and line.count("|") == 5 for line in page.splitlines()
        ), name


# The project's own papers --------------------------------------------------------------------------------------------


def test_where_figures_are_put_at_the_build_the_source_says_where_they_are() -> None:
    """Whoever reads a page in the repository sees no more of a mark than nothing."""
    marked = 0
    for page in sorted(DOCS.rglob("*.md")):
        for after in re.split(r"<!-- measured-[a-z-]+ -->", page.read_text(encoding="utf-8"))[1:]:
            named = re.match(r"\s+The figures are in `(benchmarks/results/\w+\.csv)`, (?:made by|measured once)", after)
            assert named, page
            assert (ROOT / named[1]).is_file()
            marked += 1
    assert marked >= 5


def test_the_paper_cites_what_its_bibliography_has() -> None:
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z]+)", (ROOT / "paper.md").read_text(encoding="utf-8")))
    entries = {entry.key: entry for entry in parse((ROOT / "paper.bib").read_text(encoding="utf-8"))}
    assert cited == set(entries)
    for key in cited & set(bibliography()):
        assert entries[key] == bibliography()[key], key
