"""Comparison methods measured on labels whose noise is known, and the varied classifiers that they compare."""

import itertools
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from demele import bench, classifiers, labels
from demele.bench.comparisons import contenders
from demele.bench.comparisons.contenders import (
    candidate_classifier,
    chosen_contenders,
    contender,
    indicators,
    select_varied,
)
from demele.classifiers.stats import bias
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.core.store import Store
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_mean

RATES = [0.02, 0.1]


def simulated(n: int = 600, seed: int = 0, models: int = 8) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Classifiers of rising accuracy, whose mistakes fall on the same hard instances."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    hard = rng.random(n)
    found = {}
    for index, accuracy in enumerate(np.linspace(0.6, 0.95, models)):
        wrong = hard + 0.3 * rng.standard_normal(n) > np.quantile(hard + 0.3 * rng.standard_normal(n), accuracy)
        found[f"m{index}"] = np.where(wrong, (truth + rng.integers(1, 4, n)) % 4, truth)
    return found, truth


def never(*arguments: Any) -> Any:
    raise AssertionError("noise was made")


def compared(noise: list[float], methods: Any = None, n: int = 300, models: int = 5, **given: Any) -> Any:
    predictions, truth = simulated(n, models=models)
    return bench.check_methods(predictions, truth, noise, methods, **given)


@pytest.fixture(scope="module")
def run() -> bench.MethodComparison:
    own = ["overlap", "worst-case-overlap", "worst-case", "audit(labels=60)", "sequential", "agreement"]
    measures = ["accuracy", ("recall", 2)]
    found: bench.MethodComparison = compared(RATES, [*own, "cleaned(s=0.9, e=0.1)"], 600, 8, measures=measures)
    return found


def test_every_pair_has_the_verdict_of_the_single_comparison(run: bench.MethodComparison) -> None:
    """Row = baseline, column = candidate; what the whole run says of a pair is what compare says of it alone."""
    predictions, truth = simulated()
    votes = np.stack(list(predictions.values()))
    noisy = labels.add_noise(truth, 0.1, annotations=votes)
    for method, noise in (("overlap", None), ("worst-case-overlap", noisy.rate)):
        matrix = run.matrix(method, 0.1)
        for i, first in enumerate(predictions):
            for j, second in enumerate(predictions):
                if i == j:
                    assert_exact(int(matrix[i, j]), 0)
                    continue
                said = classifiers.compare(
                    predictions[first], predictions[second], noisy.labels, method=method, noise=noise
                ).choice
                reference = classifiers.compare(predictions[first], predictions[second], truth, method="overlap").choice
                expected = {
                    ("baseline", "baseline"): 1,
                    ("candidate", "candidate"): 2,
                    ("candidate", "baseline"): 3,
                    ("baseline", "candidate"): 4,
                }[said, reference]
                assert_exact(int(matrix[i, j]), expected)


def test_rates_are_counted_from_the_matrices(run: bench.MethodComparison) -> None:
    assert len(run.tallies) == 2 * (7 + 4)  # worst-case, sequential and agreement compare accuracies only
    for one in run.tallies:
        cells = run.matrix(one.method, one.noise, one.measure)
        kept, taken, first, second = (int((cells == number).sum()) for number in (1, 2, 3, 4))
        assert_exact((one.n_type_1, one.n_type_2), (first, second))
        assert_exact((one.n_kept, one.n_taken), (kept + first, taken + second))
        assert_close(one.type_1, 100 * first / (kept + first), ROUNDING)
        assert_close(one.type_2, 100 * second / (taken + second), ROUNDING)
        assert_close(one.agreement, 100 * (kept + taken) / 56, ROUNDING)


def test_standard_errors_are_those_of_leaving_out_each_classifier(run: bench.MethodComparison) -> None:
    """Against recounting without each model, by hand."""
    one = run.tally("overlap", 0.1)
    cells = run.matrix("overlap", 0.1)
    values = []
    for model in range(8):
        rest = np.delete(np.delete(cells, model, 0), model, 1)
        values.append(100 * np.isin(rest, (1, 2)).sum() / 42)
    mean = sum(values) / 8
    assert_close(one.agreement_se, (7 / 8 * sum((value - mean) ** 2 for value in values)) ** 0.5, ROUNDING)


