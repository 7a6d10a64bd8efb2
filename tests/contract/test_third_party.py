"""Metrics of others are first class: registered, of an installed package, of a file, or a plain function."""

import json
import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import signature
from pathlib import Path
from types import FunctionType
from typing import Any, Unpack

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from numpy.typing import NDArray

import demele
from demele import bench
from demele.cli.main import main
from demele.core.errors import DemeleWarning, InputError, InputTypeError, UnknownNameError
from demele.core.kinds import Count, Positive
from demele.estimation.information import InformationTable
from demele.metrics import catalogue
from demele.metrics.data import Data, Moments
from demele.metrics.metric import MATRIX
from demele.metrics.options import BinOptions, RunOptions
from tests.refusals import refuses
from tests.tolerances import assert_exact

Array = NDArray[np.float64]
DECIDED = demele.metrics.Guards(outliers="move it", bins=False, fewest_rows=50)

_RNG = np.random.default_rng(0)
FACTORS = _RNG.random((120, 2))
CODES = FACTORS @ _RNG.random((2, 3)) + 0.2 * _RNG.random((120, 3))


def mean_correlation(codes: Array, factors: Array, *, power: Count = 1) -> demele.metrics.Native:
    """Largest absolute correlation of each factor with a code, to a power: the mean, and each."""
    d = codes.shape[1]
    correlation = np.abs(np.corrcoef(codes, factors, rowvar=False)[:d, d:]) ** power
    best = correlation.max(axis=0)
    return demele.metrics.Native(
        value=best.mean(), per_factor=best, matrix=correlation, matrix_of="absolute correlation"
    )


def some_rows(codes: Array, factors: Array, *, rng: np.random.Generator, share: Positive = 0.5) -> float:
    """The same on some rows, drawn anew in each call."""
    rows = rng.permutation(len(codes))[: int(share * len(codes))]
    return float(mean_correlation(codes[rows], factors[rows]).value)


@demele.metrics.Metric(guards=DECIDED)
def least_information(table: InformationTable, **options: Unpack[BinOptions]) -> demele.metrics.Native:
    """The smallest information of a code on a factor."""
    value = table.information.min(axis=(-2, -1))
    return demele.metrics.Native(value=value, matrix=table.information, matrix_of=MATRIX)


@demele.metrics.Metric(guards=DECIDED)
def largest_square(state: Moments | Data, **run: Unpack[RunOptions]) -> demele.metrics.Native:
    """The largest squared correlation of a code and a factor."""
    if isinstance(state, Data):
        codes, factors = state.arrays()
        matrix = np.corrcoef(codes, factors, rowvar=False)[: codes.shape[1], codes.shape[1] :] ** 2
    else:
        matrix = state.squared_correlations()
    return demele.metrics.Native(value=np.asarray(matrix.max()), matrix=matrix)


def metric(name: str, call: Callable[..., Any] = mean_correlation, **more: Any) -> demele.metrics.Metric:
    return demele.metrics.Metric(name, call, guards=more.pop("guards", DECIDED), **more)


@pytest.fixture(autouse=True)
def _nothing_stays_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue.CATALOGUE, "_others", dict(catalogue.CATALOGUE._others))
    monkeypatch.setattr(catalogue.CATALOGUE, "_entry_points_read", catalogue.CATALOGUE._entry_points_read)


@pytest.fixture
def registered() -> demele.metrics.Metric:
    return demele.register_metric(metric("own_correlation", native="per factor", range=(0.0, 1.0), aliases=("OC",)))


# Evaluating ---------------------------------------------------------------------------------------------------------


def test_a_registered_metric_has_what_ours_have(registered: demele.metrics.Metric) -> None:
    found = demele.evaluate(
        CODES, FACTORS, ["OC", "mig"], n_bootstrap=8, n_permutations=6, options={"own_correlation": {"power": 2}}
    )
    score = found["own_correlation"]
    expected = mean_correlation(CODES, FACTORS, power=2)
    assert_exact(score.value, float(expected.value))
    assert expected.per_factor is not None
    assert expected.matrix is not None
    assert score.native_unit == "per factor"
    assert score.per_factor is not None
    assert_exact(list(score.per_factor), list(expected.per_factor))
    assert score.matrix.shape == (3, 2)
    assert score.interval.low <= score.value <= score.interval.high
    assert score.native_intervals is not None
    assert len(score.native_intervals) == 2
    assert score.chance.mean < score.value
    assert "own_correlation" in demele.list_metrics()
    assert demele.metrics.describe("OC") is registered
    json.dumps(found.to_dict())


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"own_correlation": {"powr": 2}}, UnknownNameError, "no option 'powr'.*'power'"),
        ({"own_correlation": {"power": 0}}, InputError, "power: expected a whole number >= 1, got 0"),
        ({"own_correlation": {"power": "2"}}, InputTypeError, "power: expected a whole number >= 1, got '2'"),
        ({"own_corelation": {"power": 2}}, UnknownNameError, "'own_correlation'"),
    ],
)
def test_wrong_options_are_refused_with_a_suggestion(
    registered: demele.metrics.Metric, options: Any, error: type[Exception], told: str
) -> None:
    refuses(error, told, demele.evaluate, CODES, FACTORS, ["own_correlation"], options=options)


