"""Evaluate the evaluation: what metrics do on representations whose properties are known.

>>> from demele import bench
>>> bench.scenario("noise").question
'Does explicitness fall as codes turn into noise, and do modularity and compactness hold meanwhile?'
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.bench.agreement_result import Agreement as Agreement
    from demele.bench.agreement_result import Likeness as Likeness
    from demele.bench.agreement_result import PairAgreement as PairAgreement
    from demele.bench.agreement_result import PublishedAgreement as PublishedAgreement
    from demele.bench.agreement_result import RankMatrix as RankMatrix
    from demele.bench.agreement_result import Stability as Stability
    from demele.bench.agreement_result import published_agreement as published_agreement
    from demele.bench.agreement_result import published_agreement_names as published_agreement_names
    from demele.bench.characterise import Characterisation as Characterisation
    from demele.bench.characterise import check_metrics as check_metrics
    from demele.bench.characterise import load as load
    from demele.bench.characterise import reference as reference
    from demele.bench.comparisons.compared import check_methods as check_methods
    from demele.bench.comparisons.compared import noise_experiment as noise_experiment
    from demele.bench.comparisons.contenders import comparison_methods as comparison_methods
    from demele.bench.comparisons.result import MethodComparison as MethodComparison
    from demele.bench.expectations import AtLeast as AtLeast
    from demele.bench.expectations import AtMost as AtMost
    from demele.bench.expectations import Candidate as Candidate
    from demele.bench.expectations import Falls as Falls
    from demele.bench.expectations import Holds as Holds
    from demele.bench.expectations import Keeps as Keeps
    from demele.bench.expectations import NotAbove as NotAbove
    from demele.bench.expectations import Representation as Representation
    from demele.bench.expectations import Same as Same
    from demele.bench.expectations import Scenario as Scenario
    from demele.bench.rank_agreement import agreement as agreement
    from demele.bench.run import candidate as candidate
    from demele.bench.scenarios import ConfoundedProcess as ConfoundedProcess
    from demele.bench.scenarios import confounded_scenario as confounded_scenario
    from demele.bench.scenarios import scenario as scenario
    from demele.bench.scenarios import scenario_names as scenario_names
    from demele.bench.verdicts import Criterion as Criterion
    from demele.bench.verdicts import Verdict as Verdict

__getattr__, __dir__, __all__ = lazily(__name__)
