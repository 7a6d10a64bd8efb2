"""Scores, and the catalogue of metrics, in a terminal. Evaluations are what ``Evaluation.to_dict()`` returns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.report.said import heading
from demele.report.terminal.aligned import aligned_tables
from demele.report.terminal.scores_corrected import write_corrected
from demele.report.terminal.sheet import Sheet, Styled, Words, clipped

if TYPE_CHECKING:
    from demele.metrics.metric import Metric

__all__ = ["metrics_table", "scores_table"]

Evaluation = Mapping[str, Any]
_OTHER = "other"


def scores_table(
    evaluations: Sequence[Evaluation],
    families: Mapping[str, str],
    *,
    details: bool = False,
    output: Path | None = None,
    words: Words = str,
) -> str:
    """Write the scores of one or several representations.

    Parameters
    ----------
    evaluations : sequence of dict
        One column of values for each; a single one has its interval, standard deviation and chance level beside it.
    families : mapping of str to str
        Family of each metric, by which the rows are grouped.
    details : bool
        Whether to write the per-factor and per-code values and the signatures too.
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    words : callable, optional
        Says a message in the words of the reader.
    """
    sheet = Sheet(output)
    for told, names in _headings(evaluations).items():
        sheet.line(f"{', '.join(names)}: {told}")
    _verdicts(sheet, evaluations, details=details)
    if len(evaluations) == 1:
        _single(sheet, evaluations[0], families)
    else:
        _several(sheet, evaluations, families)
    for evaluation in evaluations:
        write_corrected(sheet, evaluation, words, named=len(evaluations) > 1)
    aligned_tables(sheet, evaluations, words)
    _footnotes(sheet, evaluations, words)
    if details:
        for evaluation in evaluations:
            _details(sheet, evaluation, named=len(evaluations) > 1)
    return sheet.text()


def metrics_table(specs: Sequence["Metric"]) -> str:
    """Write the catalogue, grouped by family."""
    sheet = Sheet()
    rows: list[Sequence[Any] | str] = []
    for family in dict.fromkeys(spec.family for spec in specs):
        rows.append(family)
        for spec in (spec for spec in specs if spec.family == family):
            low, high = (f"{end:g}" if math.isfinite(end) else "any" for end in spec.range)
            span = "any" if low == high else f"{low} to {high}"
            measures = "holistic" if len(spec.properties) > 1 else next(iter(spec.properties), "-")
            where, _, _ = spec.source.replace(";", ",").replace(" (", ",").partition(",")
            rows.append([Styled(spec.name, "bold"), measures, spec.native.removeprefix("per "), span, where])
    sheet.table(["metric", "measures", "per", "range", "source"], rows, gap=1)
    sheet.blank()
    for told in (
        "per: the unit of a metric's own values, of which the score is the mean or a weighted mean.",
        "holistic: more than one of modularity, compactness, explicitness.",
        "--format json has definitions and whole references.",
    ):
        sheet.line(told, "dim")
    return sheet.text()


def _headings(evaluations: Sequence[Evaluation]) -> dict[str, list[str]]:
    """Return what was scored, and the representations of which it is true."""
    headings: dict[str, list[str]] = {}
    for item in evaluations:
        headings.setdefault(heading(item), []).append(item["name"])
    return headings


def _verdicts(sheet: Sheet, evaluations: Sequence[Evaluation], *, details: bool) -> None:
    """Print what the codes hold: of a single representation every sentence, of several the first one."""
    for evaluation in evaluations:
        verdict = evaluation.get("verdict")
        if verdict is None:
            continue
        lead = f"{evaluation['name']}: " if len(evaluations) > 1 else ""
        sheet.blank()
        sheet.line(lead + verdict["sentence"], "bold")
        if len(evaluations) > 1 and not details:
            continue
        for words in verdict["sentences"]:
            sheet.indented(words)
        if verdict["headline"]:
            sheet.indented(verdict["headline"])


def _single(sheet: Sheet, evaluation: Evaluation, families: Mapping[str, str]) -> None:
    scores = {score["metric"]: score for score in evaluation["scores"]}
    heads = {"interval": "interval", "spread": "std", "chance": "chance"}
    heads = {key: head for key, head in heads.items() if any(score[key] is not None for score in scores.values())}
    heads |= {"p_value": "p"} if "chance" in heads else {}
    rows: list[Sequence[Any] | str] = []
    for family, group in _by_family(scores, families):
        rows.append(family)
        for score in (scores[metric] for metric in group):
            cells = {
                "interval": _interval(score),
                "spread": _number((score["spread"] or {}).get("std")),
                "chance": _number((score["chance"] or {}).get("mean")),
                "p_value": _number((score["chance"] or {}).get("p_value")),
            }
            rows.append([score["metric"], _value(score), *(cells[key] for key in heads)])
    sheet.blank()
    sheet.table(["metric", "value", *heads.values()], rows, numbers=5)


def _several(sheet: Sheet, evaluations: Sequence[Evaluation], families: Mapping[str, str]) -> None:
    """Print tables below each other, as many representations in each as the width holds."""
    metrics = list(dict.fromkeys(score["metric"] for item in evaluations for score in item["scores"]))
    wide = any(score["interval"] is not None for item in evaluations for score in item["scores"])
    room = max(1, (sheet.width - 2 - max(map(len, metrics), default=6)) // (15 if wide else 12))
    for start in range(0, len(evaluations), room):
        shown = evaluations[start : start + room]
        rows: list[Sequence[Any] | str] = []
        for family, group in _by_family(metrics, families):
            rows.append(family)
            for metric in group:
                scores = [_score(item, metric) for item in shown]
                best = _best([_score(item, metric) for item in evaluations])
                cells = ["-" if score is None else _value(score, bold=score is best) for score in scores]
                rows.append([metric, *cells])
                if any(score is not None and score["interval"] is not None for score in scores):
                    ranges = ["" if score is None else _interval(score, "{}..{}") for score in scores]
                    rows.append(["", *(Styled(text, "dim") for text in ranges)])
        names = [clipped(item["name"], 13 if wide else 12) for item in shown]
        sheet.blank()
        sheet.table(["metric", *names], rows, numbers=len(shown))


def _best(scores: Sequence[Mapping[str, Any] | None]) -> Mapping[str, Any] | None:
    """Return the score with the largest value; none where two are equal as shown, or codes were matched by order."""
    known = [score for score in scores if score is not None]
    notes = [note for score in known for note in score["notes"]]
    if any(note["code"] == "assumed-reg-dim" and note["severity"] == "warning" for note in notes):
        return None
    ranked = sorted((score for score in known if score["value"] is not None), key=lambda s: -s["value"])
    if len(ranked) > 1 and _number(ranked[0]["value"]) == _number(ranked[1]["value"]):
        return None
    return ranked[0] if ranked else None


def _footnotes(sheet: Sheet, evaluations: Sequence[Evaluation], words: Words) -> None:
    """Print each message once, with the metrics and representations that it is about."""
    fragile: dict[str, dict[str, list[str]]] = {}
    missing: dict[str, dict[str, list[str]]] = {}
    notes: dict[str, dict[str, list[str]]] = {}
    for item in evaluations:
        found = [(notes, note["message"], "") for note in item["notes"]]
        for score in item["scores"]:
            for note in score["notes"]:
                kind = {"fragile": fragile, "warning": notes}.get(note["severity"])
                kind = missing if score["value"] is None else kind
                if kind is not None:
                    kind.setdefault(note["message"], {}).setdefault(score["metric"], []).append(item["name"])
        found += [(missing, gap["reason"], gap["metric"]) for gap in item["left_out"]]
        for kind, message, metric in found:
            kind.setdefault(message, {}).setdefault(metric, []).append(item["name"])
    for title, kind in (
        ("! fragile: another defensible setting moves it much, or noise scores as well", fragile),
        ("- no number", missing),
        ("* to know", notes),
    ):
        if kind:
            sheet.blank()
            sheet.line(title, "bold")
        for message, about in kind.items():
            who = list(dict.fromkeys(name for names in about.values() for name in names))
            metrics = ", ".join(metric for metric in about if metric)
            some = f" ({', '.join(who)})" if len(evaluations) > 1 and len(who) < len(evaluations) else ""
            lead = f"{metrics}{some}: " if metrics else f"{some.strip()} " if some else ""
            sheet.indented(lead + words(message))


def _details(sheet: Sheet, evaluation: Evaluation, *, named: bool) -> None:
    """Print native values with metrics as rows, in as many tables as the width asks for; then the signatures."""
    title = f"{evaluation['name']}: " if named else ""
    for unit in ("per factor", "per code"):
        scores = [score for score in evaluation["scores"] if score["native_unit"] == unit]
        columns = list(dict.fromkeys(name for score in scores for name in score["native"]))
        first = max((len(score["metric"]) for score in scores), default=0)
        room = max(1, (sheet.width - first - 2) // 12)
        for start in range(0, len(columns), room):
            shown = columns[start : start + room]
            rows = [[score["metric"], *(_number(score["native"].get(name)) for name in shown)] for score in scores]
            sheet.blank()
            sheet.line(f"{title}{unit}", "bold")
            sheet.table(["metric", *(clipped(name, 10) for name in shown)], rows, numbers=len(shown))
    sheet.blank()
    sheet.line(f"{title}signatures", "bold")
    for score in evaluation["scores"]:
        sheet.line(f"  {score['signature']}", wrap=False)


def _by_family(metrics: Iterable[str], families: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for metric in metrics:
        groups.setdefault(families.get(metric, _OTHER), []).append(metric)
    return list(groups.items())


def _score(evaluation: Evaluation, metric: str) -> Mapping[str, Any] | None:
    return next((score for score in evaluation["scores"] if score["metric"] == metric), None)


def _value(score: Mapping[str, Any], *, bold: bool = True) -> tuple[Styled, Styled]:
    """Write the number, with room for the mark of fragile scores so that the digits stay in line."""
    number = Styled(_number(score["value"]), "bold" if bold else "")
    return number, Styled("!" if score["fragile"] else " ", "red" if score["fragile"] else "")


def _interval(score: Mapping[str, Any], form: str = "[{}, {}]") -> str:
    interval = score["interval"]
    if interval is None or interval["low"] is None or interval["high"] is None:
        return ""
    return form.format(_number(interval["low"]), _number(interval["high"]))


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    text = f"{value:.3f}" if abs(value) < 1e4 else f"{value:.4g}"
    return text.lstrip("-") if float(text) == 0 else text
