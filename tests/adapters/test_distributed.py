"""Two real processes over gloo give what one process gives on all rows, the rows of rank 0 first."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demele
from tests.adapters.one_process import CUT, SAMPLED
from tests.adapters.rows import KINDS, OPTIONS, A, N, Z
from tests.given import evaluated
from tests.tolerances import ROUNDING, assert_close

ROOT = Path(__file__).parents[2]
Found = tuple[dict[str, Any], dict[str, Any]]

# 240 rows are few, which fragile scores say
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What each of the two processes found in every case."""
    folder = tmp_path_factory.mktemp("processes")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.adapters.one_process", str(rank), str(folder)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        told = [process.communicate(timeout=180)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0, 0], "\n".join(told)
    first, second = (json.loads((folder / f"found{rank}.json").read_text(encoding="utf-8")) for rank in range(2))
    return first, second


def direct(names: Any, z: Any = Z, a: Any = A, **keywords: Any) -> dict[str, float]:
    """One call on all rows."""
    scores = evaluated(z.numpy(), a.numpy(), names, {"kinds": KINDS} | keywords)
    return {score.metric: score.value for score in scores}


def both(found: Found, case: str) -> Any:
    """What both processes found alike."""
    first, second = found
    assert first[case] == second[case]
    return first[case]


def test_counted_metrics_have_the_same_bits_and_the_local_state_is_kept(found: Found) -> None:
    names = list(demele.counted_metrics())
    for rank, one in enumerate(found):
        assert one["counted"]["values"] == direct(names)
        assert one["counted"]["local"] == (CUT if rank == 0 else N - CUT)
        doubled = demele.Accumulator(names, frame=demele.bins.BinEdges.of(Z.numpy(), A.numpy(), kinds=KINDS))
        twice = doubled.update(Z.numpy(), A.numpy()).update(Z.numpy(), A.numpy()).compute()
        assert one["counted"]["again"] == {score.metric: score.value for score in twice}


def test_sampled_metrics_have_the_value_of_the_rows_in_the_order_of_ranks(found: Found) -> None:
    assert both(found, "sampled") == direct(SAMPLED, options=OPTIONS)


def test_standard_deviations_travel_with_the_rows(found: Found) -> None:
    deviations = np.full(Z.shape, 0.1, Z.numpy().dtype)
    assert both(found, "with_deviations") == direct("rmig", std=deviations)["rmig"]


def test_summed_metrics_have_the_value_of_all_rows_to_rounding(found: Found) -> None:
    expected = direct(["sap", "irs"], kinds="continuous")
    assert found[0]["summed"]["values"] == found[1]["summed"]["values"]  # the order of ranks in both
    for name, value in expected.items():
        assert_close(found[0]["summed"]["values"][name], value, ROUNDING)
    assert [one["summed"]["local"] for one in found] == [CUT, N - CUT]


def test_a_process_without_rows_has_the_value_of_the_other(found: Found) -> None:
    assert both(found, "one_without_rows") == direct(["mig", "sap"], Z[:CUT], A[:CUT])


def test_without_any_rows_both_refuse_and_go_on(found: Found) -> None:
    refused = both(found, "none_with_rows")
    assert "no rows yet" in refused["message"]
    assert refused["then"] == direct(["mig", "sap"])


def test_collections_synchronise_and_reset(found: Found) -> None:
    expected = direct(["mig", "sap"])
    assert both(found, "collection") == {"first": expected, "second": expected}


def test_a_process_group_of_ones_own(found: Found) -> None:
    assert both(found, "a_group") == direct("sap")["sap"]


def test_processes_that_do_not_match_are_told(found: Found) -> None:
    for rank, one in enumerate(found):
        assert "differ in seed" in one["other_settings"]["message"]
        assert one["other_settings"]["local"] == (CUT if rank == 0 else N - CUT)


def test_the_callback_scores_every_row_once(found: Found) -> None:
    scored = both(found, "lightning")
    assert scored["n"] == N
    assert set(scored["logged"]) == {"demele/mig", "demele/sap"}
    for name, value in scored["values"].items():
        assert scored["logged"][f"demele/{name}"] == float(np.float32(value))
