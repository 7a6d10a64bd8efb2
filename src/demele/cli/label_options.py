"""What the user says of the labels: the options for it, their checks, and messages of the library in their words."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from demele.cli.output import FORMATS, log
from demele.cli.targets import check_writable
from demele.cli.words import in_options
from demele.core.errors import InputError
from demele.core.reading import real_path
from demele.core.results import Note
from demele.files.audit_files import PROBABILITY, ROW, TRUE
from demele.files.table_files import Warn

__all__ = [
    "add_knowledge",
    "add_output",
    "checked_knowledge",
    "checked_targets",
    "option_words",
    "read_share",
    "told_as",
    "warned",
]

Words = tuple[Mapping[str, str], Mapping[str, str]]

#: Messages of the library, in the words of the commands: wherever they stand, and where a message begins with them.
_WORDS = {
    r"assess\(predictions, true_labels\)": "demele assess PREDICTIONS TRUE_LABELS",
    r"needs noise=, a rate, a transition matrix or transition counts": "needs --noise-rate R or --transition FILE",
    r"needs difficulty=(?:, [^;]*)?": "needs --difficulty FILE, a number per row, larger is harder",
    r"classes=\[\.\.\.\]": "--classes=A,B,...",
    r"give noise= as well, a rate that bounds these": "give --noise-rate as well, which bounds these",
    r"\(demele\.labels\.draw_audit\)": "(demele audit)",
    r"\(demele\.labels\.draw_audit with doubt=\)": "(demele audit --doubt)",
    r"\(design='selective'\)": "(--audit-design selective)",
    r"ask rows one at a time with SequentialComparison": "ask rows one at a time with --ask",
    r"pass \(probabilities >= 0\.5\)\.astype\(int\)": "write the class, such as 1 where the probability is 0.5 or more",
    r"give of=": "give --of",
    "true_labels=": "--true-labels FILE",
    "audit=": "--audit FILE",
    "cleaning=": "--suspects FILE",
    "reference=": "--reference FILE",
    "noise=": "--noise-rate R",
    "noise=0": "--noise-rate 0",
    r"method='([\w-]+)'": r"--method \1",
    r"and labels(?=:)": "and LABELS",
    r"as many as labels": "as many as LABELS",
    r"got TransitionMatrix": "got transition probabilities",
    r"got TransitionCounts": "got transition counts",
    r"leave out noise": "leave out --noise-rate",
    r"leave out audit": "leave out --audit",
    r"give probabilities=": f"give column {PROBABILITY}",
    "prudence=1": "--prudence 1",
    "prudence=0": "--prudence 0",
}
_HEADS = {
    r"predictions and LABELS": "PREDICTIONS and LABELS",
    "true_labels and noise": "--true-labels and --noise-rate",
    "true_labels and audit": "--true-labels and --audit",
    "true_labels": "--true-labels",
    "noise and audit": "--noise-rate and --audit",
    "noise": "--noise-rate",
    r"audit\.labels": f"--audit, column {TRUE}",
    "audit": "--audit",
    r"cleaning\.suggested": "--suspects, second column",
    "cleaning": "--suspects",
    "labels": "LABELS",
    "predictions": "PREDICTIONS",
    "expert_error": "--expert-error",
    "expert_errors": "--expert-errors",
    **{
        name: f"--{name}"
        for name in (
            *("level", "measure", "of", "target", "classes", "prudence", "method", "correction"),
            *("difficulty", "reference", "names", "size", "seed"),
        )
    },
}
told_as: Words = (_WORDS, _HEADS)


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """Add what may be known of the labels to the options of a command."""
    known = parser.add_argument_group("what is known of the labels")
    known.add_argument(
        "--noise-rate", type=read_share, metavar="R", help="at most this share of the labels is wrong, in [0, 1)"
    )
    known.add_argument(
        "--transition",
        metavar="FILE",
        help="how classes are mistaken: rows true, columns given; probabilities, or counts of a random sample. A table "
        "may name the given classes in its first line and the true ones in its first column",
    )
    known.add_argument(
        "--audit",
        metavar="FILE",
        help=f"expert labels of some rows: columns {ROW} (from 0) and {TRUE}; demele audit draws them",
    )
    known.add_argument(
        "--audit-design",
        choices=("uniform", "weighted", "selective"),
        help="how those rows were chosen, where the file does not say: at random, in the order of the file; with the "
        "probabilities in the file; or because something looked wrong",
    )
    known.add_argument(
        "--expert-error",
        type=read_share,
        metavar="E",
        help="the expert may be wrong on this share of the rows (default: 0); of two classifiers, of those on which "
        "they disagree",
    )
    known.add_argument(
        "--expert-errors",
        choices=("adversarial", "random"),
        help="where: wherever it hurts most (the default), or at random whatever the predictions",
    )
    known.add_argument("--true-labels", metavar="FILE", help="the true labels of all rows, where they are known")
    known.add_argument(
        "--classes",
        metavar="A,B,...",
        help="all classes (default: those of LABELS); if the first begins with -, write --classes=-1,...",
    )


def add_output(out: "argparse._ArgumentGroup") -> None:
    """Add where results go to the options of a command."""
    out.add_argument("--format", choices=FORMATS, help="of the results (default: table on a terminal, json otherwise)")
    out.add_argument("--output", type=Path, metavar="FILE", help="write the results here, not to stdout")
    out.add_argument("--report", type=Path, metavar="FILE", help="write an interactive HTML page")
    out.add_argument("--force", action="store_true", help="replace --output and --report if they exist")
    out.add_argument("--quiet", action="store_true", help="no warnings; the results still hold them")


def checked_knowledge(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other, and let messages name the option that was given."""
    if arguments.noise_rate is not None and arguments.transition is not None:
        raise InputError("--transition: --noise-rate is given too; one of them")
    if arguments.audit_design is not None and arguments.audit is None:
        raise InputError("--audit-design: says how the rows of --audit were chosen, which is not given")
    if arguments.expert_errors is not None and arguments.expert_error is None:
        raise InputError("--expert-errors: says how the expert errs, but not how often; give --expert-error E as well")
    if arguments.transition is not None:
        heads = {
            "noise and audit": "--transition and --audit",
            "true_labels and noise": "--true-labels and --transition",
            "noise": "--transition",
        }
        arguments.told_as = ({**_WORDS, "leave out noise": "leave out --transition"}, {**_HEADS, **heads})


