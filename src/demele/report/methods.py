"""How results were made, as a paragraph for the section on methods: each sentence follows from the result."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from demele.core.bibliography import bibliography, referenced, software
from demele.core.names import checked_name
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.options import RunOptions, restored
from demele.metrics.protocols import PROTOCOLS
from demele.report.paper import REPRESENTATIONS, as_evaluations, blocks_of, kind_of
from demele.report.paper_beside import beside_made, grouped_made
from demele.report.paper_latex import escaped as in_latex
from demele.report.paper_markdown import escaped as in_markdown
from demele.report.paper_representations import differences_made
from demele.report.words import count, joined, level_text

__all__ = ["methods_paragraph"]

Content = Mapping[str, Any]
MethodsFormat = Literal["latex", "markdown", "text"]
#: Citations within the text, before they are written: keys between signs that no text has.
_OPEN, _CLOSE = "\ue010", "\ue011"
_CITED = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")
_BINS = {"EqualWidth": "{} equal-width bins", "EqualFrequency": "{} bins of equal frequency"}


def methods_paragraph(contents: Sequence[Content], *, format: MethodsFormat = "latex") -> str:  # noqa: A002
    """Write how one result, or several evaluations, were made; a paragraph for evaluations made alike.

    Raises
    ------
    InputError
        If there is no such format.
    """
    checked_name(format, "format", get_args(MethodsFormat))
    kind = kind_of(contents)
    if kind == REPRESENTATIONS:
        paragraphs = [*_evaluations(contents[0]["evaluations"]), differences_made(contents[0], _cite)]
    else:
        paragraphs = _evaluations(as_evaluations(contents))
    return "\n\n".join(_rendered(" ".join(sentences), format) for sentences in paragraphs if sentences) + "\n"


# Citations ------------------------------------------------------------------------------------------------------------


def _cite(keys: Iterable[str]) -> str:
    """Return a citation of works, after what it is for."""
    listed = [key for key in keys if key]
    return f" {_OPEN}{','.join(listed)}{_CLOSE}" if listed else ""


def _keys(references: Iterable[str]) -> list[str]:
    return [entry.key for entry in referenced(references)]


def _rendered(text: str, format: MethodsFormat) -> str:  # noqa: A002
    ways: Mapping[str, Callable[[str], str]] = {"latex": in_latex, "markdown": in_markdown}
    escape = ways.get(format, str)
    parts = _CITED.split(text)  # text, keys, text, keys, ..., text
    shown = []
    for index, part in enumerate(parts):
        if index % 2:
            shown.append(_citation(part.split(","), format))
        elif part:
            core = part.strip(" ")
            lead = " " if part.startswith(" ") else ""
            trail = " " if part.endswith(" ") and core else ""
            shown.append(f"{lead}{escape(core)}{trail}")
    return re.sub(r" (?=~?\\cite)", "~", "".join(shown)) if format == "latex" else "".join(shown)


def _citation(keys: Sequence[str], format: MethodsFormat) -> str:  # noqa: A002
    if format == "latex":
        return rf"\cite{{{','.join(keys)}}}"
    if format == "markdown":
        return f"[{'; '.join(f'@{key}' for key in keys)}]"
    known = {**bibliography(), "demele": software()}
    return f"({'; '.join(known[key].label if key in known else key for key in keys)})"


def _tool(version: object) -> str:
    return f"demele {version or __version__}{_cite(['demele'])}"


# Scores ---------------------------------------------------------------------------------------------------------------


def _evaluations(evaluations: Sequence[Content]) -> list[list[str]]:
    """Return the sentences of each group of evaluations that were made alike."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for item in evaluations:
        alike.setdefault(tuple(_of_evaluation(item)), []).append(str(item["name"]))
    return [[_of(sentence, names) for sentence in key] for key, names in alike.items()]


def _of(sentence: str, names: Sequence[str]) -> str:
    """Name the representations that a sentence is of."""
    if len(names) > 1:
        sentence = sentence.replace("The representation \ue012", "The representations \ue012")
        sentence = sentence.replace(" was scored against ", " were scored against ")
    return sentence.replace("\ue012", str(joined(names)))


def _of_evaluation(item: Content) -> list[str]:
    scores, protocol = item["scores"], PROTOCOLS.get(str(item["protocol"]))
    calls = {score["metric"]: Signature.parse(score["signature"]) for score in scores}
    cited = _cite(_keys(protocol.references)) if protocol else ""
    counts = f"{count(len(item['codes']), 'code')} of {count(item['n'], 'row')}"
    sentences = [
        f"The representation \ue012, {counts}, was scored against {_factors(item['factors'])} with "
        f"{_tool(item.get('demele'))}, under the protocol {item['protocol']}{cited}.",
        f"The metrics are {joined(_title(name, cite=True) for name in calls)}." if calls else "",
        *grouped_made(calls.values()),
        *_settings(calls),
        *_uncertainty(scores),
        *beside_made(scores, _title),
        *_drawn(calls),
    ]
    sentences += [f"{_title(gap['metric'])} is left out: {str(gap['reason']).rstrip('.')}." for gap in item["left_out"]]
    return [sentence for sentence in sentences if sentence]


