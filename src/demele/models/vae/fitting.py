"""A training from its first step, or from a file, to its last: saving, stopping, diverging."""

import copy
import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.core.errors import InputError, NotConvergedWarning, warn_user
from demele.core.extras import require
from demele.core.locks import locked
from demele.core.reading import parsing
from demele.core.sentences import arg, setting
from demele.data.images import ImageSet
from demele.models.checkpoint import Layout, read_checkpoint, refuse_other_version, write_checkpoint
from demele.models.specs import refuse_other
from demele.models.threads import checked_device, computing
from demele.models.vae.feed import Feed
from demele.models.vae.figures import measured
from demele.models.vae.pair import Pair, check_weights
from demele.models.vae.spec import TrainingSpec
from demele.models.vae.train import Terms, Training, history_row
from demele.runtime.interrupts import held_interrupts
from demele.runtime.progress import Report, reporting

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", purpose="a VAE")

#: What a file of the training of a VAE holds.
LAYOUT = Layout(
    name="demele-training",
    version=1,
    keys=(
        *("spec", "status", "step", "model", "optimiser", "discriminator"),
        *("history", "seconds", "problem", "figures"),
    ),
    what="a training of demele",
    reader="load it with demele.models.load",
)
#: Rows of the history, and the most steps between two writings of the file.
_ROWS, _MOST_UNSAVED = 200, 1000
OnEvent = Callable[[dict[str, float]], object]


