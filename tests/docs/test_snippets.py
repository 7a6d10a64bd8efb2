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
