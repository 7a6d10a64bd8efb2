"""Messages of the library in the options of the program."""

import argparse
from pathlib import Path

import pytest

from demele.cli.main import _parser
from demele.cli.options import told_by
from demele.core.errors import FormatError, InputError
from demele.core.sentences import arg, give, in_code, sentence, setting


def _arguments(line: str) -> argparse.Namespace:
    found: argparse.Namespace = _parser().parse_args(line.split())
    return found


@pytest.mark.parametrize(
    ("line", "message", "told"),
    [
        ("score c f", f"or pass {setting(missing='omit')}", "or pass --missing omit"),
        ("score c f", give(kinds={"my age": "continuous"}), "give --kinds 'my age=continuous'"),
        ("score c f", give(kinds={"a": "x", "b": "y"}), "give --kinds a=x,b=y"),
        ("score c f", f"name others with {arg('reg_dim')}", "name others with --reg-dim"),
        ("score c f", give("codes_std", codes_std=...), "give --codes-std FILE"),
        ("score c f", setting("evaluate(..., n_permutations=20)", n_permutations=20), "--permutations 20"),
        ("score c f", give(max_bytes=5 << 30), "give --max-size 5G"),
        ("score c f", f"{arg('n_jobs')}, {arg('sample')}, {arg('codes')}", "--jobs, --rows, codes"),
        ("assess p l", f"give {setting(classes=[...])}", "give --classes=A,B,..."),
        ("assess p l", f"needs {setting(noise=...)}", "needs --noise-rate R or --transition FILE"),
        ("assess p l", f"{arg('labels')} and {arg('audit.labels')}", "LABELS and --audit, column true_label"),
        ("assess p l --noise-rate 0", f"leave out {arg('noise')}", "leave out --noise-rate"),
        ("assess p l --transition t", f"leave out {arg('noise')}", "leave out --transition"),
        (
            "compare a b l",
            f"add {setting(method='reference')}, {setting(noise=0)}",
            "add --method reference, --noise-rate 0",
        ),
        ("noise clean l f", arg("features_or_probabilities"), "FEATURES"),
        ("noise clean l --probabilities p", arg("features_or_probabilities"), "--probabilities"),
        ("bench comparisons", arg("true_labels"), "--true-labels"),
        ("bench comparisons --label-set s", arg("true_labels"), "--label-set"),
        ("bench metrics", f"{arg('n_samples')} {in_code('x.T', otherwise='turn')}", "--rows turn"),
        ("metrics", f"{arg('nothing')} {setting(of=3)}", "nothing of=3"),
    ],
)
def test_arguments_become_options(line: str, message: str, told: str) -> None:
    assert told_by(_arguments(line))(sentence(message)) == told


@pytest.mark.parametrize(
    "message", ["reg_dim.csv: is empty", "runs/codes_std: expected a file", "factors: column 'reg_dim' has one value"]
)
def test_names_that_are_no_arguments_stay(message: str) -> None:
    say = told_by(_arguments("score c f"))
    assert say(sentence(message)) == message
    assert say(FormatError(Path("reg_dim"), "is empty")) == "reg_dim: is empty"


def test_nobody_is_told_to_give_what_a_signature_decides() -> None:
    arguments = _arguments("score --replay mig() c f")
    arguments.decided = {"missing", "kinds", "reg_dim"}
    say = told_by(arguments)
    gaps = InputError("factors", f"2 gaps; drop those rows, or pass {setting(missing='omit')} to score")
    assert say(gaps) == "factors: 2 gaps; the data differ from those of the signature"
    kinds = f"factor 'age' was read as categorical; {give(kinds={'age': 'continuous'})} if it holds a quantity"
    assert say(sentence(kinds)) == "factor 'age' was read as categorical"
    order = f"by order; name others with {arg('reg_dim')}; for 2 of 3 factors another code informs more"
    assert say(sentence(order)) == "by order; for 2 of 3 factors another code informs more"
    assert (
        say(sentence(f"rmig needs them; {give('codes_std', codes_std=...)}"))
        == "rmig needs them; give --codes-std FILE"
    )
    assert say(InputError("reg_dim", "odd")) == "--reg-dim: odd"
