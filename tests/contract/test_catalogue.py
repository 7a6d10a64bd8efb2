"""What every registered metric promises, tested for each line of the catalogue."""

import functools
import inspect
import json
import math
import warnings
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

import demele
import demele.core.errors
from demele.metrics.catalogue import CATALOGUE, names_of_all
from tests.contract.cases import CHEAP, NAMES, scored, small, with_options
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = [
    pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning"),
    pytest.mark.filterwarnings("ignore::demele.errors.AmbiguousKindWarning"),
]

CODES, FACTORS, STDS = small()
STOCHASTIC = [name for name in NAMES if demele.metrics.describe(name).stochastic]
#: What a permutation, a resample or another seed costs is small for these.
AFFORDABLE = [name for name in NAMES if not name.startswith(("dci_", "unique"))]


@functools.cache
def whole(reg_dim: tuple[str, ...] | None = None, **keywords: Any) -> demele.Evaluation:
    """Every metric on the small data, computed once for all tests with the same keywords."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        factors = demele.Factors(FACTORS, reg_dim=reg_dim)
        return demele.evaluate(demele.Codes(CODES, std=STDS), factors, NAMES, options=CHEAP, **keywords)


def same(a: demele.Score, b: demele.Score) -> None:
    """Fail unless two scores are the same but for the time that they took."""
    first, second = a.to_dict(), b.to_dict()
    assert {**first, "seconds": None} == {**second, "seconds": None}
    assert_exact(a.value, b.value)
    assert_exact(list(a.native.values()), list(b.native.values()))


# One score -----------------------------------------------------------------------------------------------------------


#: Metrics that leave out what tells nothing: noise has no score.
GATED = ("infom", "infoc", "med_modularity", "med_compactness", "capacity_explicitness")


@pytest.mark.parametrize("name", NAMES)
def test_perfect_codes_score_more_than_noise(name: str) -> None:
    rng = np.random.default_rng(1)
    levels = FACTORS.assign(shape=FACTORS["shape"].astype("category").cat.codes).to_numpy(float)
    perfect = np.column_stack([levels, rng.standard_normal(len(levels))]) if name == "xmig" else levels
    noise = rng.standard_normal(perfect.shape)
    best, worst = (scored(name, codes, FACTORS, std=np.full_like(codes, 0.01)).value for codes in (perfect, noise))
    if name in GATED:
        assert math.isnan(worst)
        worst = 0.0
    # 0.95 for noise: on the continuous factor its information is biased most, which looks like modularity
    assert best > worst + (0.02 if name == "modularity" else 0.3)
    assert best > 0.6


@pytest.mark.parametrize("name", NAMES)
def test_native_values_have_the_declared_unit_names_and_aggregate(name: str) -> None:
    score = whole()[name]
    assert score.native_unit == demele.metrics.describe(name).native
    expected = {"per factor": list(FACTORS), "per code": list(CODES), "whole": []}[score.native_unit]
    assert list(score.native) == expected
    assert (score.per_factor is None) or (score.per_code is None)
    assert (score.code_names, score.factor_names, score.n) == (tuple(CODES), tuple(FACTORS), len(CODES))
    native = np.array(list(score.native.values()))
    if name == "dcimig" or name == "irs":  # weighted by entropy
        assert native.min() <= score.value <= native.max()
    elif name.endswith("_modularity"):
        assert_close(score.value, np.nansum(native * score.details["weights"]), ROUNDING)
    elif len(native):
        assert_close(score.value, np.nanmean(native) if name in GATED else native.mean(), ROUNDING)
    if name.startswith("z_") or name in ("explicitness", "mcc_weak", "r2_affine", "infoe", "capacity_explicitness"):
        assert score.matrix is None
        return
    assert (list(score.matrix.index), list(score.matrix.columns)) == (list(CODES), list(FACTORS))
    assert score.matrix_of
    if name.startswith("dci"):  # the importance of the first code is largest for the factor that it holds
        assert score.matrix.loc["first"].idxmax() == "size"


# Files ---------------------------------------------------------------------------------------------------------------


def strict_json(text: str) -> Any:
    """Read JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("name", NAMES)
