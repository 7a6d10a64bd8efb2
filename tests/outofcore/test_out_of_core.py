"""Rows read a piece at a time: the bits of memory for what is counted, the same sample however rows are cut."""

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demele
from demele.errors import AmbiguousKindWarning, FormatError, InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.estimation.counts import ColumnBins, EqualWidth, cut
from demele.outofcore import tables
from demele.outofcore.passes import Instructions, counted
from demele.scoring import evaluate as evaluating
from demele.streaming.frame import BinEdges, Column, Rows
from demele.streaming.states import CountState
from tests.given import evaluated
from tests.refusals import refuses
from tests.tolerances import assert_exact


def evaluated_in_pieces(*arguments: Any, **options: Any) -> demele.Evaluation:
    """Evaluate rows in memory as those that are read a piece at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluating, "read_in_pieces", lambda *_: True)
        return demele.evaluate(*arguments, **options)


N = 700
COUNTED = demele.counted_metrics()
CODES = ["z1", "z2", "z3", "z4", "z5"]
FACTORS = ["shape", "size", "turn", "stored"]


def make_rows(n: int = N, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shape = rng.choice(["disc", "square", "star"], n)
    factors = {
        "shape": shape,
        "size": rng.random(n),
        "turn": rng.integers(0, 12, n).astype(np.int16),
        "stored": rng.integers(0, 4, n).astype(np.float32) * 3,
    }
    known = [np.unique(shape, return_inverse=True)[1], factors["size"] * 3, factors["turn"] / 4, factors["stored"] / 3]
    codes = {
        name: (known[index % 4] + rng.normal(size=n) * (0.3 + 0.2 * index)).astype(np.float32)
        for index, name in enumerate(CODES)
    }
    return pd.DataFrame({**codes, **factors})


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return make_rows()


def in_files(rows: pd.DataFrame, folder: Path, cuts: list[int], group: int) -> Path:
    """Write rows to several files, each with row groups."""
    folder.mkdir(exist_ok=True)
    for number, (start, stop) in enumerate(itertools.pairwise([0, *cuts, len(rows)])):
        rows[start:stop].to_parquet(folder / f"part.{number}.parquet", row_group_size=group)
    return folder


def scanned(
    rows: pd.DataFrame,
    folder: Path,
    cuts: list[int],
    group: int,
    codes: list[str] = CODES,
    factors: list[str] = FACTORS,
) -> tuple[Any, Any]:
    """Return codes and factors in files."""
    made = in_files(rows, folder, cuts, group)
    return demele.scan_parquet(made, codes), demele.scan_parquet(made, factors)


def assert_same(found: Any, expected: Any) -> None:
    """Same scores to the bit, with what they hold."""
    assert [score.metric for score in found] == [score.metric for score in expected]
    assert [one.metric for one in found.left_out] == [one.metric for one in expected.left_out]
    assert found.factors == expected.factors
    assert (found.n, found.notes) == (expected.n, expected.notes)
    for mine, theirs in zip(found, expected, strict=True):
        assert_exact(mine.value, theirs.value)
        for name in ("per_factor", "per_code", "matrix"):
            assert (getattr(mine, name) is None) == (getattr(theirs, name) is None)
            if getattr(mine, name) is not None:
                assert_exact(getattr(mine, name), getattr(theirs, name))
        assert mine.n == theirs.n
        assert {note.code for note in mine.notes} == {note.code for note in theirs.notes}


# Same bits ------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_every_metric_of_a_parquet_folder_is_that_of_memory(rows: pd.DataFrame, tmp_path: Path) -> None:
    options: Any = {"options": {"dci_forest": {"n_trees": 5}, "dci_boosting": {"n_trees": 5}}, "seed": 3}
    found = demele.evaluate(*scanned(rows, tmp_path, [100, 101, 430], 90), "all", **options)
    assert_same(found, demele.evaluate(rows[CODES], rows[FACTORS], "all", **options))


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_neither_cuts_nor_workers_change_a_sample(
    rows: pd.DataFrame, tmp_path: Path, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for name, cuts, group, per_span in (("a", [], 1000, 1 << 21), ("b", [13, 500], 50, 100), ("c", [350], 350, 1)):
        monkeypatch.setattr(tables, "ROWS_PER_SPAN", per_span)
        codes, factors = scanned(rows, tmp_path / name, cuts, group)
        given = demele.Codes(codes, sample=200), factors
        found.append(demele.evaluate(*given, ["sap", "z_diff", "mig"], n_jobs=n_jobs, seed=1))
    for other in found[1:]:
        assert_same(other, found[0])
    assert found[0]["sap"].n == 200
    assert found[0]["mig"].n == N
    assert found[0].n == N


def test_a_sample_says_of_how_many_rows_it_is(rows: pd.DataFrame, tmp_path: Path) -> None:
    tables = scanned(rows, tmp_path / "all", [300], 100)
    found = demele.evaluate(demele.Codes(tables[0], sample=500), tables[1], ["sap", "mig"], seed=4)
    assert [note.message for note in found["sap"].notes if note.code == "sampled"] == [
        "of a random sample of 500 of 700 rows (sample=500)"
    ]
    assert not [note for note in found["mig"].notes if note.code == "sampled"]
    whole = demele.evaluate(demele.Codes(tables[0], sample=N), tables[1], ["sap"])
    assert not [note for note in whole["sap"].notes if note.code == "sampled"]
    again = demele.replay(str(found["sap"].signature), *tables)
    assert_exact(again.value, found["sap"].value)
    short = scanned(rows[:690], tmp_path / "short", [], 100)
    refuses(InputError, "made from 700 rows, the data have 690", demele.replay, str(found["sap"].signature), *short)


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
@pytest.mark.parametrize(
    "bins",
    [5, demele.bins.EqualFrequency(6), demele.bins.Adaptive(), demele.bins.Edges((-50.0, 0.0, 1.0, 60.0))],
    ids=repr,
)
def test_bins_are_those_of_memory(rows: pd.DataFrame, tmp_path: Path, bins: Any) -> None:
    tables = scanned(rows, tmp_path, [300], 100)
    expected = demele.evaluate(rows[CODES], rows[FACTORS], COUNTED, bins=bins)
    assert_same(demele.evaluate(*tables, COUNTED, bins=bins), expected)


def test_edges_at_quantiles_of_a_sample(tmp_path: Path) -> None:
    rows = make_rows(4000)
    tables = scanned(rows, tmp_path, [1000], 1000)
    for bins in (demele.bins.EqualFrequency(8), demele.bins.Adaptive()):
        found = demele.evaluate(demele.Codes(tables[0], sample=1000), tables[1], ["mig"], bins=bins, seed=2)["mig"]
        assert found.n == 4000
        assert "the edges of the bins are quantiles of a random sample of 1,000 of 4,000 rows" in [
            note.message for note in found.notes
        ]
        expected = demele.evaluate(rows[CODES], rows[FACTORS], ["mig"], bins=bins)["mig"].value
        assert found.value != expected
        assert abs(found.value - expected) < 0.05  # other edges move a score a little
        assert_exact(demele.replay(found.signature, *tables).value, found.value)


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_missing_annotations(rows: pd.DataFrame, tmp_path: Path) -> None:
    holed = rows.copy()
    holed.loc[holed.index[5:90], "size"] = np.nan
    holed.loc[holed.index[80:200], "shape"] = None
    holed["turn"] = holed["turn"].astype(float).where(holed.index < 650)
    tables = scanned(holed, tmp_path, [90, 400], 50)  # one part has no size at all in its first row groups
    expected = demele.evaluate(holed[CODES], demele.Factors(holed[FACTORS], missing="omit"), [*COUNTED, "irs"])
    found = demele.evaluate(tables[0], demele.Factors(tables[1], missing="omit"), [*COUNTED, "irs"])
    assert_same(found, expected)
    with pytest.raises(InputError) as mine:
        demele.evaluate(*tables, ["mig"])
    with pytest.raises(InputError) as theirs:
        demele.evaluate(holed[CODES], holed[FACTORS], ["mig"])
    assert str(mine.value) == str(theirs.value)


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_mapped_arrays_larger_than_the_limit(
    rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = ["size", "turn", "stored"]
    np.save(tmp_path / "codes.npy", rows[CODES].to_numpy())
    np.save(tmp_path / "factors.npy", rows[numbers].to_numpy(float))
    codes, factors = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("codes", "factors"))
    metrics = [*COUNTED, "sap", "irs"]
    expected = demele.evaluate(codes, factors, metrics)
    monkeypatch.setattr(evaluating, "LARGEST_MAPPED", codes.nbytes)
    monkeypatch.setattr(tables, "ROWS_PER_SPAN", 90)
    monkeypatch.setattr(tables, "ROWS_PER_READ", 40)
    found = demele.evaluate(codes, factors, metrics)
    assert_same(found, expected)
    assert demele.evaluate(demele.Codes(codes, sample=100), factors, ["sap"])["sap"].notes[-1].code == "sampled"
    assert demele.metrics.sap(codes, factors).value == expected["sap"].value
    together, alone = (demele.evaluate(codes, factors, ["mig", "irs"], n_jobs=n_jobs) for n_jobs in (2, 1))
    assert_same(together, alone)


# Kinds ----------------------------------------------------------------------------------------------------------------


COLUMNS: list[tuple[Any, Any]] = [
    (st.integers(-3, 20), np.int32),
    (st.integers(0, 14), np.float64),
    (st.sampled_from([0.0, 1.0, 2.5, np.nan]), np.float64),
    (st.sampled_from(["b", "a", "10", "9"]), object),
    (st.sampled_from(["b", "a", None]), object),
    (st.sampled_from([True, False, None]), object),
    (st.sampled_from(["b", "a", "c"]), pd.CategoricalDtype(["c", "x", "b", "a"])),
]


@settings(max_examples=60)
@given(data=st.data())
def test_kinds_and_levels_are_those_of_all_rows(data: st.DataObject) -> None:
    """Whatever the values, and however rows are cut, columns are read as they are in memory."""
    n = data.draw(st.integers(4, 60))
    items, dtype = data.draw(st.sampled_from(COLUMNS))
    values = pd.Series(data.draw(st.lists(items, min_size=n, max_size=n)), dtype=dtype)
    factors = pd.DataFrame({"v": values, "w": np.arange(n) % 2})
    rng = np.random.default_rng(n)
    codes = rng.random((n, 3))
    size = data.draw(st.integers(1, n))
    given_kind = data.draw(st.sampled_from([None, {"v": "categorical"}]))

    def attempt(way: Any) -> tuple[Any, list[str]]:
        with warnings.catch_warnings(record=True) as caught, pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("always")
            patch.setattr(tables, "ROWS_PER_SPAN", size)
            patch.setattr(tables, "ROWS_PER_READ", max(size // 2, 1))
            try:
                found = way(codes, demele.Factors(factors, missing="omit", kinds=given_kind), ["mig"])
            except (InputError, InputTypeError) as error:
                found = type(error)
        return found, sorted(str(one.message) for one in caught if issubclass(one.category, AmbiguousKindWarning))

    expected, theirs = attempt(demele.evaluate)
    found, mine = attempt(evaluated_in_pieces)
    if isinstance(expected, type):
        assert found is expected
        return
    assert found.factors == expected.factors
    assert_exact(np.asarray(found["mig"].matrix), np.asarray(expected["mig"].matrix))
    assert mine == theirs


@pytest.mark.parametrize(
    "values",
    [
        np.float32(1e30) * np.array([1, -2, 3, 1, -2, 3], np.float32),
        np.array([0, 1, 2, 0, 1, 2], np.uint64) + np.uint64(2**63),
        np.array([1e300, 1e300, 1e300, 1e300, 2e300, 1e300]),
        np.array([2.0**53, 0.0, 2.0**53, 0.0, -(2.0**53), 0.0]),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 6])
def test_whole_numbers_beyond_the_integers_of_a_machine(
    values: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece of a few rows, whose numbers lie close to each other however large they are."""
    monkeypatch.setattr(tables, "ROWS_PER_READ", size)
    codes = np.random.default_rng(0).random((60, 2))
    factors = pd.DataFrame({"v": np.tile(values, 10), "w": [0, 1] * 30})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousKindWarning)
        if values.dtype.kind == "f":  # floats as large as these may stand for several whole numbers each
            for way in (demele.evaluate, evaluated_in_pieces):
                refuses(InputError, r"from 2\*\*53 on cannot be distinguished as floats", way, codes, factors, ["mig"])
        kinds = {"v": "continuous"} if values.dtype.kind == "f" else None
        expected = demele.evaluate(codes, demele.Factors(factors, kinds=kinds), ["mig"])
        found = evaluated_in_pieces(codes, demele.Factors(factors, kinds=kinds), ["mig"])
    assert found.factors == expected.factors
    assert_exact(np.asarray(found["mig"].matrix), np.asarray(expected["mig"].matrix))


