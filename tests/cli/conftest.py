"""A small representation in files of every kind."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.cli.main import COMMANDS, main


@dataclass(frozen=True)
class Run:
    """What a command left behind."""

    status: int
    out: str
    err: str


class Program:
    """Runs ``demele`` in this process; results are JSON, unless another format is asked for."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Run:
        self._capsys.readouterr()
        words = [str(argument) for argument in arguments]
        known = {" ".join(words[:number]) for number in range(1, 5)} & COMMANDS.keys() - {"cite"}
        if known and not {"--format", "-h", "--help"} & {*words}:
            words += ["--format", "json"]
        status = main(words)
        out, err = self._capsys.readouterr()
        return Run(status, out, err)

    def done(self, *arguments: object) -> Run:
        """Run a command that succeeds."""
        run = self(*arguments)
        assert run.status == 0, run.err
        assert run.err == "" or not {"-q", "--quiet"} & {*arguments}
        return run

    def json(self, *arguments: object) -> Any:
        """Return the result of a command that succeeds."""
        return json.loads(self.done(*arguments).out)

    def refused(self, message: str, *arguments: object) -> None:
        """Expect one line with this message, after warnings at most, no result, and the status of a mistake."""
        run = self(*arguments)
        *warnings, error = run.err.splitlines()
        assert (run.status, run.out, error.startswith("demele: error: ")) == (2, "", True), run.err
        assert all(line.startswith("demele: warning: ") for line in warnings)
        assert message in error


def mistakes(table: str) -> pytest.MarkDecorator:
    """Parametrise a test by a table: in each line the words of a command, and what its refusal says."""
    rows = [line.split(" | ") for line in table.strip().splitlines()]
    return pytest.mark.parametrize(
        ("words", "message"), [(shlex.split(words), message.strip()) for words, message in rows]
    )


def never(*arguments: Any, **options: Any) -> Any:
    """Stand in for what must not be computed."""
    raise AssertionError("computed")


def replaced(words: Sequence[object], *options: object) -> tuple[object, ...]:
    """Return the words of a command with these options in place of its own of the same names."""
    kept: list[object] = []
    for word in words:
        if kept and kept[-1] in options and str(kept[-1]).startswith("--"):
            kept.pop()
        else:
            kept.append(word)
    return (*kept, *options)


@pytest.fixture
def fresh_workers() -> None:
    """End the processes that an earlier command of this process left for the next: a program runs one command."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


@pytest.fixture
def demele(capsys: pytest.CaptureFixture[str]) -> Program:
    return Program(capsys)


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    shape, size = rng.integers(0, 3, 200), rng.random(200)
    return pd.DataFrame(
        {
            "z1": shape + 0.1 * rng.normal(size=200),
            "z2": size + 0.1 * rng.normal(size=200),
            "z3": rng.normal(size=200),
            "shape": shape,
            "size": size,
        }
    )


@pytest.fixture
def folder(tmp_path: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with ``codes`` and ``factors`` in it."""
    codes, factors = table[["z1", "z2", "z3"]], table[["shape", "size"]]
    np.save(tmp_path / "codes.npy", codes.to_numpy())
    np.savez(tmp_path / "run.npz", codes=codes.to_numpy(), shape=table["shape"], size=table["size"])
    factors.to_csv(tmp_path / "factors.csv", index=False)
    table.to_csv(tmp_path / "data.csv", index=False)
    table.to_csv(tmp_path / "indexed.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


#: Names of the classes 0 to 3.
WORDS = np.array(["cat", "dog", "owl", "yak"], dtype=object)


@pytest.fixture
def judged() -> pd.DataFrame:
    """Three classifiers right on 70, 90 and 72% of 600 rows of 4 classes, and labels of which 5% are wrong."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 4, 600)

    def right(share: float, other: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        return np.where(rng.random(600) < share, true, (true + other) % 4)

    columns = {"old": right(0.7, 1), "new": right(0.9, 2), "twin": right(0.72, 3), "label": right(0.95, 1)}
    return pd.DataFrame({**columns, "true": true})


@pytest.fixture
def labels_folder(tmp_path: Path, judged: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with these columns in files of every kind, as numbers and as names."""
    judged.to_csv(tmp_path / "data.csv", index=False)
    judged.to_csv(tmp_path / "data.tsv", index=False, sep="\t")
    judged.to_parquet(tmp_path / "data.parquet")
    judged.to_json(tmp_path / "data.json", orient="records")
    arrays: dict[str, Any] = {str(name): judged[name].to_numpy() for name in judged}
    np.savez(tmp_path / "data.npz", **arrays)
    for name in judged:
        np.save(tmp_path / f"{name}.npy", judged[name].to_numpy())
    pd.DataFrame({name: WORDS[judged[name]] for name in judged}).to_csv(tmp_path / "names.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
