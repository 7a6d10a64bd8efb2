# mypy: disable-error-code="misc, arg-type, assignment, no-untyped-call, unused-ignore"
"""Every metric in each way in which it can be computed."""

import functools
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import demele
from tests.golden.groups import Case, group
from tests.golden.shown import Parts
from tests.golden.small_data import CHEAP, DATA, Data

PROTOCOLS = demele.protocol_names()
NAMES = demele.metric_names()
#: Metrics of predictors that take most of the time; their rows are drawn and passed on as those of the others.
SLOW = [name for name in NAMES if name.startswith(("dci_boosting", "dci_forest", "explicitness"))]


def parts(evaluation: Any) -> Parts:
    """The evaluation without its scores, and each score."""
    about = {
        name: getattr(evaluation, name)
        for name in ("left_out", "protocol", "name", "n", "code_names", "factors", "notes", "dependency", "screened")
        if hasattr(evaluation, name)
    }
    about["order"] = [score.metric for score in evaluation]
    about["repr"] = repr(evaluation)
    if hasattr(evaluation, "information"):
        about |= {
            name: getattr(evaluation, name)
            for name in ("information", "joint_entropy", "factor_entropy", "code_entropy", "activity", "top", "dead")
        }
    return Parts({"evaluation": about} | {score.metric: score for score in evaluation})


