"""The page on which metrics agree, written from the stored rows of the embedded study.

The rows are those of :func:`demele.lab.study_demo`; how often intervals hold what they say is read off
``agreement_coverage.csv`` and ``agreement_likeness.csv``, what explains the distance to print off
``agreement_distance.csv``.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from demele import bench, lab
from demele.bench.agreement_result import title_of_metric
from demele.metrics.catalogue import CATALOGUE
from demele.report.document import Cell, Table
from demele.report.renderers.html import page
from demele.report.renderers.paper import markdown_table
from demele.report.renderers.tables import blocks_of
from demele.report.words import plain
from tools import docs_tables
from tools.docs_tables import Measured, pivot, table, together

PAGE, TITLE = "results/agreement.md", "Agreement of metrics"
#: The page of the study itself, with all that this one leads to.
STUDY = "results/study.html"
#: Line of a page in another folder that becomes a link.
MARK = "<!-- which-metrics-agree -->"
#: Mean tau from which on metrics are called a group: what tells one pair of 136 from 0 among 36 models.
SAME = 0.42
#: Pairs that are listed, from the strongest.
LISTED = 20
#: Pairs of which the review speaks, or that prototypes found again or did not.
NAMED = (
    ("explicitness", "dci_forest_explicitness"),
    ("z_min_variance", "z_diff"),
    ("modularity", "mig"),
    ("mig", "sap"),
    ("mig", "jemmig"),
    ("dci_lasso_explicitness", "explicitness"),
)

#: True taus of which coverage is shown; those of groups that are removed are others.
TAUS = ("0", "0.3", "0.6", "0.8", "0.95")
#: How often intervals hold what they say, and what explains the distance to print.
SIMULATED = together(
    Measured(
        "agreement_distance.csv",
        (
            *(("moved", "{cause}"), "print", ("r", "{r:.2f} [{r_low:.2f}, {r_high:.2f}]")),
            *(("same sign", "{same_sign:.0f%}"), ("taus below 0", "{negative:.0f%}")),
            ("mean size of tau", "{mean_abs_tau:.2f}"),
        ),
        words="agreement/distance",
        chosen=lambda rows: [row for row in rows if row["models"] == "all"],
    ),
    Measured(
        "agreement_coverage.csv",
        pivot(("scores", "configurations"), "tau", lambda rows: f"{float(rows[0]['coverage']):.1%}"),
        words="agreement/coverage",
        chosen=lambda rows: [row for row in rows if row["tau"] in TAUS],
    ),
    Measured(
        "agreement_likeness.csv",
        (
            *("print is", "configurations", "coverage, r", "coverage, same sign", "coverage, difference"),
            "coverage of r, percentiles",
        ),
        words="agreement/likeness",
    ),
)

said = partial(docs_tables.said, "agreement")


def reference(folder: Path) -> str:
    """Return a link to the page from a page of another folder."""
    return f"What it found: [{TITLE}](../{PAGE})."


def pages(folder: Path) -> dict[str, str]:
    """Return the pages by path."""
    study = lab.study_demo()
    whole = page(study.document(), json.dumps(study.to_dict(), allow_nan=False))
    return {PAGE: f"{agreement_page(study, study.agreement())}\n{SIMULATED(folder)}", STUDY: whole}


def agreement_page(study: lab.Study, found: bench.Agreement) -> str:
    """Return the page of a study and its agreement."""
    document = found.document()
    tables = {plain(one.caption): one for one in blocks_of(document) if isinstance(one, Table)}
    pairs = tables["Pairs of metrics"]
    named = [{plain(title_of_metric(one)) for one in pair} for pair in NAMED]
    figures = {
        "title": TITLE,
        "models": f"{', '.join(study.document().scope[:-2])}.",
        "last_step": study.steps[-1],
        "headline": document.headline,
        "summary": "\n\n".join(map(plain, document.sentences)),
        "report": _report(found),
        "ends": _table(pairs, pairs.rows[:LISTED]),
        "named": _table(pairs, [row for row in pairs.rows if {plain(row[0]), plain(row[1])} in named]),
        "print": _print(tables["Similarity to published matrices"]),
        "stability": f"{markdown_table(tables['Stability of rankings'])}\n",
    }
    return said("page", study.settings, **figures)


def _table(whole: Table, rows: Sequence[Sequence[Cell]]) -> str:
    return f"{markdown_table(replace(whole, rows=rows))}\n"


def _report(found: bench.Agreement) -> str:
    """Say which metrics rank nearly alike: one of each group tells what the group would."""
    matrix = "without collapsed" if "without collapsed" in found.matrices else "all"
    grouped = groups(found, matrix)
    alone = ", ".join(plain(title_of_metric(names[0])) for names in grouped if len(names) == 1)
    rows = [
        [", ".join(plain(title_of_metric(name)) for name in names), f"{np.mean(_taus(found, matrix, names)):.2f}"]
        for names in grouped
        if len(names) > 1
    ]
    figures = {"same": SAME, "left": alone and f" Each of the others ranks in a way of its own: {alone}."}
    figures["models"] = "models that are not collapsed" if matrix != "all" else "all models"
    return said("report", figures, table=table(["Group", "mean tau"], rows))


def groups(found: bench.Agreement, matrix: str) -> list[list[str]]:
    """Return metrics by groups whose mean tau is at least :data:`SAME`, the largest group first."""
    family = {name: place for place, name in enumerate(CATALOGUE)}
    names = sorted(found.metrics, key=lambda name: family.get(name, len(family)))
    apart = [1 - tau for tau in _taus(found, matrix, names)]
    numbers = fcluster(linkage(apart, "average"), 1 - SAME, "distance")
    own = [[name for name, place in zip(names, numbers, strict=True) if place == number] for number in set(numbers)]
    return sorted(own, key=lambda group: (-len(group), names.index(group[0])))


def _taus(found: bench.Agreement, matrix: str, names: Sequence[str]) -> list[float]:
    taus = found.matrix(matrix).table()
    return [float(np.nan_to_num(taus[one][other])) for one, other in combinations(names, 2)]


def _print(similar: Table) -> str:
    cars, norb = (bench.published_agreement(name) for name in ("cars3d", "smallnorb"))
    upper = np.triu_indices(len(cars.metrics), 1)
    both = float(np.corrcoef(cars.table().to_numpy()[upper], norb.table().to_numpy()[upper])[0, 1])
    figures = {"disputed": len(cars.disputed), "cars": cars.title, "norb": norb.title, "r": f"{both:.2f}"}
    return said("print", figures, table=f"{markdown_table(similar)}\n")