def test_without_noise_the_classic_comparison_is_the_reference() -> None:
    for one in compared([0.0], ["overlap", "worst-case-overlap", "cleaned(s=1, e=0)"], 600, 8).tallies:
        assert_exact((one.n_type_1, one.n_type_2, one.agreement), (0, 0, 100.0))


def test_an_audit_of_everything_decides_as_the_reference_does() -> None:
    """The rare error is that of its claims; how far intervals must be apart is the level of the run."""
    found = compared([0.1], ["audit(labels=1000, design='uniform')"], 1000, 12)
    assert_exact(found.tallies[0].agreement, 100.0)


def test_two_classifiers_have_no_third_to_judge_them() -> None:
    words = "'agreement' judges each pair by a third classifier, and there are 2"
    refuses(NotEnoughData, words, compared, [0.1], ["overlap", "agreement"], models=2, kind=never)  # before any noise
    found = compared([0.1], models=2, kind="uniform")
    assert "agreement" not in found.contenders
    [note] = found.notes
    assert (note.code, note.subject) == ("method-left-out", ("agreement",))


# Methods of one's own ------------------------------------------------------------------------------------------------


def simple(baseline: NDArray[Any], candidate: NDArray[Any], given: NDArray[Any]) -> str:
    return "candidate" if (candidate == given).mean() > (baseline == given).mean() else "baseline"


def peeking(baseline: NDArray[Any], candidate: NDArray[Any], given: NDArray[Any], known: Any) -> bool:
    truth = known.expert(np.arange(given.size))
    margin = 0.5 * known.rate + 0.05
    return bool((candidate == truth).mean() > (baseline == truth).mean() + margin)


def test_a_function_joins_by_one_argument() -> None:
    predictions, truth = simulated(300, models=5)
    found = bench.check_methods(predictions, truth, [0.1], [simple, "overlap", peeking])
    assert list(found.contenders) == ["simple", "overlap", "peeking"]
    noisy = labels.add_noise(truth, 0.1, annotations=np.stack(list(predictions.values()))).labels
    accuracy = [(values == noisy).mean() for values in predictions.values()]
    taken = np.isin(found.matrix("simple", 0.1), (2, 3))
    assert_exact(taken.tolist(), [[b > a for b in accuracy] for a in accuracy])
    assert_exact(found.tally("peeking", 0.1).labels_asked, 300.0)
    assert_exact(found.tally("simple", 0.1).labels_asked, 0.0)


def test_what_a_function_writes_into_its_input_is_refused() -> None:
    def spoiling(baseline: Any, candidate: Any, given: Any) -> str:
        given[:] = 0
        return "inconclusive"

    refuses(InputError, r"'spoiling' raised ValueError.*read-only", compared, [0.1], spoiling, 100, 3)


def test_two_functions_of_one_name_are_kept_apart() -> None:
    chosen = chosen_contenders([lambda a, b, c: True, lambda a, b, c: False])
    assert [one.name for one in chosen] == ["own", "own 2"]


def test_a_function_that_is_not_told_the_measure_is_asked_for_accuracy_only() -> None:
    asked = ["accuracy", ("recall", 2), ("f1", 1)]
    found = compared([0.1], [simple, peeking, "overlap"], measures=asked)
    done = {(one.method, one.measure) for one in found.tallies}
    assert {measure for method, measure in done if method == "simple"} == {"accuracy"}
    for method in ("peeking", "overlap"):
        assert {measure for name, measure in done if name == method} == {"accuracy", "recall of 2", "f1 of 1"}
    [note] = [note for note in found.notes if note.code == "measures-left-out"]
    assert note.subject == ("simple",)
    assert note.message.startswith("The function simple is not asked for recall of 2, f1 of 1: ")
    words = "none of the methods compares recall of 2; a function compares accuracy only"
    refuses(InputError, words, compared, [0.1], simple, measures=[("recall", 2)])


