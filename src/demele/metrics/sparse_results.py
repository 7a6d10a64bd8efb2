"""What scoring sparse codes returns: scores, informations of all codes, and the top codes of each factor."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.result import Result, plain
from demele.core.results import FactorSummary, LeftOut, Note, Score, ScoresByName
from demele.core.score_documents import about_scores, factors_table, glossary, scope_of, score_strips, scores_table
from demele.report.document import Document, Section, Table
from demele.report.listing import Column, drawn, listed
from demele.report.words import count, name, written

if TYPE_CHECKING:
    import pandas as pd

    from demele.report.document import Document


#: Tables of all codes are no part of the JSON.
_WHOLE = {"json": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopCode:
    """One of the codes that inform most on a factor.

    Attributes
    ----------
    factor, code : str
        Their names.
    rank : int
        1 is the code that informs most.
    information : float
        Mutual information in nats.
    relative : float
        The same in units of the factor's entropy; 0 for a factor that falls into a single bin.
    activity : float
        Share of the rows in which the code is not zero.
    direction : str
        Categorical factor: the level in which the code is highest on average. Continuous factor: ``"+"`` or ``"-"``,
        the sign of their correlation.
    activity_there : float
        Share of the rows of that level in which the code is not zero; NaN for a continuous factor.
    """

    factor: str
    rank: int
    code: str
    information: float
    relative: float
    activity: float
    direction: str
    activity_there: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SparseEvaluation(Result, ScoresByName):
    """The scores of sparse codes, and the codes of each factor.

    Iterates over its scores; ``evaluation["mig"]`` is one of them. ``left_out`` says which metrics have no number
    and why.

    Attributes
    ----------
    code_names : tuple of str
    information : DataFrame of shape (n_codes, n_factors)
        Mutual information in nats; NaN for a factor that is constant.
    joint_entropy : DataFrame of shape (n_codes, n_factors)
        Entropy of the code's bins and the factor together, nats.
    factor_entropy : Series of shape (n_factors,), nats
    code_entropy : Series of shape (n_codes,), nats
        Entropy of each code's bins, zero being one of them.
    activity : Series of shape (n_codes,)
        Share of the rows in which each code is not zero.
    top : tuple of TopCode
        The codes that inform most on each factor, factor by factor.
    screened : tuple of str
        The codes that predictors were fitted on; empty if none were.
    """

    _kind = "sparse evaluation"

    scores: tuple[Score, ...] = field(metadata=_WHOLE)
    left_out: tuple[LeftOut, ...]
    name: str
    n: int
    code_names: tuple[str, ...] = field(metadata=_WHOLE)
    factors: tuple[FactorSummary, ...]
    information: "pd.DataFrame" = field(metadata=_WHOLE)
    joint_entropy: "pd.DataFrame" = field(metadata=_WHOLE)
    factor_entropy: "pd.Series[float]"
    code_entropy: "pd.Series[float]" = field(metadata=_WHOLE)
    activity: "pd.Series[float]" = field(metadata=_WHOLE)
    top: tuple[TopCode, ...]
    screened: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    version: str = ""
    protocol: str = "sparse: zero is a bin"

    def document(self) -> "Document":
        """Return the scores and the top codes of each factor."""
        return sparse_document(self)

    @property
    def d(self) -> int:
        """Number of codes."""
        return len(self.activity)

    @property
    def dead(self) -> NDArray[np.intp]:
        """Positions of the codes that are zero in every row."""
        return np.flatnonzero(self.activity.to_numpy() == 0)

    def top_codes(self, factor: str | int, k: int | None = None) -> tuple[TopCode, ...]:
        """Return the codes that inform most on a factor, the best first.

        Parameters
        ----------
        factor : str or int
            Name or position of the factor.
        k : int, optional
            How many; all that were kept (``top`` of :func:`demele.evaluate_sparse`) by default.

        Raises
        ------
        UnknownNameError, InputError
            For a factor that there is not, or more codes than were kept.
        """
        names = [item.name for item in self.factors]
        if isinstance(factor, int | np.integer) and not isinstance(factor, bool):
            if not 0 <= factor < len(names):
                raise InputError("factor", f"expected a position from 0 to {len(names) - 1}, got {factor}")
            factor = names[int(factor)]
        if factor not in names:
            raise UnknownNameError("factor", f"unknown factor {factor!r}; there are {', '.join(names[:12])}")
        kept = tuple(item for item in self.top if item.factor == factor)
        return kept[: self._checked(k)]

    def top_frame(self, k: int | None = None) -> "pd.DataFrame":
        """Return the best codes of every factor as a table: one row per code and factor."""
        import pandas as pd

        most = self._checked(k)
        rows = [asdict(item) for item in self.top if most is None or item.rank <= most]
        return pd.DataFrame(rows, columns=list(TopCode.__dataclass_fields__))

    def _checked(self, k: int | None) -> int | None:
        if k is None:
            return None
        if isinstance(k, bool) or not isinstance(k, int | np.integer):
            raise InputTypeError("k", f"expected a whole number, got {quoted(k)}")
        kept = max((item.rank for item in self.top), default=0)
        if k < 1 or (k > kept and kept < self.d):
            raise InputError(
                "k", f"expected 1 to {kept}, as many codes as were kept, got {k}; evaluate with a larger top"
            )
        return int(k)

    def to_frame(self) -> "pd.DataFrame":
        """One row per score, in a fixed column order."""
        import pandas as pd

        return pd.DataFrame([{"name": self.name, **score.row()} for score in self.scores])

    def to_dict(self) -> dict[str, Any]:
        """Scores and top codes as plain values that JSON can hold (NaN becomes None).

        Matrices, and values of codes that are nowhere among the top ones, are left out: with 65 536 codes they would
        be hundreds of megabytes of text. They are in ``information``, ``activity`` and each score.
        """
        top = {item.code for item in self.top}
        found = super(SparseEvaluation, self).to_dict()
        return {**found, "n_codes": self.d, "scores": [plain(_short(score, top)) for score in self.scores]}


def _short(score: Score, top: set[str]) -> Score:
    """Return a score without its matrix, and with the values of the top codes only."""
    details = {
        key: value for key, value in score.details.items() if not (isinstance(value, np.ndarray) and value.size > 1000)
    }
    kept = [index for index, name in enumerate(score.code_names) if name in top]
    return replace(
        score,
        matrix_values=None,
        details=details,
        code_names=tuple(score.code_names[index] for index in kept),
        per_code=None if score.per_code is None else score.per_code[kept],
    )


# What scores of sparse codes say: their document ----------------------------------------------------------------------


def sparse_document(result: "SparseEvaluation") -> Document:
    """Say which codes inform most on each factor, and what all codes score."""
    best = _top_table([one for one in result.top if one.rank == 1])
    alive = f"{count(result.d - len(result.dead), 'code')} of {result.d:,} are active"
    first = max(result.top, key=lambda one: one.relative, default=None)
    share = "" if first is None else f"{written(first.relative, 'percent.0')} of {name(first.factor)}"
    most = "" if first is None else f"; {name(first.code)} carries most of a factor: {share}"
    return Document(
        kind="Scores of sparse codes",
        title=f"Scores of {name(result.name)}",
        headline=f"{alive}{most}.",
        figure=drawn(best, "Share", caption="Best code of each factor", axis="Share of its entropy", ends=(0.0, 1.0)),
        table=scores_table(result.scores),
        below=[best],
        scope=scope_of(result),
        sections=[
            Section("Scores", [score_strips(result.scores), scores_table(result.scores)]),
            Section("Code-factor matrix", [_top_table(result.top)]),
            Section("Data", [factors_table(result)]),
            glossary(result.scores),
        ],
        **about_scores([result]),
    )


def _top_table(codes: "Sequence[TopCode]") -> Table:
    """Return the codes that inform most on each factor."""
    columns: list[Column[TopCode]] = [
        ("Factor", "text", "factor"),
        ("Code", "text", "code"),
        ("Share", "percent.1", "relative"),
        ("Active", "percent.2", "activity"),
        ("Active there", "percent.1?", "activity_there"),
        ("Highest at", "text", "direction"),
    ]
    return listed("Codes that inform most", codes, columns)
