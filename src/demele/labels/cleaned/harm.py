"""What a cleaning costs each class: how much of it is suspected, and how much of that wrongly."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from demele.core.arrays import Array, Counts, Flags, Rows, pd
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import Classes, Data, Level, checked
from demele.core.labelled import Indices, Vocabulary, common_vocabulary, read_labels, refuse_unjudged
from demele.core.proportions import holm, proportion, score_interval
from demele.core.result import Interval, Note, Result, about, plain
from demele.core.table_columns import check_rows
from demele.labels.cleaned.cleaning import Cleaning, read_cleaned
from demele.labels.cleaned.filters import Method, clean
from demele.report.document import Document, Section, Table
from demele.report.listing import Column, drawn, listed, table_of_frame
from demele.report.words import count, joined, name, rate, written

Grouping = Literal["given", "true", "overall"]

#: Columns of the table that are not called as the fields of its rows.
_TITLES = {
    "of": "class",
    "false_alarm_interval_low": "false_alarms_low",
    "false_alarm_interval_high": "false_alarms_high",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassHarm:
    """What happened to the instances of one class.

    What needs the true labels is None without them; a share of nothing is NaN.

    Attributes
    ----------
    by : {"given", "true", "overall"}
        Whether the instances are those with this label, those truly of this class, or all.
    of : int, str or None
        The class; None for all.
    instances, suspected : int
    share : float
        Suspected, as a share of the instances, with Wilson's interval.
    right, wrong : int or None
        Instances whose label is right, and wrong.
    false_alarms : float or None
        Share of the correct labels that are suspected (e), with Wilson's interval.
    detected : float or None
        Share of the wrong labels that are suspected (s).
    corrected : float or None
        Share of the suspects whose suggested label is right (c); NaN if suspects are dropped.
    before, after : float
        Share of the class among all labels (true classes, by true class) before the cleaning, and among those left
        after it: suspects are relabelled if there are suggestions, else dropped. A relabelling drops nobody, so that by
        true class both are the same.
    """

    by: Grouping
    of: int | str | None
    instances: int
    suspected: int
    share: float
    interval: Interval | None
    before: float
    after: float
    right: int | None = None
    wrong: int | None = None
    false_alarms: float | None = None
    false_alarm_interval: Interval | None = None
    detected: float | None = None
    corrected: float | None = None


def _harm_table(caption: str, lines: "Sequence[ClassHarm]") -> Table:
    """Return a row for each class; what only true labels say has columns where they are known."""
    columns: list[Column[ClassHarm]] = [
        ("Class", "text", lambda one: "all" if one.of is None else name(one.of)),
        ("Labels", "count", "instances"),
        ("Suspected", "count", "suspected"),
        ("Share", "percent", "share"),
        ("Interval", "percent?", "interval"),
        ("Of the correct", "percent", "false_alarms"),
        ("Of the correct interval", "percent?", "false_alarm_interval"),
        ("Of the wrong", "percent", "detected"),
        ("Before", "percent", "before"),
        ("After", "percent", "after"),
    ]
    return listed(caption, lines, columns, "Before and after: share of the class among all labels.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Harm(Result):
    """Cost of a cleaning for each class.

    Attributes
    ----------
    overall : ClassHarm
    given : tuple of ClassHarm
        By given label, one per class.
    true : tuple of ClassHarm
        By true class; empty if it is not known.
    loss : mapping of class to float
        For each class, the suspected share of its correct labels if the true labels are known, else of all its labels.
    rarest : tuple of int or str
        The class with fewest labels, or all classes that have as few.
    ratio : float
        Loss of the rarest class (the mean of several) over the mean loss of the classes, each class counting the same:
        1 is fair, above 1 is harm to the rarest. NaN if nothing is lost.
    p_values : mapping of class to float
        For each minority class: how probable so large a loss would be, if it lost as the other classes do.
    """

    _kind, _rows = "cleaning harm", "lines"

    overall: ClassHarm
    given: tuple[ClassHarm, ...]
    true: tuple[ClassHarm, ...]
    loss: dict[int | str, float]
    rarest: tuple[int | str, ...]
    ratio: float
    p_values: dict[int | str, float]
    level: float
    method: str | None
    relabels: bool
    notes: tuple[Note, ...] = ()

    @property
    def lines(self) -> tuple[ClassHarm, ...]:
        """Every class by given label, then by true class, then all."""
        return (*self.given, *self.true, self.overall)

    def to_frame(self) -> "pd.DataFrame":
        """One row per class by given label, then by true class, then all."""
        frame = super(Harm, self).to_frame().rename(columns=_TITLES)
        # Classes stay what they are: the missing one of the last row would turn whole numbers into floats.
        frame["class"] = pd.Series([one.of for one in self.lines], dtype=object)
        return frame

    def document(self) -> Document:
        """Say whether rare classes lose more labels in a cleaning than the others."""
        every = self.overall
        harmed = [name(one) for note in self.notes if note.code == "minority-harm" for one in note.subject]
        what = "correct labels" if self.true else "labels"
        suspected = written(every.suspected / max(every.instances, 1), "percent")
        if every.suspected == 0:
            headline = "No label is suspected, so that no class loses any."
        elif len(self.rarest) < len(self.loss):
            rarest = f"class ({name(self.rarest[0])}) loses" if len(self.rarest) == 1 else "classes lose"
            times = written(self.ratio, "number.2")
            headline = f"The rarest {rarest} {what} at {times} times the mean rate of all classes."
        else:
            headline = f"No class is rarer than the others; {suspected} of the labels are suspected."
        of_right, of_wrong = (written(share, "percent") for share in (every.false_alarms, every.detected))
        rare = sorted(self.given, key=lambda one: one.instances)
        tables = [_harm_table("By given label", [*rare, every])]
        tables += [_harm_table("By true class", self.true)] if self.true else []
        share = "Of the correct" if "Of the correct" in tables[0].columns else "Share"
        return Document(
            kind="Cost of a cleaning",
            headline=headline,
            tone="bad" if harmed else "",
            sentences=[
                f"{written(every.suspected, 'count')} of {count(every.instances, 'label')} are suspected.",
                f"Among them are {of_right} of the correct labels and {of_wrong} of the wrong ones."
                if self.true
                else "",
                f"Significantly more {what} than others lose: {joined(harmed)}." if harmed else "",
            ],
            figure=drawn(tables[0], share, caption=f"Share of the {what} that are suspected", most=len(rare)),
            table=tables[0],
            scope=[f"method {name(self.method)}" if self.method else ""],
            sections=[Section("Classes", tables)],
            methods=[
                "Suspected labels were counted by class with demele [@demele].",
                f"Intervals are those of Wilson, level {rate(self.level)}. Each minority class was compared with all",
                "others by Fisher's exact test, one-sided, with Holm's correction [@holm1979simple].",
            ],
            **about(self),
        )


@checked
def cleaning_harm(
    cleaning: Cleaning,
    y: object,
    true_labels: object = None,
    *,
    level: Level = 0.95,
    classes: Sequence[object] | None = None,
) -> Harm:
    """Report the cost of a cleaning for each class, and whether rare classes lose more than others.

    Parameters
    ----------
    cleaning : Cleaning
    y : array-like of shape (n,)
        The labels that were cleaned; others are refused, as far as the cleaning knows its own.
    true_labels : array-like of shape (n,), optional
        True classes, where they are known, as in a study or an audit of every row. Without them, a suspect may be a
        wrong label well found or a right one lost, and the report cannot tell which.
    level : float in (0, 1)
        Level of the intervals; 1 - level is the probability of a note about harm where there is none, at most.
    classes : sequence, optional
        All classes, in the order of the result. By default those of the labels and true labels, sorted.

    Returns
    -------
    Harm

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Harm to rare classes: Benjelloun, section 3.4.2, after Seiffert et al. 2014. A minority class has fewer labels than
    n / K. The loss of each is compared with that of all other classes together by Fisher's exact test, one-sided, with
    Holm's correction for the number of minority classes; a note ``"minority-harm"`` names those that lose significantly
    more at the level. With true labels, only correct labels count as losses, so that a class with more wrong labels
    does not count as harmed. Intervals are Wilson's.

    Examples
    --------
    >>> from demele.labels import Cleaning
    >>> y = ["common"] * 90 + ["rare"] * 10
    >>> found = Cleaning([False] * 88 + [True] * 2 + [True] * 8 + [False] * 2)
    >>> harm = cleaning_harm(found, y)
    >>> harm
    Harm(The rarest class (rare) loses labels at 1.95 times the mean rate of all classes)
    >>> [(one.of, round(one.share, 3), one.after) for one in harm.given]
    [('common', 0.022, 0.9777777777777777), ('rare', 0.8, 0.022222222222222223)]
    """
    from scipy.stats import hypergeom

    if not isinstance(cleaning, Cleaning):
        raise InputTypeError(
            "cleaning", f"expected a Cleaning, got {type(cleaning).__name__}; wrap flags of suspects in Cleaning(flags)"
        )
    given = read_cleaned(y, cleaning)
    true = None if true_labels is None else read_labels(true_labels, "true_labels")
    if true is not None:
        check_rows(y, true_labels, ("y", "true_labels"), (given.size, true.size))
        refuse_unjudged(true, given, "true_labels", classes=classes)
    instead = None if cleaning.suggested is None else np.where(cleaning.suspect, cleaning.suggested, given)
    words = common_vocabulary([part for part in (given, instead, true) if part is not None], classes=classes)
    if len(words) < 2:
        raise NotEnoughData("y", f"expected at least 2 classes, got only {words.classes[0]!r}: no class can lose more")
    suspect, n = cleaning.suspect, given.size
    coded = words.encode(given, "y")
    truth = None if true is None else words.encode(true, "true_labels")
    after = None if instead is None else words.encode(instead, "cleaning.suggested")
    names = words.classes

    def lines(by: Grouping, of: Sequence[int | str | None], member: Indices) -> tuple[ClassHarm, ...]:
        """Return one line per class; ``member`` is the class of each instance."""

        def count(where: Flags | None = None) -> Counts:
            return np.bincount(member if where is None else member[where], minlength=len(of))

        size, hit = count(), count(suspect)
        left = size
        if after is None:
            left = count(~suspect)
        elif by == "given":
            left = np.bincount(after, minlength=len(of))
        columns: dict[str, Any] = {
            "instances": size.tolist(),
            "suspected": hit.tolist(),
            "share": proportion(hit, size).tolist(),
            "interval": _intervals(hit, size, level),
            "before": (size / n).tolist(),
            "after": proportion(left, left.sum()).tolist(),
        }
        if truth is not None:
            right = coded == truth
            n_right, n_wrong, alarms = count(right), count(~right), count(right & suspect)
            fixed = np.full(len(of), np.nan) if after is None else count(suspect & (after == truth))
            columns |= {
                "right": n_right.tolist(),
                "wrong": n_wrong.tolist(),
                "false_alarms": proportion(alarms, n_right).tolist(),
                "false_alarm_interval": _intervals(alarms, n_right, level),
                "detected": proportion(count(~right & suspect), n_wrong).tolist(),
                "corrected": proportion(fixed, hit).tolist(),
            }
        rows = zip(of, *columns.values(), strict=True)
        return tuple(ClassHarm(by=by, of=name, **dict(zip(columns, row, strict=True))) for name, *row in rows)

    # What is lost, and of how many: right labels, if it is known which they are.
    at_stake = np.ones(n, dtype=bool) if truth is None else coded == truth
    sizes, total, lost = (
        np.bincount(coded[where], minlength=len(names)) for where in (slice(None), at_stake, at_stake & suspect)
    )
    shares = proportion(lost, total)
    present = np.flatnonzero(sizes)
    rarest = present[sizes[present] == sizes[present].min()]
    defined = np.isfinite(shares)
    mean = float(shares[defined].mean()) if defined.any() else math.nan
    theirs = shares[rarest][defined[rarest]]
    minority = np.flatnonzero((total > 0) & (sizes * present.size < n))
    # Fisher's exact test, one-sided, each class against all others together.
    p_values = hypergeom.sf(lost[minority] - 1, total.sum(), lost.sum(), total[minority])
    harmed = minority[holm(p_values, 1 - level)]
    return Harm(
        overall=lines("overall", (None,), np.zeros(n, dtype=np.int32))[0],
        given=lines("given", names, coded),
        true=() if truth is None else lines("true", names, truth),
        loss={name: float(share) for name, share in zip(names, shares, strict=True)},
        rarest=tuple(names[each] for each in rarest),
        ratio=float(theirs.mean() / mean) if mean > 0 and theirs.size else math.nan,
        p_values={names[each]: float(p) for each, p in zip(minority, p_values, strict=True)},
        level=level,
        method=cleaning.method,
        relabels=after is not None,
        notes=_notes(harmed, lost, total, words, known=truth is not None),
    )


def _intervals(successes: Array, trials: Array, level: float) -> list[Interval | None]:
    """Return Wilson's intervals; None without a trial."""
    ends = zip(*(end.tolist() for end in score_interval(successes, trials, level=level)), strict=True)
    return [
        None if math.isnan(low) else Interval(low=low, high=high, level=level, method="wilson") for low, high in ends
    ]