def test_dict_holds_everything_as_json_can(name: str) -> None:
    score = whole(n_repeats=2, n_bootstrap=2, n_permutations=2)[name]
    told = strict_json(json.dumps(score.to_dict(), allow_nan=False))
    assert told["value"] == score.value
    native = [None if math.isnan(value) else value for value in score.native.values()]
    assert (told["per_factor"] or told["per_code"] or []) == native
    assert told["signature"] == str(score.signature)
    drawn = [None if math.isnan(value) else value for value in score.chance.values] if score.chance else None
    assert (told["chance"] and told["chance"]["values"]) == drawn
    assert told["interval"]["low"] == score.interval.low if score.interval else told["interval"] is None
    if score.matrix is not None:
        assert told["code_names"] == list(CODES)
        assert_exact(told["matrix_values"], score.matrix.to_numpy())


# Signatures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mig", "jemmig", "sap", "z_min_variance", "irs"])
def test_a_signature_makes_intervals_and_chance_again(name: str) -> None:
    keywords: dict[str, Any] = {"n_repeats": 2, "n_bootstrap": 3, "level": 0.8, "n_permutations": 2, "seed": 5}
    score = scored(name, CODES, FACTORS, **keywords)
    same(demele.replay(str(score.signature), CODES, FACTORS), score)


@pytest.mark.parametrize("name", ["mig", "explicitness", "irs", "dci_boosting_modularity"])
def test_a_signature_holds_kinds_and_missing(name: str) -> None:
    holes = FACTORS.rename(columns={"light": "light # 2, blue"}).astype({"light # 2, blue": float})
    holes.loc[::7, "light # 2, blue"] = np.nan
    score = scored(name, CODES, demele.Factors(holes, missing="omit", kinds={"light # 2, blue": "continuous"}))
    same(demele.replay(str(score.signature), CODES, holes), score)
    as_classes = scored(name, CODES, demele.Factors(holes, missing="omit"))
    assert str(as_classes.signature) != str(score.signature)


#: For every option that takes no words, values that differ from its default, and options that they need to matter.
OTHER_VALUES: dict[str, list[tuple[object, dict[str, object]]]] = {
    "bins": [(4, {}), (demele.bins.EqualFrequency(6), {}), (demele.bins.Adaptive(), {}), ([-9, 0, 0.3, 0.6, 9], {})],
    "n_neighbors": [(9, {"estimator": "knn"})],
    "reg_dim": [([0, 1, 3], {}), (["second", "first", "third"], {})],
    "quantile": [(0.8, {})],
    "normaliser": [("maximum", {"quantile": 0.8})],
    "penalty": [(0.01, {})],
    "prune_below": [(0.6, {})],
    "class_weight": [(None, {}), ("balanced", {})],
    "n_train": [(50, {})],
    "n_test": [(30, {})],
    "batch_size": [(4, {})],
    "n_trees": [(5, {})],
    "max_depth": [(1, {})],
    "max_bins": [(4, {})],
    "learning_rate": [(0.5, {})],
    "average": [],  # matters where codes are fewer than factors: tests/metrics/test_correlations.py
    "cross_fit": [(3, {})],
    "gate": [(True, {})],
    "active": [],  # these three: tests/metrics/test_information_shares.py
    "active_share": [],
    "encoding": [("one-hot", {})],
    "variance": [("plug-in", {})],
    "overlap_weight": [(0.9, {})],
    "joint": [("adjusted", {"bins": 2})],
    "top_k": [(1, {})],
    "largest": [(16, {})],
    "most_loss": [(0.2, {})],
    "share": [],  # matters where codes are fewer than factors: tests/metrics/test_snc.py
    "intended": [([[0, 0, 1]] * 4, {})],
    "basis": [],  # these move p-values, and rarely what is found at a level: tests/metrics/test_tmex.py
    "n_splits": [],
    "alpha": [],
}


#: The scores of DCI that an option concerns. Importances of trees sum to 1 for every factor that they help to predict,
#: so that weighing factors by them matters where no code helps, which is another test.
CONCERNED: dict[str, str | tuple[str, ...]] = {
    "informativeness": "explicitness",
    "report": "explicitness",
    "factor_weights": "lasso_compactness",
    "importance": ("modularity", "compactness"),
}


def other_values(option: inspect.Parameter) -> list[tuple[object, dict[str, object]]]:
    """Return the values of the table, or all words that an option takes."""
    words = [word for own in (option.annotation, *get_args(option.annotation)) for word in get_args(own)]
    return OTHER_VALUES[option.name] if option.name in OTHER_VALUES else [(word, {}) for word in words]


def options_of(name: str) -> Iterator[Any]:
    """Yield every option of a metric with each other value."""
    for parameter in inspect.signature(CATALOGUE[name].call).parameters.values():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        concerned = CONCERNED.get(parameter.name)
        if concerned is not None and name.startswith("dci_") and not name.endswith(concerned):
            continue  # it concerns another score of the same predictor
        for index, (value, needed) in enumerate(other_values(parameter)):
            if value != parameter.default:
                identity = f"{name}-{parameter.name}-{index}"
                yield pytest.param(name, parameter.name, value, needed, id=identity)


