"""What files hold, and which commands can use them; nothing that they hold is run."""

import ast
import math
import shlex
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demele.core.array_files import members_of, opened_archive, opened_member
from demele.core.arrays import pd
from demele.core.errors import DemeleError, FormatError, InputError, plural
from demele.core.reading import parsing, path_of
from demele.core.result import Result, about
from demele.core.table_columns import COLUMN_NAMES, items_of
from demele.files.audit_files import ROW, TRUE
from demele.files.expert_sheets import key_path, read_key
from demele.files.model_logs import ScoredRow
from demele.files.named import holds_sparse, is_empty, is_sheet_name, read_numpy, read_sparse, read_table
from demele.files.prediction_sets import read_predictions
from demele.files.score_files import program_of, rows_of
from demele.files.score_tables import HUMAN, ID, SCORE, Wanted, column_of, read_records
from demele.files.table_files import picking, text_of
from demele.report.document import Document, Section
from demele.report.listing import listed

#: What columns of labels are called; a column of at most so many values, each in two rows on average, holds classes.
_LABELS = ("label", "labels", "given", "given_label", "target", "class", "gold", "truth", "true", "true_label")
_MOST_CLASSES = 200
#: Images have rows, height, width and channels.
_OF_IMAGES = 4
_JUDGE = "Scores of judges"
#: What columns hold, by their names.
_PEOPLE = "scores by people"
_ROLES = {"identifiers": ID, "scores": SCORE, _PEOPLE: HUMAN}


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of a table, an array of an archive, or a system of a log.

    Attributes
    ----------
    name, holds : str
        What it is called; numbers, classes, identifiers, texts or scores, or the shape and type of an array.
    values, missing : int or None
        How many different values there are, and how many rows have none.
    low, high : float or None
        The least and the largest number.
    """

    name: str
    holds: str
    values: int | None = None
    missing: int | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What one file holds.

    Attributes
    ----------
    file, kind : str
    rows : int or None
    columns : tuple of ColumnFacts
    commands : tuple of (str, str)
        What can be done, and the command as it is written in a shell; words in capitals are other files.
    notes : tuple of str
    """

    file: str
    kind: str
    rows: int | None = None
    columns: tuple[ColumnFacts, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class FileReport(Result):
    """What files hold, and which commands can use them."""

    _kind = "file report"
    _rows = "files"

    files: tuple[FileFacts, ...]

    def document(self) -> Document:
        """Return a table of the columns of each file, and the commands."""
        columns: Any = [("Name", "text", "name"), ("Holds", "text", lambda one: one.holds)]
        columns += [(name.title(), "count", name) for name in ("values", "missing")]
        columns += [("Least", "number", "low"), ("Largest", "number", "high")]
        tables = [listed(Path(one.file).name, one.columns, columns) for one in self.files]
        shown = [table for table in tables if table.rows]
        sizes = ["" if one.rows is None else f" with {plural(one.rows, 'row', 'rows')}" for one in self.files]
        said = [f"{one.file} is {one.kind}{size}." for one, size in zip(self.files, sizes, strict=True)]
        return Document(
            kind="File report",
            headline=" ".join(said),
            sentences=[note for one in self.files for note in one.notes],
            table=shown[0] if shown else None,
            below=shown[1:],
            next=[step for one in self.files for step in one.commands],
            sections=[Section("Contents", shown)],
            **about(self),
        )


def doctor(files: Sequence[str | Path] | str | Path) -> FileReport:
    r"""Say what files hold, and which commands can use them.

    Parameters
    ----------
    files : str or sequence of str
        Tables, arrays, logs and results of evaluations, audits, sheets, fabrics, Python files, or folders of logs.

    Returns
    -------
    FileReport

    Raises
    ------
    FormatError, InputError, OSError
        If a file is broken, or of no kind that demele reads.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = file.write_text("old,new,label\n" + "cat,cat,cat\ndog,cat,dog\n" * 10)
    >>> (facts,) = doctor(file).files
    >>> facts.kind, facts.rows, facts.commands[0][1].replace(f"{file.parent}/", "")
    ('a table', 20, 'demele compare data.csv::old data.csv::new data.csv::label')
    """
    given = [files] if isinstance(files, str | Path) else items_of(files, "files", "names of files")
    paths = [path_of(one, "files") for one in given]
    if not paths:
        raise InputError("files", "expected at least one file, got none")
    return FileReport(tuple(map(_examined, paths)))


def _examined(path: Path) -> FileFacts:
    if not path.exists():
        raise FormatError(f"{path}: there is no such file or folder")
    if path.is_dir():
        return _folder(path)
    program, suffix = program_of(path), path.suffix.lower()
    if program is not None:
        return _scores(path, f"results of {program[0]}", classes="a" in program[0])
    if suffix == ".fabric" or (suffix not in (".npz", ".xlsx", ".eval") and zipfile.is_zipfile(path)):
        return _model(path)
    if path.name.endswith(".key.json"):
        key = read_key(path)
        return FileFacts(str(path), f"the key of an expert's sheet, drawn from {key.n:,} rows", len(key.lines))
    read = {".py": _python, ".npy": _arrays, ".npz": _arrays}.get(suffix, _table)
    if read is _table and suffix not in (".csv", ".tsv", ".txt", ".xlsx", ".json", ".jsonl", ".parquet"):
        raise FormatError(f"{path}: of no kind that demele reads")
    return read(path)


# Results of evaluations ----------------------------------------------------------------------------------------------


def _folder(path: Path) -> FileFacts:
    held = [one for one in sorted(path.rglob("*")) if one.is_file()]
    programs = {found[0] for one in held if (found := program_of(one)) is not None}
    if programs:
        return _scores(path, f"a folder of results of {', '.join(sorted(programs))}", classes=True)
    pieces = [one for one in held if one.suffix.lower() == ".parquet"]
    if pieces:
        use = ("Scores of codes, a piece at a time", f"demele score {_quoted(path)} FACTORS")
        return FileFacts(
            str(path), f"a folder of {plural(len(pieces), 'Parquet file', 'Parquet files')}", commands=(use,)
        )
    raise FormatError(f"{path}: holds no log and no Parquet file")


def _scores(path: Path, kind: str, *, classes: bool) -> FileFacts:
    """Say which systems were scored, on what scale, and how many scores people gave."""
    notes: list[str] = []
    try:
        rows = rows_of(str(path), Wanted(), notes)
    except FormatError as error:
        if "pick one" not in str(error):
            raise
        step = (_JUDGE, f"demele judge {_quoted(path)} --score NAME --human HUMAN")
        return FileFacts(str(path), kind, commands=(step,), notes=(str(error),))
    systems: dict[str, list[ScoredRow]] = {}
    for row in rows:
        systems.setdefault(row.system or path.stem, []).append(row)
    columns = tuple(_column(name, [row.score for row in own], "scores") for name, own in systems.items())
    human = sum(bool(row.human) for row in rows)
    every = [one for row in rows for one in (row.score, *row.human) if one is not None]
    off = bool(every) and (min(every) < 0 or max(every) > 1)
    scale = f" --scale {math.floor(min(every))},{math.ceil(max(every))}" if off else ""
    use = [(_JUDGE, f"demele judge {_quoted(path)}{scale}{'' if human else ' --human HUMAN'}")]
    parts = {"task": {row.task for row in rows}, "repeat": {row.epoch for row in rows}}
    notes += [plural(len(held), name, f"{name}s") for name, held in parts.items() if len(held) > 1]
    notes += [f"{plural(human, 'row has', 'rows have')} scores by people"] if human else []
    return FileFacts(str(path), kind, len(rows), columns, (*use, *(_classes(path) if classes else ())), tuple(notes))


def _classes(path: Path) -> list[tuple[str, str]]:
    """Return the command for logs that say right or wrong."""
    try:
        several = len(read_predictions([str(path)], ids="common").predictions) > 1
    except DemeleError:  # scores between right and wrong
        return []
    name = "compare" if several else "assess"
    return [("Accuracy when labels may be wrong", f"demele {name} {_quoted(path)} --ids common")]


# Models and functions ----------------------------------------------------------------------------------------


def _model(path: Path) -> FileFacts:
    """Say what a training of demele left; the file of a fabric or a VAE may be called anything."""
    from demele.models.fabric.model import Fabric
    from demele.models.vae.model import load_vae

    file = _quoted(path)
    try:
        counts = Fabric.load(path).counts()
    except (FormatError, InputError):
        if path.suffix.lower() == ".fabric":
            raise
        load_vae(path)
        steps = (
            ("Facts of the model", f"demele lab vae report {file}"),
            ("Codes of images", f"demele lab vae encode {file} -o codes.npz"),
        )
        return FileFacts(str(path), "a VAE", commands=steps)
    steps = (
        ("Counts, prunings, times", f"demele lab fabric show {file}"),
        ("A smaller fabric", f"demele lab fabric prune {file} --remove links --fraction 0.5 -o FILE.fabric"),
    )
    return FileFacts(str(path), f"a fabric of {plural(counts.parameters, 'weight', 'weights')}", commands=steps)


def _python(path: Path) -> FileFacts:
    with parsing(f"{path}: not Python"):
        tree = ast.parse(text_of(path))
    held = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[:1] != "_"]
    columns = tuple(ColumnFacts(name, "function") for name in held)
    use = tuple(("Test of a metric", f"demele bench metrics --metrics {picking(path, name)}") for name in held)
    return FileFacts(str(path), "a Python file", None, columns, use)


