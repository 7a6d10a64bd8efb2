# ruff: noqa: E501 - what is hostile is easier to compare in one line each
"""Odd arguments of every public function, and of the methods of what they return; found by their signatures.

``call_of(seed)`` draws a call: good arguments by the names of parameters, some of them replaced by odd ones. ``check_same``
draws one whose arguments are good and come in another form (frames, tensors, views): its result must be the same.
"""

import copy
import dataclasses
import importlib
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
import torch
from sklearn.naive_bayes import GaussianNB

import demele
from demele import bench, classifiers, data, lab, labels
from tests.fuzz.makers import TOKENS

N = 30
#: Public modules beside those that ``demele`` names.
MODULES = ("adapters.latte", "adapters.torchmetrics", "files")
#: What takes minutes whatever its arguments, starts processes, or opens windows; and abstract classes.
LEFT_OUT = {
    *("model_family", "pruning_study", "fit_pruned", "fabric_annotators", "benchmark", "show", "Binning", "ImageSet"),
    # what other rooms call of objects, and no user
    *("bins", "described", "digest", "restored", "with_missing", "read", "coded", "to_content", "row", "responses"),
    *("state_dict", "extra_repr", "from_dict"),
}


#: What takes seconds, or is another library's.
SLOW = ("TorchMetric:plot", "Study:to_dict", "Study:to_json", "Study:to_html")


