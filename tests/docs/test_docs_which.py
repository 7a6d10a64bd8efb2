"""The page that says which metric to report follows from the verdicts, by its rule."""

from typing import Any

import pytest

from tools.docs_which import (
    PROPERTIES,
    TRAPS,
    View,
    considered,
    not_considered,
    page,
)

CRITERIA = [*(f"coherent_{name}" for name in PROPERTIES), "calibrated", *TRAPS.values()]


def metric(name: str, claims: list[str], seconds: float) -> dict[str, Any]:
    return {
        "name": name,
        "title": name.upper(),
        "row": name,
        "properties": claims,
        "characterised": True,
        "card": {"seconds": seconds},
    }


def view_of(statuses: dict[str, dict[str, str]], seconds: dict[str, float]) -> View:
    """Return rows that claim modularity; what is not told of a criterion holds."""
    metrics = [metric(name, ["modularity"], seconds.get(name, 1.0)) for name in statuses]
    return View(
        {
            "n_samples": 100,
            "metrics": metrics,
            "rows": [{"name": name, "title": name.upper(), "metrics": [name]} for name in statuses],
            "scenarios": [],
            "criteria": [{"name": name, "title": name.replace("_", " "), "group": "review"} for name in CRITERIA],
            "curves": [
                {"metric": name, "scenario": scenario, "mean": [1.0, 0.5, -0.001], "n": [2, 2, 2], "failed": [0, 0, 0]}
                for name in statuses
                for scenario in TRAPS.values()
            ],
            "verdicts": [
                {"row": name, "criterion": criterion, "status": own.get(criterion, "holds")}
                for name, own in statuses.items()
                for criterion in CRITERIA
            ],
        }
    )


def test_the_largest_share_that_holds_comes_first_and_then_the_quicker() -> None:
    view = view_of(
        {
            "slow": {},
            "fails_one": {"rotation": "fails"},
            "quick": {},
            "fewer_apply": {"rotation": "not applicable", "chance": "inconclusive"},
        },
        {"slow": 2.0, "quick": 0.01},
    )
    # 9 of 9, 9 of 9, 8 of 9, 7 of 8
    assert considered(view, "modularity") == ["quick", "slow", "fails_one", "fewer_apply"]


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({"coherent_modularity": "fails"}, "coherent modularity: fails"),
        ({"coherent_modularity": "inconclusive"}, "coherent modularity: inconclusive"),
        ({"calibrated": "fails"}, "calibrated: fails"),
        (
            {name: "not applicable" for name in CRITERIA if name not in ("coherent_modularity", "calibrated")},
            "2 of 9 criteria apply",
        ),
    ],
)
def test_who_is_not_considered_is_named_with_the_reason(own: dict[str, str], reason: str) -> None:
    view = view_of({"good": {}, "bad": own}, {})
    assert considered(view, "modularity") == ["good"]
    assert not_considered(view, "modularity") == f"Not considered: BAD ({reason}).\n"


def test_the_page_answers_for_each_property_and_says_none_where_there_is_none() -> None:
    view = view_of({"exact": {}, "rough": {"chance": "fails"}}, {"rough": 0.001})
    answers = [line for line in page(view).splitlines() if line.startswith("| **")]
    assert answers[0].startswith("| **modularity** | `exact`: holds 9 of 9 criteria | `rough`: holds 8 of 9 criteria")
    assert "fails: chance" in answers[0]
    assert answers[1] == "| **compactness** | none | none |"
