"""Names with commas or spaces at their ends can be given wherever a list of names is."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from demele.core.errors import InputError
from demele.core.kinds import names_in
from tests.cli.conftest import Program

ODD = ("model v1.3 ", "score,v2", 'the "best"', " all=1", "a::b")
QUOTED = ('"model v1.3 "', '"score,v2"', '"the ""best"""', '" all=1"', '"a::b"')


@pytest.fixture
def odd(folder: Path, table: pd.DataFrame) -> Path:
    """A table whose columns are called oddly: four codes, then factors of the same kind of names."""
    made = pd.DataFrame({name: table["z1"] + 0.1 * np.arange(200) * place for place, name in enumerate(ODD)})
    made["shape, round"], made["size "] = table["shape"], table["size"]
    made.to_csv(folder / "odd.csv", index=False)
    return folder


def test_a_list_is_split_at_commas_outside_quotes() -> None:
    assert names_in(",".join(QUOTED)) == list(ODD)
    assert names_in(' mig , sap,,5" pipe') == ["mig", "sap", '5" pipe']
    for wrong in ('"score,v2', ",", ""):
        with pytest.raises(InputError, match=r"separated by commas|ends with one"):
            names_in(wrong)


@pytest.mark.parametrize(("name", "written"), list(zip(ODD, QUOTED, strict=True)))
def test_odd_columns_are_picked(name: str, written: str, demele: Program, odd: Path) -> None:
    run = demele("score", f"odd.csv::{written}", 'odd.csv::"shape, round"', "--metrics", "mig_sup", "--format", "json")
    assert run.status == 0, run.err
    content = json.loads(run.out)
    assert content["code_names"] == [name]
    assert [factor["name"] for factor in content["factors"]] == ["shape, round"]


def test_odd_names_in_options(demele: Program, odd: Path) -> None:
    codes, factors = f"odd.csv::{QUOTED[0]},{QUOTED[1]}", 'odd.csv::"shape, round","size "'
    kinds = '"shape, round"=continuous,"size "=continuous'
    values = []
    for codes_meant in ('"score,v2",0', "1,0", "0,1"):
        asked = ("--kinds", kinds, "--reg-dim", codes_meant, "--format", "json")
        run = demele("score", codes, factors, "--metrics", "dmig", *asked)
        assert run.status == 0, run.err
        values.append(json.loads(run.out)["scores"][0]["value"])
    assert values[0] == values[1] != values[2]


def test_a_quote_that_is_not_closed_is_a_mistake(demele: Program, odd: Path) -> None:
    for option in ("--kinds", "--reg-dim", "--metrics"):
        run = demele("score", "odd.csv::a", "odd.csv::b", option, '"size=continuous')
        assert run.status == 2
        assert "ends with one" in run.err
        assert option in run.err
    run = demele("compare", *['odd.csv::"shape, round"'] * 3, "--names", '"a,b')
    assert run.status == 2
    assert "ends with one" in run.err
