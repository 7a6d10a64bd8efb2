"""How good a learned representation or a classifier really is, and how far that verdict can be trusted.

>>> import demele
>>> factors = [[0, 0], [0, 1], [1, 0], [1, 1]] * 50
>>> demele.evaluate(factors, factors, ["mig", "modularity"])["mig"].value
1.0
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele import bench as bench
    from demele import bins as bins
    from demele import classifiers as classifiers
    from demele import data as data
    from demele import errors as errors
    from demele import explain as explain
    from demele import lab as lab
    from demele import labels as labels
    from demele import metrics as metrics
    from demele import probes as probes
    from demele.core.errors import DemeleError as DemeleError
    from demele.core.given_data import Codes as Codes
    from demele.core.given_data import Factors as Factors
    from demele.core.representation_comparison import RepresentationComparison as RepresentationComparison
    from demele.core.results import Alignment as Alignment
    from demele.core.results import CorrectedScore as CorrectedScore
    from demele.core.results import Evaluation as Evaluation
    from demele.core.results import Score as Score
    from demele.core.version import __version__ as __version__
    from demele.metrics.catalogue import list_metrics as list_metrics
    from demele.metrics.catalogue import register_metric as register_metric
    from demele.metrics.protocols import list_protocols as list_protocols
    from demele.outofcore.tables import scan_parquet as scan_parquet
    from demele.report.citations import cite as cite
    from demele.runtime.work import progress as progress
    from demele.scoring.evaluate import evaluate as evaluate
    from demele.scoring.evaluate import replay as replay
    from demele.scoring.several import compare_representations as compare_representations
    from demele.scoring.sparse import SparseEvaluation as SparseEvaluation
    from demele.scoring.sparse import evaluate_sparse as evaluate_sparse
    from demele.streaming.accumulator import Accumulator as Accumulator
    from demele.streaming.source import counted_metrics as counted_metrics

__getattr__, __dir__, __all__ = lazily(__name__)
