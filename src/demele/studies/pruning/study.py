"""A study of pruning: its fabrics, published claims about them, and decisions by a test set with wrong labels."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from demele.core.arrays import pd
from demele.core.errors import InputError, quoted
from demele.core.kinds import checked_name
from demele.core.outputs import write_whole
from demele.core.reading import check_shape
from demele.core.result import Result, about
from demele.core.store import Key, reading_record
from demele.core.version import __version__
from demele.models.fabric.lattice import Lattice
from demele.models.results import lattice_graph, settings_table
from demele.report.document import Block, Choice, Document, Pill, Section, Table
from demele.report.listing import Column, drawn, listed, table_of_frame
from demele.report.words import count, ends, joined, name, written
from demele.runtime.sweep import Record
from demele.studies.fabrics import LabelNoise
from demele.studies.folders import StudyFormat
from demele.studies.pruning import configurations as prunings
from demele.studies.pruning.configurations import CLAIMS, WHOLE, Claim, Difference, PruningConfiguration

# What a study of pruning says: its document ---------------------------------------------------------------------------

#: A claim, its difference, and the verdict after correction.
Verdict = tuple[Claim, Difference, Pill]

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


def pruning_document(result: PruningStudy) -> Document:
    """Say which claims about pruning hold, which differences are significant, and what became of each fabric."""
    frame, data = result.to_frame(), result.settings["data"]
    # Of each claim the last: all noises together, where there are several.
    overall = {one.claim: one for one in result.differences()}
    tested = [(claim, own, _state(claim, own)) for claim in CLAIMS if (own := overall.get(claim.name))]
    published = [one for one in tested if one[0].expected]
    controls = [one for one in tested if not one[0].expected]
    table, pairs = _claims(published), _with_labels(result.differences_frame())
    pairwise, _ = table_of_frame("Differences", pairs[list(_DIFFERENCE)] if len(pairs) else pairs, _DIFFERENCE)
    ways, noises, seeds = len(result.configurations), count(len(result.noises), "label noise"), result.seeds
    statements = [(claim.title, claim.says) for claim, *_ in published]
    return Document(
        kind="Study of pruned fabrics",
        title="Pruning under label noise",
        headline=_headline(published),
        sentences=_sentences(published, controls),
        # the training cost has another scale
        figure=drawn(
            _claims([one for one in (*published, *controls) if one[0].measure != "training_share"]),
            "Mean, pp",
            caption="Differences in error",
            tick="Published, pp",
            axis="Difference, percentage points",
            sides=("first is lower", "second is lower"),
            zero=0.0,
        ),
        table=table,
        scope=(
            f"{written(int((frame.status == 'done').sum()), 'count')} of {count(len(frame), 'fabric')}",
            count(ways, "way to prune", "ways to prune"),
            noises,
            count(seeds, "seed"),
            f"{name(data['images'])} images",
        ),
        next=_next(published, seeds),
        sections=[
            Section("Ranking", _ranking(result)),
            Section("Pairwise results", [table, _OF_DIFFERENCES, pairwise]),
            Section("Label errors", _decisions(result)),
            Section("Published results", [Table("Statements", {"Claim": "text", "Statement": "text"}, statements)]),
            Section("Models", _models(frame)),
            _structure(result, frame),
            Section("Data", [settings_table(result.settings)]),
        ],
        methods=[
            f"Fabrics were pruned in {count(ways, 'way')} under",
            f"{noises} with {count(seeds, 'seed')} each, with demele",
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
    known = {"none": "true labels", prunings.ALL: "all together", "uniform": f"{share} wrong, at random"}
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


def _having(verdicts: Iterable[Verdict], state: str) -> list[Claim]:
    return [claim for claim, _, pill in verdicts if pill.text == state]


def _headline(published: Sequence[Verdict]) -> str:
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


def _sentences(published: Sequence[Verdict], controls: Sequence[Verdict]) -> list[str]:
    sentences = [
        f"{state.capitalize()}: {joined(map(_expected, claims), most=3)}."
        for state in ("confirmed", "contradicted")
        if (claims := _having(published, state))
    ]
    if controls:
        different = len(_having(controls, "difference"))
        others = f"Of {count(len(controls), 'difference')} on which nothing was published, {different}"
        sentences.append(f"{others} {'is' if different == 1 else 'are'} significant.")
    return sentences


def _next(published: Sequence[Verdict], seeds: int) -> list[tuple[str, str]]:
    needed = (found.seeds_needed or 0 for _, found, _ in published if not found.significant)
    more = sorted(number for number in needed if number > seeds)
    if not more:
        return []
    step = f"Run more seeds: {count(len(more), 'inconclusive claim')} may need {more[0]} to {more[-1]}:"
    return [(step, f"demele lab study pruning run --seeds {statistics.median_low(more)} --store STUDY")]


def _claims(verdicts: Sequence[Verdict]) -> Table:
    columns: list[Column[Verdict]] = [
        ("Claim", "text", lambda one: one[0].title),
        ("Verdict", "text", lambda one: one[2]),
        ("Published", "text", lambda one: _SIGNS[one[0].expected]),
        ("Mean, pp", "points", lambda one: one[1].mean),
        ("Interval", "points", lambda one: ends(one[1])),
        ("p", "p?", lambda one: one[1].p_value),
        ("Published, pp", "points?", lambda one: one[0].published),
    ]
    return listed("Published claims", verdicts, columns)


# Sections -------------------------------------------------------------------------------------------------------------


_OF_DIFFERENCES = (
    "Each difference is a mean over pairs of configurations, paired by seed: both start from one whole fabric. "
    "The counts are over pairs and seeds. Seeds needed: for a power of 80% without correction."
)


def _with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(labels=frame.noise.map(labels_words)) if "noise" in frame else frame


def _ranking(result: PruningStudy) -> list[Block]:
    ranks = _with_labels(result.ranks_frame())
    if ranks.empty:
        return []
    means = ranks.groupby(["labels", "configuration", "method"], sort=False)[["best", "worst"]].mean().reset_index()
    table, _ = table_of_frame("Ranks", means, dict.fromkeys(("best", "worst"), "count.1"))
    return ["Best and worst rank of each fabric, as means over seeds. All ranks of a seed hold together at 95%.", table]


def _decisions(result: PruningStudy) -> list[Block]:
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


def _models(frame: pd.DataFrame) -> list[Block]:
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


def _structure(result: PruningStudy, frame: pd.DataFrame) -> Section:
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


#: The true labels, every one of them believed: what the others are held against.
TRUE = "true labels"
#: By which a pair is decided: those of print, ours with bounds, and the true labels.
METHODS = ("overlap", "worst-case-overlap", "hard-rows", "worst-case", TRUE)
#: Columns of a fabric's figures.
FIGURES = (
    *("error", "given_error", "raw", "recalibrated", "wrong_again_test", "right_again_test"),
    *("wrong_again_training", "right_again_training", "links", "parameters", "kept_weights"),
    *("multiply_adds", "training_work", "seconds"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PruningStudy(Result):
    """Fabrics pruned in many ways, from the whole fabric of the same seed and label noise.

    Attributes
    ----------
    settings : mapping
        Images, structure, training, noises, ways and seeds.
    records : mapping of key to record
        Of ``("fabric", noise, configuration, seed)``: what came of it. Of ``("decisions", noise, seed, fabrics)``: what
        comparisons on the test set decide, its labels being as wrong as those of the training.
    version : str
        The demele that trained.

    Examples
    --------
    >>> from demele import lab
    >>> found = lab.pruning_demo()
    >>> print(found.sentence)
    Of 11 published claims about pruning, 2 are confirmed, 0 contradicted and 9 inconclusive after Holm correction.
    >>> frame = found.to_frame()
    >>> bool(frame[frame.configuration == "whole"].groupby("noise").error.mean().is_monotonic_increasing)
    True
    """

    _kind = "pruning study"
    _files: ClassVar[Mapping[str, str]] = {
        ".differences.csv": "differences_frame",
        ".decisions.csv": "decisions_frame",
        ".ranks.csv": "ranks_frame",
    }

    settings: Mapping[str, Any]
    records: Mapping[Key, Record]
    version: str = __version__

    document = pruning_document

    @property
    def noises(self) -> tuple[LabelNoise, ...]:
        """The label noises, in the order in which they were asked for."""
        return tuple(LabelNoise(**one) for one in self.settings["noises"])

    @property
    def configurations(self) -> tuple[PruningConfiguration, ...]:
        """The ways to prune, without the whole fabric."""
        return tuple(PruningConfiguration(**one) for one in self.settings["configurations"])

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return int(self.settings["seeds"])

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each fabric.

        Returns
        -------
        DataFrame
            ``noise``, ``configuration``, its ``strategy``, ``level``, ``criterion`` and ``fraction``, ``seed``,
            ``status`` and ``reason``; ``error`` on true labels of the test, ``given_error`` on its given ones; ``raw``
            and ``recalibrated``, the errors right after the last pruning, and after norms are averaged again;
            ``wrong_again_*`` and ``right_again_*``, the shares of wrong and of correct labels that the fabric
            reproduces (published as F_n and F_c), on images of the test and of the training; ``links``, ``requested``
            (links that should go in all), ``parameters``, ``kept_weights`` (of links, not masked), ``multiply_adds``
            for one image; ``training_work``, the multiplications of all epochs for each image, ``training_share``, that
            of the training of the whole fabric; ``seconds``, which depend on what else the machine did.
        """
        whole, rows = len(self.lattice().links), []
        for seed, noise, way in itertools.product(range(self.seeds), self.noises, (WHOLE, *self.configurations)):
            record = self.records.get(("fabric", noise.name, way.name, seed), {"status": "missing"})
            row = {"noise": noise.name, "configuration": way.name, **asdict(way), "seed": seed}
            row |= {"status": record["status"], "reason": record.get("reason") or ""}
            row["requested"] = whole - round((1 - way.shares().get("links", 0.0)) * whole)
            rows.append(row | {key: math.nan if record.get(key) is None else record[key] for key in FIGURES})
        found = pd.DataFrame(rows)
        cost = self.settings["training"]["epochs"] * found[found.configuration == WHOLE.name].multiply_adds.max()
        found["training_share"] = found.training_work / cost
        return found

    def differences(self) -> tuple[Difference, ...]:
        """Return the differences that the claims are about, paired by seed, under each noise and all together."""
        return prunings.differences(self.to_frame())

    def differences_frame(self) -> pd.DataFrame:
        """Return one row for each of :meth:`differences`, with the title and statement of its claim."""
        words = {claim.name: {"title": claim.title, "says": claim.says} for claim in CLAIMS}
        return pd.DataFrame([{**asdict(one), **words[one.claim]} for one in self.differences()])

    def decisions_frame(self) -> pd.DataFrame:
        """Return how comparisons decide, on a test set whose labels are as wrong as those of the training.

        Returns
        -------
        DataFrame
            One row for each claim about errors, noise and method: ``second_better`` (of the pairs of all seeds, how
            often the second is shown to be better), ``first_better``, ``inconclusive``; ``contradicts``, how often it
            shows what the true labels show to be the other way round.
        """
        rows, opposite = [], ({"candidate", "baseline"},)
        errors = [claim for claim in CLAIMS if claim.measure == "error" and not claim.baseline]
        for claim, noise in itertools.product(errors, self.noises):
            names = {f"{first} | {second}" for first, second in claim.pairs}
            pairs = [record["pairs"] for record in self._decisions(noise.name).values()]
            decided = [own for one in pairs for pair, own in one.items() if pair in names]
            for method in METHODS if decided else ():
                verdicts = [one[method] for one in decided]
                row = {"claim": claim.name, "noise": noise.name, "method": method, "pairs": len(verdicts)}
                row |= {"second_better": verdicts.count("candidate"), "first_better": verdicts.count("baseline")}
                row["inconclusive"] = verdicts.count("inconclusive")
                rows.append(row | {"contradicts": sum({one[method], one[TRUE]} in opposite for one in decided)})
        return pd.DataFrame(rows)

    def ranks_frame(self) -> pd.DataFrame:
        """Return between which ranks each fabric lies by a method, all seeds one by one.

        Returns
        -------
        DataFrame
            ``noise``, ``seed``, ``method``, ``configuration``, ``best`` and ``worst`` rank.
        """
        rows = [
            {"noise": noise.name, "seed": seed, "method": method, "configuration": name, "best": best, "worst": worst}
            for noise in self.noises
            for seed, record in self._decisions(noise.name).items()
            for method, ranks in record["ranks"].items()
            for name, (best, worst) in ranks.items()
        ]
        return pd.DataFrame(rows)

    def _decisions(self, noise: str) -> dict[int, Record]:
        """Return the decisions about a noise by seed: those about most fabrics, where there are several."""
        own = sorted(key for key in self.records if key[0] == "decisions" and key[1] == noise)
        return {int(key[2]): self.records[key] for key in own}

    def links(self, configuration: str, noise: str) -> pd.Series[float]:
        """Return the share of seeds that keep each link.

        Parameters
        ----------
        configuration, noise : str
            Their names.

        Returns
        -------
        Series of float of shape (links of the whole fabric,)

        Raises
        ------
        InputError
            If there is no such fabric.

        Examples
        --------
        >>> from demele import lab
        >>> kept = lab.pruning_demo().links("late links 75% magnitude", "none")
        >>> len(kept), bool(kept.max() == 1)
        (47, True)
        """
        checked_name(configuration, "configuration", [one.name for one in (WHOLE, *self.configurations)])
        records = [self.records.get(("fabric", noise, configuration, seed)) for seed in range(self.seeds)]
        alive = [[int(one) for one in record["alive"]] for record in records if record and record.get("alive")]
        if not alive:
            raise InputError("noise", f"no fabric {quoted(configuration)} ended under labels {quoted(noise)}")
        kept = pd.DataFrame(alive, columns=[link.name for link in self.lattice().links])
        return pd.Series(kept.mean(), name=configuration)

    def lattice(self) -> Lattice:
        """Return the whole structure."""
        structure = self.settings["structure"]
        return Lattice.whole(structure["layers"], structure["scales"])

    def save(self, path: str | Path) -> Path:
        """Write settings, fabrics and decisions compactly; :func:`demele.lab.load_pruning` reads it.

        Raises
        ------
        OutputError
        """
        return write_whole(path, PRUNING.packed({"settings": dict(self.settings)}, self.records, self.version))


