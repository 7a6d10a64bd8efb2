"""``demele probe``: predictors on codes: factors from few rows, classes from few codes, models from each other."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from demele.cli.engine import Command, Given
from demele.cli.representations import names_of_codes, read_codes_and_factors
from demele.core.errors import InputError
from demele.files.named import holds_sparse, read_table
from demele.metrics.standalone.downstream import downstream
from demele.metrics.standalone.fairness import fairness
from demele.metrics.standalone.reduced_downstream import reduced_downstream
from demele.metrics.standalone.strong_downstream import strong_downstream
from demele.metrics.standalone.udr import udr
from demele.scoring.concepts import absorption, sparse_probing, splitting

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


def _downstream(
    given: Given, *, task: Literal["few-rows", "without-best", "new-values", "fairness"] = "few-rows"
) -> "partial[Any]":
    """Read codes and factors.

    Parameters
    ----------
    task : str
        Question to the predictors.
    """
    (codes,), factors = read_codes_and_factors(given, *_two(given))
    return given.bind(_DOWNSTREAM[task], codes, factors)


def _two(given: Given) -> tuple[list[str], str]:
    codes, factors = given.expected(2, 2)
    return [codes], factors


def _sparse(given: Given, *, task: Literal["probing", "splitting", "absorption"] = "probing") -> "partial[Any]":
    """Read codes, sparse or dense, and factors.

    Parameters
    ----------
    task : str
        Question to the codes.
    """
    files, last = _two(given)
    (codes,), factors = read_codes_and_factors(given, files, last)
    data: dict[str, Any] = {
        name: read_table(given.take(name), warn=given.warn) for name in _DATA if name in given.options
    }
    if "code_names" in given.options:
        if not holds_sparse(files[0]):
            raise InputError("--code-names: is for sparse codes; those of CODES are named by its columns; leave it out")
        data["code_names"] = names_of_codes(given.take("code_names"), warn=given.warn)
    return given.bind(_SPARSE[task], codes, factors, **data)


_DATA = ("decoder", "activations")


def _udr(given: Given) -> "partial[Any]":
    files, stds = given.expected(2), given.take("codes_std", [])
    repeated = sorted({name for name in files if files.count(name) > 1})
    if repeated:
        raise InputError(f"CODES: {repeated[0]} is given twice; a model agrees with itself")
    if stds and len(stds) != len(files):
        raise InputError(f"--codes-std: expected a file for each of the {len(files)} models, got {len(stds)}")
    more = {"codes_std": [read_table(name, warn=given.warn) for name in stds]} if stds else {}
    return given.bind(udr, {name: read_table(name, warn=given.warn) for name in files}, **more)


DOWNSTREAM = Command(
    _DOWNSTREAM,
    ("CODES FACTORS",),
    lambda given: given.call(_downstream, given),
    short="task n_permutations probe sizes seed",
    readers=(_downstream,),
    details="""\
Predict factors from codes: from few rows, without the best codes, on new values, between groups.

Tasks: few-rows, from few rows and from many; without-best, from the best codes alone and from all others; new-values,
trained on one value of another factor and tested on the others; fairness, differences between groups of other factors.
""",
    examples="""\
demele probe downstream codes.npy factors.csv --probe logistic --repeats 5
demele probe downstream data.csv::z1,z2 data.csv::shape,size --sizes 50,500 --format csv
demele probe downstream codes.npy factors.csv --task fairness --permutations 20
""",
)
SPARSE = Command(
    _SPARSE,
    ("CODES FACTORS",),
    lambda given: given.call(_sparse, given),
    short="task top ranking n_permutations seed",
    readers=(_sparse,),
    details="""\
Probe single codes of a dictionary: how few tell each class, and how classes are split and absorbed.

Tasks: probing, classes from few codes; splitting, the codes among which a class is divided; absorption, codes that take
rows from those of a class. With --decoder and --activations, absorption has its published form.
""",
    examples="""\
demele probe sparse codes.npz factors.csv --code-names names.txt --permutations 20
demele probe sparse codes.npz factors.csv --task absorption --decoder decoder.npy --activations activations.npy
""",
)
UDR = Command(
    {"": udr},
    ("CODES CODES...",),
    _udr,
    short="similarity codes_std threshold",
    details="Rank trained models without factors: how well other models find their codes.",
    examples="demele probe udr seed0.npy seed1.npy seed2.npy\n",
)
