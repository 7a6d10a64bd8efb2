"""What a cleaning of labels found, and a simulated cleaning of known quality."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Counts, Flags, Floats, Rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import FILE, Rate, Seed, checked, checked_count
from demele.core.labelled import Indices, common_vocabulary, read_labels, shown
from demele.core.lazy import require
from demele.core.result import Result, about
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.table_columns import as_column, check_rows, number_column, plain_array
from demele.core.uncertainty import Note
from demele.labels.joined.voting import earliest_voter, plurality
from demele.noise.transition import digest, set_fields
from demele.report.document import Document, Section, Table
from demele.report.listing import drawn, table_of_frame
from demele.report.words import count, name, written
from demele.runtime.work import one_thread, ordered

if TYPE_CHECKING:
    import pandas as pd


class CleanedLabels(NamedTuple):
    """What is left after a cleaning: ``labels`` of shape (m,), and ``rows``, where they were among all n."""

    labels: NDArray[Any]
    rows: Rows


#: Suspected labels in a table, the most suspicious ones.
_MOST_SUSPECTS = 500


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Cleaning(Result):
    """Suspected labels of a cleaning, and the suggested labels.

    Parameters
    ----------
    suspect : array-like of bool of shape (n,)
    suggested : array-like of shape (n,), optional
        Labels of all rows after the cleaning; read where ``suspect``. Without them, suspects are dropped.
    score : array-like of shape (n,), optional
        How suspicious each label is, from 0 to 1, if the method has such a number; NaN where it could not judge. A
        method may suspect by more than this number: suspects need not have the highest scores.
    method : str, optional
    signature : Signature, optional
        The call that made it, with every setting.
    notes : sequence of Note
    made_from : str, optional
        Digest of the labels that were cleaned, in their order, by which :func:`demele.labels.clean` ties the cleaning
        to them: other labels are then refused.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> import numpy as np
    >>> confidence = np.array([0.9, 0.1, 0.8])
    >>> cleaning = Cleaning(confidence < 0.5)
    >>> cleaning.suspect
    array([False,  True, False])
    >>> cleaning.kept(["cat", "cat", "dog"])
    CleanedLabels(labels=array(['cat', 'dog'], dtype=object), rows=array([0, 2]))
    """

    _kind = "cleaning"

    suspect: Flags
    suggested: NDArray[Any] | None
    score: Floats | None
    method: str | None
    signature: Signature | None
    notes: tuple[Note, ...]
    made_from: str | None

    def __init__(
        self,
        suspect: object,
        suggested: object = None,
        *,
        score: object = None,
        method: str | None = None,
        signature: Signature | None = None,
        notes: Sequence[Note] = (),
        made_from: str | None = None,
    ) -> None:
        flags = np.array(as_column(suspect, "suspect"))
        if flags.ndim != 1 or flags.dtype != bool:
            raise InputTypeError(
                "suspect",
                f"expected one flag (True or False) per label, got shape {flags.shape} of type "
                f"{flags.dtype}; from row numbers: suspect = numpy.zeros(n, dtype=bool); suspect[rows] = True",
            )
        instead = None if suggested is None else read_labels(suggested, "suggested")
        if instead is not None and instead.size != flags.size:
            raise InputError("suggested", f"expected {flags.size} labels, one per flag of suspect, got {instead.size}")
        if score is not None:
            score = number_column(
                score,
                "score",
                flags.size,
                "flag",
                "numbers in [0, 1]",
                inside=lambda share: ~((share < 0) | (share > 1)),
            )
        set_fields(
            self,
            suspect=flags,
            suggested=instead,
            score=score,
            method=method,
            signature=signature,
            notes=tuple(notes),
            made_from=made_from,
        )

    def document(self) -> Document:
        """Say how many labels are suspected, and which are the most suspicious."""
        n, found = self.suspect.size, self.n_suspects
        frame = self.worst(_MOST_SUSPECTS).head(found).drop(columns="suspect").rename_axis("row")
        table, _ = table_of_frame("Suspected labels", frame)
        shares, share = [("suspected", found), ("others", n - found)], written(found / max(n, 1), "percent")
        left = f"The {_MOST_SUSPECTS} most suspicious of {written(found, 'count')} are listed."
        read = None if self.signature is None else self.signature.arguments.get("kind")
        return Document(
            kind="Cleaning",
            headline=f"{written(found, 'count')} of {count(n, 'label')} are suspected: {share}.",
            figure=drawn(Table("Labels", {"": "text", "Labels": "count"}, shares), "Labels", bar=True),
            table=table,
            scope=[f"method {name(self.method)}" if self.method else "", f"read from {read}" if read else ""],
            sections=[Section("Label errors", [table, left if found > _MOST_SUSPECTS else ""])],
            **about(self),
        )

    @property
    def n_suspects(self) -> int:
        """Number of labels that are held for wrong."""
        return int(self.suspect.sum())

    def dropping(self) -> "Cleaning":
        """Return the same suspects without suggestions, so that every use of the cleaning drops them."""
        return replace(self, suggested=None)

    def take(self, rows: object) -> "Cleaning":
        """Return the cleaning of some rows, for use with the labels of these rows only.

        Parameters
        ----------
        rows : array-like
            Flags of shape (n,), or row numbers.

        Examples
        --------
        >>> Cleaning([True, False, True], [0, 1, 1]).take([True, True, False]).suspect
        array([ True, False])
        """
        chosen = plain_array(rows, "rows", "flags or row numbers")
        try:
            parts = {
                name: None if column is None else column[chosen]
                for name, column in (("suspect", self.suspect), ("suggested", self.suggested), ("score", self.score))
            }
            return replace(self, **parts, made_from=None)  # type: ignore[arg-type]
        except IndexError as error:
            raise InputError(
                "rows",
                f"expected {self.suspect.size} flags, or row numbers up to {self.suspect.size - 1}, got shape "
                f"{chosen.shape} of {chosen.dtype}",
            ) from error

    def kept(self, y: object) -> CleanedLabels:
        """Drop the suspects, even where there is a suggestion.

        Parameters
        ----------
        y : array-like of shape (n,)
            The labels that were cleaned.

        Raises
        ------
        InputError, InputTypeError
        """
        given = self._labels(y)
        rows = np.flatnonzero(~self.suspect)
        return CleanedLabels(given[rows], rows)

    def applied(self, y: object) -> CleanedLabels:
        """Relabel the suspects if there are suggestions, which keeps every row; else drop them.

        Parameters
        ----------
        y : array-like of shape (n,)
            The labels that were cleaned.

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> Cleaning([False, True, False], ["cat", "dog", "dog"]).applied(["cat", "cat", "dog"]).labels
        array(['cat', 'dog', 'dog'], dtype=object)
        """
        if self.suggested is None:
            return self.kept(y)
        given = self._labels(y)
        return CleanedLabels(np.where(self.suspect, self.suggested, given), np.arange(given.size))

    @checked
    def to_frame(self, y: object = None, *, only_suspects: bool = False) -> "pd.DataFrame":
        """One row per label: suspect, and label, suggested and score where they are known.

        Parameters
        ----------
        y : array-like of shape (n,), optional
            The labels that were cleaned.
        only_suspects : bool
            Leave out the other rows; the index says where the suspects were. They are in the order of the rows: for the
            most suspicious first, see :meth:`worst`.

        Raises
        ------
        InputError, InputTypeError
        """
        import pandas as pd

        columns: dict[str, Any] = {} if y is None else {"label": self._labels(y)}
        columns["suspect"] = self.suspect
        if self.suggested is not None:
            columns["suggested"] = self.suggested
        if self.score is not None:
            columns["score"] = self.score
        frame = pd.DataFrame(columns)
        return frame[self.suspect] if only_suspects else frame

    def worst(self, n: int = 20, *, y: object = None) -> "pd.DataFrame":
        """Return the n labels to look at first: suspects by score, then the other labels by score.

        The score alone does not sort so: ``"confident"`` suspects a number of labels of each class, so that a label of
        another class with as high a score may be none. Equal scores stay in the order of the rows, and labels without a
        score come after those with one.

        Parameters
        ----------
        n : int >= 1
        y : array-like of shape (n,), optional
            The labels that were cleaned.

        Returns
        -------
        DataFrame
            Rows of :meth:`to_frame`; the index says where they were.

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> Cleaning([False, True, True], score=[0.9, 0.5, 0.8]).worst(3).index.tolist()
        [2, 1, 0]
        """
        checked_count(n, "n", 1)
        score = np.zeros(self.suspect.size) if self.score is None else np.nan_to_num(self.score, nan=-1.0)
        order = np.lexsort((-score, ~self.suspect))  # stable
        return self.to_frame(y).iloc[order[:n]]

    def _labels(self, y: object) -> NDArray[Any]:
        given = read_labels(y, "y")
        if given.size != self.suspect.size:
            raise InputError("y", f"expected {self.suspect.size} labels, those that were cleaned, got {given.size}")
        if self.suggested is not None and given.dtype != self.suggested.dtype:
            raise InputError(
                "y",
                f"expected classes like the suggested ones, such as {shown(self.suggested[:1].tolist())}, got "
                f"{shown(given[:1].tolist())}; pass the labels that were cleaned",
            )
        check_made_from(self, given, "y")
        return given


#: A file of flags on the command line.
CleaningData = Annotated[Cleaning | None, FILE]


def label_digest(labels: NDArray[Any]) -> str:
    """Return a digest of labels in their order, the same for 3, 3.0 and "3".

    Parameters
    ----------
    labels : array of shape (n,)
        As :func:`demele.core.labelled.read_labels` returns them.
    """
    import pandas as pd

    # By first appearance: the codes do not depend on the order of classes that a caller may have.
    codes, names = pd.factorize(labels)
    return digest(codes.astype(np.int64), [str(name) for name in names])


def check_made_from(cleaning: Cleaning, labels: NDArray[Any], argument: str) -> None:
    """Refuse labels that a cleaning was not made from, if it knows its own.

    Parameters
    ----------
    labels : array of shape (n,)
        As :func:`demele.core.labelled.read_labels` returns them.
    argument : str
        What messages call the labels.
    """
    if cleaning.made_from is not None and cleaning.made_from != label_digest(labels):
        raise InputError(
            "cleaning",
            f"it was made from other labels than {argument}, or from these in another order; pass the labels "
            "that were cleaned, row by row, or clean these",
        )


@checked
def simulated_cleaning(
    labels: object,
    true_labels: object,
    *,
    detected: Rate,
    false_alarms: Rate,
    corrected: Rate | None = None,
    seed: Seed = 0,
) -> Cleaning:
    """Simulate a cleaning of known quality; for studies, since it uses the true labels.

    Parameters
    ----------
    labels, true_labels : array-like of shape (n,)
    detected : float in [0, 1]
        Probability that a wrong label is suspected (s).
    false_alarms : float in [0, 1]
        Probability that a right label is suspected (e).
    corrected : float in [0, 1], optional
        Probability that a suspect is given its true class (c); else it is given one of the other classes, each as
        likely. Without it, suspects are dropped.
    seed : int >= 0

    Returns
    -------
    Cleaning
        With the same seed, larger rates suspect more labels, not others.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Source: Benjelloun, section 6.5.4. The other classes are those other than the true one, so that a wrong label that
    is suspected may also stay.

    Examples
    --------
    >>> found = simulated_cleaning([0, 1, 1, 0], [0, 1, 0, 0], detected=1, false_alarms=0, corrected=1)
    >>> found.suspect
    array([False, False,  True, False])
    >>> found.suggested
    array([0, 1, 0, 0])
    """
    given, true = read_labels(labels, "labels"), read_labels(true_labels, "true_labels")
    check_rows(labels, true_labels, ("labels", "true_labels"), (given.size, true.size))
    words = common_vocabulary([given, true])
    coded, truth = words.encode(given, "labels"), words.encode(true, "true_labels")
    suspect = rng_for(seed, "simulated_cleaning", "suspect").random(given.size) < np.where(
        coded != truth, detected, false_alarms
    )
    if corrected is None:
        return Cleaning(suspect)
    if len(words) < 2:
        raise NotEnoughData("labels", f"expected at least 2 classes to choose from, got only {words.classes[0]!r}")
    succeeds = rng_for(seed, "simulated_cleaning", "corrected").random(given.size) < corrected
    shift = rng_for(seed, "simulated_cleaning", "other").integers(1, len(words), given.size)
    found = np.where(succeeds, truth, (truth + shift) % len(words))
    names = np.array(words.classes, dtype=given.dtype)
    return Cleaning(suspect, np.where(suspect, names[found], given))


# The methods of cleaning ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """What models say of instances that they did not see.

    Attributes
    ----------
    predicted : array of int of shape (n_models, n)
        Class index.
    probabilities : array of shape (n_models, n, K) or None
        0 for a class that no training row had.
    judged : array of bool of shape (n,)
        False where the training rows lack the class of the label: no model could have agreed with it.
    unconverged : int
        Trainings that stopped before they converged.
    """

    predicted: Indices
    probabilities: Floats | None
    judged: Flags
    unconverged: int


def dealt(labels: Indices, folds: int, rng: "np.random.Generator") -> Indices:
    """Deal instances out to folds, class by class, as cards: shape (n,).

    Every class is spread as evenly as its size allows, and so are all instances together; a class with fewer
    instances than folds is in as many folds as it has instances.
    """
    order = rng.permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(labels.size, dtype=np.int32)
    fold[order] = np.arange(labels.size) % folds
    return fold


def standardised(features: Floats) -> Floats:
    """Return features with mean 0 and standard deviation 1; constant ones become 0."""
    from sklearn.preprocessing import StandardScaler

    scaled: Floats = StandardScaler().fit_transform(features)
    return scaled


def default_model() -> Any:
    """Return logistic regression on standardised features: quick, deterministic, with probabilities of use."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def read_model(model: object, argument: str = "model") -> Any:
    """Return a scikit-learn classifier that has not been trained."""
    from sklearn.base import clone, is_classifier

    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "predict"):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InputTypeError(
            argument, f"expected a scikit-learn classifier, such as RandomForestClassifier(), got {what}"
        )
    if not is_classifier(model):
        raise InputTypeError(argument, f"expected a classifier, got {type(model).__name__}, which is none")
    return clone(model)


