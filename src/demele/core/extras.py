"""Optional dependencies, imported only where they are used."""

import importlib
from types import ModuleType

from demele.core.errors import MissingExtraError

_EXTRA_OF = {
    "pyarrow": "parquet",
    "zstandard": "logs",
    "cleanlab": "cleaning",
    "matplotlib": "pictures",
    "keras": "keras",
    "torch": "torch",
    "captum": "explain",
    "torchmetrics": "torch",
    "lightning": "lightning",
    "pytorch_lightning": "lightning",
    "dask": "dask",
    "distributed": "dask",
    "h5py": "images",
    "PIL": "images",
    "openpyxl": "sheets",
    "shtab": "completion",
}


def require(module: str, *, purpose: str) -> ModuleType:
    """Import an optional dependency, or say which extra brings it.

    Parameters
    ----------
    module : str
        Dotted name, such as ``"matplotlib.figure"``.
    purpose : str
        What needs it, as the subject of the sentence, such as ``"a picture for print"``.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    root = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != root:
            hint = "; KERAS_BACKEND=torch, set before, chooses another backend" * (root == "keras")
            raise MissingExtraError(f"{purpose} needs {root}, which needs {error.name}: install it{hint}") from error
        extra = _EXTRA_OF[root]
        raise MissingExtraError(f"{purpose} needs {root}: install it with  pip install 'demele[{extra}]'") from error
