"""What scores of one representation say: their documents, and the parts that comparisons of several share."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.result import notices
from demele.core.verdict import (
    MOST_CODES,
    note_on_map,
    order_of,
    share_map,
    verdict_methods,
    verdict_sentences,
    verdict_strips,
    verdict_table,
    words_table,
)
from demele.core.version import __version__
from demele.report import document
from demele.report.listing import Column, drawn, listed, table_of_frame
from demele.report.words import count, ends, joined, name, rate, sentence_of, written

if TYPE_CHECKING:
    from demele.core.results import Dependency, Evaluation, Score, ScoresByName
    from demele.core.verdict import RepresentationVerdict


# How scores were made, as sentences for the section on methods of a paper ---------------------------------------------

_BINS = {"EqualWidth": "{} equal-width bins", "EqualFrequency": "{} bins of equal frequency"}


def methods_of(results: "Sequence[ScoresByName]") -> list[str]:
    """Say how evaluations were made; what is true of several is said once."""
    who: dict[str, list[str]] = {}
    made: dict[str, None] = {}
    for one in results:
        codes = count(len(one.code_names), "code")
        who.setdefault(_how(one, one.scores), []).append(f"the representation {name(one.name)} ({codes})")
        made |= dict.fromkeys([_factors(one), *_of_scores(one.scores)])
        made |= dict.fromkeys(sentence_of(f"{gap.metric} is left out: {gap.reason}") for gap in one.left_out)
    scored = [f"{joined(names, most=100)} {'were' if len(names) > 1 else 'was'} {how}" for how, names in who.items()]
    return [sentence for sentence in (*map(sentence_of, scored), *made) if sentence]


def _how(one: "ScoresByName | Score", scores: "Sequence[Score]") -> str:
    protocol = f"under the protocol {one.protocol}{cited(scores[0].cited if scores else ())}"
    version = f"demele {getattr(one, 'version', '') or __version__}{cited(['demele'])}"
    return f"computed on {count(one.n, 'row')} with {version}, {protocol}"


def cited(keys: Iterable[str]) -> str:
    """Return a citation of works, after the words that it stands for."""
    listed = "; ".join(f"@{key}" for key in keys)
    return f" [{listed}]" if listed else ""


def title_of(score: "Score") -> str:
    """Return the name of the metric as papers have it."""
    return score.facts.title or name(score.metric)


def _factors(result: "ScoresByName") -> str:
    classes = [f"{name(one.name)} ({one.n_levels} classes)" for one in result.factors if one.kind == "categorical"]
    numbers = [name(one.name) for one in result.factors if one.kind != "categorical"]
    most = max((one.n_annotated for one in result.factors), default=0)
    kinds = [f"categorical: {', '.join(classes)}"] * bool(classes)
    kinds += [f"continuous: {', '.join(numbers)}"] * bool(numbers)
    some = [one for one in result.factors if one.n_annotated < most]
    fewer = [f"{name(one.name)} is annotated in {count(one.n_annotated, 'row')}" for one in some]
    return f"The {count(len(result.factors), 'factor')} are {'; '.join([*kinds, *fewer])}."


def _of_scores(scores: "Sequence[Score]") -> list[str]:
    ways = [f"{title_of(one)}{cited(one.facts.references)}" for one in scores]
    metrics = f"The metric{'s are' if len(ways) > 1 else ' is'} {joined(ways, most=100)}." if ways else ""
    parts = (_groups, _settings, _uncertainty, _corrected, _drawn)
    return [metrics, *(said for part in parts for said in part(scores))]


def _by(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what is true of some metrics, with their names joined."""
    found: dict[str, list[str]] = {}
    for what, who in pairs:
        found.setdefault(what, []).append(who)
    return {what: joined(dict.fromkeys(who), most=100) for what, who in found.items()}


def _groups(scores: "Sequence[Score]") -> list[str]:
    """Say which columns of the codes were scored together."""
    given = [one.signature.arguments for one in scores if "code_groups" in one.signature.arguments]
    groups = given[0]["code_groups"] if given else {}
    sizes = {key: len(own) for key, own in groups.items() if len(own) > 1} if isinstance(groups, Mapping) else {}
    several = [f"{name(key)} ({count(size, 'column')})" for key, size in sizes.items()]
    reduced = bool(given) and given[0].get("reduce_groups") == "pca1"
    how = "represented by their first principal component" if reduced else "one code together"
    return [f"Columns of the codes were {how}: {joined(several)}."] if several else []


