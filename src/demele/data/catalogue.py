"""The sets of images that demele knows: those that it draws, and those that it reads from your files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from demele.core.names import checked_name
from demele.core.result import Result
from demele.data.images import ImageSet
from demele.data.loaders.published import Factor
from demele.data.procedural.clutter import clutter
from demele.data.procedural.room import room
from demele.data.procedural.sprites import sprites
from demele.data.procedural.squares import squares
from demele.report.document import Document, Notice, Section, Table
from demele.report.words import count, sentence_of

if TYPE_CHECKING:
    import pandas as pd

    from demele.data.loaders.published import Factor


# What sets of images say: their documents -----------------------------------------------------------------------------

Group: TypeAlias = "tuple[str, VariantFacts]"


def image_set_document(result: ImageSetFacts) -> Document:
    """Say what is known of a set of images: its factors, where it comes from, and its licence."""
    groups = _alike(result.variants)
    table = _factors(groups)
    facts = [("Open", result.opened_by), ("Files", result.download or "")]
    facts += [("Source", result.provenance), ("Licence", result.licence)]
    return Document(
        kind="Set of images",
        title=result.name,
        headline=f"{result.name}: {result.title}.",
        sentences=[sentence_of(f"{term}: {text}") for term, text in facts if text],
        table=table,
        scope=[_images(variant) + (f" ({title})" if title else "") for title, variant in groups],
        sections=[Section("Data", [table, *(_variant(*group) for group in groups if len(groups) > 1)])],
        notes=[Notice(text) for text in result.notes],
    )


def _alike(variants: Sequence[VariantFacts]) -> list[Group]:
    """Return variants by name; those that differ in their names only stand together."""
    found: dict[VariantFacts, list[str]] = {}
    for variant in variants:
        found.setdefault(replace(variant, name=""), []).append(variant.name)
    return [(", ".join(names), variant) for variant, names in found.items()]


def _images(variant: VariantFacts) -> str:
    images = "images" if variant.n is None else count(variant.n, "image")
    return f"{images} of {_pixels(variant)}" if variant.shape else images


def _pixels(variant: VariantFacts) -> str:
    return "" if variant.shape is None else " x ".join(map(str, variant.shape))


def _factors(groups: Sequence[Group]) -> Table:
    """Return a row for each factor: how many values it has in each variant, and the values of the first."""
    counts = {title or "Values": {one.name: one.size or "any" for one in variant.factors} for title, variant in groups}
    ranges = {one.name: _values(one) for _, variant in reversed(groups) for one in variant.factors}
    names = dict.fromkeys(one.name for _, variant in groups for one in variant.factors)
    rows = [(factor, *(own.get(factor) for own in counts.values()), ranges[factor]) for factor in names]
    return Table("Factors", {"Factor": "text", **dict.fromkeys(counts, "count"), "Range": "text"}, rows)


def _variant(title: str, variant: VariantFacts) -> Table:
    rows = [(one.name, one.size or "any", _values(one)) for one in variant.factors]
    return Table(f"Factors of {title}", {"Factor": "text", "Values": "count", "Range": "text"}, rows)


def _values(factor: Factor) -> str:
    if not factor.values:
        return ""
    if isinstance(factor.values[0], str):
        return ", ".join(map(str, factor.values))
    numbers = [float(value) for value in factor.values]
    period = "" if factor.period is None else f", period {factor.period:g}"
    return f"{min(numbers):g} to {max(numbers):g}{period}"


#: The sets that are drawn, by name: what draws them, their titles, and what to know of them.
DRAWN: dict[str, tuple[Callable[..., ImageSet], str, tuple[str, ...]]] = {
    "sprites": (
        sprites,
        "one white shape on black",
        (
            "The factors are those of dSprites; the images are new.",
            "Angles stop before 90 degrees, so that all images differ (at 16 x 16 pixels, 20,732 of 20,736). With "
            "orientation='full' they go around, and squares and ellipses repeat.",
        ),
    ),
    "room": (
        room,
        "a coloured object in a coloured room",
        (
            "The factors are those of Shapes3D, whose numbers of values are counts=(10, 10, 10, 8, 4, 15); nothing is "
            "taken from it.",
        ),
    ),
    "squares": (
        squares,
        "a red, a green and a blue square on a grid of places",
        ("No loss on pixels sees which places are neighbours.",),
    ),
    "clutter": (
        clutter,
        "a glyph of a few strokes among clutter, for classification",
        (
            "images.positions()[:, 0] are the classes; level=0 to 4 is the difficulty.",
            "Images are an endless stream: first= continues after a set, so that the sets do not overlap.",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class VariantFacts:
    """A release of a set: its name ("" for the only one), images, pixels and factors; None where the file says it."""

    name: str
    n: int | None
    shape: tuple[int, int, int] | None
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImageSetFacts(Result):
    """Facts about a set of images.

    Attributes
    ----------
    name, title : str
    drawn : bool
        Whether a formula draws it; otherwise its files are yours to bring.
    variants : tuple of VariantFacts
    opened_by : str
        The call that gives the set.
    provenance, licence : str
    download : str or None
        File, size and address of a published set.
    notes : tuple of str
        What to know before results are read.
    """

    _kind = "image set"

    name: str
    title: str
    drawn: bool
    variants: tuple[VariantFacts, ...]
    opened_by: str
    provenance: str
    licence: str
    download: str | None
    notes: tuple[str, ...]

    document = image_set_document

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each factor of each variant."""
        import pandas as pd

        rows = [
            (variant.name, one.name, one.size, one.kind, one.period, " ".join(map(str, one.values or ())))
            for variant in self.variants
            for one in variant.factors
        ]
        return pd.DataFrame(rows, columns=["variant", "factor", "size", "kind", "period", "values"])