def _notes(harmed: Rows, lost: Counts, total: Counts, words: Vocabulary, *, known: bool) -> tuple[Note, ...]:
    what = "correct labels" if known else "labels"
    ended = np.flatnonzero((total > 0) & (lost == total))
    found = {"lost-classes": (ended, f"{ended.size} classes lose all their {what}.")} if ended.size else {}
    if harmed.size:
        shares = proportion(lost, total)
        worst = int(harmed[shares[harmed].argmax()])
        other = (lost.sum() - lost[worst]) / max(int(total.sum() - total[worst]), 1)
        message = (
            f"{harmed.size} minority classes lose significantly more {what} than the other classes; most, "
            f"{words.classes[worst]}: {shares[worst]:.1%} of its {what} are suspected, {other:.1%} of the others'."
        )
        if not known:
            message += (
                " Its labels may also be worse than those of the others: only true labels, or an audit, can show that."
            )
        found = {"minority-harm": (harmed, message), **found}
    return tuple(
        Note(code=code, message=message, subject=tuple(str(words.classes[k]) for k in which[:6]), severity="warning")
        for code, (which, message) in found.items()
    )


# A cleaning with the labels that it cleans: what is suspected, what it costs, and the labels afterwards ---------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CleanedSet(Result):
    """Labels and their cleaning; see :func:`clean_labels`.

    Attributes
    ----------
    cleaning : Cleaning
    harm : Harm
    labels : array of shape (n,)
        The given labels.
    after : {"drop", "relabel"} or None
        What becomes of suspects in :meth:`to_frame`; without it, the frame lists the suspects.
    """

    _kind = "cleaned labels"
    _files: ClassVar[Mapping[str, str]] = {".suspects.csv": "flags_frame"}

    cleaning: Cleaning
    harm: Harm
    labels: Array = field(metadata={"json": False})
    after: Literal["drop", "relabel"] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything, and the suspects, the most suspicious first."""
        return {**Result.to_dict(self), "suspects": plain(self.suspects_frame())}

    def document(self) -> Document:
        """Return the suspects, the most suspicious first, and what the cleaning costs each class."""
        listed, _ = table_of_frame("Suspected labels", self.suspects_frame())
        harm = self.harm.document()
        made = self.cleaning.document()
        return replace(
            made,
            headline=f"{made.headline} {harm.headline}",
            sentences=[*made.sentences, *harm.sentences],
            table=listed,
            below=[*made.below, *(table for table in (harm.table,) if table is not None)],
            sections=[*made.sections, *harm.sections],
            methods=[*made.methods, *harm.methods],
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the labels after the cleaning: row and label; or the suspects, if nothing is to become of them."""
        if self.after is None:
            return self.suspects_frame()
        labels, rows = self.cleaning.applied(self.labels)
        return pd.DataFrame({"row": rows, "label": labels})

    def suspects_frame(self) -> "pd.DataFrame":
        """Return the suspects, most suspicious first: row, given, suggested, score."""
        found = self.cleaning.worst(self.labels.size, y=self.labels).head(self.cleaning.n_suspects)
        named = found.reset_index(names="row").rename(columns={"label": "given"})
        return named.reindex(columns=["row", "given", "suggested", "score"])

    def flags_frame(self) -> "pd.DataFrame":
        """Return a flag per row, and the suggested labels: what a comparison with the method cleaned reads."""
        frame = self.cleaning.to_frame().drop(columns="score", errors="ignore")
        return frame.astype({"suspect": np.int64})


