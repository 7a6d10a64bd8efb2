"""A file has one subject; lines of code are counted without comments and docstrings."""

from tools.count_lines import LONG, modules


def test_files_are_short() -> None:
    files = modules("src/demele")
    found = {one.path.relative_to("src/demele").as_posix() for one in files if len(one.text.splitlines()) > LONG}
    assert not found, f"more than {LONG} lines: split by sense"
