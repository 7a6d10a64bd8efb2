"""Documents as tables of a paper: LaTeX that needs booktabs only, and GitHub-flavoured Markdown."""

import re
from collections.abc import Callable, Iterable

from demele.report.document import Cell, Document, Pill, Table
from demele.report.renderers.tables import shown_tables, with_subject
from demele.report.words import is_number, plain, sentence_of, uncited, written

#: Signs that LaTeX reads as more than themselves, or sets otherwise, and how they are written.
_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\`{}",
    '"': "''",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
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
    "′": "'",
    "\N{NO-BREAK SPACE}": "~",
}
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_LATEX |= {letter: f"$\\{name}$" for letter, name in zip("αβγδεζηθικλμνξπρστφχψω", _GREEK.split(), strict=True)}
_MARKDOWN = {sign: f"\\{sign}" for sign in r"\`*_[]|~$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def in_latex(text: object) -> str:
    r"""Return text as LaTeX sets it.

    Examples
    --------
    >>> print(in_latex("50 % of a_b & β−1"))
    50 \% of a\_b \& $\beta$$-$1
    """
    # Two hyphens are two, and a bracket or star at the beginning is none of the command before it.
    apart = re.sub(r"-(?=-)|^(?=[\[*])", lambda found: f"{found[0]}\0", plain(text))
    return "".join("{}" if sign == "\0" else _LATEX.get(sign, sign) for sign in apart)


def in_markdown(text: object) -> str:
    r"""Return text as Markdown shows it.

    Examples
    --------
    >>> print(in_markdown("a_b | *c* <d>"))
    a\_b \| \*c\* &lt;d&gt;
    """
    return "".join(_MARKDOWN.get(sign, sign) for sign in plain(text))


def latex(document: Document) -> str:
    """Return the tables of a document as a float with caption, label and warnings; signatures are comments."""
    comments = [f"% {plain(f'{label}: ' * bool(label) + text)}" for label, text in document.signatures]
    slug = re.sub(r"[^a-z0-9]+", "-", document.kind.lower()).strip("-")
    lines = [*comments, r"% Needs \usepackage{booktabs}.", r"\begin{table}", r"  \centering"]
    lines += [rf"  \caption{{{in_latex(_caption(document))}}}", rf"  \label{{tab:{slug}}}"]
    for place, table in enumerate(shown_tables(document)):
        sides = "".join("r" if is_number(form) else "l" for form in table.columns.values())
        bold = "%s" if place else r"\textbf{%s}"  # of significant differences, which the first table has
        heads, *rows = [rf"    {' & '.join(row)} \\" for row in _rows(table, in_latex, bold)]
        lines += [r"  \par\medskip"] * bool(place)
        lines += [rf"  \begin{{tabular}}{{{sides}}}", r"    \toprule", heads, r"    \midrule", *rows]
        lines += [r"    \bottomrule", r"  \end{tabular}"]
    below = [in_latex(text) for text in _below(document)]
    if below:
        lines += [r"  \par\smallskip", r"  \begin{minipage}{\linewidth}\footnotesize"]
        lines += [*(rf"    {text}\par" for text in below), r"  \end{minipage}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def markdown(document: Document) -> str:
    """Return the tables of a document below its caption, with its warnings; signatures are comments."""
    parts = [f"**Table.** {in_markdown(_caption(document))}"]
    if document.signatures:
        signatures = "\n".join(plain(f"{label}: " * bool(label) + text) for label, text in document.signatures)
        parts.insert(0, f"<!--\n{signatures.replace('-->', '--&gt;')}\n-->")
    parts += [markdown_table(table, "%s" if place else "**%s**") for place, table in enumerate(shown_tables(document))]
    parts += map(in_markdown, _below(document))
    return "\n\n".join(parts) + "\n"


#: Headings of an audit report, and what must be written by hand below each, where no result knows it.
_PRACTICE = {
    "Protocol": "How the instances were collected, by whom and when; the instructions that the annotators were given.",
    "Legal and ethical questions": "Consent, privacy and harm: which questions came up, and what was done.",
    "Annotators": "How many there were, and how their profiles differ, so that they do not share one bias.",
    "Form of the label noise": "Whether errors depend on the class or on the instance. If they do, more labels do not "
    "make up for wrong ones.",
    "Annotators of training and test": "Whether nobody labelled for both.",
    "Draw": "",
    "Findings": "",
    "Open risks": "What was not checked, and who decided to go on.",
}
#: Sections of documents that belong below one of these headings.
_BELOW = {"Agreement": "Annotators", "Annotators": "Annotators", "Label errors": "Form of the label noise"}
_BELOW |= {"Confusion matrix": "Form of the label noise"}


def audit_report(document: Document) -> str:
    """Return an audit report: what a result knows, under the headings of good practice, and what is to be filled in.

    The headings are those of Benjelloun (sections 4.2.5 and 5.1.1), with draw, findings and open risks.
    """
    held: dict[str, list[str]] = {heading: [] for heading in _PRACTICE}
    held["Protocol"] = [in_markdown(sentence_of(", ".join(document.scope)))] if document.scope else []
    held["Protocol"] += [in_markdown(uncited(document.methods))] if document.methods else []
    for section in document.sections:
        if section.title in _BELOW:
            tables = [one for one in section.shown if isinstance(one, Table)]
            held[_BELOW[section.title]] += [
                f"**{in_markdown(one.caption)}**\n\n{markdown_table(one)}" for one in tables
            ]
    held["Draw"] += [f"`{plain(text)}`" for _, text in document.signatures]
    held["Findings"] = [in_markdown(text) for text in (document.headline, *document.sentences)]
    held["Findings"] += [markdown_table(table) for table in shown_tables(document)]
    risks = [f"Assumed, not checked: {text}" for text in document.assumptions]
    risks += [with_subject(note) for note in document.notes]
    held["Open risks"] = ["\n".join(f"- {in_markdown(text)}" for text in risks)] if risks else []
    parts = [f"# Audit report: {in_markdown(document.title)}"]
    for heading, blanks in _PRACTICE.items():
        fill = [f"*To be filled in:* {blanks}"] if blanks else []
        parts += [f"## {heading}", *(held[heading] or ([] if fill else ["Nothing is known."])), *fill]
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table, bold: str = "**%s**") -> str:
    """Return one table."""
    heads, *rows = _rows(table, in_markdown, bold)
    rule = ["--:" if is_number(form) else "---" for form in table.columns.values()]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))


def _caption(document: Document) -> str:
    scope = sentence_of(", ".join(document.scope))
    return " ".join(filter(None, [document.headline, *document.sentences, scope]))


def _below(document: Document) -> list[str]:
    """Return what stands below the tables: their notes, and all that the document warns of."""
    warned = [with_subject(note) for note in document.notes if note.severity != "info"]
    return [text for text in (*(table.note for table in shown_tables(document)), *warned) if text]


def _rows(table: Table, escape: Callable[[object], str], bold: str) -> Iterable[list[str]]:
    """Yield the titles and the rows; a good state is bold."""

    def cell(content: Cell, form: str) -> str:
        text = escape(written(content, form))
        return bold % text if isinstance(content, Pill) and content.tone == "good" else text

    yield [escape(title) for title in table.columns]
    for row in table.rows:
        yield [cell(content, form) for content, form in zip(row, table.columns.values(), strict=True)]
