"""What tests give to scores by keywords: fields of codes and of factors, and arguments of the call."""

from collections.abc import Mapping
from typing import Any

import demele
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import SUMMED
from demele.metrics.request import merged_options
from demele.streaming.source import Counted

_FIELDS = {held: {*held.__dataclass_fields__} - {"values"} for held in (demele.Codes, demele.Factors)}


def evaluated(codes: object, factors: object, metrics: Any, keywords: Mapping[str, Any]) -> demele.Evaluation:
    """Evaluate with keywords, some of which are fields of codes and factors."""
    given, known = (
        held(values, **{key: value for key, value in keywords.items() if key in fields})
        for values, (held, fields) in zip((codes, factors), _FIELDS.items(), strict=True)
    )
    more = {key: value for key, value in keywords.items() if not any(key in fields for fields in _FIELDS.values())}
    return demele.evaluate(given, known, metrics, **more)


def accumulated_metrics(frame: demele.bins.BinEdges) -> tuple[str, ...]:
    """Return the metrics that an accumulator sums over every row of a frame, under their default options."""
    source, named = Counted(frame), CATALOGUE.items()
    return tuple(name for name, one in named if source.state_for(one, merged_options(one, {}, {})) in SUMMED)
