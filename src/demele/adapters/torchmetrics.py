"""Metrics of disentanglement as torchmetrics metrics: one class for all of them, and the class names of Latte.

Install ``demele[torch]``.

>>> import numpy as np, torch, demele
>>> factors = np.random.default_rng(0).random((1000, 2))
>>> metric = TorchMetric("mig", frame=demele.bins.BinEdges.of(factors, factors))
>>> for rows in torch.from_numpy(factors).split(100):
...     metric.update(rows, rows)
>>> metric.compute().item() == demele.metrics.mig(factors, factors).value
True

Latte's classes return one value per attribute:

>>> metric = MutualInformationGap()
>>> metric.update(factors, factors)
>>> tuple(metric.compute().shape)
(2,)
"""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from demele.adapters.latte import BUNDLE, CLASS_NAMES, LatteMetric, latte_classes
from demele.adapters.shared import AccumulatorMetric, AccumulatorOptions
from demele.core.errors import InputError, InputTypeError
from demele.core.lazy import require
from demele.core.results import Evaluation, Score
from demele.streaming.accumulator import Accumulator, state_to_bytes, with_state

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torchmetrics import Metric
    from torchmetrics.metric import jit_distributed_available
    from torchmetrics.utilities.distributed import gather_all_tensors
    from torchmetrics.utilities.exceptions import TorchMetricsUserError
else:  # an error names the extra
    _NEEDS = "demele.adapters.torchmetrics"
    torch = require("torch", purpose=_NEEDS)
    Tensor = torch.Tensor
    Metric = require("torchmetrics", purpose=_NEEDS).Metric
    jit_distributed_available = require("torchmetrics.metric", purpose=_NEEDS).jit_distributed_available
    gather_all_tensors = require("torchmetrics.utilities.distributed", purpose=_NEEDS).gather_all_tensors
    TorchMetricsUserError = require("torchmetrics.utilities.exceptions", purpose=_NEEDS).TorchMetricsUserError

__all__ = ["TorchMetric", *CLASS_NAMES]

#: The name of the state in ``state_dict`` and ``metric_state``.
STATE = "accumulator"


class TorchOptions(AccumulatorOptions, total=False):
    """Keywords of :class:`TorchMetric`: those of an accumulator and those of torchmetrics."""

    dist_sync_on_step: bool
    process_group: Any
    dist_sync_fn: Callable[..., Any] | None
    distributed_available_fn: Callable[..., Any] | None
    sync_on_compute: bool
    compute_with_cache: bool


