"""Names that other libraries have for what is called otherwise here: asked for where a name is not known.

Our aliases are names that mean one metric here, and are taken. What stands here is only suggested: it means several
metrics, or another function, or something that a metric is only near to.

>>> elsewhere("disentanglement")
"; did you mean 'dci_boosting_modularity' (as in disentanglement_lib) or 'dci_forest_modularity'?"
>>> elsewhere("no name of theirs")
''
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["elsewhere"]

_STUDY = "(as in disentanglement_lib)"


def _dci(part: str) -> str:
    return f"'dci_boosting_{part}' {_STUDY} or 'dci_forest_{part}'"


#: What is meant here, by the plain form of the name there (:func:`_plain`).
_MEANT: Mapping[str, str] = MappingProxyType(
    {
        "beta_vae": "'z_diff'",
        "betavae": "'z_diff'",
        "z_diff": "'z_diff'",
        "factor_vae": "'z_min_variance'",
        "factorvae": "'z_min_variance'",
        "z_min": "'z_min_variance'",
        "z_min_var": "'z_min_variance'",
        "rf_vae": "'z_max_variance'",
        "rfvae": "'z_max_variance'",
        "z_max": "'z_max_variance'",
        "z_max_var": "'z_max_variance'",
        "mig": "'mig'",
        "sap": "'sap'",
        "irs": "'irs'",
        "dci": _dci("modularity"),
        "disentanglement": _dci("modularity"),
        "dci_disentanglement": _dci("modularity"),
        "completeness": _dci("compactness"),
        "dci_completeness": _dci("compactness"),
        "compactness": _dci("compactness"),
        "informativeness": _dci("explicitness"),
        "dci_informativeness": _dci("explicitness"),
        "modularity": "'modularity'",
        "explicitness": "'explicitness'",
        "modularity_explicitness": "'modularity' and 'explicitness'",
        "unified_scores": "'mig', 'sap', 'modularity' and those of 'dci_boosting'",
    }
)
#: What is no metric of factors and one array of codes, and the function here that computes it.
_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "unsupervised": "probes.unsupervised_scores(codes)",
        "unsupervised_metrics": "probes.unsupervised_scores(codes)",
        "gaussian_total_correlation": "probes.unsupervised_scores(codes)",
        "gaussian_wasserstein_correlation": "probes.unsupervised_scores(codes)",
        "gaussian_wasserstein_correlation_norm": "probes.unsupervised_scores(codes)",
        "mutual_info": "probes.unsupervised_scores(codes)",
        "downstream_task": "probes.downstream(codes, factors)",
        "downstream_task_boosted_trees": "probes.downstream(codes, factors)",
        "downstream_task_logistic_regression": "probes.downstream(codes, factors, probe='logistic')",
        "reduced_downstream_task": "probes.reduced_downstream(codes, factors)",
        "strong_downstream_task": "probes.strong_downstream(codes, factors)",
        "fairness": "probes.fairness(codes, factors)",
        "downstream": "probes.downstream(codes, factors)",
        "reduced_downstream": "probes.reduced_downstream(codes, factors)",
        "strong_downstream": "probes.strong_downstream(codes, factors)",
        "wsepin": "metrics.stochastic_scores(codes, codes_std)",
        "windin": "metrics.stochastic_scores(codes, codes_std)",
        "d_lsbd": "metrics.subspace_scores(codes, factors, cyclic=[...])",
        "factorisation": "metrics.subspace_scores(codes, factors)",
        "factorization": "metrics.subspace_scores(codes, factors)",
        "udr": "probes.udr([codes_a, codes_b, ...])",
        "smoothness": "metrics.interpolatability(codes, attributes)",
        "monotonicity": "metrics.interpolatability(codes, attributes)",
        "liad_interpolatability_bundle": "metrics.interpolatability(codes, attributes)",
    }
)
#: The same on the command line, by the name of the function; what takes traversals is in Python alone.
_COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "unsupervised_scores": "demele score --unsupervised",
        "udr": "demele probe udr",
        "downstream": "demele probe downstream",
        "reduced_downstream": "demele probe downstream --task without-best",
        "strong_downstream": "demele probe downstream --task new-values",
        "fairness": "demele probe downstream --task fairness",
    }
)
_PREFIXES = ("compute_", "metric_")
_SUFFIXES = ("_sklearn", "_validation", "_train", "_test", "_score", "_metric")


def elsewhere(name: str) -> str:
    """Return what to suggest for a name of another library, as the end of a message; "" for a name of none.

    Parameters
    ----------
    name : str
        Of a function, a gin binding, a result's key, with any case, and ``-`` for ``_``.

    Examples
    --------
    >>> elsewhere("beta_vae_sklearn"), elsewhere("informativeness_test")[:45]
    ("; did you mean 'z_diff'?", "; did you mean 'dci_boosting_explicitness' (a")
    """
    plain = _plain(name)
    if plain in _FUNCTIONS:
        call = _FUNCTIONS[plain]
        command = _COMMANDS.get(call.partition("(")[0].rpartition(".")[2])
        beside = f", and a command, {command}" if command else ""
        return f"; it is a function of its own in Python, demele.{call}{beside}"
    return f"; did you mean {_MEANT[plain]}?" if plain in _MEANT else ""


def _plain(name: str) -> str:
    """Return a name without what the libraries put around it."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    shorter = plain
    while shorter not in _MEANT and shorter not in _FUNCTIONS:
        before = shorter
        for suffix in _SUFFIXES:
            shorter = shorter.removesuffix(suffix)
        if shorter == before:
            return plain
    return shorter
