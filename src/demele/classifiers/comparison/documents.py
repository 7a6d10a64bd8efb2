"""What comparisons of classifiers say: documents of decisions and rankings."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.classifiers.results import (
    MOST_MODELS,
    Estimate,
    estimate_columns,
    estimate_strips,
    measure_of,
    rank_text,
    rests_on,
    true_labels_title,
)
from demele.core.arrays import pd
from demele.core.labelled import ALL_CORRECT
from demele.core.result import about
from demele.report.document import (
    NOTHING,
    Cell,
    Document,
    Line,
    Lines,
    Mark,
    Matrix,
    Pill,
    Section,
    Strip,
    Strips,
    Table,
    Tone,
)
from demele.report.listing import Column, drawn, listed, table_of_frame, without_empty
from demele.report.words import (
    at_most,
    count,
    digits_for,
    ends,
    is_missing,
    joined,
    name,
    rate,
    sentence_of,
    title_of,
    written,
)

if TYPE_CHECKING:
    from demele.classifiers.comparison.compare import Ranking
    from demele.classifiers.comparison.decision import Decision
    from demele.classifiers.comparison.methods import MethodSpec

#: Methods whose verdict depends on more than the labels, and those that judge by other labels than the given ones.
AUDITED, OTHER_LABELS = ("audit", "sequential"), ("true-labels", "cleaned", "agreement")
_INFERENCES = {
    "population": "better on new rows",
    "test_set": "better on these rows with true labels",
    "overlap": "better by more than the overlap of the two intervals on true labels",
}
_TONES: dict[str, Tone] = {"candidate": "good", "baseline": "bad", "inconclusive": "open"}


def decision_document(result: "Decision") -> Document:
    """Say which of two classifiers to use, by how much it is better, and how many wrong labels could change that."""
    spec, (old, new) = _method_of(result), _names(result)
    disagreements, table = _disagreements(result), _difference_table(result)
    rows = zip(_called(result), (result.baseline, result.candidate), strict=True)
    held, shows = result.breakdown, result.method not in (*AUDITED, "agreement")
    called = sentence_of(joined(_called(result))).rstrip(".")
    # An audit may settle a comparison where the given labels matter and may be wrong.
    matter = result.method not in (*AUDITED, *OTHER_LABELS)
    step = "Plan an audit: expert labels of some rows may settle it.", "demele audit plan BASELINE CANDIDATE LABELS"
    why = "Two overlapping intervals do not mean that the classifiers are equal: only their disagreements count."
    each = Section("Each classifier", [estimate_strips(rows, title_of(_measure_compared(result))), table, why])
    return Document(
        kind="Comparison of two classifiers",
        title=f"Is {new} better than {old}?",
        headline=_decision_headline(result),
        tone=_TONES[result.verdict],
        sentences=_decision_sentences(result),
        figure=_differences(result),
        table=table,
        scope=[
            count(result.n, "row"),
            count(sum(disagreements), "disagreement") if disagreements else "",
            f"holds up to {at_most(held.rate)} wrong labels" if held is not None and held.labels > 0 and shows else "",
            f"method {result.method} ({spec.title})",
        ],
        next=[step] if result.verdict == "inconclusive" and matter and disagreements and sum(disagreements) else [],
        sections=[each, _by_class(result), _label_errors(result)],
        methods=[
            f"{called} were compared by {_measure_compared(result)} on {count(result.n, 'row')} with demele [@demele].",
            *how_compared(result),
            f"At level {rate(result.level)}, each of the two claims is wrong with a probability of at most",
            f"{rate((1 - result.level) / 2)}. Interval of the difference: {result.interval.method}.",
            "The p-value is one-sided, for the candidate." * (not math.isnan(result.p_value)),
            *rests_on(result, result.details.get("audited")),
        ],
        **about(result),
    )


# The answer -----------------------------------------------------------------------------------------------------------


def _names(result: "Decision") -> tuple[str, str]:
    if result.names == ("baseline", "candidate"):
        return "the baseline", "the candidate"
    return name(result.names[0]), name(result.names[1])


def _called(result: "Decision") -> list[str]:
    """Return the names with their roles."""
    roles = zip(("baseline", "candidate"), _names(result), strict=True)
    return [who if who == f"the {role}" else f"{who} ({role})" for role, who in roles]


def _measure_compared(result: "Decision") -> str:
    return measure_of(result.measure, result.of, method=result.method)


def _decision_headline(result: "Decision") -> str:
    old, new = _names(result)
    if result.verdict == "inconclusive":
        noise, details = result.asked.question.noise, result.details
        known = f" with up to {rate(noise)} wrong labels" if isinstance(noise, float) and noise else ""
        if result.method in AUDITED:
            known = f" after {count(int(details.get('labels_used', details.get('audited', 0))), 'expert label')}"
        return f"Inconclusive{known}: {new} may be better or worse than {old}."
    trusting = "If all labels are correct, " if ALL_CORRECT in result.assumptions else ""
    sign = 1 if result.verdict == "candidate" else -1
    low, high = sorted((sign * result.interval.low, sign * result.interval.high))
    digits = digits_for([(low, high)])
    gap, span = written(sign * result.difference, f"points.{digits}"), written((low, high), f"points.{digits}")
    use = f"replace {old} by {new}" if result.verdict == "candidate" else f"keep {old}"
    better = "lower" if result.measure == "error" else "higher"
    return sentence_of(f"{trusting}{use}: its {_measure_compared(result)} is significantly {better}, {gap} pp {span}")


def _decision_sentences(result: "Decision") -> list[str]:
    """Say how many wrong labels, and wrong labels of the expert, the verdict holds up to, and what the labels say."""
    held, expert, found, (old, new) = result.breakdown, result.expert_breakdown, _disagreements(result), _names(result)
    said = []
    if held is not None and result.method != "agreement":
        share = f"{at_most(max(held.labels, 0) / held.n)} wrong labels ({held.labels:,} of {held.n:,})"
        after = {"cleaned": ", after the cleaning", "true-labels": " among the true ones"}.get(result.method, "")
        if held.labels < 0:
            said.append("The given labels alone do not show this; the verdict depends on the audit.")
        elif held.labels == 0:
            said.append("A single wrong label could reverse the result.")
        elif result.method in AUDITED:
            said.append(f"Without the audit, the given labels show the same with up to {share}.")
        else:
            said.append(f"The result holds up to {share}{after}, in the worst case.")
    if expert is not None:
        rows = f"{count(expert.disagreements, 'row')} on which the classifiers disagree"
        wrong = f"{expert.labels:,} of the {rows} ({at_most(expert.rate)})"
        one = f"One wrong expert label on the {rows} could reverse the result."
        several = f"The expert may be wrong on up to {wrong} without changing the result."
        said.append(several if expert.labels else one)
    if found:
        lost, won, neither = found
        who = "reference" if result.method == "agreement" else "label"
        said.append(
            f"{old} and {new} disagree on {count(sum(found), 'row')}: the {who} agrees with {new} on {won:,}, with "
            f"{old} on {lost:,}, with neither on {neither:,}."
        )
    return said


# Figures and tables ---------------------------------------------------------------------------------------------------


def _difference_table(result: "Decision") -> Table:
    """Return a row for each classifier and for each difference."""
    sides = (result.baseline, result.candidate)
    digits = digits_for([*(ends(one.interval) for one in sides), ends(result.interval)])
    trusted, form = ALL_CORRECT in result.assumptions, f"percent.{digits}"
    corrected = [one.corrected for one in sides if one.corrected is not None and not trusted]
    columns = {title_of(_measure_compared(result)): "text", "Observed": form, f"{rate(result.level)} interval": form}
    columns |= {true_labels_title(one.kind for one in corrected): form, "1-sided p": "p"}
    rows: list[tuple[Cell, ...]] = [
        (who, one.value, ends(one.interval), None if trusted else ends(one.corrected), None)
        for who, one in zip(_called(result), sides, strict=True)
    ]
    for decision in (result, *result.others):
        shown = f"points.{digits_for([ends(decision.interval)])}"
        gap, span = written(decision.difference, shown), written(ends(decision.interval), shown)
        if decision.method in AUDITED:  # an estimate on true labels, which is not the observed difference
            gap, span = written(decision.candidate.value - decision.baseline.value, shown), f"{gap} {span}"
        cell = Pill(gap, "good") if decision.verdict != "inconclusive" else gap
        p_value = None if decision.verdict == "baseline" else decision.p_value
        title = "Difference (pp)" if decision is result else f"{title_of(_measure_compared(decision))}: difference (pp)"
        # With label errors the interval is that of the difference on true labels.
        rows.append((title, cell, *(("", span) if corrected else (span, "")), p_value))
    return without_empty(Table("Difference", columns, rows))


def _differences(result: "Decision") -> Strips:
    of_one_kind = [one for one in (result, *result.others) if (one.measure == "error") == (result.measure == "error")]
    columns: list[Column[Decision]] = [
        ("Measure", "text", lambda one: title_of(_measure_compared(one))),
        ("Difference", "points", "difference"),
        ("Interval", "points", "interval"),
        ("Result", "text", lambda one: Pill(one.verdict, _TONES[one.verdict])),
    ]
    table = listed("Difference", [one for one in of_one_kind if not is_missing(one.difference)], columns)
    left, right = (f"{who} better" for who in _names(result))
    sides = (left, right) if result.measure != "error" else (right, left)
    return drawn(table, "Difference", axis="Difference (pp)", sides=sides, zero=0.0)


def _disagreements(result: "Decision") -> tuple[int, int, int] | None:
    """Return on how many disagreements the label agrees with the baseline, the candidate, neither of them."""
    details = result.details
    if "label_says_baseline" not in details:
        return None
    lost, won, neither = (int(details[f"label_says_{who}"]) for who in ("baseline", "candidate", "neither"))
    if result.method == "agreement":
        total = lost + won + neither
        lost, won = (int(details[f"agrees_with_{who}_only"]) for who in ("baseline", "candidate"))
        neither = total - lost - won
    return lost, won, neither


def _by_class(result: "Decision") -> Section:
    found = _disagreements(result)
    if not found or not sum(found) or result.method == "agreement":
        return NOTHING
    old, new = _names(result)
    ordered = sorted(result.details["by_class"], key=lambda one: -one["lost"] - one["won"] - one["neither"])
    rows = [(name(one["class"]), one["lost"], one["won"], one["neither"]) for one in ordered]
    columns = {"Given label": "text", f"Agrees with {old}": "count", f"Agrees with {new}": "count"}
    return Section("Disagreements", [Table("Disagreements by given label", {**columns, "With neither": "count"}, rows)])


def _label_errors(result: "Decision") -> Section:
    """Show the worst-case ends of the true difference for each number of wrong labels."""
    found = _disagreements(result)
    if not found or not sum(found) or result.method in OTHER_LABELS:
        return NOTHING
    (old, new), (lost, won, neither), n = _names(result), found, result.n
    held, noise = result.breakdown, result.asked.question.noise
    marks = {}
    if held is not None and held.labels > 0:
        alone = "the labels alone hold up to " if result.method in AUDITED else "holds up to "
        marks[f"{alone}{at_most(held.labels / n)}"] = held.labels
    if isinstance(noise, float) and noise:
        marks[f"noise rate supplied, {rate(noise)}"] = round(noise * n)
    wrong = result.details.get("wrong_labels_estimated")
    if wrong is not None and round(wrong) > 0:
        marks["estimated by the audit"] = min(round(wrong), n)
    until = min(n, round(max(1.25 * abs(won - lost), *(2 * mark for mark in marks.values()), 0.02 * n, 10)))
    bends = {0, until, *marks.values(), won, lost, won + neither, lost + neither}
    places = sorted(place for place in bends if place <= until)
    # Study of noisy comparisons, formula 2: b - a - 2 t - u with t = min(m, b), u = min(m - t, o).
    m = np.array(places)
    low, high = (
        sign * (ahead - behind - 2 * turned - np.minimum(m - turned, neither)) / n
        for sign, ahead, behind in ((1, won, lost), (-1, lost, won))
        for turned in (np.minimum(m, ahead),)
    )
    line = Line("Possible true difference", (m / n).tolist(), [(won - lost) / n] * m.size, low.tolist(), high.tolist())
    at = [(place / n, text) for text, place in marks.items() if place <= until]
    axes = ("Wrong labels", "percent"), (f"Difference (pp), {new} − {old}", "points")
    says = (
        f"In the worst case each wrong label says that {new} is right where {old} is, or the reverse. The band is the "
        "difference on the true labels of these rows; it ignores sampling error, which the interval above includes."
    )
    return Section("Label errors", [says, Lines("Worst case of label errors", [line], *axes, at=at, zero=0.0)])


# Methods --------------------------------------------------------------------------------------------------------------


def _method_of(result: "Decision | Ranking") -> "MethodSpec":
    """Return what is said of a method; of the worst case, that it is McNemar's test if all labels are correct."""
    spec = result.asked.spec
    if spec.name == "worst-case" and ALL_CORRECT in result.assumptions:
        return replace(
            spec,
            title="McNemar's exact test",
            rule="Only disagreements count: McNemar's exact test compares how often each classifier is right there.",
            promise="Keeps its level if all labels are correct.",
        )
    return spec


