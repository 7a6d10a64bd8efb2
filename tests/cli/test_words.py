"""Messages of the library in the words of the command line."""

import pytest

from demele.cli.words import in_options

_MISSING = (
    "factors: 2 missing annotations, first at row 3; drop those rows, or pass missing='omit' to score each factor"
)
_KIND = "factor 'my age' was read as categorical; pass kinds={'my age': 'continuous'} if it holds a quantity"
_ORDER = "in the order of the columns; name others with reg_dim; for 2 of 3 factors another code informs more"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (_MISSING, _MISSING.replace("missing='omit'", "--missing omit")),
        (_KIND, _KIND.replace("pass kinds={'my age': 'continuous'}", "give --kinds 'my age=continuous'")),
        (_ORDER, _ORDER.replace("reg_dim", "--reg-dim")),
        ("give kinds={'a': 'categorical', 'b': 'continuous'}", "give --kinds a=categorical,b=continuous"),
        ("codes_std: rmig needs them; pass codes_std", "--codes-std: rmig needs them; give --codes-std FILE"),
        (
            "score as well; demele.evaluate(..., chance=20) gives the level",
            "score as well; --chance 20 gives the level",
        ),
        ("n_jobs: expected a number of processes, got 0", "--jobs: expected a number of processes, got 0"),
    ],
)
def test_arguments_become_options(message: str, told: str) -> None:
    assert in_options(message) == told


@pytest.mark.parametrize(
    "message",
    [
        "reg_dim.csv: is empty",
        "runs/codes_std: expected a file",
        "factors: column 'reg_dim' has one value",
        "signature: 'xmig(reg_dim=(1, 0), fill_reg_dim=True)' is not a call",
        "kinds={broken} is no dictionary",
        "--codes-std: expected --reg-dim and --jobs",
    ],
)
def test_names_that_are_no_arguments_stay(message: str) -> None:
    assert in_options(message) == message


def test_nobody_is_told_to_give_what_a_signature_decides() -> None:
    assert in_options(_MISSING, replayed=True) == (
        "factors: 2 missing annotations, first at row 3; the data differ from those of the signature"
    )
    assert in_options(_KIND, replayed=True) == "factor 'my age' was read as categorical"
    assert in_options(_ORDER, replayed=True) == (
        "in the order of the columns; for 2 of 3 factors another code informs more"
    )
    assert in_options("rmig needs them; pass codes_std", replayed=True) == "rmig needs them; give --codes-std FILE"
