"""A callback of Keras that scores the codes of a validation set every few epochs.

Keras 3 on any backend; install ``demele[keras]``.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from demele.adapters.keras import rows_of
from demele.adapters.shared import ScoredEpochs, chosen_metrics
from demele.core.errors import InputTypeError
from demele.core.lazy import require
from demele.streaming.accumulator import Accumulator

__all__ = ["ScoreCallback"]

keras: Any = require("keras", purpose="demele.adapters.keras_callback")


class ScoreCallback(ScoredEpochs, keras.callbacks.Callback):  # type: ignore[misc]
    """Score the codes of a validation set every k epochs, and add the scores to the logs of the epoch.

    Parameters
    ----------
    data : iterable of batches
        What is encoded: a list, a ``keras.utils.PyDataset``, a data loader. It is gone through once per evaluation.
    encode : callable (model, batch) -> (codes, factors) or (codes, factors, codes_std)
        Arrays or tensors of the backend. Call the encoder with ``training=False``, and take means rather than draws:
        what a layer draws moves its generator, and so the training.
    metrics : sequence of str, optional
        Registered names; those of :data:`demele.adapters.shared.DEFAULT_METRICS` unless given.
    every : int, default 1
        Score at the end of each epoch whose number, counted from 1, is a multiple of this.
    prefix : str, default "demele/"
        Prefix of the names in the logs: ``demele/mig``.
    native : bool, default False
        Log the value of each factor or code too: ``demele/mig/v1``.
    seed : int, default 0
        Random seed of the metrics.
    **keywords
        ``frame``, ``bound``, ``protocol``, ... as of :class:`demele.Accumulator`.

    Attributes
    ----------
    history : list of (int, Evaluation)
        Every evaluation with the number of its epoch, counted from 0 as Keras does.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Notes
    -----
    Give it to ``fit(callbacks=[...])`` before callbacks that monitor a score, such as ``EarlyStopping`` with
    ``monitor="demele/mig", mode="max"``: they see the logs in this order, and warn of epochs without the score.
    ``History``, ``CSVLogger``, ``TensorBoard`` and others write scores like any metric. Scores that are not defined are
    not logged; the evaluation in ``history`` says why.

    Examples
    --------
    >>> scoring = ScoreCallback([], encode=lambda model, batch: (model(batch[0], training=False), batch[1]), every=5)
    >>> scoring.history
    []
    """

    def __init__(
        self,
        data: Iterable[Any],
        encode: Callable[[Any, Any], Sequence[Any]],
        metrics: Sequence[str] | None = None,
        *,
        every: int = 1,
        prefix: str = "demele/",
        native: bool = False,
        seed: int = 0,
        **keywords: Any,
    ) -> None:
        super().__init__()
        self._set(data, encode, every, prefix, native)
        if not isinstance(data, Iterable) and not hasattr(data, "__getitem__"):
            raise InputTypeError("data", f"expected batches to go through, got {type(data).__name__}")
        self._empty = Accumulator(list(chosen_metrics(metrics)), seed=seed, **keywords)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Score, if it is the turn of this epoch."""
        if (epoch + 1) % self._every:
            return
        scores, torch = self._empty, sys.modules.get("torch")
        with nullcontext() if torch is None else torch.no_grad():
            for batch in self._data:
                named = zip(("codes", "factors", "codes_std"), self._encoded(self.model, batch), strict=False)
                scores = scores.update(*(rows_of(part, name) for name, part in named))
        logged = self._logged(int(epoch), scores.compute())
        if logs is not None:
            logs.update(logged)
