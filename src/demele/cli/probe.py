"""``demele probe``: predictors on codes: factors from few rows, classes from few codes, models from each other."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from demele.cli.engine import Call, Command, Given
from demele.cli.representations import names_of, read_codes_and_factors
from demele.core.errors import InputError
from demele.files.named import holds_sparse, names_of_codes, read_table
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
) -> Call:
    """Read codes and factors.

    Parameters
    ----------
    task : str
        Question to the predictors.
    """
    (codes,), factors = read_codes_and_factors(given, given.files[:1], given.files[1])
    return given.bind(_DOWNSTREAM[task], codes, factors)


def _sparse(given: Given, *, task: Literal["probing", "splitting", "absorption"] = "probing") -> Call:
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


def _udr(given: Given) -> Call:
    table = partial(read_table, warn=given.warn)
    more = given.read(codes_std=lambda stds: list(map(table, stds)))
    return given.bind(udr, dict(zip(names_of(given.files), map(table, given.files), strict=True)), **more)


DOWNSTREAM = Command(
    _DOWNSTREAM,
    ("CODES FACTORS",),
    lambda given: given.call(_downstream, given),
    short="task n_permutations probe sizes seed",
    readers=(_downstream,),
    details="""\
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
    examples="demele probe udr seed0.npy seed1.npy seed2.npy\n",
)
