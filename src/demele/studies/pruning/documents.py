"""What a study of pruning says: its document."""

import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from demele.core.result import about
from demele.models.documents import options_words
from demele.models.fabric.documents import lattice_graph
from demele.report.document import NOTHING, Block, Cell, Choice, Document, Facts, Pill, Section, Strips, Table
from demele.report.listing import Column, drawn, listed
from demele.report.words import count, ends, joined, name, title_of, written
from demele.studies.pruning.claims import ALL, CLAIMS, Claim, Difference
from demele.studies.pruning.configurations import WHOLE

if TYPE_CHECKING:
    import pandas as pd

    from demele.studies.pruning.study import PruningStudy

Pair = tuple[Claim, Difference]

_SIGNS = {"more": "> 0", "equal": "= 0", "less": "< 0", "": "–"}
#: Levels whose structure is drawn: pruned weights leave all links.
_DRAWN = ("links", "links then weights")
#: Figures of a fabric: titles, and formats of their means over seeds.
_FIGURES = {
    "error": ("Error", "percent"),
    "recalibrated": ("After recalibration", "percent?"),
    "raw": ("Right after pruning", "percent?"),
    "links": ("Links", "count.1"),
    "requested": ("Links to remove", "count?"),
    "kept_weights": ("Weights", "count?"),
    "multiply_adds": ("Multiply-adds", "count?"),
    "training_share": ("Training cost", "percent.0"),
    "wrong_again_test": ("Wrong labels predicted, test", "percent?"),
    "wrong_again_training": ("Wrong labels predicted, training", "percent?"),
}


def pruning_document(result: "PruningStudy") -> Document:
    """Say which claims about pruning hold, which differences are significant, and what became of each fabric."""
    frame, differences = result.to_frame(), result.differences()
    # Of each claim the last: all noises together, where there are several.
    overall = {one.claim: one for one in differences}
    published = [(claim, overall[claim.name]) for claim in CLAIMS if claim.name in overall and claim.expected]
    controls = [(claim, overall[claim.name]) for claim in CLAIMS if claim.name in overall and not claim.expected]
    table = _claims(published)
    data = result.settings["data"]
    done = int((frame.status == "done").sum())
    return Document(
        kind="Study of pruned fabrics",
        title="Pruning under label noise",
        headline=_headline(published),
        sentences=_sentences(published, controls, frame),
        figure=_forest("Differences in error", [*published, *controls]),
        table=table,
        scope=(
            f"{written(done, 'count')} of {count(len(frame), 'fabric')}",
            count(len(result.configurations), "way to prune", "ways to prune"),
            count(len(result.noises), "label noise"),
            count(result.seeds, "seed"),
            f"{name(data['images'])} images",
        ),
        next=_next(published, result.seeds),
        sections=[
            _ranking(result.ranks_frame(), frame),
            _pairwise(table, differences),
            _decisions(result.decisions_frame()),
            Section("Published results", [_statements(published)]),
            _models(frame),
            _structure(result, frame),
            _data(result),
        ],
        methods=[
            f"Fabrics were pruned in {count(len(result.configurations), 'way')} under",
            f"{count(len(result.noises), 'label noise')} with {count(result.seeds, 'seed')} each, with demele",
            "[@demele]. Differences were paired by seed (Student's 95% interval over seeds) and corrected by Holm's",
            "procedure [@holm1979simple] at 5%, over all claims under the same labels. The published claims are those",
            "of [@benjelloun2021impact].",
        ],
        **about(result),
    )


def labels_words(noise: str) -> str:
    """Write the label noise of a study, or all of them together.

    Examples
    --------
    >>> labels_words("none"), labels_words("visibility 10%"), labels_words("uniform 20%")
    ('true labels', '10% wrong, on hard images', '20% wrong, at random')
    """
    kind, _, share = noise.partition(" ")
    known = {"none": "true labels", ALL: "all together", "uniform": f"{share} wrong, at random"}
    return {**known, "visibility": f"{share} wrong, on hard images"}.get(kind, name(noise))


# Verdict --------------------------------------------------------------------------------------------------------------


def _state(claim: Claim, found: Difference) -> Pill:
    """Return the verdict on a claim after correction."""
    if not found.significant:
        return Pill("inconclusive", "open", 2)
    if not claim.expected:
        return Pill("difference", "good", 1)
    return Pill("shown", "good", 0) if found.verdict == claim.expected else Pill("contradicted", "bad", 3)


def _having(pairs: Iterable[Pair], state: str) -> list[str]:
    return [claim.title for claim, found in pairs if _state(claim, found).text == state]


