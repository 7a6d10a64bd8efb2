"""What ways of joining answers gain and lose, and how fast Dawid-Skene is, for the page of
a marked line: tables and sentences of the rows of ``annotators.csv`` and ``consensus.csv``.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from tools.docs_tables import Row, escaped, read, table

FILE = "annotators.csv"
SIMULATED = "consensus.csv"
MARK = "<!-- measured-annotators -->"

MAJORITY, OURS, DEFAULT = "majority accuracy", "accuracy", "crowd-kit accuracy, its default"
ONE_COIN, THEIR_COIN = "one-coin accuracy", "crowd-kit one-coin accuracy"
OWN_PRIOR, BLEND = "own prior accuracy", "blend accuracy"
STEPS, DEFAULT_STEPS = "iterations to convergence", "crowd-kit iterations, its default"


def figures(folder: Path) -> str:
    """Return the tables and what they show; nothing without rows."""
    rows, simulated = read(folder / FILE), read(folder / SIMULATED)
    known = [row for row in rows if int(row["gold"])]
    parts = [_accuracies(known)] if known else []
    parts += [_simulated(simulated)] if simulated else []
    parts += [_stops(known)] if known else []
    return "\n".join([*parts, _times(rows)]) if rows else ""


def _accuracies(rows: Sequence[Row]) -> str:
    shown = (MAJORITY, BLEND, OWN_PRIOR, ONE_COIN, OURS, THEIR_COIN)
    shown_as = table(
        (
            *("answers", "items with known truth", "majority", "blend", "own prior", "one-coin", "Dawid-Skene"),
            "one-coin of crowd-kit",
        ),
        ((row["set"], f"{int(row['gold']):,}", *(_percent(row[name]) for name in shown)) for row in rows),
    )
    return (
        "Percent of right labels on real answers, where experts settled the truth. All are demele's but the last, "
        f"which is crowd-kit 1.4.2's.\n\n{shown_as}\n"
        f"The blend has fewer right labels than the majority {_listed(rows, BLEND, MAJORITY)}; it has more "
        f"{_listed(rows, MAJORITY, BLEND)}. It has fewer than Dawid-Skene {_listed(rows, BLEND, OURS)}.\n\n"
        f"Dawid-Skene has fewer right labels than the majority {_listed(rows, OURS, MAJORITY)}; it has more "
        f"{_listed(rows, MAJORITY, OURS)}.\n"
        f"{_doubt(rows)}"
    )


def _simulated(rows: Sequence[Row]) -> str:
    """Show the simulated crowds, and say where the blend loses."""
    shown = ("classes", "answers per item", "answers per annotator", "accuracy", "class shares")
    shown_as = table(
        (*shown, "majority", "Dawid-Skene", "one-coin", "own prior", "blend", "blend − majority (s.e.)", "worst crowd"),
        (
            (
                *(row[name] for name in (*shown, "majority", "dawid-skene", "one-coin", "own-prior", "blend")),
                f"{float(row['blend - majority']):+.2f} ({row['standard error']})",
                f"{float(row['least']):+.1f}",
            )
            for row in rows
        ),
    )
    lost = [row for row in rows if float(row["blend - majority"]) < 0]
    deep = sum(int(row["below by 3"]) for row in rows)
    crowds = sum(int(row["crowds"]) for row in rows)
    where = "; ".join(
        f"with {row['classes']} classes of {row['class shares']} shares, {row['answers per item']} answers per item "
        f"and {row['answers per annotator']} per annotator"
        for row in lost
    )
    return (
        f"Simulated crowds, {rows[0]['crowds']} of each kind, 300 items each, percent of right labels (made by `python "
        "-m benchmarks.consensus`, which says how). *Accuracy* is the mean of the annotators', which vary; the shares "
        f"of the classes are equal, or fall from class to class.\n\n{shown_as}\n"
        f"On average the blend has fewer right labels than the majority {where if lost else 'in none of these worlds'}."
        f" Of single crowds, {deep} of {crowds} lose 3 points or more.\n"
    )


def _stops(rows: Sequence[Row]) -> str:
    shown_as = table(
        ("answers", "Dawid-Skene", "iterations", "stopped early", "after"),
        ((row["set"], _percent(row[OURS]), row[STEPS], _percent(row[DEFAULT]), row[DEFAULT_STEPS]) for row in rows),
    )
    return (
        "Dawid-Skene run until it converges, as demele does, and *stopped early*, as crowd-kit's usual run is:\n\n"
        f"{shown_as}\n"
        f"Stopped early, it has more right labels than the converged run {_listed(rows, OURS, DEFAULT)}, and fewer "
        f"{_listed(rows, DEFAULT, OURS)}. An early stop stays near the majority, where EM starts: that helps where "
        "annotators share a bias, and costs where they do not. Without known truth nobody can say which is the case. "
        "demele converges, says when it did not, and shows the majority beside; `max_iterations` stops it earlier, if "
        "you want that.\n"
    )


def _percent(text: str) -> str:
    return f"{100 * float(text):.1f}"


def _doubt(rows: Sequence[Row]) -> str:
    """Say why the raters of ImageNet mislead the model, where the rows show that they do."""
    gain = {row["set"]: float(row[OURS]) - float(row[MAJORITY]) for row in rows}
    if not gain.get("imagenet_real golden", 0) < 0 < gain.get("imagenet_real golden, yes or not", 0):
        return ""
    return (
        "\nThe raters of ImageNet could say *maybe*, and the experts could not. Raters who doubt the same images look "
        "reliable to the model, which makes their doubt a class of its own. The same answers, read as *yes or not*, "
        "are joined better by the model than by the majority.\n"
    )


def _listed(rows: Sequence[Row], fewer: str, more: str) -> str:
    """Name the sets where one way has fewer right labels than another, with the number of items."""

    def lost(row: Row) -> int:
        return round((float(row[more]) - float(row[fewer])) * int(row["gold"]))

    found = [f"{escaped(row['set'])} ({lost(row)} of {int(row['gold']):,} items)" for row in rows if lost(row) > 0]
    return f"on {'; '.join(found)}" if found else "on none of these sets"


def _times(rows: Sequence[Row]) -> str:
    parts: tuple[tuple[str, Callable[[Row], str]], ...] = (
        ("answers", lambda row: row["set"]),
        ("number", lambda row: f"{int(row['answers']):,}"),
        ("ms per iteration", lambda row: row["ms per iteration"]),
        ("crowd-kit", lambda row: row["crowd-kit ms per iteration"]),
        ("times faster", lambda row: row["times faster"]),
        ("same labels after 20 iterations", lambda row: f"{100 * float(row['same labels after 20']):.2f} %"),
    )
    return (
        "After as many iterations both are the same estimate, and demele's is faster (one thread; made by `python -m "
        "benchmarks.annotators`, which says how):\n\n"
        + table([name for name, _ in parts], ([value(row) for _, value in parts] for row in rows))
    )
