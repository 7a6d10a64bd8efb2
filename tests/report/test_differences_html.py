"""What the page of several representations says of their differences."""

import re
from pathlib import Path

import numpy as np
import pytest

import demele
from demele.report.scores import write_report

pytestmark = pytest.mark.filterwarnings("ignore::demele.DemeleWarning")
RNG = np.random.default_rng(0)
FACTORS = RNG.random((300, 2))
CODES = {
    "<b>old</b>": FACTORS + 0.4 * RNG.normal(size=(300, 2)),
    "new & better": FACTORS + 0.05 * RNG.normal(size=(300, 2)),
}


def test_the_page_says_what_is_shown_and_why_not(tmp_path: Path) -> None:
    found = demele.compare_representations(CODES, FACTORS, ["mig", "irs"], bootstrap=10)
    page = found.to_html(tmp_path / "page.html").read_text("utf-8")
    assert "<b>old</b>" not in page
    assert "1 of 2 differences is significant together" in page
    assert "minus" in page
    assert "1 of 2 significant together" in page
    assert page.count('class="strip wide"') == 1  # irs has no interval
    assert "it rests on extreme values" in page
    assert 'id="differences"' in page


def test_models_have_their_runs_counted(tmp_path: Path) -> None:
    codes = {f"{name}{seed}": own + 0.01 * seed * FACTORS[::-1] for name, own in CODES.items() for seed in range(2)}
    runs = {name: [f"{name}{seed}" for seed in range(2)] for name in CODES}
    found = demele.compare_representations(codes, FACTORS, ["mig"], runs=runs)
    page = found.to_html(tmp_path / "page.html", title="Two models").read_text("utf-8")
    assert "Two models" in page
    assert "Models, over their runs" in page
    assert page.count(", 2 runs") >= 2
    assert "over training runs, by Welch" in page
    words = re.sub(r"<[^>]+>", "", page)
    assert "Best by 1 metric, by the mean over runs: new &amp; better in 1." in words
    assert "Model, mean over runs" in page


def test_a_page_without_comparison_has_no_such_section(tmp_path: Path) -> None:
    alone = demele.evaluate(CODES["new & better"], FACTORS, ["mig"]).to_dict()
    page = write_report([alone, alone], tmp_path / "page.html").read_text("utf-8")
    assert 'id="differences"' not in page
