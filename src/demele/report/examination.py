"""The page about a trained model: what its codes hold, scores, traversals, reconstructions, responses."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.metrics.catalogue import CATALOGUE
from demele.report.examination_curves import history_figure, response
from demele.report.examination_pictures import Album, enlargement, strip
from demele.report.page import (
    Cell,
    Html,
    Page,
    data_element,
    embedded,
    facts,
    h,
    lead,
    notes,
    of_kind,
    paragraph,
    signature,
    table,
    tool,
)
from demele.report.words import DASH, Text, brackets, count, joined, named, number, percent

__all__ = ["write_examination"]

Item = Mapping[str, Any]
#: Codes that are shown, in their order by K, and codes whose responses are drawn for each factor.
_MOST_CODES, _MOST_RESPONSES = 24, 8


def write_examination(examination: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``Examination.to_dict()`` returns, and its pictures, as one HTML file.

    Parameters
    ----------
    examination : mapping
        With ``pictures``: ``traversals`` (anchors, codes, steps, H, W, C), ``originals`` and ``made`` (k, H, W, C), and
        ``sweeps``, a list of (n, H, W, C), as arrays of uint8; None where there are none.
    path : Path
    title : str, optional

    Raises
    ------
    InputError
        If the dictionary is not that of an examination.
    MissingExtraError
        If there are pictures and Pillow is not installed.
    """
    data = of_kind({key: value for key, value in examination.items() if key != "pictures"}, "examination")
    view = View(data, examination.get("pictures") or {})
    sections = [
        ("verdict", "Verdict", view.verdict()),
        ("scores", "Scores", view.scores()),
        ("held", "What each code tells of each factor", view.matrices()),
        ("codes", "Codes", view.codes()),
        ("traversals", "Traversals", view.traversals()),
        ("reconstructions", "Reconstructions", view.reconstructions()),
        ("sweeps", "How codes respond to each factor", view.sweeps()),
        ("training", "Training", view.training()),
        ("made", "How this was made", view.made()),
    ]
    return Page(
        kind="A trained model",
        title=title or f"What has {data['name']} learnt?",
        sections=sections,
        style="examination",
        styles=("examination.css",),
        scripts=("examination.js",),
        tools=h("", tool("Data (JSON)", "download-json"), tool("Codes (CSV)", "download-csv")),
        data=data_element(embedded(data)),
        version=data.get("demele"),
    ).write(path)


