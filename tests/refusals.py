"""That a call is refused: with which error, and in which words."""

from collections.abc import Callable
from typing import Any

import pytest


def refuses(
    error: type[BaseException] | tuple[type[BaseException], ...],
    match: str,
    call: Callable[..., object],
    /,
    *arguments: Any,
    **options: Any,
) -> None:
    """Call with these arguments; the error must be of the class, and the pattern must be found in its words."""
    with pytest.raises(error, match=match):
        call(*arguments, **options)
