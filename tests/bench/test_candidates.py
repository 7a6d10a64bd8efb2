"""Metrics of a run: names and functions, and what their stored rows are kept under."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demele
from demele.bench.expectations import Candidate
from demele.bench.run import candidate, chosen_candidates
from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.core.signature import fingerprint
from tests.bench.own import half
from tests.refusals import refuses

# Choosing -----------------------------------------------------------------------------------------------------------


def test_names_functions_and_candidates_together() -> None:
    own = candidate(half, name="own", claims=["modularity", "compactness"], discretises=False)
    metrics: list[Any] = ["MIG", half, own, demele.metrics.sap, lambda codes, factors: 1.0]
    found = chosen_candidates(metrics)
    assert [item.name for item in found] == ["mig", "half", "own", "sap", "<lambda>"]
    assert [item.function is None for item in found] == [True, False, False, True, False]
    assert found[2].claims == ("modularity", "compactness")
    assert found[2].may_measure("modularity")
    assert not found[2].may_measure("explicitness")
    assert found[1].may_measure("explicitness")  # it does not say


def test_each_once() -> None:
    own = candidate(half, name="own")
    metrics: list[Any] = ["mig", "mig", demele.metrics.mig, half, half]
    assert len(chosen_candidates(metrics)) == 2
    assert chosen_candidates([own, own]) == (own,)
    assert chosen_candidates([own, half]) == (own,)


def test_functions_of_one_name_are_numbered() -> None:
    first, second = (lambda codes, factors: 1.0), (lambda codes, factors: 2.0)
    found = chosen_candidates([first, second])
    assert [item.name for item in found] == ["<lambda>", "<lambda>-2"]
    assert found[0].key != found[1].key

    def mig(codes: object, factors: object) -> float:
        return 1.0

    assert [item.name for item in chosen_candidates(["mig", mig])] == ["mig", "mig-2"]


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two are called 'own'"):
        chosen_candidates([candidate(half, name="own"), candidate(lambda codes, factors: 1.0, name="own")])
    ours = Candidate(name="mig", title="Mine", group="mig", function=half)
    orders: list[list[Any]] = [["mig", ours], [ours, "mig"]]
    for both in orders:
        refuses(InputError, "two are called 'mig'", chosen_candidates, both)


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        ({"mig": half}, InputTypeError, "got dict"),
        (["migg"], UnknownNameError, "mig"),
        ([Candidate(name="migg", title="", group="migg")], UnknownNameError, "mig"),
    ],
)
def test_what_is_no_metric_is_refused(metrics: Any, error: type[InputError], message: str) -> None:
    refuses(error, message, chosen_candidates, metrics)


def test_what_is_said_of_a_function_is_checked() -> None:
    keywords_cases: Any = [
        ({"function": 5}, "function: expected a callable"),
        ({"name": " "}, "name: expected a name"),
        ({"name": 5}, "name: expected a name"),
        ({"name": "mig"}, "is a metric of demele; give yours another name"),
        (
            {"claims": "completeness"},
            "claims: expected one of modularity, .*, got 'completeness'",
        ),
        ({"claims": ["modularity", 5]}, "claims: expected one of modularity, .*, got 5"),
        ({"claims": 5}, "claims: expected modularity, .*, got int"),
        ({"claims": []}, "leave it out to be judged on all"),
        ({"discretises": "no"}, "discretises: expected True or False, got 'no'"),
    ]
    for keywords, message in keywords_cases:
        refuses(InputError, message, candidate, **{"function": half, **keywords})


# Fingerprints -------------------------------------------------------------------------------------------------------


def made(source: str) -> Callable[..., Any]:
    """Return what a script of a user calls ``metric``."""
    names: dict[str, Any] = {"functools": functools, "np": np}
    exec(source, names)
    found: Callable[..., Any] = names["metric"]
    return found


DEFINED = "def metric(codes, factors{more}):\n    {body}\n"
ENCLOSED = (
    "def outer(weight):\n    def metric(codes, factors):\n        return weight\n    return metric\nmetric = outer({})"
)
OBJECT = (
    "class Metric:\n    def __init__(self, weight):\n        self.weight = weight\n"
    "    def __call__(self, codes, factors):\n        return {code}\n"
    "    def other(self, codes, factors):\n        return self.weight\n"
)
SLOTS = (
    "class Metric:\n    __slots__ = ('weight',)\n"
    "    def __call__(self, codes, factors):\n        return self.weight\nmetric = Metric()\nmetric.weight = {}"
)
WRAPPED = "@functools.lru_cache\ndef metric(codes, factors):\n    return {}"
PAIRS = [
    (DEFINED.format(more="", body="return 1.0"), DEFINED.format(more="", body="return 2.0")),
    (DEFINED.format(more="", body="return 1"), DEFINED.format(more="", body="return True")),
    (DEFINED.format(more="", body="return 0.0"), DEFINED.format(more="", body="return -0.0")),
    (DEFINED.format(more=", a=1", body="return a"), DEFINED.format(more=", a=2", body="return a")),
    (
        DEFINED.format(more="", body="return sum(item for item in (1, 2))"),
        DEFINED.format(more="", body="return sum(item for item in (1, 3))"),
    ),
    ("metric = functools.partial(lambda a, c, f: a, 1)", "metric = functools.partial(lambda a, c, f: a, 2)"),
    ("metric = functools.partial(lambda c, f, a: a, a=1)", "metric = functools.partial(lambda c, f, a: a, a=2)"),
    (ENCLOSED.format(1), ENCLOSED.format(2)),
    (ENCLOSED.format("lambda: 1"), ENCLOSED.format("lambda: 2")),
    (ENCLOSED.format("{'a': [1, 2]}"), ENCLOSED.format("{'a': [1, 3]}")),
    (ENCLOSED.format("np.arange(5000)"), ENCLOSED.format("np.arange(5000) + (np.arange(5000) == 2500)")),
    (OBJECT.format(code="1") + "metric = Metric(0)", OBJECT.format(code="2") + "metric = Metric(0)"),
    (OBJECT.format(code="1") + "metric = Metric(0)", OBJECT.format(code="1") + "metric = Metric(1)"),
    (OBJECT.format(code="1") + "metric = Metric(0).other", OBJECT.format(code="1") + "metric = Metric(1).other"),
    (SLOTS.format(1), SLOTS.format(2)),
    (WRAPPED.format(1.5), WRAPPED.format(2.5)),
]


def test_a_change_is_seen_and_the_same_again_is_the_same() -> None:
    for before, after in PAIRS:
        assert fingerprint(made(before)) == fingerprint(made(before))
        assert fingerprint(made(before)) != fingerprint(made(after))


def test_what_holds_itself_is_told() -> None:
    source = (
        "def outer():\n    def metric(codes, factors):\n        return metric(codes, factors) if {} else 0.0\n"
        "    return metric\nmetric = outer()"
    )
    assert fingerprint(made(source.format(1))) != fingerprint(made(source.format("codes")))
    late = (
        "def outer():\n    def metric(c, f):\n        return later\n    return metric\n    later = 1\nmetric = outer()"
    )
    assert fingerprint(made(late)) == fingerprint(made(late))


def test_every_process_tells_the_same(tmp_path: Path) -> None:
    sources = [
        *(source for pair in PAIRS for source in pair),
        DEFINED.format(more="", body="return codes in {'a', 'b', 'c', 'd', 'e'}"),
        ENCLOSED.format("{'a', 'b', 'c', 'd', 'e', 1}"),
        ENCLOSED.format("object()"),
        ENCLOSED.format("__import__('threading').Lock()"),
        ENCLOSED.format("np.random.default_rng(3)"),
        DEFINED.format(more=", a=lambda: 1", body="return a"),
    ]
    script = tmp_path / "told.py"
    script.write_text(
        "import json, sys, functools, numpy as np\n"
        "from demele.core.signature import fingerprint\n"
        "def told(source):\n"
        "    names = {'functools': functools, 'np': np}\n"
        "    exec(source, names)\n"
        "    return fingerprint(names['metric'])\n"
        "print(json.dumps([told(source) for source in json.load(sys.stdin)]))\n"
    )

    def told(seed: str) -> Any:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        finished = subprocess.run(
            [sys.executable, script], input=json.dumps(sources), env=environment, capture_output=True, text=True
        )
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout)

    assert told("1") == told("2")


def test_the_key_follows_the_function_and_the_name() -> None:
    first = candidate(half)
    assert first.key == f"half@{fingerprint(half)}"
    assert replace(first, title="Other").key == first.key
    assert replace(first, function=lambda codes, factors: 1.0).key != first.key
