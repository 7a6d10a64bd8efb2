"""Hostile inputs for the suite, the corpus of those that were found, and a process whose memory is measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import arguments, made
from tests.fuzz.generate import MADE, Input, generated
from tests.fuzz.heavy import HEAVY
from tests.fuzz.worker import tried

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.json"))
#: Inputs that the suite reads; ``make fuzz`` reads others for an hour.
N_BLOCKS, N_PER_BLOCK = 5, 20


@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_what_was_found_once_stays_mended(path: Path) -> None:
    found = tried(Input.from_json(path.read_text(encoding="utf-8")))
    assert found.outcome in ("done", "refused"), found.told


def test_the_corpus_is_small() -> None:
    assert CORPUS
    assert max(path.stat().st_size for path in CORPUS) < 4096


@pytest.mark.parametrize("block", range(N_BLOCKS))
def test_hostile_inputs_end_in_one_line(block: int) -> None:
    for number in range(block * N_PER_BLOCK, (block + 1) * N_PER_BLOCK):
        one = generated(2026, number)
        found = tried(one)
        assert found.outcome in ("done", "refused"), f"{number}: {one.call}: {found.told}"  # the machine may be slow


def test_the_same_numbers_make_the_same_inputs() -> None:
    again = [generated(5, number).to_json() for number in range(30)]
    assert again == [generated(5, number).to_json() for number in range(30)]
    assert Input.from_json(again[0]).to_json() == again[0]


def test_what_is_made_where_it_is_read_is_known() -> None:
    assert set(MADE) == set(made.KINDS)


def test_every_public_function_is_called() -> None:
    called = set(arguments.public())
    assert {"demele.evaluate", "demele.classifiers.compare", "demele.labels.clean", "demele.lab.load_vae"} <= called
    assert len(called) > 150


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_another_result_of_the_same_values_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of forms can fail: a function that looks at the layout of its arguments is found."""
    arguments.check_same(1)
    odd = {"layout": (lambda codes: type(codes).__name__, ("codes",))}
    monkeypatch.setattr(arguments, "SAME", odd)
    arguments._expected.cache_clear()
    try:
        outcomes = [_is_shifted(seed) for seed in range(20)]
    finally:
        arguments._expected.cache_clear()
    assert any(outcomes)


def _is_shifted(seed: int) -> bool:
    try:
        arguments.check_same(seed)
    except arguments.Shifted:
        return True
    return False


@pytest.mark.parametrize("name", HEAVY)
def test_small_files_that_declare_much_take_little(name: str) -> None:
    """Each in a process of its own, whose peak of memory is measured; making it takes less than reading may."""
    command = [sys.executable, "-m", "tests.fuzz.worker"]
    done = subprocess.run(command, input=f"heavy {name}\n", capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(done.stdout)
    assert found["outcome"] in ("done", "refused"), found
