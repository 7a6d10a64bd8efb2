"""The sections of pictures on a page about a trained model: traversals, reconstructions, sweeps, samples."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.report.examination_curves import response
from demele.report.examination_pictures import Album, enlargement, strip
from demele.report.examination_view import MOST_CODES, ModelView
from demele.report.page import Html, h, paragraph
from demele.report.words import count, named, number, percent

__all__ = ["PictureSections"]

Item = Mapping[str, Any]
#: Samples from the prior that stand side by side.
_SIDE_BY_SIDE = 8


class PictureSections:
    """Pictures of a model, and what is written beside them.

    Parameters
    ----------
    view : ModelView
    pictures : mapping
        As of :meth:`demele.studies.Examination.to_content`.

    Raises
    ------
    MissingExtraError
        Without Pillow, if there is any picture.
    """

    def __init__(self, view: ModelView, pictures: Mapping[str, Any]) -> None:
        self.view = view
        self.album = Album(_pictures(view.data, pictures, view.order[:MOST_CODES]))
        self.shapes = {key: np.shape(value) for key, value in pictures.items() if isinstance(value, np.ndarray)}

    def traversals(self) -> Html:
        """Write a row of pictures per code; those not in use are folded."""
        if not self.view.data["traversals"]:
            return h("")
        shown = self.view.order[:MOST_CODES]
        active = [j for j in shown if self.view.data["codes"][j]["active"]]
        idle = [j for j in shown if j not in active]
        anchors = self.shapes["traversals"][0]
        values = self.view.data["traversals"]["values"]
        ends = "from the 2.5 % to the 97.5 % quantile of its own means" if values else "as the file has it"
        rows = f"{anchors} images, drawn at random, one below the other" if anchors > 1 else "one image"
        left = len(self.view.order) - len(shown)
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
        code, moved = self.view.data["codes"][j], self.view.data["traversals"]
        values = moved["values"][j] if moved["values"] else None
        anchors, _, steps, _, width, _ = self.shapes["traversals"]
        best = [named(code["best_factor"]), f" {percent(code['information'], 0)}"] if code["best_factor"] else []
        anchors = anchors if code["active"] else 1
        span = f" from {number(values[0], 2)} to {number(values[-1], 2)}" if values else ""
        alt = (
            f"{self.view.names[j]}{span} in {steps} steps, {count(anchors, 'image')}; tells most of "
            f"{code['best_factor'] or 'no factor'}"
        )
        picture = h("img", alt=alt, **self.album.attributes(f"code {j}", enlargement(width)))
        scale = [h("span", number(value, 1)) for value in values or ()]
        wide = f"width:{(steps * (width + 2) - 2) * enlargement(width)}px"
        return h(
            "figure",
            h(
                "figcaption",
                h("strong", named(self.view.names[j])),
                h("span", f"K {number(code['kl'], 2)} nats" if code["kl"] is not None else ""),
                h("span", best),
                h("span", f"pixels change by {percent(moved['change'][j], 1)}", class_="meaning"),
            ),
            h("div", picture, h("div", scale, class_="scale", style=wide) if scale else "", class_="scroll"),
            class_="traversal",
        )

    def reconstructions(self) -> Html:
        """Write images at random and the worst, each with its reconstruction and the difference."""
        found = self.view.data["reconstructions"]
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
        picture = h("img", alt=alt, **self.album.attributes(f"made {k}", enlargement(width)))
        return h("figure", picture, h("figcaption", number(error, 4)))

    def sweeps(self) -> Html:
        """Write the images along each factor, and under them how the codes respond."""
        found = self.view.data["sweeps"]
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
        name = sweep["factor"]
        shares = self.view.shares(name)
        wide, tall = self.album.size(f"sweep {place}")
        factor = enlargement(tall)
        values = [sweep["values"][position] for position in sweep["shown"]]
        alt = f"Images along {name}: {', '.join(values)}"
        picture = h("img", alt=alt, **self.album.attributes(f"sweep {place}", factor))
        scale = h("div", [h("span", one) for one in values], class_="scale", style=f"width:{wide * factor}px")
        names = self.view.names
        curves = [response(sweep, j, names[j], shares[j], self.view.ends(j)) for j in self.view.responding(name)]
        shown_images = h("div", picture, scale, class_="scroll")
        return h("", h("h3", named(name)), shown_images, h("div", curves, class_="responses"))

    def samples(self) -> Html:
        """Write what the decoder makes of codes that no image has."""
        if "samples" not in self.shapes:
            return h("")
        n, _, width, _ = self.shapes["samples"]
        alt = f"{n} images that the decoder makes of codes drawn from the prior"
        picture = h("img", alt=alt, **self.album.attributes("samples", enlargement(width)))
        return h(
            "",
            paragraph(
                f"{count(n, 'image')} of codes that are drawn at random: independent, with mean 0 and variance 1, as "
                "the prior of a VAE says. Images unlike the data mean that the codes of the data do not fill the "
                "prior: where no image has its code, the decoder was never trained."
            ),
            h("div", picture, class_="scroll"),
        )

    def smaller(self) -> str:
        """Say what pictures lost to keep the page small; nothing if they lost nothing."""
        album = self.album
        if album.kept == 1 and album.colours is None:
            return ""
        size = f", every {album.kept}th pixel" if album.kept > 1 else ""
        return f"Pictures hold {album.colours} colours{size}, to keep the page small."


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
    samples = pictures.get("samples")
    if samples is not None:
        found["samples"] = strip(
            [samples[start : start + _SIDE_BY_SIDE] for start in range(0, len(samples), _SIDE_BY_SIDE)]
        )
    return found
