"""Do codes of noise that score well get a note, and do informative codes of ordinary size get none?

Every representation of the scan has codes drawn independently of the factors; the nominal level of chance is 0. A score
above 0.1 without a *fragile* note is a miss. The other half scores representations whose codes tell the factors.

    python -m benchmarks.noise_notes notes   goes on where it stopped; writes results/noise_notes.csv
    python -m benchmarks.noise_notes grid    every metric, newer ones as well, on noise: 100 to 5 000 rows, up to 64
                                             codes; goes on where it stopped; writes results/noise_grid.csv

The grid has DCI, by both importances, up to 3 000 codes times rows and with one draw in place of three, NK of larger
ones with one draw too, and Z-diff up to 40 000: their calls take seconds.
"""

import itertools
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import demele
from benchmarks.loop import Row, Table, main
from demele.bench.scenarios import SCENARIOS
from demele.core.arrays import rng_for
from demele.data.examples import DIGITS, digits_example
from demele.estimation.independence import dependence

REPRESENTATIONS = 500
NULLS = 1_000
#: Nominal chance is 0; what is above it by more than this needs a note.
ABOVE = 0.1
WIDTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
ROWS = (100, 200, 300, 500, 1000, 2000)
CODES = ("independent", "correlated", "heavy tails", "dead", "few values", "sparse")
FACTORS = ("continuous", "categorical", "correlated", "rare classes", "mixed")
#: Codes times rows up to which Z-diff, and protocols of nearest neighbours or thousands of votes, are scored too.
SLOW_UP_TO = 40_000
#: Codes times rows up to which DCI, whose predictors take minutes beyond, is scored too; with each so many draws.
DCI_UP_TO, DCI_EACH = 3_000, 20
QUICK = (
    *("mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "xmig", "dlig", "rmig"),
    *("explicitness", "sap", "z_diff", "z_min_variance", "z_max_variance", "irs"),
)
DCI = tuple(
    f"dci_{model}_{what}"
    for model in ("lasso", "forest", "boosting")
    for what in ("modularity", "compactness", "explicitness")
)
#: The grid: rows, codes, and representations of each size and kind of factors.
GRID_ROWS, GRID_WIDTHS, GRID_DRAWS = (100, 300, 1000, 5000), (4, 16, 64), 3
#: What a call of the grid is asked for: metrics that share a fit, with what is put behind their names, and options.
Ask = tuple[tuple[str, ...], str, dict[str, dict[str, object]]]
#: Not scored where codes tell: what needs a code named for each factor, groups of many factors, or its own input.
OF_INFORMATIVE = tuple(name for name in QUICK if name not in ("rmig", "z_max_variance", "xmig", "dmig", "dlig"))
NOTES = ("noise", "many-codes", "unexplained")


def codes_of(kind: str, rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Codes that know nothing."""
    codes = rng.normal(size=(n, d))
    if kind == "correlated":
        codes = rng.normal(size=(n, max(d // 5, 1))) @ rng.normal(size=(max(d // 5, 1), d)) + 0.3 * codes
    elif kind == "heavy tails":
        codes = rng.standard_t(1, size=(n, d))
    elif kind == "dead":
        codes[:, rng.random(d) < 0.5] = 0.25
        codes[:, 0] = rng.normal(size=n)
    elif kind == "few values":
        codes = rng.integers(0, 3, size=(n, d)).astype(float)
        codes[:2] = [[0.0], [1.0]]
    elif kind == "sparse":
        codes = np.where(rng.random((n, d)) < 0.03, np.abs(codes), 0.0)
        codes[rng.integers(n), :] = 1.0
    return codes


def factors_of(kind: str, rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Factors of one kind."""
    numbers = rng.random((n, 3))
    if kind == "correlated":
        numbers = rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, 3))
    columns: dict[str, object] = {f"number{j}": numbers[:, j] for j in range(3)}
    classes = {
        "even": rng.choice(list("abc"), n),
        "rare": rng.choice(list("abcd"), n, p=[0.9, 0.05, 0.03, 0.02]),
        "two": rng.choice(["no", "yes"], n),
    }
    if kind == "categorical":
        columns = {"even": classes["even"], "two": classes["two"], "many": rng.integers(0, 12, n).astype(str)}
    elif kind == "rare classes":
        columns = {"rare": classes["rare"], "rarer": np.where(rng.random(n) < 0.03, "yes", "no"), **columns}
    elif kind == "mixed":
        columns = {"even": classes["even"], "rare": classes["rare"], "number0": numbers[:, 0]}
    return pd.DataFrame(columns)


