"""The page on which metrics agree, written from the stored rows of the embedded study.

The rows are those of :func:`demele.studies.demo`; how often intervals hold what they say is read off
``agreement_coverage.csv`` and ``agreement_likeness.csv``, what explains the distance to print off
``agreement_distance.csv``.
"""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from demele import bench, studies
from demele.report.agreement_view import (
    AgreementView,
    agreement_view,
    headline,
    interval_words,
    short_tau,
    summary,
    title_of,
)
from demele.report.study import models_sentence, study_page
from demele.report.words import number, percent
from tools import docs_tables
from tools.docs_tables import Row, cells, filled, read, table, unique

PAGE, TITLE = "results/agreement.md", "Which metrics agree"
#: The page of the study itself, with all that this one leads to.
STUDY = "results/study.html"
#: Line of a page in another folder that becomes a link.
MARK = "<!-- which-metrics-agree -->"
#: Mean tau from which on metrics are called a group: what tells one pair of 136 from 0 among 36 models.
SAME = 0.42
#: Pairs that are listed, from each end.
LISTED = 15
#: Pairs of which the review speaks, or that prototypes found again or did not.
NAMED = (
    ("explicitness", "dci_forest_explicitness"),
    ("z_min_variance", "z_diff"),
    ("modularity", "mig"),
    ("mig", "sap"),
    ("mig", "jemmig"),
    ("dci_lasso_explicitness", "explicitness"),
)

said = partial(docs_tables.said, "agreement")


def reference(folder: Path) -> str:
    """Return a link to the page from a page of another folder."""
    return f"What it found: [{TITLE}](../{PAGE})."


def pages(folder: Path) -> dict[str, str]:
    """Return the pages by path."""
    content = studies.demo().to_dict()
    files = [read(folder / f"agreement_{name}.csv") for name in ("coverage", "likeness", "distance")]
    return {PAGE: agreement_page(content, *files), STUDY: study_page(content).text()}


def agreement_page(
    content: dict[str, Any], coverage: Sequence[Row], likeness: Sequence[Row], distance: Sequence[Row] = ()
) -> str:
    """Return the page of what ``Study.to_dict()`` returns."""
    view = agreement_view(content["agreement"])
    figures = {
        "title": TITLE,
        "models": models_sentence(content),
        "last_step": content["settings"]["steps"][-1],
        "headline": headline(view),
        "summary": "\n\n".join(map(str, summary(view))),
        "report": _report(view),
        "ends": _pairs(view, _ends(view)),
        "named": _pairs(view, [frozenset(pair) for pair in NAMED if frozenset(pair) in view.matrices["all"]]),
        "print": _print(view),
        "distance": f"\n{_distance(distance)}" if distance else "",
        "stability": _stability(view),
    }
    parts = [said("page", content["settings"], **figures)]
    if coverage:
        parts.append(_coverage(coverage))
    if likeness:
        heads = [name for name in likeness[0] if "coverage" in name or name in ("print is", "configurations")]
        parts.append(said("likeness", table=filled(heads, likeness)))
    return "\n".join(parts)


def _report(view: AgreementView) -> str:
    """Say which metrics rank nearly alike: one of each group tells what the group would."""
    matrix = "without collapsed" if "without collapsed" in view.matrices else "all"
    found = groups(view, matrix)
    alone = ", ".join(str(title_of(names[0])) for names in found if len(names) == 1)
    rows = [
        [", ".join(str(title_of(name)) for name in names), short_tau(_mean_tau(view, matrix, names))]
        for names in found
        if len(names) > 1
    ]
    figures = {"same": short_tau(SAME), "left": alone and f" Each of the others ranks in a way of its own: {alone}."}
    figures["models"] = "models that are not collapsed" if matrix != "all" else "all models"
    return said("report", figures, table=table(["Group", "mean tau"], rows))


def groups(view: AgreementView, matrix: str) -> list[list[str]]:
    """Return metrics by groups whose mean tau is at least :data:`SAME`, the largest group first."""
    names = list(view.by_family)
    apart = [1 - tau for tau in _taus(view, matrix, names)]
    numbers = fcluster(linkage(apart, "average"), 1 - SAME, "distance")
    found = [[name for name, own in zip(names, numbers, strict=True) if own == number] for number in set(numbers)]
    return sorted(found, key=lambda own: (-len(own), names.index(own[0])))


def _mean_tau(view: AgreementView, matrix: str, names: Sequence[str]) -> float:
    return float(np.mean(_taus(view, matrix, names)))


def _taus(view: AgreementView, matrix: str, names: Sequence[str]) -> list[float]:
    return [view.matrices[matrix][frozenset(pair)]["tau"] or 0.0 for pair in combinations(names, 2)]


def _ends(view: AgreementView) -> list[frozenset[str]]:
    known = [(pair["tau"], names) for names, pair in view.matrices["all"].items() if pair["tau"] is not None]
    ordered = [names for _, names in sorted(known, key=lambda item: -item[0])]
    return [*ordered[:LISTED], *ordered[-5:]]


