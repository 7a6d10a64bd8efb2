"""Evaluate the evaluation: what metrics do on representations whose properties are known.

>>> from demele import bench
>>> bench.scenario("noise").question
'Does explicitness fall as codes turn into noise, and do modularity and compactness hold meanwhile?'
"""

from demele.bench.agreement import agreement
from demele.bench.agreement_result import Agreement, PairAgreement, RankMatrix, Stability
from demele.bench.check_metrics import check_metrics
from demele.bench.comparisons.compared import check_methods
from demele.bench.comparisons.contenders import comparison_methods
from demele.bench.comparisons.experiment import noise_experiment
from demele.bench.comparisons.result import MethodComparison
from demele.bench.metric_documents import Characterisation, load, reference
from demele.bench.rank_correlation import Likeness, PublishedAgreement, published_agreement, published_agreement_names
from demele.bench.run import candidate
from demele.bench.scenario import (
    AtLeast,
    AtMost,
    Candidate,
    Falls,
    Holds,
    Keeps,
    NotAbove,
    Representation,
    Same,
    Scenario,
)
from demele.bench.scenarios import scenario, scenario_names
from demele.bench.scenarios.draws import ConfoundedProcess, confounded_scenario
from demele.bench.verdicts import Criterion, Verdict

__all__ = [
    "Agreement",
    "AtLeast",
    "AtMost",
    "Candidate",
    "Characterisation",
    "ConfoundedProcess",
    "Criterion",
    "Falls",
    "Holds",
    "Keeps",
    "Likeness",
    "MethodComparison",
    "NotAbove",
    "PairAgreement",
    "PublishedAgreement",
    "RankMatrix",
    "Representation",
    "Same",
    "Scenario",
    "Stability",
    "Verdict",
    "agreement",
    "candidate",
    "check_methods",
    "check_metrics",
    "comparison_methods",
    "confounded_scenario",
    "load",
    "noise_experiment",
    "published_agreement",
    "published_agreement_names",
    "reference",
    "scenario",
    "scenario_names",
]
