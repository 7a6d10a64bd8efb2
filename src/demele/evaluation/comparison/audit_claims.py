"""From what an audit shows of errors to how far an estimated difference, or a measure, may be off."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.evaluation.comparison.audit_effects import Effects
from demele.evaluation.comparison.audit_guess import CELLS_AT_ONCE
from demele.evaluation.rare_sums import Guard, SampledSum, lower_bound, upper_bound
from demele.noise.audit import CodedAudit

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

#: Numbers that an estimate takes from the audit: two weights and the mean.
FITTED = 3
#: However sure the guess, an error is taken to be this likely, when the weight of unseen errors is judged by it.
DISTRUST = 0.03


@dataclass(frozen=True, slots=True)
class Evidence:
    """Errors of the guess on one side, against a claim or for it; arrays of the same shape.

    Attributes
    ----------
    sampled : SampledSum
    certain : array
        Sum of the errors met, without weights: the sum over all rows is at least this.
    room : array
        The most that the rows which were not audited can add to it.
    """

    sampled: SampledSum
    certain: Floats
    room: Floats

    @property
    def total(self) -> Floats:
        """Estimated sum over all rows, within what is certain."""
        return np.clip(self.sampled.total, self.certain, self.certain + self.room)

    def high(self, guard: Guard, tail: float | Floats) -> Floats:
        """Upper bound of the sum over all rows."""
        return np.clip(upper_bound(self.sampled, guard, tail), self.total, self.certain + self.room)

    def low(self, tail: float | Floats) -> Floats:
        """Lower bound of the sum over all rows."""
        return np.clip(lower_bound(self.sampled, tail), self.certain, self.total)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How far the sampling of the test set may move a difference; arrays of shape (pairs,).

    ``step``: what one row moves. ``degrees``: of freedom that the variance of groups has; None: of rows apart.
    """

    variance: Floats
    step: Floats
    degrees: Floats | None = None

    def reach(self, tail: float | Floats) -> Floats:
        """Distance at an error of ``tail``."""
        from scipy.special import ndtri, stdtrit

        quantile = -(ndtri(tail) if self.degrees is None else stdtrit(self.degrees, tail))
        found: Floats = quantile * np.sqrt(self.variance) + self.step
        return found


@dataclass(frozen=True, slots=True)
class Claim:
    """What speaks against a claim and for it, from the audit; and the sampling of the test set, or None."""

    against: Evidence
    favour: Evidence
    guard: Guard
    sampling: Sampling | None

    def distance(self, tail: float | Floats) -> Floats:
        """How far below its estimate the difference may be, at an error of ``tail``."""
        squared = (self.against.high(self.guard, tail) - self.against.total) ** 2
        squared += (self.favour.total - self.favour.low(tail)) ** 2
        if self.sampling is not None:
            squared += self.sampling.reach(tail) ** 2
        found: Floats = np.sqrt(squared)
        return found

    def p_value(self, excess: Floats) -> Floats:
        """Smallest error at which the claim would be made; 1 where the estimate itself speaks against it."""
        from scipy.special import ndtr

        result = np.ones_like(excess)
        open_ = np.flatnonzero(excess > 0)
        claim, beyond = self.at(open_), excess[open_]
        made, unmade = np.zeros_like(beyond), np.full_like(beyond, 9.0)
        for _ in range(30):
            middle = (made + unmade) / 2
            stands = claim.distance(ndtr(-middle)) < beyond
            made, unmade = np.where(stands, middle, made), np.where(stands, unmade, middle)
        result[open_] = np.where(made > 0, ndtr(-made), 0.5)
        return result

    def at(self, where: Any) -> "Claim":
        """Return those of some pairs."""
        found: Claim = _each(lambda values: values[where], self)
        return found


