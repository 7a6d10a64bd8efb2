"""What the review printed: its table of verdicts and its table of scores, to compare ours with."""

from collections import Counter
from collections.abc import Iterable, Mapping

from demele.bench.criteria import REVIEW_CRITERIA
from demele.bench.verdicts import Status, Verdict

PRINTED_VERDICTS_SOURCE = "Boilard's review, table 3.2"
PRINTED_SCORES_SOURCE = "Boilard's review, table 3.1 (means of 100 seeds, one decimal); Carbonneau et al. 2022"

# y: has the property; x: has it not; x*: has it not because it discretises; -: does not measure it; n/a: left out.
# The first cell of MIG is blank in print.
_VERDICTS = {
    "z_diff": "x - - y x* y y y x x",
    "z_min_variance": "x - - y x* y y y x x",
    "z_max_variance": "x - - x x* y x x x x",
    "irs": "y - y x x* n/a n/a x y x",
    "dci_lasso": "y x y x x y y y y y",
    "dci_forest": "y y y y y y y y y y",
    "explicitness": "- - y x x y n/a y y x",
    "sap": "- y - y x x n/a y y y",
    "mig": "blank y - y x* x x y y x",
    "mig_sup": "y - - y x* x x x y x",
    "jemmig": "y y y y x* x x y y x",
    "modularity": "x - - x x* x y x y x",
    "dcimig": "y x y y x* x x y y x",
}

#: Printed cell by row and criterion.
PRINTED_VERDICTS: Mapping[str, Mapping[str, str]] = {
    row: dict(zip([one.name for one in REVIEW_CRITERIA], cells.replace("blank", "").split(" "), strict=True))
    for row, cells in _VERDICTS.items()
}

_METRICS = (
    *("z_diff", "z_min_variance", "z_max_variance", "irs"),
    *("dci_lasso_modularity", "dci_lasso_compactness", "dci_lasso_explicitness"),
    *("dci_forest_modularity", "dci_forest_compactness", "dci_forest_explicitness"),
    *("explicitness", "sap", "mig", "mig_sup", "jemmig", "modularity", "dcimig"),
)
_SCORES = {
    1.0: (1.0, 1.0, 1.0, 0.8, 0.8, 1.0, 0.6, 1.0, 0.7, 1.0, 1.0, 0.6, 0.0, 0.7, 0.4, 1.0, 0.6),
    2.0: (1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.7, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0),
    3.0: (1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.4, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0),
}

#: Printed score by severity of the scenario "redundant" and metric.
PRINTED_SCORES: Mapping[float, Mapping[str, float]] = {
    severity: dict(zip(_METRICS, scores, strict=True)) for severity, scores in _SCORES.items()
}
#: What a status is in print; what else is printed is not applicable.
_STATUS = {"y": "holds", "x": "fails", "x*": "fails"}


def printed_verdict(row: str, criterion: str) -> str | None:
    """Return the printed cell of a row and criterion; None where the review has none.

    Examples
    --------
    >>> from demele.bench.published import printed_verdict
    >>> printed_verdict("irs", "non_linear"), printed_verdict("dlig", "non_linear")
    ('x*', None)
    """
    return PRINTED_VERDICTS.get(row, {}).get(criterion)


def agrees(printed: str, status: Status) -> bool:
    """Whether a printed cell and a computed status say the same; nothing agrees with "inconclusive".

    Examples
    --------
    >>> from demele.bench.published import agrees
    >>> agrees("y", "holds"), agrees("x*", "fails"), agrees("-", "not applicable"), agrees("y", "inconclusive")
    (True, True, True, False)
    """
    return status == _STATUS.get(printed, "not applicable")


def agreement(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count how many verdicts say what the review printed; what was not run is left out.

    Returns
    -------
    dict
        ``cells``: verdicts with a printed cell; ``agree``: those that say the same; ``judged``: cells that the review
        printed as had or not had, and that apply here too; ``judged_agree``: those of them that say the same.
    """
    counts = Counter(cells=0, agree=0, judged=0, judged_agree=0)
    for verdict in verdicts:
        printed = printed_verdict(verdict.row, verdict.criterion)
        if printed is not None and verdict.was_run:
            same, both = agrees(printed, verdict.status), printed in _STATUS and verdict.status != "not applicable"
            counts.update(cells=1, agree=same, judged=both, judged_agree=same and both)
    return dict(counts)