def _settings(scores: "Sequence[Score]") -> list[str]:
    """Say how columns were cut, and every other option that is not the default of its metric."""
    bins, changed = [], []
    for one in scores:
        for option, value in one.signature.arguments.items():
            if option == "bins":
                bins.append((_bins(value), title_of(one)))
            elif one.facts.defaults.get(option, repr(value)) != repr(value):
                changed.append((f"{option} = {value!r}", title_of(one)))
    cut = "; ".join(f"into {rule} for {who}" for rule, who in _by(bins).items())
    other = "; ".join(f"{option} for {who}" for option, who in _by(changed).items())
    return [
        f"Continuous columns were cut {cut}." if cut else "",
        f"Settings other than the defaults of the metrics: {other}." if other else "",
    ]


def _bins(value: object) -> str:
    found = re.fullmatch(r"(\w+)\(bins=(\d+)\)", repr(value))
    return _BINS[found[1]].format(found[2]) if found and found[1] in _BINS else f"bins by {value!r}"


def _uncertainty(scores: "Sequence[Score]") -> list[str]:
    """Say how intervals, spreads and chance levels were made."""
    among = [(one.interval, title_of(one)) for one in scores if one.interval is not None]
    intervals = _by((f"{rate(interval.level)}, {interval.method}", who) for interval, who in among)
    seeds = _by((count(len(one.spread.values), "seed"), title_of(one)) for one in scores if one.spread is not None)
    shuffles = []
    for one in scores:
        if one.chance is not None:
            blocks = one.signature.context.get("blocks")
            whole = f", {blocks} blocks of rows as wholes" if blocks else ""
            drawn = count(len(one.chance.values), "permutation")
            shuffles.append((f"{drawn} of the rows of the factors{whole}", title_of(one)))
    told = "; ".join(f"{how} for {who}" for how, who in intervals.items())
    return [
        f"Intervals cover other rows of the same source: {told}." if told else "",
        *(f"Values of {who} are means over {runs}." for runs, who in seeds.items()),
        *(f"Chance levels of {who} are mean scores over {runs}." for runs, who in _by(shuffles).items()),
    ]


def _corrected(scores: "Sequence[Score]") -> list[str]:
    """Say how corrected and aligned scores were made."""
    corrected = [(one.corrected, title_of(one)) for one in scores if one.corrected is not None]
    turned = [(one.alignment, title_of(one)) for one in scores if one.alignment is not None]
    assumed = dict.fromkeys(sentence_of(text) for own, _ in corrected for text in own.assumptions)
    how = []
    for own, title in corrected:
        at = f", {rate(own.interval.level)} interval" if own.interval else ""
        how.append(("bounded" if own.method == "bounds" else f"corrected (method {own.method}{at})", title))
    ways = _by(how)
    turns = _by(("whitened and turned" if own.whitened else "turned", title) for own, title in turned)
    return [
        *(f"Scores of {who} were {how} for wrong annotations of the factors." for how, who in ways.items()),
        f"Assumed: {' '.join(assumed)}" if assumed else "",
        *(
            f"Aligned scores of {who} use codes {how} towards the factors on one half of the rows; the other half is "
            "scored, and both halves are averaged."
            for how, who in turns.items()
        ),
    ]


def _drawn(scores: "Sequence[Score]") -> list[str]:
    """Say what random numbers came from, and what was left out of the rows."""
    given = [one.signature.arguments for one in scores]
    seeds = sorted({str(own["seed"]) for own in given if "seed" in own})
    omitted = any(own.get("missing") == "omit" for own in given)
    kinds = [own["kinds"] for own in given if own.get("kinds")]
    pairs = (
        kinds[0].items() if kinds and isinstance(kinds[0], Mapping) else [("every factor", one) for one in kinds[:1]]
    )
    by_hand = ", ".join(f"{factor} is {kind}" for factor, kind in pairs)
    return [
        f"Random numbers come from seed {' and '.join(seeds)}." if seeds else "",
        "Rows without an annotation were left out factor by factor." * omitted,
        f"Kinds of factors were given by hand: {by_hand}." if by_hand else "",
    ]


PROPERTIES = ("Modularity", "Compactness", "Explicitness", "Holistic", "Other")
_NEXT = ("Add intervals and chance levels:", "demele score CODES FACTORS --bootstrap 50 --permutations 20")
#: What matrices of information hold; the verdict shows the same as shares of entropy.
_INFORMATION = "mutual information (nats)"
_MOST_LEVELS, _MOST_RESPONSES = 12, 2