def model_name(model: object) -> str:
    """Return the call that makes a model, on one line."""
    return re.sub(r"\s+", " ", repr(model)).replace("( ", "(").replace("[ ", "[")


def seeded(model: Any, rng: "np.random.Generator") -> Any:
    """Return an untrained copy of a model whose unset random states are drawn; those that are set stay."""
    from sklearn.base import clone

    copy = clone(model)
    states = sorted(name for name in copy.get_params() if name.rpartition("__")[2] == "random_state")
    unset = {name: int(rng.integers(2**31)) for name in states if copy.get_params()[name] is None}
    return copy.set_params(**unset) if unset else copy


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """Rows that models are trained on and judge, fold by fold.

    Attributes
    ----------
    features : array of shape (n, d)
    labels : array of int of shape (n,)
    k : int
        Number of classes.
    folds : int
        At most n are used.
    seed : int
    n_jobs : int or None
        No result depends on it.
    """

    features: Floats
    labels: Indices
    k: int
    folds: int
    seed: int
    n_jobs: int | None


def out_of_fold(
    models: Sequence[Any], rows: FoldedRows, identity: str, want: Literal["classes", "probabilities"] = "classes"
) -> OutOfFold:
    """Train every model on all folds but one, and predict that one.

    ``identity`` and the seed: what the folds and the models' random states are drawn from.

    Raises
    ------
    InputError
        If probabilities are wanted of a model that has none.
    """
    features, labels, k, seed = rows.features, rows.labels, rows.k, rows.seed
    fold = dealt(labels, min(rows.folds, labels.size), rng_for(seed, "clean", identity, "folds"))
    parts = range(int(fold.max()) + 1)
    tasks = [
        (seeded(model, rng_for(seed, "clean", identity, "model", index, part)), fold != part, fold == part)
        for index, model in enumerate(models)
        for part in parts
    ]
    calls = ((model, features[train], labels[train], features[test], k, want) for model, train, test in tasks)
    answers = list(ordered(answered, calls, n_jobs=rows.n_jobs))
    predicted = np.empty((len(models), labels.size), dtype=np.int32)
    shares = np.zeros((len(models), labels.size, k)) if want == "probabilities" else None
    for place, ((_, _, test), (values, _)) in enumerate(zip(tasks, answers, strict=True)):
        index = place // len(parts)
        if shares is not None:
            shares[index, test] = values
        predicted[index, test] = values if shares is None else values.argmax(axis=1)
    # A class dealt to one fold only is missing where that fold is predicted.
    judged = np.bincount(labels, minlength=k)[labels] > 1
    return OutOfFold(predicted, shares, judged, sum(not converged for _, converged in answers))


