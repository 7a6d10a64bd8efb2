"""What probes of concepts read: sparse codes, the classes of factors as concepts, and rows that are balanced."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count
from demele.core.inputs import Factor, Factors, Missing, check_pair, read_codes, read_factors, refuse_cyclic
from demele.core.names import checked_name
from demele.core.results import Chance, Note, Score
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.sparse_inputs import SparseCodes, read_sparse_codes
from demele.core.version import __version__
from demele.estimation.information import mean_of_defined

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
#: Share of the rows that probes are fitted on; the others are scored.
TRAINING = 0.8
#: Names of the class that only says that the other one is not there, in small letters.
ABSENT = frozenset({"false", "0", "0.0", "no"})
#: Fewest rows of a class, and of the rest, to fit on and to score.
FEWEST = 5


@dataclass(frozen=True, slots=True)
class Concept:
    """One class of a categorical factor, or a continuous factor as a whole (``level`` -1)."""

    factor: int
    level: int
    name: str


@dataclass(frozen=True, slots=True)
class ConceptRows:
    """Sparse codes, factors and a split of the rows.

    Attributes
    ----------
    codes : SparseCodes
    factors : Factors
    training : array of bool of shape (n_samples,)
        Rows to fit on.
    score_on : str
        ``"unseen"``: the other rows are scored; ``"training"``: the same.
    n_rows : int
        Rows that a probe is fitted on at most, and scored on: half of them of the class.
    seed : int
    """

    codes: SparseCodes
    factors: Factors
    training: NDArray[np.bool_]
    score_on: str
    n_rows: int
    seed: int
    kinds_given: bool

    @property
    def concepts(self) -> list[Concept]:
        """All classes of factors that vary, of two classes only the last; and continuous factors."""
        found = []
        for index, factor in enumerate(self.factors.columns):
            if factor.constant:
                continue
            if not factor.categorical:
                found.append(Concept(index, -1, factor.name))
                continue
            first = 1 if len(factor.levels) == 2 else 0
            found += [Concept(index, level, factor.levels[level]) for level in range(first, len(factor.levels))]
        return found

    @property
    def classes(self) -> list[Concept]:
        """All classes of categorical factors that vary, but for one whose name says that the other is not there.

        Codes that tell a class from the rest as well tell the rest from it, which is why ``concepts`` has one of two.
        Which codes *fire* on a class is another question for each of the two.
        """
        return [
            Concept(index, level, name)
            for index, factor in enumerate(self.factors.columns)
            if factor.categorical and not factor.constant
            for level, name in enumerate(factor.levels)
            if len(factor.levels) > 2 or level == 1 or name.lower() not in ABSENT
        ]

    def column(self, concept: Concept) -> Factor:
        """Return the factor of a concept."""
        return self.factors.columns[concept.factor]

    def rows(self, concept: Concept, *, train: bool) -> tuple[Rows, NDArray[np.bool_]] | None:
        """Return rows, as many of the class as of the rest, and which are of the class; None where they are too few.

        Rows of a continuous factor are all, at most ``n_rows`` of them; none of them is then of a class.
        """
        factor = self.column(concept)
        part = self.training if train or self.score_on == "training" else ~self.training
        usable = part & factor.annotated()
        which = "train" if train or self.score_on == "training" else "test"
        rng = rng_for(self.seed, "concept", concept.factor, concept.level, which)
        if concept.level < 0:
            kept = _drawn(np.flatnonzero(usable), self.n_rows, rng)
            return (kept, np.zeros(len(kept), dtype=bool)) if len(kept) >= 2 * FEWEST else None
        inside = usable & (factor.values == concept.level)
        members, others = np.flatnonzero(inside), np.flatnonzero(usable & ~inside)
        most = min(len(members), len(others), self.n_rows // 2)
        if most < FEWEST:
            return None
        kept = np.sort(np.concatenate([_drawn(members, most, rng), _drawn(others, most, rng)]))
        return kept, inside[kept]

    def permuted(self, order: Rows) -> "ConceptRows":
        """Return the same codes with the rows of all factors in another order."""
        return replace(self, factors=self.factors.take(order))

    def score(
        self,
        metric: str,
        arguments: dict[str, Any],
        per_factor: Array,
        details: dict[str, Any],
        notes: tuple[Note, ...],
        chance: Chance | None = None,
    ) -> Score:
        """Return the score of factors, with the call that makes it again and the data of that call."""
        given = {**arguments, "seed": self.seed}
        if self.factors.missing != "raise":
            given["missing"] = self.factors.missing
        if self.kinds_given:
            given["kinds"] = {factor.name: factor.kind for factor in self.factors.columns}
        met = {
            "rows": str(self.codes.n),
            "codes": str(self.codes.d),
            "nonzeros": str(len(self.codes.values)),
            "factors": str(self.factors.m),
            "demele": __version__,
        }
        return Score(
            metric=metric,
            value=float(mean_of_defined(per_factor)),
            n=self.codes.n,
            signature=Signature(metric, given, met),
            code_names=self.codes.names,
            factor_names=self.factors.names,
            per_factor=per_factor,
            chance=chance,
            notes=notes,
            details=details,
        )


def _drawn(rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def concept_rows(
    codes: object,
    factors: object,
    n_rows: int,
    score_on: str,
    seed: int,
    missing: Missing,
    kinds: object,
    code_names: Sequence[str] | None,
) -> ConceptRows:
    """Read codes, sparse or dense, and factors, and split the rows.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    n_rows, seed = checked_count(n_rows, "n_rows", 20), checked_count(seed, "seed", 0)
    checked_name(score_on, "score_on", ("unseen", "training"))
    read, columns = _read(codes, code_names), read_factors(factors, kinds=kinds, missing=missing)
    refuse_cyclic(columns.columns, "scoring of concepts")
    check_pair(read.n, read.d, columns)
    training = np.ones(read.n, dtype=bool)
    if score_on == "unseen":
        order = rng_for(seed, "concept rows").permutation(read.n)
        training[order[round(TRAINING * read.n) :]] = False
    return ConceptRows(read, columns, training, score_on, n_rows, seed, kinds is not None)


def _read(codes: object, code_names: Sequence[str] | None) -> SparseCodes:
    from scipy.sparse import csc_array, issparse

    if issparse(codes):
        return read_sparse_codes(codes, code_names)
    dense = read_codes(codes)
    values = np.asarray(dense.values)
    values = values.astype(np.float32) if values.dtype == np.float16 else values  # SciPy has none of 16 bits
    return read_sparse_codes(csc_array(values), list(dense.names) if code_names is None else code_names)


def by_factor(concepts: Sequence[Concept], values: Array, m: int) -> Array:
    """Return the mean over the classes of each factor that are defined, (n_factors,); NaN where none is."""
    found = np.full(m, np.nan)
    for index in range(m):
        own = [value for concept, value in zip(concepts, values, strict=True) if concept.factor == index]
        known = [value for value in own if value == value]
        found[index] = float(np.mean(known)) if known else np.nan
    return found
