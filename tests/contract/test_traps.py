"""Traps that public code falls into, one test for each: numbers that look plausible and are wrong."""

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import demele
import demele.core.errors
from tests.contract.cases import CHEAP, GROUPS, QUICK, scored
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close

Floats = NDArray[np.float64]
pytestmark = [
    pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning"),
    pytest.mark.filterwarnings("ignore::demele.errors.AmbiguousKindWarning"),
]


def uniform(n: int, m: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).random((n, m))


def grid(levels: int, m: int, copies: int = 1) -> NDArray[np.int_]:
    """Every combination of m factors, equally often."""
    axes = np.meshgrid(*[np.arange(levels)] * m, indexing="ij")
    return np.tile(np.column_stack([axis.ravel() for axis in axes]), (copies, 1))


# What a gap is divided by --------------------------------------------------------------------------------------------


def test_entropy_of_a_continuous_factor_does_not_grow_with_the_rows() -> None:
    # the neighbour "entropy" of Latte does, and its score of one representation falls with n
    def score(n: int, estimator: Any) -> float:
        factors = uniform(n, 2)
        return demele.metrics.mig(0.8 * factors + 0.2 * uniform(n, 2, seed=1), factors, estimator=estimator).value

    few, many = 2000, 8000
    assert abs(score(few, "histogram") - score(many, "histogram")) < 0.02
    assert abs(score(few, "robust") - score(many, "robust")) < 0.02
    assert score(few, "knn") > score(many, "knn") + 0.02


def test_a_code_that_is_the_factor_but_for_rounding_is_perfect() -> None:
    # JEMMIG reaches 1 with as many bins as values
    levels = grid(4, 2, 5)
    assert_close(demele.metrics.jemmig(levels, levels, bins=4).value, 1.0, ROUNDING)


# Dead, constant, permuted codes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["forest", "lasso", "boosting"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_dead_code_does_not_stop_dci_modularity(model: Any, place: int) -> None:
    factors = uniform(150, 2)
    codes = np.insert(factors, place, 3.0, axis=1)
    scores = demele.metrics.dci(codes, factors, model=model, **CHEAP.get(f"dci_{model}", {}))
    assert scores.modularity.value > 0.8
    assert math.isnan(scores.modularity.native[f"z{place + 1}"])
    assert scores.importance.iloc[place].tolist() == [0, 0]
    assert scores.compactness.value > 0.7


@pytest.mark.parametrize("group", GROUPS)
def test_a_dead_code_first_is_a_dead_code_last(group: str) -> None:
    factors = np.column_stack([uniform(120, 1), np.random.default_rng(1).integers(0, 3, 120)])
    codes = factors + 0.2 * uniform(120, 2, seed=2)
    stds = np.full((120, 3), 0.1)

    def values(place: int, reg_dim: list[int]) -> list[float]:
        own = {metric: {"reg_dim": reg_dim} for metric in ("dmig", "xmig", "dlig")}
        dead = np.insert(codes, place, 7.0, axis=1)
        evaluation = demele.evaluate(demele.Codes(dead, std=stds), factors, GROUPS[group], options={**CHEAP, **own})
        return [score.value for score in evaluation]

    first, last = values(0, [1, 2]), values(2, [0, 1])
    if group in ("dci_forest", "dci_boosting"):  # a tree draws its columns in their order
        assert np.abs(np.subtract(first, last)).max() < 0.3
    else:
        assert_close(first, last, ROUNDING)


def test_a_representation_that_is_all_dead_scores_zero() -> None:
    # 0.5 for JEMMIG in print
    for name in ("mig", "mig_sup", "modularity", "dcimig", "jemmig", "sap"):
        assert_close(scored(name, np.zeros((300, 2)), uniform(300, 2)).value, 0.0, ROUNDING)


def test_permuted_codes_are_named_not_only_scored_minus_one() -> None:
    factors = uniform(2000, 2)
    swapped = factors[:, ::-1]
    assert demele.metrics.mig(swapped, factors).value > 0.95
    for metric in (demele.metrics.dmig, demele.metrics.dlig):
        assumed, told = metric(swapped, factors), metric(swapped, factors, reg_dim=[1, 0])
        assert assumed.value < -0.95
        assert told.value > 0.95
        assert any("reg_dim" in note.message for note in assumed.notes)
        assert not any(note.code == "assumed-reg-dim" for note in told.notes)


