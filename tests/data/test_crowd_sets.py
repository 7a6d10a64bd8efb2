"""The bundled answers of crowds are what their source says, and the methods that join answers read them."""

import importlib.resources

import pytest

from demele.core.errors import UnknownNameError
from demele.data import load_example
from demele.data.label_sets import CROWDS, crowd_example
from demele.labels import Annotations
from tools import make_label_demo

BUNDLED = importlib.resources.files("demele.data") / "bundled"


def test_every_file_has_a_name_and_every_name_a_file() -> None:
    files = {
        item.name.removesuffix(".npz.xz") for item in (BUNDLED / "crowd").iterdir() if item.name.endswith(".npz.xz")
    }
    assert files == set(CROWDS) == set(make_label_demo.CROWDS)


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


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'mozafari_1000'"):
        load_example("mozafari")
    with pytest.raises(UnknownNameError, match="name: expected one of pca, ica"):
        load_example("")
