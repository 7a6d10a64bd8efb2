"""The progress bar appears only where somebody waits for it."""

import io
import sys
import time

import pytest

from demele.runtime.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_written_where_nobody_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(delay=0) as report:
        report(1, 2, "work")
    assert capsys.readouterr().err == ""


def test_nothing_is_written_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar(delay=60) as report:
        report(1, 2, "work")
    assert terminal.getvalue() == ""


def test_the_bar_says_what_is_being_done_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(delay=0) as report:
        for _ in range(100):
            report(1, 2, "[b]forest")
            if "[b]forest" in terminal.getvalue():
                break
            time.sleep(0.05)
    assert "[b]forest" in terminal.getvalue()
    before = len(terminal.getvalue())
    report(2, 2, "late")
    assert len(terminal.getvalue()) == before


def test_errors_pass_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(KeyError), progress_bar(delay=0):
        raise KeyError("inside")
