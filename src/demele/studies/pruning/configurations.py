"""What a study of pruning varies: how a fabric is pruned, and how wrong its labels are."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import checked_name, checked_share
from demele.core.proportions import holm
from demele.core.seeds import rng_for
from demele.data.array_images import ArrayImages
from demele.data.images import ImageSet
from demele.data.procedural.clutter import Clutter, clutter, clutter_labels
from demele.estimation.differences import student
from demele.labels.made.noise import add_uniform_noise

Strategy = Literal["whole", "early", "iterative", "late"]
Level = Literal["links", "weights", "links and weights", "links then weights"]
NoiseKind = Literal["none", "uniform", "visibility", "resubstitution"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningConfiguration:
    """One way to prune a fabric, or none.

    Attributes
    ----------
    strategy : {"whole", "early", "iterative", "late"}
        After which epochs: once and soon, in equal steps, once and late; or never.
    level : {"links", "weights", "links and weights", "links then weights"}
        What goes. "links and weights": links until as many weights have gone with them as then go one by one, so that
        the fraction goes in all. "links then weights": the fraction of the links, and of the weights that these leave,
        as published.
    criterion : str
        As of :meth:`demele.lab.Fabric.scores`.
    fraction : float
        Share of the links, or of all weights of links, that shall go.

    Raises
    ------
    InputError
        For what is none of these. Channels are not among the levels: see :func:`demele.lab.fit_pruned`.
    """

    strategy: Strategy
    level: Level = "links"
    criterion: str = ""
    fraction: float = 0.0

    def __post_init__(self) -> None:
        for value, known, argument in ((self.strategy, Strategy, "strategy"), (self.level, Level, "level")):
            checked_name(value, argument, get_args(known))
        if self.strategy == "whole":
            return
        checked_share(self.fraction, "fraction", 0, 1, "()")

    @property
    def name(self) -> str:
        """Such as ``"late links 75% magnitude"``."""
        if self.strategy == "whole":
            return "whole"
        return f"{self.strategy} {self.level} {self.fraction:.0%} {self.criterion}"

    def shares(self) -> dict[str, float]:
        """Return the pruned share at each level, links first."""
        if self.level == "links and weights":
            # each level leaves the square root of what shall stay
            return {"links": 1 - (1 - self.fraction) ** 0.5, "weights": self.fraction}
        if self.level == "links then weights":
            return {"links": self.fraction, "weights": self.fraction}
        return {self.level: self.fraction}

    @property
    def fraction_of(self) -> Literal["live", "whole"]:
        """What the share of weights is of: see :meth:`demele.lab.Fabric.prune`."""
        return "live" if self.level == "links then weights" else "whole"


#: The reference of every study: nothing is pruned.
WHOLE = PruningConfiguration(strategy="whole")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNoise:
    """How wrong the labels are, those of the training and those of the test.

    Attributes
    ----------
    kind : {"none", "uniform", "visibility", "resubstitution"}
        As of :func:`demele.data.clutter_labels`; or the predictions of a random fabric on all images, those of the test
        too, which it was trained on until its error was near the rate (Benjelloun, section 7.8.1).
    rate : float
    """

    kind: NoiseKind = "none"
    rate: float = 0.0

    @property
    def name(self) -> str:
        """Such as ``"visibility 20%"``."""
        return "none" if self.kind == "none" else f"{self.kind} {self.rate:.0%}"

    @classmethod
    def of(cls, given: Any, argument: str = "noises") -> LabelNoise:
        """Return the noise that a text names: ``"none"``, ``"uniform:0.2"``, ``"resubstitution:0.1"``.

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> LabelNoise.of("visibility:0.2").name
        'visibility 20%'
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, str):
            raise InputTypeError(argument, f"expected texts such as 'uniform:0.2', got {quoted(given)}")
        kind, _, rate = given.partition(":")
        if kind not in get_args(NoiseKind) or (kind == "none") != (not rate):
            kinds = "expected 'none', 'uniform:RATE', 'visibility:RATE' or 'resubstitution:RATE'"
            raise InputError(argument, f"{kinds}, got {quoted(given)}")
        if kind == "none":
            return cls()
        try:
            value = float(rate)
        except ValueError as error:
            raise InputError(argument, f"expected a rate after the colon, got {quoted(given)}") from error
        share = checked_share(value, argument, 0, 0.5)
        return cls(kind=kind, rate=share)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When a fabric is pruned, in epochs.

    Attributes
    ----------
    early, late : int
        After which of them; iterative pruning begins with the first and ends with the last.
    every : int
        Epochs between two steps of iterative pruning.
    """

    early: int
    every: int
    late: int

    def steps(self, strategy: Strategy) -> tuple[tuple[int, float], ...]:
        """Return after which epochs, and what part of the whole has gone after each."""
        if strategy == "whole":
            return ()
        if strategy == "iterative":
            epochs = range(self.early, self.late + 1, self.every)
            return tuple((epoch, (place + 1) / len(epochs)) for place, epoch in enumerate(epochs))
        return ((self.early if strategy == "early" else self.late, 1.0),)


def _ways(strategy: Strategy, criteria: str, *fractions: float, level: Level = "links") -> list[PruningConfiguration]:
    return [
        PruningConfiguration(strategy=strategy, level=level, criterion=criterion, fraction=fraction)
        for fraction in fractions
        for criterion in criteria.split()
    ]


#: 18 ways and the control at random, all from one whole fabric of each seed.
EMBEDDED = (
    *_ways("late", "random magnitude sensitivity fisher gate label_free", 0.5, 0.75),
    *_ways("early", "random magnitude sensitivity", 0.75),
    *_ways("iterative", "random magnitude sensitivity", 0.75),
    *_ways("late", "magnitude", 0.75, level="links and weights"),
    *_ways("late", "magnitude", 0.75, level="weights"),
    *_ways("early", "magnitude", 0.75, level="links and weights"),
    *_ways("early", "magnitude", 0.75, level="weights"),
)
#: Enough to see everything at work.
CI = tuple(_ways("late", "random magnitude sensitivity", 0.5))
#: The published ones, with the control that it lacks.
PRINT = tuple(
    one
    for strategy in ("early", "iterative", "late")
    for one in _ways(strategy, "random magnitude sensitivity", 0.95, 0.97, 0.99, level="links then weights")
)


# The images of a study of pruning -------------------------------------------------------------------------------------

Classes = NDArray[np.int64]
#: Where each seed's images begin in the stream, so that no two have one in common.
_APART = 100_000


class Labelled(NamedTuple):
    """Images, the labels that they are given, and their classes."""

    images: ImageSet
    given: Classes
    true: Classes


class Split(NamedTuple):
    """All images of one seed under one noise."""

    fit: Labelled
    held: Labelled
    test: Labelled


@dataclass(frozen=True, slots=True, kw_only=True)
class ClutterSource:
    """Glyphs among clutter: each seed is trained on images of its own; the test is common to all.

    Attributes
    ----------
    level, size : int
        See :func:`demele.data.clutter`.
    n, held, test : int
        Images of a training; how many of these are held out for criteria; images of the test.
    """

    level: int
    size: int
    n: int
    held: int
    test: int

    def split(self, seed: int, noise: LabelNoise) -> Split:
        """Return the images of one seed with their labels."""
        own = _drawn(self.n, self.size, self.level, 1, _APART * seed)
        common = _drawn(self.test, self.size, self.level, 2, 0)
        given, seen = _clutter_given(own, noise), _clutter_given(common, noise)
        if noise.kind == "resubstitution":
            given, seen = resubstituted(own.images, own.true, common.images, common.true, noise.rate, seed)
        every, fit = Labelled(own.images, given, own.true), self.n - self.held
        test = Labelled(common.images, seen, common.true)
        return Split(_rows(every, np.arange(fit)), _rows(every, np.arange(fit, self.n)), test)

    def about(self) -> dict[str, Any]:
        """Return what the images are, as plain values."""
        images = clutter(self.n, size=self.size, level=self.level)
        return _about(images, 10, self.held, self.test, level=self.level)


def _rows(labelled: Labelled, rows: NDArray[Any]) -> Labelled:
    return Labelled(labelled.images.subset(rows), labelled.given[rows], labelled.true[rows])


def _about(images: ImageSet, classes: int, held: int, test: int, **more: Any) -> dict[str, Any]:
    shown = {"images": images.name, "shape": list(images.shape), "classes": classes, **more, "n": len(images)}
    return {**shown, "held": held, "test": test, "provenance": images.provenance}


class _Drawn(NamedTuple):
    source: Clutter
    images: ImageSet
    true: Classes


@lru_cache(maxsize=3)
def _drawn(n: int, size: int, level: int, seed: int, first: int) -> _Drawn:
    """Return a set of clutter, drawn once for all the ways that are compared on it."""
    source = Clutter(n, size=size, level=level, seed=seed, first=first)
    held = ArrayImages(source.images(np.arange(n)), name=source.name, provenance=source.provenance)
    return _Drawn(source, held, _classes(source))


def _clutter_given(drawn: _Drawn, noise: LabelNoise) -> Classes:
    if noise.kind == "uniform" or noise.kind == "visibility":
        return clutter_labels(drawn.source, noise.rate, noise.kind)
    return drawn.true


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSource:
    """Images of a user, such as CIFAR-10: every seed is trained on all of them, and holds out others.

    Attributes
    ----------
    train, test : ImageSet
        Their first factor is the class.
    held : int
    """

    train: ImageSet
    test: ImageSet
    held: int

    def split(self, seed: int, noise: LabelNoise) -> Split:
        """Return the images of one seed with their labels."""
        order = rng_for(seed, "pruning study", "held out").permutation(len(self.train))
        true, seen = _classes(self.train), _classes(self.test)
        if noise.kind == "resubstitution":
            given, known = resubstituted(self.train, true, self.test, seen, noise.rate, 0)
        else:
            given, known = uniform_given(true, noise, seed), uniform_given(seen, noise, 0)
        every = Labelled(self.train, given, true)
        fit, held = np.sort(order[self.held :]), np.sort(order[: self.held])
        return Split(_rows(every, fit), _rows(every, held), Labelled(self.test, known, seen))

    def about(self) -> dict[str, Any]:
        """Return what the images are, as plain values."""
        return _about(self.train, int(_classes(self.train).max()) + 1, self.held, len(self.test))


def _classes(images: ImageSet) -> Classes:
    return np.asarray(images.positions()[:, 0], dtype=np.int64)


def uniform_given(true: Classes, noise: LabelNoise, seed: int) -> Classes:
    """Return classes with uniform noise, if there is some."""
    if noise.kind == "none":
        return true
    return np.asarray(add_uniform_noise(true, noise.rate, seed=seed).labels, dtype=np.int64)


Source = ClutterSource | GivenSource


#: Labels by fabrics that this process has trained, by images, rate and seed: ways that are compared share them.
_BY_FABRICS: dict[tuple[str, str, float, int], Classes] = {}


def resubstituted(
    train: ImageSet, true: Classes, test: ImageSet, seen: Classes, rate: float, seed: int
) -> tuple[Classes, Classes]:
    """Return the labels that a random fabric gives to images of training and test, after training on both of them.

    Of random fabrics, it is the state whose error on them is nearest to the rate: at most a tenth of it away.

    Raises
    ------
    NotEnoughData
        If none comes near.
    """
    key = (train.digest, test.digest, rate, seed)
    if key not in _BY_FABRICS:
        from demele.models.fabric.annotators import annotator_recipe, fabric_annotators

        pixels = np.concatenate([one.images(np.arange(len(one))) for one in (train, test)])
        everything = ArrayImages(pixels, name=f"{train.name} and {test.name}")
        found = fabric_annotators(
            everything,
            np.concatenate([true, seen]),
            2,
            recipe=replace(annotator_recipe(), every=2),
            highest_error=min(1.0, 1.5 * rate),
            step=rate,
            tolerance=rate / 10,
            stop_at=0.8 * rate,
            most_fabrics=16,
            seed=seed,
        )
        away = np.abs(found.errors - rate)
        if away.min() > rate / 10:
            raise NotEnoughData("noises", f"no fabric mistook {rate:.0%} of the images; ask for another rate")
        _BY_FABRICS[key] = np.asarray(found.predictions[away.argmin()], dtype=np.int64)
    labels = _BY_FABRICS[key]
    return labels[: len(true)], labels[len(true) :]


def checked_given(data: Any, share: float) -> GivenSource:
    """Return images that a user gave: those of the training, less a share that is held out, and those of the test.

    Raises
    ------
    InputError, InputTypeError
    """
    pair = tuple(data) if isinstance(data, tuple | list) else ()
    if len(pair) != 2 or not all(isinstance(one, ImageSet) for one in pair):
        raise InputTypeError("data", f"expected two image sets, (training, test), got {quoted(data)}")
    train, test = pair
    for images, which in ((train, "training"), (test, "test")):
        if images.space is None:
            raise InputError("data", f"expected a factor, the class, of the images of the {which}")
    if train.shape != test.shape:
        raise InputError("data", f"expected images of one size, got {train.shape} and {test.shape}")
    if train.space.values[0] != test.space.values[0]:
        raise InputError("data", "expected the same classes in training and test")
    if len(train) < 2:
        raise InputError("data", f"expected two or more images of the training, got {len(train)}")
    return GivenSource(train=train, test=test, held=max(1, round(share * len(train))))


# Published claims about pruning, and the differences, paired by seed, that a study measures for them ------------------

Floats = NDArray[np.float64]
Expected = Literal["more", "equal", "less", ""]
Verdict = Literal["more", "less", "inconclusive"]

#: Of all noises together, the mean of each seed over them.
ALL = "all"
#: More seeds than anyone will run.
_MOST_SEEDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A difference that a publication, or a control, makes a statement about.

    Attributes
    ----------
    name : str
    title : str
        The two sides of the difference: "random minus magnitude".
    says : str
        The published statement with its place; for controls, the question that they answer.
    expected : {"more", "equal", "less", ""}
        The published sign: above 0, about 0, below 0; "" if nothing is published.
    measure : str
        Column of the rows.
    pairs : tuple of (str, str)
        Names of configurations: the value of the first minus that of the second, averaged over the pairs.
    baseline : str
        A noise whose difference is subtracted: the claim is that noise changes a difference.
    published : float or None
        The published difference, where a number is given.
    """

    name: str
    title: str
    says: str
    expected: Expected
    pairs: tuple[tuple[str, str], ...]
    measure: str = "error"
    baseline: str = ""
    published: float | None = None