# Counting -------------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(data=st.data())
def test_packed_counts_are_those_of_a_loop(data: st.DataObject) -> None:
    """Every pair of columns, row by row, with missing annotations."""
    n = data.draw(st.integers(1, 40))
    levels = data.draw(st.lists(st.sampled_from([1, 2, 3, 17, 256, 300]), min_size=1, max_size=4))
    bins = data.draw(st.lists(st.sampled_from([1, 2, 10, 255, 256]), min_size=1, max_size=4))
    gaps = [data.draw(st.booleans()) for _ in levels]
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    codes = [rng.random(n).astype(np.float32 if rng.random() < 0.5 else np.float64) for _ in bins]
    factors = [rng.integers(0, size + gap, n) for size, gap in zip(levels, gaps, strict=True)]
    own = tuple(ColumnBins(np.linspace(0, 1, size + 1), regular=True) for size in bins)
    columns = tuple(
        Column(f"v{index}", "categorical", 0, size - 1, tuple(map(str, range(size))))
        for index, size in enumerate(levels)
    )
    rule, ends = demele.bins.EqualWidth(2), (np.zeros(len(bins)), np.ones(len(bins)))
    frame = BinEdges(tuple(map(str, bins)), *ends, columns, "omit", {rule: (own, (None,) * len(levels))})
    state = CountState.empty(frame, rule)
    split = data.draw(st.integers(0, n))
    for part in (slice(0, split), slice(split, n)):
        rows = Rows(np.stack([column[part] for column in codes]).T, tuple(column[part] for column in factors), 0)
        state = state.update(rows)
    found = state.settled().counted
    for i, size in enumerate(levels):
        expected = np.zeros((len(bins), max(bins), size))
        for code, column in enumerate(codes):
            for row, where in enumerate(cut(column.astype(np.float64), own[code])):
                if factors[i][row] < size:
                    expected[code, where, factors[i][row]] += 1
        assert_exact(found.tables[i], expected)
        for k in range(i, len(levels)):
            pairs = np.zeros((size, levels[k]))
            for row in range(n):
                if factors[i][row] < size and factors[k][row] < levels[k]:
                    pairs[factors[i][row], factors[k][row]] += 1
            assert_exact(found.factor_tables[i, k], pairs)


