"""What ways of joining answers gain and lose, and how fast Dawid-Skene is, put into a page at each build.

A hook of MkDocs, named in ``mkdocs.yml``. A marked line becomes tables and sentences of the rows of
``benchmarks/results/annotators.csv`` and ``consensus.csv``; without these it becomes nothing. No number is typed in.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
FILE = "annotators.csv"
SIMULATED = "consensus.csv"
MARK = "<!-- measured-annotators -->"

MAJORITY, OURS, DEFAULT = "majority accuracy", "accuracy", "crowd-kit accuracy, its default"
ONE_COIN, THEIR_COIN = "one-coin accuracy", "crowd-kit one-coin accuracy"
OWN_PRIOR, BLEND = "own prior accuracy", "blend accuracy"
STEPS, DEFAULT_STEPS = "iterations to convergence", "crowd-kit iterations, its default"

Row = Mapping[str, str]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the figures in the place of the mark."""
    return markdown.replace(MARK, figures(RESULTS)) if MARK in markdown else markdown


def figures(folder: Path) -> str:
    """Return the tables and what they show; nothing without rows."""
    rows, simulated = _rows(folder / FILE), _rows(folder / SIMULATED)
    known = [row for row in rows if int(row["gold"])]
    parts = [_accuracies(known)] if known else []
    parts += [_simulated(simulated)] if simulated else []
    parts += [_stops(known)] if known else []
    return "\n".join([*parts, _times(rows)]) if rows else ""


def _rows(file: Path) -> list[Row]:
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _accuracies(rows: Sequence[Row]) -> str:
    shown = (MAJORITY, BLEND, OWN_PRIOR, ONE_COIN, OURS, THEIR_COIN)
    table = _table(
        (
            *("answers", "items with known truth", "majority", "blend", "own prior", "one-coin", "Dawid-Skene"),
            "one-coin of crowd-kit",
        ),
        ((row["set"], f"{int(row['gold']):,}", *(_percent(row[name]) for name in shown)) for row in rows),
    )
    return (
        "Percent of right labels on real answers, where experts settled the truth. All are demele's but the last, "
        f"which is crowd-kit 1.4.2's.\n\n{table}\n"
        f"The blend has fewer right labels than the majority {_listed(rows, BLEND, MAJORITY)}; it has more "
        f"{_listed(rows, MAJORITY, BLEND)}. It has fewer than Dawid-Skene {_listed(rows, BLEND, OURS)}.\n\n"
        f"Dawid-Skene has fewer right labels than the majority {_listed(rows, OURS, MAJORITY)}; it has more "
        f"{_listed(rows, MAJORITY, OURS)}.\n"
        f"{_doubt(rows)}"
    )


def _simulated(rows: Sequence[Row]) -> str:
    """Show the simulated crowds, and say where the blend loses."""
    shown = ("classes", "answers per item", "answers per annotator", "accuracy", "class shares")
    table = _table(
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
        f"of the classes are equal, or fall from class to class.\n\n{table}\n"
        f"On average the blend has fewer right labels than the majority {where if lost else 'in none of these worlds'}."
        f" Of single crowds, {deep} of {crowds} lose 3 points or more.\n"
    )


def _stops(rows: Sequence[Row]) -> str:
    table = _table(
        ("answers", "Dawid-Skene", "iterations", "stopped early", "after"),
        ((row["set"], _percent(row[OURS]), row[STEPS], _percent(row[DEFAULT]), row[DEFAULT_STEPS]) for row in rows),
    )
    return (
        "Dawid-Skene run until it converges, as demele does, and *stopped early*, as crowd-kit's usual run is:\n\n"
        f"{table}\n"
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

    found = [f"{_cell(row['set'])} ({lost(row)} of {int(row['gold']):,} items)" for row in rows if lost(row) > 0]
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
        + _table([name for name, _ in parts], ([value(row) for _, value in parts] for row in rows))
    )


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")