class View:
    """An examination, and the order in which its codes are shown."""

    def __init__(self, data: Item, pictures: Mapping[str, Any]) -> None:
        self.data, self.names, self.factors = data, list(data["code_names"]), list(data["factor_names"])
        codes = data["codes"]
        #: Those in use first, largest K (or spread) first.
        self.order = sorted(
            range(len(codes)),
            key=lambda j: (not codes[j]["active"], -_known(codes[j]["kl"]), -_known(codes[j]["std"]), j),
        )
        self.album = Album(_pictures(data, pictures, self.order[:_MOST_CODES]))
        self.shapes = {key: np.shape(value) for key, value in pictures.items() if isinstance(value, np.ndarray)}

    # In short --------------------------------------------------------------------------------------------------------

    def verdict(self) -> Html:
        """Write what is to be known first, and what went wrong."""
        data = self.data
        used = sum(bool(code["active"]) for code in data["codes"])
        sentences: list[object] = [
            Text(f"{used} of {count(len(self.names), 'code')} {'is' if used == 1 else 'are'} in use", self._unused()),
            self._told_scores(),
            self._told_pixels(),
        ]
        tone = "bad" if data["collapsed"] else ""
        words = [h("li", str(item["words"])) for item in data["factors"]]
        return h(
            "",
            lead(self._headline(), sentences, tone=tone),
            notes(data["notes"]),
            [h("h3", "Factor by factor"), h("ul", words, class_="verdicts")] if words else "",
            paragraph(
                "Held by one code: the next code tells at most half as much. Lost: no code tells more than a tenth of "
                "the factor's entropy, or than chance does.",
                class_="meaning",
            )
            if words
            else "",
        )

    def _headline(self) -> object:
        if self.data["collapsed"]:
            return "The model has collapsed: it uses no code."
        if not self.factors:
            return "Without factors there is nothing to score: pictures only."
        found = [str(item["verdict"]) for item in self.data["factors"]]
        held, shared, lost = (found.count(kind) for kind in ("one code", "several codes", "no code"))
        parts = [f"{held} of {count(len(found), 'factor')} {'is' if held == 1 else 'are'} held by one code each"]
        parts += [f"{shared} {'is' if shared == 1 else 'are'} shared by several"] if shared else []
        parts += [f"{lost} {'is' if lost == 1 else 'are'} lost"] if lost else []
        return Text(joined(parts), ".")

    def _unused(self) -> Text:
        left = [self.names[j] for j in self.order if not self.data["codes"][j]["active"]]
        if not left or len(left) == len(self.names) or len(left) > 6:
            return Text(".")
        return Text("; ", joined(named(name) for name in left), f" {'is' if len(left) == 1 else 'are'} not.")

    def _told_scores(self) -> object:
        scores = [score for score in (self.data["scores"] or {}).get("scores", ()) if score["value"] is not None]
        told = []
        for score in scores[:2]:
            chance = "" if score["chance"] is None else f", {number(score['chance']['mean'], 2)} by chance"
            interval = brackets(score["interval"])
            told.append(Text(f"{_title(score['metric'])} is {number(score['value'], 2)} {interval}".strip(), chance))
        return Text(joined(told, last="; ", between="; "), ".") if told else ""

    def _told_pixels(self) -> object:
        explained = (self.data["reconstructions"] or {}).get("explained")
        if explained is None:
            return ""
        if explained < 0:
            return "Reconstructions are worse than one mean picture for all."
        return f"Reconstructions explain {percent(explained, 0)} of the variance of the pixels."

    # Numbers ---------------------------------------------------------------------------------------------------------

    def scores(self) -> Html:
        """Write each score with its interval and chance."""
        found = self.data["scores"]
        if found is None:
            return h("")
        rows = []
        for score in found["scores"]:
            chance = None if score["chance"] is None else score["chance"]["mean"]
            told = "; ".join(note["message"] for note in score["notes"] if note["severity"] == "fragile")
            rows.append(
                [
                    _title(score["metric"]),
                    Cell(number(score["value"]), score["value"]),
                    Cell(brackets(score["interval"]) or DASH, kind="number"),
                    Cell(number(chance), chance),
                    Cell(told or DASH, kind="text"),
                ]
            )
        gaps = [{"message": f"{_title(gap['metric'])}: {gap['reason']}"} for gap in found["left_out"]]
        heads: list[tuple[object, str] | None] = [("Score", "text"), ("Value", "number"), ("Interval", "number")]
        heads += [("Chance", "number"), ("Fragile, because", "text")]
        return h(
            "",
            paragraph(
                f"Of {found['n']:,} images. The interval is what other images of the same source could have given; "
                "chance is what the same codes score when the factors' rows are shuffled. Scores of forests have "
                "neither, and are of fewer images."
            ),
            table("Scores", heads, rows),
            notes(gaps),
        )

    def matrices(self) -> Html:
        """Write information and importances, code by code and factor by factor."""
        if not self.factors or self.data["information"] is None:
            return h("")
        parts = [self._matrix("Information: share of the factor's entropy", self.data["information"])]
        if self.data["importances"] is not None:
            parts.append(self._matrix("Importance to a forest that predicts the factor", self.data["importances"]))
        return h(
            "",
            paragraph(
                "Rows are codes, those in use first, in the order of the factor of which they tell most. A factor that "
                "is held by one code has one dark cell in its column; a code that holds one factor has one in its row."
            ),
            h("div", parts, class_="panels"),
        )

    def _matrix(self, title: str, values: Sequence[Sequence[float | None]]) -> Html:
        place = {name: index for index, name in enumerate(self.factors)}
        codes = self.data["codes"]
        shown = sorted(
            self.order,
            key=lambda j: (not codes[j]["active"], place.get(codes[j]["best_factor"], len(place)), -_most(values[j])),
        )[:_MOST_CODES]
        rows = []
        for j in shown:
            cells = [_heat(value, self.names[j], name) for value, name in zip(values[j], self.factors, strict=True)]
            idle = "" if codes[j]["active"] else h("span", " not in use", class_="meaning")
            rows.append(h("tr", h("th", named(self.names[j]), idle, scope="row"), cells))
        heads = h("tr", h("td"), [h("th", named(name), scope="col") for name in self.factors])
        caption = h("caption", title, class_="hidden")
        whole = h("table", caption, h("thead", heads), h("tbody", rows), class_="shares")
        return h("figure", h("figcaption", title), h("div", whole, class_="scroll"))

    def codes(self) -> Html:
        """Write what is known of each code."""
        rows = []
        for j in self.order:
            code = self.data["codes"][j]
            rows.append(
                [
                    named(self.names[j]),
                    Cell("yes" if code["active"] else "no", float(code["active"]), kind="text"),
                    Cell(number(code["kl"], 2), code["kl"]),
                    Cell(number(code["std"], 2), code["std"]),
                    Cell(named(code["best_factor"] or DASH), kind="text"),
                    Cell(percent(code["information"], 0), code["information"]),
                ]
            )
        heads: list[tuple[object, str] | None] = [("Code", "text"), ("In use", "text"), ("K, nats", "number")]
        heads += [("Std of means", "number"), ("Tells most of", "text"), ("How much", "number")]
        return h(
            "",
            paragraph(
                "K is the mean divergence of a code from its prior. A code is in use if its means vary by more than "
                "0.05 and K is above 0.01 nats."
            ),
            table("Codes", heads, rows, first=_MOST_CODES, noun="codes"),
        )

    # Pictures --------------------------------------------------------------------------------------------------------

    def traversals(self) -> Html:
        """Write a row of pictures per code; those not in use are folded."""
        if not self.data["traversals"]:
            return h("")
        shown = self.order[:_MOST_CODES]
        active = [j for j in shown if self.data["codes"][j]["active"]]
        idle = [j for j in shown if j not in active]
        anchors = self.shapes["traversals"][0]
        values = self.data["traversals"]["values"]
        ends = "from the 2.5 % to the 97.5 % quantile of its own means" if values else "as the file has it"
        rows = f"{anchors} images, drawn at random, one below the other" if anchors > 1 else "one image"
        left = len(self.order) - len(shown)
        more = f" {count(left, 'code')} further down the order by K {'is' if left == 1 else 'are'} left out."
        return h(
            "",
            paragraph(
                f"Each row moves one code, {ends}, and leaves all others at the codes of {rows}. A code that holds one "
                "factor changes one thing.",
                more if left else "",
            ),
            [self._traversal(j) for j in active],
            h(
                "details",
                h("summary", f"{count(len(idle), 'code')} not in use"),
                [self._traversal(j) for j in idle],
            )
            if idle
            else "",
        )

    def _traversal(self, j: int) -> Html:
        code, moved = self.data["codes"][j], self.data["traversals"]
        values = moved["values"][j] if moved["values"] else None
        anchors, _, steps, _, width, _ = self.shapes["traversals"]
        best = [named(code["best_factor"]), f" {percent(code['information'], 0)}"] if code["best_factor"] else []
        anchors = anchors if code["active"] else 1
        span = f" from {number(values[0], 2)} to {number(values[-1], 2)}" if values else ""
        alt = (
            f"{self.names[j]}{span} in {steps} steps, {count(anchors, 'image')}; tells most of "
            f"{code['best_factor'] or 'no factor'}"
        )
        picture = h("img", alt=alt, loading="lazy", **self.album.attributes(f"code {j}", enlargement(width)))
        scale = [h("span", number(value, 1)) for value in values or ()]
        wide = f"width:{(steps * (width + 2) - 2) * enlargement(width)}px"
        return h(
            "figure",
            h(
                "figcaption",
                h("strong", named(self.names[j])),
                h("span", f"K {number(code['kl'], 2)} nats" if code["kl"] is not None else ""),
                h("span", best),
                h("span", f"pixels change by {percent(moved['change'][j], 1)}", class_="meaning"),
            ),
            h("div", picture, h("div", scale, class_="scale", style=wide) if scale else "", class_="scroll"),
            class_="traversal",
        )

    def reconstructions(self) -> Html:
        """Write images at random and the worst, each with its reconstruction and the difference."""
        found = self.data["reconstructions"]
        if not found:
            return h("")
        n_random = found["n_random"]
        each = [
            self._reconstruction(k, row, error)
            for k, (row, error) in enumerate(zip(found["rows"], found["errors"], strict=True))
        ]
        return h(
            "",
            paragraph(
                "Above the image, then what the decoder makes of its code, then their difference (black: none). Below "
                "each the mean squared error over its pixels, black to white being 1. The mean of "
                f"{found['tried']:,} images is {number(found['mean_error'], 4)}; one mean picture for all would have "
                f"{number(found['mean_image_error'], 4)}."
            ),
            h("h3", "At random"),
            h("div", each[:n_random], class_="stacks"),
            h("h3", f"The worst of {found['tried']:,}"),
            h("div", each[n_random:], class_="stacks"),
        )

    def _reconstruction(self, k: int, row: int, error: float) -> Html:
        width = self.shapes["originals"][2]
        alt = f"Image {row}, its reconstruction and their difference; mean squared error {number(error, 4)}"
        picture = h("img", alt=alt, loading="lazy", **self.album.attributes(f"made {k}", enlargement(width)))
        return h("figure", picture, h("figcaption", number(error, 4)))

    def sweeps(self) -> Html:
        """Write the images along each factor, and under them how the codes respond."""
        found = self.data["sweeps"]
        if not found:
            return h("")
        return h(
            "",
            paragraph(
                "Images along each factor, all others held. Below them the mean of each code in use at each value "
                "(line), and the range that the other factors cause (band: from its 5 % to its 95 % quantile). Each "
                "code has one scale for all factors: where its line is steep and its band narrow, it holds the factor; "
                "where it is flat, it does not respond. The percentage is how much of the factor it tells."
            ),
            [self._sweep(place, sweep) for place, sweep in enumerate(found)],
        )

    def _sweep(self, place: int, sweep: Item) -> Html:
        name, information = sweep["factor"], self.data["information"]
        column = self.factors.index(name) if name in self.factors else None
        shares = {j: None if column is None or information is None else information[j][column] for j in self.order}
        active = [j for j in self.order if self.data["codes"][j]["active"]]
        shown = sorted(active, key=lambda j: -_known(shares[j]))[:_MOST_RESPONSES]
        wide, tall = self.album.size(f"sweep {place}")
        factor = enlargement(tall)
        values = [sweep["values"][position] for position in sweep["shown"]]
        alt = f"Images along {name}: {', '.join(values)}"
        picture = h("img", alt=alt, loading="lazy", **self.album.attributes(f"sweep {place}", factor))
        scale = h("div", [h("span", one) for one in values], class_="scale", style=f"width:{wide * factor}px")
        curves = [response(sweep, j, self.names[j], shares[j], self._ends(j)) for j in shown]
        shown_images = h("div", picture, scale, class_="scroll")
        return h("", h("h3", named(name)), shown_images, h("div", curves, class_="responses"))

    def _ends(self, code: int) -> tuple[float, float]:
        """Return the ends of what a code does over all factors."""
        lows = [row[code] for sweep in self.data["sweeps"] for row in sweep["low"]]
        highs = [row[code] for sweep in self.data["sweeps"] for row in sweep["high"]]
        return min(lows), max(highs)

    # How it came about -----------------------------------------------------------------------------------------------

    def training(self) -> Html:
        """Draw how the training went."""
        history = self.data["history"]
        if not history:
            return h("")
        titles = {
            "reconstruction": "Reconstruction error, nats",
            "kl": "Divergence from the prior, nats",
            "total_correlation": "Total correlation, nats",
        }
        drawn = [history_figure(history, key, title) for key, title in titles.items() if key in history]
        return h("div", drawn, class_="responses")

    def made(self) -> Html:
        """Write where everything comes from."""
        found = self.data["scores"]
        parts = [] if found is None else [signature(score["signature"]) for score in found["scores"][:1]]
        smaller = ""
        if self.album.kept > 1 or self.album.colours is not None:
            size = f", every {self.album.kept}th pixel" if self.album.kept > 1 else ""
            smaller = f"Pictures hold {self.album.colours} colours{size}, to keep the page small."
        return h("", facts([*self.data["facts"].items(), ("Pictures", smaller)]), parts)


