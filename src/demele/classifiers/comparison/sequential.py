"""Expert labels one at a time: stop as soon as they show which classifier is better, whatever the label noise."""

import inspect
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from demele.classifiers.comparison.compare import refuse_groups
from demele.classifiers.comparison.decision import Decision, ExpertBreakdown, decision
from demele.classifiers.comparison.methods import METHODS, random_sample
from demele.classifiers.comparison.sequential_plan import GIVE_UP, Plan, bet_outcomes, signs, terms
from demele.classifiers.intervals import Draws, score_wealth
from demele.classifiers.judge import judge
from demele.classifiers.mean_scores import checked_gate, sampling_error
from demele.classifiers.of_scores import named
from demele.classifiers.question import (
    Inference,
    Noise,
    Outcomes,
    Question,
    allowed_rows,
    classes_of,
    expert_words,
    read_groups,
    read_noise,
)
from demele.classifiers.row_scores import RowScores, read_scores, stacked
from demele.core.arrays import Flags, Rows, pd, rng_for
from demele.core.errors import InputError
from demele.core.kinds import Classes, Confidence, Count, Data, Rate, Seed, checked
from demele.core.labelled import read_labelled, read_labels
from demele.core.result import Note, Result
from demele.core.table_columns import number_column
from demele.noise.audit import Audit, read_rows
from demele.noise.transition import digest
from demele.report.document import Document
from demele.report.words import count

#: In the place of a class index: no answer yet; and no class, for the expert could not say.
UNASKED, UNCLEAR = -1, -2