def how_compared(result: "Decision | Ranking") -> list[str]:
    """Return sentences on a comparison method, with what to cite."""
    spec = _method_of(result)
    cited = f" [{'; '.join(f'@{key}' for key in spec.references)}]" if spec.references else ""
    inference = str(result.signature.arguments.get("inference"))
    better = f"Better means {_INFERENCES[inference]}." if inference in _INFERENCES else ""
    return [f"The method is {result.method} ({spec.title}){cited}.", spec.rule, spec.promise, better]


#: Rows of the table of pairs.
_LISTED = 300
_CORRECTIONS = {
    "holm": "The comparisons share the error by Holm's procedure [@holm1979simple]",
    "bonferroni": "The comparisons share the error equally (Bonferroni)",
    "none": "No correction was made for the number of comparisons",
}
#: Of a row that is worse than the column, of an inconclusive pair, of a row that is better.
_SIGNS = ("▽", "·", "▲")
_SIGN_TONES: tuple[Tone, ...] = ("bad", "open", "good")
#: Columns of the pairs, of which the first is the one that ranks higher.
_PAIRS = {
    "candidate": "text",
    "baseline": "text",
    "verdict": "text",
    "difference": "points",
    "low": "points",
    "high": "points",
    "p_value": "p",
    "holds_up_to": "text",
    "won": "count",
    "lost": "count",
    "neither": "count?",
}


