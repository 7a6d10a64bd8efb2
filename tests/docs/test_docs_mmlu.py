"""The page on language models says what its rows say, whatever they are."""

import re
from pathlib import Path

from tools import docs_mmlu
from tools.docs_pages import RESULTS

SUBJECT = {
    "subject": "alchemy",
    "questions": "1100",
    "wrong labels": "30",
    "wrong labels %": "2.7",
    "best, published": "one",
    "best, corrected": "one, two",
    "pairs in reversed order": "3",
}
METHOD = {
    "questions": "by subject",
    **dict.fromkeys(docs_mmlu.METHOD_COLUMNS, "1"),
    "method": "overlap",
    "type I": "7.00",
    "type II": "8.00",
    "reference takes": "91",
    "reference keeps": "9",
    "chosen though not better": "0.00",
    "repeats": "3",
}
RANK = {"model": "one_big", "ranks, corrected labels": "1 to 2"}


def pair(
    published: str, rate: str, audited: str, corrected: str, names: tuple[str, str] = ("a", "b")
) -> dict[str, str]:
    return {
        "better by published labels": names[0],
        "other": names[1],
        docs_mmlu.PUBLISHED: published,
        docs_mmlu.RATE: rate,
        docs_mmlu.AUDITED: audited,
        docs_mmlu.CORRECTED: corrected,
    }


def text(pairs: list[dict[str, str]]) -> str:
    return docs_mmlu.page_of(
        [METHOD, {**METHOD, "questions": "all together"}], [RANK], pairs, [SUBJECT, {**SUBJECT, "wrong labels": "0"}]
    )


def test_counts_come_from_the_rows() -> None:
    page = text([pair("better", "open", "better", "better"), pair("better", "better", "open", "better", ("a", "c"))])
    assert "2,200 questions" in page
    assert "30 had been published with a wrong one: 1.4%" in page
    assert "Of 2 pairs, the published answers, taken as right, show a difference in 2;" in page
    assert "the corrected answers in exactly the same 2." in page
    assert "only 1 differences are certain" in page
    assert "show 1 of the 2; none of these is contradicted" in page
    assert "6 pairs of models change order, and in 2 subjects" in page
    assert "wrongly in 7 cases and miss 8 of 91" in page


def test_a_wrong_choice_is_told() -> None:
    assert "No method ever chose" in docs_mmlu.methods_part([METHOD], "by subject")
    wrong = {**METHOD, "method": "reckless", "knows": "all", "chosen though not better": "1.50"}
    told = docs_mmlu.methods_part([METHOD, wrong], "by subject")
    assert "Most often, reckless (all) chose" in told
    assert "1.50 times on average" in told
    assert "(1: 91 of 100). Repeats: 3." in told


def test_words_follow_the_rows() -> None:
    page = text([pair("better", "open", "better", "worse"), pair("open", "open", "better", "open", ("a", "c"))])
    assert "exactly the same" not in page
    assert "and 1 more that the corrected answers leave open; 1 of these is contradicted" in page


def test_names_cannot_break_tables() -> None:
    page = text([pair("open", "open", "open", "open", ("a|b", "c_d_e"))])
    assert "a\\|b" in page
    assert "c\\_d\\_e" in page
    assert "one\\_big" in page


def test_stored_rows_make_a_page_that_agrees_with_itself() -> None:
    page = docs_mmlu.page(RESULTS)
    assert "5,432 questions" in page
    assert "101 had been published" in page
    assert "Of 45 pairs" in page
    blocks = re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE)
    assert len(blocks) == 5
    for block in blocks:  # every row of a table has as many cells as its head
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_without_rows_there_is_no_page(tmp_path: Path) -> None:
    assert docs_mmlu.page(tmp_path) == ""
