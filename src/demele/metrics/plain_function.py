"""Calls of metrics of two plain arrays, whose writers may be anyone."""

from collections.abc import Callable, Mapping
from traceback import format_exception_only
from typing import Any

import numpy as np

from demele.core.errors import NotEnoughData, quoted
from demele.metrics.metric import Array, Native, Streams, takes_rng
from demele.metrics.options import RANDOM


def called(
    function: Callable[..., Any], name: str, codes: Array, factors: Array, options: Mapping[str, Any], streams: Streams
) -> Native:
    """Call a metric of plain arrays; a failure of its writer's is a reason why there is no number, not a crash.

    Raises
    ------
    NotEnoughData
        With what it raised, or returned in place of a real number.
    """
    random = {RANDOM: streams()} if takes_rng(function) else {}
    try:
        found = function(codes, factors, **options, **random)
        native = found if isinstance(found, Native) else None
        value = found if native is None else native.value
        # float() would read a text, and drop the imaginary part of a complex number of NumPy
        real = not isinstance(value, str | bytes | complex | np.complexfloating)
        number = float(value) if real else np.nan
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # one that ends the process would end the whole run without a word
        raise NotEnoughData(f"{name} raised {''.join(format_exception_only(error)).strip()}") from error
    if not real:
        raise NotEnoughData(f"{name} returned {quoted(found)}, which is no real number")
    if np.isnan(number):
        raise NotEnoughData(f"{name} returned NaN")
    return Native(value=np.asarray(number)) if native is None else native
