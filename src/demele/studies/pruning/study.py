"""A study of pruning: its fabrics, published claims about them, and decisions by a test set with wrong labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from demele.core.errors import InputError, quoted
from demele.core.names import checked_name
from demele.core.outputs import write_whole
from demele.core.reading import check_shape, parsing
from demele.core.result import Result
from demele.core.store import Key, reading_record
from demele.core.version import __version__
from demele.models.fabric.lattice import Lattice
from demele.runtime.sweep import Record
from demele.studies.folders import StudyFormat
from demele.studies.pruning.claims import CLAIMS, Difference, differences
from demele.studies.pruning.configurations import WHOLE, LabelNoise, PruningConfiguration
from demele.studies.pruning.documents import pruning_document

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


#: The true labels, every one of them believed: what the others are held against.
TRUE = "true labels"
#: By which a pair is decided: those of print, ours with bounds, and the true labels.
METHODS = ("overlap", "worst-case-overlap", "hard-rows", "worst-case", TRUE)
#: Digits after the point that are kept of numbers that are no counts.
_DIGITS = 5


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {name: _rounded(own) for name, own in value.items()}
    return [_rounded(own) for own in value] if isinstance(value, list) else value


#: Columns of a fabric's figures.
FIGURES = (
    *("error", "given_error", "raw", "recalibrated", "wrong_again_test", "right_again_test"),
    *("wrong_again_training", "right_again_training", "links", "parameters", "kept_weights"),
    *("multiply_adds", "training_work", "seconds"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PruningStudy(Result):
    """Fabrics pruned in many ways, from the whole fabric of the same seed and label noise.

    Attributes
    ----------
    settings : mapping
        Images, structure, training, noises, ways and seeds.
    records : mapping of key to record
        Of ``("fabric", noise, configuration, seed)``: what came of it. Of ``("decisions", noise, seed, fabrics)``: what
        comparisons on the test set decide, its labels being as wrong as those of the training.
    version : str
        The demele that trained.

    Examples
    --------
    >>> from demele import lab
    >>> found = lab.pruning_demo()
    >>> print(found.sentence)
    Of 11 published claims about pruning, 2 are confirmed, 0 contradicted and 9 inconclusive after Holm correction.
    >>> frame = found.to_frame()
    >>> bool(frame[frame.configuration == "whole"].groupby("noise").error.mean().is_monotonic_increasing)
    True
    """

    _kind = "pruning study"
    _files: ClassVar[Mapping[str, str]] = {
        ".differences.csv": "differences_frame",
        ".decisions.csv": "decisions_frame",
        ".ranks.csv": "ranks_frame",
    }

    settings: Mapping[str, Any]
    records: Mapping[Key, Record]
    version: str = __version__

    document = pruning_document

    @property
    def noises(self) -> tuple[LabelNoise, ...]:
        """The label noises, in the order in which they were asked for."""
        return tuple(LabelNoise(**one) for one in self.settings["noises"])

    @property
    def configurations(self) -> tuple[PruningConfiguration, ...]:
        """The ways to prune, without the whole fabric."""
        return tuple(PruningConfiguration(**one) for one in self.settings["configurations"])

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return int(self.settings["seeds"])

    def _places(self) -> list[tuple[str, str, int]]:
        names = [WHOLE.name, *(one.name for one in self.configurations)]
        return [(noise.name, name, seed) for seed in range(self.seeds) for noise in self.noises for name in names]

    def _record(self, noise: str, configuration: str, seed: int) -> Record | None:
        return self.records.get(("fabric", noise, configuration, seed))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each fabric.

        Returns
        -------
        DataFrame
            ``noise``, ``configuration``, its ``strategy``, ``level``, ``criterion`` and ``fraction``, ``seed``,
            ``status`` and ``reason``; ``error`` on true labels of the test, ``given_error`` on its given ones; ``raw``
            and ``recalibrated``, the errors right after the last pruning, and after norms are averaged again;
            ``wrong_again_*`` and ``right_again_*``, the shares of wrong and of correct labels that the fabric
            reproduces (published as F_n and F_c), on images of the test and of the training; ``links``, ``requested``
            (links that should go in all), ``parameters``, ``kept_weights`` (of links, not masked), ``multiply_adds``
            for one image; ``training_work``, the multiplications of all epochs for each image, ``training_share``, that
            of the training of the whole fabric; ``seconds``, which depend on what else the machine did.
        """
        import pandas as pd

        known = {one.name: one for one in (WHOLE, *self.configurations)}
        whole = len(self._lattice().links)
        asked = {name: whole - round((1 - one.shares().get("links", 0.0)) * whole) for name, one in known.items()}
        rows = []
        for noise, name, seed in self._places():
            record = self._record(noise, name, seed) or {"status": "missing"}
            own = {name: math.nan if record.get(name) is None else record[name] for name in FIGURES}
            about = {"noise": noise, "configuration": name, **asdict(known[name]), "seed": seed}
            ended = {"status": record["status"], "reason": record.get("reason") or "", "requested": asked[name]}
            rows.append({**about, **ended, **own})
        found = pd.DataFrame(rows)
        cost = self.settings["training"]["epochs"] * found[found.configuration == WHOLE.name].multiply_adds.max()
        found["training_share"] = found.training_work / cost
        return found

    def differences(self) -> tuple[Difference, ...]:
        """Return the differences that the claims are about, paired by seed, under each noise and all together."""
        frame = self.to_frame()
        keys = list(zip(frame.noise, frame.configuration, frame.seed, strict=True))
        measures = {claim.measure for claim in CLAIMS}
        values = {measure: dict(zip(keys, frame[measure].tolist(), strict=True)) for measure in measures}
        return differences(values, [one.name for one in self.noises], range(self.seeds))

    def differences_frame(self) -> pd.DataFrame:
        """Return one row for each of :meth:`differences`, with the title and statement of its claim."""
        import pandas as pd

        words = {claim.name: claim for claim in CLAIMS}
        rows = [
            {**asdict(one), "title": words[one.claim].title, "says": words[one.claim].says}
            for one in self.differences()
        ]
        return pd.DataFrame(rows)

    def decisions_frame(self) -> pd.DataFrame:
        """Return how comparisons decide, on a test set whose labels are as wrong as those of the training.

        Returns
        -------
        DataFrame
            One row for each claim about errors, noise and method: ``second_better`` (of the pairs of all seeds, how
            often the second is shown to be better), ``first_better``, ``inconclusive``; ``contradicts``, how often it
            shows what the true labels show to be the other way round.
        """
        import pandas as pd

        rows = []
        for claim in CLAIMS:
            if claim.measure != "error" or claim.baseline:
                continue
            names = {f"{first} | {second}" for first, second in claim.pairs}
            for noise in self.noises:
                verdicts = [
                    decided
                    for record in self._decisions(noise.name).values()
                    for pair, decided in record["pairs"].items()
                    if pair in names
                ]
                known = METHODS if verdicts else ()
                rows += [{"claim": claim.name, "noise": noise.name, **_counted(verdicts, name)} for name in known]
        return pd.DataFrame(rows)

    def ranks_frame(self) -> pd.DataFrame:
        """Return between which ranks each fabric lies by a method, all seeds one by one.

        Returns
        -------
        DataFrame
            ``noise``, ``seed``, ``method``, ``configuration``, ``best`` and ``worst`` rank.
        """
        import pandas as pd

        rows = [
            {"noise": noise.name, "seed": seed, "method": method, "configuration": name, "best": best, "worst": worst}
            for noise in self.noises
            for seed, record in self._decisions(noise.name).items()
            for method, ranks in record["ranks"].items()
            for name, (best, worst) in ranks.items()
        ]
        return pd.DataFrame(rows)

    def _decisions(self, noise: str) -> dict[int, Record]:
        """Return the decisions about a noise by seed: those about most fabrics, where there are several."""
        own = sorted(key for key in self.records if key[0] == "decisions" and key[1] == noise)
        return {int(key[2]): self.records[key] for key in own}

    def links(self, configuration: str, noise: str) -> pd.Series[float]:
        """Return the share of seeds that keep each link.

        Parameters
        ----------
        configuration, noise : str
            Their names.

        Returns
        -------
        Series of float of shape (links of the whole fabric,)

        Raises
        ------
        InputError
            If there is no such fabric.

        Examples
        --------
        >>> from demele import lab
        >>> kept = lab.pruning_demo().links("late links 75% magnitude", "none")
        >>> len(kept), bool(kept.max() == 1)
        (47, True)
        """
        import numpy as np
        import pandas as pd

        checked_name(configuration, "configuration", dict.fromkeys(one[1] for one in self._places()))
        records = [self._record(noise, configuration, seed) for seed in range(self.seeds)]
        alive = [[int(one) for one in record["alive"]] for record in records if record and record.get("alive")]
        if not alive:
            raise InputError("noise", f"no fabric {quoted(configuration)} ended under labels {quoted(noise)}")
        whole = self._lattice()
        shares: NDArray[np.float64] = np.array(alive, dtype=np.float64).mean(axis=0)
        return pd.Series(shares, [link.name for link in whole.links], name=configuration)

    def _lattice(self) -> Lattice:
        """Return the whole structure."""
        structure = self.settings["structure"]
        return Lattice.whole(structure["layers"], structure["scales"])

    def save(self, path: str | Path) -> Path:
        """Write settings, fabrics and decisions compactly; :func:`demele.lab.load_pruning` reads it.

        Raises
        ------
        OutputError
        """
        rounded = {key: _rounded(record) for key, record in self.records.items()}
        return write_whole(path, PRUNING.packed({"settings": dict(self.settings)}, rounded, self.version))


