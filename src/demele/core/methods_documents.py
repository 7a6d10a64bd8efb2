"""How scores were made, as sentences for the section on methods of a paper."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from demele.core.version import __version__
from demele.report.words import count, joined, name, rate, sentence_of

if TYPE_CHECKING:
    from demele.core.corrected import CorrectedScore
    from demele.core.results import Score, ScoresByName

_BINS = {"EqualWidth": "{} equal-width bins", "EqualFrequency": "{} bins of equal frequency"}


def methods_of(results: "Sequence[ScoresByName]") -> list[str]:
    """Say how evaluations were made; what is true of several is said once."""
    who: dict[str, list[str]] = {}
    made: dict[str, None] = {}
    for one in results:
        codes = count(len(one.code_names), "code")
        who.setdefault(_how(one, one.scores), []).append(f"the representation {name(one.name)} ({codes})")
        made |= dict.fromkeys([_factors(one), *_of_scores(one.scores)])
        made |= dict.fromkeys(sentence_of(f"{gap.metric} is left out: {gap.reason}") for gap in one.left_out)
    scored = [f"{joined(names, most=100)} {'were' if len(names) > 1 else 'was'} {how}" for how, names in who.items()]
    return [sentence for sentence in (*map(sentence_of, scored), *made) if sentence]


def methods_of_score(score: "Score") -> list[str]:
    """Say how one score was made."""
    return [f"The score was {_how(score, [score])}.", *_of_scores([score])]


def _how(one: "ScoresByName | Score", scores: "Sequence[Score]") -> str:
    protocol = f"under the protocol {one.protocol}{cited(scores[0].cited if scores else ())}"
    version = f"demele {getattr(one, 'version', '') or __version__}{cited(['demele'])}"
    return f"computed on {count(one.n, 'row')} with {version}, {protocol}"


def cited(keys: Iterable[str]) -> str:
    """Return a citation of works, after the words that it stands for."""
    listed = "; ".join(f"@{key}" for key in keys)
    return f" [{listed}]" if listed else ""


def title_of(score: "Score") -> str:
    """Return the name of the metric as papers have it."""
    return score.facts.title or name(score.metric)


def _factors(result: "ScoresByName") -> str:
    classes = [f"{name(one.name)} ({one.n_levels} classes)" for one in result.factors if one.kind == "categorical"]
    numbers = [name(one.name) for one in result.factors if one.kind != "categorical"]
    most = max((one.n_annotated for one in result.factors), default=0)
    kinds = [f"categorical: {', '.join(classes)}"] * bool(classes)
    kinds += [f"continuous: {', '.join(numbers)}"] * bool(numbers)
    some = [one for one in result.factors if one.n_annotated < most]
    fewer = [f"{name(one.name)} is annotated in {count(one.n_annotated, 'row')}" for one in some]
    return f"The {count(len(result.factors), 'factor')} are {'; '.join([*kinds, *fewer])}."


def _of_scores(scores: "Sequence[Score]") -> list[str]:
    ways = [f"{title_of(one)}{cited(one.facts.references)}" for one in scores]
    metrics = f"The metric{'s are' if len(ways) > 1 else ' is'} {joined(ways, most=100)}." if ways else ""
    parts = (_groups, _settings, _uncertainty, _corrected, _drawn)
    return [metrics, *(said for part in parts for said in part(scores))]


def _by(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what is true of some metrics, with their names joined."""
    found: dict[str, list[str]] = {}
    for what, who in pairs:
        found.setdefault(what, []).append(who)
    return {what: joined(dict.fromkeys(who), most=100) for what, who in found.items()}


def _groups(scores: "Sequence[Score]") -> list[str]:
    """Say which columns of the codes were scored together."""
    given = [one.signature.arguments for one in scores if "code_groups" in one.signature.arguments]
    groups = given[0]["code_groups"] if given else {}
    sizes = {key: len(own) for key, own in groups.items() if len(own) > 1} if isinstance(groups, Mapping) else {}
    several = [f"{name(key)} ({count(size, 'column')})" for key, size in sizes.items()]
    reduced = bool(given) and given[0].get("reduce_groups") == "pca1"
    how = "represented by their first principal component" if reduced else "one code together"
    return [f"Columns of the codes were {how}: {joined(several)}."] if several else []


