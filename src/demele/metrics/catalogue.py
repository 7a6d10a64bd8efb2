"""Every metric by its name: those of demele, each found in its own file, and those that others register."""

import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping

from demele.core.errors import DemeleWarning, InputError, UnknownNameError, quoted, shortened, warn_user
from demele.core.kinds import suggestion
from demele.metrics.metric import Metric, as_metric
from demele.metrics.other_names import elsewhere

#: The file of each metric of demele, below ``demele.metrics``, in the order of the catalogue.
FILES: Mapping[str, str] = {
    "mig": "information.gaps",
    "rmig": "information.gaps",
    "mig_sup": "information.gaps",
    "modularity": "information.entropies",
    "dcimig": "information.entropies",
    "jemmig": "information.entropies",
    "dmig": "information.gaps",
    "xmig": "information.gaps",
    "dlig": "information.gaps",
    **{
        f"dci_{model}_{score}": "predictor.dci"
        for model in ("forest", "lasso", "boosting")
        for score in ("modularity", "compactness", "explicitness")
    },
    "explicitness": "predictor.explicitness",
    "sap": "predictor.sap",
    "z_diff": "intervention.factor_vae",
    "z_min_variance": "intervention.factor_vae",
    "z_max_variance": "intervention.factor_vae",
    "irs": "intervention.irs",
    "mcc": "predictor.correlations",
    "mcc_rank": "predictor.correlations",
    "mcc_weak": "predictor.correlations",
    "r2_affine": "predictor.correlations",
    "infom": "information.information_shares",
    "infoc": "information.information_shares",
    "infoe": "information.information_shares",
    "med_modularity": "information.med",
    "med_compactness": "information.med",
    "minimality": "information.entropies",
    "sufficiency": "information.entropies",
    "snc": "information.snc",
    "nk": "information.snc",
    "omes": "intervention.omes",
    "capacity_explicitness": "predictor.capacity_explicitness",
    "unique_information": "information.unique_information",
    "tmex": "predictor.tmex",
}
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

    def add(self, metric: Metric) -> None:
        """Add a metric whose names are free, or the same metric again."""
        metric.check()
        for name in (metric.name, *metric.aliases):
            other = self._named(name)
            if other is not None and other.call is not metric.call:
                raise InputError("register_metric", f"{name!r} is a name of {other!r} already; give yours another")
        self._others[metric.name] = metric

    def of(self, function: object) -> Metric | None:
        """Return the metric that a function computes, so that it is run with everything that a name brings."""
        name = getattr(function, "__name__", "")
        own = [self._load(name)] if name in FILES else []
        return next((one for one in (*own, *self._others.values()) if one.call is function), None)

    def _named(self, name: str) -> Metric | None:
        for key in (name, name.lower().replace("-", "_")):
            if key in FILES and name in (key, *self._load(key).aliases):
                return self._load(key)
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
    if not isinstance(metric, Metric):
        metric = as_metric(metric)
    CATALOGUE.add(metric)
    return metric


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