class SequentialComparison(Result):
    """Compare two classifiers with as few expert labels as possible, asked one at a time.

    Of two :class:`demele.classifiers.RowScores`, without labels, or of one with a ``gate``, it asks for true scores of
    rows, and decides by a :class:`demele.classifiers.Judgement` with proved intervals.

    Parameters
    ----------
    baseline, candidate : array-like of shape (n,)
        Their predicted classes on the same instances.
    labels : array-like of shape (n,)
        The given labels, possibly with errors. None for scores of rows.
    level : float in (0, 1)
        Confidence of the verdict. Two-sided: each claim is made wrongly with probability (1 - level) / 2 at most,
        whatever the label noise and whenever one stops.
    inference : {"population", "test_set", "overlap"}
        Rows that the verdict is about, as in :func:`demele.classifiers.compare`.
    noise : float, TransitionMatrix or TransitionCounts, optional
        Largest share of wrong labels, or a noise transition matrix. For the inference overlap, it limits how wide the
        intervals on true labels may be; without it they are as wide as they can be.
    disagreement : array-like of shape (n,), optional
        Numbers >= 0, larger where a label is more likely wrong, such as :func:`demele.labels.disagreement` of a pool of
        other models. Errors then appear earlier in close comparisons; no guarantee depends on it.
    classes : sequence, optional
        All classes (default: those of the labels).
    gate : float, optional
        For the scores of one system: what their mean should exceed.
    expert_error : float in [0, 1]
        Share of rows on which the expert may be wrong. The worst case is assumed.
    groups : array-like of shape (n,), optional
        Rows that belong together, as in :func:`demele.classifiers.compare`.
    seed : int >= 0
        Random seed of the order of the rows. The same arguments give the same order. Choose it before looking at
        labels.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Rows on which the two agree are never asked. Where the given labels show a clear gap, neither are those whose label
    is with the trailing classifier: their errors could only help the claim. The others are drawn without replacement,
    twice as often if the label is with one of the two as if it is with neither, which is what a label can change.

    *What counts.* Answers may come in any order, and for any rows that are to be asked; evidence is counted in the
    order drawn, up to the first row without an answer. So answers that come easily cannot weigh more than those that
    are missing. The promise covers every moment of that order, hence any reason to stop.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 10, 2000)
    >>> old, new = (np.where(rng.random(2000) < p, truth, (truth + 1) % 10) for p in (0.80, 0.90))
    >>> labels = np.where(rng.random(2000) < 0.05, (truth + 2) % 10, truth)
    >>> comparison = SequentialComparison(old, new, labels, level=0.95)
    >>> while not comparison.done:
    ...     rows = comparison.ask(5)
    ...     comparison.tell(rows, truth[rows])
    >>> comparison.decision().verdict, comparison.labels_used
    ('candidate', 25)

    Scores of rows:

    >>> given, true = np.full(500, 4), np.tile([4, 4, 3, 5], 125)
    >>> comparison = SequentialComparison(RowScores(given, 1, 5), gate=3)
    >>> while not comparison.done:
    ...     rows = comparison.ask(5)
    ...     comparison.tell(rows, true[rows])
    >>> comparison.decision()["system"].verdict, comparison.labels_used
    ('above', 25)
    """

    _kind = "sequential comparison"

    def __new__(cls, baseline: object = None, *more: object, **options: object) -> "SequentialComparison":
        """Make that of scores where the first argument holds them."""
        return object.__new__(SequentialScores if isinstance(baseline, RowScores) else cls)

    @checked
    def __init__(
        self,
        baseline: object,
        candidate: object = None,
        labels: object = None,
        *,
        level: Confidence = 0.95,
        inference: Inference = "population",
        gate: float | None = None,
        noise: Noise = None,
        disagreement: Data = None,
        classes: Classes = None,
        expert_error: Rate = 0.0,
        groups: Data = None,
        seed: Seed = 0,
    ) -> None:
        if gate is not None:
            raise InputError("gate", "is for the scores of rows of one system; leave it out")
        known = read_noise(noise)
        data = read_labelled(named(baseline, candidate), labels, classes=classes_of(known, classes))
        self.seed = seed
        self._question = Question(
            data=data,
            baseline=np.array([0]),
            candidate=np.array([1]),
            level=level,
            inference=inference,
            noise=known,
            expert_error=expert_error,
            seed=self.seed,
            groups=read_groups(groups, data.n, population=inference == "population"),
        )
        refuse_groups(METHODS["sequential"], self._question)
        doubts = None if disagreement is None else number_column(disagreement, "disagreement", data.n, "row")
        self._counts = self._question.counts()
        self._terms = terms(self._question)
        clocks = rng_for(self.seed, "sequential", data.n).exponential(size=data.n)
        first, second = data.predictions
        self._plan = Plan(first, second, data.labels, float(self._terms.gap[0]), clocks, doubts)
        self._order = self._plan.rows
        #: Class index that the expert gave at each position of the order; UNASKED where there is none yet.
        self._answers = np.full(self._plan.rows.size, UNASKED, dtype=np.int32)

    #: That of ``__init__``, not of ``__new__``, for :func:`help` and for commands.
    __signature__ = inspect.Signature([*inspect.signature(__init__).parameters.values()][1:])

    @property
    def _open(self) -> Flags:
        """Which rows of the order have no answer yet."""
        return np.asarray(self._answers == UNASKED)

    # What to ask, what was answered.

    @checked
    def ask(self, k: Count = 1) -> Rows:
        """Return the next rows to label, at most ``k``: those first in the order that have no answer yet.

        Asking again without an answer returns the same rows. Empty once :attr:`done`.
        """
        if self.done:
            return np.zeros(0, dtype=np.intp)
        return self._order[np.flatnonzero(self._open)[:k]]

    def tell(self, rows: object, labels: object) -> None:
        """Take the expert's labels of some rows, in any order.

        Parameters
        ----------
        rows : int or array-like of int of shape (k,)
            Rows that :meth:`ask` returned, now or when the same comparison was made before.
        labels : class or array-like of shape (k,)
            True labels of these rows.

        Raises
        ------
        InputError, InputTypeError
            If a row is none of those to ask or stands twice, a label is no class, or a row was answered otherwise
            before. Nothing is taken then.
        """
        size = np.size(rows)  # type: ignore[arg-type]
        if size == 0:
            return
        classes = read_labels([labels] if np.isscalar(labels) else labels, "labels")
        if classes.size != size:
            raise InputError("labels", f"expected {size}, one per row, got {classes.size}")
        self._take(rows, self._question.data.vocabulary.encode(classes, "labels"))

    def pass_over(self, rows: object) -> None:
        """Take that the expert could not label some rows: they count for neither classifier.

        Parameters
        ----------
        rows : int or array-like of int of shape (k,)
            Rows that :meth:`ask` returned.

        Raises
        ------
        InputError, InputTypeError
            If a row is none of those to ask, or was labelled before. Nothing is taken then.
        """
        if np.size(rows):  # type: ignore[arg-type]
            self._take(rows, UNCLEAR)

    def _places(self, rows: object) -> tuple[Rows, Rows]:
        """Read the numbers of some rows, or of one; return them, and where they stand in the order."""
        numbers = read_rows([rows] if np.isscalar(rows) else rows)
        idle = numbers[~np.isin(numbers, self._order)]
        if idle.size:
            never = f"{idle.size} of {numbers.size} are never asked, first {idle[0]}"
            raise InputError("rows", f"{never}; label the rows that ask() returns")
        sorter = np.argsort(self._order)
        return numbers, sorter[np.searchsorted(self._order, numbers, sorter=sorter)]

    def _take(self, rows: object, codes: Any) -> None:
        numbers, positions = self._places(rows)
        before = self._answers[positions]
        changed = numbers[(before != UNASKED) & (before != codes)]
        if changed.size:
            raise InputError("labels", f"row {changed[0]} was answered otherwise before; an answer cannot be changed")
        self._answers[positions] = codes

    # What the answers show.

    @property
    def labels_used(self) -> int:
        """Answers that count: those before the first row of the order without one."""
        missing = np.flatnonzero(self._open)
        return int(missing[0]) if missing.size else int(self._order.size)

    @property
    def wealth(self) -> dict[str, float]:
        """Largest wealth so far of the bet on each claim, 1 at the start; a claim is shown at 1 / its error."""
        with np.errstate(over="ignore"):
            return {claim: float(np.exp(log)) for claim, log in self._log_wealths().items()}

    @property
    def done(self) -> bool:
        """Whether nothing more is to be asked: decided, given up, or no row left."""
        if self.labels_used >= self._order.size or max(self._log_wealths().values()) >= -math.log(self._terms.bet):
            return True
        against = (draws.mirrored().evidence(-threshold) for draws, threshold in self._claims().values())
        return bool(min(against) >= np.log(GIVE_UP))

    @property
    def expected_labels(self) -> float:
        """How many more labels it will take, if errors go on as seen so far; infinite if that would show nothing."""
        needed = [draws.expected(threshold, self._terms.bet) for draws, threshold in self._claims().values()]
        return min(needed, default=float("inf"))

    def decision(self) -> Decision:
        """Return the decision from the answers so far; inconclusive until a claim is significant."""
        made = decision(METHODS["sequential"], self._question, self._outcomes(), measure="accuracy")
        # The verdict also depends on the rows and their answers.
        answers = str(np.count_nonzero(self._answers >= 0))
        met = {"answers": answers, "answers_digest": digest(self._order.astype(np.int64), self._answers)}
        return replace(made, signature=replace(made.signature, context={**made.signature.context, **met}))

    # Keeping it.

    def to_dict(self) -> dict[str, Any]:
        """Answers and settings, as plain values that JSON can hold; :meth:`resume` takes them back."""
        known, classes = self._answers >= 0, self._question.data.vocabulary.classes
        return {
            "kind": self._kind,
            "digest": self._digest(),
            "level": self._question.level,
            "inference": self._question.inference,
            "seed": self.seed,
            "rows": self._order[known].tolist(),
            "labels": [classes[code] for code in self._answers[known]],
            "unclear": self._order[self._answers == UNCLEAR].tolist(),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Take back the answers of :meth:`to_dict`, from the same comparison made before.

        Raises
        ------
        InputError
            If they come from other data or settings.
        """
        if not isinstance(state, Mapping) or state.get("digest") != self._digest():
            raise InputError("state", "comes from other predictions, labels or settings; give the same ones")
        if state["rows"]:
            self.tell(np.asarray(state["rows"]), state["labels"])
        if state.get("unclear"):
            self.pass_over(np.asarray(state["unclear"]))

    def document(self) -> Document:
        """Return the document on the labels so far."""
        decided = self.decision().document()
        used = f"{self.labels_used:,} of at most {count(self._order.size, 'expert label')}"
        return replace(decided, kind="Sequential comparison", scope=(*decided.scope, used))

    def to_frame(self) -> "pd.DataFrame":
        """Return the decision so far as one row."""
        return self.decision().to_frame()

    def _draws(self) -> Draws:
        """Return the draws that count, by the claim "candidate better"."""
        k = self.labels_used
        first, second = (predicted[self._plan.rows[:k]] for predicted in self._question.data.predictions)
        return self._plan.draws(signs(first, second, self._answers[:k]) - self._plan.before[:k])

    def _claims(self) -> dict[str, tuple[Draws, int]]:
        """Return what is claimed, with its draws and the threshold that it must exceed."""
        draws, sides = self._draws(), (self._plan.forward, self._plan.backward)
        both = zip(("candidate", "baseline"), (draws, draws.mirrored()), sides, strict=True)
        return {claim: (one, at_stake.threshold) for claim, one, at_stake in both if at_stake is not None}

    def _log_wealths(self) -> dict[str, float]:
        """Return the evidence for each claim."""
        return {claim: draws.evidence(threshold) for claim, (draws, threshold) in self._claims().items()}

    def _outcomes(self) -> Outcomes:
        logs, claims = self._log_wealths(), self._claims()
        lost, won = int(self._counts.lost[0]), int(self._counts.won[0])
        draws, bet, question = self._draws(), self._terms.bet, self._question
        low, high = won - lost + draws.exceeds(bet) + 1, won - lost - draws.mirrored().exceeds(bet) - 1
        # The rows that are not asked can only move the difference one way.
        if "baseline" not in claims:
            high += 2 * lost
        if "candidate" not in claims:
            low -= 2 * won
        notes: tuple[Note, ...] = ()
        if len(claims) < 2:
            trailing = question.data.names[0 if "candidate" in claims else 1]
            message = f"labels that agree with {trailing!r} are not asked: their errors could only widen the difference"
            notes = (Note(code="one-sided", message=message),)
        unclear, answered = int((self._answers == UNCLEAR).sum()), int(np.count_nonzero(~self._open))
        if unclear:
            message = f"{unclear} of {answered} rows were unclear to the expert; they count for neither classifier"
            notes += (Note(code="audit-unclear", message=message, severity="warning"),)
        shown, expert = [claim for claim, log in logs.items() if log >= -math.log(bet)], None
        if len(shown) == 1:
            one, threshold = claims[shown[0]]
            d, allowed = int(self._counts.disagreements[0]), int(allowed_rows(question, self._counts.disagreements)[0])
            wrong = (one.exceeds(bet) - threshold + allowed) // 2
            expert = ExpertBreakdown(labels=min(wrong, (d - 1) // 2), disagreements=d)
        return bet_outcomes(
            question,
            self._terms,
            self._counts,
            [np.array([logs.get(claim, 0.0)]) for claim in ("candidate", "baseline")],
            (np.array([won - lost + draws.estimate()]), np.array([low], float), np.array([high], float)),
            (
                expert_words(question.expert_error),
                "The seed was chosen before any expert label was known.",
                *((random_sample(question),) if question.inference == "population" else ()),
            ),
            notes,
            {
                "labels_used": self.labels_used,
                "labels_answered": answered - unclear,
                "labels_unclear": unclear,
                "drawn_from": int(self._plan.rows.size),
                "expert_breakdown": expert,
            },
        )

    def _digest(self) -> str:
        question, data = self._question, self._question.data
        settings = repr((data.vocabulary.classes, question.level, question.inference, self._terms.gap))
        return digest(data.labels, data.predictions, self._order, self._plan.weights, settings)


class SequentialScores(SequentialComparison):
    """The same of the scores of rows; rows are drawn uniformly, and evidence is that of bets on the mean difference."""

    @checked
    def __init__(
        self,
        baseline: RowScores,
        candidate: RowScores | None = None,
        *,
        level: Confidence = 0.95,
        inference: Literal["population", "test_set"] = "population",
        gate: float | None = None,
        expert_error: Rate = 0.0,
        seed: Seed = 0,
    ) -> None:
        if (gate is None) == (candidate is None):
            raise InputError("gate", "expected the scores of two systems, or those of one and a gate")
        systems: dict[str, RowScores] = {"system": baseline} if candidate is None else named(baseline, candidate)
        every = stacked(list(systems.values()))
        one = baseline if candidate is None else candidate.minus(baseline)
        if one.task is not None or one.weight is not None or one.group is not None:
            raise InputError("baseline", "rows are drawn uniformly, without tasks, groups and weights; leave them out")
        self.seed, self._gate = seed, gate
        self._systems, self._one, self._low, self._high = systems, one.take(every.scored), every.low, every.high
        self._known: dict[str, Any] = {"level": level, "inference": inference, "expert_error": expert_error}
        at = (checked_gate(gate or 0.0, one.low, one.high) - one.low) / one.width
        self._tail, shift = sampling_error((1 - level) / 2, self._one.n, inference)
        self._limits = at + shift + expert_error, 1 - at + shift + expert_error
        scored = np.flatnonzero(every.scored)
        self._order = rng_for(seed, "sequential scores", every.n).permutation(scored)
        self._columns = np.searchsorted(scored, self._order)
        #: True scores of each system at each position of the order; NaN where there are none yet.
        self._scores = np.full((len(systems), self._order.size), np.nan)

    @property
    def _open(self) -> Flags:
        return np.asarray(np.isnan(self._scores[0]))

    def tell(self, rows: object, labels: object) -> None:
        """Take true scores of some rows, shape (k,) for one system and (k, 2) for two, in any order."""
        _, places = self._places(rows)
        columns = np.reshape(np.asarray(labels, dtype=object), (places.size, len(self._systems))).T
        found = np.array([read_scores(column, "labels", self._low, self._high) for column in columns])
        held = self._scores[:, places]
        if np.isnan(found).any() or (~np.isnan(held) & (held != found)).any():
            raise InputError("labels", "a score is missing, or is another than before; an answer cannot be changed")
        self._scores[:, places] = found

    def pass_over(self, rows: object) -> None:
        """Refuse: a proof needs a score of each row that was drawn."""
        raise InputError("rows", "each row that was drawn needs true scores; give the worst ones where none are known")

    @property
    def done(self) -> bool:
        """Whether nothing more is to be asked: decided, or no row left."""
        return self.labels_used >= self._order.size or max(self._log_wealths().values()) >= -math.log(self._tail)

    @property
    def expected_labels(self) -> float:
        """How many more labels it will take, if evidence grows as so far; infinite if it does not."""
        most = max(self._log_wealths().values())
        return max(self.labels_used * (-math.log(self._tail) / most - 1), 0.0) if most > 0 else float("inf")

    def decision(self) -> Any:
        """Return the judgement of the means so far, with proved intervals; at least two rows must be answered."""
        k = self.labels_used
        audit = Audit(self._order[:k], dict(zip(self._systems, self._scores[:, :k], strict=True)), design="uniform")
        return judge(self._systems, audit, gate=self._gate, exact=True, **self._known)

    def to_dict(self) -> dict[str, Any]:
        """Answers and settings, as plain values that JSON can hold; :meth:`resume` takes them back."""
        known, scores = ~self._open, self._scores[:, ~self._open].T
        state = {"digest": self._digest(), **self._known, "gate": self._gate, "seed": self.seed}
        return {"kind": self._kind, **state, "rows": self._order[known].tolist(), "labels": scores.tolist()}

    def _log_wealths(self) -> dict[str, float]:
        k = self.labels_used
        true = self._scores[-1, :k] - (self._scores[0, :k] if len(self._systems) == 2 else 0)
        sides: list[Any] = [(one - self._one.low) / self._one.width for one in (self._one.given, true)]
        found = {}
        for name, limit in zip(("candidate", "baseline"), self._limits, strict=True):
            found[name] = max(score_wealth(sides[0], self._columns[:k], sides[1], limit).max(initial=0.0), 0.0)
            sides = [1 - side for side in sides]
        return found

    def _digest(self) -> str:
        return digest(self._one.given, self._order, repr((self._known, self._gate)))
