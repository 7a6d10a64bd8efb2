"""A judge corrected by human scores: check values of each number, the worked example, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.classifiers import RowScores, assess, compare, rank, slices
from demele.classifiers.judge import jeffreys, judge, judge_quality, rogan_gladen, weighted_kappa
from demele.classifiers.mean_scores import bounded_mean, trusted_mean
from demele.classifiers.row_scores import human_scores
from demele.cli.main import main
from demele.core.errors import DemeleError, InputError
from demele.core.proportions import holm
from demele.labels import Audit
from demele.noise.transition import digest
from tests.refusals import refuses


@pytest.fixture(scope="module")
def example() -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """Two systems of which a judge is more lenient to one; 120 of 1,200 rows have human scores."""
    rng = np.random.default_rng(2026)
    n = 1200
    ta = rng.random(n) < 0.84
    same = rng.random(n) < 0.6
    tb = np.where(same, ta, rng.random(n) < 0.80)
    ua, ub = rng.random(n), rng.random(n)
    given = {"A": np.where(ta, ua < 0.96, ua > 0.90), "B": np.where(tb, ub < 0.98, ub > 0.55)}
    return given, rng.permutation(n)[:120], {"A": ta, "B": tb}


@pytest.fixture(scope="module")
def scored(example: Any) -> tuple[dict[str, RowScores], Audit]:
    """The scores of the example and the human ones."""
    given, rows, true = example
    human = Audit(rows, {name: one[rows] for name, one in true.items()}, design="uniform")
    return {name: RowScores(one) for name, one in given.items()}, human


@pytest.fixture(scope="module")
def judged(scored: Any) -> Any:
    """The corrected scores of both."""
    return judge(*scored, gate=0.8)


def test_counts_give_the_check_values() -> None:
    """Jeffreys and kappa as in statsmodels."""
    given = RowScores(np.repeat([1.0, 0], [1830, 170]))
    rows = np.r_[np.arange(90), np.arange(1830, 1840)]
    quality = judge_quality(given, Audit(rows, np.repeat([1.0, 0, 1, 0], [84, 6, 4, 6]), design="uniform"))
    assert (quality.sensitivity_value, quality.specificity_value) == pytest.approx((0.961712, 0.455357), abs=1e-6)
    for interval, ends in [
        (quality.sensitivity, (0.895557, 0.984465)),
        (quality.specificity, (0.243011, 0.756989)),
        (quality.j_interval, (0.190874, 0.713270)),
        (quality.kappa_interval, (0.218012, 0.761580)),
    ]:
        assert (interval.low, interval.high) == pytest.approx(ends, abs=1e-6)
    assert quality.kappa == pytest.approx(0.489796, abs=1e-6)
    assert (quality.agreement, quality.wrong) == (0.9, 10)


def test_rogan_gladen_is_that_of_truescore() -> None:
    found = rogan_gladen(0.728, 500, sensitivity=(41, 47), specificity=(13, 13))
    assert found[0] == pytest.approx(0.834536585365854, abs=1e-12)
    assert found[2:] == pytest.approx((0.732902870715059, 0.936170300016649), abs=1e-12)
    for counts in ((0, 0), (11, 10)):
        refuses(InputError, "specificity", rogan_gladen, 0.9, 100, sensitivity=(10, 10), specificity=counts)
    refuses(InputError, "no better than chance", rogan_gladen, 0.9, 100, sensitivity=(5, 10), specificity=(4, 10))


def test_kappa_of_levels_has_quadratic_weights() -> None:
    """As ``cohen_kappa_score(weights="quadratic")`` of scikit-learn."""
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    true = rng.integers(1, 6, 200).astype(float)
    given: Any = np.clip(true + rng.integers(-1, 2, 200), 1.0, 5.0)
    expected = cohen_kappa_score(given.astype(int), true.astype(int), weights="quadratic")
    assert weighted_kappa(given, true)[0] == pytest.approx(expected)
    assert jeffreys(0, 5, 0.95)[0] == 0
    assert jeffreys(5, 5, 0.95)[1] == 1


def test_the_worked_example(judged: Any) -> None:
    a, b = judged.systems
    assert [f"{one.judge:.4f}" for one in (a, b)] == ["0.8208", "0.8875"]
    assert [f"{one.value:.3f} {one.corrected}" for one in (a, b)] == ["0.836 [0.786, 0.880]", "0.854 [0.795, 0.898]"]
    qualities = [a.quality, b.quality]
    assert [f"{q.sensitivity_value:.3f} {q.specificity_value:.3f} {q.j:.2f} {q.agreement:.3f}" for q in qualities] == [
        "0.951 0.846 0.80 0.933",
        "0.969 0.588 0.56 0.908",
    ]
    (difference,) = judged.differences
    assert (difference.name, difference.verdict, difference.breakdown) == ("B - A", "inconclusive", 40)
    assert f"{difference.judge:+.3f} {difference.value:+.3f} {difference.asymptotic}" == "+0.067 +0.009 [-0.047, 0.064]"
    assert (difference.corrected.low, difference.corrected.high) == pytest.approx((-0.055483, 0.068305), abs=1e-6)
    assert [one.verdict for one in (a, b)] == ["inconclusive"] * 2
    needed = [(0.8 - one.value) / (one.corrected.low - one.value) for one in (a, b)]
    assert judged.next_labels == int(np.ceil(120 / min(needed) ** 2))
    assert judged.unmet == "not shown to be above 0.8: A, B"


def test_the_next_step_ends_where_nothing_is_left_to_decide(scored: Any) -> None:
    scores, human = scored
    assert judge(scores, human, gate=0.7).next_labels == 0
    assert not judge(scores, human, gate=0.7).document().next
    assert not judge(scores["A"], human.of("A")).document().next
    close = judge(scores, human)  # 0.9 points apart, 6 points wide
    assert close.next_labels > close.n
    assert "human scores of all 1,200 rows do not decide" in close.document().next[0][0]


def test_the_error_names_the_system_without_human_scores(scored: Any) -> None:
    scores, human = scored
    human = Audit(human.rows, {**human.scores, "B": np.full(120, np.nan)}, design="uniform")
    refuses(InputError, "audit: B: expected at least 2 rows with a given and a true score, got 0", judge, scores, human)


@pytest.mark.parametrize("exact", [False, True])
def test_a_difference_says_on_how_many_rows_humans_scored_both_systems(example: Any, exact: bool) -> None:
    given, rows, true = example
    scores = {name: RowScores(one) for name, one in given.items()}

    def shared_by(shared: int) -> Any:
        """Human scores of 60 rows of A and of 60 of B, some of them the same rows."""
        where = {"A": rows[:60], "B": rows[60 - shared : 120 - shared]}
        return {name: np.where(np.isin(np.arange(1200), where[name]), true[name], np.nan) for name in "AB"}

    few = judge(scores, shared_by(5), exact=exact)
    assert f"after {few.audited} human scores, only 5 of them of rows scored for both: B - A is" in few.sentence
    (note,) = [note for note in few.notes if note.code == "human-scores-apart"]
    assert note.message.startswith("only 5 of 115 rows with human scores are scored for both systems")
    (step,) = few.document().next
    assert f"score {few.next_labels - 5:,} more rows at random for all systems" in step[0] or few.next_labels > few.n
    none = judge(scores, shared_by(0), exact=exact)
    assert none.sentence.endswith("No difference can be given: no row has human scores for both systems.")
    assert none.document().next[0][0] == "Score the same rows for all systems"
    assert [one.corrected for one in none.systems] == [
        judge(scores[name], human_scores(shared_by(0)).of(name), exact=exact).systems[0].corrected for name in "AB"
    ]
    assert (none.verdict, none["B - A"].corrected) == ("inconclusive", None)
    assert none["B - A"].judge == pytest.approx(few["B - A"].judge)
    third = {**scores, "C": RowScores(1 - np.asarray(given["A"], dtype=float))}
    three = judge(third, {**shared_by(0), "C": 1 - shared_by(0)["A"]}, exact=exact)
    assert [one.verdict for one in three.differences] == ["", "below", ""]
    assert np.isnan([one.value for one in three.differences]).tolist() == [True, False, True]


def test_with_all_rows_scored_the_difference_of_these_rows_is_known(scored: Any) -> None:
    """Half an interval of these rows shrinks as the root of 1/k - 1/n."""
    scores, human = scored
    found = judge(scores, human, inference="test_set")
    (one,) = found.differences
    assert one.verdict == "inconclusive"
    ratio = (one.value - one.corrected.low) / one.value
    reaches = [ratio**2 * (1 / k - 1 / 1200) / (1 / 120 - 1 / 1200) for k in (found.next_labels, found.next_labels - 1)]
    assert reaches[0] <= 1 < reaches[1]
    assert f"About {found.next_labels:,} rows with human scores, of 1,200, would decide" in found.document().next[0][0]
    assert judge(scores, human, inference="test_set", expert_error=0.01).next_labels > 1200


def test_functions_of_classes_take_scores(example: Any) -> None:
    """One engine answers; without an audit all scores are taken as right, as labels are."""
    given, rows, true = example
    a, b = (RowScores(given[name]) for name in "AB")
    human = Audit(rows, {"baseline": true["A"][rows], "candidate": true["B"][rows]}, design="uniform")
    both = compare(a, b, audit=human, level=0.9)
    assert both.verdict == "inconclusive"
    assert both.differences == judge({"baseline": a, "candidate": b}, human, level=0.9).differences
    assert compare(a, b).verdict == compare(baseline=a, candidate=b, noise=0.0).verdict == "candidate"
    assert compare(b, a).verdict == "baseline"
    assert assess(a, audit=human.of("baseline"), gate=0.7)["system"].verdict == "above"
    assert assess(a)["system"].corrected == judge(a, noise=0).systems[0].corrected
    assert rank({"A": a, "B": b}).names == ("B", "A")
    refuses(InputError, "labels: is for predicted classes, not for scores of rows", compare, a, b, labels=given["A"])
    refuses(InputError, r"groups: .*; pass RowScores\(group=\)", assess, {"A": a}, groups=given["A"])
    refuses(InputError, "measure: is for predicted classes", rank, {"A": a, "B": b}, measure="f1")
    refuses(InputError, "verdict: is of two systems", lambda: assess(a).verdict)


def test_a_judge_that_tells_less_of_one_system_is_named() -> None:
    """Sensitivity .95 and specificity .90 of one, .97 and .55 of the other: one calibration reverses the order."""
    rng = np.random.default_rng(7)
    n = 2000
    ta, tb = rng.random(n) < 0.72, rng.random(n) < 0.68
    ua, ub = rng.random(n), rng.random(n)
    a, b = np.where(ta, ua < 0.95, ua > 0.90), np.where(tb, ub < 0.97, ub > 0.55)
    scores = {"A": RowScores(a), "B": RowScores(b)}
    rows = rng.permutation(n)[:400]
    found = judge(scores, Audit(rows, {"A": ta[rows], "B": tb[rows]}, design="uniform"))
    assert found.differences[0].judge > 0.05
    assert found.differences[0].value < 0
    assert "judge-differs-by-system" in {note.code for note in found.notes}


def test_a_useless_judge_is_named() -> None:
    true = np.tile([1.0, 1, 1, 0], 100)
    found = judge(RowScores(np.ones(400)), Audit(np.arange(1, 400, 6), true[1:400:6], design="uniform"))
    assert found.systems[0].quality.j == 0
    assert {"judge-uninformative", "judge-constant"} <= {note.code for note in found.notes}


def test_without_human_scores(scored: Any) -> None:
    scores, _ = scored
    found = judge(scores)
    assert found.differences[0].breakdown == 40
    assert np.isnan(found.systems[0].value)
    assert found.unmet
    assert "No human scores" in found.sentence
    refuses(InputError, "needs human scores", judge, scores, gate=0.8)


def test_scores_that_are_right_or_partly_wrong(scored: Any) -> None:
    scores, human = scored
    right = judge(scores, noise=0)
    difference = trusted_mean(scores["B"].minus(scores["A"]))
    found = right.differences[0]
    assert found.verdict == "above"
    ends = found.corrected.low, found.corrected.high
    assert ends == pytest.approx((difference.low, difference.high), abs=1e-12)
    assert "If all scores are right" in right.sentence or "if all scores are right" in right.sentence
    assert not right.unmet
    bounded = judge(scores, noise=0.02, inference="test_set", gate=0.79)
    assert bounded["A"].corrected.low == pytest.approx(scores["A"].mean - 24 / 1200)
    assert [one.verdict for one in bounded.systems] == ["above", "above"]
    assert bounded.differences[0].verdict == "above"
    assert judge(scores, noise=40 / 1200, inference="test_set").differences[0].verdict == "inconclusive"
    refuses(InputError, "leave one of them out", judge, scores, human, noise=0.1)


def test_verdicts_on_several_pairs_share_an_error() -> None:
    rng = np.random.default_rng(3)
    n = 2000
    scores = {name: RowScores(rng.random(n) < rate) for name, rate in [("A", 0.7), ("B", 0.731), ("C", 0.9)]}
    found = judge(scores, noise=0)
    assert [one.name for one in found.differences] == ["B - A", "C - A", "C - B"]
    means = [trusted_mean(scores[b].minus(scores[a]), gate=0) for a, b in [("A", "B"), ("A", "C"), ("B", "C")]]
    kept = holm(np.array([2 * (one.p_value or 0.0) for one in means]), 0.05)
    assert [one.verdict == "above" for one in found.differences] == kept.tolist()
    assert "Verdicts on 3 pairs share an error of 5%" in str(found.document().below[0].note)
    bounded = judge(scores, noise=0.01, inference="test_set")
    assert (bounded["C - B"].verdict == "above") == (bounded_mean(scores["C"].minus(scores["B"]), 0.01).low > 0)
    assert len(found.document().below[0].rows) == 3


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: judge({}), "RowScores"),
        (lambda: judge([1, 0]), "RowScores"),  # type: ignore[arg-type]
        (lambda: judge({"A": [1, 7]}), "row 1 is 7, outside the scale"),
        (lambda: judge(RowScores([1, 0, 1]), Audit([0, 1], [1, 0], design="uniform"), level=0.05), "level"),
        (lambda: judge(RowScores([1, 0, 1]), Audit([0, 1], [1, 0], design="uniform"), expert_error=3), "expert_error"),
    ],
)
def test_bad_input_is_refused(make: Any, says: str) -> None:
    refuses(DemeleError, says, make)


def files(folder: Path, example: Any) -> list[str]:
    """Write the example as two tables, and return their names."""
    given, rows, true = example
    scores = "".join(f"{row},{int(given['A'][row])},{int(given['B'][row])}\n" for row in range(1200))
    (folder / "judged.csv").write_text(f"id,A,B\n{scores}")
    human = "".join(f"{row},{int(true['A'][row])},{int(true['B'][row])}\n" for row in rows)
    (folder / "human.csv").write_text(f"id,human_A,human_B\n{human}")
    return [f"{folder / 'judged.csv'}::A,B", "--human", str(folder / "human.csv")]


@pytest.mark.parametrize(
    ("more", "status"),
    [(["--gate", "0.8"], 1), (["--gate", "0.75"], 0), ([], 1), (["--gate", "7"], 2), (["--group", "x"], 2)],
)
def test_the_command(tmp_path: Path, example: Any, capsys: Any, more: list[str], status: int) -> None:
    assert main(["judge", *files(tmp_path, example), *more]) == status
    if status < 2:
        text = capsys.readouterr().out
        assert "83.6%  [78.6%, 88.0%]" in text
        assert "+0.9  [-5.5, +6.8]  inconclusive" in text


def test_a_condition_and_a_gate_must_both_hold_and_a_condition_alone_decides(
    tmp_path: Path, example: Any, capsys: Any
) -> None:
    words = files(tmp_path, example)
    for gate, condition, status in [(0.75, "A>=0.7", 0), (0.75, "A>=0.9", 1), (0.85, "A>=0.7", 1), (0.85, "A>=0.9", 1)]:
        assert main(["judge", *words, "--gate", str(gate), "--fail-unless", condition]) == status
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "demele: not shown to be above 0.85: A, B",
        "demele: --fail-unless A>=0.9 is not met",
    ]
    assert [main(["judge", *words, "--fail-unless", one]) for one in ("A>=0.7", "inconclusive", "A>=0.9")] == [0, 0, 1]
    for condition in ("Z>=0.5", "B-A>=0", "A:b>=0"):
        assert main(["judge", *words, "--fail-unless", condition]) == 2
        (line,) = capsys.readouterr().err.splitlines()[-1:]
        assert line.startswith("demele: ")
    assert "this result has no value called 'A:b>=0'" in line


def test_a_name_that_is_no_system_is_refused(judged: Any) -> None:
    refuses(InputError, "expected one of A, B, B - A, got 'B-A'; did you mean 'B - A'", lambda: judged["B-A"])


def test_the_command_says_what_it_made_of_the_file(tmp_path: Path, capsys: Any) -> None:
    rows = "".join(f"{row},{epoch},{(row + epoch) % 2}\n" for row in range(20) for epoch in (1, 2))
    (tmp_path / "k.csv").write_text(f"id,epoch,A\n{rows}")
    assert main(["judge", str(tmp_path / "k.csv")]) == 1
    assert "columns read as systems: A" in capsys.readouterr().err
    page = tmp_path / "page.html"
    for scale, verdicts in (("0,1", True), ("0,2", False)):
        asked = ["--scale", scale, "--explain", "-o", str(page), "--force"]
        assert main(["judge", str(tmp_path / "k.csv"), *asked]) == 1
        for said in (" ".join(capsys.readouterr().out.split()), page.read_text()):
            assert "the mean of up to 2 repeats of an item; --by-epoch makes each repeat a row" in said
            assert ("sensitivity and specificity" in said) == verdicts
    assert main(["judge", str(tmp_path / "k.csv"), "--scale", "1-5"]) == 2
    assert "--scale: expected a number, got '1-5'" in capsys.readouterr().err
    (tmp_path / "people.csv").write_text("id,human_A,human_C\n1,1,0\n2,0,1\n3,1,1\n")
    assert main(["judge", f"{tmp_path / 'k.csv'}::A", "--human", str(tmp_path / "people.csv")]) == 0
    assert "people.csv: scores of C are not used; the results hold A" in capsys.readouterr().err
    assert main(["judge", f"{tmp_path / 'k.csv'}::A", "--by-epoch", "--human", str(tmp_path / "people.csv")]) == 2
    assert "people.csv: with --by-epoch, scores by people need a column epoch" in capsys.readouterr().err


def test_the_digest_changes_with_all_that_changes_a_number(example: Any) -> None:
    """Without tasks, groups, weights and reach, on a scale from 0 to 1, it is that of the scores alone."""
    given, rows, true = example
    human, place = Audit(rows, true["A"][rows], design="uniform"), np.arange(1200) % 20
    more: list[dict[str, Any]] = [{name: place} for name in ("task", "group", "weight")]
    more += [{}, {"high": 2}, {"low": -1}, {"reach": (place, np.ones(1200))}, {"reach": (place / 20, np.zeros(1200))}]
    for answer in (
        lambda one: judge(one).signature,
        lambda one: assess(one, audit=human).signature,
        lambda one: compare(one, one).signature,
        lambda one: slices(one, human, place % 2).signature,
        repr,
    ):
        assert len({str(answer(RowScores(given["A"], **one))) for one in more}) == len(more)
    assert judge(RowScores(given["A"])).signature.context["digest"] == digest(given["A"].astype(float))


def test_tasks_that_count_the_same_are_a_note_of_the_result(example: Any) -> None:
    task = np.arange(1200) % 3
    said = [
        [note.message for note in judge(RowScores(example[0]["A"], **more)).notes]
        for more in list[dict[str, Any]]([{"task": task}, {"task": task, "weight": task + 1}, {"task": task * 0}, {}])
    ]
    note = "3 tasks count the same in each mean, whatever their rows; a `weight` of ones counts rows"
    assert said == [[note], [], [], []]


def test_the_frame_has_the_difference(judged: Any) -> None:
    frame = judged.to_frame().set_index("name")
    assert frame.index.tolist() == ["A", "B", "B - A"]
    assert frame.loc["B - A", "value"] == judged["B - A"].value
    assert frame.loc["B - A", "corrected_low"] == judged["B - A"].corrected.low
    assert frame["tier"].isna().tolist() == [False, False, True]


def test_slices_of_each_system(tmp_path: Path, example: Any, scored: Any, capsys: Any) -> None:
    (given, rows, true), (scores, human) = example, scored
    place = np.where(np.arange(1200) % 3 == 0, "third", "other")
    result = judge(scores, human, slices=place)
    for name in given:
        alone = slices(scores[name], human.of(name), place)
        assert [row.corrected for row in result.slices[name].rows] == [row.corrected for row in alone.rows]
    text = str(result)
    assert "third - rest" in text
    assert "p (Holm)" in text
    table = pd.DataFrame({"id": range(1200), "score": given["A"].astype(int), "place": place})
    table.to_csv(tmp_path / "answers.csv", index=False)
    people = pd.DataFrame({"id": rows, "human": true["A"][rows].astype(int)})
    people.to_csv(tmp_path / "people.csv", index=False)
    files_of = [str(tmp_path / "answers.csv"), "--human", str(tmp_path / "people.csv")]
    assert main(["judge", *files_of, "--slice", "place"]) == 0
    assert "third - rest" in capsys.readouterr().out
    assert main(["judge", *files_of, "--slice", "plaice"]) == 2
    assert "did you mean 'place'" in capsys.readouterr().err
    refuses(DemeleError, "slices", judge, scores, slices=place)
