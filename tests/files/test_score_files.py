"""Scores of rows and people's scores, from logs and tables: each trap of each format."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import DemeleError, FormatError, InputError, UnknownNameError
from demele.files.score_files import read_human, read_scores
from demele.files.sheets import sheet_bytes
from tests.files.model_logs import harness_logs, inspect_log


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def samples(values: dict[str, list[Any]], **more: Any) -> list[dict[str, Any]]:
    """Samples of Inspect: the values of each item in its epochs."""
    return [
        {"id": name, "epoch": epoch, "input": name, "target": "x", "scores": {"judge": {"value": value, **more}}}
        | {"metadata": {"passage": f"p{len(name)}"}}
        for name, repeats in values.items()
        for epoch, value in enumerate(repeats, 1)
    ]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A file of lm-evaluation-harness: each row has its own measures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    base = {"doc": {"q": 1}, "target": "0", "resps": [["a"]], "filtered_resps": ["a"], "filter": "none"}
    return written(path, "".join(json.dumps({**base, **row}) + "\n" for row in rows))


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
    assert found.human is not None
    assert np.isnan(found.human.scores["A"]).all()
    np.testing.assert_array_equal(found.human.scores["B"], [1, np.nan])
    assert read_scores(both, score=["A", "B"]).scores.keys() == {"A", "B"}
    folder = tmp_path / "runs"
    for run in ("old", "new"):
        (folder / run).mkdir(parents=True)
        written(folder / run / "judged.csv", "item,score\n1,1\n2,0\n")
    found = read_scores([f"{folder}/old/judged.csv", f"{folder}/new/judged.csv"])
    assert list(found.scores) == ["old/judged", "new/judged"]


def test_columns_that_are_missing_or_stand_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column identifies the items among prompt, score; name one with `id`"):
        read_scores(written(tmp_path / "a.csv", "prompt,score\n1,1\n"))
    with pytest.raises(InputError, match="no column of scores among id, quality; name one with `score`"):
        read_scores(written(tmp_path / "b.csv", "id,quality\n1,1\n"))
    with pytest.raises(UnknownNameError, match="did you mean 'quality'"):
        read_scores(tmp_path / "b.csv", score="qualty")
    with pytest.raises(FormatError, match="more than one column called 'score'"):
        read_scores(written(tmp_path / "c.csv", "id,score,score\n1,1,1\n"))
    with pytest.raises(FormatError, match="line 3: expected 2 fields as in the first, got 3"):
        read_scores(written(tmp_path / "d.csv", "id,score\n1,1\n2,0,0\n"))
    with pytest.raises(InputError, match="line 3: has no identifier in column id"):
        read_scores(written(tmp_path / "e.csv", "id,score\n1,1\n,0\n"))


def test_words_count_one_or_zero_and_others_are_refused_until_they_are_mapped(tmp_path: Path) -> None:
    ones, zeros = ("pass", "Yes", "TRUE", "correct", "C", "good"), ("fail", "no", "false", "incorrect", "I", "bad")
    text = "id,score\n" + "".join(f"{place},{word}\n" for place, word in enumerate((*ones, *zeros)))
    assert read_scores(written(tmp_path / "words.csv", text)).scores["words"].tolist() == [1.0] * 6 + [0.0] * 6
    odd = written(tmp_path / "odd.csv", "id,score\n1,pass\n2,partly\n")
    with pytest.raises(FormatError, match=r"line 3: column score: 'partly' is no score.*`map`, such as partly=1"):
        read_scores(odd)
    assert read_scores(odd, map={"partly": 0.5}).scores["odd"].tolist() == [1, 0.5]


def test_scores_off_the_scale_are_refused_with_the_row_and_a_scale(tmp_path: Path) -> None:
    rubric = written(tmp_path / "rubric.csv", "id,score,human\n1,1,\n2,5,4\n3,3,\n")
    with pytest.raises(InputError, match=r"line 3: score 5 is outside 0 to 1; give the scale, such as `scale` 1,5"):
        read_scores(rubric)
    found = read_scores(rubric, scale=(1, 5))
    assert (found.low, found.high, found.scores["rubric"].tolist()) == (1, 5, [1, 5, 3])
    judged = read_scores(written(tmp_path / "judged.csv", "id,score\n1,1\n2,0\n3,1\n"))
    with pytest.raises(InputError, match="human scores reach 4, given ones 1"):
        read_human(rubric, judged)
    for scale in ((1,), (5, 1), (0, float("inf"))):
        with pytest.raises(InputError, match="scale: expected the least and the largest score"):
            read_scores(rubric, scale=scale)


def test_repeats_are_averaged_or_rows_and_a_repeated_id_without_epochs_is_refused(tmp_path: Path) -> None:
    twice = written(tmp_path / "twice.csv", "id,score\n1,1\n2,0\n1,0\n")
    with pytest.raises(InputError, match=r"line 4: '1' of twice stands in .*line 2 too; .*need a column epoch"):
        read_scores(twice)
    repeats = written(tmp_path / "k.csv", "id,epoch,score\n1,1,1\n1,2,0\n2,1,1\n2,2,\n3,1,0\n3,2,0\n")
    found = read_scores(repeats)
    assert found.scores["k"].tolist() == [0.5, 1, 0]
    assert [one.tolist() for one in found.epochs["k"]] == [[1, 0], [1], [0, 0]]
    assert found.notes == ("k: 1 of 6 rows (16.7%) have no score: left out; scores are rarely missing at random",)
    single = read_scores(repeats, by_epoch=True)
    assert single.ids == ("1#1", "1#2", "2#1", "3#1", "3#2")
    assert single.groups is not None
    assert single.groups.tolist() == ["1", "1", "2", "3", "3"]
    with pytest.raises(InputError, match="by_epoch: no file names the repeats"):
        read_scores(written(tmp_path / "once.csv", "id,score\n1,1\n"), by_epoch=True)


def test_systems_with_other_items_are_compared_on_the_common_ones_or_refused(tmp_path: Path) -> None:
    a = written(tmp_path / "a.csv", "id,score\n" + "".join(f"{i},1\n" for i in range(20)))
    b = written(tmp_path / "b.csv", "id,score\n" + "".join(f"{i},0\n" for i in range(1, 20)))
    found = read_scores([a, b])
    assert len(found.ids) == 19
    assert found.left_out == {"0"}
    assert found.notes == ("19 of 20 items are in all systems and are compared (a 20, b 19)",)
    c = written(tmp_path / "c.csv", "id,score\n" + "".join(f"{i},0\n" for i in range(5, 20)))
    with pytest.raises(InputError, match=r"only 15 of 20 items are in all systems \(a 20, c 15\)"):
        read_scores([a, c])


def test_tasks_go_before_the_items_and_groups_are_fields(tmp_path: Path) -> None:
    table = written(tmp_path / "t.csv", "id,task,source,score\n1,law,x,1\n1,art,y,0\n2,art,y,1\n")
    found = read_scores(table, group="source")
    assert found.ids == ("law/1", "art/1", "art/2")
    assert found.tasks.tolist() == ["law", "art", "art"]
    assert found.groups is not None
    assert found.groups.tolist() == ["law/x", "art/y", "art/y"]
    people = written(tmp_path / "people.csv", "id,task,human\n1,art,1\n")
    np.testing.assert_array_equal(read_human(people, found).scores["t"], [np.nan, 1, np.nan])
    people = written(tmp_path / "whole.csv", "id,human\nart/1,0\n")
    np.testing.assert_array_equal(read_human(people, found).scores["t"], [np.nan, 0, np.nan])
    with pytest.raises(InputError, match=r"group: .*has no source"):
        read_scores(written(tmp_path / "u.csv", "id,source,score\n1,,1\n"), group="source")


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
        ("id,human_A\n7,1\n8,1\n9,1\n10,1\n11,1\n", "4 items of no row, first '7', '9', '10'"),
        ("id,human_A\n8,1\n8,0\n", "1 items with two different scores, first '8'"),
        ("id,human\n8,1\n", "the systems of the scores are not named; expected columns human_A, human_B"),
        ("id,human_C\n8,1\n", "holds no system called 'C'"),
        ("id,note\n8,1\n", "no column of people's scores among id, note; name one with `human_score`"),
        ("id,human_A\n8,\n", "holds no score by people"),
        ("id,human_A\n8,perhaps\n", "'perhaps' is no score"),
    ):
        path = str(written(tmp_path / "odd.csv", text))
        with pytest.raises(DemeleError, match=why):
            read_human(path, found)
    path = str(written(tmp_path / "named.csv", "key,system,said\n8,A,nope\n"))
    human = read_human(path, found, human_score="said", id="key", map={"nope": 0})
    np.testing.assert_array_equal(human.scores["A"], [np.nan, 0])


def test_people_who_judged_some_repeats_of_an_item_need_rows_by_epoch(tmp_path: Path) -> None:
    judged = written(tmp_path / "k.csv", "id,epoch,score\n1,1,1\n1,2,0\n2,1,1\n2,2,1\n")
    some = str(written(tmp_path / "some.csv", "id,epoch,human\n1,1,1\n"))
    every = str(written(tmp_path / "every.csv", "id,epoch,human\n1,1,1\n1,2,0\n"))
    with pytest.raises(InputError, match="judged 1 of 2 repeats of '1'; give `by_epoch`"):
        read_human(some, read_scores(judged))
    np.testing.assert_array_equal(read_human(every, read_scores(judged)).scores["k"], [0.5, np.nan])
    single = read_human(some, read_scores(judged, by_epoch=True))
    np.testing.assert_array_equal(single.scores["k"], [1, np.nan, np.nan, np.nan])
    inside = written(tmp_path / "inside.csv", "id,epoch,score,human\n1,1,1,1\n1,2,0,\n")
    with pytest.raises(InputError, match="judged 1 of 2 repeats of '1'; give `by_epoch`"):
        read_scores(inside)


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


def test_inspect_scores_of_several_keys_are_named_and_edits_are_noted(tmp_path: Path) -> None:
    rows = samples({"a": [{"style": 0.5, "fact": 1}], "b": [{"style": 1, "fact": 0}]}, history=[{"value": "I"}])
    path = inspect_log(tmp_path / "log.json", "m", rows)
    with pytest.raises(FormatError, match=r"holds 2 scores \(judge.style, judge.fact\); .*score='judge.style'"):
        read_scores(path)
    found = read_scores(f"{path}::judge.fact")
    assert found.scores["mockllm/m"].tolist() == [1, 0]
    assert "2 scores were edited after the run" in found.notes[0]
    listed = inspect_log(tmp_path / "list.json", "m", samples({"a": [[0.5, 1]]}))
    assert read_scores(listed, score="judge.1").scores["mockllm/m"].tolist() == [1]


def test_inspect_runs_without_samples_are_refused_and_errors_are_counted(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="holds no samples; a run with --no-log-samples keeps none"):
        read_scores(inspect_log(tmp_path / "none.json", "m", []))
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
    with pytest.raises(InputError, match=r"1 of 2 items of mockllm/three are others .*first 'b'"):
        read_scores([one, other])


# lm-evaluation-harness ------------------------------------------------------------------------------------------------


def test_harness_measures_and_filters_are_chosen(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new"), ("quiz",), 20)
    found = read_scores(paths)
    assert list(found.scores) == ["old", "new"]
    assert set(found.tasks) == {"quiz"}
    (words,) = harness_logs(tmp_path, ("third",), ("gsm8k",), 20, words=True)
    with pytest.raises(FormatError, match=r"holds 2 filters .*score='strict-match'"):
        read_scores(words)
    assert len(read_scores(words, score="flexible-extract").ids) == 20  # one row of each item, never both filters
    graded = lines(
        tmp_path / "m" / "samples_t_2026-01-01.jsonl",
        [{"doc_id": i, "metrics": ["f1", "em"], "f1": i / 4, "em": 0} for i in range(5)],
    )
    with pytest.raises(FormatError, match="holds 2 measures"):
        read_scores(graded)
    assert read_scores(graded, score="f1").scores["m"].tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert read_scores([tmp_path / "m", *paths[:0]], score="f1").ids == ("0", "1", "2", "3", "4")


def test_harness_responses_are_epochs_only_where_the_measure_has_a_value_for_each(tmp_path: Path) -> None:
    row = {"metrics": ["acc"], "resps": [["a", "b", "c", "d"]]}
    voted = lines(tmp_path / "v" / "samples_t_2026-01-01.jsonl", [{"doc_id": 0, **row, "acc": 1.0}])
    assert [one.tolist() for one in read_scores(voted).epochs["v"]] == [[1]]
    each = lines(tmp_path / "e" / "samples_t_2026-01-01.jsonl", [{"doc_id": 0, **row, "acc": [1, 0, 0, 1]}])
    assert [one.tolist() for one in read_scores(each).epochs["e"]] == [[1, 0, 0, 1]]
    odd = lines(tmp_path / "o" / "samples_t_2026-01-01.jsonl", [{"doc_id": 0, **row, "acc": [1, 0]}])
    with pytest.raises(FormatError, match=r"line 1: acc: \[1, 0\] is no score"):
        read_scores(odd)


def test_harness_runs_with_other_items_are_refused_by_their_digests(tmp_path: Path) -> None:
    rows = [{"doc_id": i, "metrics": ["acc"], "acc": 1.0, "doc_hash": f"h{i}"} for i in range(10)]
    a = lines(tmp_path / "a" / "samples_t_2026-01-01.jsonl", rows)
    rows[4]["doc_hash"] = "other"
    b = lines(tmp_path / "b" / "samples_t_2026-01-01.jsonl", rows)
    with pytest.raises(InputError, match=r"1 of 10 items of b are others than in .*first '4'"):
        read_scores([a, b])


def test_broken_files_are_refused(tmp_path: Path) -> None:
    for name, content in (
        ("a.eval", b"PK\x03\x04 cut off"),
        ("b.json", b"[" * 10_000_000),
        ("c.xlsx", b"no workbook"),
        ("d.csv", b"id,score\n1,\xff\n"),
        ("e.txt", b""),
        ("f.pkl", b"\x80\x04]."),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((FormatError, InputError)):
            read_scores(tmp_path / name)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="holds no log and no table"):
        read_scores(tmp_path / "empty")
    with pytest.raises(InputError, match="files: expected files, each once"):
        read_scores([])