def _headline(published: Sequence[Pair]) -> str:
    if not published:
        return "No published claim can be tested yet."
    shown, contradicted, left = (len(_having(published, state)) for state in ("shown", "contradicted", "inconclusive"))
    return (
        f"Of {count(len(published), 'published claim')} about pruning, {shown} {'is' if shown == 1 else 'are'} shown, "
        f"{contradicted} contradicted and {left} inconclusive after Holm correction."
    )


def _sentences(published: Sequence[Pair], controls: Sequence[Pair], frame: "pd.DataFrame") -> list[str]:
    shown, against = _having(published, "shown"), _having(published, "contradicted")
    different = _having(controls, "difference")
    whole = frame[(frame.configuration == WHOLE.name) & (frame.status == "done")].groupby("noise", sort=False).error
    errors = [f"{written(float(mean), 'percent')} ({labels_words(str(noise))})" for noise, mean in whole.mean().items()]
    parts = [f"Shown: {joined(shown, most=3)}."] if shown else []
    parts += [f"Contradicted: {joined(against, most=3)}."] if against else []
    return [
        " ".join(parts),
        f"{len(different)} of {count(len(controls), 'control')} and unpublished criteria differ significantly."
        if controls
        else "",
        f"Error of whole fabrics: {joined(errors, most=3)}." if errors else "",
    ]


def _next(published: Sequence[Pair], seeds: int) -> list[tuple[str, str]]:
    needed = [found.seeds_needed for _, found in published if not found.significant and found.seeds_needed]
    more = sorted(number for number in needed if number > seeds)
    if not more:
        return []
    step = f"Run more seeds: {count(len(more), 'inconclusive claim')} may need {more[0]} to {more[-1]}:"
    return [(step, f"demele study pruning run --seeds {statistics.median_low(more)} --store STUDY")]


def _forest(caption: str, pairs: Sequence[Pair]) -> Strips:
    """Return the differences of errors with their intervals; the training cost has another scale."""
    table = _claims([pair for pair in pairs if pair[0].measure != "training_share"])
    axis, sides = "Difference, percentage points", ("first is lower", "second is lower")
    return drawn(table, "Mean, pp", caption=caption, tick="Published, pp", axis=axis, sides=sides, zero=0.0)


def _claims(pairs: Sequence[Pair]) -> Table:
    columns: list[Column[Pair]] = [
        ("Claim", "text", lambda pair: pair[0].title),
        ("Verdict", "text", lambda pair: _state(*pair)),
        ("Published", "text", lambda pair: _SIGNS[pair[0].expected]),
        ("Mean, pp", "points", lambda pair: pair[1].mean),
        ("Interval", "points", lambda pair: ends(pair[1])),
        ("p", "p?", lambda pair: pair[1].p_value),
        ("Published, pp", "points?", lambda pair: pair[0].published),
    ]
    return listed("Published claims", pairs, columns)


def _statements(pairs: Sequence[Pair]) -> Table:
    return Table("Statements", {"Claim": "text", "Statement": "text"}, [(one.title, one.says) for one, _ in pairs])


# Sections -------------------------------------------------------------------------------------------------------------


def _ranking(ranks: "pd.DataFrame", frame: "pd.DataFrame") -> Section:
    if ranks.empty:
        return NOTHING
    means = ranks.groupby(["noise", "method", "configuration"])[["best", "worst"]].mean().T.to_dict("list")
    methods = list(dict.fromkeys(ranks.method))
    panels = {}
    for noise in dict.fromkeys(ranks.noise):
        rows: list[tuple[Cell, ...]] = [
            (name(one), *(tuple(means.get((noise, method, one), (None, None))) for method in methods))
            for one in dict.fromkeys(frame.configuration)
        ]
        title = labels_words(noise)
        columns = {"Fabric": "text", **dict.fromkeys(map(title_of, methods), "count.1")}
        panels[title] = [Table(f"Ranks, {title}", columns, rows)]
    text = "Best and worst rank of each fabric, as means over seeds. All ranks of a seed hold together at 95%."
    return Section("Ranking", [text, Choice("Labels", panels)])


def _pairwise(table: Table, differences: Sequence[Difference]) -> Section:
    claims = {claim.name: claim for claim in CLAIMS}
    columns: list[Column[Difference]] = [
        ("Difference", "text", lambda one: claims[one.claim].title),
        ("Labels", "text", lambda one: labels_words(one.noise)),
        ("Mean, pp", "points", "mean"),
        ("Interval", "points", lambda one: ends(one)),
        ("p", "p", "p_value"),
        ("Verdict", "text", lambda one: _state(claims[one.claim], one)),
        ("First lower", "count?", "first_lower"),
        ("Second lower", "count?", "second_lower"),
        ("Pairs", "count?", "pairs"),
        ("Seeds", "count?", "seeds"),
        ("Seeds needed", "count", "seeds_needed"),
    ]
    text = (
        "Each difference is a mean over pairs of configurations, paired by seed: both start from one whole fabric. "
        "The counts are over pairs and seeds. Seeds needed: for a power of 80% without correction."
    )
    return Section("Pairwise results", [table, text, listed("Differences", differences, columns)])


