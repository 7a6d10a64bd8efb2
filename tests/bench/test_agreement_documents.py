"""What the document of an agreement between metrics says: counts, matrices, pairs and published figures."""

from demele import lab
from demele.report.document import Table
from demele.report.renderers.terminal import text


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
