"""Splitting and absorption of concepts by the codes of a dictionary (Chanin et al. 2024; SAEBench)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Missing, read_codes
from demele.core.kinds import FILE, Data, Kinds
from demele.core.results import Note, Score
from demele.estimation.concept_probes import (
    Absorbed,
    absorbed,
    f1,
    largest,
    logistic_scores,
    speaking_codes,
    whole_probe,
)
from demele.estimation.information import mean_of_defined
from demele.scoring.sparse_probing import (
    AT_A_TIME,
    Array,
    Concept,
    ConceptRows,
    Rows,
    by_factor,
    concept_rows,
    ranked,
)

#: F1 that a probe must reach, or its class says nothing of codes.
LEAST_F1 = 0.6
#: A code of a smaller value is silent.
SILENT = 1e-8
#: Cosines with the probe from which a code may absorb a row as a whole, and a part of it, where a decoder is given.
COSINES = (0.025, 0.1)


@dataclass(frozen=True, slots=True)
class _Split:
    """The codes among which a class is split, and F1 of probes of 1, 2, ... of them (the last gain not included)."""

    codes: Rows
    f1: tuple[float, ...]

    @property
    def size(self) -> float:
        """How many codes, NaN where they do not tell the class."""
        return float(len(self.codes)) if self.f1 and self.f1[-1] >= LEAST_F1 else float("nan")


def splitting(
    codes: object,
    factors: object,
    *,
    jump: float = 0.03,
    most: int = 10,
    screen: int = 200,
    score_on: str = "unseen",
    n_rows: int = 20_000,
    seed: int = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
    code_names: Annotated[Sequence[str] | None, FILE] = None,
) -> Score:
    r"""Return the number of codes that a class is split among.

    Codes are ranked by their positive weights in a probe with an L1 penalty. :math:`S_c` are the first codes as long
    as each raises F1 of a probe by more than ``jump``; splitting is :math:`|S_c|`, 1 for a class with one code.

    Parameters
    ----------
    codes, factors, score_on, n_rows, seed, missing, kinds, code_names
        As in :func:`sparse_probing`; at least one factor must be categorical, and continuous ones are left out. Of
        two classes both are looked at, but for one called False, 0 or no: the concept is then the other.
    jump : float in (0, 1), default 0.03
        Gain of F1 from which a further code counts.
    most : int >= 1, default 10
        Largest number of codes of a class.
    screen : int >= 1, default 200
        Codes that the L1 probe sees. Those that are most larger in the class, in pooled standard deviations.

    Returns
    -------
    Score
        value at least 1, best 1; ``per_factor``; ``details["classes"]``: a row for each class with its codes and F1 of
        1, 2, ... of them. A class whose probe stays under an F1 of 0.6 is left out, with a note.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Chanin et al. 2024 (arXiv:2409.14507); SAEBench (Karvonen et al. 2025), whose tables count :math:`|S_c|` in one
    place and :math:`|S_c| - 1` in another. Read it together with :func:`absorption`: without false positives a single
    code that takes more than :math:`1 - (1 - j)/(1 + j)`, 5.8%, of a class always counts as splitting, and one that
    takes less never does. It ignores codes that mark several classes, and the share of rows of each code.

    Examples
    --------
    >>> import numpy as np, demele
    >>> concept = np.repeat([1, 0], 1000)
    >>> parts = np.zeros((2000, 2))
    >>> parts[:700, 0], parts[700:1000, 1] = 1.0, 1.0
    >>> demele.splitting(parts, concept).value
    2.0
    """
    rows = concept_rows(codes, factors, n_rows, score_on, seed, missing, kinds, code_names)
    settings = _settings(jump, most, screen)
    concepts = _classes(rows)
    found = [_split(rows, concept, told, *settings) for concept, told in _told(rows, concepts)]
    per_factor = by_factor(concepts, np.array([one.size for one in found]), rows.factors.m)
    table = [_row(rows, concept, one) for concept, one in zip(concepts, found, strict=True)]
    arguments: dict[str, Any] = dict(zip(("jump", "most", "screen"), settings, strict=True))
    arguments |= {"score_on": score_on, "n_rows": n_rows}
    return rows.score("splitting", arguments, per_factor, {"classes": tuple(table)}, _left_out(table))


def absorption(
    codes: object,
    factors: object,
    *,
    decoder: Data = None,
    activations: Data = None,
    jump: float = 0.03,
    most: int = 10,
    screen: int = 200,
    score_on: str = "unseen",
    n_rows: int = 20_000,
    seed: int = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
    code_names: Annotated[Sequence[str] | None, FILE] = None,
) -> Score:
    r"""Return absorption: the share of a class on which its own codes are silent while another code carries it.

    A probe of all codes adds up :math:`a_j = w_j z_j`, :math:`p = \sum_j a_j`. Of the rows of the class that it
    recognises (:math:`p + b > 0`), those count on which all codes of :math:`S_c` (see :func:`splitting`) are 0 and
    the largest :math:`a_j` is at least 0.4 p. Lower is better.

    Parameters
    ----------
    codes, factors, score_on, n_rows, seed, missing, kinds, code_names
        As in :func:`sparse_probing`; at least one factor must be categorical, and continuous ones are left out.
    decoder : array-like of shape (n_codes, n_dimensions), optional
        Decoder of the dictionary, a row for each code.
    activations : array-like of shape (n_samples, n_dimensions), optional
        Activations that were encoded, a row for each sample. With both, the published form: the probe is of the
        activations, u its direction, :math:`p = x \cdot u` and :math:`a_j = z_j\, d_j \cdot u`, d_j the row of the
        decoder at its own length. (The published product with the cosine is a projection only where decoders have
        length 1.) What absorbs a row then has a cosine with u of at least 0.025, and of 0.1 for a part of it.
    jump, most, screen
        As in :func:`splitting`.

    Returns
    -------
    Score
        value in [0, 1], best 0: full absorption; ``per_factor``; ``details["fraction"]``: the mean share of p that up
        to three other codes carry, rows in which the own codes still speak included; ``details["splitting"]``;
        ``details["classes"]``: a row for each class. A class is left out, with a note, where F1 of the probe, or of
        its codes, is under 0.6.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Chanin et al. 2024 (arXiv:2409.14507); SAEBench (Karvonen et al. 2025). Published figures show 1 minus the score.
    A code that takes more than 5.8% of a class counts as splitting, not as absorption (``jump`` decides): the two
    numbers belong together, so the result holds both. What it does not see: absorbers of classes that no factor names.

    Examples
    --------
    >>> import numpy as np, demele
    >>> concept = np.repeat([1, 0], 1000)
    >>> parts = np.zeros((2000, 2))
    >>> parts[:970, 0], parts[970:1000, 1] = 1.0, 1.0
    >>> demele.absorption(parts, concept, score_on="training").value
    0.03
    """
    from scipy.sparse import csc_array

    rows = concept_rows(codes, factors, n_rows, score_on, seed, missing, kinds, code_names)
    settings = _settings(jump, most, screen)
    in_space = _space(decoder, activations, rows)
    concepts = _classes(rows)
    columns = (rows.codes.values.astype(np.float64), rows.codes.rows, rows.codes.starts)
    every = csc_array(columns, shape=(rows.codes.n, rows.codes.d)).tocsr()
    found = []
    for concept, told in _told(rows, concepts):
        split = _split(rows, concept, told, *settings)
        found.append((split, *_absorbed(rows, concept, split, every, in_space)))
    full, fraction, sizes = (
        by_factor(concepts, np.array(values), rows.factors.m)
        for values in zip(*((one.full, one.fraction, split.size) for split, one, _ in found), strict=True)
    )
    table = [
        {
            **_row(rows, concept, split),
            "full": one.full,
            "fraction": one.fraction,
            "rows": one.n,
            "probe_f1": probe,
        }
        for concept, (split, one, probe) in zip(concepts, found, strict=True)
    ]
    arguments: dict[str, Any] = dict(zip(("jump", "most", "screen"), settings, strict=True))
    arguments |= {"score_on": score_on, "n_rows": n_rows}
    n_codes = float(mean_of_defined(sizes))
    known = sum(split.size == split.size for split, _, _ in found)
    told = "class that is recognised has" if known == 1 else "classes that are recognised have"
    beside = (
        f"{known:,} {told} {n_codes:.2f} codes of {'its' if known == 1 else 'their'} own{' on average' * (known > 1)} "
        f"(splitting): a single code that takes more than {1 - (1 - jump) / (1 + jump):.1%} of a class counts there, "
        "not here"
    )
    notes = (Note(code="known-splitting", message=beside),) if known else ()
    details = {"fraction": float(mean_of_defined(fraction)), "splitting": n_codes, "classes": tuple(table)}
    return rows.score("absorption", arguments, full, details, (*notes, *_left_out(table)))


# Reading --------------------------------------------------------------------------------------------------------------


def _settings(jump: object, most: object, screen: object) -> tuple[float, int, int]:
    if isinstance(jump, bool) or not isinstance(jump, int | float | np.floating):
        raise InputTypeError("jump", f"expected a number, got {quoted(jump)}")
    if not 0 < jump < 1:
        raise InputError("jump", f"expected a gain of F1 between 0 and 1, got {jump}")
    return float(jump), checked_count(most, "most", 1), checked_count(screen, "screen", 1)


def _classes(rows: ConceptRows) -> list[Concept]:
    found = rows.classes
    if not found:
        raise NotEnoughData("factors", "expected at least one categorical factor that varies: classes are split")
    return found


def _space(decoder: object, activations: object, rows: ConceptRows) -> tuple[Array, Array] | None:
    """Return decoder and activations, which come together."""
    if decoder is None and activations is None:
        return None
    if decoder is None or activations is None:
        absent = "decoder" if decoder is None else "activations"
        raise InputError(absent, "expected decoder and activations together: the probe is of the activations")
    of_codes, of_rows = (
        read_codes(given, name).dense() for given, name in ((decoder, "decoder"), (activations, "activations"))
    )
    for name, given, wanted in (("decoder", of_codes, rows.codes.d), ("activations", of_rows, rows.codes.n)):
        if len(given) != wanted:
            what = "code" if name == "decoder" else "sample"
            raise InputError(name, f"expected a row for each of the {wanted} {what}s, got {len(given)}")
    if of_codes.shape[1] != of_rows.shape[1]:
        raise InputError(
            ("decoder", "activations"),
            f"expected as many dimensions, got {of_codes.shape[1]} and {of_rows.shape[1]}",
        )
    return of_codes, of_rows


# Computing ------------------------------------------------------------------------------------------------------------


def _told(rows: ConceptRows, concepts: Sequence[Concept]) -> Any:
    """Yield concepts with how much larger codes are in each."""
    for start in range(0, len(concepts), AT_A_TIME):
        block = concepts[start : start + AT_A_TIME]
        yield from zip(block, ranked(rows, block, "standardised"), strict=True)


def _split(
    rows: ConceptRows, concept: Concept, told: tuple[Array, Array], jump: float, most: int, screen: int
) -> _Split:
    """Return the codes of a class: the first, and each next that raises F1 by more than ``jump``."""
    train, test = rows.rows(concept, train=True), rows.rows(concept, train=False)
    seen = largest(*told, screen)
    if train is None or test is None or not len(seen):
        return _Split(seen[:0], ())
    columns = rows.codes.dense(seen, train[0]).values
    chosen = speaking_codes(columns, train[1])[:most]
    others = rows.codes.dense(seen[chosen], test[0]).values
    found: list[float] = []
    for count in range(1, len(chosen) + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # classes that one code parts have steep slopes
            scores = logistic_scores(columns[:, chosen[:count]], train[1], others[:, :count])
        reached = f1(scores > 0, test[1])
        if found and not reached - found[-1] > jump:
            break
        found.append(reached)
    return _Split(seen[chosen[: len(found)]], tuple(found))


def _absorbed(
    rows: ConceptRows, concept: Concept, split: _Split, every: Any, in_space: tuple[Array, Array] | None
) -> tuple[Absorbed, float]:
    """Return what is absorbed of a class, and F1 of the probe of everything."""
    nothing = Absorbed(float("nan"), float("nan"), 0)
    train, test = rows.rows(concept, train=True), rows.rows(concept, train=False)
    if train is None or test is None or split.size != split.size:
        return nothing, float("nan")
    members = test[0][test[1]]
    codes = every[members]
    silent = np.abs(codes[:, split.codes].toarray()).max(axis=1, initial=0.0) < SILENT
    if in_space is None:
        weights, intercept = whole_probe(every[train[0]], train[1])
        reached = f1(every[test[0]] @ weights + intercept > 0, test[1])
        whole = codes @ weights
        recognised = whole + intercept > 0
        cosines = np.ones(rows.codes.d)
    else:
        decoder, activations = in_space
        direction, intercept = whole_probe(activations[train[0]], train[1])
        reached = f1(activations[test[0]] @ direction + intercept > 0, test[1])
        recognised = activations[members] @ direction + intercept > 0
        unit = direction / max(float(np.linalg.norm(direction)), 1e-300)
        whole, weights = activations[members] @ unit, decoder @ unit
        cosines = weights / np.maximum(np.linalg.norm(decoder, axis=1), 1e-300)
    if not reached >= LEAST_F1:
        return nothing, reached
    taken = absorbed(
        _weighted(codes, weights),
        np.asarray(whole),
        recognised,
        split.codes,
        silent=silent,
        may_take_all=cosines >= COSINES[0],
        may_take_some=cosines >= COSINES[1],
    )
    return taken, reached


def _weighted(codes: Any, weights: NDArray[np.float64]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((codes.data * weights[codes.indices], codes.indices, codes.indptr), shape=codes.shape)


# Telling --------------------------------------------------------------------------------------------------------------


def _row(rows: ConceptRows, concept: Concept, split: _Split) -> dict[str, Any]:
    return {
        "factor": rows.column(concept).name,
        "class": concept.name,
        "splitting": split.size,
        "codes": tuple(rows.codes.names[code] for code in split.codes) if split.size == split.size else (),
        "f1": split.f1,
    }


def _left_out(table: list[dict[str, Any]]) -> tuple[Note, ...]:
    """Say which classes have no number: their probes stay under F1 of 0.6, or their rows are too few."""
    lost = tuple(row["class"] for row in table if (value := row.get("full", row["splitting"])) != value)
    if not lost:
        return ()
    listed = ", ".join(map(repr, lost[:5])) + (", ..." if len(lost) > 5 else "")
    message = (
        f"{len(lost)} of {len(table)} classes ({listed}) are left out: probes of their codes do not reach an F1 of "
        f"{LEAST_F1}, or they have too few rows"
    )
    return (Note(code="unrecognised-class", message=message, subject=lost, severity="warning"),)
