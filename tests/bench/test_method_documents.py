"""What the document of a comparison of methods says, and the files that hold its figures."""

from dataclasses import replace

import numpy as np

from demele import bench
from demele.report.document import Choice, Lines, Strips
from demele.report.words import name
from tests.bench.sample_comparisons import measured


def only(found: bench.MethodComparison, noise: float) -> bench.MethodComparison:
    """Return a measurement at one of its noise rates."""
    columns = tuple(column for column in found.columns if column.wanted == noise)
    return replace(found, columns=columns, tallies=tuple(one for one in found.tallies if one.noise == noise))


def test_the_verdict_counts_methods_without_type_one_errors() -> None:
    found, document = measured(), measured().document()
    free = {method for method in found.contenders if not found.table("n_type_1").loc[method].any()}
    assert document.headline.startswith(f"{len(free)} of 5 methods make no type I error at any noise rate; ")
    share = found.tally("overlap", 0.05).type_1
    assert f"interval overlap makes {share:.1f}% with 5% wrong labels." in document.headline
    assert document.title == name("Error rates of comparison methods")
    assert [section.title for section in document.sections] == [
        *("Measures", "Pairwise results", "Curves", "Published results")
    ]


def test_curves_have_the_errors_at_every_rate_and_bars_stand_for_a_single_one() -> None:
    found = measured()
    figure = found.document().figure
    assert isinstance(figure, Choice)
    ((lines,), _) = figure.of.values()
    assert isinstance(lines, Lines)
    overlap = lines.lines[0]
    assert list(overlap.x) == [0.02, 0.05, 0.2]
    assert list(overlap.y) == [found.tally("overlap", rate).type_1 / 100 for rate in overlap.x]
    single = only(found, 0.05).document()
    assert isinstance(single.figure, Strips)
    power, error = (mark.at for mark in single.figure.rows[0].marks)
    assert power == 1 - found.tally("overlap", 0.05).type_2 / 100
    assert error == found.tally("overlap", 0.05).type_1 / 100
    assert "with 5% wrong labels" in single.headline


def test_methods_that_all_err_and_single_methods_have_their_own_verdicts() -> None:
    found = measured()
    alone = replace(
        found,
        contenders={"overlap": found.contenders["overlap"]},
        tallies=tuple(one for one in found.tallies if one.method == "overlap"),
    )
    assert alone.document().headline == f"{name('overlap')} makes type I errors here."
    erring = replace(found, tallies=tuple(replace(one, n_type_1=1) for one in found.tallies))
    assert erring.document().headline.startswith("Every method makes type I errors; interval overlap makes ")


def test_indicators_are_a_dot_for_each_classifier_in_a_row_for_each_class() -> None:
    """F_c of all classes, then F_n, then F_r; what is not defined has no dot."""
    values = np.linspace(0, 1, 8 * 15).reshape(8, 15)
    values[2, 7] = np.nan
    found = replace(measured(), indicators=values)
    (section,) = [one for one in found.document().sections if one.title == "Indicators of the classifiers"]
    (figure,) = section.blocks
    assert isinstance(figure, Strips)
    assert len(figure.rows) == 15
    assert [mark.at for mark in figure.rows[0].marks] == values[:, 0].tolist()
    assert len(figure.rows[7].marks) == 7
    assert figure.rows[7].name.startswith("F_n")
    assert {mark.series for mark in figure.rows[14].marks} == {2}
    assert found.to_dict()["indicators"][2][7] is None
