"""What each command prints, writes and refuses."""
# mypy: disable-error-code="misc, arg-type, assignment, no-untyped-call, unused-ignore"

import contextlib
import functools
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from demele.cli.main import main
from tests.golden.groups import Case, group
from tests.golden.judgements import Rows

_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
_MINE = """\
import numpy as np

def correlation(codes, factors):
    return float(np.abs(np.corrcoef(codes[:, 0], factors[:, 0])[0, 1]))

def careful(established, candidate, labels):
    return "candidate" if (candidate == labels).mean() > (established == labels).mean() + 0.1 else "undecided"
"""


def _files(folder: Path) -> None:
    rng = np.random.default_rng(0)
    shape, size = rng.integers(0, 3, 120), rng.random(120)
    table = pd.DataFrame(
        {
            "z1": shape + 0.1 * rng.normal(size=120),
            "z2": size + 0.1 * rng.normal(size=120),
            "z3": rng.normal(size=120),
            "shape": shape,
            "size": size,
        }
    )
    codes, factors = table[["z1", "z2", "z3"]], table[["shape", "size"]]
    np.save(folder / "codes.npy", codes.to_numpy())
    np.savez(folder / "run.npz", codes=codes.to_numpy(), shape=shape, size=size)
    factors.to_csv(folder / "factors.csv", index=False)
    table.to_csv(folder / "data.csv", index=False)
    table.to_csv(folder / "comma.csv", index=False, sep=";", decimal=",")
    table.to_parquet(folder / "data.parquet")
    table.to_json(folder / "records.json", orient="records", double_precision=15)
    sparse.save_npz(folder / "sparse.npz", sparse.csr_matrix(np.maximum(codes, 0)))
    pd.DataFrame({"z1": ["a", "b"], "z2": [1, 2]}).to_csv(folder / "words.csv", index=False)
    (folder / "broken.npy").write_bytes(b"not an array")
    (folder / "broken.json").write_text("{")
    (folder / "empty.csv").write_text("")
    (folder / "mine.py").write_text(_MINE)
    judged = Rows.models.assign(label=Rows.given, true=Rows.true, x=Rows.features[:, 0], y=Rows.features[:, 1])
    judged.to_csv(folder / "judged.csv", index=False)
    words = {name: Rows.words[judged[name]] for name in ("old", "new", "twin", "label", "true")}
    pd.DataFrame(words).to_csv(folder / "words_judged.csv", index=False)
    np.save(folder / "difficulty.npy", Rows.difficulty)
    np.save(folder / "probabilities.npy", Rows.probabilities)
    pd.DataFrame({"row": Rows.asked, "true_label": Rows.true[Rows.asked], "design": "uniform"}).to_csv(
        folder / "audit.csv", index=False
    )
    suspect = Rows.given != Rows.true
    pd.DataFrame({"s": suspect, "r": np.where(suspect, Rows.true, Rows.given)}).to_csv(
        folder / "suspects.csv", index=False
    )
    pd.DataFrame(np.full((3, 3), 0.1) + 0.7 * np.eye(3), index=range(3), columns=range(3)).to_csv(folder / "matrix.csv")
    pd.DataFrame(_crowd_table()).to_csv(folder / "crowd.csv", index=False)


def _crowd_table() -> dict[str, Any]:
    rng = np.random.default_rng(23)
    item, who = np.repeat(np.arange(40), 5), np.tile(np.arange(5), 40)
    right = rng.random(200) < 0.8
    true = np.repeat(rng.integers(0, 2, 40), 5)
    return {
        "item": [f"i{one:02}" for one in item],
        "annotator": [f"a{one}" for one in who],
        "answer": np.array(["no", "yes"])[np.where(right, true, 1 - true)],
    }


def _run(*arguments: str) -> Any:
    """Run one command in a folder of its own; return its status, what it printed and what it wrote."""
    here, out, err = Path.cwd(), io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        _files(Path(folder))
        before = {path.name for path in Path(folder).iterdir()}
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = main(list(arguments))
        finally:
            os.chdir(here)
        wrote = {path.name: _content(path) for path in sorted(Path(folder).iterdir()) if path.name not in before}
    said = err.getvalue().replace(folder, "FOLDER").replace("/private", "")
    return {"status": status, "out": _parsed(out.getvalue()), "err": _steady(said), "wrote": wrote}


def _steady(text: str) -> str:
    """Without what a clock says, and the progress of what took long."""
    text = re.sub(r"(?m)^demele: \d+%, .* left\n", "", text)
    return re.sub(r"\b\d+(\.\d+)? (m?s|seconds?|min)\b", "* s", text)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return _steady(text)


def _content(path: Path) -> Any:
    if path.suffix == ".html":
        found = _DATA.search(path.read_text(encoding="utf-8"))
        return json.loads(found.group(1)) if found else "a page without data"
    if path.suffix in (".csv", ".json", ".txt", ".tsv"):
        return _parsed(path.read_text(encoding="utf-8"))
    return f"a file {path.suffix}"


