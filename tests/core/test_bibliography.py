"""The bibliography: well formed, named by all that rests on it, and of one mind with what is said elsewhere."""

import re
from pathlib import Path
from typing import Any

import pytest

import demele
from demele.classifiers.comparison.methods import METHODS
from demele.core.bibliography import bibliography, bibtex_of, parse, plain_text, referenced, software
from demele.core.errors import FormatError, InputError
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.protocols import PROTOCOLS
from demele.metrics.standalone import WORKS
from tests.refusals import refuses

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src" / "demele" / "core" / "bibliography.bib"
#: All that names works, with what it calls its source.
RESTING: dict[str, Any] = {
    **{f"metric {name}": metric for name, metric in CATALOGUE.items() if metric.is_ours},
    **{f"protocol {name}": protocol for name, protocol in PROTOCOLS.items()},
    **{f"method {name}": method for name, method in METHODS.items()},
}
#: A citation in a sentence.
CITATION = re.compile(r"[A-Z][\w-]+(?: et al\.| & [A-Z][\w-]+)? (?:1[89]|20)\d\d")
#: Named by sentences on intervals and corrections, not by a method.
OF_SENTENCES = {"holm1979simple", "wilson1927probable"}
GOOD = "@misc{me2020,\n  author = {Me, A.},\n  title = {It},\n  year = {2020},\n}"


def test_all_that_rests_on_a_work_cites_it() -> None:
    for named in RESTING:
        item = RESTING[named]
        entries = referenced(item.references)
        assert entries
        if not named.startswith("method"):
            assert item.bibtex == "\n\n".join(entry.bibtex for entry in entries)
        assert {entry.label for entry in entries} == set(CITATION.findall(item.source))


def test_no_work_stands_there_that_nothing_cites() -> None:
    used = {key for item in RESTING.values() for key in item.references}
    used |= {key for keys in WORKS.values() for key in keys}
    assert set(bibliography()) - OF_SENTENCES == used


def test_the_file_is_what_is_written_of_it() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text.partition("\n\n")[2] == bibtex_of(bibliography()) + "\n"
    assert "bibliography.bib" not in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_the_docstring_names_the_work() -> None:
    for name in [name for name, metric in CATALOGUE.items() if metric.is_ours]:
        metric = CATALOGUE[name]
        home = __import__(metric.call.__module__, fromlist=["__doc__"])
        told = re.sub(r"\s+", " ", f"{home.__doc__} {metric.call.__doc__}").replace(" and ", " & ")
        assert referenced(metric.references)[0].label in told.replace(" (2", " 2")


def test_what_is_no_entry_is_refused() -> None:
    for text, problem in [
        (GOOD + "\n\n" + GOOD, "twice"),
        (GOOD.replace("  title = {It},\n", ""), "has no title"),
        (GOOD.replace("{It}", "{It}}"), "is not a field"),
        (GOOD.replace("{It}", "{I}t}"), "is not a field"),
        (GOOD.replace("{It}", "}It{"), "is not a field"),
        (GOOD.replace("{It},\n", "{It},\n  title = {That},\n"), "is not a field"),
        (GOOD.replace("@misc", "@manual"), "is not an entry"),
        (GOOD.removesuffix("}"), "is not an entry"),
        (GOOD.replace("2020},", "2020},\n  doi = {doi.org/10.1/x},"), "is not a valid doi"),
        (GOOD.replace("2020},", "2020},\n  eprint = {arXiv:1802.04942},"), "is not a valid eprint"),
        (GOOD.replace("2020},", "2020},\n  eprint = {1802.04942},"), "no archiveprefix"),
        ("", "expected entries"),
    ]:
        refuses(FormatError, problem, parse, text)


def test_a_metric_of_your_own_brings_its_entry() -> None:
    def spread(codes: object, factors: object) -> float:
        return 1.0

    guards = demele.metrics.Guards(outliers="leave it", bins=False, fewest_rows=1)
    metric = demele.metrics.Metric("mine_cited", spread, guards=guards, references=(GOOD, "chen2018isolating"))
    metric.check()
    assert metric.bibtex.startswith(GOOD + "\n\n@inproceedings{chen2018isolating,")
    for wrong, error in (("chen2019", InputError), ("@misc{me, title = me}", FormatError)):
        with pytest.raises(error):
            demele.metrics.Metric("mine_cited", spread, guards=guards, references=(wrong,)).check()


def test_marks_of_latex_become_letters() -> None:
    for marked, plain in [
        (r"Miladinovi{\'c}, Sch{\"o}lkopf", "Miladinović, Schölkopf"),
        (r"Za{\"\i}di {\c{c}}a \v{S}", "Zaïdi ça Š"),
        (r"{F}-Statistic \& 1--2", "F-Statistic & 1–2"),
    ]:
        assert plain_text(marked) == plain


def test_cite_gives_each_work_once_in_order() -> None:
    text = demele.cite("dmig", "latte", "MIG", "worst-case", "demele", "mig")
    keys = re.findall(r"@\w+\{([\w-]+),", text)
    assert keys == [
        "watcharasupat2021evaluation",
        "watcharasupat2022latte",
        "chen2018isolating",
        "mcnemar1947note",
        "demele",
    ]
    assert demele.cite() == software().bibtex
    assert demele.cite("holm1979simple", format="text") == bibliography()["holm1979simple"].text
    refuses(demele.errors.UnknownNameError, r"did you mean .*'mig'", demele.cite, "migg")
    refuses(InputError, "format", demele.cite, "mig", format="apa")
