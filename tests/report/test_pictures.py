"""Pictures of comparison methods: those asked for, the same bytes each time, and nothing half-written."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import demele
from demele.core.extras import require
from demele.report.comparisons_drawn import COLOURS
from demele.report.pictures import write_pictures
from tests.install.test_missing_extras import without
from tests.report.sample_comparisons import content, crafted, measured, only, renamed
from tests.report.sample_labels import HOSTILE


def colours_of(path: Path) -> dict[str, int]:
    """How many points have each colour of a cell."""
    with Image.open(path) as picture:
        points = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    wanted = {colour: tuple(bytes.fromhex(colour[1:])) for colour in COLOURS}
    return {colour: int((points == value).all(axis=1).sum()) for colour, value in wanted.items()}


def test_every_rate_has_its_matrices_and_every_measure_its_curves(tmp_path: Path) -> None:
    paths = measured().to_pictures(tmp_path / "new" / "folder", formats=("png",))
    assert [path.name for path in paths] == [
        "matrices-0.02.png",
        "matrices-0.05.png",
        "matrices-0.2.png",
        "matrices-overlap-worst-case.png",
        "curves.png",
        "matrices-0.02-recall-of-0.png",
        "matrices-0.05-recall-of-0.png",
        "matrices-0.2-recall-of-0.png",
        "matrices-overlap-worst-case-recall-of-0.png",
        "curves-recall-of-0.png",
    ]
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(path.name for path in paths)
    for path in paths:
        with Image.open(path) as picture:
            assert picture.format == "PNG"
            assert picture.width == 1400


def test_the_same_measurement_gives_the_same_bytes(tmp_path: Path) -> None:
    data = only(content(), rates=1, methods=2)
    data["measures"] = data["measures"][:1]
    first = write_pictures(data, tmp_path / "a", ("png", "svg", "pdf"))
    matplotlib.rcParams["axes.titlesize"] = 20.0  # what a user has set is not taken over, and stays
    try:
        again = write_pictures(data, tmp_path / "b", ("png", "svg", "pdf"))
        assert matplotlib.rcParams["axes.titlesize"] == 20.0
    finally:
        matplotlib.rcdefaults()
    assert len(first) == 3 * 3
    for one, other in zip(first, again, strict=True):
        assert one.name == other.name
        assert one.read_bytes() == other.read_bytes()
    svg = (tmp_path / "a" / "curves.svg").read_text(encoding="utf-8")
    assert "dc:date" not in svg


def test_a_matrix_is_drawn_in_the_colours_of_its_outcomes(tmp_path: Path) -> None:
    # Three classifiers: one cell of each error, two of each agreement. The legend has a patch of each colour too.
    cells = "0" + "12" + "3" + "0" + "2" + "1" + "4" + "0"
    write_pictures(crafted(cells, m=3, accuracies=[0.1, 0.2, 0.3]), tmp_path, ("png",))
    found = colours_of(tmp_path / "matrices-0.1.png")
    type_1 = found[COLOURS[3]]
    assert type_1 > 10_000
    assert 1.8 < found[COLOURS[1]] / type_1 < 2.2
    assert 2.7 < found[COLOURS[0]] / type_1 < 3.3  # the diagonal, not in the legend


def test_a_single_method_and_rate_can_be_drawn_without_its_tallies(tmp_path: Path) -> None:
    data = crafted("0120", m=2, accuracies=[0.1, 0.2], type_1=None, type_2=None, agreement=None)
    assert [path.name for path in write_pictures(data, tmp_path, ("svg",))] == ["matrices-0.1.svg", "curves.svg"]
    data["tallies"] = []
    assert len(write_pictures(data, tmp_path, ("svg",))) == 2


def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    data = renamed(renamed(content(), "house rule", HOSTILE), "overlap", "$\\frac{$ _x^ \n" + "long " * 50)
    data = only(data, rates=1)
    data["measures"] = ["$a$/../b", "recall of 0"]
    for key in ("tallies", "matrices"):
        for row in data[key]:
            row["measure"] = "$a$/../b" if row["measure"] == "accuracy" else row["measure"]
    paths = write_pictures(data, tmp_path / "folder", ("png",))
    assert {path.parent for path in paths} == {tmp_path / "folder"}
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (("png", "gif"), "formats: expected some of png, svg, pdf, got 'gif'"),
        (("../x",), "formats: expected some of png, svg, pdf, got '../x'"),
        ((), "formats: expected at least one of png, svg, pdf, got none"),
    ],
)
def test_other_formats_are_refused_before_the_folder_is_made(
    tmp_path: Path, formats: tuple[str, ...], message: str
) -> None:
    with pytest.raises(demele.InputError, match=re.escape(message)):
        write_pictures(content(), tmp_path / "folder", formats)
    assert list(tmp_path.iterdir()) == []


def test_one_format_may_be_a_word(tmp_path: Path) -> None:
    assert len(write_pictures(only(content(), rates=1, methods=1), tmp_path, "svg")) == 4  # type: ignore[arg-type]


def test_nothing_is_written_if_a_picture_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = Figure.savefig
    done: list[Any] = []

    def failing(figure: Figure, *arguments: Any, **options: Any) -> None:
        if len(done) == 3:
            raise MemoryError
        done.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", failing)
    with pytest.raises(MemoryError):
        write_pictures(content(), tmp_path / "folder", ("png",))
    assert len(done) == 3
    assert list(tmp_path.iterdir()) == []


def test_pictures_leave_the_state_of_pyplot_alone(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.report.sample_comparisons import crafted;"
        "from demele.report.pictures import write_pictures;"
        "write_pictures(crafted('0120', m=2, accuracies=[.1, .2]), Path(sys.argv[1]), ('png',));"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_message_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "matplotlib")
    message = r"a picture for print needs matplotlib: install it with  pip install 'demele\[pictures\]'"
    with pytest.raises(demele.MissingExtraError, match=message):
        require("matplotlib.figure", purpose="a picture for print")
    with pytest.raises(demele.MissingExtraError, match=message):
        write_pictures(content(), tmp_path / "folder", ("png",))
    assert list(tmp_path.iterdir()) == []
