"""Accumulators: what they say, what they refuse and leave untouched, and the bits of a first call in a process."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.core.errors import IncompatibleState, InputError, InputTypeError, NotEnoughData
from tests.contract.cases import CHEAP, GROUPS, small
from tests.given import accumulated_metrics, evaluated
from tests.refusals import refuses
from tests.streaming.feeding import QUIET
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = QUIET

CODES, FACTORS, STDS = small()
FRAME = demele.bins.BinEdges.of(CODES, FACTORS)
COUNTED = demele.counted_metrics()


def both(**keywords: Any) -> list[demele.Accumulator]:
    """One accumulator that counts, one that samples, and one that does both, with rows."""
    made = [
        demele.Accumulator("mig", frame=FRAME, **keywords),
        demele.Accumulator("sap", **keywords),
        demele.Accumulator(["mig", "sap"], frame=FRAME, **keywords),
    ]
    return [one.update(CODES, FACTORS) for one in made]


# What is said ---------------------------------------------------------------------------------------------------------


def test_counted_metrics_are_those_of_histograms_over_whole_rows() -> None:
    names = "mig mig_sup modularity dcimig jemmig dmig xmig dlig infom infoc"
    others = "med_modularity med_compactness minimality sufficiency snc"
    assert set(COUNTED) == {*names.split(), *others.split()}


def test_one_name_computes_a_score_several_an_evaluation() -> None:
    single = demele.Accumulator("MIG", frame=FRAME).update(CODES, FACTORS)
    assert single.metrics == ("mig",)
    assert isinstance(single.compute(), demele.Score)
    several = demele.Accumulator(["mig"], frame=FRAME).update(CODES, FACTORS)
    assert isinstance(several.compute(), demele.Evaluation)
    assert several.frame is FRAME
    assert demele.Accumulator("mig").frame is None


def test_values_outside_the_frame_are_refused_or_counted_at_its_ends() -> None:
    narrow = demele.bins.BinEdges.fixed(
        [(-0.5, 0.5)] * 4, {"size": (0.0, 1.0), "shape": ["ball", "cone", "cube"], "light": [0, 1]}
    )
    for metric in ("mig", "sap"):
        with pytest.raises(InputError, match="lie outside the frame's ranges"):
            demele.Accumulator(metric, frame=narrow).update(CODES, FACTORS)
    clipped = demele.Accumulator("mig", frame=narrow, outside="clip").update(CODES, FACTORS).compute()
    count = int((np.abs(CODES.to_numpy()) > 0.5).sum())
    assert [note.message for note in clipped.notes if note.code == "clipped"] == [
        f"{count:,} values outside the frame's ranges were counted in the first or last bin"
    ]
    by_hand = demele.Accumulator("mig", frame=narrow).update(CODES.clip(-0.5, 0.5), FACTORS).compute()
    assert clipped.value == by_hand.value
    # a sampled metric takes them as they are
    sampled = demele.Accumulator("sap", frame=narrow, outside="clip").update(CODES, FACTORS).compute()
    assert sampled.value == demele.metrics.sap(CODES, FACTORS).value


def test_missing_annotations_are_omitted_as_from_rows() -> None:
    for names in GROUPS.values():
        seen = np.arange(160)
        factors = FACTORS.assign(size=FACTORS["size"].where(seen % 7 > 0), light=FACTORS["light"].where(seen % 5 > 0))
        given = demele.Codes(CODES, std=STDS), demele.Factors(factors, missing="omit")
        of_rows = demele.evaluate(*given, names, options=CHEAP)
        for frame in (demele.bins.BinEdges.of(CODES, factors, missing="omit"), None):
            accumulator = demele.Accumulator(names, frame=frame, missing="omit", options=CHEAP)
            for rows in np.array_split(np.arange(160), 3):
                accumulator = accumulator.update(CODES.iloc[rows], factors.iloc[rows], STDS[rows])
            evaluation = accumulator.compute()
            said = [[note.subject for note in one.notes if "annotat" in note.code] for one in (evaluation, of_rows)]
            assert said[0] == said[1] == [("size",), ("light",)]
            for score, expected in zip(evaluation, of_rows, strict=True):
                assert score.native.keys() == expected.native.keys()
                found, wanted = ([one.value, *one.native.values()] for one in (score, expected))
                if frame is not None and score.metric in accumulated_metrics(frame):
                    assert_close(found, wanted, ROUNDING)
                else:
                    assert_exact(found, wanted)
                assert score.n == expected.n


def test_metrics_that_do_not_apply_are_left_out_with_the_reason_unless_alone() -> None:
    codes, factors = CODES[["first", "second"]], FACTORS[["size", "shape", "light"]]
    frame = demele.bins.BinEdges.of(codes, factors)
    for own in (frame, None):
        evaluation = demele.Accumulator(["mig", "dmig", "irs"], frame=own).update(codes, factors).compute()
        assert [score.metric for score in evaluation] == ["mig", "irs"]
        assert [item.metric for item in evaluation.left_out] == ["dmig"]
        assert "needs at least 3 codes, got 2" in evaluation.left_out[0].reason
        with pytest.raises(NotEnoughData, match="needs at least 3 codes, got 2"):
            demele.Accumulator("dmig", frame=own).update(codes, factors).compute()
    one = demele.bins.BinEdges.of(codes, factors[["size"]])
    evaluation = demele.Accumulator(["z_diff", "mig"], frame=one).update(codes, factors[["size"]]).compute()
    assert "needs at least 2 factors" in evaluation.left_out[0].reason


def test_options_protocols_and_codes_reach_counted_metrics() -> None:
    keywords: dict[str, Any] = {"protocol": "dlib2019", "reg_dim": ["first", 1, 2], "options": {"dmig": {"bins": 4}}}
    expected = evaluated(CODES, FACTORS, ["mig", "dmig", "xmig"], keywords)
    found = demele.Accumulator(["mig", "dmig", "xmig"], frame=FRAME, **keywords).update(CODES, FACTORS).compute()
    for score in found:
        assert score.value == expected[score.metric].value
    rule = demele.bins.EqualFrequency(6)
    frame = demele.bins.BinEdges.of(CODES, FACTORS, bins=rule)
    for correction in ("none", "miller-madow", "adjusted"):
        options = {"information": {"correction": correction}}
        counted = demele.Accumulator("mig", frame=frame, bins=rule, options=options).update(CODES, FACTORS)
        assert counted.compute().value == demele.metrics.mig(CODES, FACTORS, bins=rule, correction=correction).value


# What is refused -------------------------------------------------------------------------------------------------

BAD_ARGUMENTS: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "a callable": (lambda codes, factors: 0.0, {}, InputTypeError, "expected registered names"),
    "nothing": (None, {}, InputTypeError, "expected a name or several, got None"),
    "bound of 3": ("sap", {"bound": 3}, InputError, "bound: expected a whole number >= 4, got 3"),
    "outside": ("mig", {"outside": "ignore"}, InputError, "outside: expected 'raise' or 'clip', got 'ignore'"),
    "stream of a float": ("sap", {"stream": 0.5}, InputTypeError, "stream: expected a name or a number"),
    "frame": ("mig", {"frame": CODES}, InputTypeError, r"frame: expected a BinEdges, got DataFrame.*BinEdges\.of"),
    "bins that look": ("mig", {"frame": FRAME, "bins": "adaptive"}, InputError, "looks at the values"),
    "other kinds": ("mig", {"frame": FRAME, "kinds": {"light": "continuous"}}, InputError, "'light' is categorical in"),
    "kinds of nothing": ("mig", {"frame": FRAME, "kinds": {"lite": "continuous"}}, InputError, "unknown factor"),
    "reg_dim": ("mig", {"frame": FRAME, "reg_dim": [0, 1]}, InputError, "reg_dim: expected one code for each of the 3"),
}


def test_bad_arguments() -> None:
    for case in BAD_ARGUMENTS:
        metrics, keywords, error, words = BAD_ARGUMENTS[case]
        refuses(error, words, demele.Accumulator, metrics, **keywords)


def changed(table: pd.DataFrame, row: int, column: str, value: Any) -> pd.DataFrame:
    copy = table.astype({column: object}) if not isinstance(value, float) else table.astype({column: float})
    copy.iloc[row, list(table.columns).index(column)] = value
    return copy


#: What is refused, by every guard, is in the tests of frames; here it must leave what was there.
BAD_BATCHES: dict[str, tuple[Any, Any, str]] = {
    "a code less": (CODES[["first", "second"]], FACTORS, "codes: expected the 4 columns .*'third' is missing"),
    "NaN": (changed(CODES, 17, "third", np.nan), FACTORS, "codes: 1 non-finite .* column 'third', first at row 17"),
    "factor of inf": (CODES, changed(FACTORS, 4, "size", np.inf), "factors: 1 infinite .* 'size', first at row 4"),
    "missing class": (CODES, changed(FACTORS, 6, "shape", None), "factors: 1 missing .* 'shape', first at row 6"),
}
OUTSIDE = (CODES, FACTORS.assign(size=2 * FACTORS["size"]), "factors: .* outside the frame's ranges")
#: Number of the accumulator in both(), and a batch.
REFUSED = [(number, case, BAD_BATCHES[case]) for number in range(3) for case in BAD_BATCHES]
REFUSED += [(0, "factor outside", OUTSIDE), (2, "factor outside", OUTSIDE)]
REFUSED += [(1, "words for numbers", (CODES, FACTORS.assign(size="big"), "'size' holds text in this batch, and held"))]


@pytest.mark.parametrize(("number", "case", "batch"), REFUSED, ids=[f"{case}-{number}" for number, case, _ in REFUSED])
def test_a_batch_that_is_refused_leaves_the_accumulator_as_it_was(number: int, case: str, batch: Any) -> None:
    codes, factors, words = batch
    accumulator = both()[number]
    before, held = accumulator.compute(), accumulator.to_bytes()
    refuses(InputError, words, accumulator.update, codes, factors)
    refuses(
        InputTypeError,
        r"got Factors; .*Accumulator\(missing='omit', kinds",
        accumulator.update,
        codes,
        demele.Factors(1),
    )
    assert accumulator.n == 160
    assert accumulator.to_bytes() == held
    after = accumulator.compute()
    for mine, theirs in zip(*([one] if isinstance(one, demele.Score) else one for one in (after, before)), strict=True):
        assert mine.value == theirs.value


def test_empty_batches_change_nothing_before_and_after_others() -> None:
    for accumulator in both():
        held = accumulator.to_bytes()
        assert accumulator.update(CODES[:0], FACTORS[:0]).to_bytes() == held
        assert accumulator.reset().update(CODES[:0], FACTORS[:0]).n == 0
    fresh = demele.Accumulator("sap").update(np.empty((0, 7)), np.empty((0, 1)))
    assert fresh.update(CODES, FACTORS).compute().value == demele.metrics.sap(CODES, FACTORS).value


def test_one_row_says_nothing() -> None:
    for metric, frame in (("mig", FRAME), ("sap", None), (["mig", "sap"], FRAME)):
        accumulator = demele.Accumulator(metric, frame=frame).update(CODES[:1], FACTORS[:1])
        assert accumulator.n == 1
        refuses(NotEnoughData, r"none of them varies|at least 2 rows", accumulator.compute)


MERGES: dict[str, tuple[dict[str, Any], str]] = {
    "metrics": ({"metrics": ["mig", "irs"]}, r"differ in metrics \(.*'sap'.*'irs'|'irs'.*'sap'"),
    "reg_dim": ({"reg_dim": [0, 1, 2]}, "differ in reg_dim"),
    "outside": ({"outside": "clip"}, "differ in outside"),
    "no frame": ({"frame": None}, "differ in kinds|other frames"),
    "frame of other ranges": ({"frame": demele.bins.BinEdges.of(CODES * 2, FACTORS)}, "other frames"),
    "other kinds": ({"frame": demele.bins.BinEdges.of(CODES, FACTORS, kinds={"light": "continuous"})}, "kinds"),
    "stream": ({"stream": 0}, "both saw rows of the stream '0'"),
}


def test_what_does_not_merge() -> None:
    for case in MERGES:
        other, words = MERGES[case]
        common: dict[str, Any] = {"metrics": ["mig", "sap"], "frame": FRAME}
        first = demele.Accumulator(**common, stream=0).update(CODES, FACTORS)
        codes = CODES * 2 if case == "frame of other ranges" else CODES
        second = demele.Accumulator(**{**common, "stream": 1, **other}).update(codes, FACTORS)
        for a, b in ((first, second), (second, first)):
            held = a.to_bytes(), b.to_bytes()
            refuses(IncompatibleState, words, a.merge, b)
            assert (a.to_bytes(), b.to_bytes()) == held


def test_what_else_does_not_merge() -> None:
    accumulator = both()[1]
    refuses(InputTypeError, "merge: expected an Accumulator, got BinEdges", accumulator.merge, FRAME)
    other = demele.Accumulator("sap", stream=1).update(CODES[["first", "second"]], FACTORS)
    refuses(IncompatibleState, "the two hold other columns", accumulator.merge, other)
    text = demele.Accumulator("sap", stream=1).update(CODES.to_numpy(), np.full((160, 3), "on"))
    numbers = demele.Accumulator("sap", stream=2).update(CODES.to_numpy(), np.zeros((160, 3)))
    refuses(IncompatibleState, "numbers and text in the factor 'v1'", text.merge, numbers)


# Standard deviations -------------------------------------------------------------------------------------------------

BAD_STDS: dict[str, tuple[Any, str]] = {
    "none": (None, "codes_std: rmig needs the standard deviations"),
    "a column less": (STDS[:, :3], r"codes_std: expected the shape of codes, \(160, 4\), got \(160, 3\)"),
    "a row less": (STDS[:159], r"codes_std: expected the shape of codes, \(160, 4\), got \(159, 4\)"),
    "negative": (np.where(np.arange(160)[:, None] == 9, -0.1, STDS), "codes_std: .* got -0.1 in column 'z1', .* row 9"),
    "NaN": (np.where(np.arange(160)[:, None] == 9, np.nan, STDS), "codes_std: 1 non-finite"),
}


def test_bad_standard_deviations() -> None:
    for case in BAD_STDS:
        for framed in [True, False]:
            stds, words = BAD_STDS[case]
            accumulator = demele.Accumulator("rmig", frame=FRAME if framed else None).update(CODES, FACTORS, STDS)
            refuses(InputError, words, accumulator.update, CODES, FACTORS, stds)
            assert accumulator.n == 160


def test_standard_deviations_follow_the_columns_of_codes() -> None:
    stds = pd.DataFrame(np.random.default_rng(0).uniform(0.1, 0.5, (160, 4)), columns=CODES.columns)
    expected = demele.metrics.rmig(demele.Codes(CODES, std=stds), FACTORS).value
    for frame in (FRAME, None):
        accumulator = demele.Accumulator("rmig", frame=frame).update(CODES[:50], FACTORS[:50], stds[:50])
        accumulator = accumulator.update(CODES[50:], FACTORS[50:], stds[50:][stds.columns[::-1]])
        assert accumulator.compute().value == expected
