"""Joblib's processes, guarded against two ways in which the thread that looks after them could be lost."""

import time
import warnings
from typing import Any

from joblib import Parallel
from joblib.parallel import LokyBackend, get_active_backend

#: Seconds after which nothing is waited for any more; it takes less than a millisecond.
PATIENCE = 1.0


class SettledBackend(LokyBackend):  # type: ignore[misc]
    """The default backend of joblib, whose workers are ended only once they have been handed what was meant for them.

    The thread that hands work to the workers forgets all work when they are ended. It then fails with a ``KeyError`` if
    a piece had just been given to it, and its error is printed over what the program prints: about one time in a
    hundred where results are no longer asked for while there is more to do.
    """

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End the workers, as joblib does where somebody asks for no more, is interrupted, or one piece fails."""
        with self.parallel._lock:  # nobody is between taking a piece and giving it to the thread; joblib takes no more
            on_their_way = getattr(self._workers, "_work_ids", None)
        deadline = time.monotonic() + PATIENCE
        while on_their_way is not None and not on_their_way.empty() and time.monotonic() < deadline:
            time.sleep(0.001)
        super().abort_everything(ensure_ready=ensure_ready)


def parallel(**options: Any) -> Any:
    """Return ``joblib.Parallel`` of these options; a backend that a user chose stays.

    A worker whose memory has grown is replaced by joblib, which loses nothing and warns in the thread that looks after
    the workers. Where warnings are errors that thread would end, and this process wait for ever: it is not warned.
    """
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
    active, _ = get_active_backend()
    return Parallel(**options, backend=SettledBackend() if type(active) is LokyBackend else None)
