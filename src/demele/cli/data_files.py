"""``demele data check`` and ``demele data convert``: files of published sets, looked at and made quick to read."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.image_sets import refuse_own_images
from demele.cli.options import command, given, option
from demele.cli.output import as_text, document_text, emit, format_of, log, warnings_in_one_line
from demele.cli.progress import reporting
from demele.cli.targets import check_targets
from demele.core.errors import DemeleError, InputError
from demele.core.reading import size_text
from demele.report.document import Document
from demele.report.listing import Column, listed
from demele.report.words import name as isolated

if TYPE_CHECKING:
    import pandas as pd

    from demele.data.loaders.published import Finding

_CHECK = """\
Look whether the files of a published set are what was published: names, types, shapes and sizes, and with --digest
every byte. Images are not read, but for their digest.
"""
_CHECK_EXAMPLES = """\
examples:
  demele data check dsprites dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz
  demele data check shapes3d 3dshapes.h5 --digest
  demele data check mpi3d mpi3d_toy.npz --variant toy
  demele data check smallnorb norb --option split=training

demele data describe NAME says where the files are from, and which options and variants a set has.
Exit status: 0 the set can be used, 2 it cannot, or a mistake in the arguments.
"""
_CONVERT = """\
Write the images of a published set to one .npy in the order of its grid, once; it is mapped from then on, and any row
is read at once. What it holds, and factors that are no grid, stand behind the images in the same file.
"""
_CONVERT_EXAMPLES = """\
examples:
  demele data convert shapes3d 3dshapes.h5 --output shapes3d.npy
  demele data convert cars3d cars --size 64 --output cars64.npy
  demele data convert mpi3d mpi3d_real.npz --variant real --output mpi3d.npy

In Python, demele.data.load("shapes3d", "shapes3d.npy") and demele.data.open_images("shapes3d.npy") read it.
Takes at most 300 MB of memory. Files take their names when they are whole; a kill leaves .NAME.tmp-... to be deleted.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_check(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele data check`` to the actions."""
    parser = _command(actions, "check", _check, "look whether files are what was published", _CHECK, _CHECK_EXAMPLES)
    option(parser, "--format")
    option(parser, "--quiet", help="no progress and no warnings")


def add_convert(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele data convert`` to the actions."""
    parser = _command(
        actions,
        "convert",
        _convert,
        "write the images of a set to one file that is mapped",
        _CONVERT,
        _CONVERT_EXAMPLES,
    )
    option(parser, "--size", type=int, metavar="PIXELS", help="height and width (default: as they were published)")
    option(parser, "--resample", metavar="WAY", help="area, or lanczos as in publications (default: area)")
    option(parser, "--output", metavar="FILE.npy", help="write the images here (needed)")
    option(parser, "--force", "--quiet")


def _command(
    actions: "argparse._SubParsersAction[Any]", name: str, run: Any, purpose: str, description: str, examples: str
) -> argparse.ArgumentParser:
    parser = command(
        actions,
        name,
        run,
        help=purpose,
        description=description,
        examples=examples,
        called={"name": "NAME", "path": "PATH"},
    )
    parser.add_argument("name", metavar="NAME", help="of the set, as demele data list gives it")
    # Checked in _asked: who gives a file of their own alone is told more than that an argument is missing.
    parser.add_argument(
        "path", nargs="?", metavar="PATH", type=Path, help="(needed) the file, or the folder, as it was published"
    )
    option(parser, "--variant", metavar="V", help="which release it is, where a set has several")
    option(
        parser,
        "--option",
        argument="options",
        action="append",
        type=_pair,
        metavar="NAME=VALUE",
        help="of this set alone, such as camera=1; may be given more than once",
    )
    option(parser, "--digest", argument="check", action="store_true", help="compare every byte with the published file")
    return parser


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, such as camera=1, got {text!r}")
    return name.strip(), value.strip()


def _asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what both commands ask the library for."""
    from demele.data.loaders.loading import published_set

    if arguments.path is None:
        refuse_own_images(arguments.name)
        raise InputError("PATH: expected the file or folder of the set, as it was published")
    published = published_set(arguments.name)
    options: dict[str, Any] = {}
    for name, text in arguments.option or ():
        values = published.options.get(name, ())
        options[name] = next((value for value in values if str(value).lower() == text.lower()), text)
    return {
        "published": published,
        "path": arguments.path,
        "variant": arguments.variant,
        "check": "digest" if arguments.digest else "shape",
        "options": options,
    }


# Check ---------------------------------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> None:
    from demele.data.loaders.loading import findings

    with warnings_in_one_line(quiet=arguments.quiet, words=str), reporting(arguments.quiet) as report:
        seen, error = findings(**_asked(arguments), report=report)
    content = _content(arguments, seen, error)
    text = as_text(
        format_of(arguments.format, None),
        table=lambda: document_text(_document(content)),
        data=lambda: content,
        frame=lambda: _frame(content),
    )
    emit(text, None)
    if error is not None:
        raise error


def _content(arguments: argparse.Namespace, seen: "list[Finding]", error: DemeleError | None) -> dict[str, Any]:
    return {
        "kind": "files of an image set",
        "name": arguments.name,
        "path": str(arguments.path),
        "usable": error is None,
        "problem": None if error is None else str(error),
        "files": [
            {"file": one.file, "found": one.found, "expected": one.expected, "verdict": one.verdict} for one in seen
        ],
    }


def _document(content: dict[str, Any]) -> Document:
    """Return what each file holds, and what was published."""
    columns: list[Column[Any]] = [
        ("File", "text", lambda one: one["file"].rpartition("/")[2]),
        ("Found", "text", "found"),
        ("Expected", "text", lambda one: "the same" if one["expected"] == one["found"] else isolated(one["expected"])),
        ("Verdict", "text", "verdict"),
    ]
    usable = "can" if content["usable"] else "cannot"
    table = listed("Files", content["files"], columns)
    return Document(kind="Files", headline=f"{content['name']} {usable} be used.", table=table)


def _frame(content: dict[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(content["files"], columns=["file", "found", "expected", "verdict"])


# Convert -------------------------------------------------------------------------------------------------------------


def _convert(arguments: argparse.Namespace) -> None:
    from demele.data.loaders.loading import convert_as

    asked = _asked(arguments)
    if arguments.output is None:
        raise InputError(f"--output: expected where to write, such as --output {arguments.name}.npy")
    check_targets(arguments, ("output",), [arguments.path])
    with warnings_in_one_line(quiet=arguments.quiet, words=str), reporting(arguments.quiet) as report:
        images = convert_as(**asked, output=arguments.output, **given(arguments, "size", "resample"), report=report)
    if not arguments.quiet:
        size = size_text(arguments.output.stat().st_size)
        pixels = " x ".join(map(str, images.shape))
        log(f"demele: {len(images):,} images of {pixels} written to {arguments.output}, {size}")
