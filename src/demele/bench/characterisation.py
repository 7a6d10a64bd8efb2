"""The result of the bench: metrics on representations whose properties are known, as tables, pages and files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from demele.bench.dictionary import to_dictionary
from demele.bench.metric_documents import characterisation_document
from demele.bench.stored import FILE, packed, read_rows, referred, unpacked
from demele.bench.verdicts import Findings, Verdict
from demele.core.errors import InputError, UnknownNameError, quoted
from demele.core.names import renamed, suggestion
from demele.core.outputs import write_whole
from demele.core.reading import path_of, read_whole, unpacking_at_most
from demele.core.result import Result
from demele.metrics.catalogue import list_metrics, names_of_all

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Characterisation(Findings, Result):
    """Behaviour of metrics on every scenario: rows, curves, verdicts, a card for each.

    Attributes
    ----------
    candidates : tuple of Candidate
        The metrics.
    scenarios : tuple of Scenario
        Where they were measured.
    protocol, n_samples, level
        How.
    seeds, slow_seeds : mapping of str to int
        Seeds of each scenario, and of the metrics that train predictors.
    curves : mapping of (metric, scenario) to Curve
        The scores of all seeds.
    seconds : mapping of (group, scenario) to arrays
        Seconds of each call, per severity.
    rows_of : mapping of scenario to (least, most)
        Rows of the scenarios that draw another number than ``n_samples``.
    fewer_rows : mapping of metric to int
        Rows of the representations of metrics that were measured on fewer than ``n_samples``, as some that are slow
        are in :func:`demele.bench.reference`; their seeds are fewer as well.
    drifting : mapping of metric to text
        What functions that draw without a seed gave, twice, on the same arrays.
    version : str
        The demele that measured.
    stored : Characterisation, optional
        Other results that the document shows under these: see :meth:`compared_with`.

    Examples
    --------
    >>> from demele import bench
    >>> found = bench.check_metrics(["mig"], ["mixing"], seeds=3, n_rows=500)
    >>> found.verdict("mig", "coherent_modularity").status
    'not applicable'
    """

    _kind = "characterisation"
    _files: ClassVar[Mapping[str, str]] = {
        ".json.gz": "save",
        ".values.csv": "value_frame",
        ".curves.csv": "curve_frame",
    }

    stored: "Characterisation | None" = None

    def verdict(self, row: str, criterion: str) -> Verdict:
        """Return one verdict, with its evidence.

        Parameters
        ----------
        row : str
            A metric, or "dci_forest", "dci_lasso", "dci_boosting".
        criterion : str
            Name of a criterion.

        Raises
        ------
        UnknownNameError
            With the nearest names.
        """
        rows, criteria = [item.name for item in self.rows], [item.name for item in self.criteria]
        if row not in rows:
            raise UnknownNameError("row", f"unknown metric {row!r}{suggestion(str(row), rows)}")
        if criterion not in criteria:
            raise UnknownNameError(
                "criterion", f"unknown criterion {criterion!r}{suggestion(str(criterion), criteria)}"
            )
        return next(item for item in self.verdicts if (item.row, item.criterion) == (row, criterion))

    def table(self, group: str | None = None) -> "pd.DataFrame":
        """Return the verdicts as a table: a row for each metric, a column for each criterion.

        Parameters
        ----------
        group : {"review", "added"}, optional
            Only the criteria of the review, or of the further scenarios.
        """
        import pandas as pd

        names = [item.name for item in self.criteria if group in (None, item.group)]
        if group not in (None, "review", "added"):
            raise InputError("group", f"expected 'review' or 'added', got {quoted(group)}")
        found = {(item.row, item.criterion): item.status for item in self.verdicts}
        return pd.DataFrame(
            [[found[row.name, name] for name in names] for row in self.rows],
            index=pd.Index([row.name for row in self.rows], name="metric"),
            columns=names,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each verdict, with the run that it comes from: "yours", "measured" or "stored"."""
        import pandas as pd

        asked, taken = {item.name for item in self.criteria}, {row.name for row in self.rows}
        lines = []
        for run in (self, self.stored) if self.stored is not None else (self,):
            for row in (row for row in run.rows if run is self or row.name not in taken):
                origin = "yours" if row.own else "measured" if run is self else "stored"
                seeds, rows = run.fewer(row.members[0].name) or (max(run.seeds.values()), run.n_samples)
                lines += [
                    (item.row, item.criterion, item.status, item.summary, origin, rows, seeds)
                    for item in run.verdicts
                    if item.row == row.name and item.criterion in asked
                ]
        columns = ["metric", "criterion", "status", "summary", "origin", "n_rows", "seeds"]
        return pd.DataFrame(lines, columns=columns)

    def value_frame(self) -> "pd.DataFrame":
        """Return one row for each value: scenario, severity, seed, metric, value (NaN with a reason)."""
        import pandas as pd

        lines = []
        for (metric, scenario), curve in self.curves.items():
            if curve.declined is not None:
                continue
            severities = next(one for one in self.scenarios if one.name == scenario).severities
            for severity, of_seeds in zip(severities, curve.outcomes, strict=True):
                for seed, own in enumerate(of_seeds):
                    value, reason = (float("nan"), own) if isinstance(own, str) else (own, "")
                    lines.append((scenario, severity, seed, metric, value, reason))
        return pd.DataFrame(lines, columns=["scenario", "severity", "seed", "metric", "value", "reason"])

    def curve_frame(self) -> "pd.DataFrame":
        """Return one row for each point of each curve: mean, interval, standard deviation, seeds."""
        import pandas as pd

        lines = []
        for scenario in self.scenarios:
            for item in self.candidates:
                curve = self.curves[item.name, scenario.name]
                if curve.declined is not None:
                    continue
                for place, severity in enumerate(scenario.severities):
                    mean, low, high, count = curve.point(place, self.level).values()
                    spread = float(curve.values[place].std(ddof=1)) if count > 1 else float("nan")
                    label = scenario.label(place)
                    lines.append((scenario.name, severity, label, item.name, mean, low, high, spread, count))
        columns = ["scenario", "severity", "label", "metric", "mean", "low", "high", "std", "seeds"]
        return pd.DataFrame(lines, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return curves, criteria, verdicts and the facts about each metric, as plain values that JSON can hold."""
        return to_dictionary(self)

    document = characterisation_document

    def compared_with(self, stored: "Characterisation") -> "Characterisation":
        """Return this with other results under it in its document, where these lack a metric.

        Parameters
        ----------
        stored : Characterisation
            Such as :func:`demele.bench.reference`. :meth:`to_dict` and :meth:`value_frame` do not hold it.

        Examples
        --------
        >>> from demele import bench
        >>> found = bench.check_metrics(["mig"], ["mixing"], seeds=3, n_rows=500)
        >>> len(found.document().table.rows) < len(found.compared_with(bench.reference()).document().table.rows)
        True
        """
        return replace(self, stored=stored)

    def with_published(self) -> "Characterisation":
        """Return this with the stored results of the published metrics under those of your own, if it has any."""
        if not any(row.own for row in self.rows):
            return self
        try:
            return self.compared_with(reference())
        except FileNotFoundError:  # an installation may come without them
            return self

    def save(self, path: str | Path) -> Path:
        """Write every value compactly; :func:`demele.bench.load` reads it."""
        return write_whole(path, packed(self))


@renamed(max_bytes="max_size")
def load(path: str | Path, *, max_size: int | None = None) -> Characterisation:
    """Read a file of :meth:`Characterisation.save`.

    Parameters
    ----------
    path : str or Path
        The file.
    max_size : int, optional
        Most bytes that it may take once it is unpacked; by default its own size and 512 MiB.

    Returns
    -------
    Characterisation
        Functions of your own are there by name; they cannot be called.

    Raises
    ------
    InputError
        If the file cannot be read.
    FormatError
        If it is something else, or takes more.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demele import bench
    >>> found = bench.check_metrics(["mig"], ["mixing"], seeds=2, n_rows=200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = bench.load(found.save(Path(folder) / "mig.json.gz"))
    >>> again.curve_frame().equals(found.curve_frame())
    True
    """
    with unpacking_at_most(max_size):
        try:
            content = read_whole(path_of(path))
        except OSError as error:
            raise InputError("path", f"cannot read {path}: {error.strerror or error}") from error
        return unpacked(content, str(path), Characterisation)


def reference() -> Characterisation:
    """Return the stored characterisation of demele's metrics, for comparison with your own metric.

    Returns
    -------
    Characterisation
        Of all registered metrics, the newer ones where their rows are stored, under the protocol "review2022", with
        20 000 rows; some that take seconds a call have fewer seeds, of 5000 rows: those of ``fewer_rows``. A metric of
        which no rows are stored is there without values: its verdicts are "not yet characterised".

    Raises
    ------
    FileNotFoundError
        If demele was installed without any stored rows.

    Examples
    --------
    >>> from demele import bench
    >>> bench.reference().verdict("modularity", "calibrated").status
    'fails'
    """
    rows = read_rows(FILE)
    if not rows:
        raise FileNotFoundError(f"no rows of metrics are stored in {FILE}")
    usual = names_of_all()
    return referred(Characterisation, [name for name in list_metrics() if name in usual or name in rows], rows)
