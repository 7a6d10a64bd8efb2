"""What is known of noisy factors on the command line: rates, transitions and audits, from options and files."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.options import items_in, option, refuse
from demele.core.errors import FormatError, InputError, quoted
from demele.core.kinds import unquoted
from demele.files.audit_files import TRUE, read_audit
from demele.files.factor_audit_files import read_factor_audits
from demele.files.label_files import in_file, read_transition
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn, json_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demele.core.inputs import Factors

#: What a JSON file may say of one factor, beside a rate.
_WAYS = ("transition", "counts")
_NEEDS = ("factor_noise", "factor_audit")


def add_noise(parser: argparse.ArgumentParser) -> None:
    """Add what may be known of wrong annotations of the factors."""
    noise = parser.add_argument_group("factors whose annotations may be wrong")
    option(
        noise,
        "--factor-noise",
        type=items_in,
        metavar="A=R,B=FILE",
        help="of each noisy factor the share of wrong annotations, or a table of how values are mistaken (rows true, "
        "columns given; probabilities, or counts of a random sample); or one .json file that says so of all",
    )
    option(
        noise,
        "--factor-audit",
        argument="factor_noise",
        type=items_in,
        metavar="FILE",
        help="true values of rows drawn at random: columns row (from 0) and one called as each audited factor; or "
        "A=FILE,B=FILE, a file for a factor each, also as demele audit makes them",
    )
    option(noise, "--audit-design")
    option(
        noise,
        "--factor-noise-method",
        metavar="M",
        help="transition (errors do not depend on the codes), or audited (any score and any errors; needs "
        "--factor-audit); default: the one that assumes least",
    )


def check_noise(arguments: argparse.Namespace) -> None:
    """Refuse what is known of noise where nothing is corrected.

    Raises
    ------
    InputError
    """
    given = (*_NEEDS, "factor_noise_method")
    if arguments.demo:
        refuse(arguments, given, "the factors of --demo are right; leave it out")
    if arguments.replay is not None:
        refuse(arguments, given, "a signature is of the annotations as given; leave it out with --replay")
    if all(getattr(arguments, name) is None for name in _NEEDS):
        refuse(arguments, ("factor_noise_method",), "says how to correct for --factor-noise or --factor-audit")
        refuse(arguments, ("audit_design",), "says how the rows of --factor-audit were chosen, which is not given")


def read_noise(arguments: argparse.Namespace, factors: object, warn: Warn) -> dict[str, Any]:
    """Return what is known of noisy factors, as arguments of the library; empty where nothing was given.

    Raises
    ------
    FormatError, InputError
    """
    if all(getattr(arguments, name) is None for name in _NEEDS):
        return {}
    columns = _columns(factors, arguments)
    known: dict[str, Any] = {}
    for item in arguments.factor_noise or ():
        known |= _new(known, _noise(item, columns, warn))
    for item in arguments.factor_audit or ():
        known |= _new(known, _audits(item, columns, arguments.audit_design, warn))
    method = arguments.factor_noise_method
    return {"factor_noise": known} | ({} if method is None else {"factor_noise_method": method})


def _new(known: Mapping[str, Any], found: Mapping[str, Any]) -> Mapping[str, Any]:
    twice = [name for name in found if name in known]
    if twice:
        raise InputError(
            f"factor {quoted(twice[0])}: --factor-noise or --factor-audit tells of it twice; leave one out"
        )
    return found


def _columns(factors: object, arguments: argparse.Namespace) -> "Factors":
    """Return the factors as they will be read, to know their names and classes."""
    from demele.core.inputs import read_factors
    from demele.scoring.pieces import read_in_pieces

    if read_in_pieces(factors, factors):
        raise InputError("--factor-noise: needs rows in memory, and FACTORS are read a piece at a time; give a sample")
    return read_factors(factors, kinds=arguments.kinds, missing="omit")


def _named(item: str, columns: "Factors") -> tuple[str, str] | None:
    """Return the factor and what is said of it; None for a file alone."""
    name, mark, said = item.rpartition("=")
    if not mark or (name and unquoted(name) not in columns.names and split_name(item)[0].exists()):
        return None
    name = unquoted(name)
    if name not in columns.names:
        raise InputError(f"no factor is called {quoted(name)}; the factors are {', '.join(map(quoted, columns.names))}")
    return name, said.strip()


def _given(name: str, columns: "Factors") -> "NDArray[Any]":
    """Return the classes of a factor as files name them: whole numbers if all are."""
    column = columns.columns[columns.names.index(name)]
    if not column.categorical:
        return np.arange(2)
    levels = list(column.levels)
    whole = all(level.lstrip("-").isdecimal() for level in levels)
    classes = np.array([int(level) for level in levels]) if whole else np.array(levels, dtype=object)
    values = np.asarray(column.values, dtype=np.intp)
    found: NDArray[Any] = classes[np.where(values >= 0, values, 0)]
    return found


def _noise(item: str, columns: "Factors", warn: Warn) -> dict[str, Any]:
    named = _named(item, columns)
    if named is None:
        return _of_json(Path(item))
    name, said = named
    if said.endswith("%"):
        raise InputError(f"--factor-noise: {name}={said}: expected a share, not percent{_as_share(said)}")
    try:
        return {name: float(said)}
    except ValueError:
        return {name: read_transition(said, _given(name, columns), warn)}


def _as_share(percent: str) -> str:
    try:
        return f"; write {float(percent[:-1]) / 100:g}"
    except ValueError:
        return ""


def _audits(item: str, columns: "Factors", design: str | None, warn: Warn) -> dict[str, Any]:
    named = _named(item, columns)
    if named is None:
        return dict(read_factor_audits(item, columns.names, design, warn))
    name, file = named
    table = read_table(file, warn=lambda _: None)  # what was guessed is told when its values are read
    if not isinstance(table, np.ndarray) and name in table and TRUE not in table:
        return dict(read_factor_audits(file, [name], design, warn))
    if not columns.columns[columns.names.index(name)].categorical:
        raise InputError(
            f"--factor-audit: factor {quoted(name)} is continuous; give its true values in a file with columns row and "
            f"{name}"
        )
    return {name: read_audit(file, design, _given(name, columns), warn)}


def _of_json(path: Path) -> dict[str, Any]:
    """Read what a JSON file says of factors: rates, or objects with a transition or counts."""
    if path.suffix.lower() != ".json":
        raise InputError(f"--factor-noise: expected A=RATE, A=FILE or a .json file, got {quoted(str(path))}")
    content, _ = json_of(path)
    if not isinstance(content, dict):
        raise FormatError(f'{path}: expected an object of factors, such as {{"shape": 0.05}}')
    return {str(name): _of_entry(str(path), str(name), said) for name, said in content.items()}


def _of_entry(file: str, name: str, said: Any) -> object:
    from demele.labels import TransitionCounts, TransitionMatrix

    if isinstance(said, int | float) and not isinstance(said, bool):
        return float(said)
    ways = [way for way in _WAYS if isinstance(said, dict) and way in said]
    if len(ways) != 1:
        raise FormatError(f"{file}: {name}: expected a rate, or an object with one of {', '.join(_WAYS)}")
    value, classes = said[ways[0]], said.get("classes")
    with in_file(f"{file}: {name}", probabilities="transition", counts="counts"):
        return (TransitionMatrix if ways[0] == "transition" else TransitionCounts)(value, classes)
