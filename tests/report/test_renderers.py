"""Three documents, plain, hostile and empty, through every renderer; and what each renderer promises."""

import base64
import json
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from demele.core.errors import InputError, NotEnoughData
from demele.report.document import Document, Heat, Images, Matrix, Notice, Table
from demele.report.renderers.html import h, page
from demele.report.renderers.paper import latex, markdown
from demele.report.renderers.picture import draw
from demele.report.renderers.tables import figures_of
from demele.report.renderers.terminal import text
from demele.report.words import name, width_of
from tests.refusals import refuses
from tests.report.documents import DOCUMENTS, HOSTILE, plain

BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
every = pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS)


class Parsed(HTMLParser):
    """A page as a strict reader takes it: all elements closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "link", "br", "img", "input"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


# Pages and cards ------------------------------------------------------------------------------------------------------


@every
def test_pages_are_whole_and_names_are_text(make: Callable[[], Document]) -> None:
    made = page(make(), json.dumps({"names": HOSTILE}))
    made.encode("utf-8")
    found = Parsed(made)
    assert not BIDI.search(made)
    assert "\x1b" not in made
    assert found.tags.count("script") == made.count("</script>")
    assert not [key for key, _ in found.attributes if key.startswith("on")]
    assert [value for key, value in found.attributes if key == "src" and str(value)[:10] != "data:image"] == []
    assert "title='gone'" not in "".join(re.findall(r"<script>(.*?)</script>", made, re.DOTALL))


def test_a_page_holds_its_parts_in_one_order() -> None:
    made = page(plain())
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", made)
    titles = [section.title for section in plain().sections]
    assert heads == ["Verdict", *titles, "Notes", "Method", "Reproduce"]
    order = ["claude_3_opus</bdi> is better", "Difference to the baseline", "1.2% wrong", "demele audit", "At most 108"]
    assert [made.index(text) for text in order] == sorted(made.index(text) for text in order)


def test_all_values_of_a_drawing_stand_in_a_table() -> None:
    made = page(plain())
    drawn = [one for one in figures_of(plain()) if not isinstance(one, Heat | Matrix | Images)]
    assert made.count("As a table") == len(drawn) == 5
    assert '<td class="n span">[+2.2, +4.2]</td><td class="n">+3.2</td>' in made
    assert '<th scope="row" class="n">20.0%</th><td class="n">0.447</td><td class="n span">[0.402, 0.492]</td>' in made


def test_only_h_makes_html_and_it_escapes() -> None:
    assert h("p", "<b>", name("a<b"), title='"') == '<p title="&quot;">&lt;b&gt;<bdi>a&lt;b</bdi></p>'
    assert h("p", h("b", "x"), [h("i", "y"), "&"], None) == "<p><b>x</b><i>y</i>&amp;</p>"


def test_long_data_are_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = page(plain(), '{"a":"<b>"}')
    assert 'id="result-json">{"a":"\\u003cb\\u003e"}</script>' in whole
    assert '<article id="criteria-0-1">' in whole
    monkeypatch.setattr("demele.report.renderers.html.MOST_PLAIN", 10)
    monkeypatch.setattr("demele.report.renderers.html.MOST_PLAIN", 10)
    made = page(plain(), '{"a":"<b>"}')
    assert '<article id="criteria-0-1">' not in made
    found = re.search(r'<script type="application/octet-stream" id="evidence-criteria">([^<]*)</script>', made)
    assert found
    assert "The score rises with noise." in zlib.decompress(base64.b64decode(found[1])).decode()


# Terminal -------------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("explain", [False, True])
def test_no_line_is_wider_than_the_terminal(make: Callable[[], Document], width: int, explain: bool) -> None:
    made = text(make(), width=width, explain=explain)
    commands = {f"  {command}" for _, command in make().next}
    lines = made.splitlines()
    assert [line for line in lines if width_of(line) > min(width, 120) and line not in commands] == []
    assert not BIDI.search(made)
    assert "\x1b" not in made
    assert "−" not in made


def test_a_terminal_shows_answer_table_and_next_step() -> None:
    lines = text(plain()).splitlines()
    assert lines[0] == "claude_3_opus is better than the baseline gemini_1_5_pro_0409 by 3.2 pp."
    assert lines[1] == "5,432 questions, 4 models, 500 expert-checked labels"
    assert lines[3].split() == ["Model", "Accuracy", "95%", "interval", "Beats", "p", "Verdict"]
    assert lines[-3:-1] == ["  demele audit plan data.csv::label --rows 500", ""]
    assert lines[-1] == "2 sentences, 2 assumptions, 2 warnings, 1 note: --explain"
    assert "fragile: dci: The probe saw few rows." in text(plain(), explain=True)


def test_minor_columns_go_first_then_names_are_cut_then_columns_go() -> None:
    columns = {"Name": "text", "A": "number", "Minor": "number?", "B": "number"}
    table = Table("t", columns, [("an_uncommonly_long_name_of_a_model", 0.5, 0.25, 0.125)])
    document = Document(kind="k", title="t", headline="h.", table=table)
    assert "Not shown: Minor." in text(document, width=50)
    narrow = text(document, width=32)
    assert "an_uncom" in narrow
    assert "…" in narrow
    assert "0.125" in narrow
    assert "Not shown: Minor, B." in text(document, width=24)


# Papers ---------------------------------------------------------------------------------------------------------------


@every
def test_latex_escapes_and_closes_everything(make: Callable[[], Document]) -> None:
    made = latex(make())
    body = "\n".join(line for line in made.splitlines() if not line.startswith("%"))
    assert body.count(r"\begin{") == body.count(r"\end{")
    bare = re.sub(r"\\[\\&%$#_{}]", "", body)
    assert bare.count("{") == bare.count("}")
    assert not BIDI.search(made)
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len({len(re.sub(r"\\&", "", row).split(" & ")) for row in rows}) <= 1


@pytest.mark.skipif(shutil.which("lualatex") is None, reason="needs LaTeX: none is installed")
@pytest.mark.long
@every
def test_latex_compiles(make: Callable[[], Document], tmp_path: Path) -> None:
    whole = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n%s\\end{document}\n"
    (tmp_path / "table.tex").write_text(whole % latex(make()), encoding="utf-8")
    command = ["lualatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_paper_holds_caption_warnings_signatures_and_bold() -> None:
    made = latex(plain())
    assert r"\caption{claude\_3\_opus is better" in made
    assert r"\textbf{better}" in made
    assert "The probe saw few rows." in made
    assert "Answers were read as text." not in made
    assert made.startswith("% compare: compare(noise=0.02, level=0.95)  # n=5432, demele=0.1.0\n")
    assert "**better**" in markdown(plain())


@every
def test_markdown_rows_have_the_cells_of_their_head(make: Callable[[], Document]) -> None:
    made = markdown(make())
    made = made.split("-->", 1)[-1]
    rows = [line for line in made.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1
    assert "<img" not in made
    assert not BIDI.search(made)


# Pictures and tables --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning", "ignore:Glyph")
@every
def test_every_figure_is_drawn(make: Callable[[], Document], tmp_path: Path) -> None:
    document = make()
    drawn = figures_of(document)
    for place, figure in enumerate(drawn):
        ax = draw(document, place)
        ax.figure.savefig(tmp_path / f"{place}.png")
        assert draw(document, figure.caption).get_title(loc="left") == ax.get_title(loc="left")
    refuses(InputError if drawn else NotEnoughData, "figure", draw, document, len(drawn))


def test_a_note_names_what_it_is_about_once() -> None:
    note = Notice(f"{name('z4')} is constant", "warning", [name("z4"), name("z5")])
    made = Document(kind="k", title="t", headline="h.", notes=[note])
    assert "  warning: z5: z4 is constant." in text(made, explain=True).splitlines()
    assert page(made).count("<bdi>z4</bdi>") == 1


# Audit reports --------------------------------------------------------------------------------------------------------
