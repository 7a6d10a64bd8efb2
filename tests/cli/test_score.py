"""``demele score`` from its arguments to what it leaves behind, also aligned, sparse and of noisy factors."""

import contextlib
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
import scipy.sparse as sp

import demele as library
from demele import labels
from tests.cli.conftest import Program, Run, mistakes

FAST = ("--metrics", "mig,modularity,irs")
#: Metrics that 200 rows are enough for, so that no warning comes with them.
STEADY = ("--metrics", "mig,irs")


def _expected(table: pd.DataFrame, read: Any = None, **options: Any) -> Any:
    codes, factors = table[["z1", "z2", "z3"]], library.Factors(table[["shape", "size"]], **(read or {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return library.evaluate(codes, factors, ["mig", "modularity", "irs"], **options)


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
        read={"missing": "omit", "kinds": {"shape": "categorical", "size": "continuous"}},
    )
    found = json.loads(run.out)["scores"]
    assert [score["value"] for score in found] == [score.value for score in expected]
    assert [score["interval"] for score in found] == [score["interval"] for score in expected.to_dict()["scores"]]
    assert [score["chance"] for score in found] == [score["chance"] for score in expected.to_dict()["scores"]]


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
    found = demele.json(*given, "--blocks", "videos.npy")["scores"][0]
    assert f"blocks={rows // 10}" in found["signature"].replace(":", "=").replace(" ", "")
    assert found["chance"] != demele.json(*given)["scores"][0]["chance"]
    replay = ("score", "codes.npy", "factors.csv", "--replay", found["signature"])
    assert demele.json(*replay, "--blocks", "videos.npy")["chance"] == found["chance"]
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


def test_the_next_step_repeats_what_was_asked(demele: Program, folder: Path, table: pd.DataFrame) -> None:
    table[["shape", "size"]].where(table.index.to_series() != 3).to_csv("gaps.csv", index=False)
    asked = ("--metrics", "mig", "--missing", "omit", "--kinds", "shape=categorical", "--bins=8", "--decimal", ".")
    run = demele("score", "codes.npy", "gaps.csv", *asked, "--format", "table", "--explain", "-o", "page.html")
    (step,) = [line for line in run.out.splitlines() if line.startswith("  demele score")]
    said = "--metrics mig --missing omit --kinds shape=categorical --bins 8 --decimal ."
    assert step == f"  demele score codes.npy gaps.csv --bootstrap 50 --permutations 20 {said}"
    (score,) = demele.json(*step.split()[1:], "--format", "json")["scores"]
    assert score["interval"] is not None


def test_replay_makes_the_same_number(demele: Program, folder: Path) -> None:
    made = demele.json("score", "codes.npy", "factors.csv", "--metrics", "z_diff", "--seed", 5)["scores"][0]
    run = demele("score", "--replay", made["signature"], "codes.npy", "factors.csv")
    again = json.loads(run.out)
    assert again["value"] == made["value"]
    assert again["signature"] == made["signature"]


PROGRAM = (sys.executable, "-c", "import sys; from demele.cli.main import main; sys.exit(main())")
LIST: dict[str, Any] = {"args": (*PROGRAM, "list", "metrics"), "stderr": subprocess.PIPE, "timeout": 60}


def test_nobody_reads_the_output() -> None:
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(**LIST, stdout=write, check=False)
    os.close(write)
    assert run.returncode == 141
    assert run.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_standard_output_that_is_full_is_named() -> None:
    with open("/dev/full", "wb") as full:
        run = subprocess.run(**LIST, stdout=full, check=False)
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
    command = [*PROGRAM, "bench", "metrics", "--metrics", "slow.py::mine"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # It can be opened for writing once the program has opened it for reading, and waits for what never comes.
    writer = _opened(Path("slow"), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    os.close(writer)
    assert process.returncode == 130
    assert err == b"demele: interrupted\n"


# ``demele score --aligned`` ------------------------------------------------------------------------------------------


METRICS = ("--metrics", "mig,modularity,r2_affine")


@pytest.fixture
def turned(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    factors = rng.random((600, 2))
    np.save(folder / "turned.npy", factors @ np.array([[0.8, -0.6], [0.6, 0.8]]))
    pd.DataFrame(factors, columns=["size", "hue"]).to_csv(folder / "factors.csv", index=False)
    return folder


def test_gaps_and_what_they_say(demele: Program, turned: Path) -> None:
    held = demele("score", "turned.npy", "factors.csv", *METRICS, "--aligned", "--quiet", "--bootstrap", 5)
    scores = {score["metric"]: score for score in json.loads(held.out)["scores"]}
    gap = scores["mig"]["alignment"]
    assert gap["gap"] > 0.5
    assert gap["interval"]["low"] < gap["gap"] < gap["interval"]["high"]
    assert scores["modularity"]["alignment"] is None
    run = demele(
        *("score", "turned.npy", "factors.csv", *METRICS, "--aligned", "--whiten", "--quiet", "--format", "table"),
        *("-o", "axes.html", "--explain"),
    )
    told = " ".join(run.out.split())
    assert "Modularity: Not aligned: it rates codes with almost no information" in told
    assert "Metric Value Raw Aligned Gap" in told
    page = (turned / "axes.html").read_text(encoding="utf-8")
    assert "MIG: The codes carry the information, but not on the axes." in page


# ``demele score`` with factors whose annotations may be wrong --------------------------------------------------------


CALL = ("score", "codes.npy", "factors.csv", "--metrics", "mig,infom", "--bootstrap", "20", "--level", "0.9")


@pytest.fixture
def noisy(folder: Path) -> Path:
    """Codes, factors of which a tenth is wrong, true values of rows drawn at random, and how values are mistaken."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, (900, 2))
    np.save(folder / "codes.npy", true + rng.normal(0, 0.3, true.shape))
    given = np.where(rng.random(true.shape) < 0.1, (true + 1) % 3, true)
    pd.DataFrame(given, columns=["shape", "size"]).to_csv(folder / "factors.csv", index=False)
    rows = labels.draw_audit(900, 200, seed=0).rows
    audit = pd.DataFrame({"row": rows, "shape": true[rows, 0], "size": true[rows, 1]})
    audit.to_csv(folder / "bare.csv", index=False)
    audit.assign(design="uniform").to_csv(folder / "audited.csv", index=False)
    one = pd.DataFrame({"row": rows, "true_label": true[rows, 0], "design": "uniform"})
    one.to_csv(folder / "shape.csv", index=False)
    unclear = audit.astype(object).assign(design="uniform")
    unclear.loc[5, "size"] = "unclear"
    unclear.to_csv(folder / "unclear.csv", index=False)
    gap = audit.astype(object).assign(design="uniform")
    gap.loc[3, "size"] = None
    gap.to_csv(folder / "gap.csv", index=False)
    labels.TransitionMatrix([[0.9, 0.1, 0], [0, 0.9, 0.1], [0.1, 0, 0.9]], [0, 1, 2]).to_frame().to_csv(
        folder / "t.csv"
    )
    return folder


def corrected(run: Run) -> dict[str, Any]:
    content = json.loads(run.out)
    return {score["metric"]: score["corrected"] for score in content["scores"]}


def test_an_audit_of_all_factors_corrects_all_scores(demele: Program, noisy: Path) -> None:
    run = demele.done(*CALL, "--factor-noise", "audited.csv", "--format", "json", "-o", "page.html")
    found = corrected(run)
    assert {one["method"] for one in found.values()} == {"audited"}
    assert demele(*CALL, "--factor-noise", "bare.csv", "--audit-design", "uniform", "--format", "json").status == 0
    page = (noisy / "page.html").read_text("utf-8")
    assert "Audited rows alone" in page
    table = demele(*CALL, "--factor-noise", "unclear.csv", "--format", "table", "--explain")
    assert "drawn at random, and their true values are right" in " ".join(table.out.split())
    assert "1 of 200 rows were unclear to the expert" in " ".join(table.out.split())


def test_transitions_of_each_factor(demele: Program, noisy: Path) -> None:
    run = demele(*CALL, "--factor-noise", "shape=t.csv,size=t.csv", "--format", "json")
    found = corrected(run)
    assert found["mig"]["method"] == "transition"
    assert found["infom"] is None
    table = " ".join(
        demele(*CALL, "--factor-noise", "shape=t.csv,size=t.csv", "--format", "table", "--explain").out.split()
    )
    assert "do not depend on the codes" in table
    assert "the score is not made of tables" in table
    mixed = demele(*CALL, "--factor-noise", "shape=shape.csv", "--factor-noise", "size=t.csv", "--format", "json")
    assert corrected(mixed)["mig"]["method"] == "transition"


@mistakes("""
--factor-noise shap=0.1 | unknown factor 'shap'
--factor-noise shape=8% | --factor-noise: shape: expected a number, got '8%'; write 0.08
--factor-noise noise.csv | noise.csv: No such file
--factor-noise shape=0.1 --factor-noise audited.csv | --factor-noise: 'shape' is given twice
--factor-noise bare.csv | --audit-design uniform
--factor-noise gap.csv | 1 row has no true value
--factor-noise-method audited | needs
--audit-design uniform | is not given
""")
def test_mistakes_are_told(demele: Program, noisy: Path, words: list[str], message: str) -> None:
    demele.refused(message, *CALL, *words)


def test_one_factor_of_a_file_with_columns_called_as_factors(demele: Program, noisy: Path) -> None:
    words = ("--factor-noise", "shape=audited.csv", "--factor-noise", "size=t.csv", "--format", "json")
    beside = ("--factor-noise", "shape=shape.csv", "--factor-noise", "size=t.csv", "--format", "json")
    assert corrected(demele(*CALL, *words)) == corrected(demele(*CALL, *beside))


# ``demele score`` of a file of ``scipy.sparse.save_npz`` -------------------------------------------------------------


@pytest.fixture
def sparse_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    factors = pd.DataFrame({"shape": rng.integers(0, 3, 200), "bit": rng.integers(0, 2, 200)})
    codes = (rng.random((200, 30)) < 0.1) * rng.random((200, 30))
    codes[:, 4] = factors["bit"] * rng.random(200)
    sp.save_npz(tmp_path / "codes.npz", sp.csr_array(codes))
    factors.to_csv(tmp_path / "factors.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")  # 30 codes are many for 200 rows
def test_the_numbers_of_the_library_of_score_sparse(demele: Program, sparse_folder: Path) -> None:
    found = demele.json("score", "codes.npz", "factors.csv", "--bins", 4, "--seed", 2, "--names", "dictionary")
    factors = pd.read_csv("factors.csv")
    expected = library.evaluate_sparse(sp.load_npz("codes.npz"), factors, bins=4, seed=2, name="dictionary")
    for scores in (found["scores"], json.loads(expected.to_json())["scores"]):
        for score in scores:
            del score["seconds"]
    assert found == json.loads(expected.to_json()) | {"scores": found["scores"]}
    assert [score["value"] for score in found["scores"]] == [score.value for score in expected]


def test_names_of_codes_are_lines_or_a_column(demele: Program, sparse_folder: Path) -> None:
    names = [f"neuron {index}" for index in range(30)]
    Path("names.txt").write_text("".join(f"{name}\n" for name in names))
    pd.DataFrame({"number": range(30), "name": names}).to_csv("names.csv", index=False)
    np.save("names.npy", np.array(names))
    for file in ("names.txt", "names.csv::name", "names.npy"):
        run = demele.done("score", "codes.npz", "factors.csv", "--metrics", "mig", "--code-names", file)
        best = {top["factor"]: top["code"] for top in json.loads(run.out)["top"] if top["rank"] == 1}
        assert best["bit"] == "neuron 4", file
    run = demele("score", "codes.npz", "factors.csv", "--metrics", "mig", "--code-names", "names.csv::number")
    assert '"code": "4"' in run.out
    run = demele("score", "codes.npz", "factors.csv", "--code-names", "names.txt", "-o", "names.txt", "--force")
    assert "it is read by the same command" in run.err
