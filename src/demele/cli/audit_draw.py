"""``demele audit draw``: which rows an expert should label, drawn at random so that the answers can be trusted."""

from typing import Any

from demele.cli.engine import Call, Command, Given
from demele.cli.sheets import check_sheet
from demele.core.errors import InputError
from demele.core.labelled import read_labels
from demele.files.expert_sheets import kept_columns
from demele.files.label_files import column, in_one_vocabulary, models
from demele.files.log_sets import is_log
from demele.files.named import split_name
from demele.files.prediction_sets import read_predictions
from demele.files.rows_to_label import draw_rows


def _run(given: Given) -> Call:
    files, word, blind = given.files, given.take("disagreement"), given.options.get("blind", False)
    logs = None
    if any(map(is_log, files)):
        logs = given.call(read_predictions, list(dict.fromkeys([*files, *([word] if word else [])])))
        if logs.graded:
            raise InputError(f"{files[0]}: says only whether answers were right: there is no label to audit")
        labels, predicted = read_labels(logs.labels, "labels"), logs.predictions if word else {}
    else:
        if len(files) > 1:
            raise InputError(f"expected LABELS, got {len(files)} files; only logs may be several")
        labels = read_labels(column(files[0], given.warn), "labels")
        predicted = {} if word is None else models(word, given.warn, labels=files[0])
    more: dict[str, Any] = {"disagreement": in_one_vocabulary(predicted)} if predicted else {}
    if blind:
        for path in given.written() or (None,):
            check_sheet(path, "-o", force=given.options.get("force", False), inputs=[split_name(files[0])[0]])
        more["offered"] = () if logs is None else None if logs.open else logs.classes or ()
    elif "positive" in given.options:
        raise InputError("--positive: give --blind as well; the key next to the expert's sheet holds the strata")
    kept = given.call(kept_columns, blind, files[0], labels.size, given.warn, (*files, word), logs)
    return given.bind(draw_rows, labels, kept=kept, **more)


DRAW = Command(
    {"": draw_rows},
    ("LABELS --size N", "LOG... --size N"),
    _run,
    short="size disagreement keep blind positive seed",
    readers=(read_predictions, kept_columns),
    without="id scores",
    details="""\
The expert fills in the column true_label, and leaves out no row because it is hard; demele assess and compare read the
file with --audit. --blind writes a sheet without labels and predictions (.csv, .tsv, .xlsx): a random key per row, the
columns to --keep, and an empty column answer. What leads back to the rows is next to it, in NAME.key.json. An expert
who cannot tell writes unclear. About 200 rows say within a few percent how many labels are wrong.
""",
    examples="""\
demele audit draw data.csv::label --size 200 -o audit.csv
demele audit draw data.csv::label --size 200 --disagreement data.csv::a,b,c -o audit.csv
demele audit draw data.csv::label --size 200 --blind --keep id,text -o sheet.xlsx
""",
)
