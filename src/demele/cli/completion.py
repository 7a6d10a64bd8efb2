"""``demele completion``: what a shell needs to complete commands, options and names of files."""

import argparse
from pathlib import Path
from typing import Any

from demele.cli.options import command
from demele.cli.output import emit
from demele.core.extras import require

_DESCRIPTION = """\
Print a script with which the shell completes commands, options, their values and names of files at the Tab key.
"""
_EXAMPLES = """\
examples:
  demele completion bash > ~/.local/share/bash-completion/completions/demele
  demele completion zsh > ~/.zfunc/_demele     (a folder of $fpath)
  demele completion tcsh > ~/.demele.completion.tcsh     (source it in ~/.tcshrc)

Open a new shell afterwards. Needs the extra completion: pip install 'demele[completion]'
"""
SHELLS = ("bash", "zsh", "tcsh")


def add_command(commands: "argparse._SubParsersAction[Any]", whole: argparse.ArgumentParser) -> None:
    """Add ``demele completion`` to the commands of the parser ``whole``."""
    parser = command(
        commands,
        "completion",
        lambda arguments: _run(arguments, whole),
        help="print what a shell needs to complete commands and options",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument("shell", choices=SHELLS, help="which it is for")


def _run(arguments: argparse.Namespace, whole: argparse.ArgumentParser) -> None:
    shtab = require("shtab", purpose="completion in a shell")
    _prepare(whole, shtab.FILE)
    emit(shtab.complete(whole, shell=arguments.shell), None)


def _prepare(parser: argparse.ArgumentParser, names_of_files: object) -> None:
    """Say where names of files are completed; leave out commands of two words."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in list(action.choices.items()):
                if " " in name:  # shells complete a word at a time
                    del action.choices[name]
                    action._choices_actions = [one for one in action._choices_actions if one.dest != name]
                else:
                    _prepare(inner, names_of_files)
        elif action.choices is None and (
            action.type is Path or not action.option_strings or str(action.metavar).startswith("FILE")
        ):
            action.complete = names_of_files  # type: ignore[attr-defined]  # shtab reads it
