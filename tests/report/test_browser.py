"""The page in a real browser: figures are drawn, nothing fails, nothing is asked of any network."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(_BROWSER is None, reason="needs a Chromium browser: none is installed")


def _document_after_scripts(path: Path, profile: Path, anchor: str = "") -> str:
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]
    command = [str(_BROWSER), *flags, f"--user-data-dir={profile}", path.as_uri() + anchor]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True).stdout


def _element(document: str, identity: str) -> str:
    found = re.search(rf'<(\w+)[^>]*\bid="{identity}"[^>]*>(.*?)</\1>', document, flags=re.DOTALL)
    assert found, identity
    return found[2]


def _opened(write: Callable[..., Path], data: dict[str, Any], folder: Path, script: str = "") -> str:
    """Document after its scripts; ``script`` is run at the end of a copy without the policy."""
    path = write(data, folder / "page.html")
    if script:
        page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text(encoding="utf-8"))
        path.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    text = _document_after_scripts(path, folder / "profile")
    text = re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.DOTALL)
    assert _element(text, "script-errors") == ""
    return text


def _plain(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", text).split())
