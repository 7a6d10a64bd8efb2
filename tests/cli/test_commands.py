"""Every command: its help, its words, its results in every form, what it imports, its exit status."""

import ast
import inspect
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import demele as library
from demele.cli import INSTEAD
from demele.cli.classifiers import Assess
from demele.cli.engine import _FIELD, COMMANDS_OF, flag_of, parser_of, saying
from demele.cli.main import ABOUT, COMMANDS, OVERVIEW, found, main
from demele.core.bibliography import bibliography, parse, software
from demele.core.errors import InputError
from demele.core.kinds import names_in
from tests.cli.conftest import Program, mistakes
from tests.refusals import refuses

#: A run of each command on small data, and the ends of files that its result can be written to.
PAIR = "data.csv::old data.csv::new data.csv::label"
SCORED = "codes.npy factors.csv"
RUNS = {
    "score": f"{SCORED} --metrics mig,irs",
    "probe downstream": f"{SCORED} --probe logistic --sizes 50",
    "probe sparse": f"{SCORED} --top 1",
    "probe udr": "codes.npy other.npy",
    "demo score": "--metrics mig",
    "assess": "data.csv::old data.csv::label --noise 0.05",
    "compare": f"{PAIR} --noise 0.05",
    "audit plan": "data.csv::old,new data.csv::label --sizes 50 --draws 2",
    "audit next": f"{PAIR} --answers answers.csv",
    "demo compare": "",
    "audit draw": "data.csv::label --size 30",
    "bench metrics": "--metrics mig --scenarios mixing --rows 200 --seeds 2",
    "bench methods": "data.csv::true --predictions data.csv::old,new,twin --noise 0.05 --methods overlap",
    "bench show": "",
    "labels corrupt": "data.csv::true --noise 0.1",
    "labels aggregate": "data.csv::old,new,label --wide",
    "demo labels": "",
    "labels clean": "data.csv::label data.csv::old,new --method knn",
    "lab data describe": "sprites",
    "demo study": "",
    "demo pruning": "",
    "list metrics": "",
    "list protocols": "",
    "list methods": "",
    "list datasets": "",
}
#: Commands that print text.
TEXTS = {"help": "files", "cite": "mig"}
#: Commands whose result has a verdict.
VERDICTS = ("compare", "audit next")


@pytest.fixture
def files(folder: Path, labels_folder: Path) -> Path:
    """Codes and factors, and predictions and labels, in one folder."""
    np.save("other.npy", np.load("codes.npy")[:, ::-1])
    return labels_folder


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_says_something_of_every_option(name: str, demele: Program) -> None:
    short, long = (demele(*name.split(), flag) for flag in ("-h", "--help"))
    assert (short.status, short.err, long.status) == (0, "", 0)
    lines = short.out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120
    assert not re.search(r"`|:math:|:class:", short.out + long.out)  # marks of docstrings
    options = found(name).options()
    for option in options.values():
        assert option.text, option.flag
        assert option.flag in long.out
        first = re.sub(r" \(default: [^)]*\)", "", option.text.partition(". ")[0])
        assert len(first.split()) <= 12, option.text
    assert set(found(name).short.split()) <= set(options)


def test_the_overview_names_every_command(demele: Program) -> None:
    run = demele()
    assert run.out == demele("-h").out
    assert {one for names in OVERVIEW.values() for one in names} <= {*COMMANDS, *ABOUT}
    for group in ABOUT:
        listed = demele(group).out
        assert all(one in listed for one in COMMANDS if one.startswith(f"{group} "))


def test_every_name_has_one_flag() -> None:
    flags: dict[str, set[str]] = {}
    for name in COMMANDS:
        for option in found(name).options().values():
            flags.setdefault(option.flag, set()).add(found(name).flags.get(option.name, option.name))
    assert {flag: names for flag, names in flags.items() if len(names) > 1} == {}
    assert flag_of("n_jobs") == "--jobs"


