"""What was found in files of published sets of images, in a terminal."""

from collections.abc import Mapping
from typing import Any

from demele.report.terminal.sheet import Sheet, Styled

#: How a verdict is shown.
_STYLES = {"fits": "green", "not published": "yellow"}
#: Characters of a name, and of a digest, that are shown; all of them are in JSON and CSV.
_NAME, _WORD = 34, 16


def findings_table(content: Mapping[str, Any]) -> str:
    """Write the content of each file and the published one; ``content`` as ``demele data check --format json``."""
    sheet = Sheet()
    rows = [
        [
            _short(one["file"].rpartition("/")[2] or one["file"]),
            _words(one["found"]),
            "the same" if one["expected"] == one["found"] else _words(one["expected"]),
            Styled(one["verdict"], _STYLES.get(one["verdict"], "bold red")),
        ]
        for one in content["files"]
    ]
    if rows:
        sheet.table(["file", "found", "expected", "verdict"], rows)
        sheet.blank()
    sheet.wrapped(f"{content['name']} at {content['path']} can{'' if content['usable'] else 'not'} be used", "bold")
    return sheet.text()


def _short(name: str) -> str:
    """Leave out the middle of a long name: its beginning says which set it is, its end which part."""
    return name if len(name) <= _NAME else f"{name[:9]}..{name[11 - _NAME :]}"


def _words(text: str) -> str:
    """Cut words such as digests."""
    return " ".join(word if len(word) <= 2 * _WORD - 1 else f"{word[:_WORD]}.." for word in text.split(" "))
