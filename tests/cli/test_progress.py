"""The progress bar appears only where somebody waits for it."""

import io
import sys
import time

import pytest

from demele.core.errors import InputTypeError
from demele.runtime import work as module
from demele.runtime.work import progress, reporting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_written_where_nobody_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(), reporting() as report:
        assert report is None
    assert capsys.readouterr().err == ""


def test_only_the_outermost_computation_reports() -> None:
    told: list[str] = []
    with progress(lambda done, total, label: told.append(label)):
        for label in ("first", "second"):
            with reporting() as report, reporting() as inner:
                assert inner is None
                assert report is not None
                report(1, 2, label)
    with reporting() as report:
        assert report is None
    assert told == ["first", "second"]


def test_what_is_no_report_is_refused() -> None:
    with pytest.raises(InputTypeError, match="report: expected a callable"), progress(True):  # type: ignore[arg-type]
        pass


def test_the_bar_says_what_is_being_done_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "SECONDS_UNTIL_SHOWN", 0.0)
    with progress(), reporting() as report:
        assert report is not None
        for _ in range(100):
            report(1, 2, "[b]forest")
            if "[b]forest" in terminal.getvalue():
                break
            time.sleep(0.05)
    assert "[b]forest" in terminal.getvalue()
    before = len(terminal.getvalue())
    report(2, 2, "late")
    assert len(terminal.getvalue()) == before
