"""Which metrics hold under which difficulty: the part of "Choose a metric" that the stored rows of the bench decide."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demele import bench
from tools.docs_tables import table

MARK = "<!-- bench-map -->"
#: What a criterion's question is about needs no metric of its own.
_STATUSES = ("holds", "fails", "inconclusive")


def figures(_folder: Path) -> str:
    """Return a row for each criterion: its question, the metrics that meet it, and how many do not."""
    return found_in(bench.reference().to_dict())


def found_in(found: Mapping[str, Any]) -> str:
    """Return the table of a characterisation."""
    fewer = {item["row"]: item["fewer"]["text"] for item in found.get("metrics", ()) if item.get("fewer")}
    titles = {row["name"]: row["title"] + "*" * (row["name"] in fewer) for row in found["rows"]}
    rows = []
    for criterion in found["criteria"]:
        by_status = {
            status: [
                titles[verdict["row"]]
                for verdict in found["verdicts"]
                if verdict["criterion"] == criterion["name"] and verdict["status"] == status
            ]
            for status in _STATUSES
        }
        if any(by_status.values()):
            holds, fails, inconclusive = (by_status[status] for status in _STATUSES)
            rows.append([criterion["question"], _listed(holds, titles), str(len(fails)), str(len(inconclusive))])
    marks = "".join(f"\n\\* {text}, since a call takes seconds\n" for text in dict.fromkeys(fewer.values()))
    return table(["where this matters", "take one of", "fail", "inconclusive"], rows) + marks


def _listed(names: list[str], titles: Mapping[str, str]) -> str:
    """Name those that hold, or those that do not where they are fewer."""
    return ", ".join(names) if names else f"none of {len(titles)}"
