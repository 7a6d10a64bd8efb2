"""A trained model examined: a perfect one, and everything that saves an afternoon."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import demele
from demele import lab
from demele.core.errors import FormatError, InputError, InputTypeError, UnknownNameError
from demele.data import ArrayImages, Sample
from demele.report.document import Strips
from demele.studies.examine import code_facts, divergences, shares_of_entropy, twin_notes, verdict_on
from tests.core import test_result as forms
from tests.refusals import refuses
from tests.studies.models import PLACES, QUICK, drawn, examined, perfect_sample, squares
from tests.tolerances import PUBLISHED, ROUNDING, assert_close, assert_exact

FILE = {"codes": np.arange(20.0).reshape(10, 2), "factors": np.repeat([0.0, 1.0], 5)[:, None]}


@pytest.fixture(scope="module")
def look() -> lab.Examination:
    return examined()


def test_a_perfect_model_holds_each_factor_in_one_code(look: lab.Examination) -> None:
    assert look.factors["verdict"].tolist() == ["one code"] * 3
    assert look.factors["code"].tolist() == ["z1", "z2", "z3"]
    assert look.codes["active"].tolist() == [True, True, True, False]
    assert look.codes["best_factor"].tolist()[:3] == ["x", "y", "shade"]
    assert look.scores["modularity"].value > 0.8
    assert look.scores["mig"].interval is not None
    assert look.scores["mig"].chance is not None
    assert not look.collapsed
    assert not look.notes


def test_traversals_move_one_code_and_leave_the_others_at_the_anchor(look: lab.Examination) -> None:
    moved = look.traversals
    assert moved.anchors is not None
    assert moved.images.shape == (3, 4, 9, 8, 8, 1)
    codes = perfect_sample().codes.to_numpy()
    low, high = np.quantile(codes[:, 0], 0.025), np.quantile(codes[:, 0], 0.975)
    assert_close(moved.values[0], low + (high - low) * np.arange(9) / 8, ROUNDING)
    for place, anchor in enumerate(moved.anchors):
        for code in range(4):
            asked = np.repeat(codes[[anchor]], 9, axis=0)
            asked[:, code] = moved.values[code]
            assert_exact(moved.images[place, code], np.rint(drawn(asked) * 255).astype(np.uint8))
    assert moved.change[3] == 0
    assert (moved.change[:3] > 0).all()


def test_sweeps_hold_images_and_responses(look: lab.Examination) -> None:
    assert [sweep.factor for sweep in look.sweeps] == ["x", "y", "shade"]
    along = look.sweeps[0]
    assert along.values == tuple("012345")
    assert_close(along.mean[:, 0], np.arange(PLACES), ROUNDING)
    assert_close(along.mean[:, 1], np.full(PLACES, 2.5), ROUNDING)
    assert_close(along.low[:, 0], along.high[:, 0], ROUNDING)
    columns = along.images.astype(float).sum(axis=(1, 3))
    assert (columns.argmax(axis=1) == np.arange(PLACES)).all()


def test_decoders_may_return_axes_as_they_like(look: lab.Examination) -> None:
    for decode in (
        lambda codes: drawn(codes).transpose(0, 3, 1, 2),
        lambda codes: drawn(codes)[..., 0],
        lambda codes: np.rint(drawn(codes) * 255).astype(np.uint8),
        lambda codes: {"reconstruction": drawn(codes), "z": codes},
    ):
        assert_exact(examined(decode=decode).traversals.images, look.traversals.images)


def test_ranges_of_pixels_and_logits(look: lab.Examination) -> None:
    spread = examined(decode=lambda codes: 2 * drawn(codes) - 1, value_range=(-1, 1)).traversals
    assert_exact(spread.images, look.traversals.images)
    logits = examined(decode=lambda codes: np.log(3) * drawn(codes), decoded="logits").traversals
    assert logits.images.min() == round(255 / 2)
    assert logits.images.max() == round(255 * 3 / 4)
    refuses(InputError, r"expected pixels from 0 to 1", lambda: examined(decode=lambda codes: 2 * drawn(codes) - 1))


def test_a_decoder_of_pytorch_is_called_in_evaluation_mode_and_restored() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Dropout(0.5), torch.nn.Unflatten(1, (1, 8, 8)))
    net.train()
    first, second = (examined(decode=net, decoded="logits").traversals for _ in range(2))
    assert_exact(first.images, second.images)
    assert net.training
    assert all(one.grad is None for one in net.parameters())


# Checks that save an afternoon ----------------------------------------------------------------------------------------


def test_reconstructions_worse_than_the_mean_image_are_told() -> None:
    found = examined(decode=lambda codes: 1 - drawn(codes))
    assert [note.code for note in found.notes] == ["worse-than-mean-image"]
    assert found.reconstructions.explained < 0


def test_codes_that_are_not_finite_are_refused_with_the_factors_of_the_row() -> None:
    sample = perfect_sample()
    codes = sample.codes.copy()
    codes.iloc[40, 1] = np.nan
    with pytest.raises(InputError, match=r"codes of 1 of 108 rows are not finite, first of row 40 \(x 2.0, y 1.0"):
        lab.examine(Sample(codes, sample.factors, "Broken."), squares(), **QUICK)


def collapsed_sample() -> Sample:
    noise = pd.DataFrame(np.random.default_rng(2).normal(scale=0.01, size=(108, 2)), columns=["a", "b"])
    std = pd.DataFrame(np.ones((108, 2)), columns=["a", "b"])
    return Sample(noise, perfect_sample().factors, "Noise.", codes_std=std)


@pytest.mark.parametrize(
    ("offset", "told"), [(0.0005, ["collapsed"]), (0.5, ["collapsed", "worse-than-mean-image"])], ids=["a hair", "far"]
)
def test_a_collapsed_model_is_told_its_reconstructions_only_where_they_are_far_worse(offset: float, told: Any) -> None:
    mean = np.mean(squares().images(np.arange(108)) / 255, axis=0)

    def decode(codes: Any) -> Any:
        return np.repeat(np.clip(mean + offset, 0, 1)[None], len(codes), axis=0)

    found = lab.examine(collapsed_sample(), squares(), decode=decode, **QUICK)
    assert found.reconstructions.explained < 0
    assert [note.code for note in found.notes if note.severity == "warning"] == told


def test_images_whose_factors_contradict_those_of_the_codes_are_refused() -> None:
    order = np.r_[0:30, 90, 31:90, 30, 91:108]
    other = squares().subset(order)
    x, moved = squares().factors()["x"][30], squares().factors()["x"][90]
    assert x != moved
    message = rf"2 of 108 differ in 'x': row 30 is {x} with the codes, {moved} with the images; .*subset"
    refuses(InputError, message, lab.examine, perfect_sample(), other, **QUICK)
    sample = perfect_sample()
    texts = sample.factors.assign(shade=sample.factors["shade"].astype(str).replace({"0": "dark"}))
    images = ArrayImages(squares().images(np.arange(108)), {"shade": texts["shade"].to_numpy(str)[::-1]})
    message = "72 of 108 differ in 'shade': row 0 is dark with the codes, 2 with the images"
    refuses(InputError, message, lab.examine, Sample(sample.codes, texts, "Texts."), images, **QUICK)


@pytest.mark.parametrize(
    "factors",
    [
        lambda frame: frame.astype(float).astype("float32") * (1 + 1e-7),
        lambda frame: frame.assign(x=frame["x"] / 10),  # positions of the same values
        lambda frame: frame.assign(x=frame["x"].astype(str) + "th"),
        lambda frame: frame.rename(columns={"x": "y", "y": "x"})[["shade"]],
    ],
    ids=["single precision", "positions", "texts", "part"],
)
def test_the_same_factors_may_be_written_in_another_way(factors: Any) -> None:
    sample = perfect_sample()
    other = Sample(sample.codes, factors(sample.factors), "Written in another way.")
    assert lab.examine(other, squares(), **QUICK).n == 108


@pytest.mark.parametrize("missing", ["raise", "omit"])
def test_missing_annotations_are_refused_or_told(missing: Any) -> None:
    sample = perfect_sample()
    factors = sample.factors.assign(x=sample.factors["x"].where(np.arange(108) % 3 > 0))
    lacking = Sample(sample.codes, factors, "Annotated in part.")
    if missing == "raise":
        with pytest.raises(InputError, match=r"36 missing annotations in column 'x', first at row 0; .*missing='omit'"):
            lab.examine(lacking, squares(), **QUICK | {"metrics": []})  # without scores, which would refuse too
        return
    look = lab.examine(lacking, squares(), missing="omit", **QUICK)
    (note,) = [note for note in look.notes if note.code == "missing-annotations"]
    assert note.message == "of 108 rows annotations are missing of 'x' in 36: each is judged on the others"
    assert look.scores is not None
    assert look.factors["verdict"].tolist() == ["inconclusive", "one code", "one code"]  # x has 72 rows


def test_decoded_images_of_another_size_are_refused() -> None:
    refuses(InputError, "decode: expected images of", lambda: examined(decode=lambda codes: drawn(codes)[:, ::2, ::2]))
    refuses(InputError, "one per row of codes", examined, decode=lambda codes: drawn(codes)[:1])
    refuses(InputError, "decode: pixels are not finite", examined, decode=lambda codes: drawn(codes) * np.nan)
    refuses(InputError, "decode: expected a dictionary", lambda: examined(decode=lambda codes: {"x": drawn(codes)}))
    refuses(UnknownNameError, "decoded", examined, decoded="mean")


def test_a_decoder_of_another_number_of_codes_is_told() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(6, 64), torch.nn.Sigmoid(), torch.nn.Unflatten(1, (1, 8, 8)))
    refuses(InputError, r"decode: .* shape \(108, 4\).*RuntimeError.* another number of codes", examined, decode=net)


# Files ----------------------------------------------------------------------------------------------------------------


def saved(folder: Path, **arrays: Any) -> Path:
    path = folder / "codes.npz"
    np.savez(path, **arrays)
    return path


def test_a_file_gives_the_same_as_the_objects(tmp_path: Path, look: lab.Examination) -> None:
    sample, images = perfect_sample(), squares()
    path = saved(
        tmp_path,
        codes=sample.codes.to_numpy(),
        codes_std=sample.codes_std,
        factors=sample.factors.to_numpy(float),
        factor_names=np.array(["x", "y", "shade"]),
        shade=images.factors()["shade"].astype(str).to_numpy(str),
        images=images.images(np.arange(108)),
        reconstructions=drawn(sample.codes.to_numpy()),
        traversals=look.traversals.images[0, ..., 0],
    )
    found = lab.examine(path, **QUICK)
    assert found.factors["verdict"].tolist() == ["one code"] * 3
    assert_close(found.codes["kl"].to_numpy(), look.codes["kl"].to_numpy(), ROUNDING)
    assert_exact(found.traversals.images[0], look.traversals.images[0])
    assert found.traversals.values is None
    assert found.samples is None
    assert found.reconstructions.mean_error < 1e-5
    assert [sweep.factor for sweep in found.sweeps] == ["x", "y", "shade"]


def test_files_of_other_arrays_are_refused(tmp_path: Path) -> None:
    for arrays, words in (
        ({"z": FILE["codes"]}, "expected an array 'codes', found z"),
        ({"codes": np.zeros((2, 2, 2))}, "expected numbers of shape"),
        ({**FILE, "codes_std": np.ones((9, 2))}, "codes_std"),
        ({**FILE, "codes_std": np.ones((2, 10))}, "codes_std: expected 2 columns, as of the codes, got 10"),
        ({**FILE, "images": np.zeros((9, 4, 4), np.uint8)}, "images"),
        ({**FILE, "traversals": np.zeros((3, 5, 4, 4), np.uint8)}, "with 2 first, found"),
        ({**FILE, "factors": np.zeros((10, 2, 2))}, r"::factors: expected shape \(n, n_factors\)"),
        ({**FILE, "reconstructions": np.full((10, 4, 4), 7.0)}, "bytes, or numbers from 0 to 1"),
        ({"codes": np.array([{"run": "me"}], dtype=object)}, "can run code"),
    ):
        refuses(FormatError, words, lab.examine, saved(tmp_path, **arrays), **QUICK)


def test_a_file_of_pictures_without_factors_is_shown(tmp_path: Path) -> None:
    pictures = squares().images(np.arange(108))
    path = saved(tmp_path, codes=perfect_sample().codes.to_numpy(), images=pictures, reconstructions=pictures)
    found = lab.examine(path, **QUICK)
    assert found.scores is None
    assert found.factors.empty
    assert found.reconstructions.mean_error == 0
    assert lab.examine(saved(tmp_path, codes=FILE["codes"]), pictures[:10], **QUICK).n == 10


def test_codes_and_images_of_different_length_are_refused() -> None:
    refuses(InputError, r"images: expected 107, one", lambda: lab.examine(perfect_sample(n=107), squares(), **QUICK))


@pytest.mark.parametrize("name", ["traversals", "reconstructions"])
def test_pictures_of_another_size_than_the_images_are_refused(tmp_path: Path, name: str) -> None:
    images = squares().images(np.arange(10))
    first = (2, 5) if name == "traversals" else (10,)
    path = saved(tmp_path, **FILE, images=images, **{name: np.zeros((*first, 4, 4, 1), np.uint8)})
    refuses(InputError, f"images and {name} are of different shapes: 8 x 8 x 1 and 4", lab.examine, path, **QUICK)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    refuses(FormatError, r"missing.npz: cannot be read: No such file", lab.examine, tmp_path / "missing.npz")


def test_samples_of_arrays_are_those_of_frames_and_deviations_belong_to_their_codes(look: lab.Examination) -> None:
    own = perfect_sample()
    codes, factors, std = (cast(Any, one) for one in (own.codes.to_numpy(), own.factors.to_numpy(float), own.codes_std))
    arrays = Sample(codes, factors, "Arrays.", codes_std=std.to_numpy())
    found = lab.examine(arrays, squares(), decode=drawn, **QUICK)
    assert found.factors.index.tolist() == ["v1", "v2", "v3"]
    assert_exact(found.codes["kl"].to_numpy(), look.codes["kl"].to_numpy())
    refuses(InputTypeError, r"codes: expected a data frame or an array", Sample, [[1.0]], own.factors, "A list.")
    for other in (std.iloc[1:], std.rename(columns={"z1": "a"})):
        refuses(InputError, "codes_std: expected the rows and columns", replace, own, codes_std=other)
    refuses(InputError, r"expected standard deviations >= 0, got", replace, own, codes_std=-std)


# The document ---------------------------------------------------------------------------------------------------------


def test_the_verdict_comes_first(look: lab.Examination) -> None:
    document = look.document()
    assert document.headline == "3 of 3 factors have a code of their own."
    assert isinstance(document.figure, Strips)
    assert [strip.pill and strip.pill.text for strip in document.figure.rows] == ["one code"] * 3
    assert [row[0] for row in document.table.rows] == ["\u2068x\u2069", "\u2068y\u2069", "\u2068shade\u2069"]
    titles = [section.title for section in document.sections]
    assert titles == sorted(titles, key=forms.TITLES.index)
    assert {"Scores", "Code-factor matrix", "Curves", "Traversals", "Reconstructions", "Data"} <= set(titles)


def test_an_examination_has_every_form(look: lab.Examination, tmp_path: Path) -> None:
    forms.test_a_result_has_every_form(look, tmp_path)
    forms.keeps_the_rules(look)
    found = look.to_dict()
    assert "samples" not in found
    assert "images" not in found["traversals"]
    assert found["traversals"]["change"] == look.traversals.change.tolist()


# Facts about codes ----------------------------------------------------------------------------------------------------


def test_a_code_that_is_a_factor_tells_it_whole_and_one_of_noise_nothing() -> None:
    levels = np.repeat(np.arange(4), 250)
    factors = pd.DataFrame({"v": pd.Categorical(levels), "half": pd.Categorical(levels // 2)})
    noise = np.random.default_rng(0).random(1000)
    codes = pd.DataFrame({"a": levels.astype(float), "b": levels // 2 * 1.0, "c": noise})
    shares = shares_of_entropy(codes, factors).to_numpy()
    # b tells one of the two bits of v; Miller-Madow: minus (4 cells - 2 - 4 + 1) / 2n.
    assert_close(shares[1, 0], (np.log(2) + 1 / 2000) / (np.log(4) + 3 / 2000), PUBLISHED)
    assert shares[0, 0] > 0.99
    assert shares[0, 1] > 0.99
    assert shares[2, 0] < 0.02


def test_divergences_of_gaussians() -> None:
    mean, variance = np.array([[1.0, 0.0, 0.0, 2.0, 0.0]]), np.array([[1.0, math.e, 0.25, 0.25, 1.0]])
    assert_close(
        divergences(mean, np.sqrt(variance)),
        [0.5, (math.e - 2) / 2, 0.3181471806, 2.3181471806, 0.0],
        {"rtol": 1e-9, "atol": 1e-9},
    )


def test_which_codes_are_in_use() -> None:
    n = 400
    wide = np.linspace(-1, 1, n)
    codes = pd.DataFrame({"used": wide, "still": 0.01 * wide, "prior": 0.1 * wide})
    std = pd.DataFrame({"used": np.full(n, 0.1), "still": np.full(n, 0.1), "prior": np.full(n, 1.0)})
    found = code_facts(codes, std, None)
    assert found["active"].tolist() == [True, False, False]
    assert found["best_factor"].tolist() == ["", "", ""]
    assert code_facts(codes, None, None)["active"].tolist() == [True, False, True]


def test_verdicts_are_those_of_an_evaluation() -> None:
    rng = np.random.default_rng(4)
    factors = pd.DataFrame(rng.random((1000, 3)), columns=["x", "y", "lost"])
    codes = pd.DataFrame({"z1": factors["x"] + factors["y"], "z2": factors["x"] - factors["y"], "z3": 0.0})
    found = verdict_on(codes, factors)
    told = demele.evaluate(codes, factors, ["mig"]).verdict
    assert [row.status for row in found.factors] == ["several codes", "several codes", "no code"]
    assert list(map(repr, found.factors)) == list(map(repr, told.factors))  # as texts: NaN is NaN


def test_codes_that_are_not_in_use_hold_nothing() -> None:
    rng = np.random.default_rng(5)
    factors = pd.DataFrame(rng.random((500, 2)), columns=["v", "w"])
    codes = factors.rename(columns={"v": "z1", "w": "z2"})
    found = verdict_on(codes, factors, active=np.array([True, False]))
    assert [(row.status, row.codes) for row in found.factors] == [("one code", ("z1",)), ("no code", ())]
    nothing = verdict_on(codes, factors, active=np.zeros(2, dtype=bool))
    assert [row.status for row in nothing.factors] == ["no code", "no code"]
    assert nothing.factors[1].words == "w is lost: no code is active"


def test_equal_codes_are_told_whatever_their_sign_and_scale() -> None:
    one, other = np.random.default_rng(1).normal(size=(2, 500))
    codes = pd.DataFrame({"a": one, "b": 3 - 2 * one, "c": other, "d": one + 0.01 * other, "e": 0.0})
    assert [note.subject for note in twin_notes(codes)] == [("a", "b")]
