"""The page on ten language models and the label errors of MMLU, from the rows of ``mmlu_redux*.csv``.

``python -m benchmarks.mmlu_redux`` writes them; sentences that depend on numbers choose their words by them.
"""

from collections.abc import Sequence
from pathlib import Path

from tools.docs_tables import Row, read, table

PAGE = "results/mmlu-redux.md"
TITLE = "Ten language models, wrong answer keys"
TABLES = ("mmlu_redux", "mmlu_redux_ranks", "mmlu_redux_pairs", "mmlu_redux_subjects")

PUBLISHED = "published labels taken as right"
RATE = "rate of wrong labels known"
AUDITED = "500 labels audited"
CORRECTED = "corrected labels"
#: Subjects with the most wrong labels that the page shows.
SHOWN_SUBJECTS = 12
#: Columns that the page shows of the table of methods.
METHOD_COLUMNS = (
    "method",
    "knows",
    "better means",
    "type I %",
    "type II %",
    "undecided pairs %",
    "expert labels",
    "where asked",
)


def page(folder: Path) -> str:
    """Return the page of the rows that are in a folder; empty without them."""
    found = [read(folder / f"{name}.csv") for name in TABLES]
    return _page(*found) if all(found) else ""


def _page(methods: Sequence[Row], ranks: Sequence[Row], pairs: Sequence[Row], subjects: Sequence[Row]) -> str:
    """Return the page."""
    parts = [
        f"# {TITLE}\n",
        _introduction(subjects, len(ranks)),
        "## Which differences survive the label errors?\n",
        _survival(pairs),
        _table(_without_prefix(ranks)),
        f"Ranks that remain possible for all models together at 95% (Holm's procedure over {2 * len(pairs)} claims). "
        "One number alone means that the rank is shown.\n",
        "### Pair by pair\n",
        "What is shown of the first against the second; *open*: nothing. The last column says how many labels could be "
        "wrong, anywhere, with the verdict on the published labels still standing.\n",
        _table(pairs),
        "## How the methods do\n",
        _meaning(),
        _methods(methods, "all together"),
        "## Subject by subject\n",
        _subjects_text(methods, subjects),
        _table(sorted(subjects, key=lambda row: -float(row["wrong labels %"]))[:SHOWN_SUBJECTS]),
        "### Methods within subjects\n",
        "All subjects counted together; about a hundred questions each, so few differences are decided by anyone.\n",
        _methods(methods, "by subject"),
        _origin(),
    ]
    return "\n".join(part for part in parts if part)


def _introduction(subjects: Sequence[Row], n_models: int) -> str:
    questions = sum(int(row["questions"]) for row in subjects)
    wrong = sum(int(row["wrong labels"]) for row in subjects)
    return (
        f"Experts reviewed {len(subjects)} subjects of the MMLU benchmark. Of {questions:,} questions with a single "
        f"right answer, {wrong} had been published with a wrong one: {100 * wrong / questions:.1f}%. Here {n_models} "
        "language models are compared on the published answers, and the verdicts are held against those on the "
        "corrected ones. "
        'Everything is in the package: `demele.data.label_set("mmlu_redux")`.\n'
    )


def _survival(pairs: Sequence[Row]) -> str:
    total = len(pairs)
    right = {_key(row) for row in pairs if row[CORRECTED] != "open"}

    def said(column: str) -> set[tuple[str, str]]:
        return {_key(row) for row in pairs if row[column] != "open"}

    def contradicted(column: str) -> int:
        opposite = {"better": "worse", "worse": "better"}
        return sum(row[column] != "open" and opposite[row[column]] == row[CORRECTED] for row in pairs)

    published, rate, audited = said(PUBLISHED), said(RATE), said(AUDITED)
    lost, gained = len(right - published), len(published - right)
    same = (
        f"exactly the same {len(right)}"
        if not lost and not gained and not contradicted(PUBLISHED)
        else f"{len(right)}, of which the published answers miss {lost}; they claim {gained} that the corrected do not"
    )
    beyond = len(audited - right)
    return (
        f"Of {total} pairs, the published answers, taken as right, show a difference in {len(published)}; the "
        f"corrected answers in {same}. So the label errors "
        + ("change no verdict here" if not lost and not gained else "change few verdicts here")
        + f". But the published answers alone do not say so. If all that is known is the rate of wrong labels, they "
        f"could all favour one model, and only {len(rate)} differences are beyond doubt. Expert labels of "
        f"500 questions, drawn at random and more often where the models disagree, show {len(audited & right)} of the "
        f"{len(right)}"
        + (f", and {beyond} more that the corrected answers leave open" if beyond else "")
        + f"; {_number(contradicted(AUDITED))} of these is contradicted by the corrected answers.\n"
    )


