"""Every metric by its name: those of demele, each found in its own file, and those that others register."""

import importlib
import importlib.metadata
import re
from collections.abc import Iterator, Mapping

from demele.core.errors import DemeleWarning, InputError, UnknownNameError, quoted, shortened, warn_user
from demele.core.kinds import suggestion
from demele.metrics.metric import Metric, as_metric

# Names that other libraries have for what is called otherwise here ----------------------------------------------------
#
# Our aliases are names that mean one metric here, and are taken. What stands here is only suggested: it means several
# metrics, or another function, or something that a metric is only near to.


def _by_other_name(*rows: tuple[str, str]) -> Mapping[str, str]:
    return {name: meant for meant, names in rows for name in names.split()}


_DCI = "'dci_boosting_{0}' (as in disentanglement_lib) or 'dci_forest_{0}'"
#: What is meant here, by the plain forms of the names there.
_MEANT = _by_other_name(
    ("'z_diff'", "beta_vae betavae z_diff"),
    ("'z_min_variance'", "factor_vae factorvae z_min z_min_var"),
    ("'z_max_variance'", "rf_vae rfvae z_max z_max_var"),
    *((f"{name!r}", name) for name in ("mig", "sap", "irs", "modularity", "explicitness")),
    (_DCI.format("modularity"), "dci disentanglement dci_disentanglement"),
    (_DCI.format("compactness"), "completeness dci_completeness compactness"),
    (_DCI.format("explicitness"), "informativeness dci_informativeness"),
    ("'modularity' and 'explicitness'", "modularity_explicitness"),
    ("'mig', 'sap', 'modularity' and those of 'dci_boosting'", "unified_scores"),
)
#: What is no metric of factors and one array of codes, and the function here that computes it.
_FUNCTIONS = _by_other_name(
    (
        "probes.unsupervised_scores(codes)",
        "unsupervised unsupervised_metrics gaussian_total_correlation gaussian_wasserstein_correlation "
        "gaussian_wasserstein_correlation_norm mutual_info",
    ),
    ("probes.downstream(codes, factors)", "downstream downstream_task downstream_task_boosted_trees"),
    ("probes.downstream(codes, factors, probe='logistic')", "downstream_task_logistic_regression"),
    ("probes.reduced_downstream(codes, factors)", "reduced_downstream reduced_downstream_task"),
    ("probes.strong_downstream(codes, factors)", "strong_downstream strong_downstream_task"),
    ("probes.fairness(codes, factors)", "fairness"),
    ("metrics.stochastic_scores(codes, codes_std)", "wsepin windin"),
    ("metrics.subspace_scores(codes, factors, cyclic=[...])", "d_lsbd"),
    ("metrics.subspace_scores(codes, factors)", "factorisation factorization"),
    ("probes.udr([codes_a, codes_b, ...])", "udr"),
    ("metrics.interpolatability(codes, attributes)", "smoothness monotonicity liad_interpolatability_bundle"),
)
#: What the libraries put around a name.
_AROUND = re.compile(r"^(compute_|metric_)*|(_sklearn|_validation|_train|_test|_score|_metric)*$")


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
    plain = _AROUND.sub("", name.strip().lower().replace("-", "_").replace(" ", "_"))
    if plain in _FUNCTIONS:
        return f"; it is a function of its own, demele.{_FUNCTIONS[plain]}"
    return f"; did you mean {_MEANT[plain]}?" if plain in _MEANT else ""


#: The file of each metric of demele, below ``demele.metrics``, in the order of the catalogue.
_NAMES = (
    ("information.gaps", "mig rmig mig_sup"),
    ("information.entropies", "modularity dcimig jemmig"),
    ("information.gaps", "dmig xmig dlig"),
    ("predictor.dci", "dci_forest_modularity dci_forest_compactness dci_forest_explicitness"),
    ("predictor.dci", "dci_lasso_modularity dci_lasso_compactness dci_lasso_explicitness"),
    ("predictor.dci", "dci_boosting_modularity dci_boosting_compactness dci_boosting_explicitness"),
    ("predictor.explicitness", "explicitness"),
    ("predictor.correlations", "sap"),
    ("intervention.factor_vae", "z_diff z_min_variance z_max_variance"),
    ("intervention.effects", "irs"),
    ("predictor.correlations", "mcc mcc_rank mcc_weak r2_affine"),
    ("information.information_shares", "infom infoc infoe med_modularity med_compactness"),
    ("information.entropies", "minimality sufficiency"),
    ("information.snc", "snc nk"),
    ("intervention.effects", "omes"),
    ("predictor.explicitness", "capacity_explicitness"),
    ("information.gaps", "unique_information"),
    ("predictor.tmex", "tmex"),
)
FILES: Mapping[str, str] = {name: file for file, names in _NAMES for name in names.split()}
#: Entry points of packages that bring metrics: ``[project.entry-points."demele.metrics"]``.
ENTRY_POINTS = str(__package__)