def test_a_metric_that_is_not_registered_takes_options_by_its_name() -> None:
    own = metric("unregistered")
    found = demele.evaluate(CODES, FACTORS, [own], options={"unregistered": {"power": 3}})
    assert_exact(found["unregistered"].value, float(mean_correlation(CODES, FACTORS, power=3).value))


# Random numbers -----------------------------------------------------------------------------------------------------


def test_a_function_that_takes_rng_is_given_numbers_of_its_own() -> None:
    own = demele.register_metric(metric("of_some_rows", some_rows))
    assert own.stochastic
    assert own.options == ("share",)

    def value(**more: Any) -> float:
        return float(
            demele.evaluate(CODES, FACTORS, more.pop("metrics", ["of_some_rows"]), **more)["of_some_rows"].value
        )

    assert_exact(value(), value(metrics=["mig", "of_some_rows", "irs"]))
    assert value() != value(seed=1)
    repeated = demele.evaluate(CODES, FACTORS, ["of_some_rows"], n_repeats=3)["of_some_rows"]
    assert len(set(repeated.spread.values)) == 3
    assert_exact(repeated.spread.values[0], value())


# Registering --------------------------------------------------------------------------------------------------------


def _unchecked(codes: Array, factors: Array, *, temperature: float = 1.0) -> float:
    return temperature


def _missing_default(codes: Array, factors: Array, *, power: Count) -> float:
    return power


def _three(codes: Array, factors: Array, third: Array) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (metric("b", probe=("penality", (1,))), "b: probe varies 'penality', which is no option"),
        (metric("b", _unchecked), "option 'temperature' of _unchecked has no check; annotate it with Count"),
        (metric("b", _missing_default), "option 'power' of _missing_default has no default"),
        (
            metric("b", _three),
            r"b: _three cannot be called with \(codes, factors\): missing a required argument: 'third'",
        ),
        (metric("mig"), "'mig' is a name of"),
        (metric("b", aliases=("MIG",)), "'MIG' is a name of"),
        (mean_correlation, "guards are not declared"),
    ],
)
def test_what_would_fail_at_the_call_is_refused_at_registration(wrong: Any, told: str) -> None:
    refuses((InputError, InputTypeError), told, demele.register_metric, wrong)
    assert "b" not in demele.list_metrics()


# Signatures ---------------------------------------------------------------------------------------------------------


def _recoded(call: Any, old: float, new: float) -> Any:
    """Return a function of the same name with another constant."""
    code = call.__code__
    made = FunctionType(code.replace(co_consts=tuple(new if one == old else one for one in code.co_consts)), globals())
    made.__kwdefaults__, made.__annotations__ = call.__kwdefaults__, call.__annotations__
    return made


def half(codes: Array, factors: Array, *, power: Count = 1) -> float:
    return float(0.5**power)


def test_a_signature_holds_the_code_and_makes_the_number_again() -> None:
    demele.register_metric(metric("halved", half))
    score = demele.evaluate(CODES, FACTORS, ["halved"], options={"halved": {"power": 2}}, n_permutations=3)["halved"]
    minor = f"py{sys.version_info.major}.{sys.version_info.minor}"
    assert re.fullmatch(rf"[0-9a-f]{{12}}/{minor}", score.signature.context["code"])
    assert "from" not in score.signature.context
    again = demele.replay(str(score.signature), CODES, FACTORS)
    assert_exact(again.value, score.value)
    assert str(again.signature) == str(score.signature)


def test_a_plain_function_is_signed_as_the_metric_made_of_it() -> None:
    plain = demele.evaluate(CODES, FACTORS, half)["half"].signature
    refuses(UnknownNameError, "unknown metric 'half'; it was a", lambda: demele.replay(str(plain), CODES, FACTORS))
    demele.register_metric(metric("half", half))
    assert_exact(demele.replay(str(plain), CODES, FACTORS).value, 0.5)
    assert "code" not in demele.evaluate(CODES, FACTORS, "mig")["mig"].signature.context