def answered(
    model: Any, features: Floats, labels: Indices, asked: Floats, k: int, want: Literal["classes", "probabilities"]
) -> tuple[NDArray[Any], bool]:
    """Train a model and ask it: classes of shape (m,) or probabilities of shape (m, k), and whether it converged.

    One thread is used, so that sums have the same order in every run.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    present = np.unique(labels)
    if present.size == 1:  # many classifiers refuse a single class, and there is nothing to learn
        constant = np.zeros((len(asked), k))
        constant[:, present[0]] = 1
        return (constant if want == "probabilities" else constant.argmax(axis=1)), True
    if want == "probabilities" and not hasattr(model, "predict_proba"):
        raise InputError(
            "model",
            f"{type(model).__name__} gives no probabilities, which this method needs; wrap it in scikit-learn's "
            "CalibratedClassifierCV, or take another",
        )
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values: NDArray[Any]
        model.fit(features, labels)
        if want == "classes":
            values = np.asarray(model.predict(asked)).astype(np.int32)
        else:
            values = np.zeros((len(asked), k))
            values[:, np.asarray(model.classes_)] = model.predict_proba(asked)
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return values, converged


# The methods of cleaning: mathematics on class indices and tables that were validated before --------------------------


#: Votes held at a time, so that memory stays bounded however many classes there are.
CELLS_AT_ONCE = 1 << 22
#: Normalised entropy below which a prediction counts as sure on any data.
LEAST_SURE = 0.3
#: Partitioning has settled when a round finds fewer new suspects than this share of all instances (Zhu et al. 2003).
SETTLED = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a method found: flags, class indices after the cleaning (read where suspect), suspicion in [0, 1]."""

    suspect: Flags
    suggested: Indices
    score: Floats | None = None
    notes: tuple[Note, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)


