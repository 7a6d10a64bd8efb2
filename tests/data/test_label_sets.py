"""Bundled labels and crowds: every file has a name, and its counts are those of the source."""

import importlib.resources

import numpy as np
import pytest

from demele.core.errors import InputError, UnknownNameError
from demele.core.labelled import read_labelled
from demele.data import LabelSet, load_example
from demele.data.examples import CROWDS, LABEL_SETS, crowd_example, label_example
from demele.labels import Annotations
from tests.refusals import refuses
from tests.tolerances import assert_exact
from tools import make_label_demo

BUNDLED = importlib.resources.files("demele.data") / "bundled"


@pytest.fixture(scope="module")
def questions() -> LabelSet:
    return load_example("mmlu_redux")


def test_every_file_has_a_name_and_every_name_a_file() -> None:
    for folder, names in ((BUNDLED, LABEL_SETS), (BUNDLED / "crowd", CROWDS)):
        files = {item.name.removesuffix(".npz.xz") for item in folder.iterdir() if item.name.endswith(".npz.xz")}
        assert files == set(names)
    assert set(CROWDS) == set(make_label_demo.CROWDS)


def test_every_set_is_whole() -> None:
    for name in LABEL_SETS:
        found = label_example(name)
        assert found.name == name
        assert len(found.predictions) == found.n == len(found.labels) > 5000
        models = {name: found.predictions[name] for name in found.models}
        data = read_labelled(models, found.labels, classes=found.classes)  # refuses anything that is no class
        assert data.n == found.n
        assert len(set(found.models)) == len(found.models)
        assert found.provenance
        assert found.licence in ("CC BY 4.0", "Apache-2.0")
        if found.groups is not None:
            assert found.groups.shape == (found.n,)
            assert found.group_kind


def test_mmlu_redux_counts(questions: LabelSet) -> None:
    assert questions.n == 5432  # of 5 700, less 268 without a single right answer
    assert questions.true_labels is not None
    assert int((questions.labels != questions.true_labels).sum()) == 101
    assert len(questions.group_names()) == 57
    assert questions.classes == ("A", "B", "C", "D", "no answer")
    assert set(questions.labels) == set(questions.true_labels) == set("ABCD")
    assert "268" in questions.provenance


@pytest.mark.parametrize("name", [name for name in LABEL_SETS if name.startswith("label_errors")])
def test_reviews_are_selective_and_in_favour_of_the_model(name: str) -> None:
    found = label_example(name)
    assert found.audit_design == "selective"
    assert found.true_labels is None
    assert found.noise_rate is None
    assert found.audit_rows is not None
    rows, model = found.audit_rows, found.predictions.iloc[:, 0].to_numpy()
    assert np.unique(rows).size == rows.size
    assert rows.min() >= 0
    assert rows.max() < found.n
    changed = found.audit_labels != found.labels[rows]
    assert changed.any()
    # The defect that makes the review selective: every confirmed error counts in the model's favour.
    assert_exact(found.audit_labels[changed], model[rows][changed])


def test_taking_rows_keeps_everything_in_step() -> None:
    found = load_example("label_errors_mnist")
    rows = np.concatenate([found.audit_rows[[5, 2]], [0, 1]])
    part = found.take(rows)
    assert part.n == 4
    assert_exact(part.labels, found.labels[rows])
    where = dict(zip(part.audit_rows.tolist(), part.audit_labels.tolist(), strict=True))
    expected = {0: found.audit_labels[5], 1: found.audit_labels[2]}
    for row, original in ((2, 0), (3, 1)):
        at = np.flatnonzero(found.audit_rows == original)
        if at.size:
            expected[row] = found.audit_labels[at[0]]
    assert where == expected


@pytest.mark.parametrize(
    ("rows", "says"),
    [([0, 0], "once"), ([5432], "0 to 5431, got 5432 at row 0"), ([-1], "got -1"), ([0.5], "whole numbers")],
)
def test_rows_that_cannot_be_taken(questions: LabelSet, rows: list[float], says: str) -> None:
    refuses(InputError, says, questions.take, rows)
    refuses(InputError, "5432 flags", questions.take, np.ones(3, dtype=bool))


def test_unknown_names(questions: LabelSet) -> None:
    refuses(UnknownNameError, "did you mean 'mmlu_redux'", load_example, "mmlu-redux")
    refuses(UnknownNameError, "did you mean 'mozafari_1000'", load_example, "mozafari")
    refuses(UnknownNameError, "name: expected one of pca, ica", load_example, "")
    refuses(UnknownNameError, "'virology'", questions.of_group, "alchemy")
    refuses(UnknownNameError, "none", load_example("label_errors_mnist").of_group, "virology")


# The bundled answers of crowds are what their source says, and the methods that join answers read them ---------------


@pytest.mark.parametrize(
    ("name", "answers", "annotators", "items", "silent", "gold", "repeats", "classes"),
    [
        ("mozafari_1000", 5000, 83, 1000, 0, 1000, 0, ("0", "1")),
        ("hitspam_crowdflower", 42_762, 153, 5381, 1, 101, 4169, ("no", "yes")),
    ],
)
def test_counts_are_those_of_the_source(
    name: str, answers: int, annotators: int, items: int, silent: int, gold: int, repeats: int, classes: tuple[str, str]
) -> None:
    found = crowd_example(name)
    table = Annotations(found.item, found.annotator, found.answer, classes=found.classes, all_items=list(found.items))
    assert (table.n_answers, table.n_annotators, table.n_items) == (answers, annotators, items)
    assert int((table.votes().sum(axis=1) == 0).sum()) == silent
    assert table.n_repeats == repeats
    assert found.classes == classes
    assert len(found.gold) == gold
    assert set(found.gold) <= set(found.items.tolist())
    assert set(found.gold.values()) == set(classes)
    assert found.licence == "Apache-2.0"
    assert f"{answers} answers of {annotators} annotators about {items} items" in found.provenance
    assert f"{answers} answers" in repr(found)