#: Mistakes that one parser sees for all commands.
MISTAKES = [
    ("--explian", "--explian: unknown option; did you mean --explain?"),
    ("--format json --format csv", "--format: is given twice"),
    ("--explain=yes", "takes no value"),
    ("--format table -o", "expected one argument"),
    ("--format xml", "--format: expected one of table, json, csv, got 'xml'"),
    ("-o data.csv --force", "data.csv: it is read by the same command"),
    ("-o x.doc", "x.doc: its suffix says nothing"),
    ("-o there.html", "there.html: exists already; --force replaces it"),
    ("-o no/x.json", "there is no folder no; make it first"),
    ("-o x.json -o ./x.json", "is given twice"),
    ("--fail-unless maybe", "--fail-unless: expected candidate, baseline"),
]
#: All of them for two commands, and one for each of the others.
MISTAKEN = [(name, *one) for name in ("score", "compare") for one in MISTAKES]
MISTAKEN += [(name, *MISTAKES[place % len(MISTAKES)]) for place, name in enumerate(RUNS)]


@pytest.mark.parametrize(("name", "words", "message"), MISTAKEN)
def test_a_mistake_is_one_line(name: str, words: str, message: str, demele: Program, files: Path) -> None:
    Path("there.html").write_text("precious", encoding="utf-8")
    before = sorted(path.name for path in files.iterdir())
    if "data.csv" in words and "data.csv" not in RUNS[name]:
        return
    demele.refused(message, *name.split(), *RUNS[name].split(), *words.split())
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.parametrize("name", RUNS)
def test_results_in_every_form(name: str, demele: Program, files: Path) -> None:
    words = (*name.split(), *RUNS[name].split())
    written = ["r.html", "r.json", "r.csv", "r.tex", "r.md", "r.txt", "r.methods.md", "audit.md"]
    run = demele.done(*words, *(word for file in written for word in ("-o", file)), "--format", "table")
    assert [line for line in run.err.splitlines() if line.endswith(" written")] == [
        f"demele: {file} written" for file in written
    ]
    content = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert len(pd.read_csv("r.csv"))
    assert Path("r.html").read_text(encoding="utf-8").lstrip().startswith("<!")
    assert "\\begin{table}" in Path("r.tex").read_text(encoding="utf-8")
    assert Path("r.txt").read_text(encoding="utf-8") == run.out
    assert "demele" in Path("r.methods.md").read_text(encoding="utf-8")
    assert Path("audit.md").read_text(encoding="utf-8").startswith("# Audit report: ")
    assert isinstance(content, list) or demele.json(*words, "-q", "--format", "json")["kind"] == content["kind"]


@pytest.mark.parametrize("name", VERDICTS)
def test_a_condition_that_is_not_met_ends_with_1(name: str, demele: Program, files: Path) -> None:
    words = (*name.split(), *RUNS[name].split())
    verdict = demele.json(*words)["verdict"]
    assert demele(*words, "--fail-unless", verdict).status == 0
    assert demele(*words, "--fail-unless", "baseline", "-o", "kept.json").status == 1
    assert Path("kept.json").exists()
    assert demele("assess", *RUNS["assess"].split(), "--fail-unless", "accuracy>=0.5").status == 0
    assert demele("assess", *RUNS["assess"].split(), "--fail-unless", "accuracy<=0.5").status == 1


@pytest.mark.parametrize("name", ["judge", "lab data"])
def test_help_of_a_command_is_its_long_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for words in (["help", *name.split()], [*name.split(), "--help"]):
        assert main(words) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


@pytest.mark.parametrize(("name", "words"), TEXTS.items())
def test_texts(name: str, words: str, demele: Program, folder: Path) -> None:
    run = demele(name, words, "-o", "kept.txt", *(("--format", "text") if name == "cite" else ()))
    assert (run.status, run.err) == (0, "demele: kept.txt written\n")
    assert Path("kept.txt").read_text(encoding="utf-8").strip() == run.out.strip() != ""
    assert demele(name, "nothing").status == 2


def test_old_names_are_refused_with_names_that_exist(demele: Program) -> None:
    flags = {flag for name in COMMANDS for a in parser_of(found(name), name)._actions for flag in a.option_strings}
    for old, new in INSTEAD.items():
        demele.refused(f"{old} has a new name; write {new}", *old.split())
        if new.startswith("-"):
            assert set(re.findall(r"(?<!\S)--?[\w-]+", new)) <= flags, new
        elif new.startswith("demele "):
            named = new.removeprefix("demele ").split(" -")[0]
            assert named in ABOUT or any(named.startswith(name) for name in COMMANDS), new
    assert "--noise-rate has a new name; write --noise RATE" in demele("compare", "--noise-rate", "0.1").err
    assert "did you mean demele compare?" in demele("compar").err


