"""``demele cite``: what to cite for what was used."""

from demele.cli.engine import Call, Command, Given
from demele.report.citations import citable_names, cite


def _read(given: Given, *, all: bool = False) -> Call:  # noqa: A002 - as the option
    """Read names.

    Parameters
    ----------
    all : bool
        Everything that can be cited by a name.
    """
    return given.bind(cite, *(citable_names() if all else given.files))


CITE = Command(
    {"": cite},
    ("[NAME...]", "--all"),
    lambda given: given.call(_read, given),
    short="all format",
    readers=(_read,),
    examples="""\
demele cite mig irs
demele cite mig irs review2022 demele -o used.bib
demele cite worst-case --format text
""",
)