#: In the order in which they are shown; they stand in ``claims.json``.
CLAIMS = tuple(
    Claim(**{**one, "pairs": tuple(map(tuple, one["pairs"]))})
    for one in json.loads(Path(__file__).with_name("claims.json").read_text(encoding="utf-8"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A claim under one noise: the difference, paired by seed.

    Attributes
    ----------
    claim : str
    noise : str
        Or "all": the mean over the noises of each seed.
    seeds : int
    pairs : int
        Of configurations, over which each seed is averaged.
    mean, spread : float
        Over seeds; the spread is a standard deviation.
    low, high : float
        Student's interval at 95 %, of this difference alone. NaN with one seed.
    p_value : float
        That of Student's test against 0.
    verdict : {"more", "less", "inconclusive"}
        Whether that interval lies above 0, below 0, or contains it.
    significant : bool
        Whether the difference stays significant after correction for all claims under the same labels (Holm, 5 %).
    first_lower, second_lower, ties : int
        Of all pairs and seeds, how often the value of the first was lower, that of the second, neither: the published
        counts.
    seeds_needed : int or None
        About how many seeds make such a difference significant with probability 80 %, at the level of one interval, if
        mean and spread stay the same; None if more than 1000, or with one seed.
    """

    claim: str
    noise: str
    seeds: int
    pairs: int
    mean: float
    spread: float
    low: float
    high: float
    p_value: float
    verdict: Verdict
    significant: bool
    first_lower: int
    second_lower: int
    ties: int
    seeds_needed: int | None


#: Value of a configuration under a noise with a seed, NaN where there is none.
Values = Mapping[tuple[str, str, int], float]


def differences(
    values: Mapping[str, Values], noises: Sequence[str], seeds: Sequence[int], claims: Sequence[Claim] = CLAIMS
) -> tuple[Difference, ...]:
    """Return the difference of every claim that the rows allow, under every noise and all of them together.

    Parameters
    ----------
    values : mapping of measure to mapping of (noise, configuration, seed) to float
    noises : sequence of str
    seeds : sequence of int
    claims : sequence of Claim

    Returns
    -------
    tuple of Difference
    """
    found = []
    for claim in claims:
        cells = {noise: _cells(claim, values.get(claim.measure, {}), noise, seeds) for noise in noises}
        if claim.baseline:
            base = cells.pop(claim.baseline, None)
            if base is None:
                continue
            cells = {noise: own - base for noise, own in cells.items()}
        known = {noise: own for noise, own in cells.items() if np.isfinite(own).any()}
        for noise, own in known.items():
            found.append(_difference(claim, noise, own))
        if len(known) > 1:
            found.append(_difference(claim, ALL, np.stack(list(known.values()))))
    there = [one for one in found if one is not None]
    significant: dict[int, bool] = {}
    for noise in (*noises, ALL):
        family = [one for one in there if one.noise == noise]
        flags = holm(np.array([one.p_value for one in family], dtype=float), 0.05)
        significant |= {id(one): bool(flag) for one, flag in zip(family, flags, strict=True)}
    return tuple(replace(one, significant=significant[id(one)]) for one in there)


def _cells(claim: Claim, values: Values, noise: str, seeds: Sequence[int]) -> Floats:
    """Return the difference of each pair of configurations that is there with each seed: shape (pairs, seeds)."""
    rows = [
        [values.get((noise, first, seed), math.nan) - values.get((noise, second, seed), math.nan) for seed in seeds]
        for first, second in claim.pairs
    ]
    return np.array(rows, dtype=float).reshape(len(claim.pairs), len(seeds))


def _difference(claim: Claim, noise: str, cells: Floats) -> Difference | None:
    """Return the difference over cells of shape (pairs, seeds) or (noises, pairs, seeds); incomplete seeds are out."""
    flat = cells.reshape(-1, cells.shape[-1])
    flat = flat[np.isfinite(flat).any(axis=1)]  # pairs of configurations that this study does not have
    flat = flat[:, np.isfinite(flat).all(axis=0)]
    if not flat.size:
        return None
    own = flat.mean(axis=0)
    mean, spread = float(own.mean()), float(own.std(ddof=1)) if own.size > 1 else math.nan
    low, high, p_value = student(own)
    return Difference(
        claim=claim.name,
        noise=noise,
        seeds=own.size,
        pairs=len(flat),
        mean=mean,
        spread=spread,
        low=low,
        high=high,
        p_value=p_value,
        verdict="more" if low > 0 else "less" if high < 0 else "inconclusive",
        significant=False,
        first_lower=int((flat < 0).sum()),
        second_lower=int((flat > 0).sum()),
        ties=int((flat == 0).sum()),
        seeds_needed=seeds_needed(mean, spread),
    )


def seeds_needed(mean: float, spread: float, *, power: float = 0.8, level: float = 0.95) -> int | None:
    """Return how many pairs Student's test needs for a mean difference to be significant with some probability.

    Parameters
    ----------
    mean, spread : float
        Of the differences.
    power, level : float in (0, 1)

    Returns
    -------
    int or None
        None if more than 1000, or if mean or spread are not known.

    Notes
    -----
    The smallest n with P(|T| > t) >= power, T being noncentral t with n - 1 degrees of freedom and centre
    sqrt(n) mean / spread.

    Examples
    --------
    >>> seeds_needed(1.0, 1.0), seeds_needed(0.5, 1.0), seeds_needed(0.01, 1.0)
    (10, 34, None)
    """
    if not (math.isfinite(mean) and math.isfinite(spread)) or not mean:
        return None
    if spread == 0:
        return 2
    effect = abs(mean) / spread
    # Enough if the spread were known: Student's test needs a few more.
    normal = statistics.NormalDist()
    n = max(2, math.floor(((normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) / effect) ** 2))
    while n <= _MOST_SEEDS and _power(n, effect, level) < power:
        n += 1
    return n if n <= _MOST_SEEDS else None


def _power(n: int, effect: float, level: float) -> float:
    """Return the power of Student's test for a mean that is ``effect`` times the spread."""
    from scipy import stats

    limit, centre = float(stats.t.ppf((1 + level) / 2, n - 1)), math.sqrt(n) * effect
    return float(stats.nct.sf(limit, n - 1, centre) + stats.nct.cdf(-limit, n - 1, centre))


def all_pairs(claims: Sequence[Claim] = CLAIMS) -> tuple[tuple[str, str], ...]:
    """Return the pairs of configurations whose errors some claim compares, each once."""
    return tuple(dict.fromkeys(pair for claim in claims if claim.measure == "error" for pair in claim.pairs))
