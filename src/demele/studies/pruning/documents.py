"""What a study of pruning says: its document."""

import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from demele.core.result import about
from demele.models.documents import settings_table
from demele.models.fabric.results import lattice_graph
from demele.report.document import Block, Choice, Document, Pill, Section, Strips, Table
from demele.report.listing import Column, drawn, listed, table_of_frame
from demele.report.words import count, ends, joined, name, written
from demele.studies.pruning.claims import ALL, CLAIMS, Claim, Difference

if TYPE_CHECKING:
    import pandas as pd

    from demele.studies.pruning.study import PruningStudy

Pair = tuple[Claim, Difference]

_SIGNS = {"more": "> 0", "equal": "= 0", "less": "< 0", "": "–"}
#: Levels whose structure is drawn: pruned weights leave all links.
_DRAWN = ("links", "links then weights")
#: Figures of a fabric, and formats of their means over seeds.
_FIGURES = {
    "error": "percent",
    "recalibrated": "percent?",
    "raw": "percent?",
    "links": "count.1",
    "requested": "count?",
    "kept_weights": "count?",
    "multiply_adds": "count?",
    "training_share": "percent.0",
    "wrong_again_test": "percent?",
    "wrong_again_training": "percent?",
}
#: Columns of the differences, as :class:`Difference` calls them.
_DIFFERENCE = {
    "title": "text",
    "labels": "text",
    "mean": "points",
    "low": "points",
    "high": "points",
    "p_value": "p",
    "verdict": "text",
    "significant": "text",
    **dict.fromkeys(("first_lower", "second_lower", "pairs", "seeds"), "count?"),
    "seeds_needed": "count",
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
        sentences=_sentences(published, controls),
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
            Section("Ranking", _ranking(result)),
            Section("Pairwise results", [table, _OF_DIFFERENCES, _pairwise(result)]),
            Section("Label errors", _decisions(result)),
            Section("Published results", [_statements(published)]),
            Section("Models", _models(frame)),
            _structure(result, frame),
            Section("Data", [settings_table(result.settings)]),
        ],
        methods=[
            f"Fabrics were pruned in {count(len(result.configurations), 'way')} under",
            f"{count(len(result.noises), 'label noise')} with {count(result.seeds, 'seed')} each, with demele",
            "[@demele]. Differences were paired by seed (Student's 95% interval over seeds) and corrected by Holm's",
            "procedure [@holm1979simple] at 5%, over all claims under the same labels. The published claims are",
            "Benjelloun's [@benjelloun2021impact].",
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
    known |= {"resubstitution": f"{share} wrong, as a fabric mistakes them"}
    return {**known, "visibility": f"{share} wrong, on hard images"}.get(kind, name(noise))


# Verdict --------------------------------------------------------------------------------------------------------------


def _state(claim: Claim, found: Difference) -> Pill:
    """Return the verdict on a claim after correction."""
    if not found.significant:
        return Pill("inconclusive", "open", 2)
    if not claim.expected:
        return Pill("difference", "good", 1)
    return Pill("confirmed", "good", 0) if found.verdict == claim.expected else Pill("contradicted", "bad", 3)


def _having(pairs: Iterable[Pair], state: str) -> list[str]:
    return [claim.title for claim, found in pairs if _state(claim, found).text == state]


def _headline(published: Sequence[Pair]) -> str:
    if not published:
        return "No published claim can be tested yet."
    states = ("confirmed", "contradicted", "inconclusive")
    confirmed, contradicted, left = (len(_having(published, state)) for state in states)
    return (
        f"Of {count(len(published), 'published claim')} about pruning, {confirmed} "
        f"{'is' if confirmed == 1 else 'are'} confirmed, {contradicted} contradicted and {left} inconclusive after "
        "Holm correction."
    )


def _expected(claim: Claim) -> str:
    """Say which side of a published claim has the larger error, or training cost."""
    left, _, right = claim.title.partition(" minus ")
    measure, _, first = left.rpartition(", ")
    compared = {"more": "larger than", "less": "smaller than", "equal": "equal to"}[claim.expected]
    return f"the {measure or 'error'} of \u201c{first}\u201d is {compared} that of \u201c{right}\u201d"


def _sentences(published: Sequence[Pair], controls: Sequence[Pair]) -> list[str]:
    expected = {claim.title: _expected(claim) for claim, _ in published}
    claims = {
        state: joined([expected[title] for title in _having(published, state)], most=3)
        for state in ("confirmed", "contradicted")
    }
    different = len(_having(controls, "difference"))
    verb = "is" if different == 1 else "are"
    others = f"Of {count(len(controls), 'difference')} on which nothing was published, {different} {verb} significant."
    return [
        *(f"{state.capitalize()}: {titles}." for state, titles in claims.items() if titles),
        others * bool(controls),
    ]


def _next(published: Sequence[Pair], seeds: int) -> list[tuple[str, str]]:
    needed = [found.seeds_needed for _, found in published if not found.significant and found.seeds_needed]
    more = sorted(number for number in needed if number > seeds)
    if not more:
        return []
    step = f"Run more seeds: {count(len(more), 'inconclusive claim')} may need {more[0]} to {more[-1]}:"
    return [(step, f"demele lab study pruning run --seeds {statistics.median_low(more)} --store STUDY")]


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


_OF_DIFFERENCES = (
    "Each difference is a mean over pairs of configurations, paired by seed: both start from one whole fabric. "
    "The counts are over pairs and seeds. Seeds needed: for a power of 80% without correction."
)


def _with_labels(frame: "pd.DataFrame") -> "pd.DataFrame":
    return frame.assign(labels=frame.noise.map(labels_words)) if "noise" in frame else frame


def _ranking(result: "PruningStudy") -> list[Block]:
    ranks = _with_labels(result.ranks_frame())
    if ranks.empty:
        return []
    means = ranks.groupby(["labels", "configuration", "method"], sort=False)[["best", "worst"]].mean().reset_index()
    table, _ = table_of_frame("Ranks", means, dict.fromkeys(("best", "worst"), "count.1"))
    return ["Best and worst rank of each fabric, as means over seeds. All ranks of a seed hold together at 95%.", table]


def _pairwise(result: "PruningStudy") -> Table:
    frame = _with_labels(result.differences_frame())
    return table_of_frame("Differences", frame[list(_DIFFERENCE)] if len(frame) else frame, _DIFFERENCE)[0]


def _decisions(result: "PruningStudy") -> list[Block]:
    frame = _with_labels(result.decisions_frame())
    if frame.empty:
        return []
    titles = {claim.name: claim.title for claim in CLAIMS}
    counted = ["method", "first_better", "second_better", "inconclusive", "contradicts"]
    table, _ = table_of_frame(
        "Decisions on noisy labels",
        frame.assign(difference=frame.claim.map(titles))[["difference", "labels", *counted]],
    )
    text = (
        "Decisions on one test set whose labels are as wrong as those of the training, over all pairs and seeds, and "
        "how many of them contradict the true labels."
    )
    return [text, table]


def _models(frame: "pd.DataFrame") -> list[Block]:
    odd = frame[frame.status != "done"]
    states = joined(f"{written(number, 'count')} {state}" for state, number in odd.status.value_counts().items())
    own = _with_labels(frame[frame.status == "done"]).groupby(["labels", "configuration"], sort=False)
    means = own[list(_FIGURES)].mean()
    means.insert(1, "standard_error", own.error.sem())
    table, _ = table_of_frame("Fabrics", means.reset_index(), {**_FIGURES, "standard_error": "percent?"})
    text = (
        "Means over seeds, with the standard error of the error. Errors are on true labels of the test set. The "
        "training share is that of the multiplications that training the whole fabric takes."
    )
    return [*[f"Not trained: {states}."] * bool(states), text, table]


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
