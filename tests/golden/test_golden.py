"""What the rebuilt house gives is what it gave before: to the bit, message for message."""

import pytest

from tests.golden.groups import GROUPS
from tests.golden.kept import differences, why_not


@pytest.mark.parametrize("name", GROUPS)
def test_outcomes_are_those_kept(name: str) -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    found = differences(name)
    assert not found, "\n".join([f"{len(found)} differences", *found[:40]])
