"""Ten language models on MMLU-Redux: what comparisons on the published answers say, against the corrected answers.

Real models and real label errors: of 5 432 questions with a single right answer, 101 were published with a wrong one.
Every pair of models is compared in both roles, on all questions together and within each of the 57 subjects, by each
method with what it needs to know. ``python -m benchmarks.mmlu_redux`` (some minutes, one core); writes
results/mmlu_redux.csv, results/mmlu_redux_subjects.csv, results/mmlu_redux_ranks.csv and results/mmlu_redux_pairs.csv.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main
from demele.classifiers.comparison.compare import rank
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.comparison.sequential_plan import sequential_many
from demele.classifiers.question import Question
from demele.core.labelled import read_labelled
from demele.data import LabelSet, load_example
from demele.labels import Audit, disagreement, draw_audit, estimate_transition
from demele.report.words import at_most

LEVEL = 0.95
#: Audits are random: each is drawn so many times.
REPEATS = {"all": 50, "subject": 10}
AUDITED = {"all": (100, 250, 500, 1000), "subject": (25, 50)}
#: A sequential comparison gives up after so many labels.
CAP = {"all": 1000, "subject": 100}
PRUDENCE = 0.1
#: What "better" means, and what is then right: the same question asked of the corrected answers.
INFERENCES = {"overlap": "intervals apart", "population": "paired test"}

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """One set of questions, and all ordered pairs of models on them."""

    questions: LabelSet
    scope: str
    asked: Question
    truth: NDArray[np.int32]
    doubts: NDArray[np.float64]

    @property
    def n(self) -> int:
        return self.questions.n


@dataclass(frozen=True)
class Verdicts:
    """What one method says of every ordered pair: candidate better, decided at all, and labels asked for."""

    method: str
    knows: str
    inference: str
    candidate: Flags
    decided: Flags
    labels: NDArray[np.float64]  # expert labels of each pair, both roles together; those of an audit serve all pairs


def case(questions: LabelSet, scope: str) -> Case:
    """Prepare the pairs of one set of questions."""
    models = {name: questions.predictions[name] for name in questions.models}
    data = read_labelled(models, questions.labels, classes=questions.classes)
    truth = data.vocabulary.encode(np.asarray(questions.true_labels), "true_labels")
    first, second = np.nonzero(~np.eye(len(models), dtype=bool))
    asked = Question(data=data, baseline=first, candidate=second, level=LEVEL)
    return Case(questions, scope, asked, truth, disagreement(data.predictions))


# References and methods ----------------------------------------------------------------------------------------------


def reference(one: Case, inference: str) -> Flags:
    """Say for which pairs the corrected answers take the candidate."""
    clean = replace(one.asked, data=one.asked.data.relabelled(one.truth), true_labels=one.truth, noise=0.0)
    return METHODS["true-labels" if inference == "overlap" else "worst-case"](clean).candidate


def gains(one: Case) -> NDArray[np.int64]:
    """Right answers of the candidate less those of the baseline, by the corrected answers."""
    right = np.count_nonzero(one.asked.data.predictions == one.truth, axis=1)
    return right[one.asked.candidate] - right[one.asked.baseline]


def answered(one: Case, seed: int) -> Iterator[Verdicts]:
    """Yield the verdicts of every method that draws at random, once."""
    data, n = one.asked.data, one.n
    for size in AUDITED[one.scope]:
        plan = draw_audit(n, size, seed=seed)
        audit = Audit(plan.rows, _words(one, plan.rows), design="uniform")
        coded = audit.coded(data.vocabulary, n)
        counts = estimate_transition(
            _words(one, plan.rows), one.questions.labels[plan.rows], classes=one.questions.classes
        )
        for inference in INFERENCES:
            known = replace(one.asked, noise=counts, inference=inference)
            yield _verdicts("worst-case", f"transition counts of {size} audited", inference, known, size)
            yield _verdicts(
                "audit", f"{size} audited", inference, replace(one.asked, audit=coded, inference=inference), size
            )
        plan = draw_audit(n, size, disagreement=one.doubts, seed=seed)
        audit = Audit(plan.rows, _words(one, plan.rows), design="weighted", probabilities=plan.probabilities)
        coded = audit.coded(data.vocabulary, n)
        for inference in INFERENCES:
            known = replace(one.asked, audit=coded, inference=inference)
            yield _verdicts("audit", f"{size} audited, more where the models disagree", inference, known, size)
    yield from sequential(one, seed)


def computed(one: Case) -> Iterator[Verdicts]:
    """Yield the verdicts of every method without a draw."""
    rate = one.questions.noise_rate
    asked, known = one.asked, replace(one.asked, noise=rate)
    yield _verdicts("overlap", "nothing", "overlap", asked, 0)
    yield _verdicts("worst-case-overlap", "the rate of wrong labels", "overlap", known, 0)
    hard = replace(asked, difficulty=one.doubts, prudence=PRUDENCE)
    yield _verdicts("hard-rows", "nothing; the 10% most disputed are given away", "overlap", hard, 0)
    for inference in INFERENCES:
        yield _verdicts("worst-case", "the rate of wrong labels", inference, replace(known, inference=inference), 0)


def sequential(one: Case, seed: int) -> Iterator[Verdicts]:
    """Yield what asking for labels one at a time finds, pair by pair, for two errors allowed to each claim.

    Nothing is asked of a pair that the published answers, were all of them right, would leave open. Labels are counted
    per unordered pair.
    """
    data, m = one.asked.data, len(one.asked.data.names)
    pairs = np.stack([one.asked.baseline, one.asked.candidate], axis=1)
    off = ~np.eye(m, dtype=bool)
    wrong = int((one.questions.noise_rate or 0) * one.n + 1e-9)
    for inference, known, alpha in itertools.product(INFERENCES, (None, wrong), (one.asked.tail, 0.001)):
        if known is not None and inference != "overlap":
            continue  # knowledge of the noise limits the width of intervals, and nothing else
        found, used = sequential_many(
            data.labels,
            data.predictions,
            pairs,
            one.truth,
            alpha=alpha,
            inference=inference,  # type: ignore[arg-type]
            level=LEVEL,
            cap=CAP[one.scope],
            wrong=known,
            start="shown",
            seed=seed,
        )
        better, asked_for = np.zeros((m, m), dtype=bool), np.zeros((m, m))
        better[off], asked_for[off] = found, used
        asked_for += asked_for.T
        knows = f"labels asked one at a time, error {100 * alpha:g}%" + (", the rate" if known is not None else "")
        yield Verdicts("sequential", knows, inference, found, (better | better.T)[off], asked_for[off])


def _words(one: Case, rows: Any) -> NDArray[Any]:
    return np.asarray(one.questions.true_labels)[rows]


def _verdicts(method: str, knows: str, inference: str, question: Question, labels: float) -> Verdicts:
    found = METHODS[method](question)
    asked_for = np.full(question.n_pairs, float(labels))
    return Verdicts(method, knows, inference, found.candidate, found.candidate | found.baseline, asked_for)


# Tables --------------------------------------------------------------------------------------------------------------


def table(scope: str, repeats: int) -> list[dict[str, object]]:
    """Return a row per method: how often it errs on all cases of a scope together, over all repeats."""
    cases = cases_of(scope)
    tallies: dict[tuple[str, str, str], list[NDArray[np.float64]]] = {}
    for one in cases:
        truth = {inference: reference(one, inference) for inference in INFERENCES}
        gain = gains(one)
        found = [(1.0 * repeats, verdict) for verdict in computed(one)]
        found += [(1.0, verdict) for seed in range(repeats) for verdict in answered(one, seed)]
        for weight, said in found:
            right = truth[said.inference]
            counts = (
                right.size,
                (~right).sum(),
                right.sum(),
                (said.candidate & ~right).sum(),
                (~said.candidate & right).sum(),
                (~said.decided).sum() / 2,  # the same in both roles
                (said.candidate & (gain <= 0)).sum(),
                said.labels.sum(),
                (said.labels > 0).sum(),
            )
            key = (said.method, said.knows, said.inference)
            tallies.setdefault(key, []).append(weight * np.array(counts, dtype=np.float64))
    rows = []
    for (method, knows, inference), parts in tallies.items():
        pairs, keeps, takes, first, second, inconclusive, wrong, labels, asked = np.sum(parts, axis=0) / repeats
        rows.append(
            {
                "questions": "all together" if scope == "all" else "by subject",
                "method": method,
                "knows": knows,
                "better means": INFERENCES[inference],
                "reference keeps": f"{keeps:.0f}",
                "reference takes": f"{takes:.0f}",
                "type I": f"{first:.2f}",
                "type I %": f"{100 * first / keeps:.3f}",
                "type II": f"{second:.2f}",
                "type II %": f"{100 * second / takes:.1f}",
                "inconclusive pairs %": f"{200 * inconclusive / pairs:.1f}",
                "chosen though not better": f"{wrong:.2f}",
                "expert labels": f"{labels / pairs:.0f}",
                "where asked": f"{labels / asked:.0f}" if asked else "0",
                "repeats": repeats,
            }
        )
    return rows


@cache
def cases_of(scope: str) -> list[Case]:
    """Return all questions together, or those of each subject."""
    questions = load_example("mmlu_redux")
    parts = [questions] if scope == "all" else [questions.of_group(name) for name in questions.group_names()]
    return [case(part, scope) for part in parts]


def subject_row(one: Case) -> dict[str, object]:
    """Return what the label errors of one subject do to the comparison of intervals and to the order of models."""
    right = reference(one, "overlap")
    said = METHODS["overlap"](one.asked).candidate
    clean = replace(one.asked, data=one.asked.data.relabelled(one.truth))
    published, corrected = (np.count_nonzero(q.data.predictions == q.data.labels, axis=1) for q in (one.asked, clean))
    first, second = np.triu_indices(len(published), 1)
    before, after = (np.sign(hits[first] - hits[second]) for hits in (published, corrected))
    from scipy.stats import kendalltau

    assert one.questions.groups is not None
    return {
        "subject": str(one.questions.groups[0]).replace("_", " "),
        "questions": one.n,
        "wrong labels": int(np.count_nonzero(one.asked.data.labels != one.truth)),
        "wrong labels %": f"{100 * (one.questions.noise_rate or 0):.1f}",
        "mean accuracy, published": f"{published.mean() / one.n:.3f}",
        "mean accuracy, corrected": f"{corrected.mean() / one.n:.3f}",
        "pairs in reversed order": int(np.count_nonzero(before * after < 0)),
        "Kendall's tau": f"{kendalltau(published, corrected).statistic:.3f}",
        "best, published": _leaders(one, published),
        "best, corrected": _leaders(one, corrected),
        "overlap type I": int((said & ~right).sum()),
        "overlap type II": int((~said & right).sum()),
        "reference takes": int(right.sum()),
    }


def shared_audit(questions: LabelSet) -> Audit:
    """Let the corrected answers be the expert's, on 500 random questions, more where the models disagree."""
    plan = draw_audit(questions.n, 500, disagreement=disagreement(questions.predictions), seed=0)
    return plan.answered(np.asarray(questions.true_labels)[plan.rows])


