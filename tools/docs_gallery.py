"""The gallery: every page that demele writes, what makes it, and its pictures on a screen, a telephone and paper.

The words are in ``tools/words/gallery.md``, a part for each page, by its name: what the page answers, and the lines of
the shell or of Python that write ``NAME.html``. The gallery is made at each build; the pictures by
``python -m tools.make_gallery``, which runs these lines.
"""

import re
from pathlib import Path

from tools.docs_tables import words

PAGE = "gallery.md"
PICTURES = Path(__file__).parents[1] / "docs" / "assets" / "gallery"
#: Width of the window in pixels, and how much of the height is kept. Paper is A4 without its margins.
VIEWS = {"light": (1200, 1500), "dark": (1200, 1500), "phone": (390, 1170), "print": (688, 1017)}
#: What is shown of each page, by its name.
SHOWN = {name: text for name, text in words("gallery").items() if name not in ("head", "notebooks")}


def page(folder: Path = PICTURES) -> str:
    """Return the gallery, with the pages whose pictures are there."""
    found = words("gallery")
    entries = [_entry(name, text) for name, text in SHOWN.items() if (folder / f"{name}-light.webp").exists()]
    return "\n".join([found["head"], *entries, found["notebooks"]])


def blocks(name: str) -> list[tuple[str, str]]:
    """Return the blocks that write a page: their language, ``sh`` or ``python``, and their lines."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", SHOWN[name], re.MULTILINE | re.DOTALL)


def _entry(name: str, text: str) -> str:
    title = text.splitlines()[0].removeprefix("## ")
    pictures = "\n".join(
        f'<a href="assets/gallery/{name}-{view}.webp"><img src="assets/gallery/{name}-{view}.webp" '
        f'alt="{title}, {view}" loading="lazy"></a>'
        for view in VIEWS
    )
    return text.replace("{pictures}", f'<div class="gallery">\n{pictures}\n</div>')