def option_words(arguments: argparse.Namespace) -> Callable[[str], str]:
    """Return what says a message of the library in the options of the command."""
    words, heads = arguments.told_as
    return lambda message: in_options(message, words=words, heads=heads)


def read_share(text: str) -> float:
    """Read a share; percent signs are refused with the share that was meant."""
    try:
        return float(text)
    except ValueError as error:
        percent = text.removesuffix("%")
        meant = percent != text and percent.replace(".", "", 1).isdecimal()
        hint = f"; for {text} write {float(percent) / 100:g}" if meant else ""
        raise argparse.ArgumentTypeError(f"expected a share of the labels, such as 0.05, got {text!r}{hint}") from error


def checked_targets(arguments: argparse.Namespace, inputs: Sequence[Path]) -> None:
    """Refuse files that could not, or should not, be written, before any computing."""
    targets = [path for path in (arguments.report, arguments.output) if path is not None]
    if len(targets) == 2 and real_path(targets[0]) == real_path(targets[1]):
        raise InputError("--output: the same file as --report; write to another one")
    if arguments.report is not None and arguments.report.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--report: writes an HTML page; call it {arguments.report.stem}.html, not {arguments.report}")
    for path in targets:
        check_writable(path, force=arguments.force, inputs=inputs)


def warned(quiet: bool) -> Warn:
    """Return what tells of a guess, once each."""
    said: set[str] = set()

    def warn(line: str) -> None:
        if not quiet and line not in said:
            said.add(line)
            log(f"demele: warning: {line}")

    return warn


def tell_notes(notes: Iterable[Note], warn: Warn, words: Callable[[str], str]) -> None:
    """Tell what a result warns of, where its output is a CSV and does not hold it."""
    for note in notes:
        if note.severity == "warning":
            warn(words(note.message))
