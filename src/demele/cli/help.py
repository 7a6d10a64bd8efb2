"""What -h and --help print: from the signatures and docstrings of a command's functions."""

import inspect
import textwrap
from collections.abc import Iterator

from demele.cli.engine import Command, Option, parameter_texts, plain_text, reading
from demele.cli.results import Output

WIDTH = 100


def help_of(command: Command, name: str, about: str, *, whole: bool) -> str:
    """Return the help of a command: the options of ``short`` with their first sentences, or everything."""
    options = command.options()
    usages = [f"{'Usage:' if place == 0 else '      '} {name} {usage}" for place, usage in enumerate(command.usage)]
    lines = [f"{about}.", *map(str.rstrip, usages)]
    if whole and command.details:
        lines += ["", command.details.strip()]
    general = {*parameter_texts(reading), *parameter_texts(Output)}
    own = [option for option in options.values() if option.name not in general]
    short = [options[one] for one in command.short.split()]
    flags = {option.name: option.flag for option in own}
    listed = [*short, *(one for one in own if one not in short)] if whole else short
    if listed:
        lines += ["", "Options:", *_rows(listed, flags, command, whole=whole)]
    if whole:
        shared = [one for one in options.values() if one.name in general]
        lines += ["", "Files and output:", *_rows(shared, flags, command, whole=whole)]
    else:
        lines += ["", "Output: -o, --output FILE; --format table|json|csv; --fail-unless CONDITION"]
    if command.examples:
        lines += ["Examples:", textwrap.indent(command.examples.strip(), "  ")]
    if not whole:
        lines.append(f"{len(options) - len(short)} more options: {name} --help")
    return "\n".join(lines) + "\n"


def _rows(options: list[Option], flags: dict[str, str], command: Command, *, whole: bool) -> Iterator[str]:
    for option in options:
        head = f"  {', '.join(option.flags)} {option.kind.metavar}".rstrip()
        said = option.text if whole else option.text.partition(". ")[0]
        text = plain_text(said, flags).removesuffix(".")
        default = option.default
        shown = default is not None and default is not False and default not in ("", (), inspect.Parameter.empty)
        if shown and "default" not in text:
            text += f" (default: {','.join(map(str, default)) if isinstance(default, tuple) else default})"
        only = [label for label in option.of if label]
        if len(only) == 1 and len(command.functions) > 1:
            text += f" [{only[0]}]"
        start = f"{head:<23}" if len(head) < 22 else f"{head}  "
        yield from textwrap.wrap(
            text, WIDTH, initial_indent=start, subsequent_indent=" " * 23, break_on_hyphens=False
        ) or [head]
