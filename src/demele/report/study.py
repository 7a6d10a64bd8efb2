"""The page of a study: how far metrics agree about its models, and what became of each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.agreement import SCRIPTS, STYLES, agreement_sections, page_data
from demele.report.agreement_view import agreement_view, headline, summary, title_of
from demele.report.page import (
    Cell,
    Html,
    Page,
    data_element,
    embedded,
    facts,
    h,
    lead,
    of_kind,
    paragraph,
    table,
    tool,
)
from demele.report.words import DASH, Text, count, duration, named, number

__all__ = ["flag_words", "models_sentence", "strengths", "study_page", "too_few", "write_study"]

Item = Mapping[str, Any]

#: What a flag of a model means.
_FLAGS = {
    "collapsed": "no code is in use, so that scores are of noise",
    "partial": "fewer codes are in use than there are factors",
    "diverged": "the training was stopped, for its loss was not finite",
    "failed": "the training could not be done",
    "missing": "still to be trained",
}


def write_study(data: Item, path: Path, *, title: str | None = None) -> Path:
    """Write what ``Study.to_dict()`` returns as one HTML file; see :func:`study_page`."""
    return study_page(data, title=title).write(path)


def study_page(data: Item, *, title: str | None = None) -> Page:
    """Make the page of a study, which may be unfinished.

    Raises
    ------
    InputError
        If it is something else.
    """
    study = of_kind(data, "study")
    view = None if study["agreement"] is None else agreement_view(study["agreement"])
    whole = {**study, "rows": study["models"], "page": {"orders": {}}}
    said: list[object] = [models_sentence(study)]
    parts: list[tuple[str, str, Html]] = []
    if view is not None:
        whole = {**page_data(view), **{name: value for name, value in study.items() if name != "agreement"}}
        said = [*summary(view), *said]
        parts = agreement_sections(view)
    first = too_few(study) if view is None else headline(view)
    return Page(
        kind="A study of trained models",
        title=title or f"Which metrics agree about models of {study['settings']['images']}?",
        sections=[
            ("lead", "In short", lead(first, said)),
            *parts[:-1],
            ("scores", "Scores over the grid", _grids(study)),
            ("models", "Models", _models(study)),
            *parts[-1:],
            ("run", "What was run", _run(study)),
        ],
        style="labels agreement",
        styles=STYLES,
        scripts=SCRIPTS,
        tools=h(
            "",
            tool("Data (JSON)", "download-json"),
            tool("Models (CSV)", "download-csv", data_list="models"),
            tool("Pairs (CSV)", "download-csv", data_list="rows") if view is not None else "",
        ),
        data=data_element(embedded(whole)),
        version=study.get("demele"),
    )


def models_sentence(study: Item) -> Text:
    """Return how many models there are, and what became of those that are not as they should be."""
    flags = [model["flag"] for model in study["models"]]
    told = [f"{flags.count(flag)} {flag} ({meaning})" for flag, meaning in _FLAGS.items() if flag in flags]
    return Text(f"{count(len(flags), 'model')}", f": {'; '.join(told)}" if told else ", all of them trained", ".")


def too_few(study: Item) -> Text:
    """Return why a study says nothing of the agreement of metrics."""
    done = len({model["configuration"] for model in study["models"] if model["status"] == "done"})
    return Text(
        f"{count(done, 'trained configuration')} cannot show which metrics agree: rank correlations of so few have no "
        "intervals."
    )


def flag_words(flag: str) -> str:
    """Return what a flag means.

    Examples
    --------
    >>> flag_words("collapsed"), flag_words("")
    ('no code is in use, so that scores are of noise', '')
    """
    return _FLAGS.get(flag, "")


def strengths(study: Item) -> str | None:
    """Return which option of the objective differs between models, if one does."""
    fixed = set(_COLUMNS)
    names = [name for name in study["models"][0] if name not in fixed] if study["models"] else []
    varied = [name for name in names if len({model.get(name) for model in study["models"]}) > 1]
    return varied[0] if len(varied) == 1 else names[0] if len(names) == 1 else None


#: Fields of a model that are no options of its objective.
_COLUMNS = (
    *("id", "configuration", "objective", "latents", "seed", "status", "flag", "active", "steps", "seconds"),
    *("reconstruction", "floor", "kl", "total_correlation", "reason"),
)


# Scores over the grid ------------------------------------------------------------------------------------------------


def _grids(study: Item) -> Html:
    option = strengths(study)
    if option is None:
        return h("")
    rows = sorted({model[option] for model in study["models"]})
    columns = sorted({model["latents"] for model in study["models"]})
    figures = [
        h("figure", h("figcaption", title_of(metric)), _grid(study, place, option, rows, columns))
        for place, metric in enumerate(study["settings"]["metrics"])
    ]
    signs = [
        (h("i", class_="key collapsed"), "collapsed"),
        (h("i", ".5", class_="key untold"), "partial: fewer codes in use than factors"),
    ]
    return h(
        "",
        paragraph(f"Rows: {option}; columns: number of codes. Of several seeds the mean."),
        h("ul", [h("li", sign, " ", words) for sign, words in signs], class_="key tau-key"),
        h("div", figures, class_="grids"),
    )


def _grid(study: Item, place: int, option: str, rows: Sequence[float], columns: Sequence[int]) -> Html:
    cells: dict[tuple[float, int], list[tuple[float | None, str]]] = {}
    for model, scores in zip(study["models"], study["scores"], strict=True):
        cells.setdefault((model[option], model["latents"]), []).append((scores[place], model["flag"]))
    means = {key: _mean([value for value, _ in found]) for key, found in cells.items()}
    known = [value for value in means.values() if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    body = []
    for row in rows:
        drawn = []
        for column in columns:
            found = cells.get((row, column))
            flag = "" if found is None else next((own for _, own in found if own), "")
            drawn.append(_place(means.get((row, column)), low, high, flag))
        body.append(h("tr", h("th", f"{row:g}", scope="row"), drawn))
    heads = [h("th", f"{column}", scope="col") for column in columns]
    return h("table", h("thead", h("tr", h("td"), heads)), h("tbody", body), class_="grid")


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _place(value: float | None, low: float, high: float, flag: str) -> Html:
    if value is None:
        return h("td", DASH, class_="failed" if flag else "", title=flag_words(flag), style="--t:0")
    part = (value - low) / (high - low) if high > low else 0.0
    kind = flag if flag in ("collapsed", "partial") else ""
    return h("td", number(value, 2), class_=kind, title=flag_words(flag), style=f"--t:{part:.2f}")


# Models, settings ----------------------------------------------------------------------------------------------------


def _models(study: Item) -> Html:
    heads: list[tuple[object, str] | None] = [("Model", "text"), ("Flag", "text")]
    heads += [(word, "number") for word in ("Codes in use", "R", "above its floor", "K", "TC", "Steps", "Time")]
    heads += [("Why", "text")]
    rows = []
    for model in study["models"]:
        ends = model["reconstruction"], model["floor"]
        above = None if None in ends else ends[0] - ends[1]
        rows.append(
            [
                h("th", named(model["configuration"]), f", seed {model['seed']}", scope="row"),
                h("td", model["flag"], title=flag_words(model["flag"])),
                Cell(f"{model['active']} of {model['latents']}", model["active"]),
                Cell(number(model["reconstruction"], 1), model["reconstruction"]),
                Cell(number(above, 1), above),
                Cell(number(model["kl"], 2), model["kl"]),
                Cell(number(model["total_correlation"], 2), model["total_correlation"]),
                Cell(f"{model['steps']:,}", model["steps"]),
                Cell(duration(model["seconds"]), model["seconds"]),
                h("td", named(model["reason"])),
            ]
        )
    return h(
        "",
        paragraph("R, K and TC in nats per image: reconstruction, divergence from the prior, total correlation."),
        table("Models", heads, rows, first=40, noun="models"),
    )


def _run(study: Item) -> Html:
    settings = study["settings"]
    height, width, channels = settings["shape"]
    pairs: list[tuple[object, object]] = [
        ("Images", f"{settings['images']}: {settings['n_images']:,} of {height} x {width} x {channels}"),
        ("From", settings["provenance"]),
        ("Factors", f"{settings['n_factors']}"),
        ("Model", _told(settings["model"])),
        ("Training", _told(settings["training"])),
        ("Scored after", ", ".join(f"{step:,}" for step in settings["steps"]) + " steps"),
        ("Scored rows", f"{settings['scored_rows']:,}, {settings['codes']} codes"),
        ("Scored against", ", ".join(settings["kinds"])),
        ("Protocol", settings["protocol"]),
        ("Seed", str(settings["seed"])),
        ("Version", f"demele {study.get('demele') or ''}"),
    ]
    return facts(pairs)


def _told(options: Item) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())