def _decisions(decisions: "pd.DataFrame") -> Section:
    if decisions.empty:
        return NOTHING
    titles = {claim.name: claim.title for claim in CLAIMS}
    rows: Iterable[Any] = decisions.itertuples()
    table = listed(
        "Decisions on noisy labels",
        rows,
        [
            ("Difference", "text", lambda row: titles[row.claim]),
            ("Labels", "text", lambda row: labels_words(row.noise)),
            ("Method", "text", "method"),
            ("First better", "count", "first_better"),
            ("Second better", "count", "second_better"),
            ("Inconclusive", "count", "inconclusive"),
            ("Contradicts true labels", "count", "contradicts"),
        ],
    )
    wrong = decisions[decisions.contradicts > 0].groupby("method", sort=False).contradicts.sum()
    told = joined(f"{written(int(number), 'count')} by {method}" for method, number in wrong.items())
    text = (
        "Decisions on one test set whose labels are as wrong as those of the training, over all pairs and seeds. "
        f"Decisions that contradict the true labels: {told or 'none'}."
    )
    return Section("Label errors", [text, table])


def _models(frame: "pd.DataFrame") -> Section:
    odd = frame[frame.status != "done"]
    states = joined(f"{written(number, 'count')} {state}" for state, number in odd.status.value_counts().items())
    (error, *others) = _FIGURES.values()
    columns = {"Fabric": "text", **dict([error]), "Standard error": "percent?", **dict(others)}
    panels = {}
    for title, own in frame.groupby(frame.noise.map(labels_words), sort=False):
        means = own[own.status == "done"].groupby("configuration", sort=False)[list(_FIGURES)].agg(["mean", "sem"])
        rows: list[tuple[Cell, ...]] = [
            (name(one), row["error", "mean"], row["error", "sem"], *(row[key, "mean"] for key in list(_FIGURES)[1:]))
            for one, row in means.iterrows()
        ]
        panels[str(title)] = [Table(f"Fabrics, {title}", columns, rows, first=40)]
    text = (
        "Means over seeds, with the standard error of the error. Errors are on true labels of the test set. The "
        "training cost is the share of the multiplications that training the whole fabric takes."
    )
    return Section("Models", [f"Not trained: {states}." if states else None, text, Choice("Labels", panels)])


def _structure(result: "PruningStudy", frame: "pd.DataFrame") -> Section:
    """Show how often each link is kept, where most links are removed late or iteratively."""
    structure = result.settings["structure"]
    panels: dict[str, list[Block]] = {}
    drawn = frame[(frame.status == "done") & frame.level.isin(_DRAWN) & frame.strategy.isin(("late", "iterative"))]
    for one, own in drawn[drawn.fraction == drawn.fraction.max()].groupby("configuration", sort=False):
        graphs: list[Block] = []
        for noise in dict.fromkeys(own.noise):
            kept = {str(link): share for link, share in result.links(str(one), noise).items() if share > 0}
            caption = f"{name(one)}, {labels_words(noise)}"
            graphs.append(lattice_graph(caption, structure["layers"], structure["scales"], kept))
        panels[name(one)] = graphs
    text = "The wider a link, the more seeds keep it. Dashed links are removed with every seed."
    return Section("Structure", [text, Choice("Fabric", panels)])


def _data(result: "PruningStudy") -> Section:
    settings = result.settings
    data, times = settings["data"], settings.get("times")
    images = f"{count(data['n'] - data['held'], 'image')} for training, {written(data['held'], 'count')} for criteria"
    facts = [
        ("Images", f"{name(data['images'])}: {images}, {written(data['test'], 'count')} for the test"),
        ("Source", name(data["provenance"])),
        ("Whole fabric", options_words(settings["structure"])),
        ("Training", options_words(settings["training"])),
        ("Label noises", joined((labels_words(one.name) for one in result.noises), most=12)),
    ]
    if times:
        steps = f"iterative every {count(times['every'], 'epoch')} between them"
        facts.append(("Pruning", f"early after epoch {times['early']}, late after epoch {times['late']}, {steps}"))
    return Section("Data", [Facts(facts)])