def clean_labels(
    labels: object,
    features: object = None,
    *,
    method: Method = "confident",
    relabel: bool = False,
    drop: bool = False,
    probabilities: Data = None,
    kind: Literal["features", "probabilities"] | None = None,
    folds: int | None = None,
    k: int | None = None,
    scaling: Literal["standard", "none"] | None = None,
    rule: str | None = None,
    rounds: int | None = None,
    threshold: float | None = None,
    classes: Classes = None,
    true_labels: Data = None,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> CleanedSet:
    """Find labels that are likely to be wrong, and report what a cleaning costs each class.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Given labels.
    features : array-like of shape (n, d), optional
        Features, unless probabilities are given.
    method : str
        Method. See :func:`demele.labels.clean`, as for all options that are not explained here.
    relabel : bool
        Replace suspects by their suggested labels.
    drop : bool
        Leave suspects out.
    probabilities : array-like of shape (n, n_classes), optional
        Predicted probabilities of the classes, instead of features. From models that were not trained on the row.
    kind : {"features", "probabilities"}, optional
        What the features are, for entropy and confident (default: by their values).
    folds : int, optional
        Parts of the rows, each judged by the others (default: 5).
    k : int, optional
        Neighbours of the method knn (default: 5).
    scaling : {"standard", "none"}, optional
        Scaling of the features, for knn (default: standard).
    rule : str, optional
        Rule of the methods voting, partitioning and confident.
    rounds : int, optional
        Largest number of rounds of the method partitioning (default: 10).
    threshold : float, optional
        Threshold of the method entropy, in (0, 1].
    classes : sequence, optional
        All classes, in the order of the probabilities (default: sorted).
    true_labels : array-like of shape (n,), optional
        True labels, to count the suspects that are wrong.
    level : float
        Confidence of the intervals.
    seed : int
        Random seed.
    n_jobs : int or None
        Processes, -1 for all processors.

    Returns
    -------
    CleanedSet

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    if (features is None) == (probabilities is None):
        got = "neither" if features is None else "both"
        raise InputError("features", f"expected features or probabilities, got {got}")
    if drop and relabel:
        raise InputError(("drop", "relabel"), "expected one of them")
    table = probabilities if features is None else features
    options: dict[str, Any] = {
        "folds": folds, "k": k, "scaling": scaling, "rule": rule, "rounds": rounds, "threshold": threshold,
        "kind": "probabilities" if features is None else kind, "classes": classes,
    }  # fmt: skip
    found = clean(labels, table, method=method, seed=seed, n_jobs=n_jobs, **options)
    found = found.dropping() if drop else found
    harm = cleaning_harm(found, labels, true_labels, level=level)
    after: Literal["drop", "relabel"] | None = "drop" if drop else "relabel" if relabel else None
    return CleanedSet(found, harm, read_labels(labels, "labels"), after)
