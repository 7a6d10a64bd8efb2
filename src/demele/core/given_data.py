"""Codes and factors as they are given, with what is special about them; a plain array has nothing special."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from demele.core.columns import Missing
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.kinds import (
    CodeNames,
    Data,
    FactorNoise,
    Groups,
    Kinds,
    checked_count,
    checked_flag,
    checked_name,
    suggestion,
)
from demele.core.lazy import SAMPLE
from demele.core.table_columns import check_distinct, items_of


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """What codes and factors share."""

    values: Any

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return an object of this class: the given one, or one of plain data."""
        return given if isinstance(given, cls) else cls(given)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Codes(_Given):
    """A representation with what is special about its codes; without, pass the plain array.

    Parameters
    ----------
    values : array-like of shape (n_samples, n_codes) or (n_samples, n_slots, n_columns), real, finite
        The codes, as :func:`demele.evaluate` takes them.
    std : array-like of shape (n_samples, n_codes), optional
        Standard deviations of stochastic codes, for RMIG.
    groups : mapping of name to columns, or sequence with a label for each column, optional
        Codes of several columns. ``{"circle": [0, 1], "v": [2]}``, columns by number or name. Each group is one code,
        named as the group; columns in none are codes of their own. Of values of shape (n_samples, n_slots, n_columns)
        each slot is a group, named ``"slot0"`` and so on. Metrics that have no form for groups are left out,
        with the reason. There is no verdict in words then.
    reduce : None or "pca1"
        Use the first principal component of each group. Papers on vector-valued codes do so.
    align : None, "rotation" or "whitening"
        Score again after rotating the codes towards the factors; ``"whitening"`` undoes oblique maps and scales as
        well: codes are made uncorrelated, of equal variance, before they are rotated. ``score.alignment`` has the raw
        score, the aligned one and the gap, all on rows that were not used to turn them; ``score.value`` is that of the
        codes as given. With ``n_bootstrap`` gaps have an interval, with ``n_permutations`` a chance level. Needs rows
        in memory.
    sample : int >= 4, default 100 000
        Rows to sample, for data read a piece at a time. Metrics of histograms count all rows, and have the bits that
        they have in memory; SAP and MCC of continuous factors, IRS and OMES sum over all rows, equal to rounding; all
        others, and edges at quantiles, are of a random sample of so many rows, as their notes say. The sample depends
        on ``seed`` and the numbers of the rows only. Intervals, chance levels, ``std``, ``groups`` and ``align`` are
        refused for such data.
    name : str
        What tables and reports call this representation.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> import numpy as np, demele
    >>> means = np.random.default_rng(0).random((1000, 2))
    >>> codes = demele.Codes(means, std=np.full((1000, 2), 0.01), name="VAE")
    >>> demele.evaluate(codes, means, ["rmig"]).name
    'VAE'
    """

    std: Data = None
    groups: Groups = None
    reduce: Literal["pca1"] | None = None
    align: Literal["rotation", "whitening"] | None = None
    sample: int = SAMPLE
    name: str = "codes"

    def __post_init__(self) -> None:
        if self.reduce not in (None, "pca1"):
            raise InputError("reduce", f"expected None or 'pca1', got {quoted(self.reduce)}")
        if self.align is not None:
            checked_name(self.align, "align", ("rotation", "whitening"))
        checked_count(self.sample, "sample", 4)
        if not isinstance(self.name, str):
            raise InputTypeError("name", f"expected a string, got {quoted(self.name)}")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Factors(_Given):
    """Known factors with what is special about them; without, pass the plain table.

    Parameters
    ----------
    values : array-like of shape (n_samples, n_factors) or (n_samples,)
        The factors, as :func:`demele.evaluate` takes them.
    kinds : None, str, mapping or sequence
        Type of a factor, if the detected type is wrong. "continuous", "categorical" or, of an angle in degrees,
        "cyclic:360". "cyclic" alone finds the period of angles that span 360 or 2 pi. Metrics that do not know cyclic
        factors are left out, with the reason.
    missing : {"raise", "omit"}
        Missing annotations: refuse them, or omit rows factor by factor.
    reg_dim : sequence of int or str, optional
        Code that regularises each factor. For DMIG, XMIG, DLIG and (if given) MIG and SAP.
    noise : mapping of factor to knowledge, optional
        Wrong annotations: a share, transition matrix or audit of a factor. For each noisy factor a
        :class:`~demele.labels.TransitionMatrix` or :class:`~demele.labels.TransitionCounts`, the confusion matrices of
        three or more annotators, true values of rows drawn at random (:class:`~demele.labels.Audit`), or the share of
        wrong annotations, from which bounds follow. Factors that are not named are taken
        as right. Values stay those of the annotations as given; ``score.corrected`` says what
        they would be if all annotations were right, with an interval at ``level``, and on which assumptions.
    noise_method : str, optional
        Correction method: transition, audited or bounds. ``"transition"``: from how true values are mistaken, if that
        does not depend on the codes. ``"audited"``: any score, from true values of rows drawn at random, whatever the
        errors depend on; each score that is no function of counts is then computed some thirty times more. By default
        the method that assumes least, given what is known: ``"audited"`` where all noisy factors have an audit.
        ``"bounds"``: all that a rate leaves of MIG, MIG-sup and DCIMIG.
    blocks : array-like of shape (n_samples,), optional
        Rows that depend on each other, such as frames of a video. Numbers or names: ``n_permutations`` then
        permutes whole blocks, each in its own order; with single rows, scores of dependent rows look rarer than they
        are. Exact for blocks of equal length; others are laid end to end. At least five; without ``n_bootstrap``.
    ignore_index : bool, default False
        Pair rows by position, even if indexes differ. Pandas codes and factors whose indexes hold different labels are
        refused; True pairs them all the same. Without an index there is nothing to ignore.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> import numpy as np, demele
    >>> shapes = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0)
    >>> demele.evaluate(shapes, demele.Factors(shapes, kinds="continuous"), ["mig"]).factors[0].kind
    'continuous'
    """

    kinds: Kinds = None
    missing: Missing = "raise"
    reg_dim: CodeNames = None
    noise: FactorNoise = None
    noise_method: str | None = None
    blocks: Data = None
    ignore_index: bool = False

    def __post_init__(self) -> None:
        checked_flag(self.ignore_index, "ignore_index")
        if self.noise_method is not None and self.noise is None:
            raise InputError("noise_method", "needs `noise`")


