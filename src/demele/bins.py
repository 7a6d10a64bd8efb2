"""Rules that cut numbers into bins, and edges that are fixed before the data are seen.

>>> from demele import bins
>>> bins.EqualWidth(20)
EqualWidth(bins=20)
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.estimation.discretise import Adaptive as Adaptive
    from demele.estimation.discretise import Binning as Binning
    from demele.estimation.discretise import Edges as Edges
    from demele.estimation.discretise import EqualFrequency as EqualFrequency
    from demele.estimation.discretise import EqualWidth as EqualWidth
    from demele.streaming.frame import BinEdges as BinEdges

__getattr__, __dir__, __all__ = lazily(__name__)
