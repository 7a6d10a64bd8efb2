"""What the metrics of torchmetrics and Keras, and the callbacks of Lightning and Keras, have in common."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Literal, TypedDict

import numpy as np

from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Missing
from demele.core.kinds import checked_flag
from demele.core.results import Evaluation, Score, ScoreCurve
from demele.metrics.catalogue import CATALOGUE
from demele.streaming.accumulator import Accumulator
from demele.streaming.frame import BinEdges


class AccumulatorOptions(TypedDict, total=False):
    """Keywords of :class:`demele.Accumulator` that metrics of other libraries pass on."""

    frame: BinEdges | None
    bound: int
    outside: Literal["raise", "clip"]
    protocol: str
    seed: int
    missing: Missing
    kinds: object
    reg_dim: object
    bins: object
    options: Mapping[str, Mapping[str, Any]] | None


class AccumulatorMetric:
    """A metric of another library that keeps its rows in an accumulator."""

    _accumulator: Accumulator
    _native: bool
    _single: bool

    def _keep(self, accumulator: Accumulator, *, single: bool, native: bool) -> None:
        """Set the accumulator, which computes one metric or several, and whether values are per factor or code."""
        checked_flag(native, "native")
        whole = [name for name in accumulator.metrics if CATALOGUE[name].native == "whole"]
        if native and whole:
            raise InputError("native", f"{', '.join(whole)} has a value of the whole only; pass native=False")
        self._accumulator, self._single, self._native = accumulator, single, native

    @property
    def accumulator(self) -> Accumulator:
        """The rows so far: an immutable :class:`demele.Accumulator`, to merge with others."""
        return self._accumulator

    def _values(self, result: Any) -> Any:
        """Return the numbers of a Score, or those of an Evaluation by metric, NaN where a metric has none."""
        if isinstance(result, Score):
            own = result.per_code if result.per_factor is None else result.per_factor
            return own if self._native and own is not None else result.value
        return self._undefined() | {score.metric: self._values(score) for score in result}

    def _undefined(self) -> Any:
        """Return NaN in the form of the values."""
        columns, frame = self._accumulator._held.columns, self._accumulator.frame
        names = columns if frame is None else (frame.codes, frame.factors)
        found: dict[str, Any] = {}
        for name in self._accumulator.metrics:
            per_code = CATALOGUE[name].native == "per code"
            shape = () if names is None or not self._native else (len(names[0 if per_code else 1]),)
            found[name] = np.full(shape, np.nan)
        return found[self._accumulator.metrics[0]] if self._single else found

    def _computed_by(self, score: Callable[[], Any], *, lenient: bool) -> Any:
        """Return the values of a score as tensors; if lenient, NaN where rows do not suffice, and no warning."""
        with warnings.catch_warnings(action="ignore", category=DemeleWarning) if lenient else nullcontext():
            try:
                values = self._values(score())
            except NotEnoughData:
                if not lenient or self._accumulator.n == 0:
                    raise
                values = self._undefined()
        return self._tensors(values)

    def _tensors(self, values: Any) -> Any:
        """Return values as tensors of the other library."""
        return {name: self._tensors(value) for name, value in values.items()}


#: What is scored unless told otherwise: every property by a metric that costs little.
DEFAULT_METRICS = ("mig", "mig_sup", "modularity", "dcimig", "jemmig", "sap")


class ScoredEpochs:
    """A callback that scores codes every few epochs."""

    history: list[tuple[int, Evaluation]]

    def _set(self, data: Any, encode: Callable[..., Any], every: int, prefix: str, native: bool) -> None:
        """Check and keep the arguments.

        Raises
        ------
        InputError, InputTypeError
        """
        if not callable(encode):
            raise InputTypeError("encode", f"expected a function of module and batch, got {type(encode).__name__}")
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError("every", f"expected a number of epochs of at least 1, got {quoted(every)}")
        if not isinstance(prefix, str):
            raise InputTypeError("prefix", f"expected a string, got {quoted(prefix)}")
        self._data, self._encode, self._every, self._prefix, self._native = data, encode, every, prefix, native
        self.history = []

    @property
    def curve(self) -> ScoreCurve:
        """The evaluations as a table and a picture; epochs are counted from 0, each fit of the same trainer again."""
        return ScoreCurve(self.history)

    def _encoded(self, model: Any, batch: Any) -> Sequence[Any]:
        """Return codes and factors, perhaps with standard deviations.

        Raises
        ------
        InputTypeError
        """
        encoded = self._encode(model, batch)
        if not isinstance(encoded, Sequence) or len(encoded) not in (2, 3):
            raise InputTypeError(
                "encode",
                f"expected to return (codes, factors) or (codes, factors, codes_std), got {type(encoded).__name__}",
            )
        return encoded

    def _logged(self, epoch: int, evaluation: Evaluation) -> dict[str, float]:
        """Keep an evaluation, and return the scores that are defined by the names under which they are logged."""
        self.history.append((epoch, evaluation))
        found = {}
        for score in evaluation:
            found[score.metric] = score.value
            if self._native:
                found |= {f"{score.metric}/{name}": value for name, value in score.native.items()}
        return {f"{self._prefix}{name}": value for name, value in found.items() if math.isfinite(value)}


def chosen_metrics(metrics: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the metrics that were asked for; one may stand alone."""
    return DEFAULT_METRICS if metrics is None else (metrics,) if isinstance(metrics, str) else tuple(metrics)
