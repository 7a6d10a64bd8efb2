"""The kept outcomes: made, read, compared."""

import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from tests.golden import commands, doors, judgements, metrics  # noqa: F401 - they register their groups
from tests.golden.groups import GROUPS
from tests.golden.shown import outcome

__all__ = ["allowed", "differences", "environment", "kept", "outcomes", "why_not", "write"]

FOLDER = Path(__file__).parent
os.environ["COLUMNS"] = "100"


def environment() -> dict[str, str]:
    """Versions on which bits depend."""
    packages = {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
    return {**packages, "machine": platform.machine()}


def why_not() -> str | None:
    """Why the kept outcomes do not hold here, if so."""
    made = json.loads((FOLDER / "environment.json").read_text())
    here = environment()
    other = [f"{name} {made[name]} (here {here[name]})" for name in made if made[name] != here[name]]
    return f"the outcomes were kept with {', '.join(other)}" if other else None


def outcomes(name: str, pattern: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Run the cases of a group whose name holds a pattern."""
    for case, call in GROUPS[name].cases():
        full = f"{name}/{case}"
        if pattern in full:
            for part, found in outcome(call).items():
                yield (f"{full}/{part}" if part else full), found


def kept(name: str) -> dict[str, Any]:
    """Return the kept outcomes of a group."""
    path = FOLDER / f"{GROUPS[name].file}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {one["case"]: one["is"] for one in found if one["case"].split("/")[0] == name}


def write(pattern: str = "") -> None:
    """Keep what the installed code gives, for the groups whose name holds a pattern."""
    for file in sorted({group.file for group in GROUPS.values()}):
        lines: dict[str, Any] = {}
        for name in (name for name, group in GROUPS.items() if group.file == file):
            lines |= dict(outcomes(name)) if pattern in name else kept(name)
        text = "".join(
            json.dumps({"case": case, "is": found}, sort_keys=True, ensure_ascii=False) + "\n"
            for case, found in sorted(lines.items())
        )
        (FOLDER / f"{file}.jsonl").write_text(text)
    (FOLDER / "environment.json").write_text(json.dumps(environment(), indent=1) + "\n")


def allowed() -> dict[str, str]:
    """Cases that may differ, or fields of them (``case :: field``; ``*`` at the end: what begins so), and why."""
    lines = (FOLDER / "changed.txt").read_text().splitlines()
    pairs = (line.partition(" | ") for line in lines if line.strip() and not line.startswith("#"))
    return {case.strip(): why.strip() for case, _, why in pairs}


def _without(value: Any, codes: tuple[str, ...]) -> Any:
    """Return an outcome without notes of these codes: a ``note CODE | reason`` of the list excuses them everywhere."""
    if isinstance(value, dict):
        return {key: _without(item, codes) for key, item in value.items()}
    if isinstance(value, list):
        kept = (one for one in value if not (isinstance(one, dict) and one.get("code") in codes))
        return [_without(one, codes) for one in kept]
    return value


def _may_differ(case: str, field: str, rules: dict[str, str]) -> bool:
    for rule in rules:
        wanted, _, part = rule.partition(" :: ")
        fits = case.startswith(wanted[:-1]) if wanted.endswith("*") else case == wanted
        if fits and (not part or field == part or (part.endswith("*") and field.startswith(part[:-1]))):
            return True
    return False


_NOTHING = "(nothing)"


def _fields(was: Any, found: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Go through both, and yield the places where they differ."""
    if isinstance(was, dict) and isinstance(found, dict):
        result = "type" in was  # a result may have learnt to say more
        for key in [*was, *(key for key in found if key not in was and not result)]:
            inner = f"{path}.{key}" if path else str(key)
            if key == "type":
                continue
            yield from _fields(was.get(key, _NOTHING), found.get(key, _NOTHING), inner)
    elif isinstance(was, list) and isinstance(found, list) and len(was) == len(found):
        for index, (one, other) in enumerate(zip(was, found, strict=True)):
            yield from _fields(one, other, f"{path}[{index}]")
    elif was != found:
        yield path, was, found


def differences(name: str, pattern: str = "") -> list[str]:
    """Return a line for each field of each case that is not as it was kept and not excused: case, field, was, is."""
    rules, expected = allowed(), {case: one for case, one in kept(name).items() if pattern in case}
    codes = tuple(rule.removeprefix("note ") for rule in rules if rule.startswith("note "))
    expected = {case: _without(one, codes) for case, one in expected.items()}
    told: list[str] = []
    seen = set()
    for case, found in outcomes(name, _whole(name, pattern)):
        seen.add(case)
        if pattern not in case:
            continue
        plain = _without(json.loads(json.dumps(found)), codes)
        for field, was, now in _fields(expected.get(case, _NOTHING), plain):
            if not _may_differ(case, field, rules):
                told.append(f"{case} :: {field}: was {_short(was)}, is {_short(now)}")
    told += [
        f"{case} :: : was kept, is gone" for case in expected if case not in seen and not _may_differ(case, "", rules)
    ]
    return told


def _whole(name: str, pattern: str) -> str:
    """A pattern that names a part of a case runs the case."""
    cases = [f"{name}/{case}" for case, _ in GROUPS[name].cases()]
    if any(pattern in case for case in cases):
        return pattern
    longest = [case for case in cases if pattern.startswith(case)]
    return max(longest, key=len) if longest else ""


def _short(value: Any) -> str:
    if isinstance(value, str) and value.lstrip("-").startswith("0x"):
        try:
            return f"{value} ({float.fromhex(value)!r})"
        except ValueError:
            pass
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 600 else f"{text[:600]}..."
