"""Files of true values of factors: a column of row numbers, and one for each factor that was audited."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.errors import FormatError
from demele.core.sentences import plural
from demele.files.audit_files import DESIGN, DRAW, ROW, UNCLEAR, design_of, single, whole_numbers
from demele.files.named import read_table
from demele.files.table_files import Warn, listed

if TYPE_CHECKING:
    import pandas as pd

    from demele.noise.factor_noise import FactorAudit


def read_factor_audits(text: str, factors: Sequence[str], design: str | None, warn: Warn) -> "dict[str, FactorAudit]":
    """Read true values of factors on rows that were drawn at random.

    Parameters
    ----------
    text : str
        The file: columns ``row`` (counted from 0), one called as each audited factor, and perhaps ``design``. Rows of
        which a cell says ``unclear`` are counted and left out.
    factors : sequence of str
        Names of all factors.
    design : str, optional
        How the rows were drawn, where the file does not say.
    warn : callable

    Returns
    -------
    dict of factor name to FactorAudit

    Raises
    ------
    FormatError, InputError
    """
    from demele.noise.factor_noise import FactorAudit

    table = read_table(text, warn=warn)
    held = [] if isinstance(table, np.ndarray) else [str(name) for name in table if name in factors]
    if isinstance(table, np.ndarray) or ROW not in table or not held:
        has = "no names of columns" if isinstance(table, np.ndarray) else listed([str(name) for name in table])
        raise FormatError(
            f"{text}: expected columns {ROW} (counted from 0) and true values in columns called as the factors "
            f"({listed(list(factors))}), got {has}"
        )
    if DRAW in table:
        table = table.iloc[np.argsort(whole_numbers(text, table, DRAW))]
    table = table[[ROW, *held, *([DESIGN] if DESIGN in table else [])]]
    unclear = np.zeros(len(table), dtype=bool)
    for name in held:
        unclear |= (
            table[name].map(lambda value: isinstance(value, str) and value.strip().casefold() == UNCLEAR).to_numpy()
        )
    clear = table[~unclear]
    _refuse_gaps(text, clear, held)
    drawn = design_of(text, single(text, table, DESIGN), design, f"column {DESIGN} of {text}")
    rows = whole_numbers(text, clear, ROW)
    return {name: FactorAudit(rows, _values(clear[name]), design=drawn, unclear=int(unclear.sum())) for name in held}


def _refuse_gaps(text: str, table: "pd.DataFrame", held: Sequence[str]) -> None:
    for name in held:
        gaps = np.flatnonzero(table[name].isna())
        if gaps.size:
            raise FormatError(
                f"{text}: column {name}: {plural(gaps.size, 'row has', 'rows have')} no true value, first row "
                f"{table[ROW].iloc[gaps[0]]}; "
                f"hard rows are not missing at random: fill them in, or write {UNCLEAR}"
            )


def _values(column: "pd.Series[Any]") -> object:
    """Return values as numbers, where all that is left of a column after unclear ones are numbers."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    return column.to_numpy() if numbers.isna().any() else numbers.to_numpy()