def nearest_neighbours(features: Floats, labels: Indices, k_classes: int, *, k: int, n_jobs: int | None) -> Found:
    """Suspect instances for whom another class has more of the k nearest neighbours than their own."""
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(features).kneighbors(return_distance=False)
    own, most, other = _tally(labels[near].T, labels, k_classes)
    return Found(suspect=most > own, suggested=other, score=1 - own / k)


def classification(models: Sequence[Any], rows: FoldedRows) -> Found:
    """Suspect labels that one model, trained on the other folds, does not predict."""
    seen = out_of_fold(models, rows, "classification")
    predicted = seen.predicted[0]
    suspect = (predicted != rows.labels) & seen.judged
    return Found(suspect=suspect, suggested=predicted, notes=convergence_notes(seen.unconverged))


def voting(models: Sequence[Any], rows: FoldedRows, *, rule: str) -> Found:
    """Suspect labels that more than half of the models (or all of them), trained on the other folds, do not predict."""
    seen = out_of_fold(models, rows, "voting")
    against = (seen.predicted != rows.labels).sum(axis=0)
    needed = against == len(models) if rule == "consensus" else 2 * against > len(models)
    return Found(
        suspect=needed & seen.judged,
        suggested=_tally(seen.predicted, rows.labels, rows.k)[2],
        score=np.where(seen.judged, against / len(models), np.nan),
        notes=convergence_notes(seen.unconverged),
    )


