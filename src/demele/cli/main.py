"""The program ``demele``: finds the command, runs it, and turns every user's mistake into one line."""

import difflib
import importlib
import io
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from demele.cli import INSTEAD
from demele.core.errors import DemeleError, InputError, OutputError, short_words
from demele.core.version import __version__

if TYPE_CHECKING:
    from demele.cli.engine import Command

DONE, MISTAKE, INTERRUPTED, PIPE_CLOSED = 0, 2, 130, 141

#: Where each command is, and what it does, in the order of the overview.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "score": ("demele.cli.representations:Score", "Score codes against known factors"),
    "probe downstream": ("demele.cli.representations:Downstream", "Predict factors from codes"),
    "probe sparse": ("demele.cli.representations:Sparse", "Probe single codes of a dictionary"),
    "probe udr": ("demele.cli.representations:Udr", "Rank trained models without factors"),
    "assess": ("demele.cli.classifiers:Assess", "Accuracy of one classifier when labels may be wrong"),
    "compare": ("demele.cli.classifiers:Compare", "Compare two classifiers, or rank several"),
    "judge": ("demele.cli.judge:Judge", "Correct scores of a judge by human scores of some rows"),
    "audit plan": ("demele.cli.audit:Plan", "Simulate which audits would settle a comparison"),
    "audit draw": ("demele.cli.audit:Draw", "Draw random rows for an expert to label"),
    "audit next": ("demele.cli.audit:Next", "Ask an expert for one label at a time"),
    "labels corrupt": ("demele.cli.labels:Corrupt", "Make labels wrong, with known truth"),
    "labels aggregate": ("demele.cli.labels:Aggregate", "Join the answers of several annotators"),
    "labels clean": ("demele.cli.labels:Clean", "Find and clean labels that are likely wrong"),
    "bench metrics": ("demele.cli.bench:Metrics", "Test metrics where the truth is known, also yours"),
    "bench methods": ("demele.cli.bench:Methods", "Test methods that compare classifiers, also yours"),
    "bench show": ("demele.cli.bench:Show", "Show a saved test of metrics, or the published one"),
    "bench agreement": ("demele.cli.bench:Agreement", "Agreement of metrics on the order of models"),
    "lab vae train": ("demele.cli.lab:VaeTrain", "Train a VAE on images"),
    "lab vae encode": ("demele.cli.lab:VaeEncode", "Encode images with a trained VAE"),
    "lab vae report": ("demele.cli.lab:VaeReport", "Examine a trained model"),
    "lab fabric train": ("demele.cli.lab:FabricTrain", "Train a convolutional fabric on images and classes"),
    "lab fabric prune": ("demele.cli.lab:FabricPrune", "Prune links, channels or weights of a fabric"),
    "lab fabric show": ("demele.cli.lab:FabricShow", "Show a fabric: counts, prunings, times"),
    "lab study plan": ("demele.cli.studies:Plan", "Estimate models, time and disk space of a study"),
    "lab study run": ("demele.cli.studies:Run", "Train and score a family of models"),
    "lab study show": ("demele.cli.studies:Show", "Show the results of a study"),
    "lab study pruning run": ("demele.cli.studies:RunPruning", "Prune fabrics in many ways, and compare the ways"),
    "lab study pruning show": ("demele.cli.studies:ShowPruning", "Show the results of a study of pruning"),
    "lab data describe": ("demele.cli.lab:Describe", "Factors, sizes, licence and files of a set of images"),
    "lab data make": ("demele.cli.lab:Make", "Write a set of images that a formula draws"),
    "lab data check": ("demele.cli.lab:Check", "Check files of a published set"),
    "lab data convert": ("demele.cli.lab:Convert", "Write a published set to one file that is mapped"),
    "demo score": ("demele.cli.demo:DemoScore", "Score four bundled representations"),
    "demo labels": ("demele.cli.demo:DemoLabels", "Aggregate the answers of a real crowd"),
    "demo compare": ("demele.cli.demo:DemoCompare", "Rank ten language models on wrong labels"),
    "demo study": ("demele.cli.studies:Demo", "Which metrics agree on 36 trained VAEs"),
    "demo pruning": ("demele.cli.studies:DemoPruning", "Fabrics pruned in 22 ways under label noise"),
    "doctor": ("demele.cli.listing:Doctor", "Say what a file holds, and what can use it"),
    "list metrics": ("demele.cli.listing:Metrics", "What each metric measures, its range and source"),
    "list protocols": ("demele.cli.listing:Protocols", "Named settings of the metrics"),
    "list methods": ("demele.cli.listing:Methods", "Methods that compare classifiers"),
    "list datasets": ("demele.cli.listing:Datasets", "Data sets of images"),
    "cite": ("demele.cli.listing:Cite", "What to cite for metrics, protocols and methods"),
    "help": ("demele.cli.engine:Help", "Explain files, noise or output"),
    "completion": ("demele.cli.listing:Completion", "Print a script with which a shell completes commands"),
}
#: The overview: groups of commands, and what those of two words are about.
OVERVIEW: Mapping[str, tuple[str, ...]] = {
    "Representations": ("score", "probe"),
    "Classifiers": ("assess", "compare", "judge", "audit", "labels"),
    "Research": ("bench", "lab"),
}
ABOUT: Mapping[str, str] = {
    "probe": "Downstream, sparse and unsupervised probes",
    "audit": "Plan and draw an expert audit of the labels",
    "bench": "Test a metric or a comparison method on known ground truth",
    "lab": "Train VAEs and prunable networks, run studies",
    "lab vae": "Small VAEs: trained, encoding images, and examined",
    "lab fabric": "Convolutional fabrics, trained and pruned",
    "lab study": "Studies of many models",
    "lab study pruning": "Fabrics pruned in many ways, under label noise",
    "lab data": "Sets of images with known factors",
    "labels": "Corrupt, aggregate or clean labels",
    "list": "Metrics, protocols, methods and data sets",
    "demo": "Score and compare on bundled data",
}
_OTHER = "Other: doctor, demo, list, cite, help, completion          Try:  demele demo compare"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Words, without the name of the program; those of the process if None.

    Returns
    -------
    int
        0 done; 1 --fail-unless not met; 2 a mistake in the arguments or data; 130 interrupted; 141 stdout closed.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the calling program
            setattr(sys, name, io.TextIOWrapper(io.BytesIO()))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of columns must not break a terminal that cannot show them
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if any("\0" in word for word in words):
            raise InputError("an argument holds a null byte; no file and no name does")
        status = _run(words)
    except KeyboardInterrupt:
        print("demele: interrupted", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout once more as it ends: that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except DemeleError as error:
        return _mistake(_counted(str(error)))
    except MemoryError:
        return _mistake("not enough memory for this; fewer rows or columns, or data read a piece at a time, need less")
    except OSError as error:
        return _mistake(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    return status


def _run(words: list[str]) -> int:
    """Find the command that the words name, and run it or print its help."""
    if words[:1] == ["help"] and " ".join(words[1:]) in {*COMMANDS, *ABOUT}:
        words = [*words[1:], "--help"]
    first, both = " ".join(words[:1]), " ".join(words[:2])
    longest = [" ".join(words[:number]) for number in range(4, 0, -1)]
    name = next((one for one in longest if one in COMMANDS), first)
    rest = words[len(name.split()) :]
    if first == "--version":
        return printed(f"demele {__version__}\n")
    if first in ("", "-h", "--help"):
        return printed(overview())
    if name in COMMANDS:
        command = found(name)
        shown = next((word for word in rest if word in ("-h", "--help", "--")), "--")
        from demele.cli.engine import execute, help_of

        if shown != "--":
            return printed(help_of(command, f"demele {name}", COMMANDS[name][1], whole=shown == "--help"))
        return execute(command, f"demele {name}", rest, printed)
    group = next((one for one in longest if one in ABOUT), "")
    further = [word for word in words[len(group.split()) :] if not word.startswith("-")]
    if group and not further:
        return printed(_listed(group))
    asked = both if both in INSTEAD else " ".join([group, *further[:1]]).strip() or first
    if asked in INSTEAD:
        raise InputError(f"{asked} has a new name; write {INSTEAD[asked]}")
    near = difflib.get_close_matches(asked, [*COMMANDS, *ABOUT], n=1, cutoff=0.6)
    raise InputError(f"{asked}: unknown command{f'; did you mean demele {near[0]}?' if near else ' (see demele -h)'}")


def _listed(group: str) -> str:
    """Return the list of the commands of a group."""
    inner = [one for one in COMMANDS if one.startswith(f"{group} ")]
    lines = [f"{ABOUT[group]}.", f"Usage: demele {group} COMMAND [OPTIONS]"]
    width = max(map(len, inner)) + 2
    return "\n".join([*lines, *(f"  {one:<{width}}{COMMANDS[one][1]}" for one in inner), ""])


def found(name: str) -> "Command":
    """Import the module of a command, and return it."""
    module, _, held = COMMANDS[name][0].partition(":")
    command: Command = getattr(importlib.import_module(module), held)()
    return command


def overview() -> str:
    """Return the list of all commands."""
    lines = [
        f"demele {__version__} - score representations, compare classifiers on noisy labels",
        "Usage: demele COMMAND [OPTIONS]",
    ]
    for group, names in OVERVIEW.items():
        lines += [group, *(f"  {name:<11}{ABOUT.get(name) or COMMANDS[name][1]}" for name in names)]
    return "\n".join([*lines, _OTHER, ""])


def printed(text: str) -> int:
    """Write to standard output; a failure names it, as one of a file names the file."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads any more: no fault of anyone
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror or error}") from error
    return DONE


def _counted(message: str) -> str:
    """Say where the number of a row begins: files are read by people, whose first row is 1, or 2 under a header."""
    return re.sub(r"\bat row \d+(?:, column \d+)?(?! \()", r"\g<0> (counted from 0)", message, count=1)


def _mistake(message: str) -> int:
    print(f"demele: error: {short_words(' '.join(message.split()))}", file=sys.stderr)  # noqa: T201
    return MISTAKE


if __name__ == "__main__":
    sys.exit(main())