def evaluation_document(result: "Evaluation") -> document.Document:
    """Say what the codes hold, and what they score."""
    scores, verdict = result.scores, result.verdict
    headline, *sentences = [_values(scores)] if verdict is None else verdict_sentences(verdict)
    known = any(score.interval or score.chance for score in scores)
    grouped = verdict is None and any("code_groups" in score.signature.arguments for score in scores)
    rows = None if result.rows is None else result.rows.columns()
    words = [] if verdict is None else [words_table(verdict)]
    natives = [(title_of(one), native_strips(one)) for one in scores]
    panels: dict[str, list[document.Block]] = {name(one.factor): [] for one in result.dependency}
    for one in sorted(result.dependency, key=lambda one: -one.score if one.score == one.score else 1.0):
        if len(panels[name(one.factor)]) < _MOST_RESPONSES:
            panels[name(one.factor)].append(_response(one))
    says = (
        "The line is the mean of the code at each value of the factor; the band is the range that other factors cause. "
        "The two codes with the largest scores are shown."
    )
    return document.Document(
        kind="Disentanglement scores",
        title=f"Scores of {name(result.name)}",
        headline=headline,
        sentences=[*sentences, "Codes in groups have no verdict: it needs one column for each code." * grouped],
        figure=score_strips(scores) if verdict is None else verdict_strips(verdict),
        table=scores_table(scores),
        below=[] if verdict is None else [verdict_table(verdict)],
        scope=[*scope_of(result), result.protocol],
        next=[] if known else [_NEXT],
        sections=[
            document.Section("Scores", [score_strips(scores), scores_table(scores)]),
            document.Section("Code-factor matrix", [*matrix_blocks(scores, verdict, rows), *words]),
            document.Section(
                "Values per factor and code",
                [document.Choice("Metric", {key: [one] for key, one in natives if one.rows})],
            ),
            document.Section("Sensitivity to other factors", [says, document.Choice("Factor", panels)]),
            document.Section("Data", [factors_table(result)]),
            glossary(scores),
        ],
        **about_scores([result], [] if verdict is None else verdict_methods(verdict)),
    )


def score_document(score: "Score") -> document.Document:
    """Say what one metric scores."""
    values = native_strips(score)
    classes = [table_of_frame("Classes", score.classes_frame())[0]] if "classes" in score.details else []
    return document.Document(
        kind="Score",
        title=title_of(score),
        headline=_values([score]),
        sentences=[one.headline() for one in (score.corrected, score.alignment) if one is not None],
        figure=values if values.rows else score_strips([score]),
        table=scores_table([score]),
        below=classes,
        scope=[count(score.n, "row"), score.protocol or ""],
        sections=[
            document.Section("Scores", [scores_table([score])]),
            document.Section("Code-factor matrix", matrix_blocks([score], None, None)),
            document.Section("Values per factor and code", [values]),
            document.Section("Classes", classes),
            glossary([score]),
        ],
        methods=[f"The score was {_how(score, [score])}.", *_of_scores([score])],
        assumptions=assumptions_of([score]),
        notes=notices(score.notes),
        signatures=signatures_of([score]),
        version=score.signature.context.get("demele", ""),
    )


def _values(scores: Sequence["Score"]) -> str:
    """Say the first scores in a sentence."""
    said = []
    for one in scores:
        span = "" if one.interval is None else f" {written(ends(one.interval))}"
        worse = "worse than its " if one.chance is not None and one.chance.beats_score else ""
        chance = "" if one.chance is None else f" ({worse}chance level {written(one.chance.mean)})"
        value = f"{written(one.value)}{span}{chance}" if one.value == one.value else "undefined"
        said.append(f"{title_of(one)} is {value}")
    return f"{joined(said, most=4)}." if said else "No metric has a score."


# Scores ---------------------------------------------------------------------------------------------------------------


def property_of(score: "Score") -> str:
    """Return what the metric claims to measure."""
    claimed = [one.capitalize() for one in score.facts.properties]
    only = claimed[0] if len(claimed) == 1 else ""
    return "Holistic" if len(claimed) > 1 else only if only in PROPERTIES else "Other"