def partitioning(models: Sequence[Any], rows: FoldedRows, *, rule: str, rounds: int) -> Found:
    """Split, train a model per part, let all of them vote on every instance, drop the suspects, and begin again."""
    features, labels, k, seed = rows.features, rows.labels, rows.k, rows.seed
    n = labels.size
    suspect, score, suggested = np.zeros(n, dtype=bool), np.full(n, np.nan), labels.copy()
    unconverged = done = 0
    settled = False
    while not settled and done < rounds:
        left = np.flatnonzero(~suspect)
        here = labels[left]
        if np.unique(here).size < 2:
            break
        part = dealt(here, min(rows.folds, here.size), rng_for(seed, "clean", "partitioning", "parts", done))
        parts = range(int(part.max()) + 1)
        calls = (
            (
                seeded(models[0], rng_for(seed, "clean", "partitioning", "model", done, each)),
                features[left[part == each]],
                here[part == each],
                features[left],
                k,
                "classes",
            )
            for each in parts
        )
        answers = list(ordered(answered, calls, n_jobs=rows.n_jobs))
        predicted = np.stack([values for values, _ in answers])
        unconverged += sum(not converged for _, converged in answers)
        # A model that never saw a class cannot vote for it: on the labels of that class it has no say.
        knows = np.stack([np.bincount(here[part == each], minlength=k) > 0 for each in parts])[:, here]
        against, voters = ((predicted != here) & knows).sum(axis=0), knows.sum(axis=0)
        needed = against == voters if rule == "non-objection" else 2 * against > voters
        judged = voters > 1
        found = left[needed & judged]
        score[left] = np.where(judged, against / voters, score[left])
        suggested[found] = _tally(predicted, here, k)[2][needed & judged]
        suspect[found] = True
        done += 1
        settled = found.size < SETTLED * n
    notes = convergence_notes(unconverged)
    if not settled:
        message = f"Round {done}, the last, still found at least {SETTLED:.0%} new suspects, or left one class."
        notes += (Note(code="not-settled", message=message, severity="warning"),)
    return Found(suspect=suspect, suggested=suggested, score=score, notes=notes, context={"rounds": str(done)})


