"""Whatever cannot be scored is refused by every public function, with the argument, the column and the row.

Each bad value goes once through the door. That every function has this door, for each of its arguments, is shown by a
few probes per function.
"""

import inspect
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import demele
from demele.metrics.options import RunOptions
from tests.contract.cases import public_functions
from tests.refusals import refuses

FUNCTIONS = public_functions()
N = 40
RNG = np.random.default_rng(0)
#: Good codes (z1 to z4) and factors: v1 continuous, v2 of three classes, v3 continuous.
FACTORS = np.column_stack([RNG.random(N), RNG.integers(0, 3, N), RNG.random(N)])
CODES = np.column_stack([FACTORS + 0.1 * RNG.standard_normal((N, 3)), RNG.random(N)])
TABLE = pd.DataFrame(CODES, columns=["length", "width", "height", "noise"])


def with_value(table: Any, row: int, column: int, value: Any) -> Any:
    """Return a copy with one entry changed; as objects where the entry is no number."""
    is_number = isinstance(value, float | int | complex)
    copy = table.astype(np.result_type(np.float64, type(value)) if is_number else object)
    if isinstance(copy, pd.DataFrame):
        copy.iloc[row, column] = value
    else:
        copy[row, column] = value
    return copy


def column_of(values: list[Any]) -> Any:
    """Return a column of objects, whatever they are."""
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


