"""The gallery: every page that demele writes, the lines that write it, and a picture that opens the live page.

The words are in ``tools/words/gallery.md``, a part for each page, by its name: the question that the page answers, and
the lines of the shell or of Python that write ``NAME.html``. ``python -m tools.make_gallery`` runs these lines, and
writes the pages (into ``docs/assets/gallery``, not stored) and their pictures.
"""

import re
from pathlib import Path

from tools.docs_tables import words

PAGE = "gallery.md"
FOLDER = Path(__file__).parents[1] / "docs" / "assets" / "gallery"
#: Width and height of the window in pixels.
WINDOW = (1200, 1000)
#: The text of each page, by its name.
SHOWN = {name: text for name, text in words("gallery").items() if name not in ("head", "notebooks")}


def page(folder: Path = FOLDER) -> str:
    """Return the gallery; a picture opens its page if the page was made."""
    found = words("gallery")
    return "\n".join([found["head"], *(_entry(name, text, folder) for name, text in SHOWN.items()), found["notebooks"]])


def blocks(name: str) -> list[tuple[str, str]]:
    """Return the blocks that write a page: their language, ``sh`` or ``python``, and their lines."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", SHOWN[name], re.MULTILINE | re.DOTALL)


def _entry(name: str, text: str, folder: Path) -> str:
    title = text.splitlines()[0].removeprefix("## ")
    target = f"{name}.html" if (folder / f"{name}.html").exists() else f"{name}.webp"
    picture = f'<img src="assets/gallery/{name}.webp" alt="{title}" loading="lazy">'
    return text.replace("{picture}", f'<a class="gallery" href="assets/gallery/{target}">{picture}</a>')
