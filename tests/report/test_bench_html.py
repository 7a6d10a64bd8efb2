"""The page about metrics: whole, safe, true to the characterisation, readable without a script, alive with one."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from demele.core.errors import InputError
from demele.report.bench import write_bench_report
from demele.report.bench_cards import sparkline
from demele.report.page import identity
from demele.report.words import fine
from tests.report.sample_characterisation import (
    HOSTILE,
    minimal_characterisation,
    own_characterisation,
    sample_characterisation,
)
from tests.report.test_browser import _BROWSER, _document_after_scripts
from tests.report.test_html import Page


def _write(tmp_path: Path, data: dict[str, Any], **options: Any) -> str:
    text = write_bench_report(data, tmp_path / "bench.html", **options).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/octet-stream" id="evidence-html">(.*?)</script>', text)
    if found is None:
        return text
    # As the script of the page does it.
    evidence = json.loads(zlib.decompress(base64.b64decode(found[1])))
    return text.replace(found[0], "").replace('<div id="evidence-place"></div>', evidence)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _write(tmp_path_factory.mktemp("bench"), sample_characterisation())


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def _cells(page: Page) -> list[dict[str, str | None]]:
    return [item for item in page.all("a") if (item.get("class") or "").startswith("cell ")]


# The file as a whole --------------------------------------------------------------------------------------------------


def test_returns_the_path_and_writes_the_same_bytes_again(tmp_path: Path) -> None:
    first = write_bench_report(sample_characterisation(), tmp_path / "a.html")
    second = write_bench_report(sample_characterisation(), tmp_path / "b.html")
    assert first == tmp_path / "a.html"
    assert first.read_bytes() == second.read_bytes()


def test_data_of_the_page_are_the_characterisation(page: Page) -> None:
    assert page.script("data") == sample_characterisation()


def test_no_address_leads_out_of_the_file(page: Page) -> None:
    for _, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            address = attributes.get(name)
            assert address is None or address.startswith(("#", "data:,")), (name, address)


def test_policy_allows_these_scripts_and_nothing_else(page: Page) -> None:
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy") or ""
    runnable = [
        script
        for script, attributes in zip(page.scripts, page.all("script"), strict=True)
        if not attributes.get("type")
    ]
    digests = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in runnable}
    assert policy.startswith("default-src 'none';")
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == digests
    assert len(digests) == 2


def test_hostile_names_are_text(page: Page, text: str) -> None:
    assert len(page.all("script")) == text.count("</script>") == 3
    assert not page.all("img")
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    outside = text.replace(max(page.scripts, key=len), "")
    assert "<script>document.title" not in outside
    assert "<b>\"'>" not in outside
    assert HOSTILE in page.words
    assert f"codes shifted by {HOSTILE}" in page.words
    assert f"takes no part: it declines <b>{HOSTILE}" in page.words
    # Attributes hold the name as it is, so that the script finds its curves.
    assert {item["data-metric"] for item in page.all("button") if "data-metric" in item} >= {HOSTILE, "mig"}


def test_signs_that_utf8_cannot_hold_do_not_part_page_and_data(tmp_path: Path) -> None:
    data = minimal_characterisation()
    data["metrics"][0]["title"] = "lone \udc80 surrogate"
    page = Page(_write(tmp_path, data))
    assert "lone ? surrogate" in page.words
    assert page.script("data")["metrics"][0]["title"] == "lone ? surrogate"


def test_identities_are_unique_and_links_lead_somewhere(page: Page) -> None:
    identities = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(identities) == len(set(identities))
    targets = {(attributes["href"] or "")[1:] for attributes in page.all("a")}
    assert targets <= set(identities), targets - set(identities)


def test_different_names_have_different_identities() -> None:
    names = [("a-b", "c"), ("a", "b-c"), ("a.2d.b", "c"), ("A-b", "c"), ("a b", "c")]
    assert len({identity("evidence", *pair) for pair in names}) == len(names)


def test_can_be_read_by_a_screen_reader(page: Page) -> None:
    assert len(page.all("h1")) == len(page.all("main")) == 1
    assert len(page.all("caption")) == len(page.all("table"))
    for attributes in page.all("svg"):
        assert attributes.get("aria-hidden") == "true"  # its ends stand beside it
    for tag, attributes in page.elements:
        if tag == "section":
            assert attributes.get("aria-labelledby")
        if tag == "th":
            assert attributes.get("scope") in {"row", "col", "rowgroup", "colgroup"}


# Verdicts and their evidence ------------------------------------------------------------------------------------------


def test_every_verdict_is_a_cell_with_its_evidence(page: Page) -> None:
    labels = [unescape(item["aria-label"] or "") for item in _cells(page) if item.get("aria-label")]
    assert len(labels) == len(sample_characterisation()["verdicts"]) == 11
    assert "MIG, Calibrated: holds" in labels
    assert "MIG, Several codes per factor: fails; differs from print: yes" in labels
    assert "MIG, No discretisation: fails" in labels  # as printed: because of discretisation
    assert f"{HOSTILE}, Invariant to scale: undecided" in labels
    evidence = {item["id"] for item in page.all("div") if item.get("class") == "evidence-body"}
    assert evidence == {
        identity("evidence", verdict["row"], verdict["criterion"]) for verdict in sample_characterisation()["verdicts"]
    }
    assert "evidence-mig-multi_code" in evidence


def test_own_rows_come_first_and_added_criteria_have_their_own_table(page: Page) -> None:
    links = [item["href"] for item in _cells(page) if item.get("aria-label")]
    own = identity("evidence", HOSTILE, "calibrated")
    assert links[0] == f"#{own}"
    assert links.index("#evidence-dci-no_bins") < links.index("#evidence-mig-invariant")  # another table
    assert {item["id"] for item in page.all("table") if item.get("id")} == {"verdicts-table", "added-table"}


def test_shows_every_number_of_the_evidence(page: Page) -> None:
    for verdict in sample_characterisation()["verdicts"]:
        assert " ".join(verdict["summary"].split()) in page.words
        for part in verdict["parts"]:
            for condition in part["conditions"]:
                assert fine(condition["estimate"]) in page.words
                assert fine(condition["bound"]) in page.words
    assert "[0.543, 0.765]" in page.words
    assert "[−∞, 0.0009]" in page.words
    assert "the rule of calibrated: at least 0.95 & no less" in page.words
    assert "Is it so that Invariant to scale?" in page.words
    assert "declared by mig" in page.words


def test_counts_what_was_found(page: Page) -> None:
    # Counted by hand from the eleven verdicts of the sample.
    assert "Of 11 cells in all, 4 hold, 3 fail, 2 are undecided and 2 are not applicable." in page.words
    assert (
        f"Your metric {HOSTILE}, by the criteria of the review: 1 holds, 1 fails and 1 is not applicable; "
        "beyond the review: 1 is undecided."
    ) in page.words
    assert f"Most criteria of the review are held by {HOSTILE}, MIG and DCI: 1 of the 3." in page.words
    assert "2 of 3 cells agree with the printed table" in page.words


def _table(text: str, name: str) -> str:
    found = re.search(rf'<table id="{name}-table".*?</table>', text, flags=re.DOTALL)
    assert found
    return found[0]


def test_what_was_not_run_is_blank_and_counts_for_nothing(tmp_path: Path) -> None:
    text = _write(tmp_path, own_characterisation())
    page = Page(text)
    blank = '<td class="empty"><span aria-hidden="true">·</span><span class="hidden">not run</span></td>'
    assert text.count(blank) == 1
    assert "· not run" in page.words  # in the legend
    assert "evidence-dci-calibrated" not in text
    # Counted by hand from the nine verdicts that are left.
    assert "Of 9 cells in all, 3 hold, 3 fail, 1 is undecided and 2 are not applicable." in page.words
    dci = _table(text, "verdicts").split('data-name="DCI"')[1]
    assert '<span class="number">1 of 1</span>' in dci
    assert dci.count("undecided") == dci.count("≠") == 0


def test_the_legend_tells_of_nothing_that_is_not_there(page: Page) -> None:
    # DCI has no verdict on the added criterion, so that something was not run.
    assert "· not run" in page.words
    assert "measured before, kept with demele" not in page.words


def test_stored_rows_without_a_verdict_are_left_out_of_a_table(tmp_path: Path) -> None:
    text = _write(tmp_path, own_characterisation())
    assert re.findall(r'data-name="(MIG|DCI)"', _table(text, "verdicts")) == ["MIG", "DCI"]
    assert _table(text, "added").count("<tr") == 2  # the head and the own metric
    assert not re.findall(r'data-name="(MIG|DCI)"', _table(text, "added"))
    # What was measured in the same run stays, even where it has no verdict.
    measured = _table(_write(tmp_path, sample_characterisation()), "added")
    assert re.findall(r'data-name="(MIG|DCI)"', measured) == ["MIG", "DCI"]


def test_the_added_table_comes_first_where_the_review_asked_nothing(tmp_path: Path) -> None:
    data = own_characterisation()
    order = [item["id"] for item in Page(_write(tmp_path, data)).all("section")]
    assert order[:3] == ["lead", "verdicts", "added"]
    asked = {"calibrated", "multi_code"}  # what is left of the review needs no scenario
    data["verdicts"] = [item for item in data["verdicts"] if item["row"] != HOSTILE or item["criterion"] not in asked]
    text = _write(tmp_path, data)
    page = Page(text)
    assert [item["id"] for item in page.all("section")][:3] == ["lead", "added", "verdicts"]
    assert text.index('class="signs"') < text.index('id="added-table"')
    assert text.count('class="signs"') == 1
    assert (
        f"Your metric {HOSTILE}, beyond the review: 1 is undecided; by the criteria of the review: 1 is not applicable."
    ) in page.words
    assert "Most criteria" not in page.words


def test_says_first_that_claims_were_not_said(tmp_path: Path) -> None:
    data = own_characterisation()
    words = Page(_write(tmp_path, data)).words
    sentence = (
        f"What {HOSTILE} claims to measure was not said, so it is judged as a measure of all three: modularity, "
        "compactness and explicitness. bench.candidate(function, claims=...) says it."
    )
    assert words.index(sentence) < words.index("was itself measured")
    data["metrics"][0]["properties"] = ["compactness"]
    assert "was not said, so" not in Page(_write(tmp_path, data)).words


@pytest.mark.parametrize(("how_many", "upright"), [(10, False), (11, True)])
def test_heads_of_many_criteria_stand_upright(tmp_path: Path, how_many: int, upright: bool) -> None:
    assert ('class="verdicts many"' in _write(tmp_path, _with_many_added(how_many))) == upright


def _with_many_added(how_many: int) -> dict[str, Any]:
    data = own_characterisation()
    known = data["criteria"][-1]
    data["criteria"] += [
        {**known, "name": f"added_{place}", "title": f"Quite long title {place}"} for place in range(how_many - 1)
    ]
    return data


# Cards, curves, printed tables ----------------------------------------------------------------------------------------


def test_cards_show_what_was_measured_of_each_metric(page: Page) -> None:
    for shown in (
        "0.00042",  # chance
        "0.471 [0.471, 0.471] · 100 seeds",
        "0.123",  # chance at a thousand rows
        "[0.111, 0.136]",
        "0.046",  # the difference that a shift makes
        "11 ms",
        "2.5 s",
        "52 ms",
        "−1 to 1",
        "not said; judged on all",
        "MIG: the gap of the two largest, a < b & c.",
    ):
        assert shown in page.words, shown


def test_cards_of_own_metrics_come_first_and_are_open(tmp_path: Path) -> None:
    cards = [
        (item["id"], "open" in item)
        for item in Page(_write(tmp_path, own_characterisation())).all("details")
        if (item.get("class") or "").startswith("metric")
    ]
    names = [HOSTILE, "mig", "dci_modularity", "dci_compactness"]
    assert cards == [(identity("card", name), name == HOSTILE) for name in names]


def _boxes(page: Page) -> dict[str | None, bool]:
    return {item["value"]: "checked" in item for item in page.all("input") if item.get("class") == "shown"}


@pytest.mark.parametrize(("own", "shown"), [(0, 8), (1, 6), (2, 7)])
def test_the_large_figure_shows_few_metrics_at_first(tmp_path: Path, own: int, shown: int) -> None:
    data = sample_characterisation()
    mig, curve = data["metrics"][0], data["curves"][0]
    names = [f"m{place}" for place in range(12)]
    data["metrics"] = [{**mig, "name": name, "own": place >= 12 - own} for place, name in enumerate(names)]
    data.update(curves=[{**curve, "metric": name} for name in names], rows=[], verdicts=[])
    boxes = _boxes(Page(_write(tmp_path, data)))
    assert list(boxes) == names
    assert sum(boxes.values()) == shown
    assert all(boxes[name] for name in names[12 - own :])


def test_the_large_figure_shows_first_what_claims_the_same(tmp_path: Path) -> None:
    data = own_characterisation()
    data["metrics"][0]["properties"] = ["modularity"]
    mig = data["metrics"][1]
    names = [f"m{place}" for place in range(6)]
    data["metrics"][1:2] = [{**mig, "name": name} for name in names]
    data["curves"] += [{**data["curves"][0], "metric": name} for name in names]
    shown = {name for name, checked in _boxes(Page(_write(tmp_path, data))).items() if checked}
    # Own, the measure of modularity, and four of the seven of compactness.
    assert shown == {HOSTILE, "dci_modularity", "m0", "m1", "m2", "m3"}


def test_every_curve_is_a_picture_without_a_script(page: Page) -> None:
    curves = sample_characterisation()["curves"]
    drawn = [curve for curve in curves if curve["declined"] is None]
    sparks = [item for item in page.all("button") if item.get("class") == "spark"]
    assert [(item["data-metric"], item["data-scenario"]) for item in sparks if item["data-metric"] == "mig"] == [
        ("mig", "noise"),
        ("mig", "redundant"),
        ("mig", "one"),
    ]
    assert len(sparks) == len(drawn) == 8
    assert "0.988 → 0.001" in page.words
    assert "−0.125" in page.words
    assert "0.654 at (1) [cos v, sin v], 0.032 at (2) [v, v]" in page.words


def test_small_curve_by_hand() -> None:
    # 264 by 112 with an edge of 8: 0 lies at 104, 1 at 8, the three places at 8, 132 and 256.
    drawn = sparkline([1.0, 0.5, 0.0], [1.0, 0.25, 0.0], [1.0, 0.75, 0.0], 0.0, 1.0)
    assert '<path class="mean" d="M8 8 132 56 256 104"/>' in drawn
    assert '<path class="band" d="M8 8 132 32 256 104 256 104 132 80 8 8"/>' in drawn


def test_small_curve_breaks_where_a_mean_is_missing() -> None:
    drawn = sparkline([1.0, 1.0, None, 0.5], [1.0, 1.0, None, 0.25], [1.0, 1.0, None, 0.75], 0.0, 1.0)
    assert drawn.count('class="band"') == 0  # nothing would be seen of it
    assert '<path class="mean" d="M8 8 91 8"/>' in drawn
    assert '<path class="bar" d="M256 32 256 80"/><path class="mean" d="M256 56"/>' in drawn


def test_printed_scores_stand_beside_ours(page: Page) -> None:
    # 0.654 rounds to 0.7, 0.032 is not 0.4, 1.000 is 1.0: one of the three lies apart.
    assert "1 number of 3 of ours lies apart" in page.words
    marked = [item for item in page.all("span") if item.get("aria-label") == "differs"]
    assert len(marked) == 1
    titles = [item["title"] for item in page.all("td") if item.get("class") == "ours"]
    assert "difference −0.368; seeds: 100" in titles


def test_tells_what_was_run(page: Page) -> None:
    assert (
        "3 scenarios of 20,000 rows, with 100 seeds at every step (20 seeds for metrics that train predictors)"
        in page.words
    )
    assert "protocol review2022; demele 0.1.0" in page.words
    assert "explicitness: falls by at least 0.001 at every step" in page.words
    assert "any metric: stays within 0.05 of its first value" in page.words
    assert "with 95% intervals" in page.words


# Little is known ------------------------------------------------------------------------------------------------------


def test_does_with_one_metric_and_nothing_else(tmp_path: Path) -> None:
    page = Page(_write(tmp_path, minimal_characterisation()))
    assert {item["id"] for item in page.all("section")} == {"lead", "metrics", "run"}
    assert "What does mine measure?" in page.words


def test_does_without_keys(tmp_path: Path) -> None:
    page = Page(_write(tmp_path, {"metrics": [{"name": "mine"}]}))
    assert page.script("data") == {"metrics": [{"name": "mine"}]}
    assert "What does mine measure?" in page.words


def test_numbers_that_json_cannot_hold_are_gaps(tmp_path: Path) -> None:
    data = minimal_characterisation()
    data["metrics"][0]["range"] = [float("-inf"), 1.0]
    data["metrics"][0]["card"]["seconds"] = float("nan")
    page = Page(_write(tmp_path, data))
    assert "−∞ to 1" in page.words
    assert page.script("data")["metrics"][0]["card"]["seconds"] is None


def test_tells_seeds_that_differ_between_scenarios(tmp_path: Path) -> None:
    data = {
        **minimal_characterisation(),
        "seeds": {"noise": 100, "chance": 10},
        "slow_seeds": {"noise": 20, "chance": 10},
    }
    page = Page(_write(tmp_path, data))
    assert "with 10 to 100 seeds at every step (10 to 20 seeds for metrics that train predictors)" in page.words


def test_title_is_escaped(tmp_path: Path) -> None:
    assert "<h1>Runs &lt;1&gt; &amp; 2</h1>" in _write(tmp_path, minimal_characterisation(), title="Runs <1> & 2")


@pytest.mark.parametrize("nothing", [{}, {**minimal_characterisation(), "metrics": []}])
def test_refuses_nothing(tmp_path: Path, nothing: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"characterisation: expected .* at least one metric, got none"):
        write_bench_report(nothing, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


# In a browser ---------------------------------------------------------------------------------------------------------

_needs_browser = pytest.mark.skipif(_BROWSER is None, reason="needs a Chromium browser: none is installed")


def _opened(tmp_path: Path, data: dict[str, Any], anchor: str = "", script: str = "") -> str:
    """Document after its scripts; ``script`` is run at the end of a copy without the policy."""
    path = write_bench_report(data, tmp_path / "bench.html")
    if script:
        page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text(encoding="utf-8"))
        wait = (
            f"const act = () => {{ if (document.body.dataset.ready) {{ {script} }} else setTimeout(act, 5); }}; act();"
        )
        path.write_text(page.replace("</body>", f"<script>{wait}</script></body>"), encoding="utf-8")
    document = _document_after_scripts(path, tmp_path / "profile", anchor)
    return re.sub(r"<script[^>]*>.*?</script>", "", document, flags=re.DOTALL)


def _panel(document: str) -> Iterator[str]:
    """Opening tag and inside of the panel."""
    found = re.search(r"(<dialog[^>]*>)(.*?)</dialog>", document, flags=re.DOTALL)
    assert found
    yield from found.groups()


def _quiet(document: str) -> bool:
    """Whether no script failed and the policy refused nothing."""
    found = re.search(r'<pre id="script-errors"[^>]*>(.*?)</pre>', document, flags=re.DOTALL)
    assert found
    return found[1] == ""


@_needs_browser
def test_opens_without_an_error_and_draws_nothing_before_it_is_near(tmp_path: Path) -> None:
    document = _opened(tmp_path, sample_characterisation())
    opening, _ = _panel(document)
    assert _quiet(document)
    assert " open" not in opening
    assert not re.search(r'<div class="tools"[^>]*hidden', document)
    assert "<title>What does " in document  # the hostile name did not change it


@_needs_browser
def test_minimal_page_opens_without_an_error(tmp_path: Path) -> None:
    assert _quiet(_opened(tmp_path, minimal_characterisation()))


@_needs_browser
def test_an_address_opens_the_evidence(tmp_path: Path) -> None:
    document = _opened(tmp_path, sample_characterisation(), "#evidence-mig-calibrated")
    opening, inside = _panel(document)
    assert _quiet(document)
    assert " open" in opening
    assert "the rule of calibrated" in inside
    assert inside.count('data-figure="curves"') == 1
    # Three points of one metric.
    assert len(re.findall(r'class="point\b', inside)) == 3


@_needs_browser
def test_a_click_on_a_cell_shows_its_evidence(tmp_path: Path) -> None:
    click = "document.querySelector(\"a.cell[href='#evidence-dci-calibrated']\").click();"
    document = _opened(tmp_path, sample_characterisation(), script=click)
    opening, inside = _panel(document)
    assert _quiet(document)
    assert " open" in opening
    assert "dci_modularity undecided on calibrated: 0.6421 where 0.001 is the least" in inside
    # Both metrics of the row.
    assert len(re.findall(r'class="point\b', inside)) == 6
    assert "DCI modularity from 0.991 to 0.043; DCI compactness from 0.981 to 0.033" in inside


@_needs_browser
def test_the_next_cell_and_closing(tmp_path: Path) -> None:
    steps = (
        "document.querySelector(\"a.cell[href='#evidence-mig-calibrated']\").click();"
        'document.getElementById("panel-after").click();'
    )
    opening, inside = _panel(_opened(tmp_path, sample_characterisation(), script=steps))
    assert " open" in opening
    assert "the rule of multi_code" in inside
    assert "ours differs" in inside
    close = f'{steps}document.getElementById("panel-close").click();'
    document = _opened(tmp_path, sample_characterisation(), script=close)
    opening, inside = _panel(document)
    assert _quiet(document)
    assert " open" not in opening
    assert "the rule of multi_code" not in inside


@_needs_browser
def test_a_small_curve_opens_as_a_large_one(tmp_path: Path) -> None:
    click = 'document.querySelectorAll("button.spark")[0].click();'  # of the metric with the hostile name
    document = _opened(tmp_path, sample_characterisation(), script=click)
    opening, inside = _panel(document)
    assert _quiet(document)
    assert " open" in opening
    assert inside.count('data-figure="curves"') == 1
    assert len(re.findall(r'class="point\b', inside)) == 2  # the middle of three has no value
    assert "100 failed" in inside
    assert "<img" not in inside


@_needs_browser
def test_curves_follow_scenario_and_choice_of_metrics(tmp_path: Path) -> None:
    choose = (
        'document.getElementById("curves-values").open = true;'
        'document.getElementById("scenario").value = "redundant";'
        "document.querySelector('.only[data-property=\"compactness\"]').click();"
        "document.getElementById('curves').scrollIntoView({behavior: 'instant'});"
        "window.dispatchEvent(new Event('beforeprint'));"
    )
    document = _opened(tmp_path, sample_characterisation(), script=choose)
    found = re.search(r'<section id="curves".*?</section>', document, flags=re.DOTALL)
    assert found
    assert _quiet(document)
    # MIG alone: DCI compactness declines, the others do not claim compactness.
    assert len(re.findall(r'class="point\b', found[0])) == 2
    assert 'aria-label="Redundant &lt;codes&gt;: MIG from 0.654 to 0.032"' in found[0]
    assert "takes no part: it declines" in found[0]


@_needs_browser
@pytest.mark.parametrize(
    ("claims", "behind"),
    [(None, ["mig", "dci_modularity", "dci_compactness"]), (["compactness"], ["mig", "dci_compactness"])],
)
def test_evidence_of_an_own_metric_has_stored_ones_behind_it(
    tmp_path: Path, claims: list[str] | None, behind: list[str]
) -> None:
    data = own_characterisation()
    data["metrics"][0]["properties"] = claims
    address = f"#{identity('evidence', HOSTILE, 'calibrated')}"
    look = (
        "const lines = [...document.querySelectorAll('dialog .plot .behind, dialog .plot .mean')];"
        "const width = (line) => getComputedStyle(line).strokeWidth;"
        "document.body.dataset.lines = lines.map((line) => `${line.classList[0]} ${width(line)}`).join(', ');"
        "document.body.dataset.names = lines.slice(0, -1).map((line) => line.dataset.name).join();"
    )
    script = f"document.querySelector(\"a.cell[href='{address}']\").click();{look}"
    document = _opened(tmp_path, data, script=script)
    assert _quiet(document)
    assert f'data-lines="{"behind 1.2px, " * len(behind)}mean 4px"' in document  # the own one is drawn last
    assert f'data-names="{",".join(behind)}"' in document
    _, inside = _panel(document)
    assert f"{'metrics with the same claims' if claims else 'other metrics'}: {len(behind)}" in inside


@_needs_browser
def test_a_table_of_many_criteria_is_not_cut(tmp_path: Path) -> None:
    # About the room that a window of 1400 pixels leaves.
    look = (
        "const table = document.querySelector('#added .scroll'); table.style.width = '1100px';"
        "document.body.dataset.room = table.clientWidth - table.scrollWidth;"
    )
    assert 'data-room="0"' in _opened(tmp_path, _with_many_added(16), script=look)
