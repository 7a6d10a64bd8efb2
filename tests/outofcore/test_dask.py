"""Dask collections: what is counted has the bits of memory, on threads and on a cluster."""

import itertools
import uuid
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.errors import DemeleError, InputError
from demele.runtime.work import mapped, reduced
from tests.outofcore.test_out_of_core import CODES, COUNTED, FACTORS, N, assert_same, make_rows
from tests.refusals import refuses

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
NUMBERS = ["size", "turn", "stored"]
METRICS = [*COUNTED, "sap", "irs", "z_diff"]
#: Of unequal lengths, one of them empty.
CUTS = [0, 10, 10, 333, 650, N]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return make_rows()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two workers in threads of this process, and its client, active while it is asked for."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


def partitioned(rows: pd.DataFrame, cuts: list[int] = CUTS) -> Any:
    """Return a data frame of unequal partitions whose divisions are not known."""
    parts = [dask.delayed(rows[start:stop]) for start, stop in itertools.pairwise(cuts)]
    return dd.from_delayed(parts, meta=rows[:0], verify_meta=False)


@pytest.mark.parametrize("on", ["threads", "cluster"])
def test_data_frames(rows: pd.DataFrame, client: Any, on: str) -> None:
    expected = demele.evaluate(rows[CODES], rows[FACTORS], METRICS)
    codes, factors = partitioned(rows[CODES]), partitioned(rows[FACTORS])
    assert not codes.known_divisions
    with client.as_current() if on == "cluster" else nullcontext():
        assert_same(demele.evaluate(codes, factors, METRICS), expected)


def test_arrays(rows: pd.DataFrame) -> None:
    codes, factors = rows[CODES].to_numpy(), rows[NUMBERS].to_numpy(float)
    chunked = da.from_array(codes, chunks=(150, 2)), da.from_array(factors, chunks=(99, 3))
    assert_same(demele.evaluate(*chunked, METRICS), demele.evaluate(codes, factors, METRICS))


def test_a_cluster_works_on_what_it_is_given(rows: pd.DataFrame, client: Any, tmp_path: Path) -> None:
    """The workers of the active client make both passes over all partitions."""

    def noting(part: pd.DataFrame) -> pd.DataFrame:
        (tmp_path / f"{distributed.get_worker().name} {uuid.uuid4()}").touch()  # no worker, no name: an error
        return part

    codes = partitioned(rows[CODES]).map_partitions(noting, meta=rows[CODES][:0])
    with client.as_current():
        demele.metrics.mig(codes, partitioned(rows[FACTORS]))
    notes = list(tmp_path.iterdir())
    assert len(notes) == 2 * (len(CUTS) - 1)
    assert {note.name.partition(" ")[0] for note in notes} <= {"0", "1"}


@pytest.mark.parametrize("cuts", [[0, N], [0, 1, 2, 350, N], [0, 0, N, N]])
def test_partitions_do_not_change_a_sample(rows: pd.DataFrame, cuts: list[int]) -> None:
    found, expected = (
        demele.evaluate(
            demele.Codes(partitioned(rows[CODES], own), sample=100), partitioned(rows[FACTORS], own), ["sap"]
        )
        for own in (cuts, CUTS)
    )
    assert_same(found, expected)
    assert found["sap"].n == 100


def test_classes_known_and_unknown(rows: pd.DataFrame) -> None:
    """Categories keep their order, strings that of the alphabet, in whichever partitions they occur."""
    ordered = pd.CategoricalDtype(["star", "none", "square", "disc"])
    for factors in (
        rows[["shape"]].astype(ordered),
        rows[["shape"]].sort_values("shape"),
        pd.DataFrame({"shape": rows["shape"] == "star", "size": rows["size"]}),
    ):
        of_memory, of_parts = (
            (one(rows[CODES]), one(factors.reset_index(drop=True))) for one in (pd.DataFrame, partitioned)
        )
        names = ["mig", "dcimig", "sap"]
        assert_same(demele.evaluate(*of_parts, names), demele.evaluate(*of_memory, names))


def test_missing_annotations(rows: pd.DataFrame) -> None:
    holed = rows.copy()
    holed.loc[:332, "size"] = np.nan  # none in the first partitions
    holed["turn"] = holed["turn"].astype("Int64")
    holed.loc[640:, "turn"] = pd.NA
    holed.loc[3:7, "shape"] = None
    expected = demele.evaluate(rows[CODES], demele.Factors(holed[FACTORS], missing="omit"), [*COUNTED, "sap"])
    found = demele.evaluate(
        partitioned(rows[CODES]), demele.Factors(partitioned(holed[FACTORS]), missing="omit"), [*COUNTED, "sap"]
    )
    assert_same(found, expected)
    with pytest.raises(
        InputError, match=r"5 missing annotations in column 'shape' \(and in 2 other columns\), first at row 3"
    ):
        demele.metrics.mig(partitioned(rows[CODES]), partitioned(holed[FACTORS]))


MISTAKES: Any = [
    (
        lambda rows: (partitioned(rows[CODES]), partitioned(rows[FACTORS], [0, 12, 12, 333, 650, N])),
        r"partition \d holds \d+ rows of codes and \d+ rows of factors; row r of both",
    ),
    (
        lambda rows: (partitioned(rows[CODES]), partitioned(rows[FACTORS], [0, 300, N])),
        "got 5 of codes and 2 of factors; repartition",
    ),
    (lambda rows: (da.ones((30, 2)), da.ones((40, 2))), "got 30 rows of codes and 40 rows of factors"),
    (lambda rows: (partitioned(rows[CODES]), rows[FACTORS]), "factors: expected a Dask array .*got DataFrame"),
    (lambda rows: (da.ones(30), da.ones(30)), "codes: expected 2 dimensions"),
    (
        lambda rows: (partitioned(rows[CODES].mask(rows["z1"] > 2)), partitioned(rows[FACTORS])),
        r"codes: \d+ non-finite values .* in column 'z1', first at row 0; drop",
    ),
    (lambda rows: [partitioned(rows[own][:0], [0, 0, 0]) for own in (CODES, FACTORS)], "at least 2 rows, got none"),
    (lambda rows: (partitioned(rows[CODES]), partitioned(0 * rows[NUMBERS])), "every factor is constant"),
]


@pytest.mark.parametrize(("make", "message"), MISTAKES)
def test_mistakes_are_refused(rows: pd.DataFrame, make: Any, message: str) -> None:
    refuses(DemeleError, message, demele.evaluate, *make(rows), ["mig"])


def test_values_that_change_between_passes_are_refused(rows: pd.DataFrame) -> None:
    calls = [0.0]

    def moved(part: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        calls[0] += 1
        return part + calls[0]

    codes = da.from_array(rows[CODES].to_numpy(), chunks=(N, 5)).map_blocks(moved, meta=np.empty((0, 0)))
    factors = da.from_array(rows[NUMBERS].to_numpy(), chunks=(N, 3))
    refuses(InputError, "values changed between two passes", demele.metrics.mig, codes, factors)


def test_a_tree_of_merges_keeps_the_order() -> None:
    groups = [(dask.delayed(number),) for number in range(67)]
    parts = mapped(lambda number, shift: [number + shift], groups, 5)
    found: list[int] = reduced(parts, lambda lists: [*itertools.chain(*lists)])
    assert found == list(range(5, 72))
