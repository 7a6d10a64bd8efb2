"""Latte's class names over torch: arguments and results per attribute, equal to the protocol "latte"."""

import inspect
from typing import Any

import numpy as np
import pytest
import torch
from torchmetrics import Metric

import demele
from demele.adapters import torchmetrics as adapter
from demele.adapters.latte import BUNDLE, SOURCE_NAMES
from tests.adapters.rows import A, D, Z
from tests.tolerances import ROUNDING, assert_close, assert_exact

CONTINUOUS = A[:, :2]
CLASSES = torch.stack([(3 * A[:, 0]).floor(), (4 * A[:, 1]).floor()], dim=1)
ALIASES = {"MIG": "mig", "DMIG": "dmig", "DLIG": "dlig", "XMIG": "xmig", "SAP": "sap"}
PER_FACTOR = list(ALIASES.items())


def of_latte(
    name: str, a: torch.Tensor, *, discrete: bool = False, z: torch.Tensor = Z, reg_dim: Any = None, **more: Any
) -> demele.Score:
    factors = demele.Factors(a.numpy(), kinds="categorical" if discrete else "continuous", reg_dim=reg_dim)
    return demele.evaluate(z.numpy(), factors, [name], protocol="latte", **more)[name]


def made(name: str, a: torch.Tensor, *arguments: Any, z: torch.Tensor = Z, **keywords: Any) -> Any:
    """What a class computes from batches."""
    metric = getattr(adapter, name)(*arguments, **keywords)
    for start in range(0, len(z), 100):
        metric.update(z[start : start + 100], a[start : start + 100])
    return metric.compute()


def native(score: demele.Score) -> list[float]:
    return list(score.native.values())


# Names and arguments ------------------------------------------------------------------------------------------------


def test_the_names_and_their_arguments_are_those_of_latte() -> None:
    for name, (metric, arguments) in SOURCE_NAMES.items():
        made_of = getattr(adapter, name)
        assert issubclass(made_of, Metric)
        parameters = inspect.signature(made_of).parameters
        assert {one: parameters[one].default for one in parameters if one != "keywords"} == arguments
        assert [one for one, own in ALIASES.items() if own == metric and getattr(adapter, one) is not made_of] == []
        assert len(inspect.getdoc(made_of) or "") > 20
    bundle = inspect.signature(getattr(adapter, BUNDLE)).parameters
    assert list(bundle) == ["reg_dim", "discrete", "keywords"]
    assert set(adapter.__all__) == {*SOURCE_NAMES, *ALIASES, "TorchMetric"}


# Values -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(("alias", "name"), PER_FACTOR)
def test_values_per_attribute_are_those_of_the_protocol(alias: str, name: str, discrete: bool) -> None:
    factors = CLASSES if discrete else CONTINUOUS
    found = made(alias, factors, discrete=discrete)
    assert found.shape == (2,)
    assert found.dtype == torch.float64
    assert found.tolist() == native(of_latte(name, factors, discrete=discrete))


def test_sap_with_reg_dim_takes_that_code_first_whatever_its_rank() -> None:
    matrix = of_latte("sap", CONTINUOUS).matrix
    scores = matrix.to_numpy()
    for codes in ([0, 1], [1, 0], [3, 2]):
        expected = [
            scores[codes[i], i] - max(scores[j, i] for j in range(D) if j != codes[i]) for i in range(len(codes))
        ]
        assert made("SAP", CONTINUOUS, codes).tolist() == expected
    assert (made("SAP", CONTINUOUS, [3, 2]) < 0).all()


def test_sap_zeroes_codes_that_hardly_vary() -> None:
    codes = Z.clone()
    codes[:, 0] = 0.01 * CONTINUOUS[:, 0]  # perfect, with a variance of about 1e-5
    matrix = of_latte("sap", CONTINUOUS, z=codes).matrix
    scores = matrix.to_numpy().copy()
    assert scores[0, 0] > 0.999
    scores[0] = 0.0
    best = np.sort(scores, axis=0)
    found = made("SAP", CONTINUOUS, thresh=1e-3, z=codes)
    assert found.tolist() == (best[-1] - best[-2]).tolist()
    assert_exact(made("SAP", CONTINUOUS, [0, 1], thresh=1e-3, z=codes)[0], -scores[1:, 0].max())
    assert made("SAP", CONTINUOUS, z=codes).tolist() == native(of_latte("sap", CONTINUOUS, z=codes))
    discrete = made("SAP", CLASSES, discrete=True, thresh=1e3)  # not looked at
    assert discrete.tolist() == native(of_latte("sap", CLASSES, discrete=True))


def test_modularity_gives_the_value_of_each_attributes_code() -> None:
    score = of_latte("modularity", CONTINUOUS)
    per_code = native(score)
    assert made("Modularity", CONTINUOUS).tolist() == per_code[:2]
    assert made("Modularity", CONTINUOUS, [3, 1]).tolist() == [per_code[3], per_code[1]]
    square = made("Modularity", CONTINUOUS, z=Z[:, :2])  # as many codes as attributes: the native values
    assert square.tolist() == native(of_latte("modularity", CONTINUOUS, z=Z[:, :2]))


def test_modularity_counts_informations_below_the_threshold_as_none() -> None:
    matrix = of_latte("modularity", CONTINUOUS).matrix
    information = matrix.to_numpy()
    thresh = float(information[0].mean())  # between the two of the first code
    expected = []
    for code in range(2):
        kept = [value if value >= thresh else 0.0 for value in information[code]]
        largest = max(kept)
        others = sum((value / largest) ** 2 for value in kept) - 1 if largest else 1.0
        expected.append(1 - others / (len(kept) - 1) if largest else 0.0)
    found = made("Modularity", CONTINUOUS, thresh=thresh)
    assert_close(found, expected, ROUNDING)
    assert found[0] == 1
    assert made("Modularity", CONTINUOUS)[0] < 1
    assert made("Modularity", CONTINUOUS, thresh=1e9).tolist() == [0.0, 0.0]


def test_what_does_not_apply_in_a_bundle_is_nan() -> None:
    found = made(BUNDLE, CONTINUOUS, z=Z[:, :2])
    assert torch.isnan(found["XMIG"]).all()
    assert found["XMIG"].shape == (2,)
    assert not torch.isnan(found["DLIG"]).any()


# Being metrics --------------------------------------------------------------------------------------------------------


def test_a_batch_that_cannot_be_scored_has_the_shape_of_a_result() -> None:
    for metric in (adapter.MIG(), adapter.Modularity()):
        found = metric(Z[:5], CONTINUOUS[:1].repeat(5, 1))
        assert torch.isnan(found).all()
        assert found.shape == (2,)
    bundle = adapter.DependencyAwareMutualInformationBundle()(Z[:5], CONTINUOUS[:1].repeat(5, 1))
    assert {key: value.shape for key, value in bundle.items()} == dict.fromkeys(["MIG", "DMIG", "XMIG", "DLIG"], (2,))
