"""What the scores of predictions share: the rows, how they are split, who predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import NotEnoughData
from demele.core.inputs import Codes, Factor, Factors, Missing, read_pair, refuse_cyclic
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.estimation.probes import Probe, ProbedCodes, held_out_score, predicted
from demele.metrics.source import Subject
from demele.metrics.splits import fewer_than_asked, sizes
from demele.report.document import Mark, Strip, Strips
from demele.report.words import name

#: Rows to learn from, and to be scored on, in the study of 2019.
STUDY_ROWS = 10_000, 5_000


@dataclass(frozen=True, slots=True)
class Prober:
    """Rows that were read, and the predictor that is tried on them."""

    codes: Codes
    factors: Factors
    probe: Probe
    penalty: float
    seed: int
    name: str
    of_columns: tuple[Note, ...]

    @property
    def classes(self) -> tuple[bool, ...]:
        """Which factors are classes."""
        return tuple(factor.categorical for factor in self.factors.columns)

    @property
    def measures(self) -> tuple[str, ...]:
        """How each factor is scored."""
        return tuple("accuracy" if categorical else "R2" for categorical in self.classes)

    def said(
        self,
        codes: ProbedCodes,
        factor: Factor,
        train: Rows,
        test: Rows,
        *task: str | int,
        scale: Rows | None = None,
    ) -> Floats | Rows:
        """Return what is predicted of test rows; the task names the random stream."""
        if not len(train):
            raise NotEnoughData("factors", f"no training row is annotated for {factor.name!r}")
        return predicted(
            self.probe,
            codes,
            factor.values,
            train,
            test,
            categorical=factor.categorical,
            rng=rng_for(self.seed, self.name, "probe", *task),
            penalty=self.penalty,
            scale=scale,
        )

    def score(
        self,
        codes: ProbedCodes,
        factor: Factor,
        train: Rows,
        test: Rows,
        *task: str | int,
        scale: Rows | None = None,
    ) -> float:
        """Return accuracy or R2 on annotated test rows of a predictor fitted to annotated training rows."""
        known = factor.annotated()
        train, test = train[known[train]], test[known[test]]
        if not len(train) or not len(test):
            return float("nan")
        said = self.said(codes, factor, train, test, *task, scale=scale)
        return held_out_score(factor.values[test], said, categorical=factor.categorical)

    def chance(self, factor: Factor, train: Rows, test: Rows) -> float:
        """Return what predicting the commonest class of the training rows scores; 0 for numbers."""
        if not factor.categorical:
            return 0.0
        known = factor.annotated()
        train, test = train[known[train]], test[known[test]]
        if not len(train) or not len(test):
            return float("nan")
        commonest = np.bincount(factor.values[train]).argmax()
        return float((factor.values[test] == commonest).mean())

    def split(self, n_train: int | None, n_test: int | None, repeat: int = 0) -> tuple[Rows, Rows]:
        """Return training rows, in random order, and test rows."""
        n = self.codes.n
        if (n_train is None or n_test is None) and max(n_train or 0, n_test or 0) > n:
            n_train, n_test = n - n // 3, n // 3
        if n_train is None:
            n_train = min(STUDY_ROWS[0], n - (min(STUDY_ROWS[1], n // 3) if n_test is None else n_test))
        if n_test is None:
            n_test = min(STUDY_ROWS[1], n - n_train)
        train, test = sizes(n, n_train, n_test)
        if min(train, test) < 2:
            raise NotEnoughData("codes", f"expected rows to train on and rows to test on, got {n} in all")
        order = rng_for(self.seed, self.name, "rows", repeat).permutation(n)
        return order[:train], order[train : train + test]

    def notes(self, n_train: int | None, n_test: int | None) -> list[Note]:
        """Say what was left out, and what was mixed."""
        notes = [*self.of_columns, *fewer_than_asked(self.codes.n, n_train, n_test)]
        if len(set(self.classes)) > 1:
            message = "means mix accuracies of classes and R2 of numbers: look at each factor"
            notes.append(Note(code="mixed-measures", message=message))
        return notes

    def signature(self, **arguments: Any) -> Signature:
        """Return the call."""
        asked = {name: value for name, value in arguments.items() if value is not None}
        given = {"probe": self.probe, **asked, "seed": self.seed}
        if self.probe == "logistic":
            given["penalty"] = self.penalty
        return Signature.of(self.name, given, rows=self.codes.n, codes=self.codes.d, factors=self.factors.m)


def prober(
    name: str,
    codes: object,
    factors: object,
    *,
    probe: Probe,
    penalty: float,
    seed: int,
    missing: Missing,
    kinds: object,
    fewest_factors: int = 1,
) -> Prober:
    """Read rows and options; constant factors are left out.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    read_codes, read_factors = read_pair(codes, factors, kinds=kinds, missing=missing)
    refuse_cyclic(read_factors.columns, name)
    subject = Subject.of(read_codes, read_factors)
    if subject.varying.m < fewest_factors:
        raise NotEnoughData("factors", f"expected at least {fewest_factors} factors that vary, got {subject.varying.m}")
    return Prober(read_codes, subject.varying, probe, penalty, seed, name, subject.notes)


def dots(caption: str, factors: Sequence[str], found: Mapping[str, Floats], chance: Floats | None = None) -> Strips:
    """Draw several scores of each factor as dots, by their names, and the chance level as a tick."""
    levels = [None] * len(factors) if chance is None else chance.tolist()
    strips = [
        Strip(name(one), [*(Mark("dot", value, None, k) for k, value in enumerate(values)), Mark("tick", level)])
        for one, level, *values in zip(factors, levels, *(own.tolist() for own in found.values()), strict=True)
    ]
    return Strips(
        caption, strips, series=dict(enumerate(found)), axis="Score" + "; tick: chance level" * (chance is not None)
    )
