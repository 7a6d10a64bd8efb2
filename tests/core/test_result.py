"""What every result derives from its fields and its document."""

import json
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import demele
from demele import bench, classifiers, explain, lab, labels
from demele.core.bibliography import bibliography
from demele.core.result import Interval, Note, Result, TableResult, about, plain
from demele.core.signature import Signature
from demele.report.document import Document, Strips, Table
from demele.report.renderers.tables import blocks_of, figures_of, table_of
from demele.report.words import FORMAT
from demele.report.words import plain as plain_text
from tests.bench.sample_comparisons import measured
from tests.report.sample_agreement import sample_agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    title: str
    value: float
    side: Literal["left", "right"] | None = None
    interval: Interval | None = None
    chance: "Interval | None" = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Whole(Result):
    _kind, _rows = "whole", "parts"

    parts: tuple[Part, ...]
    array: Any = None
    hidden: int = field(default=3, metadata={"json": False})
    notes: tuple[Note, ...] = ()
    assumptions: tuple[str, ...] = ("rows are independent",)
    signature: Signature = Signature("whole", {"seed": 0}, {"demele": "0.0.9"})  # noqa: RUF009

    def document(self) -> Document:
        cited = ["Gaps [@chen2018isolating; @demele] were 50% of a_b."] if self.parts else []
        return Document(kind="Whole", title="Whole", headline="It is −0.5.", methods=cited, **about(self))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Tabular(TableResult):
    _kind, _forms = "tabular", {"share": "percent"}

    rows: list[tuple[str, float, float, float, int, bool]]

    def headline(self) -> str:
        return "There are two rows."

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows, columns=["class", "share", "low", "high", "n", "tied"])


INTERVAL = Interval(low=0.25, high=0.75, level=0.95, method="exact")
WHOLE = Whole(parts=(Part(title="a", value=math.nan), Part(title="b", value=1.0, side="left", interval=INTERVAL)))


def subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for one in cls.__subclasses__():
        yield one
        yield from subclasses(one)


def test_json_is_the_fields_as_they_are(tmp_path: Path) -> None:
    whole = Whole(parts=WHOLE.parts, array=np.array([[1.5, np.inf]]), notes=(Note(code="c", message="m"),))
    found = whole.to_dict()
    assert list(found) == ["kind", "demele", "parts", "array", "notes", "assumptions", "signature"]
    assert (found["kind"], found["demele"], found["signature"]) == ("whole", "0.0.9", "whole(seed=0)  # demele=0.0.9")
    assert found["parts"][0]["value"] is None
    assert found["parts"][1]["interval"] == {
        "low": 0.25, "high": 0.75, "level": 0.95, "method": "exact", "kind": "sampling",
    }  # fmt: skip
    assert found["array"] == [[1.5, None]]
    assert found["notes"] == [{"code": "c", "message": "m", "subject": [], "severity": "info"}]
    assert json.loads(whole.to_json(tmp_path / "whole.json")) == found
    assert json.loads((tmp_path / "whole.json").read_text()) == found


def test_frames_in_json_are_records() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, math.nan]})
    assert plain(frame) == [{"a": 1, "b": 0.5}, {"a": 2, "b": None}]
    assert plain(frame.set_index(pd.Index(["x", "y"], name="code")))[1] == {"code": "y", "a": 2, "b": None}
    assert plain({WHOLE: {1: np.float32(0.5)}}) == {str(WHOLE): {"1": 0.5}}


def test_columns_of_a_frame_follow_from_annotations_not_from_values() -> None:
    frame = WHOLE.to_frame()
    assert list(frame.columns) == ["title", "value", "side", "low", "high", "chance_low", "chance_high"]
    assert frame["low"].isna().tolist() == [True, False]
    assert list(Whole(parts=WHOLE.parts[:1]).to_frame().columns) == list(frame.columns)


def test_texts_are_those_of_the_document() -> None:
    assert (WHOLE.sentence, WHOLE.sentences) == ("It is -0.5.", ("It is -0.5.",))
    assert repr(WHOLE) == "Whole(It is -0.5)"
    assert str(WHOLE) == "It is -0.5.\n\n1 assumption: see explain()"
    assert ">It is −0.5.</p>" in WHOLE._repr_html_()


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("latex", r"Gaps~\cite{chen2018isolating,demele} were 50\% of a\_b."),
        ("markdown", r"Gaps [@chen2018isolating; @demele] were 50% of a\_b."),
        ("text", "Gaps (Chen et al. 2018; The demele authors) were 50% of a_b."),
    ],
)
def test_methods_cite(style: Any, expected: str, tmp_path: Path) -> None:
    assert WHOLE.methods(tmp_path / "methods.txt", format=style) == expected + "\n"
    assert (tmp_path / "methods.txt").read_text(encoding="utf-8") == expected + "\n"


