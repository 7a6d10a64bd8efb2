"""Published code beside ours: their numbers, ours under their protocol, ours by default.

Writes results/protocols.csv. ``python -m benchmarks.protocols`` takes about half an hour on a quiet core, most of it
boosted trees, and goes on where it stopped.

Theirs is in results/protocols_published.csv: values that the code of disentanglement_lib (commit 86a644d4) and of
Latte (623fae2b) gave on the arrays of ``benchmarks/protocol_arrays.py``, run unchanged with scikit-learn 1.9.1 and
NumPy 2.4.6. Stand-ins took the place of gin, absl and six, which carry settings and messages; the settings were those
of the large study (``unsupervised_study_v1``), and 0.99 for the quantile of IRS, its default.

MIG, Modularity and IRS are of all rows. SAP and Explicitness were fitted and judged on the rows that demele draws
with seed 0 (8 and 3 repeats), DCI on those that it draws of the first 3 000 rows. beta-VAE and FactorVAE scores
sample: theirs through rows of the array that have the classes asked for; means over ``runs`` seeds. Factors that are
continuous were cut into 20 classes, but for SAP and IRS. Latte's are of the first 3 000 rows after ``latte.seed(7)``,
one for each attribute.

Those of MCC are of the code of Khemakhem et al. (icebeem, 0077f012), unchanged; those of InfoMEC of the code of Hsu et
al. (latent_quantization, 9a420a33) after ``np.random.seed(0)``, with two repairs without which it does not run on these
versions: an argument that scikit-learn removed is left out, and an array of one number is read as a number. Quantised
codes are the same in 8 equal-width bins; theirs needs to be told, and ours the bins and the rule for active codes. That
of SNC is of the code of Mahon et al. (snc_nk, e031048), unchanged, after ``np.random.seed(0)``: the mean over factors
of the accuracy of one code, mapped and judged on all rows.
"""

import csv
import warnings
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

import demele
from benchmarks.cases import RESULTS
from benchmarks.loop import Row, Table, main
from benchmarks.protocol_arrays import ARRAYS, Array, cut_classes, latte_rows
from demele.core.errors import DemeleWarning

PUBLISHED = RESULTS / "protocols_published.csv"
DCI_ROWS = 3_000
LATTE_SEED = 7
#: These take continuous factors as they are.
NUMBERS = ("sap", "irs")

#: Codes in so many equal-width bins, a value each.
LEVELS = 8
QUANTISED = "latent_quantization, quantised codes"
_EVERY_CODE_THAT_VARIES = {"estimator": "histogram", "active": "range", "active_share": 1e-12}
#: What has the published settings of the newer scores.
NEWER: Mapping[str, Mapping[str, object]] = {
    "icebeem": {"protocol": "mcc2020"},
    "latent_quantization": {"protocol": "infomec2023"},
    QUANTISED: {
        "protocol": "infomec2023",
        "bins": np.arange(LEVELS + 1) - 0.5,
        "options": {
            "infom": _EVERY_CODE_THAT_VARIES,
            "infoc": _EVERY_CODE_THAT_VARIES,
            "infoe": {"encoding": "one-hot"},
        },
    },
    "snc_nk": {
        "options": {
            "snc": {"mapping": "one-to-one", "share": True, "report": "unscaled", "score_on": "training"},
        },
    },
}

_DCI: dict[str, tuple[demele.Evaluation, demele.Evaluation]] = {}


@cache
def published() -> dict[tuple[str, str, str], list[Mapping[str, str]]]:
    """Their values by source, array and metric; Latte has one for each attribute."""
    found: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
    with PUBLISHED.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault((row["source"], row["array"], row["metric"]), []).append(row)
    return found


def compared(cell: tuple[str, str, str]) -> Iterator[Row]:
    """Rows of one metric on one array."""
    source, array, metric, theirs = cell[0], ARRAYS[cell[1]], cell[2], published()[cell]
    if source == "latte":
        codes, factors = latte_rows(array)
        as_numbers, keywords = array.continuous, {"protocol": "latte", "seed": LATTE_SEED}
    elif source in NEWER:
        codes, factors = array.drawn()
        as_numbers, keywords = source == "icebeem", dict(NEWER[source])
        if array.continuous and not as_numbers:
            factors = cut_classes(factors)
        if source == QUANTISED:
            codes = cut_classes(codes, LEVELS)
    else:
        codes, factors = array.drawn()
        as_numbers = array.continuous and metric in NUMBERS
        runs = 1 if metric in ("mig", "modularity", "irs") else int(theirs[0]["runs"])
        keywords = {"protocol": "dlib2019", "n_repeats": runs}
        if array.continuous and not as_numbers:
            factors = cut_classes(factors)
        if metric.startswith("dci_"):
            codes, factors = codes[:DCI_ROWS], factors[:DCI_ROWS]
    given = factors if as_numbers else factors.astype(int)
    kinds = "continuous" if as_numbers else "categorical"
    under, default = _scores(array.name, metric, codes, given, kinds, keywords)
    fragile = " ".join(sorted({note.code for note in under.notes if note.severity == "fragile"}))
    for place, row in enumerate(theirs):
        values = [score.value if source != "latte" else float(_native(score)[place]) for score in (under, default)]
        yield {
            "source": source,
            "array": array.name,
            "metric": metric,
            "attribute": row["attribute"],
            "theirs": f"{float(row['value']):.6f}",
            "their standard error": f"{float(row['standard_error']):.4f}" if row["standard_error"] else "",
            "under the protocol": f"{values[0]:.6f}",
            "difference": f"{values[0] - float(row['value']):.2e}",
            "by default": f"{values[1]:.6f}",
            "notes": fragile,
        }


def _scores(
    name: str, metric: str, codes: Array, factors: Array, kinds: str, keywords: Mapping[str, object]
) -> tuple[demele.Score, demele.Score]:
    """Score under the protocol and by default; the three scores of DCI are computed once."""
    if not metric.startswith("dci_"):
        under = demele.evaluate(codes, demele.Factors(factors, kinds=kinds), metric, **keywords)  # type: ignore[arg-type]
        return under[metric], demele.evaluate(codes, demele.Factors(factors, kinds=kinds), metric)[metric]
    if name not in _DCI:
        _DCI.clear()  # arrays come one after the other
        triple = [f"{metric.rpartition('_')[0]}_{prop}" for prop in ("modularity", "compactness", "explicitness")]
        under = demele.evaluate(codes, demele.Factors(factors, kinds=kinds), triple, **keywords)  # type: ignore[arg-type]
        _DCI[name] = under, demele.evaluate(codes, demele.Factors(factors, kinds=kinds), triple)
    under, default = _DCI[name]
    return under[metric], default[metric]


def _native(score: demele.Score) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = score.per_code if score.per_factor is None else score.per_factor
    if found is None:
        raise ValueError(f"{score.metric} has no native values")
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore", DemeleWarning)
    main({"protocols": Table(cells=list(published()), measured=compared, store=True)})
