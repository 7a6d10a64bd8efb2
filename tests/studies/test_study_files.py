"""Files of studies that were changed by hand are refused where they are read, and not where they are shown."""

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from demele import lab
from demele.core.arrays import rng_for
from demele.core.errors import FormatError
from demele.data import sprites
from demele.scoring.evaluate import evaluate
from demele.studies.study import codes_digest, read_codes
from tests.tolerances import ROUNDING, assert_close

EMBEDDED = Path(lab.__file__).parent / "studies" / "embedded.jsonl"
PRUNING = EMBEDDED.parent / "pruning" / "embedded.jsonl"
Place = Sequence[str | int]
Change = tuple[int, Place, Any]


def every(line: int, place: Place, *values: Any) -> list[Change]:
    """Several values in one place."""
    return [(line, place, value) for value in values]


STUDY = [
    *every(0, ["demele"], ..., 5),
    *every(0, ["settings"], ..., 5, []),
    *every(0, ["settings", "metrics"], ..., None, [], [{}], [5], "mig"),
    *every(0, ["settings", "steps"], ..., [], ["x"], [None], 5),
    *every(0, ["settings", "shape"], ..., [16, 16], "x"),
    *[(0, ["settings", name], ...) for name in ("images", "provenance", "n_images", "codes", "model", "training")],
    *every(0, ["configurations"], None, 5, [5], [{}]),
    *every(0, ["configurations", 0, "options"], 5, [], {"beta": "x"}, {"gamma": []}),
    *every(0, ["configurations", 0, "latents"], ..., "x", []),
    *every(1, [0], [["score"]], 5, [None, []], ["score", 5]),
    *every(1, [1, "value"], "x", [], {}),
    *[(-1, [1, name], ...) for name in ("status", "kl", "floor")],
]
PRUNED = [
    (0, ["demele"], ...),
    *every(0, ["settings", "structure"], ..., 5, {}, {"layers": "x", "scales": 5}),
    *every(0, ["settings", "noises"], ..., None, [], ["x"], [{"kind": 5, "rate": 0.1}]),
    *every(0, ["settings", "configurations"], ..., None, ["x"], [{"style": "x"}]),
    *every(0, ["settings", "seeds"], ..., 0, "x", None),
    *every(1, [0], [], ["x"], 5, [None]),
    *every(1, [1, "pairs"], ..., 5),
    *every(1, [1, "ranks"], ..., 5, {"overlap": 5}),
    *every(-1, [1, "status"], [], {}),
    *every(-1, [1, "error"], [], {}),
    *every(-1, [1, "alive"], "111", 5, [None]),
]


def changed(path: Path, line: int, place: Place, value: Any) -> str:
    """The text of a file in which one value is another; ``...``: it is left out."""
    lines = [json.loads(one) for one in path.read_text(encoding="utf-8").splitlines()]
    holder = lines[line] = copy.deepcopy(lines[line])
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    if value is ...:
        del holder[place[-1]]
    return "".join(json.dumps(one) + "\n" for one in lines)


@pytest.mark.parametrize(("path", "change"), [(EMBEDDED, one) for one in STUDY] + [(PRUNING, one) for one in PRUNED])
def test_a_changed_study_is_refused(path: Path, change: Change, tmp_path: Path) -> None:
    (tmp_path / "study.jsonl").write_text(changed(path, *change), encoding="utf-8")
    with pytest.raises(FormatError):
        (lab.load_study if path == EMBEDDED else lab.load_pruning)(tmp_path / "study.jsonl")


def test_a_row_with_another_key_is_refused(tmp_path: Path) -> None:
    tiny: Any = {"preset": "ci", "betas": [1.0], "steps": 10, "metrics": ["mig", "sap"], "n_rows": 50}
    lab.model_family(**tiny, store=tmp_path / "study")
    rows = tmp_path / "study" / "rows.jsonl"
    lines = rows.read_text(encoding="utf-8").splitlines()
    for key in (["score", 5], ["score", "a", "b", "c", "d"], ["score", "a", 5, "real", None]):
        record = {**json.loads(lines[-1]), "key": key}
        rows.write_text("\n".join([*lines, json.dumps(record)]) + "\n", encoding="utf-8")
        with pytest.raises(FormatError):
            lab.load_study(tmp_path / "study")


def test_the_stored_study_holds_the_scores_of_its_codes_up_to_rounding() -> None:
    found, step = lab.study_demo(), 2500
    model = next(one for one in found.models if one.id == "e4f80b28189c6c3f")
    codes, std = read_codes(Path(__file__).with_name("embedded_codes.npz"), 5000)
    assert codes_digest(codes, std) == model.codes[str(step)]  # those that were scored
    images = sprites()
    scores = evaluate(
        codes.astype(float),
        images.factors(rng_for(0, "study", "rows").permutation(len(images))[:5000]),
        list(found.metrics),
        protocol=found.settings["protocol"],
        seed=found.settings["seed"],
    )
    stored = [found.value(model, metric, step=step) for metric in found.metrics]
    assert_close([scores[metric].value for metric in found.metrics], stored, ROUNDING)
