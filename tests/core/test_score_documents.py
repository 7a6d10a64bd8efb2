"""What scores, verdicts and comparisons say: headlines, sentences, tables, notes, and how they were made."""

import json
import subprocess
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import demele
from demele.core.representation_comparison import RepresentationComparison
from demele.core.result import Result
from demele.core.results import Evaluation, Score
from demele.core.signature import Signature
from demele.probes import ScoreCurve
from demele.report.document import Choice, Pill, Strips, Table
from demele.report.renderers.tables import figures_of
from demele.report.words import typed
from tests.refusals import refuses
from tests.tolerances import assert_exact


def evaluated(name: str = "codes", **options: Any) -> Evaluation:
    """Scores of two codes of 120 rows, one factor each."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (120, 2))
    codes = values + 0.3 * rng.normal(size=(120, 2))
    factors = pd.DataFrame({"shape": values[:, 0].astype(str), "size": values[:, 1].astype(str)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        return demele.evaluate(demele.Codes(codes, name=name), factors, **options)


def table_of(result: Result) -> Table:
    table = result.document().table
    assert table is not None
    return table


def column(table: Table, title: str) -> list[Any]:
    return [row[list(table.columns).index(title)] for row in table.rows]


# One representation ---------------------------------------------------------------------------------------------------


def test_scores_stand_by_property_with_what_is_known_of_them() -> None:
    found = evaluated(metrics=["mig", "modularity"], n_bootstrap=10, n_permutations=3)
    table = table_of(found)
    assert list(table.columns)[2:6] == ["Value", "95% interval", "Chance", "p"]
    assert [row[:2] for row in table.rows] == [("Modularity", "Modularity"), ("Compactness", "MIG")]
    mig = found["mig"]
    assert table.rows[1][2:6] == (mig.value, (mig.interval.low, mig.interval.high), mig.chance.mean, mig.chance.p_value)
    assert not found.document().next
    assert table_of(evaluated(metrics=["mig"])).columns.keys() == {"Property", "Metric", "Value"}
    assert evaluated(metrics=["mig"]).document().next[0][1].endswith("--bootstrap 50 --permutations 20")


def test_the_verdict_comes_first() -> None:
    found = evaluated(metrics=["mig"])
    document = found.document()
    assert document.headline == "2 of 2 factors have a code of their own."
    assert isinstance(document.figure, Strips)
    assert [strip.pill and strip.pill.text for strip in document.figure.rows] == ["one code", "one code"]
    (verdict,) = document.below
    assert [typed(str(cell)) for cell in column(verdict, "Best code")] == ["z1", "z2"]
    titles = [section.title for section in document.sections]
    assert titles == ["Scores", "Code-factor matrix", "Values per factor and code", "Data", "Glossary"]
    assert found.to_dict()["verdict"]["shares"] == found.verdict.shares.tolist()


# Corrected and aligned ------------------------------------------------------------------------------------------------


def audited(metrics: list[str], **noise: Any) -> Evaluation:
    """Scores of annotations of which a tenth is wrong, with an audit or a rate."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, (900, 2))
    given = np.where(rng.random(true.shape) < 0.1, (true + 1) % 3, true)
    codes = true + 0.3 * rng.normal(size=true.shape)
    drawn = np.sort(rng.choice(900, 300, replace=False))
    known = noise or {f"v{i + 1}": demele.labels.Audit(drawn, true[drawn, i], design="uniform") for i in range(2)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        return demele.evaluate(codes, demele.Factors(given, noise=known), metrics)


def test_corrected_scores_stand_in_the_table_and_in_the_frame() -> None:
    found = audited(["mig", "sap"])
    corrected = found["mig"].corrected
    table = table_of(found)
    assert column(table, "Corrected")[0] == corrected.value
    assert column(table, "Corrected interval")[0] == (corrected.interval.low, corrected.interval.high)
    document = found.document()
    assert document.assumptions[0].startswith("The audited rows were drawn at random")
    told = found.methods(format="text")
    assert "corrected (method audited, 95% interval) for wrong annotations of the factors." in told
    assert "Assumed: The audited rows were drawn at random" in told
    frame = found.to_frame().set_index("metric")
    assert frame.loc["mig", "corrected"] == corrected.value
    assert frame.loc["mig", "correction"] == "audited"
    assert found["mig"].sentences[1].startswith(f"Corrected by the method audited, the score is {corrected.value:.3f}")


# Several representations ----------------------------------------------------------------------------------------------


def compared(**options: Any) -> RepresentationComparison:
    rng = np.random.default_rng(0)
    factors = rng.random((500, 2))
    codes = {name: factors + noise * rng.normal(size=(500, 2)) for name, noise in (("noisy", 0.3), ("clean", 0.05))}
    codes["odd"] = rng.random((500, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        return demele.compare_representations(codes, factors, ["mig", "irs"], **options)


def test_a_comparison_has_representations_as_columns_and_bold_where_one_is_significantly_better() -> None:
    found = compared(n_bootstrap=20)
    assert found.sentence == "3 of 6 differences are significant (Holm, 95%); 3 could not be tested."
    table = table_of(found)
    assert [typed(title) for title in table.columns] == ["Property", "Metric", "noisy", "clean", "odd", "p"]
    (row,) = (row for row in table.rows if row[1] == "MIG")
    assert [isinstance(cell, Pill) for cell in row[2:5]] == [False, True, False]
    assert row[3].text == f"{found['clean']['mig'].value:.3f}"  # type: ignore[union-attr]
    assert row[5] < 0.01  # type: ignore[operator]
    assert r"\textbf{" in found.to_latex()
    document = found.document()
    assert isinstance(document.figure, Choice)
    assert len(document.figure.of) == 3
    assert "clean is better than noisy by MIG." in found.sentences
    assert any("numbers of codes differ (2 and 3)" in note.text for note in document.notes)


def test_two_representations_have_their_difference_in_the_table() -> None:
    found = compared(n_bootstrap=20, against="noisy")
    assert [len(found.differences), len(found.document().figure.of)] == [4, 2]  # type: ignore[union-attr]
    pair = replace(found, evaluations=found.evaluations[:2], differences=found.differences[:2])
    table = table_of(pair)
    assert [typed(title) for title in table.columns][2:] == ["noisy", "clean", "Difference", "95% interval", "p"]
    mig = next(one for one in pair.differences if one.metric == "mig")
    (row,) = (row for row in table.rows if row[1] == "MIG")
    assert row[4:] == (mig.value, (mig.interval.low, mig.interval.high), mig.p_value)
    assert typed(table.note).startswith("Difference: clean - noisy.")
    assert pair.sentence == "clean is significantly better by 1 of 2 metrics (Holm, 95%); 1 could not be tested."
    (figure,) = (one for one in figures_of(pair.document()) if isinstance(one, Strips) and one.zero == 0.0)
    assert [(mark.kind, mark.at) for mark in figure.rows[0].marks][-1] == ("dot", mig.value)
    (verdicts,) = pair.document().below
    assert [typed(title) for title in verdicts.columns] == ["Factor", "noisy", "clean"]


# How scores were made -------------------------------------------------------------------------------------------------


def test_sparse_scores_say_which_codes_inform_most() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    codes = sparse.csr_matrix(np.column_stack([(rng.random((300, 4)) < 0.2) * 1.0, np.zeros(300), np.eye(3)[truth]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        found = demele.evaluate_sparse(codes, pd.DataFrame({"digit": truth.astype(str)}), ["mig"], seed=0)
    assert found.sentence.startswith("7 codes of 8 are active; z8 carries most of a factor: ")
    assert [section.title for section in found.document().sections][:2] == ["Scores", "Code-factor matrix"]
    held = found.to_dict()
    assert held["n_codes"] == 8
    assert "information" not in held
    assert held["top"][0]["factor"] == "digit"


# A Score is a plain frozen record; its table is made when it is read -------------------------------------------------


VALUES = np.array([[0.5, 0.25, np.nan], [0.125, 1.0, np.nan]])


@pytest.fixture
def score() -> Score:
    """Two codes, three factors of which the last is constant."""
    return Score(
        metric="mig",
        value=0.625,
        n=10,
        signature=Signature("mig"),
        code_names=("z1", "z2"),
        factor_names=("a", "b", "c"),
        matrix_values=VALUES,
        matrix_of="mutual information (nats)",
    )


def test_the_matrix_is_a_table_of_codes_and_factors(score: Score) -> None:
    expected = pd.DataFrame(VALUES, index=["z1", "z2"], columns=["a", "b", "c"])
    pd.testing.assert_frame_equal(score.matrix, expected)
    assert replace(score, matrix_values=None).matrix is None


def test_a_value_is_computed_without_pandas() -> None:
    program = (
        "import sys, numpy, demele\n"
        "codes = numpy.random.default_rng(0).random((2000, 2))\n"
        "score = demele.metrics.mig(codes, codes)\n"
        "assert 'pandas' not in sys.modules, 'loaded for a table that nobody asked for'\n"
        "import copy, pickle\n"
        "from demele.core.arrays import pd\n"
        "assert pickle.loads(pickle.dumps(copy.copy(pd))).DataFrame is pd.DataFrame\n"
        "assert score.matrix.shape == (2, 2)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


# Scores over a training ----------------------------------------------------------------------------------------------


rng = np.random.default_rng(0)
FACTORS, NOISE = rng.random((200, 2)), rng.normal(size=(200, 2))


def evaluated_of_score_curve(scale: float, *metrics: str, **more: Any) -> demele.Evaluation:
    found: demele.Evaluation = demele.evaluate(FACTORS + scale * NOISE, FACTORS, list(metrics), **more)
    return found


CURVE = ScoreCurve(
    [
        (4, evaluated_of_score_curve(1.0, "mig", "sap")),
        (9, evaluated_of_score_curve(0.05, "mig")),
        (14, evaluated_of_score_curve(0.3, "mig", "sap")),
    ]
)


def test_a_row_for_each_moment_and_a_column_for_each_metric() -> None:
    table = CURVE.to_frame()
    assert (list(table.index), list(table.columns), table.index.name) == ([4, 9, 14], ["mig", "sap"], "epoch")
    values = [evaluation["mig"].value for _, evaluation in CURVE.points]
    assert_exact(table["mig"], values)
    assert list(table["sap"].isna()) == [False, True, False]
    assert len(CURVE) == 3
    best = [f"{name} is largest at epoch {at} ({table[name].max():.3f})" for name, at in (("mig", 9), ("sap", 14))]
    assert CURVE.sentence == f"{best[0]} and {best[1]}."
    assert CURVE.best("mig") == 9
    assert CURVE.best("sap") == 14


def test_it_is_written_as_plain_values() -> None:
    held = json.loads(CURVE.to_json())
    assert (held["kind"], held["unit"]) == ("score curve", "epoch")
    assert [moment for moment, _ in held["points"]] == [4, 9, 14]
    assert [score["metric"] for score in held["points"][1][1]["scores"]] == ["mig"]


@pytest.mark.parametrize("points", [[3], [("a", CURVE.points[0][1])], [(1, 0.5)], [(True, CURVE.points[0][1])]])
def test_anything_but_moments_and_evaluations_is_refused(points: Any) -> None:
    refuses(demele.errors.InputTypeError, "evaluations: expected pairs of a number", ScoreCurve, points)


def test_a_curve_without_points_is_empty() -> None:
    empty = ScoreCurve([])
    assert empty.to_frame().shape == (0, 0)
    refuses(demele.errors.UnknownNameError, "'mig' has no score in this curve", empty.best, "mig")