def test_a_function_may_say_what_it_compares() -> None:
    of_recall: Any = partial(simple)
    of_recall.measures = ("recall",)
    methods = {"mine": of_recall, "overlap": "overlap"}
    found = compared([0.1], methods, measures=["accuracy", ("recall", 2)])
    assert {one.measure for one in found.tallies if one.method == "mine"} == {"recall of 2"}
    of_recall.measures = ("accuracy", "speed")
    words = "the attribute measures of 'mine' must list some of accuracy, precision"
    refuses(InputError, words, compared, [0.1], {"mine": of_recall})


# What verdicts are held against --------------------------------------------------------------------------------------


def leads(n: int, *right: int) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Classifiers that are right on the first so many of n instances of two classes in turn."""
    truth = np.arange(n) % 2
    return {f"right {k}": np.where(np.arange(n) < k, truth, 1 - truth) for k in right}, truth


def test_three_references_by_hand() -> None:
    """Right on 70, 71 and 80 of 100: a lead of 10, all decided one way, is shown by McNemar's test and not by overlap.

    P(Bin(10, 1/2) >= 10) = 1/1024 and of a lead of 9 it is 1/512, below 0.025; of a lead of 1 it is 1/2. The score
    intervals of 70 and 80 of 100 are [0.604, 0.781] and [0.711, 0.867].
    """
    predictions, truth = leads(100, 70, 71, 80)
    taken = {}
    for reference in ("overlap", "paired", "sample"):
        found = bench.check_methods(predictions, truth, [0.0], "overlap", reference=reference, kind="uniform")
        taken[reference] = found.references["accuracy"].candidate.tolist()
        assert found.reference == found.to_dict()["reference"] == reference
    # Ordered pairs: 70-71, 70-80, 71-70, 71-80, 80-70, 80-71.
    assert taken == {
        "overlap": [False] * 6,
        "paired": [False, True, False, True, False, False],
        "sample": [True, True, False, True, False, False],
    }


def test_reversed_counts_opposite_claims_in_both_directions() -> None:
    predictions, truth = leads(100, 40, 90)

    def worse(baseline: Any, candidate: Any, given: Any) -> str:
        return "candidate" if (candidate == given).sum() < (baseline == given).sum() else "baseline"

    one = bench.check_methods(predictions, truth, [0.0], worse, kind="uniform").tallies[0]
    assert_exact((one.n_type_1, one.n_type_2, one.reversed), (1, 1, 2))


def test_the_larger_value_of_another_measure() -> None:
    """Recalls of class 0 are 1, 1/2 and, without a prediction of it, 0; equal ones are taken by nobody."""
    truth = np.repeat([0, 1], 10)
    half = np.where(np.arange(20) < 5, 0, 1)
    predictions = {"all": truth, "half": half, "too": half.copy(), "none": np.ones(20, dtype=int)}
    found = bench.check_methods(
        predictions, truth, [0.0], "overlap", measures=[("recall", 0)], reference="sample", kind="uniform"
    )
    wins = np.argwhere(np.isin(found.matrix("overlap", 0.0), (2, 4))).tolist()
    assert wins == [[1, 0], [2, 0], [3, 0], [3, 1], [3, 2]]


# Resuming ------------------------------------------------------------------------------------------------------------


def test_a_store_gives_the_same_result_and_decides_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    methods: list[Any] = ["overlap", "audit(labels=30)", "sequential", "cleaned(s=0.6, e=0.1, c=0.5)", simple]
    whole = compared(RATES, methods, n_jobs=2)  # the number of processes changes nothing
    compared(RATES, methods[:1], store=path)
    size = path.stat().st_size
    assert compared(RATES, methods, store=path).to_json() == whole.to_json()
    grown = path.stat().st_size
    assert grown > size
    compared(RATES, methods, store=path, n_jobs=2)
    assert_exact(path.stat().st_size, grown)


FEATURES = np.random.default_rng(0).normal(size=(90, 3))
Y = (FEATURES[:, 0] > 0).astype(int)


def test_a_store_of_another_level_is_refused(tmp_path: Path) -> None:
    """What was decided at one level must not be shown as decided at another."""
    small: dict[str, Any] = {
        "noise": [0.1], "methods": ["overlap"], "measures": "accuracy", "n_classifiers": 3, "n_candidates": 6,
        "n_annotators": 6, "training_rates": [0.1], "folds": 3, "store": tmp_path / "rows",
    }  # fmt: skip
    bench.noise_experiment(FEATURES, Y, **small)
    refuses(InputError, r"store: .* `level` = 0.95, this run", bench.noise_experiment, FEATURES, Y, level=0.6, **small)


@pytest.mark.parametrize(("argument", "asked"), [("noise", [0.1, 0.99]), ("selection_rate", 0.99)])
def test_rates_beyond_the_annotators_are_said_before_classifiers_are_trained(
    argument: str, asked: Any, tmp_path: Path
) -> None:
    path = tmp_path / "rows"
    with pytest.raises(InputError, match=f"{argument}: expected at most 0.\\d+, the highest rate that these"):
        bench.noise_experiment(
            FEATURES, Y, methods=["overlap"], n_classifiers=3, n_candidates=6, n_annotators=6, training_rates=[0.1],
            store=path, **{argument: asked},
        )  # fmt: skip
    keys = Store.read(path)[1]
    assert [key[0] for key in keys] == ["annotators"]


# Bad input -----------------------------------------------------------------------------------------------------------

GOOD = simulated(60, models=3)


def test_bad_input_is_named() -> None:
    changed_cases: Any = [
        ({"noise": []}, InputError, "noise: expected at least one"),
        ({"noise": [5]}, InputError, "for 5% write 0.05"),
        ({"noise": [0.95]}, InputError, "highest reachable rate is 0"),
        ({"methods": []}, InputError, "at least one name"),
        ({"methods": ["overlop"]}, UnknownNameError, "did you mean 'overlap'"),
        ({"methods": ["audit(lables=3)"]}, InputError, "'audit' takes the options labels, design"),
        ({"methods": ["audit(labels=0)"]}, InputError, "labels: expected a whole number >= 2, got 0"),
        ({"methods": ["audit(labels=)"]}, InputError, "expected options such as"),
        ({"methods": [3]}, InputTypeError, "expected a name or a function"),
        ({"methods": 3}, InputTypeError, "expected names or functions"),
        ({"methods": {"overlap": simple, "a": "overlap"}}, InputError, "is the name of another method"),
        ({"methods": lambda a, b: True}, InputTypeError, "cannot be called with"),
        ({"methods": lambda a, b, c: "better"}, InputError, "must return one of"),
        ({"methods": lambda a, b, c: 1 / 0}, InputError, "raised ZeroDivisionError"),
        ({"measures": "error"}, InputError, "measures: expected one of"),
        ({"measures": "recall"}, InputError, "recall is of one class"),
        ({"measures": [("recall", 9)]}, InputError, "measures"),
        ({"measures": [("accuracy", 1)]}, InputError, "accuracy is of all classes"),
        ({"measures": []}, InputError, "at least one"),
        ({"measures": [("recall", 1)], "methods": ["worst-case"]}, InputError, "none of the methods"),
        (
            {"reference": "paired", "measures": [("recall", 1)]},
            InputError,
            "'paired' compares accuracies, got recall",
        ),
        ({"kind": "class"}, InputError, "kind: expected 'feature', 'uniform' or a callable"),
        ({"kind": "uniform", "annotations": [[0] * 60]}, InputError, "annotations: only"),
        ({"kind": lambda y, rate, seed: y[:-1]}, InputError, "expected 60 labels from the function"),
        ({"annotations": [[0] * 59]}, InputError, "expected 60"),
    ]
    for changed, error, message in changed_cases:
        given = {"predictions": GOOD[0], "true_labels": GOOD[1], "noise": [0.1], "methods": ["overlap"], **changed}
        refuses(error, message, bench.check_methods, **given)


def test_an_experiment_refuses_before_it_trains() -> None:
    changed_cases: Any = [
        ({"n_candidates": 5, "n_classifiers": 6}, "n_candidates: expected at least `n_classifiers`"),
        ({"folds": 1000}, "folds: expected at most one per instance"),
        ({"accuracies": (0.9, 0.5)}, "accuracies: expected 0 <= low < high"),
        ({"accuracies": 0.5}, "accuracies: expected two numbers, got 0.5"),
        ({"training_rates": []}, "training_rates: expected at least one"),
        ({"features": None}, "features: expected with `y`"),
        ({"y": None}, "y: expected with `features`"),
        ({"y": [0, 1, 0]}, "same number of rows"),
        ({"y": [0] * 60}, "at least 2 classes"),
    ]
    for changed, message in changed_cases:
        rng = np.random.default_rng(0)
        given = {"features": rng.normal(size=(60, 3)), "y": rng.integers(0, 2, 60), **changed}
        refuses(InputError, message, bench.noise_experiment, **given)


def test_names_are_kept_in_one_spelling() -> None:
    assert contender("audit( labels = 250 )").name == "audit(labels=250)"
    assert contender("audit(labels=500)").name == "audit"
    assert contender("hard-rows(prudence=0.1)").name == "hard-rows"
    for name in bench.comparison_methods():
        assert contender(name).name == name


def test_results_as_data(run: bench.MethodComparison, tmp_path: Path) -> None:
    frame = run.to_frame()
    assert_exact(len(frame), len(run.tallies))
    content = json.loads(run.to_json(tmp_path / "found.json"))
    assert content == json.loads((tmp_path / "found.json").read_text())
    assert content["kind"] == "method comparison"
    assert {"tallies", "names", "contenders"} < set(content)
    assert not {"decided", "references"} & set(content)
    table = run.table("type_2")
    assert_exact(table[0.1]["overlap"], run.tally("overlap", 0.1).type_2)
    for name in ("type", "method"):
        refuses(UnknownNameError, "figure: expected one of", run.table, name)
    refuses(UnknownNameError, "expected a method among", run.tally, "audit", 0.1)
    assert "of 7 methods make no type I error" in repr(run)


Table = list[list[float]]


def blobs(n: int = 120) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + y[:, None], y, rng.permutation(n) % 4


# Training -----------------------------------------------------------------------------------------------------------


def test_wrong_labels_change_no_draw() -> None:
    features, y, folds = blobs()
    assert candidate_classifier(features, y, folds, 0, 5)[0] == candidate_classifier(features, y[::-1], folds, 0, 5)[0]


def test_one_nearest_neighbour_is_at_chance_out_of_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    # It is right about every instance that it has learned from: the surest sign of a leak.
    one = ("nearest neighbours", KNeighborsClassifier(1))
    monkeypatch.setattr(contenders, "draw_model", lambda *arguments: one)
    features, _, folds = blobs(400)
    rates = []
    for index in range(30):
        y = np.random.default_rng(index).integers(4, size=400)
        rates.append(np.mean(candidate_classifier(features, y, folds, 0, index)[1] == y))
    assert_mean(rates, expected=0.25)


def test_the_label_of_a_fold_has_no_part_in_its_predictions() -> None:
    features, y, folds = blobs()
    for index in range(12):
        changed = np.where(folds == 2, (y + 1) % 3, y)
        before, after = (candidate_classifier(features, labels, folds, 0, index)[1] for labels in (y, changed))
        assert_exact(before[folds == 2], after[folds == 2])


def test_the_features_of_a_fold_do_not_scale_the_others() -> None:
    features, y, folds = blobs()
    larger = np.where((folds == 2)[:, None] & (np.arange(120) == np.flatnonzero(folds == 2)[0])[:, None], 1e3, features)
    for index in range(12):
        before, after = (candidate_classifier(table, y, folds, 0, index)[1] for table in (features, larger))
        rest = (folds == 2) & (larger == features).all(axis=1)
        assert_exact(before[rest], after[rest])


def test_training_parts_that_teach_nothing_are_refused() -> None:
    changed_cases: Any = [
        (
            {"labels": np.arange(120) // 60, "folds": np.arange(120) // 60},
            NotEnoughData,
            r"folds: without fold 0 there are 1 classes .*stratify",
        ),
        ({"labels": np.arange(120)}, NotEnoughData, r"without fold 0 there are 90 classes among 90 instances"),
    ]
    for changed, error, message in changed_cases:
        features, y, _ = blobs()
        given: dict[str, Any] = {"table": features, "labels": y, "folds": np.arange(120) % 4, "seed": 0, "index": 0}
        refuses(error, message, candidate_classifier, **{**given, **changed})


def test_features_that_say_nothing_are_answered_by_the_commonest_class() -> None:
    y, folds = np.arange(40) % 5 // 2, np.arange(40) // 10
    found = [candidate_classifier(np.zeros((40, 3)), y, folds, 0, index) for index in range(24)]
    blind = [predictions for name, predictions in found if "blur" not in name]
    assert len(blind) > 4
    assert_exact(blind, np.zeros((len(blind), 40)))


# Indicators ---------------------------------------------------------------------------------------------------------


def test_indicators_are_those_of_the_bias() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(4, size=300)
    labels = np.where(rng.random(300) < 0.2, rng.integers(4, size=300), true)
    predictions = rng.integers(4, size=(6, 300))
    table = indicators(predictions, labels, true, 4)
    assert table.shape == (6, 12)
    for row, own in zip(predictions, table, strict=True):
        frame = bias(row, labels, true).per_class
        assert_exact(own, np.concatenate([frame["F_c"], frame["F_n"], frame["F_r"]]))


# Choice -------------------------------------------------------------------------------------------------------------


def spreads(table: Table, rows: list[int]) -> tuple[float, float]:
    """Mean variance of the values, and of the gaps between sorted values, over the indicators."""
    of_values, of_gaps = [], []
    for column in range(len(table[0])):
        values = sorted(table[row][column] for row in rows if not np.isnan(table[row][column]))
        gaps = [b - a for a, b in itertools.pairwise(values)]
        of_values.append(float(np.var(values)) if len(values) > 1 else 0.0)
        of_gaps.append(float(np.var(gaps)) if len(gaps) > 1 else 0.0)
    return float(np.mean(of_values)), float(np.mean(of_gaps))


def scaled(values: list[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high - low > 1e-12 * high else 0.0 for value in values]


def assert_each_choice_is_the_best(table: Table, chosen: list[int], kept: list[int]) -> None:
    for size in range(1, len(chosen)):
        left = [row for row in kept if row not in chosen[:size]]
        both = [spreads(table, [*chosen[:size], row]) for row in left]
        score = scaled([one for one, _ in both]) if size > 1 else [one for one, _ in both]
        if size > 1:
            score = [one - gap for one, gap in zip(score, scaled([gap for _, gap in both]), strict=True)]
        assert_close(score[left.index(chosen[size])], max(score), {"rtol": 1e-9, "atol": 1e-9})


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_each_choice_is_the_best_of_its_step(missing: float) -> None:
    rng = np.random.default_rng(0)
    table = rng.random((14, 5))
    table[rng.random(table.shape) < missing] = np.nan
    table[:, 3] = np.nan  # as where no label of a class is wrong
    for seed in range(4):
        chosen = select_varied(table, 10, seed=seed, threshold=0).tolist()
        assert len(set(chosen)) == 10
        assert_each_choice_is_the_best(np.delete(table, 3, axis=1).tolist(), chosen, list(range(14)))


def test_near_candidates_are_dropped() -> None:
    # Mean squared distances to the first: 0.5e-4 (dropped), exactly 2e-4 / 2 but not below it (kept), far (kept).
    table = np.array([[0.5, 0.5], [0.5, 0.51], [0.25, 0.5], [0.5, 0.75]])
    assert sorted(select_varied(table, 3).tolist()) == [0, 2, 3]
    assert sorted(select_varied(table, 4).tolist()) == [0, 2, 3]
    assert sorted(select_varied(table, 4, threshold=0).tolist()) == [0, 1, 2, 3]


def loop_filter(table: Table, threshold: float) -> list[int]:
    kept: list[int] = []
    for row in range(len(table)):
        near = False
        for other in kept:
            squares = [
                (a - b) ** 2 for a, b in zip(table[row], table[other], strict=True) if not (np.isnan(a) or np.isnan(b))
            ]
            near = near or (len(squares) > 0 and sum(squares) < threshold * len(squares))
        if not near:
            kept.append(row)
    return kept


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=12),
    st.sampled_from([0.0, 1 / 64, 0.1, 0.5]),
)
def test_filter_like_loops(table: Table, threshold: float) -> None:
    if np.isnan(table).all():
        return
    kept = loop_filter(table, threshold)
    for n in (len(kept), len(kept) + 1):
        assert sorted(select_varied(np.array(table), n, threshold=threshold).tolist()) == kept
