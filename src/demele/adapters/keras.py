"""Metrics of disentanglement as Keras metrics: one class for all of them, and the class names of Latte.

Keras 3 on any backend; install ``demele[keras]``.

>>> import numpy as np, demele
>>> factors = np.random.default_rng(0).random((1000, 2))
>>> metric = KerasMetric("mig")
>>> for rows in np.split(factors, 10):
...     metric.update_state(rows, rows)
>>> metric.score.value == demele.metrics.mig(factors, factors).value
True
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Unpack

import numpy as np

from demele.adapters.latte import BUNDLE, CLASS_NAMES, LatteMetric, latte_classes
from demele.adapters.shared import AccumulatorMetric, AccumulatorOptions
from demele.core.errors import InputError, InputTypeError, plural, quoted
from demele.core.lazy import require
from demele.streaming.accumulator import Accumulator
from demele.streaming.frame import BinEdges, plain_setting, setting_of

# What Keras passes to a metric, as arrays: values of tensors, or why there are none -----------------------------------


def rows_of(data: Any, argument: str) -> Any:
    """Return the values of a tensor of the backend as a NumPy array, and all else as it is: it is read later."""
    if isinstance(data, keras.KerasTensor):
        raise _without_values(argument, data)
    if not keras.ops.is_tensor(data):
        return data
    try:
        array = keras.ops.convert_to_numpy(data)
    except (TypeError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _without_values(argument, data) from error
    return array.astype(np.float32) if array.dtype.kind == "V" else array  # bfloat16 and its like


def _without_values(argument: str, tensor: Any) -> InputTypeError:
    return InputTypeError(
        argument,
        f"expected a tensor with values, got a {type(tensor).__name__}, which stands for one in a compiled "
        "step; compile the model with run_eagerly=True, or call update_state outside of compiled functions",
    )


def check_weights(sample_weight: Any) -> None:
    """Refuse weights other than ones."""
    weights = np.asarray(rows_of(sample_weight, "sample_weight"))
    unlike = np.flatnonzero(~(weights.ravel() == 1))
    if unlike.size:
        raise InputError(
            "sample_weight",
            f"weights are not supported, expected None or ones, got {plural(unlike.size, 'other', 'others')}, first "
            f"{weights.ravel()[unlike[0]]} at row {unlike[0]}; leave it out, or repeat rows",
        )


__all__ = ["KerasMetric", *CLASS_NAMES]

keras: Any = require("keras", purpose="KerasMetric")
_in_symbolic_scope = require("keras.src.backend.common.symbolic_scope", purpose="KerasMetric").in_symbolic_scope

ORDERS = ("codes-first", "keras")


#: The default of ``sample_weight``: Keras passes None, a user nothing.
_NOT_GIVEN: Final[Any] = object()


@keras.saving.register_keras_serializable(package="demele")
class KerasMetric(AccumulatorMetric, keras.metrics.Metric):  # type: ignore[misc]
    """A registered metric, or several, as a ``keras.metrics.Metric``.

    Parameters
    ----------
    metrics : str or sequence of str
        Registered names (:func:`demele.list_metrics`). One gives a scalar, several a dict of scalars.
    name : str, optional
        Name in the logs; without it that of the metric, or ``"demele"`` for several.
    dtype : str, optional
        Of what :meth:`result` returns; without it that of Keras, ``float32``. :attr:`score` has all digits, and so has
        ``"float64"`` (on jax only where ``jax_enable_x64`` is set).
    order : {"codes-first", "keras"}
        The order of the first two arguments of :meth:`update_state`. Codes come first, as everywhere in demele; Keras
        itself calls ``update_state(y_true, y_pred)``, which are the factors and the codes. So for
        ``compile(metrics=[...])`` say ``"keras"``.
    native : bool, default False
        :meth:`result` returns the values per factor or per code instead of their aggregate. Not for metrics that have
        a value of the whole only.
    frame, bound, stream, outside, protocol, seed, missing, kinds, reg_dim, bins, options
        As in :class:`demele.Accumulator`, which this is one of.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Notes
    -----
    *Eager only.* NumPy and scikit-learn compute the metrics. The numpy backend is eager, and so is torch (unless
    ``jit_compile=True``); on jax and tensorflow compile the model with ``run_eagerly=True``, or score the codes after
    ``model.predict``. A compiled step of these is refused with a message that says so.

    *State.* One accumulator, a Python object, and no Keras variables: the size of a sample of rows is not known
    before they come, and counts in ``float32`` would be wrong from 2^24 rows on. So ``variables`` is empty, the
    ``stateless_*`` methods have nothing to work on and are refused, and a saved model holds the metric's configuration
    and not its rows, as for Keras' own metrics. Pickling, copying and :meth:`get_state` keep the rows.

    *In fit.* Keras asks for the result after every batch, and resets at the start of each epoch. Counted metrics with a
    frame cost little; those that train predictors are better scored once per epoch, on the codes of a validation set.
    Where the rows so far do not suffice, as when no factor has varied yet, the value is NaN, and warnings are left to
    the notes of :attr:`score` (``order="keras"``).
    Keras casts data to ``float32``, which may round the largest value out of its range: make the frame from what
    the metric will see, or pass ``outside="clip"``.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((1000, 2))
    >>> metric = KerasMetric(["mig", "modularity"], frame=demele.bins.BinEdges.of(factors, factors))
    >>> for rows in np.split(factors, 10):
    ...     metric.update_state(rows, rows)
    >>> sorted(metric.result())
    ['mig', 'modularity']
    >>> metric.score["mig"].value == demele.metrics.mig(factors, factors).value
    True
    """

    def __init__(
        self,
        metrics: str | Sequence[str],
        *,
        name: str | None = None,
        dtype: Any = None,
        order: str = "codes-first",
        native: bool = False,
        stream: str | int = 0,
        **options: Unpack[AccumulatorOptions],
    ) -> None:
        accumulator = Accumulator(metrics, stream=stream, **options)
        own = accumulator.metrics[0] if isinstance(metrics, str) else list(accumulator.metrics)
        super().__init__(name=name or (own if isinstance(own, str) else "demele"), dtype=dtype)
        if order not in ORDERS:
            raise InputError("order", f"expected 'codes-first' or 'keras', got {quoted(order)}")
        self._keep(accumulator, single=isinstance(metrics, str), native=native)
        # Keras would wrap a list or dict
        self._arguments: Mapping[str, Any] = MappingProxyType(
            {"metrics": own, "order": order, "native": native, "stream": stream, **options}
        )
        self._order = order
        self._computed: tuple[Accumulator, Any] | None = None

    # Rows -----------------------------------------------------------------------------------------------------------

    def update_state(self, z: Any, a: Any, sample_weight: Any = _NOT_GIVEN, codes_std: Any = None) -> None:
        """Add a batch.

        Parameters
        ----------
        z : tensor or array-like of shape (n_rows, n_codes)
            Codes; with ``order="keras"`` the factors, which Keras passes first, as ``y_true``.
        a : tensor or array-like of shape (n_rows, n_factors) or (n_rows,)
            Factors; with ``order="keras"`` the codes, ``y_pred``.
        sample_weight : None, or array-like of ones
            Weights are not supported.
        codes_std : tensor or array-like of shape (n_rows, n_codes), optional
            Standard deviations of stochastic codes, for RMIG.

        Raises
        ------
        InputError, InputTypeError
            As :meth:`demele.Accumulator.update`, for weights, and for tensors without values, as in compiled steps. The
            state stays as it was.
        """
        given = sample_weight is not _NOT_GIVEN
        if _in_symbolic_scope():  # Keras learns shapes before the first batch; there are no rows
            if given and self._order == "codes-first":
                raise InputError(
                    "order",
                    f"{self.name!r} expects codes first, and compile(metrics=[...]) passes the factors, y_true, "
                    "first; make the metric with order='keras'",
                )
            return
        if given and sample_weight is not None:
            check_weights(sample_weight)
        codes, factors = (a, z) if self._order == "keras" else (z, a)
        stds = None if codes_std is None else rows_of(codes_std, "codes_std")
        self._accumulator = self._accumulator.update(rows_of(codes, "codes"), rows_of(factors, "factors"), stds)

    def reset_state(self) -> None:
        """Forget all rows."""
        self._accumulator = self._accumulator.reset()
        self._computed = None

    def merge_state(self, metrics: Iterable["KerasMetric"]) -> None:
        """Add the rows of other metrics, which stay as they are.

        Parameters
        ----------
        metrics : iterable of KerasMetric
            With the same arguments, but streams of their own where metrics are sampled.

        Raises
        ------
        IncompatibleState, InputTypeError
        """
        merged = self._accumulator
        for other in metrics:
            if not isinstance(other, KerasMetric):
                raise InputTypeError("metrics", f"expected metrics of demele to merge, got {type(other).__name__}")
            merged = merged.merge(other._accumulator)
        self._accumulator = merged

    def get_state(self) -> bytes:
        """Return the rows as bytes, for :meth:`set_state`; they hold no code."""
        return self._accumulator.to_bytes()

    def set_state(self, state: bytes) -> None:
        """Take the rows that :meth:`get_state` of a metric with the same arguments gave.

        Parameters
        ----------
        state : bytes

        Raises
        ------
        FormatError, IncompatibleState
        """
        self._accumulator = self._accumulator.reset().merge(Accumulator.from_bytes(state))

    # Values ---------------------------------------------------------------------------------------------------------

    @property
    def score(self) -> Any:
        """The :class:`demele.Score`, or the :class:`demele.Evaluation` of several metrics, in double precision.

        Raises
        ------
        NotEnoughData
            Before the first rows, or if nothing varies in them.
        """
        if self._computed is None or self._computed[0] is not self._accumulator:
            self._computed = self._accumulator, self._accumulator.compute()
        return self._computed[1]

    def result(self) -> Any:
        """Return the value of all rows so far.

        Returns
        -------
        tensor of the backend, or dict of them by metric
            Scalars, or arrays of shape (n_factors,) or (n_codes,) with ``native=True``. Of several metrics those that
            do not apply are NaN; :attr:`score` says why.

        Raises
        ------
        NotEnoughData
            Before the first rows, or (unless ``order="keras"``) if nothing varies in them.
        """
        if _in_symbolic_scope():
            return self._tensors(self._undefined())
        return self._computed_by(lambda: self.score, lenient=self._order == "keras")  # notes hold the warnings

    def _tensors(self, values: Any) -> Any:
        if isinstance(values, dict):
            return super()._tensors(values)
        return keras.ops.convert_to_tensor(values, dtype=self.dtype)

    # Keras' own machinery ---------------------------------------------------------------------------------------------

    def stateless_update_state(self, *_: Any, **__: Any) -> Any:
        """Not supported, and no other stateless method is: the rows are not in variables."""
        raise InputError(
            "stateless methods: the metric keeps its rows in Python, not in variables; call update_state, result and "
            "reset_state outside of compiled functions"
        )

    stateless_result = stateless_reset_state = stateless_update_state

    def get_config(self) -> dict[str, Any]:
        """Return the arguments as plain values, without the rows.

        Returns
        -------
        dict
            For :meth:`from_config`.

        Raises
        ------
        InputTypeError
            If an argument has no plain form, as a binning rule of your own.
        """
        frame = self._arguments.get("frame")
        own = {name: plain_setting(value, name) for name, value in self._arguments.items() if name != "frame"}
        if frame is not None:
            own["frame"] = frame.to_dict()
        return {**super().get_config(), **own}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "KerasMetric":
        """Make the metric that :meth:`get_config` describes, without rows.

        Parameters
        ----------
        config : mapping

        Returns
        -------
        KerasMetric

        Raises
        ------
        InputError, InputTypeError
        """
        own = {name: setting_of(value) for name, value in config.items() if name != "frame"}
        if config.get("frame") is not None:
            own["frame"] = BinEdges.from_dict(config["frame"])
        return cls(**own)

    def __reduce__(self) -> Any:
        """Pickle and copy with the rows."""
        arguments = {"name": self.name, "dtype": self.dtype, **self._arguments}
        return partial(type(self), **arguments), (), {"_accumulator": self._accumulator}


# The names of Latte ---------------------------------------------------------------------------------------------------


class _OfLatte(LatteMetric, KerasMetric):
    """A metric under Latte's name: one value per attribute, under the protocol "latte"."""

    def __init__(self, *given: Any, **keywords: Any) -> None:
        super().__init__(*given, **keywords)
        own = {**self.defaults, **dict(zip(self.defaults, given, strict=False)), **keywords}
        self._arguments = MappingProxyType({key: own[key] for key in own if key not in ("name", "dtype")})


_MADE = {
    name: keras.saving.register_keras_serializable(package="demele")(made)
    for name, made in latte_classes(_OfLatte, __name__, "KerasMetric", "``name``, ``dtype``, ``order``").items()
}
MutualInformationGap = MIG = _MADE["MutualInformationGap"]
DependencyAwareMutualInformationGap = DMIG = _MADE["DependencyAwareMutualInformationGap"]
DependencyAwareLatentInformationGap = DLIG = _MADE["DependencyAwareLatentInformationGap"]
DependencyBlindMutualInformationGap = XMIG = _MADE["DependencyBlindMutualInformationGap"]
SeparateAttributePredictability = SAP = _MADE["SeparateAttributePredictability"]
Modularity = _MADE["Modularity"]
DependencyAwareMutualInformationBundle = _MADE[BUNDLE]