def _counted(decided: list[Mapping[str, str]], method: str) -> dict[str, Any]:
    """Return how often a method decides for either, and how often the true labels show the opposite."""
    verdicts = [one[method] for one in decided]
    opposite = {("candidate", "baseline"), ("baseline", "candidate")}
    return {
        "method": method,
        "pairs": len(verdicts),
        "second_better": verdicts.count("candidate"),
        "first_better": verdicts.count("baseline"),
        "inconclusive": verdicts.count("inconclusive"),
        "contradicts": sum((one[method], one[TRUE]) in opposite for one in decided),
    }


# Files ----------------------------------------------------------------------------------------------------------------


#: The rows of the embedded study that come with demele.
DEMO = Path(__file__).with_name("embedded.jsonl")
_SHAPE = {
    "demele": str,
    "settings": {
        "data": {"images": str, "provenance": str, "n": int, "held": int, "test": int},
        "structure": {"layers": int, "scales": int},
        "training": {"epochs": int},
        "seeds": int,
        "noises": [{"kind": str, "rate": (float, int)}],
        "configurations": [dict],
    },
}
_RECORDS: dict[object, Any] = {"fabric": {"status": str}, "decisions": {"pairs": dict, "ranks": dict}}


def study_of(about: Mapping[str, Any], records: Mapping[Key, Record]) -> PruningStudy:
    """Return the study of some rows.

    Raises
    ------
    FormatError
        If a row is not what it should be.
    """
    study = PruningStudy(settings=about["settings"], records=dict(records), version=about["demele"])
    links = about["settings"]["structure"]
    n_links = len(Lattice.whole(links["layers"], links["scales"]).links)
    for key, record in records.items():
        with reading_record(key):
            check_shape(record, _RECORDS[key[0]])
            check_shape([record.get(name) for name in FIGURES], [(float, int, type(None))])
            if record.get("alive") and len([int(one) for one in record["alive"]]) != n_links:
                raise ValueError(f"alive: expected {n_links} links")
    with parsing("not a study of pruning: its decisions do not hold what they should"):
        study.decisions_frame()
        study.ranks_frame()
    return study


