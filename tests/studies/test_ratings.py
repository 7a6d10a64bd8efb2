"""Rated traversals: sheets are blind, correlations by hand, agreement as of other annotators, and what is refused."""

from typing import Any

import numpy as np
import pytest

from demele.errors import InputError, InputTypeError, NotEnoughData
from demele.lab import rated_traversals, rating_sheet
from demele.labels import Annotations, annotator_agreement
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

MODELS = {"one": 2, "two": 3, "three": 2, "four": 2}


def filled(seed: int = 0) -> Any:
    """Ratings of three raters: the quality of the model, and for the second code one less; one rater is stricter."""
    sheet, key = rating_sheet(MODELS, ["ann", "bob", "eve"], seed=seed)
    known = key.set_index("traversal")
    quality = sheet["traversal"].map(known["model"]).map({"one": 2, "two": 3, "three": 5, "four": 4})
    strict = (sheet["rater"] == "eve").astype(int)
    return sheet.assign(rating=quality - (sheet["traversal"].map(known["code"]) == 1) - strict), key


def test_a_sheet_is_blind_and_every_rater_has_an_order() -> None:
    sheet, key = rating_sheet(MODELS, ["ann", "bob"])
    assert len(sheet) == 18
    assert not set(sheet) & {"model", "code"}
    orders = [sheet.loc[sheet["rater"] == who, "traversal"].tolist() for who in ("ann", "bob")]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(key["traversal"])
    assert sheet["rating"].isna().all()
    assert rating_sheet(MODELS, ["ann", "bob"])[0].equals(sheet)


def test_correlations_are_those_found_by_hand() -> None:
    """Means 7/6, 7/3, 25/6, 19/6: ranks 1, 2, 4, 3; a metric with ranks 1, 3, 4, 2 differs by 0, 1, 0, 1: 1 - 12/60."""
    sheet, key = filled()
    scores = {
        "mig": {"one": 0.1, "two": 0.3, "three": 0.4, "four": 0.2},
        "against": {"one": 4, "two": 3, "three": 1, "four": 2},
        "flat": dict.fromkeys(MODELS, 1.0),
    }
    found = rated_traversals(sheet, key, scores)
    assert_close(found.table["correlation"], [0.8, -1, np.nan], ROUNDING)
    assert_close([found.ratings[one] for one in MODELS], [7 / 6, 7 / 3, 25 / 6, 19 / 6], ROUNDING)
    assert found.table[["low", "high"]].isna().all(axis=None)  # 4 models are too few for an interval
    only = rated_traversals(sheet, key, {"against": scores["against"]})
    assert only.sentence.startswith("No metric ranks 4 models as people do: against has ")
    refuses(InputError, "numbers, got 'good'", rated_traversals, sheet.assign(rating="good"), key, scores)
    answers = Annotations(sheet["traversal"], sheet["rater"], sheet["rating"].astype(int))
    alpha = annotator_agreement(answers, scale="ordinal", seed=0).to_frame().set_index("coefficient")["value"]
    assert_close(found.agreement, alpha["krippendorff"], ROUNDING)
    assert found.sentence.startswith("mig ranks 4 models most as people do: correlation 0.8")


def test_rows_without_a_rating_are_left_out() -> None:
    sheet, key = filled()
    some = sheet.assign(rating=sheet["rating"].where(sheet["rater"] != "eve"))
    found = rated_traversals(some, key, {"mig": dict.fromkeys(MODELS, 0.0)})
    assert found.agreement == 1
    assert "one score" in found.sentence


def test_models_without_scores_and_few_models_are_refused() -> None:
    sheet, key = filled()
    with pytest.raises(InputError, match="'four' has none"):
        rated_traversals(sheet, key, {"mig": {"one": 1.0, "two": 2.0, "three": 3.0}})
    two = sheet[sheet["traversal"].isin(key.loc[key["model"].isin(["one", "two"]), "traversal"])]
    refuses(NotEnoughData, "at least 3 models", rated_traversals, two, key, {"mig": dict.fromkeys(MODELS, 1.0)})


def test_a_sheet_of_no_models_is_refused() -> None:
    refuses(InputTypeError, "mapping of names", rating_sheet, [3], ["ann"])
    refuses(InputError, "models", rating_sheet, {"a": "two"}, ["ann"])
    refuses(InputError, "raters", rating_sheet, {"a": 2}, "ann")
    refuses(NotEnoughData, "at least one code", rating_sheet, {"a": 0}, ["ann"])
