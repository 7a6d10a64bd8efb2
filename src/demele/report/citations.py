"""What to cite: of metrics, protocols and comparison methods by their names, of anything by its key."""

from collections.abc import Iterable
from typing import Literal, get_args

from demele.classifiers.comparison.methods import METHODS
from demele.core.bibliography import Entry, bibliography, referenced, software
from demele.core.errors import UnknownNameError
from demele.core.kinds import checked_name, suggestion
from demele.metrics.catalogue import CATALOGUE, elsewhere
from demele.metrics.protocols import PROTOCOLS
from demele.metrics.standalone import WORKS

CitationFormat = Literal["bibtex", "text"]
#: The name, and the key, under which demele itself is cited.
SELF = "demele"


def cite(*names: str, format: CitationFormat = "bibtex") -> str:  # noqa: A002 - as pandas and the program call it
    """Return the works to cite, each once.

    Parameters
    ----------
    *names : str
        Metrics (or their aliases), other scores such as ``"udr"``, protocols, comparison methods
        of classifiers, or keys of the bibliography such as those that :meth:`demele.Evaluation.methods` cites.
        ``"demele"``, or none: demele itself.
    format : {"bibtex", "text"}
        Entries for BibTeX, or one line for each work.

    Returns
    -------
    str
        Empty for metrics of others that say nothing of what to cite.

    Raises
    ------
    UnknownNameError
        If the name is unknown, with the nearest names.
    InputError
        If there is no such format.

    Examples
    --------
    >>> import demele
    >>> print(demele.cite("mig"))
    @inproceedings{chen2018isolating,
      author = {Chen, Ricky T. Q. and Li, Xuechen and Grosse, Roger and Duvenaud, David},
      title = {Isolating Sources of Disentanglement in Variational Autoencoders},
      booktitle = {Advances in Neural Information Processing Systems},
      volume = {31},
      year = {2018},
      eprint = {1802.04942},
      archiveprefix = {arXiv},
    }
    """
    checked_name(format, "format", get_args(CitationFormat))
    entries = entries_of(names or (SELF,))
    return (
        "\n\n".join(entry.bibtex for entry in entries)
        if format == "bibtex"
        else "\n".join(entry.text for entry in entries)
    )


def citable_names() -> list[str]:
    """Return all names that can be cited: demele, metrics, other scores, protocols, comparison methods."""
    return [SELF, *CATALOGUE, *WORKS, *PROTOCOLS, *METHODS]


def entries_of(names: Iterable[str]) -> tuple[Entry, ...]:
    """Return the works behind some names, in the order of the names, each once.

    Raises
    ------
    UnknownNameError
    """
    found: dict[str, Entry] = {}
    for name in names:
        found |= {entry.key: entry for entry in _named(name)}
    return tuple(found.values())


def _named(name: str) -> tuple[Entry, ...]:
    if name == SELF:
        return (software(),)
    known = PROTOCOLS.get(name) or METHODS.get(name) or CATALOGUE.find(name)
    if known is not None:
        return referenced(known.references)
    if name in WORKS:
        return referenced(WORKS[name])
    if name in bibliography():
        return (bibliography()[name],)
    hint = elsewhere(name) or suggestion(name, citable_names())
    raise UnknownNameError(f"unknown name {name!r}{hint}")