def _pairs(view: AgreementView, chosen: Sequence[frozenset[str]]) -> str:
    others = [name for name in view.matrices if name != "all"]
    rows = []
    for names in chosen:
        pair = view.matrices["all"][names]
        rows.append(
            [
                f"{title_of(pair['first'])}, {title_of(pair['second'])}",
                interval_words(pair),
                pair["verdict"],
                *(interval_words(view.matrices[name][names]) for name in others),
                *(short_tau(printed[names]["tau"]) if names in printed else "" for printed in view.printed.values()),
            ]
        )
    return table(["Metrics", "tau", "Verdict", *others, *(f"{title}, print" for title in view.printed)], rows)


def _print(view: AgreementView) -> str:
    titles = {one["name"]: one["title"] for one in view.data["published"]}
    rows = [
        [
            row["matrix"],
            titles[row["published"]],
            f"{row['pairs']}",
            _measured(row, "r"),
            f"{percent(row['same_sign'], 0)} of {row['strong_pairs']}",
            _measured(row, "difference"),
            number(row["r_without_noise"], 2),
        ]
        for row in view.data["likeness"]
    ]
    cars, norb = (bench.published_agreement(name) for name in ("cars3d", "smallnorb"))
    upper = np.triu_indices(len(cars.metrics), 1)
    both = float(np.corrcoef(cars.table().to_numpy()[upper], norb.table().to_numpy()[upper])[0, 1])
    figures = {"disputed": len(cars.disputed), "cars": cars.title, "norb": norb.title, "r": number(both, 2)}
    heads = ["Ours", "In print", "Pairs", "r", "Same sign", "Mean difference", "r without our noise"]
    return said("print", figures, table=table(heads, rows))


def _distance(rows: Sequence[Row]) -> str:
    """Tell what becomes of r when one cause after the other is moved, and put all figures in a table."""
    found = {(row["cause"], row["models"], row["print"]): row for row in rows}
    causes = unique(rows, "cause")
    prints = unique(rows, "print")
    titles = {name: bench.published_agreement(name).title for name in prints}
    lines = []
    for cause in causes:
        known = [cells(found[cause, "all", name]) for name in prints]
        line = [cause, *("{r:.2f} [{r_low:.2f}, {r_high:.2f}]".format_map(row) for row in known)]
        line += [percent(float(row["same_sign"]), 0) for row in known]
        lines.append([*line, percent(float(known[0]["negative"]), 0), "{mean_abs_tau:.2f}".format_map(known[0])])
    heads = ["Moved", *(f"r, {titles[name]}" for name in prints), *(f"same sign, {titles[name]}" for name in prints)]
    told = " ".join(_moved(found, causes, name, titles[name]) for name in prints)
    return said("distance", moved=told, table=table([*heads, "taus below 0", "mean size of tau"], lines))


def _moved(found: dict[tuple[str, str, str], Row], causes: Sequence[str], name: str, title: str) -> str:
    """Say which cause brings the matrix nearest to one in print, and whether that is more than chance."""
    base = found[causes[0], "all", name]
    best = max(causes[1:], key=lambda cause: float(found[cause, "all", name]["r"]))
    row = found[best, "all", name]
    far = [cause for cause in causes[1:] if float(found[cause, "all", name]["r"]) < float(base["r_low"])]
    listed = ", ".join(f"“{cause}” {float(found[cause, 'all', name]['r']):.2f}" for cause in far)
    away = f" Below that interval: {listed}." if far else ""
    if float(row["r"]) <= float(base["r"]):
        return f"Nothing brings r with {title} above {float(base['r']):.2f}.{away}"
    sure = "beyond" if float(row["r"]) > float(base["r_high"]) else "within"
    return (
        f"Nearest to {title} comes “{best}”: r {float(base['r']):.2f} becomes {float(row['r']):.2f}, {sure} the "
        f"interval of the first.{away}"
    )


def _measured(row: dict[str, Any], name: str) -> str:
    return f"{number(row[name], 2)} [{number(row[f'{name}_low'], 2)}, {number(row[f'{name}_high'], 2)}]"


def _stability(view: AgreementView) -> str:
    found = {(row["between"], row["metric"]): row for row in view.data["stability"]}
    best = {row["metric"]: row for row in view.data["best"]}
    between = list(view.data["alike"])
    rows = [
        [
            str(title_of(metric)),
            *(interval_words(found[name, metric]) for name in between),
            str(best[metric]["configuration"]) if metric in best else "",
            percent(best[metric]["stays"], 0) if metric in best else "",
        ]
        for metric in view.by_family
    ]
    rows.append(["the whole matrix (r)", *(number(view.data["alike"][name], 2) for name in between), "", ""])
    return table(["Metric", *between, "Best", "Stays"], rows)


def _coverage(rows: Sequence[Row]) -> str:
    taus = ("0", "0.3", "0.6", "0.8", "0.95")
    kinds = unique(rows, "scores")
    found = {(row["scores"], row["configurations"], row["tau"]): row["coverage"] for row in rows}
    sizes = unique(rows, "configurations")
    lines = [
        [kind, size, *(percent(float(found[kind, size, tau]), 1) if (kind, size, tau) in found else "" for tau in taus)]
        for kind in kinds
        for size in sizes
        if any((kind, size, tau) in found for tau in taus)
    ]
    return said("coverage", table=table(["Scores", "Configurations", *taus], lines))
