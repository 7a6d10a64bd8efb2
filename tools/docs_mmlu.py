"""The page on ten language models and the label errors of MMLU, from the rows of ``mmlu_redux*.csv``.

``python -m benchmarks.mmlu_redux`` writes them; sentences that depend on numbers choose their words by them.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tools import docs_tables
from tools.docs_tables import Row, filled, read

PAGE = "results/mmlu-redux.md"
TITLE = "MMLU-Redux: ten language models"
TABLES = ("mmlu_redux", "mmlu_redux_ranks", "mmlu_redux_pairs", "mmlu_redux_subjects")

PUBLISHED = "published labels taken as right"
RATE = "rate of wrong labels known"
AUDITED = "500 labels audited"
CORRECTED = "corrected labels"
#: Subjects with the most wrong labels that the page shows.
SHOWN_SUBJECTS = 12
#: Columns that the page shows of the table of methods.
METHOD_COLUMNS = (
    *(
        "method",
        "knows",
        "better means",
        "type I %",
        "type II %",
        "inconclusive pairs %",
        "expert labels",
        "where asked",
    ),
)

said = partial(docs_tables.said, "mmlu")


def page(folder: Path) -> str:
    """Return the page of the rows that are in a folder; empty without them."""
    found = [read(folder / f"{name}.csv") for name in TABLES]
    return page_of(*found) if all(found) else ""


def page_of(methods: Sequence[Row], ranks: Sequence[Row], pairs: Sequence[Row], subjects: Sequence[Row]) -> str:
    """Return the page of these rows."""
    questions, wrong = (sum(int(row[name]) for row in subjects) for name in ("questions", "wrong labels"))
    worst = sorted(subjects, key=lambda row: -float(row["wrong labels %"]))
    intervals = next(row for row in methods if row["questions"] == "by subject" and row["method"] == "overlap")
    figures = {
        "title": TITLE,
        "questions": questions,
        "wrong": wrong,
        "share": wrong / questions,
        "models": len(ranks),
        "subjects": len(subjects),
        "clean": sum(int(row["wrong labels"]) == 0 for row in subjects),
        "worst": " and ".join(f"{row['subject']} ({row['wrong labels %']}%)" for row in worst[:2]),
        "moved": sum(_best(row, "published") != _best(row, "corrected") for row in subjects),
        "reversed": sum(int(row["pairs in reversed order"]) for row in subjects),
        "wrongly": float(intervals["type I"]),
        "missed": float(intervals["type II"]),
        "takes": intervals["reference takes"],
        "claims": 2 * len(pairs),
        "survival": _survival(pairs),
        "ranks": filled([(name.removeprefix("ranks, "), f"{{{name}}}") for name in ranks[0]], ranks),
        "pairs": filled(pairs[0], pairs),
        "together": methods_part(methods, "all together"),
        "by_subject": methods_part(methods, "by subject"),
        "shown_subjects": filled(subjects[0], worst[:SHOWN_SUBJECTS]),
    }
    return said("page", figures)


def _best(row: Row, labels: str) -> set[str]:
    return set(row[f"best, {labels}"].split(", "))


def _survival(pairs: Sequence[Row]) -> str:
    """Say how many differences each kind of knowledge shows, and how far they are those of the corrected answers."""

    def shown(column: str) -> set[tuple[str, str]]:
        return {(row["better by published labels"], row["other"]) for row in pairs if row[column] != "open"}

    def contradicted(column: str) -> int:
        return sum({row[column], row[CORRECTED]} == {"better", "worse"} for row in pairs)

    published, rate, audited, right = map(shown, (PUBLISHED, RATE, AUDITED, CORRECTED))
    figures = {"pairs": len(pairs), "published": len(published), "right": len(right), "rate": len(rate)}
    figures |= {"lost": len(right - published), "gained": len(published - right), "both": len(audited & right)}
    unchanged = not figures["lost"] and not figures["gained"]
    same = "same" if unchanged and not contradicted(PUBLISHED) else "other"
    beyond = len(audited - right)
    words: dict[str, object] = {
        "same": said(same, figures).strip(),
        "change": "change no verdict here" if unchanged else "change few verdicts here",
        "beyond": f", and {beyond} more that the corrected answers leave open" if beyond else "",
        "contradicted": contradicted(AUDITED) or "none",
    }
    return said("survival", {**figures, **words}).strip()


def methods_part(methods: Sequence[Row], questions: str) -> str:
    """Return how the methods do on all questions together or by subject, and which is wrong most often."""
    rows = [row for row in methods if row["questions"] == questions]
    worst = max(rows, key=lambda row: float(row["chosen though not better"]))
    takes = sorted({(row["better means"], row["reference takes"], row["reference keeps"]) for row in rows})
    sizes = "; ".join(f"{what}: {taken} of {int(taken) + int(kept)}" for what, taken, kept in takes)
    count = float(worst["chosen though not better"])
    wrong = said("wrong", docs_tables.cells(worst), count=count) if count else said("never")
    figures = {"sizes": sizes, "repeats": rows[0]["repeats"], "table": filled(METHOD_COLUMNS, rows)}
    return said("methods", figures, wrong=wrong).strip()
