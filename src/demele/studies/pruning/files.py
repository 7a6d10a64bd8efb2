"""Files of a study of pruning: its plan and its rows; and all of it packed into one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demele.core.reading import check_shape, parsing, path_of
from demele.core.store import Key, reading_record
from demele.core.version import __version__
from demele.models.fabric.lattice import Lattice
from demele.runtime.sweep import Record
from demele.studies.folders import check_format, json_of, opened
from demele.studies.pruning.study import FIGURES, FORMAT, FORMAT_VERSION, PruningStudy

#: In the folder of a study: what it is.
FILE = "pruning.json"
#: The rows of the embedded study that come with demele.
DEMO = Path(__file__).with_name("embedded.jsonl")
_WHAT = "a study of pruning"
_SHAPE = {
    "demele": str,
    "settings": {
        "data": {"images": str, "provenance": str, "n": int, "held": int, "test": int},
        "structure": {"layers": int, "scales": int},
        "training": {"epochs": int},
        "seeds": int,
        "noises": [{"kind": str, "rate": (float, int)}],
        "configurations": [dict],
    },
}
_RECORDS: dict[object, Any] = {"fabric": {"status": str}, "decisions": {"pairs": dict, "ranks": dict}}


def header(settings: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """Return what a study is, with what its folder holds already.

    Raises
    ------
    FormatError, InputError
    """
    own = dict(settings)
    if folder is not None and (folder / FILE).exists():
        before = _checked(json_of(folder / FILE, _WHAT), folder / FILE)["settings"]
        for name in ("noises", "configurations"):
            own[name] = before[name] + [one for one in own[name] if one not in before[name]]
        own["seeds"] = max(before["seeds"], own["seeds"])
    return {"format": FORMAT, "format_version": FORMAT_VERSION, "demele": __version__, "settings": own}


def study_of(about: Mapping[str, Any], records: Mapping[Key, Record]) -> PruningStudy:
    """Return the study of some rows.

    Raises
    ------
    FormatError
        If a row is not what it should be.
    """
    study = PruningStudy(settings=about["settings"], records=dict(records), version=about["demele"])
    links = about["settings"]["structure"]
    n_links = len(Lattice.whole(links["layers"], links["scales"]).links)
    for key, record in records.items():
        with reading_record(key):
            check_shape(record, _RECORDS[key[0]])
            check_shape([record.get(name) for name in FIGURES], [(float, int, type(None))])
            if record.get("alive") and len([int(one) for one in record["alive"]]) != n_links:
                raise ValueError(f"alive: expected {n_links} links")
    with parsing(f"not {_WHAT}: its decisions do not hold what they should"):
        study.decisions_frame()
        study.ranks_frame()
    return study


def load_pruning(path: str | Path) -> PruningStudy:
    """Return the study of a folder, finished or not, or of a file that :meth:`PruningStudy.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    PruningStudy

    Raises
    ------
    InputError, FormatError
        If there is none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = lab.pruning_demo().save(Path(folder) / "study.jsonl")
    ...     len(lab.load_pruning(kept).to_frame())
    345
    """
    path = path_of(path)
    about, records = opened(path, _WHAT, FILE)
    return study_of(_checked(about, path), records)


def pruning_demo() -> PruningStudy:
    """Return the study that comes with demele: fabrics on glyphs among clutter, pruned in 22 ways.

    Returns
    -------
    PruningStudy

    Examples
    --------
    >>> from demele import lab
    >>> [noise.name for noise in lab.pruning_demo().noises]
    ['none', 'visibility 10%', 'visibility 20%']
    """
    return load_pruning(DEMO)


def _checked(content: Any, path: Path) -> dict[str, Any]:
    """Return what a file says that a study is.

    Raises
    ------
    FormatError, InputError
    """
    check_format(content, path, _WHAT, (FORMAT, FORMAT_VERSION))
    with parsing(f"{path}: not {_WHAT}"):
        check_shape(content, _SHAPE)
        if times := content["settings"].get("times"):
            check_shape(times, {"early": int, "every": int, "late": int})
        if content["settings"]["seeds"] < 1 or not study_of(content, {}).noises:
            raise ValueError("it has no noise, or no seed")
        study_of(content, {}).to_frame()
    return dict(content)
