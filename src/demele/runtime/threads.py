"""One thread for what is computed: with more, the order of sums, and so their last bits, depend on the machine."""

import importlib
import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread(*modules: str) -> AbstractContextManager[Any]:
    """Return a context in which linear algebra and scikit-learn use one thread.

    Parameters
    ----------
    *modules
        Those that bring thread pools of their own. They are imported first: a pool that is loaded within the context
        would not be limited, and its threads would fight for busy cores.
    """
    for name in modules:
        importlib.import_module(name)
    limit: AbstractContextManager[Any] = _pools(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> Any:
    """Find the thread pools; looked for again when modules, and so perhaps pools, were loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