@cache
def rankings() -> dict[str, Any]:
    """Return what each kind of knowledge says of all questions together; the first with the corrected answers, too."""
    questions, names = load_example("mmlu_redux"), ("published labels taken as right", "rate of wrong labels known")
    truth = np.asarray(questions.true_labels)
    ranked = partial(rank, questions.predictions, classes=questions.classes, level=LEVEL)
    found = (
        ranked(questions.labels, method="worst-case", noise=0.0, true_labels=truth),
        ranked(questions.labels, noise=questions.noise_rate),
        ranked(questions.labels, audit=shared_audit(questions)),
        ranked(truth, method="worst-case", noise=0.0),
    )
    return dict(zip((*names, "500 labels audited", "corrected labels"), found, strict=True))


def rank_rows() -> Iterator[Row]:
    """Yield, per model, its rank as published and corrected, and the ranks that each kind of knowledge leaves open."""
    published, *_, corrected = rankings().values()
    for name in corrected.names:
        row: Row = {"model": name}
        for title, one in (("published", published), ("corrected", corrected)):
            row[f"accuracy, {title}"] = f"{one.estimates[one.names.index(name)].value:.4f}"
        for title, one in rankings().items():
            best, worst = (ranks[one.names.index(name)] for ranks in (one.best_rank, one.worst_rank))
            row[f"ranks, {title}"] = f"{best}" if best == worst else f"{best} to {worst}"
        yield row


