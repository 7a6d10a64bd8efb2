"""Sparse probing, splitting and absorption: numbers known by counting, traps, sparse and dense alike, refusals."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray

import demele
from demele.core.arrays import rng_for
from demele.core.columns import read_sparse_codes
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.estimation import concept_probes
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

Array = NDArray[np.float64]
#: Two factors of four values, every pair 100 times; the concept is the upper half of the first.
GRID = np.array([(a, b) for a in range(4) for b in range(4)] * 100, dtype=float)
FIRST, SECOND = GRID.T
UPPER = (FIRST >= 2).astype(int)
ON_TRAINING: dict[str, Any] = {"score_on": "training"}


def parted(*shares: float, n: int = 1000) -> tuple[Array, NDArray[np.int_]]:
    """Codes that fire on these shares of a class, one after the other, and nowhere else; as many rows of the rest."""
    codes = np.zeros((2 * n, len(shares)))
    ends = np.rint(np.cumsum([0, *shares]) * n).astype(int)
    for place, (start, end) in enumerate(itertools.pairwise(ends)):
        codes[start:end, place] = 1.0
    return codes, np.repeat([1, 0], n)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (GRID, {1: 1.0, 2: 1.0}),
        (np.column_stack([FIRST, FIRST, SECOND, SECOND]), {1: 1.0, 2: 1.0}),
        (np.column_stack([FIRST + SECOND, FIRST - SECOND]), {1: 0.5, 2: 1.0}),  # 12 of 16 cells; both together
        (np.zeros((len(GRID), 2)), {1: 0.0, 2: 0.0}),
    ],
)
def test_probes_on_a_grid(codes: Array, expected: dict[int, float]) -> None:
    found = demele.probes.sparse_probing(codes, UPPER, top=(1, 2), **ON_TRAINING)
    assert_close([found.details["by_k"][k] for k in expected], list(expected.values()), ROUNDING)
    assert found.value == found.details["by_k"][1]
    unseen = demele.probes.sparse_probing(codes, UPPER, top=(1, 2)).details["by_k"]
    assert_close(list(unseen.values()), list(expected.values()), {"rtol": 0, "atol": 0.2})


def test_copies_waste_a_place() -> None:
    both = np.column_stack([FIRST, FIRST, SECOND])
    rows = demele.probes.sparse_probing(both, UPPER, top=2, **ON_TRAINING).details["classes"]
    assert rows[0]["codes"] == ("z1", "z2")


def test_codes_that_chance_picks_do_not_score_on_unseen_rows() -> None:
    rng = rng_for(0, "many codes")
    codes, concept = rng.normal(size=(300, 2000)), np.repeat([0, 1], 150)
    rng.shuffle(concept)
    unseen = demele.probes.sparse_probing(codes, concept, top=5, n_permutations=2)
    assert abs(unseen.value) < 0.4
    assert max(map(abs, unseen.chance.values)) < 0.4
    seen = demele.probes.sparse_probing(codes, concept, top=5, n_permutations=2, **ON_TRAINING)
    assert seen.value > 0.3
    assert min(seen.chance.values) > 0.2  # the ranking is made again, so chance knows of it


def test_sums_from_non_zeros_are_those_of_dense_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = rng_for(0, "sums")
    dense = np.where(rng.random((60, 9)) < 0.3, rng.normal(size=(60, 9)), 0.0)
    dense[:, 4], dense[:, 5] = 0.0, np.arange(60) < 20
    inside = np.arange(60) < 20
    monkeypatch.setattr(concept_probes, "MOST_NONZEROS", 20)
    codes = read_sparse_codes(scipy.sparse.csc_array(dense))
    weights = np.column_stack([inside, np.ones(60)]).astype(float)
    sums = concept_probes.column_sums(codes, weights)
    squares = concept_probes.column_sums(codes, weights[:, 1:], squared=True)[:, 0]
    assert_close(sums, dense.T @ weights, ROUNDING)
    ranked, raw = concept_probes.differences(sums[:, 0], 20.0, sums[:, 1], squares, 60.0, "standardised")
    apart = dense[inside].mean(axis=0) - dense[~inside].mean(axis=0)
    assert_close(raw, apart, ROUNDING)
    pooled = np.sqrt((19 * dense[inside].var(axis=0, ddof=1) + 39 * dense[~inside].var(axis=0, ddof=1)) / 58)
    others = [0, 1, 2, 3, 6, 7, 8]
    assert_close(ranked[others], apart[others] / pooled[others], {"rtol": 1e-9, "atol": 1e-9})
    assert (ranked[4], ranked[5]) == (0.0, math.inf)


def test_a_quantity_is_scored_by_its_explained_share() -> None:
    size = rng_for(0, "size").random(2000)
    codes = np.column_stack([size + 0.1, rng_for(1, "size").random(2000)])
    found = demele.probes.sparse_probing(codes, size, kinds="continuous")
    assert found.value == pytest.approx(1.0)
    refuses(NotEnoughData, "at least one categorical factor", demele.probes.splitting, codes, size, kinds="continuous")


@pytest.mark.parametrize(
    ("taken", "split", "full"), [(0.02, 1, 0.02), (0.05, 1, 0.05), (0.058, 1, 0.058), (0.059, 2, 0.0), (0.1, 2, 0.0)]
)
def test_a_single_absorber_is_splitting_beyond_a_share(taken: float, split: int, full: float) -> None:
    """Without false positives F1 rises by t / (2 - t): 0.03 at t = 1 - 0.97 / 1.03 = 0.0583."""
    codes, concept = parted(1 - taken, taken)
    found = demele.probes.absorption(codes, concept, **ON_TRAINING)
    assert_close([found.value, found.details["fraction"], found.details["splitting"]], [full, full, split], ROUNDING)
    assert demele.probes.splitting(codes, concept, **ON_TRAINING).value == split
    row = found.details["classes"][0]
    assert_close(row["f1"][0], 2 * (1 - taken) / (2 - taken), ROUNDING)
    assert "splitting" in found.notes[0].message


def test_shares_of_rows_that_others_carry() -> None:
    """Rows: all own; own 1 of others 4 (t = min(4, 4) = 4: 4/5); silent with one other; silent with four small ones."""
    parts = scipy.sparse.csr_array(
        np.array([[2.0, 0, 0, 0, 0], [1, 2, 1, 1, 0], [0, 3, 0, 0, 0], [0, 0.5, 0.5, 0.5, 0.5], [-1, 0.2, 0, 0, 0]])
    )
    whole = np.asarray(parts.sum(axis=1)).ravel()
    every = np.ones(5, dtype=bool)
    silent = np.array([False, False, True, True, False])
    own = np.array([0])
    found = concept_probes.absorbed(parts, whole, every, own, silent=silent, may_take_all=every, may_take_some=every)
    assert_close([found.full, found.fraction], [1 / 5, (0 + 4 / 5 + 1 + 1 + 0) / 5], ROUNDING)
    assert found.n == 5


def test_a_decoder_counts_with_its_length() -> None:
    """Along u the own code adds 1, the absorber 1 at length 10: its cosine alone, 0.1, would carry a tenth only."""
    codes, concept = parted(0.96, 0.04)
    activations = np.zeros((2000, 2))
    activations[:1000, 0] = 1.0
    decoder = np.array([[1.0, 0.0], [1.02, math.sqrt(100 - 1.02**2)]])
    given: dict[str, Any] = {"decoder": decoder, "activations": activations, **ON_TRAINING}
    assert demele.probes.absorption(codes, concept, **given).value == pytest.approx(0.04)
    slight = {**given, "decoder": np.array([[1.0, 0.0], [1.0, 60.0]])}  # a cosine of 0.017 with the probe
    assert demele.probes.absorption(codes, concept, **slight).value == 0.0


def test_classes_that_probes_do_not_recognise_are_left_out() -> None:
    noise = rng_for(0, "left out").normal(size=(400, 3))
    labels = np.repeat(["a", "b"], 200)
    found = demele.probes.absorption(noise, labels)
    assert math.isnan(found.value)
    assert any(note.code == "unrecognised-class" and note.subject == ("a", "b") for note in found.notes)
    assert [row["codes"] for row in found.details["classes"] if np.isnan(row["splitting"])] == [()]
    rare = demele.probes.sparse_probing(noise, np.array(["a"] * 200 + ["b"] * 197 + ["c"] * 3))
    assert any(note.code == "rare-class" and note.subject == ("c",) for note in rare.notes)


def test_options_that_do_not_fit() -> None:
    flat, deep, short = np.ones((2000, 2)), np.ones((2, 3)), np.ones((3, 2))
    function_cases: Any = [
        ("sparse_probing", {"top": ()}, InputTypeError, "top: expected a number of codes"),
        ("sparse_probing", {"n_rows": 3}, InputError, "n_rows: expected a whole number >= 20"),
        ("absorption", {"decoder": deep}, InputError, "activations: expected decoder and activations"),
        ("absorption", {"decoder": short, "activations": flat}, InputError, "a row for each of the 2 codes, got 3"),
        ("absorption", {"decoder": deep, "activations": flat}, InputError, "as many dimensions, got 3 and 2"),
    ]
    for function, options, error, message in function_cases:
        codes, concept = parted(0.9, 0.1)
        refuses(error, message, getattr(demele.probes, function), codes, concept, **options)
        refuses(InputError, "same number of rows", getattr(demele.probes, function), codes[:-1], concept)


def test_sparse_codes_score_as_dense_ones() -> None:
    codes, concept = parted(0.7, 0.2, 0.05)
    sparse = scipy.sparse.csr_array(codes)
    for function in (demele.probes.sparse_probing, demele.probes.splitting, demele.probes.absorption):
        one, other = function(codes, concept), function(sparse, concept)
        assert_exact(one.value, other.value)
        assert demele.replay(str(other.signature), sparse, concept).value == other.value


def test_a_larger_jump_counts_fewer_codes() -> None:
    codes, concept = parted(0.6, 0.3, 0.1)
    found = [demele.probes.splitting(codes, concept, jump=jump, **ON_TRAINING).value for jump in (0.03, 0.1, 0.5)]
    assert found == [3.0, 2.0, 1.0]


def test_more_codes_than_there_are() -> None:
    found = demele.probes.sparse_probing(GRID, UPPER, top=(1, 9))
    assert [note.message for note in found.notes] == ["k = 9 is more than the codes that differ: probes read 2 of them"]
    assert not demele.probes.sparse_probing(GRID, UPPER, top=(1, 2)).notes
