"""``demele score``: codes and factors in files; scores out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from demele.cli.engine import Call, Command, Given
from demele.cli.functions import scored_metrics
from demele.cli.representations import (
    files_of,
    names_of,
    read_codes_and_factors,
    read_or_scan,
)
from demele.core.errors import InputError
from demele.core.given_data import Codes, Factors
from demele.core.inputs import read_factors
from demele.files.factor_noise import read_factor_noise
from demele.files.label_files import column
from demele.files.named import holds_sparse, names_of_codes, read_table
from demele.files.python_files import PythonFiles
from demele.metrics.standalone.unsupervised import unsupervised_scores
from demele.scoring import pieces
from demele.scoring.breakdown import breakdown
from demele.scoring.evaluate import evaluate
from demele.scoring.replay import replay as replay_score
from demele.scoring.several import compare_representations
from demele.scoring.sparse import evaluate_sparse


def read_scored(
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
    asked = given.read(metrics=lambda items: _metrics(items, given.files))
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
        return given.bind(replay_score, replay, Codes(*read, **std), Factors(values, **data))
    align = {"align": "whitening" if whiten else "rotation"} if aligned else {}
    representations = [
        given.call(Codes, one, name=name, **align, **std) for one, name in zip(read, called, strict=True)
    ]
    if "noise" in given.options:
        items, kinds = given.take("noise"), given.options.get("kinds")
        if pieces.read_in_pieces(values, values):
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


def _metrics(items: Sequence[str], files: Sequence[str]) -> list[Any]:
    """Return metrics by name, and functions of Python files as metrics."""
    from demele.metrics.catalogue import CATALOGUE

    stray = [file for file in files if not Path(file).exists() and file in CATALOGUE]
    if stray:
        raise InputError(f"--metrics takes one list: --metrics {','.join([*items, *stray])}")
    return scored_metrics(items, PythonFiles())


SCORE = Command(
    {
        "one representation": evaluate,
        "several representations": compare_representations,
        "sparse codes": evaluate_sparse,
        "--unsupervised": unsupervised_scores,
        "--stability": breakdown,
        "--replay": replay_score,
    },
    ("CODES... FACTORS", "[CODES...] FACTORS --runs NAME=FILES", "CODES --unsupervised"),
    lambda given: given.call(read_scored, given),
    short="metrics protocol bins n_bootstrap n_permutations n_repeats kinds runs against noise aligned seed n_jobs",
    readers=(read_scored, Codes, Factors),
    without="name signature metric align",
    flags={
        "std": "codes_std",
        "groups": "code_groups",
        "reduce": "reduce_groups",
        "noise": "factor_noise",
        "noise_method": "factor_noise_method",
    },
    details="""\
CODES and FACTORS are files of the same rows; see demele help files. Several representations of the same rows are
compared: scores next to each other, and which differences are significant. Sparse codes, an .npz of
scipy.sparse.save_npz, are scored from their non-zeros, however many codes there are.
""",
    examples="""\
demele score codes.npy factors.csv -o report.html
demele score data.csv::z1,z2,z3 data.csv::shape,size --metrics mig,mine.py::my_metric --bootstrap 200
demele score old.npy new.npy factors.csv --bootstrap 50
""",
)
