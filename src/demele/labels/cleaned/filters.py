"""Cleaning: which labels a method suspects, and what it suggests in their place."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Array, Counts, Flags, Floats, rng_for
from demele.core.columns import Codes
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import read_codes
from demele.core.kinds import Count, Fraction, Jobs, Seed, Several, checked
from demele.core.labelled import Indices, Vocabulary, read_labels, shown, vocabulary
from demele.core.lazy import require
from demele.core.result import Note
from demele.core.signature import Signature
from demele.core.table_columns import check_rows
from demele.core.version import __version__
from demele.labels.cleaned.cleaning import Cleaning, label_digest
from demele.labels.joined.voting import earliest_voter, plurality
from demele.runtime.work import one_thread, ordered

Kind = Literal["features", "probabilities"]

#: Rows that add up to 1 within this were rounded by arithmetic; beyond it, and up to the next, by whoever wrote them.
ARITHMETIC = 1e-6
#: How far from 1 (or from 100, as a share of it) the probabilities of an instance may add up to.
WRITTEN = 1e-2
#: So many rows are enough to say that a table is in percent, or in logarithms.
_FEWEST = 2
_ARGUMENT = "features_or_probabilities"


def read_probabilities(table: Codes, words: Vocabulary, kind: Kind | None) -> tuple[Floats | None, tuple[Note, ...]]:
    """Return the table if it holds probabilities, in the order of the classes, else None; and what to say of it.

    Parameters
    ----------
    table : Codes
        Finite numbers of shape (n, d).
    words : Vocabulary
        The K classes.
    kind : {"features", "probabilities"} or None
        What the user says; None to look.

    Returns
    -------
    tuple
        Rows that are off by rounding are divided by their sums.

    Raises
    ------
    InputError
        If probabilities are not of the K classes; if a table that should be, or looks like, probabilities is in
        percent or in logarithms.
    """
    values, k = table.values, len(words)
    if kind == "features":
        return None, ()
    sums, precision, like = _row_sums(values)
    off = np.flatnonzero(~like)
    if off.size and (kind == "probabilities" or values.shape[1] == k):
        _refuse_other_scales(values, sums, kind)
    if off.size and kind is None:
        if values.shape[1] != k:
            return None, ()
        message = (
            f"The {k} columns were read as features, from which a model was trained, and not as probabilities of the "
            f"{k} classes: their rows do not add up to 1. If they are scores of the classes, pass probabilities, such "
            "as their softmax; if they are features, `kind='features'` says so."
        )
        return None, (Note(code="read-as-features", message=message, severity="warning"),)
    if off.size:
        problem = f"{off.size} of {len(values)} rows are not probabilities (in [0, 1], sum 1 within {WRITTEN:g})"
        problem += f", first row {off[0]}, which adds up to {sums[off[0]]:g}"
        raise InputError(
            _ARGUMENT, problem, "for scores of the classes pass their softmax, for features `kind='features'`"
        )
    if values.shape[1] != k:
        expected = f"expected a column of probabilities for each of the {k} classes {shown(words.classes)}"
        remedy = "give all classes, in their order, with `classes=[...]`" + ", or pass `kind='features'`" * (not kind)
        raise InputError(_ARGUMENT, f"{expected}, got {values.shape[1]} columns", remedy)
    columns = list(range(k))
    if isinstance(words.classes[0], str) and set(table.names) == set(words.classes):
        columns = [table.names.index(str(name)) for name in words.classes]
    found = np.asarray(values, dtype=np.float64)[:, columns]
    away = np.abs(sums - 1)
    if away.max() <= ARITHMETIC:
        return found, ()
    rounded = int(np.count_nonzero(away > max(ARITHMETIC, precision)))
    message = (
        f"The probabilities of {rounded} of {away.size} rows add up to 1 only roughly (off by up to {away.max():.2g}): "
        "each row was divided by its sum."
    )
    return found / sums[:, None], (Note(code="renormalised", message=message),) if rounded else ()


def _row_sums(values: NDArray[np.floating]) -> tuple[Floats, float, Flags]:
    """Return the sums of the rows, how far rounding may have moved them, and which rows could be probabilities."""
    sums = np.asarray(np.sum(values, axis=1, dtype=np.float64))
    precision = values.shape[1] * float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else 0.0
    return sums, precision, (np.abs(sums - 1) <= max(WRITTEN, precision)) & (values >= 0).all(axis=1)


def _refuse_other_scales(values: NDArray[np.floating], sums: Floats, kind: Kind | None) -> None:
    """Refuse probabilities in percent, counts of equally many votes, and logarithms."""
    if len(values) < _FEWEST:
        return
    other = "" if kind else "; if these are features, pass `kind='features'`"
    total = float(np.median(sums))
    if (values >= 0).all() and total > 0:
        percent = abs(total - 100) <= 100 * WRITTEN
        if (np.abs(sums - total) <= total * (WRITTEN if percent else ARITHMETIC)).all():
            total, what = (100.0, " in percent") if percent else (total, ", or counts of votes")
            problem = f"every row adds up to {total:g}, not to 1"
            raise InputError(_ARGUMENT, problem, f"if these are probabilities{what}, divide them by {total:g}{other}")
    if (values <= 0).all():
        with np.errstate(under="ignore"):
            exponentials = np.exp(np.asarray(values, dtype=np.float64)).sum(axis=1)
        if (np.abs(exponentials - 1) <= WRITTEN).all():
            problem = "these look like logarithms of probabilities: the exponentials of every row add up to 1"
            raise InputError(_ARGUMENT, problem, f"pass numpy.exp of them{other}")


# How labels are judged ------------------------------------------------------------------------------------------------

#: Votes held at a time, so that memory stays bounded however many classes there are.
CELLS_AT_ONCE = 1 << 22
#: Normalised entropy below which a prediction counts as sure on any data.
LEAST_SURE = 0.3
#: Partitioning has settled when a round finds fewer new suspects than this share of all instances (Zhu et al. 2003).
SETTLED = 0.01


@dataclass(frozen=True, slots=True)
class _Found:
    """What a method found: flags, class indices after the cleaning (read where suspect), suspicion in [0, 1]."""

    suspect: Flags
    suggested: Indices
    score: Floats | None
    notes: tuple[Note, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of k classes that models are trained on and judge, in at most so many parts."""

    features: Floats
    labels: Indices
    k: int
    folds: int
    seed: int
    n_jobs: int | None


