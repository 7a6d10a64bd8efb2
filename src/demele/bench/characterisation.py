"""The result of the bench: what metrics do on representations whose properties are known, as tables, pages, files."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.bench.dictionary import joined, to_dictionary
from demele.bench.findings import Findings
from demele.bench.packed import packed
from demele.bench.verdicts import Verdict
from demele.core.errors import InputError, UnknownNameError
from demele.core.names import suggestion
from demele.core.outputs import write_whole
from demele.core.publish import publish
from demele.core.shown import Worded
from demele.core.written import as_json

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Characterisation"]


class Characterisation(Findings, Worded):
    """What metrics did on every scenario: rows, curves, verdicts, a card for each.

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

    Examples
    --------
    >>> from demele import bench
    >>> found = bench.characterise(["mig"], ["mixing"], seeds=3, n_samples=500)
    >>> found.verdict("mig", "coherent_modularity").status
    'not applicable'
    """

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
            raise UnknownNameError("row", f"none is called {row!r}{suggestion(str(row), rows)}")
        if criterion not in criteria:
            raise UnknownNameError("criterion", f"none is called {criterion!r}{suggestion(str(criterion), criteria)}")
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
            raise InputError("group", f"expected 'review' or 'added', got {group!r}")
        found = {(item.row, item.criterion): item.status for item in self.verdicts}
        return pd.DataFrame(
            [[found[row.name, name] for name in names] for row in self.rows],
            index=pd.Index([row.name for row in self.rows], name="metric"),
            columns=names,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each value: scenario, severity, seed, metric, value (NaN with a reason)."""
        import pandas as pd

        lines = []
        for (metric, scenario), curve in self.curves.items():
            if curve.declined is not None:
                continue
            severities = next(item for item in self.scenarios if item.name == scenario).severities
            for severity, seeds, values, missing in zip(
                severities, curve.seeds, curve.values, curve.reasons, strict=True
            ):
                lines += [
                    (scenario, severity, int(seed), metric, float(value), "")
                    for seed, value in zip(seeds, values, strict=True)
                ]
                failed = (seed for seed in itertools.count() if seed not in seeds)
                lines += [(scenario, severity, next(failed), metric, float("nan"), reason) for reason in missing]
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
        """Return everything that the report shows, as plain lists, texts and numbers."""
        return to_dictionary(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return (and write) what :meth:`to_dict` holds."""
        return as_json(self.to_dict(), path)

    def to_html(self, path: str | Path, *, title: str | None = None, beside: "Characterisation | None" = None) -> Path:
        """Write one self-contained interactive page.

        Parameters
        ----------
        path : str or Path
            The file; replaced if it exists.
        title : str, optional
            Heading of the page.
        beside : Characterisation, optional
            Another one to show under this one, such as :func:`demele.bench.reference`.
        """
        shown = self.to_dict() if beside is None else joined(self.to_dict(), beside.to_dict())
        written: Path = publish("characterisation", shown, path, title=title)
        return written

    def save(self, path: str | Path) -> Path:
        """Write every value compactly; :func:`demele.bench.load` reads it."""
        return write_whole(path, packed(self))

    def _repr_html_(self) -> str:
        return str(self.table().to_html())

    def __repr__(self) -> str:
        return (
            f"Characterisation({len(self.candidates)} metrics, {len(self.scenarios)} scenarios, "
            f"n_samples={self.n_samples}, protocol={self.protocol!r})"
        )
