"""``demele cite``."""

import demele as library
from demele.core.bibliography import bibliography, parse, software
from tests.cli.conftest import Program


def test_names_of_every_kind(demele: Program) -> None:
    run = demele("cite", "mig", "irs", "dlib2019", "sequential")
    assert run.status == 0
    assert run.err == ""
    assert [entry.key for entry in parse(run.out)] == [
        *("chen2018isolating", "suter2019robustly", "locatello2019challenging"),
        *("waudbysmith2020confidence", "waudbysmith2024estimating"),
    ]
    assert run.out == library.cite("mig", "irs", "dlib2019", "sequential") + "\n"


def test_all_and_none(demele: Program) -> None:
    everything = {entry.key for entry in parse(demele("cite", "--all").out)}
    assert everything == {*bibliography(), "demele"} - {"holm1979simple", "wilson1927probable"}
    assert demele("cite").out == software().bibtex + "\n"
    assert "expected [NAME...] or --all, got 1 file" in demele("cite", "--all", "mig").err


def test_text(demele: Program) -> None:
    lines = demele("cite", "mig", "sap", "--format", "text").out.splitlines()
    assert [line.partition(". ")[0] for line in lines] == [
        "Ricky T",
        "Abhishek Kumar, Prasanna Sattigeri and Avinash Balakrishnan",
    ]


def test_unknown_names_are_refused_with_the_nearest(demele: Program) -> None:
    run = demele("cite", "explicitnes")
    assert run.status == 2
    assert run.out == ""
    assert run.err.startswith("demele: error: unknown name 'explicitnes'; did you mean 'explicitness'")
