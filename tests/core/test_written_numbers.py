"""Numbers that came as text, and names of rows, are refused where classes are detected: never scored without a word."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import demele
from demele.core.errors import InputError
from demele.core.inputs import read_codes, read_factors
from demele.core.written_numbers import separated
from tests.refusals import refuses

RNG = np.random.default_rng(0)
VALUES = RNG.random(60)
COMMAS = [f"{value:.3f}".replace(".", ",") for value in VALUES]


@pytest.mark.parametrize(
    "column",
    [
        COMMAS,
        np.array(COMMAS),
        np.array(COMMAS, dtype=object),
        pd.DataFrame({"v1": COMMAS}),
        pd.DataFrame({"v1": pd.Categorical(COMMAS)}),
        pl.DataFrame({"v1": COMMAS}),
    ],
    ids=["list", "strings", "objects", "pandas", "categorical", "polars"],
)
def test_decimal_commas_are_refused_whatever_they_come_in(column: Any) -> None:
    with pytest.raises(
        InputError, match=f"column 'v1' holds numbers with a decimal comma.*first '{COMMAS[0]}' at row 0"
    ):
        read_factors(column)
    assert read_factors(column, kinds="categorical").columns[0].categorical


@pytest.mark.parametrize(
    "written",
    [
        [f"{value:,}" for value in range(900, 1500, 10)],  # 900, 1,010
        [f"{value:,}".replace(",", " ") for value in range(900, 1500, 10)],
        [f"{value:,}".replace(",", "\u202f") for value in range(900, 1500, 10)],
        [f"1.{value}.000,5" for value in range(100, 160)],
        [f"{value} %" for value in range(60)],
        ["0.5", "0,5"] * 30,
        [*COMMAS[:40], *["unknown"] * 20],
    ],
)
def test_other_ways_to_write_numbers_are_refused(written: list[str]) -> None:
    refuses(InputError, "would be read as classes", read_factors, written)


def test_plain_numbers_as_text_are_refused_and_whole_ones_are_classes() -> None:
    refuses(InputError, r"numbers as text, first '0\.\d+' at", lambda: read_factors([str(value) for value in VALUES]))
    refuses(InputError, "numbers as text", read_factors, ["lost", *[str(value) for value in VALUES]])
    assert read_factors([str(index % 10) for index in range(60)]).columns[0].levels == tuple("0123456789")


@pytest.mark.parametrize(
    "words", [["a,b", "c,d"], ["v1.0.2", "v2.1.3"], ["1,2,3", "2,3,4"], ["red", "0,5", "blue", "green"]]
)
def test_words_with_commas_and_dots_are_classes(words: list[str]) -> None:
    assert len(read_factors(words * 15).columns[0].levels) == len(words)


def test_names_of_rows_are_no_factor() -> None:
    files = [f"images/{row:05d}.png" for row in range(60)]
    refuses(InputError, r"60 different values in 60 rows, such", lambda: read_factors(pd.DataFrame({"file": files})))
    nearly = [*files[:50], *files[:10]]
    refuses(InputError, "50 different values in 60 rows", read_factors, nearly)
    declared = read_factors(files, kinds="categorical")
    assert declared.columns[0].categorical
    assert "each of its 60 rows has its own class" in declared.ambiguous[0]
    assert not read_factors(nearly, kinds="categorical").ambiguous
    with pytest.raises(InputError, match="like an identifier"):
        demele.evaluate(RNG.random((60, 2)), pd.DataFrame({"file": files, "size": VALUES}), "mig")


def test_batches_and_rows_read_a_piece_at_a_time_are_held_to_the_same(tmp_path: Any) -> None:
    codes = RNG.random((60, 2))
    files = [f"{row}.png" for row in range(60)]
    for column, said in ((COMMAS, "decimal comma"), (files, "like an identifier")):
        refuses(InputError, said, demele.bins.BinEdges.of, codes, column)
        with pytest.raises(InputError, match=said):
            demele.Accumulator("mig").update(codes, column).compute()
        pd.DataFrame({"z": codes[:, 0], "v": column}).to_parquet(tmp_path / "rows.parquet", row_group_size=7)
        own, factors = (demele.scan_parquet(tmp_path, name) for name in ("z", "v"))
        refuses(InputError, said, demele.evaluate, own, factors, "mig")


IDS = RNG.permutation(60) * 7919


@pytest.mark.parametrize("column", [pd.Categorical(IDS), pd.Categorical(IDS / 7), pd.Categorical(IDS.astype(str))])
def test_a_categorical_type_makes_no_classes_of_row_numbers(column: Any) -> None:
    """The rule is one for every call: one would do, but each comes to the door by a way of its own."""
    codes, factors = RNG.random((60, 2)), pd.DataFrame({"id": column, "size": VALUES})
    sparse = scipy.sparse.csr_array(codes)
    for call in (
        lambda: demele.evaluate(codes, factors, "mig"),
        lambda: demele.metrics.mig(codes, factors),
        lambda: demele.metrics.sap(codes, factors),
        lambda: demele.evaluate_sparse(sparse, factors, "mig"),
        lambda: demele.bins.BinEdges.of(codes, factors),
    ):
        refuses(InputError, r"'id' holds 60 different values in 60 rows.*leave the column out", call)


def test_no_number_and_no_word_is_mistaken() -> None:
    assert not any(separated(f"{value:.4g}") for value in RNG.normal(size=200) * 1e4)
    assert all(separated(f"{value:.3f}".replace(".", ",")) for value in RNG.normal(size=200) * 1e4)
    assert not any(separated(word) for word in ("", ",", "a", "1,", "12a", "1e5", "2020-01-01", "12:30", "1/2", "0x1f"))


def test_codes_say_how_their_commas_can_be_read() -> None:
    refuses(InputError, r"column 'z1'.*at row 0; write numbers with a", read_codes, [[text] for text in COMMAS])


@pytest.mark.filterwarnings("ignore::demele.core.errors.FragileScoreWarning")
def test_declared_classes_that_each_occur_once_are_told_of_pieces_too(tmp_path: Any) -> None:
    files = [f"{row}.png" for row in range(60)]
    pd.DataFrame({"z": RNG.random(60), "file": files}).to_parquet(tmp_path / "rows.parquet", row_group_size=7)
    own, factors = (demele.scan_parquet(tmp_path, name) for name in ("z", "file"))
    with pytest.warns(demele.errors.AmbiguousKindWarning, match="each of its 60 rows has its own class"):
        demele.evaluate(own, demele.Factors(factors, kinds={"file": "categorical"}), "mig_sup")