def _factors(factors: Sequence[Content]) -> str:
    if not all(factors):
        return count(len(factors), "factor")
    classes = [f"{one['name']} ({one['n_levels']} classes)" for one in factors if one["kind"] == "categorical"]
    numbers = [str(one["name"]) for one in factors if one["kind"] != "categorical"]
    kinds = [f"categorical: {', '.join(classes)}"] * bool(classes)
    kinds += [f"continuous: {', '.join(numbers)}"] * bool(numbers)
    fewer = [
        f"{one['name']} is annotated in {count(one['n_annotated'], 'row')}"
        for one in factors
        if _is_partly(one, factors)
    ]
    return f"{count(len(factors), 'factor')} ({'; '.join([*kinds, *fewer])})"


def _is_partly(one: Content, factors: Sequence[Content]) -> bool:
    return bool(one["n_annotated"] < max(other["n_annotated"] for other in factors))


def _title(name: str, *, cite: bool = False) -> str:
    metric = CATALOGUE.find(name)
    if metric is None:
        return name
    return metric.title + (_cite(_keys(metric.references)) if cite else "")


def _settings(calls: Mapping[str, Signature]) -> list[str]:
    """Say how columns were cut, and every other option that is not the metric's default."""
    bins: dict[str, list[str]] = {}
    changed: dict[str, list[str]] = {}
    for name, call in calls.items():
        metric = CATALOGUE.find(name)
        for option, value in call.arguments.items():
            if option == "bins":
                bins.setdefault(_bins(value), []).append(_title(name))
            elif option not in RunOptions.__annotations__ and not _is_default(metric, option, value):
                changed.setdefault(f"{option} = {value!r}", []).append(_title(name))
    sentences = []
    if bins:
        cut = "; ".join(f"into {rule} for {joined(names)}" for rule, names in bins.items())
        sentences.append(f"Continuous columns were cut {cut}.")
    if changed:
        told = "; ".join(f"{option} for {joined(names)}" for option, names in changed.items())
        sentences.append(f"Settings other than the defaults of the metrics: {told}.")
    return sentences


def _is_default(metric: Any, option: str, value: object) -> bool:
    table = {} if metric is None else metric.option_table
    return option in table and repr(table[option].default) == repr(restored(value))


def _bins(value: object) -> str:
    found = re.fullmatch(r"(\w+)\(bins=(\d+)\)", repr(value))
    return _BINS[found[1]].format(found[2]) if found and found[1] in _BINS else f"bins by {value!r}"


def _uncertainty(scores: Sequence[Content]) -> list[str]:
    """Say how intervals, spreads and chance levels were made."""
    intervals: dict[str, list[str]] = {}
    seeds: dict[int, list[str]] = {}
    chance: dict[int, list[str]] = {}
    for score in scores:
        title, interval = _title(score["metric"]), score["interval"]
        if interval:
            intervals.setdefault(f"{level_text(interval['level'])}, {interval['method']}", []).append(title)
        if score["spread"]:
            seeds.setdefault(len(score["spread"]["values"]), []).append(title)
        if score["chance"]:
            chance.setdefault(len(score["chance"]["values"]), []).append(title)
    sentences = []
    if intervals:
        told = "; ".join(f"{how} for {joined(names)}" for how, names in intervals.items())
        sentences.append(f"Intervals say what other rows of the same source would have given: {told}.")
    for runs, names in seeds.items():
        sentences.append(f"Values of {joined(names)} are means over {count(runs, 'seed')}.")
    blocks = blocks_of(scores)
    for runs, names in chance.items():
        shuffles = f"{count(runs, 'permutation')} of the rows of the factors"
        whole = f", {blocks} as wholes" if blocks else ""
        sentences.append(f"Chance levels of {joined(names)} are mean scores over {shuffles}{whole}.")
    return sentences


def _drawn(calls: Mapping[str, Signature]) -> list[str]:
    """Say what random numbers came from, and what was left out of the rows."""
    seeds = sorted({str(call.arguments["seed"]) for call in calls.values() if "seed" in call.arguments})
    sentences = [f"Random numbers come from seed {' and '.join(seeds)}."] if seeds else []
    if any(call.arguments.get("missing") == "omit" for call in calls.values()):
        sentences.append("Rows without an annotation were left out factor by factor.")
    if any("kinds" in call.arguments for call in calls.values()):
        sentences.append("Kinds of factors were given by hand.")
    return sentences


# Classifiers ----------------------------------------------------------------------------------------------------------
