"""What the document of a comparison of methods says, and the files that hold its figures."""

from demele.report.words import name
from tests.bench.sample_comparisons import measured


def test_the_verdict_counts_methods_without_type_one_errors() -> None:
    found, document = measured(), measured().document()
    free = {method for method in found.contenders if not found.table("n_type_1").loc[method].any()}
    assert document.headline.startswith(f"{len(free)} of 5 methods make no type I error at any noise rate; ")
    share = found.tally("overlap", 0.05).type_1
    assert f"interval overlap makes {share:.1f}% with 5% wrong labels." in document.headline
    assert document.title == name("Error rates of comparison methods")
    assert [section.title for section in document.sections] == ["Measures", "Pairwise results", "Curves"]
