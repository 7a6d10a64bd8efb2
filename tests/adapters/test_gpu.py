"""Training loops on a graphics card: the numbers of the processor, to the bit or to rounding."""

import numpy as np
import pytest
import torch

from demele.adapters.torchmetrics import TorchMetric
from demele.lab import VAE
from tests.adapters.rows import KINDS, A, Z
from tests.models.fabrics import trained
from tests.models.squares import squares

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no graphics card")


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
def test_a_metric_on_the_card_gives_the_bits_of_the_processor() -> None:
    names = ["mig", "sap", "dci_lasso_modularity", "mcc"]
    here, there = TorchMetric(names, kinds=KINDS), TorchMetric(names, kinds=KINDS).to("cuda")
    for part in range(0, len(Z), 60):
        here.update(Z[part : part + 60], A[part : part + 60])
        there.update(Z[part : part + 60].cuda(), A[part : part + 60].cuda())
    found = there.compute()
    assert {value.device.type for value in found.values()} == {"cuda"}
    assert {name: value.item() for name, value in found.items()} == {
        name: value.item() for name, value in here.compute().items()
    }


def test_a_model_trained_on_the_card_encodes_as_one_of_the_processor() -> None:
    codes = []
    for device in ("cpu", "cuda"):
        vae = VAE("vae", latents=3, network="mlp")
        vae.fit(squares(), steps=20, batch=8, device=device)
        codes.append(np.asarray(vae.encode(squares()).codes))
    assert np.abs(codes[0] - codes[1]).max() < 1e-3
    assert np.ptp(codes[1]) > 0.1


def test_a_fabric_is_trained_on_the_card() -> None:
    here, there = (trained(fit={"device": device}) for device in ("cpu", "cuda"))
    for name, values in here.network.state_dict().items():
        other = there.network.state_dict()[name].cpu()
        assert torch.allclose(values.float(), other.float(), atol=1e-2), name