def _meaning() -> str:
    return (
        "Each pair of models in both roles. The *reference* is the same question asked of the corrected answers: do "
        "the two 95% intervals stay apart, or does the paired test say that the candidate is better? *Type I*: a "
        "method takes the candidate, the reference does not. *Type II*: the converse. Figures are means over the "
        "repeats, where expert labels are drawn at random; *expert labels* are per pair of models for the sequential "
        "method, which asks nothing where the published answers show no difference, and shared by all pairs for the "
        "others.\n"
    )


def _methods(methods: Sequence[Row], questions: str) -> str:
    rows = [row for row in methods if row["questions"] == questions]
    shown = [{name: row[name] for name in METHOD_COLUMNS} for row in rows]
    worst = max(rows, key=lambda row: float(row["chosen though not better"]))
    count = float(worst["chosen though not better"])
    true = (
        "No method ever chose a candidate that is not better by the corrected answers."
        if count == 0
        else f"Most often, {worst['method']} ({worst['knows']}) chose a candidate that is not better by the corrected "
        f"answers: {count:.2f} times on average."
    )
    takes = sorted({(row["better means"], row["reference takes"], row["reference keeps"]) for row in rows})
    sizes = "; ".join(f"{what}: {taken} of {int(taken) + int(kept)}" for what, taken, kept in takes)
    return (
        f"The reference takes the candidate in ({sizes}). Repeats: {rows[0]['repeats']}.\n\n{_table(shown)}\n{true}\n"
    )


def _subjects_text(methods: Sequence[Row], subjects: Sequence[Row]) -> str:
    clean = sum(int(row["wrong labels"]) == 0 for row in subjects)
    worst = sorted(subjects, key=lambda row: -float(row["wrong labels %"]))[:2]
    moved = sum(set(row["best, published"].split(", ")) != set(row["best, corrected"].split(", ")) for row in subjects)
    reversed_pairs = sum(int(row["pairs in reversed order"]) for row in subjects)
    classic = next(row for row in methods if row["questions"] == "by subject" and row["method"] == "classic")
    named = " and ".join(f"{row['subject']} ({row['wrong labels %']}%)" for row in worst)
    return (
        f"The errors are uneven: {clean} of {len(subjects)} subjects have none, and most are in {named}. Within "
        f"subjects, {reversed_pairs} pairs of models change order, and in {moved} subjects another model (or a tie of "
        "others) leads. But hardly any of these orders was shown: with intervals, the published answers take a "
        f"candidate wrongly in {float(classic['type I']):.0f} cases and miss {float(classic['type II']):.0f} of "
        f"{classic['reference takes']}.\n"
    )


def _origin() -> str:
    return (
        "Data: Gema et al. 2024, *Are We Done with MMLU?*, CC BY 4.0. Questions without a single right answer are left "
        "out; a reply that is none of the four letters counts as wrong. Made by `python -m benchmarks.mmlu_redux`.\n"
    )


def _without_prefix(ranks: Sequence[Row]) -> list[dict[str, str]]:
    return [{name.removeprefix("ranks, "): cell for name, cell in row.items()} for row in ranks]


def _key(row: Row) -> tuple[str, str]:
    return row["better by published labels"], row["other"]


def _number(count: int) -> str:
    return "none" if count == 0 else str(count)


def _table(rows: Sequence[Row]) -> str:
    return table(rows[0], [row.values() for row in rows]) if rows else "No rows.\n"