@pytest.mark.parametrize(
    ("codes", "size"),
    [
        (np.array([0.5, 1.5]), np.array([0.1, 0.2])),
        (np.array([0.5, np.nan]), np.array([0.1, 0.2])),
        (np.array([0.5, 0.6]), np.array([0.1, 2.0])),
    ],
)
def test_values_that_change_between_two_passes_are_refused(codes: Any, size: Any) -> None:
    frame = demele.bins.BinEdges.fixed([(0, 1)], {"size": (0.0, 1.0)})
    wanted = Instructions(frame, (("table", EqualWidth(10)),), 0, 0)
    span = tables.Span(tables.ArrayTable([codes], ("z1",)), tables.ArrayTable([size], ("size",)), 0, 2)
    refuses(InputError, "changed between two passes", counted, span, 0, 2, wanted)


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_folder_is_read_in_the_order_of_numbers(rows: pd.DataFrame, tmp_path: Path) -> None:
    for number in range(12):
        rows[number * 20 : number * 20 + 20].to_parquet(tmp_path / f"part.{number}.parquet")
    (tmp_path / "_hidden.parquet").write_text("not one of them")
    (tmp_path / "notes.txt").write_text("nor this")
    table = demele.scan_parquet(tmp_path, ["z3", "turn"])
    assert table.n == 240
    assert table.names == ("z3", "turn")
    assert repr(table) == "ParquetTable(240 rows of z3, turn in 12 files)"
    read = np.concatenate([np.column_stack(batch) for batch in table.batches(15, 222)])
    assert_exact(read, rows[["z3", "turn"]].to_numpy()[15:222])
    assert demele.scan_parquet(tmp_path).names == tuple(rows.columns)


