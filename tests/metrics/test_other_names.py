"""Names of other libraries lead to what is meant here, in Python and on the command line."""

from operator import attrgetter

import pytest

import demele
from demele.cli.main import main
from demele.metrics import other_names

#: Functions, gin names, configurations and keys of results of disentanglement_lib, and functions of disent.
SUGGESTED = {
    "disentanglement": ("dci_boosting_modularity", "dci_forest_modularity"),
    "completeness": ("dci_boosting_compactness", "dci_forest_compactness"),
    "informativeness_test": ("dci_boosting_explicitness", "dci_forest_explicitness"),
    "dci_validation": ("dci_forest_modularity",),
    "beta_vae_sklearn": ("z_diff",),
    "compute_beta_vae_sklearn": ("z_diff",),
    "factor_vae_metric": ("z_min_variance",),
    "metric_factor_vae": ("z_min_variance",),
    "compute_mig": ("mig",),
    "mig_validation": ("mig",),
    "sap_score": ("sap",),
    "sap_score_validation": ("sap",),
    "compute_irs": ("irs",),
    "modularity_explicitness": ("modularity", "explicitness"),
    "explicitness_score_test": ("explicitness",),
    "unified_scores": ("mig", "sap", "modularity"),
}


def test_a_name_of_theirs_suggests_ours() -> None:
    for name in SUGGESTED:
        with pytest.raises(demele.errors.UnknownNameError, match="did you mean") as told:
            demele.metrics.describe(name)
        for ours in SUGGESTED[name]:
            assert f"'{ours}'" in str(told.value)
        with pytest.raises(demele.errors.UnknownNameError, match=f"'{SUGGESTED[name][0]}'"):
            demele.cite(name)


def test_all_that_is_suggested_is_there() -> None:
    known = {*demele.list_metrics(), "dci_boosting"}
    for meant in other_names._MEANT.values():
        assert set(meant.split("'")[1::2]) <= known, meant
    for call in other_names._FUNCTIONS.values():
        assert callable(attrgetter(call.partition("(")[0])(demele)), call


def test_what_is_no_metric_names_its_function() -> None:
    with pytest.raises(
        demele.errors.UnknownNameError, match=r"a function of its own in Python, demele\.probes\.unsupervised_scores"
    ):
        demele.metrics.describe("unsupervised_metrics")


def test_commands_that_are_named_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    for command in other_names._COMMANDS.values():
        words = command.split()[1:]
        named = [word for word in words[: 2 if words[0] == "probe" else 1] if word]
        assert main([*named, "--help"]) == 0
        shown = capsys.readouterr().out
        assert all(word in shown for word in words[len(named) :])
    assert main(["demo", "score", "--metrics", "strong_downstream_task"]) == 2
    assert "demele probe downstream --task new-values" in capsys.readouterr().err


def test_names_of_nobody_have_the_nearest_as_before() -> None:
    assert other_names.elsewhere("migg") == ""
    with pytest.raises(demele.errors.UnknownNameError, match="did you mean 'mig'"):
        demele.metrics.describe("migg")


def test_the_program_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "score", "--metrics", "completeness"]) == 2
    said = capsys.readouterr().err
    assert "did you mean 'dci_boosting_compactness' (as in disentanglement_lib) or 'dci_forest_compactness'?" in said
    assert said.count("\n") == 1
