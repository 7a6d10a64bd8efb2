"""Named sets of settings: those of published numbers, and those that we recommend."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from demele.core.bibliography import bibtex_of
from demele.core.errors import UnknownNameError
from demele.core.kinds import suggestion
from demele.estimation.counts import EqualFrequency


@dataclass(frozen=True, slots=True)
class Protocol:
    """Settings that differ from the defaults, by group of metrics.

    ``options`` maps a group (``"information"``, ``"dci_forest"``, ``"sap"``, ...) or a metric's name to options.
    """

    name: str
    summary: str
    source: str
    references: tuple[str, ...]
    options: Mapping[str, Mapping[str, Any]]

    @property
    def bibtex(self) -> str:
        """What to cite, as BibTeX reads it."""
        return bibtex_of(self.references)


DEFAULT_PROTOCOL = "review2022"
_STUDY_ROWS = {"n_train": 10_000, "n_test": 5_000}
_UNSCALED = {**_STUDY_ROWS, "report": "unscaled"}
_VOTES = {"bins": 20, "batch_size": 64, **_UNSCALED}
_QUANTILE_HISTOGRAM = {"estimator": "histogram", "bins": EqualFrequency(10), "correction": "miller-madow"}

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        item.name: item
        for item in (
            Protocol(
                "review2022",
                "10 equal-width bins (3 for Z-max variance), plug-in information, forests of 10 trees, groups of 200",
                "Carbonneau et al. 2022; Boilard 2022",
                ("carbonneau2022measuring", "boilard2022interpretation"),
                {},
            ),
            Protocol(
                "dlib2019",
                "disentanglement_lib's code under the large study's settings: 20 equal-width bins, boosted trees, raw "
                "units, unscaled accuracies",
                "Locatello et al. 2019, settings of disentanglement_lib",
                ("locatello2019challenging",),
                {
                    "information": {"bins": 20},
                    "dci_boosting": {"max_bins": None, "factor_weights": "importance", **_UNSCALED},
                    "sap": {
                        "units": "raw",
                        "penalty": 0.01,
                        "class_weight": "balanced",
                        **_STUDY_ROWS,
                    },
                    "explicitness": {
                        "bins": 20,
                        "scaling": "standard",
                        "classifier": "multinomial",
                        "class_weight": None,
                        **_UNSCALED,
                    },
                    "z_diff": {"units": "raw", **_VOTES},
                    "z_min_variance": {"prune_below": 0.05, **_VOTES},
                    "irs": {
                        "bins": 20,
                        "quantile": 0.99,
                        "normaliser": "maximum",
                        "weights": "raw-deviation",
                        "value_weights": "uniform",
                    },
                },
            ),
            Protocol(
                "latte",
                "nearest-neighbour information as scikit-learn computes it, SAP of raw codes on the training rows",
                "Watcharasupat & Lerch 2021; Watcharasupat et al. 2022 (Latte)",
                ("watcharasupat2021evaluation", "watcharasupat2022latte"),
                {
                    "information": {"estimator": "knn"},
                    "sap": {"units": "raw", "penalty": 1.0, "score_on": "training"},
                },
            ),
            Protocol(
                "robust",
                "exact nearest neighbours on ranks, ties respected, quantiles for extremes: what we would defend",
                "Ross 2014; Kraskov et al. 2004; Linfoot 1957",
                ("ross2014mutual", "kraskov2004estimating", "linfoot1957informational"),
                {
                    "information": {"estimator": "robust"},
                    # these compare informations on different factors, which have no common unit otherwise
                    **dict.fromkeys(("dmig", "dlig"), _QUANTILE_HISTOGRAM),
                    "jemmig": {"bins": EqualFrequency(10), "correction": "miller-madow"},
                    **{
                        name: {"bins": EqualFrequency(10)}
                        for name in ("rmig", "explicitness", "z_diff", "z_min_variance")
                    },
                    "z_max_variance": {"bins": EqualFrequency(3)},
                    "irs": {"bins": EqualFrequency(10), "quantile": 0.95},
                },
            ),
            Protocol(
                "mcc2020",
                "MCC as published: the mean over min(codes, factors), so that factors without a code do not count",
                "Hyvarinen & Morioka 2016; Khemakhem et al. 2020",
                ("hyvarinen2016unsupervised", "khemakhem2020ice"),
                {"mcc": {"average": "matched"}, "mcc_rank": {"average": "matched"}},
            ),
            Protocol(
                "infomec2023",
                "InfoMEC as published for continuous codes: nearest neighbours, codes by their range, training rows",
                "Hsu et al. 2023",
                ("hsu2023disentanglement",),
                {
                    **{name: {"estimator": "knn", "n_neighbors": 10, "active": "range"} for name in ("infom", "infoc")},
                    "infoe": {
                        "encoding": "standard",
                        "penalty": 1e8,
                        "class_weight": "balanced",
                        "score_on": "training",
                    },
                },
            ),
            Protocol(
                "med2022",
                "MED as published: 20 equal-width bins, and every code counts",
                "Cao et al. 2022",
                ("cao2022empirical",),
                {name: {"bins": 20, "active": "all"} for name in ("med_modularity", "med_compactness")},
            ),
            Protocol(
                "dcies2023",
                "explicitness of DCI-ES by forests of growing depth, and 1 - 1/K as the loss of knowing nothing",
                "Eastwood et al. 2023",
                ("eastwood2023dcies",),
                {"capacity_explicitness": {"probe": "forest", "baseline": "uniform"}},
            ),
        )
    }
)


def list_protocols() -> list[str]:
    """Return the names of the protocols; the first is the default.

    Examples
    --------
    >>> import demele
    >>> demele.list_protocols()
    ['review2022', 'dlib2019', 'latte', 'robust', 'mcc2020', 'infomec2023', 'med2022', 'dcies2023']
    """
    return list(PROTOCOLS)


def protocol(name: str) -> Protocol:
    """Return a protocol by name.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    """
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise UnknownNameError("protocol", f"unknown protocol {name!r}{suggestion(str(name), PROTOCOLS)}")
    return PROTOCOLS[name]
