"""Joblib's processes, guarded against two ways in which the thread that looks after them could be lost."""

import time
import warnings
from functools import cache
from typing import Any

#: Seconds after which nothing is waited for any more; it takes less than a millisecond.
PATIENCE = 1.0


@cache
def settled_backend() -> Any:
    """Return joblib's default backend, whose workers are ended only once they have what was meant for them.

    The thread that hands work to the workers forgets all work when they are ended. It then fails with a ``KeyError`` if
    a piece had just been given to it, and its error is printed over what the program prints: about one time in a
    hundred where results are no longer asked for while there is more to do.
    """
    from joblib.parallel import LokyBackend

    class SettledBackend(LokyBackend):  # type: ignore[misc]
        def abort_everything(self, ensure_ready: bool = True) -> None:
            with self.parallel._lock:  # nobody is between taking a piece and giving it away; joblib takes no more now
                on_their_way = getattr(self._workers, "_work_ids", None)
            deadline = time.monotonic() + PATIENCE
            while on_their_way is not None and not on_their_way.empty() and time.monotonic() < deadline:
                time.sleep(0.001)
            super().abort_everything(ensure_ready=ensure_ready)

    return SettledBackend


def parallel(**options: Any) -> Any:
    """Return ``joblib.Parallel`` of these options; a backend that a user chose stays.

    A worker whose memory has grown is replaced by joblib, which loses nothing and warns in the thread that looks after
    the workers. Where warnings are errors that thread would end, and this process wait for ever: it is not warned.
    """
    from joblib import Parallel
    from joblib.parallel import LokyBackend, get_active_backend

    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
    active, _ = get_active_backend()
    return Parallel(**options, backend=settled_backend()() if type(active) is LokyBackend else None)
