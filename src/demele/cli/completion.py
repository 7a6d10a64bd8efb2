"""``demele completion``: a script with which a shell completes commands, options, their values and names of files."""

import argparse
from collections.abc import Mapping
from typing import Any

from demele.cli.engine import Command, parser_of
from demele.core.errors import InputError
from demele.core.extras import require

SHELLS = ("bash", "zsh", "tcsh")


def completion(shell: str, commands: Mapping[str, tuple[Command, str]], about: Mapping[str, str]) -> str:
    """Return the script of a shell, for commands by their names, each with what it does."""
    if shell not in SHELLS:
        raise InputError(f"completion: expected one of {', '.join(SHELLS)}, got {shell!r}")
    shtab = require("shtab", purpose="completion in a shell")
    root = argparse.ArgumentParser(prog="demele")
    groups: dict[str, Any] = {"": root.add_subparsers()}
    for name, (command, short) in commands.items():
        *outer, last = name.split()
        group = ""
        for word in outer:
            above, group = group, f"{group} {word}".strip()
            if group not in groups:
                groups[group] = groups[above].add_parser(word, help=about[group]).add_subparsers()
        parser = parser_of(command, name, groups[group].add_parser(last, help=short))
        for action in parser._actions:
            action.choices = getattr(getattr(action, "kind", None), "words", None) or None
            if action.dest == "files" or str(action.metavar).startswith("FILE"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab reads it
    return str(shtab.complete(root, shell=shell))
