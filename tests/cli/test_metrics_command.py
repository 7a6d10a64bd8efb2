"""``demele metrics``."""

import csv
import io
import json

import demele as library
from tests.cli.conftest import Program


def test_json_lists_every_metric(demele: Program) -> None:
    run = demele("metrics")
    listed = json.loads(run.out)
    assert [item["name"] for item in listed] == library.metric_names()
    assert listed[0]["source"] == library.describe("mig").source
    unbounded = next(item for item in listed if item["name"] == "dmig")
    assert unbounded["range"] == [None, None]


def test_table_fits_80_columns(demele: Program) -> None:
    run = demele("metrics", "--format", "table")
    assert max(map(len, run.out.splitlines())) <= 80
    for name in library.metric_names():
        assert any(line.startswith(f"{name} ") for line in run.out.splitlines())


def test_csv(demele: Program) -> None:
    rows = list(csv.DictReader(io.StringIO(demele("metrics", "--format", "csv").out)))
    assert [row["name"] for row in rows] == library.metric_names()
