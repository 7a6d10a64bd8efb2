"""The page on which metrics agree, written from the stored rows of the embedded study.

The rows are those of :func:`demele.studies.demo`; how often intervals hold what they say is read off
``agreement_coverage.csv`` and ``agreement_likeness.csv``, what explains the distance to print off
``agreement_distance.csv``.
"""

from collections.abc import Sequence
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
from tools.docs_tables import Row, read, table

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


def reference(folder: Path) -> str:
    """Return a link to the page from a page of another folder."""
    return f"What it found: [{TITLE}](../{PAGE})."


def pages(folder: Path) -> dict[str, str]:
    """Return the pages by path."""
    found = studies.demo()
    content = found.to_dict()
    coverage, likeness, distance = (
        read(folder / f"agreement_{name}.csv") for name in ("coverage", "likeness", "distance")
    )
    return {PAGE: agreement_page(content, coverage, likeness, distance), STUDY: study_page(content).text()}


def agreement_page(
    content: dict[str, Any], coverage: Sequence[Row], likeness: Sequence[Row], distance: Sequence[Row] = ()
) -> str:
    """Return the page of what ``Study.to_dict()`` returns."""
    view, settings = agreement_view(content["agreement"]), content["settings"]
    height, width, _ = settings["shape"]
    parts = [
        f"# {TITLE}\n",
        f"Models of one family, `demele study run --preset {settings['preset']}`: {models_sentence(content)} Each was "
        f"trained for {settings['steps'][-1]:,} steps on {settings['n_images']:,} images of {height} x {width} pixels "
        f"({settings['images']}); {settings['scored_rows']:,} codes were scored under the protocol "
        f"`{settings['protocol']}`. [Run the agreement study](../howto/run-the-agreement-study.md) says how to do this "
        "again, or for your images.\n",
        f"**{headline(view)}**\n",
        *(f"{sentence}\n" for sentence in summary(view)),
        "[The whole study](study.html): every matrix, each model, all pairs.\n",
        f"## Which to report\n\n{_report(view)}",
        f"## Pairs that agree most, and least\n\n{_pairs(view, _ends(view))}",
        f"## Pairs of which was spoken before\n\n{_pairs(view, _named(view))}",
        f"## Beside print\n\n{_print(view)}",
        *([f"## What explains the distance to print\n\n{_distance(distance)}"] if distance else []),
        f"## How stable each ranking is\n\n{_stability(view)}",
    ]
    if coverage:
        parts.append(f"## How often the intervals hold the truth\n\n{_coverage(coverage)}")
    if likeness:
        parts.append(_likeness(likeness))
    return "\n".join(parts)


def _report(view: AgreementView) -> str:
    """Say which metrics rank nearly alike: one of each group tells what the group would."""
    matrix = "without collapsed" if "without collapsed" in view.matrices else "all"
    found = groups(view, matrix)
    several = [names for names in found if len(names) > 1]
    alone = [str(title_of(names[0])) for names in found if len(names) == 1]
    rows = [
        [", ".join(str(title_of(name)) for name in names), short_tau(_mean_tau(view, matrix, names))]
        for names in several
    ]
    left = f" Each of the others ranks in a way of its own: {', '.join(alone)}." if alone else ""
    return (
        f"Metrics whose mean tau within a group is at least {short_tau(SAME)} (average linkage, "
        f"{'models that are not collapsed' if matrix != 'all' else 'all models'}): of two in a group, the second adds "
        f"little, and two of different groups may well disagree about which model is better.{left} That metrics agree "
        "does not make them right: what each sees and misses of representations that are known is in [Which "
        "metrics can be believed](metrics.md).\n\n" + table(["Group", "mean tau"], rows)
    )