@dataclass(frozen=True, slots=True)
class Drawn:
    """How the audited rows were drawn: weight = 1 / inclusion probability, shape (k,).

    ``strata``: of a stratified design, the weight of each stratum.
    """

    weight: Floats
    uniform: bool
    strata: Floats | None = None

    @classmethod
    def of(cls, audit: CodedAudit) -> "Drawn":
        """Read it from an audit."""
        weight, strata = 1 / audit.inclusion, None
        if audit.within is not None:
            strata = np.array([weight[drawn].max(initial=1.0) for _, drawn in audit.strata])
        return cls(weight, audit.design == "uniform", strata)

    def evidence(self, errors: Floats, capacity: Floats, threat: Floats) -> Evidence:
        """Gather errors >= 0, shape (pairs, k); ``capacity`` and ``threat``: largest possible, of all and of these."""
        k = self.weight.size
        spare = k / (k - FITTED) if k > 2 * FITTED else 2.0
        room = np.maximum(capacity - threat.sum(axis=-1), 0.0)
        return Evidence(SampledSum.of(errors, self.weight, spare=spare), errors.sum(axis=-1), room)

    def guard(self, loss: Floats, largest: Floats, chance: Floats | None = None, *, uneven: bool = False) -> Guard:
        """Return the weight and the size of one unseen error.

        Uniform audits: the largest there is. Weighted ones: means over the audited rows that could have had one,
        ``loss`` > 0 of shape (pairs, k), each as likely (or by ``chance``): a wrong label that repeats one of the two
        classifiers can be on any of their disagreements, whether a pool contradicts it or not. The means get one more
        row, with the largest possible error and the largest weight of those rows: if one disagreement was drawn, with a
        small possible loss, the others could still lose much. Stratified audits get one such row per stratum:
        ``largest`` has shape (strata, pairs), or (1, pairs) if it is the same for all rows.

        Where what rows can lose is ``uneven``, as between a rare class and a frequent one, no more row stands there:
        any row may truly be of the rare class, so that with the largest error there is intervals say nothing.
        """
        heaviest = np.full(largest.shape[1:], self.weight.max())
        if self.uniform:
            return Guard(heaviest, largest[0])
        each = loss if chance is None else (chance + DISTRUST) * loss
        spread = self.weight * (self.weight - 1)
        worst = np.where(loss > 0, self.weight, 0.0).max(axis=-1)
        worst = np.where(worst > 1, worst, heaviest)[None] if self.strata is None else self.strata[:, None]
        own = (0.0 if uneven else largest) * worst * (worst - 1)
        size = each @ spread + own.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where(size > 0, (each @ (spread * self.weight) + (own * worst).sum(axis=0)) / size, heaviest)
            amount = ((each * loss) @ spread + (own * largest).sum(axis=0)) / size
        return Guard(weight, np.where(size > 0, amount, largest.max(axis=0)))


def _each(function: Any, *parts: Any) -> Any:
    """Apply a function to the arrays in dataclasses of one kind, place by place."""
    if not is_dataclass(parts[0]):
        return None if parts[0] is None else function(*parts)
    columns = ([getattr(part, one.name) for part in parts] for one in fields(parts[0]))
    kind: Any = type(parts[0])
    return kind(*(_each(function, *column) for column in columns))


def claims_of(
    effects: Effects, drawn: Drawn, first: Positions, second: Positions, sampling: Sampling | None = None
) -> tuple[Claim, Claim]:
    """Return the claims that the second, and that the first, of each pair is better; each ordered pair is done once.

    Where the first is nobody, unseen errors are as likely as the guess says, plus 3%, and not uneven.
    """
    models, own = effects.nobody + 1, bool((first == effects.nobody).all())
    codes, places = np.unique(np.concatenate([first * models + second, second * models + first]), return_inverse=True)
    parts = []
    size = max(1, CELLS_AT_ONCE // drawn.weight.size)
    for start in range(0, codes.size, size):
        one, other = np.divmod(codes[start : start + size], models)
        error = effects.error[other] - effects.error[one]
        (loss, chance), gain = effects.losses(one, other), effects.losses(other, one)[0]
        uneven = effects.uneven and not own
        guard = drawn.guard(loss, effects.largest(one, other), chance if own or uneven else None, uneven=uneven)
        against = drawn.evidence(np.maximum(-error, 0), effects.capacity(one, other), loss)
        favour = drawn.evidence(np.maximum(error, 0), effects.capacity(other, one), gain)
        parts.append(Claim(against, favour, guard, None))
    whole: Claim = _each(lambda *values: np.concatenate(values), *parts)
    forward, backward = (replace(whole.at(at), sampling=sampling) for at in np.split(places, [first.size]))
    return forward, backward


def margins(
    effects: Effects, drawn: Drawn, *, level: float, sampled: bool, share: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Interval of each model's measure, shape (m,) each end. ``share``: of the rows, where they come in groups."""
    nobody = np.full(effects.nobody, effects.nobody)
    below, above = (
        claim.distance((1 - level) / 2) for claim in claims_of(effects, drawn, nobody, np.arange(nobody.size))
    )
    if sampled:
        reach = effects.sampling_reach(level, share)
        below, above = np.hypot(below, reach[0]), np.hypot(above, reach[1])
    return np.clip(effects.value - below, effects.lowest, 1), np.clip(effects.value + above, effects.lowest, 1)
