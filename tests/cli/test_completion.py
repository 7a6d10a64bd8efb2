"""Completion in shells, and options that mean the same in every command."""

import argparse
import io
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from demele.cli import standard_input
from demele.cli.main import _parser
from tests.cli.conftest import Program

pytest.importorskip("shtab")


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_script_for_each_shell_names_commands_and_options(shell: str, demele: Program) -> None:
    run = demele("completion", shell)
    assert (run.status, run.err) == (0, "")
    for word in ("score", "completion", "assess", "noise", "estimate", "each-annotator"):
        assert word in run.out
    assert "checkpoint" not in run.out  # an old name of --output of fabric train


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash")
def test_bash_completes(demele: Program, tmp_path: Path) -> None:
    (tmp_path / "done.bash").write_text(demele("completion", "bash").out)
    asked = (
        "source done.bash; COMP_WORDS=(demele noise est); COMP_CWORD=2; COMP_LINE='demele noise est'; COMP_POINT=16; "
        "$(complete -p demele | sed 's/.*-F \\([^ ]*\\) .*/\\1/') demele est noise; echo ${COMPREPLY[@]}"
    )
    told = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["estimate"]


def test_a_shell_that_is_not_known_is_refused(demele: Program) -> None:
    run = demele("completion", "fish")
    assert (run.status, "choose from" in run.err) == (2, True)


# One meaning each -----------------------------------------------------------------------------------------------------

#: Options whose values are of different kinds in different commands, and why they keep their names.
DIFFERENT = {
    "--difficulty": "how hard instances are: of files a number per row, of clutter one number for all",
    "--list": "what is listed: the methods, or one of the lists of a study",
    "--methods": "a paper calls its paragraph so, and the bench what it measures; no command has both",
    "--noise": "the noise of labels: which kind, and for fabrics how much of it",
    "--reference": "what is compared with: predictions of a third classifier, or a comparison on true labels",
    "--suspects": "the same file: written by noise clean, read by compare",
}


def kinds() -> dict[str, dict[str, list[str]]]:
    """For each option the kinds of its values, with the commands that take them."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    def walk(parser: argparse.ArgumentParser) -> None:
        inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        for action in inner:
            for one in action.choices.values():
                walk(one)
        for option in [] if inner else parser._actions:
            for flag in option.option_strings if option.help != argparse.SUPPRESS else ():
                if flag.startswith("--"):
                    found[flag][kind_of(option)].append(parser.prog.removeprefix("demele "))

    walk(_parser())
    return found


def kind_of(action: argparse.Action) -> str:
    """What the value of an option is: nothing, a path to write, a file to read, one of some words, numbers, text."""
    if action.nargs == 0:
        return "flag"
    if action.type is Path:
        return "path"
    if str(action.metavar).startswith("FILE"):
        return "file"
    if action.choices is not None or action.type is None or getattr(action.type, "__name__", "") == "names_in":
        return "words"
    return "numbers"


def test_an_option_has_values_of_one_kind_or_a_reason() -> None:
    several = {flag: dict(by_kind) for flag, by_kind in kinds().items() if len(by_kind) > 1}
    assert set(several) == set(DIFFERENT), several


# Standard input -------------------------------------------------------------------------------------------------------


def test_standard_input_larger_than_the_disk_is_refused_in_words(
    demele: Program, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stream:
        buffer = io.BytesIO(b"z1,z2\n" + b"1,2\n" * 1000)

    monkeypatch.setattr(sys, "stdin", Stream())
    monkeypatch.setattr(standard_input, "_PIECE", 1024)
    monkeypatch.setattr(standard_input, "_KEPT_FREE", 1 << 62)
    run = demele("score", "-", "factors.csv", "--input-format", "csv")
    assert run.status == 2
    assert "-: standard input is larger than the room in" in run.err
    assert "TMPDIR" in run.err
