"""Blocks of pages are run, but those that need what is not installed are left as they are."""

from pathlib import Path

import pytest

from tools.docs_snippets import corrected_page

ABSENT = "no_such_package_at_all"
PAGE = """\
# A page

```python
x = 1
```

<!-- needs: {needs} -->
```python
x += 1
print("needed:", x)
```

```text
old
```

Between.

<!-- needs: {needs} -->

```python
x += 10
```

```python
print(x)
```

```text
older
```
"""


def corrected(folder: Path, text: str) -> str:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return corrected_page(page)


@pytest.mark.parametrize("needs", ["json", "json, csv"])
def test_a_block_is_run_where_what_it_needs_is_installed(needs: str, tmp_path: Path) -> None:
    text = PAGE.format(needs=needs)
    assert corrected(tmp_path, text) == text.replace("older", "12").replace("old", "needed: 2")


@pytest.mark.parametrize("needs", [ABSENT, f"json, {ABSENT}", f"{ABSENT}, json"])
def test_a_block_is_left_as_it_is_where_something_is_missing(needs: str, tmp_path: Path) -> None:
    text = PAGE.format(needs=needs)
    assert corrected(tmp_path, text) == text.replace("older", "1")


def test_a_block_that_fails_stops_the_page_only_where_it_is_run(tmp_path: Path) -> None:
    text = "<!-- needs: {} -->\n```python\nraise SystemExit('stopped')\n```\n"
    with pytest.raises(RuntimeError, match="stopped"):
        corrected(tmp_path, text.format("json"))
    assert corrected(tmp_path, text.format(ABSENT)) == text.format(ABSENT)


def test_a_mark_holds_for_the_block_after_it_only(tmp_path: Path) -> None:
    text = f"<!-- needs: {ABSENT} -->\n\nWords.\n\n```python\nprint(2)\n```\n\n```text\nold\n```\n"
    assert corrected(tmp_path, text) == text.replace("old", "2")


VARYING = """\
# A page

<!-- varies: some reason -->

```python
print({printed!r})
```

```text
of another processor
```

```console
$ demele --version
old
```
"""


def test_what_varies_between_processors_is_run_and_not_compared(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(VARYING.format(printed="mine"), encoding="utf-8")
    kept, replaced = corrected_page(page), corrected_page(page, varying=True)
    assert "of another processor" in kept
    assert "old" not in kept
    assert "of another processor" not in replaced
    assert "mine\n```" in replaced
    assert replaced.count("<!-- varies: some reason -->") == 1


def test_what_varies_must_print_something(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="prints nothing"):
        corrected(tmp_path, VARYING.format(printed=""))
