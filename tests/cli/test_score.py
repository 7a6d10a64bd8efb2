"""``demele score`` from its arguments to what it leaves behind."""

import contextlib
import csv
import functools
import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele as library
from demele.cli import score as command
from demele.core.errors import FragileScoreWarning, warn_user
from tests.cli.conftest import Program
from tests.tolerances import assert_exact

FAST = ("--metrics", "mig,modularity,irs")
#: Metrics that 200 rows are enough for, so that no warning comes with them.
STEADY = ("--metrics", "mig,irs")


def _expected(table: pd.DataFrame, **options: Any) -> Any:
    codes, factors = table[["z1", "z2", "z3"]], table[["shape", "size"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return library.evaluate(codes, factors, ["mig", "modularity", "irs"], **options)


def test_the_numbers_of_the_library(demele: Program, folder: Path, table: pd.DataFrame) -> None:
    run = demele("score", "data.csv::z1,z2,z3", "data.csv::shape,size", *FAST)
    assert run.status == 0
    scores = {score["metric"]: score["value"] for score in json.loads(run.out)["scores"]}
    for score in _expected(table):
        # CSV holds floats by their shortest text, which pandas reads back to the last bit or nearly so.
        assert scores[score.metric] == pytest.approx(score.value, rel=1e-9)


def test_the_table_says_every_sentence_of_the_verdict_in_words(demele: Program, folder: Path) -> None:
    rng = np.random.default_rng(0)
    factors = pd.DataFrame(rng.integers(0, 3, (500, 3)), columns=["shape", "size", "place"])
    codes = np.column_stack([factors["shape"] + 3 * factors["size"], factors["place"], rng.normal(size=(500, 1))])
    np.save("mixed.npy", codes)
    factors.to_csv("three.csv", index=False)
    verdict = library.evaluate(codes, factors, ["mig"]).verdict
    assert verdict is not None
    run = demele("score", "mixed.npy", "three.csv", "--metrics", "mig", "--format", "table", "--explain")
    told = " ".join(run.out.split())
    assert [words for words in verdict.sentences if words not in told] == []
    assert "Mixed codes: z1 (s" in told
    assert "Of 3 codes 1 is noise (z3)." in told
    assert "one code" in demele("score", "mixed.npy", "three.csv", "--metrics", "mig", "--format", "table").out


def test_options_reach_the_library(demele: Program, folder: Path, table: pd.DataFrame) -> None:
    run = demele(
        *("score", "run.npz::codes", "run.npz::shape,size", *FAST),
        *("--bins", "equal-frequency:5", "--seed", 3, "--bootstrap", 5, "--permutations", 4, "--missing", "omit"),
        *("--kinds", "shape=categorical,size=continuous"),
    )
    expected = _expected(
        table,
        bins=library.bins.EqualFrequency(5),
        seed=3,
        n_bootstrap=5,
        n_permutations=4,
        missing="omit",
        kinds={"shape": "categorical", "size": "continuous"},
    )
    found = json.loads(run.out)["scores"]
    assert [score["value"] for score in found] == [score.value for score in expected]
    assert [score["interval"] for score in found] == [score["interval"] for score in expected.to_dict()["scores"]]
    assert [score["chance"] for score in found] == [score["chance"] for score in expected.to_dict()["scores"]]


def test_other_options_reach_the_library(demele: Program, folder: Path) -> None:
    run = demele(
        *("score", "codes.npy", "factors.csv", "--metrics", "xmig,rmig,z_diff", "--repeats", 2),
        *("--reg-dim", "1,0", "--codes-std", "only.npz", "--protocol", "review2022", "--jobs", 1),
    )
    # Standard deviations must not be negative: the codes themselves, given for them, are refused by name.
    assert run.status == 2
    assert run.err.startswith("demele: error: --codes-std: ")
    run = demele("score", "codes.npy", "factors.csv", "--metrics", "xmig,z_diff", "--repeats", 2, "--reg-dim", "1,0")
    scores = {score["metric"]: score for score in json.loads(run.out)["scores"]}
    assert len(scores["z_diff"]["spread"]["values"]) == 2
    assert "reg_dim=(1, 0)" in scores["xmig"]["signature"]


def test_columns_that_are_one_code_together(demele: Program, folder: Path) -> None:
    run = demele("score", "codes.npy", "factors.csv", "--metrics", "mig,dcimig", "--code-groups", "both=0,z2")
    found = json.loads(run.out)
    assert found["code_names"][0] == "both"
    signature = found["scores"][0]["signature"]
    assert "code_groups={'both': (0, 1)" in signature
    again = demele("score", "codes.npy", "factors.csv", "--replay", signature)
    assert json.loads(again.out)["value"] == found["scores"][0]["value"]
    reduced = demele("score", "codes.npy", "factors.csv", *("--code-groups", "both=0,1", "--reduce-groups", "pca1"))
    assert "reduce_groups='pca1'" in json.loads(reduced.out)["scores"][0]["signature"]


def test_blocks_of_rows_are_shuffled_whole(demele: Program, folder: Path) -> None:
    rows = len(np.load("codes.npy"))
    np.save("videos.npy", np.arange(rows) // 10)
    given = ("score", "codes.npy", "factors.csv", "--metrics", "mig", "--permutations", 5)
    found = json.loads(demele(*given, "--blocks", "videos.npy").out)["scores"][0]
    assert f"blocks={rows // 10}" in found["signature"].replace(":", "=").replace(" ", "")
    assert found["chance"] != json.loads(demele(*given).out)["scores"][0]["chance"]
    replay = ("score", "codes.npy", "factors.csv", "--replay", found["signature"])
    assert json.loads(demele(*replay, "--blocks", "videos.npy").out)["chance"] == found["chance"]
    assert "pass --blocks FILE" in demele(*replay).err
    assert "pass --permutations 100" in demele(*given[:5], "--blocks", "videos.npy").err
    alone = demele(*given, "--blocks", "videos.npy", "--bootstrap", 10)
    assert alone.err.startswith("demele: error: --bootstrap: takes rows for independent")


def test_only_results_on_stdout(demele: Program, folder: Path) -> None:
    run = demele("score", "codes.npy", "indexed.csv::shape,size", *STEADY)
    json.loads(run.out)
    assert run.err == (
        "demele: warning: indexed.csv: the first column has no name and numbers the rows; it was left out, "
        "rows are paired by position\n"
    )
    assert demele("score", "codes.npy", "indexed.csv::shape,size", *STEADY, "--quiet").err == ""


def test_warnings_and_notes_are_told_in_options(demele: Program, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = library.evaluate

    def warning(*arguments: Any, **options: Any) -> Any:
        warn_user("pass `kinds={'age': 'continuous'}` if so", FragileScoreWarning)
        return whole(*arguments, **options)

    monkeypatch.setattr(command, "evaluate", functools.wraps(whole)(warning))
    run = demele("score", "codes.npy", "factors.csv", "--metrics", "rmig,mig", "--format", "table")
    assert "demele: warning: pass --kinds age=continuous if so" in run.err
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    alone = demele("score", "codes.npy", "factors.csv", "--metrics", "rmig")
    assert "pass --codes-std FILE" in (run.out + run.err + alone.err)
    assert "codes_std" not in run.out + run.err + alone.err


@pytest.mark.parametrize(
    ("codes", "factors", "shared"),
    [
        ("data.csv::z1,shape,size", "data.csv::shape,size", "shape, size"),
        ("data.csv::z1,z2,z3", "./data.csv::z2", "z2"),
        ("factors.csv", "factors.csv", "all of it"),
        ("data.csv", "data.csv::size", "size"),
    ],
)
def test_codes_that_are_factors_are_told(codes: str, factors: str, shared: str, demele: Program, folder: Path) -> None:
    run = demele("score", codes, factors, *STEADY)
    name = codes.partition("::")[0]
    line = f"demele: warning: {name}: {shared} given as CODES and as FACTORS: scored against itself"
    assert run.err.splitlines().count(line) == 1
    assert demele("score", codes, factors, *STEADY, "--quiet").err == ""
    assert "given as" not in demele("score", "data.csv::z1,z2", "data.csv::shape,size", *STEADY).err


def test_files_with_other_indexes_are_paired_when_told(demele: Program, folder: Path, table: pd.DataFrame) -> None:
    pytest.importorskip("pyarrow")
    table[["z1", "z2"]].to_parquet(folder / "indexed.parquet")
    table[["size"]].set_axis([f"s{row}" for row in range(200)], axis=0).to_parquet(folder / "other.parquet")
    asked = ("score", "indexed.parquet", "other.parquet", "--metrics", "mig_sup", "--format", "csv")
    run = demele(*asked)
    assert run.status == 2
    assert "first at row 0 (0 and 's0')" in run.err
    assert run.err.endswith("drop the indexes, or pass --ignore-index\n")
    assert demele(*asked, "--ignore-index").status == 0


def test_replay_makes_the_same_number(demele: Program, folder: Path) -> None:
    made = json.loads(demele("score", "codes.npy", "factors.csv", "--metrics", "z_diff", "--seed", 5).out)["scores"][0]
    run = demele("score", "--replay", made["signature"], "codes.npy", "factors.csv")
    again = json.loads(run.out)
    assert again["value"] == made["value"]
    assert again["signature"] == made["signature"]
    table = demele("score", "--replay", made["signature"], "codes.npy", "factors.csv", "--format", "table").out
    assert f"{made['value']:.3f}" in table
    rows = demele("score", "--replay", made["signature"], "codes.npy", "factors.csv", "--format", "csv").out
    assert_exact([float(row["value"]) for row in csv.DictReader(io.StringIO(rows))], [made["value"]])


def test_version(demele: Program) -> None:
    run = demele("--version")
    assert (run.status, run.out) == (0, f"demele {library.__version__}\n")


def _program(*arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", "import sys; from demele.cli.main import main; sys.exit(main())", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_nobody_reads_the_output() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [
        sys.executable,
        "-c",
        "import sys; from demele.cli.main import main; sys.exit(main(['list', 'metrics']))",
    ]
    run = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write)
    assert run.returncode == 141
    assert run.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_standard_output_that_is_full_is_named() -> None:
    command = [
        sys.executable,
        "-c",
        "import sys; from demele.cli.main import main; sys.exit(main(['list', 'metrics']))",
    ]
    with open("/dev/full", "wb") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert b"demele: error: standard output: No space left on device" in run.stderr
    assert run.returncode != 0


def _opened(fifo: Path, reader: subprocess.Popen[bytes]) -> int:
    """Open a FIFO for writing as soon as a process reads it; fail, and do not wait, where the process has ended."""
    while reader.poll() is None:
        with contextlib.suppress(OSError):  # nobody reads it yet
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.05)
    raise AssertionError(reader.communicate())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_interrupted(folder: Path) -> None:
    os.mkfifo("slow")
    Path("slow.py").write_text("open('slow').read()\n", encoding="utf-8")
    process = _program("bench", "metrics", "--metrics", "slow.py::mine")
    # It can be opened for writing once the program has opened it for reading, and waits for what never comes.
    writer = _opened(Path("slow"), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    os.close(writer)
    assert process.returncode == 130
    assert err == b"demele: interrupted\n"
