"""Tables of files in ``benchmarks/results``, with words around them: pages of results, and marked lines of others."""

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.protocol_arrays import ARRAYS
from demele.bench.comparisons.contenders import CLEANINGS, CORRECTIONS
from tools.docs_tables import Column, Measured, Page, Rows, means, numbers, pivot, table, together, unique

STREAMING = Measured(
    "streaming.csv",
    (
        *("through", "metrics", ("a batch, ms", "{update_ms_median}")),
        *(("95% of batches below", "{update_ms_p95}"), ("the value once, ms", "{compute_ms}")),
    ),
    words="measured/streaming",
    chosen=lambda rows: [row for row in rows if row["dtype"] == rows[0]["dtype"]],
)
OUT_OF_CORE = Measured(
    "out_of_core.csv",
    (
        *(("rows", "{rows:,}"), ("on disk, GB", "{gigabytes}"), ("processes", "{jobs}"), "seconds"),
        *("seconds per 1e8 rows", ("peak memory, MiB", "{peak MiB:,}")),
    ),
    words="measured/out_of_core",
)
SPARSE = Measured(
    "sparse.csv",
    (
        *((name, f"{{{name}:,}}") for name in ("rows", "codes", "non-zeros")),
        *("factors", "jobs", "seconds (information and its metrics)", "peak GiB, data included"),
        *("seconds with SAP too", "peak GiB with SAP"),
    ),
)
SPEED = Measured("speed.csv", ("metric", "size", "demele, CPU s", "reference, CPU s", "ratio", "public code, CPU s"))
ENTROPY = Measured(
    "entropy_threshold.csv",
    (
        *(("labels", "{set}"), "wrong", ("0.3 finds", "{fixed share found:.0f%}")),
        *(("of its suspects wrong", "{fixed precision:.0f%}"), ("default", "{default threshold}")),
        *(("finds", "{default share found:.0f%}"), ("of its suspects wrong", "{default precision:.0f%}")),
    ),
)
FABRICS = Measured(
    "fabric_speed.csv",
    (
        *("fabric", "images", "pruned", ("removed, %", "{achieved %}"), ("multiply-adds", "{multiply-adds:,}")),
        *((f"{part} gain", f"x {{{part} gain}}") for part in ("forward", "exported", "training")),
    ),
    words="measured/fabrics",
)
FABRIC_ANNOTATORS = Measured(
    "annotated_images_annotators.csv",
    (
        ("images", "{images} ({size}, {n:,} images)"),
        ("annotators, of fabrics trained", "{annotators}, {fabrics trained}"),
        ("errors, and their median", "{lowest error} to {highest error}, {median error}"),
        ("mean share of images on which two differ", "{disagreement}"),
        ("images that none gets wrong", "{images without a wrong vote}"),
        ("of the rates 1%, 2%, ..., 30%, made exactly", "{rates of 1 to 30 % made exactly}"),
        ("CPU seconds, and seconds with two processes on a busy machine", "{CPU seconds}, {seconds}"),
    ),
)


# Published code ------------------------------------------------------------------------------------------------------


def arrays(_folder: Path) -> str:
    """Return what every array holds."""
    return table(("array", "codes"), [(array.name, array.what) for array in ARRAYS.values()], plain=False)


_OURS: tuple[Column, ...] = (
    ("ours, under the protocol", "{under the protocol:.4f}"),
    ("ours by default", "{by default:.4f}"),
)
DLIB = Measured(
    "protocols.csv",
    (("score", "`{metric}`"), "array", ("theirs", "{theirs:.4f}"), "their standard error", *_OURS, "notes"),
    chosen=lambda rows: sorted(
        (row for row in rows if row["source"] == "disentanglement_lib"), key=lambda row: row["metric"]
    ),
    plain=False,
)


def _by_attribute(rows: Rows) -> Rows:
    """Return the first row of each array and metric of Latte, with the largest difference over attributes."""
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows:
        if row["source"] == "latte":
            groups.setdefault((row["array"], row["metric"]), []).append(row)
    return [{**own[0], "difference": str(max(abs(float(row["difference"])) for row in own))} for own in groups.values()]


