"""The comparison of representations as a table for a paper, and how it was made."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from demele.report.paper_table import Footnotes, PaperRow, PaperTable
from demele.report.words import DASH, brackets, count, joined, level_text, number, probability

__all__ = ["differences_made", "representations_paper"]

Content = Mapping[str, Any]


def representations_paper(content: Content, title: Callable[[str], str], comments: Iterable[str]) -> PaperTable:
    """Return both scores and their difference by each metric, pair by pair.

    Parameters
    ----------
    content : mapping
        ``to_dict()`` of a comparison of representations.
    title : callable
        Returns the name of a metric in print.
    comments : iterable of str
        What readers of the source see.
    """
    pairs: dict[tuple[str, str], list[Content]] = {}
    for row in content["differences"]:
        pairs.setdefault((row["first"], row["second"]), []).append(row)
    notes = Footnotes()
    scores = _scores(content)
    roles = ("first", "second") if len(pairs) == 1 else ("second", "first")
    groups = [
        (f"{second} minus {first}", tuple(_row(row, roles, scores, title, notes) for row in rows))
        for (first, second), rows in pairs.items()
    ]
    names = next(iter(pairs)) if len(pairs) == 1 else ("Score", "Minus")
    heads = ("Metric", *map(str, names), f"Difference [{level_text(content['level'])} interval]", "p", "Better")
    whole = [str(each["name"]) for each in content["evaluations"]]
    return PaperTable(
        name="-".join(content["models"] or whole),
        caption=_caption(content, pairs),
        heads=heads,
        groups=tuple(groups),
        notes=notes.all,
        comments=tuple(comments),
    )


def _scores(content: Content) -> dict[tuple[str, str], str]:
    """Return what to write for the score of each representation, or model, by each metric."""
    if content["models"]:
        return {
            (row["model"], row["metric"]): number(row["mean"])
            + (f" (SD {number(row['std'])})" if row["std"] is not None else "")
            for row in content["model_scores"]
        }
    return {
        (each["name"], score["metric"]): number((score["corrected"] or score)["value"])
        for each in content["evaluations"]
        for score in each["scores"]
    }


def _row(
    row: Content,
    roles: Sequence[str],
    scores: Mapping[tuple[str, str], str],
    title: Callable[[str], str],
    notes: Footnotes,
) -> PaperRow:
    cells = [scores.get((row[role], row["metric"]), DASH) for role in roles]
    cells.append(f"{number(row['difference'])} {brackets((row['low'], row['high']))}".strip())
    cells += [probability(row["p_value"]), DASH if row["significance"] == "no" else str(row["ahead"])]
    marks = [notes.add(f"no interval: {row['reason'].partition('; ')[0]}")] if row["reason"] else []
    marks += [notes.add("significant alone, not together with all others")] if row["significance"] == "alone" else []
    marks += [notes.add("exploratory")] if row["exploratory"] else []
    marks += [notes.add("one of the two scores is fragile")] if row["fragile"] else []
    return PaperRow(title(row["metric"]), tuple(cells), tuple(sorted(marks)))


def _caption(content: Content, pairs: Iterable[tuple[str, str]]) -> str:
    listed = list(pairs)
    rows = count(content["evaluations"][0]["n"], "row")
    parts = [f"Scores of {joined(content['models'] or [each['name'] for each in content['evaluations']])} on {rows}"]
    if content["models"]:
        parts[0] += f"; means over training runs ({_runs(content)}), with standard deviations"
    if len(listed) == 1:
        parts.append(f"Difference: {listed[0][1]} minus {listed[0][0]}")
    how = _methods(content)
    told = ". ".join([*parts, *([f"Brackets: intervals of differences ({how})"] if how else [])])
    return f"{told}. {content['sentence']}"


def _runs(content: Content) -> str:
    return ", ".join(f"{model}: {len(runs)}" for model, runs in content["models"].items())


def _methods(content: Content) -> str:
    return "; ".join(dict.fromkeys(row["method"] for row in content["differences"] if row["method"]))


def differences_made(content: Content, cite: Callable[[Sequence[str]], str]) -> list[str]:
    """Return the sentences that say how differences were made; ``cite`` writes the citation of works."""
    if not content["differences"]:
        return []
    level = level_text(content["level"])
    if content["models"]:
        sentences = [f"Models are compared by the means over their training runs ({_runs(content)}), on the same rows."]
    else:
        sentences = ["The representations are compared on the same rows, by the differences of their scores."]
    how = _methods(content)
    if how:
        sentences.append(f"Intervals of differences have the level {level} each ({how}).")
        error = f"{100 * (1 - content['level']):.4g}%"
        holm = f"by Holm's procedure{cite(['holm1979simple'])}"
        family = "the primary differences" if any(row["exploratory"] for row in content["differences"]) else "all"
        sentences.append(f"Significance was tested at an error of {error} for {family} together, {holm}.")
    else:
        sentences.append("No difference has an interval, and so none was tested.")
    return sentences