def scores_table(scores: Sequence["Score"]) -> document.Table:
    """Return a row for each score, by property; below it, what aligned scores say."""
    levels = [rate(level) for level in sorted({one.interval.level for one in scores if one.interval is not None})]
    columns: list[Column[Score]] = [
        ("Property", "text", property_of),
        ("Metric", "text", title_of),
        ("Value", "number", "value"),
        (f"{'/'.join(levels)} interval", "number", "interval"),
        ("SD", "number?", "spread.std"),
        ("Chance", "number", "chance.mean"),
        ("p", "p?", "chance.p_value"),
        ("Adjusted", "number", lambda one: _adjusted(one, "value")),
        ("Adjusted interval", "number?", lambda one: (_adjusted(one, "low"), _adjusted(one, "high"))),
        ("Corrected", "number", "corrected.value"),
        ("Corrected interval", "number?", "corrected.interval"),
        ("Audited rows alone", "number?", "corrected.audited_alone"),
        ("Raw", "number", "alignment.raw"),
        ("Aligned", "number", "alignment.aligned"),
        ("Gap", "number", "alignment.gap"),
        ("Gap interval", "number?", "alignment.interval"),
        ("Gap by chance", "number?", "alignment.chance.mean"),
        ("Note", "text", lambda one: document.Pill("fragile", "open") if one.fragile else ""),
    ]
    readings = _readings(scores)
    note = " ".join(["Raw and aligned: of held-out halves of the rows.", *readings]) if readings else ""
    return listed("Scores", sorted(scores, key=lambda one: PROPERTIES.index(property_of(one))), columns, note)


def _adjusted(score: "Score", part: str) -> float | None:
    """Return a part of the value adjusted for chance, of a score of few rows."""
    found: float | None = score.details.get("adjusted_for_chance", {}).get(part)
    return found


def _readings(scores: Sequence["Score"]) -> list[str]:
    """Say what raw and aligned scores mean together, for all metrics of the same reading."""
    found = [(title_of(one), one.alignment) for one in scores if one.alignment is not None]
    readings: dict[str, list[str]] = {}
    for title, one in sorted(found, key=lambda pair: pair[1].reading == "any axes"):
        readings.setdefault(one.headline(), []).append(title)
    return [f"{joined(titles)}: {reading}" for reading, titles in readings.items()]


def score_strips(scores: Sequence["Score"]) -> document.Strips:
    """Draw scores with their intervals and chance levels."""
    return drawn(scores_table(scores), "Value", label="Metric", tick="Chance", axis="Score", ends=(0.0, 1.0))


def native_strips(score: "Score") -> document.Strips:
    """Draw the values that a score is a mean of."""
    names, values = score._native()
    spans = score.native_intervals or (None,) * len(names)
    rows = [(name(one), value, ends(span)) for one, value, span in zip(names, values, spans, strict=True)]
    table = document.Table(
        f"{title_of(score)} {score.native_unit}", {"": "text", "Value": "number", "Interval": "number"}, rows
    )
    return drawn(table, "Value", ends=(0.0, 1.0), most=MOST_CODES)


# Matrices -------------------------------------------------------------------------------------------------------------


def matrix_blocks(
    scores: Iterable["Score"], verdict: "RepresentationVerdict | None", rows: document.Rows | None
) -> list[document.Block | None]:
    """Return the heat maps of codes and factors, by quantity, each once."""
    shares = None if verdict is None else share_map(verdict, rows)
    panels: dict[str, list[document.Block]] = {} if shares is None else {shares.caption: [shares]}
    seen: set[tuple[str, bytes]] = set()
    for one in scores:
        values, what = one.matrix_values, one.matrix_of or "matrix"
        if values is None or (what == _INFORMATION and shares is not None) or (what, values.tobytes()) in seen:
            continue
        seen.add((what, values.tobytes()))
        order = order_of(values)
        caption = f"{what[:1].upper()}{what[1:]} ({title_of(one)})"
        codes, factors = [name(one.code_names[j]) for j in order], list(map(name, one.factor_names))
        scale: Literal["all", "both ways"] = "both ways" if np.nanmin(values, initial=0.0) < -1e-9 else "all"
        axes = ("code", "factor")
        panels[caption] = [document.Heat(caption, codes, factors, values[order].tolist(), axes=axes, scale=scale)]
    return [document.Choice("Quantity", panels), None if verdict is None else note_on_map(verdict)]


