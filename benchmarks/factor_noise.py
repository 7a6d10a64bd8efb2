"""Scores corrected for noisy factors, in worlds where the truth is known: bias, RMSE, coverage; and the check.

python -m benchmarks.factor_noise     goes on where it stopped; writes factor_noise.csv into results

Explicitness, whose classifiers stay trained on the annotations as given, is compared in each simulation with the areas
of the same classifiers on the same unseen rows by their true values: its bias is the mean difference from these.
"""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import demele
from benchmarks.loop import Table, main
from demele.core.arrays import rng_for
from demele.core.inputs import read_pair
from demele.core.results import Score
from demele.core.signature import Signature
from demele.estimation.logistic import explicitness_by_value
from demele.labels import Audit, TransitionMatrix, draw_audit
from demele.metrics.data import split
from demele.metrics.options import Run
from demele.metrics.protocols import protocol
from demele.metrics.request import chosen_metrics, requests_of, resolved
from demele.metrics.source import InMemory, Subject
from demele.scoring.noisy_case import Case, NotCorrected, signed_tables
from demele.scoring.noisy_factors import FARTHEST, Work, by_transition, checked_noise, disagreement, of_tables

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
METRICS = ("mig", "mig_sup", "dcimig", "jemmig")
ROWS, VALUES, FACTORS, CODES, BINS = 10_000, 6, 4, 6, 10
SIMULATIONS, RESAMPLES, LEVEL = 200, 40, 0.90
#: Simulations of errors that follow the codes in which the check is made.
CHECKED = 100
#: Simulations of Explicitness, each of which fits the classifiers of 21 sets of rows.
FITTED = 20


@dataclass(frozen=True)
class World:
    """Where values come from, how codes hold them, and how they are mistaken.

    ``blur``: standard deviation of a code about its factor, in steps of a value; ``shape`` of the Dirichlet
    distribution that priors and mistakes are drawn from.
    """

    seed: int
    blur: float
    shape: float

    @property
    def priors(self) -> Floats:
        """Probabilities of the values, (n_factors, K)."""
        return rng_for(self.seed, "priors").dirichlet([self.shape * 3] * VALUES, FACTORS)

    def transitions(self, rate: float) -> Floats:
        """Transitions (n_factors, K, K) whose errors are one rate in all, uneven between values."""
        rng = rng_for(self.seed, "transitions")
        found = np.zeros((FACTORS, VALUES, VALUES))
        for i, prior in enumerate(self.priors):
            own = rng.uniform(0.5, 1.5, VALUES)
            own *= rate / (own @ prior)
            for value in range(VALUES):
                others = np.delete(np.arange(VALUES), value)
                found[i, value, others] = own[value] * rng.dirichlet([self.shape] * (VALUES - 1))
                found[i, value, value] = 1 - own[value]
        return found


WORLDS = {"1": World(11, 0.90, 2.0), "2": World(29, 1.15, 5.0)}
#: How codes hold the factors: one each, or mixed with the next one.
Kind = Literal["modular", "mixed"]


@dataclass(frozen=True)
class Cell:
    """One world, representation, kind of errors and rate; and what is measured there."""

    world: str
    codes: Kind
    errors: Literal["independent", "follows"]
    rate: float
    measures: Literal["tables", "check", "explicitness"] = "tables"

    @property
    def simulations(self) -> int:
        """How many there are."""
        if self.measures == "explicitness":
            return FITTED
        return CHECKED if self.measures == "check" and self.errors == "follows" else SIMULATIONS

    @property
    def drawn(self) -> str:
        """Name of what is drawn."""
        return f"{self.world} {self.codes} {self.errors} {self.rate:g}"

    @property
    def name(self) -> str:
        """Name in the store."""
        return self.drawn if self.measures == "tables" else f"{self.measures} {self.drawn}"


CELLS = [
    *(Cell(world, "modular", "independent", rate) for world in WORLDS for rate in (0.05, 0.10, 0.20)),
    *(Cell(world, "modular", "follows", rate) for world in WORLDS for rate in (0.05, 0.10)),
    *(Cell(world, "modular", "independent", rate, "check") for world in WORLDS for rate in (0.05, 0.10)),
    *(Cell(world, "modular", "follows", 0.05, "check") for world in WORLDS),
    *(Cell(world, "mixed", errors, 0.10) for world in WORLDS for errors in ("independent", "follows")),
    *(Cell(world, "modular", "independent", rate, "explicitness") for world in WORLDS for rate in (0.10, 0.20)),
]


