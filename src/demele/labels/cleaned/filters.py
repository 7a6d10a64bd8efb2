"""The door of cleaning: which labels a method holds for wrong, and what it would put in their place."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Flags, Floats
from demele.core.columns import Codes
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.inputs import read_codes
from demele.core.kinds import Count, Fraction, Jobs, Seed, Several, checked
from demele.core.labelled import Indices, Vocabulary, plain_text, read_labels, shown, vocabulary
from demele.core.lazy import require
from demele.core.signature import Signature
from demele.core.table_columns import check_rows
from demele.core.uncertainty import Note
from demele.core.version import __version__
from demele.labels.cleaned import cleaning as methods
from demele.labels.cleaned.cleaning import (
    Cleaning,
    FoldedRows,
    default_model,
    label_digest,
    model_name,
    out_of_fold,
    read_model,
    standardised,
)

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
    sums = _sums(values)
    precision = _precision(values)
    off = np.flatnonzero(~_like(values, sums, precision))
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
        raise InputError(
            _ARGUMENT,
            f"{off.size} of {len(values)} rows are not probabilities (in [0, 1], sum 1 within {WRITTEN:g}),"
            f" first row {off[0]}, which adds up to {sums[off[0]]:g}; for scores of the classes pass their softmax, "
            "for features `kind='features'`",
        )
    if values.shape[1] != k:
        raise InputError(
            _ARGUMENT,
            f"expected a column of probabilities for each of the {k} classes {shown(words.classes)}, got "
            f"{values.shape[1]} columns; give all classes, in their order, with `classes=[...]`"
            + ("" if kind else ", or pass `kind='features'`"),
        )
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


def unread_probabilities(table: Codes, words: Vocabulary, method: str, users: Sequence[str]) -> tuple[Note, ...]:
    """Say that a method takes for features what looks like probabilities of the classes."""
    values = table.values
    if values.shape[1] != len(words):
        return ()
    if not _like(values, _sums(values), _precision(values)).all():
        return ()
    return (
        Note(
            code="read-as-features",
            message=f"The {values.shape[1]} columns look like probabilities of the {len(words)} classes, and were read "
            f"as features: method {method!r} reads nothing else. Of the methods, {' and '.join(map(repr, users))} use "
            "probabilities.",
        ),
    )


def _sums(values: NDArray[np.floating]) -> Floats:
    return np.asarray(np.sum(values, axis=1, dtype=np.float64))


def _precision(values: NDArray[np.floating]) -> float:
    """How far the sum of numbers of such a precision, one per class, may be from 1."""
    return values.shape[1] * float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else 0.0


def _like(values: NDArray[np.floating], sums: Floats, precision: float) -> Flags:
    """Return which rows are not negative and add up to 1, as near as rounding lets them."""
    return np.asarray((np.abs(sums - 1) <= max(WRITTEN, precision)) & (values >= 0).all(axis=1))


def _refuse_other_scales(values: NDArray[np.floating], sums: Floats, kind: Kind | None) -> None:
    """Refuse probabilities in percent, counts of equally many votes, and logarithms."""
    if len(values) < _FEWEST:
        return
    other = "" if kind else "; if these are features, pass `kind='features'`"
    total = float(np.median(sums))
    if (values >= 0).all() and total > 0:
        percent = abs(total - 100) <= 100 * WRITTEN
        if (np.abs(sums - total) <= total * (WRITTEN if percent else ARITHMETIC)).all():
            shown_total = 100 if percent else total
            raise InputError(
                _ARGUMENT,
                f"every row adds up to {shown_total:g}, not to 1; if these are probabilities"
                f"{' in percent' if percent else ', or counts of votes'}, divide them by {shown_total:g}" + other,
            )
    if (values <= 0).all():
        with np.errstate(under="ignore"):
            exponentials = np.exp(np.asarray(values, dtype=np.float64)).sum(axis=1)
        if (np.abs(exponentials - 1) <= WRITTEN).all():
            raise InputError(
                _ARGUMENT,
                "these look like logarithms of probabilities: no number is above 0, and the exponentials "
                "of every row add up to 1; pass numpy.exp of them" + other,
            )


# The door of cleaning: which labels a method holds for wrong, and what it would put in their place --------------------


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
#: Methods that judge by probabilities, and take them where they come.
_FROM_PROBABILITIES = tuple(name for name, options in _OPTIONS.items() if "kind" in options)
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
    options = _options(method, dict(locals()))
    if method == "confident":  # said before anything is trained
        require("cleanlab", purpose="method 'confident' (the default; 'knn' needs no extra)")
    given = read_labels(y, "y")
    words = vocabulary(given, classes=classes)
    labels = words.encode(given, "y")
    if np.unique(labels).size < 2:
        raise NotEnoughData("y", f"expected labels of at least 2 classes, got only {shown(given[:1].tolist())}")
    table = read_codes(features_or_probabilities, "features_or_probabilities")
    names = ("y", "features_or_probabilities")
    check_rows(y, features_or_probabilities, names, (labels.size, len(table.values)))
    notes: tuple[Note, ...] = ()
    probabilities, judged = None, np.ones(labels.size, dtype=bool)
    if "kind" in options:
        probabilities, notes = read_probabilities(table, words, options["kind"])
        options["kind"] = "features" if probabilities is None else "probabilities"
    if probabilities is not None:
        for name in ("model", "folds"):
            if options.pop(name) != _OPTIONS[method][name]:
                raise InputError(
                    name,
                    "nothing is trained, since `features_or_probabilities` was read as probabilities; drop "
                    f"`{name}`, or pass `kind='features'`",
                )
    elif method != "knn":
        models = _models(method, options["model"])
        called = [model_name(one) for one in models]
        options["model"] = called if method == "voting" else called[0]
        rows = FoldedRows(np.asarray(table.values, np.float64), labels, len(words), options["folds"], seed, n_jobs)
    if method == "knn":
        if options["k"] >= labels.size:
            raise InputError("k", f"expected fewer neighbours than the {labels.size} instances, got {options['k']}")
        scaled = table.values if options["scaling"] == "none" else standardised(table.values)
        found = methods.nearest_neighbours(scaled, labels, len(words), k=options["k"], n_jobs=n_jobs)
    elif method == "classification":
        found = methods.classification(models, rows)
    elif method == "voting":
        found = methods.voting(models, rows, rule=options["rule"])
    elif method == "partitioning":
        found = methods.partitioning(models, rows, rule=options["rule"], rounds=options["rounds"])
    else:
        converged: tuple[Note, ...] = ()
        if probabilities is None:
            seen = out_of_fold(models, rows, "probabilities", "probabilities")
            probabilities, judged = seen.probabilities[0], seen.judged  # type: ignore[index]  # they were asked for
            converged = methods.convergence_notes(seen.unconverged)
        if method == "entropy" and options["threshold"] is None:
            # A decimal number can be given back as it is written.
            limit = options["threshold"] = round(methods.entropy_threshold(probabilities, labels), 4)
            if limit > methods.LEAST_SURE:
                message = (
                    f"The probabilities are rarely certain, so the threshold is the mean entropy of the rows whose "
                    f"label is the most probable class, {limit:g}, instead of {methods.LEAST_SURE:g}. "
                    f"`threshold={methods.LEAST_SURE!r}` suspects fewer."
                )
                notes += (Note(code="threshold-from-data", message=message),)
        if method == "entropy":
            found = methods.entropy(probabilities, labels, threshold=options["threshold"])
        else:
            found = methods.confident(probabilities, labels, rule=options["rule"])
        score: Any = np.where(judged, np.asarray(found.score), np.nan)
        notes = (*found.notes, *notes, *converged)
        found = replace(found, suspect=found.suspect & judged, score=score, notes=notes)
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
        notes=(*found.notes, *_remarks(method, table, labels, words, found.suspect, options)),
    )


def _remarks(
    method: str, table: Codes, labels: Indices, words: Vocabulary, suspect: Flags, options: dict[str, Any]
) -> list[Note]:
    """Say which classes the method could not treat as it treats the others."""
    sizes = np.bincount(labels, minlength=len(words))
    hit = np.bincount(labels[suspect], minlength=len(words))
    names = [str(name) for name in words.classes]
    trained = "folds" in options
    rare = np.flatnonzero((sizes > 0) & (sizes < options["folds"])) if trained else np.empty(0, dtype=np.intp)
    if method == "knn":
        rare = np.flatnonzero((sizes > 0) & (2 * (sizes - 1) < options["k"]))
    cases = (
        (
            "unjudged",
            np.flatnonzero(sizes == 1) if trained or method == "confident" else np.empty(0, dtype=np.intp),
            "{} of {} classes have 1 instance, which is never suspected: there are no others to learn the class from.",
        ),
        (
            "rare-classes",
            rare,
            "{} of {} classes have too few instances to be half of the k neighbours of any of them."
            if method == "knn"
            else "{} of {} classes have fewer instances than folds, so some folds have none.",
        ),
        (
            "lost-classes",
            np.flatnonzero((sizes > 0) & (hit == sizes)),
            "Every label of {} of {} classes is suspected: dropping or relabelling them would end these classes.",
        ),
    )
    notes = [
        Note(
            code=code,
            message=message.format(which.size, len(names)),
            subject=tuple(names[each] for each in which[:6]),
            severity="warning",
        )
        for code, which, message in cases
        if which.size
    ]
    if method not in _FROM_PROBABILITIES:
        notes += unread_probabilities(table, words, method, _FROM_PROBABILITIES)
    share, probable = float(suspect.mean()), options.get("kind") == "probabilities"
    if share <= MANY_SUSPECTS:
        return notes
    if share <= 0.5:
        message = (
            f"{share:.0%} of the labels are suspected. A model with this error rate on unseen rows suspects as "
            "many labels even if all are correct. Have an expert check some suspects before you relabel or drop rows."
        )
        return [*notes, Note(code="many-suspects", message=message, severity="warning")]
    look = "Look whether row r of both is the same instance"
    if probable:
        look = (
            f"Look whether the columns of the probabilities are in the order of the classes, here "
            f"{shown(words.classes)} (another order: `classes=[...]`), whether the labels count the "
            "classes from another number than the columns do, and whether row r of both is the same instance"
        )
    message = (
        f"{share:.0%} of the labels are suspected: either most are wrong, or labels and "
        f"{'probabilities' if probable else 'features'} do not belong together, or these say little of the "
        f"classes. {look}."
    )
    return [*notes, Note(code="mostly-suspected", message=message, severity="warning")]


# Options -------------------------------------------------------------------------------------------------------------


def _options(method: str, given: dict[str, Any]) -> dict[str, Any]:
    known = _OPTIONS[method]
    for name in {name: None for options in _OPTIONS.values() for name in options}:
        if given[name] is not None and name not in known:
            users = [repr(other) for other, options in _OPTIONS.items() if name in options]
            raise InputError(name, f"`method={method!r}` does not use it, only {', '.join(users)}; drop it")
    options = {name: known[name] if given[name] is None else given[name] for name in known}
    if "rule" in options and options["rule"] not in _RULES.get(method, ()):
        rules, got = shown(_RULES.get(method, ())), plain_text(options["rule"])
        raise InputError("rule", f"expected one of {rules} for method {method!r}, got {got}")
    return options


def _models(method: str, model: Any) -> list[Any]:
    if method != "voting":
        return [default_model() if model is None else read_model(model)]
    if model is None:
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.tree import DecisionTreeClassifier

        nearest = make_pipeline(StandardScaler(), KNeighborsClassifier(n_neighbors=1))
        return [default_model(), DecisionTreeClassifier(), nearest]
    if not isinstance(model, Sequence) or len(model) < 2:
        raise InputTypeError(
            "model",
            f"expected a sequence of at least 2 classifiers for method 'voting', got {type(model).__name__}"
            + (f" of {len(model)}" if isinstance(model, Sequence) else "; for one model, take method='classification'"),
        )
    return [read_model(one, f"model[{place}]") for place, one in enumerate(model)]