def _response(one: "Dependency") -> document.Lines:
    places = places_of(one.levels)
    named = places == list(range(len(one.levels))) and len(places) <= _MOST_LEVELS
    at = [(place, name(level)) for place, level in zip(places, one.levels, strict=True)] if named else []
    line = document.Line(name(one.code), places, one.mean, one.low, one.high)
    caption = f"{name(one.code)} by {name(one.factor)}"
    return document.Lines(caption, [line], (name(one.factor), "number"), (name(one.code), "number"), at)


def places_of(levels: Sequence[str]) -> list[float]:
    """Return where the values of a factor stand on an axis: as numbers, or one after another."""
    try:
        return [float(level) for level in levels]
    except ValueError:
        return [float(place) for place in range(len(levels))]


# What is looked up ----------------------------------------------------------------------------------------------------


def scope_of(result: "ScoresByName") -> list[str]:
    """Return the representation, and how many rows, codes and factors it has."""
    sizes = {"row": result.n, "code": len(result.code_names), "factor": len(result.factors)}
    return [name(result.name), *(count(size, noun) for noun, size in sizes.items())]


def factors_table(result: "ScoresByName") -> document.Table:
    """Return what was read of each factor."""
    columns: list[Column[Any]] = [
        ("Factor", "text", "name"),
        ("Kind", "text", "kind"),
        ("Values", "count", "n_levels"),
        ("Annotated rows", "count", "n_annotated"),
        ("Remark", "text?", lambda one: "constant: left out" if one.constant else ""),
    ]
    return listed("Factors", result.factors, columns)


def glossary(scores: Iterable["Score"]) -> document.Section:
    """Return what each metric means."""
    known = {one.metric: one for one in scores if one.facts.definition}

    def whole(end: float) -> str:
        return "number.0" if math.isfinite(end) and end == round(end) else "number"

    columns: list[Column[Score]] = [
        ("Metric", "text", title_of),
        ("Name", "code", "metric"),
        ("Definition", "text", lambda one: one.facts.definition),
        ("Range", "text", lambda one: " to ".join(written(end, whole(end)) for end in one.facts.range)),
        ("Best", "number?", "facts.best"),
        ("Source", "text?", lambda one: one.facts.source),
    ]
    return document.Section("Glossary", [listed("Metrics", known.values(), columns)])


def about_scores(results: "Sequence[ScoresByName]", more: Sequence[str] = ()) -> dict[str, Any]:
    """Return assumptions, notes, methods, signatures and version of evaluations, for their document."""
    every = [score for one in results for score in one.scores]
    several = [f"{name(one.name)}, " if len(results) > 1 else "" for one in results]
    signed = [
        (who + title, text)
        for who, one in zip(several, results, strict=True)
        for title, text in signatures_of(one.scores)
    ]
    return {
        "assumptions": assumptions_of(every),
        "notes": notes_of(results),
        "methods": [*methods_of(results), *more],
        "signatures": list(dict.fromkeys(signed)),
        "version": results[0].version,
    }


def assumptions_of(scores: Iterable["Score"]) -> tuple[str, ...]:
    """Return what corrected scores assume, each once."""
    return tuple(dict.fromkeys(text for one in scores if one.corrected for text in one.corrected.assumptions))


def notes_of(results: "Sequence[ScoresByName]") -> list[document.Notice]:
    """Return notes, of whole evaluations and of scores, and why metrics have no score: each text once."""
    found: dict[tuple[str, Any], dict[str, None]] = {}

    def add(text: str, severity: str, *who: str) -> None:
        found.setdefault((text, severity), {}).update(dict.fromkeys(filter(None, who)))

    for result in results:
        own = name(result.name) if len(results) > 1 else ""
        for note in result.notes:
            add(note.message, note.severity, own)
        for score in result.scores:
            for note in (*score.notes, *(score.corrected.notes if score.corrected else ())):
                add(note.message, note.severity, title_of(score), own)
        for gap in result.left_out:
            add(f"no score of {gap.metric}: {gap.reason}", "warning", own)
    order = ("fragile", "warning", "info")
    notes = [document.Notice(text, severity, tuple(who)) for (text, severity), who in found.items()]
    return sorted(notes, key=lambda note: order.index(note.severity))


def signatures_of(scores: Iterable["Score"]) -> list[tuple[str, str]]:
    """Return the signatures of scores, and of their corrections."""
    pairs = []
    for one in scores:
        pairs.append((title_of(one), str(one.signature)))
        if one.corrected is not None and one.corrected.signature is not None:
            pairs.append((f"{title_of(one)}, corrected", str(one.corrected.signature)))
    return pairs