def drawn(world: World, codes: Kind, n: int, rng: np.random.Generator) -> tuple[Whole, Whole]:
    """Draw binned codes (n, d) and true values (n, M); the codes beyond the factors are noise."""
    true = np.column_stack([np.searchsorted(np.cumsum(prior)[:-1], rng.random(n)) for prior in world.priors])
    held = true.astype(float)
    if codes == "mixed":
        held = 0.75 * held + 0.25 * np.roll(held, 1, axis=1)
    held = held + world.blur * (0.6 if codes == "mixed" else 1.0) * rng.normal(size=held.shape)
    scaled = np.clip(np.rint(held * (BINS - 3) / (VALUES - 1) + 1), 0, BINS - 1)
    return np.column_stack([scaled, rng.integers(0, BINS, (n, CODES - FACTORS))]).astype(np.intp), true


def annotated(cell: Cell, codes: Whole, true: Whole, rng: np.random.Generator) -> Whole:
    """Return noisy annotations: mistaken by value alone, or towards what the code of the factor says."""
    world = WORLDS[cell.world]
    if cell.errors == "independent":
        cumulated = world.transitions(cell.rate).cumsum(axis=2)[np.arange(FACTORS), true]
        found: Whole = (cumulated < rng.random(true.shape)[..., None]).sum(axis=2).clip(0, VALUES - 1)
        return found
    said = np.rint((codes[:, :FACTORS] - 1) * (VALUES - 1) / (BINS - 3)).clip(0, VALUES - 1).astype(np.intp)
    differ = said != true
    wrong = differ & (rng.random(true.shape) < cell.rate / differ.mean(axis=0))
    return np.where(wrong, said, true)


# Scores -----------------------------------------------------------------------------------------------------------


def source_of(codes: Whole, factors: Whole) -> InMemory:
    """Return rows as a source."""
    return InMemory(Subject.of(*read_pair(codes.astype(float), factors, kinds="categorical")))


def works(source: InMemory) -> list[Work]:
    """Return what is asked of the four metrics."""
    found = []
    for one in requests_of(chosen_metrics(list(METRICS)), protocol("review2022"), {}):
        request = resolved(one, source)
        if request.settings is None:
            raise ValueError(one.name)
        value = float(request.read(source.table(request.settings)).value)
        found.append(Work(one, request, Score(metric=one.name, value=value, n=ROWS, signature=Signature(one.name))))
    return found


@cache
def truth(world: str, codes: Kind) -> dict[str, float]:
    """Return the scores of true values of a million rows."""
    rng = rng_for(WORLDS[world].seed, "truth", codes)
    return {
        work.asked.name: work.score.value for work in works(source_of(*drawn(WORLDS[world], codes, 1_000_000, rng)))
    }


def measured(cell: Cell, simulations: int) -> list[dict[str, object]]:
    """Return the rows of one cell: one for each estimate and metric."""
    warnings.simplefilter("ignore")
    if cell.measures == "explicitness":
        return of_explicitness(cell, simulations)
    known = truth(cell.world, cell.codes)
    found: dict[str, list[list[float]]] = {}
    for index in range(simulations):
        rng = rng_for(WORLDS[cell.world].seed, "simulation", cell.drawn, index)
        codes, true = drawn(WORLDS[cell.world], cell.codes, ROWS, rng)
        source = source_of(codes, annotated(cell, codes, true, rng))
        own = works(source)
        for work in () if cell.measures == "check" else own:
            found.setdefault(f"as given|{work.asked.name}", []).append([work.score.value, np.nan, np.nan])
        for what, case in cases(cell, source, true, index).items():
            for work in own:
                keep(found, what, case, work)
    return [summary(cell, key, known, values) for key, values in found.items()]


def cases(cell: Cell, source: InMemory, true: Whole, index: int) -> dict[str, Case]:
    """Return what is known in each of the ways that are measured."""
    names = source.data.factors.names
    given: dict[str, Mapping[str, object]] = {}
    if cell.errors == "independent" and cell.measures == "tables":
        given["transition, T known"] = transitions_of(cell, names)
    for size in (300, 1000) if cell.rate <= 0.1 else ():
        rows = draw_audit(ROWS, size, seed=index).rows
        audit = {name: Audit(rows, true[rows, i], design="uniform") for i, name in enumerate(names)}
        if cell.measures == "check":
            given |= {"check, n = 300": audit} if size == 300 else {}
            continue
        given[f"audited, n = {size}"] = audit
        if cell.errors == "independent":
            given[f"transition, n = {size}"] = audit
    run = Run(seed=index, n_bootstrap=RESAMPLES, level=LEVEL)
    return {what: Case(source, run, checked_noise(noise, None, source), by_name=True) for what, noise in given.items()}


def transitions_of(cell: Cell, names: Sequence[str]) -> dict[str, TransitionMatrix]:
    """Return the transition of each factor."""
    tables = WORLDS[cell.world].transitions(cell.rate)
    return {name: TransitionMatrix(tables[i]) for i, name in enumerate(names)}


