"""Metrics of representations: one object with the facts and the mathematics of each, and one engine for all.

>>> import demele
>>> from demele import metrics
>>> factors = [[0.1, 1], [0.4, 0], [0.7, 1], [0.9, 0]] * 50
>>> round(metrics.mig_sup(factors, demele.Factors(factors, kinds="categorical")).value, 2)
0.25
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.core.results import DCI as DCI
    from demele.metrics.catalogue import describe as describe
    from demele.metrics.importances import dci_compactness as dci_compactness
    from demele.metrics.importances import dci_modularity as dci_modularity
    from demele.metrics.information.entropies import dcimig as dcimig
    from demele.metrics.information.entropies import jemmig as jemmig
    from demele.metrics.information.entropies import minimality as minimality
    from demele.metrics.information.entropies import modularity as modularity
    from demele.metrics.information.entropies import modularity_from_information as modularity_from_information
    from demele.metrics.information.entropies import sufficiency as sufficiency
    from demele.metrics.information.gaps import dlig as dlig
    from demele.metrics.information.gaps import dmig as dmig
    from demele.metrics.information.gaps import mig as mig
    from demele.metrics.information.gaps import mig_from_information as mig_from_information
    from demele.metrics.information.gaps import mig_sup as mig_sup
    from demele.metrics.information.gaps import rmig as rmig
    from demele.metrics.information.gaps import unique_information as unique_information
    from demele.metrics.information.gaps import xmig as xmig
    from demele.metrics.information.information_shares import infoc as infoc
    from demele.metrics.information.information_shares import infoe as infoe
    from demele.metrics.information.information_shares import infom as infom
    from demele.metrics.information.information_shares import med_compactness as med_compactness
    from demele.metrics.information.information_shares import med_modularity as med_modularity
    from demele.metrics.information.snc import nk as nk
    from demele.metrics.information.snc import snc as snc
    from demele.metrics.intervention.effects import domain_shift_robustness as domain_shift_robustness
    from demele.metrics.intervention.effects import interventional_disentanglement as interventional_disentanglement
    from demele.metrics.intervention.effects import interventional_robustness as interventional_robustness
    from demele.metrics.intervention.effects import irs as irs
    from demele.metrics.intervention.effects import omes as omes
    from demele.metrics.intervention.factor_vae import z_diff as z_diff
    from demele.metrics.intervention.factor_vae import z_max_variance as z_max_variance
    from demele.metrics.intervention.factor_vae import z_min_variance as z_min_variance
    from demele.metrics.metric import Guards as Guards
    from demele.metrics.metric import Metric as Metric
    from demele.metrics.metric import MetricSpec as MetricSpec
    from demele.metrics.metric import Native as Native
    from demele.metrics.predictor.correlations import mcc as mcc
    from demele.metrics.predictor.correlations import mcc_rank as mcc_rank
    from demele.metrics.predictor.correlations import mcc_weak as mcc_weak
    from demele.metrics.predictor.correlations import r2_affine as r2_affine
    from demele.metrics.predictor.correlations import sap as sap
    from demele.metrics.predictor.dci import dci as dci
    from demele.metrics.predictor.explicitness import capacity_explicitness as capacity_explicitness
    from demele.metrics.predictor.explicitness import explicitness as explicitness
    from demele.metrics.predictor.tmex import tmex as tmex
    from demele.metrics.standalone.geometry import Interpolatability as Interpolatability
    from demele.metrics.standalone.geometry import SubspaceScores as SubspaceScores
    from demele.metrics.standalone.geometry import interpolatability as interpolatability
    from demele.metrics.standalone.geometry import subspace_scores as subspace_scores
    from demele.metrics.standalone.unsupervised import StochasticScores as StochasticScores
    from demele.metrics.standalone.unsupervised import stochastic_scores as stochastic_scores

__getattr__, __dir__, __all__ = lazily(__name__)
