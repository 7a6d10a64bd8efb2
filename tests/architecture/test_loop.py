"""The loop of the benchmarks measures each cell once, keeps what is finished, and writes rows of the same columns."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import cases, loop
from benchmarks.loop import Row, Table

Run = Callable[..., None]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what runs a table with some arguments, writing into a folder of its own."""
    for module in (cases, loop):
        monkeypatch.setattr(module, "RESULTS", tmp_path)

    def call(table: Table, *arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
        loop.main({"some_table": table})

    return call


def test_rows_have_the_columns_of_all_cells(run: Run, tmp_path: Path) -> None:
    run(Table(cells=(1, 2), measured=lambda cell: {"cell": cell, f"only {cell}": 7}))
    assert (tmp_path / "some_table.csv").read_text() == "cell,only 1,only 2\n1,7,\n2,,7\n"
    assert "processor" in (tmp_path / "machine.csv").read_text()


def test_what_is_finished_is_not_measured_again(run: Run, tmp_path: Path) -> None:
    seen: list[int] = []

    def measured(cell: int, repeats: int) -> list[Row]:
        if cell == 3 and seen.count(3) == 0:
            seen.append(cell)
            raise KeyboardInterrupt
        seen.append(cell)
        return [{"cell": cell, "repeats": repeats}]

    table = Table(cells=(1, 2, 3), measured=measured, repeats=lambda cell: 10 * cell, store=True)
    with pytest.raises(KeyboardInterrupt):
        run(table)
    run(table, "--summary")
    assert (tmp_path / "some_table.csv").read_text() == "cell,repeats\n1,10\n2,20\n"
    run(table)
    assert seen == [1, 2, 3, 3]
    assert (tmp_path / "some_table.csv").read_text() == "cell,repeats\n1,10\n2,20\n3,30\n"


def test_a_look_writes_nothing(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(cells=("a", "b"), measured=lambda cell, n: [{"cell": cell, "n": n}], repeats=50, store=True)
    run(table, "--quick")
    assert capsys.readouterr().out == "cell,n\na,2\n"
    run(table, "--only", "b", "table")
    assert capsys.readouterr().out == "cell,n\nb,50\n"
    run(table, "another")
    assert not list(tmp_path.iterdir())


def test_shares_have_their_standard_errors() -> None:
    assert loop.share(0.2, 100) == ("0.2000", "0.0400")
    assert loop.share(0.2, 100, percent=True) == ("20.00", "4.00")
    assert loop.repeated(lambda cell, index: {"x": cell + index}, 5, 3)["x"].tolist() == [5, 6, 7]