def _other_columns(folder: Path) -> Any:
    pd.DataFrame({"z1": [1.0]}).to_parquet(folder / "part.9.parquet")
    return demele.scan_parquet(folder, ["z1", "z2"])


def _empty(folder: Path) -> Any:
    (folder / "empty").mkdir()
    return demele.scan_parquet(folder / "empty")


def _damaged(folder: Path) -> Any:
    (folder / "part.9.parquet").write_bytes(b"PAR1 nothing else")
    return demele.scan_parquet(folder)


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (_other_columns, UnknownNameError, r"part\.9\.parquet: holds no column called 'z2'; it holds z1"),
        (_damaged, FormatError, r"part\.9\.parquet: not a Parquet file that can be read"),
        (lambda folder: demele.scan_parquet(folder, ["shap"]), UnknownNameError, "did you mean 'shape'"),
        (lambda folder: demele.scan_parquet(folder, []), InputError, "at least one name, got none"),
        (lambda folder: demele.scan_parquet(folder, ["z1", "z1"]), InputError, "distinct names"),
        (lambda folder: demele.scan_parquet(folder / "none"), InputError, "none: there is no such file or folder"),
        (_empty, FormatError, r"holds no file called \*.parquet"),
    ],
)
def test_files_that_are_not_read(
    rows: pd.DataFrame, tmp_path: Path, work: Any, error: type[Exception], message: str
) -> None:
    in_files(rows, tmp_path, [300], 100)
    refuses(error, message, work, tmp_path)


