"""What -h and --help print, from signatures and docstrings; and the topics of ``demele help``."""

import inspect
import textwrap
from collections.abc import Iterator
from typing import ClassVar

from demele.cli.engine import Command, Option, parameter_texts, plain_text, reading
from demele.cli.results import Output
from demele.core.kinds import checked_name

WIDTH = 100


def help_of(command: Command, name: str, about: str, *, whole: bool) -> str:
    """Return the help of a command: the options of ``short`` with their first sentences, or everything."""
    options = command.options()
    usages = [f"{'Usage:' if place == 0 else '      '} {name} {usage}" for place, usage in enumerate(command.usage)]
    lines = [f"{about}.", *map(str.rstrip, usages)]
    said, _, examples = (inspect.getdoc(type(command)) or "").partition("\n\nExamples\n--------\n")
    if whole and "\n\n" in said:
        lines += ["", said.partition("\n\n")[2]]
    general = {*parameter_texts(reading), *parameter_texts(Output)}
    own = [option for option in options.values() if option.name not in general]
    short = [options[one] for one in command.short.split()]
    flags = command.spoken() | {option.name: option.flag for option in own}
    listed = [*short, *(one for one in own if one not in short)] if whole else short
    if listed:
        lines += ["", "Options:", *_rows(listed, flags, command, whole=whole)]
    if whole:
        shared = [one for one in options.values() if one.name in general]
        lines += ["", "Files and output:", *_rows(shared, flags, command, whole=whole)]
    else:
        formats = "" if "format" in command.short else "--format table|json|csv; "
        lines += ["", f"Output: -o, --output FILE; {formats}--fail-unless CONDITION"]
    if examples:
        lines += ["Examples:", textwrap.indent(examples, "  ")]
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
        if len(head) > WIDTH // 2:
            yield head
            start = " " * 23
        yield from textwrap.wrap(
            text, WIDTH, initial_indent=start, subsequent_indent=" " * 23, break_on_hyphens=False
        ) or [head]


# ``demele help``: what several commands share -------------------------------------------------------------------------


class _Files:
    """Files hold the same rows in the same order: .npy, .npz, .csv, .tsv, .parquet, .json or .jsonl.

      FILE::name       an array of an .npz, a column of a table
      FILE::a,b        several columns; all arguments may be the same file
      FILE::"a,b",c    a name with commas stands between double quotes, as in CSV
      FOLDER           all .parquet files of a folder, or all logs of language models in it
      -  and  -::a,b   standard input, with --input-format csv|tsv|json|npy|npz|parquet
      FILE.py::name    a function, metric or scenario of a Python file

    Rows of tables are paired by position; --id COLUMN joins predictions by a column. Logs of lm-evaluation-harness
    (samples_*.jsonl) and Inspect (.eval) bring their labels and are joined by their questions. Folders, and files of
    over 4 GiB (.npy, .parquet), are read a piece at a time. --decimal , reads numbers such as 0,5. --max-size 8G lets a
    compressed file take more memory. demele doctor FILE says what a file holds, and which commands can use it.
    """


class _Noise:
    """What is known of wrong labels decides which conclusions hold.

      --noise 0.03       at most 3% of the labels are wrong, in the worst case
      --noise FILE       a noise transition matrix: a row per true class, a column per given class; probabilities, or
                         counts of a random sample. Names of classes may stand in the first line and column
      --audit FILE       expert labels of some rows: columns row (from 0) and true_label; demele audit draw draws them.
                         A second --audit adds rows drawn where the classifiers disagree
      --true-labels FILE true labels of all rows

    demele audit plan says how many rows an audit needs. demele score takes --factor-noise FACTOR=RATE|FILE.
    """


class _Output:
    """Standard output is a table; --format json or csv prints that instead.

    -o FILE also writes a file; its suffix says what:

      .html   interactive page        .json   everything          .csv   table of numbers
      .tex    table for LaTeX         .md     table for Markdown  .txt   the table of the terminal
      .svg, .png, .pdf                the first figure, with matplotlib
      NAME.methods.md|.tex|.txt       a paragraph for the section on methods, with citations

    -o may be repeated. Files that exist are replaced with --force only. --explain prints all sentences, assumptions and
    notes. --fail-unless candidate, or NAME>=X, or NAME<=X, ends with 1 if the result is different.

    Exit status: 0 done; 1 --fail-unless not met, or demele judge does not show that its gate is passed, or without
    both options that one of two systems is better; 2 a mistake in the arguments or the data; 130 interrupted.
    """


#: What topics say stands in a class of each.
TOPICS = {"files": _Files, "noise": _Noise, "output": _Output}


def topic(name: str = "") -> str:
    """Explain what several commands share."""
    if not name:
        return f"Topics: {', '.join(TOPICS)}. demele help TOPIC explains one, demele COMMAND -h a command.\n"
    return f"{inspect.getdoc(TOPICS[checked_name(name, 'TOPIC', TOPICS)])}\n"


class Help(Command):
    """Explain files, noise or output."""

    functions: ClassVar = {"": topic}
    usage = (f"[{'|'.join(TOPICS)}]",)
    without = "name"
