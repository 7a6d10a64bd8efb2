"""``demele cite``: what to cite for what was used."""

from functools import partial
from typing import Any

from demele.cli.engine import Command, Given
from demele.core.errors import InputError
from demele.report.citations import citable_names, cite


def _read(given: Given, *, all: bool = False) -> "partial[Any]":  # noqa: A002 - as the option
    """Read names.

    Parameters
    ----------
    all : bool
        Everything that can be cited by a name.
    """
    if all and given.files:
        raise InputError("--all: names are given too; leave out one of them")
    return given.bind(cite, *(citable_names() if all else given.files))


CITE = Command(
    {"": cite},
    ("NAME...", "--all"),
    lambda given: given.call(_read, given),
    short="all format",
    readers=(_read,),
    details="Print what to cite for metrics, protocols and comparison methods, each work once.",
    examples="""\
demele cite mig irs
demele cite mig irs review2022 demele -o used.bib
demele cite worst-case --format text
""",
)