def groups(view: AgreementView, matrix: str) -> list[list[str]]:
    """Return metrics by groups whose mean tau is at least :data:`SAME`, the largest group first."""
    names = list(view.by_family)
    taus = view.matrices[matrix]
    apart = [
        1 - (taus[frozenset((one, other))]["tau"] or 0.0)
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    numbers = fcluster(linkage(apart, "average"), 1 - SAME, "distance")
    found = [[name for name, own in zip(names, numbers, strict=True) if own == number] for number in set(numbers)]
    return sorted(found, key=lambda own: (-len(own), names.index(own[0])))


def _mean_tau(view: AgreementView, matrix: str, names: Sequence[str]) -> float:
    taus = [
        view.matrices[matrix][frozenset((one, other))]["tau"] or 0.0
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    return float(np.mean(taus))


def _ends(view: AgreementView) -> list[frozenset[str]]:
    known = [(pair["tau"], names) for names, pair in view.matrices["all"].items() if pair["tau"] is not None]
    ordered = [names for _, names in sorted(known, key=lambda item: -item[0])]
    return [*ordered[:LISTED], *ordered[-5:]]


def _named(view: AgreementView) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in NAMED if frozenset(pair) in view.matrices["all"]]


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
    return (
        "r: correlation between our taus and those in print; same sign: of the pairs that print can tell from 0. "
        f"{len(cars.disputed)} pairs of {cars.title} are printed with two signs: results without them stand below. "
        f"Between {cars.title} and {norb.title}, both in print, r is {number(both, 2)}. One training per "
        "configuration, as in print, would not let even a perfect repetition correlate by more than about .85.\n\n"
        + table(["Ours", "In print", "Pairs", "r", "Same sign", "Mean difference", "r without our noise"], rows)
    )


def _distance(rows: Sequence[Row]) -> str:
    """Tell what becomes of r when one cause after the other is moved, and put all figures in a table."""
    found = {(row["cause"], row["models"], row["print"]): row for row in rows}
    causes = list(dict.fromkeys(row["cause"] for row in rows))
    prints = list(dict.fromkeys(row["print"] for row in rows))
    titles = {name: bench.published_agreement(name).title for name in prints}
    lines = []
    for cause in causes:
        known = [found[cause, "all", name] for name in prints]
        lines.append(
            [
                cause,
                *(f"{float(row['r']):.2f} [{float(row['r_low']):.2f}, {float(row['r_high']):.2f}]" for row in known),
                *(percent(float(row["same_sign"]), 0) for row in known),
                percent(float(known[0]["negative"]), 0),
                f"{float(known[0]['mean_abs_tau']):.2f}",
            ]
        )
    heads = ["Moved", *(f"r, {titles[name]}" for name in prints), *(f"same sign, {titles[name]}" for name in prints)]
    told = " ".join(_moved(found, causes, name, titles[name]) for name in prints)
    return (
        "The same codes, scored again with one thing changed (`python -m benchmarks.agreement_distance`): what the "
        f"code behind the review does beside its definitions is put back, alone and all together. {told} In print "
        "44 to 48% of the taus are negative, and their mean size is .23 and .27. What is put back was held against the "
        "review's own code on codes of five of these models: MIG, MIG-sup, JEMMIG, DCIMIG, Modularity, SAP, IRS and "
        "DCI Lasso are equal to ten digits.\n\n" + table([*heads, "taus below 0", "mean size of tau"], lines)
    )


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
    return (
        "Kendall's tau between scores of the same models, and how often the best one stays the best if other rows had "
        "been scored.\n\n" + table(["Metric", *between, "Best", "Stays"], rows)
    )


def _coverage(rows: Sequence[Row]) -> str:
    taus = ("0", "0.3", "0.6", "0.8", "0.95")
    kinds = dict.fromkeys(row["scores"] for row in rows)
    found = {(row["scores"], row["configurations"], row["tau"]): row["coverage"] for row in rows}
    sizes = list(dict.fromkeys(row["configurations"] for row in rows))
    lines = [
        [kind, size, *(percent(float(found[kind, size, tau]), 1) if (kind, size, tau) in found else "" for tau in taus)]
        for kind in kinds
        for size in sizes
        if any((kind, size, tau) in found for tau in taus)
    ]
    return (
        "Simulated intervals for 95%, by the true tau (`python -m benchmarks.agreement_coverage`); no figure where "
        "ties leave too few rows for an interval.\n\n" + table(["Scores", "Configurations", *taus], lines)
    )


def _likeness(rows: Sequence[Row]) -> str:
    heads = [name for name in rows[0] if "coverage" in name or name in ("print is", "configurations")]
    return "Of the likeness to print (`python -m benchmarks.agreement_likeness`):\n\n" + table(
        heads, [[row[name] for name in heads] for row in rows]
    )
