"""How good a learned representation or a classifier really is, and how far that verdict can be trusted.

>>> import demele
>>> factors = [[0.1, 1], [0.4, 0], [0.7, 1], [0.9, 0]] * 50
>>> demele.evaluate(factors, factors, ["mig", "modularity"], name="a perfect code").name
'a perfect code'
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from demele.core.version import __version__

if TYPE_CHECKING:
    from demele import bench, data, evaluation, lab, labels, metrics
    from demele.core.alignment import Alignment
    from demele.core.corrected import CorrectedScore
    from demele.core.errors import (
        AmbiguousKindWarning,
        DemeleError,
        DemeleWarning,
        FormatError,
        FragileScoreWarning,
        IncompatibleState,
        InputError,
        InputTypeError,
        MissingExtraError,
        NotConvergedWarning,
        NotEnoughData,
        OutOfDomainWarning,
        OutputError,
        RepackedFileWarning,
        UndefinedFactorWarning,
        UnknownNameError,
        WorkerError,
    )
    from demele.core.representation_comparison import RepresentationComparison
    from demele.core.results import DCI, Evaluation, Score
    from demele.core.score_curve import ScoreCurve
    from demele.estimation.discretise import Adaptive, Binning, Edges, EqualFrequency, EqualWidth
    from demele.metrics.catalogue import describe, metric_names, register
    from demele.metrics.information.entropies import dcimig, jemmig, minimality, modularity, sufficiency
    from demele.metrics.information.gaps import dlig, dmig, mig, mig_sup, xmig
    from demele.metrics.information.information_shares import infoc, infom
    from demele.metrics.information.med import med_compactness, med_modularity
    from demele.metrics.information.rmig import rmig
    from demele.metrics.information.snc import snc
    from demele.metrics.information.unique_information import unique_information
    from demele.metrics.intervention.factor_vae import z_diff, z_max_variance, z_min_variance
    from demele.metrics.intervention.irs import irs
    from demele.metrics.intervention.irs_general import (
        domain_shift_robustness,
        interventional_disentanglement,
        interventional_robustness,
    )
    from demele.metrics.intervention.omes import omes
    from demele.metrics.metric import Guards, Metric, MetricSpec, Native
    from demele.metrics.predictor.capacity_explicitness import capacity_explicitness
    from demele.metrics.predictor.correlations import mcc, mcc_rank, mcc_weak
    from demele.metrics.predictor.dci import dci
    from demele.metrics.predictor.explicitness import explicitness
    from demele.metrics.predictor.infoe import infoe
    from demele.metrics.predictor.nk import nk
    from demele.metrics.predictor.r2_affine import r2_affine
    from demele.metrics.predictor.sap import sap
    from demele.metrics.predictor.tmex import tmex
    from demele.metrics.protocols import protocol_names
    from demele.metrics.sparse_results import SparseEvaluation
    from demele.metrics.standalone.downstream import DownstreamScores, downstream
    from demele.metrics.standalone.fairness import FairnessScores, fairness
    from demele.metrics.standalone.interpolatability import Interpolatability, interpolatability
    from demele.metrics.standalone.reduced_downstream import ReducedDownstreamScores, reduced_downstream
    from demele.metrics.standalone.stochastic import StochasticScores, stochastic_scores
    from demele.metrics.standalone.strong_downstream import StrongDownstreamScores, strong_downstream
    from demele.metrics.standalone.subspaces import SubspaceScores, subspace_scores
    from demele.metrics.standalone.udr import UDR, udr
    from demele.metrics.standalone.unsupervised import UnsupervisedScores, unsupervised_scores
    from demele.outofcore.tables import scan_parquet
    from demele.report.citations import cite
    from demele.scoring.breakdown import Breakdown, breakdown
    from demele.scoring.concepts import absorption, sparse_probing, splitting
    from demele.scoring.evaluate import evaluate
    from demele.scoring.replay import replay
    from demele.scoring.several import compare_representations
    from demele.scoring.sparse import evaluate_sparse
    from demele.streaming.accumulator import Accumulator
    from demele.streaming.frame import Frame
    from demele.streaming.source import counted_metrics


# Resolved at first use, so that importing demele costs no more than NumPy.
_HOMES = {
    "demele.core.errors": (
        "AmbiguousKindWarning DemeleError DemeleWarning FormatError "
        " FragileScoreWarning IncompatibleState InputError InputTypeError MissingExtraError "
        "NotConvergedWarning NotEnoughData OutOfDomainWarning OutputError RepackedFileWarning "
        "UndefinedFactorWarning UnknownNameError WorkerError"
    ),
    "demele.core.alignment": "Alignment",
    "demele.core.corrected": "CorrectedScore",
    "demele.core.representation_comparison": "RepresentationComparison",
    "demele.core.results": "DCI Evaluation Score",
    "demele.core.score_curve": "ScoreCurve",
    "demele.estimation.discretise": "Adaptive Binning Edges EqualFrequency EqualWidth",
    "demele.metrics.catalogue": "describe metric_names register",
    "demele.metrics.metric": "Guards Metric MetricSpec Native",
    "demele.metrics.predictor.dci": "dci",
    "demele.report.citations": "cite",
    "demele.scoring.breakdown": "Breakdown breakdown",
    "demele.scoring.evaluate": "evaluate",
    "demele.scoring.replay": "replay",
    "demele.scoring.several": "compare_representations",
    "demele.metrics.intervention.irs_general": (
        "domain_shift_robustness interventional_disentanglement interventional_robustness"
    ),
    "demele.metrics.protocols": "protocol_names",
    "demele.scoring.concepts": "absorption sparse_probing splitting",
    "demele.scoring.sparse": "evaluate_sparse",
    "demele.metrics.sparse_results": "SparseEvaluation",
    "demele.metrics.standalone.downstream": "DownstreamScores downstream",
    "demele.metrics.standalone.fairness": "FairnessScores fairness",
    "demele.metrics.standalone.reduced_downstream": "ReducedDownstreamScores reduced_downstream",
    "demele.metrics.standalone.strong_downstream": "StrongDownstreamScores strong_downstream",
    "demele.metrics.standalone.interpolatability": "Interpolatability interpolatability",
    "demele.metrics.standalone.udr": "UDR udr",
    "demele.metrics.standalone.stochastic": "StochasticScores stochastic_scores",
    "demele.metrics.standalone.subspaces": "SubspaceScores subspace_scores",
    "demele.metrics.standalone.unsupervised": "UnsupervisedScores unsupervised_scores",
    "demele.streaming.accumulator": "Accumulator",
    "demele.streaming.source": "counted_metrics",
    "demele.outofcore.tables": "scan_parquet",
    "demele.streaming.frame": "Frame",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_ROOMS = {
    "bench": "demele.bench",
    "data": "demele.data",
    "evaluation": "demele.evaluation",
    "lab": "demele.lab",
    "labels": "demele.labels",
    "metrics": "demele.metrics",
}

__all__ = [
    "DCI",
    "UDR",
    "Accumulator",
    "Adaptive",
    "Alignment",
    "AmbiguousKindWarning",
    "Binning",
    "Breakdown",
    "CorrectedScore",
    "DemeleError",
    "DemeleWarning",
    "DownstreamScores",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "Evaluation",
    "FairnessScores",
    "FormatError",
    "FragileScoreWarning",
    "Frame",
    "Guards",
    "IncompatibleState",
    "InputError",
    "InputTypeError",
    "Interpolatability",
    "Metric",
    "MetricSpec",
    "MissingExtraError",
    "Native",
    "NotConvergedWarning",
    "NotEnoughData",
    "OutOfDomainWarning",
    "OutputError",
    "ReducedDownstreamScores",
    "RepackedFileWarning",
    "RepresentationComparison",
    "Score",
    "ScoreCurve",
    "SparseEvaluation",
    "StochasticScores",
    "StrongDownstreamScores",
    "SubspaceScores",
    "UndefinedFactorWarning",
    "UnknownNameError",
    "UnsupervisedScores",
    "WorkerError",
    "__version__",
    "absorption",
    "bench",
    "breakdown",
    "capacity_explicitness",
    "cite",
    "compare_representations",
    "counted_metrics",
    "data",
    "dci",
    "dcimig",
    "describe",
    "dlig",
    "dmig",
    "domain_shift_robustness",
    "downstream",
    "evaluate",
    "evaluate_sparse",
    "evaluation",
    "explicitness",
    "fairness",
    "infoc",
    "infoe",
    "infom",
    "interpolatability",
    "interventional_disentanglement",
    "interventional_robustness",
    "irs",
    "jemmig",
    "lab",
    "labels",
    "mcc",
    "mcc_rank",
    "mcc_weak",
    "med_compactness",
    "med_modularity",
    "metric_names",
    "metrics",
    "mig",
    "mig_sup",
    "minimality",
    "modularity",
    "nk",
    "omes",
    "protocol_names",
    "r2_affine",
    "reduced_downstream",
    "register",
    "replay",
    "rmig",
    "sap",
    "scan_parquet",
    "snc",
    "sparse_probing",
    "splitting",
    "stochastic_scores",
    "strong_downstream",
    "subspace_scores",
    "sufficiency",
    "tmex",
    "udr",
    "unique_information",
    "unsupervised_scores",
    "xmig",
    "z_diff",
    "z_max_variance",
    "z_min_variance",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name])
    if name in _HOME_OF:
        home = _HOME_OF[name]
    else:
        from demele.metrics.catalogue import FILES

        home = f"demele.metrics.{FILES[name]}" if name in FILES and name in __all__ else ""
    if not home:
        message = f"module 'demele' has no attribute {name!r}"
        family, _, rest = name.partition("_")
        model, _, score = rest.partition("_")
        if family == "dci" and model and score:  # these metrics share a fit, and so a function
            message += f"; DCI is demele.dci(codes, factors, model={model!r}).{score}"
        if name in ("models", "studies"):
            message += "; models and studies are in demele.lab"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