def entropy(probabilities: Floats, labels: Indices, *, threshold: float) -> Found:
    """Suspect labels that differ from the most probable class where the normalised entropy is below a threshold."""
    certain = _normalised_entropy(probabilities) < threshold
    winner = probabilities.argmax(axis=1).astype(np.int32)
    return Found(suspect=certain & (winner != labels), suggested=winner, score=_doubt(probabilities, labels))


def entropy_threshold(probabilities: Floats, labels: Indices) -> float:
    """Return the entropy that is usual where prediction and label agree: their mean, and at least ``LEAST_SURE``.

    Where many labels are wrong, a model that is trained on them is sure of nothing: a fixed limit then finds nothing.
    As in confident learning, how sure is sure is read off the rows whose label the model gives itself.
    """
    agree = probabilities.argmax(axis=1) == labels
    return max(LEAST_SURE, float(_normalised_entropy(probabilities[agree]).mean())) if agree.any() else LEAST_SURE


def _normalised_entropy(probabilities: Floats) -> Floats:
    """Entropy of each row as a share of the largest, in [0, 1]."""
    from scipy.special import entr

    return np.asarray(entr(probabilities).sum(axis=1) / np.log(probabilities.shape[1]))


def confident(probabilities: Floats, labels: Indices, *, rule: str) -> Found:
    """Suspect what cleanlab finds by confident learning.

    cleanlab suspects a certain number of labels of each class, those with the lowest scores, and the order of the rows
    decides between equals. Here rows are sorted first, and equals are all suspected if one of them is.
    """
    import warnings

    cleanlab = require("cleanlab", purpose="method 'confident'")
    filters = require("cleanlab.filter", purpose="method 'confident'")
    # An order of the rows that depends on what they hold only; equal rows are neighbours in it
    keys = np.stack([probabilities.max(axis=1), probabilities[np.arange(labels.size), labels], labels])
    order = np.lexsort(keys)
    before, after = order[:-1], order[1:]
    tied = (keys[:, before] == keys[:, after]).all(axis=0)
    # Sorting by all columns is slow with many classes, and seldom needed.
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
    return Found(
        suspect=suspect,
        suggested=probabilities.argmax(axis=1).astype(np.int32),
        score=_doubt(probabilities, labels),
        context={"cleanlab": str(cleanlab.__version__)},
    )


def _doubt(probabilities: Floats, labels: Indices) -> Floats:
    """1 - P(given label); within [0, 1] whatever rounding does to the probabilities."""
    return np.clip(1 - probabilities[np.arange(labels.size), labels], 0, 1)


def _tally(votes: NDArray[Any], labels: Indices, k: int) -> tuple[Counts, Counts, Indices]:
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


def convergence_notes(trainings: int) -> tuple[Note, ...]:
    """Warn of trainings that stopped before they converged."""
    message = f"{trainings} trainings stopped before they converged; allow more iterations with model=..."
    return (Note(code="not-converged", message=message, severity="warning"),) if trainings else ()
