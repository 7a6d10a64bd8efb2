"""Make the pictures of the gallery: every page that demele writes, as screens and paper show it.

``python -m tools.make_gallery FOLDER [NAME ...]`` writes the pages into a folder, unless they are there, and their
pictures into ``docs/assets/gallery``. It needs Chromium, Pillow, and PyTorch for two of the pages.
"""

import io
import subprocess
import sys
from pathlib import Path

from PIL import Image

from demele.core.outputs import write_whole
from tools.browser import Browser
from tools.docs_gallery import PICTURES, SHOWN, VIEWS, blocks

#: Wide enough to be read in a column of text; telephones keep their pixels.
WIDEST, QUALITY = 900, 60
#: A4 and its margins, in pixels of the screen.
SHEET, MARGIN = (794, 1123), 53


def write_page(name: str, folder: Path) -> Path:
    """Return the page, which is made by the lines that the gallery shows unless it exists."""
    path = folder / f"{name}.html"
    if path.exists():
        return path
    commands = []
    for language, lines in blocks(name):
        if language == "python":
            commands.append(["-c", lines])
        else:
            commands += [["-m", "demele.cli.main", *line.split()[1:], "--quiet"] for line in lines.splitlines()]
    for command in commands:
        subprocess.run([sys.executable, "-W", "ignore", *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return path


def pictures(page: Path, browser: Browser) -> dict[str, bytes]:
    """Return the views of a page, as PNG."""
    found = {}
    for view, (width, height) in VIEWS.items():
        browser.visit(
            page,
            width=width,
            height=height,
            scheme="dark" if view == "dark" else "light",
            media="print" if view == "print" else "screen",
        )
        if view == "print":
            browser.value("dispatchEvent(new Event('beforeprint')) && null")
        found[view] = browser.picture(height=height)
    found["print"] = on_a_sheet(found["print"])
    return found


def on_a_sheet(png: bytes) -> bytes:
    """Return what a sheet of paper shows, with the margins of the sheet."""
    image = Image.open(io.BytesIO(png), mode="r").convert("RGB")
    sheet = Image.new("RGB", SHEET, "white")
    sheet.paste(image.crop((0, 0, image.width, SHEET[1] - 2 * MARGIN)), (MARGIN, MARGIN))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue()


def compressed(png: bytes) -> bytes:
    """Return a picture as WebP, at most as wide as a column of text."""
    image = Image.open(io.BytesIO(png), mode="r").convert("RGB")
    if image.width > WIDEST:
        image = image.resize((WIDEST, round(image.height * WIDEST / image.width)), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=QUALITY, method=6)
    return buffer.getvalue()


def main() -> int:
    """Make what is named, or all."""
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in names or SHOWN:
        page = write_page(name, folder)
        with Browser() as browser:
            for view, png in pictures(page, browser).items():
                write_whole(PICTURES / f"{name}-{view}.webp", compressed(png))
        print(name, page.stat().st_size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