LATTE = Measured(
    "protocols.csv",
    (
        *("array", ("score", "`{metric}`"), ("theirs, first", "{theirs:.4f}")),
        *(*_OURS, ("largest difference", "{difference:.0e}")),
    ),
    chosen=_by_attribute,
    plain=False,
)
NEWER = Measured(
    "protocols.csv",
    (
        *(("code", "{source}"), "array", ("score", "`{metric}`"), ("theirs", "{theirs:.4f}")),
        *(*_OURS, ("difference", "{difference:.0e}")),
    ),
    chosen=lambda rows: [row for row in rows if row["source"] not in ("disentanglement_lib", "latte")],
    plain=False,
)


# Answers of annotators -----------------------------------------------------------------------------------------------

_WAYS = {"majority": "majority accuracy", "blend": "blend accuracy", "own prior": "own prior accuracy"}
_WAYS |= {
    "one-coin": "one-coin accuracy",
    "Dawid-Skene": "accuracy",
    "one-coin of crowd-kit": "crowd-kit one-coin accuracy",
}


def _with_truth(rows: Rows) -> Rows:
    return [row for row in rows if int(row["gold"])]


ANNOTATORS = together(
    Measured(
        "annotators.csv",
        (
            *(("answers", "{set}"), ("items with known truth", "{gold:,}")),
            *((head, f"{{{way}:.1fp}}") for head, way in _WAYS.items()),
        ),
        words="measured/annotators-real",
        chosen=_with_truth,
    ),
    Measured(
        "consensus.csv",
        (
            *("classes", "answers per item", "answers per annotator", "accuracy", "class shares", "majority"),
            *(("Dawid-Skene", "{dawid-skene}"), "one-coin", ("own prior", "{own-prior}"), "blend"),
            ("blend − majority (s.e.)", "{blend - majority:+.2f} ({standard error})"),
            *(("worst crowd", "{least:+.1f}"), ("crowds that lose 3 points", "{below by 3}")),
        ),
        words="measured/annotators-simulated",
    ),
    Measured(
        "annotators.csv",
        (
            *(("answers", "{set}"), ("Dawid-Skene", "{accuracy:.1fp}"), ("iterations", "{iterations to convergence}")),
            ("stopped early", "{crowd-kit accuracy, its default:.1fp}"),
            ("after", "{crowd-kit iterations, its default}"),
        ),
        words="measured/annotators-stops",
        chosen=_with_truth,
    ),
    Measured(
        "annotators.csv",
        (
            *(("answers", "{set}"), ("number", "{answers:,}"), "ms per iteration"),
            *(("crowd-kit", "{crowd-kit ms per iteration}"), "times faster"),
            ("same labels after 20 iterations", "{same labels after 20:.2f%}"),
        ),
        words="measured/annotators-times",
    ),
)


# Level and power of comparison methods -------------------------------------------------------------------------------

#: Methods that stand on another page, as comparison_power.csv calls them.
CHOSEN = (
    *("overlap", "worst-case-overlap", "hard-rows, annotators' ranking", "worst-case, overlap", "agreement"),
    *("audit uniform 500", "audit entropy 500", "sequential, cap 1000"),
)
BY_NOISE = pivot(("method",), "noise", means("type_1", "type_2"), "{:g%} noise")


def _worlds(rows: Rows) -> dict[str, object]:
    return {"worlds": len(unique(rows, "world"))}


def _worst_cell(rows: Rows) -> str:
    """Show the mean and largest error over rates of noise."""
    worst = max(rows, key=lambda row: float(row["rate_of_error"]))
    whole = sum(int(row["claims_all"]) for row in rows) / sum(int(row["test_sets_all"]) for row in rows)
    return f"{100 * whole:.2f}; {100 * float(worst['rate_of_error']):.1f} (> {100 * float(worst['low']):.1f})"


def _by_tail(rows: Rows) -> Rows:
    """Return a row for each one-sided error at which bounds of an audit are missed."""
    tails = ("0.025", "0.001")
    return [{**row, "missed at": tail, "missed": row[f"missed_at_{tail}"]} for row in rows for tail in tails]


def _mean_and_worst(rows: Rows) -> str:
    shares = numbers(rows, "missed")
    return f"{100 * fmean(shares):.2f}, worst {100 * max(shares):.2f}"


def _corners(percent: str, told: str) -> tuple[Column, ...]:
    return (
        *(("where", "{cell}"), (f"{told} in % (standard error)", f"{{{percent}}} ({{standard_error}})")),
        *(("distance", "{mean_distance_rows}"), ("test sets", "{test_sets}")),
    )


