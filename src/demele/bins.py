"""Rules that cut numbers into bins, and edges that are fixed before the data are seen.

>>> from demele import bins
>>> bins.EqualWidth(20)
EqualWidth(bins=20)
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.estimation.counts import Adaptive as Adaptive
    from demele.estimation.counts import Binning as Binning
    from demele.estimation.counts import Edges as Edges
    from demele.estimation.counts import EqualFrequency as EqualFrequency
    from demele.estimation.counts import EqualWidth as EqualWidth
    from demele.streaming.frame import BinEdges as BinEdges

__getattr__, __dir__, __all__ = lazily(__name__)
