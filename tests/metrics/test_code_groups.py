"""Codes of several columns: known numbers, that one column for each group changes nothing, traps, refusals."""

import warnings
from typing import Any

import numpy as np
import pytest

import demele
from demele.core.arrays import rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.core.given_data import read_code_groups
from tests.given import evaluated
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
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


def scored(codes: Any, names: Any, factors: Any = FACTORS, **keywords: Any) -> demele.Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluated(codes, factors, names, {"kinds": "categorical", **keywords})


def test_a_circle_is_one_code() -> None:
    names = [
        *("mig", "infom", "infoc", "dcimig", "mcc", "irs"),
        *("med_modularity", "med_compactness", "minimality", "sufficiency", "snc"),
    ]
    apart, together = scored(CODES, names), scored(CODES, names, groups=IN_GROUPS)
    assert_close([apart[name].value for name in names[:3]], [0.5, 1.0, 0.625], ROUNDING)
    assert_close([together[name].value for name in names], [1.0] * len(names), ROUNDING)
    assert_close(apart["med_compactness"].value, 0.684535, {"rtol": 0, "atol": 1e-6})
    assert together.code_names == ("circle", "v")
    matrix = together["mig"].matrix
    assert list(matrix.index) == ["circle", "v"]
    assert_close(matrix.to_numpy(), np.log([[8, 1], [1, 4]]), ROUNDING)


@pytest.mark.parametrize("given", [np.asarray, lambda array: pytest.importorskip("torch").from_numpy(array)])
def test_each_slot_of_an_array_of_three_dimensions_is_a_group(given: Any) -> None:
    slots = np.stack([CODES[:, :2], np.column_stack([CODES[:, 2], np.zeros(len(CODES))])], axis=1)
    labels = ["slot0", "slot0", "slot1", "slot1"]
    found, flat = scored(given(slots), ["mig", "sap"]), scored(slots.reshape(-1, 4), ["mig", "sap"], groups=labels)
    assert found.code_names == ("slot0", "slot1")
    assert [score.value for score in found] == [score.value for score in flat]
    assert demele.metrics.mig(given(slots), demele.Factors(FACTORS, kinds="categorical")).value == flat["mig"].value
    assert demele.replay(found["mig"].signature, given(slots), FACTORS).value == flat["mig"].value
    numbered = scored(given(slots), ["mig"], groups={"circle": [0, 1]})
    assert numbered.code_names == ("circle", "z3", "z4")


@pytest.mark.parametrize("drawn", [False, True])
def test_one_column_for_each_group_is_no_groups(drawn: bool) -> None:
    names = ["mig", "sap"] if drawn else EVERY
    keywords: dict[str, Any] = {"options": QUICK, "n_bootstrap": 2 * drawn, "n_permutations": int(drawn)}
    apart, alone = (scored(CODES, names, groups=groups, **keywords) for groups in (None, {"z1": 0, "z2": [1]}))
    for name in names:
        one, other = apart[name], alone[name]
        assert_exact(other.value, one.value)
        assert_exact(np.asarray(other.matrix_values, dtype=float), np.asarray(one.matrix_values, dtype=float))
        assert other.interval == one.interval
        assert repr(other.chance) == repr(one.chance)  # a standard deviation of one value is NaN


def test_cells_that_rows_do_not_fill_are_not_counted() -> None:
    """Joint cells of six columns of noise are one for each row, and would tell everything."""
    rng = rng_for(0, "wide group")
    wide = np.column_stack([rng.normal(size=(len(CODES), 6)), OTHER])
    groups, known = {"wide": range(6)}, demele.Factors(OTHER, kinds="categorical")
    found = demele.evaluate(demele.Codes(wide, groups=groups), known, ["mig"], n_bootstrap=3)
    information = found["mig"].matrix
    assert information.loc["wide"].max() < 0.1
    note = next(note for note in found["mig"].notes if note.code == "lower-bound")
    assert note.subject == ("wide",)
    assert "lower bound" in note.message
    told = demele.metrics.mig(demele.Codes(wide, groups={"wide": range(7)}), known).matrix
    assert 0.8 * np.log(4) < told.iloc[0, 0] <= np.log(4)
    for name, reason in (("jemmig", "joint entropies"), ("minimality", "entropies of codes"), ("snc", "joint counts")):
        with pytest.raises(NotEnoughData, match=reason):
            getattr(demele.metrics, name)(demele.Codes(wide, groups=groups), known)


def test_cross_fitted_groups_of_noise_score_about_zero() -> None:
    noise = rng_for(0, "cross-fitted").normal(size=(len(CODES), 12))
    found = scored(noise, ["mcc"], groups=["a"] * 6 + ["b"] * 6, options={"mcc": {"cross_fit": 4}})
    assert abs(found["mcc"].value) < 0.15