@pytest.mark.parametrize(
    ("change", "keywords", "error", "message"),
    [
        ({}, {"n_bootstrap": 10}, InputError, "n_bootstrap: resamples are drawn from all rows"),
        ({}, {"n_permutations": 5}, InputError, "n_permutations: all rows are permuted"),
        ({}, {"std": np.ones((N, 5))}, InputError, "std: standard deviations are spread"),
        ({}, {"groups": {"a": [0, 1]}}, InputError, "groups: groups are of columns in memory"),
        ({}, {"reduce": "pca1"}, InputError, "reduce: groups are of columns in memory"),
        ({}, {"align": "rotation"}, InputError, "align: codes are rotated in memory"),
        ({}, {"noise": {"shape": 0.1}}, InputError, "noise: scores are corrected from all rows"),
        ({}, {"sample": 3}, InputError, "sample: expected a whole number >= 4, got 3"),
        ({}, {"kinds": {"nothing": "categorical"}}, InputError, "kinds: unknown factor 'nothing'"),
        ({}, {"kinds": {"size": "counts"}}, InputError, "kinds: expected 'continuous' or 'categorical'"),
        ({}, {"kinds": {"shape": "continuous"}}, InputTypeError, "'shape' was declared continuous but holds classes"),
        ({"z2": (17, np.nan)}, {}, InputError, "1 non-finite value .* in column 'z2', first at row 17; drop"),
        ({"z2": (617, np.inf)}, {}, InputError, "1 non-finite value .* in column 'z2', first at row 617; drop"),
        ({"size": (400, np.inf)}, {}, InputError, "1 infinite value in column 'size', first at row 400"),
        ({"size": (400, np.nan)}, {}, InputError, "first at row 400; .* pass `demele.Factors.factors, missing='omit'"),
        ({}, {"metrics": ["rmig"]}, NotEnoughData, "rmig needs the standard deviations"),
        ({}, {"metrics": ["nothing"]}, UnknownNameError, "nothing"),
    ],
)
def test_mistakes_are_refused(
    rows: pd.DataFrame,
    tmp_path: Path,
    change: dict[str, tuple[int, float]],
    keywords: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    changed = rows.copy()
    for name, (row, value) in change.items():
        changed.loc[changed.index[row], name] = value
    tables = scanned(changed, tmp_path, [300], 100)
    with pytest.raises(error, match=message) as told:
        evaluated(*tables, keywords.pop("metrics", ["mig"]), keywords)
    if change:  # what is wrong with the data is told as it is told of data in memory
        with pytest.raises(error) as expected:
            evaluated(changed[CODES], changed[FACTORS], ["mig"], keywords)
        assert str(told.value) == str(expected.value)


def test_tables_of_other_lengths_are_refused(rows: pd.DataFrame, tmp_path: Path) -> None:
    codes, _ = scanned(rows, tmp_path / "codes", [300], 100)
    classes, factors = scanned(rows[:650], tmp_path / "factors", [300], 100, ["shape"], ["size"])
    refuses(InputError, "got 700 rows of codes and 650 rows of factors", demele.evaluate, codes, factors, "all")
    refuses(InputTypeError, "expected real numbers in column 'shape'", demele.evaluate, classes, factors, "all")