COMMANDS = (
    *("", "score", "metrics", "assess", "compare", "audit", "noise", "noise add", "noise estimate", "noise clean"),
    *("bench", "bench metrics", "bench comparisons", "bench show"),
)

PAIR = "judged.csv::old judged.csv::new judged.csv::label"
RUNS = (
    "--version",
    "score codes.npy factors.csv --format json",
    "score codes.npy factors.csv --metrics mig,irs,sap --format table",
    "score codes.npy factors.csv --metrics mig,irs,sap --format table --details --bootstrap 4 --chance 3 --level 0.8",
    "score codes.npy factors.csv --metrics mig,irs --format csv --repeats 2 --seed 3",
    "score data.csv::z1,z2,z3 data.csv::shape,size --metrics mig --report page.html --output out.json --name run",
    "score data.parquet::z1,z2,z3 data.parquet::shape,size --metrics mig,sap,irs --format json",
    "score run.npz::codes run.npz::shape,size --metrics dmig --reg-dim 0,1 --format json",
    "score records.json::z1,z2 records.json::size --bins equal-frequency:4 --metrics mig,jemmig --format json",
    "score comma.csv::z1,z2 comma.csv::shape --metrics mig --decimal , --format json",
    "score sparse.npz factors.csv --format json",
    "score sparse.npz factors.csv --format table",
    "score codes.npy factors.csv --metrics mig --protocol robust --kinds shape=categorical --format json",
    "score --demo --metrics mig,irs --format table",
    "score --demo --metrics mig,sap --format json --report page.html",
    "metrics",
    "metrics --format json",
    "metrics --format csv",
    "assess judged.csv::new judged.csv::label --format table",
    "assess judged.csv::new judged.csv::label --noise-rate 0.1 --format json --report page.html",
    "assess judged.csv::new judged.csv::label --audit audit.csv --format table",
    "assess words_judged.csv::new words_judged.csv::label --true-labels words_judged.csv::true --format csv",
    "assess judged.csv::new judged.csv::label --transition matrix.csv --format json",
    f"compare {PAIR} --format table",
    f"compare {PAIR} --noise-rate 0.02 --format json --report page.html",
    f"compare {PAIR} --audit audit.csv --format table",
    f"compare {PAIR} --audit audit.csv --method sequential --format json",
    f"compare {PAIR} --measure recall --of 1 --noise-rate 0.01 --format csv",
    f"compare {PAIR} --method prudent-v2 --difficulty difficulty.npy --prudence 0.2 --format json",
    f"compare {PAIR} --method cleaned --suspects suspects.csv --format json",
    f"compare {PAIR} --method reference --true-labels judged.csv::true --format table",
    f"compare {PAIR} --ask ask.csv --batch 5 --format json",
    "compare judged.csv::old,new,twin judged.csv::label --format table",
    "compare judged.csv::old,new,twin judged.csv::label --audit audit.csv --format json --report page.html",
    "compare judged.csv::old,new,twin judged.csv::label --noise-rate 0.05 --correction bonferroni --format csv",
    "compare --demo --format table",
    "compare --demo --format json --report page.html",
    "audit judged.csv::label --size 8 --seed 4",
    "audit judged.csv::label --size 8 --doubt judged.csv::old,new,twin --output rows.csv",
    "noise add judged.csv::true --rate 0.05,0.2 --output noisy.csv --format json",
    "noise add judged.csv::true --rate 0.1 --format table",
    "noise add words_judged.csv::true --rate 0.1 --symmetric --format csv",
    "noise add judged.csv::true --kind class --transition matrix.csv --format json --output noisy.csv",
    "noise add judged.csv::true --rate 0.05 --kind feature --features judged.csv::x,y --annotators 6 --format json",
    "noise add judged.csv::true --kind model --predictions judged.csv::old,new,twin --rate 0.1 --format table",
    "noise estimate crowd.csv --format table",
    "noise estimate crowd.csv --method dawid-skene --annotators --agreement --format json --output labels.csv",
    "noise estimate crowd.csv --method majority --format csv",
    "noise estimate crowd.csv --method bayesian --samples 20 --warmup 10 --chains 2 --format json",
    "noise estimate --given judged.csv::label --true judged.csv::true --format json --save-transition m.csv",
    "noise estimate --demo --format table",
    "noise clean judged.csv::label judged.csv::x,y --format table",
    "noise clean judged.csv::label judged.csv::x,y --method voting --true judged.csv::true --format json"
    " --output c.csv",
    "noise clean judged.csv::label --probabilities probabilities.npy --method confident --format json",
    "noise clean judged.csv::label judged.csv::x,y --drop --suspects s.csv --format csv",
    "bench show --format table",
    "bench comparisons --list",
    "bench comparisons --predictions judged.csv::old,new,twin --labels judged.csv::true --noise uniform"
    " --rates 0.05,0.1 --format json --seed 2",
    "bench comparisons --predictions judged.csv::old,new,twin --labels judged.csv::true --noise uniform"
    " --rates 0.1 --methods classic,mine.py::careful --format table --report page.html",
    "bench metrics --metrics mig,mine.py::correlation --scenarios noise --seeds 3 --samples 100 --format json",
    "bench metrics --metrics mig --scenarios noise,nothing --format table",
)
MISTAKES = (
    *("nonsense", "score", "score codes.npy", "score codes.npy factors.csv --metrics mgi", "score --demo codes.npy"),
    *("score nowhere.npy factors.csv", "score broken.npy factors.csv", "score codes.npy empty.csv"),
    *("score broken.json factors.csv", "score words.csv factors.csv", "score codes.npy words.csv"),
    *("score data.csv::z9 factors.csv", "score run.npz factors.csv", "score codes.npy factors.csv --bins 1"),
    *(
        "score codes.npy factors.csv --seed x",
        "score codes.npy factors.csv --bootstrap 1",
        "score codes.npy --format xml",
    ),
    *("score codes.npy factors.csv --protocol robbust", "score codes.npy factors.csv --kinds size=numeric"),
    *("score codes.npy factors.csv --level 2", "score codes.npy factors.csv --missing drop --chance -1"),
    *("score codes.npy factors.csv --output factors.csv", "score codes.npy factors.csv --report nowhere/page.html"),
    *("score codes.npy factors.csv --reg-dim 0,9 --metrics dmig", "score codes.npy factors.csv --metrics rmig"),
    *("score codes.npy factors.csv --jobs 0", "score codes.npy factors.csv --replay nonsense", "score a b c d"),
    *("score codes.npy factors.csv --max-size 1", "score codes.npy factors.csv --decimal x", "metrics mgi"),
    *("score sparse.npz factors.csv --metrics irs", "score sparse.npz factors.csv --bootstrap 5"),
    *("assess judged.csv::new", "assess judged.csv::new judged.csv::label --noise-rate 2"),
    *("assess judged.csv::new factors.csv::size", "assess judged.csv::new judged.csv::label --audit factors.csv"),
    "assess judged.csv::new judged.csv::label --noise-rate 0.1 --transition matrix.csv",
    *(f"compare {PAIR} --method best", f"compare {PAIR} --measure recall", f"compare {PAIR} --of 1"),
    *(f"compare {PAIR} --method prudent-v2", f"compare {PAIR} --method label-free", f"compare {PAIR} --level 1"),
    *(f"compare {PAIR} --names a,a", f"compare {PAIR} --classes 0,1", "compare judged.csv::old judged.csv::label"),
    *(f"compare {PAIR} --method audited", f"compare {PAIR} --prudence 0.2", f"compare {PAIR} --batch 3"),
    *(f"compare {PAIR} --target overlap", f"compare {PAIR} --audit nowhere.csv", f"compare {PAIR} --noise-rate x"),
    *("audit judged.csv::label", "audit judged.csv::label --size 999", "audit judged.csv::label --size 0"),
    *(
        "noise",
        "noise add judged.csv::true",
        "noise add judged.csv::true --rate 2",
        "noise add judged.csv::true --rate x",
    ),
    "noise add judged.csv::true --rate 0.1 --kind feature",
    "noise add judged.csv::true --rate 0.1 --kind class",
    *("noise estimate", "noise estimate judged.csv", "noise estimate crowd.csv --method magic"),
    "noise estimate crowd.csv --smoothing 1",
    "noise estimate crowd.csv --item nothing",
    *("noise clean judged.csv::label", "noise clean judged.csv::label judged.csv::x,y --method confident --k 3"),
    "noise clean judged.csv::label judged.csv::x,y --folds 1 --method voting",
    *("bench", "bench metrics --metrics mgi", "bench metrics --scenarios nosie", "bench metrics --seeds 0"),
    *("bench metrics --metrics nowhere.py::f", "bench metrics --metrics mine.py::nothing"),
    *("bench comparisons --labels judged.csv::true", "bench comparisons --rates 2", "bench comparisons --methods best"),
    "bench show nowhere.npz",
)


@group("help", file="commands")
def helps() -> Iterator[Case]:
    for command in COMMANDS:
        yield command or "demele", functools.partial(_run, *command.split(), "--help")


@group("commands", file="commands")
def commands() -> Iterator[Case]:
    for command in RUNS:
        yield command.replace("/", "|"), functools.partial(_run, *command.split())


@group("mistakes", file="commands")
def mistakes() -> Iterator[Case]:
    for command in MISTAKES:
        yield command.replace("/", "|"), functools.partial(_run, *command.split())