class Fitting:
    """Works off the steps of a training, and keeps its file.

    Parameters
    ----------
    spec : TrainingSpec
    network : str or (encoder, decoder)
    images : ImageSet
    checkpoint : Path or None
    device : str
    threads : int or None
    """

    def __init__(
        self,
        spec: TrainingSpec,
        *,
        network: Any,
        images: ImageSet,
        checkpoint: Path | None,
        device: str,
        threads: int | None,
    ) -> None:
        self._spec, self._network, self._images, self._path = spec, network, images, checkpoint
        self._device, self._threads = checked_device(device), threads
        self._history: dict[str, list[float]] = {}
        self._seconds, self._begun = 0.0, time.monotonic()
        self._kept: dict[str, Any] | None = None
        self._training: Training

    def run(self, steps: int, *, progress: bool | Report, on_event: OnEvent | None) -> tuple[Pair, dict[str, Any]]:
        """Train up to ``steps``; return the networks, and what the file holds, or would hold.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, with the training saved.
        """
        alone = nullcontext() if self._path is None else locked(self._path, "checkpoint")
        computed = computing(threads=self._threads, device=self._device, gradients=True)
        with alone, computed, reporting(progress) as report:
            content = self._opened()
            ended = content is not None and (content["status"] == "diverged" or self._training.step >= steps)
            if content is None or content["figures"] is None or not ended:
                problem = None if ended else self._worked_off(steps, report, on_event)
                content = self._finished(problem)
        if content["problem"]:
            bounds = setting("logvar_bounds=(-10, 10)", logvar_bounds=...)
            remedy = f"lower {arg('lr')}, or bound the log-variances with {bounds}, such as -10 to 10"
            warn_user(f"{content['problem']}; {remedy}", NotConvergedWarning)
        return self._training.pair, content

    def _opened(self) -> dict[str, Any] | None:
        """Make the training, and take from its file what it holds, if there is one."""
        self._training = Training.begin(self._spec, self._network, self._device)
        if self._path is None or not self._path.exists():
            return None
        content = read_checkpoint(self._path, LAYOUT)
        refuse_other(_spec_in(content, self._path).to_dict(), self._spec.to_dict(), self._path)
        refuse_other_version(self._path, content, LAYOUT)
        with parsing(f"{self._path}: its networks are not those of its spec"):
            self._training.load(content)
            self._history = {name: list(values) for name, values in content["history"].items()}
            self._seconds = float(content["seconds"])
        return content

    # Steps ------------------------------------------------------------------------------------------------------------

    def _worked_off(self, steps: int, report: Report | None, on_event: OnEvent | None) -> str | None:
        """Make the steps that are left; return why the training diverged, if it did."""
        training, batch = self._training, self._spec.batch
        changed = self._spec.options.get("changed")
        feed = Feed(self._images, batch=batch, seed=self._spec.seed, changed=changed, device=self._device)
        if (steps - training.step) * batch >= len(self._images):
            feed.hold()
        unsaved, apart, last = min(_MOST_UNSAVED, math.ceil(steps / 5)), max(1, steps // _ROWS), math.nan
        self._begun, rate = time.monotonic(), _Rate(training.step)
        with held_interrupts() as interrupted:
            while training.step < steps:
                step = training.step
                terms, finite = training.advance(feed)
                if not finite:
                    return _why_diverged(step, last, terms)
                last = terms.loss.item()
                if step % apart == 0 or training.step == steps:
                    self._note(history_row(training, terms, step=step, images_per_second=rate(step) * batch), on_event)
                    if report is not None:
                        report(step, steps, f"step {step:,}, loss {last:.4g}")
                if interrupted():
                    self._save("interrupted")
                    raise KeyboardInterrupt
                if training.step % unsaved == 0 and training.step < steps:
                    self._save("running")
        return None

    def _note(self, row: dict[str, float], on_event: OnEvent | None) -> None:
        for name, value in row.items():
            self._history.setdefault(name, []).append(value)
        if on_event is not None:
            on_event(row)

    # Keeping ----------------------------------------------------------------------------------------------------------

    def _finished(self, problem: str | None) -> dict[str, Any]:
        """Measure the model, and write the file for the last time."""
        weights = (one for part in self._training.pair.state().values() for one in part.values())
        if problem is not None and not all(bool(torch.isfinite(one).all()) for one in weights):
            self._training.load(self._kept or Training.begin(self._spec, self._network, self._device).state())
        status = "done" if problem is None else "diverged"
        self._save("running", problem)  # measuring takes a while, and may be killed
        with torch.no_grad():
            figures = measured(self._training.pair, self._images)
        return self._save(status, problem, figures)

    def _save(self, status: str, problem: str | None = None, figures: dict[str, Any] | None = None) -> dict[str, Any]:
        content = {
            "spec": self._spec.to_dict(),
            "status": status,
            **copy.deepcopy(self._training.state()),
            "history": self._history,
            "seconds": self._seconds + time.monotonic() - self._begun,
            "problem": problem,
            "figures": figures,
        }
        self._kept = content
        if self._path is not None:
            write_checkpoint(self._path, content, LAYOUT)
        return content


class _Rate:
    """Steps per second since it was last asked."""

    def __init__(self, step: int) -> None:
        self._step, self._time = step - 1, time.monotonic()

    def __call__(self, step: int) -> float:
        now = time.monotonic()
        rate = (step - self._step) / max(now - self._time, 1e-9)
        self._step, self._time = step, now
        return rate


def _why_diverged(step: int, last: float, terms: Terms) -> str:
    largest = terms.posterior.logvar.max().item() if terms.posterior.logvar.numel() else math.nan
    return (
        f"the loss or its gradient was not finite at step {step:,}; the last loss before was {last:.6g}, the largest "
        f"log-variance {largest:.6g}"
    )


# Reading ------------------------------------------------------------------------------------------------------------


def _spec_in(content: Mapping[str, Any], path: Path) -> TrainingSpec:
    what = f"{path}: not a training of demele"
    with parsing(what):
        return TrainingSpec.from_dict(content["spec"], what)


def reopened(path: Path, network: Any) -> tuple[Pair, dict[str, Any]]:
    """Return the networks of a file, on the CPU, and what else it holds.

    Raises
    ------
    InputError, FormatError
    """
    content = read_checkpoint(path, LAYOUT)
    spec = _spec_in(content, path)
    what = f"{path}: its networks are not those of its spec"
    with parsing(what):
        check_weights(spec, content["model"], what)
    if spec.own_networks and network is None:
        raise InputError(
            "network",
            f"{path} was trained with networks of its user's own, and a file holds no classes; pass "
            "network=(encoder, decoder), modules of the same layers",
        )
    with parsing(what), computing(threads=None, device="cpu", gradients=False):
        pair = Pair.made(spec, network if spec.own_networks else spec.network, "cpu")
        pair.load(content["model"])
    return pair, content
