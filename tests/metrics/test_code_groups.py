"""Codes of several columns: known numbers, that one column for each group changes nothing, traps, refusals."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.core.code_groups import read_code_groups
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.core.seeds import rng_for
from tests.tolerances import ROUNDING, assert_close, assert_exact

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.FragileScoreWarning")
#: A circle on whole numbers: eight angles, four values of another factor, every pair ten times.
THETA, OTHER = np.array([(a, b) for a in range(8) for b in range(4)] * 10, dtype=float).T
CIRCLE = np.array([(2, 0), (1, 1), (0, 2), (-1, 1), (-2, 0), (-1, -1), (0, -2), (1, -1)], dtype=float)
CODES, FACTORS = np.column_stack([CIRCLE[THETA.astype(int)], OTHER]), np.column_stack([THETA, OTHER])
IN_GROUPS = {"circle": [0, 1], "v": [2]}
#: Quick settings of metrics that draw.
QUICK: dict[str, dict[str, Any]] = {
    "z_diff": {"n_train": 60, "n_test": 60},
    "z_min_variance": {"n_train": 60, "n_test": 60},
    "z_max_variance": {"n_train": 60, "n_test": 60},
    "dci_forest": {"n_trees": 2},
}
EVERY = (
    *("mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "dlig", "infom", "infoc", "infoe", "explicitness"),
    *("sap", "mcc", "mcc_rank", "mcc_weak", "r2_affine", "z_diff", "z_min_variance", "z_max_variance", "irs"),
    *("dci_forest_modularity", "dci_forest_compactness", "dci_forest_explicitness"),
)


def scored(codes: Any, names: Any, **keywords: Any) -> demele.Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return demele.evaluate(codes, FACTORS, names, **{"kinds": "categorical", **keywords})


def test_a_circle_is_one_code() -> None:
    names = [
        *("mig", "infom", "infoc", "dcimig", "mcc", "irs"),
        *("med_modularity", "med_compactness", "minimality", "sufficiency", "snc"),
    ]
    apart, together = scored(CODES, names), scored(CODES, names, code_groups=IN_GROUPS)
    assert_close([apart[name].value for name in names[:3]], [0.5, 1.0, 0.625], ROUNDING)
    assert_close([together[name].value for name in names], [1.0] * len(names), ROUNDING)
    assert_close(apart["med_compactness"].value, 0.684535, {"rtol": 0, "atol": 1e-6})
    assert together.code_names == ("circle", "v")
    matrix = together["mig"].matrix
    assert matrix is not None
    assert list(matrix.index) == ["circle", "v"]
    assert_close(matrix.to_numpy(), np.log([[8, 1], [1, 4]]), ROUNDING)


def test_angles_as_numbers_are_no_straight_line_of_a_circle() -> None:
    """R2 of the angle on both columns is 320/504; the other column has its own; adjusted for one column more."""
    rows, share = len(CODES), (8**2 + 16**2) / (12 * 42)
    adjusted = 1 - (1 - share) * (rows - 2) / (rows - 3)
    found = scored(CODES, ["mcc", "sap"], code_groups=IN_GROUPS, kinds="continuous")
    assert_close(list(found["mcc"].native.values()), [np.sqrt(adjusted), 1.0], ROUNDING)
    assert_close(list(found["sap"].native.values()), [adjusted, 1.0], ROUNDING)


@pytest.mark.parametrize("drawn", [False, True])
def test_one_column_for_each_group_is_no_groups(drawn: bool) -> None:
    names = ["mig", "sap"] if drawn else EVERY
    keywords: dict[str, Any] = {"options": QUICK, "bootstrap": 2 * drawn, "chance": int(drawn)}
    apart, alone = (scored(CODES, names, code_groups=groups, **keywords) for groups in (None, {"z1": 0, "z2": [1]}))
    for name in names:
        one, other = apart[name], alone[name]
        assert_exact(other.value, one.value)
        assert_exact(np.asarray(other.matrix_values, dtype=float), np.asarray(one.matrix_values, dtype=float))
        assert (other.interval, other.chance) == (one.interval, one.chance)


def test_single_columns_beside_a_group_keep_their_bits() -> None:
    rng = rng_for(0, "single columns")
    more = np.column_stack([CODES, rng.normal(size=(len(CODES), 2))])
    names = ["mig", "infom", "sap", "mcc", "mcc_rank", "irs", "dci_forest_modularity"]
    apart, beside = (scored(more, names, options=QUICK, code_groups=g) for g in (None, {"noise": [3, 4]}))
    for name in names:
        assert_exact(beside[name].matrix_values[:3], apart[name].matrix_values[:3])  # type: ignore[index]


def test_the_order_of_columns_within_a_group_changes_nothing() -> None:
    turned = CODES[:, [1, 0, 2]]
    names = [name for name in EVERY if not name.startswith("dci_")]  # trees draw columns by their place
    first = scored(CODES, names, code_groups=IN_GROUPS, options=QUICK)
    for codes, groups in ((CODES, {"v": [2], "circle": [1, 0]}), (turned, IN_GROUPS)):
        again = scored(codes, names, code_groups=groups, options=QUICK)
        assert again.code_names == first.code_names
        for name in names:
            assert again[name].value == pytest.approx(first[name].value, abs=1e-9)


def test_all_columns_in_one_group() -> None:
    twice, factors = np.tile(CODES, (2, 1)), np.tile(FACTORS, (2, 1))  # 100 joint cells need 500 rows
    together = demele.mig(twice, factors, kinds="categorical", code_groups=["all"] * 3)
    assert together.value == pytest.approx(1.0)  # there is no rival
    with pytest.raises(NotEnoughData, match="needs at least 2 codes, got 1"):
        scored(CODES, ["dci_forest_compactness"], code_groups=["all"] * 3)


def test_a_first_component_loses_what_a_circle_tells() -> None:
    found = scored(CODES, ["mig"], code_groups=IN_GROUPS, reduce_groups="pca1")
    assert found["mig"].value < 0.9
    assert any(note.code == "reduced-group" and "50%" in note.message for note in found.notes)
    on_a_line = np.column_stack([OTHER, 2 * OTHER, THETA])
    same = scored(on_a_line, ["mig"], code_groups={"v": [0, 1]}, reduce_groups="pca1")
    assert same["mig"].value == pytest.approx(1.0)


def test_cells_that_rows_do_not_fill_are_not_counted() -> None:
    """Joint cells of six columns of noise are one for each row, and would tell everything."""
    rng = rng_for(0, "wide group")
    wide = np.column_stack([rng.normal(size=(len(CODES), 6)), OTHER])
    groups = {"wide": range(6)}
    found = demele.evaluate(wide, OTHER, ["mig"], kinds="categorical", code_groups=groups, bootstrap=3)
    information = found["mig"].matrix
    assert information is not None
    assert information.loc["wide"].max() < 0.1
    note = next(note for note in found["mig"].notes if note.code == "lower-bound")
    assert note.subject == ("wide",)
    assert "lower bound" in note.message
    told = demele.mig(wide, OTHER, kinds="categorical", code_groups={"wide": range(7)}).matrix
    assert told is not None
    assert 0.8 * np.log(4) < told.iloc[0, 0] <= np.log(4)
    for name, reason in (("jemmig", "joint entropies"), ("minimality", "entropies of codes"), ("snc", "joint counts")):
        with pytest.raises(NotEnoughData, match=reason):
            getattr(demele, name)(wide, OTHER, kinds="categorical", code_groups=groups)


def test_multiple_correlation_of_noise_has_the_level_of_one_column() -> None:
    from demele.core.inputs import read_factors
    from demele.estimation.joint_codes import multiple_correlation

    rng = rng_for(0, "multiple correlation")
    factors = [read_factors(rng.normal(size=60)).columns[0] for _ in range(400)]
    columns = rng.normal(size=(60, 8))
    squares = [multiple_correlation(columns, factor) ** 2 for factor in factors]
    one = [multiple_correlation(columns[:, :1], factor) ** 2 for factor in factors]
    assert np.mean(one) == pytest.approx(1 / 59, abs=0.006)
    assert np.mean(squares) < 0.07  # 8 / 59 = 0.136 without; above 1 / 59 since values below 0 count 0


def test_cross_fitted_groups_of_noise_score_about_zero() -> None:
    noise = rng_for(0, "cross-fitted").normal(size=(len(CODES), 12))
    found = scored(noise, ["mcc"], code_groups=["a"] * 6 + ["b"] * 6, options={"mcc": {"cross_fit": 4}})
    assert abs(found["mcc"].value) < 0.15


def test_metrics_without_a_form_are_left_out_by_name() -> None:
    assert scored(CODES, ["mig"], code_groups=IN_GROUPS).verdict is None
    with pytest.raises(NotEnoughData, match="joint cells of several have not"):
        scored(CODES, ["rmig"], code_groups=IN_GROUPS, codes_std=0 * CODES + 0.1)
    with pytest.raises(NotEnoughData, match="sees columns, not groups"):
        scored(CODES, [lambda codes, factors: float(codes.sum())], code_groups=IN_GROUPS)
    with pytest.raises(NotEnoughData, match="estimator='histogram'"):
        scored(CODES, ["mig"], code_groups=IN_GROUPS, options={"mig": {"estimator": "knn"}})


def test_a_signature_makes_the_number_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for reduce in (None, "pca1"):
            score = demele.mig(CODES, FACTORS, code_groups=IN_GROUPS, reduce_groups=reduce)
            assert demele.replay(str(score.signature), CODES, FACTORS).value == score.value
        with pytest.raises(InputError, match="2 codes, the data have 3"):
            demele.replay(str(score.signature), np.column_stack([CODES, OTHER]), FACTORS)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"a": [0, 1], "b": [1]}, InputError, "column 'z1' stands in 'a' and in 'b'"),
        ({"a": [0, 0]}, InputError, "column 'z0' stands twice"),
        ({"a": [3]}, InputError, "no column has the number 3; there are 3"),
        ({"a": [-1]}, InputError, "numbered from 0"),
        ({"a": ["z7"]}, UnknownNameError, "no code is called 'z7'"),
        ({"a": []}, InputError, "group 'a' has no column"),
        ({"a": [True]}, InputTypeError, "numbers or names"),
        ({"a": 0.5}, InputTypeError, "numbers or names, got float"),
        ({"z2": [0, 1]}, InputError, "a group is called 'z2', and so is a column"),
        ({}, InputError, "at least one group"),
        (["a", "b"], InputError, "a label for each of the 3 columns, got 2"),
        ("aab", InputTypeError, "got str"),
        (3, InputTypeError, "got int"),
    ],
)
def test_groups_that_are_none(groups: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_code_groups(groups, ("z0", "z1", "z2"))


def test_blocks_are_identified_where_each_factor_is_in_one_group() -> None:
    found = scored(CODES, ["r2_affine"], code_groups=IN_GROUPS, kinds="continuous")["r2_affine"].matrix
    assert found is not None
    assert_close(found.to_numpy(), [[320 / 504, 0.0], [0.0, 1.0]], ROUNDING)


def test_what_a_group_has_alone_and_what_moves_it() -> None:
    names = ["unique_information", "omes"]
    found = scored(CODES, names, code_groups=IN_GROUPS)
    assert_close([found[name].value for name in names], [1.0, 1.0], ROUNDING)
    doubled = np.column_stack([CODES, 2 * CODES[:, 0]])
    apart = scored(doubled, names, code_groups={"circle": [0, 1]})
    assert_close(apart["unique_information"].value, (0.25 + 1.0) / 2, ROUNDING)  # the copy tells the rest
    again = scored(doubled, names, code_groups={"circle": [0, 1, 3]})
    assert_close([again[name].value for name in names], [1.0, 1.0], ROUNDING)


def test_a_group_is_knocked_out_as_a_whole() -> None:
    options = {"nk": {"n_trees": 5}}
    doubled = np.column_stack([CODES, CODES[:, :2]])
    copies, whole = (
        scored(doubled, ["nk"], code_groups=groups, options=options)["nk"]
        for groups in ({"a": [0, 1], "b": [3, 4]}, {"circle": [0, 1, 3, 4]})
    )
    assert next(iter(copies.native.values())) < 0.1  # the other circle tells as much
    assert next(iter(whole.native.values())) > 0.6


def test_options_that_do_not_fit() -> None:
    for other in ({"factor_noise": {"v1": 0.1}}, {"aligned": True}):
        with pytest.raises(InputError, match="not in groups"):
            scored(CODES, ["mig"], code_groups=IN_GROUPS, **other)
    with pytest.raises(InputError, match="reduces groups of columns"):
        scored(CODES, ["mig"], reduce_groups="pca1")
    with pytest.raises(InputError, match="expected None or 'pca1'"):
        scored(CODES, ["mig"], code_groups=IN_GROUPS, reduce_groups="mean")