def test_metrics_without_a_form_are_left_out_by_name() -> None:
    assert scored(CODES, ["mig"], groups=IN_GROUPS).verdict is None
    with pytest.raises(NotEnoughData, match="no form for codes of several columns"):
        scored(CODES, ["rmig"], groups=IN_GROUPS, std=0 * CODES + 0.1)
    with pytest.raises(NotEnoughData, match="no form for codes of several columns"):
        scored(CODES, [lambda codes, factors: float(codes.sum())], groups=IN_GROUPS)
    needed = r"looks at ties column by column.* `estimator='histogram'` or `estimator='knn'`"
    with pytest.raises(NotEnoughData, match=needed):
        scored(CODES, ["mig"], groups=IN_GROUPS, options={"mig": {"estimator": "robust"}})


def test_groups_that_are_none() -> None:
    for groups, error, message in [
        ({"a": [0, 1], "b": [1]}, InputError, "expected each column once, got 'z1' more than once"),
        ({"a": [3]}, InputError, "no column has the number 3; there are 3"),
        ({"a": [-1]}, InputError, "numbered from 0"),
        ({"a": ["z7"]}, UnknownNameError, "unknown code 'z7'"),
        ({"a": []}, InputError, "group 'a' has no column"),
        ({"a": [True]}, InputTypeError, "numbers or names"),
        ({"a": 0.5}, InputTypeError, "numbers or names, got float"),
        ({"z2": [0, 1]}, InputError, "group 'z2' has the name of a column"),
        ({}, InputError, "at least one group"),
        (["a", "b"], InputError, "a label for each of the 3 columns, got 2"),
        ("aab", InputTypeError, "got str"),
        (3, InputTypeError, "got int"),
    ]:
        refuses(error, message, read_code_groups, groups, ("z0", "z1", "z2"))


def test_blocks_are_identified_where_each_factor_is_in_one_group() -> None:
    found = scored(CODES, ["r2_affine"], groups=IN_GROUPS, kinds="continuous")["r2_affine"].matrix
    assert_close(found.to_numpy(), [[320 / 504, 0.0], [0.0, 1.0]], ROUNDING)


def test_what_a_group_has_alone_and_what_moves_it() -> None:
    names = ["unique_information", "omes"]
    found = scored(CODES, names, groups=IN_GROUPS)
    assert_close([found[name].value for name in names], [1.0, 1.0], ROUNDING)
    doubled = np.column_stack([CODES, 2 * CODES[:, 0]])
    apart = scored(doubled, names, groups={"circle": [0, 1]})
    assert_close(apart["unique_information"].value, (0.25 + 1.0) / 2, ROUNDING)  # the copy tells the rest
    again = scored(doubled, names, groups={"circle": [0, 1, 3]})
    assert_close([again[name].value for name in names], [1.0, 1.0], ROUNDING)


def test_a_group_is_knocked_out_as_a_whole() -> None:
    options = {"nk": {"n_trees": 5}}
    doubled = np.column_stack([CODES, CODES[:, :2]])
    copies, whole = (
        scored(doubled, ["nk"], groups=groups, options=options)["nk"]
        for groups in ({"a": [0, 1], "b": [3, 4]}, {"circle": [0, 1, 3, 4]})
    )
    assert next(iter(copies.native.values())) < 0.1  # the other circle tells as much
    assert next(iter(whole.native.values())) > 0.6


# T-MEX, and several representations -----------------------------------------------------------------------------------


def test_a_group_depends_on_what_any_of_its_columns_does() -> None:
    """Two factors that come along; the first turned on a circle: neither column alone is all of it, together it is."""
    rng = np.random.default_rng(0)
    first = rng.standard_normal(1000)
    factors = np.column_stack([first, 0.8 * first + 0.6 * rng.standard_normal(1000)])
    noise = 0.2 * rng.standard_normal((1000, 3))
    codes = np.column_stack([np.cos(first), np.sin(first), factors[:, 1]]) + noise
    groups = {"circle": [0, 1], "line": [2]}
    found = demele.metrics.tmex(demele.Codes(codes, groups=groups), factors)
    assert found.matrix.to_numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found.value == 1.0
    alone = np.array(demele.metrics.tmex(codes, factors).details["p_values"])
    together = np.array(found.details["p_values"])
    assert_close(together[0], np.minimum(2 * alone[:2].min(axis=0), 1.0), ROUNDING)
    assert_close(together[1], alone[2], ROUNDING)
    wrong = demele.metrics.tmex(demele.Codes(codes, groups=groups), factors, intended=[[0, 1], [1, 0]])
    assert wrong.value == 0.0
    # a column that does not vary is no test of its own
    dead = np.insert(codes, 1, 3.0, axis=1)
    with_dead = demele.metrics.tmex(demele.Codes(dead, groups={"circle": [0, 1, 2], "line": [3]}), factors)
    assert_close(np.array(with_dead.details["p_values"]), together, ROUNDING)


