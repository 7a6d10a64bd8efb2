"""``demele completion``: a script with which a shell completes commands, options, their values and names of files."""

import argparse
from typing import Any

from demele.cli import main
from demele.cli.engine import Command, parser_of
from demele.core.extras import require
from demele.core.names import checked_name

SHELLS = ("bash", "zsh", "tcsh")


def completion(shell: str) -> str:
    """Return the script of a shell."""
    checked_name(shell, "shell", SHELLS)
    shtab = require("shtab", purpose="completion in a shell")
    root = argparse.ArgumentParser(prog="demele")
    groups: dict[str, Any] = {"": root.add_subparsers()}
    for name, (_, about) in main.COMMANDS.items():
        *outer, last = name.split()
        group = ""
        for word in outer:
            above, group = group, f"{group} {word}".strip()
            if group not in groups:
                groups[group] = groups[above].add_parser(word, help=main.ABOUT[group]).add_subparsers()
        parser = parser_of(main.found(name), name, groups[group].add_parser(last, help=about))
        for action in parser._actions:
            action.choices = getattr(getattr(action, "kind", None), "words", None) or None
            if action.dest == "files" or str(action.metavar).startswith("FILE"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab reads it
    return str(shtab.complete(root, shell=shell))


COMPLETION = Command(
    {"": completion},
    ("bash|zsh|tcsh",),
    without="shell",
    called={"shell": "completion"},
    examples="""\
demele completion bash > ~/.local/share/bash-completion/completions/demele
demele completion zsh > ~/.zfunc/_demele     (a folder of $fpath)
demele completion tcsh > ~/.demele.completion.tcsh     (source it in ~/.tcshrc)
""",
    details="Open a new shell afterwards. Needs the extra completion: pip install 'demele[completion]'",
)
