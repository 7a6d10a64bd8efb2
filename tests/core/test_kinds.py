"""Kinds of arguments: what they take from Python and from the command line, and the decorator that checks them."""

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import demele
from demele.classifiers import RowScores
from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.core.kinds import (
    Amount,
    Count,
    CountOrNone,
    Fraction,
    Jobs,
    Kind,
    Level,
    Positive,
    Rate,
    Seed,
    Several,
    Share,
    annotation_of,
    between,
    checked,
    kind_of,
)
from tests.refusals import refuses

RANGES: list[tuple[Any, list[float], list[float]]] = [
    (Count, [1, 10**9], [0, -1]),
    (CountOrNone, [0, 1], [-1]),
    (Seed, [0, 2**40], [-1]),
    (Several, [2, 3], [1, 0]),
    (Jobs, [-1, 1, 8], [0, -2]),
    (Level, [1e-9, 0.95], [0, 1, 95, -0.5]),
    (Share, [0, 0.5, 1], [-1e-9, 1.01]),
    (Rate, [0, 0.5, 1], [-1e-9, 5, 101]),
    (Fraction, [1e-9, 1], [0, 1.01]),
    (Annotated[float, between(0, 1, "()")], [0.5], [0, 1]),
    (Annotated[float, between(0, 1, "[)")], [0], [1]),
    (Positive, [1e-300, 1e300], [0, -1, np.inf]),
    (Amount, [0, 1e300], [-1e-300, np.inf]),
]


def check_of(annotation: Any) -> Callable[[Any, str], Any]:
    kind = kind_of(annotation)
    assert kind.check is not None
    return kind.check


@pytest.mark.parametrize(("annotation", "inside", "outside"), RANGES)
def test_a_kind_takes_its_range_from_python_and_from_words(
    annotation: Any, inside: Sequence[float], outside: Sequence[float]
) -> None:
    check, kind = check_of(annotation), kind_of(annotation)
    for value in inside:
        assert check(value, "x") == value == check(np.asarray(value)[()], "x")
        assert kind.read(str(value)) == value
        assert type(check(np.asarray(value)[()], "x")) in (int, float)
    for value in outside:
        with pytest.raises(InputError, match=r"^x: expected .*, got ") as error:
            check(value, "x")
        assert not isinstance(error.value, InputTypeError)
    for odd in ("1", None, True, [1], np.array([1])):
        refuses(InputTypeError, r"^x: expected .*, got ", check, odd, "x")
    refuses(InputError, r"^x: expected", check, float("nan"), "x")


def test_flags_choices_and_nothing() -> None:
    assert check_of(bool)(np.True_, "x") is True
    refuses(InputTypeError, r"^x: expected True or False, got 1$", check_of(bool), 1, "x")
    assert check_of(Literal["a", "b"] | None)(None, "x") is None
    refuses(UnknownNameError, r"^x: expected 'first' or", lambda: check_of(Literal["first", "second"])("frist", "x"))
    assert check_of(Count | None)(None, "x") is None
    refuses(InputError, "got 0", check_of(Count | None), 0, "x")
    for unchecked in (int, object, Count | list[int], bool | Callable[[], None]):
        kind = kind_of(unchecked)
        assert kind is None or kind.check is None


@checked
def drawn(
    labels: object, n_rows: Count = 1, *names: str, level: "Level" = 0.95, seed: "Later | None" = None, other: int = 0
) -> tuple[Any, ...]:
    """Return what came."""
    return labels, n_rows, names, level, seed, other


Later = Annotated[int, Kind("N", int, check=lambda value, name: check_of(Seed)(value, name) + 100)]


def test_arguments_are_checked_wherever_they_stand() -> None:
    assert drawn(-1) == (-1, 1, (), 0.95, None, 0)
    assert drawn(-1, int(np.int64(2)), "a", "b", level=0.5, seed=1, other=-3) == (-1, 2, ("a", "b"), 0.5, 101, -3)
    assert drawn(labels=0, n_rows=3)[1] == 3
    refuses(InputError, r"^n_rows: expected a whole number >= 1, got 0$", drawn, 1, 0)
    refuses(InputError, r"^n_rows: expected a whole number >= 1, got 0$", drawn, 1, n_rows=0)
    refuses(InputError, r"^level: expected a number between 0 and 1", drawn, 1, level=95)
    refuses(InputError, r"^seed: ", drawn, 1, seed=-1)
    refuses(TypeError, "positional", drawn)
    refuses(TypeError, "unexpected", drawn, 1, nothing=1)


def test_a_checked_function_is_the_same_to_its_readers() -> None:
    assert (drawn.__name__, drawn.__doc__) == ("drawn", "Return what came.")
    assert [*inspect.signature(drawn).parameters] == ["labels", "n_rows", "names", "level", "seed", "other"]


def test_every_default_of_a_public_function_passes_its_kind() -> None:
    count = 0
    for home in ("", ".metrics", ".probes", ".classifiers", ".classifiers.stats", ".labels", ".data", ".bench", ".lab"):
        module = importlib.import_module(f"demele{home}")
        for name in module.__all__:
            function = getattr(module, name)
            if not inspect.isfunction(function):
                continue
            for one in inspect.signature(function).parameters.values():
                kind = kind_of(annotation_of(function, one.name))
                if kind is not None and kind.check is not None and one.default not in (one.empty, None):
                    kind.check(one.default, one.name)
                    count += 1
    assert count > 50
    assert demele.__all__


def test_every_public_function_and_method_refuses_what_is_no_number_of_its_kinds() -> None:
    count, numbers = 0, [kind_of(one).read for one in (Count, Level)]
    for home in ("", ".probes", ".classifiers", ".classifiers.stats", ".labels", ".data", ".bench", ".lab", ".explain"):
        module = importlib.import_module(f"demele{home}")
        public = [getattr(module, name) for name in module.__all__]
        methods = [(object(), one) for holder in filter(inspect.isclass, public) for one in vars(holder).values()]
        for *holder, function in [*((one,) for one in public), *methods]:
            if not inspect.isfunction(function) or function.__code__.co_filename == "<string>":  # of a dataclass
                continue
            for one in list(inspect.signature(function).parameters.values())[len(holder) :]:
                kind = kind_of(annotation_of(function, one.name))
                if kind is not None and kind.check is not None and kind.read in numbers:
                    refuses(InputTypeError, f"^{one.name}: expected ", function, *holder, **{one.name: object()})
                    count += 1
    assert count > 120


def test_objects_of_other_classes_are_refused_by_their_names() -> None:
    @checked
    def shown(found: RowScores, other: RowScores | None = None) -> RowScores:
        return found if other is None else other

    scores = RowScores([0, 1])
    assert shown(scores, other=None) is scores
    refuses(InputTypeError, "found: expected demele's RowScores, got float", shown, 3.5)
    refuses(InputTypeError, "other: expected demele's RowScores, got str", shown, scores, other="FILE")


# Names that were not found -----------------------------------------------------------------------------------------