def test_a_table_result_needs_a_frame_and_a_headline(tmp_path: Path) -> None:
    found = Tabular(rows=[("cat", 0.25, 0.2, 0.3, 10, True), ("dog", 0.75, math.nan, math.nan, 5, False)])
    table, figure = found.document().table, found.document().figure
    assert table.columns == {"Class": "text", "Share": "percent", "Interval": "percent", "N": "count", "Tied": "text"}
    assert [str(cell) for cell in table.rows[0][2:]] == ["(0.2, 0.3)", "10", "yes"]
    assert isinstance(figure, Strips)
    assert [mark.kind for mark in figure.rows[0].marks] == ["span", "dot"]
    assert figure.rows[0].text == "25.0%"
    assert found.to_html(tmp_path / "t.html").read_text().count("<section") == 2
    assert Tabular(rows=[]).document().figure is None


def of_codes() -> list[Result]:
    """Results about the codes of few rows, whose factors have names that pages must escape."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (200, 3))
    codes = values + 0.3 * rng.normal(size=(200, 3))
    factors = pd.DataFrame(values.astype(str), columns=["shape", "<b>", "a|b_c"])
    few: Any = {"probe": "logistic", "n_test": 80}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        return [
            demele.probes.udr({"a": codes, "</script>": codes**3}),
            demele.probes.unsupervised_scores(codes, n_permutations=2),
            demele.metrics.stochastic_scores(codes, np.full(codes.shape, 0.3), n_draws=50),
            demele.probes.downstream(codes, factors, sizes=(20, 80), **few),
            demele.probes.reduced_downstream(codes, factors, **few),
            demele.probes.strong_downstream(codes, factors, **few),
            demele.probes.fairness(codes, factors, **few),
            demele.metrics.subspace_scores(codes, factors),
            demele.probes.breakdown(codes, codes + rng.normal(size=codes.shape), factors),
            *scored(codes, factors),
        ]


def scored(codes: np.ndarray[Any, Any], factors: pd.DataFrame) -> list[Result]:
    """Scores of one representation and of several."""
    metrics = ["mig", "modularity", "sap"]
    found = demele.evaluate(
        demele.Codes(codes, align="rotation"),
        demele.Factors(factors, noise={"shape": 0.01}),
        metrics,
        n_bootstrap=5,
        n_permutations=3,
    )
    several = demele.compare_representations({"a": codes, "<i>": codes[:, :2]}, factors, metrics, n_bootstrap=5)
    assert found.verdict is not None
    assert found["mig"].alignment is not None
    assert found["mig"].corrected is not None
    return [
        *(found, found["mig"], found.verdict, found["mig"].alignment, found["mig"].corrected, several),
        demele.evaluate_sparse(sparse.csr_matrix(codes > 1), factors, ["mig"]),
        demele.probes.ScoreCurve([(1, found), (2, found)]),
    ]


def best_correlation(codes: Any, factors: Any) -> float:
    return float(np.abs(np.corrcoef(codes, factors, rowvar=False)[: codes.shape[1], codes.shape[1] :]).max())


def of_a_cleaning() -> list[Result]:
    y = np.array(["</script>", "a|b_c", "<b>"])[np.arange(600) % 3]
    found = labels.Cleaning(np.arange(600) % 2 == 0, np.roll(y, 1), score=np.linspace(0, 1, 600), method="a_b")
    return [found, labels.cleaning_harm(found, y, np.roll(y, 2))]


def results() -> list[Result]:
    steps = np.tile(np.arange(9.0), (1, 2, 1))
    own_metric = bench.candidate(best_correlation, name="<b>")
    return [
        *of_codes(),
        labels.dawid_skene({"ann": [0, 1, 1, 0], "<b>": [0, 1, 0, 0], "</script>": [None, 1, 1, 0]}),
        labels.annotator_agreement(
            {"ann": [0, 1, 1, 0], "<b>": [0, 1, 0, 0], "eve": [None, None, None, 0]}, n_resamples=100
        ),
        *of_a_cleaning(),
        labels.TransitionMatrix([[0.9, 0.1], [0.2, 0.8]], ["</script>", "a|b_c"]),
        labels.add_noise(["</script>", "a|b_c"] * 50, 0.1, seed=0),
        labels.artificial_annotators(np.eye(2)[[0, 1] * 50], [0, 1] * 50, n_annotators=2, seed=0),
        labels.estimate_transition([0, 0, 1, 1], [0, 1, 1, 1]),
        demele.metrics.interpolatability(steps, steps**2, names=["size", "</script>"]),
        lab.pruning_demo(),
        lab.study_demo(),
        demele.data.FactorSpace({"shape": ["<b>", "x"], "hue": [0.0, 0.5]}, period={"hue": 1.0}),
        bench.check_metrics([own_metric, "mig"], ["mixing", "noise", "rotation"], seeds=3, n_rows=300),
        measured(),
        sample_agreement(),
        *of_classifiers(),
    ]


def perturbed() -> Result:
    images = np.random.default_rng(0).integers(0, 256, (20, 4, 4, 3), dtype=np.uint8)
    maps = np.zeros((20, 4, 4))
    maps[:, 0, 0], maps[:, 0, 1] = 1, -0.5

    def predict(batch: Any) -> Any:
        return batch[:, 0, :2, 0].astype(float) / 255

    return explain.perturbation_test(predict, images, {"own": maps, "<b>": -maps}, destroy=0.0, n_repeats=3)


def of_classifiers() -> list[Result]:
    truth = np.repeat(["<b>", "dog", "eel"], 200)
    wrong = np.roll(truth, 200)
    first, second, third = (np.where(np.arange(600) % step == 0, wrong, truth) for step in (3, 4, 9))
    several = {"$\\&_": first, "</script>": second, "c": third}
    plan = labels.draw_audit(600, 200, seed=0)
    audit = plan.answered(truth[plan.rows])
    every: tuple[Any, ...] = ("accuracy", "macro-f1")
    return [
        classifiers.compare(pd.Series(first, name="a"), pd.Series(third, name="<b>"), truth, noise=0.01),
        classifiers.compare(first, second, truth, noise=0.2),
        classifiers.compare(first, third, truth, audit=audit),
        classifiers.compare(first, third, truth, audit=audit, measure=every),
        classifiers.compare(first, third, truth, method=classifiers.Agreement(second)),
        classifiers.compare(first, third, truth, method="worst-case-overlap", measure="f1", of="<b>", noise=0.01),
        classifiers.rank(several, truth, true_labels=truth),
        classifiers.rank(several, truth, audit=audit, measure="error"),
        classifiers.assess(third, truth, noise=0.02),
        classifiers.SequentialComparison(first, third, truth),
        classifiers.stats.bias(first, third, truth),
        classifiers.stats.confusion(first, truth),
        perturbed(),
        classifiers.stats.pseudo_supervised(several, labels=truth),
        classifiers.stats.corrected_t_test([0.1, 0.2, 0.3], [0.2, 0.25, 0.5], test_fraction=0.1),
        classifiers.plan_audit({"<b>": first, "x": third}, truth, draws=3, sizes=(50, 200), wrong=[0.01, 0.3]),
        classifiers.plan_audit(several, truth, draws=2, sizes=(50, 200), wrong=0.01),
        classifiers.plan_audit({"<b>": first, "x": third}, truth, draws=3, audit=audit),
        classifiers.assess(third, truth, per_class=False, average=()),
    ]


#: Bytes of a page: 250 kB unless it is a study.
BUDGETS = {"pruning study": 1_000_000, "study": 1_000_000}


@pytest.mark.parametrize("result", results(), ids=lambda result: type(result).__name__)
def test_a_result_has_every_form(result: Result, tmp_path: Path) -> None:
    assert json.loads(result.to_json())["kind"] == result._kind
    assert len(result.to_frame()) > 0
    assert result.to_html(tmp_path / "page.html").stat().st_size < BUDGETS.get(result._kind, 250_000)
    assert r"\toprule" in result.to_latex()
    assert "| --:" in result.to_markdown()
    assert r"\cite{demele}" in result.methods()
    assert result.plot().get_title(loc="left") == plain_text(figures_of(result.document())[0].caption)
    first, *_ = result.to_pictures(tmp_path / "pictures", formats=("svg",))
    assert first.read_bytes() == result.to_pictures(tmp_path / "again", formats=("svg",))[0].read_bytes()
    assert "<table" in result._repr_html_()
    assert max(map(len, str(result).splitlines())) <= 80


#: What sections of pages are called, in their order.
TITLES = (
    *("Scores", "Measures", "Ranking", "Each classifier", "Code-factor matrix", "Pairwise results", "Criteria"),
    *("Agreement matrix", "Values per factor and code", "Classes", "Annotators", "Disagreements", "Confusion matrix"),
    *("Curves", "Traversals", "Reconstructions", "Label errors", "Audit plan", "Sensitivity to other factors"),
    *("Aligned scores", "Corrected scores", "Published results", "Models", "Structure", "Training", "Data", "Glossary"),
)


def keeps_the_rules(result: Result) -> None:
    document = result.document()
    titles = [section.title for section in document.sections]
    assert titles == sorted(titles, key=TITLES.index)
    assert len(set(titles)) == len(titles)
    said = (document.headline, *document.sentences, " ".join(document.methods))
    assert len(document.sentences) <= 4
    assert [text for text in said for one in re.split(r"(?<=[.;:]) ", text) if len(one.split()) > 25] == []
    assert all(one[-1] in ".?!" for one in (document.headline, *document.sentences))
    blocks = list(blocks_of(document))
    tables = [one for one in blocks if isinstance(one, Table)] + list(map(table_of, figures_of(document)))
    assert [form for table in tables for form in table.columns.values() if not FORMAT.fullmatch(form)] == []
    captions = [one.caption for one in blocks if isinstance(one, Table)]
    assert len(set(captions)) == len(captions)
    cited = [key.removeprefix("@") for text in document.methods for key in re.findall(r"@[\w:.+-]+", text)]
    assert set(cited) <= {*bibliography(), "demele"}


def test_documents_keep_the_rules() -> None:
    for result in results():
        keeps_the_rules(result)


def test_results_leave_their_repr_to_the_base() -> None:
    # a sample is data: its repr says how many rows, and not what its document does
    assert {cls.__name__ for cls in subclasses(Result) if "__repr__" in vars(cls)} <= {"Sample"}