def test_other_code_is_refused_naming_both() -> None:
    old, new = metric("halved", half), metric("halved", _recoded(half, 0.5, 0.25))
    demele.register_metric(old)
    signature = str(demele.evaluate(CODES, FACTORS, ["halved"])["halved"].signature)
    catalogue.CATALOGUE._others.clear()
    demele.register_metric(new)
    with pytest.raises(InputError) as told:
        demele.replay(signature, CODES, FACTORS)
    assert old.code in str(told.value)
    assert new.code in str(told.value)
    assert "register the function that made it" in str(told.value)


# Packages -----------------------------------------------------------------------------------------------------------

_PACKAGE = """
import numpy as np
import demele
from demele.core.kinds import Count


def paired(codes, factors, *, power: Count = 1):
    d = codes.shape[1]
    found = np.abs(np.corrcoef(codes, factors, rowvar=False)[:d, d:]) ** power
    return demele.metrics.Native(value=found.max(axis=0).mean(), per_factor=found.max(axis=0))


METRIC = demele.metrics.Metric(
    "paired", paired, native="per factor", range=(0.0, 1.0), source="a test",
    guards=demele.metrics.Guards(outliers="move it", bins=False, fewest_rows=50),
)
"""


def _installed(folder: Path, version: str = "1.2") -> Path:
    (folder / "third_party_paired.py").write_text(_PACKAGE)
    about = folder / f"third_party_paired-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: third-party-paired\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(
        "[demele.metrics]\npaired = third_party_paired:METRIC\nbroken = third_party_paired:MISSING\n"
    )
    return folder


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(_installed(tmp_path)))
    get_reusable_executor().shutdown(wait=True)  # processes that run already do not know of the folder
    catalogue.CATALOGUE._entry_points_read = False
    yield tmp_path
    sys.modules.pop("third_party_paired", None)


