"""Make the gallery: the pages that demele writes, and a picture of the top of each.

``python -m tools.make_gallery [NAME ...]`` writes them into ``docs/assets/gallery``. It needs Chromium, Pillow, and
PyTorch for two of the pages.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from demele.core.outputs import write_whole
from tools.browser import Browser
from tools.docs_gallery import FOLDER, SHOWN, WINDOW, blocks

#: Width of the pictures in pixels.
WIDTH, QUALITY = 900, 60


def written(name: str) -> bytes:
    """Return the page that the lines of the gallery write."""
    commands = []
    for language, lines in blocks(name):
        if language == "python":
            commands.append(["-c", lines])
        else:
            commands += [["-m", "demele", *line.split()[1:], "--quiet"] for line in lines.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            program = [sys.executable, "-W", "ignore", *command]
            subprocess.run(program, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return (Path(folder) / f"{name}.html").read_bytes()


def picture(page: Path, browser: Browser) -> bytes:
    """Return the top of a page, as WebP."""
    width, height = WINDOW
    browser.visit(page, width=width, height=height, scheme="light", media="screen")
    image = Image.open(io.BytesIO(browser.picture(height=height)), mode="r").convert("RGB")
    image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=QUALITY, method=6)
    return buffer.getvalue()


def main() -> int:
    """Make the pages that are named, or all."""
    for name in sys.argv[1:] or SHOWN:
        page = FOLDER / f"{name}.html"
        write_whole(page, written(name))
        with Browser() as browser:
            write_whole(FOLDER / f"{name}.webp", picture(page, browser))
        print(name, page.stat().st_size, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
