"""The stored study of pruning: which way its rows point, as the page on its images says that they should."""

import pandas as pd
import pytest

from demele import lab


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return the fabrics of the stored study."""
    return lab.pruning_demo().to_frame()


def test_every_fabric_ended(frame: pd.DataFrame) -> None:
    assert len(frame) == 3 * 5 * 23
    assert set(frame.status) == {"done"}


def test_whole_fabrics_neither_fail_nor_saturate_and_wrong_labels_cost_them(frame: pd.DataFrame) -> None:
    whole = frame[frame.configuration == "whole"].groupby("noise").error.mean()
    assert 0.05 <= whole["none"] <= 0.20
    assert whole["none"] < whole["visibility 10%"] < whole["visibility 20%"]


def test_averaging_norms_anew_brings_back_some_of_what_pruning_took(frame: pd.DataFrame) -> None:
    means = frame[(frame.noise == "none") & (frame.strategy != "whole")].groupby("configuration")[
        ["raw", "recalibrated"]
    ]
    assert (means.mean().recalibrated <= means.mean().raw).all()


def test_random_is_worse_than_magnitude_where_half_of_the_links_go(frame: pd.DataFrame) -> None:
    found = {
        (one.claim, one.noise): one
        for one in lab.pruning_demo().differences()
        if one.claim == "random-magnitude-recalibrated"
    }
    assert found["random-magnitude-recalibrated", "none"].low > 0
    half = frame[(frame.noise == "none") & (frame.fraction == 0.5)].set_index(["criterion", "seed"]).error
    assert (half["random"] - half["magnitude"]).mean() > 0


def test_what_goes_is_what_was_asked_for_or_less(frame: pd.DataFrame) -> None:
    links = frame[frame.level == "links"]
    pruned = links[links.strategy != "whole"]
    # cascades may drag 5 % of the links beyond
    assert (pruned.links >= 47 - pruned.requested - 2).all()
    assert (pruned.links >= 10).all()
    equal = frame[(frame.fraction == 0.75) & (frame.level != "links")].kept_weights
    assert (abs(equal - 108_288 / 4) <= 1).all()


def test_masks_save_no_multiplication(frame: pd.DataFrame) -> None:
    assert (frame[frame.level == "weights"].training_share == 1).all()
    assert (frame[(frame.level == "links") & (frame.strategy != "whole")].training_share < 1).all()