@pytest.mark.filterwarnings("ignore:the metric 'broken'")
def test_a_package_brings_a_metric_by_its_entry_point(installed: Path) -> None:
    one, two = (
        demele.evaluate(
            CODES, FACTORS, ["paired"], options={"paired": {"power": 2}}, n_bootstrap=4, n_permutations=3, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    assert [replace(score, seconds=0.0).to_dict() for score in one] == [
        replace(score, seconds=0.0).to_dict() for score in two
    ]
    score = one["paired"]
    assert_exact(score.value, float(mean_correlation(CODES, FACTORS, power=2).value))
    assert score.signature.context["from"] == "third-party-paired-1.2"
    assert_exact(demele.replay(str(score.signature), CODES, FACTORS).value, score.value)
    newer = str(score.signature).replace("paired-1.2", "paired-1.1")
    with pytest.warns(DemeleWarning, match=r"made by third-party-paired-1\.1, replayed by third-party-paired-1\.2"):
        demele.replay(newer, CODES, FACTORS)
    assert demele.metrics.describe("paired").package == "third-party-paired-1.2"


def test_one_that_cannot_be_loaded_is_a_warning_that_names_package_and_error(installed: Path) -> None:
    with pytest.warns(
        DemeleWarning, match=r"the metric 'broken' of third-party-paired-1\.2 could not be loaded: Attrib"
    ):
        names = demele.list_metrics()
    assert names[-1] == "paired"
    assert "mig" in names


# Batches ------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
@pytest.mark.parametrize("way", ["rows", "table", "moments"])
def test_an_accumulator_takes_it_as_one_of_ours(way: str) -> None:
    kinds = {
        "rows": metric("batched"),
        "table": replace(least_information.metric, name="batched"),
        "moments": replace(largest_square.metric, name="batched"),
    }
    demele.register_metric(kinds[way])
    frame = demele.bins.BinEdges.of(CODES, FACTORS)
    parts = [
        demele.Accumulator("batched", frame=frame, stream=index).update(CODES[rows], FACTORS[rows])
        for index, rows in enumerate((slice(0, 50), slice(50, 120)))
    ]
    merged = parts[1].merge(parts[0])
    found = demele.Accumulator.from_bytes(merged.to_bytes()).compute()
    expected = demele.evaluate(CODES, FACTORS, ["batched"])["batched"].value
    if way == "table":
        assert_exact(found.value, expected)
    else:
        assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.n == 120
    assert "code" in found.signature.context
    counted = {"rows": "counted: nothing, 120 rows kept", "table": "counted: batched", "moments": "summed: batched"}
    assert counted[way] in repr(merged)


def test_a_function_of_your_own_is_registered_first() -> None:
    refuses(InputTypeError, "of a function of your own make a Metric", demele.Accumulator, half)


# Files and the command line -----------------------------------------------------------------------------------------

_FILE = """
import numpy as np
import demele
import beside
from demele.core.kinds import Count


def f(codes, factors, rng):
    print("for a person")
    return beside.half() + 1e-3 * float(rng.random())


def correlation(codes, factors, *, power: Count = 1):
    print("for a person")
    d = codes.shape[1]
    found = np.abs(np.corrcoef(codes, factors, rowvar=False)[:d, d:]) ** power
    return demele.metrics.Native(value=found.max(axis=0).mean(), per_factor=found.max(axis=0))


METRIC = demele.metrics.Metric(
    "of_a_file", correlation, family="correlation", definition="a definition to be read",
    guards=demele.metrics.Guards(outliers="move it", bins=False, fewest_rows=50),
)
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(_FILE)
    (tmp_path / "beside.py").write_text("def half():\n    return 0.5\n")
    for name, values in (("codes", CODES), ("factors", FACTORS)):
        header = ",".join(f"{name[0]}{column}" for column in range(values.shape[1]))
        np.savetxt(tmp_path / f"{name}.csv", values, delimiter=",", header=header, comments="")
    return tmp_path


def test_score_takes_functions_and_metrics_of_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for jobs in ("1", "2"):
        metrics = f"{files}/mine.py::f,mig,{files}/mine.py::METRIC"
        page = files / f"page{jobs}.html"
        asked = ["--metrics", metrics, "--jobs", jobs, "--bootstrap", "4", "--permutations", "3", "--format", "json"]
        code = main(["score", f"{files}/codes.csv", f"{files}/factors.csv", *asked, "-o", str(page), "--quiet"])
        assert code == 0
        result = json.loads(capsys.readouterr().out)  # what the functions print is not among the results
        for score in result["scores"]:
            score.pop("seconds")
        found.append(result)
        assert "a definition to be read" in page.read_text()
    assert found[0] == found[1]
    scores = {score["metric"]: score for score in found[0]["scores"]}
    assert list(scores) == ["f", "mig", "of_a_file"]
    assert 0.5 < scores["f"]["value"] < 0.501
    assert re.search(r"code=\w+/py3\.\d+, from=mine\.py-[0-9a-f]{12}", scores["f"]["signature"])
    assert scores["of_a_file"]["value"] == pytest.approx(float(mean_correlation(CODES, FACTORS).value), rel=1e-6)


# Bench --------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_the_bench_measures_it_in_other_processes_and_its_page_names_it(tmp_path: Path) -> None:
    own = demele.register_metric(metric("own_correlation", properties=("explicitness",), title="Own correlation"))
    scenarios = ["noise"] if "noise" in bench.scenario_names() else bench.scenario_names()[:1]
    found = [
        bench.check_metrics(["own_correlation"], scenarios, n_rows=200, seeds=2, n_jobs=n_jobs) for n_jobs in (1, 2)
    ]
    first, second = (item.to_dict()["curves"] for item in found)
    assert json.dumps(first) == json.dumps(second)
    page = tmp_path / "page.html"
    found[0].to_html(page)
    assert "Own correlation" in page.read_text()
    (candidate,) = found[0].candidates
    assert candidate.key == f"own_correlation@{own.code.partition('/')[0]}"
    assert candidate.claims == ("explicitness",)


def test_a_state_that_a_source_lacks_is_a_reason() -> None:
    own = replace(largest_square.metric, states=("extremes",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refuses(demele.errors.NotEnoughData, "largest_square needs extremes", demele.evaluate, CODES, FACTORS, [own])


def test_a_decorated_formula_of_your_own_is_a_function_with_its_signature() -> None:
    assert str(signature(least_information)).startswith("(codes: object, factors: object, *, bins: ")
    expected = demele.evaluate(CODES, FACTORS, [least_information.metric], options={"least_information": {"bins": 4}})
    assert_exact(least_information(CODES, FACTORS, bins=4).value, expected["least_information"].value)
    for one in (least_information, least_information.formula):
        assert pickle.loads(pickle.dumps(one)) is one
    refuses(InputTypeError, "annotate the first parameter of", lambda: demele.metrics.Metric(guards=DECIDED)(nothing))


def nothing(rows: int) -> demele.metrics.Native:
    return demele.metrics.Native(value=np.asarray(rows))


def test_another_python_is_a_warning_since_code_cannot_be_compared() -> None:
    demele.register_metric(metric("halved", half))
    signature = str(demele.evaluate(CODES, FACTORS, ["halved"])["halved"].signature)
    other = re.sub(r"code=\w+/py3\.\d+", "code=0123456789ab/py3.99", signature)
    with pytest.warns(DemeleWarning, match="made under py3.99, replayed under py3"):
        assert_exact(demele.replay(other, CODES, FACTORS).value, 0.5)


def test_code_of_others_is_not_ours() -> None:
    signature = str(demele.evaluate(CODES, FACTORS, "mig")["mig"].signature)
    with pytest.raises(InputError, match=r"made by mig of code 0123456789ab/py3\.11.*here is of demele"):
        demele.replay(f"{signature}, code=0123456789ab/py3.11", CODES, FACTORS)
