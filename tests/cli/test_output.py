"""One result in every format that a command writes."""

import json
from pathlib import Path

import pytest

from demele import labels
from demele.cli.output import result_text

FOUND = labels.agreement({"ann": [0, 1, 1, 0], "bob": [0, 1, 0, 0], "eve": [None, None, None, 0]}, n_resamples=0)


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        ("table", "Annotators agree on"),
        ("csv", "coefficient,value,low,high\nraw,"),
        ("latex", "% agreement: agreement("),
        ("markdown", "<!--\nagreement: agreement("),
    ],
)
def test_a_result_in_a_format(kind: str, begins: str) -> None:
    assert result_text(FOUND, kind).startswith(begins)


def test_json_is_that_of_the_result() -> None:
    assert json.loads(result_text(FOUND, "json")) == FOUND.to_dict()


def test_notes_are_in_the_words_of_the_command() -> None:
    said = result_text(FOUND, "table", explain=True, words=str.upper, output=Path("some.txt"))
    assert FOUND.notes[0].message.upper() in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80