def image_set_names() -> tuple[str, ...]:
    """Return the names of the sets of images that demele draws, or reads from your files.

    Examples
    --------
    >>> from demele.data import image_set_names
    >>> image_set_names()[:5]
    ('sprites', 'room', 'squares', 'clutter', 'dsprites')
    """
    from demele.data.loaders.loading import PUBLISHED

    return (*DRAWN, *PUBLISHED)


def describe(name: str) -> ImageSetFacts:
    """Return the facts about a set of images: factors, size, licence, source of the files, and traps.

    Parameters
    ----------
    name : str
        One of :func:`image_set_names`.

    Returns
    -------
    ImageSetFacts
        Printed, its factors; ``document().method`` holds its source and licence.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest.

    Examples
    --------
    >>> from demele.data import describe
    >>> describe("squares").sentence
    'squares: a red, a green and a blue square on a grid of places.'
    """
    from demele.data.loaders.loading import PUBLISHED

    if checked_name(name, "name", image_set_names()) in PUBLISHED:
        one = PUBLISHED[name]
        first = f', variant="{one.variants[0]}"' if one.variants else ""
        return ImageSetFacts(
            name=name,
            title=one.title,
            drawn=False,
            variants=tuple(
                VariantFacts(variant, one.count(variant), grid.pixels, grid.factors)
                for variant, grid in one.grids.items()
            )
            or (VariantFacts("", None, None, ()),),
            opened_by=f'demele.data.load("{name}", PATH{first})',
            provenance=one.provenance,
            licence=one.licence,
            download=f"{one.publisher}: {one.download}",
            notes=one.notes,
        )
    return ImageSetFacts(**facts_of_drawn(name, DRAWN[name][0]()))


def facts_of_drawn(name: str, images: ImageSet) -> dict[str, Any]:
    """Return the fields of :class:`ImageSetFacts` for images that a formula draws."""
    _, title, notes = DRAWN[name]
    space = images.space
    factors: tuple[Factor, ...] = ()
    if space is not None:
        factors = tuple(map(Factor, space.names, space.sizes, space.values, space.kinds, space.period))
    chosen = "sizes and numbers of values" if images.complete else "sizes, numbers of images and difficulties"
    return {
        "name": name,
        "title": title,
        "drawn": True,
        "variants": (VariantFacts("", len(images), images.shape, factors),),
        "opened_by": f"demele.data.{name}()",
        "provenance": f"drawn by a formula when it is asked for; {chosen} can be chosen",
        "licence": images.licence,
        "download": None,
        "notes": notes,
    }
