"""What a user reads when an optional dependency is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

import demele
from demele.core.lazy import require


def without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Make a module look as if it were not installed."""
    for name in [*sys.modules]:
        if name.partition(".")[0] == module:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.parametrize(
    ("module", "purpose", "extra"),
    [
        ("matplotlib.figure", "a picture for print", "pictures"),
        ("pyarrow", "reading a.parquet", "parquet"),
        ("torchmetrics", "demele.adapters.torchmetrics", "torch"),
    ],
)
def test_the_message_names_what_is_needed_and_the_command(
    monkeypatch: pytest.MonkeyPatch, module: str, purpose: str, extra: str
) -> None:
    package = module.partition(".")[0]
    without(monkeypatch, package)
    with pytest.raises(demele.errors.MissingExtraError) as caught:
        require(module, purpose=purpose)
    assert str(caught.value) == f"{purpose} needs {package}: install it with  pip install 'demele[{extra}]'"
    assert isinstance(caught.value, ImportError)


def test_a_broken_installation_is_not_called_a_missing_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # matplotlib is there, but something that it needs is not
    without(monkeypatch, "matplotlib")
    monkeypatch.delitem(sys.modules, "matplotlib")
    (tmp_path / "matplotlib.py").write_text("import something_that_matplotlib_needs\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        demele.errors.MissingExtraError, match="needs matplotlib, which needs something_that_matplotlib_needs"
    ) as caught:
        require("matplotlib", purpose="a picture for print")
    assert "demele[" not in str(caught.value)  # the extra is there


def test_scores_and_their_page_need_no_extra(tmp_path: Path) -> None:
    program = """
import sys

class Absent:
    # finds that some packages are not installed
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("matplotlib", "pyarrow", "polars", "torch"):
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Absent())
import numpy as np, demele
v = np.random.default_rng(0).random((500, 2))
evaluation = demele.evaluate(v, v, ["mig", "sap", "irs", "explicitness"])
evaluation.to_json()
evaluation.to_html(sys.argv[1])
evaluation.to_frame()
print([score.value > 0.5 for score in evaluation])
"""
    command = [sys.executable, "-c", program, str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[True, True, True, True]"


@pytest.mark.parametrize(
    ("adapter", "absent", "extra"),
    [
        ("torchmetrics", ["torchmetrics"], "torch"),
        ("lightning", ["lightning", "pytorch_lightning"], "lightning"),
    ],
)
def test_an_adapter_names_its_extra_when_it_is_imported(adapter: str, absent: list[str], extra: str) -> None:
    program = f"""
import importlib, sys
sys.modules |= dict.fromkeys({absent})  # which looks as if they were not installed
import demele
try:
    importlib.import_module("demele.adapters.{adapter}")
except demele.errors.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = f"demele.adapters.{adapter} needs {adapter}: install it with  pip install 'demele[{extra}]'"
    assert done.stdout.strip() == expected
