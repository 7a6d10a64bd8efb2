"""Which way the arrows point, between rooms, their parts and files: late imports and names in strings included."""

from pathlib import Path

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
#: Parts of a room that its own files must not reach: only its front door does.
OF_CLASSIFIERS = ("measures", "explanations", "comparison")
#: An arrow that closes a circle of files, because the command that completes all commands is one of them.
STILL_CIRCULAR = ("demele.cli.listing", "demele.cli.main")
PAIRS = [(module, target) for module, targets in ARROWS.items() for target in targets]


def is_in(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def is_upward(module: str, target: str) -> bool:
    """Whether an arrow leads to a room or part that stands above."""
    own, other = room_of(module), room_of(target)
    if own and own not in TOP and other not in ALLOWED[own] | {own}:
        return True
    above = [one for part, those in PARTS.items() if is_in(module, part) for one in those]
    if module.rpartition(".")[0] == "demele.classifiers" and module != "demele.classifiers.stats":
        above += [f"demele.classifiers.{part}" for part in OF_CLASSIFIERS]
    return any(is_in(target, part) for part in above)


def test_every_room_has_its_place() -> None:
    assert {room_of(module) for module in KNOWN} - {""} == {*ALLOWED, *TOP}


def test_arrows_point_down() -> None:
    found = [(module, target) for module, target in PAIRS if module != LATE and is_upward(module, target)]
    told = [f"{module}:{ARROWS[module][target]} must not reach {target}" for module, target in found]
    assert not told


def test_what_is_called_late_is_the_engine_and_what_scores_in_pieces() -> None:
    assert {target for target in ARROWS[LATE] if room_of(target) != "core"} == {
        "demele.metrics.run",
        "demele.scoring.evaluate",
    }


def is_at_bottom(module: str) -> bool:
    return any(is_in(module, part) for part in BOTTOM)


def test_documents_know_no_result() -> None:
    found = [(module, target) for module, target in PAIRS if is_at_bottom(module) and not is_at_bottom(target)]
    assert not [target for _, target in found if target not in BELOW]


def test_results_reach_documents_and_no_page() -> None:
    pages = [(module, target) for module, target in PAIRS if room_of(target) == "report" and not is_at_bottom(target)]
    assert {room_of(module) for module, _ in pages if module != LATE} <= {"", "report", *TOP}


def test_no_files_reach_each_other_but_those_that_are_excused() -> None:
    """Every circle goes when the arrow that is excused is taken away, and that closes one."""
    pairs = {module: WITHOUT_TYPES.get(module, set(targets)) for module, targets in ARROWS.items() if module != LATE}
    module, target = STILL_CIRCULAR
    assert [circle for circle in circles(pairs | {LATE: set()}) if set(STILL_CIRCULAR) <= circle]
    assert not circles(pairs | {LATE: set(), module: pairs[module] - {target}})
