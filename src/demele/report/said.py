"""What the command line says of results in sentences, which their ``sentence`` and ``sentences`` are."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from demele.core.names import checked_name

__all__ = ["sentences_of", "typed"]

Content = Mapping[str, Any]

#: Signs of the page as they are typed: every terminal has these, and a number that is copied is one to programs.
_TYPED = {ord("\N{MINUS SIGN}"): "-", ord("\N{EN DASH}"): "-"}


def sentences_of(kind: str, content: Content) -> tuple[str, ...]:
    """Return what is said of a result, the most important sentence first.

    Parameters
    ----------
    kind : str
        One of those of this file, such as ``"decision"``.
    content : mapping
        What the ``to_dict()`` of the result returns.

    Raises
    ------
    InputError
        For a kind that nothing is said of.
    """
    checked_name(kind, "kind", _SAID)
    return tuple(str(sentence) for sentence in _SAID[kind](content) if sentence)


# Representations ------------------------------------------------------------------------------------------------------


# Classifiers ----------------------------------------------------------------------------------------------------------


def _agreement(content: Content) -> Iterable[str]:
    from demele.report.agreement_view import agreement_view, headline, summary

    view = agreement_view(content)
    return [headline(view), *summary(view)]


def _study(content: Content) -> Iterable[str]:
    from demele.report.study import models_sentence, too_few

    said = [too_few(content)] if content["agreement"] is None else _agreement(content["agreement"])
    return [*said, models_sentence(content)]


_SAID: Mapping[str, Callable[[Content], Iterable[str]]] = {
    "study": _study,
}


# Numbers as they are typed --------------------------------------------------------------------------------------------


def typed(sentence: str) -> str:
    """Return a sentence with minus signs as tables have them."""
    return sentence.replace("\N{MINUS SIGN}", "-")
