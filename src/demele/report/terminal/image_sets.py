"""Sets of images in a terminal. A set is what ``ImageSetFacts.to_dict()`` returns."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.terminal.sheet import Sheet, Styled

Facts = Mapping[str, Any]


def sets_table(known: Sequence[Facts]) -> str:
    """Write which sets there are."""
    sheet = Sheet()
    rows: list[Sequence[Any] | str] = []
    for drawn, title in ((True, "drawn"), (False, "read from files")):
        rows.append(title)
        for one in (one for one in known if one["drawn"] == drawn):
            first = one["variants"][0]
            images = "" if first["n"] is None else f"{first['n']:,}"
            rows.append([Styled(one["name"], "bold"), images, _pixels(first), _factors(first)])
    sheet.table(["set", "images", "pixels", "factors"], rows, numbers=2)
    sheet.blank()
    sheet.line("demele data describe NAME says more: variants, values, licence, files.", "dim")
    return sheet.text()


def set_text(one: Facts) -> str:
    """Write what is known of a set."""
    sheet = Sheet()
    sheet.line(f"{one['name']}: {one['title']}", "bold")
    for names, variant in _alike(one["variants"]):
        sheet.blank()
        images = "images" if variant["n"] is None else f"{variant['n']:,} images"
        pixels = _pixels(variant)
        head = f"{', '.join(names)}: " if all(names) else ""
        sheet.line(f"{head}{images}{' of ' if pixels else ''}{pixels}")
        rows = [[factor["name"], _size(factor), _values(factor)] for factor in variant["factors"]]
        if rows:
            sheet.table(["factor", "values", ""], rows, numbers=1)
    sheet.blank()
    told = {"open": one["opened_by"], "files": one["download"], "from": one["provenance"], "licence": one["licence"]}
    for name, text in told.items():
        if text is not None:
            sheet.wrapped(f"{name}: {text}")
    for note in one["notes"]:
        sheet.wrapped(f"* {note}")
    return sheet.text()


def _alike(variants: Sequence[Facts]) -> list[tuple[list[str], Facts]]:
    """Return variants, those that differ in nothing but their names together."""
    found: list[tuple[list[str], Facts]] = []
    for variant in variants:
        same = next((names for names, first in found if {**first, "name": variant["name"]} == variant), None)
        if same is None:
            found.append(([variant["name"]], variant))
        else:
            same.append(variant["name"])
    return found


def _pixels(variant: Facts) -> str:
    return "" if variant["shape"] is None else " x ".join(map(str, variant["shape"]))


def _factors(variant: Facts) -> str:
    return ", ".join(factor["name"] for factor in variant["factors"]) or "as the file has them"


def _size(factor: Facts) -> str:
    return str(factor["size"]) if factor["size"] else "any"


def _values(factor: Facts) -> str:
    values = factor["values"]
    if not values:
        return ""
    told = ", ".join(map(str, values)) if isinstance(values[0], str) else f"{min(values):g} to {max(values):g}"
    period = factor["period"]
    return told if period is None else f"{told}; begins again after {period:g}"