COMPARISONS = Page(
    "results/comparisons.md",
    "Level and power of comparison methods",
    "comparisons",
    (
        Measured("comparison_power.csv", BY_NOISE, words="comparisons/power", figures=_worlds),
        Measured("sequential_power.csv", words="comparisons/setting"),
        Measured("guarantees.csv", pivot(("method",), "noise", _worst_cell), words="comparisons/kept"),
        Measured(
            "audited_level.csv",
            pivot(("n", "labels", "design"), "missed at", _mean_and_worst, "missed at {:g%}"),
            words="comparisons/missed",
            chosen=_by_tail,
        ),
        Measured("guarantee_corners.csv", _corners("error_percent", "errors"), words="comparisons/corners"),
        Measured("audited_power.csv", _corners("power_percent", "found"), words="comparisons/found"),
    ),
)
POWER_OF_CHOSEN = Measured(
    "comparison_power.csv",
    BY_NOISE,
    words="comparisons/chosen",
    chosen=lambda rows: [row for row in rows if row["method"] in CHOSEN],
    figures=_worlds,
)
WORST_CORNERS = together(
    Measured(
        "guarantee_corners.csv",
        _corners("error_percent", "errors"),
        words="comparisons/worst",
        chosen=lambda rows: rows[:6],
    ),
    Measured("audit_scan.csv", ("bound", ("worst, %", "{worst}")), words="comparisons/scan"),
)
#: How a world is asked, and what its name says then; copies take in those who believe them.
_ASKED: Mapping[str, Callable[[str], bool]] = {
    "true labels, `overlap`": lambda world: "0 right" in world and "groups" not in world,
    "the same, rows in groups": lambda world: "0 right" in world and "groups" in world and "not given" not in world,
    "the same, `groups=` not given": lambda world: "not given" in world,
    "2% copies, `overlap`": lambda world: world.startswith("labels") and "copies" in world,
    "2% copies, rate supplied, `worst-case-overlap`": lambda world: world.startswith("rate"),
    "wrong labels, uniform audit of 100": lambda world: world.startswith("uniform, 100"),
    "wrong labels, uniform audit of 300": lambda world: world.startswith("uniform, 300"),
    "wrong labels, weighted audit of 100": lambda world: world.startswith("weighted, 100"),
    "wrong labels, weighted audit of 300": lambda world: world.startswith("weighted, 300"),
}


def _asked(rows: Rows) -> Rows:
    """Return the rows of worlds in which every claim is an error, by how they are asked, with the number of worlds."""
    found = []
    for name, asked in _ASKED.items():
        own = [row for row in rows if asked(row["world"]) and "lead" not in row["world"]]
        worlds = str(len(unique(own, "world")))
        found += [{**row, "asked by": name, "worlds": worlds} for row in own]
    return found


def _worst_mean(rows: Rows) -> str:
    """Show the worst and the mean share of claims, and the mean width."""
    worst = max(rows, key=lambda row: float(row["claims_percent"]))
    mean, width = (fmean(numbers(rows, name)) for name in ("claims_percent", "width_points"))
    return f"{worst['claims_percent']} ({worst['standard_error']}), {mean:.1f}, {width:.1f}"


TABLE_MEASURES = Measured(
    "table_measures.csv",
    pivot(("asked by", "worlds"), "measure", _worst_mean, "{}: worst, mean, width"),
    words="comparisons/all-classes",
    chosen=_asked,
)


# Error rates of comparison methods beside the source's ---------------------------------------------------------------

_FIGURES = {"type_1": "type I", "type_2": "type II", "agreement": "agreement"}


#: Rate of wrong labels of the source's tables 6.2 to 6.5.
_PUBLISHED_NOISE = 0.05
#: Type I, type II, agreement in percent; "class" is the source's class 0.
_PUBLISHED = {
    ("accuracy", "overlap"): (1.62, 1.58, 98.39),
    ("accuracy", "worst-case-overlap"): (0.0, 66.82, 71.45),
    ("accuracy", "hard-rows"): (0.0, 52.61, 77.53),
    ("precision", "overlap"): (1.24, 1.50, 98.64),
    ("precision", "worst-case-overlap"): (0.0, 11.94, 94.36),
    ("recall", "overlap"): (1.30, 1.35, 98.68),
    ("recall", "worst-case-overlap"): (0.0, 30.51, 85.57),
}
#: The same of accuracies after each of the :data:`CLEANINGS`, by correction.
_CLEANED = (
    ((1.59, 1.32, 98.53), (0.34, 5.79, 97.33), (0.56, 3.90, 98.01), (0.51, 2.34, 98.71)),
    ((1.53, 1.02, 98.69), (0.71, 2.60, 98.48), (0.76, 2.06, 98.69), (0.86, 1.32, 98.94)),
    ((2.20, 1.68, 98.02), (0.51, 9.22, 95.77), (0.32, 5.65, 97.40), (0.25, 2.77, 98.68)),
    ((2.35, 2.32, 97.67), (0.34, 9.39, 95.80), (0.60, 6.08, 97.06), (0.37, 3.05, 98.48)),
    ((3.02, 3.00, 96.99), (0.18, 16.58, 92.82), (0.39, 8.87, 95.99), (0.42, 4.28, 97.93)),
    ((1.50, 1.30, 98.59), (0.83, 2.65, 98.39), (0.88, 2.18, 98.57), (1.09, 1.51, 98.73)),
)


