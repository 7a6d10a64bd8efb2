"""What messages repeat of data, cut to a length that can be read; and numbers of things."""

import os
import re

#: Characters of a field, and of a path, that a message repeats.
MOST_REPEATED = 200
MOST_OF_PATH = 1000
_LONG_WORD = re.compile(rf"\S{{{MOST_REPEATED + 1},}}")


def plural(how_many: int, one: str, many: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "criterion", "criteria"), plural(1200, "row", "rows")
    ('1 criterion', '1,200 rows')
    """
    return f"{how_many:,} {one if how_many == 1 else many}"


def shortened(text: str, most: int = MOST_REPEATED) -> str:
    """Return a text as a message repeats it: not more of it than ``most`` characters.

    Examples
    --------
    >>> shortened("short"), len(shortened("long" * 1000)), shortened("long" * 1000)[-24:]
    ('short', 200, '... (of 4000 characters)')
    """
    if len(text) <= most:
        return text
    tail = f"... (of {len(text)} characters)"
    return text[: most - len(tail)] + tail


def short_words(text: str) -> str:
    """Return a message with its overlong words cut: the last guard against a field that is repeated as a whole.

    Examples
    --------
    >>> short_words("no column called " + "z" * 5000)[-40:]
    'zzzzzzzzzzzzzzzz... (of 5000 characters)'
    """
    if len(text) <= MOST_REPEATED:
        return text
    return _LONG_WORD.sub(_short_word, text)


def _short_word(found: re.Match[str]) -> str:
    return shortened(found[0], MOST_OF_PATH if os.sep in found[0] else MOST_REPEATED)
