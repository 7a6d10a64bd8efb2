"""Names that users choose are text in every page: markup, quotes, right-to-left, very long ones change no element."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demele.report.page import h
from demele.report.study import write_study
from demele.report.words import Text, link, named, strong
from tests.report.sample_agreement import sample_study
from tests.report.test_html import Page

NAMES = (
    "<script>document.title='gone'</script>",
    "'\"><img src=x onerror=alert(1)>",
    "a & b &amp; c {{data}} {{script}}",
    "\N{RIGHT-TO-LEFT OVERRIDE}שלום עולם",
    "x" * 300,
)


#: Each page with its data and the words in them that users choose.
PAGES: dict[str, tuple[Callable[..., Path], Callable[[], Any], Callable[[Any], list[str]]]] = {
    "study": (
        write_study,
        lambda: sample_study().to_dict(),
        lambda data: [
            *(model[key] for model in data["models"] for key in ("configuration", "reason") if model[key]),
            *(data["settings"][key] for key in ("provenance", "images")),
        ],
    ),
}


def renamed(data: Any, names: dict[str, str]) -> Any:
    if isinstance(data, dict):
        return {names.get(key, key): renamed(item, names) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return [renamed(item, names) for item in data]
    return names.get(data, data) if isinstance(data, str) else data


def _page(kind: str, ending: str, path: Path) -> Page:
    write, sample, chosen = PAGES[kind]
    data = sample()
    # Still apart from each other: a number stands before what is dangerous.
    names = {name: f"{place} {ending}" for place, name in enumerate(dict.fromkeys(chosen(data)))}
    return Page(write(renamed(data, names), path / "page.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("name", NAMES, ids=["script", "quotes", "entities", "right-to-left", "long"])
def test_a_page_has_the_elements_that_it_has_with_plain_names(kind: str, name: str, tmp_path: Path) -> None:
    plain, hostile = _page(kind, "plain", tmp_path), _page(kind, name, tmp_path)
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert [sorted(own) for _, own in hostile.elements] == [sorted(own) for _, own in plain.elements]
    assert f"0 {name}" in hostile.words
    titles = [attributes for tag, attributes in hostile.elements if tag == "script"]
    assert len(titles) == len(hostile.scripts)


def test_what_is_no_markup_is_escaped_wherever_it_stands() -> None:
    for name in NAMES:
        shown = h("p", name, Text(named(name), strong(name), link("#a", name)), [name, (name,)], title=name)
        page = Page(shown)
        assert [tag for tag, _ in page.elements] == ["p", "bdi", "strong", "a"]
        assert "".join(page.text) == 6 * name
        assert page.elements[0][1] == {"title": name}