def _check(about: dict[str, Any]) -> None:
    settings, study = about["settings"], study_of(about, {})
    if times := settings.get("times"):
        check_shape(times, {"early": int, "every": int, "late": int})
    if settings["seeds"] < 1 or not study.noises:
        raise ValueError("it has no noise, or no seed")
    study.to_frame()


PRUNING = StudyFormat(
    name="demele-pruning", what="a study of pruning", file="pruning.json", shape=_SHAPE, made=study_of, check=_check
)


def load_pruning(path: str | Path) -> PruningStudy:
    """Return the study of a folder, finished or not, or of a file that :meth:`PruningStudy.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    PruningStudy

    Raises
    ------
    InputError, FormatError
        If there is none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = lab.pruning_demo().save(Path(folder) / "study.jsonl")
    ...     len(lab.load_pruning(kept).to_frame())
    345
    """
    return PRUNING.load(path)


def pruning_demo() -> PruningStudy:
    """Return the study that comes with demele: fabrics on glyphs among clutter, pruned in 22 ways.

    Returns
    -------
    PruningStudy

    Examples
    --------
    >>> from demele import lab
    >>> [noise.name for noise in lab.pruning_demo().noises]
    ['none', 'visibility 10%', 'visibility 20%']
    """
    return PRUNING.load(DEMO)
