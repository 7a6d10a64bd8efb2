"""Every metric that demele knows: what it is, what it claims, where it comes from.

One line here brings a metric its contract tests, its documentation page and its name on the command line.
"""

import difflib
from collections.abc import Iterable

from demele.core.errors import UnknownNameError
from demele.core.spec import MetricSpec, Property

__all__ = ["CATALOGUE", "describe", "metric_names", "resolve"]

_INFORMATION = ("bins", "estimator", "correction", "n_neighbors")


def _dci(model: str, title: str) -> tuple[MetricSpec, ...]:
    per: dict[Property, tuple[str, str]] = {
        "modularity": ("per code", "D_j = 1 + sum_i p_ij log_M p_ij, weighted by the codes' shares of the importance"),
        "compactness": ("per factor", "C_i = 1 + sum_j p_ij log_d p_ij of the importances of one factor"),
        "explicitness": (
            "per factor",
            "1 - MSE/Var, or accuracy above chance, on rows that the predictor has not seen",
        ),
    }
    return tuple(
        MetricSpec(
            name=f"dci_{model}_{prop}",
            title=f"DCI {title} {prop}",
            family="predictor",
            properties=(prop,),
            native="per code" if unit == "per code" else "per factor",
            range=(0.0, 1.0),
            source="Eastwood & Williams 2018, section 2",
            definition=definition,
            group=f"dci_{model}",
            stochastic=True,
            needs_codes=2 if prop == "compactness" else 1,
            needs_factors=2 if prop == "modularity" else 1,
        )
        for prop, (unit, definition) in per.items()
    )


_ALL = (
    MetricSpec(
        name="mig",
        title="MIG",
        family="information",
        properties=("compactness",),
        native="per factor",
        range=(0.0, 1.0),
        source="Chen et al. 2018, eq. 6",
        definition="[I(v_i; z_*) - I(v_i; z_o)] / H(v_i): the gap between the two codes that inform most on a factor",
        group="information",
        discretises=True,
        options=(*_INFORMATION, "reg_dim", "fill_reg_dim"),
        aliases=("MIG", "discrete_mig", "MutualInformationGap"),
    ),
    MetricSpec(
        name="rmig",
        title="RMIG",
        family="information",
        properties=("compactness",),
        native="per factor",
        range=(0.0, 1.0),
        source="Do & Tran 2020, section 4",
        definition="MIG with each sample spread over the bins by its q(z|x), from the codes' standard deviations",
        group="information",
        discretises=True,
        needs_codes_std=True,
        options=("bins",),
        aliases=("RMIG",),
    ),
    MetricSpec(
        name="mig_sup",
        title="MIG-sup",
        family="information",
        properties=("modularity",),
        native="per code",
        range=(0.0, 1.0),
        source="Li et al. 2020, eq. 3",
        definition="gap between the two factors on which a code informs most, each relative to its entropy",
        group="information",
        discretises=True,
        options=_INFORMATION,
        aliases=("MIG-sup", "MIG_sup"),
    ),
    MetricSpec(
        name="modularity",
        title="Modularity",
        family="information",
        properties=("modularity",),
        native="per code",
        range=(0.0, 1.0),
        source="Ridgeway & Mozer 2018, section 3",
        definition="1 - sum of squared informations on other factors / [(M - 1) x squared largest one]",
        group="information",
        discretises=True,
        needs_factors=2,
        options=_INFORMATION,
        aliases=("Modularity", "modularity_score"),
    ),
    MetricSpec(
        name="dcimig",
        title="DCIMIG",
        family="information",
        properties=("modularity", "compactness", "explicitness"),
        native="per factor",
        range=(0.0, 1.0),
        source="Sepliarskaia et al. 2020 (3CharM)",
        definition="largest gap of a code for its best factor, summed over factors, over the sum of their entropies",
        group="information",
        discretises=True,
        options=_INFORMATION,
        aliases=("DCIMIG",),
    ),
    MetricSpec(
        name="jemmig",
        title="JEMMIG",
        family="information",
        properties=("modularity", "compactness", "explicitness"),
        native="per factor",
        range=(0.0, 1.0),
        source="Do & Tran 2020, section 4; recalibrated as in Carbonneau et al. 2022",
        definition="1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + log B_z]",
        group="information",
        discretises=True,
        options=("bins", "correction"),
        aliases=("JEMMIG",),
    ),
    MetricSpec(
        name="dmig",
        title="DMIG",
        family="information",
        properties=("compactness",),
        native="per factor",
        range=(float("-inf"), float("inf")),
        source="Watcharasupat & Lerch 2021, eq. 2",
        definition="[I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l), v_l being the factor of the best other code",
        group="information",
        discretises=True,
        options=(*_INFORMATION, "reg_dim"),
        aliases=("DMIG", "DependencyAwareMutualInformationGap"),
    ),
    MetricSpec(
        name="xmig",
        title="XMIG",
        family="information",
        properties=("compactness",),
        native="per factor",
        range=(-1.0, 1.0),
        source="Watcharasupat & Lerch 2021",
        definition="[I(v_i; z_j) - max over codes that regularise no factor of I(v_i; z_k)] / H(v_i)",
        group="information",
        discretises=True,
        needs_codes=2,
        options=(*_INFORMATION, "reg_dim"),
        aliases=("XMIG", "DependencyBlindMutualInformationGap"),
    ),
    MetricSpec(
        name="dlig",
        title="DLIG",
        family="information",
        properties=("modularity",),
        native="per factor",
        range=(float("-inf"), float("inf")),
        source="Watcharasupat 2021",
        definition="[I(v_i; z) - I(v_k; z)] / H(v_i | v_k) for the factor's code z, v_k being the best other factor",
        group="information",
        discretises=True,
        needs_factors=2,
        options=(*_INFORMATION, "reg_dim"),
        aliases=("DLIG", "DependencyAwareLatentInformationGap"),
    ),
    *_dci("forest", "forest"),
    *_dci("lasso", "Lasso"),
    *_dci("boosting", "boosted trees"),
    MetricSpec(
        name="explicitness",
        title="Explicitness",
        family="predictor",
        properties=("explicitness",),
        native="per factor",
        range=(-1.0, 1.0),
        source="Ridgeway & Mozer 2018, section 3",
        definition="2 AUC - 1 of one-vs-rest logistic regressions on the codes, mean over the factor's values",
        group="explicitness",
        stochastic=True,
        discretises=True,
        aliases=("Explicitness", "explicitness_score"),
    ),
    MetricSpec(
        name="sap",
        title="SAP",
        family="predictor",
        properties=("compactness",),
        native="per factor",
        range=(0.0, 1.0),
        source="Kumar et al. 2018, section 3",
        definition="gap between the two codes that alone predict a factor best: squared correlation, or accuracy",
        group="sap",
        stochastic=True,
        aliases=("SAP", "SAP_score", "SeparateAttributePredictability"),
    ),
    MetricSpec(
        name="z_diff",
        title="Z-diff",
        family="intervention",
        properties=("modularity",),
        native="whole",
        range=(-1.0, 1.0),
        source="Higgins et al. 2017, section 3 (beta-VAE metric)",
        definition="accuracy above chance of telling which factor two samples share from their mean code difference",
        group="z_diff",
        stochastic=True,
        discretises=True,
        needs_factors=2,
        aliases=("Z-diff", "beta_vae_score"),
    ),
    MetricSpec(
        name="z_min_variance",
        title="Z-min variance",
        family="intervention",
        properties=("modularity",),
        native="whole",
        range=(-1.0, 1.0),
        source="Kim & Mnih 2018, section 4 (FactorVAE metric)",
        definition="accuracy above chance of a majority vote from the code that varies least to the factor held fixed",
        group="z_min_variance",
        stochastic=True,
        discretises=True,
        needs_factors=2,
        aliases=("Z-min variance", "factor_vae_score"),
    ),
    MetricSpec(
        name="z_max_variance",
        title="Z-max variance",
        family="intervention",
        properties=("modularity",),
        native="whole",
        range=(-1.0, 1.0),
        source="Kim et al. 2019 (RF-VAE metric)",
        definition="accuracy above chance of a majority vote from the code that varies most to the factor left free",
        group="z_max_variance",
        stochastic=True,
        discretises=True,
        needs_factors=2,
        aliases=("Z-max variance", "rf_vae_score"),
    ),
    MetricSpec(
        name="irs",
        title="IRS",
        family="intervention",
        properties=("modularity",),
        native="per code",
        range=(-1.0, 1.0),
        source="Suter et al. 2019, section 5",
        definition="1 - largest deviation of a code at a fixed value of its best factor, over its largest deviation",
        group="irs",
        discretises=True,
        aliases=("IRS",),
    ),
)

