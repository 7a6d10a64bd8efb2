"""The bibliography: every paper that demele uses once, by its key, as BibTeX and as text."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

from demele.core.errors import FormatError, InputError, quoted
from demele.core.version import __version__

_FILE = Path(__file__).with_name("bibliography.bib")
#: Kinds of entries, and the fields that each must have.
NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "article": ("author", "title", "journal", "year"),
        "inproceedings": ("author", "title", "booktitle", "year"),
        "phdthesis": ("author", "title", "school", "year"),
        "mastersthesis": ("author", "title", "school", "year"),
        "misc": ("author", "title"),
    }
)
_FORMS = {
    "doi": re.compile(r"10\.\d{4,9}/[^\s{}]+"),
    "eprint": re.compile(r"\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7}"),
    "archiveprefix": re.compile(r"arXiv"),
    "url": re.compile(r"https://[^\s{}]+"),
    "year": re.compile(r"\d{4}"),
}
_HEAD = re.compile(r"@(?P<kind>[a-z]+)\{(?P<key>[A-Za-z][\w:.+-]*),")
_FIELD = re.compile(r"\s*(?P<name>[a-z]+) *= *\{(?P<value>.+)\},?")
_THESES = {"phdthesis": "PhD thesis", "mastersthesis": "Master's thesis"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One work.

    Attributes
    ----------
    key : str
        What papers cite it by.
    kind : str
        One of :data:`NEEDED`.
    fields : mapping of str to str
        In the order of the file, values as LaTeX reads them.
    """

    key: str
    kind: str
    fields: Mapping[str, str]

    @property
    def bibtex(self) -> str:
        """The entry as BibTeX reads it."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    @property
    def label(self) -> str:
        """Authors and year, as a sentence cites them: ``Chen et al. 2018``."""
        families = [plain_text(name.partition(",")[0]) for name in self.fields["author"].split(" and ")]
        who = " & ".join(families) if len(families) < 3 else f"{families[0]} et al."
        return " ".join(part for part in (who, self.fields.get("year")) if part)

    @property
    def link(self) -> str:
        """Where it is found: its DOI, else its arXiv page, else an address; empty if there is none."""
        if "doi" in self.fields:
            return f"https://doi.org/{self.fields['doi']}"
        if "eprint" in self.fields:
            return f"https://arxiv.org/abs/{self.fields['eprint']}"
        return self.fields.get("url", "")

    @property
    def text(self) -> str:
        """The entry as a line of a list of references."""
        get = {name: plain_text(value) for name, value in self.fields.items()}
        where = next((get[name] for name in ("journal", "booktitle", "school", "howpublished") if name in get), "")
        parts = [_THESES.get(self.kind, ""), where]
        volume = get.get("volume", "") + (f"({get['number']})" if "number" in get else "")
        pages = get.get("pages", "")
        parts += [volume + (":" if volume and pages else "") + pages, get.get("note", ""), get.get("year", "")]
        if "eprint" in get:
            parts.append(f"arXiv:{get['eprint']}")
        *names, last = (re.sub(r"^([^,]+), (.+)$", r"\2 \1", name) for name in get["author"].split(" and "))
        who = f"{', '.join(names)} and {last}" if names else last
        title = get["title"] + ("" if get["title"].endswith("?") else ".")
        link = f" {self.link}" if (self.link and "eprint" not in get) or "doi" in get else ""
        return f"{who}. {title} {', '.join(part for part in parts if part)}.{link}"


_ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "c": "\u0327", "v": "\u030c"}
_LETTERS = {r"{\o}": "ø", r"{\ss}": "ß", r"\&": "&"}
_ACCENT = re.compile(r"\{?\\(['`\"^~]|[cv](?=\{))\{?(\\i|[A-Za-z])\}?\}?")


def plain_text(value: str) -> str:
    r"""Return a value of BibTeX without the marks of LaTeX.

    Examples
    --------
    >>> plain_text(r"Sch{\"o}lkopf, {IRS} 1--2"), plain_text(r"Za{\"\i}di, {\'E}cole")
    ('Schölkopf, IRS 1–2', 'Zaïdi, École')
    """

    def accented(found: re.Match[str]) -> str:
        letter = "i" if found[2] == r"\i" else found[2]
        return unicodedata.normalize("NFC", letter + _ACCENTS[found[1]])

    value = _ACCENT.sub(accented, value)
    for written, letter in _LETTERS.items():
        value = value.replace(written, letter)
    return value.replace("--", "–").replace("{", "").replace("}", "")


def parse(text: str) -> tuple[Entry, ...]:
    r"""Read entries, strictly: one field on a line, braces balanced, nothing missing, no key twice.

    Raises
    ------
    FormatError
        With the line that cannot be read, or the field that is missing or wrong.

    Examples
    --------
    >>> (entry,) = parse("@misc{me2020,\n  author = {Me, A.},\n  title = {It},\n  year = {2020},\n}")
    >>> entry.key, entry.label
    ('me2020', 'Me 2020')
    """
    entries: dict[str, Entry] = {}
    blocks = [block for block in re.split(r"(?m)^(?=@)", text) if block.strip().startswith("@")]
    for block in blocks:
        entry = _entry([line.rstrip() for line in block.splitlines() if line.strip() and not line.startswith("%")])
        if entry.key in entries:
            raise FormatError(f"bibliography: the key {entry.key} stands there twice")
        entries[entry.key] = entry
    if not entries:
        raise FormatError(f"bibliography: expected entries such as @misc{{key, ...}}, got {quoted(text)}")
    return tuple(entries.values())


def _entry(lines: list[str]) -> Entry:
    head = _HEAD.fullmatch(lines[0])
    if head is None or head["kind"] not in NEEDED or lines[-1] != "}":
        raise FormatError(f"bibliography: {quoted(lines[0])} is not an entry of kind {', '.join(NEEDED)}")
    key, kind, fields = head["key"], head["kind"], {}
    for line in lines[1:-1]:
        field = _FIELD.fullmatch(line)
        depths = [*accumulate((sign == "{") - (sign == "}") for sign in field["value"])] if field else [-1]
        if field is None or min(depths) < 0 or depths[-1] or field["name"] in fields:
            raise FormatError(f"bibliography: {key}: {quoted(line)} is not a field like 'title = {{A title}},'")
        form = _FORMS.get(field["name"])
        if form is not None and form.fullmatch(field["value"]) is None:
            raise FormatError(f"bibliography: {key}: {quoted(field['value'])} is not a valid {field['name']}")
        fields[field["name"]] = field["value"]
    missing = [name for name in NEEDED[kind] if name not in fields]
    missing += ["archiveprefix"] if "eprint" in fields and "archiveprefix" not in fields else []
    if missing:
        raise FormatError(f"bibliography: {key} has no {' and no '.join(missing)}")
    return Entry(key, kind, MappingProxyType(fields))


@cache
def bibliography() -> Mapping[str, Entry]:
    """Return every bundled entry by its key."""
    return MappingProxyType({entry.key: entry for entry in parse(_FILE.read_text(encoding="utf-8"))})


def referenced(references: Iterable[str]) -> tuple[Entry, ...]:
    """Return the entries of keys, and of whole entries that were given as text, each once.

    Raises
    ------
    InputError
        If a key is not in the bibliography.
    FormatError
        If a text is no entry.
    """
    found: dict[str, Entry] = {}
    for item in references:
        if item.lstrip().startswith("@"):
            found |= {entry.key: entry for entry in parse(item)}
        elif item in bibliography():
            found[item] = bibliography()[item]
        else:
            raise InputError("references", f"no entry has the key {item!r}; give a whole BibTeX entry, from its @ on")
    return tuple(found.values())


def bibtex_of(references: Iterable[str]) -> str:
    """Return entries as BibTeX reads them, a blank line between them."""
    return "\n\n".join(entry.bibtex for entry in referenced(references))


#: What CITATION.cff says, for who has only the package; a test holds that they agree.
_TITLE = "demele: how good is a learned representation, really, and how far can that verdict be trusted?"


def software() -> Entry:
    """Return how demele itself is cited, in this version."""
    fields = {
        "author": "{The demele authors}",
        "title": _TITLE,
        "howpublished": "Python package",
        "note": f"Version {__version__}",
    }
    return Entry("demele", "misc", MappingProxyType(fields))