def options_of(data: Data, protocol: str) -> dict[str, Any]:
    """The cheap options; where a protocol asks for more rows to train on than there are, fewer."""
    options = {key: dict(own) for key, own in CHEAP.items()}
    if protocol == "dlib2019":
        n = len(data.codes) * 2 // 5
        for name in ("dci_boosting", "sap", "explicitness"):
            options.setdefault(name, {}).update(n_train=n, n_test=n // 2)
    return options


@group("rows", file="rows")
def rows() -> Iterator[Case]:
    for name, data in DATA.items():
        for protocol in PROTOCOLS:
            yield (
                f"{name}/{protocol}",
                lambda data=data, protocol=protocol: parts(
                    demele.evaluate(
                        data.codes,
                        data.factors,
                        codes_std=data.codes_std,
                        protocol=protocol,
                        options=options_of(data, protocol),
                        seed=3,
                        **data.keywords,
                    )
                ),
            )


@group("arguments", file="rows")
def arguments() -> Iterator[Case]:
    few, mixed, tied, continuous = DATA["few"], DATA["mixed"], DATA["tied"], DATA["continuous"]
    quick = [name for name in NAMES if name not in SLOW]
    dense = [name for name in quick if name != "rmig"]

    def call(data: Data, metrics: Any = None, **own: Any) -> Parts:
        keywords = {"options": CHEAP, **data.keywords, **own}
        return parts(demele.evaluate(data.codes, data.factors, metrics, codes_std=data.codes_std, **keywords))

    yield "few/bootstrap-chance-repeats", lambda: call(few, bootstrap=3, chance=2, repeats=2, seed=5)
    for name, data in (("mixed", mixed), ("tied", tied)):
        yield (
            f"{name}/bootstrap-chance-repeats",
            functools.partial(call, data, quick, bootstrap=2, chance=2, repeats=2, seed=5, level=0.8),
        )
    yield (
        "tied/robust-bootstrap-chance",
        lambda: call(tied, ["mig", "modularity", "irs", "sap"], protocol="robust", bootstrap=4, chance=2),
    )
    yield "few/latte-bootstrap", lambda: call(few, ["mig", "dlig", "sap"], protocol="latte", bootstrap=4, chance=2)
    yield "continuous/bins", lambda: call(continuous, quick, bins="equal-frequency:5")
    yield "continuous/adaptive", lambda: call(continuous, ["mig", "irs", "jemmig"], bins="adaptive")
    yield "continuous/edges", lambda: call(continuous, ["mig", "modularity"], bins=[-5, 0, 0.3, 0.7, 5])
    yield "continuous/two-processes", lambda: call(continuous, ["mig", "sap", "z_diff"], bootstrap=3, n_jobs=2)
    yield (
        "mixed/reg_dim",
        lambda: call(
            mixed, ["mig", "dmig", "xmig", "dlig", "rmig"], reg_dim=["first", "second", "dead", "third"], bootstrap=3
        ),
    )
    corrected = {"information": {"correction": "miller-madow"}}
    yield "tied/miller-madow", lambda: call(tied, options={**CHEAP, **corrected})
    adjusted = {"information": {"correction": "adjusted"}, "irs": {"quantile": 0.9, "weights": "uniform"}}
    yield "few/adjusted", lambda: call(few, quick, options={**CHEAP, **adjusted}, bootstrap=3)
    knn = {"information": {"estimator": "knn", "n_neighbors": 4}, "sap": {"units": "raw", "score_on": "training"}}
    yield "few/knn", lambda: call(few, quick, options={**CHEAP, **knn})
    yield (
        "few/arrays",
        lambda: parts(demele.evaluate(few.codes.to_numpy(), few.factors.to_numpy(), dense, options=CHEAP)),
    )
    yield "few/sparse-matrix", lambda: parts(demele.evaluate(sparse.csr_array(few.codes), few.factors, ["mig", "irs"]))
    yield "one-code", lambda: parts(demele.evaluate(few.codes[["z1"]], few.factors[["size"]], options=CHEAP))
    yield "callable", lambda: call(few, [first_correlation, "mig", failing], bootstrap=4, chance=4, repeats=2)
    yield (
        "callable/two-processes",
        lambda: call(few, [first_correlation, "mig"], bootstrap=4, chance=4, n_jobs=2),
    )
    outlying = DATA["few"].codes.copy()
    outlying.iloc[5, 0] = 500.0
    yield "few/outlier", lambda: parts(demele.evaluate(outlying, few.factors, dense, options=CHEAP, chance=2))


def first_correlation(codes: Any, factors: Any) -> float:
    """A user's own metric."""
    return float(abs(np.corrcoef(codes[:, 0], factors[:, 0])[0, 1]))


def failing(codes: Any, factors: Any) -> float:
    """A user's metric that fails."""
    raise ZeroDivisionError("no such thing")


#: Options of each public function, other than the default.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "mig": [{}, {"bins": 4, "reg_dim": [0, 1]}, {"fill_reg_dim": True}, {"estimator": "robust", "n_neighbors": 2}],
    "mig_sup": [{}, {"bins": "equal-frequency:4", "correction": "adjusted"}],
    "modularity": [{}, {"estimator": "knn"}],
    "dcimig": [{}, {"correction": "miller-madow", "bootstrap": 3}],
    "jemmig": [{}, {"bins": 3}],
    "dmig": [{}, {"reg_dim": ["z3", "z2"]}],
    "xmig": [{}, {"reg_dim": [2, 0]}],
    "dlig": [{}, {"estimator": "knn", "reg_dim": [1, 0]}],
    "explicitness": [
        {"score_on": "training"},
        {"classifier": "multinomial", "scaling": "standard", "class_weight": None, "report": "unscaled"},
        {"probabilities": "raw", "penalty": 0.1, "n_train": 40, "n_test": 15, "bins": 3},
    ],
    "sap": [{}, {"units": "raw", "penalty": 0.01, "class_weight": "balanced"}, {"n_train": 30, "n_test": 20}],
    "z_diff": [{"n_train": 50, "n_test": 40, "batch_size": 6}, {"units": "raw", "n_train": 30, "n_test": 30}],
    "z_min_variance": [{"n_train": 50, "n_test": 40, "batch_size": 6}, {"prune_below": 0.3, "report": "unscaled"}],
    "z_max_variance": [{"n_train": 50, "n_test": 40}, {"bins": 4, "repeats": 3}],
    "irs": [{}, {"quantile": 0.9, "normaliser": "maximum", "weights": "raw-deviation", "value_weights": "uniform"}],
    "dci": [{"model": "lasso"}, {"informativeness": "uniform-6"}, {"model": "boosting"}],
    "interventional_robustness": [
        {},
        {"codes_of_interest": ["z1"], "factors_of_interest": [0], "nuisance": ["size"], "norm": 1, "bootstrap": 4},
        {"norm": np.inf, "bins": 4},
    ],
    "interventional_disentanglement": [{}, {"bins": 3}],
    "domain_shift_robustness": [{"domain": [0]}, {"domain": ["size"], "bootstrap": 3, "codes_of_interest": [2]}],
}