def noise(index: int) -> tuple[np.ndarray, pd.DataFrame, dict[str, object]]:
    """One representation of noise; all combinations of kinds occur equally often."""
    rng = rng_for(0, "noise-notes", index)
    of_codes, of_factors = CODES[index % len(CODES)], FACTORS[index % len(FACTORS)]
    n, d = int(rng.choice(ROWS)), int(rng.choice(WIDTHS))
    about = {"codes": of_codes, "factors": of_factors, "n": n, "d": d}
    return codes_of(of_codes, rng, n, d), factors_of(of_factors, rng, n), about


def scored(
    codes: np.ndarray,
    factors: pd.DataFrame,
    metrics: Sequence[str],
    protocol: str,
    seed: int,
    *,
    undefined: bool = False,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, Any]:
    """Scores of one representation, with the codes of their fragile notes; with ``undefined``, None for no value."""
    sizes = {"n_train": 800, "n_test": 800}
    own = {name: sizes for name in ("z_diff", "z_min_variance") if name in metrics or not undefined}
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        found = demele.evaluate(
            demele.Codes(codes, std=np.full_like(codes, 1e-3)),
            factors,
            metrics,
            protocol=protocol,
            seed=seed,
            options={**own, **(options or {})},
        )
    return {
        "scores": {
            score.metric: [
                score.value if score.value == score.value else None,
                sorted({note.code for note in score.notes if note.severity == "fragile"}),
            ]
            for score in found
            if undefined or score.value == score.value
        },
        "seconds": time.perf_counter() - started,
    }


def applicable(metrics: Sequence[str], d: int, m: int) -> tuple[str, ...]:
    """Metrics that have a value of so many codes and factors."""
    from demele.metrics.catalogue import CATALOGUE

    needs_more = {"xmig": m + 1, "dmig": m, "dlig": m}
    return tuple(
        name
        for name in metrics
        if d >= max(CATALOGUE[name].needs_codes, needs_more.get(name, 1)) and m >= CATALOGUE[name].needs_factors
    )