def ranking_document(result: "Ranking") -> Document:
    """Say which models may be best, between which ranks each lies, and which differences are significant."""
    models, table = list(map(name, result.names)), _ranking_table(result)
    measure = measure_of(result.measure, result.of, method=result.method)
    together = "for each pair" if result.correction == "none" else "for all pairs together"
    strips = [
        Strip(model, [Mark("span", low - 0.4, high + 0.4), Mark("dot", place)], rank_text(low, high))
        for place, model, low, high in zip(itertools.count(1), models, result.best_rank, result.worst_rank)
    ]
    series = {0: "ranks that are possible; the dot is the place by the estimate"}
    return Document(
        kind="Ranking of classifiers",
        title=name(result.title) if result.title else f"Ranking of {len(models)} classifiers",
        headline=_ranking_headline(result),
        tone="good" if result.best_rank.count(1) == 1 else "open",
        sentences=[
            "The best rank of a model is 1 plus the number of models that are significantly better.",
            "Two intervals may overlap although one model is significantly better: both are judged on the same rows.",
        ],
        figure=Strips("Ranks", strips, "count", "Rank", series, (0.5, len(models) + 0.5)),
        table=table,
        scope=[count(result.n, "row"), measure, f"method {result.method}"],
        sections=[
            Section("Ranking", [table, estimate_strips(zip(models, result.estimates, strict=True), title_of(measure))]),
            _all_pairs(result, models),
            _true_labels(result),
        ],
        methods=[
            f"{count(len(models), 'classifier')} ({joined(models)}) were compared in pairs on {count(result.n, 'row')}",
            f"by {measure} with demele [@demele].",
            *how_compared(result),
            f"{_CORRECTIONS[result.correction]}; level {rate(result.level)} {together}.",
            *rests_on(result),
        ],
        **about(result),
    )


