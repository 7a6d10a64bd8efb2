"""Every command: its help, its words, its results in every form, what it imports, its exit status."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import demele as library
from demele.cli import old_names
from demele.cli.assess import ASSESS
from demele.cli.engine import COMMANDS_OF, flag_of, parser_of, saying
from demele.cli.main import ABOUT, COMMANDS, OVERVIEW, found, main
from demele.core.errors import InputError
from tests.cli.conftest import Program

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
            flags.setdefault(option.flag, set()).add(option.name)
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
    run = demele(*name.split(), *RUNS[name].split(), *words.split())
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("demele: error: ")
    assert run.err.count("\n") == 1
    assert message in run.err
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.parametrize("name", RUNS)
def test_results_in_every_form(name: str, demele: Program, files: Path) -> None:
    words = (*name.split(), *RUNS[name].split())
    written = ["r.html", "r.json", "r.csv", "r.tex", "r.md", "r.txt", "r.methods.md"]
    run = demele(*words, *(word for file in written for word in ("-o", file)), "--format", "table")
    assert run.status == 0, run.err
    assert [line for line in run.err.splitlines() if line.endswith(" written")] == [
        f"demele: {file} written" for file in written
    ]
    content = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert len(pd.read_csv("r.csv"))
    assert Path("r.html").read_text(encoding="utf-8").lstrip().startswith("<!")
    assert "\\begin{table}" in Path("r.tex").read_text(encoding="utf-8")
    assert Path("r.txt").read_text(encoding="utf-8") == run.out
    assert "demele" in Path("r.methods.md").read_text(encoding="utf-8")
    quiet = demele(*words, "-q", "--format", "json")
    assert (quiet.status, quiet.err) == (0, "")
    assert isinstance(content, list) or json.loads(quiet.out)["kind"] == content["kind"]


@pytest.mark.parametrize("name", VERDICTS)
def test_a_condition_that_is_not_met_ends_with_1(name: str, demele: Program, files: Path) -> None:
    words = (*name.split(), *RUNS[name].split())
    verdict = json.loads(demele(*words).out)["verdict"]
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
    for news in old_names.NEW_OPTIONS.values():
        for new in news:
            assert not new.startswith("--") or new.split()[0] in {*flags, "--size", "--sample"}, new
    run = demele("compare", "--noise-rate", "0.1")
    assert (run.status, run.err) == (2, "demele: error: --noise-rate has a new name; write --noise RATE\n")
    for old, new in old_names.NEW_COMMANDS.items():
        run = demele(*old.split())
        assert (run.status, f"write demele {new}" in run.err) == (2, True)
        assert new in ABOUT or any(new.startswith(name) for name in COMMANDS)
    assert "did you mean demele compare?" in demele("compar").err
    for words, new in old_names.NEW_LISTS.items():
        name = next(one for one in COMMANDS if one.startswith(words))
        assert f"--list has a new name; write {new}" in demele(*name.split(), "--list").err
    assert "--list: unknown option" in demele("assess", "--list").err


def modules_after(*words: str) -> set[str]:
    code = f"import sys; from demele.cli.main import main; main({words!r}); print(*sys.modules, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_a_command_imports_only_what_it_runs() -> None:
    overview = modules_after("-h")
    assert "numpy" not in overview
    assert len([name for name in overview if name.startswith("demele")]) <= 10
    modules = modules_after("compare", "-h")
    homes = {where.partition(":")[0] for where, _ in COMMANDS.values()}
    assert homes & modules == {"demele.cli.compare"}
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
    rows = json.loads(demele("list", "metrics").out)["rows"]
    assert [row["name"] for row in rows] == library.list_metrics()
    assert rows[0]["source"] == library.metrics.describe("mig").source
    table = demele("list", "metrics", "--format", "table").out
    assert max(map(len, table.splitlines())) <= 80


_OPTIONS = ASSESS.options()


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
        (
            InputError("'`noise`', '`odd': the classifiers' `level`"),
            "'`noise`', '`odd': the classifiers' --level",
        ),
        ("pass `classes=['a`b', \"it's `level`\"]`", "pass --classes 'a`b,it'\"'\"'s `level`'"),
        ("a ` b `noise", "a ` b `noise"),
    ],
)
def test_arguments_in_messages_are_options_and_data_are_left(library: str | Exception, program: str) -> None:
    assert saying(_OPTIONS, ASSESS.spoken())(library) == program


def test_names_between_backticks_are_arguments_that_exist() -> None:
    names, used = set[str](), dict[str, str]()
    for path in Path(library.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                here = re.findall(r"(?<!`)`([A-Za-z_]\w*(?:\([\w=]*\))?)(?==|`)", node.value)
                used |= dict.fromkeys(here, path.name)
    assert {name: file for name, file in used.items() if name not in names | set(COMMANDS_OF)} == {}
    assert set(COMMANDS_OF) <= set(used)
    assert all(words.removeprefix("demele ").partition(" --")[0] in COMMANDS for words in COMMANDS_OF.values())
