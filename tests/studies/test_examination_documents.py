"""The document of a trained model: verdict first, then what its codes do."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demele.lab import Examination
from demele.report.document import Choice, Images, Lines, Strips
from demele.report.renderers.tables import figures_of
from demele.studies.examination_documents import ordered
from tests.core import test_result as forms
from tests.studies.models import examined


@pytest.fixture(scope="module")
def look() -> Examination:
    return examined()


def test_the_verdict_comes_first(look: Examination) -> None:
    document = look.document()
    assert document.headline == "3 of 3 factors have a code of their own."
    assert isinstance(document.figure, Strips)
    assert [strip.pill and strip.pill.text for strip in document.figure.rows] == ["one code"] * 3
    assert document.table is not None
    assert [row[0] for row in document.table.rows] == ["\u2068x\u2069", "\u2068y\u2069", "\u2068shade\u2069"]
    titles = [section.title for section in document.sections]
    assert titles == sorted(titles, key=forms.TITLES.index)
    assert {"Scores", "Code-factor matrix", "Curves", "Traversals", "Reconstructions", "Data"} <= set(titles)


def test_a_collapsed_model_says_so(look: Examination) -> None:
    idle = replace(look, codes=look.codes.assign(active=False))
    assert idle.sentence == "The model has collapsed: no code is active."
    assert idle.document().tone == "bad"


def test_codes_come_by_their_divergence_active_ones_first(look: Examination) -> None:
    codes = look.codes.assign(kl=np.arange(len(look.codes), dtype=float), active=True)
    codes.loc[codes.index[-1], "active"] = False
    last = len(codes) - 1
    assert ordered(replace(look, codes=codes)) == [*range(last - 1, -1, -1), last]


def test_images_of_all_kinds_are_small_enough(look: Examination, tmp_path: Path) -> None:
    figures = {figure.caption: figure for figure in figures_of(look.document()) if isinstance(figure, Images)}
    assert {"Images at random", "Worst reconstructions", "Codes", "Samples of the prior"} <= set(figures)
    rows = figures["Images at random"].rows
    assert [row for row, _ in rows] == ["Image", "Decoded", "Difference"]
    assert look.traversals is not None
    noise = np.random.default_rng(0).integers(0, 256, (3, *look.traversals.images.shape[1:3], 96, 96, 3))
    large = replace(look, traversals=replace(look.traversals, images=noise.astype(np.uint8)))
    assert large.to_html(tmp_path / "page.html").stat().st_size < 1_500_000
    (data,) = [section for section in large.document().sections if section.title == "Data"]
    assert str(data.shown[-1]).startswith("Images have ")


def test_responses_are_those_of_the_sweep(look: Examination) -> None:
    (curves,) = [section for section in look.document().sections if section.title == "Curves"]
    choice = curves.shown[1]
    assert isinstance(choice, Choice)
    lines = choice.of["\u2068x\u2069"][1]
    assert isinstance(lines, Lines)
    sweep = next(one for one in look.sweeps if one.factor == "x")
    assert look.information is not None
    best = int(look.information["x"].to_numpy().argmax())
    assert lines.lines[0].y == sweep.mean[:, best].tolist()
    assert lines.lines[0].name.startswith("\u2068z1\u2069 ")


def test_an_examination_has_every_form(look: Examination, tmp_path: Path) -> None:
    forms.test_a_result_has_every_form(look, tmp_path)
    forms.keeps_the_rules(look)
    found = look.to_dict()
    assert "samples" not in found
    assert "images" not in found["traversals"]
    assert found["traversals"]["change"] == look.traversals.change.tolist()  # type: ignore[union-attr]