def _ranking_headline(result: "Ranking") -> str:
    m, models = len(result.names), list(map(name, result.names))
    first = [model for model, best in zip(models, result.best_rank, strict=True) if best == 1]
    shown = int((result.pairs["verdict"] == "candidate").sum())
    share = {"holm": "Holm, ", "bonferroni": "Bonferroni, ", "none": "uncorrected, "}[result.correction]
    significant = f"{shown:,} of {m * (m - 1) // 2:,} differences are significant ({share}{rate(result.level)})"
    if len(first) == 1:
        return f"{first[0]} is the best; {significant}."
    best = f"Any of {m} models" if len(first) == m else joined(first, "or", most=4)
    return f"{best} may be the best; {significant}."


def shown_better(pairs: "pd.DataFrame", names: Sequence[str]) -> Any:
    """Return which model of a column is significantly better than that of a row, shape (n_models, n_models)."""
    place = {model: position for position, model in enumerate(names)}
    better = np.zeros((len(place), len(place)), dtype=np.bool_)
    won = pairs[pairs["verdict"] == "candidate"]
    better[won["baseline"].map(place), won["candidate"].map(place)] = True
    return better


def _ranking_table(result: "Ranking") -> Table:
    beats = shown_better(result.pairs, result.names).sum(axis=0)
    estimated: Callable[[int], Estimate] = result.estimates.__getitem__
    columns: list[Column[int]] = [
        ("Rank", "text", lambda place: rank_text(result.best_rank[place], result.worst_rank[place])),
        ("Model", "text", lambda place: name(result.names[place])),
        *estimate_columns(result.estimates, result.level, estimated),
        ("Lead (pp)", "points.2?", lambda place: result.leads[place]),
        ("Beats", "count", lambda place: beats[place]),
    ]
    return listed("Ranking", range(len(result.names)), columns, first=MOST_MODELS)


