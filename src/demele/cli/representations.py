"""``demele score`` and ``probe``; and codes, factors and functions of files as commands read them."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from glob import glob
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from demele.cli.engine import Call, Command, Given
from demele.core.arrays import pd
from demele.core.errors import InputError, InputTypeError
from demele.core.given_data import Codes, Factors
from demele.core.inputs import read_factors
from demele.core.reading import real_path
from demele.files.audit_files import read_factor_noise
from demele.files.label_files import column
from demele.files.named import holds_sparse, names_of_codes, read_sparse, read_table, split_name, without_row_numbers
from demele.files.python_files import PythonFiles
from demele.files.table_files import Warn
from demele.metrics.standalone.downstream import downstream, reduced_downstream
from demele.metrics.standalone.fairness import fairness, strong_downstream
from demele.metrics.standalone.unsupervised import udr, unsupervised_scores
from demele.scoring import evaluate as evaluating
from demele.scoring.concepts import absorption, sparse_probing, splitting
from demele.scoring.evaluate import evaluate, read_in_pieces
from demele.scoring.several import breakdown, compare_representations
from demele.scoring.sparse import evaluate_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demele.bench import Scenario
    from demele.metrics.metric import Metric
    from demele.outofcore.tables import ParquetTable


def read_or_scan(text: str, *, warn: Warn) -> "NDArray[Any] | pd.DataFrame | ParquetTable":
    """Read codes or factors, or only name them if they are read a piece at a time.

    Parameters
    ----------
    text : str
        As for :func:`read_table`; also ``FOLDER`` and ``FOLDER::a,b``: all Parquet files in a folder.
    warn : callable
        Called with one line for anything that was guessed.

    Returns
    -------
    array, DataFrame or ParquetTable
        The last for folders, and for Parquet files whose columns would take more than 4 GiB.

    Raises
    ------
    FormatError, UnknownNameError, OSError
        As :func:`read_table`.
    """
    path, names = split_name(text)
    if path.is_dir() or (path.suffix.lower() == ".parquet" and path.exists()):
        from demele.outofcore.tables import scan_parquet

        scanned = scan_parquet(path, names or None)
        if path.is_dir() or scanned.n * len(scanned.names) * 8 > evaluating.LARGEST_MAPPED:
            return scanned
    table = read_table(text, warn=warn)
    return table if names or isinstance(table, np.ndarray) else without_row_numbers(table, path, warn)


def read_codes_and_factors(given: Given, codes: Sequence[str], factors: str) -> tuple[list[Any], Any]:
    """Read codes of one or several representations, and the factors of the same rows."""
    factors_file, factors_names = split_name(factors)
    for text in codes:  # codes scored against themselves: a slip that gives the best of scores
        file, names = split_name(text)
        both = names and factors_names
        shared = [name for name in names if name in factors_names] if both else names or factors_names or ("",)
        if shared and real_path(file) == real_path(factors_file):
            named = ", ".join(shared) or "all of it"
            given.warn(f"{file}: {named} given as CODES and as FACTORS: scored against itself")
    read = [read_sparse(text) if holds_sparse(text) else read_or_scan(text, warn=given.warn) for text in codes]
    return read, read_or_scan(factors, warn=given.warn)


def names_of(files: Sequence[str], asked: Sequence[str] | None = None) -> list[str]:
    """Return what to call representations: the stems of their files, with so many folders that no two are equal.

    Raises
    ------
    InputError
        If a file is given twice, or the names are not as many as the files, or one is there twice.

    Examples
    --------
    >>> names_of(["old.npy", "new.npy"]), names_of(["run1/codes.npy", "run2/codes.npy"])
    (['old', 'new'], ['run1/codes', 'run2/codes'])
    >>> names_of(["all.csv::a,b", "all.csv::c,d"])
    ['all::a,b', 'all::c,d']
    """
    twice = next((file for place, file in enumerate(files) if file in files[:place]), None)
    if twice is not None:
        raise InputError(f"{twice}: given twice; each file is one representation")
    if asked is not None:
        if len(asked) != len(files) or len(set(asked)) < len(asked):
            raise InputError(f"--names: expected {len(files)} different names, got {','.join(asked)}")
        return list(asked)
    paths = [split_name(file)[0] for file in files]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join((*path.parts[-depth:-1], path.stem)) for path in paths]
        if len(set(names)) == len(names):
            return names
    names = [f"{path.stem}{file.removeprefix(str(path))}" for path, file in zip(paths, files, strict=True)]
    return names if len(set(names)) == len(names) else list(files)


def files_of(runs: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the files of the runs of each model.

    Raises
    ------
    InputError
        If a pattern names no file.
    """
    found: dict[str, list[str]] = {}
    for model, patterns in runs.items():
        found[model] = [file for pattern in patterns for file in (sorted(glob(pattern)) or [pattern])]
        lacking = [file for file in found[model] if not split_name(file)[0].exists()]
        if lacking:
            raise InputError(f"--runs: {model}: no file matches {lacking[0]}")
    return found


