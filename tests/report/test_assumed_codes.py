"""Values that hang on the order of the columns are shown, and count for nothing; ties are told."""

import re
from typing import Any

import pytest

from demele.report.scores import overview
from demele.report.scores_verdict import verdict
from demele.report.scores_view import Catalogue, View

_SPECS: dict[str, dict[str, Any]] = {
    name: {"title": name.upper(), "family": "information", "properties": ("compactness",), "range": (-1.0, 1.0)}
    for name in ("mig", "sap", "dmig", "xmig")
}
_REASON = "code i was taken to regularise factor i; for 2 of 3 factors another <code> informs more"


def _score(metric: str, value: float, severity: str | None) -> dict[str, Any]:
    note: dict[str, Any] = {"code": "assumed-reg-dim", "message": _REASON, "subject": [], "severity": severity}
    return {
        "metric": metric,
        "value": value,
        "interval": None,
        "spread": None,
        "chance": None,
        "fragile": False,
        "notes": [] if severity is None else [note],
    }


def _view(*rows: dict[str, float], severity: str = "warning", where: int = 0) -> View:
    """One representation for each row; the code order of DMIG and XMIG was assumed for one of them."""
    evaluations = [
        {
            "name": f"r{index}",
            "protocol": "review2022",
            "n": 9,
            "codes": ["z"],
            "left_out": [],
            "factors": [{"name": "shape"}],
            "scores": [
                _score(metric, value, severity if metric in {"dmig", "xmig"} and index == where else None)
                for metric, value in row.items()
            ],
        }
        for index, row in enumerate(rows)
    ]
    return View(evaluations, Catalogue(_SPECS))


_FIRST = {"mig": 0.3, "sap": 0.5, "dmig": 0.9}
_SECOND = {"mig": 0.1, "sap": 0.4, "dmig": 0.2}


def _words(page: str) -> str:
    return re.sub(r"<[^>]*>", "", page)


@pytest.mark.parametrize("where", [0, 1])
def test_verdict_leaves_them_out(where: int) -> None:
    words = _words(verdict(_view(_FIRST, _SECOND, where=where)))
    assert "Best by 2 metrics: r0 in 2. 1 metric is left out of this card: order of codes assumed." in words
    assert "range over 2 metrics" in words
    assert "edian" not in words  # of different metrics it has no meaning
    assert "were scored by 3 metrics" in words


def test_one_representation_leaves_them_out_too() -> None:
    words = _words(verdict(_view(_FIRST)))
    assert "2 metrics, from 0.300 (MIG) to 0.500 (SAP). 1 metric is left out" in words
    assert "0.900" not in words


def test_an_order_that_the_codes_agree_with_counts() -> None:
    view = _view(_FIRST, _SECOND, severity="info")
    words = _words(verdict(view))
    assert "Best by 3 metrics: r0 in 3." in words
    assert "assumed" not in words + overview(view)


def test_overview_shows_the_value_and_the_reason_but_no_best() -> None:
    page = overview(_view(_FIRST, _SECOND))
    row = next(row for row in page.splitlines() if 'data-words="dmig ' in row)
    assert "0.900" in row
    assert 'class="best"' not in row
    hint = re.search(r'<span class="assumed" title="([^"]*)">order of codes assumed</span>', row)
    assert hint is not None
    assert hint[1] == _REASON.replace("<", "&lt;").replace(">", "&gt;")
    assert page.count('class="assumed"') == 1
    assert "it is shown, not compared." in page
    assert 'class="best"' in next(row for row in page.splitlines() if 'data-words="mig ' in row)


def test_a_card_of_nothing_else_has_no_median() -> None:
    words = _words(verdict(_view({"dmig": 0.9, "xmig": 0.8}, {"dmig": 0.1, "xmig": 0.2})))
    assert "2 metrics are left out of this card: order of codes assumed." in words
    assert "Best by" not in words
    assert "0.850" not in words


def test_ties_in_the_digits_shown_are_told() -> None:
    words = _words(verdict(_view({"mig": 0.30001, "sap": 0.5}, {"mig": 0.30002, "sap": 0.4})))
    assert "Best by 1 metric: r0 in 1; 1 tied." in words
    assert "No metric tells the representations apart." in _words(verdict(_view({"mig": 0.3}, {"mig": 0.3})))
    assert "tied" not in _words(verdict(_view(_FIRST, _SECOND)))