def keep(found: dict[str, list[list[float]]], what: str, case: Case, work: Work) -> None:
    """Add one estimate; of the check, how far apart the two are."""
    if what.startswith("check"):
        settings = work.request.settings
        row = [np.nan] * 3
        with suppress(NotCorrected):
            if settings is not None:
                row[0] = disagreement(work, case.kept(signed_tables, settings)[0])
    elif what.startswith("audited"):
        halved = of_tables(case, work)
        interval = halved.interval(LEVEL)
        if interval is None or halved.audited_alone is None:
            raise ValueError("audited rows are scored on halves")
        row = [halved.value, interval.low, interval.high]
        found.setdefault(f"{what.replace('audited', 'audited rows alone')}|{work.asked.name}", []).append(
            [halved.audited_alone, np.nan, np.nan]
        )
    else:
        row = [float("nan")] * 3
        with suppress(NotCorrected):
            corrected = by_transition(case, work)
            if corrected.interval is not None:
                row = [corrected.value, corrected.interval.low, corrected.interval.high]
    found.setdefault(f"{what}|{work.asked.name}", []).append([float(f"{one:.6g}") for one in row])


# Explicitness -----------------------------------------------------------------------------------------------------


def of_explicitness(cell: Cell, simulations: int) -> list[dict[str, object]]:
    """Return the rows of Explicitness as given and corrected by a known transition."""
    names = [f"v{i + 1}" for i in range(FACTORS)]
    known = transitions_of(cell, names)
    found: dict[str, list[list[float]]] = {"as given|explicitness": [], "transition, T known|explicitness": []}
    truths = []
    for index in range(simulations):
        rng = rng_for(WORLDS[cell.world].seed, "simulation", cell.drawn, index)
        codes, true = drawn(WORLDS[cell.world], cell.codes, ROWS, rng)
        given = annotated(cell, codes, true, rng)
        (score,) = demele.evaluate(
            codes.astype(float),
            demele.Factors(given, kinds="categorical", noise=known, noise_method="transition"),
            ["explicitness"],
            seed=index,
        )
        if score.corrected is None:
            raise ValueError(str(score.notes))
        truths.append(by_true_values(codes, given, true, index, score.value))
        for key, value in zip(found, (score.value, score.corrected.value), strict=True):
            found[key].append([value - truths[-1], np.nan, np.nan])
    return [
        {**summary(cell, key, {"explicitness": 0.0}, values), "truth": round(float(np.mean(truths)), 4)}
        for key, values in found.items()
    ]


def by_true_values(codes: Whole, given: Whole, true: Whole, seed: int, score: float) -> float:
    """Return Explicitness of classifiers trained on annotations as given, judged by true values of the unseen rows.

    Raises
    ------
    ValueError
        If the classifiers judged by annotations as given do not have this ``score``: it would be of other rows.
    """
    train, test = split(len(codes), None, None, rng_for(seed, "explicitness", "repeat", 0, "rows"), "codes")
    judged = given.copy()
    judged[test] = true[test]

    def mean(values: Whole) -> float:
        areas = [
            explicitness_by_value(codes.astype(float), column, VALUES, train_rows=train, test_rows=test)
            for column in values.T
        ]
        return float(2 * np.mean(areas) - 1)

    if abs(mean(given) - score) > 1e-6:
        raise ValueError("the score is of another split")
    return mean(judged)


# Rows -------------------------------------------------------------------------------------------------------------


def summary(cell: Cell, key: str, known: Mapping[str, float], values: list[list[float]]) -> dict[str, object]:
    """Return one row: bias, RMSE and width in thousandths, and how often the interval holds the truth.

    ``values``: of each simulation the estimate, and the ends of its interval or NaN.
    """
    what, metric = key.split("|")
    true, found = known[metric], np.array(values, dtype=float)
    row: dict[str, object] = {
        "world": cell.world,
        "codes": cell.codes,
        "errors": cell.errors,
        "rate": cell.rate,
        "estimate": what,
        "metric": metric,
        "truth": round(true, 4),
        "simulations": len(found),
        **dict.fromkeys(("bias", "rmse", "coverage", "width", "rejected"), ""),
    }
    if what.startswith("check"):
        return row | {"rejected": round(float((np.abs(found[:, 0]) > FARTHEST).mean()), 3)}
    apart = 1000 * (found[:, 0] - true)
    row |= {"bias": round(float(apart.mean()), 1), "rmse": round(float(np.sqrt((apart**2).mean())), 1)}
    if not np.isnan(found[:, 1]).any():
        held = (found[:, 1] <= true) & (true <= found[:, 2])
        row |= {"coverage": round(float(held.mean()), 3)}
        row |= {"width": round(1000 * float((found[:, 2] - found[:, 1]).mean()), 1)}
    return row


if __name__ == "__main__":
    main({"factor_noise": Table(cells=CELLS, measured=measured, repeats=lambda cell: cell.simulations, store=True)})
