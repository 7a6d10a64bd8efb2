"""The progress bar appears only where somebody waits for it."""

import io
import sys
import time

import pytest

from demele.runtime import progress
from demele.runtime.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_written_where_nobody_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(delay=0) as report:
        report(1, 2, "work")
    assert capsys.readouterr().err == ""


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


@pytest.mark.parametrize(("even", "said"), [(True, "part, about 33 min left"), (False, "part")])
def test_the_time_left_is_said_of_parts_that_take_as_long(
    monkeypatch: pytest.MonkeyPatch, even: bool, said: str
) -> None:
    labels: list[str] = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress._Bar, "report", lambda bar, done, total, label: labels.append(label))
    with progress_bar(delay=60, even=even) as report, monkeypatch.context() as later:
        start = time.monotonic()
        later.setattr(time, "monotonic", lambda: start + 20.0)
        report(1, 100, "part")
    assert labels == [said]