# Units ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("scale", [1e-9, 1e3])
def test_the_unit_of_the_codes_does_not_matter(group: str, scale: float) -> None:
    # Z-diff 1.0 -> 0.007 and SAP 0.1 -> 0 at 1e-3, empty Z-min at 0.1, IRS weighted by the unit: in public code
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.random(120), rng.integers(0, 3, 120)])
    codes = np.column_stack([factors + 0.2 * rng.standard_normal((120, 2)), rng.random(120)])
    stds = rng.uniform(0.1, 0.3, codes.shape)
    mixed = np.array([scale, 1.0, 1 / scale])  # one code's unit must not weigh on the others

    def values(unit: Any) -> list[float]:
        metrics = GROUPS[group]
        evaluation = demele.evaluate(demele.Codes(codes * unit, std=stds * unit), factors, metrics, options=CHEAP)
        return [score.value for score in evaluation]

    plain = values(1.0)
    assert_close(values(scale), plain, SOLVER)
    assert_close(values(mixed), plain, SOLVER)


# Unseen rows and chance ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["explicitness", "dci_forest_explicitness", "dci_lasso_explicitness"])
def test_noise_explains_nothing_on_unseen_rows(name: str) -> None:
    # on the training rows noise scores 0.2 to 0.8
    rng = np.random.default_rng(0)
    factors, codes = rng.random((200, 2)), rng.standard_normal((200, 3))
    assert abs(scored(name, codes, factors).value) < 0.1


def test_useless_codes_have_no_dci_explicitness_unless_an_equation_in_print_is_asked_for() -> None:
    rng = np.random.default_rng(0)
    factors, codes = rng.random((400, 1)), rng.standard_normal((400, 2))
    assert demele.metrics.dci(codes, factors, model="lasso").explicitness.value < 0.05
    # 1 - 6 MSE, MSE = 1/12
    printed = demele.metrics.dci(codes, factors, model="lasso", informativeness="uniform-6").explicitness.value
    assert printed == pytest.approx(0.5, abs=0.05)


def test_z_max_says_how_many_groups_it_had() -> None:
    levels = grid(3, 3)[:20]
    score = scored("z_max_variance", levels + 0.01 * uniform(20, 3), levels)
    groups = score.details["usable_groups"]
    assert set(groups) == {"v1", "v2", "v3"}
    assert any(note.code == "usable-groups" and note.severity == "fragile" for note in score.notes)


def test_z_max_without_a_single_group_is_refused() -> None:
    factors = np.random.default_rng(0).permuted(np.tile(np.arange(12), (4, 1)), axis=1).T
    with pytest.raises(demele.errors.NotEnoughData, match="factors"):
        demele.metrics.z_max_variance(factors.astype(float), factors, n_train=20, n_test=20, batch_size=5)


# Outliers, spikes, ties, few rows ------------------------------------------------------------------------------------


def with_outliers(n: int = 10_000) -> tuple[Floats, Floats]:
    """A perfect code of which 0.1% of the entries are 50 times as large."""
    rng = np.random.default_rng(0)
    factors = rng.random((n, 3))
    codes = factors.copy()
    codes[rng.random(codes.shape) < 0.001] *= 50
    return codes, factors


@pytest.mark.parametrize("name", ["mig", "dcimig", "mig_sup", "modularity"])
def test_the_robust_protocol_keeps_perfect_codes_with_outliers(name: str) -> None:
    codes, factors = with_outliers(3000)
    scores = [demele.evaluate(z, factors, [name], protocol="robust")[name] for z in (factors, codes)]
    assert not scores[1].fragile
    assert scores[0].value > 0.97
    assert scores[1].value > 0.95


def test_tied_codes_do_not_inform_through_the_order_of_the_rows() -> None:
    # 60% zeros and rows sorted by the factor: ranks with a stable sort give 1.1 nats where there is none
    rng = np.random.default_rng(0)
    codes = np.maximum(rng.standard_normal((3000, 1)) - 0.25, 0)
    factor = np.repeat(np.arange(10), 300)[:, None]
    for protocol in ("review2022", "latte", "robust"):
        score = demele.evaluate(codes, factor, ["mig"], protocol=protocol)["mig"]
        assert score.value < 0.03
        assert not score.fragile


