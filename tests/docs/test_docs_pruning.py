"""The page about pruning holds what the stored rows give."""

from demele import lab
from tools import docs_pruning
from tools.docs_pages import RESULTS


def test_the_page_is_that_of_the_stored_rows() -> None:
    pages = docs_pruning.pages(RESULTS)
    page, study = pages[docs_pruning.PAGE], lab.pruning_demo()
    assert f"**{study.sentence}**" in page
    assert len(pages[docs_pruning.STUDY].encode()) < 1_000_000
    assert docs_pruning.PAGE in docs_pruning.reference(RESULTS)
    found = study.differences_frame().set_index(["claim", "noise"])["mean"]
    mean = f"{100 * found['early-late', 'all']:.1f}".replace("-", "\u2212")
    assert f"| early minus late | inconclusive | &gt; 0 | {mean} |" in page
