"""Tables and paragraphs for papers: what LaTeX and Markdown need, and nothing that the result does not say."""

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.core.bibliography import bibliography
from demele.core.results import Evaluation
from demele.evaluation import assess, compare, rank
from demele.metrics.protocols import PROTOCOLS
from demele.report.paper import latex, markdown, paper_table
from demele.report.paper_latex import escaped
from demele.report.paper_table import Footnotes, PaperRow, PaperTable, padded

NASTY = ["a_b & c%", "[x]*{}", "β−1 \\~^", '<i>|`"$#--', "中 x\ny"]


def evaluated(name: str = "codes", **options: Any) -> Evaluation:
    rng = np.random.default_rng(0)
    factors = pd.DataFrame(rng.integers(0, 3, (120, 2)), columns=["shape", "size"])
    codes = factors.to_numpy() + 0.3 * rng.normal(size=(120, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.DemeleWarning)
        return demele.evaluate(codes, factors, options.pop("metrics", ["mig", "irs"]), name=name, **options)


@pytest.fixture(scope="module")
def small() -> Evaluation:
    return evaluated(bootstrap=3, chance=2, options={"mig": {"correction": "miller-madow"}})


@pytest.fixture(scope="module")
def judged() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    models = {
        name: np.where(rng.random(300) < p, labels, (labels + 1) % 3)
        for name, p in zip("pqr", (0.6, 0.9, 0.8), strict=True)
    }
    models = {NASTY[place]: predictions for place, predictions in enumerate(models.values())}
    first, second, _ = models
    return {
        "decision": compare(models[first], models[second], labels, noise=0.02, names=(first, second)),
        "ranking": rank(models, labels, noise=0.02),
        "assessment": assess(models[first], labels, noise=0.02),
    }


def checked_latex(text: str) -> list[list[str]]:
    """Return the cells of a table of LaTeX, or fail where LaTeX would."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    body = "\n".join(lines)
    assert "%" not in re.sub(r"\\%", "", body)
    open_ones: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if kind == "begin":
            open_ones.append(name)
        else:
            assert open_ones.pop() == name
    assert not open_ones
    bare = re.sub(r"\\[\\{}$&#_%]", " ", body)
    depth = 0
    for sign in bare:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    outside = re.sub(r"\$[^$]*\$", "", bare)
    assert not set('#_^~<>|"*') & set(outside.replace("}~", "").replace("{*}", ""))
    commands = set(re.findall(r"\\([a-zA-Z]+)", body))
    assert commands <= {
        *("begin", "end", "centering", "caption", "label", "toprule", "midrule", "bottomrule", "addlinespace"),
        *("multicolumn", "emph", "textsuperscript", "par", "smallskip", "linewidth", "footnotesize", "phantom"),
        *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "beta"),
    }
    alignment = re.search(r"\\begin\{tabular\}\{(l[lr]+)\}", body)
    assert alignment is not None
    inside = body.partition(alignment[0])[2].partition(r"\end{tabular}")[0]
    rows = []
    for row in inside.split(r"\\" + "\n"):
        cells = re.split(r"(?<!\\)&", re.sub(r"\\(toprule|midrule|bottomrule|addlinespace)", "", row))
        if cells == [cells[0]] and (not cells[0].strip() or r"\multicolumn" in cells[0]):
            continue
        assert len(cells) == len(alignment[1]), row
        assert not re.match(r"\s*[\[*]", cells[0]), "LaTeX would read it as an option of the line break before"
        rows.append([cell.strip() for cell in cells])
    return rows


def checked_markdown(text: str) -> list[list[str]]:
    """Return the cells of a table of Markdown; footnotes must be there once each, and all be used."""
    table = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
    assert len({len(row) for row in rows}) == 1
    assert all(re.fullmatch(r"-{2,}[-:]", cell) for cell in rows[1])
    shown = text.partition("-->")[2]
    assert "-->" not in shown
    defined = re.findall(r"(?m)^(\[\^[\w-]+\]):", shown)
    assert len(set(defined)) == len(defined)
    assert set(re.findall(r"\[\^[\w-]+\](?!:)", shown)) == set(defined)
    return rows


def test_scores_become_a_table(small: Evaluation) -> None:
    text = small.to_latex()
    rows = checked_latex(text)
    assert rows[0] == ["Metric", "Score {[}95\\% interval{]}", "Chance"]
    for (head, value, chance), name in zip(rows[1:], ("irs", "mig"), strict=True):
        score = small[name]
        assert score.interval is not None
        assert score.chance is not None
        assert head.startswith(demele.describe(name).title)
        assert value == f"{score.value:.3f} {score.interval}"
        assert chance == f"{score.chance.mean:.3f}".replace("-", "$-$")
    for score in small:
        assert f"% {str(score.signature).replace('  #', ' #')}" in text
        for note in score.notes:
            assert text.count(escaped(note.message)[1:].rstrip(".")) == (note.severity != "info"), note
    marks = re.findall(r"(?m)^    \\textsuperscript\{(\w+)\}~", text)
    assert marks == ["a", "b", "c", "d"][: len(marks)]
    assert marks


def test_markdown_says_the_same(small: Evaluation) -> None:
    rows = checked_markdown(small.to_markdown())
    score = small["mig"]
    row = next(row for row in rows if row[0].startswith("MIG"))
    assert row[1] == f"{score.value:.3f} {score.interval}"


def test_names_cannot_break_anything() -> None:
    results = [evaluated(name) for name in NASTY]
    contents = [result.to_dict() for result in results]
    for content in contents:
        content["notes"] = [{"code": "x", "message": f"of {content['name']}", "subject": [], "severity": "warning"}]
    rows = checked_latex(latex(contents))
    assert rows[0][1:] == [escaped(name) for name in NASTY]
    assert "Holds signs that pdfLaTeX does not know without more packages: 中" in latex(contents)
    assert len(checked_markdown(markdown(contents))[0]) == 1 + len(NASTY)
    for result in results:
        checked_latex(result.to_latex())
        checked_markdown(result.to_markdown())


def test_one_score_and_files(small: Evaluation, tmp_path: Any) -> None:
    text = small["mig"].to_latex(tmp_path / "one.tex")
    assert (tmp_path / "one.tex").read_text(encoding="utf-8") == text
    assert [row[0].partition("\\")[0] for row in checked_latex(text)] == ["Metric", "MIG"]
    assert "120 rows, 2 codes, 2 factors" in text
    assert (tmp_path / "m.tex").write_text("old") == 3
    assert small.methods(tmp_path / "m.tex") == (tmp_path / "m.tex").read_text(encoding="utf-8")


def test_what_has_no_number_is_a_dash_with_its_reason(small: Evaluation) -> None:
    content = small.to_dict()
    content["scores"][0] |= {"value": None, "interval": None, "notes": [_note("not defined here", "info")]}
    other = small.to_dict() | {"name": "other", "scores": small.to_dict()["scores"][1:]}
    other["left_out"] = [{"metric": "mig", "reason": "it was too slow"}]
    row = next(row for _, rows in paper_table([content, other]).groups for row in rows if row.head == "MIG")
    assert row.cells == ("–", "–")
    notes = dict(paper_table([content, other]).notes)
    assert {notes[mark] for mark in row.marks} >= {"codes: Not defined here.", "other: It was too slow."}
    alone = small.to_dict() | {"left_out": [{"metric": "rmig", "reason": "no codes_std"}]}
    assert "% rmig is left out: no codes_std" in latex([alone])


def _note(message: str, severity: str) -> dict[str, Any]:
    return {"code": "x", "message": message, "subject": [], "severity": severity}


def test_only_one_result_or_evaluations_become_a_table(judged: dict[str, Any], small: Evaluation) -> None:
    wrong: list[list[dict[str, Any]]] = [
        [],
        [{}],
        [judged["decision"].to_dict()] * 2,
        [small.to_dict(), judged["ranking"].to_dict()],
    ]
    for contents in wrong:
        with pytest.raises(demele.InputError, match="expected evaluations"):
            latex(contents)


def test_digits_stand_below_each_other() -> None:
    cells = ["0.5 [−0.1, 10.0]", "10.25 [0.0, 2.0]", "–", ""]
    assert padded(cells, "s", "d") == ["d0.5 [d−0.1, 10.0]".replace("[d", "["), "10.25 [s0.0, d2.0]", "–", ""]
    table = PaperTable(
        name="x", caption="c", heads=("a", "b"), groups=(("", (PaperRow("r", ("−1",)), PaperRow("s", ("20",)))),)
    )
    assert table.is_numeric(0)
    assert not table.shows_groups


def test_footnotes_are_lettered_once_each() -> None:
    notes = Footnotes()
    marks = [notes.add(f"note {place}") for place in range(28)]
    assert marks[:2] + marks[25:] == ["a", "b", "z", "aa", "ab"]
    assert notes.add("note  1.") == "b"
    assert notes.add("of all", marked=False) == ""
    assert notes.all[-1] == ("", "Of all.")
    assert len(notes.all) == 29


# Methods -------------------------------------------------------------------------------------------------------------


def test_methods_of_a_small_evaluation(small: Evaluation) -> None:
    assert small.methods(format="markdown") == (
        "The representation codes, 2 codes of 120 rows, was scored against 2 factors (categorical: shape (3 classes), "
        f"size (3 classes)) with demele {demele.__version__} [@demele], under the protocol review2022 "
        "[@carbonneau2022measuring; @boilard2022interpretation]. The metrics are MIG [@chen2018isolating] "
        "and IRS [@suter2019robustly]. Continuous columns were cut into 10 equal-width bins for MIG and IRS. Settings "
        "other than the defaults of the metrics: correction = 'miller-madow' for MIG. Intervals say what other rows "
        "of the same source would have given: 95%, bootstrap percentile, 3 resamples for MIG; 95%, half-sample "
        "percentile, 3 resamples for IRS. Chance levels of MIG and IRS are mean scores over 2 permutations of the rows "
        "of the factors. Random numbers come from seed 0.\n"
    )


def test_methods_name_no_setting_that_no_metric_used() -> None:
    told = evaluated(metrics=["mig"], options={"mig": {"correction": "miller-madow"}}).methods(format="text")
    assert "miller-madow" in told
    assert not re.search("forest|Z-max|group|plug-in", told)


def test_comments_hold_the_signature_of_a_metric_once_for_all_representations() -> None:
    metrics = ["mig", "sap", "modularity"]
    made = [evaluated(name=f"r{k}", metrics=metrics).to_dict() for k in range(3)]
    apart = evaluated(name="other", metrics=[*metrics, "jemmig"], options={"mig": {"bins": 5}}).to_dict()
    apart["codes"] = ["a"]
    for score in apart["scores"]:
        score["signature"] = score["signature"].replace("codes=2", "codes=1")
    alike = paper_table(made).comments
    assert [line.partition("(")[0] for line in alike[1:]] == metrics
    assert list(alike[1:]) == [" ".join(score["signature"].split()) for score in made[0]["scores"]]
    lines = paper_table([*made, apart]).comments
    assert [line.partition("(")[0] for line in lines[1:]] == [
        "r0, r1, r2: mig",
        *metrics[1:],
        "other: mig",
        "other: jemmig",
    ]
    assert "codes=2 or 1" in lines[2]
    assert "codes=2," in lines[1]


def changed_options(protocol: str) -> Iterator[tuple[str, object]]:
    for group, options in PROTOCOLS[protocol].options.items():
        if group in ("information", "irs", "z_diff", "sap"):
            table = demele.describe({"information": "mig"}.get(group, group)).option_table
            for name, value in options.items():
                if name != "bins" and value != table[name].default:
                    yield name, value


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_methods_name_the_protocol_and_every_setting_that_is_no_default(protocol: str) -> None:
    made = evaluated(protocol=protocol, seed=7, metrics=["mig", "irs", "z_diff", "sap"])
    text = made.methods(format="text")
    assert f"protocol {protocol} (" in text
    said = set(re.findall(r"(\w+) = ", text))
    assert said == {name for name, _ in changed_options(protocol)}
    for name, value in changed_options(protocol):
        assert f"{name} = {value!r} for " in text
    assert "seed 7" in text
    assert "permutation" not in text
    assert "Intervals" not in text


@pytest.mark.parametrize("format", ["latex", "markdown"])
def test_methods_cite_keys_that_are_known(format: str, small: Evaluation, judged: dict[str, Any]) -> None:  # noqa: A002
    for result in (small, *judged.values()):
        text = result.methods(format=format)
        pattern = r"\\cite\{([^}]*)\}" if format == "latex" else r"\[(@[^\]]*)\]"
        keys = [key.strip("@ ") for group in re.findall(pattern, text) for key in re.split("[,;]", group)]
        assert "demele" in keys
        assert set(keys) <= {*bibliography(), "demele"}
        assert demele.cite(*keys)


def test_methods_of_evaluations_made_alike_are_one_paragraph(small: Evaluation) -> None:
    from demele.report.methods import methods_paragraph

    other = small.to_dict() | {"name": "other"}
    text = methods_paragraph([small.to_dict(), other], format="text")
    assert text.startswith("The representations codes and other, 2 codes")
    assert text.count("\n\n") == 0
    longer = small.to_dict() | {"name": "longer", "n": 121}
    assert methods_paragraph([small.to_dict(), other, longer], format="text").count("\n\n") == 1
    with pytest.raises(demele.InputError, match="format"):
        small.methods(format="html")


# What stands beside a score -------------------------------------------------------------------------------------------


def audited(metrics: list[str], **noise: Any) -> Evaluation:
    """Scores of annotations of which a tenth is wrong, with an audit or a rate."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, (900, 2))
    given = np.where(rng.random(true.shape) < 0.1, (true + 1) % 3, true)
    codes = true + 0.3 * rng.normal(size=true.shape)
    drawn = np.sort(rng.choice(900, 300, replace=False))
    known = noise or {f"v{i + 1}": demele.labels.FactorAudit(drawn, true[drawn, i]) for i in range(2)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.DemeleWarning)
        return demele.evaluate(codes, given, metrics, factor_noise=known)


def test_corrected_scores_stand_in_the_paper_and_in_the_frame() -> None:
    found = audited(["mig", "sap"])
    rows = checked_latex(found.to_latex())
    assert rows[0][-1] == "Corrected"
    corrected = {score.metric: score.corrected for score in found}
    for cells, metric in zip(rows[1:], ("mig", "sap"), strict=True):
        known = corrected[metric]
        assert known is not None and known.interval is not None  # noqa: PT018
        assert cells[-1] == f"{known.value:.3f} [{known.interval.low:.3f}, {known.interval.high:.3f}]"
    assert "(method audited, 95% interval)" in found.to_markdown()
    told = found.methods(format="text")
    assert "MIG was corrected (method audited, 95% interval). Assumed: The audited rows were drawn at random" in told
    frame = found.to_frame().set_index("metric")
    known = corrected["mig"]
    assert known is not None
    assert frame.loc["mig", "corrected"] == known.value
    assert frame.loc["mig", "correction"] == "audited"


def test_bounds_are_no_estimate() -> None:
    found = audited(["mig", "sap"], v1=0.02)
    rows = checked_latex(found.to_latex())
    assert rows[0][-1] == "Bounds"
    assert rows[1][-1].startswith("{[}")
    assert not rows[2][-1]
    assert "MIG was bounded. Assumed: At most 2% of the annotations of 'v1' are wrong." in found.methods(format="text")
    assert "Not corrected for noisy factors" in found.to_markdown()
    assert found.to_frame().set_index("metric")["corrected"].isna().all()


def test_aligned_scores_stand_in_the_paper_and_in_the_frame() -> None:
    found = evaluated(metrics=["mig", "modularity"], aligned=True, whiten=True)
    alignment = found["mig"].alignment
    assert alignment is not None
    heads, *rows = checked_latex(found.to_latex())
    assert heads[-2:] == ["Aligned", "Gap"]
    cells = next(row for row in rows if row[0].startswith("MIG"))
    assert cells[-2] == f"{alignment.aligned:.3f}"
    assert "codes whitened and turned towards the factors" in found.methods(format="text")
    assert "Not aligned" in found.to_markdown()
    frame = found.to_frame().set_index("metric")
    assert frame.loc["mig", "gap"] == alignment.gap
    assert frame["gap"].isna().to_dict() == {"mig": False, "modularity": True}
    assert list(evaluated().to_frame()) == list(found.to_frame())[:-5]


def test_blocks_and_groups_are_told() -> None:
    found = evaluated(chance=3, blocks=np.arange(120) // 12, metrics=["mig"])
    assert "3 permutations of the rows of the factors, 10 blocks of rows as wholes" in found.methods(format="text")
    assert "10 blocks of rows as wholes" in found.to_latex()
    assert "blocks" not in evaluated(chance=3, metrics=["mig"]).methods()
    groups = {"both": [0, 1]}
    assert "one code together: both (2 columns)." in evaluated(metrics=["sap"], code_groups=groups).methods()
    reduced = evaluated(metrics=["sap"], code_groups=groups, reduce_groups="pca1").methods()
    assert "represented by their first principal component: both (2 columns)." in reduced