VARIANTS = [variant for name in NAMES for variant in options_of(name)]


@pytest.mark.parametrize(("name", "option", "value", "needed"), VARIANTS)
def test_every_option_matters_and_is_in_the_signature(
    name: str, option: str, value: object, needed: dict[str, object]
) -> None:
    spec = demele.metrics.describe(name)
    key = name if spec.group == "information" else spec.group
    codes = CODES[["third", "second", "first", "noise"]]
    differ = []
    for seed in range(3):  # shares of few votes may agree by chance
        base, other = (
            scored(name, codes, FACTORS, std=STDS, options=with_options(**{key: own}), seed=seed)
            for own in (needed, {**needed, option: value})
        )
        assert str(base.signature) != str(other.signature)
        differ.append(base.value != other.value)
        if differ[-1]:
            break
    assert any(differ)
    same(demele.replay(str(other.signature), demele.Codes(codes, std=STDS), FACTORS), other)


# Seeds, repeats, workers ---------------------------------------------------------------------------------------------


def test_same_seed_same_bits_with_any_number_of_workers() -> None:
    draws = {"n_repeats": 2, "n_bootstrap": 2, "n_permutations": 2}
    codes = demele.Codes(CODES, std=STDS)
    for score in demele.evaluate(codes, FACTORS, NAMES, options=CHEAP, n_jobs=2, **draws):  # type: ignore[arg-type]
        same(score, whole(**draws)[score.metric])


@pytest.mark.parametrize("name", NAMES)
def test_one_metric_alone_is_the_same_as_among_all(name: str) -> None:
    function = CATALOGUE[name].call
    if name.startswith("dci_"):
        _, model, prop = name.split("_")
        alone = getattr(demele.metrics.dci(CODES, FACTORS, model=model, **CHEAP.get(f"dci_{model}", {})), prop)  # type: ignore[arg-type]
    elif name == "rmig":
        alone = demele.metrics.rmig(demele.Codes(CODES, std=STDS), FACTORS)
    else:
        alone = function(CODES, FACTORS, **CHEAP.get(name, {}))
    same(alone, whole()[name])


@pytest.mark.parametrize("name", AFFORDABLE)
def test_the_seed_matters_for_stochastic_metrics_only(name: str) -> None:
    other = scored(name, CODES, FACTORS, std=STDS, seed=1)
    if name == "tmex":  # it counts what tests find: p-values differ
        assert other.details["p_values"] != whole()[name].details["p_values"]
    elif name in STOCHASTIC:
        # votes and splits of few rows may agree by chance: some seed must differ
        more = [scored(name, CODES, FACTORS, std=STDS, seed=seed) for seed in (2, 3)]
        assert any(score.value != whole()[name].value for score in (other, *more))
        assert other.signature.arguments["seed"] == 1
    else:
        same(other, whole()[name])
        assert "seed" not in other.signature.arguments


@pytest.mark.parametrize("name", NAMES)
def test_repeats_give_the_spread_over_seeds(name: str) -> None:
    score = whole(n_repeats=2, n_bootstrap=2, n_permutations=2)[name]
    if name not in STOCHASTIC:
        assert score.spread is None
        assert_exact(score.value, whole()[name].value)
        return
    assert len(score.spread.values) == 2
    assert_exact(score.spread.values[0], whole()[name].value)
    assert_close(score.value, np.mean(score.spread.values), ROUNDING)
    assert_close(score.spread.std, np.std(score.spread.values, ddof=1), ROUNDING)
    assert score.signature.arguments["n_repeats"] == 2


@pytest.mark.parametrize("name", AFFORDABLE)
def test_an_interval_contains_the_value(name: str) -> None:
    score = scored(name, CODES, FACTORS, std=STDS, n_bootstrap=20, level=0.99)
    assert score.interval.low <= score.value <= score.interval.high
    assert score.interval.low < score.interval.high
    assert score.interval.level == 0.99
    assert "20 resamples" in score.interval.method
    if score.native:
        assert score.native_intervals is not None
        assert len(score.native_intervals) == len(score.native)
        frame = score.to_frame()
        assert (frame.dropna()["low"] <= frame.dropna()["high"]).all()
    narrow = scored(name, CODES, FACTORS, std=STDS, n_bootstrap=20, level=0.5)
    assert narrow.interval.high - narrow.interval.low < score.interval.high - score.interval.low