def dealt(labels: Indices, folds: int, rng: np.random.Generator) -> Indices:
    """Deal instances out to folds, class by class, as cards: shape (n,).

    Every class is spread as evenly as its size allows, and so are all instances together; a class with fewer
    instances than folds is in as many folds as it has instances.
    """
    order = rng.permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(labels.size, dtype=np.int32)
    fold[order] = np.arange(labels.size) % folds
    return fold


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """Return an untrained copy of a model whose unset random states are drawn; those that are set stay."""
    from sklearn.base import clone

    copy = clone(model)
    states = sorted(name for name in copy.get_params() if name.rpartition("__")[2] == "random_state")
    unset = {name: int(rng.integers(2**31)) for name in states if copy.get_params()[name] is None}
    return copy.set_params(**unset) if unset else copy


def _out_of_fold(
    models: Sequence[Any], rows: _Rows, identity: str, *, probabilities: bool = False
) -> tuple[Array, Flags, tuple[Note, ...]]:
    """Train every model on all folds but one, and predict that one.

    Returns
    -------
    answers : array of shape (n_models, n), or (n_models, n, K) with probabilities
        Classes, or probabilities, which are 0 for a class that no training row had.
    judged : array of bool of shape (n,)
        False where the training rows lack the class of the label: no model could have agreed with it.
    notes : tuple of Note
    """
    labels, seed = rows.labels, rows.seed
    fold = dealt(labels, min(rows.folds, labels.size), rng_for(seed, "clean", identity, "folds"))
    parts = int(fold.max()) + 1
    tasks = [
        (seeded(model, rng_for(seed, "clean", identity, "model", index, part)), fold != part, fold == part)
        for index, model in enumerate(models)
        for part in range(parts)
    ]
    answers, notes = _answers(tasks, rows, probabilities=probabilities)
    found = np.zeros((len(models), labels.size, *answers[0].shape[1:]), dtype=answers[0].dtype)
    for place, values in enumerate(answers):
        found[place // parts, fold == place % parts] = values
    # A class dealt to one fold only is missing where that fold is predicted.
    return found, np.bincount(labels, minlength=rows.k)[labels] > 1, notes


def _answers(
    tasks: Sequence[tuple[Any, Any, Any]], rows: _Rows, *, probabilities: bool = False
) -> tuple[list[Array], tuple[Note, ...]]:
    """Train models, each on rows of its own, and ask them about others; say how many did not converge."""
    x, y = rows.features, rows.labels
    calls = ((model, x[train], y[train], x[asked], rows.k, probabilities) for model, train, asked in tasks)
    answers = list(ordered(_answered, calls, n_jobs=rows.n_jobs))
    stopped = sum(not converged for _, converged in answers)
    message = f"{stopped} trainings stopped before they converged; allow more iterations with model=..."
    notes = (Note(code="not-converged", message=message, severity="warning"),) if stopped else ()
    return [values for values, _ in answers], notes


def _answered(
    model: Any, features: Floats, labels: Indices, asked: Floats, k: int, probabilities: bool
) -> tuple[Array, bool]:
    """Train a model and ask it: classes of shape (m,) or probabilities of shape (m, k), and whether it converged.

    One thread is used, so that sums have the same order in every run.
    """
    from sklearn.exceptions import ConvergenceWarning

    if probabilities and not hasattr(model, "predict_proba"):
        problem = f"{type(model).__name__} gives no probabilities, which this method needs"
        raise InputError("model", problem, "wrap it in scikit-learn's CalibratedClassifierCV, or take another")
    present = np.unique(labels)
    values = np.zeros((len(asked), k))
    if present.size == 1:  # many classifiers refuse a single class, and there is nothing to learn
        values[:, present[0]] = 1
        return (values if probabilities else np.full(len(asked), present[0])), True
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(features, labels)
        if probabilities:
            values[:, np.asarray(model.classes_)] = model.predict_proba(asked)
        else:
            values = np.asarray(model.predict(asked)).astype(np.int32)
    others = [warning for warning in caught if not issubclass(warning.category, ConvergenceWarning)]
    for warning in others:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return values, len(others) == len(caught)


def _nearest_neighbours(features: Floats, labels: Indices, k_classes: int, k: int, n_jobs: int | None) -> _Found:
    """Suspect instances for whom another class has more of the k nearest neighbours than their own."""
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(features).kneighbors(return_distance=False)
    own, most, other = _tally(labels[near].T, labels, k_classes)
    return _Found(most > own, other, 1 - own / k)


def _voting(models: Sequence[Any], rows: _Rows, method: str, rule: str) -> _Found:
    """Suspect labels that more than half of the models (or all of them), trained on the other folds, do not predict."""
    predicted, judged, notes = _out_of_fold(models, rows, method)
    against = (predicted != rows.labels).sum(axis=0)
    suspect = against == len(models) if rule == "consensus" else 2 * against > len(models)
    score = None if method == "classification" else np.where(judged, against / len(models), np.nan)
    return _Found(suspect & judged, _tally(predicted, rows.labels, rows.k)[2], score, notes)


def _partitioning(model: Any, rows: _Rows, *, rule: str, rounds: int) -> _Found:
    """Split, train a model per part, let all of them vote on every instance, drop the suspects, and begin again."""
    labels, k, n = rows.labels, rows.k, rows.labels.size
    suspect, score, suggested = np.zeros(n, dtype=bool), np.full(n, np.nan), labels.copy()
    notes: tuple[Note, ...] = ()
    done, settled = 0, False
    while not settled and done < rounds:
        left = np.flatnonzero(~suspect)
        here = labels[left]
        if np.unique(here).size < 2:
            break
        part = dealt(here, min(rows.folds, here.size), rng_for(rows.seed, "clean", "partitioning", "parts", done))
        members = [left[part == each] for each in range(int(part.max()) + 1)]
        tasks = [
            (seeded(model, rng_for(rows.seed, "clean", "partitioning", "model", done, each)), member, left)
            for each, member in enumerate(members)
        ]
        answers, unconverged = _answers(tasks, rows)
        predicted, notes = np.stack(answers), notes + unconverged
        # A model that never saw a class cannot vote for it: on the labels of that class it has no say.
        knows = np.stack([np.bincount(labels[member], minlength=k) > 0 for member in members])[:, here]
        against, voters = ((predicted != here) & knows).sum(axis=0), knows.sum(axis=0)
        judged = voters > 1
        found = judged & (against == voters if rule == "non-objection" else 2 * against > voters)
        score[left] = np.where(judged, against / voters, score[left])
        suggested[left[found]] = _tally(predicted, here, k)[2][found]
        suspect[left[found]] = True
        done += 1
        settled = found.sum() < SETTLED * n
    if not settled:
        message = f"Round {done}, the last, still found at least {SETTLED:.0%} new suspects, or left one class."
        notes += (Note(code="not-settled", message=message, severity="warning"),)
    return _Found(suspect, suggested, score, notes, {"rounds": str(done)})


def _confident(probabilities: Floats, labels: Indices, rule: str) -> Flags:
    """Return the suspects that cleanlab finds by confident learning.

    cleanlab suspects a certain number of labels of each class, those with the lowest scores, and the order of the rows
    decides between equals. Here rows are sorted first, and equals are all suspected if one of them is.
    """
    filters = require("cleanlab.filter", purpose="method 'confident'")
    # An order of the rows that depends on what they hold only; equal rows are neighbours in it
    keys = np.stack([probabilities.max(axis=1), probabilities[np.arange(labels.size), labels], labels])
    order = np.lexsort(keys)
    before, after = order[:-1], order[1:]
    tied = (keys[:, before] == keys[:, after]).all(axis=0)
    # Sorting by all columns is slow with many classes, and rarely decides.
    if (probabilities[before[tied]] != probabilities[after[tied]]).any():
        order = np.lexsort((*probabilities.T, labels))
    rows, given = probabilities[order], labels[order]
    with warnings.catch_warnings():  # a note says it, with the names of the classes
        warnings.filterwarnings("ignore", message="May not flag all label issues in class", category=UserWarning)
        flags = filters.find_label_issues(given, rows, filter_by=rule, n_jobs=1)
    starts = np.flatnonzero(
        np.r_[True, (given[1:] != given[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)]  # of runs of equals
    )
    suspect = np.empty(labels.size, dtype=bool)
    suspect[order] = np.repeat(np.logical_or.reduceat(flags, starts), np.diff(np.r_[starts, labels.size]))
    return suspect


def _tally(votes: Array, labels: Indices, k: int) -> tuple[Counts, Counts, Indices]:
    """Count votes of shape (n_voters, n): for the given label, for the first other class, and which that is.

    Of classes with as many votes, the one that the earliest voter named.
    """
    n = labels.size
    own, most, other = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
    step = max(1, CELLS_AT_ONCE // k)
    for start in range(0, n, step):
        part = slice(start, start + step)
        here = votes[:, part]
        rows = np.arange(here.shape[1])
        counts = np.bincount((rows * k + here).ravel(), minlength=rows.size * k).reshape(rows.size, k)
        own[part] = counts[rows, labels[part]]
        counts[rows, labels[part]] = -1
        other[part] = plurality(counts, earliest_voter(here, k))
        most[part] = counts[rows, other[part]]
    return own, most, other


# The call -------------------------------------------------------------------------------------------------------------

Method = Literal["knn", "classification", "voting", "partitioning", "entropy", "confident"]

#: Options of each method and their defaults; a model of None is the default one.
_OPTIONS: dict[str, dict[str, Any]] = {
    "knn": {"k": 5, "scaling": "standard"},
    "classification": {"model": None, "folds": 5},
    "voting": {"model": None, "folds": 5, "rule": "majority"},
    "partitioning": {"model": None, "folds": 5, "rule": "majority", "rounds": 10},
    "entropy": {"model": None, "folds": 5, "threshold": None, "kind": None},
    "confident": {"model": None, "folds": 5, "rule": "prune_by_noise_rate", "kind": None},
}
#: Share of suspects that need a second look: ten test sets that were reviewed had 0.15% to 10.1% wrong labels
#: (Northcutt, Athalye & Mueller 2021).
MANY_SUSPECTS = 0.1
_RULES = {
    "voting": ("majority", "consensus"),
    "partitioning": ("majority", "non-objection"),
    "confident": ("prune_by_noise_rate", "prune_by_class", "both", "confident_learning", "predicted_neq_given"),
}


@checked
def clean(
    y: object,
    features_or_probabilities: object,
    *,
    method: Method = "confident",
    model: object = None,
    folds: Several | None = None,
    k: Count | None = None,
    rule: str | None = None,
    rounds: Count | None = None,
    threshold: Fraction | None = None,
    kind: Literal["features", "probabilities"] | None = None,
    scaling: Literal["standard", "none"] | None = None,
    classes: Sequence[object] | None = None,
    seed: Seed = 0,
    n_jobs: Jobs | None = 1,
) -> Cleaning:
    """Find labels that are likely to be wrong, and suggest others.

    Every method also suspects correct labels, most often those of rare classes: read
    :func:`demele.labels.cleaning_harm` before you drop or relabel anything. No label is changed here. A model that errs
    on a quarter of the rows suspects a quarter of the correct labels; a note warns if more than 10% are suspected.

    Parameters
    ----------
    y : array-like of shape (n,)
        Given labels, of at least 2 classes.
    features_or_probabilities : array-like of shape (n, d) or (n, K)
        Finite numbers. ``"entropy"`` and ``"confident"`` also take probabilities of the K classes, predicted by a model
        that was not trained on the instance.
    method : {"knn", "classification", "voting", "partitioning", "entropy", "confident"}
        Default ``"confident"``, which suspects the fewest correct labels on most data; the others need no extra.

        * ``"knn"``: another class has more of the k nearest neighbours than the label has (edited nearest neighbours;
          Wilson 1972, IEEE Trans. Syst. Man Cybern. 2, 408-421). Suggested: the neighbours' class.
        * ``"classification"``: a model trained on the other folds predicts another class (Gamberger, Lavrac & Groselj
          1999, ICML).
        * ``"voting"``: several varied models, each trained on the other folds, predict other classes (Brodley & Friedl
          1999, JAIR 11, 131-167). Suggested: the class, other than the label, with most votes.
        * ``"partitioning"``: a model is trained on each part of the data, and all of them vote; suspects leave, and the
          rest is split again, until a round finds fewer than 1% of n (Zhu, Wu & Chen 2003, ICML).
        * ``"entropy"``: the predicted probabilities are sure of another class: their entropy, as a share of log K, is
          below ``threshold`` (after Sun, Zhao, Wang & Chen 2007). Suggested: that class.
        * ``"confident"``: confident learning (Northcutt, Jiang & Chuang 2021, JAIR 70, 1373-1411), as cleanlab does it.
          Suggested: the most probable class. Needs the extra ``cleaning``.
    model : scikit-learn classifier, or a sequence of at least 2 for ``"voting"``, optional
        Trained on the features as they come. Random states that are not set are drawn from ``seed``. By default
        logistic regression on standardised features; for ``"voting"`` that, a decision tree and the nearest neighbour
        (the source: linear machine, tree, nearest neighbour).
    folds : int >= 2, default 5
        Folds, each with its share of every class; for ``"partitioning"``, the number of parts.
    k : int from 1 to n - 1, default 5
        Neighbours of ``"knn"``, the instance itself not among them.
    rule : str, optional
        ``"voting"``: ``"majority"`` (more than half of the models, the default) or ``"consensus"`` (all).
        ``"partitioning"``: ``"majority"`` or ``"non-objection"`` (all). ``"confident"``: cleanlab's ``filter_by``, by
        default ``"prune_by_noise_rate"``; also ``"prune_by_class"``, ``"both"``, ``"confident_learning"`` and
        ``"predicted_neq_given"``.
    rounds : int >= 1, default 10
        At most so many rounds of ``"partitioning"``.
    threshold : float in (0, 1], optional
        Of ``"entropy"``. By default from the data: the mean entropy of the rows whose label is the most probable class,
        and at least 0.3 (about a probability of 0.95 with two classes). A model that was trained on many wrong labels
        is sure of nothing, and a fixed limit would find nothing. A note says the value where it is above 0.3.
    kind : {"features", "probabilities"}, optional
        What came, for ``"entropy"`` and ``"confident"``. By default, K columns of numbers in [0, 1] with rows that add
        up to 1 within 0.01 are probabilities (each row is divided by its sum if it is off by more than 1e-6), and
        anything else is features, from which ``model`` makes probabilities out of fold; a note says so where the
        features are as many as the classes. Probabilities in percent or in logarithms are refused.
    scaling : {"standard", "none"}, default "standard"
        Of ``"knn"``: whether features are brought to mean 0 and standard deviation 1 first, or taken as they are.
    classes : sequence, optional
        All classes, in the order of the columns of probabilities. By default the sorted labels. Columns of a data frame
        that are named as the classes, when these are strings, are taken by name.
    seed : int >= 0
        Random seed of the folds and of models that draw.
    n_jobs : int or None
        Processes, as in scikit-learn; the result does not depend on it.

    Returns
    -------
    Cleaning
        With ``suspect``, ``suggested``, ``method``, ``signature`` and ``notes``, and ``score``: for ``"knn"`` the share
        of neighbours, and for ``"voting"`` and ``"partitioning"`` the share of models, that are against the label; for
        ``"entropy"`` and ``"confident"`` 1 - P(label), which other labels than the suspects can have as high: see
        :meth:`Cleaning.worst`. To drop suspects rather than to relabel them: ``clean(...).dropping()``. It belongs to
        these labels in this order, and refuses others.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Also if an option is given that the method does not use.
    MissingExtraError
        If cleanlab is not installed and the method is ``"confident"``.

    Notes
    -----
    Simplifications. ``"partitioning"``: the source votes with selected rules of C4.5, moves some good instances out of
    the data each round and stops after three small rounds; here a whole model votes (but not on labels of a class that
    it did not see), only suspects leave, and one small round ends it. ``"entropy"``: one model instead of the source's
    Bayesian network.

    A label whose class no training row has is not judged by methods that train: it is no suspect, its score is NaN, and
    a note says so. ``"knn"`` judges it all the same, as its source does. Ties of votes with the label keep it in
    ``"knn"``. Of other classes that are tied, the one that the nearest neighbour or the earliest model names is
    suggested. Ties of distance are broken as scikit-learn breaks them. From probabilities,
    the suspects do not depend on the order of the rows: where cleanlab lets that order decide between instances with
    the same label and the same probabilities, all of them are suspects here.

    Examples
    --------
    >>> features = [[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]]
    >>> found = clean(["a", "a", "b", "a", "b", "b", "b", "b"], features, method="knn", k=3)
    >>> found.suspect
    array([False, False,  True, False, False, False, False, False])
    >>> str(found.suggested[2]), float(found.score[2])
    ('a', 1.0)
    """
    from scipy.special import entr

    options = _options(method, dict(locals()))
    if method == "confident":  # said before anything is trained
        cleanlab = require("cleanlab", purpose="method 'confident' (the default; 'knn' needs no extra)")
    given = read_labels(y, "y")
    words = vocabulary(given, classes=classes)
    labels = words.encode(given, "y")
    if np.unique(labels).size < 2:
        raise NotEnoughData("y", f"expected labels of at least 2 classes, got only {shown(given[:1].tolist())}")
    table = read_codes(features_or_probabilities, _ARGUMENT)
    check_rows(y, features_or_probabilities, ("y", _ARGUMENT), (labels.size, len(table.values)))
    notes: tuple[Note, ...] = ()
    probabilities = None
    if "kind" in options:
        probabilities, notes = read_probabilities(table, words, options["kind"])
        options["kind"] = "features" if probabilities is None else "probabilities"
    elif len(words) == table.values.shape[1] and _row_sums(table.values)[2].all():
        message = (
            f"The {len(words)} columns look like probabilities of the {len(words)} classes, and were read as features: "
            f"method {method!r} reads nothing else. Of the methods, 'entropy' and 'confident' use probabilities."
        )
        notes = (Note(code="read-as-features", message=message),)
    if probabilities is not None:
        for name in ("model", "folds"):
            if options.pop(name) != _OPTIONS[method][name]:
                problem = f"nothing is trained, since `{_ARGUMENT}` was read as probabilities"
                raise InputError(name, problem, f"drop `{name}`, or pass `kind='features'`")
    elif method != "knn":
        models = _models(method, options["model"])
        called = [re.sub(r"\s+", " ", repr(one)).replace("( ", "(").replace("[ ", "[") for one in models]
        options["model"] = called if method == "voting" else called[0]
        rows = _Rows(np.asarray(table.values, np.float64), labels, len(words), options["folds"], seed, n_jobs)
    if method == "knn":
        if options["k"] >= labels.size:
            raise InputError("k", f"expected fewer neighbours than the {labels.size} instances, got {options['k']}")
        from sklearn.preprocessing import StandardScaler

        scaled = table.values if options["scaling"] == "none" else StandardScaler().fit_transform(table.values)
        found = _nearest_neighbours(scaled, labels, len(words), options["k"], n_jobs)
    elif method == "partitioning":
        found = _partitioning(models[0], rows, rule=options["rule"], rounds=options["rounds"])
    elif method in ("classification", "voting"):
        found = _voting(models, rows, method, options.get("rule", "majority"))
    else:
        judged, converged = np.ones(labels.size, dtype=bool), notes[:0]
        if probabilities is None:
            (probabilities,), judged, converged = _out_of_fold(models, rows, "probabilities", probabilities=True)
        likeliest = probabilities.argmax(axis=1).astype(np.int32)
        if method == "confident":
            suspect, context = _confident(probabilities, labels, options["rule"]), {"cleanlab": cleanlab.__version__}
        else:
            uncertain, agree = entr(probabilities).sum(axis=1) / np.log(len(words)), likeliest == labels
            if options["threshold"] is None:
                # What is usual where prediction and label agree: a model that is trained on many wrong labels is sure
                # of nothing, and a fixed limit would find nothing. A decimal number can be given back as it is written.
                usual = float(uncertain[agree].mean()) if agree.any() else LEAST_SURE
                options["threshold"] = limit = round(max(LEAST_SURE, usual), 4)
                if limit > LEAST_SURE:
                    message = (
                        f"The probabilities are rarely certain, so the threshold is the mean entropy of the rows whose "
                        f"label is the most probable class, {limit:g}, instead of {LEAST_SURE:g}. "
                        f"`threshold={LEAST_SURE!r}` suspects fewer."
                    )
                    notes += (Note(code="threshold-from-data", message=message),)
            suspect, context = (uncertain < options["threshold"]) & ~agree, {}
        # within [0, 1] whatever rounding does to the probabilities
        doubt = np.clip(1 - probabilities[np.arange(labels.size), labels], 0, 1)
        found = _Found(suspect & judged, likeliest, np.where(judged, doubt, np.nan), converged, context)
    class_names = np.array(words.classes, dtype=given.dtype)
    drawn = {} if method == "knn" or options.get("kind") == "probabilities" else {"seed": seed}
    context = {"n": str(given.size), "classes": str(len(words)), **found.context, "demele": __version__}
    return Cleaning(
        found.suspect,
        np.where(found.suspect, class_names[found.suggested], given),
        score=found.score,
        method=method,
        made_from=label_digest(given),
        signature=Signature("clean", {"method": method, **options, **drawn}, context),
        notes=(*found.notes, *notes, *_remarks(method, labels, words, found.suspect, options)),
    )


def _remarks(method: str, labels: Indices, words: Vocabulary, suspect: Flags, options: Mapping[str, Any]) -> list[Note]:
    """Say which classes the method could not treat as it treats the others, and whether it suspects many labels."""
    sizes = np.bincount(labels, minlength=len(words))
    hit = np.bincount(labels[suspect], minlength=len(words))
    folds = options.get("folds", 0)
    too_few = 2 * (sizes - 1) < options["k"] if method == "knn" else sizes < folds
    cases = {
        "unjudged": (
            (sizes == 1) & bool(folds or method == "confident"),
            "have 1 instance, which is never suspected: there are no others to learn the class from.",
        ),
        "rare-classes": (
            too_few & (sizes > 0),
            "have too few instances to be half of the k neighbours of any of them."
            if method == "knn"
            else "have fewer instances than folds, so some folds have none.",
        ),
        "lost-classes": (
            (sizes > 0) & (hit == sizes),
            "have suspected labels only: dropping or relabelling them would end these classes.",
        ),
    }
    notes = {
        code: (f"{where.sum()} of {len(words)} classes {message}", [words.classes[each] for each in where.nonzero()[0]])
        for code, (where, message) in cases.items()
        if where.any()
    }
    share, kind = float(suspect.mean()), options.get("kind", "features")
    if share > 0.5:
        look = "Look whether row r of both is the same instance"
        if kind == "probabilities":
            look = (
                f"Look whether the columns of the probabilities are in the order of the classes, here "
                f"{shown(words.classes)} (another order: `classes=[...]`), whether the labels count the "
                "classes from another number than the columns do, and whether row r of both is the same instance"
            )
        message = (
            f"{share:.0%} of the labels are suspected: either most are wrong, or labels and {kind} do not belong "
            f"together, or these say little of the classes. {look}."
        )
        notes["mostly-suspected"] = message, []
    elif share > MANY_SUSPECTS:
        message = (
            f"{share:.0%} of the labels are suspected. A model with this error rate on unseen rows suspects as "
            "many labels even if all are correct. Have an expert check some suspects before you relabel or drop rows."
        )
        notes["many-suspects"] = message, []
    return [
        Note(code=code, message=message, subject=tuple(map(str, of[:6])), severity="warning")
        for code, (message, of) in notes.items()
    ]


# Options -------------------------------------------------------------------------------------------------------------


def _options(method: str, given: dict[str, Any]) -> dict[str, Any]:
    known = _OPTIONS[method]
    for name in {name: None for options in _OPTIONS.values() for name in options}:
        if given[name] is not None and name not in known:
            users = [repr(other) for other, options in _OPTIONS.items() if name in options]
            raise InputError(name, f"`method={method!r}` does not use it, only {', '.join(users)}; drop it")
    options = {name: known[name] if given[name] is None else given[name] for name in known}
    if "rule" in options and options["rule"] not in _RULES.get(method, ()):
        rules, got = shown(_RULES.get(method, ())), quoted(options["rule"])
        raise InputError("rule", f"expected one of {rules} for method {method!r}, got {got}")
    return options


def _models(method: str, model: Any) -> list[Any]:
    """Return classifiers that have not been trained: those given, or the default ones."""
    from sklearn.base import clone, is_classifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    several = method == "voting"
    if model is None:  # logistic regression is quick and deterministic, and its probabilities are of use
        logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        nearest = make_pipeline(StandardScaler(), KNeighborsClassifier(n_neighbors=1))
        return [logistic, DecisionTreeClassifier(), nearest] if several else [logistic]
    if several and (not isinstance(model, Sequence) or len(model) < 2):
        got = f"{type(model).__name__} of {len(model)}" if isinstance(model, Sequence) else type(model).__name__
        problem = f"expected a sequence of at least 2 classifiers for method 'voting', got {got}"
        raise InputTypeError("model", problem, "for one model, take method='classification'")
    given = {f"model[{place}]": one for place, one in enumerate(model)} if several else {"model": model}
    for argument, one in given.items():
        is_class = isinstance(one, type)
        if is_class or not (hasattr(one, "fit") and hasattr(one, "predict") and is_classifier(one)):
            got = f"the class {one.__name__}" if is_class else type(one).__name__
            raise InputTypeError(
                argument, f"expected a scikit-learn classifier, such as RandomForestClassifier(), got {got}"
            )
    return [clone(one) for one in given.values()]