CATALOGUE: dict[str, MetricSpec] = {spec.name: spec for spec in _ALL}
_ALIASES = {alias: spec.name for spec in _ALL for alias in spec.aliases}


def metric_names() -> list[str]:
    """Return the registered names, in the order of the catalogue.

    Examples
    --------
    >>> import demele
    >>> demele.metric_names()[:3]
    ['mig', 'rmig', 'mig_sup']
    """
    return list(CATALOGUE)


def describe(name: str) -> MetricSpec:
    """Return what is known of one metric: family, properties, range, source, definition.

    Parameters
    ----------
    name : str
        Registered name, or an alias such as ``"MIG"``.

    Returns
    -------
    MetricSpec

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> import demele
    >>> demele.describe("mig").properties
    ('compactness',)
    """
    return CATALOGUE[resolve(name)]


def resolve(name: str, *, argument: str = "metrics") -> str:
    """Return the registered name for a name or an alias."""
    if not isinstance(name, str):
        raise UnknownNameError(argument, f"expected a name or a callable, got {name!r}")
    if name in CATALOGUE:
        return name
    if name in _ALIASES:
        return _ALIASES[name]
    raise UnknownNameError(argument, f"no metric is called {name!r}{suggestion(name, CATALOGUE)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the nearest names, or the list of all."""
    known = list(known)
    lowered = {item.lower(): item for item in known}
    begins = [item for item in known if len(name) > 2 and item.lower().startswith(f"{name.lower()}_")]
    near = begins[:3] or difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.5)
    if near:
        return "; did you mean " + " or ".join(repr(lowered[item.lower()]) for item in near) + "?"
    return "; known are " + ", ".join(known)
