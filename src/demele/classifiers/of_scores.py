"""Functions of predicted classes that take scores of rows as well."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

from demele.classifiers.row_scores import RowScores
from demele.core.errors import InputError, quoted
from demele.core.given_arrays import items_of

if TYPE_CHECKING:
    from demele.classifiers.judge import Judgement

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Both(Protocol[P, R]):
    """A function of classes that takes scores of rows as well."""

    @overload
    def __call__(
        self, scores: RowScores | Mapping[str, RowScores], /, *more: RowScores, **options: Any
    ) -> "Judgement": ...

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


def also_of_scores(function: Callable[P, R]) -> Both[P, R]:
    """Let :func:`demele.classifiers.judge.judge` answer where a function of classes is given scores of rows.

    Without an audit and a limit of wrong scores, all are taken as right.
    """

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        names = list(inspect.signature(function).parameters)
        given = dict(zip(names, args, strict=False)) | options
        first = given.get(names[0])
        several = (
            first.values() if isinstance(first, Mapping) else first if isinstance(first, list | tuple) else [first]
        )
        if not any(isinstance(one, RowScores) for one in several):
            return function(*args, **options)
        from demele.classifiers.judge import judge

        systems = given.pop(names[0])
        if names[1] == "candidate":
            baseline, candidate = two_names(given.pop("names", ("baseline", "candidate")))
            systems = {baseline: systems, candidate: given.pop("candidate", None)}
        for name in given.keys() - inspect.signature(judge).parameters.keys():
            raise InputError(name, "is for predicted classes, not for scores of rows; leave it out")
        if given.get("audit") is None:
            given.setdefault("noise", 0.0)
        return judge(systems, ranked=function.__name__ == "rank", **given)

    return cast(Both[P, R], call)


def two_names(names: Any) -> tuple[str, str]:
    """Check what the baseline classifier and the candidate are called.

    Raises
    ------
    InputError
        If these are not two different names.
    """
    unordered = isinstance(names, set | frozenset | Mapping)
    found = [] if unordered else [str(name) for name in items_of(names, "names", "two different names")]
    if len(found) != 2 or found[0] == found[1]:
        raise InputError("names", f"expected two different names, got {quoted(names)}")
    return found[0], found[1]
