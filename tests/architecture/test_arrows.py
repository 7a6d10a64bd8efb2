"""Which way the arrows point, between rooms, their parts and files: late imports and names in strings included."""

from pathlib import Path

import pytest

import demele
from tests.architecture.arrows import arrows_of, circles, modules_of, room_of

KNOWN = modules_of(Path(demele.__file__).parents[1])
NAMES = set(KNOWN)
#: What each module reaches, and in which line.
ARROWS = {
    module: {target: line for target, line in arrows_of(path.read_text(encoding="utf-8"), NAMES) if target != module}
    for module, path in KNOWN.items()
}
#: Builders of documents name the results that they describe for types only, which closes no circle.
WITHOUT_TYPES = {
    module: {target for target, _ in arrows_of(path.read_text(encoding="utf-8"), NAMES, types=False)}
    for module, path in KNOWN.items()
    if module.endswith("documents")
}
#: The one that calls what stands above it: data that do not fit into memory are scored in pieces.
LATE = "demele.core.lazy"

#: What measures methods stands on.
METHODS = {"core", "runtime", "estimation", "data", "metrics", "scoring", "noise", "labels", "classifiers", "report"}
#: A room may reach those named, and itself.
ALLOWED = {
    "core": {"report"},
    "runtime": {"core"},
    "estimation": {"core"},
    "data": {"core", "runtime", "files", "report"},
    "noise": {"core", "report"},
    "labels": {"core", "runtime", "noise", "report"},
    "classifiers": {"core", "runtime", "noise", "labels", "report"},
    "metrics": {"core", "runtime", "estimation", "report"},
    "streaming": {"core", "estimation", "metrics"},
    "outofcore": {"core", "runtime", "estimation", "metrics", "streaming"},
    "scoring": {"core", "runtime", "estimation", "noise", "metrics", "streaming", "outofcore", "report"},
    "adapters": {"core", "metrics", "streaming"},
    "models": {"core", "runtime", "estimation", "data", "report"},
    "bench": METHODS,
    "studies": METHODS | {"models", "bench"},
    "lab": {"core", "models", "studies"},
    "report": {"core", "metrics", "classifiers"},
    "files": {"core", "noise", "labels"},
}
#: The bottom, on which results stand: documents and what renders them reach these modules and each other only.
BOTTOM = ("demele.report.document", "demele.report.words", "demele.report.listing", "demele.report.renderers")
BELOW = {"demele.core.arrays", "demele.core.errors", "demele.core.outputs", "demele.core.lazy"}
#: These may reach every room, and the front door.
TOP = ("cli", "__main__", "bins", "doctor", "errors", "explain", "probes")
#: Parts of rooms that must not reach others of the same room: a part and what stands above it.
PARTS = {
    "demele.classifiers.measures": ("demele.classifiers.comparison", "demele.classifiers.explanations"),
    "demele.classifiers.explanations": ("demele.classifiers.comparison",),
    "demele.noise": ("demele.labels",),
}
#: A room's own files, which its parts stand on: only its front door reaches the parts.
GROUND = {
    "demele.classifiers": (
        "demele.classifiers.measures",
        "demele.classifiers.explanations",
        "demele.classifiers.comparison",
    )
}

#: Arrows that point up today, or close a circle of files, and why they still stand. This list only gets shorter.
STILL_UP: dict[tuple[str, str], str] = {}
STILL_CIRCULAR: dict[tuple[str, str], str] = {
    ("demele.cli.listing", "demele.cli.main"): "the command that completes all commands is one of them",
}


def is_in(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def upward() -> set[tuple[str, str]]:
    """The arrows to rooms and parts that stand above."""
    found = set()
    for module, targets in ARROWS.items():
        own = room_of(module)
        for target in targets:
            other = room_of(target)
            if own and own not in TOP and other != own and (other not in ALLOWED[own]):
                found.add((module, target))
            below = [part for part in PARTS if is_in(module, part)]
            if any(is_in(target, above) for part in below for above in PARTS[part]):
                found.add((module, target))
            ground = module.rpartition(".")[0]
            if (
                ground in GROUND
                and module not in (*GROUND, "demele.classifiers.stats")
                and any(is_in(target, part) for part in GROUND[ground])
            ):
                found.add((module, target))
    return found


def test_every_room_has_its_place() -> None:
    assert {room_of(module) for module in KNOWN} - {""} == {*ALLOWED, *TOP}


def test_arrows_point_down() -> None:
    found = {arrow for arrow in upward() if arrow[0] != LATE}
    told = [f"{module}:{ARROWS[module][target]} must not reach {target}" for module, target in found - set(STILL_UP)]
    assert not told
    assert not set(STILL_UP) - found, "these point up no more: take them off the list"


def test_what_is_called_late_is_the_engine_and_what_scores_in_pieces() -> None:
    assert {target for target in ARROWS[LATE] if room_of(target) != "core"} == {
        "demele.metrics.run",
        "demele.scoring.evaluate",
    }


def is_at_bottom(module: str) -> bool:
    return any(is_in(module, part) for part in BOTTOM)


def test_documents_know_no_result() -> None:
    found = {
        (module, target)
        for module, targets in ARROWS.items()
        for target in targets
        if is_at_bottom(module) and not is_at_bottom(target) and target not in BELOW
    }
    assert not found


def test_results_reach_documents_and_no_page() -> None:
    found = {
        (module, target)
        for module, targets in ARROWS.items()
        for target in targets
        if room_of(module) not in ("", "report", *TOP) and module != LATE
        if room_of(target) == "report" and not is_at_bottom(target)
    }
    assert not found


def without(arrows: set[tuple[str, str]]) -> dict[str, set[str]]:
    return {
        module: {
            target for target in WITHOUT_TYPES.get(module, targets) if module != LATE and (module, target) not in arrows
        }
        for module, targets in ARROWS.items()
    }


def test_no_files_reach_each_other() -> None:
    listed = set(STILL_UP) | set(STILL_CIRCULAR)
    told = [
        sorted(
            f"{module}:{ARROWS[module][target]} -> {target}"
            for module in circle
            for target in ARROWS[module]
            if target in circle
        )
        for circle in circles(without(listed))
    ]
    assert not told


@pytest.mark.parametrize("arrow", STILL_CIRCULAR, ids=" -> ".join)
def test_what_is_excused_still_closes_a_circle(arrow: tuple[str, str]) -> None:
    assert arrow[1] in ARROWS.get(arrow[0], {}), "gone: take it off the list"
    assert circles(without((set(STILL_UP) | set(STILL_CIRCULAR)) - {arrow})), "closes nothing: take it off the list"