@pytest.mark.parametrize("name", AFFORDABLE)
def test_chance_is_what_independent_codes_score(name: str) -> None:
    rows = 90
    codes, factors, stds = CODES[:rows], FACTORS[:rows], STDS[:rows]
    score = scored(name, codes, factors, std=stds, n_permutations=8)
    assert score.chance.observed == score.value
    # independent codes, drawn here without the library
    rng = np.random.default_rng(7)
    independent = [
        scored(name, codes, factors.iloc[rng.permutation(rows)].reset_index(drop=True), std=stds).value
        for _ in range(8)
    ]
    if name in GATED:
        assert np.isnan([*score.chance.values, *independent]).mean() > 0.8
        return
    error = math.hypot(score.chance.std, float(np.std(independent, ddof=1))) / math.sqrt(8)
    assert abs(score.chance.mean - np.mean(independent)) <= 5 * error + 0.01
    if name != "modularity":  # see above: noise is more modular than these codes
        assert score.chance.p_value < 0.4
    assert score.chance.p_value == (1 + sum(value >= score.value for value in score.chance.values)) / 9


# Missing annotations -------------------------------------------------------------------------------------------------


def with_holes() -> tuple[pd.DataFrame, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Factors of which "size" is missing on a third of the rows, but not where a code has its extremes."""
    known = np.arange(len(CODES)) % 3 != 0
    for column in CODES:
        known[[CODES[column].argmin(), CODES[column].argmax()]] = True
    known[[FACTORS["size"].argmin(), FACTORS["size"].argmax()]] = True
    return FACTORS.assign(size=FACTORS["size"].where(known)), known


@pytest.mark.parametrize("name", ["mig", "rmig", "mig_sup", "dcimig", "jemmig", "dmig", "xmig", "sap"])
def test_a_single_factor_is_scored_on_its_annotated_rows(name: str) -> None:
    holes, known = with_holes()
    omitted = scored(name, CODES, demele.Factors(holes[["size"]], missing="omit"), std=STDS)
    subset = scored(name, CODES[known], FACTORS.loc[known, ["size"]], std=STDS[known])
    assert omitted.n == subset.n == known.sum()
    assert_close(omitted.value, subset.value, ROUNDING)
    refuses(demele.errors.InputError, "'size'", scored, name, CODES, holes[["size"]], std=STDS)


@functools.cache
def omitted() -> demele.Evaluation:
    return demele.evaluate(
        demele.Codes(CODES, std=STDS), demele.Factors(with_holes()[0], missing="omit"), NAMES, options=CHEAP
    )


@pytest.mark.parametrize("name", NAMES)
def test_missing_annotations_are_no_obstacle(name: str) -> None:
    assert any("size" in note.subject for note in omitted().notes)
    low, high = demele.metrics.describe(name).range
    assert low <= omitted()[name].value <= high


# What does not vary --------------------------------------------------------------------------------------------------


@functools.cache
def with_constant_factor() -> tuple[demele.Evaluation, list[str]]:
    """Every metric with a constant factor between two others, and the warnings."""
    factors = FACTORS.assign(nothing="same")[["size", "nothing", "shape", "light"]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluation = demele.evaluate(
            demele.Codes(CODES, std=STDS),
            demele.Factors(factors, reg_dim=["first", "noise", "second", "third"]),
            NAMES,
            options=CHEAP,
        )
    return evaluation, [str(item.message) for item in caught if item.category is demele.errors.UndefinedFactorWarning]


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_factor_is_undefined_and_changes_nothing_else(name: str) -> None:
    evaluation, (told,) = with_constant_factor()
    assert "'nothing'" in told
    score = evaluation[name]
    plain = whole(reg_dim=("first", "second", "third"))[name]
    assert "constant-factor" in {note.code for note in score.notes}
    assert_exact(score.value, plain.value)
    if score.native_unit == "per factor":
        assert math.isnan(score.native["nothing"])
        assert strict_json(score.to_json())["per_factor"][1] is None
        own = {key: value for key, value in score.native.items() if key != "nothing"}
    else:
        own = score.native
    assert own.keys() == plain.native.keys()
    assert_exact(list(own.values()), list(plain.native.values()))
    if score.matrix is not None:
        assert score.matrix["nothing"].isna().all()
        assert score.matrix.drop(columns="nothing").notna().all(axis=None)


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_code_is_a_number_not_nan(name: str) -> None:
    score = _with_constant_code()[name]
    assert math.isfinite(score.value)
    if score.matrix is not None:
        row = score.matrix.loc["dead"].to_numpy()
        expected = np.full(3, np.nan if name in ("irs", "omes") else 0.0)
        if name == "sap":  # the guess of the majority class, where a factor has classes
            expected = np.array([score.details["majority"].get(factor, 0.0) for factor in FACTORS.columns])
        assert_close(row, expected, ROUNDING)


@functools.cache
def _with_constant_code() -> demele.Evaluation:
    codes = CODES.assign(dead=3.0)[["dead", *CODES]]
    stds = np.column_stack([STDS[:, 0], STDS])
    reg_dim = ["first", "second", "third"]
    return demele.evaluate(
        demele.Codes(codes, std=stds), demele.Factors(FACTORS, reg_dim=reg_dim), NAMES, options=CHEAP
    )


@pytest.mark.parametrize("name", ["mig", "rmig", "jemmig", "dcimig", "dmig", "xmig", "dlig", "sap", "z_diff", "irs"])
def test_a_constant_code_changes_nothing(name: str) -> None:
    plain = whole(reg_dim=("first", "second", "third"))[name]
    assert_close(_with_constant_code()[name].value, plain.value, ROUNDING)


@pytest.mark.parametrize("name", NAMES)
def test_only_constant_codes_are_a_number_or_refused(name: str) -> None:
    dead = np.ones((len(CODES), 4))
    score = number_or_refusal(name, dead, FACTORS)
    if score is not None:
        assert score.value <= 0.05


# Few codes, factors and rows -----------------------------------------------------------------------------------------


def number_or_refusal(name: str, codes: Any, factors: Any, **keywords: Any) -> demele.Score | None:
    """Return the score, or None for a refusal; fail on anything else. An undefined score must say why."""
    stds = np.full(np.shape(codes), 0.2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", demele.errors.DemeleWarning)
            score = scored(name, codes, factors, std=stds, **keywords)
    except demele.DemeleError:
        return None
    if math.isnan(score.value):
        assert any(note.severity != "info" for note in score.notes), "undefined without a reason"
        return None
    low, high = demele.metrics.describe(name).range
    assert low <= score.value <= high
    return score


@pytest.mark.parametrize("name", NAMES)
def test_a_single_code(name: str) -> None:
    score = number_or_refusal(name, CODES[["third"]].to_numpy(), FACTORS)
    if demele.metrics.describe(name).needs_codes > 1 or name in ("dmig", "xmig", "dlig"):
        assert score is None
    else:
        assert score is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_single_factor(name: str) -> None:
    score = number_or_refusal(name, CODES.to_numpy(), FACTORS[["size"]])
    assert (score is None) == (demele.metrics.describe(name).needs_factors > 1)


@pytest.mark.parametrize("rows", [2, 3, 4, 5])
@pytest.mark.parametrize("name", NAMES)
def test_a_handful_of_rows(name: str, rows: int) -> None:
    factors = np.column_stack([np.linspace(0, 1, rows), np.arange(rows) % 2, np.arange(rows) // 2])
    codes = np.random.default_rng(rows).standard_normal((rows, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        number_or_refusal(name, codes, factors)


def test_metrics_that_do_not_apply_are_left_out_with_a_reason() -> None:
    evaluation = demele.evaluate(CODES[["first"]], FACTORS[["size"]], "all", options=CHEAP)
    left = {item.metric: item.reason for item in evaluation.left_out}
    ordered = {"dmig", "xmig", "dlig"}  # they need the intended order of the codes
    assert {score.metric for score in evaluation} | set(left) == set(names_of_all()) - ordered
    assert "Codes(std=)" in left["rmig"]
    assert "at least 2 factors" in left["modularity"]
    told = demele.evaluate(CODES[["first"]], demele.Factors(FACTORS[["size"]], reg_dim=[0]), "all", options=CHEAP)
    assert "at least 2 codes" in {item.metric: item.reason for item in told.left_out}["xmig"]
    with pytest.raises(demele.errors.UnknownNameError, match="at least 2 factors"):
        evaluation["modularity"]
    with pytest.raises(demele.DemeleError, match="at least 2 factors"):
        demele.evaluate(CODES[["first"]], FACTORS[["size"]], ["mig", "modularity"])


def test_a_callable_does_not_replace_a_metric_of_its_name() -> None:
    def mig(codes: Any, factors: Any) -> float:
        return 7.0

    values = [score.value for score in demele.evaluate(CODES, FACTORS, ["mig", mig])]
    assert values == [whole()["mig"].value, 7.0]
