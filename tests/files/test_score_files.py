"""Scores of rows and people's scores, from logs and tables: each trap of each format."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import DemeleError, FormatError, InputError, UnknownNameError
from demele.files.named import sheet_bytes
from demele.files.score_files import read_human, read_scores, systems_of
from tests.files.model_logs import harness_logs, inspect_log, json_lines, written
from tests.refusals import refuses


def samples(values: dict[str, list[Any]], **more: Any) -> list[dict[str, Any]]:
    """Samples of Inspect: the values of each item in its epochs."""
    return [
        {"id": name, "epoch": epoch, "input": name, "target": "x", "scores": {"judge": {"value": value, **more}}}
        | {"metadata": {"passage": f"p{len(name)}"}}
        for name, repeats in values.items()
        for epoch, value in enumerate(repeats, 1)
    ]


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    """A file of lm-evaluation-harness: each row has its own measures."""
    base = {"doc": {"q": 1}, "target": "0", "resps": [["a"]], "filtered_resps": ["a"], "filter": "none"}
    return json_lines(path, [{**base, **row} for row in rows])


# Tables --------------------------------------------------------------------------------------------------------------

JUDGED = "id,system,score\n007,A,pass\n8,A,fail\n8,B,pass\n007,B,0.25\n"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "jsonl", "json", "parquet"])
def test_a_table_in_every_format_holds_the_same_scores(tmp_path: Path, suffix: str) -> None:
    import pandas as pd

    path = tmp_path / f"judged.{suffix}"
    rows = [line.split(",") for line in JUDGED.splitlines()]
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    if suffix in ("csv", "tsv"):
        path.write_text(JUDGED.replace(",", "," if suffix == "csv" else "\t"))
    elif suffix == "xlsx":
        path.write_bytes(sheet_bytes([list(row) for row in rows], path))
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=suffix == "jsonl")
    found = read_scores(path)
    assert found.ids == ("007", "8")
    assert {name: scores.tolist() for name, scores in found.scores.items()} == {"A": [1, 0], "B": [0.25, 1]}
    assert (found.low, found.high, found.human, found.notes) == (0, 1, None, ())
    assert found.values_of("system") == ["A", "A"]


def test_systems_are_columns_that_are_picked_or_files(tmp_path: Path) -> None:
    both = written(tmp_path / "both.csv", "id,A,B,human_B\n1,1,0,1\n2,0.5,1,\n")
    found = read_scores(f"{both}::A,B")
    assert {name: scores.tolist() for name, scores in found.scores.items()} == {"A": [1, 0.5], "B": [0, 1]}
    assert np.isnan(found.human.scores["A"]).all()
    np.testing.assert_array_equal(found.human.scores["B"], [1, np.nan])
    assert read_scores(both, score=["A", "B"]).scores.keys() == {"A", "B"}
    text = "id,A,words,B,human_B,empty\n1,1,120,pass,1,\n2,0.5,35,fail,,\n"  # what is no score is no system
    assert read_scores(written(tmp_path / "wide.csv", text)).scores.keys() == {"A", "B"}
    folder = tmp_path / "runs"
    for run in ("old", "new"):
        (folder / run).mkdir(parents=True)
        written(folder / run / "judged.csv", "item,score\n1,1\n2,0\n")
    found = read_scores([f"{folder}/old/judged.csv", f"{folder}/new/judged.csv"])
    assert list(found.scores) == ["old/judged", "new/judged"]


def test_columns_that_are_missing_or_stand_twice_are_refused(tmp_path: Path) -> None:
    cases: Any = [
        ("prompt,score\n1,1\n", {}, InputError, "no column identifies"),
        ("id,quality\n1,x\n2,7\n", {}, InputError, "no column of scores among id, quality; name one with `score`"),
        ("id,quality\n1,x\n2,7\n", {"score": "qualty"}, UnknownNameError, "did you mean 'quality'"),
        ("id,score,score\n1,1,1\n", {}, FormatError, "more than one column called 'score'"),
        ("id,score\n1,1\n2,0,0\n", {}, FormatError, "line 3: expected 2 fields as in the first, got 3"),
        ("id,score\n1,1\n,0\n", {}, InputError, "line 3: has no identifier"),
        ("id,score\n1,1\n", {"by_epoch": True}, InputError, "by_epoch: no file names the repeats"),
        ("id,source,score\n1,,1\n", {"group": "source"}, InputError, "group: .*has no source"),
    ]
    for text, options, error, words in cases:
        refuses(error, words, read_scores, written(tmp_path / "odd.csv", text), **options)


def test_words_count_one_or_zero_and_others_are_refused_until_they_are_mapped(tmp_path: Path) -> None:
    ones, zeros = ("pass", "Yes", "TRUE", "correct", "C", "good"), ("fail", "no", "false", "incorrect", "I", "bad")
    text = "id,score\n" + "".join(f"{place},{word}\n" for place, word in enumerate((*ones, *zeros)))
    assert read_scores(written(tmp_path / "words.csv", text)).scores["words"].tolist() == [1.0] * 6 + [0.0] * 6
    odd = written(tmp_path / "odd.csv", "id,score\n1,pass\n2,partly\n")
    refuses(FormatError, r"line 3: column score: 'partly' is no score.*`map`, such as partly=1", read_scores, odd)
    assert read_scores(odd, map={"partly": 0.5}).scores["odd"].tolist() == [1, 0.5]


def test_scores_off_the_scale_are_refused_with_the_row_and_a_scale(tmp_path: Path) -> None:
    rubric = written(tmp_path / "rubric.csv", "id,score,human\n1,1,\n2,5,4\n3,3,\n")
    refuses(InputError, r"line 3: score 5 is outside 0 to 1; give the scale, such as `scale` 1,5", read_scores, rubric)
    found = read_scores(rubric, scale=(1, 5))
    assert (found.low, found.high, found.scores["rubric"].tolist()) == (1, 5, [1, 5, 3])
    judged = read_scores(written(tmp_path / "judged.csv", "id,score\n1,1\n2,0\n3,1\n"))
    refuses(InputError, "line .: score 4 is outside 0 to 1; give the scale", read_human, rubric, judged)
    for scale in ((1,), (5, 1), (0, float("inf"))):
        refuses(InputError, "scale: expected the least and the largest score", read_scores, rubric, scale=scale)


def test_repeats_are_averaged_or_rows_and_a_repeated_id_without_epochs_is_refused(tmp_path: Path) -> None:
    twice = written(tmp_path / "twice.csv", "id,score\n1,1\n2,0\n1,0\n")
    refuses(InputError, r"line 4: '1' of twice stands in .*line 2 too; .*need a column epoch", read_scores, twice)
    repeats = written(tmp_path / "k.csv", "id,epoch,score\n1,1,1\n1,2,0\n2,1,1\n2,2,\n3,1,0\n3,2,0\n")
    found = read_scores(repeats)
    assert found.scores["k"].tolist() == [0.5, 1, 0]
    assert found.epochs["k"] == [[1, 0], [1], [0, 0]]
    assert found.notes == ("k: 1 of 6 rows (16.7%) have no score: left out; scores are rarely missing at random",)
    single = read_scores(repeats, by_epoch=True)
    assert single.ids == ("1#1", "1#2", "2#1", "3#1", "3#2")
    assert single.groups.tolist() == ["1", "1", "2", "3", "3"]


def test_systems_with_other_items_are_compared_on_the_common_ones_or_refused(tmp_path: Path) -> None:
    a = written(tmp_path / "a.csv", "id,score\n" + "".join(f"{i},1\n" for i in range(20)))
    b = written(tmp_path / "b.csv", "id,score\n" + "".join(f"{i},0\n" for i in range(1, 20)))
    found = read_scores([a, b])
    assert len(found.ids) == 19
    assert found.left_out == {"0"}
    assert found.notes == ("19 of 20 items are in all systems and are compared (a 20, b 19)",)
    c = written(tmp_path / "c.csv", "id,score\n" + "".join(f"{i},0\n" for i in range(5, 20)))
    refuses(InputError, r"only 15 of 20 items are in all systems \(a 20, c 15\)", read_scores, [a, c])


def test_tasks_go_before_the_items_and_groups_are_fields(tmp_path: Path) -> None:
    table = written(tmp_path / "t.csv", "id,task,source,score\n1,law,x,1\n1,art,y,0\n2,art,y,1\n")
    found = read_scores(table, group="source")
    assert found.ids == ("law/1", "art/1", "art/2")
    assert found.tasks.tolist() == ["law", "art", "art"]
    assert found.groups.tolist() == ["law/x", "art/y", "art/y"]
    people = written(tmp_path / "people.csv", "id,task,human\n1,art,1\n")
    np.testing.assert_array_equal(read_human(people, found).scores["t"], [np.nan, 1, np.nan])
    people = written(tmp_path / "whole.csv", "id,human\nart/1,0\n")
    np.testing.assert_array_equal(read_human(people, found).scores["t"], [np.nan, 0, np.nan])


# People's scores ------------------------------------------------------------------------------------------------------


def test_people_are_joined_by_id_and_unknown_or_contradicting_ones_are_refused(tmp_path: Path) -> None:
    found = read_scores(written(tmp_path / "judged.csv", JUDGED))
    path = str(written(tmp_path / "people.csv", "id,human_A,human_B\n8,no,\n007,,good\n"))
    human = read_human(path, found)
    np.testing.assert_array_equal(human.scores["A"], [np.nan, 0])
    np.testing.assert_array_equal(human.scores["B"], [1, np.nan])
    assert human.disagreement is None
    path = str(written(tmp_path / "long.csv", "id,system,human\n8,A,no\n8,A,no\n007,B,yes\n"))
    np.testing.assert_array_equal(read_human(path, found).scores["A"], [np.nan, 0])
    for text, why in (
        ("id,human_A\n7,1\n8,1\n9,1\n10,1\n11,1\n", "4 items are not in the results, first '7', '9', '10'"),
        ("id,human_A,human_B\n9,1,1\n10,0,1\n", "2 items are not in the results, first '9', '10'"),
        ("id,human_A\n8,1\n8,0\n", "1 item has two different scores, first '8'"),
        ("id,human\n8,1\n", "the systems of the scores are not named; expected columns human_A, human_B"),
        ("id,human_C\n8,1\n", "holds no system called 'C'"),
        ("id,note\n8,7\n", "no column of people's scores among id, note; expected a column human, or human_A and hum"),
        ("id,human_A\n8,\n", "holds no score by people"),
        ("id,human_A\n8,perhaps\n", "'perhaps' is no score"),
    ):
        path = str(written(tmp_path / "odd.csv", text))
        refuses(DemeleError, why, read_human, path, found)
    path = str(written(tmp_path / "named.csv", "key,system,said\n8,A,nope\n"))
    human = read_human(path, found, human_score="said", id="key", map={"nope": 0})
    np.testing.assert_array_equal(human.scores["A"], [np.nan, 0])


@pytest.mark.parametrize(
    "text",
    [
        "id,A,B,minutes\n1,1,,2\n3,0,1,7\n",
        "id,human_A,human_B\n1,1,\n3,0,1\n",
        "id,A_human,B_human\n1,1,\n3,0,1\n",
        "id,system,label\n1,x/A,1\n3,x/A,0\n3,B,1\n",
        "testIdx,human_A,human_B,human_C\n1,1,,0\n3,0,1,0\n",
    ],
)
def test_people_may_name_systems_in_several_forms(tmp_path: Path, text: str) -> None:
    rows = "".join(f"{row},{row % 2},1,{row / 10}\n" for row in range(4))
    judged = written(tmp_path / "judged.csv", f"id,x/A,B,latency\n{rows}")
    people = written(tmp_path / "people.csv", text)
    found = read_scores(f"{judged}::x/A,B")
    human = read_human(people, found)
    np.testing.assert_array_equal(human.scores["x/A"], [np.nan, 1, np.nan, 0])
    np.testing.assert_array_equal(human.scores["B"], [np.nan, np.nan, np.nan, 1])
    assert len(human.notes) == ("human_C" in text)
    short = written(tmp_path / "short.csv", f"id,A,B,latency\n{rows}")
    if "label" not in text:
        assert list(read_scores(short, systems=systems_of(people)).scores) == ["A", "B"]
        assert list(read_scores(judged, systems=systems_of(people)).scores) == ["x/A", "B"]
    every = read_scores(short)
    assert list(every.scores) == ["A", "B", "latency"]
    assert "columns read as systems: A, B, latency; pick others as " in every.notes[0]


def test_a_column_of_scores_with_one_bad_value_is_refused_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "judged.csv", "id,A,B,words\n1,1,0,120\n2,1,1,35\n3,0,7,80\n")
    refuses(InputError, r"line 4: column B: score 7 is outside 0 to 1", read_scores, path)
    path = written(tmp_path / "one.csv", "id,A,words\n1,1,120\n2,0,35\n")
    assert list(read_scores(path).scores) == ["A"]
    rated = written(tmp_path / "rated.csv", "id,system,stars\n1,A,5\n1,B,2\n")
    assert read_scores(rated, scale=(1, 5)).scores["B"].tolist() == [2]


def test_people_who_judged_some_repeats_of_an_item_need_rows_by_epoch(tmp_path: Path) -> None:
    judged = written(tmp_path / "k.csv", "id,epoch,score\n1,1,1\n1,2,0\n2,1,1\n2,2,1\n")
    some = str(written(tmp_path / "some.csv", "id,epoch,human\n1,1,1\n"))
    every = str(written(tmp_path / "every.csv", "id,epoch,human\n1,1,1\n1,2,0\n"))
    refuses(InputError, "judged 1 of 2 repeats of '1'; give `by_epoch`", read_human, some, read_scores(judged))
    np.testing.assert_array_equal(read_human(every, read_scores(judged)).scores["k"], [0.5, np.nan])
    single = read_human(some, read_scores(judged, by_epoch=True))
    np.testing.assert_array_equal(single.scores["k"], [1, np.nan, np.nan, np.nan])
    inside = written(tmp_path / "inside.csv", "id,epoch,score,human\n1,1,1,1\n1,2,0,\n")
    refuses(InputError, "judged 1 of 2 repeats of '1'; give `by_epoch`", read_scores, inside)


# Inspect -------------------------------------------------------------------------------------------------------------


def test_inspect_letters_numbers_and_epochs_are_scores_and_nan_is_none(tmp_path: Path) -> None:
    nan = float("nan")
    values: dict[str, list[Any]] = {"a": ["C", "I"], "b": ["P", "N"], "c": [True, 0.25], "d": [nan, 1], "e": [nan, nan]}
    for suffix in ("eval", "json"):
        path = inspect_log(tmp_path / f"log.{suffix}", "m", samples(values))
        found = read_scores(path)
        assert found.ids == ("a", "b", "c", "d")
        assert found.scores["mockllm/m"].tolist() == [0.5, 0.25, 0.625, 1]
        assert found.unscored == {"mockllm/m": 3}
        assert found.left_out == {"e"}
        assert "3 of 10 rows (30.0%) have no score: left out" in found.notes[0]
    assert read_scores(path, group="metadata.passage").groups is not None


def test_names_picked_of_a_log_select_or_are_refused(tmp_path: Path) -> None:
    rows = samples({"a": [1, 0], "b": [0, 1]})
    for path in (inspect_log(tmp_path / "log.json", "m", rows), inspect_log(tmp_path / "log.eval", "m", rows)):
        assert read_scores(f"{path}::judge").scores["mockllm/m"].tolist() == [0.5, 0.5]
        assert read_scores(f"{path}::epoch=2").scores["mockllm/m"].tolist() == [0, 1]
        refuses(UnknownNameError, "holds no score called 'nonsense'; it holds judge", read_scores, f"{path}::nonsense")
        refuses(UnknownNameError, "holds no epoch called 'epoch=3'", read_scores, f"{path}::judge,epoch=3")
    (harness,) = harness_logs(tmp_path, ("old",), ("quiz",), 20)
    refuses(UnknownNameError, "holds no score called 'nonsense'", read_scores, f"{harness}::nonsense")


def test_inspect_scores_of_several_keys_are_named_and_edits_are_noted(tmp_path: Path) -> None:
    rows = samples({"a": [{"style": 0.5, "fact": 1}], "b": [{"style": 1, "fact": 0}]}, history=[{"value": "I"}])
    path = inspect_log(tmp_path / "log.json", "m", rows)
    refuses(FormatError, r"holds 2 scores \(judge.style, judge.fact\); .*score='judge.style'", read_scores, path)
    found = read_scores(f"{path}::judge.fact")
    assert found.scores["mockllm/m"].tolist() == [1, 0]
    assert "2 scores were edited after the run" in found.notes[0]
    listed = inspect_log(tmp_path / "list.json", "m", samples({"a": [[0.5, 1]]}))
    assert read_scores(listed, score="judge.1").scores["mockllm/m"].tolist() == [1]


def test_inspect_runs_without_samples_are_refused_and_errors_are_counted(tmp_path: Path) -> None:
    refuses(FormatError, "holds no samples; a run", lambda: read_scores(inspect_log(tmp_path / "none.json", "m", [])))
    rows = samples({"a": [1], "b": [1], "c": [1]})
    del rows[1]["scores"]
    rows[1]["error"] = {"message": "timeout"}
    found = read_scores(inspect_log(tmp_path / "log.eval", "m", rows))
    assert (found.unscored, found.errors) == ({"mockllm/m": 1}, {"mockllm/m": 1})
    assert "1 of 3 rows (33.3%) have no score, 1 of them after an error: left out" in found.notes[0]


def test_inspect_systems_are_models_and_other_questions_are_refused(tmp_path: Path) -> None:
    one = inspect_log(tmp_path / "one.eval", "one", samples({"a": ["C"], "b": ["I"]}))
    two = inspect_log(tmp_path / "two.json", "two", samples({"a": ["I"], "b": ["I"]}))
    assert list(read_scores([one, two]).scores) == list(read_scores(tmp_path).scores) == ["mockllm/one", "mockllm/two"]
    human = read_human(two, read_scores(one))
    assert human.scores["mockllm/one"].tolist() == [0, 0]
    rows = samples({"a": ["I"], "b": ["I"]})
    rows[1]["input"] = "another"
    other = inspect_log(tmp_path / "three.json", "three", rows)
    refuses(InputError, r"1 of 2 items of mockllm/three are others .*first 'b'", read_scores, [one, other])


def test_logs_of_different_programs_are_joined_by_id(tmp_path: Path) -> None:
    """Each program has its own names of tasks, and its own texts of the same items."""
    rows: list[dict[str, Any]] = [
        {"doc_id": i, "metrics": ["acc"], "acc": i / 10, "doc_hash": f"h{i}"} for i in range(10)
    ]
    harness = lines(tmp_path / "a" / "samples_t_2026-01-01.jsonl", rows)
    items = {str(i): ["C"] for i in range(9, -1, -1)}
    inspect = inspect_log(tmp_path / "b.json", "b", samples(items))
    table = written(tmp_path / "c.csv", "id,score\n" + "".join(f"{i},{i / 10}\n" for i in range(10)))
    cases = [case(str(i), {"name": "Bias", "score": i / 10}) for i in range(10)]
    deepeval = written(tmp_path / "d.json", json.dumps({"testCases": cases}))
    judged = promptfoo(tmp_path / "e.json", [result(i, [verdict("llm-rubric", 1)], provider="e") for i in range(10)])
    found = read_scores([harness, inspect, table, deepeval, judged])
    assert found.ids == tuple(map(str, range(10)))
    for name in ("a", "c", "d"):
        np.testing.assert_allclose(found.scores[name], np.arange(10) / 10)
    assert found.notes == (
        "items of DeepEval, Inspect, lm-evaluation-harness, promptfoo are joined by id; their texts are not compared",
    )
    shifted = inspect_log(tmp_path / "f.json", "f", samples({str(i): ["C"] for i in range(1, 11)}))
    refuses(InputError, r"only 9 of 11 items .*: ids differ, such as '0' of a and", read_scores, [harness, shifted])
    rows = [{**row, "doc_id": row["doc_id"] + 50} for row in rows]
    other = lines(tmp_path / "g" / "samples_u_2026-01-01.jsonl", rows)
    refuses(InputError, r"ids differ, such as 't/0' of a and 'u/50' of g", read_scores, [harness, other])


# lm-evaluation-harness ------------------------------------------------------------------------------------------------


def test_harness_measures_and_filters_are_chosen(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new"), ("quiz",), 20)
    found = read_scores(paths)
    assert list(found.scores) == ["old", "new"]
    assert set(found.tasks) == {"quiz"}
    (words,) = harness_logs(tmp_path, ("third",), ("gsm8k",), 20, words=True)
    refuses(FormatError, r"holds 2 filters .*score='strict-match'", read_scores, words)
    assert len(read_scores(words, score="flexible-extract").ids) == 20  # one row of each item, never both filters
    graded = lines(
        tmp_path / "m" / "samples_t_2026-01-01.jsonl",
        [{"doc_id": i, "metrics": ["f1", "em"], "f1": i / 4, "em": 0} for i in range(5)],
    )
    refuses(FormatError, "holds 2 measures", read_scores, graded)
    assert read_scores(graded, score="f1").scores["m"].tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert read_scores([tmp_path / "m", *paths[:0]], score="f1").ids == ("0", "1", "2", "3", "4")


def test_harness_responses_are_epochs_only_where_the_measure_has_a_value_for_each(tmp_path: Path) -> None:
    row = {"metrics": ["acc"], "resps": [["a", "b", "c", "d"]]}
    voted = lines(tmp_path / "v" / "samples_t_2026-01-01.jsonl", [{"doc_id": 0, **row, "acc": 1.0}])
    assert read_scores(voted).epochs["v"] == [[1]]
    each = lines(tmp_path / "e" / "samples_t_2026-01-01.jsonl", [{"doc_id": 0, **row, "acc": [1, 0, 0, 1]}])
    assert read_scores(each).epochs["e"] == [[1, 0, 0, 1]]
    odd = lines(tmp_path / "o" / "samples_t_2026-01-01.jsonl", [{"doc_id": 0, **row, "acc": [1, 0]}])
    refuses(FormatError, r"line 1: acc: \[1, 0\] is no score", read_scores, odd)


def test_harness_logs_of_the_same_questions_are_not_joined_to_one_system(tmp_path: Path) -> None:
    rows = [{"doc_id": i, "metrics": ["acc"], "acc": 1.0, "doc_hash": f"h{i}"} for i in range(10)]
    a, b = (lines(tmp_path / "run" / f"samples_{name}_2026-01-01.jsonl", rows) for name in "ab")
    others = [{**row, "doc_hash": f"other {row['doc_id']}"} for row in rows]
    c = lines(tmp_path / "run" / "samples_c_2026-01-01.jsonl", others)
    refuses(InputError, r"'a/0' of samples_a\S+ and 'b/0' of samples_b", read_scores, [a, b])
    assert list(read_scores([a, c]).scores) == ["run"]


def test_broken_files_are_refused(tmp_path: Path) -> None:
    for name, content in (("d.csv", b"id,score\n1,\xff\n"), ("e.txt", b""), ("f.pkl", b"\x80\x04].")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((FormatError, InputError)):
            read_scores(tmp_path / name)
    (tmp_path / "empty").mkdir()
    refuses(FormatError, "holds no log and no table", read_scores, tmp_path / "empty")
    refuses(InputError, "files: expected files, each once", read_scores, [])


# promptfoo -----------------------------------------------------------------------------------------------------------


def verdict(kind: str, score: float, **more: Any) -> dict[str, Any]:
    """A component of a grading result."""
    return {"pass": score >= 0.5, "score": score, "reason": "", "assertion": {"type": kind, **more}}


def result(test: int, parts: list[dict[str, Any]], *, provider: str = "gpt", prompt: int = 0, **more: Any) -> Any:
    """A row of promptfoo, as it stands in ``results.results``."""
    own = [part for part in parts if part["assertion"]["type"] == "human"] or parts
    row = {"promptIdx": prompt, "testIdx": test, "provider": {"id": f"openai:{provider}", "label": provider}}
    row |= {"vars": {"q": f"q{test}"}, "testCase": {"vars": {"q": f"q{test}"}}, "response": {"output": "text"}}
    row |= {"success": all(part["pass"] for part in own), "score": sum(part["score"] for part in own) / len(own)}
    row |= {"failureReason": 0, "namedScores": {"tone": 0.75}, "latencyMs": 420}
    return {**row, "gradingResult": {"pass": row["success"], "score": row["score"], "componentResults": parts}, **more}


def promptfoo(path: Path, rows: list[Any]) -> Path:
    held = {"version": 3, "timestamp": "2026-01-05T10:00:00.000Z", "prompts": [], "results": rows, "stats": {}}
    return written(path, json.dumps({"evalId": "eval-x", "results": held, "config": {}, "shareableUrl": None}))


def test_promptfoo_systems_are_providers_and_prompts_and_errors_are_no_failures(tmp_path: Path) -> None:
    rows = [result(i, [verdict("llm-rubric", float(i != 1))], provider=name) for i in range(3) for name in ("a", "b")]
    rows[5] |= {"failureReason": 2, "success": False, "score": 0, "error": "429"}
    found = read_scores(promptfoo(tmp_path / "x.json", rows))
    assert found.ids == ("0", "1")
    assert {name: scores.tolist() for name, scores in found.scores.items()} == {"a": [1, 0], "b": [1, 0]}
    assert (found.errors, found.unscored) == ({"a": 0, "b": 1}, {"a": 0, "b": 1})
    assert read_scores(tmp_path / "x.json", score="tone").scores["a"].tolist() == [0.75, 0.75]
    assert read_scores(tmp_path / "x.json", score="llm-rubric", id="vars.q").ids == ("q0", "q1")
    rows = [result(0, [verdict("contains", 1)], prompt=k) for k in (0, 1)]
    assert list(read_scores(promptfoo(tmp_path / "y.json", rows)).scores) == ["gpt #0", "gpt #1"]


def test_promptfoo_repeats_are_epochs(tmp_path: Path) -> None:
    rows = [result(i, [verdict("llm-rubric", score)]) for i, score in ((0, 1), (1, 0), (0, 0), (1, 0))]
    found = read_scores(promptfoo(tmp_path / "x.json", rows))
    assert found.epochs["gpt"] == [[1, 0], [0, 0]]


def test_promptfoo_people_overwrite_the_verdict_which_the_judges_parts_give_back(tmp_path: Path) -> None:
    rows = [
        result(0, [verdict("llm-rubric", 1), verdict("human", 0)]),
        result(1, [verdict("llm-rubric", 1)]),
        result(2, [verdict("llm-rubric", 0.25, weight=3), verdict("contains", 1), verdict("human", 1)]),
        result(3, [verdict("llm-rubric", 0, metricOnly=True), verdict("contains", 1), verdict("human", 0)]),
        result(4, [verdict("human", 1)]),
    ]
    rows[2]["testCase"]["threshold"] = 0.4
    path = promptfoo(tmp_path / "x.json", rows)
    found = read_scores(path)
    assert [row["success"] for row in rows] == [False, True, True, False, True]
    assert found.scores["gpt"].tolist() == [1, 1, 1, 1]  # the last row has no judge but a human
    assert found.unscored == {"gpt": 1}
    np.testing.assert_array_equal(found.human.scores["gpt"], [0, np.nan, 1, 0])
    assert read_scores(path, score="score").scores["gpt"].tolist() == [1, 1, 0.4375, 1]
    whole = verdict("assert-set", 1)
    whole["metadata"] = {"assertionSet": {"type": "assert-set", "assertionCount": 2}}
    parts = [whole, verdict("contains", 1), verdict("is-json", 0), verdict("human", 0)]
    assert read_scores(promptfoo(tmp_path / "set.json", [result(0, parts)])).scores["gpt"].tolist() == [1]
    again = read_human(path, found)
    np.testing.assert_array_equal(again.scores["gpt"], [0, np.nan, 1, 0])


# DeepEval ------------------------------------------------------------------------------------------------------------


def case(name: str, *metrics: dict[str, Any], success: bool = True, order: int = 0) -> dict[str, Any]:
    return {"name": name, "input": f"{name}?", "actualOutput": "text", "success": success, "order": order} | {
        "metricsData": [{"threshold": 0.5, "success": True, "error": None, "flaky": False, **one} for one in metrics]
    }


def test_deepeval_metrics_are_scores_and_errors_are_none(tmp_path: Path) -> None:
    cases = [
        case(
            "t0", {"name": "Correctness", "score": 0.9}, {"name": "Bias", "score": 0, "success": False, "flaky": True}
        ),
        case("t1", {"name": "Correctness", "score": None, "error": "timeout"}, {"name": "Bias", "score": 1}, order=1),
        case("t2", {"name": "Correctness", "score": 0.2, "success": False}, success=False, order=2),
    ]
    path = written(tmp_path / "run.json", json.dumps({"testCases": cases, "hyperparameters": {"model": "gpt-4"}}))
    refuses(FormatError, r"holds 5 scores \(Correctness, Bias, Correctness.success", read_scores, path)
    found = read_scores(path, score="Correctness")
    assert (found.ids, found.scores["gpt-4"].tolist(), found.errors) == (("t0", "t2"), [0.9, 0.2], {"gpt-4": 1})
    assert read_scores(path, score="success").scores["gpt-4"].tolist() == [1, 1, 0]  # flaky ones do not decide
    assert read_scores(path, score="Correctness.success").scores["gpt-4"].tolist() == [1, 0]


def test_deepeval_conversations_and_results_in_snake_case_are_read_alike(tmp_path: Path) -> None:
    talk = {**case("talk", {"name": "Role", "score": 0.5}), "turns": [], "scenario": "A talk"}
    path = written(tmp_path / "a.json", json.dumps({"testCases": [], "conversationalTestCases": [talk]}))
    assert read_scores(path).scores["a"].tolist() == [0.5]
    snake = {"name": "", "success": True, "metrics_data": [{"name": "Role", "score": 1.0}], "order": 0}
    path = written(tmp_path / "b.json", json.dumps({"test_results": [snake]}))
    assert read_scores(path).ids == ("0",)
    path = written(tmp_path / "c.json", json.dumps({"testCases": [case("t", {"name": "Role", "score": 1})] * 2}))
    refuses(InputError, r"'t' of c stands in .*case 0 too", read_scores, path)


# Langfuse ------------------------------------------------------------------------------------------------------------


def traced(trace: str, value: Any, source: str = "EVAL", **more: Any) -> dict[str, Any]:
    row = {"id": f"s-{trace}", "timestamp": "2026-01-05T10:00:00.000Z", "traceId": trace, "observationId": None}
    row |= {"name": "correct", "value": value, "stringValue": None, "dataType": "NUMERIC", "source": source}
    return {**row, **more}


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_langfuse_annotations_are_people_and_the_last_score_counts(tmp_path: Path, suffix: str) -> None:
    import pandas as pd

    rows = [
        traced("t1", 0),
        traced("t1", 1, timestamp="2026-01-06T10:00:00.000Z"),
        traced("t1", 0, timestamp="2026-01-04T10:00:00.000Z"),
        traced("t2", 0.5),
        traced("t2", 0, "ANNOTATION"),
        traced("t3", 1, observationId="o1"),
        traced("t3", 1, name="other", source="ANNOTATION"),
        traced("", 1),
    ]
    path = tmp_path / f"scores.{suffix}"
    if suffix == "csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        written(path, json.dumps({"data": rows, "meta": {"page": 1}}))
    found = read_scores(path, score="correct")
    assert found.ids == ("t1", "t2", "t3/o1")
    assert found.scores["scores"].tolist() == [1, 0.5, 1]
    np.testing.assert_array_equal(found.human.scores["scores"], [np.nan, 0, np.nan])
    assert "2 scores were given again later; the last counts" in found.notes[0]


def test_langfuse_categories_are_words_and_scores_by_api_must_be_named(tmp_path: Path) -> None:
    rows = [traced(f"t{k}", k, dataType="CATEGORICAL", stringValue=word) for k, word in enumerate(("good", "so-so"))]
    path = written(tmp_path / "c.json", json.dumps(rows))
    refuses(FormatError, "'so-so' is no score", read_scores, path)
    assert read_scores(path, map={"so-so": 0.5}).scores["c"].tolist() == [1, 0.5]
    path = written(tmp_path / "api.json", json.dumps([traced("t1", 1, "API"), traced("t2", 0, "API")]))
    refuses(InputError, "source API may be people's; name the judge's, such as", read_scores, path)
    judged = read_scores(path, score="correct")
    assert judged.scores["api"].tolist() == [1, 0]
    people = written(tmp_path / "people.json", json.dumps([traced("t2", 1, "ANNOTATION", name="mine")]))
    np.testing.assert_array_equal(read_human(people, judged).scores["api"], [np.nan, 1])


# Label Studio --------------------------------------------------------------------------------------------------------


def answer(value: dict[str, Any], name: str = "verdict", **more: Any) -> dict[str, Any]:
    kind = next(iter(value))
    held = {"id": "x", "from_name": name, "to_name": "text", "type": kind, "value": value}
    return {"id": 1, "completed_by": 10, "was_cancelled": False, "result": [held], **more}


def labelled(place: int, annotations: list[Any], predictions: list[Any] | None = None) -> dict[str, Any]:
    data = {"prompt_id": f"p{place}", "text": "An answer"}
    return {"id": 1000 + place, "data": data, "annotations": annotations, "predictions": predictions or []}


def test_label_studio_people_are_averaged_and_cancelled_ones_are_left_out(tmp_path: Path) -> None:
    good, bad = {"choices": ["good"]}, {"choices": ["bad"]}
    tasks = [
        labelled(0, [answer(good), answer(bad)], [answer(good, model_version="judge")]),
        labelled(1, [answer(good), answer(good), answer(bad, was_cancelled=True)], [answer(bad)]),
        labelled(2, [], [answer(bad)]),
    ]
    path = written(tmp_path / "project.json", json.dumps(tasks))
    found = read_scores(path)
    assert found.ids == ("p0", "p1", "p2")  # of the data, not the number of the task
    assert found.scores["project"].tolist() == [1, 0, 0]
    np.testing.assert_array_equal(found.human.scores["project"], [0.5, 1, np.nan])
    assert found.human.disagreement == 0.5
    judged = read_scores(written(tmp_path / "a.csv", "id,score\np0,1\np1,1\np2,0\n"))
    np.testing.assert_array_equal(read_human(path, judged).scores["a"], [0.5, 1, np.nan])


def test_label_studio_ratings_and_numbers_are_scores_of_a_question(tmp_path: Path) -> None:
    two = answer({"rating": 4}, "stars")
    two["result"].append({"from_name": "share", "value": {"number": 0.25}})
    path = written(tmp_path / "p.json", json.dumps([labelled(0, [two])]))
    judged = read_scores(written(tmp_path / "a.csv", "id,score\np0,3\n"), scale=(1, 5))
    refuses(FormatError, r"holds 2 questions \(stars, share\)", read_human, path, judged)
    assert read_human(path, judged, human_score="stars").scores["a"].tolist() == [4]
    unnamed = labelled(0, [answer({"rating": 4})])
    del unnamed["data"]["prompt_id"]
    for task, words in (
        (labelled(0, [answer({"choices": ["good", "bad"]})]), "task 1000: verdict: expected one choice, got 2"),
        (labelled(0, [], [answer({"rating": 4}), answer({"rating": 5})]), "holds 2 predictions of verdict; keep those"),
        (unnamed, "task 0: has no identifier among text; name one with `id`"),
    ):
        refuses(InputError, words, read_scores, written(tmp_path / "q.json", json.dumps([task])), scale=(1, 5))


@pytest.mark.parametrize(
    "held",
    [
        {"results": {"results": []}},
        {"results": {"results": [1]}},
        {
            "results": {
                "results": [{"gradingResult": {"componentResults": [{"assertion": {"type": "human"}, "score": "x"}]}}]
            }
        },
        {"results": {"results": [{"testIdx": 0, "gradingResult": {"componentResults": ["x"]}, "success": []}]}},
        {"testCases": [{"metricsData": ["x"]}]},
        {"testCases": [{"name": "t", "metricsData": [{"name": "m", "score": "high"}]}]},
        {"data": [{"traceId": "t", "name": "m", "value": {}, "source": "EVAL"}]},
        [{"data": {"id": 1}, "annotations": [{"result": [{"value": {"rating": {}}, "from_name": "r"}]}]}],
        [{"data": {"id": 1}, "annotations": [{"result": []}]}],
        [{"data": 1, "annotations": [{"result": [{"value": {"rating": 1}}]}]}],
    ],
)
def test_results_that_are_not_what_programs_write_are_refused(tmp_path: Path, held: Any) -> None:
    refuses(DemeleError, r"odd\.json", read_scores, written(tmp_path / "odd.json", json.dumps(held)))