@group("functions", file="functions")
def functions() -> Iterator[Case]:
    data = DATA["few"]
    for name, variants in OPTIONS.items():
        for number, options in enumerate(variants):
            yield (
                f"{name}/{number}",
                lambda name=name, options=options: getattr(demele, name)(data.codes, data.factors, **options),
            )
    yield "rmig/0", lambda: demele.rmig(data.codes, data.codes_std, data.factors)
    yield "rmig/1", lambda: demele.rmig(data.codes, data.codes_std, data.factors, bins=5, bootstrap=3)
    for name in NAMES:
        yield f"describe/{name}", lambda name=name: demele.describe(name)
    yield "names", lambda: [demele.metric_names(), demele.protocol_names(), list(demele.counted_metrics())]
    mixed = DATA["mixed"]
    yield (
        "general-irs-mixed",
        lambda: demele.interventional_robustness(
            mixed.codes[["first", "second", "third"]],
            mixed.factors[["size", "shape", "turn"]],
            factors_of_interest=["shape"],
            **mixed.keywords,
        ),
    )


@group("replay", file="functions")
def replay() -> Iterator[Case]:
    data = DATA["few"]
    made: dict[str, Any] = {}

    def scores() -> dict[str, Any]:
        if not made:
            made["evaluation"] = demele.evaluate(
                data.codes, data.factors, codes_std=data.codes_std, options=CHEAP, seed=2, repeats=2
            )
        return {score.metric: score for score in made["evaluation"]}

    for name in NAMES:
        yield (
            name,
            lambda name=name: _replayed(scores()[name], data),
        )
    general = [
        lambda: demele.interventional_robustness(data.codes, data.factors, norm=1, bins=5, bootstrap=3),
        lambda: demele.interventional_disentanglement(data.codes, data.factors, bins=5),
    ]
    for number, one in enumerate(general):
        yield f"general/{number}", lambda one=one: _replayed(one(), data)
    yield (
        "other-rows",
        lambda: demele.replay(str(scores()["mig"].signature), data.codes[:-1], data.factors[:-1]),
    )
    for number, text in enumerate(["", "mig", "mig(seed=0", "mgi(seed=0)", "mig(bins=Foo(1))", "mig(seed=0, x=2)", 3]):
        yield f"bad/{number}", lambda text=text: demele.replay(text, data.codes, data.factors)  # type: ignore[arg-type]


def _replayed(score: Any, data: Data) -> Any:
    again = demele.replay(str(score.signature), data.codes, data.factors, codes_std=data.codes_std)
    return [again.value == score.value, again]


def _chosen(protocol: str) -> list[str]:
    """All metrics under the first protocol, those that are quick under the others."""
    return [name for name in NAMES if protocol == PROTOCOLS[0] or name not in SLOW]


ACCUMULATED = {"continuous": [40, 90], "mixed": [70], "tied": [13, 20, 100]}


