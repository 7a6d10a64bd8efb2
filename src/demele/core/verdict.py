"""What an evaluation says in words: which code holds which factor, what is lost, which codes are dead or noise."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.result import Result
from demele.core.verdict_documents import verdict_document
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd

FactorStatus = Literal["one code", "mixed code", "several codes", "weak", "no code", "undecided", "constant"]
CodeStatus = Literal["one factor", "mixed", "weak", "noise", "dead", "undecided"]
#: How several codes share a factor: as copies of each other, as mixtures with other factors, in parts, or over many.
Sharing = Literal["", "copies", "mixture", "parts", "spread"]
#: A code holds a factor if it tells at least this share of the factor's entropy.
HELD = 0.1
#: A factor is shared where the next code tells more than this share of what the best one does; a code is mixed where it
#: tells more than this share of another factor.
SHARED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorVerdict:
    """Which codes hold one factor.

    Attributes
    ----------
    factor : str
    status : {"one code", "mixed code", "several codes", "weak", "no code", "undecided", "constant"}
        "mixed code": one code holds it, and another factor as well. "weak": codes tell more than chance, but less than
        a tenth of its entropy.
    sharing : {"", "copies", "mixture", "parts", "spread"}
        Of several codes: "copies" add nothing to each other; a "mixture" holds other factors too; "parts" add to each
        other; "spread" is over four or more, or over codes none of which tells anything alone. Empty where rows are
        too few to say.
    codes : tuple of str
        The codes that hold it, the one that tells most first.
    others : tuple of str
        Factors that the best code holds as well, or, of a lost factor, through which a code tells of it.
    share, second : float in [0, 1]
        Of the factor's entropy, what the best code and the next one tell; of codes that tell of it by themselves, not
        through a factor that it depends on. NaN where undecided for want of rows.
    chance : float in [0, 1]
        The most that any code tells of the factor when its rows are permuted.
    together : float in [0, 1]
        What the two best codes tell together, in coarser bins, where that is more than one of them tells; for a factor
        spread over codes that tell nothing alone, R squared of a linear regression. NaN elsewhere.
    n : int
        Rows it was judged on.
    rows_needed : int or None
        Undecided: about how many rows would decide, as far as that can be estimated.
    words : str
        All this as a sentence.
    """

    factor: str
    status: FactorStatus
    sharing: Sharing = ""
    codes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    share: float = float("nan")
    second: float = float("nan")
    chance: float = float("nan")
    together: float = float("nan")
    n: int = 0
    rows_needed: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeVerdict:
    """What one code holds.

    Attributes
    ----------
    code : str
    status : {"one factor", "mixed", "weak", "noise", "dead", "undecided"}
        "dead": it does not vary. "noise": it tells nothing of any factor beyond chance. "weak": it tells more, but less
        than a tenth of any factor.
    factors : tuple of str
        What it holds, the factor of which it tells most first.
    shares : tuple of float
        How much of the entropy of each.
    traces : tuple of str
        Factors of which it tells more than chance, but at most half as much.
    chance : float
        The most that chance gives, over the factors.
    rows_needed : int or None
        Undecided: about how many rows would decide, as far as that can be estimated.
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
        Of the factor's entropy, what each code tells; NaN for a factor that does not vary.
    above_chance : array of bool of the same shape
        Whether that is more than chance gives.
    n : int
        Rows it rests on: 5,000 drawn at random, or as many as decide what these leave undecided, up to all.
    bins : int
        Bins of equal frequency for codes and continuous factors.
    first_look : str
        The score to look at first, and why; empty where it was not computed.

    Notes
    -----
    Held: codes tell at least a tenth of the factor's entropy, one alone or several together. Weak: codes tell more than
    chance, but less than a tenth. Lost: no code tells more than chance, or codes do only through another factor. Held
    by one code: the next code tells at most half as much. Mixed: the code holds another factor, of which it tells more
    than half as much, and not only because the two factors depend on each other. Undecided: rows are too few, or shares
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
    v1      z1, z2      100%  100%    0.5%  copies in 2 codes
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

    def document(self) -> Document:
        """Return what the verdict says: of each factor the best codes, and the matrix of shares."""
        return verdict_document(self)

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


