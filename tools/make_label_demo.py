"""Make the label sets and the answers of crowds in ``src/demele/data/bundled`` from the published data.

``python tools/make_label_demo.py FOLDER`` reads, in FOLDER (their sources, commits and licences are in
``src/demele/data/bundled/LICENSES.md``):

- ``mmlu_redux_llm/predictions.csv``: per question the subject, the published answer (0 to 3), the corrected one (-1 if
  there is no single right answer) and the answer of each model (-1 if it gave none).
- ``label_errors/*.npz``: ``given``, ``argmax``, ``corrected`` (-1 if reviewers did not agree), ``reviewed_index``.
- ``geirhos_16class_models/*.npz``: ``label``, ``predictions``, ``models``, ``classes``, ``condition``.
- ``crowd_gal/*.npz``: ``worker``, ``task`` and ``label`` of each answer, ``gold`` of each task (-1 unknown),
  ``classes``.

Files come out the same, byte by byte, for the same data.
"""

import io
import lzma
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from demele.core.outputs import write_whole

BUNDLED = Path(__file__).parents[1] / "src" / "demele" / "data" / "bundled"
#: Of the sets of answers, those small enough to be bundled, and what their answers are about.
CROWDS = {
    "mozafari_1000": "1 000 items of two classes, the right one known of each; five answers about each",
    "hitspam_crowdflower": "whether a task offered on Mechanical Turk is spam, asked on CrowdFlower; the right answer "
    "is known of 101",
}
LETTERS = ("A", "B", "C", "D", "no answer")
CC_BY = "CC BY 4.0"
APACHE = "Apache-2.0"


def packed(arrays: Mapping[str, Any]) -> bytes:
    """Return an .npz compressed as a whole: two thirds of what numpy.savez_compressed makes."""
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    return lzma.compress(archive.getvalue(), preset=9)


def main(folder: Path) -> None:
    """Write every set and print its size."""
    made = {"mmlu_redux": mmlu_redux(pd.read_csv(folder / "mmlu_redux_llm" / "predictions.csv"))}
    for file in sorted((folder / "label_errors").glob("*.npz")):
        made[f"label_errors_{file.stem}"] = label_errors(file)
    for file in sorted((folder / "geirhos_16class_models").glob("*.npz")):
        made[f"geirhos_16class_{file.stem.removesuffix('_png')}"] = geirhos(file)
    made |= {f"crowd/{name}": crowd(folder / "crowd_gal" / f"{name}.npz") for name in CROWDS}
    total = 0
    for name, arrays in made.items():
        file = BUNDLED / f"{name}.npz.xz"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, packed(arrays))
        total += file.stat().st_size
        print(f"{name}: {file.stat().st_size} bytes")
    print(f"{len(made)} files, {total} bytes")


def mmlu_redux(table: pd.DataFrame) -> dict[str, Any]:
    """Questions with one right answer; what is not one of the four letters is a class of its own."""
    single = table[table["corrected"] >= 0]
    answers = single[list(table.columns[5:])]
    subjects, codes = np.unique(single["subject"].to_numpy(dtype=str), return_inverse=True)
    wrong = int((single["corrected"] != single["answer"]).sum())
    return {
        "labels": single["answer"].to_numpy(np.uint8),
        "predictions": np.where(answers < 0, len(LETTERS) - 1, answers).astype(np.uint8).T,
        "models": np.array(list(answers.columns)),
        "classes": np.array(LETTERS),
        "true_labels": single["corrected"].to_numpy(np.uint8),
        "groups": codes.astype(np.uint8),
        "group_names": subjects,
        "group_kind": np.array("subject"),
        "provenance": np.array(
            "MMLU-Redux: answers distributed with MMLU, and those of experts who reviewed 100 questions of each of 57 "
            f"subjects (Gema et al. 2024); answers of ten language models from HELM. {len(single)} questions with a "
            f"single right answer, {wrong} of them mislabelled; the other {len(table) - len(single)} are left out."
        ),
        "licence": np.array(CC_BY),
    }


def label_errors(file: Path) -> dict[str, Any]:
    """Published labels, one model, and the reviewed rows on which reviewers agreed."""
    with np.load(file) as stored:
        given, argmax, corrected, reviewed = (stored[key] for key in ("given", "argmax", "corrected", "reviewed_index"))
    n_classes = int(max(given.max(), argmax.max())) + 1
    kind = np.uint8 if n_classes <= 256 else np.uint16
    rows = np.sort(reviewed)
    agreed = rows[corrected[rows] >= 0]
    return {
        "labels": given.astype(kind),
        "predictions": argmax.astype(kind)[None],
        "models": np.array(["cross-validated model"]),
        "classes": np.arange(n_classes),
        "audit_rows": agreed.astype(np.int32),
        "audit_labels": corrected[agreed].astype(kind),
        "provenance": np.array(
            f"Test set {file.stem} of the label errors project (Northcutt, Athalye and Mueller 2021): published "
            f"labels, out-of-sample predictions of its model, and the majority of crowd workers on {agreed.size} of "
            f"the {rows.size} rows that confident learning flagged; on the others they did not agree. A selective "
            "review: only rows where the algorithm suspected an error."
        ),
        "licence": np.array(APACHE),
    }


def geirhos(file: Path) -> dict[str, Any]:
    """Networks on distorted images; the strength of the distortion is the group."""
    with np.load(file) as stored:
        label, predictions, models, classes, condition = (
            stored[key] for key in ("label", "predictions", "models", "classes", "condition")
        )
    if int(predictions.max()) >= classes.size:
        raise SystemExit(f"{file.name}: some predictions are no class")
    names, codes = np.unique(condition, return_inverse=True)
    return {
        "labels": label.astype(np.uint8),
        "predictions": predictions.astype(np.uint8),
        "models": models,
        "classes": classes,
        "true_labels": label.astype(np.uint8),
        "groups": codes.astype(np.uint8),
        "group_names": names,
        "group_kind": np.array("strength of the distortion"),
        "provenance": np.array(
            f"Decisions of {len(models)} networks on {label.size} images of 16 classes, distorted by "
            f"{file.stem.removesuffix('_png').replace('_', ' ')} (Geirhos et al. 2018). Labels are taken as right."
        ),
        "licence": np.array(CC_BY),
    }


def crowd(file: Path) -> dict[str, Any]:
    """Answers by item and then annotator, equal ones in the order of the source, in the smallest types."""
    with np.load(file) as stored:
        item, annotator, answer, gold, classes = (stored[key] for key in ("task", "worker", "label", "gold", "classes"))
    order = np.lexsort((annotator, item))
    silent = gold.size - np.unique(item).size
    known = np.flatnonzero(gold >= 0)
    return {
        "answers_per_item": np.bincount(item, minlength=gold.size).astype(np.uint16),
        "annotator": annotator[order].astype(np.uint8),
        "answer": np.packbits(answer[order]),  # of two classes, in all of them
        "gold_items": known.astype(np.uint16),
        "gold": gold[known].astype(np.uint8),
        "classes": classes,
        "provenance": np.array(
            f"Set {file.stem} of Get-Another-Label (Ipeirotis, Provost and Wang 2010): {CROWDS[file.stem]}. "
            f"{item.size} answers of {np.unique(annotator).size} annotators about {gold.size} items"
            + (f", {silent} of them without an answer." if silent else ".")
        ),
        "licence": np.array(APACHE),
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