# Pairs ----------------------------------------------------------------------------------------------------------------


def _all_pairs(result: "Ranking", models: Sequence[str]) -> Section:
    """Show for each row whether it is better than each column."""
    m, better = len(models), shown_better(result.pairs, result.names)
    state = 1 + better.T.astype(int) - better.astype(int)  # of the row against the column
    places = itertools.permutations(range(m), 2)
    cells = {(i, j): Pill(_SIGNS[state[i, j]], "none" if i > j else _SIGN_TONES[state[i, j]]) for i, j in places}
    signs = {"▲": "the row is significantly better", "▽": "the column is significantly better", "·": "inconclusive"}
    listed_pairs = list(itertools.islice(itertools.combinations(result.names, 2), _LISTED))
    ahead = result.pairs.set_index(["candidate", "baseline"]).loc[listed_pairs].reset_index()
    holds = ["" if is_missing(share) else at_most(share) for share in ahead["breakdown_rate"]]
    table, _ = table_of_frame("All pairs", ahead.assign(holds_up_to=holds)[list(_PAIRS)], _PAIRS)
    table = replace(table, first=MOST_MODELS, note=f"Difference: {measure_of(result.measure)}, candidate − baseline.")
    grid = [Matrix("Pairwise results", models, models, cells, signs)] if m <= MOST_MODELS else []
    return Section("Pairwise results", [*grid, table])


# True labels ----------------------------------------------------------------------------------------------------------


def _true_labels(result: "Ranking") -> Section:
    """Compare every choice with the one that true labels lead to."""
    if result.reference is None:
        return NOTHING
    both = result.pairs.merge(result.reference, on=["baseline", "candidate"], suffixes=("", "_true"))
    takes, right = (both[key].to_numpy() == "candidate" for key in ("choice", "choice_true"))
    shares: list[tuple[str, int, int, str]] = [
        ("Agreement", int((takes == right).sum()), len(both), "both choose the same model"),
        ("Type I", int((takes & ~right).sum()), int((~right).sum()), "chooses the candidate, true labels do not"),
        ("Type II", int((~takes & right).sum()), int(right.sum()), "keeps the baseline, true labels do not"),
    ]
    columns = {"Rate": "text", "Ordered pairs": "count", "Of": "count", "Share": "percent.2", "Meaning": "text"}
    rows = [(title, part, of, part / of if of else None, meaning) for title, part, of, meaning in shares]
    return Section("Label errors", [Table("Choices and true labels", columns, rows)])
