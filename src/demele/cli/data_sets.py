"""``demele data list`` and ``demele data describe``: which sets of images there are, and what is known of one."""

import argparse
from typing import TYPE_CHECKING, Any

from demele.cli.image_sets import refuse_own_images
from demele.cli.options import command, option
from demele.cli.output import as_text, document_text, emit, format_of, result_text

if TYPE_CHECKING:
    from demele.data import ImageSetFacts


def add_list(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele data list`` to the actions."""
    parser = command(
        actions,
        "list",
        _list,
        help="which sets there are",
        description="List the sets of images: those that demele draws, and those that it reads from your files.",
    )
    option(parser, "--format")


def add_describe(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele data describe`` to the actions."""
    parser = command(
        actions,
        "describe",
        _describe,
        help="what is known of a set",
        description="Say what is known of a set of images: factors, sizes, licence, files, and what to look out for.",
        called={"name": "NAME"},
    )
    parser.add_argument("name", metavar="NAME", help="the name that demele data list gives")
    option(parser, "--format", help="of the results (default: table on a terminal, json otherwise); csv: the factors")


def _list(arguments: argparse.Namespace) -> None:
    import pandas as pd

    from demele.data import describe, image_set_names
    from demele.data.documents import image_sets_document

    known = [describe(name) for name in image_set_names()]
    text = as_text(
        format_of(arguments.format, None),
        table=lambda: document_text(image_sets_document(known)),
        data=lambda: [one.to_dict() for one in known],
        frame=lambda: pd.DataFrame([_row(one) for one in known]).astype({"images": "Int64"}),
    )
    emit(text, None)


def _row(one: "ImageSetFacts") -> dict[str, Any]:
    first = one.variants[0]
    return {
        "name": one.name,
        "title": one.title,
        "drawn": one.drawn,
        "images": first.n,
        "pixels": None if first.shape is None else " x ".join(map(str, first.shape)),
        "factors": " ".join(factor.name for factor in first.factors),
        "variants": " ".join(variant.name for variant in one.variants if variant.name),
        "licence": one.licence,
    }


def _describe(arguments: argparse.Namespace) -> None:
    from demele.data import describe

    refuse_own_images(arguments.name)
    emit(result_text(describe(arguments.name), format_of(arguments.format, None), explain=True), None)