def modules_after(*words: str) -> set[str]:
    code = f"import sys; from demele.cli.main import main; main({words!r}); print(*sys.modules, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_a_command_imports_only_what_it_runs() -> None:
    overview = modules_after("-h")
    assert "numpy" not in overview
    assert len([name for name in overview if name.startswith("demele")]) <= 10
    modules = modules_after("compare", "-h")
    homes = {where.partition(":")[0] for where, _ in COMMANDS.values()}
    assert homes & modules == {"demele.cli.classifiers", "demele.cli.engine"}
    assert not {"scipy", "pandas", "torch"} & modules


def test_a_score_by_one_metric_imports_few_modules(folder: Path) -> None:
    modules = modules_after("score", "codes.npy", "factors.csv", "--metrics", "mig", "-q")
    assert len([name for name in modules if name.startswith("demele")]) <= 120


def test_what_looks_at_models_imports_no_bench_and_no_study(tmp_path: Path) -> None:
    path = tmp_path / "codes.npz"
    rng = np.random.default_rng(0)
    np.savez(path, codes=rng.normal(size=(60, 2)), factors=rng.integers(0, 3, (60, 1)))
    modules = modules_after("lab", "vae", "report", str(path), "-q")
    assert len([name for name in modules if name.startswith("demele")]) <= 200
    code = "import sys; from demele.lab import examine; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len([name for name in run.stdout.split() if name.startswith("demele")]) <= 150


def test_lists_hold_everything(demele: Program) -> None:
    rows = demele.json("list", "metrics")["rows"]
    assert [row["name"] for row in rows] == library.list_metrics()
    assert rows[0]["source"] == library.metrics.describe("mig").source
    table = demele("list", "metrics", "--format", "table").out
    assert max(map(len, table.splitlines())) <= 80


_OPTIONS = Assess().options()


@pytest.mark.parametrize(
    ("library", "program"),
    [
        (InputError("noise", "needs `noise=`"), "--noise: needs --noise RATE|FILE"),
        (InputError(("noise", "labels"), "odd"), "--noise and LABELS: odd"),
        ("pass `classes=['cat', 'no answer']`", "pass --classes 'cat,no answer'"),
        ("pass `classes=[...]`, or `classes`", "pass --classes A,B, or --classes"),
        ("drop `level`; pass `ids='common'`", "drop --level; pass --ids common"),
        ("`scores=True` reads them", "--scores reads them"),
        ("draw rows with `draw_audit(disagreement=)`", "draw rows with demele audit draw --disagreement"),
        # what no option and no command has, and what is cut, stays as it is
        ("`max_iterations`, `tolerance=0.1`, `assess()`", "`max_iterations`, `tolerance=0.1`, `assess()`"),
        ("pass `classes=['aa... (of 500 characters)`", "pass `classes=['aa... (of 500 characters)`"),
        # data are left as they are, whatever they look like
        ("column '`noise`' and \"it's `level=1`\"", "column '`noise`' and \"it's `level=1`\""),
        (InputError("'`noise`', '`odd': the classifiers' `level`"), "'`noise`', '`odd': the classifiers' --level"),
        ("pass `classes=['a`b', \"it's `level`\"]`", "pass --classes 'a`b,it'\"'\"'s `level`'"),
        ("a ` b `noise", "a ` b `noise"),
    ],
)
def test_arguments_in_messages_are_options_and_data_are_left(library: str | Exception, program: str) -> None:
    assert saying(_OPTIONS, Assess().spoken())(library) == program