# Files ----------------------------------------------------------------------------------------------------------------


#: The rows of the embedded study that come with demele.
DEMO = Path(__file__).with_name("embedded.jsonl")
_SHAPE = {
    "demele": str,
    "settings": {
        "data": {"images": str, "provenance": str, "n": int, "held": int, "test": int},
        "structure": {"layers": int, "scales": int},
        "training": {"epochs": int},
        "seeds": int,
        "noises": [{"kind": str, "rate": (float, int)}],
        "configurations": [dict],
    },
}
_RECORDS: dict[object, Any] = {"fabric": {"status": str}, "decisions": {"pairs": dict, "ranks": dict}}


def study_of(about: Mapping[str, Any], records: Mapping[Key, Record]) -> PruningStudy:
    """Return the study of some rows.

    Raises
    ------
    FormatError
        If a row is not what it should be.
    """
    settings = about["settings"]
    study = PruningStudy(settings=settings, records=dict(records), version=about["demele"])
    if times := settings.get("times"):
        check_shape(times, {"early": int, "every": int, "late": int})
    if settings["seeds"] < 1 or not study.noises:
        raise ValueError("it has no noise, or no seed")
    n_links = len(study.lattice().links)
    for key, record in records.items():
        with reading_record(key):
            check_shape(record, _RECORDS[key[0]])
            check_shape([record.get(name) for name in FIGURES], [(float, int, type(None))])
            if record.get("alive") and len([int(one) for one in record["alive"]]) != n_links:
                raise ValueError(f"alive: expected {n_links} links")
    study.to_frame()
    study.decisions_frame()
    study.ranks_frame()
    return study


PRUNING = StudyFormat(
    name="demele-pruning", what="a study of pruning", file="pruning.json", shape=_SHAPE, made=study_of
)


def load_pruning(path: str | Path) -> PruningStudy:
    """Return the study of a folder, finished or not, or of a file that :meth:`PruningStudy.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    PruningStudy

    Raises
    ------
    InputError, FormatError
        If there is none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = lab.pruning_demo().save(Path(folder) / "study.jsonl")
    ...     len(lab.load_pruning(kept).to_frame())
    345
    """
    return PRUNING.load(path)


def pruning_demo() -> PruningStudy:
    """Return the study that comes with demele: fabrics on glyphs among clutter, pruned in 22 ways.

    Returns
    -------
    PruningStudy

    Examples
    --------
    >>> from demele import lab
    >>> [noise.name for noise in lab.pruning_demo().noises]
    ['none', 'visibility 10%', 'visibility 20%']
    """
    return PRUNING.load(DEMO)
