"""Which metric would we report: what follows from the verdicts of the bench, by a rule that is written down."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from demele import bench
from demele.bench.characterise import PILLS
from demele.bench.verdicts import NOT_CHARACTERISED
from demele.report.renderers.paper import in_markdown
from tools import docs_tables
from tools.docs_bench import BENCH
from tools.docs_tables import table

PAGE, TITLE = "results/which-metric.md", "Which metric would we report?"
#: Seconds of a call on the rows of the bench that a training loop or a sweep of settings can pay.
QUICK = 0.05
#: What metrics are known to fall for, the criterion that decides, and the ends of the scenario that show it.
TRAPS = {
    "rotation": "rotation",
    "copies": "duplicated",
    "dead codes": "inactive",
    "noise": "chance",
    "few rows": "sample_size",
}
#: Defects that an option of a score mends: the scenario as it is, and the one where scores are mended.
MENDED = {
    "wrong classes, corrected": ("mislabelled", "mislabelled_corrected"),
    "rotation, aligned": ("rotation", "rotation_aligned"),
}
PROPERTIES = ("modularity", "compactness", "explicitness")
JUDGED = ("holds", "fails", "inconclusive")
#: Of a criterion that must hold.
UNHELD = {"fails", "not applicable", NOT_CHARACTERISED}

Item = Mapping[str, Any]

said = partial(docs_tables.said, "which")


def pages(_folder: Path) -> dict[str, str]:
    """Return the page of the stored rows, by path."""
    return {PAGE: page(View(bench.reference().to_dict()))}


class View:
    """A characterisation with its parts by name."""

    def __init__(self, found: Item) -> None:
        self.data = found
        self.metrics = {item["name"]: item for item in found["metrics"]}
        self.rows = {item["name"]: item for item in found["rows"]}
        self.criteria = {item["name"]: item for item in found["criteria"]}
        self.curves = {(item["metric"], item["scenario"]): item for item in found["curves"]}
        self.verdicts = {(item["row"], item["criterion"]): item for item in found["verdicts"]}

    def fewer(self, row: str) -> str:
        """Return, to stand behind the name of a row, how many seeds it has, of how many rows, if these are fewer."""
        told = (self.metrics[name].get("fewer") for name in self.rows[row]["metrics"])
        return next((f" ({fewer['text']})" for fewer in told if fewer), "")

    def sign(self, row: str, criterion: str) -> str:
        """Return the sign of a verdict."""
        return PILLS[self.verdicts[row, criterion]["status"]].text


def page(view: View) -> str:
    """Return the rule, the answers, and the tables that they follow from."""
    texts = [metric["fewer"]["text"] for metric in view.metrics.values() if metric.get("fewer")]
    fewer = f"\n{said('fewer', texts='*, *'.join(dict.fromkeys(texts)))}" if texts else ""
    parts = [
        part
        for name in PROPERTIES
        for part in (f"### {name.capitalize()}\n", considered_table(view, name), not_considered(view, name))
    ]
    figures = {
        "title": TITLE,
        "bench": BENCH,
        "answers": answers(view),
        "milliseconds": 1000 * QUICK,
        "rows": view.data["n_samples"],
        "fewer": fewer,
        "considered": "\n".join(parts),
        "traps": traps_table(view),
        "mended": mended_table(view),
    }
    return said("page", figures)


# The rule -------------------------------------------------------------------------------------------------------------


def considered(view: View, claimed: str) -> list[str]:
    """Return the rows that are considered for a property, best first."""
    eligible = [row for row in view.rows if claimed in claims(view, row) and not why_not(view, row, claimed)]
    return sorted(eligible, key=lambda row: (-_share_held(view, row), seconds(view, row)))


def why_not(view: View, row: str, claimed: str) -> list[str]:
    """Return why a row that claims a property is not considered for it; nothing if it is."""
    reasons = []
    for name, barred in (
        (f"coherent_{claimed}", {*UNHELD, "inconclusive"}),
        ("calibrated", {"fails", NOT_CHARACTERISED}),
    ):
        status = view.verdicts[row, name]["status"]
        if status in barred:
            reasons.append(f"{in_markdown(view.criteria[name]['title'])}: {status}")
    applying = sum(len(found) for found in statuses(view, row).values())
    if not reasons and 2 * applying < len(view.criteria):
        reasons.append(f"{applying} of {len(view.criteria)} criteria apply")
    return reasons


def claims(view: View, row: str) -> set[str]:
    """Return the properties that the scores of a row claim."""
    return {claim for name in view.rows[row]["metrics"] for claim in view.metrics[name]["properties"]}


def seconds(view: View, row: str) -> float:
    """Return the seconds of a call; infinite where none was timed."""
    found = [view.metrics[name]["card"]["seconds"] for name in view.rows[row]["metrics"]]
    return max((value for value in found if value is not None), default=float("inf"))


def _share_held(view: View, row: str) -> float:
    own = statuses(view, row)
    return len(own["holds"]) / sum(len(found) for found in own.values())


def statuses(view: View, row: str) -> dict[str, list[str]]:
    """Return the criteria of a row by what came out, those that do not apply left out."""
    found: dict[str, list[str]] = {status: [] for status in JUDGED}
    for name in view.criteria:
        status = view.verdicts[row, name]["status"]
        if status in found:
            found[status].append(name)
    return found


# Tables ---------------------------------------------------------------------------------------------------------------


def answers(view: View) -> str:
    """Return the metric that comes first for each property, and the first of the quick ones."""
    lines = [["for", "we would report", "where milliseconds count"]]
    for name in PROPERTIES:
        found = considered(view, name)
        quick = [row for row in found if seconds(view, row) <= QUICK and not view.fewer(row)]
        lines.append([f"**{name}**", _told(view, found, name), _told(view, quick, name)])
    return table(lines[0], lines[1:], plain=False)


def _told(view: View, rows: Sequence[str], claimed: str) -> str:
    if not rows:
        return "none"
    own = statuses(view, rows[0])
    names = [name for name in view.rows[rows[0]]["metrics"] if claimed in view.metrics[name]["properties"]]
    total = sum(len(found) for found in own.values())
    told = ", ".join(f"`{name}`" for name in names) + view.fewer(rows[0])
    text = f"{told}: holds {len(own['holds'])} of {total} criteria"
    for status, words in (("fails", "fails"), ("inconclusive", "inconclusive")):
        if own[status]:
            text += f"; {words}: {', '.join(in_markdown(view.criteria[name]['title']) for name in own[status])}"
    return text


def considered_table(view: View, claimed: str) -> str:
    """Return the considered metrics of a property in their order."""
    lines = [["metric", "holds", "fails", "inconclusive", "seconds"]]
    for row in considered(view, claimed):
        own = statuses(view, row)
        title = in_markdown(view.rows[row]["title"]) + view.fewer(row)
        lines.append([title, *(str(len(own[status])) for status in JUDGED), f"{seconds(view, row):.2g}"])
    return table(lines[0], lines[1:], plain=False)


def not_considered(view: View, claimed: str) -> str:
    """Return the metrics that claim a property and are not considered, with the criterion that decided."""
    reasons = [
        f"{in_markdown(view.rows[row]['title'])}{view.fewer(row)} ({'; '.join(reasons)})"
        for row in view.rows
        if claimed in claims(view, row) and (reasons := why_not(view, row, claimed))
    ]
    return f"Not considered: {', '.join(reasons)}.\n" if reasons else ""


def traps_table(view: View) -> str:
    """Return each score on the traps: the mean at both ends of the scenario, with the sign of the verdict."""
    lines = [["score", *TRAPS]]
    for name, metric in view.metrics.items():
        if metric["characterised"]:
            traps = [_trap(view, metric, criterion) for criterion in TRAPS.values()]
            lines.append([f"`{name}`{view.fewer(metric['row'])}", *traps])
    return table(lines[0], lines[1:], plain=False)


def mended_table(view: View) -> str:
    """Return each score on defects that an option mends: as given, and with the option."""
    head = [words for mended in MENDED for words in (mended.partition(",")[0], mended)]
    lines = [["score", *head]]
    for name, metric in view.metrics.items():
        cells = [cell for raw, mended in MENDED.values() for cell in _mended(view, metric, raw, mended)]
        if any(told != "none" for told in cells[1::2]):
            lines.append([f"`{name}`{view.fewer(metric['row'])}", *cells])
    return table(lines[0], lines[1:], plain=False)


def _mended(view: View, metric: Item, raw: str, mended: str) -> list[str]:
    """Return how a score changes along two scenarios, the second with the option; none where it gives no number."""
    told = []
    for scenario in (raw, mended):
        curve = view.curves.get((metric["name"], scenario), {})
        ends = [_end(curve, place) for place in (0, -1)] if curve.get("mean") else ["none"]
        told.append("none" if "none" in ends else " → ".join(ends))
    if told[1] != "none":
        told[1] += f" {view.sign(metric['row'], mended)}"
    return told


def _trap(view: View, metric: Item, criterion: str) -> str:
    sign = view.sign(metric["row"], criterion)
    curve = view.curves[metric["name"], criterion]
    if not curve["mean"]:
        return sign
    return f"{_end(curve, 0)} → {_end(curve, -1)} {sign}"


def _end(curve: Item, place: int) -> str:
    """Return the mean at one end of a curve, if most of the draws there have a value."""
    if 2 * curve["n"][place] <= curve["n"][place] + curve["failed"][place]:
        return "none"
    return f"{round(curve['mean'][place], 2) + 0.0:.2f}"  # + 0.0: no minus before a zero
