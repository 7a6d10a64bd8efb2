"""The scenarios that come with demele: what each draws by severity, which metrics cannot take part, and their names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demele.bench.expectations import Candidate, Draw, Holds, Representation, Scenario, expectation_of, own_settings
from demele.core.arrays import Floats, rng_for
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.kinds import Count, Seed, checked, checked_count, checked_share, suggestion
from demele.core.table_columns import items_of
from demele.metrics.catalogue import CATALOGUE
from demele.noise.transition import TransitionMatrix

# Those of the review -------------------------------------------------------------------------------------------------


#: Factors, and codes, of all but one of the scenarios.
M = 8


def noisy(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    """Return codes that are each a share of their factor and, by ``severity``, of noise; eq. 3.1 of the review."""
    factors = rng.random((n, M))
    return (1 - severity) * factors + severity * rng.random((n, M)), factors


def _mixing(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    # v R with 1 - a on the diagonal of R and a on the next column, cyclic: code j holds factor j and a share of j - 1
    factors = rng.random((n, M))
    return (1 - severity) * factors + severity * np.roll(factors, 1, axis=1), factors


def tangent(factors: Floats, severity: float) -> Floats:
    """Return the review's one-to-one map of [0, 1] onto itself, eq. 3.3: nearly linear at 0, steep at the ends at 1."""
    width = 2 * np.arctan(1000 ** (severity - 0.25) / 2)
    mapped: Floats = 1000 ** (0.25 - severity) * np.tan(width * (factors - 0.5)) + 0.5
    return mapped


