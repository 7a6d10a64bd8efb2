"""Metrics that fit predictors, on the few sparse codes that inform most: a dense table of these alone is made."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.inputs import Factors
from demele.core.results import Note, Score
from demele.core.seeds import rng_for
from demele.core.sparse_inputs import SparseCodes
from demele.estimation.independence import Finding, dependence
from demele.estimation.information import mean_of_defined, top_two
from demele.metrics.data import Array
from demele.metrics.source import InMemory, Subject
from demele.metrics.sparse_tables import SparseTable

#: Codes that inform most, and rows, among which anything that tells a factor is looked for.
LOOKED_AT = (50, 20_000)


class Screened(InMemory):
    """Some rows of the codes that inform most: whether the codes tell anything is looked for among more of them."""

    name = "the sparse codes that inform most"

    def __init__(self, subject: Subject, chosen: NDArray[np.intp]) -> None:
        super().__init__(subject)
        self.chosen = chosen

    def finding(self, options: object = None) -> Finding | None:
        """Say nothing: see :func:`told_by_codes`."""
        return None


def ranked_codes(information: Array, most: int) -> NDArray[np.intp]:
    """Return the codes that inform most, increasing: every factor's best, every factor's second best, and so on.

    Of equal informations the first code comes first. ``most`` codes are taken, or all if there are fewer.
    """
    if most >= len(information):
        return np.arange(len(information))
    order = np.argsort(-information, axis=0, kind="stable")[:most]
    turn = order.ravel()  # rank by rank, all factors in each
    _, first = np.unique(turn, return_index=True)
    return np.sort(turn[np.sort(first)[:most]])


def screened_codes(
    codes: SparseCodes, factors: Factors, active: list[int], table: SparseTable, screen: int, n_rows: int, seed: int
) -> Screened:
    """Make the dense table of the codes that inform most, on all rows or on a seeded sample of them."""
    information = table.information.information
    chosen = ranked_codes(information, screen)
    rows = np.arange(codes.n)
    if codes.n > n_rows:
        rows = np.sort(rng_for(seed, "sparse-rows").choice(codes.n, n_rows, replace=False))
    dense = codes.dense(chosen, rows)
    sampled = factors if len(rows) == codes.n else factors.take(rows)
    alive = tuple(index for index in active if not sampled.columns[index].constant)
    lost = tuple(
        Note(
            code="constant-factor",
            message=f"factor {factors.names[index]!r} is constant in the {len(rows):,} rows that predictors are fitted "
            "on, and was left out there; raise n_rows",
            subject=(factors.names[index],),
            severity="warning",
        )
        for index in active
        if index not in alive
    )
    subject = Subject(dense, sampled, alive, (*lost, _note(codes, table, chosen, len(rows))))
    return Screened(subject, chosen)


def told_by_codes(codes: SparseCodes, factors: Factors, active: list[int], table: SparseTable) -> Finding:
    """Look for anything that the codes tell of the factors, among those that inform most."""
    most, n_rows = LOOKED_AT
    data = screened_codes(codes, factors, active, table, most, n_rows, 0).rows()
    columns = [(factor.values, factor.categorical) for factor in data.factors.columns]
    return dependence(data.codes.values, columns, n_codes=codes.d)


def _note(codes: SparseCodes, table: SparseTable, chosen: NDArray[np.intp], n_rows: int) -> Note:
    information = table.information.information
    others = np.ones(codes.d, dtype=bool)
    others[chosen] = False
    text = f"fitted on {len(chosen):,} of {codes.d:,} codes"
    if others.any():
        text += " (those that inform most on each factor in turn)"
    text += f" and {n_rows:,} of {codes.n:,} rows"
    if others.any():
        share = _share(information, others)
        above = _share(information - table.chance, others)
        text += f"; the other codes hold {share:.1%} of the information of all codes with the factors"
        if above is not None:
            text += f", {above:.1%} when the bias of independent codes, (B_z - 1)(B_v - 1) / 2n each, is taken off"
    return Note(code="screened-codes", message=text)


def _share(information: Array, others: NDArray[np.bool_]) -> float:
    """Share of a sum that some codes hold, within 0 and 1: less a bias, sums may be slightly negative."""
    rest, whole = float(information[others].sum()), float(information.sum())
    return min(max(rest / whole, 0.0), 1.0) if whole > 0 else 0.0


def sap_of_all(
    score: Score,
    chosen: NDArray[np.intp],
    table: SparseTable,
    codes: SparseCodes,
    factors: Factors,
    active: list[int],
) -> Score:
    """Put the squared correlations of all codes on all rows in the place of those of the screened ones."""
    if score.matrix_values is None or score.per_factor is None:
        raise ValueError("SAP keeps its matrix")
    matrix = np.full((codes.d, factors.m), np.nan)
    matrix[chosen] = score.matrix_values
    per_factor = score.per_factor.copy()
    squares = table.squared_correlations
    continuous = [index for index in active if not factors.columns[index].categorical]
    for index in continuous:
        if squares is None:
            raise ValueError("squared correlations were not computed")
        matrix[:, index] = squares[:, active.index(index)]
    if continuous:
        first, second = top_two(matrix[:, continuous], axis=0)
        per_factor[continuous] = first - second
    notes = score.notes
    if len(continuous) == len(active):
        notes = tuple(note for note in notes if note.code not in ("screened-codes", "constant-factor"))
    elif continuous:
        text = "squared correlations with continuous factors are those of all codes on all rows"
        notes += (Note(code="all-codes", message=text, subject=tuple(factors.names[index] for index in continuous)),)
    return replace(
        score,
        value=float(mean_of_defined(per_factor)),
        n=max(factors.columns[index].n_annotated for index in active) if continuous else score.n,
        code_names=codes.names,
        per_factor=per_factor,
        matrix_values=matrix,
        notes=notes,
    )
