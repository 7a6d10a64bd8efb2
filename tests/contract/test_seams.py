"""The two seams of a source: the one place where counts become information, and the same rows under other codes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.core.errors import InputError, NotEnoughData
from demele.core.inputs import read_pair
from demele.core.results import Evaluation
from demele.estimation.counts import JointCounts
from demele.estimation.information import Correction, InformationTable
from demele.metrics.options import Run
from demele.metrics.protocols import protocol
from demele.metrics.request import chosen_metrics, requests_of
from demele.metrics.run import evaluation
from demele.metrics.source import InMemory, Source, Subject
from demele.streaming.source import Counted
from tests.refusals import refuses
from tests.tolerances import assert_exact

#: Metrics read off a table of a single code's informations, which any source of counts has.
NAMES = ["mig", "mig_sup", "modularity", "jemmig", "dmig"]
_RNG = np.random.default_rng(2)
FACTORS = _RNG.random((150, 2))
CODES = np.column_stack([FACTORS, _RNG.random(150)]) + 0.05 * _RNG.standard_normal((150, 3))
OUTLYING = CODES.copy()
OUTLYING[4] = 500.0
INFORMATION = np.array([[1.0, 0.2], [0.3, 0.7], [0.1, 0.4]])
ENTROPY = np.array([1.5, 1.2])


def known(draws: tuple[int, ...], between: bool) -> InformationTable:
    """Return the same table, whatever was counted, once for each draw."""

    def each(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.broadcast_to(values, (*draws, *values.shape)).copy()

    joint = 2.0 + ENTROPY - INFORMATION
    pairs = np.array([[1.5, 0.1], [0.1, 1.2]])
    return InformationTable(
        each(INFORMATION), each(ENTROPY), each(joint), each(pairs) if between else None, np.array([10, 10, 10])
    )


class _Known:
    """Overrides the seam, and nothing else."""

    def information(self, counts: JointCounts, correction: Correction) -> InformationTable:
        return known(counts.tables[0].shape[:-3], bool(counts.factor_tables))


class KnownInMemory(_Known, InMemory):
    pass


def subject_of(codes: Any = CODES) -> Subject:
    return Subject.of(*read_pair(codes, FACTORS))


def found_of(source: Source, **run: Any) -> Evaluation:
    settings = protocol("review2022")
    return evaluation(
        requests_of(chosen_metrics(NAMES), settings, {}),
        source,
        Run(**run),
        protocol=settings.name,
        name="codes",
        named=True,
    )


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_one_information_is_the_value_the_interval_the_chance_and_every_probe() -> None:
    found = found_of(KnownInMemory(subject_of(OUTLYING)), n_bootstrap=6, n_permutations=4)
    for score in found:
        assert score.interval.low == pytest.approx(score.value, abs=1e-12)
        assert score.interval.high == pytest.approx(score.value, abs=1e-12)
        assert set(score.chance.values) == {score.value}
        assert not {note.code for note in score.notes} & {"crowded-bins", "tied-codes", "few-rows"}
    assert_exact(found["mig"].value, float(np.mean([0.7 / 1.5, 0.3 / 1.2])))
    probed = found_of(InMemory(subject_of(OUTLYING)))
    assert "crowded-bins" in {note.code for note in probed["mig"].notes}, "the probe is asked for on these rows"


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_counts_under_a_frame_go_through_the_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {score.metric: score.value for score in found_of(KnownInMemory(subject_of()))}
    held = demele.Accumulator(NAMES, frame=demele.bins.BinEdges.of(CODES, FACTORS)).update(CODES, FACTORS)
    monkeypatch.setattr(Counted, "information", _Known.information)
    for score in held.compute():
        assert_exact(score.value, expected[score.metric])


# Other codes of the same rows ---------------------------------------------------------------------------------------


def _numbers(found: Evaluation) -> Iterator[Any]:
    for score in found:
        yield score.metric, score.value.hex(), score.interval, score.chance
        yield None if score.matrix is None else score.matrix.to_numpy().tobytes()
        yield [note.message for note in score.notes]


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_rotating_a_source_is_rotating_first() -> None:
    rotation, _ = np.linalg.qr(_RNG.standard_normal((3, 3)))
    rotated = InMemory(subject_of()).transformed(rotation, ("z1", "z2", "z3"))
    first = InMemory(subject_of(CODES @ rotation))
    one, other = (found_of(source, n_bootstrap=5, n_permutations=3) for source in (rotated, first))
    assert list(_numbers(one)) == list(_numbers(other))
    assert one.code_names == other.code_names


def test_standard_deviations_cannot_be_rotated() -> None:
    source = InMemory(subject_of(), np.full(CODES.shape, 0.1))
    refuses(InputError, r"std: .*single codes say nothing of mixed", source.transformed, np.eye(3), ("a", "b", "c"))


def test_sources_without_rows_refuse_other_codes() -> None:
    frame = demele.bins.BinEdges.of(CODES, FACTORS)
    with pytest.raises(NotEnoughData, match="an accumulator with a frame has no rows in memory to transform"):
        Counted(frame).transformed(np.eye(3), ("a", "b", "c"))
