"""A sheet of text that tables and sentences are printed into, as wide as the terminal that it is for."""

import io
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Sheet", "Styled", "Words", "clipped"]

#: Says a message in the words of the reader.
Words = Callable[[str], str]


class Styled(NamedTuple):
    """Text in a cell of a table, bold or dim or in a colour."""

    text: str
    style: str


class Sheet:
    """Lines and tables, one below the other.

    Parameters
    ----------
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    width : int, optional
        Columns where the text is not for a terminal, whose width is known; 80 if not given.
    """

    def __init__(self, output: Path | None = None, *, width: int = 80) -> None:
        from rich.console import Console

        on_terminal = output is None and sys.stdout.isatty()
        self.width = min(shutil.get_terminal_size((80, 24)).columns, 120) if on_terminal else width
        self.encoding = (getattr(sys.stdout, "encoding", None) or "utf-8") if output is None else "utf-8"
        self._text = io.StringIO()
        self._console = Console(
            file=self._text,
            width=self.width,
            force_terminal=on_terminal,
            highlight=False,
            safe_box="utf" not in self.encoding.lower(),
        )

    def text(self) -> str:
        """Return what was printed, without the spaces at the ends of its lines."""
        return "".join(f"{line.rstrip()}\n" for line in self._text.getvalue().splitlines())

    def blank(self) -> None:
        """Print an empty line."""
        self._console.print()

    def line(self, text: str, style: str = "", *, wrap: bool = True) -> None:
        """Print a text; what looks like markup in it is text. A signature, which is copied, is not wrapped."""
        self._console.print(text, style=style, markup=False, soft_wrap=not wrap)

    def wrapped(self, text: str, style: str = "", *, indent: str = "  ") -> None:
        """Print a text whose lines after the first begin further in."""
        for line in textwrap.wrap(text, self.width, subsequent_indent=indent, break_on_hyphens=False):
            self.line(line, style)

    def indented(self, text: str, *, by: int = 2) -> None:
        """Print a text in lines that all begin some spaces from the edge."""
        from rich.padding import Padding
        from rich.text import Text

        self._console.print(Padding(Text(text), (0, 0, 0, by)))

    def table(
        self,
        heads: Sequence[str],
        rows: Iterable[Sequence[Any] | str],
        *,
        numbers: int = 0,
        gap: int = 2,
        centred: bool = False,
    ) -> None:
        """Print a table without lines.

        Parameters
        ----------
        heads : sequence of str
        rows : iterable of sequence
            Cells: texts, :class:`Styled` ones, or tuples of both side by side. A text alone is the title of a group.
        numbers : int
            So many columns after the first hold numbers.
        gap : int
            Spaces between columns.
        centred : bool
            Whether the columns after the first are centred, and their heads have lines of their own.
        """
        from rich.table import Table
        from rich.text import Text

        def cell(content: Any) -> Text:
            if isinstance(content, Styled):
                return Text(*content)
            if isinstance(content, tuple):
                return Text.assemble(*map(cell, content))
            return Text(content)

        table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
        for place, head in enumerate(heads):
            number = 0 < place <= numbers
            justify: Any = "right" if number else "center" if centred and place else "left"
            table.add_column(Text(head), justify=justify, no_wrap=not place or number or centred)
        for row in rows:
            if not isinstance(row, str):
                table.add_row(*map(cell, row))
                continue
            if table.row_count:
                table.add_row("")
            table.add_row(Text(row, style="italic"))
        self._console.print(table)

    def grid(self, rows: Iterable[tuple[Any, Any]]) -> None:
        """Print signs with what they stand for, whose further lines begin below the first."""
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1, 0, 0))
        table.add_column(width=3, justify="right", no_wrap=True)
        table.add_column()
        for sign, told in rows:
            table.add_row(Text(*sign), Text.assemble(*(Text(*part) for part in told)))
        self._console.print(table)


def clipped(name: object, most: int) -> str:
    """Cut a name to so many characters, the last two of them dots."""
    text = str(name)
    return text if len(text) <= most else text[: most - 2] + ".."