class _Catalogue(Mapping[str, Metric]):
    """Metrics by name.

    One of demele is imported when its name is looked for, all of them for an alias, those of other packages when a name
    is not ours; iterating, or asking for all, loads everything.
    """

    def __init__(self) -> None:
        self._ours: dict[str, Metric] = {}
        self._others: dict[str, Metric] = {}
        self._entry_points_read = False

    def _load(self, name: str) -> Metric:
        """Import the file of a metric of demele, which may hold others."""
        if name not in self._ours:
            file = FILES[name]
            found = vars(importlib.import_module(f".{file}", __package__))
            metrics = [*found.get("METRICS", ()), *(getattr(one, "metric", None) for one in found.values())]
            self._ours |= {one.name: one for one in metrics if isinstance(one, Metric) and FILES[one.name] == file}
        return self._ours[name]

    def ours(self) -> Mapping[str, Metric]:
        """Return the metrics of demele, in their order."""
        return {name: self._load(name) for name in FILES}

    def add(self, metric: Metric) -> Metric:
        """Add a metric whose names are free, or the same metric again."""
        metric.check()
        for name in (metric.name, *metric.aliases):
            other = self._named(name)
            if other is not None and other.call is not metric.call:
                raise InputError("register_metric", f"{name!r} is a name of {other!r} already; give yours another")
        self._others[metric.name] = metric
        return metric

    def of(self, function: object) -> Metric | None:
        """Return the metric that a function computes, so that it is run with everything that a name brings."""
        name = getattr(function, "__name__", "")
        own = [self._load(name)] if name in FILES else []
        return next((one for one in (*own, *self._others.values()) if one.call is function), None)

    def _named(self, name: str) -> Metric | None:
        plain = name.lower().replace("-", "_").replace(" ", "_")
        if plain in FILES:
            return self._load(plain)
        for metric in (*self._others.values(), *self.ours().values()):
            if name in (metric.name, *metric.aliases):
                return metric
        return None

    def find(self, name: str) -> Metric | None:
        """Return the metric of a name or an alias; packages are asked only where no other has it."""
        found = self._named(name)
        if found is None and not self._entry_points_read:
            self._read_entry_points()
            found = self._named(name)
        return found

    def _read_entry_points(self) -> None:
        self._entry_points_read = True
        for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
            package = "" if point.dist is None else f"{point.dist.name}-{point.dist.version}"
            try:
                loaded = point.load()
                for item in loaded if isinstance(loaded, list | tuple) else [loaded]:
                    self.add(as_metric(item, package=package))
            except Exception as error:  # noqa: BLE001 - another's package; it must not take the others with it
                message = f"the metric {point.name!r} of {package or 'a package'} could not be loaded: {error!r}"
                warn_user(message, DemeleWarning)

    def _all(self) -> dict[str, Metric]:
        if not self._entry_points_read:
            self._read_entry_points()
        return {**self.ours(), **dict(sorted(self._others.items()))}

    def __getitem__(self, name: str) -> Metric:
        found = self.find(name) if isinstance(name, str) else None
        if found is None or found.name != name:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


CATALOGUE = _Catalogue()


def register_metric(metric: Metric) -> Metric:
    """Register your own metric under its name, for all functions that take names of metrics.

    In :func:`demele.evaluate`, :class:`demele.Accumulator`, the metrics of PyTorch and Keras, the bench,
    :func:`demele.metrics.describe` and :func:`demele.replay`, as long as this process runs. A package does the same for
    all who install it with an entry point of the group ``demele.metrics`` that names a :class:`demele.metrics.Metric`.

    Parameters
    ----------
    metric : Metric
        Its guards decided, its name and aliases free.

    Returns
    -------
    Metric
        The same.

    Raises
    ------
    InputError, InputTypeError
        If a name is taken, an option has no check, or guards are not declared.

    Examples
    --------
    >>> import numpy as np, demele
    >>> from demele.core.kinds import Positive
    >>> def spread(codes, factors, *, power: Positive = 1.0):
    ...     return float(np.abs(np.corrcoef(codes[:, 0], factors[:, 0])[0, 1]) ** power)
    >>> guards = demele.metrics.Guards(outliers="move it", bins=False, fewest_rows=50)
    >>> metric = demele.register_metric(demele.metrics.Metric("first_pair", spread, guards=guards, source="an example"))
    >>> factors = np.random.default_rng(0).random((100, 2))
    >>> round(demele.evaluate(factors, factors, ["first_pair"])["first_pair"].value, 6)
    1.0
    """
    return CATALOGUE.add(as_metric(metric))


def list_metrics() -> list[str]:
    """Return the registered names, in the order of the catalogue.

    The newer ones, last, are not among ``metrics="all"``: ``demele.metrics.describe(name).in_all`` is False.

    Examples
    --------
    >>> import demele
    >>> demele.list_metrics()[:3]
    ['mig', 'rmig', 'mig_sup']
    """
    return list(CATALOGUE)


def names_of_all() -> list[str]:
    """Return the names that ``metrics="all"`` stands for: all but the newer ones."""
    return [name for name, metric in CATALOGUE.items() if metric.in_all]


def describe(name: str) -> Metric:
    """Return the facts about one metric: family, properties, range, source, definition.

    Parameters
    ----------
    name : str
        Registered name, or an alias such as ``"MIG"``.

    Returns
    -------
    Metric

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> import demele
    >>> demele.metrics.describe("mig").properties
    ('compactness',)
    """
    return CATALOGUE[resolve(name)]


def resolve(name: str, *, argument: str = "metrics", made_by: Mapping[str, str] | None = None) -> str:
    """Return the registered name for a name or an alias; ``made_by`` is what stored results say of its code."""
    if not isinstance(name, str):
        raise UnknownNameError(argument, f"expected a name or a callable, got {quoted(name)}")
    found = CATALOGUE.find(name)
    if found is None and made_by and (made_by.get("from") or made_by.get("code")):
        home = f"came from {made_by['from']}" if made_by.get("from") else "was a function of somebody's own"
        message = f"unknown metric {name!r}; it {home}: install that package, or register its Metric"
        raise UnknownNameError(argument, shortened(message))
    if found is None:
        hint = elsewhere(name) or suggestion(name, CATALOGUE)
        raise UnknownNameError(argument, f"unknown metric {name!r}{hint}")
    return found.name
