"""Completion in shells."""

import io
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from demele.cli import engine
from tests.cli.conftest import Program

pytest.importorskip("shtab")


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_script_for_each_shell_names_commands_and_options(shell: str, demele: Program) -> None:
    run = demele("completion", shell)
    assert (run.status, run.err) == (0, "")
    for word in ("completion", "assess", "noise", "macro-f1"):
        assert word in run.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash")
def test_bash_completes(demele: Program, tmp_path: Path) -> None:
    (tmp_path / "done.bash").write_text(demele("completion", "bash").out)
    asked = (
        "source done.bash; COMP_WORDS=(demele audit pl); COMP_CWORD=2; COMP_LINE='demele audit pl'; COMP_POINT=15; "
        "$(complete -p demele | sed 's/.*-F \\([^ ]*\\) .*/\\1/') demele pl audit; echo ${COMPREPLY[@]}"
    )
    told = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["plan"]


# Standard input -------------------------------------------------------------------------------------------------------


def test_standard_input_larger_than_the_disk_is_refused_in_words(
    demele: Program, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"z1,z2\n" + b"1,2\n" * 1000)))
    monkeypatch.setattr(engine, "_KEPT_FREE", 1 << 62)
    demele.refused("-: standard input is larger than the room in", "score", "-", "factors.csv", "--input-format", "csv")


def test_a_shell_that_is_not_known_is_refused(demele: Program) -> None:
    run = demele("completion", "fish")
    assert (run.status, "expected one of bash, zsh, tcsh" in run.err or "did you mean" in run.err) == (2, True)
