"""Values that libraries fail on are refused in words that name the argument: never with an error of another library."""

import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele import bench, classifiers, data, lab
from demele.core.errors import InputError, InputTypeError, MissingExtraError
from demele.core.lazy import require
from demele.core.reading import path_of
from demele.files.named import read_table
from tests.refusals import refuses

CODES: Any = np.random.default_rng(0).random((40, 3))
FACTOR: Any = np.arange(40) % 3


# Arrays --------------------------------------------------------------------------------------------------------------


def test_codes_of_16_bits_are_probed() -> None:
    small = CODES.astype(np.float16)
    found = demele.probes.splitting(small, FACTOR == 0)
    assert found.to_dict() == demele.probes.splitting(small.astype(np.float32), FACTOR == 0).to_dict()


def test_lengths_are_compared_before_a_view_is_copied() -> None:
    """A view of 10^11 rows takes no memory; its copy would take 800 GB."""
    view = np.broadcast_to(np.float64(1), (10**11, 3))
    refuses(InputError, "expected the same number of rows, got 100000000000 rows of", demele.metrics.mig, view, FACTOR)
    with pytest.raises(InputError, match="got 40 rows of codes and 100000000000 rows of factors"):
        demele.evaluate(CODES, np.broadcast_to(np.int64(1), (10**11,)), "mig")
    for labels, predictions in ((view[:, 0], FACTOR), (FACTOR, view[:, 0])):
        refuses(InputError, "100000000000", classifiers.assess, predictions, labels)


def test_a_list_that_holds_itself_is_refused() -> None:
    own: list[Any] = []
    own.append(own)
    for call in (
        lambda: demele.metrics.mig(own, FACTOR),
        lambda: demele.metrics.mig(CODES, own),
        lambda: demele.evaluate(CODES, FACTOR, own),
        lambda: classifiers.compare(own, FACTOR, FACTOR),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize("classes", [np.array(["\ud800", "b"]), np.array(["\ud800", "b"], dtype=object)])
def test_halves_of_characters_are_refused(classes: Any) -> None:
    values = classes[FACTOR % 2]
    told = r"a text holds half a character, '\\ud800', which no file can store"
    refuses(InputError, f"factors: {told}", demele.metrics.mig, CODES, values)
    refuses(InputError, f"factors: {told}", demele.Accumulator("sap").update, CODES, values)
    refuses(InputError, f"labels: {told}", classifiers.assess, FACTOR, values)


def test_image_factors_beyond_the_largest_exact_float_stay_apart() -> None:
    images = data.ArrayImages(np.zeros((4, 4, 4), np.uint8), {"id": np.array([2**53, 2**53 + 1] * 2)})
    assert images.factors()["id"].tolist() == [2**53, 2**53 + 1] * 2


# Options -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"method": ["overlap"]}, "method"),
        ({"groups": [{"a": 1}] * 40}, "groups"),
        ({"level": np.array([0.5, 0.6])}, "level"),
        ({"classes": 5}, "classes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_odd_options_of_comparisons_are_refused(options: Mapping[str, Any], argument: str) -> None:
    with pytest.raises(InputError) as caught:
        classifiers.compare(FACTOR, 1 - FACTOR % 2, FACTOR, **options)
    assert caught.value.argument == argument


def test_what_is_no_path_is_refused() -> None:
    call_cases: Any = [
        data.open_images,
        lab.load_study,
        lab.load_pruning,
        bench.load,
        demele.lab.load_vae,
        demele.scan_parquet,
    ]
    path_cases: Any = [None, 5, b"x", pd.Series(["x"]), np.zeros(3), ["x"], "a\0b", "a\ud800b"]
    for call in call_cases:
        for path in path_cases:
            with pytest.raises(InputError):
                call(path)


def test_paths_are_named_by_their_argument(tmp_path: Path) -> None:
    assert path_of(str(tmp_path)) == path_of(tmp_path) == tmp_path
    refuses(InputTypeError, "store: expected the path of a file or folder, got int", path_of, 5, "store")


# Metrics of others ---------------------------------------------------------------------------------------------------


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


class Ending(BaseException):
    """As tests of pytest end."""


@pytest.mark.parametrize("error", [Wordless("x"), Ending("x"), SystemExit(3), KeyError("x"), RecursionError()])
def test_whatever_a_metric_raises_is_a_reason(error: BaseException) -> None:
    def mine(codes: Any, factors: Any) -> float:
        raise error

    with pytest.warns(demele.errors.DemeleWarning):
        found = demele.evaluate(CODES, FACTOR, mine)
    told = str(found.to_dict())
    assert " raised " in told
    assert type(error).__name__ in told


def test_a_metric_is_interrupted() -> None:
    def mine(codes: Any, factors: Any) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        demele.evaluate(CODES, FACTOR, mine)


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_line_of_20_000_columns_is_read(sign: str, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"column{place}" for place in range(20_000)]
    path.write_text("\n".join([sign.join(names), *[sign.join(["0.5"] * 20_000)] * 3]) + "\n")
    assert path.read_text().index("\n") > 1 << 17
    read: Any = read_table(str(path), warn=print)
    assert read.shape == (3, 20_000)
    assert list(read.columns) == names


# The program ---------------------------------------------------------------------------------------------------------


def test_an_extra_without_its_own_dependency_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "h5py.py").write_text("import surely_not_there\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "h5py", raising=False)
    refuses(MissingExtraError, "a set needs h5py, which needs surely_not_there", require, "h5py", purpose="a set")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("label\n" + "0\n1\n" * 10)
    command = f"{sys.executable} -m demele assess labels.csv labels.csv --noise 0.1 -o found.json {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False, timeout=60).returncode == 0
    assert json.loads((tmp_path / "found.json").read_text())


def test_ctrl_c_while_the_program_is_loaded_ends_it_quietly() -> None:
    """As it would be pressed: while modules are imported, in which a signal is sent."""
    script = textwrap.dedent(
        """
        import os, signal, sys
        class Pressing:
            def find_spec(self, name, path=None, target=None):
                if name == "demele.cli.main":
                    os.kill(os.getpid(), signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.meta_path.insert(0, Pressing())
        from demele.__main__ import run
        sys.exit(run())
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGINT
    assert done.stderr == b""
