"""Documents of fabrics and of trainings: what they say is what was counted."""

from typing import Any

import pandas as pd
import pytest

from demele.core.errors import InputError, InputTypeError
from demele.lab import Fabric, benchmark
from demele.report.document import Table
from tests.models.fabrics import small, trained


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """Of 16 links and 32 channels some are gone, and half of the remaining weights are masked."""
    fabric = trained(2)
    fabric.prune("links", 0.3, "magnitude")
    fabric.prune("channels", 0.9, "magnitude", round_to=2)
    fabric.prune("weights", 0.5, "magnitude")
    return fabric


@pytest.fixture(scope="module")
def times(fabric: Fabric) -> pd.DataFrame:
    """The whole fabric, this one, and another."""
    other = trained(2)
    other.prune("links", 0.1, "magnitude")
    found = benchmark({"whole": trained(1), "this": fabric, "other": other}, batch=2, n_repeats=1)
    return found.assign(forward_gain=[1.0, 4.4, 4.0])


def test_a_report_says_what_is_left_and_what_that_gained(fabric: Fabric, times: pd.DataFrame) -> None:
    report = fabric.report(timings=times, errors={"before": 0.25, "pruned": 0.5}, images=40)
    document, now = report.document(), fabric.counts()
    gain = report.whole.multiply_adds / now.multiply_adds
    masked = fabric.prunings[-1]
    assert report.sentence == (
        f"Pruning by magnitude removed {masked['removed']} of {masked['total']} weights; the fabric needs {gain:.1f} "
        "times fewer multiplications than the whole one."
    )
    assert report.sentences[1:] == (
        f"The fabric keeps {now.links} of 16 links and {now.parameters / report.whole.parameters:.0%} of the "
        "parameters.",
        "50% of the remaining weights are masked, which saves no time.",
        "Error on held-out images: 25.0% (before) and 50.0% (pruned).",
        "Compared with whole, a forward pass is 4.4 times as fast.",
    )
    assert isinstance(document.table, Table)
    assert document.table.rows[0] == ("Links", 16, now.links, now.links / 16)
    assert [note.text for note in document.notes] == [one["limit"] for one in fabric.prunings if one["limit"]]
    (first, _) = report.errors
    assert first.interval is not None
    assert (round(first.interval.low, 3), round(first.interval.high, 3)) == (0.142, 0.402)  # Wilson, by hand
    assert [section.title for section in document.sections] == ["Measures", "Structure", "Training", "Data"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"timings": {"forward_ms": 1}}, InputTypeError, "timings: expected the table of demele.lab.benchmark"),
        ({"errors": {"before": 0.5}, "images": 0}, InputError, "images: expected"),
        ({"errors": {"before": 12}}, InputError, r"errors: expected a share of the images in \[0, 1\], got 12"),
    ],
)
def test_a_report_refuses_other_errors_and_times(given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        small().report(**given)
