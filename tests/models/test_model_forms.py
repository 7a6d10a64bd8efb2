"""Results about models have every form, and their documents keep the rules."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="models need PyTorch: pip install 'demele[torch]'")

from demele.core.result import Result
from demele.data import ArrayImages
from demele.lab import VAE
from tests.core import test_result as forms
from tests.models.fabrics import trained


def results() -> list[Result]:
    fabric = trained(2)
    plan = fabric.prune("links", 0.3, "magnitude")
    pixels = np.zeros((16, 16, 16), dtype=np.uint8)
    pixels[np.arange(16), np.arange(16)] = 255
    vae = VAE("beta_vae", beta=1, latents=2, network="mlp")
    run = vae.fit(ArrayImages(pixels, factors={"height": np.arange(16) / 16}), steps=20, batch=8, seed=0)
    report = fabric.report(errors={"before": 0.1, "<b>": 0.2}, images=50, name="</script>")
    return [report, fabric.run, fabric.counts(), plan, run]


@pytest.mark.parametrize("result", results(), ids=lambda result: type(result).__name__)
def test_a_result_about_a_model_has_every_form(result: Result, tmp_path: Path) -> None:
    forms.test_a_result_has_every_form(result, tmp_path)
    forms.keeps_the_rules(result)