# Metrics, scenarios and comparison methods of a user's Python files: ``FILE.py::name`` --------------------------------


def scored_metrics(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return registered names as they are, and functions and metrics of files as metrics.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        For names that are not known, files that cannot be run, and what is no function (codes, factors).
    """
    from demele.metrics.catalogue import resolve

    def made(found: Any, path: Path, name: str, source: str) -> Any:
        return _metric(_measuring(found, path, name), name, path, source)

    known = ["all"] if [*items] == ["all"] else None
    return known or files.chosen(items, "metrics", resolve, made, kind="function", names=_functions)


def chosen_metrics(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return registered names as they are, and functions, metrics and candidates of files as candidates.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        As :func:`scored_metrics`.
    """
    from demele import bench
    from demele.bench.run import chosen_candidates, of_metric
    from demele.metrics.catalogue import CATALOGUE
    from demele.metrics.metric import Metric
    from demele.metrics.request import free_name

    taken: list[str] = list(CATALOGUE)

    def made(found: Any, path: Path, name: str, source: str) -> bench.Candidate:
        _measuring(found, path, name)
        if isinstance(found, Metric):
            candidate = of_metric(_metric(found, found.name, path, source), taken)
        elif not isinstance(found, bench.Candidate):
            own = free_name(found, taken)
            candidate = bench.candidate(_FromFile(found, own, source), name=own)
        elif found.function is None or isinstance(found.function, Metric):
            candidate = found
        else:
            candidate = replace(found, function=_FromFile(found.function, found.name, source))
        taken.append(candidate.name)
        return candidate

    return files.chosen(items, "metrics", chosen_candidates, made, kind="function", names=_functions)


def chosen_scenarios(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return names of scenarios and of sets as they are, and scenarios of files as objects.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        As :func:`scored_metrics`.
    """
    from demele import bench
    from demele.bench import scenarios

    drawn: dict[int, Scenario] = {}

    def made(found: Any, path: Path, name: str, source: str) -> "Scenario":
        if not isinstance(found, bench.Scenario):
            raise _other("scenarios", path, name, "demele.bench.Scenario", found)
        known = scenarios.SCENARIOS.get(found.name)
        same = known is not None and known.draw is found.draw  # one of demele's, perhaps at other severities
        own = found if same else replace(found, draw=_FromFile(found.draw, found.name, source))
        return drawn.setdefault(id(found), own)

    def names(module: ModuleType) -> list[str]:
        return [name for name, item in vars(module).items() if isinstance(item, bench.Scenario) and name[:1] != "_"]

    chosen = files.chosen(items, "scenarios", scenarios.chosen_scenarios, made, kind="scenario", names=names)
    return list({id(one): one for one in chosen}.values())  # two names of one object


def chosen_methods(items: Sequence[str], files: PythonFiles) -> list[Any]:
    """Return names of comparison methods as they are, and functions of files as what calls them.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError, FormatError
        As :func:`scored_metrics`.
    """
    from demele.bench.comparisons.contenders import chosen_contenders

    def made(found: Any, path: Path, name: str, source: str) -> Any:
        if not callable(found):
            raise _other("methods", path, name, "function (baseline, candidate, labels) -> verdict", found)
        method = _FromFile(found, name, source)
        chosen_contenders(method)  # that it can be called so
        return method

    return files.chosen(items, "methods", chosen_contenders, made, kind="function", names=_functions)


class _FromFile:
    """A function of a file. What is stored of it is kept under the code of the whole file, helpers included."""

    def __init__(self, function: Callable[..., Any], name: str, source: str) -> None:
        self.function = function
        self.source = source
        self.__name__ = name

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return self.function(*arguments, **more)

    def __repr__(self) -> str:
        return f"{self.__name__} of code {self.source}"

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)


def _metric(found: Any, name: str, path: Path, source: str) -> "Metric":
    """Return a metric of a file; the code of the file distinguishes its functions from others of their name."""
    from demele.metrics.metric import as_metric

    metric = as_metric(found, name)
    metric.check_call()
    return replace(metric, package=f"{path.name}-{source}")


def _measuring(found: Any, path: Path, name: str) -> Any:
    """Return what a file holds, if it is a metric, a candidate, or a function of codes and factors."""
    from demele import bench
    from demele.bench.run import why_not_callable
    from demele.metrics.metric import Metric

    if isinstance(found, bench.Candidate | Metric):
        return found
    if not callable(found):
        raise _other("metrics", path, name, "function (codes, factors) -> float", found)
    reason = why_not_callable(found)
    if reason is not None:
        takes = f"cannot be called with (codes, factors): {reason}; it takes {inspect.signature(found)}"
        raise InputTypeError("metrics", f"{path}::{name} {takes}")
    return found


def _other(argument: str, path: Path, name: str, expected: str, found: Any) -> InputTypeError:
    return InputTypeError(argument, f"{path}::{name} is no {expected}, but {type(found).__name__}")


def _functions(module: ModuleType) -> list[str]:
    return [
        name
        for name, item in vars(module).items()
        if not name.startswith("_")
        and ((inspect.isfunction(item) and item.__module__ == module.__name__) or type(item).__name__ == "Metric")
    ]


# ``demele score``: codes and factors in files; scores out -------------------------------------------------------------


class Score(Command):
    """Score codes against known factors.

    CODES and FACTORS are files of the same rows; see demele help files. Several representations of the same rows are
    compared: scores next to each other, and which differences are significant. Sparse codes, an .npz of
    scipy.sparse.save_npz, are scored from their non-zeros, however many codes there are.

    Examples
    --------
    demele score codes.npy factors.csv -o report.html
    demele score data.csv::z1,z2,z3 data.csv::shape,size --metrics mig,mine.py::my_metric --bootstrap 200
    demele score old.npy new.npy factors.csv --bootstrap 50
    """

    functions: ClassVar = {
        "one representation": evaluate,
        "several representations": compare_representations,
        "sparse codes": evaluate_sparse,
        "--unsupervised": unsupervised_scores,
        "--stability": breakdown,
        "--replay": evaluating.replay,
    }
    usage = ("CODES... FACTORS", "[CODES...] FACTORS --runs NAME=FILES", "CODES --unsupervised")
    short = "metrics protocol bins n_bootstrap n_permutations n_repeats kinds runs against noise aligned seed n_jobs"
    without = "name signature metric"
    called: ClassVar = {"align": "--aligned"}
    readers = (Codes, Factors)
    flags: ClassVar = {
        "std": "codes_std",
        "groups": "code_groups",
        "reduce": "reduce_groups",
        "noise": "factor_noise",
        "noise_method": "factor_noise_method",
    }

    def _run(
        self,
        given: Given,
        *,
        unsupervised: bool = False,
        stability: bool = False,
        replay: str | None = None,
        names: Sequence[str] | None = None,
        aligned: bool = False,
        whiten: bool = False,
        audit_design: Literal["uniform", "weighted", "selective"] | None = None,
    ) -> Call:
        """Read what is scored, and return the call that scores it.

        Parameters
        ----------
        unsupervised : bool
            Score CODES without factors.
        stability : bool
            Report how many wrong annotations could reverse an order.
        replay : str, optional
            Signature of a score, to compute it again.
        names : sequence of str, optional
            Names of the representations (default: their files).
        aligned : bool
            Score again after rotating the codes towards the factors.
        whiten : bool
            Undo oblique maps and scales as well, with ``aligned``.
        audit_design : str, optional
            Design of an audit of factors, if not in its file.
        """
        if unsupervised:
            return given.bind(unsupervised_scores, read_table(*given.files, warn=given.warn))
        runs, files = files_of(given.take("runs", {})), given.files
        codes = [*files[:-1], *(file for one in runs.values() for file in one)]
        called = names_of(codes, names)
        asked = given.read(metrics=lambda items: scored_metrics(items, PythonFiles()))
        read, values = read_codes_and_factors(given, codes, files[-1])
        several, sparse = len(read) > 1 or bool(runs), [file for file in codes if holds_sparse(file)]
        if whiten and not aligned:
            raise InputError("--whiten: says how codes are aligned; pass --aligned too, or leave it out")
        if aligned and (several or sparse or replay is not None):
            raise InputError("--aligned: is for one representation, which is not sparse and not replayed")
        if "std" in given.options and several:
            raise InputError("--codes-std: is for one representation")
        if audit_design is not None and "noise" not in given.options:
            raise InputError("--audit-design: is for audits in --factor-noise, which is not given")
        if stability:
            if len(read) != 2 or len(asked.get("metrics", ())) > 1:
                raise InputError("--stability: expected CODES CODES FACTORS, and at most one of --metrics")
            one = {"metric": asked["metrics"][0]} if asked else {}
            return given.bind(breakdown, *read, values, names=(called[0], called[1]), **one)
        if sparse and several:
            raise InputError(f"{sparse[0]}: holds sparse codes, which are scored one representation at a time")
        if sparse and replay is None:
            names_read = given.read(code_names=lambda file: names_of_codes(file, warn=given.warn))
            return given.bind(evaluate_sparse, *read, values, name=called[0], **asked, **names_read)
        std = given.read(std=lambda file: read_or_scan(file, warn=given.warn))
        data = given.read(blocks=lambda file: column(file, given.warn))
        if replay is not None:
            return given.bind(evaluating.replay, replay, Codes(*read, **std), Factors(values, **data))
        align = {"align": "whitening" if whiten else "rotation"} if aligned else {}
        representations = [
            given.call(Codes, one, name=name, **align, **std) for one, name in zip(read, called, strict=True)
        ]
        if "noise" in given.options:
            items, kinds = given.take("noise"), given.options.get("kinds")
            if read_in_pieces(values, values):
                raise InputError(
                    "--factor-noise: needs rows in memory, and FACTORS are read a piece at a time; give a sample"
                )
            columns: Any = read_factors(values, kinds=kinds, missing="omit")
            data["noise"] = read_factor_noise(items, columns, design=audit_design, warn=given.warn)
        factors = given.call(Factors, values, **data)
        if several:
            of = {model: [called[codes.index(file)] for file in own] for model, own in runs.items()} or None
            named = dict(zip(called, representations, strict=True))
            return given.bind(compare_representations, named, factors, runs=of, **asked)
        return given.bind(evaluate, *representations, factors, **asked)


# ``demele probe`` -----------------------------------------------------------------------------------------------------

_DOWNSTREAM: Mapping[str, Callable[..., Any]] = {
    "few-rows": downstream,
    "without-best": reduced_downstream,
    "new-values": strong_downstream,
    "fairness": fairness,
}
_SPARSE: Mapping[str, Callable[..., Any]] = {
    "probing": sparse_probing,
    "splitting": splitting,
    "absorption": absorption,
}


class Downstream(Command):
    """Predict factors from codes.

    Tasks: few-rows, from few rows and from many; without-best, from the best codes alone and from all others;
    new-values, trained on one value of another factor and tested on the others; fairness, differences between groups of
    other factors.

    Examples
    --------
    demele probe downstream codes.npy factors.csv --probe logistic --repeats 5
    demele probe downstream data.csv::z1,z2 data.csv::shape,size --sizes 50,500 --format csv
    demele probe downstream codes.npy factors.csv --task fairness --permutations 20
    """

    functions: ClassVar = _DOWNSTREAM
    usage = ("CODES FACTORS",)
    short = "task n_permutations probe sizes seed"

    def _run(
        self, given: Given, *, task: Literal["few-rows", "without-best", "new-values", "fairness"] = "few-rows"
    ) -> Call:
        """Read codes and factors.

        Parameters
        ----------
        task : str
            Question to the predictors.
        """
        (codes,), factors = read_codes_and_factors(given, given.files[:1], given.files[1])
        return given.bind(_DOWNSTREAM[task], codes, factors)


class Sparse(Command):
    """Probe single codes of a dictionary.

    Tasks: probing, classes from few codes; splitting, the codes among which a class is divided; absorption, codes that
    take rows from those of a class. With --decoder and --activations, absorption has its published form.

    Examples
    --------
    demele probe sparse codes.npz factors.csv --code-names names.txt --permutations 20
    demele probe sparse codes.npz factors.csv --task absorption --decoder decoder.npy --activations activations.npy
    """

    functions: ClassVar = _SPARSE
    usage = ("CODES FACTORS",)
    short = "task top ranking n_permutations seed"

    def _run(self, given: Given, *, task: Literal["probing", "splitting", "absorption"] = "probing") -> Call:
        """Read codes, sparse or dense, and factors.

        Parameters
        ----------
        task : str
            Question to the codes.
        """
        (codes,), factors = read_codes_and_factors(given, given.files[:1], given.files[1])
        if "code_names" in given.options and not holds_sparse(given.files[0]):
            raise InputError("--code-names: is for sparse codes; those of CODES are named by its columns; leave it out")
        table = partial(read_table, warn=given.warn)
        data = given.read(decoder=table, activations=table, code_names=partial(names_of_codes, warn=given.warn))
        return given.bind(_SPARSE[task], codes, factors, **data)


class Udr(Command):
    """Rank trained models without factors.

    Examples
    --------
    demele probe udr seed0.npy seed1.npy seed2.npy
    """

    functions: ClassVar = {"": udr}
    usage = ("CODES CODES...",)
    short = "similarity codes_std threshold"

    def _run(self, given: Given) -> Call:
        table = partial(read_table, warn=given.warn)
        more = given.read(codes_std=lambda stds: list(map(table, stds)))
        return given.bind(udr, dict(zip(names_of(given.files), map(table, given.files), strict=True)), **more)