def _published() -> list[dict[str, Any]]:
    """Return the printed rows: measure, method, noise rate, type I, type II and agreement in percent."""
    cleaned = {
        ("accuracy", f"cleaned({rates}{correction})"): figures
        for rates, printed in zip(CLEANINGS, _CLEANED, strict=True)
        for correction, figures in zip(CORRECTIONS, printed, strict=True)
    }
    names = ("measure", "method", "noise", "type_1", "type_2", "agreement")
    rows = ((*key, _PUBLISHED_NOISE, *figures) for key, figures in {**_PUBLISHED, **cleaned}.items())
    return [dict(zip(names, row, strict=True)) for row in rows]


def _of(*, networks: bool) -> Callable[[Rows], Rows]:
    """Return what chooses the rows of the digits, or of the networks on accuracy, without simulated cleanings."""

    def chosen(rows: Rows) -> Rows:
        own = [
            row for row in rows if (row["data"] != "digits") == networks and not row["method"].startswith("cleaned(")
        ]
        return [row for row in own if float(row["noise"]) == _PUBLISHED_NOISE] if networks else own

    return chosen


def _beside(rows: Rows) -> Rows:
    """Return the rows of the digits at the source's rate of noise, with its figures; cleanings where it has them."""
    theirs = {(row["measure"], row["method"]): row for row in _published()}
    found = []
    for row in rows:
        cleaned = row["method"].startswith("cleaned(") and row["measure"] != "accuracy"
        if row["data"] == "digits" and float(row["noise"]) == _PUBLISHED_NOISE and not cleaned:
            source = theirs.get((row["measure"].partition(" ")[0], row["method"]))
            found.append({**row, **{f"their {name}": f"{source[name]:.2f}" if source else "" for name in _FIGURES}})
    return found


def _count(name: str) -> Callable[[Rows], str]:
    return lambda rows: f"{sum(numbers(rows, name)):,.0f}"


_BOTH = means("type_1", "type_2")
_ROWS = "comparison_methods.csv"
METHODS = Page(
    "results/comparison-methods.md",
    "Error rates of comparison methods",
    "comparison_methods",
    (
        Measured("comparison_methods_time.csv", words="comparison_methods/ran", chosen=lambda rows: rows[:1]),
        Measured(
            _ROWS,
            (
                *("measure", "method"),
                *((title, f"{{{name}:.2f}} ({{{name}_se:.2f}})") for name, title in _FIGURES.items()),
                *((f"source: {title}", f"{{their {name}}}") for name, title in _FIGURES.items()),
            ),
            words="comparison_methods/beside",
            chosen=_beside,
        ),
        Measured(
            _ROWS,
            pivot(("measure", "method"), "noise", _BOTH, "{:g%} noise"),
            words="comparison_methods/rates",
            chosen=_of(networks=False),
        ),
        Measured(
            _ROWS,
            pivot(("method",), "noise", means("labels_asked", form=",.0f"), "{:g%} noise"),
            words="comparison_methods/experts",
            chosen=lambda rows: [row for row in _of(networks=False)(rows) if float(row["labels_asked"] or 0)],
        ),
        Measured(
            _ROWS,
            pivot(("noise_kind", "method"), "data", _BOTH),
            words="comparison_methods/networks",
            chosen=_of(networks=True),
        ),
        Measured(
            _ROWS,
            pivot(("method",), "noise_kind", _count("reversed"), "{} noise"),
            words="comparison_methods/reversed",
            chosen=_of(networks=True),
        ),
        Measured(
            "annotated_images.csv",
            pivot(("noise_kind", "method"), "noise", _BOTH, "{:g%}"),
            words="comparison_methods/images",
            chosen=lambda rows: [row for row in rows if "cleaned(" not in row["method"]],
        ),
        Measured(
            "annotated_images.csv",
            pivot(("method",), "noise_kind", _count("n_type_1"), "{} noise"),
            words="comparison_methods/images-wrong",
        ),
        Measured(_ROWS, words="comparison_methods/why", chosen=lambda rows: rows[:1]),
    ),
)


