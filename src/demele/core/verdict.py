"""What an evaluation says in words: which code holds which factor, what is lost, which codes are dead or noise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.result import Result
from demele.core.verdict_documents import verdict_document

if TYPE_CHECKING:
    import pandas as pd

FactorStatus = Literal["one code", "mixed code", "several codes", "weak", "no code", "inconclusive", "constant"]
CodeStatus = Literal["one factor", "mixed", "weak", "noise", "dead", "inconclusive"]
#: How several codes share a factor: as copies of each other, as mixtures with other factors, in parts, or over many.
Sharing = Literal["", "copies", "mixture", "parts", "spread"]
#: A code holds a factor if it carries at least this share of the factor's entropy.
HELD = 0.1
#: A factor is shared where the next code carries more than this share of what the best one does; a code is mixed where
#: it carries more than this share of another factor.
SHARED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorVerdict:
    """The codes that hold one factor.

    Attributes
    ----------
    factor : str
    status : {"one code", "mixed code", "several codes", "weak", "no code", "inconclusive", "constant"}
        "mixed code": one code holds it, and another factor as well. "weak": codes carry more than chance, but less than
        a tenth of its entropy.
    sharing : {"", "copies", "mixture", "parts", "spread"}
        Of several codes: "copies" add nothing to each other; a "mixture" holds other factors too; "parts" add to each
        other; "spread" is over four or more, or over codes that carry nothing alone. Empty if rows are too few.
    codes : tuple of str
        The codes that hold it, the one that carries most first.
    others : tuple of str
        Factors that the best code holds as well, or, of a lost factor, through which a code carries it.
    share, second : float in [0, 1]
        Shares of the factor's entropy in the best code and the next one, among codes that carry it directly, not
        through a factor that it depends on. NaN if rows are too few.
    next_code : str
        The next code, if it carries at least a tenth of the factor's entropy.
    chance : float in [0, 1]
        Largest share of the factor in any code when its rows are permuted.
    together : float in [0, 1]
        What the two best codes carry together, in coarser bins, where that is more than one of them carries. For a
        factor spread over codes that carry nothing alone: R squared of a linear regression. NaN elsewhere.
    n : int
        Rows it was judged on.
    rows_needed : int or None
        If inconclusive: estimated number of rows that would be enough.
    words : str
        The verdict as a sentence.
    """

    factor: str
    status: FactorStatus
    sharing: Sharing = ""
    codes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    share: float = float("nan")
    second: float = float("nan")
    next_code: str = ""
    chance: float = float("nan")
    together: float = float("nan")
    n: int = 0
    rows_needed: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeVerdict:
    """The factors in one code.

    Attributes
    ----------
    code : str
    status : {"one factor", "mixed", "weak", "noise", "dead", "inconclusive"}
        "dead": it does not vary. "noise": it carries nothing of any factor beyond chance. "weak": it carries more,
        but less than a tenth of any factor.
    factors : tuple of str
        Factors in the code, the one with the largest share first.
    shares : tuple of float
        Shares of the entropy of each.
    traces : tuple of str
        Factors with a share above chance, but at most half of the largest.
    chance : float
        Largest chance level over the factors.
    rows_needed : int or None
        If inconclusive: estimated number of rows that would be enough.
    words : str
    """

    code: str
    status: CodeStatus
    factors: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    traces: tuple[str, ...] = ()
    chance: float = float("nan")
    rows_needed: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepresentationVerdict(Result):
    """Which code holds which factor: by factor, by code, and as a whole.

    Attributes
    ----------
    factors : tuple of FactorVerdict
    codes : tuple of CodeVerdict
    shares : array of shape (n_codes, n_factors)
        Of the factor's entropy, what each code carries; NaN for a factor that does not vary.
    above_chance : array of bool of the same shape
        Whether that is more than chance gives.
    n : int
        Rows behind the verdict: 5,000 drawn at random, or more if these are too few, up to all.
    bins : int
        Bins of equal frequency for codes and continuous factors.
    first_look : str
        The score to look at first, and why; empty where it was not computed.

    Notes
    -----
    Held: codes carry at least a tenth of the factor's entropy, one alone or several together. Weak: codes carry more
    than chance, but less than a tenth. Lost: no code carries more than chance, or codes do only through another factor.
    Held by one code: the next code carries at most half as much. Mixed: the code also carries more than half as much of
    another factor, and not only because the two factors depend on each other. Inconclusive: rows are too few, or shares
    too near these limits.

    Examples
    --------
    >>> import numpy as np, demele
    >>> v = np.random.default_rng(0).random((1000, 2))
    >>> print(demele.evaluate(np.column_stack([v[:, 0], v[:, 0] ** 3]), v, ["mig"]).verdict)
    0 of 2 factors have a code of their own; 1 is in several codes; 1 is lost.
    1,000 rows, 2 codes, 2 factors
    <BLANKLINE>
    Factor  Best code  Share  Next  Chance  Verdict
    v1      z1, z2      100%  100%    0.5%  repeated in 2 codes
    v2      –             0%     –    0.3%  lost
    """

    _kind = "verdict"

    factors: tuple[FactorVerdict, ...]
    codes: tuple[CodeVerdict, ...]
    shares: NDArray[np.float64]
    above_chance: NDArray[np.bool_]
    n: int
    bins: int
    first_look: str = ""

    document = verdict_document

    def to_frame(self) -> "pd.DataFrame":
        """One row for each factor and each code: ``unit``, ``name``, ``status``, ``holds``, ``share``, ``words``..."""
        import pandas as pd

        columns = ("unit", "name", "status", "sharing", "by", "share", "second", "chance", "together", "words")
        rows: list[dict[str, Any]] = [
            {**{key: getattr(one, key, None) for key in columns}, "unit": "factor", "name": one.factor, "by": one.codes}
            for one in self.factors
        ]
        for code in self.codes:
            own = {"unit": "code", "name": code.code, "status": code.status, "sharing": "", "by": code.factors}
            shares = dict(zip(("share", "second"), code.shares, strict=False))
            rows.append({**own, **shares, "chance": code.chance, "words": code.words})
        return pd.DataFrame([{**row, "by": ", ".join(row["by"])} for row in rows], columns=list(columns))
