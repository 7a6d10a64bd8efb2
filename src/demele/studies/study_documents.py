"""What a study of trained models says: its document."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demele.bench.agreement_documents import title_of_metric
from demele.bench.rank_correlation import LEAST_FOR_INTERVALS
from demele.metrics.request import RECOMMENDED
from demele.models.documents import settings_table
from demele.report.document import NOTHING, Block, Choice, Document, Heat, Mark, Section, Strip, Strips, Table
from demele.report.listing import Column, listed
from demele.report.words import count, name, written

if TYPE_CHECKING:
    from demele.studies.study import Study, TrainedModel

#: Pairs that a terminal lists, and models whose scores are drawn.
_MOST_PAIRS, _MOST_MODELS = 10, 40
_FLAGS = {
    "collapsed": "collapsed (no active code, so scores are noise)",
    "partial": "with fewer active codes than factors",
    "diverged": "diverged",
    "failed": "failed",
    "missing": "not trained yet",
}


def study_document(result: "Study") -> Document:
    """Say which metrics agree about the models of a study; of few models, how they score."""
    done = {model.configuration.name for model in result.done()}
    settings, models = result.settings, _models(result)
    document = Document(
        kind="Study of trained models",
        title=f"Agreement of metrics about models of {name(settings['images'])}",
        headline=f"{count(len(done), 'trained configuration')} cannot show which metrics agree: "
        f"{LEAST_FOR_INTERVALS} are needed.",
        figure=_strips(result),
        table=models,
        scope=(
            count(len(result.models), "model"),
            *(f"{number} {_FLAGS[flag]}" for flag, number in _flags(result).items()),
            f"{written(result.steps[-1], 'count')} steps",
            str(settings["protocol"]),
        ),
        sections=[_grids(result), Section("Models", [models]), Section("Data", [settings_table(settings)])],
        methods=[
            f"{count(len(result.models), 'model')} were trained on {name(settings['images'])} and scored with",
            f"{count(len(result.metrics), 'metric')} by demele [@demele], under the protocol {settings['protocol']}.",
        ],
        version=result.version,
    )
    if len(done) < LEAST_FOR_INTERVALS:
        return document
    agreement = result.agreement().document()
    grids, *others = document.sections
    return replace(
        agreement,
        kind=document.kind,
        title=document.title,
        table=_strongest(agreement.table),
        scope=document.scope,
        sections=[grids, *agreement.sections, *others],
        methods=[*document.methods, *agreement.methods[2:]],
        version=document.version,
    )


def _flags(result: "Study") -> dict[str, int]:
    numbers = Counter(model.flag for model in result.models)
    return {flag: numbers[flag] for flag in _FLAGS if numbers[flag]}


def _strongest(pairs: Table | None) -> Table | None:
    """Return the pairs of metrics with the largest |tau|."""
    if pairs is None or len(pairs.rows) <= _MOST_PAIRS:
        return pairs
    note = f"The {_MOST_PAIRS} strongest of {count(len(pairs.rows), 'pair')}."
    return replace(pairs, rows=pairs.rows[:_MOST_PAIRS], note=note)


def _shown(result: "Study") -> Sequence[str]:
    """Return a metric of each property, as far as the study has them."""
    return [metric for metric in RECOMMENDED if metric in result.metrics] or result.metrics[: len(RECOMMENDED)]


def _called(model: "TrainedModel") -> str:
    return f"{name(model.configuration.name)}, seed {model.configuration.seed}"


def _strips(result: "Study") -> Strips:
    metrics = _shown(result)
    strips = []
    for model in result.models[:_MOST_MODELS]:
        marks = [Mark("dot", result.value(model, metric), None, place) for place, metric in enumerate(metrics)]
        strips.append(Strip(_called(model), marks))
    return Strips("Scores", strips, "number.2", "score", dict(enumerate(map(title_of_metric, metrics))))


def _grids(result: "Study") -> Section:
    """Show the mean of each score by the one option that varies and the number of codes."""
    frame = result.to_frame()
    options = sorted({key for model in result.models for key in model.configuration.options})
    varied = [key for key in options if frame[key].nunique() > 1] or options
    if len(varied) != 1:
        return NOTHING
    (option,) = varied
    cells = frame.groupby([option, "latents"])[list(result.metrics)].mean()
    panels: dict[str, list[Block]] = {}
    for metric in result.metrics:
        means, title = cells[metric].unstack(), title_of_metric(metric)
        rows, columns = list(map(str, means.index)), list(map(str, means.columns))
        caption, axes = f"{title} by {name(option)} and codes", (name(option), "codes")
        panels[title] = [Heat(caption, rows, columns, means.to_numpy().tolist(), "number.2", axes)]
    text = "Means over seeds; a cell is empty if no model of it has a score."
    return Section("Scores", [Choice("Metric", panels), text])


def _models(result: "Study") -> Table:
    metrics = _shown(result)
    columns: list[Column[TrainedModel]] = [
        ("Model", "text", _called),
        ("Flag", "text", lambda model: model.flag),
        ("Active", "count", "active"),
        *((title_of_metric(one), "number", lambda model, one=one: result.value(model, one)) for one in metrics),
        ("Codes", "count?", "configuration.latents"),
        ("Reconstruction error", "number.1?", "reconstruction"),
        ("Above its floor", "number.1?", lambda model: model.reconstruction - model.floor),
        ("Divergence", "number.2?", lambda model: float(np.sum(model.kl)) if model.kl else None),
        ("Total correlation", "number.2?", "total_correlation"),
        ("Steps", "count?", "steps"),
        ("Seconds", "number.0?", "seconds"),
        ("Reason", "text?", "reason"),
    ]
    note = (
        f"{len(metrics)} of {count(len(result.metrics), 'metric')}; to_frame() and CSV have all. Reconstruction error, "
        "divergence from the prior and total correlation are in nats per image."
    )
    return listed("Models", result.models, columns, note, first=_MOST_MODELS)
