"""Files are short enough to be read at once; those that are not yet are listed."""

import pytest

from tools.count_lines import LONG, code_lines, counted

#: Files of more lines than :data:`tools.count_lines.LONG` today. This list only gets shorter.
STILL_LONG = {
    "adapters/keras.py",
    "cli/bench_comparisons.py",
    "report/bench.py",
    "report/comparisons.py",
    "report/scores.py",
    "scoring/sparse.py",
}


def test_files_are_short() -> None:
    _, _, files = counted()
    found = {name for name, length in files.items() if length > LONG}
    assert not found - STILL_LONG, f"more than {LONG} lines: split by sense"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ('"""What it holds."""\n', 0),
        ("x = 1  # why\n\n# more\ny = [\n    1,\n]\n", 4),
        ('def f():\n    """Do.\n\n    More.\n    """\n    return """a\nb"""\n', 3),
        ('class A:\n    """Hold."""\n\n    x = 1\n', 2),
        ('"a value"\nprint(\n    "said"\n)\n', 3),
    ],
)
def test_lines_of_code_are_counted(text: str, lines: int) -> None:
    assert code_lines(text) == lines
