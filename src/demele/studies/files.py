"""Files of a study: its plan and its rows; and all of it packed into one file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demele.core.errors import quoted
from demele.core.reading import check_shape, parsing, path_of
from demele.core.store import Key, reading_record
from demele.core.version import __version__
from demele.runtime.sweep import Record
from demele.studies.folders import check_format, json_of, opened
from demele.studies.jobs import Configuration, train_key
from demele.studies.planning import StudyPlan
from demele.studies.study import FORMAT, FORMAT_VERSION, Study, TrainedModel, header

#: In the folder of a study: what it is, and its models' files.
FILE, RUNS = "study.json", "runs"
_WHAT = "a study of demele"
_SHAPE = {
    "demele": str,
    "settings": {
        **dict.fromkeys(("images", "provenance", "protocol", "codes"), str),
        **dict.fromkeys(("n_images", "n_factors", "scored_rows", "seed"), int),
        "shape": [int],
        "steps": [int],
        "metrics": [str],
        "kinds": [str],
        "model": dict,
        "training": dict,
    },
    "configurations": [{"id": str, "objective": str, "options": dict, "latents": int, "seed": int}],
}
_SCORE = {"value": (float, int, type(None)), "step": int, "names": [str]}
#: The rows of the embedded study that come with demele.
DEMO = Path(__file__).with_name("embedded.jsonl")


def study_of(about: Mapping[str, Any], records: Mapping[Key, Record]) -> Study:
    """Return the study of some rows; ``about``: what :func:`demele.studies.study.header` returns.

    Raises
    ------
    FormatError
        If a row is not what it should be.
    """
    settings, models = about["settings"], []
    for one in about["configurations"]:
        own = {name: value for name, value in one.items() if name != "id"}
        with reading_record(train_key(one["id"])):
            record = records.get(train_key(one["id"]))
            models.append(TrainedModel.of(one["id"], Configuration(**own), record, int(settings["n_factors"])))
    scores = {}
    for key, record in records.items():
        if key[:1] == ("score",):
            with reading_record(key):
                identifier, step, kind, metric = key[1:]
                check_shape({**record, "step": step, "names": [identifier, kind, metric]}, _SCORE)
            scores[key[1:]] = record
    return Study(settings=settings, models=tuple(models), scores=dict(sorted(scores.items())), version=about["demele"])


def about_study(plan: StudyPlan, folder: Path) -> dict[str, Any]:
    """Return what a study is once a plan is added to what its folder holds already.

    Raises
    ------
    FormatError, InputError
    """
    about = header(plan.settings(), {one.identified(plan.identity): one for one in plan.configurations}, __version__)
    if (folder / FILE).exists():
        before, own = _checked(json_of(folder / FILE, _WHAT), folder / FILE), about["settings"]
        for name in ("metrics", "kinds"):
            own[name] = list(dict.fromkeys([*before["settings"][name], *own[name]]))
        known = {one["id"]: one for one in [*before["configurations"], *about["configurations"]]}
        about["configurations"] = list(known.values())
    return about


def load_study(path: str | Path) -> Study:
    """Return the study of a folder, finished or not, or of a file that :meth:`Study.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Study

    Raises
    ------
    InputError, FormatError
        If there is none.

    Examples
    --------
    >>> import tempfile
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tiny = {"preset": "ci", "betas": [1.0], "steps": 10, "metrics": ["mig", "sap"], "n_rows": 50}
    ...     found = lab.model_family(**tiny, store=f"{folder}/study")
    ...     len(lab.load_study(f"{folder}/study").models)
    1
    """
    path = path_of(path)
    hint = "demele lab study pruning show is for one of pruning" if (path / "pruning.json").exists() else ""
    about, records = opened(path, _WHAT, FILE, hint)
    return study_of(_checked(about, path), records)


def study_demo() -> Study:
    """Return the study that comes with demele: 36 beta-VAEs on sprites of 32 x 32, 17 metrics.

    Returns
    -------
    Study

    Examples
    --------
    >>> from demele import lab
    >>> found = lab.study_demo()
    >>> found.settings["preset"], len(found.models)
    ('embedded', 36)
    >>> [model.flag for model in found.models].count("collapsed")
    6
    """
    return load_study(DEMO)


def _checked(content: Any, path: Path) -> dict[str, Any]:
    """Return what a study is, as a file holds it.

    Raises
    ------
    FormatError, InputError
    """
    check_format(content, path, _WHAT, (FORMAT, FORMAT_VERSION))
    with parsing(f"{path}: not {_WHAT}"):
        check_shape(content, _SHAPE)
        places = content["settings"]["steps"], content["settings"]["shape"], content["settings"]["metrics"]
        if not places[0] or len(places[1]) != 3 or not places[2]:
            raise ValueError(f"it holds {quoted(places)}")
        options = [one["options"] for one in content["configurations"]]
        check_shape([value for own in options for value in own.values()], [(float, int, str, bool, type(None))])
        check_shape([own.get("beta", 1.0) for own in options], [(float, int)])
    return dict(content)