# Codes of several columns: which columns of a representation are one code together ------------------------------------


@dataclass(frozen=True, slots=True)
class CodeGroups:
    """Groups of columns that count as one code each; together they hold every column once.

    Attributes
    ----------
    names : tuple of str
        In the order of their first columns.
    columns : tuple of tuple of int
        The columns of each, in increasing order.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]

    @property
    def joint(self) -> tuple[int, ...]:
        """Which groups hold several columns."""
        return tuple(place for place, columns in enumerate(self.columns) if len(columns) > 1)


def read_code_groups(code_groups: object, names: Sequence[str]) -> CodeGroups:
    """Validate groups of columns.

    Parameters
    ----------
    code_groups : mapping of name to columns, or sequence with a label for each column
        Columns by number from 0 or by name, one or several. Columns in no group are codes of their own.
    names : sequence of str
        Names of the columns.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Examples
    --------
    >>> read_code_groups({"v": [2], "circle": ["z0", 1]}, ["z0", "z1", "z2"]).columns
    ((0, 1), (2,))
    >>> read_code_groups(["a", "b", "a"], ["z0", "z1", "z2"]).names
    ('a', 'b')
    """
    given: dict[str, list[int]] = {}
    if isinstance(code_groups, Mapping):
        given = _of_mapping(code_groups, names)
    elif isinstance(code_groups, str) or not isinstance(code_groups, Iterable):
        expected = "expected a mapping of name to columns, or a label for each column"
        raise InputTypeError("groups", f"{expected}, got {type(code_groups).__name__}")
    else:
        labels = list(code_groups)
        if len(labels) != len(names):
            raise InputError("groups", f"expected a label for each of the {len(names)} columns, got {len(labels)}")
        for place, label in enumerate(labels):
            given.setdefault(str(label), []).append(place)
    owned = [names[column] for columns in given.values() for column in columns]
    check_distinct(owned, "groups", "each column once")
    taken = set(owned)
    for column, name in enumerate(names):
        if name not in taken:
            if name in given:
                raise InputError(
                    "groups",
                    f"group {quoted(name)} has the name of a column that is in no group; rename the group",
                )
            given[name] = [column]
    ordered = sorted((tuple(sorted(columns)), name) for name, columns in given.items())
    return CodeGroups(tuple(name for _, name in ordered), tuple(columns for columns, _ in ordered))


def slots_as_groups(codes: Any, code_groups: object) -> tuple[Any, object]:
    """Return codes of shape (n_samples, n_slots, n_columns) as a table, in which each slot is a group.

    Groups that are given are kept: of the columns of the table, slot after slot.

    Examples
    --------
    >>> table, groups = slots_as_groups(np.zeros((9, 2, 3)), None)
    >>> table.shape, groups
    ((9, 6), ['slot0', 'slot0', 'slot0', 'slot1', 'slot1', 'slot1'])
    """
    shape = codes.shape
    slots = [f"slot{slot}" for slot in range(shape[1]) for _ in range(shape[2])]
    return codes.reshape(shape[0], len(slots)), slots if code_groups is None else code_groups


def _of_mapping(groups: Mapping[Any, Any], names: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, columns in groups.items():
        expected = f"the columns of group {quoted(name)} as numbers or names"
        own = [columns] if isinstance(columns, str | int | np.integer) else items_of(columns, "groups", expected)
        if not own:
            raise InputError("groups", f"group {quoted(name)} has no column; leave it out")
        found[str(name)] = [_column(column, names) for column in own]
    if not found:
        raise InputError("groups", "expected at least one group, got none")
    return found


def _column(column: object, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise UnknownNameError("groups", f"unknown code {quoted(column)}{suggestion(column, names)}")
        return list(names).index(column)
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise InputTypeError("groups", f"expected numbers or names of columns, got {quoted(column)}")
    if not 0 <= column < len(names):
        raise InputError("groups", f"no column has the number {int(column)}; there are {len(names)}, numbered from 0")
    return int(column)