def protocol_of(index: int) -> str:
    """The default for most; the others in turn."""
    others = ("dlib2019", "latte", "robust")
    return "review2022" if index % 4 else others[(index // 4) % 3]


def of_noise(index: int) -> dict[str, Any]:
    """Score a representation of noise."""
    codes, factors, about = noise(index)
    n, d = codes.shape
    slow = n * d > SLOW_UP_TO
    protocol = "review2022" if slow else protocol_of(index)
    small = n * d <= DCI_UP_TO and index % DCI_EACH == 0
    metrics = applicable(QUICK + (DCI if small else ()), d, factors.shape[1])
    metrics = tuple(name for name in metrics if name != "z_diff" or not slow)
    try:
        found = scored(codes, factors, metrics, protocol, index)
    except demele.errors.NotEnoughData as error:  # z_max_variance of few rows: no two agree on all factors but one
        metrics = tuple(name for name in metrics if name != "z_max_variance")
        found = {**scored(codes, factors, metrics, protocol, index), "without": str(error)}
    return {**about, "protocol": protocol, **found}


def of_nulls(block: int) -> dict[str, Any]:
    """Look for dependence in noise only, 100 times: the share found is what every metric's note misses."""
    told = 0
    for index in range(100 * block, 100 * block + 100):
        codes, factors, _ = noise(10_000 + index)
        columns = [
            (factors[name].to_numpy(), False)
            if factors[name].dtype == float
            else (np.unique(factors[name], return_inverse=True)[1], True)
            for name in factors
        ]
        told += dependence(codes, columns).detected
    return {"told": int(told), "of": 100}


def informative() -> list[tuple[str, str, Any]]:
    """Representations whose codes tell the factors: the bench's scenarios with 2 000 rows, and the bundled ones."""
    found: list[tuple[str, str, Any]] = []
    for name, scenario in SCENARIOS.items():
        steps = scenario.severities
        found += [("scenario", name, one) for one in dict.fromkeys((steps[0], steps[len(steps) // 2], steps[-1]))]
    return found + [("demo", name, "") for name in DIGITS]


def of_informative(what: str, name: str, severity: Any) -> dict[str, Any]:
    """Score codes that tell the factors."""
    if what == "demo":
        sample: Any = digits_example(name)
    else:
        sample = SCENARIOS[name].draw(rng_for(0, "noise-notes", name, f"{severity:g}"), severity, 2_000)
    codes, factors = sample if isinstance(sample, tuple) else (sample.codes, sample.factors)
    frame = pd.DataFrame(factors)
    frame = frame.loc[:, frame.nunique() > 1]
    values = np.asarray(codes, dtype=float)
    metrics = applicable((*OF_INFORMATIVE, "dci_lasso_modularity"), values.shape[1], frame.shape[1])
    return {"n": len(values), "d": values.shape[1], **scored(values, frame, metrics, "review2022", 0)}


def measured(cell: tuple[Any, ...]) -> dict[str, Any]:
    """Return what is kept of a cell: its kind, and what it is about."""
    what, *about = cell
    own: Any = {"noise": of_noise, "nulls": of_nulls}.get(what)
    return dict(own(*about)) if own else of_informative(what, *about)


def grid_asks(n: int, d: int, m: int, draw: int) -> Iterator[Ask]:
    """Yield what is asked of noise of one size: all metrics of the catalogue that take no more than seconds."""
    from demele.metrics.catalogue import CATALOGUE

    small = n * d <= DCI_UP_TO
    slow = {"z_diff"} if n * d > SLOW_UP_TO else set()
    if not small and draw > 0:
        slow.add("nk")
    names = applicable([name for name in CATALOGUE if name not in slow], d, m)
    yield from (((name,), "", {}) for name in names if name not in DCI)
    if small and draw == 0:
        for model in ("lasso", "forest", "boosting"):
            of_model = tuple(name for name in names if name.startswith(f"dci_{model}_"))
            of_codes = tuple(name for name in of_model if not name.endswith("explicitness"))
            yield of_model, "", {}
            yield of_codes, " (permutation)", {f"dci_{model}": {"importance": "permutation"}}


def of_grid(cell: tuple[int, int, str, int]) -> dict[str, Any]:
    """Score noise of one size and kind with every metric of the catalogue; DCI where its predictors take seconds."""
    n, d, kind, draw = cell
    rng = rng_for(0, "noise-grid", *cell)
    codes, factors = codes_of("independent", rng, n, d), factors_of(kind, rng, n)
    found: dict[str, Any] = {}
    for names, of, options in grid_asks(n, d, factors.shape[1], draw):
        try:
            one = scored(codes, factors, names, "review2022", draw, undefined=True, options=options)["scores"]
        except demele.errors.NotEnoughData:
            one = {name: [None, ["refused"]] for name in names}
        found |= {f"{name}{of}": pair for name, pair in one.items()}
    return found


def grid_rows(found: list[tuple[tuple[int, int, str, int], dict[str, Any]]]) -> Iterator[Row]:
    """Yield one row for each metric and number of rows and codes."""
    cells: dict[tuple[str, int, int], list[list[Any]]] = {}
    for (n, d, _, _), scores in found:
        for name, pair in scores.items():
            cells.setdefault((name, n, d), []).append(pair)
    for (name, n, d), pairs in sorted(cells.items()):
        known = [value for value, _ in pairs if value is not None]
        high = [notes for value, notes in pairs if value is not None and value > ABOVE]
        row: Row = {"metric": name, "n": n, "d": d, "scores": len(pairs)}
        row |= {"undefined": len(pairs) - len(known), "mean": round(float(np.mean(known)), 4) if known else ""}
        row |= {"largest": round(max(known), 4) if known else "", "above": len(high)}
        yield {**row, "above_without_a_note": sum(not notes for notes in high)}


def rows_of(found: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> Iterator[Row]:
    """Yield one row for each metric on noise, and for each scenario of informative codes."""
    of_noise = [pair for cell, one in found if cell[0] == "noise" for pair in one["scores"].items()]
    for name in ("all", *dict.fromkeys(metric for metric, _ in of_noise)):
        pairs = [pair for metric, pair in of_noise if name in ("all", metric)]
        high = [notes for value, notes in pairs if value > ABOVE]
        missed = sum(not notes for notes in high)
        yield {
            "what": "noise",
            "of": name,
            "scores": len(pairs),
            "above": len(high),
            "largest": round(max((value for value, _ in pairs), default=0.0), 3),
            "without_a_note": missed,
            "without_the_new_notes": sum(not set(notes) & set(NOTES) for notes in high),
            "share_missed": round(missed / max(len(high), 1), 4),
        }
    nulls = [one for cell, one in found if cell[0] == "nulls"]
    told, of = (sum(one[name] for one in nulls) for name in ("told", "of"))
    yield {"what": "dependence found in noise", "of": "", "scores": of, "above": told}
    for what, name in dict.fromkeys(cell[:2] for cell, _ in found if cell[0] in ("scenario", "demo")):
        own = [pair for cell, one in found if cell[:2] == (what, name) for pair in one["scores"].values()]
        false = sum(bool(set(notes) & set(NOTES)) for _, notes in own)
        yield {"what": what, "of": name, "scores": len(own), "above": false}


def cells() -> list[tuple[Any, ...]]:
    """Everything that is scored, by kind."""
    nulls = [("nulls", block) for block in range(NULLS // 100)]
    return [*(("noise", index) for index in range(REPRESENTATIONS)), *informative(), *nulls]


GRID = list(itertools.product(GRID_ROWS, GRID_WIDTHS, ("continuous", "categorical"), range(GRID_DRAWS)))

if __name__ == "__main__":
    main(
        {
            "noise_notes": Table(cells=cells, measured=measured, rows=rows_of, store=True),
            "noise_grid": Table(cells=GRID, measured=of_grid, rows=grid_rows, store=True),
        }
    )
