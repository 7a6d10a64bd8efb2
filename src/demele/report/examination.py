"""The page about a trained model: what its codes hold, scores, traversals, reconstructions, responses."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.core.verdict_documents import RULE, factor_counts
from demele.metrics.catalogue import CATALOGUE
from demele.report.examination_curves import history_figure
from demele.report.examination_images import PictureSections
from demele.report.examination_view import MOST_CODES, ModelView
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
#: A share whose cell is so dark that its number is written in the colour of the page.
_DARK = 0.6


def write_examination(examination: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``Examination.to_dict()`` returns, and its pictures, as one HTML file.

    Parameters
    ----------
    examination : mapping
        With ``pictures``: ``traversals`` (anchors, codes, steps, H, W, C), ``originals``, ``made`` and ``samples``
        (k, H, W, C), and ``sweeps``, a list of (n, H, W, C), as arrays of uint8; None where there are none.
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
    view = View(data)
    drawn = PictureSections(view, examination.get("pictures") or {})
    sections = [
        ("verdict", "Verdict", view.verdict()),
        ("scores", "Scores", view.scores()),
        ("held", "What each code tells of each factor", view.matrices()),
        ("codes", "Codes", view.codes()),
        ("traversals", "Traversals", drawn.traversals()),
        ("reconstructions", "Reconstructions", drawn.reconstructions()),
        ("sweeps", "How codes respond to each factor", drawn.sweeps()),
        ("samples", "Samples from the prior", drawn.samples()),
        ("training", "Training", view.training()),
        ("made", "How this was made", view.made(drawn.smaller())),
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


class View(ModelView):
    """What the page says of an examination in words and numbers."""

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
                f"Of codes in use. {RULE}",
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
        return Text(joined(factor_counts(str(item["verdict"]) for item in self.data["factors"])), ".")

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
                "is held by one code has one dark cell in its column; a code that holds one factor has one in its row. "
                "Information: mutual information of 20 bins of equal width, with Miller and Madow's correction, "
                "divided by the factor's entropy. MIG has its own bins: see its signature."
            ),
            h("div", parts, class_="panels"),
        )

    def _matrix(self, title: str, values: Sequence[Sequence[float | None]]) -> Html:
        codes = self.data["codes"]
        rows = []
        for j in self.matrix_order(values):
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
            table("Codes", heads, rows, first=MOST_CODES, noun="codes"),
        )

    # How it came about -----------------------------------------------------------------------------------------------

    def training(self) -> Html:
        """Draw how the training went."""
        history = self.data["history"]
        if not history:
            return h("")
        titles = {
            "reconstruction": "Reconstruction error, nats",
            "kl": "Divergence from the prior, nats",
            "total_correlation": "Total correlation, nats (estimated: may be below 0)",
        }
        drawn = [history_figure(history, key, title) for key, title in titles.items() if key in history]
        return h("div", drawn, class_="responses")

    def made(self, smaller: str) -> Html:
        """Write where everything comes from, and what was done to the pictures."""
        found = self.data["scores"]
        parts = [] if found is None else [signature(score["signature"]) for score in found["scores"][:1]]
        return h("", facts([*self.data["facts"].items(), ("Pictures", smaller)]), parts)


def _title(metric: str) -> str:
    return str(CATALOGUE[metric].title) if metric in CATALOGUE else metric


def _heat(value: float | None, code: str, factor: str) -> Html:
    if value is None:
        return h("td", DASH)
    told = f"{code} tells {value:.3f} of {factor}"
    text = f"{value:.2f}".removeprefix("0") if value >= 0.005 else ""
    return h("td", text, class_="strong" if value > _DARK else "", style=f"--h:{value:.2f}", title=told)
