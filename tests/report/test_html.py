"""The page as a file: whole, safe, the same numbers as the evaluations, and readable without a script."""

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from demele.core.errors import InputError
from demele.core.results import Evaluation
from demele.report.scores import write_report
from tests.report.sample_evaluation import NASTY, SPECS, sample_evaluation, sample_evaluations

_VOID = {"meta", "link", "input", "br", "img", "rect"}


class Page(HTMLParser):
    """Elements with their attributes, and the text of each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script":
            self.scripts[-1] += data
        elif not self._open or self._open[-1] != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def script(self, identity: str) -> Any:
        position = [attributes.get("id") for attributes in self.all("script")].index(identity)
        text = self.scripts[position]
        if self.all("script")[position]["type"] == "application/octet-stream":
            text = zlib.decompress(base64.b64decode(text)).decode()
        return json.loads(text)


def _write(tmp_path: Path, evaluations: list[Evaluation], **options: Any) -> str:
    path = write_report([item.to_dict() for item in evaluations], tmp_path / "report.html", **options)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _write(tmp_path_factory.mktemp("report"), sample_evaluations(), specs=SPECS)


@pytest.fixture(scope="module")
def page(four: str) -> Page:
    return Page(four)


def test_returns_the_path_and_writes_the_same_bytes_again(tmp_path: Path) -> None:
    dictionaries = [sample_evaluation().to_dict()]
    first = write_report(dictionaries, tmp_path / "a.html", specs=SPECS)
    second = write_report(dictionaries, tmp_path / "b.html", specs=SPECS)
    assert first == tmp_path / "a.html"
    assert first.read_bytes() == second.read_bytes()


def test_is_no_larger_than_what_it_shows(four: str) -> None:
    assert len(four.encode()) < 600_000


def test_no_address_leads_out_of_the_file(page: Page) -> None:
    for _, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            address = attributes.get(name)
            assert address is None or address.startswith(("#", "data:,")), (name, address)


def test_policy_allows_these_scripts_and_nothing_else(page: Page) -> None:
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy") or ""
    assert policy.startswith("default-src 'none';")
    runnable = [
        script
        for script, attributes in zip(page.scripts, page.all("script"), strict=True)
        if not attributes.get("type")
    ]
    digests = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in runnable}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == digests
    assert len(digests) == 2
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_data_of_the_page_are_the_evaluations(page: Page, tmp_path: Path) -> None:
    assert page.script("data") == {"evaluations": [item.to_dict() for item in sample_evaluations()]}
    alone = sample_evaluation()
    assert Page(_write(tmp_path, [alone])).script("data") == alone.to_dict()


def test_hostile_names_are_text(page: Page, four: str) -> None:
    assert len(page.all("script")) == 4
    assert not page.all("b")
    assert not page.all("i") or all("class" in attributes for attributes in page.all("i"))
    for name in NASTY:
        assert " ".join(name.split()) in page.words
    outside = four.replace(max(page.scripts, key=len), "")
    assert "<script>document.title" not in outside
    assert four.count("</script>") == 4


def test_names_that_utf8_cannot_hold_do_not_stop_the_page(tmp_path: Path) -> None:
    text = _write(tmp_path, [sample_evaluation(name="lone \udc80 surrogate")])
    assert "lone ? surrogate" in text


def test_identities_are_unique_and_links_lead_somewhere(page: Page) -> None:
    identities = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(identities) == len(set(identities))
    targets = {(attributes["href"] or "")[1:] for attributes in page.all("a")}
    assert targets <= set(identities), targets - set(identities)


def test_can_be_read_by_a_screen_reader(page: Page) -> None:
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == len(page.all("main")) == 1
    assert len(page.all("caption")) == len(page.all("table"))
    for attributes in page.all("svg"):
        assert attributes.get("aria-hidden") == "true"  # the number stands beside it
    for tag, attributes in page.elements:
        if attributes.get("role") == "img":
            assert attributes.get("aria-label"), (tag, attributes)
        if tag == "section":
            assert attributes.get("aria-labelledby")
        if tag == "th":
            assert attributes.get("scope") in {"row", "col", "rowgroup"}


def test_shows_scores_to_three_digits_with_interval_and_chance(page: Page) -> None:
    score = sample_evaluations()[0]["irs"]
    assert score.interval is not None
    assert f"{score.value:.3f}" in page.words
    assert f"[{score.interval.low:.3f}, {score.interval.high:.3f}]" in page.words
    assert "chance 0.015" in page.words


def test_says_why_a_number_is_missing(page: Page) -> None:
    reasons = [attributes.get("title") or "" for attributes in page.all("button")]
    assert "No number: a class has one row: no split is possible" in reasons
    assert "it needs the standard deviations of the codes: give codes_std" in page.words
    assert "4 scores undefined and 2 metrics left out" in page.words


def test_marks_fragile_scores_with_their_reason(page: Page) -> None:
    marked = [a for a in page.all("button") if a.get("class") == "mark fragile"]
    fragile = [score for item in sample_evaluations() for score in item if score.fragile]
    assert len(marked) == len(fragile) == 12
    assert {a["title"] for a in marked} == {f"Fragile: {score.notes[0].message}" for score in fragile}
    assert "12 of 88 scores are fragile" in page.words


def test_every_signature_can_be_copied(page: Page) -> None:
    for item in sample_evaluations():
        for score in item:
            assert " ".join(str(score.signature).split()) in page.words
    assert len([a for a in page.all("button") if a.get("class") == "copy"]) == 88


def test_explains_the_metrics(page: Page) -> None:
    assert "Chen et al. 2018, eq. 6" in page.words
    assert "−1 to 1 · best 1" in page.words
    assert "claims modularity and compactness and explicitness" in page.words


def test_does_without_what_is_not_known(tmp_path: Path) -> None:
    words = Page(_write(tmp_path, [sample_evaluation(intervals=False)], specs={})).words
    assert "nothing more is known of it" in words
    assert "No intervals were asked for" in words
    assert "Other metrics" in words


def test_range_without_end_is_written_as_such(tmp_path: Path) -> None:
    specs = {**SPECS, "dlig": {**SPECS["dlig"], "range": (float("-inf"), float("inf"))}}
    assert "−∞ to ∞ · best 1" in Page(_write(tmp_path, [sample_evaluation()], specs=specs)).words


def test_leaves_out_figures_that_have_nothing_to_show(tmp_path: Path) -> None:
    data = sample_evaluation().to_dict()
    data["scores"] = [score for score in data["scores"] if score["metric"] == "z_diff"]
    data["dependency"] = []
    page = Page(write_report([data], tmp_path / "r.html", specs=SPECS).read_text(encoding="utf-8"))
    sections = {attributes["id"] for attributes in page.all("section")}
    assert sections == {"verdict", "scores", "notes", "inputs", "metrics", "made"}


def test_title_is_escaped(tmp_path: Path) -> None:
    text = _write(tmp_path, [sample_evaluation()], title="Runs <1> & 2")
    assert "<h1>Runs &lt;1&gt; &amp; 2</h1>" in text


def test_refuses_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected at least one"):
        write_report([], tmp_path / "r.html")
