"""The exceptions and warnings of demele.

>>> from demele import errors
>>> issubclass(errors.NotEnoughData, errors.InputError) and issubclass(errors.InputError, ValueError)
True
"""

from demele.core.errors import (
    AmbiguousKindWarning,
    DemeleError,
    DemeleWarning,
    FormatError,
    FragileScoreWarning,
    IncompatibleState,
    InputError,
    InputTypeError,
    MissingExtraError,
    NotConvergedWarning,
    NotEnoughData,
    OutOfDomainWarning,
    OutputError,
    RepackedFileWarning,
    UndefinedFactorWarning,
    UnknownNameError,
    WorkerError,
)

__all__ = [
    "AmbiguousKindWarning",
    "DemeleError",
    "DemeleWarning",
    "FormatError",
    "FragileScoreWarning",
    "IncompatibleState",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "NotConvergedWarning",
    "NotEnoughData",
    "OutOfDomainWarning",
    "OutputError",
    "RepackedFileWarning",
    "UndefinedFactorWarning",
    "UnknownNameError",
    "WorkerError",
]