def test_enough_ordinary_rows_are_not_called_fragile() -> None:
    # minimality divides by the entropy of a continuous code, which is that of its bins however many rows there are
    names = [name for name in QUICK if name not in ("rmig", "xmig", "minimality")]
    rng = np.random.default_rng(0)
    for factors in (rng.random((4000, 3)), rng.integers(0, 5, (4000, 3)), rng.standard_normal((4000, 3))):
        codes = factors + 0.05 * rng.standard_normal(factors.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            demele.evaluate(codes, factors, names)


def test_irs_may_be_negative_and_says_so() -> None:
    # within a value of the factor the code deviates by 7.5 from its mean there, over all rows by 5 from its mean
    codes = np.array([0, 0, 0, 10, 10, 10, 10, 0], dtype=float)[:, None]
    score = demele.metrics.irs(codes, np.repeat([0, 1], 4))
    assert_close(score.value, -0.5, ROUNDING)
    assert demele.metrics.describe("irs").range[0] <= -0.5


# Rows of tables ------------------------------------------------------------------------------------------------------


FILTERED = pd.DataFrame(np.random.default_rng(0).random((100, 2)), columns=["a", "b"])


@pytest.mark.parametrize(
    ("index", "row"),
    [
        (range(1, 101), 0),  # cut otherwise
        ([*range(99), 200], 99),  # one row is another
        ([f"s{row}" for row in range(100)], 0),
        ([0, *range(99)], 1),  # joined twice
        ([*range(99), None], 99),
    ],
)
def test_rows_with_other_labels_are_not_paired_by_position(index: Any, row: int) -> None:
    other = FILTERED.set_axis(pd.Index(index), axis=0)
    expected = rf"different labels, first at row {row} .*drop the indexes"
    for call in (demele.metrics.mig, demele.metrics.dci, demele.evaluate):
        asked: dict[str, Any] = {"metrics": "mig"} if call is demele.evaluate else {}
        refuses(demele.errors.InputError, rf"{expected}, or pass `ignore_index=True`", call, FILTERED, other, **asked)
    for unable in (demele.bins.BinEdges.of, demele.Accumulator("mig").update):
        refuses(demele.errors.InputError, rf"{expected}$", unable, FILTERED, other)
    same = demele.metrics.mig(FILTERED, FILTERED)
    told = demele.metrics.mig(FILTERED, demele.Factors(other, ignore_index=True))
    assert (told.value, told.signature) == (same.value, same.signature)
    assert demele.evaluate(FILTERED, demele.Factors(other, ignore_index=True), "mig")["mig"].value == same.value
    assert demele.metrics.mig(FILTERED, other.reset_index(drop=True)).value == same.value


def test_a_fragile_note_states_what_the_other_setting_gives() -> None:
    rng = np.random.default_rng(0)
    factors = rng.random((3000, 2))
    codes = factors.copy()
    codes[:3] *= 50
    score = demele.metrics.mig(codes, factors)
    (note,) = [note for note in score.notes if note.code == "crowded-bins"]
    told = float(note.message.partition("it would be ")[2].split()[0])
    assert abs(told - demele.metrics.mig(codes, factors, bins=demele.bins.EqualFrequency(10)).value) < 0.0006
    few = np.column_stack([rng.integers(0, 3, 3000), rng.integers(0, 4, 3000)])
    assert not demele.metrics.modularity(few, few).fragile  # few values are not crowded bins


def test_robustness_is_not_claimed_where_nothing_was_intervened_on() -> None:
    rng = np.random.default_rng(0)
    shape = rng.integers(0, 4, 2000)
    table = pd.DataFrame({"shape": shape, "light": shape})
    with pytest.raises(demele.errors.NotEnoughData, match="one value of the nuisance factors only"):
        demele.metrics.interventional_robustness(table[["shape"]] * 1.5, table, factors_of_interest="shape")
    table["light"] = np.where(shape == 0, 0, rng.integers(0, 4, 2000))
    score = demele.metrics.interventional_robustness(table[["light"]] * 1.5, table, factors_of_interest="shape")
    assert score.details["coverage"]["combinations"] == 13 / 16
    assert any(note.code == "combinations-missing" for note in score.notes)


# Values that are known ------------------------------------------------------------------------------------------------


def test_a_signature_refuses_other_columns_and_tells_other_versions() -> None:
    rng = np.random.default_rng(0)
    factors = rng.random((300, 3))
    signature = str(demele.metrics.mig(factors, factors).signature)
    refuses(demele.errors.InputError, "made from 3 codes, the data", demele.replay, signature, factors[:, :2], factors)
    other = signature.replace(f"demele={demele.__version__}", "demele=0.0.1")
    with pytest.warns(demele.core.errors.DemeleWarning, match="made by demele 0.0.1"):
        demele.replay(other, factors, factors)
