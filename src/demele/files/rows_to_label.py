"""Rows that an expert labels: drawn at random, and written as a table, or as a sheet without labels and predictions."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.kinds import Data, OneClass
from demele.core.labelled import read_labels
from demele.core.outputs import write_whole
from demele.core.result import TableResult
from demele.core.sentences import plural
from demele.files.audit_files import DRAW, LEAST, PROBABILITY, ROW, TRUE, answers_text
from demele.files.expert_sheets import ANSWER, KEY, SheetKey, new_key, write_sheet
from demele.files.label_files import class_texts, classes_like
from demele.noise.audit import AuditPlan, draw_audit
from demele.noise.audit import disagreement as disagreement_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowsToLabel(TableResult):
    """Rows for an expert; see :func:`draw_rows`.

    Attributes
    ----------
    plan : AuditPlan
    labels : array of shape (n,)
        The given labels.
    key : SheetKey or None
        Of a sheet: what leads back from it to the rows.
    kept : DataFrame of n rows, or None
        Of a sheet: what the expert sees.
    offered : tuple of str
        Of a sheet: the classes that an answer may be.
    """

    _kind = "rows to label"
    _files: ClassVar[Mapping[str, str]] = {".csv": "save", ".tsv": "save", ".xlsx": "save", ".json": "save"}

    plan: AuditPlan = field(metadata={"json": False})
    labels: NDArray[Any] = field(metadata={"json": False})
    key: SheetKey | None = field(default=None, metadata={"json": False})
    kept: "pd.DataFrame | None" = field(default=None, metadata={"json": False})
    offered: tuple[str, ...] = ()

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows as the expert gets them."""
        import pandas as pd

        if self.key is not None and self.kept is not None:
            shown = self.kept.iloc[[line.row for line in self.key.lines]].reset_index(drop=True)
            shown.insert(0, KEY, [line.key for line in self.key.lines])
            return shown.assign(**{ANSWER: ""})
        return pd.DataFrame(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the rows."""
        return {"kind": self._kind, "design": self.plan.design, "n": self.plan.n, "rows": self._lines()}

    def save(self, path: str | Path) -> None:
        """Write the rows: .csv, .tsv or .json; a sheet with its key next to it: .csv, .tsv or .xlsx.

        Raises
        ------
        InputError
            For another kind of file.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if (suffix == ".json") if self.key is not None else (suffix == ".xlsx"):
            kinds = ".csv, .tsv or .xlsx" if self.key is not None else ".csv, .tsv or .json; a sheet (blind) is .xlsx"
            raise InputError(f"{path}: expected a file called {kinds}")
        if self.key is not None and self.kept is not None:
            write_sheet(path, self.key, self.kept, classes=self.offered)
        elif suffix == ".json":
            write_whole(path, json.dumps(self._lines(), indent=1) + "\n")
        else:
            write_whole(path, self._text("\t" if suffix == ".tsv" else ","))

    def headline(self) -> str:
        """Return how many rows were drawn."""
        rows, column = plural(self.plan.rows.size, "row", "rows"), TRUE if self.key is None else ANSWER
        return f"An expert fills in the column {column} of {rows} of {self.plan.n:,} ({self.plan.design} draw)."

    def _text(self, delimiter: str = ",") -> str:
        plan = self.plan
        chances, least = plan.probabilities, plan.least_probability
        return answers_text(
            plan.rows, self.labels, plan.design, probabilities=chances, least=least, delimiter=delimiter
        )

    def _lines(self) -> list[dict[str, Any]]:
        """Return the rows with numbers as such; an answer that is missing is None."""
        kinds: dict[str, Any] = {DRAW: int, ROW: int, PROBABILITY: float, LEAST: float, TRUE: lambda text: text or None}
        read = csv.DictReader(io.StringIO(self._text()))
        return [{name: kinds.get(name, str)(value) for name, value in row.items()} for row in read]


def draw_rows(
    labels: object,
    size: int,
    *,
    disagreement: Data = None,
    positive: OneClass = None,
    blind: bool = False,
    kept: "pd.DataFrame | None" = None,
    offered: Sequence[object] | None = (),
    seed: int = 0,
) -> RowsToLabel:
    """Draw random rows for an expert to label.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The given labels.
    size : int
        Number of rows to label.
    disagreement : mapping of str to array-like of shape (n,), optional
        Predictions of several models. Rows on which they disagree are drawn more often.
    positive : class, optional
        Rare class. Half of the rows are drawn where a label or prediction is it.
    blind : bool
        Write a sheet without labels and predictions, and a key.
    kept : DataFrame of n rows, optional
        What the expert sees in the sheet.
    offered : sequence of classes
        What an answer may be, in addition to the labels; None if an answer may be any text.
    seed : int
        Random seed.

    Returns
    -------
    RowsToLabel

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> print(draw_rows(["cat", "dog"] * 50, 3).sentence)
    An expert fills in the column true_label of 3 rows of 100 (uniform draw).
    """
    given = read_labels(labels, "labels")
    models: Mapping[str, Any] = disagreement if isinstance(disagreement, Mapping) else {}
    for values in models.values():
        if len(values) != given.size:
            raise InputError("disagreement", f"expected {given.size} rows, as many as labels, got {len(values)}")
    drawn: dict[str, Any] = {}
    if positive is not None:
        (wanted,) = classes_like([str(positive)], given)
        said = [given, *(read_labels(values, "disagreement") for values in models.values())]
        drawn["within"] = np.flatnonzero(np.any([one == wanted for one in said], axis=0))
        if not drawn["within"].size:
            raise InputError("positive", f"expected at least 1 row, got none of the class {positive}")
    elif models:
        if len(models) < 2:
            raise InputError("disagreement", "expected the predictions of at least 2 models, got 1")
        drawn["disagreement"] = disagreement_of(models)
    plan = draw_audit(given.size, size, seed=seed, **drawn)
    if not blind:
        return RowsToLabel(plan, given)
    import pandas as pd

    key = new_key(
        plan.rows,
        given,
        plan.design,
        seed=seed,
        probabilities=plan.probabilities,
        least_probability=plan.least_probability,
        within=plan.within,
    )
    seen = pd.DataFrame(index=range(given.size)) if kept is None else kept
    texts = [] if offered is None else class_texts([*given.tolist(), *offered])
    return RowsToLabel(plan, given, key, seen, tuple(texts))