class Tensor:
    """What the library knows of a PyTorch tensor."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return self

    def numpy(self) -> Any:
        return self.array


DATES = np.full((N, 2), "2020-01-01", dtype="datetime64[D]")
ZONED = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=N, tz="UTC")})
RECORDS = np.zeros(N, dtype=[("a", float), ("b", float)])
HUGE = np.where(np.arange(N)[:, None] % 2, 1.7e308, -1.7e308)

#: Name: codes, factors, parts of the message (the first names the argument).
BAD_DATA: dict[str, tuple[Any, Any, list[str]]] = {
    "codes: NaN": (with_value(CODES, 7, 2, np.nan), FACTORS, ["codes: 1 non-finite", "'z3'", "row 7"]),
    "codes: inf": (with_value(CODES, 0, 3, np.inf), FACTORS, ["codes: 1 non-finite", "'z4'", "row 0"]),
    "codes: two columns": (
        with_value(with_value(CODES, 9, 1, -np.inf), 3, 2, np.nan),
        FACTORS,
        ["codes: 1 non-finite", "'z2'", "'z3'", "row 9"],
    ),
    "codes: NaN in a frame": (with_value(TABLE, 12, 1, np.nan), FACTORS, ["codes: 1 non-finite", "'width'", "row 12"]),
    "codes: NaN in float32": (
        with_value(CODES, 39, 0, np.nan).astype(np.float32),
        FACTORS,
        ["codes: 1 non-finite", "'z1'", "row 39"],
    ),
    "codes: masked": (
        np.ma.masked_array(CODES, mask=CODES[5, 1] == CODES),
        FACTORS,
        ["codes: 1 non-finite", "'z2'", "row 5"],
    ),
    "codes: None": (with_value(CODES, 4, 1, None), FACTORS, ["codes: 1 non-finite", "'z2'", "row 4"]),
    "codes: NaN in a sparse matrix": (
        sparse.csr_matrix(with_value(CODES, 6, 0, np.nan)),
        FACTORS,
        ["codes: 1 non-finite", "'z1'", "row 6"],
    ),
    "codes: an integer beyond floats": (column_of([10**400] * N), FACTORS, ["codes: 40 non-finite", "'z1'", "row 0"]),
    "codes: range beyond floats": (np.hstack([CODES, HUGE]), FACTORS, ["codes: ", "'z5'", "rescale"]),
    "codes: a string": (with_value(CODES, 4, 1, "x"), FACTORS, ["codes: ", "'z2'", "'x'", "row 4"]),
    "codes: strings": (CODES.astype(str), FACTORS, ["codes: ", "'z1'", "strings", "row 0"]),
    "codes: strings in a frame": (TABLE.assign(width="a"), FACTORS, ["codes: ", "'width'", "'a'", "row 0"]),
    "codes: bytes": (CODES.astype("S4"), FACTORS, ["codes: ", "'z1'", "bytes"]),
    "codes: time spans": (DATES - DATES[0], FACTORS, ["codes: ", "'z1'", "time spans"]),
    "codes: junk": (with_value(CODES, 2, 0, {"a": 1}), FACTORS, ["codes: ", "'z1'", "row 2"]),
    "codes: one dimension": (CODES[:, 0], FACTORS, ["codes: ", "2 dimensions", "(40,)", "reshape"]),
    "codes: four dimensions": (CODES[:, :, None, None], FACTORS, ["codes: ", "2 dimensions", "(40, 4, 1, 1)"]),
    "codes: no dimension": (np.float64(3), FACTORS, ["codes: ", "2 dimensions"]),
    "codes: a row that is a number": ([[1.0, 2.0], 3.0], FACTORS, ["codes: ", "equal length", "row 1"]),
    "codes: ragged arrays": ([np.ones(2), np.ones(3)], FACTORS, ["codes: "]),
    "codes: ragged tensors": ([Tensor(np.ones(2)), Tensor(np.ones(3))], FACTORS, ["codes: ", "row 1"]),
    "codes: empty list": ([], FACTORS, ["codes: "]),
    "codes: no rows": (CODES[:0], FACTORS, ["codes: ", "rows"]),
    "codes: no rows of strings": (np.empty((0, 2), dtype=str), FACTORS, ["codes: ", "rows"]),
    "codes: a frame without columns": (pd.DataFrame(index=range(N)), FACTORS, ["codes: ", "column"]),
    "codes: names alike": (TABLE.set_axis([1, "1", 2, 3], axis=1), FACTORS, ["codes: ", "distinct", "'1'"]),
    "codes: records": (RECORDS, FACTORS, ["codes: "]),
    "codes: a number": (3.0, FACTORS, ["codes: ", "float"]),
    "codes: a path": ("codes.csv", FACTORS, ["codes: ", "load"]),
    "codes: a generator": (iter(CODES), FACTORS, ["codes: "]),
    "codes: a set": ({1.0, 2.0}, FACTORS, ["codes: ", "set"]),
    "lengths differ": (CODES, FACTORS[:-1], ["codes and factors: ", "40 rows of codes", "39 rows of factors"]),
    "one row": (CODES[:1], FACTORS[:1], ["codes: ", "2 rows", "got 1"]),
    "factors: NaN": (CODES, with_value(FACTORS, 11, 0, np.nan), ["factors: 1 missing", "'v1'", "row 11", "omit"]),
    "factors: None": (CODES, with_value(FACTORS, 5, 1, None), ["factors: 1 missing", "'v2'", "row 5", "omit"]),
    "factors: missing words": (
        CODES,
        pd.DataFrame({"shape": ["a", "b", None, "c"] * 10, "size": FACTORS[:, 0]}),
        ["factors: 10 missing", "'shape'", "row 2"],
    ),
    "factors: missing integers": (
        CODES,
        pd.DataFrame({"shape": pd.array([1, 2, 3, None] * 10, dtype="Int64")}),
        ["factors: 10 missing", "'shape'", "row 3"],
    ),
    "factors: inf": (CODES, with_value(FACTORS, 8, 2, np.inf), ["factors: 1 infinite", "'v3'", "row 8"]),
    "factors: range beyond floats": (CODES, with_value(HUGE, 0, 0, 0.5), ["factors: ", "'v1'", "rescale"]),
    "factors: junk": (CODES, column_of([1, "a", {"b": 2}, None] * 10), ["factors: ", "'v1'"]),
    "factors: three dimensions": (CODES, FACTORS[:, :, None], ["factors: ", "2 dimensions", "(40, 3, 1)"]),
    "factors: a number": (CODES, 2, ["factors: ", "int"]),
    "factors: empty list": (CODES, [], ["factors: ", "rows"]),
    "factors: all constant": (CODES, np.ones((N, 2)) * [1, 2], ["factors: ", "constant", "'v1', 'v2'"]),
    "factors: a column without annotation": (
        CODES,
        with_value(FACTORS, slice(None), 1, np.nan),  # type: ignore[arg-type]
        ["factors: ", "'v2'", "no annotated row"],
    ),
}

#: What is refused in either argument: a table, and parts of the message; {} is the first letter of its columns.
OF_BOTH: dict[str, tuple[Any, list[str]]] = {
    "complex": (CODES + 1j, ["'{}1'", "complex"]),
    "dates": (DATES, ["'{}1'", "dates"]),
    "dates with a zone": (ZONED, ["'when'", "dates"]),
    "lists in cells": (column_of([[1], [2, 3]] * 20), ["'{}1'"]),
    "ragged": ([[1.0, 2.0], [3.0], [4.0, 5.0]], ["equal length", "row 1"]),
    "no columns": (CODES[:, :0], ["column"]),
    "names twice": (TABLE.set_axis(["a", "b", "a", "c"], axis=1), ["distinct", "'a'"]),
    "None for all": (None, ["None"]),
    "a dict": ({"a": [1, 2]}, ["dict"]),
}
for _name, (_table, _parts) in OF_BOTH.items():
    BAD_DATA[f"codes: {_name}"] = (_table, FACTORS, ["codes: ", *(part.format("z") for part in _parts)])
    BAD_DATA[f"factors: {_name}"] = (CODES, _table, ["factors: ", *(part.format("v") for part in _parts)])


def refused(function: str, codes: object, factors: object, **keywords: Any) -> str:
    """Return the message of the error that a function must raise."""
    with pytest.raises(demele.DemeleError) as caught:
        FUNCTIONS[function](codes, factors, **keywords)
    assert isinstance(caught.value, ValueError | TypeError)
    return str(caught.value)


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_is_refused(name: str) -> None:
    codes, factors, parts = BAD_DATA[name]
    message = refused("mig", codes, factors)
    assert message.startswith(parts[0])
    for part in parts[1:]:
        assert part in message


#: One of each: what is read of the codes, of the factors, of both together, and of what is left.
PROBES = (
    "codes: NaN",
    "codes: None for all",
    "factors: NaN",
    "factors: inf",
    "lengths differ",
    "factors: all constant",
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_reads_through_the_same_door(function: str) -> None:
    for name in PROBES:
        codes, factors, parts = BAD_DATA[name]
        message = refused(function, codes, factors)
        assert message.startswith(parts[0]), name
        assert all(part in message for part in parts[1:]), name


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_good_data_is_accepted() -> None:
    # the base of the table, so that every case above has one thing wrong
    for name in ("mig", "rmig", "irs", "sap", "evaluate", "interventional_disentanglement"):
        FUNCTIONS[name](CODES, FACTORS, bins=3) if name not in ("sap",) else FUNCTIONS[name](CODES, FACTORS)


# Keywords ------------------------------------------------------------------------------------------------------------

#: Keyword: values that every function that takes it must refuse.
BAD_KEYWORDS: dict[str, list[Any]] = {
    "gate": [1, 0, "yes", None],
    "centre": ["mode", 1, None],
    "bins": [
        *(1, 0, -3, 2.5, True, "x", "equal-width:1", "adaptive:3", "²", {"a": 1}, 10**7),
        *([], [0.5], [0, 2, 1], [0, np.nan, 1], [0, np.inf], [[0, 1], [1, 2]], ["a", "b"]),
    ],
    "seed": [-1, 1.5, "a", True, None, np.random.default_rng(0)],
    "n_repeats": [0, -1, 1.5, True, "2"],
    "n_bootstrap": [-1, 2.5, "x", True, None],
    "level": [0, 1, 1.5, -0.1, np.nan, "a", True, None],
    "n_permutations": [-1, 0.5, True],
    "missing": ["drop", True, None],
    "kinds": ["numeric", {"nope": "categorical"}, {"v1": 3}, ["continuous"], 5],
    "n_jobs": [0, -2, 1.5, True, "all"],
    "estimator": ["kdn", None, np.array(["knn", "knn"])],
    "correction": ["miller", None, 1],
    "n_neighbors": [0, -1, 2.5],
    "reg_dim": [[0], [0, 1, 2, 3], [0, 1, 4], [0, 1, -1], ["z1", "z2", "z9"], [0.0, 1.0, 2.0], [0, 1, True], "z1", 3],
    "quantile": [0, -0.5, 1.5, np.nan, "max"],
    "weights": ["frequency", None],
    "value_weights": ["deviation", None],
    "penalty": [0, -1, np.nan, np.inf, "l2"],
    "score_on": ["test", None, True],
    "classifier": ["svm", None],
    "probabilities": ["sum", None],
    "scaling": ["minmax", None],
    "class_weight": ["balance", True],
    "units": ["standardised", None],
    "normaliser": ["max", None],
    "report": ["raw", None, True],
    "prune_below": [-0.1, np.nan, np.inf, "x", True, None],
    "n_train": [0, -5, 1.5, True, "half"],
    "n_test": [0, -5, 1.5, True, "half"],
    "batch_size": [1, 0, 2.5, None],
    "model": ["trees", None, 3],
    "informativeness": ["uniform", None],
    "norm": [0.5, 0, np.nan, "l2", True, None],
    "codes_of_interest": [[9], ["nope"], [0, 0], [], [0.0], [True], 1.5],
    "factors_of_interest": [[9], ["nope"], [0, 0], [0.5]],
    "nuisance": [[9], ["nope"], [0, 0], [], [False]],
    "domain": [[9], ["nope"], [0, 0], []],
    "metrics": ["mgi", ["mig", "saap"], [], 5, [5], {"mig"}, [None]],
    "protocol": ["latex", None, 3],
    "options": [
        *({"mgi": {}}, {"mig": 3}, {"mig": {"binz": 3}}, {"mig": {"bins": 1}}, {"information": {"binz": 3}}, 5),
        *({"irs": {"quantile": 2}}, [("mig", {})]),
    ],
}
#: The same of fields of codes and of factors.
BAD_FIELDS: dict[type[demele.Codes | demele.Factors], dict[str, list[Any]]] = {
    demele.Codes: {
        "std": [
            CODES[:5],
            CODES[:, :2],
            with_value(np.abs(CODES), 3, 1, -0.1),
            with_value(np.abs(CODES), 3, 1, np.nan),
            CODES.astype(str),
            3,
        ],
        "groups": [3, 0.5, "ab", {}, ["a"], {"a": []}, {"a": [99]}, {"a": ["no such"]}, {"a": [0], "b": [0]}],
        "reduce": ["pca1", "pca2", 1, True],
        "align": [True, 1, "whiten"],
        "sample": [3, 0, True, 5.5, "all", None],
        "name": [None, 3],
    },
    demele.Factors: {
        "kinds": BAD_KEYWORDS["kinds"],
        "missing": BAD_KEYWORDS["missing"],
        "reg_dim": BAD_KEYWORDS["reg_dim"],
        "noise": [3, "x", {"nobody": 0.1}],
        "noise_method": ["bounds", 3],
        "blocks": [3, "ab", [], [0, 1], [[0]], {"a": 1}],
        "ignore_index": [1, 0, "yes"],
    },
}


DATA = {demele.Codes: CODES, demele.Factors: FACTORS}


def public(name: str) -> Any:
    return getattr(demele if name in demele.__all__ else demele.metrics, name)


def takes(function: str, keyword: str) -> bool:
    parameters = inspect.signature(public(function)).parameters
    if keyword in parameters:
        return True
    if function == "domain_shift_robustness":
        return keyword in ("bins", "seed", "n_bootstrap", "level", "missing", "kinds", "norm")
    takes_run = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return takes_run and keyword in RunOptions.__annotations__


def values_of(function: str, keyword: str) -> list[Any]:
    """Bad values of a keyword; None is the default of several keywords of evaluate."""
    return [value for value in BAD_KEYWORDS[keyword] if not (function == "evaluate" and value is None)]


def assert_refused(function: str, keyword: str, value: Any) -> None:
    message = refused(function, CODES, FACTORS, **{keyword: value})
    # options of evaluate are named by the option that is wrong
    named = [keyword, *("bins", "quantile")] if keyword == "options" else [keyword]
    assert any(message.startswith(f"{word}:") for word in named), message


@pytest.mark.parametrize("keyword", BAD_KEYWORDS)
def test_bad_keyword_is_refused(keyword: str) -> None:
    first = next(function for function in FUNCTIONS if takes(function, keyword))
    for value in values_of(first, keyword):
        assert_refused(first, keyword, value)


def scored_with(function: str, held: type[demele.Codes | demele.Factors], **fields: Any) -> None:
    given = [held(data, **fields) if held is of else data for of, data in DATA.items()]
    FUNCTIONS[function](*given, **({"n_permutations": 2} if "blocks" in fields else {}))


@pytest.mark.parametrize("function", ["mig", "evaluate"])
def test_bad_fields_are_refused(function: str) -> None:
    for held, fields in BAD_FIELDS.items():
        assert [*fields] == [name for name in inspect.signature(held).parameters if name != "values"]
        for field, values in fields.items():
            for value in values:
                refuses(demele.DemeleError, f"^{field}", scored_with, function, held, **{field: value})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_keyword_of_every_function_is_checked(function: str) -> None:
    for keyword in BAD_KEYWORDS:
        if takes(function, keyword):
            values = values_of(function, keyword)
            for value in (values[0], values[-1]):  # most often a number out of range, and what is no number
                assert_refused(function, keyword, value)


def test_every_keyword_of_a_function_has_bad_values() -> None:
    """A keyword that is added and not checked shows here."""
    for name in FUNCTIONS:
        for parameter in inspect.signature(public(name)).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                assert parameter.name in BAD_KEYWORDS, f"{name}: {parameter.name}"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unknown_keyword_is_refused(function: str) -> None:
    has_options = function not in ("evaluate", "interventional_robustness", "interventional_disentanglement")
    refuses(demele.DemeleError if has_options else TypeError, "binz", FUNCTIONS[function], CODES, FACTORS, binz=3)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_words_cannot_be_continuous(function: str) -> None:
    words = pd.DataFrame({"shape": ["a", "b"] * (N // 2), "size": FACTORS[:, 0]})
    message = refused(function, CODES, demele.Factors(words, kinds={"shape": "continuous"}))
    assert message.startswith("factors: ")
    assert "'shape'" in message


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(demele.errors.UnknownNameError, match=re.escape("'robust'")):
        demele.evaluate(CODES, FACTORS, "all", protocol="robbust")
    with pytest.raises(demele.errors.UnknownNameError, match="'width'"):
        demele.metrics.dmig(TABLE, FACTORS, reg_dim=["length", "widht", "height"])
    with pytest.raises(demele.errors.UnknownNameError, match="bins"):
        demele.evaluate(CODES, FACTORS, ["irs"], options={"irs": {"binz": 3}})


@pytest.mark.parametrize("name", ["mig", "irs", "sap"])
def test_nothing_is_computed_before_everything_is_checked(name: str) -> None:
    # an option of a metric that was not asked for is a mistake as well
    refuses(demele.DemeleError, "binz", demele.evaluate, CODES, FACTORS, [name], options={"z_diff": {"binz": 3}})


@pytest.mark.parametrize("function", ["dmig", "xmig", "dlig"])
def test_code_i_for_factor_i_needs_as_many_codes(function: str) -> None:
    message = refused(function, CODES[:, :2], FACTORS)
    assert message.startswith("reg_dim: ")
    assert "at least 3 codes" in message


def test_neighbours_need_more_rows_than_neighbours() -> None:
    assert "n_neighbors" in refused("mig", CODES, FACTORS, estimator="knn", n_neighbors=N)


@pytest.mark.filterwarnings("ignore:fragile.*are few:demele.errors.FragileScoreWarning")
def test_values_outside_given_edges_are_refused_by_column() -> None:
    wide = np.linspace(-1, 3, 9)
    assert np.isfinite(demele.metrics.mig(TABLE, FACTORS, bins=wide.tolist()).value)
    message = refused("mig", TABLE, FACTORS, bins=[0, 0.5, 2])
    assert "'length'" in message
    assert "edges" in message
    message = refused("irs", TABLE, FACTORS, bins=[0.5, 0.6, 2])  # it cuts only factors
    assert "'v1'" in message


@pytest.mark.parametrize(
    "signature",
    ["", "mig", "mig(", "mig(1)", "mig(**x)", "mig(seed=x)", "1 + 1", "mig(bins=EqualWidth(foo=3))", "nope(seed=0)", 5],
)
def test_what_is_no_signature_is_refused(signature: Any) -> None:
    with pytest.raises(demele.DemeleError):
        demele.replay(signature, CODES, FACTORS)
