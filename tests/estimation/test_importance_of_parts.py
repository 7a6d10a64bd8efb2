"""A random part is fitted and scored as the whole is, in proportion, so that its spread is that of the whole."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.estimation import forest_importance as forest_module
from demele.estimation.boosting_importance import boosting_importance
from demele.estimation.forest_importance import forest_importance
from demele.estimation.importance import FittedImportance, in_part, lasso_importance, splits
from demele.estimation.trees import Trees, grow_trees

Predictor = Callable[..., FittedImportance]
RNG = np.random.default_rng(0)
CODES = RNG.random((520, 2))
VALUES = (CODES[:, 0] > 0.5).astype(np.intp)


@pytest.mark.parametrize(
    ("n_rows", "drawn_from", "folds"), [(520, 0, 5), (520, 1040, 2), (2200, 4400, 1), (2200, 0, 2)]
)
def test_folds_are_those_of_the_whole(n_rows: int, drawn_from: int, folds: int) -> None:
    parted = splits(np.zeros(n_rows), False, np.random.default_rng(0), drawn_from=drawn_from)
    assert len(parted) == folds
    assert all(len(test) == pytest.approx(n_rows / 5, abs=1) for _, test in parted)


def test_rows_and_bins_are_in_proportion() -> None:
    assert in_part(5_000, 3_000, 6_000) == 2_500
    assert in_part(256, 500, 1_000) == 128
    assert in_part(5_000, 3_000, 0) == 5_000
    assert in_part(2, 3, 6) == 2


@pytest.mark.parametrize("predictor", [forest_importance, boosting_importance, lasso_importance])
def test_parts_are_scored_by_as_many_fits_as_the_whole(predictor: Predictor) -> None:
    def fitted(**given: int) -> FittedImportance:
        return predictor(CODES, VALUES, categorical=True, rng=np.random.default_rng(0), **given)

    part, alone = fitted(drawn_from=1_040), fitted()
    number = {len(one) for one in part.settings.values() if isinstance(one, tuple)}
    assert number == {2}
    assert {len(one) for one in alone.settings.values() if isinstance(one, tuple)} == {5}
    assert part.importance[0] > 0.9 * part.importance.sum()
    assert part.score > 0.95


def test_boosting_of_a_part_has_its_share_of_the_rows_and_bins() -> None:
    rows = np.random.default_rng(1).random((2_100, 1))
    options = {"categorical": False, "n_trees": 1, "drawn_from": 4_200}
    found = boosting_importance(rows, rows[:, 0], rng=np.random.default_rng(0), **options)  # type: ignore[arg-type]
    assert found.settings["n_train"] == (1_400,)
    assert found.settings["max_bins"] == (128,)


def test_forests_of_a_part_choose_with_half_of_the_trees_and_grow_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    grown: list[tuple[int, int]] = []

    def counted(presorted: Any, target: Any, members: NDArray[np.bool_], **options: Any) -> Trees:
        grown.append((options["features_per_split"], len(members)))
        return grow_trees(presorted, target, members, **options)

    monkeypatch.setattr(forest_module, "grow_trees", counted)
    found = forest_importance(
        CODES, VALUES, categorical=True, rng=np.random.default_rng(0), n_trees=6, drawn_from=1_040
    )
    chosen = found.settings["features_per_split"]
    assert isinstance(chosen, tuple)
    assert grown == [(1, 3), (2, 3), (chosen[0], 3), (1, 3), (2, 3), (chosen[1], 3)]