# Arrays and tables ---------------------------------------------------------------------------------------------------


def _arrays(path: Path) -> FileFacts:
    """Say what an array, or each array of an archive, is called and shaped; its values are not read."""
    if path.suffix.lower() == ".npy":
        array: Any = read_numpy(path, ())
        return FileFacts(str(path), "an array", len(array), (_array("array", array),), _uses({"": array}, path))
    if holds_sparse(str(path)):
        rows, n_codes = read_sparse(str(path)).shape
        steps = (
            ("Scores of codes", f"demele score {_quoted(path)} FACTORS"),
            ("Probes of single codes", f"demele probe sparse {_quoted(path)} LABELS"),
        )
        return FileFacts(str(path), f"a sparse matrix of {plural(n_codes, 'code', 'codes')}", rows, (), steps)
    arrays: dict[str, Any] = {}
    with opened_archive(path) as archive:
        for name, info in members_of(archive).items():
            with opened_member(archive, info) as (header, _):
                arrays[name] = header
    if not arrays:
        raise FormatError(f"{path}: holds no array")
    held = tuple(_array(name, array) for name, array in arrays.items())
    return FileFacts(
        str(path), f"an archive of {plural(len(held), 'array', 'arrays')}", None, held, _uses(arrays, path)
    )


def _array(name: str, array: Any) -> ColumnFacts:
    return ColumnFacts(name, f"{array.dtype} {' x '.join(map(str, array.shape))}")


