"""What the document of an agreement between metrics says: counts, matrices, pairs and published figures."""

from demele import lab
from demele.report.document import Choice, Heat, Table
from demele.report.renderers.terminal import text
from demele.report.words import name
from tests.report.sample_agreement import sample_agreement


def test_the_verdict_counts_significant_pairs_by_their_sign() -> None:
    found = lab.study_demo().agreement()
    document = found.document()
    verdicts = [(one.verdict, one.tau > 0) for one in found.pairs()]
    up, down = verdicts.count(("significant", True)), verdicts.count(("significant", False))
    assert document.headline == (
        f"{up + down} of 136 metric pairs correlate significantly ({up} positively, {down} negatively)."
    )
    assert document.scope == ("17 metrics", "36 configurations")
    assert [section.title for section in document.sections] == ["Measures", "Agreement matrix", "Published results"]
    measures = document.sections[0].shown[0]
    assert isinstance(measures, Table)
    assert [row[:3] for row in measures.rows][:2] == [
        ("All configurations", 36, up + down),
        ("Without collapsed ones", 30, 28),
    ]
    assert max(map(len, text(document).splitlines())) <= 80


def test_a_heat_map_has_a_ring_where_a_pair_is_significant() -> None:
    found = sample_agreement()
    figure = found.document().figure
    assert isinstance(figure, Choice)
    assert list(figure.of) == [
        *("All configurations", "Without collapsed ones", "Permuted factors", "Within groups"),
        *("Published: Cars3D", "Published: SmallNORB"),
    ]
    heat = figure.of["All configurations"][0]
    assert isinstance(heat, Heat)
    assert heat.scale == "both ways"
    shown = [found.metrics[place] for place in found.order]
    assert list(heat.rows) == list(heat.columns)
    for i, one in enumerate(shown):
        for j, other in enumerate(shown):
            if one == other:
                assert heat.values[i][j] is None
                continue
            pair = found.pair(one, other)
            assert heat.values[i][j] == pair.tau or pair.verdict == "undefined"
            assert ((i, j) in heat.rings) == (pair.verdict == "significant")
            assert ((i, j) in heat.struck) == pair.within_null
    printed = figure.of["Published: Cars3D"][0]
    assert isinstance(printed, Heat)
    assert printed.values[printed.rows.index(name("MIG"))][printed.columns.index(name("SAP"))] == 0.04