def _settings(scores: "Sequence[Score]") -> list[str]:
    """Say how columns were cut, and every other option that is not the default of its metric."""
    bins, changed = [], []
    for one in scores:
        for option, value in one.signature.arguments.items():
            if option == "bins":
                bins.append((_bins(value), title_of(one)))
            elif one.facts.defaults.get(option, repr(value)) != repr(value):
                changed.append((f"{option} = {value!r}", title_of(one)))
    cut = "; ".join(f"into {rule} for {who}" for rule, who in _by(bins).items())
    other = "; ".join(f"{option} for {who}" for option, who in _by(changed).items())
    return [
        f"Continuous columns were cut {cut}." if cut else "",
        f"Settings other than the defaults of the metrics: {other}." if other else "",
    ]


def _bins(value: object) -> str:
    found = re.fullmatch(r"(\w+)\(bins=(\d+)\)", repr(value))
    return _BINS[found[1]].format(found[2]) if found and found[1] in _BINS else f"bins by {value!r}"


def _uncertainty(scores: "Sequence[Score]") -> list[str]:
    """Say how intervals, spreads and chance levels were made."""
    among = [(one.interval, title_of(one)) for one in scores if one.interval is not None]
    intervals = _by((f"{rate(interval.level)}, {interval.method}", who) for interval, who in among)
    seeds = _by((count(len(one.spread.values), "seed"), title_of(one)) for one in scores if one.spread is not None)
    chance = _by((_shuffles(one), title_of(one)) for one in scores if one.chance is not None)
    told = "; ".join(f"{how} for {who}" for how, who in intervals.items())
    return [
        f"Intervals cover other rows of the same source: {told}." if told else "",
        *(f"Values of {who} are means over {runs}." for runs, who in seeds.items()),
        *(f"Chance levels of {who} are mean scores over {runs}." for runs, who in chance.items()),
    ]


def _shuffles(score: "Score") -> str:
    drawn = 0 if score.chance is None else len(score.chance.values)
    blocks = score.signature.context.get("blocks")
    whole = f", {blocks} blocks of rows as wholes" if blocks else ""
    return f"{count(drawn, 'permutation')} of the rows of the factors{whole}"


def _corrected(scores: "Sequence[Score]") -> list[str]:
    """Say how corrected and aligned scores were made."""
    corrected = [(one.corrected, title_of(one)) for one in scores if one.corrected is not None]
    turned = [(one.alignment, title_of(one)) for one in scores if one.alignment is not None]
    assumed = dict.fromkeys(sentence_of(text) for own, _ in corrected for text in own.assumptions)
    ways = _by((_correction(own), title) for own, title in corrected)
    turns = _by(("whitened and turned" if own.whitened else "turned", title) for own, title in turned)
    return [
        *(f"Scores of {who} were {how} for wrong annotations of the factors." for how, who in ways.items()),
        f"Assumed: {' '.join(assumed)}" if assumed else "",
        *(
            f"Aligned scores of {who} use codes {how} towards the factors on one half of the rows; the other half is "
            "scored, and both halves are averaged."
            for how, who in turns.items()
        ),
    ]


def _correction(own: "CorrectedScore") -> str:
    if own.method == "bounds":
        return "bounded"
    at = f", {rate(own.interval.level)} interval" if own.interval else ""
    return f"corrected (method {own.method}{at})"


def _drawn(scores: "Sequence[Score]") -> list[str]:
    """Say what random numbers came from, and what was left out of the rows."""
    given = [one.signature.arguments for one in scores]
    seeds = sorted({str(own["seed"]) for own in given if "seed" in own})
    omitted = any(own.get("missing") == "omit" for own in given)
    kinds = [own["kinds"] for own in given if own.get("kinds")]
    pairs = (
        kinds[0].items() if kinds and isinstance(kinds[0], Mapping) else [("every factor", one) for one in kinds[:1]]
    )
    by_hand = ", ".join(f"{factor} is {kind}" for factor, kind in pairs)
    return [
        f"Random numbers come from seed {' and '.join(seeds)}." if seeds else "",
        "Rows without an annotation were left out factor by factor." * omitted,
        f"Kinds of factors were given by hand: {by_hand}." if by_hand else "",
    ]
