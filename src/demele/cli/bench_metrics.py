"""``demele bench metrics`` and ``show``: metrics are measured where the truth is known, a user's own among them."""

from functools import wraps
from typing import Any

from demele.bench.check_metrics import check_metrics
from demele.bench.metric_documents import Characterisation, load, reference
from demele.bench.run import QUICK_ROWS, QUICK_SEEDS, chosen_candidates
from demele.cli.engine import Call, Command, Given
from demele.cli.functions import chosen_metrics, chosen_scenarios
from demele.files.python_files import PythonFiles


@wraps(check_metrics)
def _with_published(*data: Any, **options: Any) -> Any:
    return check_metrics(*data, **options).with_published()


def _measured(given: Given, *, quick: bool = False, alone: bool = False) -> Call:
    """Read metrics and scenarios.

    Parameters
    ----------
    quick : bool
        A first look: few seeds and rows, no slow metrics. About 870 calls of your metric.
    alone : bool
        Do not show the published metrics under your own.
    """
    files = PythonFiles()
    more = given.read(
        metrics=lambda names: chosen_metrics(names, files), scenarios=lambda names: chosen_scenarios(names, files)
    )
    if quick and "metrics" not in more:
        more["metrics"] = [item.name for item in chosen_candidates(None) if not item.slow]
    if quick:
        seeds = given.take("seeds", {})
        more["seeds"] = {**QUICK_SEEDS, **seeds} if isinstance(seeds, dict) else seeds
        more["n_rows"] = given.take("n_rows", QUICK_ROWS)
    return given.bind(check_metrics if alone else _with_published, **more)


def show(path: object = None, *, alone: bool = False) -> Characterisation:
    """Show a characterisation that was saved, or the stored one of the published metrics.

    Parameters
    ----------
    alone : bool
        Do not show the published metrics under your own.
    """
    found = reference() if path is None else load(path)  # type: ignore[arg-type]
    return found if alone else found.with_published()


METRICS = Command(
    {"": check_metrics},
    run=lambda given: given.call(_measured, given),
    short="metrics scenarios seeds n_rows quick alone store n_jobs",
    readers=(_measured,),
    details="""\
Metrics are those of demele and functions (codes, factors) -> float of a Python file: FILE.py::name. They get arrays
(n_samples, n_codes) and (n_samples, n_factors). --scenarios source,settings are those of the ten criteria of the
review; a scenario of your own is a demele.bench.Scenario, FILE.py::name. With --store, the same command continues
where it stopped; metrics of a file that was changed are measured again.

NAME.json.gz holds every value, for demele bench show; NAME.values.csv and NAME.curves.csv hold a row per value, and
per point of each curve.
""",
    examples="""\
demele bench metrics --metrics mine.py::best_correlation --quick -o mine.html
demele bench metrics --metrics mig,sap,mine.py::best_correlation --seeds 20 --store rows.jsonl
demele bench metrics --seeds source=100,added=20 --jobs 2 --store rows.jsonl -o all.json.gz
""",
)
SHOW = Command(
    {"": show},
    ("[FILE]",),
    short="alone",
    called={"path": "FILE"},
    examples="""\
demele bench show all.json.gz -o all.html
demele bench show --format csv
""",
)