def test_several_representations_with_groups_of_their_own() -> None:
    turned = np.column_stack([CODES[:, 2], CODES[:, 0], CODES[:, 1]])
    factors = demele.Factors(FACTORS, kinds="categorical")
    both: dict[str, Any] = {"one": demele.Codes(CODES, groups=IN_GROUPS)}
    both |= {"other": demele.Codes(turned, groups={"circle": [1, 2]})}
    found = demele.compare_representations(both, factors, ["mig"], n_bootstrap=10)
    assert_close([found["one"]["mig"].value, found["other"]["mig"].value], [1.0, 1.0], ROUNDING)
    assert found.differences[0].value == 0.0
    both = {"one": demele.Codes(CODES, groups=IN_GROUPS, reduce="pca1"), "other": turned}
    one = demele.compare_representations(both, factors, ["mig"])
    assert one["other"].code_names == ("z1", "z2", "z3")
    assert one["one"].code_names == ("circle", "v")
    with pytest.raises(UnknownNameError, match="other: `groups`"):
        demele.compare_representations({"one": CODES, "other": demele.Codes(turned, groups={"a": ["nobody"]})}, factors)


# Nearest neighbours ---------------------------------------------------------------------------------------------------


def test_neighbours_of_vectors_in_loops() -> None:
    """The definitions, with every pair of rows looked at."""
    from scipy.special import digamma

    from demele.estimation.knn import ksg_of_vectors, ross_of_vectors

    rng = np.random.default_rng(1)
    columns, target, labels, k, n = rng.random((60, 3)), rng.random(60), rng.integers(0, 3, 60), 3, 60
    away = np.abs(columns[:, None] - columns[None]).max(axis=2)
    own = np.abs(target[:, None] - target[None])
    terms = []
    for row in range(n):
        reach = np.sort(np.maximum(away[row], own[row]))[k]
        terms.append(digamma((away[row] < reach).sum()) + digamma((own[row] < reach).sum()))
    assert_close(ksg_of_vectors(columns, target, k), digamma(n) + digamma(k) - np.mean(terms), ROUNDING)
    terms = []
    for row in range(n):
        same = labels == labels[row]
        reach = np.sort(away[row][same])[k]
        terms.append(digamma(k) - digamma(same.sum()) - digamma((away[row] < reach).sum()))
    assert_close(ross_of_vectors(columns, labels, k), digamma(n) + np.mean(terms), ROUNDING)


def test_neighbours_of_vectors_find_gaussian_information() -> None:
    """Of a sum of two of three independent columns and noise, R2 = 2/3: the information is log(3) / 2."""
    rng = rng_for(0, "gaussian vectors")
    codes = rng.standard_normal((4000, 3))
    factors = np.column_stack([codes[:, 0] + codes[:, 1] + rng.standard_normal(4000), codes[:, 2]])
    given: dict[str, Any] = {
        "groups": {"both": [0, 1]},
        "kinds": "continuous",
        "options": {"mig": {"estimator": "knn"}},
    }
    matrix = scored(codes, ["mig"], factors, **given)["mig"].matrix
    assert abs(matrix.loc["both"].iloc[0] - np.log(3) / 2) < 0.05
    assert matrix.loc["both"].iloc[1] < 0.05
    holed = factors.copy()
    holed[::3, 0] = np.nan
    fewer = scored(codes, ["mig"], holed, missing="omit", n_bootstrap=4, n_permutations=2, **given)["mig"]
    assert abs(fewer.matrix.loc["both"].iloc[0] - np.log(3) / 2) < 0.08
    assert fewer.interval is not None
    assert fewer.chance.mean < 0.1


def test_the_order_of_columns_within_a_group_changes_nothing() -> None:
    turned = CODES[:, [1, 0, 2]]
    names = [name for name in EVERY if not name.startswith("dci_")]  # trees draw columns by their place
    first = scored(CODES, names, groups=IN_GROUPS, options=QUICK)
    for codes, groups in ((CODES, {"v": [2], "circle": [1, 0]}), (turned, IN_GROUPS)):
        again = scored(codes, names, groups=groups, options=QUICK)
        assert again.code_names == first.code_names
        for name in names:
            assert again[name].value == pytest.approx(first[name].value, abs=1e-9)


def test_options_that_do_not_fit() -> None:
    for other in ({"noise": {"v1": 0.1}}, {"align": "rotation"}):
        refuses(InputError, "not in groups", scored, CODES, ["mig"], groups=IN_GROUPS, **other)
    refuses(InputError, "reduces groups of columns", scored, CODES, ["mig"], reduce="pca1")
    refuses(InputError, "expected None or 'pca1'", scored, CODES, ["mig"], groups=IN_GROUPS, reduce="mean")
