"""What sets of images say: their documents."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from demele.report.document import Document, Notice, Section, Table
from demele.report.words import count, sentence_of

if TYPE_CHECKING:
    from demele.data.catalogue import ImageSetFacts, VariantFacts
    from demele.data.loaders.published import Factor

Group: TypeAlias = "tuple[str, VariantFacts]"


def image_set_document(result: "ImageSetFacts") -> Document:
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


def _alike(variants: "Sequence[VariantFacts]") -> list[Group]:
    """Return variants by name; those that differ in their names only stand together."""
    found: dict[VariantFacts, list[str]] = {}
    for variant in variants:
        found.setdefault(replace(variant, name=""), []).append(variant.name)
    return [(", ".join(names), variant) for variant, names in found.items()]


def _images(variant: "VariantFacts") -> str:
    images = "images" if variant.n is None else count(variant.n, "image")
    return f"{images} of {_pixels(variant)}" if variant.shape else images


def _pixels(variant: "VariantFacts") -> str:
    return "" if variant.shape is None else " x ".join(map(str, variant.shape))


def _factors(groups: Sequence[Group]) -> Table:
    """Return a row for each factor: how many values it has in each variant, and the values of the first."""
    counts = {title or "Values": {one.name: one.size or "any" for one in variant.factors} for title, variant in groups}
    ranges = {one.name: _values(one) for _, variant in reversed(groups) for one in variant.factors}
    names = dict.fromkeys(one.name for _, variant in groups for one in variant.factors)
    rows = [(factor, *(own.get(factor) for own in counts.values()), ranges[factor]) for factor in names]
    return Table("Factors", {"Factor": "text", **dict.fromkeys(counts, "count"), "Range": "text"}, rows)


def _variant(title: str, variant: "VariantFacts") -> Table:
    rows = [(one.name, one.size or "any", _values(one)) for one in variant.factors]
    return Table(f"Factors of {title}", {"Factor": "text", "Values": "count", "Range": "text"}, rows)


def _values(factor: "Factor") -> str:
    if not factor.values:
        return ""
    if isinstance(factor.values[0], str):
        return ", ".join(map(str, factor.values))
    numbers = [float(value) for value in factor.values]
    period = "" if factor.period is None else f", period {factor.period:g}"
    return f"{min(numbers):g} to {max(numbers):g}{period}"
