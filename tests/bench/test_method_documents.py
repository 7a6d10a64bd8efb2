"""What the document of a comparison of methods says, and the files that hold its figures."""

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from demele import bench
from demele.bench.comparisons.method_documents import COLOURS
from demele.report.document import Choice, Images, Lines, Strips
from demele.report.renderers.tables import figures_of
from demele.report.words import name
from tests.bench.sample_comparisons import measured


def outcomes(png: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    """Return the outcomes that the colours of an image mean."""
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT")
    (size,) = struct.unpack(">I", png[start - 4 : start])
    lines = np.frombuffer(zlib.decompress(png[start + 4 : start + 4 + size]), dtype=np.uint8)
    colours = lines.reshape(height, 3 * width + 1)[:, 1:].reshape(height, width, 1, 3)
    same = (colours == COLOURS).all(axis=3)
    return np.asarray(same.argmax(axis=2), dtype=np.intp)


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


def test_the_table_holds_the_tallies_of_one_rate() -> None:
    found = measured()
    for at in (0.02, 0.2):
        table = replace(found, at=at).document().table
        assert table is not None
        for row, method in zip(table.rows, found.contenders, strict=True):
            one = found.tally(method, at)
            assert (row[0], row[1], row[6]) == (name(found.contenders[method][0]), one.type_1 / 100, one.reversed)
            assert row[3] == 1 - one.type_2 / 100


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


def test_images_show_the_outcome_of_every_pair_by_accuracy() -> None:
    found = measured()
    order = np.argsort(found.accuracies)
    images = [one for one in figures_of(found.document()) if isinstance(one, Images)]
    assert len(images) == len(found.contenders)
    ((_, of_rates),) = images[0].rows
    assert len(of_rates) == 3
    assert (outcomes(of_rates[2][1]) == found.matrix("overlap", 0.2)[np.ix_(order, order)]).all()
    assert len(COLOURS) == 5


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


def test_every_figure_is_written_as_a_picture(tmp_path: Path) -> None:
    paths = only(measured(), 0.05).to_pictures(tmp_path / "new", formats=("svg",))
    names = [path.name for path in paths]
    assert {"errors-at-5-wrong-labels-accuracy.svg", "outcomes-overlap.svg"} < set(names)
