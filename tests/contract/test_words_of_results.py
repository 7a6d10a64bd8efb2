"""Every result that is public says itself in a sentence and is a card in a notebook."""

import importlib
import inspect

import numpy as np
import pytest

import demele
from demele.classifiers.stats import bias, corrected_t_test
from demele.models.fabric.planning import Pruning

HOMES = (
    "",
    ".metrics",
    ".probes",
    ".classifiers",
    ".classifiers.stats",
    ".explain",
    ".labels",
    ".lab",
    ".bench",
    ".data",
)
#: What is given to functions, drawn by them, or part of a result that says it.
NO_RESULTS = {
    "Annotations",
    "BinEdges",
    "Audit",
    "AuditPlan",
    "CrowdSet",
    "Estimate",
    "Fabric",
    "FabricAnnotators",
    "FabricCounts",
    "FactorSpace",
    "ImageSetFacts",
    "PruningConfiguration",
    "VAE",
}


def classes() -> dict[str, type]:
    found = {}
    for home in HOMES:
        module = importlib.import_module(f"demele{home}")
        for name in module.__all__:
            each = getattr(module, name)
            if inspect.isclass(each) and any(hasattr(each, way) for way in ("to_dict", "to_frame", "to_html")):
                found[each.__name__] = each
    return found


def test_results_have_a_sentence_and_a_card() -> None:
    mute = {
        name for name, each in classes().items() if not all(hasattr(each, way) for way in ("sentence", "_repr_html_"))
    }
    assert mute - NO_RESULTS == set()
    assert len(classes()) > 40


def test_what_wrong_labels_do_is_a_sentence_and_a_card() -> None:
    found = bias([0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0])
    assert found.sentence == "The observed accuracy equals that on true labels, with 50.00% of 4 labels wrong."
    higher = bias([0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 0, 0])
    assert higher.sentence.startswith("The observed accuracy is 25.00 pp above that on true labels, with 25.00%")
    card = higher._repr_html_()
    assert higher.sentence in card
    assert "<table" in card


def test_the_card_of_a_pruning_has_its_sentence() -> None:
    cut = Pruning(level="links", requested=10, removed=8, total=40)
    assert cut.sentence == "8 of 40 links removed (20.0%), 10 requested (25.0%)."
    assert cut.sentence in cut._repr_html_()


@pytest.mark.parametrize(
    ("shift", "said"),
    [(0.3, "The candidate is"), (0.0, "Inconclusive: candidate minus baseline"), (-0.3, "The baseline")],
)
def test_a_t_test_says_who_is_better(shift: float, said: str) -> None:
    scores = np.random.default_rng(0).normal(0.6, 0.01, 10)
    other = scores + shift + np.random.default_rng(1).normal(0, 0.01, 10)
    assert corrected_t_test(scores, other, test_fraction=0.1).sentence.startswith(said)


def test_a_table_says_its_first_line_and_its_warnings() -> None:
    rng = np.random.default_rng(0)
    found = demele.probes.udr({name: rng.normal(size=(60, 2)) for name in "ab"})
    assert found.sentence.startswith("The other models agree most with")
    assert found.sentences[0] == found.sentence
