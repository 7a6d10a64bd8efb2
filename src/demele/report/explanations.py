"""The page about a perturbation test: do explanations hold, and where do they not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demele.report.examination_pictures import Album, enlargement
from demele.report.explanations_drawn import MARKS, curves_figure, own_curves, pictures_of
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
from demele.report.words import DASH, Text, brackets, count, level_text, named, number, percent

__all__ = ["write_perturbation_test"]

Item = Mapping[str, Any]

#: Worst cases of each map that are not folded, where there are several maps.
FIRST_CASES = 4
#: What is measured, as a noun.
_NOUNS = {
    "probability": "the probability of the class predicted of the whole image",
    "output": "the output for the class predicted of the whole image",
    "prediction kept": "the share of images whose prediction has not changed",
    "accuracy": "the accuracy against the given labels",
}
_FILLINGS = {
    "uniform": "random values, drawn anew for each image and repeat",
    "mean": "the mean colour of the image",
    "blur": "the image, blurred",
}


def write_perturbation_test(test: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``PerturbationTest.to_content()`` returns as one HTML file.

    Parameters
    ----------
    test : mapping
        With ``pictures`` of the worst cases of each map, as arrays, and ``ends``, their darkest and brightest value.
    path : Path
    title : str, optional

    Raises
    ------
    InputError
        If the dictionary is not that of a perturbation test.
    MissingExtraError
        If there are pictures and Pillow is not installed.
    """
    data = of_kind({key: value for key, value in test.items() if key not in ("pictures", "ends")}, "perturbation_test")
    view = View(data, pictures_of(test.get("pictures") or [], test.get("ends") or (0, 255)))
    sections = [
        ("verdict", "Verdict", view.verdict()),
        ("curves", "What falls, and how fast", view.curves()),
        ("areas", "Areas over the curve", view.areas()),
        ("pairs", "One map beside another", view.pairs()),
        ("worst", "The worst cases", view.worst()),
        ("made", "How this was made", view.made()),
    ]
    return Page(
        kind="Importance maps, tested by destroying what they call important",
        title=title or ("Does the explanation hold?" if len(data["maps"]) == 1 else "Which explanations hold?"),
        sections=sections,
        style="labels explanations",
        styles=("labels.css", "explanations.css"),
        scripts=("labels.js",),
        tools=h("", tool("Data (JSON)", "download-json"), tool("Images (CSV)", "download-csv", data_list="images")),
        data=data_element(embedded(data)),
        version=data.get("demele"),
    ).write(path)