class Odd:
    """Something of a user's, whose repr raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


class Shifted(Exception):
    """The same values in another form came to another result."""


# What can be called --------------------------------------------------------------------------------------------------


@cache
def public() -> dict[str, Callable[..., Any]]:
    """Every public function and class by name, and the public methods of some objects."""
    modules = [demele, *(one for one in map(partial(getattr, demele), demele.__all__) if inspect.ismodule(one))]
    modules += [importlib.import_module(f"demele.{name}") for name in MODULES]
    found: dict[str, Callable[..., Any]] = {}
    for module in modules:
        for name in module.__all__:
            one = getattr(module, name)
            known = any(one is other for other in found.values())
            error = isinstance(one, type) and issubclass(one, BaseException)
            bare = dataclasses.is_dataclass(one) and not hasattr(one, "__post_init__")  # of results: nothing is read
            if callable(one) and not (known or error or bare) and name not in LEFT_OUT:
                found[f"{module.__name__}.{name}"] = one
    for holder in (demele.bins.BinEdges, labels.Annotations, lab.Fabric, data.FactorSpace):
        for name, member in vars(holder).items():
            if isinstance(member, classmethod) and not name.startswith("_"):
                found[f"{holder.__name__}.{name}"] = getattr(holder, name)
    return found


@cache
def objects() -> dict[str, Callable[[], Any]]:
    """Objects whose methods are called, each made anew by what is named."""
    good = good_values()
    images: data.ImageSet = good["images"]
    return {
        "Evaluation": cache(lambda: demele.evaluate(good["codes"], good["factors"], ["mig", "sap"])),
        "Score": cache(lambda: demele.metrics.mig(good["codes"], good["factors"])),
        "RepresentationComparison": cache(
            lambda: demele.compare_representations(
                {"a": good["codes"], "b": good["codes"][:, :2]}, good["factors"], metrics=["mig"], n_bootstrap=20
            )
        ),
        "Accumulator": lambda: demele.Accumulator("mig", frame=demele.bins.BinEdges.of(good["codes"], good["factors"])),
        "BinEdges": lambda: demele.bins.BinEdges.of(good["codes"], good["factors"]),
        "Decision": cache(lambda: classifiers.compare(good["established"], good["candidate"], good["labels"])),
        "Assessment": cache(lambda: classifiers.assess(good["predictions"], good["labels"], noise=0.1)),
        "Ranking": cache(lambda: classifiers.rank(good["models"], good["labels"], noise=0.1)),
        "ConfusionCounts": cache(lambda: classifiers.stats.confusion(good["predictions"], good["labels"])),
        "PseudoEvaluation": cache(lambda: classifiers.stats.pseudo_supervised(good["models"])),
        "SequentialComparison": lambda: classifiers.SequentialComparison(
            good["established"], good["candidate"], good["labels"]
        ),
        "Consensus": cache(lambda: labels.consensus(good["annotations"])),
        "Agreement": cache(lambda: labels.annotator_agreement(good["annotations"], n_resamples=40)),
        "Annotations": lambda: labels.Annotations([0, 0, 1, 1], ["a", "b"] * 2, ["x", "y", "x", "x"]),
        "NoisyLabels": cache(lambda: labels.add_noise(good["labels"], 0.1)),
        "TransitionMatrix": lambda: labels.symmetric_transition([0, 1], 0.1),
        "TransitionCounts": lambda: labels.TransitionCounts([[45, 5], [2, 48]], [0, 1]),
        "Audit": lambda: labels.Audit([0, 2], [0, 0], design="uniform"),
        "AuditPlan": lambda: labels.draw_audit(N, 8, seed=0),
        "Cleaning": cache(lambda: labels.clean(good["labels"], good["codes"], seed=0, folds=2)),
        "FactorSpace": lambda: data.FactorSpace({"x": 3, "hue": [0.0, 0.5]}, period={"hue": 1}),
        "ImageSet": lambda: images,
        "Sample": lambda: data.Sample(good["codes"], good["factors"], "Made."),
        "VAE": lambda: lab.VAE(latents=2, network="mlp"),
        "trained VAE": cache(trained_vae),
        "Fabric": cache(lambda: lab.Fabric(layers=2, scales=5, channels=2, image_channels=3)),
        "Study": cache(lab.study_demo),
        "PruningStudy": cache(lab.pruning_demo),
        "bench Agreement": cache(lambda: bench.agreement(good["scores"], draws=100)),
        "TorchMetric": lambda: public()["demele.adapters.torchmetrics.TorchMetric"]("mig"),
    }


def trained_vae() -> lab.VAE:
    """A VAE after five steps."""
    vae = lab.VAE(latents=2, network="mlp")
    vae.fit(good_values()["images"], steps=5, batch=4)
    return vae


@cache
def targets() -> tuple[str, ...]:
    """Names of all that is called; ``OBJECT.method`` of a method."""
    methods = []
    for name, make in objects().items():
        kind = type(make())
        for member in dir(kind):
            found = getattr(kind, member)
            ours = callable(found) and str(getattr(found, "__module__", "")).startswith("demele")
            if ours and not member.startswith("_") and member not in LEFT_OUT and f"{name}:{member}" not in SLOW:
                methods.append(f"{name}:{member}")
    return (*public(), *methods)


# Good values ---------------------------------------------------------------------------------------------------------


@cache
def good_values() -> dict[str, Any]:
    """Arguments that are accepted, by the names of parameters."""
    rng = np.random.default_rng(11)
    factors = np.column_stack([np.arange(N) % 3, np.arange(N) // 3 % 5])
    codes = factors[:, [0, 1, 1]] + 0.2 * rng.normal(size=(N, 3))
    label = np.arange(N) % 2
    old, new = (np.where(np.arange(N) % step == 0, 1 - label, label) for step in (5, 7))
    images = data.ArrayImages(rng.integers(0, 256, (12, 16, 16, 3), dtype=np.uint8), factors={"x": np.arange(12) % 3})
    answers = pd.DataFrame({"item": np.repeat(np.arange(10), 3), "annotator": [*"abc"] * 10, "answer": [*"xyxxx"] * 6})
    return {
        **dict.fromkeys(("codes", "codes_a", "z", "X", "features", "features_or_probabilities"), codes),
        **dict.fromkeys(("factors", "a"), factors),
        **dict.fromkeys(("labels", "y", "true_labels", "given_labels", "values", "domain"), label),
        **dict.fromkeys(("established", "predictions", "reference"), old),
        **dict.fromkeys(("codes_std", "importance", "information"), np.full((N, 3), 0.5)),
        "codes_b": codes[:, ::-1], "candidate": new, "attributes": codes, "entropy": [2.0, 2.0, 2.0],
        "images": images, "annotations": answers, "models": {"old": old, "new": new, "third": old}, "metric": "mig", "metrics": "mig",
        "rate": 0.1, "noise": 0.1, "seed": 0, "n": N, "size": 8, "classes": [0, 1], "k": 2, "n_classes": 2, "level": 0.9,
        "successes": 5, "trials": 9, "hits": 5, "audited_hits": 3, "audited_misses": 3, "lost": 0, "won": 1, "z": codes,
        "apparent": 0.8, "agreement": 0.8, "path": "rows.csv", "function": _measure, "value": 0.5, "latents": 2,
        "edges": [[0.0, 1.0, 2.0]], "rows": np.array([0, 2, 4]), "design": "uniform", "items": [0, 0, 1], "annotators": [*"aba"],
        "answers": [*"xyx"], "probabilities": [[0.9, 0.1], [0.2, 0.8]], "counts": [[9, 1], [2, 8]], "suspect": label == 1,
        "epochs": 2, "shares": [0.1], "confusions": {0: {1: 0.1}}, "transition": [[0.9, 0.1], [0.2, 0.8]], "within": np.arange(N) < 9,
        "first": labels.Audit([0, 2], [0, 0], design="uniform"), "second": labels.Audit([4, 6], [0, 0], design="uniform"), "at": 0.5, "than": 0.5,
        "scores": pd.DataFrame(rng.random((8, 3)), columns=["mig", "sap", "dci"]), "scores_established": [0.5, 0.6, 0.7],
        "scores_candidate": [0.5, 0.7, 0.8], "n_test": 10, "n_train": 20, "batch": codes, "sample": data.Sample(pd.DataFrame(codes), pd.DataFrame(factors), "x"),
        "model": _encoder, "encode": _encoder, "predict": _encoder, "estimator": GaussianNB(), "maps": rng.random((1, 12, 16, 16)),
        "file": "rows.csv", "files": ["rows.csv"], "name": "mig", "matrices": np.full((2, 2, 2), 0.5), "new_size": 4,
        "cleaning": labels.Cleaning(label == 1), "detected": 0.5, "false_alarms": 0.1, "tail": 0.05, "within_": None,
        "n_bootstrap": 5, "n_permutations": 2, "n_repeats": 2, "steps": 2, "provenance": "Made.", "title": "Made", "data": [codes],
    }  # fmt: skip


#: Functions to which predictions are those of several models.
OF_MODELS = {
    *("demele.classifiers.rank", "demele.classifiers.forecast_audits", "demele.classifiers.stats.pseudo_supervised"),
    *("demele.bench.check_methods", "demele.labels.add_noise", "demele.labels.doubt"),
}
NAMES = {"demele.data": "digits", "demele.bench": "mixing", "demele.lab": "paper"}


def _measure(codes: Any, factors: Any) -> float:
    return float(np.mean(codes))


def _encoder(images: Any) -> Any:
    return np.asarray(images).reshape(len(images), -1)[:, :2]


def good_of(name: str, parameter: str) -> Any:
    """Return a good value of a parameter; one that is not known is odd."""
    if parameter == "name":
        return NAMES.get(name.rpartition(".")[0], "mig")
    if parameter == "values" and "FactorSpace" in name:
        return {"x": 3}
    return good_values().get("models" if parameter == "predictions" and name in OF_MODELS else parameter, 0.5)


# Odd values ----------------------------------------------------------------------------------------------------------


def odd_value(rng: np.random.Generator, good: Any) -> Any:
    """Return a value that hardly any parameter takes, or a good one that was spoiled."""
    plain: list[Callable[[], Any]] = [
        *(lambda one=one: one for one in (None, True, False, -1, 0, 1, 3, 2**31, 2**63, 2**64, 10**30, 10**400, -0.0, 0.5, 1.5)),
        *(lambda one=one: one for one in (float("nan"), float("inf"), float("-inf"), 1e308, 1e-320, 1j, np.nan, np.float64(0.3))),
        *(lambda one=one: one for one in ("", "x", "mig", "\ud800", "a\0b", "q" * 5000, b"x", bytearray(b"x"), np.str_("x"))),
        *(partial(copy.copy, one) for one in list[Any]([[], (), {}, set(), frozenset({1}), {1, 2}, [[]], [None], [{}], {"a": 1}, {1: 2}, {None: None}])),
        *(lambda one=one: one for one in ([1, "x"], ["x"], [1, 2, 3], (1, 2), (0.5,), [[1, 2], [3]], [[1, [2]]], range(5), slice(3), ...)),
        lambda: str(TOKENS[int(rng.integers(0, len(TOKENS)))]),
        lambda: (value for value in range(5)),
        lambda: iter([1, 2]),
        lambda: map(str, [1]),
        lambda: {"a": 1}.keys(),
        lambda: memoryview(b"abc"),
        _itself,
        _itself_by_name,
        Odd,
        lambda: [Odd()] * N,
        lambda: object(),
        lambda: int,
        lambda: np,
        lambda: len,
        lambda: lambda *given, **named: None,
        lambda: np.array(5),
        lambda: np.array("x"),
        lambda: np.array([], dtype=float),
        lambda: np.zeros((0, 3)),
        lambda: np.zeros((N, 0)),
        lambda: np.zeros((N, 2, 2)),
        lambda: np.array([1, 2, 3]),
        lambda: np.full(N, np.nan),
        lambda: np.full((N, 3), np.inf),
        lambda: np.full((N, 3), 1e308) * np.array([1, -1, 1]),
        lambda: np.array([2**53, 2**53 + 1] * (N // 2)),
        lambda: np.array([2**63, 2**64 - 1] * (N // 2), dtype=np.uint64),
        lambda: np.array([None] * N),
        lambda: np.array([[1, 2], 3, "x"] * (N // 3), dtype=object),
        lambda: np.array(["x", "\ud800"] * (N // 2)),
        lambda: np.array([b"x"] * N),
        lambda: np.array(["2020-01-01"] * N, dtype="M8[D]"),
        lambda: np.zeros(N, dtype=[("a", "f8"), ("b", "i4")]),
        lambda: np.zeros(N, dtype="V4"),
        lambda: np.zeros((N, 3), dtype=complex),
        lambda: np.zeros((N, 3), dtype=np.longdouble),
        lambda: np.broadcast_to(np.float64(1), (10**10, 3)),
        lambda: np.broadcast_to(np.int64(1), (10**10,)),
        lambda: np.ma.masked_invalid(np.full((N, 3), np.nan)),
        lambda: np.ma.masked_invalid(np.full(N, np.nan)),
        lambda: np.matrix([[1, 2]]),
        lambda: scipy.sparse.csr_array(np.eye(N, 3)),
        lambda: scipy.sparse.coo_matrix(np.eye(3)),
        lambda: pd.Series([1, None, 3]),
        lambda: pd.Series(["x"] * N, dtype="category"),
        lambda: pd.Series([pd.NA, 1] * (N // 2), dtype="Int64"),
        lambda: pd.DataFrame(),
        lambda: pd.DataFrame({"a": range(N), "b": "x"}),
        lambda: pd.DataFrame([[1, 2]] * N, columns=["a", "a"]),
        lambda: pd.DataFrame({5: range(N), None: range(N)}),
        lambda: pd.Index([1, 2]),
        lambda: pd.MultiIndex.from_product([[1], [2]]),
        lambda: pd.NA,
        lambda: pd.NaT,
        lambda: pd.Timestamp(0),
        lambda: pd.date_range("2020", periods=N),
        lambda: pd.interval_range(0, 3),
        lambda: pl.DataFrame({"a": range(N)}),
        lambda: pl.LazyFrame({"a": range(N)}),
        lambda: pl.Series("a", [None] * N),
        lambda: pl.Series("a", [[1, 2]] * N),
        lambda: pl.DataFrame({"a": [{"b": 1}] * N}),
        lambda: pl.Series("a", ["x", "y"] * (N // 2), dtype=pl.Categorical),
        lambda: pl.col("a"),
        lambda: odd_tensor(rng),
        lambda: [odd_tensor(rng)] * 3,
        lambda: data.sprites(size=16),
        lambda: labels.symmetric_transition(["a", "b", "c"], 0.1),
        lambda: labels.Audit([0, 10**6], ["x", "y"], design="uniform"),
        lambda: classifiers.assess([0, 1], [0, 1]),
        lambda: demele.bins.EqualWidth(),
        lambda: np.random.default_rng(0),
    ]  # fmt: skip
    return spoiled(rng, good) if rng.random() < 0.35 else plain[int(rng.integers(0, len(plain)))]()


def _itself() -> Any:
    own: list[Any] = []
    own.append(own)
    return own


def _itself_by_name() -> Any:
    own: dict[str, Any] = {}
    own["a"] = own
    return own


def odd_tensor(rng: np.random.Generator) -> Any:
    """Return a tensor that holds no plain numbers in memory, or an odd shape or type of them."""
    held = torch.tensor(good_values()["codes"])
    makers: list[Callable[[], Any]] = [
        lambda: held.to("meta"),
        lambda: held.to_sparse(),
        lambda: held.to_sparse_csr(),
        lambda: held.to_mkldnn() if held.dtype == torch.float32 else held.float().to_mkldnn(),
        lambda: torch.complex(held, held).conj(),
        lambda: torch.complex(held, -held).conj().imag,
        lambda: torch._neg_view(held),
        lambda: held.to(torch.float8_e5m2),
        lambda: held.bfloat16(),
        lambda: held.half(),
        lambda: torch.quantize_per_tensor(held.float(), 0.1, 0, torch.quint8),
        lambda: torch.nested.nested_tensor([held[0], held[1]]),
        lambda: torch.nested.nested_tensor([held[0], held[1]], layout=torch.jagged),
        lambda: held.clone().requires_grad_(),
        lambda: torch.nn.Parameter(held.clone()),
        lambda: torch.tensor(3.0),
        lambda: torch.zeros(0),
        lambda: torch.zeros((N, 3, 1, 1)),
        lambda: torch.tensor(1.0).expand(10**10, 3),
        lambda: torch.zeros(N, dtype=torch.bool),
        lambda: torch.full((N,), 2**62),
        lambda: torch.full((N, 3), torch.nan),
        lambda: torch.zeros((N, 3), dtype=torch.uint16),
        lambda: torch.zeros((N, 3), dtype=torch.complex32),
        lambda: torch.nn.Linear(2, 2),
        lambda: held.T,
        lambda: held.flip(0)[::2],
    ]
    return makers[int(rng.integers(0, len(makers)))]()


def spoiled(rng: np.random.Generator, good: Any) -> Any:
    """Return a good value with something wrong in it."""
    if not isinstance(good, np.ndarray | list) or not len(good):
        return [good] if rng.random() < 0.5 else {"a": good}
    array = np.array(good, dtype=object)
    choices: list[Callable[[], Any]] = [
        lambda: array[:-1], lambda: array[:1], lambda: array[:0], lambda: array.T, lambda: array[None], lambda: array[..., None],
        lambda: np.concatenate([array, array]), lambda: array.tolist(), lambda: array.astype(str), lambda: array.astype("S"),
        lambda: _replaced(rng, array), lambda: _replaced(rng, array), lambda: _replaced(rng, array), lambda: pd.DataFrame(array),
        lambda: pd.DataFrame(array, index=rng.permutation(len(array))), lambda: pd.Series(list(array), index=[0] * len(array)),
        lambda: [torch.tensor(row) for row in np.asarray(good)], lambda: list(map(set, np.atleast_2d(array))),
        lambda: dict(enumerate(array)), lambda: (row for row in array), lambda: array.astype(str).astype(object),
    ]  # fmt: skip
    with suppress(Exception):  # not every value can be spoiled in every way
        return choices[int(rng.integers(0, len(choices)))]()
    return array


def _replaced(rng: np.random.Generator, array: Any) -> Any:
    changed = array.copy()
    choices: list[Any] = [
        None, np.nan, np.inf, -1, "x", "", "\ud800", b"x", 10**400, 2**63, [1], {}, 1j, True, Odd(), pd.NA, 0.5, 1e308,
    ]  # fmt: skip
    changed.reshape(-1)[int(rng.integers(0, changed.size))] = choices[int(rng.integers(0, len(choices)))]
    return changed if rng.random() < 0.5 else changed.tolist()


# Calls ---------------------------------------------------------------------------------------------------------------


def call_of(seed: int, *, tensors: bool = False) -> tuple[str, Callable[[], Any]]:
    """Draw a call with odd arguments, or with odd ``tensors`` only: what is called, and the call."""
    rng = np.random.default_rng(seed)
    name = targets()[int(rng.integers(0, len(targets())))]
    holder, _, member = name.partition(":")
    found: Callable[..., Any] = getattr(objects()[holder](), member) if member else public()[name]
    kept = parameters(found)
    given = {one.name: good_of(name, one.name) for one in kept if one.default is one.empty}
    many = int(rng.choice([1, 1, 1, 2, 3]))
    for one in rng.permutation(len(kept))[:many]:
        place = kept[int(one)].name
        odd = odd_tensor(rng) if tensors else odd_value(rng, given.get(place, good_values().get(place)))
        if place in ("n_jobs", "threads") and isinstance(odd, int) and odd > 1:
            odd = 0  # so many processes or threads would be asked of the machine
        given[place] = odd
    return name, partial(_called, found, given)


def _called(found: Callable[..., Any], given: Mapping[str, Any]) -> None:
    first = [one.name for one in parameters(found) if one.kind is one.POSITIONAL_ONLY]
    result = found(*(given[name] for name in first), **{name: one for name, one in given.items() if name not in first})
    if isinstance(result, Iterator | types.GeneratorType):
        for _, _ in zip(range(3), result, strict=False):
            pass


def parameters(found: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that can be given by name or place."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one for one in inspect.signature(found).parameters.values() if one.kind not in kinds and one.name[0] != "_"]


# The same in another form --------------------------------------------------------------------------------------------


def forms_of(array: Any, rng: np.random.Generator) -> Any:
    """Return the same numbers in another form."""
    names = [f"{'v' if array.dtype.kind == 'i' else 'z'}{column + 1}" for column in range(array.shape[-1])]
    frame = pd.DataFrame(array, columns=names) if array.ndim == 2 else pd.Series(array)
    wide = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    wide[::2] = array
    whole = array.dtype.kind == "i"
    choices: list[Callable[[], Any]] = [
        lambda: array.tolist(),
        lambda: tuple(map(tuple, array.tolist())) if array.ndim == 2 else tuple(array.tolist()),
        lambda: frame,
        lambda: frame.convert_dtypes(),
        lambda: pl.from_pandas(frame),
        lambda: pl.LazyFrame(pl.from_pandas(frame)) if array.ndim == 2 else pl.from_pandas(frame),
        lambda: frame.astype("float64[pyarrow]" if not whole else "int64[pyarrow]"),
        lambda: torch.tensor(array),
        lambda: torch.tensor(array).requires_grad_() if not whole else torch.tensor(array),
        lambda: torch._neg_view(torch.tensor(-array)),
        lambda: torch.tensor(wide)[::2],
        lambda: [torch.tensor(row) for row in array] if array.ndim == 2 else torch.tensor(array),
        lambda: np.asfortranarray(array),
        lambda: wide[::2],
        lambda: array.astype(array.dtype.newbyteorder(">")),
        lambda: np.ma.masked_array(array, mask=False),
        lambda: array.astype(object),
        lambda: array[::-1][::-1],
        lambda: array.view(),
        lambda: array.astype(np.float64) if whole else array.astype(np.longdouble),
        lambda: array.astype(np.uint8) if whole else array.copy(),
    ]
    return choices[int(rng.integers(0, len(choices)))]()


#: Functions of plain arrays, whose results are compared.
SAME: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    **{name: (getattr(demele.metrics, name), ("codes", "factors")) for name in (
        *("mig", "sap", "dci", "dcimig", "modularity", "jemmig", "mig_sup", "irs", "infoc", "infom", "omes", "snc", "mcc", "r2_affine"),
        *("med_compactness", "sufficiency", "explicitness", "tmex"),
    )},
    "rmig": (lambda codes, codes_std, factors: demele.metrics.rmig(demele.Codes(codes, std=codes_std), factors), ("codes", "codes_std", "factors")),
    "downstream": (demele.probes.downstream, ("codes", "factors")),
    "unsupervised_scores": (demele.probes.unsupervised_scores, ("codes",)),
    "stream": (lambda codes, factors: demele.Accumulator("mig", frame=demele.bins.BinEdges.of(*_good("codes", "factors"))).update(codes, factors).compute(), ("codes", "factors")),
    "assess": (classifiers.assess, ("predictions", "labels")),
    "compare": (classifiers.compare, ("established", "candidate", "labels")),
    "clean": (partial(labels.clean, seed=0), ("y", "features")),
    "confusion": (classifiers.stats.confusion, ("predictions", "labels")),
    "estimate_transition": (labels.estimate_transition, ("true_labels", "given_labels")),
    "add_noise": (partial(labels.add_noise, noise=0.1), ("labels",)),
}  # fmt: skip


def _good(*names: str) -> list[Any]:
    return [good_values()[name] for name in names]


def check_same(seed: int) -> None:
    """Call a function with its arguments in another form, and compare the result.

    Raises
    ------
    Shifted
    """
    rng = np.random.default_rng(seed)
    name = list(SAME)[int(rng.integers(0, len(SAME)))]
    call, arguments = SAME[name]
    given = [forms_of(np.asarray(good_values()[one]), rng) for one in arguments]
    found, expected = told(call(*given)), _expected(name)
    if found != expected:
        forms = [type(one).__name__ for one in given]
        raise Shifted(f"{name} of {forms} came to {found[:500]}, not to {expected[:500]}")


@cache
def _expected(name: str) -> str:
    call, arguments = SAME[name]
    return told(call(*_good(*arguments)))


def told(result: Any) -> str:
    """Return what a result holds, without how long it took."""
    held = result.to_dict() if hasattr(result, "to_dict") else repr(result)
    return repr(_timeless(held))


def _timeless(held: Any) -> Any:
    if isinstance(held, dict):
        left_out = ("seconds", "signature", "notes", "warnings")
        return {key: _timeless(value) for key, value in held.items() if key not in left_out}
    if isinstance(held, list | tuple):
        return [_timeless(value) for value in held]
    return float(f"{held:.9g}") if isinstance(held, float) else held
