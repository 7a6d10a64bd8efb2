"""Run the notebooks of the documentation: ``python -m tools.docs_notebooks --write`` puts what their cells show in."""

import argparse
import importlib
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
#: Cells end long before; a cell that hangs must not hang the tests.
_SECONDS_PER_CELL = 120


def read(path: Path) -> Any:
    """Return a notebook as it is written."""
    return _format().read(path, as_version=4)


def _format() -> Any:  # its functions have no types
    return importlib.import_module("nbformat")


def executed(path: Path) -> Any:
    """Return a notebook after all of its cells, each in turn, in a new process."""
    from nbclient import NotebookClient

    notebook = read(path)
    with tempfile.TemporaryDirectory() as folder:  # where its cells write
        client = NotebookClient(
            notebook, timeout=_SECONDS_PER_CELL, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        manager = client.create_kernel_manager()
        manager.transport, manager.ip = (
            "ipc",
            str(Path(folder) / "kernel"),
        )  # files, not ports that others can listen on
        client.execute()
    for cell in notebook.cells:  # when, and by which release of Python, is nothing to keep
        cell.metadata.pop("execution", None)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def shown(notebook: Any) -> list[list[str]]:
    """Return what each cell shows as text: pictures have other bytes with every release of what draws them."""
    return [[_text(output) for output in cell.outputs] if cell.cell_type == "code" else [] for cell in notebook.cells]


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    return str(output.data.get("text/html") or output.data.get("text/plain", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put what the cells show into the files")
    arguments = parser.parse_args()
    for path in NOTEBOOKS:
        found = executed(path)
        same = shown(found) == shown(read(path))
        print(f"{path.name}: {'as written' if same else 'shows something else'}")
        if arguments.write:
            _format().write(found, path)


if __name__ == "__main__":
    main()
