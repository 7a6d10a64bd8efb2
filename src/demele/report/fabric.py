"""The page about a fabric: its structure beside the whole one, what was removed, and what that gained."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.examination_curves import history_figure
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
from demele.report.words import DASH, Text, count, duration, joined, named, number, of_sentence, percent

__all__ = ["COUNTED", "asked_and_gone", "times", "write_fabric"]

Item = Mapping[str, Any]
#: What is counted of a fabric, by name, as tables call it.
COUNTED: Mapping[str, str] = {
    "links": "Links",
    "nodes": "Nodes",
    "channels": "Channels of all nodes",
    "parameters": "Parameters",
    "weights": "Weights of links",
    "nonzero": "of these not masked",
    "multiply_adds": "Multiply-adds per image",
    "paths": "Paths from input to output",
    "shortest": "Links of the shortest",
    "longest": "Links of the longest",
}


def write_fabric(fabric: Item, path: Path) -> Path:
    """Write what ``Fabric.to_dict()`` returns, and its pictures, as one HTML file.

    Parameters
    ----------
    fabric : mapping
        With ``pictures`` (SVG as ``Fabric.to_svg`` draws it, ``now`` and perhaps ``whole``), ``scored_by`` and
        ``name``.
    path : Path

    Raises
    ------
    InputError
        If the dictionary is not that of a fabric.
    """
    beside = ("pictures", "scored_by", "name")
    data = of_kind({key: value for key, value in fabric.items() if key not in beside}, "fabric")
    sections = [
        ("short", "In short", lead(_headline(data), _sentences(data), tone=_tone(data))),
        ("structure", "Structure", _structure(data, fabric.get("pictures") or {}, fabric.get("scored_by"))),
        ("counts", "Whole and now", _counts(data)),
        ("prunings", "What was removed", _prunings(data)),
        ("errors", "Error", _errors(data)),
        ("time", "Time", _time(data)),
        ("training", "Training", _training(data)),
        ("made", "How this was made", _made(data)),
    ]
    name = fabric.get("name")
    return Page(
        kind="A convolutional neural fabric",
        title=f"What is left of {name}?" if name and data["prunings"] else name or "A fabric",
        sections=sections,
        style="fabric-page",
        styles=("examination.css", "fabric.css"),
        scripts=("fabric.js",),
        tools=h("", tool("Data (JSON)", "download-json")),
        data=data_element(embedded(data)),
        version=data.get("demele"),
    ).write(path)


def times(before: float, after: float) -> str:
    """Write how many times less there is.

    Examples
    --------
    >>> times(10, 4)
    '2.5'
    """
    return f"{before / after:.1f}" if after else DASH


def asked_and_gone(pruning: Item) -> str:
    """Say what was asked of a pruning and what it achieved.

    Examples
    --------
    >>> asked_and_gone({"level": "links", "requested": 24, "removed": 23, "total": 47, "limit": "no more could go"})
    '24 of 47 links asked for (51.1%), 23 removed (48.9%): no more could go'
    """
    total, level = pruning["total"], pruning["level"]
    asked = f"{pruning['requested']:,} of {total:,} {level} asked for ({pruning['requested'] / total:.1%})"
    went = f"{pruning['removed']:,} removed ({pruning['removed'] / total:.1%})"
    limit = pruning.get("limit") or ""
    return f"{asked}, {went}" + (f": {limit}" if limit else "")


# In short -------------------------------------------------------------------------------------------------------------


def _tone(data: Item) -> str:
    return "bad" if data["run"]["status"] == "diverged" else ""


def _headline(data: Item) -> object:
    now, whole = data["counts"], data["whole"]
    if data["run"]["status"] == "diverged":
        return "The training diverged."
    if now["multiply_adds"] < whole["multiply_adds"]:
        return (
            f"{now['links']} of {count(whole['links'], 'link')} left: "
            f"{times(whole['multiply_adds'], now['multiply_adds'])} times fewer multiplications than the whole."
        )
    if now["nonzero"] < now["weights"]:
        return f"{percent(1 - now['nonzero'] / now['weights'], 0)} of the weights are masked: nothing is faster."
    return f"The whole fabric: {count(now['links'], 'link')}, {now['paths']:,} paths."


def _sentences(data: Item) -> list[object]:
    now, whole, run = data["counts"], data["whole"], data["run"]
    found: list[object] = [f"{now['parameters']:,} of {whole['parameters']:,} parameters are left."]
    if now["nonzero"] < now["weights"] and now["multiply_adds"] < whole["multiply_adds"]:
        masked = percent(1 - now["nonzero"] / now["weights"], 0)
        found.append(f"{masked} of the weights that are left are masked, which makes nothing faster.")
    first, *others = data["benchmark"] or [{}]
    same = ("links", "parameters", "nonzero", "multiply_adds")
    own = [item for item in others if all(item[key] == now[key] for key in same)]
    if own:  # of several with the same counts, such as by seed, the last
        last = own[-1]
        found.append(
            Text(
                f"Measured, a forward pass is {last['forward_gain']:.1f} times as fast as that of ",
                named(first["name"]),
                f", {last['exported_gain']:.1f} times once exported; ",
                f"a training step, {last['training_gain']:.1f} times.",
            )
        )
    if data["errors"]:
        told = [Text(named(item["stage"]), f" {percent(item['error'], 1)}") for item in data["errors"]]
        found.append(Text("Error on held-out images: ", joined(told), "."))
    found += [of_sentence(run["problem"])] if run["problem"] else []
    return found


# Structure and counts -------------------------------------------------------------------------------------------------


def _structure(data: Item, pictures: Mapping[str, str], scored_by: str | None) -> Html:
    if not pictures:
        return h("")
    titles = {"now": "What is left" if data["prunings"] else "The fabric", "whole": "The whole fabric"}
    # Drawn by demele.models.fabric.drawing, which escapes what it writes.
    drawn = [h("figure", h("figcaption", titles[key]), Html(pictures[key])) for key in titles if key in pictures]
    widths = set(data["widths"].values())
    told = "Layers go to the right, scales downwards: each has half the resolution, and its links cost a quarter."
    wide = f" The wider a link, the higher its score by {scored_by}; point at one for the number." if scored_by else ""
    pale = " Pale and dashed: removed." if "whole" in pictures else ""
    whole = data["spec"]["channels"]
    inside = f" Numbers in nodes are channels that are left of {whole}." if widths - {whole} else ""
    return h("", paragraph(told + wide + pale + inside), h("div", drawn, class_="structures"))


def _counts(data: Item) -> Html:
    now, whole = data["counts"], data["whole"]
    rows = [
        [
            title,
            Cell(f"{whole[key]:,}", whole[key]),
            Cell(f"{now[key]:,}", now[key]),
            Cell(percent(now[key] / whole[key], 1) if whole[key] else DASH),
        ]
        for key, title in COUNTED.items()
    ]
    heads: list[tuple[object, str] | None] = [("", "text"), ("Whole", "number"), ("Now", "number"), ("Left", "number")]
    return h(
        "",
        paragraph("Counted on the fabric as it is, not from the shares that were asked for."),
        table("Counts", heads, rows, sortable=False, kind="narrow"),
    )


def _prunings(data: Item) -> Html:
    rows = []
    for place, item in enumerate(data["prunings"]):
        total = item["total"]
        rows.append(
            [
                str(place + 1),
                Cell(f"{item['epoch']}"),
                Cell(item["level"], kind="text"),
                Cell(named(item["criterion"]), kind="text"),
                Cell(f"{item['requested']:,}", below=percent(item["requested"] / total, 1)),
                Cell(f"{item['removed']:,}", below=percent(item["removed"] / total, 1)),
                Cell(f"{total:,}"),
                Cell(f"{len(item['cascaded']):,}" if item["level"] == "links" else DASH),
                Cell(of_sentence(item.get("limit") or "") or DASH, kind="text"),
            ]
        )
    if not rows:
        return h("")
    heads: list[tuple[object, str] | None] = [("", "text"), ("After epoch", "number"), ("Level", "text")]
    heads += [("Criterion", "text"), ("Asked", "number"), ("Gone", "number"), ("Of", "number")]
    heads += [("In cascade", "number"), ("Why not as asked", "text")]
    told = "In cascade: links that went because they then lay on no path from input to output."
    return h("", paragraph(told), table("Prunings", heads, rows, sortable=False))


# What it came to ------------------------------------------------------------------------------------------------------


def error_interval(item: Item) -> str:
    """Write the interval of an error; nothing where it is not known on how many images it was counted."""
    return f"{percent(item['low'], 1)} to {percent(item['high'], 1)}" if "images" in item else ""


def _errors(data: Item) -> Html:
    known = any("images" in item for item in data["errors"])
    rows = [
        [
            named(item["stage"]),
            Cell(percent(item["error"], 2), item["error"]),
            *([error_interval(item)] if known else []),
        ]
        for item in data["errors"]
    ]
    heads: list[tuple[object, str] | None] = [("", "text"), ("Mistaken", "number")]
    if not known:
        return table("Errors", heads, rows, sortable=False, kind="narrow") if rows else h("")
    heads.append(("95% interval", "number"))
    told = f"Counted on {data['errors'][0]['images']:,} images; intervals by Wilson. The same images throughout: "
    return h(
        "",
        paragraph(told + "differences are surer than the intervals look."),
        table("Errors", heads, rows, sortable=False, kind="narrow"),
    )


def _time(data: Item) -> Html:
    rows = []
    for item in data["benchmark"]:
        cells = [Cell(f"{item[key]:,.0f}", item[key]) for key in ("links", "parameters", "multiply_adds")]
        parts = ("forward", "exported", "training")
        cells += [Cell(number(item[f"{part}_ms"], 2), below=f"x {item[f'{part}_gain']:.2f}") for part in parts]
        rows.append([named(item["name"]), *cells])
    if not rows:
        return h("")
    heads: list[tuple[object, str] | None] = [("Fabric", "text"), ("Links", "number"), ("Parameters", "number")]
    heads += [("Multiply-adds", "number"), ("Forward, ms", "number"), ("Exported, ms", "number")]
    heads += [("Training step, ms", "number")]
    told = "Milliseconds of a batch on this machine, and how many times as fast as the first; exported against its "
    return h("", paragraph(told + "forward pass. Masks make nothing faster."), table("Times", heads, rows))


def _training(data: Item) -> Html:
    history: Mapping[str, Sequence[float | None]] = data["run"]["history"]
    if not history or not history.get("epoch"):
        return h("")
    titles = {"loss": "Loss on what was trained on", "error": "Error on what was trained on"}
    drawn = [history_figure(history, key, title, along="epoch", digits=3) for key, title in titles.items()]
    return h("", _last_epoch(history), h("div", drawn, class_="responses"))


def _last_epoch(history: Mapping[str, Sequence[Any]]) -> Html:
    loss, error, rate = (history[key][-1] for key in ("loss", "error", "rate"))
    return paragraph(f"Epoch {history['epoch'][-1]}: loss {number(loss)}, error {percent(error, 1)}, rate {rate:g}.")


def _made(data: Item) -> Html:
    spec, run, training = data["spec"], data["run"], data.get("training")
    size = " x ".join(map(str, data["image_shape"]))
    pairs: list[tuple[object, object]] = [
        ("Structure", f"{spec['layers']} layers, {spec['scales']} scales, {spec['channels']} channels"),
        ("Images", f"{size}, {spec['classes']} classes"),
        ("Norms", f"of each {spec['normalisation']}, {spec['activation']}"),
        ("Training", f"{run['status']} after {run['epochs']} epochs, {duration(run['seconds'])}"),
    ]
    if data["trained_on"] is not None:
        pairs.append(("Trained on", Text(named(data["trained_on"]["images"]), f", {data['trained_on']['n']:,} images")))
    if training is not None:
        told = ("batch", "rate", "momentum", "weight_decay", "milestones", "seed")
        pairs.append(("With", ", ".join(f"{name} {training[name]}" for name in told)))
    return facts(pairs)
