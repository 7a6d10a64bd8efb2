r"""A table for a paper in LaTeX: booktabs, everything escaped, no other package.

Digits stand below each other without a package for it: what is missing before a number is set as a phantom.
"""

import re

from demele.report.paper_table import PaperRow, PaperTable, padded

__all__ = ["escaped", "latex_text"]

#: Signs that LaTeX reads as more than themselves, or sets otherwise, and how they are written.
_WRITTEN = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\`{}",
    '"': "''",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "×": r"$\times$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "∞": r"$\infty$",
    "→": r"$\to$",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "\N{NO-BREAK SPACE}": "~",
}
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_GREEK_LETTERS = "αβγδεζηθικλμνξπρστφχψω"
_WRITTEN |= {letter: f"$\\{name}$" for letter, name in zip(_GREEK_LETTERS, _GREEK.split(), strict=True)}
#: Letters that LaTeX reads as they are, in UTF-8: those of Western European languages.
_LATIN = re.compile(r"[ -~À-ÿĀ-ſ]")
#: Signs of our own: room for a minus and for a digit, and what keeps two hyphens two.
_PHANTOM_SIGN, _PHANTOM_DIGIT, _APART = "\ue000", "\ue001", "\ue002"
_WRITTEN |= {_PHANTOM_SIGN: r"\phantom{$-$}", _PHANTOM_DIGIT: r"\phantom{0}", _APART: "{}"}


def escaped(text: str) -> str:
    r"""Return text as LaTeX sets it; signs that control nothing and are not shown are dropped.

    Examples
    --------
    >>> print(escaped("50 % of a_b & β−1"))
    50 \% of a\_b \& $\beta$$-$1
    """
    apart = re.sub("-(?=-)", f"-{_APART}", " ".join(text.split()))
    shown = (sign for sign in apart if sign.isprintable() or sign in _WRITTEN)
    return "".join(_WRITTEN.get(sign, sign) for sign in shown)


def latex_text(table: PaperTable) -> str:
    """Write a table as a float with a caption, a label and its notes."""
    columns = [[_cell(cell) for cell in _aligned(table, place)] for place in range(len(table.heads) - 1)]
    alignment = "l" + "".join("r" if table.is_numeric(place) else "l" for place in range(len(columns)))
    lines = [r"\begin{table}", r"  \centering", rf"  \caption{{{escaped(table.caption)}}}"]
    lines += [rf"  \label{{tab:{table.slug}}}", rf"  \begin{{tabular}}{{{alignment}}}", r"    \toprule"]
    lines += [f"    {' & '.join(map(escaped, table.heads))} \\\\", r"    \midrule"]
    rows = iter(zip(*columns, strict=True))
    for index, (heading, group) in enumerate(table.groups):
        if table.shows_groups:
            lines += [r"    \addlinespace"] * (index > 0)
            lines.append(rf"    \multicolumn{{{len(table.heads)}}}{{l}}{{\emph{{{escaped(heading)}}}}} \\")
        lines += [f"    {' & '.join((_head(row), *next(rows)))} \\\\" for row in group]
    lines += [r"    \bottomrule", r"  \end{tabular}", *_notes(table), r"\end{table}"]
    return "\n".join([*_comments(table), *lines]) + "\n"


def _aligned(table: PaperTable, place: int) -> list[str]:
    cells = table.column(place)
    return cells if table.is_numeric(place) else padded(cells, _PHANTOM_SIGN, _PHANTOM_DIGIT)


def _cell(cell: str) -> str:
    """Return a cell; brackets after a number need no care, for it begins with none."""
    return (
        escaped(cell).replace("{[}", "[").replace("{]}", "]")
        if re.match(r"[\d+−\ue000\ue001]", cell)
        else escaped(cell)
    )


def _head(row: PaperRow) -> str:
    marks = ",".join(row.marks)
    return escaped(row.head) + (rf"\textsuperscript{{{marks}}}" if marks else "")


def _notes(table: PaperTable) -> list[str]:
    if not table.notes:
        return []
    lines = [r"  \par\smallskip", r"  \begin{minipage}{\linewidth}\footnotesize"]
    for mark, told in table.notes:
        lead = rf"\textsuperscript{{{mark}}}~" if mark else ""
        lines.append(f"    {lead}{escaped(told)}\\par")
    return [*lines, r"  \end{minipage}"]


def _comments(table: PaperTable) -> list[str]:
    lines = [*table.comments, r"Needs \usepackage{booktabs}."]
    texts = [table.caption, *table.heads, *(told for _, told in table.notes)]
    texts += [text for heading, rows in table.groups for row in rows for text in (heading, row.head, *row.cells)]
    others = sorted({sign for text in texts for sign in escaped(text) if not _LATIN.match(sign)})
    if others:
        lines.append(f"Holds signs that pdfLaTeX does not know without more packages: {' '.join(others)}")
    return [f"% {' '.join(line.split())}" for line in lines]
