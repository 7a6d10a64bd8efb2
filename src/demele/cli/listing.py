"""``demele list``, ``cite``, ``doctor`` and ``completion``: what there is, and what files hold."""

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from demele.cli import main
from demele.cli.engine import Call, Command, Given, parser_of
from demele.core.arrays import pd
from demele.core.kinds import checked_name
from demele.core.lazy import require
from demele.core.result import Result, about
from demele.doctor import doctor
from demele.report.citations import citable_names, cite
from demele.report.document import Document
from demele.report.listing import table_of_frame


@dataclass(frozen=True, repr=False)
class Listing(Result):
    """What there is of one kind: a row each."""

    _kind = "list"

    what: str
    rows: tuple[Mapping[str, Any], ...]
    shown: tuple[str, ...] = field(metadata={"json": False})

    def to_frame(self) -> "pd.DataFrame":
        """Return everything, a row each."""
        return pd.DataFrame(list(self.rows)).convert_dtypes()

    def document(self) -> Document:
        """Return the most important columns."""
        table, _ = table_of_frame(self.what, self.to_frame()[list(self.shown)])
        more = "--format json has everything."
        return Document(
            kind="List",
            title=self.what,
            headline=f"{len(self.rows)} {self.what}.",
            sentences=[more],
            table=replace(table, first=len(self.rows)),
            **about(self),
        )


def list_metrics() -> Listing:
    """List the metrics: what each measures, its range and its source."""
    import demele

    rows = []
    for name in demele.list_metrics():
        spec = demele.metrics.describe(name)
        low, high = (end if math.isfinite(end) else None for end in spec.range)
        span = " to ".join(dict.fromkeys("any" if end is None else f"{end:g}" for end in (low, high)))
        source = spec.source.replace(";", ",").replace(" (", ",").partition(",")[0]
        measures = "holistic" if len(spec.properties) > 1 else next(iter(spec.properties), "-")
        rows.append({**spec.facts(), "measures": measures, "range": span, "low": low, "high": high, "by": source})
    return Listing("metrics", tuple(rows), ("name", "measures", "range", "by"))


def list_protocols() -> Listing:
    """List the protocols: named settings of the metrics."""
    from demele.metrics.protocols import PROTOCOLS

    rows = [{"name": item.name, "summary": item.summary, "source": item.source} for item in PROTOCOLS.values()]
    return Listing("protocols", tuple(rows), ("name", "summary"))


def list_methods() -> Listing:
    """List the methods that compare classifiers."""
    from demele.classifiers.comparison.methods import METHODS

    rows = [{"name": name, "title": method.title, "source": method.source} for name, method in METHODS.items()]
    return Listing("methods", tuple(rows), ("name", "title"))


def list_datasets() -> Listing:
    """List the data sets of images: drawn, and read from your files."""
    from demele.data import describe, image_set_names

    rows = []
    for one in map(describe, image_set_names()):
        first = one.variants[0]
        rows.append(
            {
                "name": one.name,
                "title": one.title,
                "drawn": one.drawn,
                "images": first.n,
                "pixels": None if first.shape is None else " x ".join(map(str, first.shape)),
                "factors": " ".join(factor.name for factor in first.factors),
                "variants": " ".join(variant.name for variant in one.variants if variant.name),
                "licence": one.licence,
            }
        )
    return Listing("data sets", tuple(rows), ("name", "title", "images", "licence"))


Metrics, Protocols, Methods, Datasets = (
    type("List", (Command,), {"__doc__": listed.__doc__, "functions": {"": listed}})
    for listed in (list_metrics, list_protocols, list_methods, list_datasets)
)


# ``demele cite``: what to cite for what was used ----------------------------------------------------------------------


class Cite(Command):
    """What to cite for metrics, protocols and methods.

    Examples
    --------
    demele cite mig irs
    demele cite mig irs review2022 demele -o used.bib
    demele cite worst-case --format text
    """

    functions: ClassVar = {"": cite}
    usage = ("[NAME...]", "--all")
    short = "all format"

    def _run(self, given: Given, *, all: bool = False) -> Call:  # noqa: A002 - as the option
        """Read names.

        Parameters
        ----------
        all : bool
            Everything that can be cited by a name.
        """
        return given.bind(cite, *(citable_names() if all else given.files))


# ``demele doctor``: what files hold, and which commands can use them --------------------------------------------------


class Doctor(Command):
    """Say what a file holds, and what can use it.

    Tables, arrays, logs and results of evaluations, audits, sheets, fabrics, Python files, or folders of logs. Nothing
    in them is run. A file that is broken is refused with the reason.

    Examples
    --------
    demele doctor results.json
    demele doctor codes.npz labels.csv --format json
    """

    functions: ClassVar = {"": doctor}
    usage = ("FILE...",)
    without = "files"
    called: ClassVar = {"files": "FILE"}

    def _run(self, given: Given) -> Call:
        return given.bind(doctor, given.files)


# ``demele completion`` ------------------------------------------------------------------------------------------------

SHELLS = ("bash", "zsh", "tcsh")


def completion(shell: str) -> str:
    """Return the script of a shell."""
    checked_name(shell, "shell", SHELLS)
    shtab = require("shtab", purpose="completion in a shell")
    root = argparse.ArgumentParser(prog="demele")
    groups: dict[str, Any] = {"": root.add_subparsers()}
    for name, (_, said) in main.COMMANDS.items():
        *outer, last = name.split()
        group = ""
        for word in outer:
            above, group = group, f"{group} {word}".strip()
            if group not in groups:
                groups[group] = groups[above].add_parser(word, help=main.ABOUT[group]).add_subparsers()
        parser = parser_of(main.found(name), name, groups[group].add_parser(last, help=said))
        for action in parser._actions:
            action.choices = getattr(getattr(action, "kind", None), "words", None) or None
            if action.dest == "files" or str(action.metavar).startswith("FILE"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab reads it
    return str(shtab.complete(root, shell=shell))


class Completion(Command):
    """Print a script with which a shell completes commands.

    Open a new shell afterwards. Needs the extra completion: pip install 'demele[completion]'

    Examples
    --------
    demele completion bash > ~/.local/share/bash-completion/completions/demele
    demele completion zsh > ~/.zfunc/_demele     (a folder of $fpath)
    demele completion tcsh > ~/.demele.completion.tcsh     (source it in ~/.tcshrc)
    """

    functions: ClassVar = {"": completion}
    usage = ("bash|zsh|tcsh",)
    without = "shell"
    called: ClassVar = {"shell": "completion"}
