"""The program and its folders, of which files are the input; and warnings that readers give."""

import pytest

from tests.cli.conftest import demele, folder, judged, labels_folder, table

__all__ = ["demele", "folder", "judged", "labels_folder", "table"]


@pytest.fixture
def warned() -> list[str]:
    return []
