"""The page about pruning says what the stored rows say."""

from demele import studies
from demele.report.pruning_view import headline, pruning_view
from tools import docs_pruning
from tools.docs_pages import RESULTS


def test_the_page_is_that_of_the_stored_rows() -> None:
    pages = docs_pruning.pages(RESULTS)
    page, content = pages[docs_pruning.PAGE], studies.pruning_demo().to_dict()
    view = pruning_view(content)
    assert str(headline(view)) in page
    assert len(pages[docs_pruning.STUDY]) < 1_500_000
    assert docs_pruning.PAGE in docs_pruning.reference(RESULTS)
    for claim in view.claims.values():
        assert claim["says"] in page
    frame = studies.pruning_demo().to_frame()
    whole = frame[(frame.configuration == "whole") & (frame.noise == "none")].error
    assert f"| whole | {100 * whole.mean():.1f} ± {100 * whole.std() / 5**0.5:.1f} |" in page
