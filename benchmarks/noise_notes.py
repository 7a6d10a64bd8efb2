"""Do codes of noise that score well get a note, and do informative codes of ordinary size get none?

Every representation of the scan has codes drawn independently of the factors; the nominal level of chance is 0. A score
above 0.1 without a *fragile* note is a miss. The other half scores representations whose codes tell the factors.

    python -m benchmarks.noise_notes [STORE]     runs all, or goes on where it stopped; writes results/noise_notes.csv
    python -m benchmarks.noise_notes grid        every metric, newer ones as well, on noise: 100 to 5 000 rows, up to
                                                 64 codes; goes on where it stopped; writes results/noise_grid.csv

The grid has DCI, by both importances, up to 3 000 codes times rows and with one draw in place of three, NK of larger
ones with one draw too, and Z-diff up to 40 000: their calls take seconds.
"""

import itertools
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

import demele
from benchmarks.cases import write_rows
from demele.bench.scenario import Representation
from demele.bench.scenarios import SCENARIOS
from demele.core.seeds import rng_for
from demele.core.store import Store
from demele.data import demo, demo_names
from demele.estimation.independence import dependence

STORE = Path(__file__).parent / "results" / "noise_notes.jsonl"
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
        warnings.simplefilter("ignore", demele.DemeleWarning)
        found = demele.evaluate(
            codes,
            factors,
            metrics,
            protocol=protocol,
            seed=seed,
            codes_std=np.full_like(codes, 1e-3),
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


def run_noise(store: Store) -> None:
    """Score all representations of noise that are not stored yet."""
    for index in range(REPRESENTATIONS):
        key = ("noise", str(index))
        if key in store:
            continue
        codes, factors, about = noise(index)
        protocol = protocol_of(index)
        n, d = codes.shape
        if n * d > SLOW_UP_TO:
            protocol = "review2022"
        small = n * d <= DCI_UP_TO and index % DCI_EACH == 0
        metrics = applicable(QUICK + (DCI if small else ()), d, factors.shape[1])
        if n * d > SLOW_UP_TO:
            metrics = tuple(name for name in metrics if name != "z_diff")
        try:
            found = scored(codes, factors, metrics, protocol, index)
        except demele.NotEnoughData as error:  # z_max_variance of few rows: no two agree on all factors but one
            metrics = tuple(name for name in metrics if name != "z_max_variance")
            found = {**scored(codes, factors, metrics, protocol, index), "without": str(error)}
        store.append([(key, {**about, "protocol": protocol, **found})])
        if index % 20 == 0:
            print(f"{index} of {REPRESENTATIONS}", flush=True)


def run_nulls(store: Store) -> None:
    """Look for dependence in noise only, often: the share found is what every metric's note misses."""
    for block in range(NULLS // 100):
        key = ("nulls", str(block))
        if key in store:
            continue
        told = 0
        for index in range(100 * block, 100 * block + 100):
            codes, factors, _ = noise(10_000 + index)
            columns = [
                (factors[name].to_numpy(), False)
                if factors[name].dtype == float
                else (np.unique(factors[name], return_inverse=True)[1], True)
                for name in factors
            ]
            told += dependence(codes, columns).told
        store.append([(key, {"told": int(told), "of": 100})])
        print(f"nulls {100 * block + 100} of {NULLS}", flush=True)


def informative() -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Representations whose codes tell the factors: the bench's scenarios with 2 000 rows, and the bundled ones."""
    for name, scenario in SCENARIOS.items():
        steps = scenario.severities
        for severity in dict.fromkeys((steps[0], steps[len(steps) // 2], steps[-1])):
            drawn = scenario.draw(rng_for(0, "noise-notes", name, f"{severity:g}"), severity, 2_000)
            codes, factors = (drawn.codes, drawn.factors) if isinstance(drawn, Representation) else drawn
            yield ("scenario", name, f"{severity:g}"), codes, factors
    for name in demo_names():
        sample = demo(cast(Any, name))
        yield ("demo", name, ""), sample.codes, sample.factors


def run_informative(store: Store) -> None:
    """Score what is not stored yet."""
    for key, codes, factors in informative():
        if key in store:
            continue
        frame = pd.DataFrame(factors)
        frame = frame.loc[:, frame.nunique() > 1]
        values = np.asarray(codes, dtype=float)
        metrics = applicable((*OF_INFORMATIVE, "dci_lasso_modularity"), values.shape[1], frame.shape[1])
        store.append(
            [(key, {"n": len(values), "d": values.shape[1], **scored(values, frame, metrics, "review2022", 0)})]
        )
        print(*key, flush=True)


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


def run_grid(store: Store) -> None:
    """Score noise of every size and kind with every metric of the catalogue; DCI where its predictors take seconds."""
    for n, d, kind in itertools.product(GRID_ROWS, GRID_WIDTHS, ("continuous", "categorical")):
        for draw in range(GRID_DRAWS):
            key = ("grid", str(n), str(d), kind, str(draw))
            if key in store:
                continue
            rng = rng_for(0, "noise-grid", n, d, kind, draw)
            codes, factors = codes_of("independent", rng, n, d), factors_of(kind, rng, n)
            found: dict[str, Any] = {}
            for names, of, options in grid_asks(n, d, factors.shape[1], draw):
                try:
                    one = scored(codes, factors, names, "review2022", draw, undefined=True, options=options)["scores"]
                except demele.NotEnoughData:
                    one = {name: [None, ["refused"]] for name in names}
                found |= {f"{name}{of}": pair for name, pair in one.items()}
            store.append([(key, {"n": n, "d": d, "factors": kind, "scores": found})])
            print(*key, flush=True)


def grid_summary(store: Store) -> list[dict[str, object]]:
    """One row for each metric and number of rows and codes."""
    cells: dict[tuple[str, int, int], list[list[Any]]] = {}
    for key in store:
        one = store[key]
        for name, pair in one["scores"].items():
            cells.setdefault((name, one["n"], one["d"]), []).append(pair)
    rows: list[dict[str, object]] = []
    for (name, n, d), pairs in sorted(cells.items()):
        known = [value for value, _ in pairs if value is not None]
        high = [notes for value, notes in pairs if value is not None and value > ABOVE]
        row: dict[str, object] = {"metric": name, "n": n, "d": d, "scores": len(pairs)}
        row |= {"undefined": len(pairs) - len(known), "mean": round(float(np.mean(known)), 4) if known else ""}
        row |= {"largest": round(max(known), 4) if known else "", "above": len(high)}
        rows.append({**row, "above_without_a_note": sum(not notes for notes in high)})
    return rows


def summary(store: Store) -> list[dict[str, object]]:
    """One row for each metric on noise, and for each scenario of informative codes."""
    rows: list[dict[str, object]] = []
    records = {key: store[key] for key in store}
    of_noise = [one for key, one in records.items() if key[0] == "noise"]
    names = list(dict.fromkeys(name for one in of_noise for name in one["scores"]))
    for name in ("all", *names):
        pairs = [pair for one in of_noise for other, pair in one["scores"].items() if name in ("all", other)]
        high = [notes for value, notes in pairs if value > ABOVE]
        missed = sum(not notes for notes in high)
        own = sum(not set(notes) & set(NOTES) for notes in high)
        rows.append(
            {
                "what": "noise",
                "of": name,
                "scores": len(pairs),
                "above": len(high),
                "largest": round(max((value for value, _ in pairs), default=0.0), 3),
                "without_a_note": missed,
                "without_the_new_notes": own,
                "share_missed": round(missed / max(len(high), 1), 4),
            }
        )
    nulls = [one for key, one in records.items() if key[0] == "nulls"]
    told, of = sum(one["told"] for one in nulls), sum(one["of"] for one in nulls)
    if of:
        rows.append({"what": "dependence found in noise", "of": "", "scores": of, "above": told})
    for what in ("scenario", "demo"):
        for name in dict.fromkeys(key[1] for key in records if key[0] == what):
            own_pairs = [
                pair for key, one in records.items() if key[:2] == (what, name) for pair in one["scores"].values()
            ]
            false = sum(bool(set(notes) & set(NOTES)) for _, notes in own_pairs)
            rows.append({"what": what, "of": name, "scores": len(own_pairs), "above": false})
    return rows


def main(path: Path) -> None:
    """Run all, and write the summary."""
    if path.name == "grid":
        with Store(STORE.with_name("noise_grid.jsonl"), {"benchmark": "noise-grid", "version": 1}) as store:
            run_grid(store)
            print(write_rows("noise_grid", grid_summary(store)))
        return
    with Store(path, {"benchmark": "noise-notes", "version": 1}) as store:
        run_noise(store)
        run_informative(store)
        run_nulls(store)
        print(write_rows("noise_notes", summary(store)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else STORE)