def test_names_between_backticks_are_arguments_that_exist() -> None:
    names, used = {*inspect.signature(library.Codes).parameters}, dict[str, str]()
    for path in Path(library.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                here = re.findall(r"(?<!`)`([A-Za-z_]\w*(?:\([\w=]*\))?)(?==|`)", _FIELD.sub(r"`\1`", node.value))
                used |= dict.fromkeys(here, path.name)
    assert {name: file for name, file in used.items() if name not in names | set(COMMANDS_OF)} == {}
    assert set(COMMANDS_OF) <= set(used)
    assert all(words.removeprefix("demele ").partition(" --")[0] in COMMANDS for words in COMMANDS_OF.values())


# ``demele cite`` -----------------------------------------------------------------------------------------------------


def test_all_and_none(demele: Program) -> None:
    everything = {entry.key for entry in parse(demele("cite", "--all").out)}
    assert everything == {*bibliography(), "demele"} - {"holm1979simple", "wilson1927probable"}
    assert demele("cite").out == software().bibtex + "\n"
    assert "expected [NAME...] or --all, got 1 file" in demele("cite", "--all", "mig").err


# Names with commas or spaces at their ends can be given wherever a list of names is ----------------------------------


ODD = ("model v1.3 ", "score,v2", 'the "best"', " all=1", "a::b")
QUOTED = ('"model v1.3 "', '"score,v2"', '"the ""best"""', '" all=1"', '"a::b"')


@pytest.fixture
def odd(folder: Path, table: pd.DataFrame) -> Path:
    """A table whose columns are called oddly: four codes, then factors of the same kind of names."""
    made = pd.DataFrame({name: table["z1"] + 0.1 * np.arange(200) * place for place, name in enumerate(ODD)})
    made["shape, round"], made["size "] = table["shape"], table["size"]
    made.to_csv(folder / "odd.csv", index=False)
    return folder


def test_a_list_is_split_at_commas_outside_quotes() -> None:
    assert names_in(",".join(QUOTED)) == list(ODD)
    assert names_in(' mig , sap,,5" pipe') == ["mig", "sap", '5" pipe']
    for wrong in ('"score,v2', ",", ""):
        refuses(InputError, r"separated by commas|ends with one", names_in, wrong)


@pytest.mark.parametrize(("name", "written"), list(zip(ODD, QUOTED, strict=True)))
def test_odd_columns_are_picked(name: str, written: str, demele: Program, odd: Path) -> None:
    run = demele.done(
        "score", f"odd.csv::{written}", 'odd.csv::"shape, round"', "--metrics", "mig_sup", "--format", "json"
    )
    content = json.loads(run.out)
    assert content["code_names"] == [name]
    assert [factor["name"] for factor in content["factors"]] == ["shape, round"]


# Standard input in place of files; and the program as a module -------------------------------------------------------


ASKED = ("--metrics", "mig_sup", "--format", "json")


@pytest.fixture
def sent(folder: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The table on standard input as CSV, and in a file."""
    table.to_csv(folder / "table.csv", index=False)
    stream = io.BytesIO((folder / "table.csv").read_bytes())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
    return folder


def _values(text: str) -> tuple[float, list[float]]:
    (score,) = json.loads(text)["scores"]
    return score["value"], score["per_factor"] or score["per_code"]


def test_columns_of_standard_input_are_those_of_the_file(demele: Program, sent: Path) -> None:
    found = demele.done("score", "-::z1,z2", "-::shape", "--input-format", "csv", *ASKED)
    expected = demele("score", "table.csv::z1,z2", "table.csv::shape", *ASKED)
    assert _values(found.out) == _values(expected.out)
    assert json.loads(found.out)["name"] == "stdin"


@mistakes("""
- table.csv::shape | say what standard input is, with --input-format csv|
table.csv::z1 table.csv::shape --input-format csv | give - instead of a file
""")
def test_standard_input_that_cannot_be_read(words: list[str], message: str, demele: Program, sent: Path) -> None:
    demele.refused(message, "score", *words)


# What goes wrong in a first hour is told where it is, with the remedy ------------------------------------------------


N = 60


@pytest.fixture
def files_of_first_slips(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, N)
    factors = pd.DataFrame({"id": np.arange(N), "shape": labels, "size": rng.random(N)})
    factors.to_csv(folder / "factors.csv", index=False)
    codes = factors[["shape", "size"]].to_numpy() + 0.1 * rng.normal(size=(N, 2))
    named = pd.DataFrame(codes, columns=["z1", "z2"])
    named.assign(frame=np.arange(N) + 1).to_csv(folder / "codes.csv", index=False)
    named.assign(z1=np.where(np.arange(N) == 9, np.nan, named["z1"])).to_csv(folder / "gap.csv", index=False)
    one, two = (np.where(rng.random(N) < share, labels, (labels + 1) % 3) for share in (0.9, 0.6))
    pd.DataFrame(
        {
            "text": [f"sentence {row}" for row in range(N)],
            "label": np.where(np.arange(N) == 3, 7, labels),
            "one": one,
            "two": two,
        }
    ).to_csv(folder / "rows.csv", index=False)
    return folder


def test_columns_that_number_the_rows_are_no_codes_and_no_factors(demele: Program, files_of_first_slips: Path) -> None:
    run = demele.done("score", "codes.csv", "factors.csv", "--metrics", "mig", "--format", "csv")
    assert "codes=2, factors=2" in run.out
    assert "codes.csv: column frame numbers the rows (1, 2, ...); it was left out" in run.err
    assert "factors.csv: column id numbers the rows (0, 1, ...)" in run.err
    asked = demele("score", "codes.csv::z1,z2,frame", "factors.csv::shape,size", "--metrics", "mig", "--format", "csv")
    assert "codes=3, factors=2" in asked.out
    assert "left out" not in asked.err


def test_rows_are_said_to_be_counted_from_0(demele: Program, files_of_first_slips: Path) -> None:
    run = demele("score", "gap.csv", "factors.csv", "--metrics", "mig")
    assert "in column 'z1', first at row 9 (counted from 0); drop or impute them" in run.err


def test_texts_are_no_labels(demele: Program, files_of_first_slips: Path) -> None:
    message = "rows.csv::text: each of its 60 rows holds another text, first 'sentence 0'; labels are classes"
    assert message in demele("compare", "rows.csv::one", "rows.csv::two", "rows.csv::text").err
    assert message in demele("compare", "rows.csv::one,two", "rows.csv::text").err
    assert message in demele("assess", "rows.csv::one", "rows.csv::text").err


def test_a_class_that_no_classifier_predicts_is_noted(demele: Program, files_of_first_slips: Path) -> None:
    run = demele("compare", "rows.csv::one", "rows.csv::two", "rows.csv::label", "--format", "table")
    message = "hold 1 class that no classifier predicts, 7: 1 of 60 rows"
    assert f"labels {message}" in " ".join(run.err.split())
    assert "1 warning: --explain" in run.out
    explained = demele("compare", "rows.csv::one", "rows.csv::two", "rows.csv::label", "--format", "table", "--explain")
    assert f"Labels {message}" in " ".join(explained.out.split())
    ranked = demele("compare", "rows.csv::one,two", "rows.csv::one", "--format", "table")
    assert "no classifier predicts" not in ranked.out + ranked.err


def test_judge_of_tasks_with_weights(demele: Program, tmp_path: Path) -> None:
    """Columns of text are weights, people's items need no task if each stands in one, and tasks count the same."""
    rows = [(i, "big", int(i % 10 > 0), 1) for i in range(90)] + [(i, "small", 0, 1) for i in range(90, 100)]
    pd.DataFrame(rows, columns=["id", "task", "score", "w"]).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame(rows[::2], columns=["id", "task", "human", "w"])[["id", "human"]].to_csv(
        tmp_path / "h.csv", index=False
    )
    files = (str(tmp_path / "a.csv"), "--human", str(tmp_path / "h.csv"), "--format", "json")
    alike, by_rows = demele("judge", *files), demele("judge", *files, "--weight", "w")
    assert "2 tasks count the same" in alike.out
    assert "count the same" not in by_rows.out
    means = [json.loads(run.out)["systems"][0]["judge"] for run in (alike, by_rows)]
    assert means == pytest.approx([0.45, 0.81])
    pd.DataFrame([(0, "big", 1), (0, "small", 1)], columns=["id", "task", "score"]).to_csv(
        tmp_path / "a.csv", index=False
    )
    demele.refused("add a column task", "judge", *files[:3])


def test_a_verdict_that_is_no_field_can_be_asked_for(demele: Program, tmp_path: Path) -> None:
    for name, least in (("A", 20), ("B", 0)):
        scores = pd.DataFrame({"id": range(100), "score": [int(i >= least) for i in range(100)]})
        scores.to_csv(tmp_path / f"{name}.csv", index=False)
    files = (str(tmp_path / "A.csv"), str(tmp_path / "B.csv"), "--noise", "0", "--fail-unless")
    assert [demele("judge", *files, verdict).status for verdict in ("candidate", "baseline")] == [0, 1]