def listed(names: Iterable[str], most: int = 6) -> str:
    """Write names for a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcdefgh", 2)
    ('a, b and c', 'a, b and 6 more')
    """
    known = list(names)
    if len(known) > most:
        known = [*known[:most], f"{len(known) - most} more"]
    return " and ".join(part for part in (", ".join(known[:-1]), known[-1]) if part) if known else ""


def _enough(rows: int | None) -> str:
    return "" if rows is None else f"; about {rows:,} would decide"


# Sentences of one row -------------------------------------------------------------------------------------------------


def factor_words(row: FactorVerdict) -> str:
    """Write a verdict on a factor as a sentence, with the numbers that bear it."""
    name, chance = row.factor, f"chance {row.chance:.1%}"
    if row.status == "no code":
        if not row.others:
            return f"{name} is lost: no code tells more of it than chance does ({row.chance:.1%})"
        through = f"{row.codes[0]} tells {row.share:.0%} of it only through {listed(row.others)}"
        return f"{name} is lost: {through}, on which it depends ({chance})"
    if row.status == "undecided":
        return f"{name} is undecided: {_undecided(row)}"
    if row.status == "weak":
        return f"{name} is weak: {row.codes[0]} tells {row.share:.1%} of it, and no code a tenth ({chance})"
    told = f"{row.codes[0]} tells {row.share:.0%} of it, the next {row.second:.0%} ({chance})" if row.codes else ""
    if row.status == "one code":
        return f"{name} is held by {row.codes[0]}: it tells {row.share:.0%} of it, the next {row.second:.0%} ({chance})"
    if row.status == "mixed code":
        return f"{name} is held by {row.codes[0]}, which holds {listed(row.others)} as well: {told}"
    if row.sharing == "copies":
        each = "each other" if len(row.codes) == 2 else "one another"
        return f"{name} is held by {listed(row.codes)}, copies of {each}: {told}"
    if row.sharing == "spread" and not row.codes:
        alone = f"no code tells more than {row.share:.0%} of it ({chance})"
        return f"{name} is spread: {alone}, a linear regression on all {row.together:.0%}"
    both = "" if math.isnan(row.together) else f"; the two best together {row.together:.0%}"
    if row.sharing == "spread":
        return f"{name} is spread over {len(row.codes)} codes, {listed(row.codes, 4)}: {told}{both}"
    if not row.sharing:
        unknown = f"{row.n:,} rows do not say whether they add to each other"
        return f"{name} is shared by {listed(row.codes)}: {told}; {unknown}"
    how = "as a mixture with other factors" if row.sharing == "mixture" else "in parts that add to each other"
    return f"{name} is shared by {listed(row.codes)}, {how}: {told}{both}"


def _undecided(row: FactorVerdict) -> str:
    enough = _enough(row.rows_needed)
    if not row.codes:
        return f"{row.n:,} rows are too few{enough}"
    best = f"{row.codes[0]} tells {row.share:.0%} of it, the next {row.second:.0%} (chance {row.chance:.1%})"
    return f"{best}; {row.n:,} rows are too few to tell whether {row.codes[0]} holds it alone{enough}"


def code_words(row: CodeVerdict) -> str:
    """Write a verdict on a code as a sentence."""
    if row.status == "dead":
        return f"{row.code} does not vary"
    if row.status == "noise":
        return f"{row.code} tells nothing of any factor beyond chance ({row.chance:.1%})"
    if row.status == "undecided":
        return f"{row.code} is undecided: rows are too few to say what it holds{_enough(row.rows_needed)}"
    if row.status == "weak":
        return f"{row.code} tells a little of {listed(row.traces)}, less than a tenth (chance {row.chance:.1%})"
    shares = [f"{share:.0%} of {name}" for name, share in zip(row.factors, row.shares, strict=True)]
    traces = f", and a little of {listed(row.traces)}" if row.traces else ""
    if row.status == "mixed":
        return f"{row.code} mixes {listed(row.factors)}: it tells {listed(shares)}{traces} (chance {row.chance:.1%})"
    return f"{row.code} holds {row.factors[0]}: it tells {shares[0]}{traces} (chance {row.chance:.1%})"