def _non_linear(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    factors = rng.random((n, M))
    return tangent(factors, severity), factors


def _redundant(rng: np.random.Generator, severity: float, n: int) -> Representation:
    if severity == 1:
        angles = rng.uniform(0, 2 * np.pi, (n, 4))
        codes = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(n, M)
        return Representation(codes=codes, factors=angles, kinds="continuous", reg_dim=tuple(range(0, M, 2)))
    n_factors, copies = {2: (4, 2), 3: (2, 4), 4: (4, 4)}[int(severity)]
    factors = rng.random((n, n_factors))
    first = tuple(range(0, n_factors * copies, copies))
    return Representation(codes=np.repeat(factors, copies, axis=1), factors=factors, reg_dim=first)


def _partial(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    factors = rng.random((n, M))
    return factors, factors[:, : int(severity)]


# Other directions of space: turned, stretched, twisted, with nothing lost ---------------------------------------------


#: Distance from the centre to the corner of a pair of factors that run from -1/2 to 1/2.
_CORNER = np.sqrt(0.5)


def _centred(rng: np.random.Generator, n: int) -> Floats:
    return rng.uniform(-0.5, 0.5, (n, M))


def _turned(factors: Floats, angles: Floats | float) -> Floats:
    """Turn the pairs of columns (1, 2), (3, 4), ... by an angle for each row and pair, or by one for all."""
    first, second = factors[:, 0::2], factors[:, 1::2]
    codes = np.empty_like(factors)
    codes[:, 0::2] = np.cos(angles) * first - np.sin(angles) * second
    codes[:, 1::2] = np.sin(angles) * first + np.cos(angles) * second
    return codes


def rotated(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    """Return perfect codes whose axes are turned in pairs by a share of 45 degrees."""
    factors = _centred(rng, n)
    return _turned(factors, severity * np.pi / 4), factors


def _oblique(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    # W = U diag(s) U^T with U uniform over all rotations and the logarithms of s evenly spaced, so that their ratio is
    # the severity. Written as identity + U diag(s - 1) U^T, it is the identity to the last bit where s = 1
    factors = _centred(rng, n)
    directions, upper = np.linalg.qr(rng.standard_normal((M, M)))
    directions *= np.sign(np.diag(upper))  # without the signs, a QR decomposition is not uniform
    stretch = severity ** np.linspace(-0.5, 0.5, M)
    return factors @ (np.eye(M) + (directions * (stretch - 1)) @ directions.T), factors


def _twist(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    # the radius stays, so the angle of a row is known from its codes, and the map can be turned back
    factors = _centred(rng, n)
    radius = np.hypot(factors[:, 0::2], factors[:, 1::2])
    return _turned(factors, 2 * np.pi * severity * radius / _CORNER), factors


# Defects of columns and of rows ---------------------------------------------------------------------------------------


#: Factors of the scenario with copies: four copies of eight would be many codes.
M_COPIED = 4
#: The value of columns that do not vary.
FLAT = 0.5


def _inactive(rng: np.random.Generator, severity: float, n: int) -> Representation:
    factors = rng.random((n, M))
    dead = np.full((n, int(severity)), FLAT)
    return Representation(codes=np.hstack([factors, dead]), factors=factors)


def _duplicated(rng: np.random.Generator, severity: float, n: int) -> Representation:
    copies = int(severity)
    factors = rng.random((n, M_COPIED))
    first = tuple(range(0, M_COPIED * copies, copies))
    return Representation(codes=np.repeat(factors, copies, axis=1), factors=factors, reg_dim=first)


def _constant_factor(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    factors = rng.random((n, M))
    factors[:, M - int(severity) :] = FLAT
    return factors, factors


def _categorical(rng: np.random.Generator, severity: float, n: int) -> Representation:
    # every class fills an interval of the code of its own; the order of the intervals is not that of the classes
    n_classes = int(severity)
    classes = rng.integers(0, n_classes, (n, M))
    order = rng.permuted(np.tile(np.arange(n_classes), (M, 1)), axis=1)
    place = order[np.arange(M), classes]
    return Representation(codes=(place + rng.random((n, M))) / n_classes, factors=classes, kinds="categorical")


#: How many times too large the codes of an outlying row are.
OUTLYING = 50.0


def _correlated(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    # a Gaussian copula: one part that all factors share, one of each factor's own, then uniform margins
    from scipy.special import ndtr

    shared = rng.standard_normal((n, 1))
    factors: Floats = ndtr(np.sqrt(severity) * shared + np.sqrt(1 - severity) * rng.standard_normal((n, M)))
    return factors, factors


def _annotation_noise(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    factors = rng.random((n, M))
    wrong = rng.random((n, M)) < severity
    return factors, np.where(wrong, rng.random((n, M)), factors)


def _outliers(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    factors = rng.random((n, M))
    codes = factors.copy()
    codes[rng.choice(n, size=round(severity * n), replace=False)] *= OUTLYING
    return codes, factors


def _tied(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    factors = rng.random((n, M))
    return np.maximum(factors, severity), factors


def _heavy_tails(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    # at 0 the codes are the factors: normal quantiles, the limit of many degrees of freedom, would not be perfect for
    # metrics that cut the range into bins of equal width, and the sweep is to start from the perfect representation
    from scipy.special import stdtrit

    factors = rng.random((n, M))
    if severity == 0:
        return factors, factors
    inner = np.maximum(factors, 2.0**-54)  # a uniform draw of exactly 0 has no finite quantile
    codes: Floats = stdtrit(1 / severity, inner)
    return codes, factors


# Sizes and settings ---------------------------------------------------------------------------------------------------


#: Share of noise in codes that are neither perfect nor useless.
SOME_NOISE = 0.2


def _sample_size(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    # the severity is the number of rows; a run leaves out those beyond its own
    factors = rng.random((int(severity), M))
    return factors, factors


def _chance(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    # as for sample_size, the severity is the number of rows
    factors = rng.random((int(severity), M))
    return rng.random((int(severity), M)), factors


def _varies_bins(group: str) -> bool:
    """Whether bins are the option of its own: so few that they decide which rows agree on factors."""
    return own_settings().get(group, ("", ()))[0] == "bins"


def _bins(rng: np.random.Generator, severity: float, n: int) -> Representation:
    codes, factors = noisy(rng, SOME_NOISE, n)
    binned = {metric.group for metric in CATALOGUE.values() if metric.discretises and not _varies_bins(metric.group)}
    options = {group: {"bins": int(severity)} for group in sorted(binned)}
    return Representation(codes=codes, factors=factors, options=options)


def _takes_no_bins(candidate: Candidate) -> str | None:
    if _varies_bins(candidate.group):
        return "takes few bins of its own: see the scenario of settings"
    if candidate.function is None and candidate.discretises:
        return None
    return "takes no number of bins"


#: Share of noise in the codes: most settings do not matter to a perfect code.
NOISE_SHARE = 0.6
#: Multiples of the default; the default itself comes first.
MULTIPLES = (1.0, 0.25, 0.5, 2.0, 4.0)


def _settings(rng: np.random.Generator, severity: float, n: int) -> Representation:
    codes, factors = noisy(rng, NOISE_SHARE, n)
    place = MULTIPLES.index(severity)
    options = {group: {option: values[place]} for group, (option, values) in own_settings().items()}
    return Representation(codes=codes, factors=factors, options=options)


def _has_none(candidate: Candidate) -> str | None:
    if candidate.function is None and candidate.group in own_settings():
        return None
    return "has no setting of its own"


# Defects that an option of a score corrects: wrong annotations with known errors --------------------------------------


#: Classes of each factor.
CLASSES = 5


def _mislabelled(rng: np.random.Generator, severity: float, n: int) -> Representation:
    # as in "categorical" every class has an interval of the code, but codes are partly noise: a score of 1 on true
    # annotations would hide corrections that go too far. A wrong annotation is the next class, the last one's the first
    classes = rng.integers(0, CLASSES, (n, M))
    codes = (1 - SOME_NOISE) * (classes + rng.random((n, M))) / CLASSES + SOME_NOISE * rng.random((n, M))
    wrong = rng.random((n, M)) < severity
    mistaken = TransitionMatrix((1 - severity) * np.eye(CLASSES) + severity * np.roll(np.eye(CLASSES), 1, axis=1))
    return Representation(
        codes=codes,
        factors=np.where(wrong, (classes + 1) % CLASSES, classes),
        kinds="categorical",
        factor_noise={f"v{number}": mistaken for number in range(1, M + 1)},
    )


def _not_corrected(candidate: Candidate) -> str | None:
    known = CATALOGUE.find(candidate.name)
    return None if known is not None and "transition" in known.corrected_by else "no transition corrects it"


# Changes that say the same in another form ----------------------------------------------------------------------------


#: Share of noise, and of a second factor, in every code: scores are neither 0 nor 1, so that they can move.
SHARE = 0.2
Change = Callable[[np.random.Generator, Floats, Floats], dict[str, Any]]


def _rows_permuted(rng: np.random.Generator, codes: Floats, factors: Floats) -> dict[str, Any]:
    order = rng.permutation(len(codes))
    return {"codes": codes[order], "factors": factors[order]}


def _codes_permuted(rng: np.random.Generator, codes: Floats, factors: Floats) -> dict[str, Any]:
    # the code of factor i is now where i stands in the order
    order = rng.permutation(M)
    return {"codes": codes[:, order], "reg_dim": tuple(np.argsort(order).tolist())}


def _factors_permuted(rng: np.random.Generator, codes: Floats, factors: Floats) -> dict[str, Any]:
    order = rng.permutation(M)
    return {"factors": factors[:, order], "reg_dim": tuple(order.tolist())}


#: What is done to the representation, in the order of the severities: returns what it changes.
CHANGES: dict[str, Change] = {
    "as it is": lambda rng, codes, factors: {},
    "rows permuted": _rows_permuted,
    "codes permuted": _codes_permuted,
    "factors permuted": _factors_permuted,
    "codes times 1000": lambda rng, codes, factors: {"codes": 1000 * codes},
    "codes shifted": lambda rng, codes, factors: {"codes": codes + 10},
    "codes mirrored": lambda rng, codes, factors: {"codes": codes * np.where(np.arange(M) % 2, -1.0, 1.0)},
    "every factor in another unit": lambda rng, codes, factors: {"factors": 2 * factors + 3},
    "codes cubed about their centre": lambda rng, codes, factors: {"codes": (codes - 0.5) ** 3},
    "rows doubled": lambda rng, codes, factors: {
        "codes": np.repeat(codes, 2, axis=0),
        "factors": np.repeat(factors, 2, axis=0),
    },
}


def _invariances(rng: np.random.Generator, severity: float, n: int) -> Representation:
    # the data come from the stream first, permutations after them: every change starts from the same bits
    factors = rng.random((n, M))
    mixed = (1 - SHARE) * factors + SHARE * np.roll(factors, 1, axis=1)
    codes = (1 - SHARE) * mixed + SHARE * rng.random((n, M))
    changed = list(CHANGES.values())[int(severity)](rng, codes, factors)
    return Representation(**{"codes": codes, "factors": factors, **changed})


#: By the names that ``scenarios.json`` has.
DRAWS: Mapping[str, Draw] = {
    one.__name__.strip("_"): one
    for one in (
        *(noisy, _mixing, _non_linear, _redundant, _partial, rotated, _oblique, _twist, _inactive, _duplicated),
        *(_constant_factor, _categorical, _correlated, _annotation_noise, _outliers, _tied, _heavy_tails),
        *(_sample_size, _chance, _bins, _settings, _mislabelled, _invariances),
    )
}
DECLINES = {one.__name__.strip("_"): one for one in (_takes_no_bins, _has_none, _not_corrected)}


# By name --------------------------------------------------------------------------------------------------------------


def _scenario(entry: dict[str, Any]) -> Scenario:
    """Return a scenario of the file; ``because`` is for its readers."""
    entry.pop("because", "")
    wanted = {key: tuple(map(expectation_of, several)) for key, several in entry.pop("wanted", {}).items()}
    functions: dict[str, Any] = {"draw": DRAWS[entry.pop("draw")], "declines": DECLINES.get(entry.pop("declines", ""))}
    lists: dict[str, Any] = {"severities": tuple(entry.pop("severities")), "labels": tuple(entry.pop("labels", ()))}
    return Scenario(**entry, **functions, **lists, wanted=wanted)


#: They stand in ``scenarios.json``, with every threshold.
SCENARIOS: dict[str, Scenario] = {
    entry["name"]: _scenario(entry)
    for entry in json.loads(Path(__file__).with_name("scenarios.json").read_text(encoding="utf-8"))
}
#: Names that stand for several.
_SETS = ("source", "added", "all")


def scenario_names() -> list[str]:
    """Return the names of the scenarios, those of the review first.

    Examples
    --------
    >>> from demele import bench
    >>> bench.scenario_names()[:5]
    ['noise', 'mixing', 'non_linear', 'redundant', 'partial']
    """
    return list(SCENARIOS)


def scenario(name: str) -> Scenario:
    """Return a scenario by name.

    Parameters
    ----------
    name : str
        One of :func:`scenario_names`.

    Returns
    -------
    Scenario

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> from demele import bench
    >>> bench.scenario("mixing").severities
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    """
    if isinstance(name, str) and name in SCENARIOS:
        return SCENARIOS[name]
    hint = suggestion(name, [*SCENARIOS, *_SETS]) if isinstance(name, str) else ""
    raise UnknownNameError("scenarios", f"unknown scenario {quoted(name)}{hint}")


def chosen_scenarios(scenarios: Sequence[str | Scenario] | str | Scenario | None) -> tuple[Scenario, ...]:
    """Return scenarios for names, sets of names ("source", "added", "all") and objects, each once; None is all."""
    if scenarios is None:
        return tuple(SCENARIOS.values())
    listed = [scenarios] if isinstance(scenarios, str | Scenario) else scenarios
    chosen: dict[str, Scenario] = {}
    for item in items_of(listed, "scenarios", "names or Scenario objects"):
        if not isinstance(item, str | Scenario):
            raise InputTypeError("scenarios", f"expected a name or a Scenario, got {type(item).__name__}")
        is_set = isinstance(item, str) and item in _SETS
        several = [one for one in SCENARIOS.values() if item == "all" or (one.kind == "source") == (item == "source")]
        for found in several if is_set else [scenario(item) if isinstance(item, str) else item]:
            if SCENARIOS.get(found.name, found).draw is not found.draw:
                raise InputError("scenarios", f"{found.name!r} is a scenario of demele; give yours another name")
            if chosen.setdefault(found.name, found) is not found:
                raise InputError("scenarios", f"two are called {found.name!r}; rename one")
    if not chosen:
        raise InputError("scenarios", "expected at least one, got none")
    return tuple(chosen.values())


# A process whose factors have a common cause --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfoundedProcess:
    """A disentangled causal process: no factor acts on another, and a confounder acts on all (Suter et al. 2019).

    Parameters
    ----------
    strength : float in [0, 1]
        Probability with which a factor has the value of the confounder; else it is drawn by itself. Each value of each
        factor is as likely at any strength.
    leak : float in [0, 1]
        Share of the next factor in each code; the last code holds some of the first factor.
    n_factors, n_values : int
        Each factor is a whole number from 0.

    Notes
    -----
    By hand: the mean of factor j where factor i was seen to be v is s^2 v + (1 - s^2) m, m the mean of all values;
    where i was set to v, it is m. So the robustness of a code to all factors but its own is 1 - leak under
    interventions, at any strength. From rows as they come, :func:`demele.metrics.interventional_robustness` finds
    1 - leak (1 + 2 s^2 / 3) with four values: it compares with the mean of rows that have a value, not of rows that are
    set to it.

    Examples
    --------
    >>> process = ConfoundedProcess(strength=0.5)
    >>> seen, _ = process.observe(20_000)
    >>> chosen, factors = process.intervene(20_000, {0: 3})
    >>> set(factors[:, 0].tolist()), round(float(factors[:, 1].mean()), 1)
    ({3.0}, 1.5)
    """

    strength: float = 0.5
    leak: float = 0.0
    n_factors: int = 3
    n_values: int = 4

    def __post_init__(self) -> None:
        for what in ("strength", "leak"):
            checked_share(getattr(self, what), what, 0, 1, "[]")
        for what in ("n_factors", "n_values"):
            checked_count(getattr(self, what), what, 2)

    @checked
    def observe(self, n: Count, *, seed: Seed = 0) -> tuple[Floats, Floats]:
        """Return codes and factors of ``n`` rows as they come."""
        return self._drawn(rng_for(seed, "confounded"), n, {})

    @checked
    def intervene(self, n: Count, do: Mapping[int, int], *, seed: Seed = 0) -> tuple[Floats, Floats]:
        """Return codes and factors of ``n`` rows where some factors are set to a value, whatever the confounder is.

        Raises
        ------
        InputError
            For a factor or a value that there is not.
        """
        for factor, value in do.items():
            if not (0 <= factor < self.n_factors and 0 <= value < self.n_values):
                raise InputError(
                    "do", f"expected factors below {self.n_factors} and values below {self.n_values}, got {dict(do)}"
                )
        return self._drawn(rng_for(seed, "confounded"), n, do)

    def _drawn(self, rng: np.random.Generator, n: int, do: Mapping[int, int]) -> tuple[Floats, Floats]:
        common = rng.integers(0, self.n_values, (n, 1))
        own = rng.integers(0, self.n_values, (n, self.n_factors))
        factors = np.where(rng.random((n, self.n_factors)) < self.strength, common, own).astype(np.float64)
        for factor, value in do.items():
            factors[:, factor] = value
        return (1 - self.leak) * factors + self.leak * np.roll(factors, -1, axis=1), factors


def _perfect(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    return ConfoundedProcess(strength=severity)._drawn(rng, n, {})


def confounded_scenario() -> Scenario:
    """Return the scenario of a confounder: scores of perfect codes should stay while their factors come together.

    Examples
    --------
    >>> from demele import bench
    >>> found = bench.check_metrics(["irs"], bench.confounded_scenario(), seeds=2, n_rows=500)
    >>> found.verdict("irs", "confounded").status
    'holds'
    """
    return Scenario(
        name="confounded",
        title="Confounded",
        question="Does the score of perfect codes stay when a common cause makes factors come together?",
        sweep="share of each factor that is the confounder",
        severities=(0.0, 0.2, 0.4, 0.6, 0.8),
        draw=_perfect,
        source="Suter, Miladinovic, Schoelkopf & Bauer 2019, definition 1",
        wanted={"any": (Holds(),)},
    )
