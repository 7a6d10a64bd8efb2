"""No file is written in place: sources, tools and benchmarks write through ``demele.core.outputs``."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("src", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py"))

#: The module that writes, and what may be written otherwise, with the reason.
WRITER = "src/demele/core/outputs.py"
ALLOWED = {
    ("tools/mutants.py", "(out / 'map.json').write_text"): "kept in a scratch folder; the run after a kill says so",
    ("tools/mutants.py", "path.write_text"): "a copy of the code in a temporary folder",
    ("tools/mutants.py", "chosen.write_text"): "in the same folder",
    ("tools/mutants.py", "kept.open"): "a file that only grows, a line at a time",
    ("src/demele/core/store.py", "os.open"): "a file that only grows, and an empty file that is a lock",
    ("src/demele/cli/main.py", "os.open"): "the null device, where nobody reads the output",
    ("src/demele/data/own_files.py", "archive.open"): "a member of an archive that core.outputs writes",
    ("tools/kill_outputs.py", "open"): "the null device, for what commands print",
}
#: Calls that write whatever their arguments are.
WRITING = {
    *("os.open", "os.replace", "os.rename", "os.link", "os.truncate", "shutil.copy", "shutil.copyfile", "shutil.move"),
    *("np.save", "np.savez", "np.savez_compressed", "np.savetxt", "np.lib.format.open_memmap", "scipy.sparse.save_npz"),
    *("json.dump", "pickle.dump", "gzip.open", "joblib.dump", "tempfile.NamedTemporaryFile"),
}
WRITING_METHODS = {"write_text", "write_bytes", "tofile", "savefig", "write_html", "write_image", "to_pickle"}
#: Methods of data frames that return what they would write if they are not told where.
FRAMES = {"to_csv", "to_parquet", "to_excel", "to_feather", "to_json", "to_html"}
#: How a file in memory is called where it is told to NumPy or matplotlib, which have no function that returns bytes.
IN_MEMORY = {"archive", "held"}


def mode_of(call: ast.Call, place: int) -> str:
    """The mode of an ``open``: "r" if there is none, "?" if it is not written there."""
    given = [item.value for item in call.keywords if item.arg == "mode"] + call.args[place : place + 1]
    if not given:
        return "r"
    return str(given[0].value) if isinstance(given[0], ast.Constant) else "?"


def is_writing(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    first = ast.unparse(call.args[0]) if call.args else ""
    if (method == "open" or name == "open") and name != "os.open":
        return bool(set("wax+?") & set(mode_of(call, 1 if name in ("open", "io.open", "gzip.open") else 0)))
    if method in ("replace", "rename") and len(call.args) == 1 and not call.keywords:  # of a path; texts take two
        return True
    if name in WRITING or method in WRITING_METHODS:
        return first not in IN_MEMORY
    return method in FRAMES and writes_a_frame(call)


def writes_a_frame(call: ast.Call) -> bool:
    told = call.args or any(item.arg in ("path_or_buf", "path", "buf") for item in call.keywords)
    if not told or isinstance(call.args and call.args[0], ast.Constant):
        return False
    # results of ours, whose methods of these names are written with the writer
    return ast.unparse(call.func) not in OURS


OURS = {"result.to_html", "found.to_html", "assessment.to_html", "shown.to_html"}


def found_in(text: str) -> list[tuple[str, int]]:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [(ast.unparse(call.func), call.lineno) for call in calls if is_writing(call)]


def test_nobody_writes_in_place() -> None:
    found = [
        f"{own}:{line}: {name}; a kill would leave half a file: use core.outputs.write_whole"
        for own, path in ((path.relative_to(ROOT).as_posix(), path) for path in SOURCES)
        if own != WRITER
        for name, line in found_in(path.read_text(encoding="utf-8"))
        if (own, name) not in ALLOWED
    ]
    assert not found, "\n".join(found)


def test_what_is_allowed_is_there() -> None:
    for own, name in ALLOWED:
        assert name in dict(found_in((ROOT / own).read_text(encoding="utf-8"))), f"{own} has no {name} any more"