# Language models -----------------------------------------------------------------------------------------------------

KNOWN = ("published labels taken as right", "rate of wrong labels known", "500 labels audited")
CORRECTED = "corrected labels"
_METHOD_COLUMNS = (
    *("method", "knows", "better means", "reference takes", "type I %", "type II %", "inconclusive pairs %"),
    *("chosen though not better", "expert labels", "where asked"),
)


def _errors(rows: Rows) -> dict[str, object]:
    """Return how many labels are wrong, and where."""
    questions, wrong = (int(sum(numbers(rows, name))) for name in ("questions", "wrong labels"))
    moved = sum(row["best, published"] != row["best, corrected"] for row in rows)
    return {
        "questions": questions,
        "wrong": wrong,
        "share": wrong / questions,
        "subjects": len(rows),
        "moved": moved,
        "clean": numbers(rows, "wrong labels").count(0),
        "reversed": int(sum(numbers(rows, "pairs in reversed order"))),
    }


def survival(rows: Rows) -> str:
    """Show how many differences each kind of knowledge shows, and how far they are those of the corrected answers."""
    body = []
    for known in (*KNOWN, CORRECTED):
        shown = [row for row in rows if row[known] != "open"]
        same = [row for row in shown if row[known] == row[CORRECTED]]
        against = [row for row in shown if row[CORRECTED] not in ("open", row[known])]
        body.append([known, *(str(len(one)) for one in (shown, same, against))])
    return table(["known", "pairs that differ", "as by corrected labels", "contradicted by these"], body)


MMLU = Page(
    "results/mmlu-redux.md",
    "MMLU-Redux: ten language models",
    "mmlu",
    (
        Measured("mmlu_redux_subjects.csv", words="mmlu/errors", figures=_errors),
        Measured("mmlu_redux_pairs.csv", survival, words="mmlu/survival"),
        Measured(
            "mmlu_redux_ranks.csv",
            (
                *("model", "accuracy, published", "accuracy, corrected"),
                *((known, f"{{ranks, {known}}}") for known in (*KNOWN, CORRECTED)),
            ),
            words="mmlu/ranks",
        ),
        Measured("mmlu_redux_pairs.csv", words="mmlu/pairs"),
        Measured(
            "mmlu_redux.csv",
            _METHOD_COLUMNS,
            words="mmlu/together",
            chosen=lambda rows: [row for row in rows if row["questions"] == "all together"],
        ),
        Measured(
            "mmlu_redux_subjects.csv",
            words="mmlu/subjects",
            chosen=lambda rows: sorted(rows, key=lambda row: -float(row["wrong labels %"]))[:12],
        ),
        Measured(
            "mmlu_redux.csv",
            _METHOD_COLUMNS,
            words="mmlu/by-subject",
            chosen=lambda rows: [row for row in rows if row["questions"] == "by subject"],
        ),
    ),
)


#: By the line of a page in whose place each is put.
MARKS: Mapping[str, Callable[[Path], str]] = {
    "<!-- measured-streaming -->": STREAMING,
    "<!-- measured-out_of_core -->": OUT_OF_CORE,
    "<!-- measured-sparse -->": SPARSE,
    "<!-- measured-beside -->": Measured("beside.csv"),
    "<!-- measured-beside-metrics -->": SPEED,
    "<!-- measured-entropy -->": ENTROPY,
    "<!-- measured-fabrics -->": FABRICS,
    "<!-- measured-fabric-annotators -->": FABRIC_ANNOTATORS,
    "<!-- measured-annotators -->": ANNOTATORS,
    "<!-- arrays -->": arrays,
    "<!-- disentanglement_lib -->": DLIB,
    "<!-- latte -->": LATTE,
    "<!-- mcc-infomec-snc -->": NEWER,
    "<!-- measured-comparisons -->": POWER_OF_CHOSEN,
    "<!-- measured-corners -->": WORST_CORNERS,
    "<!-- measured-table-measures -->": TABLE_MEASURES,
    "<!-- measured-comparison-methods -->": Measured(_ROWS, words="comparison_methods/link"),
}
