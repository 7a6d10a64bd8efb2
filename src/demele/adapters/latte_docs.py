"""What the classes with Latte's names say of themselves: a signature and a docstring from the table of names."""

import inspect
from collections.abc import Mapping
from typing import Any

__all__ = ["latte_docstring", "latte_signature"]

_TOLD = {
    "reg_dim": "sequence of int, optional\n    The code of each attribute.",
    "discrete": "bool, default False\n    Attributes are classes.",
    "fill_reg_dim": "bool, default False\n    Without ``reg_dim``, code i is that of attribute i.",
    "l2_reg": "float, default 1.0\n    Penalty C of the linear classifier of classes.",
    "thresh": "float, default 1e-12\n    Below it a variance (SAP) or an information (Modularity) scores 0.",
}


def latte_signature(defaults: Mapping[str, Any]) -> inspect.Signature:
    """Return the signature of a class: its arguments with their defaults, and ``**keywords``.

    Parameters
    ----------
    defaults : mapping of str to object

    Returns
    -------
    inspect.Signature

    Examples
    --------
    >>> latte_signature({"reg_dim": None, "discrete": False})
    <Signature (reg_dim=None, discrete=False, **keywords)>
    """
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = [inspect.Parameter(name, plain, default=value) for name, value in defaults.items()]
    return inspect.Signature([*named, inspect.Parameter("keywords", inspect.Parameter.VAR_KEYWORD)])


def latte_docstring(name: str, defaults: Mapping[str, Any], says: str, *, others: str) -> str:
    """Return the docstring of a class.

    Parameters
    ----------
    name : str
        Name of the class.
    defaults : mapping of str to object
        Its arguments.
    says : str
        What it computes, in a sentence.
    others : str
        The class that takes the other keywords.

    Returns
    -------
    str
    """
    arguments = "".join(f"{key} : {_TOLD[key]}\n" for key in defaults)
    return (
        f"{says}\n\nThe class ``{name}`` of Latte (Watcharasupat et al. 2022), with its protocol: nearest-neighbour "
        "information;\nSAP is scored on the training rows. ``result()`` has one value per attribute.\n\n"
        f"Parameters\n----------\n{arguments}**keywords\n    Others of :class:`{others}`: ``name``, ``dtype``, "
        "``order``, ``bound``, ``seed``, ...\n"
    )
