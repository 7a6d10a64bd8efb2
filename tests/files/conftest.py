"""The program and its folders, of which files are the input."""

from tests.cli.conftest import demele, folder, judged, labels_folder, table

__all__ = ["demele", "folder", "judged", "labels_folder", "table"]