class TorchMetric(AccumulatorMetric, Metric):
    """Any metric of demele, or several, as one torchmetrics metric.

    Parameters
    ----------
    metrics : str or sequence of str
        Registered names. One name computes a scalar tensor, several a dict of name to tensor.
    frame : BinEdges, optional
        Columns, levels and ranges; see :class:`demele.Accumulator`. With a frame, metrics of histograms count every
        row, and cost the same whatever their number; SAP and MCC of continuous factors, IRS and OMES are summed over
        every row.
    bound : int, default 100 000
        Rows kept for all other metrics.
    stream : str or int, optional
        Where the rows come from. By default the rank of the process; two metrics in one process that are to be merged
        need streams of their own if they keep rows.
    outside, protocol, seed, missing, kinds, reg_dim, bins, options
        As for :class:`demele.Accumulator`.
    native : bool
        Return the value of each factor, or of each code, in the order of the columns, rather than their aggregate. Not
        for metrics that have a value of the whole only, such as Z-diff.
    **keywords
        Of torchmetrics: ``dist_sync_on_step``, ``process_group``, ``dist_sync_fn``, ``distributed_available_fn``,
        ``sync_on_compute``, ``compute_with_cache``.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Notes
    -----
    Values are float64 on the metric's device (float32 on one that has no float64). Rows are counted or kept on the
    host, so that nothing grows on the device.

    ``compute`` before the first rows raises :class:`demele.errors.NotEnoughData`. A batch that cannot be scored alone,
    as one in which no factor varies, is NaN in ``forward`` and is accumulated all the same. In a dict, a metric that
    cannot be computed is NaN; ``evaluation.left_out`` says why.

    In distributed training each process has its own rows, and ``compute`` gives the value of all, in the order of the
    ranks; the states travel as bytes, over the host (gloo) or the GPUs (NCCL). Only rank 0 should load a checkpoint
    that holds rows: loaded by all, they would count once per process.

    States are in the ``state_dict`` after ``persistent(True)``, as one tensor of bytes, which is read without
    unpickling anything. Metrics are never put into one compute group of a ``MetricCollection``; give several names to
    one metric to have them share their states.

    Examples
    --------
    >>> import torch
    >>> factors = torch.tensor([[0.1, 1.0], [0.4, 0.0], [0.7, 1.0], [0.9, 0.0]]).repeat(50, 1)
    >>> metric = TorchMetric(["mig", "modularity"])
    >>> metric.update(factors, factors)
    >>> {name: round(value.item(), 3) for name, value in metric.compute().items()}
    {'mig': 0.25, 'modularity': 0.375}
    >>> metric.evaluation["mig"].native_unit
    'per factor'
    """

    is_differentiable: ClassVar[bool] = False  # type: ignore[misc]
    higher_is_better: ClassVar[bool] = True  # type: ignore[misc]
    full_state_update: ClassVar[bool] = True  # type: ignore[misc]

    _result: Score | Evaluation | None

    def __init__(
        self,
        metrics: str | Sequence[str],
        *,
        stream: str | int | None = None,
        native: bool = False,
        **keywords: Unpack[TorchOptions],
    ) -> None:
        given: dict[str, Any] = {**keywords}
        options = {name: given.pop(name) for name in AccumulatorOptions.__annotations__ if name in given}
        super().__init__(**given)
        accumulator = Accumulator(metrics, stream=0 if stream is None else stream, **options)
        self._keep(accumulator, single=isinstance(metrics, str), native=native)
        self._by_rank = stream is None
        self._result = None
        self._of_batch = False
        self._persistent[STATE] = False

    # Rows and values ------------------------------------------------------------------------------------------------

    def update(self, z: object, a: object, codes_std: object = None) -> None:
        """Add a batch.

        Parameters
        ----------
        z : tensor or array-like of shape (n_rows, n_codes)
            Codes, on any device, of any real type; gradients are not followed.
        a : tensor or array-like of shape (n_rows, n_factors) or (n_rows,)
            Factors.
        codes_std : tensor or array-like of shape (n_rows, n_codes), optional
            Standard deviations of stochastic codes, for RMIG.

        Raises
        ------
        InputError, InputTypeError
            For a batch that is refused; the state stays as it was.
        """
        if self._is_synced:
            raise TorchMetricsUserError("the metric is synced; call unsync() before update()")
        accumulator = self._accumulator
        if self._by_rank:  # rows of each process are a stream
            rank = str(torch.distributed.get_rank()) if jit_distributed_available() else "0"
            accumulator = accumulator._with(accumulator._held, rank)
        self._accumulator = accumulator.update(z, a, codes_std)

    def compute(self) -> Any:
        """Return the value of all rows so far, those of other processes included.

        Returns
        -------
        tensor, or dict of str to tensor
            Also keeps the result with all that is known about it: ``score`` or ``evaluation``.

        Raises
        ------
        NotEnoughData
            Before the first rows, or if nothing varies in them.
        """

        def score() -> Score | Evaluation | None:
            self._result = self._accumulator.compute()
            return self._result

        return self._computed_by(score, lenient=self._of_batch)  # what one batch lacks need not concern all

    @property
    def score(self) -> Score | Evaluation | None:
        """What the last ``compute`` or ``forward`` found: a Score, or an Evaluation of several; None before."""
        return self._result

    @property
    def evaluation(self) -> Evaluation | None:
        """The same for several metrics; None for one."""
        return self._result if isinstance(self._result, Evaluation) else None

    def _tensors(self, values: Any) -> Any:
        if isinstance(values, dict):
            return super()._tensors(values)
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        return torch.as_tensor(np.array(values, dtype=np.float64), dtype=dtype, device=self.device)

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Sync, compute, and restore the local state, even where computing fails; one attribute stays a vector."""

        @functools.wraps(compute)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if self._computed is not None:
                return self._computed
            self.sync(dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync)
            try:
                value = compute(*args, **kwargs)
            finally:
                self.unsync(should_unsync=self._is_synced and self._should_unsync)
            if self.compute_with_cache:
                self._computed = value
            return value

        return wrapped

    def _forward_full_state_update(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value of the batch alone, and add it to the state; an error leaves the state as it was."""
        before = (self._accumulator, self._update_count)
        self._of_batch = True
        try:
            return super()._forward_full_state_update(
                *map(_on_host, args), **{k: _on_host(v) for k, v in kwargs.items()}
            )
        except BaseException:
            self._accumulator, self._update_count = before
            self._is_synced, self._cache, self._computed = False, None, None
            self._should_unsync, self._to_sync, self._enable_grad = True, self.sync_on_compute, False
            raise
        finally:
            self._of_batch = False

    # States -----------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget all rows; ``score`` and ``evaluation`` keep the last result."""
        super().reset()
        self._accumulator = self._accumulator.reset()

    def merge_state(self, incoming_state: "dict[str, Any] | Metric") -> None:
        """Add the rows of another metric.

        Parameters
        ----------
        incoming_state : TorchMetric, or its ``metric_state``
            With the same settings and frame; it stays as it was.

        Raises
        ------
        IncompatibleState
            If they compute other metrics, or with other settings, columns or edges, or keep rows of the same stream.
        """
        if isinstance(incoming_state, TorchMetric):
            other = incoming_state._accumulator
        elif isinstance(incoming_state, dict) and isinstance(incoming_state.get(STATE), Tensor):
            other = with_state(self._accumulator, _bytes(incoming_state[STATE]))
        else:
            raise InputTypeError(
                "incoming_state", f"expected a TorchMetric or its metric_state, got {type(incoming_state).__name__}"
            )
        self._accumulator = self._accumulator.merge(other)
        self._computed = None
        self._update_count += int(other.n > 0)

    @property
    def metric_state(self) -> dict[str, Any]:
        """The rows as one tensor of bytes."""
        return {STATE: self._state()}

    def _state(self) -> Tensor:
        return torch.frombuffer(bytearray(state_to_bytes(self._accumulator)), dtype=torch.uint8).to(self.device)

    def _copy_state_dict(self) -> dict[str, Any]:
        """Return what ``unsync`` and ``forward`` set again: accumulators do not change, so this is no copy."""
        return {"_accumulator": self._accumulator}

    def _sync_dist(self, dist_sync_fn: Callable[..., Any] = gather_all_tensors, process_group: Any = None) -> None:
        """Merge the states of all processes, in the order of their ranks."""
        group = process_group or self.process_group
        state = self._state()
        cards = dist_sync_fn is gather_all_tensors and jit_distributed_available() and torch.cuda.is_available()
        if cards and str(torch.distributed.get_backend(group)) == "nccl":  # which exchanges tensors of cards only
            state = state.to(torch.device("cuda", torch.cuda.current_device()))
        states = [with_state(self._accumulator, _bytes(one)) for one in dist_sync_fn(state, group=group)]
        self._accumulator = functools.reduce(Accumulator.merge, states)

    def state_dict(  # type: ignore[override]
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return the state of the module, with the rows if the metric is persistent."""
        found: dict[str, Any] = super().state_dict(destination=destination, prefix=prefix, keep_vars=keep_vars)
        if self._persistent[STATE]:
            found[prefix + STATE] = self._state()
        return found

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        state = state_dict.pop(prefix + STATE, None)
        if state is not None:
            if not isinstance(state, Tensor):
                raise InputTypeError(f"{prefix + STATE}: expected a tensor of bytes, got {type(state).__name__}")
            self._accumulator = with_state(self._accumulator, _bytes(state))
            self._computed = None
            self._update_count = int(self._accumulator.n > 0)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """Say what is computed, and of how many rows."""
        return f"{', '.join(self._accumulator.metrics)}; n={self._accumulator.n}"

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot one value, or several from ``forward``, with matplotlib: see torchmetrics."""
        return self._plot(val, ax)


def _bytes(state: Tensor) -> bytes:
    if state.dtype != torch.uint8 or state.ndim != 1:
        raise InputError(f"{STATE}: expected a tensor of bytes, got {state.dtype} of shape {tuple(state.shape)}")
    return state.detach().cpu().numpy().tobytes()


def _on_host(value: Any) -> Any:
    return value.detach().cpu() if isinstance(value, Tensor) else value


class _OfLatte(LatteMetric, TorchMetric):
    """A metric under Latte's name: one value per attribute, under the protocol "latte"."""


_MADE = latte_classes(_OfLatte, __name__, "TorchMetric", "``bound``, ``stream``, ``missing``")
MutualInformationGap = MIG = _MADE["MutualInformationGap"]
DependencyAwareMutualInformationGap = DMIG = _MADE["DependencyAwareMutualInformationGap"]
DependencyAwareLatentInformationGap = DLIG = _MADE["DependencyAwareLatentInformationGap"]
DependencyBlindMutualInformationGap = XMIG = _MADE["DependencyBlindMutualInformationGap"]
SeparateAttributePredictability = SAP = _MADE["SeparateAttributePredictability"]
Modularity = _MADE["Modularity"]
DependencyAwareMutualInformationBundle = _MADE[BUNDLE]
