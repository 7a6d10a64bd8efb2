"""The examples run, and print what is written beside them and shown in the documentation."""

from pathlib import Path

import pytest

from tools.docs_snippets import corrected_output, examples


@pytest.mark.long
@pytest.mark.parametrize("example", examples(), ids=lambda path: path.stem)
def test_prints_what_is_written_beside_it(example: Path) -> None:
    assert corrected_output(example) == example.with_suffix(".txt").read_text(encoding="utf-8"), (
        "python -m tools.docs_snippets --write puts the new output in"
    )


def test_there_are_examples() -> None:
    assert {"compare_language_models", "score_digits", "your_own_metric"} <= {example.stem for example in examples()}