def pair_rows() -> Iterator[Row]:
    """Yield, per pair of models, what is shown and how many wrong labels that bears."""
    key, published = ["baseline", "candidate"], next(iter(rankings().values()))
    tables = {title: one.pairs for title, one in rankings().items()} | {"corrected labels": published.reference}
    verdicts = {title: frame.set_index(key)["verdict"] for title, frame in tables.items()}
    for better, worse in itertools.combinations(published.names, 2):
        pair = (worse, better)
        rate = float(published.pairs.set_index(key)["breakdown_rate"][pair])
        yield {
            "better by published labels": better,
            "other": worse,
            "difference, corrected": f"{float(published.reference.set_index(key)['difference'][pair]):+.4f}",
            **{title: _shown(str(said[pair])) for title, said in verdicts.items()},
            "bears wrong labels %": "" if np.isnan(rate) else at_most(rate).removesuffix("%"),
        }


def _shown(verdict: str) -> str:
    return {"candidate": "better", "baseline": "worse", "inconclusive": "open"}[verdict]


def _leaders(one: Case, hits: NDArray[Any]) -> str:
    best = np.flatnonzero(hits == hits.max())
    return ", ".join(one.asked.data.names[model] for model in best)


if __name__ == "__main__":
    bundled = load_example("mmlu_redux")
    main(
        {
            "mmlu_redux": Table(cells=("all", "subject"), measured=table, repeats=lambda scope: REPEATS[scope]),
            "mmlu_redux_subjects": Table(
                cells=bundled.group_names(), measured=lambda name: subject_row(case(bundled.of_group(name), "subject"))
            ),
            "mmlu_redux_ranks": Table(cells=("all",), measured=lambda _: rank_rows()),
            "mmlu_redux_pairs": Table(cells=("all",), measured=lambda _: pair_rows()),
        }
    )
