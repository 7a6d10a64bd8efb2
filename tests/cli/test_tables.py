"""Tables for eyes."""

from typing import Any

import pytest

from demele.report.terminal.scores import _best, scores_table
from tests.report.sample_evaluation import SPECS, sample_evaluation, sample_evaluations

FAMILIES = {name: spec["family"] for name, spec in SPECS.items()}


def _lines(*names: str, **options: Any) -> list[str]:
    evaluations = [item.to_dict() for item in sample_evaluations() if item.name in names]
    return scores_table(evaluations, FAMILIES, **options).splitlines()


def test_one_representation_has_its_uncertainty_beside_it() -> None:
    lines = _lines("betavae")
    assert lines[0] == "betavae: 1,797 rows, 8 codes, 5 factors; protocol review2022"
    score = sample_evaluations()[0]["z_diff"]
    assert score.interval is not None
    assert score.spread is not None
    row = next(line for line in lines if line.startswith("z_diff"))
    assert row.split() == [
        "z_diff",
        f"{score.value:.3f}",
        f"[{score.interval.low:.3f},",
        f"{score.interval.high:.3f}]",
        f"{score.spread.std:.3f}",
        "0.015",
        "0.250",
    ]


def test_columns_that_were_not_asked_for_are_not_there() -> None:
    table = scores_table([sample_evaluation(intervals=False).to_dict()], FAMILIES)
    assert "interval" not in table
    assert "chance" not in table


def test_rows_are_grouped_by_family() -> None:
    lines = _lines("betavae")
    order = [lines.index(name) for name in ("information", "predictor", "intervention")]
    assert order == sorted(order)
    assert order[1] < next(i for i, line in enumerate(lines) if line.startswith("sap")) < order[2]


def test_marks_and_reasons() -> None:
    lines = _lines("betavae")
    score = sample_evaluations()[0]["mig"]
    assert next(line for line in lines if line.startswith("mig ")).split()[1] == f"{score.value:.3f}!"
    assert "! fragile: another defensible setting moves it much, or noise scores as well" in lines
    assert f"  mig: {score.notes[0].message}" in lines
    assert "  rmig: it needs the standard deviations of the codes: give codes_std" in lines
    assert "  sap: a class has one row: no split is possible" in lines
    assert next(line for line in lines if line.startswith("sap ")).split()[1] == "-"
    assert "  factor 'constant' has one value in 1797 rows: no metric is defined for it" in lines


def test_messages_are_told_in_the_words_of_the_reader() -> None:
    assert "  rmig: it needs the standard deviations of the codes: give --codes-std FILE" in _lines(
        "betavae", words=lambda text: text.replace("codes_std", "--codes-std FILE")
    )


def test_an_assumed_order_of_codes_has_no_best() -> None:
    def styled(severity: str) -> bool:
        scores = [{"value": value, "notes": []} for value in (0.5, 0.2)]
        scores[1]["notes"] = [{"code": "assumed-reg-dim", "severity": severity, "message": "by order"}]
        return _best(scores) is scores[0]

    assert styled("info")
    assert not styled("warning")


def test_several_representations_are_columns() -> None:
    lines = _lines("betavae", "PCA")
    assert next(line for line in lines if line.startswith("metric")).split() == ["metric", "betavae", "PCA"]
    at = next(i for i, line in enumerate(lines) if line.startswith("irs "))
    first, second = (item["irs"] for item in sample_evaluations()[:2])
    assert first.interval is not None
    assert lines[at].split() == ["irs", f"{first.value:.3f}", f"{second.value:.3f}"]
    assert lines[at + 1].split()[0] == f"{first.interval.low:.3f}..{first.interval.high:.3f}"
    assert any(line.startswith("  mig (betavae): ") for line in lines)


@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_fits_80_columns(intervals: bool, count: int) -> None:
    evaluations = [item.to_dict() for item in 2 * sample_evaluations(intervals=intervals)][:count]
    text = scores_table(evaluations, FAMILIES, details=True)
    body = text.partition("signatures")[0]
    assert max(map(len, body.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_details_hold_native_values_and_signatures() -> None:
    lines = _lines("betavae", details=True)
    score = sample_evaluations()[0]["mig"]
    assert score.per_factor is not None
    tables = lines[lines.index("per factor") : lines.index("per code")]
    rows = [line.split()[1:] for line in tables if line.startswith("mig ")]
    assert [cell for row in rows for cell in row] == [*(f"{value:.3f}" for value in score.per_factor[:-1]), "-"]
    assert f"  {score.signature}" in lines


def test_markup_in_names_is_text() -> None:
    hostile = sample_evaluation("[bold]x[/bold]", factor_names=("[red]a", "b", "c", "[/]d", "e"))
    text = scores_table([hostile.to_dict()] * 2, FAMILIES, details=True)
    assert "[bold]x[/bold]: 1,797 rows" in text
    assert "[red]a" in text
    assert "[/]d" in text
