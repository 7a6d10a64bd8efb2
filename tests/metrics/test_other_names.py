"""Names of other libraries lead to what is meant here, in Python and on the command line."""

from operator import attrgetter

import pytest

import demele
from demele.metrics import catalogue as other_names
from tests.refusals import refuses

#: Functions, gin names, configurations and keys of results of disentanglement_lib, and functions of disent.
SUGGESTED = {
    "disentanglement": ("dci_boosting_modularity", "dci_forest_modularity"),
    "completeness": ("dci_boosting_compactness", "dci_forest_compactness"),
    "informativeness_test": ("dci_boosting_explicitness", "dci_forest_explicitness"),
    "dci_validation": ("dci_forest_modularity",),
    "beta_vae_sklearn": ("z_diff",),
    "factor_vae_metric": ("z_min_variance",),
    "metric_factor_vae": ("z_min_variance",),
    "compute_mig": ("mig",),
    "sap_score_validation": ("sap",),
    "modularity_explicitness": ("modularity", "explicitness"),
    "unified_scores": ("mig", "sap", "modularity"),
}


def test_a_name_of_theirs_suggests_ours() -> None:
    for name in SUGGESTED:
        with pytest.raises(demele.errors.UnknownNameError, match="did you mean") as told:
            demele.metrics.describe(name)
        for ours in SUGGESTED[name]:
            assert f"'{ours}'" in str(told.value)
        refuses(demele.errors.UnknownNameError, f"'{SUGGESTED[name][0]}'", demele.cite, name)


def test_all_that_is_suggested_is_there() -> None:
    known = {*demele.list_metrics(), "dci_boosting"}
    for meant in other_names._MEANT.values():
        assert set(meant.split("'")[1::2]) <= known, meant
    for call in other_names._FUNCTIONS.values():
        assert callable(attrgetter(call.partition("(")[0])(demele)), call