def accumulator(data: Data, metrics: Any, *, framed: bool, cuts: list[int], **own: Any) -> Any:
    """Two accumulators that are merged, each of some batches."""
    kinds = data.keywords.get("kinds")
    missing = data.keywords.get("missing", "raise")
    rules = [demele.EqualFrequency(10), demele.EqualFrequency(3)] if own.get("protocol") == "robust" else ()
    frame = demele.Frame.of(data.codes, data.factors, kinds=kinds, missing=missing, bins=rules) if framed else None
    keywords = {"options": CHEAP, "seed": 4, **own}
    if frame is None:
        keywords |= data.keywords
    states = [demele.Accumulator(metrics, frame=frame, stream=index, **keywords) for index in range(2)]
    edges = [0, *cuts, len(data.codes)]
    for number, (start, stop) in enumerate(itertools.pairwise(edges)):
        some = slice(start, stop)
        std = data.codes_std[some] if metrics is None or "rmig" in metrics else None
        states[number % 2] = states[number % 2].update(data.codes[some], data.factors[some], std)
    return states[0].merge(states[1])


@group("accumulator", file="streams")
def accumulators() -> Iterator[Case]:
    for name, cuts in ACCUMULATED.items():
        for protocol in PROTOCOLS if name == "mixed" else PROTOCOLS[::3]:
            for framed in (True, False):
                own: dict[str, Any] = {"protocol": protocol}
                if protocol == "dlib2019":
                    own["options"] = options_of(DATA[name], protocol)
                if not framed and (name != "continuous" or protocol in ("dlib2019", "latte")):
                    continue
                yield (
                    f"{name}/{protocol}/{'frame' if framed else 'rows'}",
                    lambda name=name, cuts=cuts, framed=framed, own=own: parts(
                        accumulator(DATA[name], _chosen(own["protocol"]), framed=framed, cuts=cuts, **own).compute()
                    ),
                )
    data = DATA["continuous"]
    for metric in NAMES:
        yield (
            f"single/{metric}",
            lambda metric=metric: accumulator(data, metric, framed=True, cuts=[50]).compute(),
        )
    yield (
        "bound",
        lambda: parts(accumulator(data, ["mig", "sap", "z_diff"], framed=True, cuts=[50], bound=60).compute()),
    )
    yield "reprs", lambda: [repr(accumulator(data, ["mig", "irs", "sap"], framed=f, cuts=[9])) for f in (True, False)]


@group("states", file="streams")
def states() -> Iterator[Case]:
    for name, data in DATA.items():
        for framed in (True, False):
            if framed and name == "few":
                continue
            yield (
                f"bytes/{name}/{'frame' if framed else 'rows'}",
                lambda data=data, framed=framed: accumulator(data, NAMES, framed=framed, cuts=[30]).to_bytes(),
            )
    some = DATA["tied"]

    def restored() -> Any:
        made = accumulator(some, ["mig", "irs", "sap", "z_diff"], framed=True, cuts=[30])
        return parts(demele.Accumulator.from_bytes(made.to_bytes()).compute())

    yield "restored", restored
    yield "empty", lambda: demele.Accumulator(["mig", "sap"]).to_bytes()
    yield "frame", lambda: demele.Frame.of(some.codes, some.factors).to_dict()
    yield (
        "frame/fixed",
        lambda: demele.Frame.fixed({"a": (0, 1), "b": (-2, 2)}, {"size": (0, 10), "shape": ["x", "y"]}).to_dict(),
    )
    for number, data in enumerate([b"", b"demele", b"\x00" * 50, "text", None]):
        yield f"bad-bytes/{number}", lambda data=data: demele.Accumulator.from_bytes(data)  # type: ignore[arg-type]


@group("pieces", file="streams")
def pieces() -> Iterator[Case]:
    for name in ("continuous", "mixed", "tied"):
        data = DATA[name]
        for protocol in PROTOCOLS if name == "mixed" else PROTOCOLS[::3]:
            yield (
                f"parquet/{name}/{protocol}",
                lambda data=data, protocol=protocol: _in_parquet(
                    data, protocol=protocol, metrics=[one for one in _chosen(protocol) if one != "rmig"]
                ),
            )
    yield (
        "parquet/sample",
        lambda: _in_parquet(DATA["tied"], sample=50, metrics=["mig", "sap", "z_diff", "irs", "dci_lasso_modularity"]),
    )
    yield "parquet/bins", lambda: _in_parquet(DATA["tied"], bins="equal-frequency:4", metrics=["mig", "irs", "sap"])
    yield "parquet/refused", lambda: _in_parquet(DATA["tied"], bootstrap=5)
    yield "dask", lambda: _in_dask(DATA["continuous"], metrics=["mig", "jemmig", "sap", "irs", "z_min_variance"])
    yield "dask/latte", lambda: _in_dask(DATA["tied"], protocol="latte", metrics=["mig", "sap"])