def _uses(arrays: Mapping[str, Any], path: Path) -> tuple[tuple[str, str], ...]:
    """Return what arrays can be: images have four dimensions, codes two, factors and labels one or two."""
    place = {name: picking(path, name) if name else _quoted(path) for name in arrays}
    steps = []
    if any(len(array.shape) == _OF_IMAGES for array in arrays.values()):
        steps.append(("A VAE of images", f"demele lab vae train {_quoted(path)} --checkpoint RUN"))
    codes = [name for name, array in arrays.items() if len(array.shape) == 2 and array.dtype.kind == "f"]
    others = [name for name, array in arrays.items() if name not in codes and len(array.shape) in (1, 2)]
    if codes:
        same = [name for name in others if arrays[name].shape[0] == arrays[codes[0]].shape[0]]
        steps.append(("Scores of codes", f"demele score {place[codes[0]]} {place[same[0]] if same else 'FACTORS'}"))
    return tuple(steps)


def _table(path: Path) -> FileFacts:
    """Say what the columns of a table are, and what they can be used for."""
    notes: list[str] = []
    if path.suffix.lower() == ".xlsx":
        held: Any = pd.DataFrame([dict(cells) for _, cells in read_records(path)[1]])
    else:
        held = read_table(str(path), warn=notes.append)
    if isinstance(held, np.ndarray):
        held = pd.DataFrame(held, columns=range(1, held.shape[1] + 1))
    table = held.set_axis([str(name) for name in held], axis=1)
    roles = {name: role for role, names in _ROLES.items() for name in names}
    columns = tuple(
        _column(name, table[name].tolist(), _PEOPLE if name.startswith("human_") else roles.get(name.casefold(), ""))
        for name in table
    )
    kind = "an expert's sheet" if is_sheet_name(path) and key_path(path).exists() else "a table"
    return FileFacts(str(path), kind, len(table), columns, tuple(_steps(path, kind, columns, table)), tuple(notes))


