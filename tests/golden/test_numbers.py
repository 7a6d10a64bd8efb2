"""What is computed is what was computed: a change of shape changes no number."""

import json

from tests.golden.numbers import FILE, ROUNDING, computed, differing


def test_no_number_changed() -> None:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    assert not differing(computed(), stored, ROUNDING), "python -m tests.golden.numbers --write, where it was meant to"


def test_a_changed_number_is_found() -> None:
    assert differing({"a": [1.0], "b": [None]}, {"a": [1.001], "b": [None], "c": []}, 1e-9) == ["a", "c"]