def _pictures(data: Item, pictures: Mapping[str, Any], shown: Sequence[int]) -> dict[str, NDArray[np.uint8]]:
    """Return every picture of the page by a name."""
    found: dict[str, NDArray[np.uint8]] = {}
    moved, originals, made = (pictures.get(key) for key in ("traversals", "originals", "made"))
    if moved is not None:
        for j in shown:
            kept = moved[:, j] if data["codes"][j]["active"] else moved[:1, j]
            found[f"code {j}"] = strip(kept)
    if originals is not None and made is not None:
        for k, (one, other) in enumerate(zip(originals, made, strict=True)):
            difference = np.abs(one.astype(np.int16) - other).astype(np.uint8)
            found[f"made {k}"] = strip([image[None] for image in (one, other, difference)])
    for place, images in enumerate(pictures.get("sweeps") or ()):
        found[f"sweep {place}"] = strip([images])
    return found


def _title(metric: str) -> str:
    return str(CATALOGUE[metric].title) if metric in CATALOGUE else metric


def _known(value: float | None) -> float:
    return 0.0 if value is None else float(value)


def _most(values: Sequence[float | None]) -> float:
    return max(map(_known, values), default=0.0)


def _heat(value: float | None, code: str, factor: str) -> Html:
    if value is None:
        return h("td", DASH)
    told = f"{code} tells {value:.3f} of {factor}"
    text = f"{value:.2f}".removeprefix("0") if value >= 0.005 else ""
    return h("td", text, class_="strong" if value > 0.55 else "", style=f"--h:{value:.2f}", title=told)