def _column(name: str, cells: Sequence[Any], holds: str = "") -> ColumnFacts:
    known = [one for one in cells if not is_empty(one) and one == one]
    if any(isinstance(one, list | dict) for one in known):
        return ColumnFacts(name, "lists", None, len(cells) - len(known))
    numbers = bool(known) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in known)
    values = len(set(known))
    whole = not numbers or all(float(one).is_integer() for one in known)
    if not holds and whole and 2 * values <= len(known) and values <= _MOST_CLASSES:
        holds = "classes"
    elif not holds:
        holds = "numbers" if numbers and (not whole or values < len(known)) else "identifiers or texts"
    ends = (float(min(known)), float(max(known))) if numbers else (None, None)
    return ColumnFacts(name, holds, values, len(cells) - len(known), *ends)


def _steps(path: Path, kind: str, columns: Sequence[ColumnFacts], table: "pd.DataFrame") -> Iterator[tuple[str, str]]:
    file, names = _quoted(path), [one.name for one in columns]
    folded = {name.casefold(): name for name in names}
    sheet = path.suffix.lower() == ".xlsx"  # which only the readers of scores and of experts' sheets take
    if kind != "a table" or {ROW, TRUE} <= set(names):
        empty = any(one.values == 0 for one in columns if one.name.casefold() in (TRUE, "answer"))
        first = "After an expert has filled it in: " if empty else ""
        yield f"{first}labels of an expert".capitalize(), f"demele compare PREDICTIONS LABELS --audit {file}"
        return
    if all(set(known) & set(folded) for known in COLUMN_NAMES.values()) and not sheet:
        yield "Labels from several annotators", f"demele labels aggregate {file}"
    own, score = (column_of(path, names, known) for known in (ID, SCORE))
    if own and score:
        yield from _scores(path, kind, classes=False).commands
    elif own and any(one.holds == "scores by people" for one in columns):
        yield "Scores by people", f"demele judge RESULTS --human {file}"
    if sheet:
        return
    square = table.select_dtypes("number")
    if square.shape == (len(table), len(table)) and len(table) > 1 and np.allclose(square.sum(axis=1), 1):
        yield "Accuracy with these probabilities of mistakes", f"demele assess PREDICTIONS LABELS --noise {file}"
        return
    classes = [one.name for one in columns if one.holds == "classes" and not one.missing]
    label = column_of(path, classes, _LABELS)
    if label is not None:
        known = set(table[label].dropna())
        models = [name for name in classes if name.casefold() not in _LABELS and set(table[name].dropna()) <= known]
        said = " ".join(picking(path, name) for name in [*models, label])
        if models:
            name = "compare" if len(models) > 1 else "assess"
            yield "Accuracy when labels may be wrong", f"demele {name} {said}"
    numbers = [one.name for one in columns if one.holds == "numbers" and one.name != score and not one.missing]
    if len(numbers) > 1:
        varied = [one.name for one in columns if one.name in classes and one.values != 1]
        factors = picking(path, *varied) if varied else "FACTORS"
        yield "Scores of codes", f"demele score {picking(path, *numbers)} {factors}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