class View:
    """What the page says of a test in words, numbers and pictures."""

    def __init__(self, data: Item, pictures: Mapping[str, Any]) -> None:
        self.data, self.maps = data, data["maps"]
        self.album = Album(pictures)
        self.corrected = any(one["difference"]["corrected"] is not None for one in self.maps)

    def verdict(self) -> Html:
        """Write what is to be known first."""
        data = self.data
        across = "pixel" if data["region"] == [1, 1] else "region of {} x {} pixels".format(*data["region"])
        sentences = [
            f"Of {count(data['n'], 'image')}, one {across} after the other was destroyed, {data['steps']} of "
            f"{data['regions']}, in the order of the map and in {count(data['repeats'], 'random order')}. Compared is "
            f"how far {_NOUNS[data['measured']]} falls on average over the steps, image by image.",
            self._about_labels(),
        ]
        found = [one["verdict"] for one in self.maps]
        holds = all(verdict == "holds" for verdict in found)
        told, headline = [], data["sentence"]
        if len(found) > 1:
            told, headline = [data["sentence"]], f"{found.count('holds')} of {len(found)} maps hold."
        return h(
            "",
            lead(headline, [*told, *sentences], tone="" if holds else "bad", assumptions=data["assumptions"]),
            notes(data["notes"]),
        )

    def _about_labels(self) -> str:
        if self.corrected:
            return (
                "Some labels may be wrong: intervals are corrected, and hold whichever labels these are. A verdict "
                "rests on the corrected interval."
            )
        if self.data["measured"] == "accuracy":
            return "Every label is believed."
        return "No label was needed: what is followed is what the classifier itself says."

    def curves(self) -> Html:
        """Draw a figure per map."""
        dotted = " Dotted lines bound the accuracy on the true labels." if self.corrected else ""
        key = [h("span", h("i", class_=f"key {order}"), words) for order, words in MARKS.items()]
        return h(
            "",
            paragraph(
                f"{_NOUNS[self.data['measured']][:1].upper()}{_NOUNS[self.data['measured']][1:]}, with "
                f"{level_text(self.data['level'])} intervals, each by itself. The area over the lowest curve is what "
                f"is scored: if a map holds, its curve falls first.{dotted}"
            ),
            h("p", key, class_="keys"),
            h("div", [curves_figure(one, self.data["measured"]) for one in self.maps], class_="curves"),
        )

    def areas(self) -> Html:
        """Write the areas of each map, and the difference to random order."""
        heads: list[tuple[object, str] | None] = [
            ("Map", "text"),
            ("Most important first", "number"),
            ("Random order", "number"),
            ("Least important first", "number"),
            ("Most minus random", "number"),
            ("Corrected", "number") if self.corrected else None,
            ("Images worse than random", "number"),
            ("Verdict", "text"),
        ]
        rows = []
        for one in self.maps:
            areas = [_estimate_cell(one["areas"][order]) for order in ("most", "random", "least")]
            difference = one["difference"]
            own = Cell(brackets(difference["corrected"]) or DASH, kind="number") if self.corrected else None
            worse = Cell(percent(one["worse_than_random"], 0), one["worse_than_random"])
            verdict = Cell(_VERDICTS[one["verdict"]], one["verdict"], kind="text")
            rows.append([named(one["name"]), *areas, _estimate_cell(difference), own, worse, verdict])
        shared = len(self.maps) > 1
        return h(
            "",
            paragraph(
                "The area over the curve is the mean fall over all steps (AOPC, Samek et al. 2017). Least important "
                "first should cost little: a map for which it costs as much as the other end tells of size, not of "
                "direction.",
                " The differences share one level: all verdicts hold together." if shared else "",
            ),
            table("Areas over the curve", heads, rows),
        )

    def pairs(self) -> Html:
        """Write the difference of every two maps."""
        if not self.data["pairs"]:
            return h("")
        heads: list[tuple[object, str] | None] = [
            ("First", "text"),
            ("Second", "text"),
            ("First minus second", "number"),
            ("Corrected", "number") if self.corrected else None,
            ("Better", "text"),
        ]
        rows = [
            [
                named(pair["first"]),
                Cell(named(pair["second"]), pair["second"], kind="text"),
                _estimate_cell(pair["estimate"]),
                Cell(brackets(pair["estimate"]["corrected"]) or DASH, kind="number") if self.corrected else None,
                Cell(named(pair["better"] or DASH), kind="text"),
            ]
            for pair in self.data["pairs"]
        ]
        return h(
            "",
            paragraph("Areas with the most important first, image by image; the pairs share one level."),
            table("Every two maps", heads, rows, first=20, noun="pairs"),
        )

    def worst(self) -> Html:
        """Show the images whose map does worst."""
        if not any(one["worst"] for one in self.maps):
            return h("")
        shown = [h("", h("h3", named(one["name"])), self._worst_of(place, one)) for place, one in enumerate(self.maps)]
        return h(
            "",
            paragraph(
                "From left to right: the image, its map (",
                h("span", "orange", class_="for"),
                " speaks for the class, ",
                h("span", "blue", class_="against"),
                " against it), and what is left when half of the regions are gone, the most important first. Below "
                "them the curves of this image. The number is its area minus that of random orders.",
            ),
            shown,
        )

    def _worst_of(self, place: int, one: Item) -> Html:
        rows = {row["image"]: row for row in self.data["images"] if row["map"] == one["name"]}
        cases = []
        for number_of_case, case in enumerate(one["worst"]):
            row = rows[case["row"]]
            name = f"{place} {number_of_case}"
            wide = (self.album.size(name)[0] - 4) // 3
            alt = f"Image {case['row']}, its map, and the image without what the map calls important"
            attributes = self.album.attributes(name, enlargement(wide))
            label = Text(", label ", named(row["label"])) if row["label"] is not None else ""
            cases.append(
                h(
                    "figure",
                    h("img", alt=alt, **attributes),
                    own_curves(case, f"Image {case['row']}"),
                    h(
                        "figcaption",
                        h("strong", number(row["difference"])),
                        h("span", Text("image ", case["row"], ": predicted ", named(row["predicted"]), label)),
                        h(
                            "span",
                            f"beats {row['beats']} of {count(self.data['repeats'], 'random order')}",
                            class_="meaning",
                        ),
                    ),
                    class_="case",
                )
            )
        first = len(cases) if len(self.maps) == 1 else FIRST_CASES
        more = cases[first:]
        folded = h("details", h("summary", f"{len(more)} more"), h("div", more, class_="cases")) if more else ""
        return h("", h("div", cases[:first], class_="cases"), folded)

    def made(self) -> Html:
        """Write the settings."""
        data = self.data
        filling = data["destroy"]
        pairs = [
            ("Images", f"{data['n']:,}"),
            ("Regions", "{} of {} x {} pixels".format(data["regions"], *data["region"])),
            ("Destroyed", f"{data['steps']}, one at each step"),
            ("In their place", _FILLINGS.get(filling, f"the value {filling}")),
            ("Random orders", f"{data['repeats']} of each image"),
            ("Measured", _NOUNS[data["measured"]]),
            ("Level", level_text(data["level"])),
        ]
        return h(
            "",
            facts(pairs),
            paragraph(
                "A destroyed image is unlike those that the classifier has learned from. Random order meets the same "
                "images; another way to destroy should give the same verdict."
            ),
            signature(data["signature"]),
        )


#: What stands in the table, by the verdict.
_VERDICTS = {"holds": "holds", "misleads": "misleads", "inconclusive": "not told apart from random order"}


def _estimate_cell(estimate: Item) -> Cell:
    return Cell(number(estimate["value"]), estimate["value"], brackets(estimate["interval"]))
