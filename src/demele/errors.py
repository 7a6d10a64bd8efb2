"""The exceptions and warnings of demele.

>>> from demele import errors
>>> issubclass(errors.NotEnoughData, errors.InputError) and issubclass(errors.InputError, ValueError)
True
"""

from demele.core import errors as _core
from demele.core.errors import *  # noqa: F403 - the classes are listed there, once

__all__ = [name for name, kind in vars(_core).items() if isinstance(kind, type) and issubclass(kind, Exception)]
