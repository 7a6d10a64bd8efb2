"""Functions of predicted classes that take scores of rows as well."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

from demele.classifiers.row_scores import RowScores
from demele.core.errors import InputError

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
    def __call__(self, *, baseline: RowScores, candidate: RowScores, **options: Any) -> "Judgement": ...

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
        several = list(first.values()) if isinstance(first, Mapping) else first
        if not any(isinstance(one, RowScores) for one in (several if isinstance(several, list | tuple) else [first])):
            return function(*args, **options)
        from demele.classifiers.judge import judge

        systems = given.pop(names[0])
        if names[1] == "candidate":
            systems = named(systems, given.pop("candidate", None))
        for name in given.keys() - inspect.signature(judge).parameters.keys():
            remedy = "pass RowScores(group=)" if name == "groups" else "leave it out"
            raise InputError(name, "is for predicted classes, not for scores of rows", remedy)
        if given.get("audit") is None:
            given.setdefault("noise", 0.0)
        return judge(systems, ranked=function.__name__ == "rank", **given)

    return cast(Both[P, R], call)


def named(baseline: object, candidate: object) -> dict[str, Any]:
    """Return the predictions of both by their names: those of two pandas or polars series, if they differ."""
    names = [getattr(values, "name", None) for values in (baseline, candidate)]
    if not all(isinstance(name, str) and name for name in names) or names[0] == names[1]:
        names = ["baseline", "candidate"]
    return dict(zip(map(str, names), (baseline, candidate), strict=True))
