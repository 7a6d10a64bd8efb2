"""A page in Chromium, as a tool or a test needs it: emulate a screen or paper, press keys, ask, take a picture.

Speaks the DevTools protocol through two pipes, so that nothing but the browser has to be installed.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)


def found() -> str | None:
    """Return the browser of this machine, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a browser, closed at the end of a ``with``.

    Raises
    ------
    RuntimeError
        If no Chromium is installed, or if it refuses what is asked.
    """

    def __init__(self) -> None:
        program = found()
        if program is None:
            raise RuntimeError("needs a Chromium browser: none is installed")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        reads, self._out = os.pipe()
        self._in, writes = os.pipe()
        self._process = _started([program, *_FLAGS, f"--user-data-dir={self._profile.name}"], reads, writes)
        self._rest, self._number, self._session = b"", 0, ""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session = ""
        self._ask("Browser.close")
        self._process.wait(timeout=30)
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def visit(
        self,
        page: Path,
        *,
        width: int = 1200,
        height: int = 900,
        scheme: Literal["light", "dark"] = "light",
        media: Literal["screen", "print"] = "screen",
    ) -> None:
        """Open a file as a screen of that size, in pixels, or paper of that width shows it; wait for its scripts."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._ask("Emulation.setEmulatedMedia", media="print" if media == "print" else "", features=features)
        self._ask("Page.navigate", url=page.resolve().as_uri())
        self.value(
            "new Promise((done) => { const look = () => document.readyState === 'complete' && location.href !== "
            "'about:blank' ? requestAnimationFrame(() => setTimeout(done, 300)) : setTimeout(look, 20); look(); })"
        )

    def value(self, expression: str) -> Any:
        """Return what JavaScript says, as JSON holds it; a promise is waited for."""
        answer = self._ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key, such as ``Tab``, as a person does."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key], **text)

    def picture(self, *, height: int | None = None) -> bytes:
        """Return the page from its top as PNG: all of it, or so many pixels of its height."""
        size = self._ask("Page.getLayoutMetrics")["cssContentSize"]
        shown = size["height"] if height is None else min(height, size["height"])
        width = self.value("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": shown, "scale": 1}
        taken = self._ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(taken["data"])

    def printed(self) -> bytes:
        """Return the page as PDF, on A4."""
        options = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True}
        return base64.b64decode(self._ask("Page.printToPDF", **options)["data"])

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                break
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return dict(answer.get("result", {}))

    def _next(self) -> dict[str, Any]:
        parts = [self._rest]
        while b"\0" not in parts[-1]:
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            parts.append(part)
        first, _, self._rest = b"".join(parts).partition(b"\0")
        return dict(json.loads(first))


def _started(command: list[str], reads: int, writes: int) -> subprocess.Popen[bytes]:
    """Start the browser with the pipes where it looks for them: 3 to read, 4 to write."""
    # A shell moves the pipes, by way of numbers that are not taken by either.
    script = f'exec 8<&{reads} 9>&{writes}; exec 3<&8 4>&9 8<&- 9>&-; exec "$@"'
    process = subprocess.Popen(
        ["bash", "-c", script, "browser", *command],
        pass_fds=(reads, writes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(reads)
    os.close(writes)
    return process
