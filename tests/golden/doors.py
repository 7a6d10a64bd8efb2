# mypy: disable-error-code="misc, arg-type, assignment, no-untyped-call, unused-ignore"
"""What every public call of metrics says of input that it refuses."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import demele
from tests.golden.groups import Case, group
from tests.golden.metrics import OPTIONS

N = 30
_RNG = np.random.default_rng(0)
FACTORS = np.column_stack([_RNG.random(N), _RNG.integers(0, 3, N), _RNG.random(N)])
CODES = np.column_stack([FACTORS + 0.1 * _RNG.standard_normal((N, 3)), _RNG.random(N)])
TABLE = pd.DataFrame(CODES, columns=["length", "width", "height", "noise"])
STD = np.full(CODES.shape, 0.1)


def changed(table: Any, row: int, column: int, value: Any) -> Any:
    """Return a copy with one entry changed."""
    copy = np.array(table, dtype=float if isinstance(value, float) else object)
    copy[row, column] = value
    return copy


def objects(values: list[Any]) -> Any:
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


_DATES = np.full((N, 2), "2020-01-01", dtype="datetime64[D]")
_HUGE = np.where(np.arange(N)[:, None] % 2, 1.7e308, -1.7e308)
BAD_DATA: dict[str, tuple[Any, Any]] = {
    "codes NaN": (changed(CODES, 7, 2, np.nan), FACTORS),
    "codes inf": (changed(CODES, 0, 3, np.inf), FACTORS),
    "codes NaN in a frame": (pd.DataFrame(changed(TABLE, 12, 1, np.nan), columns=TABLE.columns), FACTORS),
    "codes None": (changed(CODES, 4, 1, None), FACTORS),
    "codes masked": (np.ma.masked_array(CODES, mask=CODES[5, 1] == CODES), FACTORS),
    "codes sparse NaN": (sparse.csr_array(changed(CODES, 6, 0, np.nan)), FACTORS),
    "codes range": (np.hstack([CODES, _HUGE]), FACTORS),
    "codes a string": (changed(CODES, 4, 1, "x"), FACTORS),
    "codes strings": (CODES.astype(str), FACTORS),
    "codes complex": (CODES + 1j, FACTORS),
    "codes dates": (_DATES, FACTORS),
    "codes junk": (changed(CODES, 2, 0, {"a": 1}), FACTORS),
    "codes lists": (objects([[1], [2, 3]] * (N // 2)), FACTORS),
    "codes 1-d": (CODES[:, 0], FACTORS),
    "codes 3-d": (CODES[:, :, None], FACTORS),
    "codes 0-d": (np.float64(3), FACTORS),
    "codes ragged": ([[1.0, 2.0], [3.0], [4.0, 5.0]], FACTORS),
    "codes empty": ([], FACTORS),
    "codes no rows": (CODES[:0], FACTORS),
    "codes no columns": (CODES[:, :0], FACTORS),
    "codes names twice": (TABLE.set_axis(["a", "b", "a", "c"], axis=1), FACTORS),
    "codes records": (np.zeros(N, dtype=[("a", float), ("b", float)]), FACTORS),
    "codes missing": (None, FACTORS),
    "codes dict": ({"a": [1, 2]}, FACTORS),
    "codes number": (3.0, FACTORS),
    "codes path": ("codes.csv", FACTORS),
    "codes set": ({1.0}, FACTORS),
    "lengths": (CODES, FACTORS[:-1]),
    "one row": (CODES[:1], FACTORS[:1]),
    "factors NaN": (CODES, changed(FACTORS, 11, 0, np.nan)),
    "factors None": (CODES, changed(FACTORS, 5, 1, None)),
    "factors words missing": (CODES, pd.DataFrame({"shape": ["a", "b", None] * 10, "size": FACTORS[:, 0]})),
    "factors inf": (CODES, changed(FACTORS, 8, 2, np.inf)),
    "factors range": (CODES, _HUGE),
    "factors complex": (CODES, FACTORS + 1j),
    "factors dates": (CODES, _DATES),
    "factors junk": (CODES, objects([1, "a", {"b": 2}] * 10)),
    "factors 3-d": (CODES, FACTORS[:, :, None]),
    "factors number": (CODES, 2),
    "factors missing": (CODES, None),
    "factors dict": (CODES, {"v1": [0, 1]}),
    "factors empty": (CODES, []),
    "factors names twice": (CODES, pd.DataFrame(FACTORS, columns=["a", "b", "a"])),
    "factors constant": (CODES, np.ones((N, 2))),
    "factors unannotated": (CODES, np.column_stack([FACTORS, np.full(N, np.nan)])),
    "two rows": (CODES[:2], FACTORS[:2]),
    "one factor": (CODES, FACTORS[:, :1]),
    "one code": (CODES[:, :1], FACTORS),
    "good": (CODES, FACTORS),
}

BAD_KEYWORDS: dict[str, list[Any]] = {
    "bins": [
        1,
        -3,
        2.5,
        True,
        "x",
        "equal-width:1",
        "adaptive:3",
        {"a": 1},
        [],
        [0.5],
        [0, 2, 1],
        [0, np.nan, 1],
        ["a"],
    ],
    "seed": [-1, 1.5, "a", True, None, np.random.default_rng(0)],
    "repeats": [0, 1.5, True, "2"],
    "bootstrap": [-1, 1, 2.5, "x", None],
    "level": [0, 1, np.nan, "a", True],
    "chance": [-1, 0.5, True],
    "missing": ["drop", True, None],
    "kinds": ["numeric", {"nope": "categorical"}, {"v1": 3}, ["continuous"], 5],
    "n_jobs": [0, -2, 1.5, True, "all"],
    "estimator": ["kdn", None, 3],
    "correction": ["miller", None, 1],
    "n_neighbors": [0, 2.5, 500],
    "reg_dim": [[0], [0, 1, 4], [0, 1, -1], ["z1", "z2", "z9"], [0.0, 1.0, 2.0], [0, 1, True], "z1", 3],
    "fill_reg_dim": [1, "yes"],
    "quantile": [0, 1.5, np.nan, "max"],
    "weights": ["frequency", None],
    "value_weights": ["deviation", None],
    "penalty": [0, np.inf, "l2"],
    "score_on": ["test", None],
    "classifier": ["svm", None],
    "probabilities": ["sum"],
    "scaling": ["minmax"],
    "class_weight": ["balance", True],
    "units": ["standardised", None],
    "normaliser": ["max"],
    "report": ["raw", None],
    "prune_below": [-0.1, np.nan, "x", True, None],
    "n_train": [0, 1.5, True, "half"],
    "n_test": [0, -5, "half"],
    "batch_size": [1, 2.5, None],
    "model": ["trees", None, 3],
    "informativeness": ["uniform", None],
    "codes_std": [None, STD[:5], STD[:, :2], changed(STD, 3, 1, -0.1), changed(STD, 3, 1, np.nan), STD.astype(str), 3],
    "norm": [0.5, 0, np.nan, "l2", True, None],
    "codes_of_interest": [[9], ["nope"], [0, 0], [], [0.0], [True], 1.5],
    "factors_of_interest": [[9], ["nope"], [0, 0], [0.5], [0, 1, 2]],
    "nuisance": [[9], ["nope"], [0, 0], [], [False]],
    "domain": [[9], ["nope"], [0, 0], []],
    "metrics": ["mgi", ["mig", "saap"], [], 5, [5], {"mig"}, [None], "dci", "information"],
    "protocol": ["latex", "robbust", None, 3],
    "options": [
        *({"mgi": {}}, {"mig": 3}, {"mig": {"binz": 3}}, {"mig": {"bins": 1}}, {"information": {"binz": 3}}, 5),
        *({"irs": {"quantile": 2}}, [("mig", {})], {"dci_forest": {"n_trees": 0}}, {"dci_boosting": {"n_tres": 3}}),
        *({"sap": {"seed": 3}}, {"information": {"bins": 0}}, {"dci": {}}, {"dci_lasso": {"n_trees": 3}}),
        *(
            {"dci_boosting": {"max_depth": 0}},
            {"dci_boosting": {"learning_rate": -1}},
            {"dci_boosting": {"max_bins": 1}},
        ),
    ],
    "name": [None, 3],
    "sample": [3, 2.5, None, "all"],
    "progress": ["yes"],
    "binz": [3],
    "factor_bins": [1, "x", -2],
    "screen": [1, 2.5, "all"],
    "n_rows": [10, 2.5],
    "top": [0, "x"],
    "code_names": [["a"], ["a", "a", "b", "c"], 3],
    "frame": [3, "frame"],
    "bound": [3, 2.5, "x"],
    "outside": ["ignore"],
    "stream": [1.5, True],
}

_RUN = ("seed", "repeats", "bootstrap", "level", "chance", "missing", "kinds", "n_jobs")


def _accumulate(codes: object, factors: object, metrics: Any = ("mig", "sap"), **keywords: Any) -> Any:
    return demele.Accumulator(metrics, **keywords).update(codes, factors).compute()


def _frame(codes: object, factors: object, **keywords: Any) -> Any:
    return demele.Frame.of(codes, factors, **keywords).to_dict()


def _framed(codes: object, factors: object, **keywords: Any) -> Any:
    frame = demele.Frame.fixed(
        dict.fromkeys(["z1", "z2", "z3", "z4"], (-1, 4)), {"v1": (0, 1), "v2": [0, 1, 2], "v3": (0, 1)}
    )
    return demele.Accumulator("mig", frame=frame, **keywords).update(codes, factors).compute()


def doors() -> dict[str, tuple[Callable[..., Any], set[str]]]:
    """Return every public call of codes and factors, and its keywords."""
    found: dict[str, tuple[Callable[..., Any], set[str]]] = {}
    for name in OPTIONS:
        function = getattr(demele, name)
        found[name] = function, _keywords(function)
    shift = demele.domain_shift_robustness
    found["domain_shift_robustness"] = (
        lambda codes, factors, **own: shift(codes, factors, **{"domain": [0], **own}),
        {"domain", "codes_of_interest", "norm", "bins", "missing", "kinds", "seed", "binz"},
    )
    found["rmig"] = (
        lambda codes, factors, **own: demele.rmig(codes, own.pop("codes_std", STD), factors, **own),
        _keywords(demele.rmig) | {"codes_std"},
    )
    found["evaluate"] = (
        lambda codes, factors, **own: demele.evaluate(codes, factors, **{"metrics": ["mig", "irs", "sap"], **own}),
        _keywords(demele.evaluate) | {"metrics"},
    )
    found["evaluate_sparse"] = (
        lambda codes, factors, **own: demele.evaluate_sparse(
            sparse.csr_array(codes)
            if isinstance(codes, np.ndarray) and codes.dtype == float and codes.ndim == 2
            else codes,
            factors,
            **own,
        ),
        _keywords(demele.evaluate_sparse) | {"metrics"},
    )
    found["Accumulator"] = _accumulate, _keywords(demele.Accumulator) | {"metrics"}
    found["Accumulator with a frame"] = _framed, {"bins", "outside", "stream", "kinds", "reg_dim"}
    found["Frame.of"] = _frame, _keywords(demele.Frame.of)
    return found


def _keywords(function: Any) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    run = _RUN if any(one.kind is one.VAR_KEYWORD for one in parameters) else ()
    return {one.name for one in parameters if one.kind is one.KEYWORD_ONLY} | set(run) | {"binz"}


#: These go through the door like all others, so a few of the bad values show it.
_FEW = ("codes NaN", "lengths", "factors NaN", "factors constant", "one factor", "one code", "two rows")


@group("doors", file="doors")
def bad_data() -> Iterator[Case]:
    whole = ("mig", "sap", "irs", "evaluate", "evaluate_sparse", "Accumulator", "Accumulator with a frame", "Frame.of")
    whole += ("interventional_robustness",)
    slow = ("explicitness", "dci", "z_diff", "z_min_variance", "z_max_variance")
    for name, (call, _) in doors().items():
        for what, (codes, factors) in BAD_DATA.items():
            if name in whole or what in _FEW:
                if name in slow and what in ("two rows", "one code"):
                    continue
                yield f"{name}/{what}", lambda call=call, codes=codes, factors=factors: call(codes, factors)
    for name in ("mig", "irs", "evaluate"):
        call, _ = doors()[name]
        for number, std in enumerate(BAD_KEYWORDS["codes_std"][1:]):
            if name == "evaluate":
                yield (
                    f"rmig in evaluate/{number}",
                    lambda std=std: demele.evaluate(CODES, FACTORS, ["rmig"], codes_std=std),
                )
        words = pd.DataFrame({"shape": ["a", "b"] * (N // 2), "size": FACTORS[:, 0]})
        yield (
            f"{name}/words as continuous",
            lambda call=call, words=words: call(CODES, words, kinds={"shape": "continuous"}),
        )
    other = demele.Accumulator("mig").update(CODES, FACTORS)
    yield "merge/other", lambda: other.merge(demele.Accumulator("sap"))
    yield "merge/options", lambda: other.merge(demele.Accumulator("mig", bins=3))
    yield "merge/columns", lambda: other.merge(demele.Accumulator("mig", stream=1).update(TABLE, FACTORS))
    yield "merge/what", lambda: other.merge(3)  # type: ignore[arg-type]
    yield "no rows yet", lambda: demele.Accumulator("mig").compute()
    yield "function of one's own", lambda: demele.Accumulator([len])  # type: ignore[list-item]
    yield "describe", lambda: demele.describe("mgi")
    yield "scan/no folder", lambda: demele.scan_parquet("nowhere")


@group("keywords", file="doors")
def bad_keywords() -> Iterator[Case]:
    for name, (call, known) in doors().items():
        for keyword, values in BAD_KEYWORDS.items():
            # a few keywords of every call, all of those that are its own
            shared = keyword in _RUN and name not in (
                "mig",
                "sap",
                "evaluate",
                "interventional_robustness",
                "Accumulator",
            )
            for number, value in enumerate(values[:1] if shared else values):
                if keyword in known:
                    yield (
                        f"{name}/{keyword}/{number}",
                        lambda call=call, keyword=keyword, value=value: call(CODES, FACTORS, **{keyword: value}),
                    )
