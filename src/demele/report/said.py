"""What the command line says of results in sentences, which their ``sentence`` and ``sentences`` are."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from demele.core.names import checked_name
from demele.report.sentences import (
    assessment_headline,
    bears_sentence,
    decision_headline,
    estimate_sentence,
    expert_sentence,
    measure_words,
    prospect_sentence,
    ranking_headline,
)
from demele.report.words import count, digits_for, points, points_range, span_of

__all__ = ["digits_of", "heading", "sentences_of", "typed", "typed_percent", "typed_span"]

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


def heading(content: Content) -> str:
    """Say what was scored: how many rows, codes and factors, by which protocol."""
    n_codes = content["n_codes"] if "n_codes" in content else len(content["codes"])
    counts = (count(content["n"], "row"), count(n_codes, "code"), count(len(content["factors"]), "factor"))
    return f"{', '.join(counts)}; protocol {content.get('protocol', 'sparse: zero is a bin')}"


def _evaluation(content: Content) -> Iterable[str]:
    verdict = content.get("verdict")
    if verdict is None:
        return [heading(content)]
    return [verdict["sentence"], *verdict["sentences"], verdict["headline"]]


def _score(content: Content) -> Iterable[str]:
    value, interval, chance = content["value"], content["interval"], content["chance"]
    told = f"{content['metric']} is " + ("undefined" if value is None else f"{value:.3f}")
    if interval is not None and interval["low"] is not None and interval["high"] is not None:
        told += f" [{interval['low']:.3f}, {interval['high']:.3f}]"
    if chance is not None and chance["mean"] is not None:
        told += f", chance {chance['mean']:.3f}"
    fragile = ", and fragile" if content["fragile"] else ""
    return [f"{told}, on {count(content['n'], 'row')}{fragile}.", *(note["message"] for note in content["notes"])]


# Classifiers ----------------------------------------------------------------------------------------------------------


def _decision(content: Content) -> Iterable[str]:
    prospect = prospect_sentence(content) if content["verdict"] == "inconclusive" else ""
    found = [
        decision_headline(content),
        _difference(content),
        estimate_sentence(content),
        _disagreements(content),
        bears_sentence(content),
        expert_sentence(content),
        f"a random audit (demele audit): {prospect}" if prospect else "",
        *(f"{measure_words(one)}: {decision_headline(one)}" for one in content.get("others", ())),
    ]
    return [typed(sentence) for sentence in found]


def _difference(content: Content) -> str:
    digits = digits_of([*(content[role]["interval"] for role in ("baseline", "candidate")), content["interval"]])
    difference = "undefined"
    if content["difference"] is not None:
        span = typed_span(content["interval"], digits, sign=True)
        difference = f"{typed_percent(content['difference'], digits, sign=True)} {span}".rstrip() + " points"
    return f"difference: {difference}, candidate minus baseline"


def _disagreements(content: Content) -> str:
    details = content["details"]
    if "label_says_candidate" not in details:
        return ""
    baseline, candidate = content["names"]
    won, lost, neither = (details[f"label_says_{who}"] for who in ("candidate", "baseline", "neither"))
    return (
        f"they disagree on {won + lost + neither:,} of {content['n']:,} rows: the label agrees with {candidate} on "
        f"{won:,}, with {baseline} on {lost:,}, with neither on {neither:,}"
    )


def _ranking(content: Content) -> Iterable[str]:
    return [typed(ranking_headline(content))]


def _assessment(content: Content) -> Iterable[str]:
    return [typed(assessment_headline(content))]


def _perturbation_test(content: Content) -> Iterable[str]:
    return [content["sentence"]]


# Labels ---------------------------------------------------------------------------------------------------------------


def _consensus(content: Content) -> Iterable[str]:
    apart, n = content["unlike_majority"], content["n_items"]
    return [
        f"{content['method']}: {n:,} items, {content['n_answers']:,} answers",
        f"{apart:,} of {n:,} labels ({apart / n:.1%}) differ from the majority's ({count(content['ties'], 'tie')})",
        _state(content),
    ]


def _state(content: Content) -> str:
    """Say whether what had to converge did."""
    what = "sweeps" if content["method"].startswith(("Bayesian", "generative")) else "iterations"
    if content["converged"] is None:
        return f"stopped after {content['iterations']} {what}" if content["iterations"] else "nothing had to converge"
    did = "converged" if content["converged"] else "NOT converged"
    return f"{did} after {content['iterations']:,} {what}"


def _cleaning(content: Content) -> Iterable[str]:
    n, found = content["n"], len(content["suspects"])
    return [f"{content['method'] or 'the cleaning'}: {found:,} of {n:,} labels ({found / n:.1%}) are suspected"]


def _agreement(content: Content) -> Iterable[str]:
    from demele.report.agreement_view import agreement_view, headline, summary

    view = agreement_view(content)
    return [headline(view), *summary(view)]


def _study(content: Content) -> Iterable[str]:
    from demele.report.study import models_sentence, too_few

    said = [too_few(content)] if content["agreement"] is None else _agreement(content["agreement"])
    return [*said, models_sentence(content)]


_SAID: Mapping[str, Callable[[Content], Iterable[str]]] = {
    "evaluation": _evaluation,
    "sparse evaluation": lambda content: [heading(content)],
    "score": _score,
    "decision": _decision,
    "ranking": _ranking,
    "assessment": _assessment,
    "perturbation test": _perturbation_test,
    "consensus": _consensus,
    "cleaning": _cleaning,
    "agreement": _agreement,
    "study": _study,
}


# Numbers as they are typed --------------------------------------------------------------------------------------------


def typed(sentence: str) -> str:
    """Return a sentence with minus signs as tables have them."""
    return sentence.replace("\N{MINUS SIGN}", "-")


def digits_of(intervals: Iterable[Content | None]) -> int:
    """Return how many decimals of a percent are worth showing, for the narrowest of some intervals."""
    return min(2, max((digits_for(span_of(interval)) for interval in intervals), default=1))


def typed_percent(value: float | None, digits: int, *, sign: bool = False) -> str:
    """Write a share in percent, without the sign of percent, as it is typed."""
    return points(value, digits, sign=sign).translate(_TYPED)


def typed_span(interval: Content | None, digits: int, *, sign: bool = False) -> str:
    """Write an interval in percent, as it is typed; nothing if an end is missing."""
    return points_range(span_of(interval), digits, sign=sign).translate(_TYPED)