def _in_parquet(data: Data, *, metrics: Any = None, protocol: str = "review2022", **own: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        table = data.codes.join(data.factors)
        cuts = [0, 33, 34, 100, len(table)]
        for number, (start, stop) in enumerate(itertools.pairwise(cuts)):
            table[start:stop].to_parquet(Path(folder) / f"part.{number}.parquet", row_group_size=25)
        return parts(
            demele.evaluate(
                demele.scan_parquet(folder, list(data.codes)),
                demele.scan_parquet(folder, list(data.factors)),
                metrics,
                protocol=protocol,
                options=options_of(data, protocol),
                **{"seed": 6, **data.keywords, **own},
            )
        )


def _in_dask(data: Data, *, metrics: Any = None, **own: Any) -> Any:
    import dask.array as da

    codes = da.from_array(data.codes.to_numpy(), chunks=(37, 2))
    factors = da.from_array(data.factors.to_numpy(dtype=float), chunks=(50, -1))
    return parts(demele.evaluate(codes, factors, metrics, options=CHEAP, seed=1, **own))


@group("sparse", file="streams")
def sparse_codes() -> Iterator[Case]:
    metrics = [name for name in NAMES if name.startswith("dci_")]
    everything = ["mig", "mig_sup", "modularity", "dcimig", "jemmig", "sap", *metrics]
    own = {key: CHEAP[key] for key in ("dci_forest", "dci_boosting")}
    for name, data in DATA.items():
        matrix = sparse.csr_array(np.where(np.abs(data.codes.to_numpy()) < 0.3, 0.0, data.codes.to_numpy()))
        for key, keywords in {
            "all": {"metrics": everything, "options": own},
            "miller-madow": {"correction": "miller-madow", "bins": 5, "factor_bins": "equal-frequency:4"},
            "screened": {"screen": 2, "n_rows": 50, "top": 2, "seed": 3, "metrics": ["sap", "dci_lasso_modularity"]},
        }.items():
            yield (
                f"{name}/{key}",
                lambda data=data, matrix=matrix, keywords=keywords: parts(
                    demele.evaluate_sparse(matrix, data.factors, **{**keywords, **data.keywords})
                ),
            )
    data = DATA["tied"]
    yield (
        "default",
        lambda: _everything(
            demele.evaluate_sparse(sparse.csc_array(data.codes), data.factors, code_names=list("abcd"))
        ),
    )


def _everything(evaluation: Any) -> Any:
    return [
        evaluation.to_dict(),
        evaluation.top_frame(),
        evaluation.to_frame().drop(columns="seconds", errors="ignore"),
    ]


@group("printed", file="functions")
def printed() -> Iterator[Case]:
    data = DATA["mixed"]

    def made() -> Any:
        return demele.evaluate(data.codes, data.factors, ["mig", "irs"], bootstrap=3, chance=2, **data.keywords)

    def without_seconds(found: dict[str, Any]) -> dict[str, Any]:
        return {
            **{key: value for key, value in found.items() if key != "demele"},
            "scores": [{key: value for key, value in one.items() if key != "seconds"} for one in found["scores"]],
        }

    yield "to_dict", lambda: without_seconds(made().to_dict())
    yield "to_frame", lambda: made().to_frame().drop(columns="seconds", errors="ignore")
    yield "score-frames", lambda: [score.to_frame() for score in made()]
    yield "unknown-score", lambda: made()["sap"]
