"""``demele score`` of sparse codes: a file of ``scipy.sparse.save_npz``, scored from its non-zeros."""

import argparse
from dataclasses import replace

import numpy as np

from demele.cli.options import given, refuse, told_by
from demele.cli.output import FORMATS, format_of, warned, warnings_in_one_line, write_result
from demele.core.errors import FormatError, InputError
from demele.core.score_documents import value_tables
from demele.files.named import read_sparse, read_table, split_name
from demele.files.table_files import Warn, text_of
from demele.metrics.sparse_documents import top_table

#: Options that only dense codes have.
_DENSE = (
    *("code_groups", "reduce_groups", "aligned", "whiten"),
    *(
        "codes_std",
        "reg_dim",
        "protocol",
        "n_repeats",
        "n_bootstrap",
        "level",
        "n_permutations",
        "blocks",
        "report",
        "methods",
        "rows",
    ),
)
_ASKED = ("bins", "seed", "missing", "kinds")
#: Files of names that are read as tables; any other is one name per line.
_TABLES = (".npy", ".npz", ".csv", ".tsv", ".parquet", ".json")


def run(arguments: argparse.Namespace) -> None:
    """Score the sparse codes that the arguments name, and write scores and top codes."""
    import demele

    refuse(arguments, _DENSE, "is for dense codes, CODES holds sparse ones; leave it out")
    kind = format_of(arguments.format, arguments.output)
    if kind not in FORMATS:
        raise InputError(f"--format {kind}: is for dense codes, CODES holds sparse ones; take table, csv or json")
    if arguments.details and kind != "table":
        raise InputError(f"--details: is for tables; {kind} holds all values as it is")
    warn, words = warned(arguments.quiet), told_by(arguments)
    names = None if arguments.code_names is None else names_of_codes(arguments.code_names, warn=warn)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        evaluation = demele.evaluate_sparse(
            read_sparse(arguments.codes),
            read_table(arguments.factors, warn=warn),
            arguments.metrics,
            code_names=names,
            name=arguments.name or split_name(arguments.codes)[0].stem,
            n_jobs=arguments.jobs,
            progress=not arguments.quiet,
            **given(arguments, *_ASKED),
        )
    document = evaluation.document()
    if arguments.details:
        document = replace(document, beside=[top_table(evaluation, None), *value_tables(evaluation.scores)])
    write_result(arguments, evaluation, words, document=document, papers=False)


def names_of_codes(text: str, *, warn: Warn) -> list[str]:
    """Read the names of codes: the lines of a text file, or a column of a table."""
    path, picked = split_name(text)
    if not picked and path.suffix.lower() not in _TABLES:
        names = [line.strip() for line in text_of(path).splitlines()]
        while names and not names[-1]:
            names.pop()
        absent = [name == "" for name in names]
    else:
        table = read_table(text, warn=warn)
        if table.ndim != 2 or table.shape[1] != 1:
            held = f"{table.shape[1]} columns" if table.ndim == 2 else f"shape {tuple(table.shape)}"
            raise InputError(f"{text}: expected one column of names, got {held}; pick one with {path}::column")
        column = list(np.asarray(table)[:, 0])
        names = [str(value).strip() for value in column]
        absent = [value is None or value != value or not name for value, name in zip(column, names, strict=True)]
    if any(absent):
        raise FormatError(f"{text}: expected a name for each code, got none in row {absent.index(True)} (rows from 0)")
    return names
