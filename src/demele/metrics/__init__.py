"""Metrics of representations: pure mathematics in the families' folders, one call for all in ``evaluate``."""

from demele.metrics.information.mig import mig_from_information
from demele.metrics.information.modularity import modularity_from_information
from demele.metrics.predictor.dci import dci_compactness, dci_modularity

__all__ = ["dci_compactness", "dci_modularity", "mig_from_information", "modularity_from_information"]
