"""What the calls about labels and classifiers give, and what they say of input that they refuse."""
# mypy: disable-error-code="misc, arg-type, assignment, no-untyped-call, unused-ignore"

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from demele import evaluation, labels
from tests.golden.groups import Case, group


class Rows:
    """Three classifiers on 240 rows of 3 classes, labels of which a tenth are wrong, and two features."""

    _rng = np.random.default_rng(21)
    n = 240
    true = _rng.integers(0, 3, n)
    given = np.where(_rng.random(n) < 0.9, true, (true + 1) % 3)
    old = np.where(_rng.random(n) < 0.7, true, (true + 1) % 3)
    new = np.where(_rng.random(n) < 0.9, true, (true + 2) % 3)
    twin = np.where(_rng.random(n) < 0.72, true, (true + 2) % 3)
    difficulty = _rng.random(n)
    features = np.column_stack([true % 2 + 0.4 * _rng.normal(size=n), true // 2 + 0.4 * _rng.normal(size=n)])
    probabilities = np.full((n, 3), 0.03)
    probabilities[np.arange(n), true] = 0.94
    words = np.array(["cat", "dog", "owl"])
    models = pd.DataFrame({"old": old, "new": new, "twin": twin})
    asked = _rng.permutation(n)[:80]


def audit(design: str = "uniform") -> Any:
    if design == "uniform":
        return labels.Audit(Rows.asked, Rows.true[Rows.asked], design="uniform")
    plan = labels.draw_audit(Rows.n, 80, doubt=labels.doubt(Rows.models), seed=1)
    return plan.answered(Rows.true[plan.rows])


def crowd() -> Any:
    """Six annotators on 40 items of three classes, each answering some."""
    rng = np.random.default_rng(22)
    true = rng.integers(0, 3, 40)
    table = np.where(rng.random((6, 40)) < 0.75, true, rng.integers(0, 3, (6, 40))).astype(float)
    table[rng.random((6, 40)) < 0.2] = np.nan
    return table


def long_crowd() -> Any:
    table = crowd()
    who, item = np.nonzero(~np.isnan(table))
    return labels.Annotations(item, who, Rows.words[table[who, item].astype(int)])


@group("labels", file="judgements")
def made() -> Iterator[Case]:
    y, words = Rows.true, Rows.words[Rows.true]
    matrix = labels.symmetric_transition(3, 0.2)
    uneven = labels.asymmetric_transition(["cat", "dog", "owl"], {"cat": {"dog": 0.3}})
    calls: dict[str, Callable[[], Any]] = {
        "uniform": lambda: labels.add_uniform_noise(y, 0.1, seed=3),
        "uniform/not-exact": lambda: labels.add_uniform_noise(words, 0.1, exact=False, seed=3),
        "class": lambda: labels.add_class_noise(y, matrix, seed=2),
        "class/exact": lambda: labels.add_class_noise(words, uneven, exact=True, seed=2),
        "feature": lambda: labels.add_feature_noise(y, Rows.models.to_numpy().T, 0.05),
        "model": lambda: labels.add_model_noise(y, Rows.old),
        "model/rate": lambda: labels.add_model_noise(y, Rows.models.to_numpy().T, 0.1),
        "symmetric": lambda: matrix,
        "asymmetric": lambda: uneven,
        "estimate": lambda: labels.estimate_transition(y, Rows.given),
        "estimate/labels": lambda: labels.estimate_transition(words, Rows.words[Rows.given], sample_of="labels"),
        "budget/rate": lambda: labels.noise_budget(0.1, Rows.given.astype(np.int32), 3, tail=0.05),
        "budget/matrix": lambda: labels.noise_budget(matrix, Rows.given.astype(np.int32), 3, tail=0.05),
        "artificial": lambda: labels.artificial_annotators(Rows.features, y, n_annotators=6, seed=1),
        "draw": lambda: labels.draw_audit(Rows.n, 30, seed=4),
        "draw/doubt": lambda: audit("weighted"),
        "doubt": lambda: labels.doubt(Rows.models, Rows.given),
        "majority": lambda: labels.majority_vote(crowd()),
        "majority/weights": lambda: labels.majority_vote(long_crowd(), weights=[1, 2, 1, 1, 0.5, 0]),
        "dawid-skene": lambda: labels.dawid_skene(crowd()),
        "dawid-skene/smoothed": lambda: labels.dawid_skene(long_crowd(), smoothing=0.5),
        "dawid-skene/own": lambda: labels.dawid_skene(long_crowd(), prior="own"),
        "one-coin": lambda: labels.one_coin(crowd()),
        "consensus": lambda: labels.consensus(long_crowd()),
        "bayesian": lambda: labels.bayesian_consensus(crowd(), n_samples=30, n_warmup=15, n_chains=2, seed=5),
        "bayesian/features": lambda: labels.bayesian_consensus(
            crowd(),
            features=np.random.default_rng(1).normal(size=(40, 2)),
            feature_model="normal",
            n_samples=20,
            n_warmup=10,
            n_chains=2,
        ),
        "agreement": lambda: labels.agreement(crowd(), n_resamples=50),
        "agreement/ordinal": lambda: labels.agreement(crowd(), scale="ordinal", n_resamples=50, seed=2),
        "agreement/words": lambda: labels.agreement(long_crowd(), n_resamples=40),
        "simulated": lambda: labels.simulated_cleaning(Rows.given, y, detected=0.7, false_alarms=0.05, corrected=0.6),
        "harm": lambda: labels.cleaning_harm(labels.clean(Rows.given, Rows.features), Rows.given, y),
        "harm/no-truth": lambda: labels.cleaning_harm(labels.clean(Rows.given, Rows.features), Rows.given),
    }
    yield from calls.items()
    for method in ("knn", "classification", "voting", "partitioning", "entropy"):
        yield f"clean/{method}", functools.partial(labels.clean, Rows.given, Rows.features, method=method, seed=1)
    for method in ("entropy", "confident"):
        yield (
            f"clean/{method}/probabilities",
            functools.partial(labels.clean, Rows.given, Rows.probabilities, method=method, kind="probabilities"),
        )
    bad: dict[str, Callable[[], Any]] = {
        "rate": lambda: labels.add_uniform_noise(y, 1.5, seed=0),
        "rate/word": lambda: labels.add_uniform_noise(y, "much", seed=0),
        "seed": lambda: labels.add_uniform_noise(y, 0.1, seed=-1),
        "one-class": lambda: labels.add_uniform_noise([0, 0, 0], 0.1, seed=0),
        "nan": lambda: labels.add_uniform_noise([0.0, 1.0, np.nan], 0.1, seed=0),
        "mixed": lambda: labels.majority_vote([["a", 1], ["b", 2]]),
        "matrix/sums": lambda: labels.TransitionMatrix([[0.5, 0.4], [0.1, 0.9]]),
        "matrix/shape": lambda: labels.TransitionMatrix([[0.5, 0.5]]),
        "matrix/negative": lambda: labels.TransitionMatrix([[1.5, -0.5], [0.1, 0.9]]),
        "matrix/classes": lambda: labels.TransitionMatrix(np.eye(2), ["a", "a"]),
        "counts/negative": lambda: labels.TransitionCounts([[1, -1], [0, 1]]),
        "counts/fraction": lambda: labels.TransitionCounts([[1.5, 1], [0, 1]]),
        "class/unknown": lambda: labels.add_class_noise(["a", "b"], uneven, seed=0),
        "feature/shape": lambda: labels.add_feature_noise(y, Rows.models.to_numpy(), 0.05),
        "feature/too-much": lambda: labels.add_feature_noise(y, Rows.models.to_numpy().T, 0.99),
        "audit/twice": lambda: labels.Audit([1, 1], [0, 0], design="uniform"),
        "audit/design": lambda: labels.Audit([1, 2], [0, 0], design="even"),
        "audit/probabilities": lambda: labels.Audit([1, 2], [0, 0], design="weighted"),
        "audit/beyond": lambda: evaluation.assess(y, y, audit=labels.Audit([999], [0], design="uniform")),
        "draw/size": lambda: labels.draw_audit(10, 11),
        "draw/doubt": lambda: labels.draw_audit(3, 2, doubt=[1, -1, 2]),
        "clean/method": lambda: labels.clean(y, Rows.features, method="magic"),
        "clean/option": lambda: labels.clean(y, Rows.features, method="voting", k=3),
        "clean/rows": lambda: labels.clean(y[:-1], Rows.features),
        "clean/nan": lambda: labels.clean(y, Rows.features * np.nan),
        "agreement/scale": lambda: labels.agreement(crowd(), scale="metric"),
        "agreement/one": lambda: labels.agreement(crowd()[:1]),
        "consensus/method": lambda: labels.consensus(crowd(), method="best"),
        "dawid-skene/prior": lambda: labels.dawid_skene(crowd(), prior="mine"),
        "dawid-skene/smoothing": lambda: labels.dawid_skene(crowd(), smoothing=-1),
        "annotations/twice": lambda: labels.Annotations([0, 0], ["a", "a"], ["x", "y"]),
        "annotations/lengths": lambda: labels.Annotations([0], ["a", "a"], ["x", "y"]),
        "estimate/lengths": lambda: labels.estimate_transition(y, y[:-1]),
        "estimate/classes": lambda: labels.estimate_transition(y, y, classes=[0, 1]),
    }
    for name, call in bad.items():
        yield f"bad/{name}", call


@group("evaluation", file="judgements")
def judged() -> Iterator[Case]:
    cleaning = labels.simulated_cleaning(Rows.given, Rows.true, detected=0.7, false_alarms=0.02, corrected=0.6)
    knowledge: dict[str, dict[str, Any]] = {
        "nothing": {},
        "rate": {"noise": 0.05},
        "matrix": {"noise": labels.symmetric_transition(3, 0.1)},
        "counts": {"noise": labels.estimate_transition(Rows.true[:90], Rows.given[:90])},
        "audit": {"audit": audit()},
        "audit-weighted": {"audit": audit("weighted")},
        "expert": {"audit": audit(), "expert_error": 0.02},
        "true": {"true_labels": Rows.true},
    }
    for name, known in knowledge.items():
        yield f"assess/{name}", functools.partial(evaluation.assess, Rows.new, Rows.given, **known)
    words = Rows.words
    yield (
        "assess/words",
        lambda: evaluation.assess(words[Rows.new], words[Rows.given], noise=0.1, level=0.8, average="macro"),
    )
    compared: dict[str, dict[str, Any]] = {
        "classic": {"method": "classic"},
        "classic/recall": {"measure": "recall", "of": 1},
        "classic/f1": {"measure": "f1", "of": 2},
        "classic/error": {"measure": "error"},
        "reference": {"method": "reference", "true_labels": Rows.true},
        "prudent-v1": {"method": "prudent-v1", "noise": 0.05},
        "prudent-v1/precision": {"noise": 0.02, "measure": "precision", "of": 0},
        "prudent-v2": {"method": "prudent-v2", "difficulty": Rows.difficulty, "prudence": 0.2},
        "cleaned": {"method": "cleaned", "cleaning": cleaning},
        "label-free": {"method": "label-free", "reference": Rows.twin},
        "bounded": {"noise": 0.05},
        "bounded/overlap": {"noise": 0.05, "target": "overlap"},
        "audited/undirected": {"audit": audit(), "errors": "undirected"},
        "bounded/matrix": {"noise": labels.symmetric_transition(3, 0.1), "target": "sample"},
        "bounded/counts": {"noise": labels.estimate_transition(Rows.true[:90], Rows.given[:90])},
        "audited": {"audit": audit()},
        "audited/exact": {"audit": audit(), "exact": True},
        "audited/weighted": {"audit": audit("weighted")},
        "audited/sample": {"audit": audit(), "target": "sample", "noise": 0.1},
        "audited/expert": {"audit": audit(), "expert_error": 0.01, "expert_errors": "random"},
        "audited/f1": {"audit": audit(), "measure": "f1", "of": 1},
        "sequential": {"audit": audit(), "method": "sequential"},
        "sequential/weighted": {"audit": audit("weighted"), "method": "sequential", "noise": 0.1},
    }
    for name, known in compared.items():
        for who, (first, second) in {"apart": (Rows.old, Rows.new), "close": (Rows.old, Rows.twin)}.items():
            yield f"compare/{name}/{who}", functools.partial(evaluation.compare, first, second, Rows.given, **known)
        if not name.startswith("label-free"):
            own = {key: value for key, value in known.items() if key != "errors"}
            yield f"rank/{name}", functools.partial(evaluation.rank, Rows.models, Rows.given, **own)
    yield "rank/bonferroni", lambda: evaluation.rank(Rows.models, Rows.given, noise=0.02, correction="bonferroni")
    yield "compare_without_labels", lambda: evaluation.compare_without_labels(Rows.old, Rows.new, Rows.twin)
    yield "bias", lambda: evaluation.bias(Rows.new, Rows.given, Rows.true)
    yield "confusion", lambda: evaluation.confusion(words[Rows.new], words[Rows.given])
    yield "binary", lambda: evaluation.binary_correction(0.8, 0.1, trials=200)
    yield "pseudo", lambda: evaluation.pseudo_supervised(Rows.models, labels=Rows.given)
    yield "audit_interval", lambda: evaluation.audit_interval(60, 100, 20, 3, 15, 2, wrong=9)
    yield "audit_interval/exact", lambda: evaluation.audit_interval(60, 100, 20, 3, 15, 2, exact=True, target="sample")
    yield "score_interval", lambda: evaluation.score_interval([0, 3, 10], 10)
    yield "exact_interval", lambda: evaluation.exact_interval([0, 3, 10], 10)
    yield "overlap", lambda: [evaluation.overlap_level(1.3), evaluation.overlap_quantile(0.95, correlation=0.3)]
    yield "method_names", evaluation.method_names
    model, other = LogisticRegression(), KNeighborsClassifier(3)
    yield "repeated", lambda: evaluation.repeated_scores(model, Rows.features, Rows.given, folds=3, repeats=2)
    yield "bootstrap_632", lambda: evaluation.bootstrap_632(other, Rows.features, Rows.given, repeats=5, seed=1)
    yield (
        "t-test",
        lambda: evaluation.corrected_t_test(
            *(evaluation.repeated_scores(one, Rows.features, Rows.given, folds=4, repeats=2) for one in (model, other))
        ),
    )

    def betting() -> Any:
        game = evaluation.SequentialComparison(Rows.old, Rows.new, Rows.given, seed=3)
        told: list[Any] = []
        for _ in range(4):
            rows = game.ask(10)
            game.tell(rows, Rows.true[np.asarray(rows)])
            told += [rows, game.wealth, game.expected_labels, game.to_dict(), game.decision()]
        return told

    yield "sequential-comparison", betting
    bad: dict[str, dict[str, Any]] = {
        "method": {"method": "best"},
        "measure": {"measure": "auc"},
        "of": {"measure": "recall"},
        "of/unknown": {"measure": "recall", "of": 9},
        "of/accuracy": {"of": 1},
        "level": {"level": 1.0},
        "noise": {"noise": 1.2},
        "noise/word": {"noise": "some"},
        "noise/shape": {"noise": labels.symmetric_transition(4, 0.1)},
        "target": {"target": "world"},
        "names": {"names": ("a", "a")},
        "names/one": {"names": ("a",)},
        "classes": {"classes": [0, 1]},
        "prudence": {"method": "prudent-v2", "difficulty": Rows.difficulty, "prudence": 2},
        "difficulty": {"method": "prudent-v2"},
        "difficulty/rows": {"method": "prudent-v2", "difficulty": Rows.difficulty[:-1]},
        "cleaning": {"method": "cleaned"},
        "reference": {"method": "label-free"},
        "true_labels": {"method": "reference"},
        "audit": {"method": "audited"},
        "audit/kind": {"audit": 3},
        "errors": {"noise": 0.1, "errors": "directed"},
        "expert_error": {"audit": audit(), "expert_error": 0.7},
        "expert_errors": {"audit": audit(), "expert_errors": "kind"},
        "seed": {"audit": audit(), "method": "sequential", "seed": -1},
        "exact": {"audit": audit(), "exact": "yes"},
        "unused": {"method": "classic", "noise": 0.1},
    }
    for name, own in bad.items():
        yield f"bad/compare/{name}", functools.partial(evaluation.compare, Rows.old, Rows.new, Rows.given, **own)
        keywords = {key: value for key, value in own.items() if key not in ("names", "errors")}
        if keywords:
            yield f"bad/rank/{name}", functools.partial(evaluation.rank, Rows.models, Rows.given, **keywords)
        assessed = {
            key: value for key, value in own.items() if key in ("level", "noise", "classes", "audit", "expert_error")
        }
        if assessed and set(assessed) == set(own):
            yield f"bad/assess/{name}", functools.partial(evaluation.assess, Rows.old, Rows.given, **assessed)
    columns: dict[str, tuple[Any, Any]] = {
        "lengths": (Rows.old[:-1], Rows.given),
        "empty": ([], []),
        "nan": (Rows.old, np.where(Rows.given == 1, np.nan, Rows.given)),
        "two-dimensions": (np.eye(3), np.eye(3)),
        "words-and-numbers": (words[Rows.old], Rows.given),
        "none": (None, Rows.given),
        "dict": ({"a": 1}, Rows.given),
        "fractions": (Rows.old + 0.5, Rows.given),
        "complex": (Rows.old + 1j, Rows.given),
        "one-class": (np.zeros(5), np.zeros(5)),
    }
    for name, (first, second) in columns.items():
        yield f"bad/assess/{name}", functools.partial(evaluation.assess, first, second)
        yield f"bad/compare/{name}", functools.partial(evaluation.compare, first, first, second)
        yield f"bad/confusion/{name}", functools.partial(evaluation.confusion, first, second)
        yield f"bad/bias/{name}", functools.partial(evaluation.bias, first, second, second)
    yield "bad/rank/one", lambda: evaluation.rank(Rows.models[["old"]], Rows.given)
    yield "bad/intervals", lambda: evaluation.score_interval(11, 10)
    yield "bad/binary", lambda: evaluation.binary_correction(0.8, 0.6)
