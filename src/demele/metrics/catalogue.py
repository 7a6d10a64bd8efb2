"""Every metric by its name: those of demele, found in the folders of their families, and those that others register.

A file with a ``METRIC`` (or ``METRICS``) in a family's folder brings a metric its contract tests, its documentation
page and its name on the command line.
"""

import importlib
import importlib.metadata
import pkgutil
from collections.abc import Iterator, Mapping

from demele.core.errors import DemeleWarning, InputError, UnknownNameError, quoted, shortened, warn_user
from demele.core.names import suggestion
from demele.metrics.metric import Metric, as_metric
from demele.metrics.other_names import elsewhere

#: Folders beside this file; a new family is a new folder, and a line here.
FAMILIES = ("demele.metrics.information", "demele.metrics.predictor", "demele.metrics.intervention")
#: Entry points of packages that bring metrics: ``[project.entry-points."demele.metrics"]``.
ENTRY_POINTS = "demele.metrics"


class _Catalogue(Mapping[str, Metric]):
    """Metrics by name.

    Our own are imported when the first is looked for, those of other packages when a name is not ours; iterating, or
    asking for all, loads both.
    """

    def __init__(self) -> None:
        self._ours: dict[str, Metric] = {}
        self._others: dict[str, Metric] = {}
        self._entry_points_read = False

    def ours(self) -> Mapping[str, Metric]:
        """Return the metrics of demele, in their order."""
        if not self._ours:
            found: list[Metric] = []
            for family in FAMILIES:
                package = importlib.import_module(family)
                for module in pkgutil.iter_modules(package.__path__):
                    loaded = importlib.import_module(f"{family}.{module.name}")
                    found += getattr(loaded, "METRICS", [loaded.METRIC] if hasattr(loaded, "METRIC") else [])
            self._ours = {metric.name: metric for metric in sorted(found, key=lambda one: (one.order, one.name))}
        return self._ours

    def add(self, metric: Metric) -> None:
        """Add a metric whose names are free, or the same metric again."""
        metric.check()
        for name in (metric.name, *metric.aliases):
            other = self._named(name)
            if other is not None and other.call is not metric.call:
                raise InputError("register", f"{name!r} is a name of {other!r} already; give yours another")
        self._others[metric.name] = metric

    def known(self) -> tuple[Metric, ...]:
        """Return what is registered so far; packages are not asked."""
        return (*self.ours().values(), *self._others.values())

    def _named(self, name: str) -> Metric | None:
        for metric in self.known():
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
        others = sorted(self._others.values(), key=lambda one: (one.order, one.name))
        return {**self.ours(), **{metric.name: metric for metric in others}}

    def __getitem__(self, name: str) -> Metric:
        found = self.ours().get(name) or self._others.get(name)
        if found is None and isinstance(name, str):
            found = self.find(name)
        if found is None or found.name != name:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


CATALOGUE = _Catalogue()


def register(metric: Metric) -> Metric:
    """Make a metric of your own known by its name, everywhere that names of metrics are taken.

    In :func:`demele.evaluate`, :class:`demele.Accumulator`, the metrics of PyTorch and Keras, the bench,
    :func:`demele.describe` and :func:`demele.replay`, as long as this process runs. A package does the same for all who
    install it with an entry point of the group ``demele.metrics`` that names a :class:`demele.Metric`.

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
        If a name is taken, an option has no check, or guards are undecided.

    Examples
    --------
    >>> import numpy as np, demele
    >>> from demele.metrics.options import Positive
    >>> def spread(codes, factors, *, power: Positive = 1.0):
    ...     return float(np.abs(np.corrcoef(codes[:, 0], factors[:, 0])[0, 1]) ** power)
    >>> guards = demele.Guards(outliers="move it", bins=False, fewest_rows=50)
    >>> metric = demele.register(demele.Metric("first_pair", spread, guards=guards, source="an example"))
    >>> factors = np.random.default_rng(0).random((100, 2))
    >>> round(demele.evaluate(factors, factors, ["first_pair"])["first_pair"].value, 6)
    1.0
    """
    if not isinstance(metric, Metric):
        metric = as_metric(metric)
    CATALOGUE.add(metric)
    return metric


def metric_names() -> list[str]:
    """Return the registered names, in the order of the catalogue.

    The newer ones, last, are not among ``metrics="all"``: ``demele.describe(name).in_all`` is False.

    Examples
    --------
    >>> import demele
    >>> demele.metric_names()[:3]
    ['mig', 'rmig', 'mig_sup']
    """
    return list(CATALOGUE)


def names_of_all() -> list[str]:
    """Return the names that ``metrics="all"`` stands for: all but the newer ones."""
    return [name for name, metric in CATALOGUE.items() if metric.in_all]


def describe(name: str) -> Metric:
    """Return what is known of one metric: family, properties, range, source, definition.

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
    >>> demele.describe("mig").properties
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
        message = f"unknown metric {name!r}; it {home}: install that package, or demele.register its Metric"
        raise UnknownNameError(argument, shortened(message))
    if found is None:
        hint = elsewhere(name) or suggestion(name, CATALOGUE)
        raise UnknownNameError(argument, f"unknown metric {name!r}{hint}")
    return found.name
