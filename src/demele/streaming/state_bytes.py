"""The rows of accumulators as bytes, without their settings: the state that an adapter stores."""

from hashlib import blake2b

from demele.core.errors import IncompatibleState
from demele.streaming.accumulator import Accumulator
from demele.streaming.archive import Archive, opened, refusing
from demele.streaming.frame import Frame
from demele.streaming.held import packed
from demele.streaming.settings import Settings, comparable


def state_to_bytes(accumulator: Accumulator) -> bytes:
    """Return the rows of an accumulator as bytes, without its settings and frame.

    Parameters
    ----------
    accumulator : Accumulator

    Returns
    -------
    bytes
        For :func:`with_state`; they say which settings they belong to, but do not hold them.
    """
    pack = Archive()
    own = {"plan": list(comparable(accumulator._settings)), "frame": _digest(accumulator.frame)}
    return pack.written({**own, **packed(accumulator._held, pack)})


def with_state(accumulator: Accumulator, data: bytes) -> Accumulator:
    """Return an accumulator with the rows that :func:`state_to_bytes` wrote, instead of its own.

    Parameters
    ----------
    accumulator : Accumulator
        With the same settings and frame as the one that was written; it stays as it was.
    data : bytes

    Returns
    -------
    Accumulator

    Raises
    ------
    IncompatibleState
        If the settings or frames differ.
    FormatError
        If they are not an accumulator's bytes, or are damaged.
    """
    about, pack = opened(data)
    with refusing():
        theirs, digest = [str(value) for value in about["plan"]], about["frame"]
        mine = list(comparable(accumulator._settings))
        if theirs == mine and digest == _digest(accumulator.frame):
            return accumulator._holding(about, pack)
    differing = [
        f"{'metrics' if name == 'names' else name} ({own[:80]} here, {other[:80]} there)"
        for name, own, other in zip(Settings.__slots__, mine, theirs, strict=False)
        if own != other
    ]
    told = ", ".join(differing) or "their frames: other columns, ranges or levels"
    raise IncompatibleState(f"the state belongs to another accumulator, they differ in {told}; make both the same way")


def _digest(frame: Frame | None) -> str | None:
    """Return a digest of everything that makes two frames equal."""
    if frame is None:
        return None
    found = blake2b(digest_size=16)
    for part in (frame.codes, frame.columns, frame.missing, frame.low.tobytes(), frame.high.tobytes()):
        found.update(repr(part).encode() + b"\x1f")
    for rule in sorted(frame.exact, key=repr):
        found.update(repr(rule).encode() + b"\x1f")
        for one in (*frame.exact[rule][0], *frame.exact[rule][1]):
            found.update(b"none" if one is None else one.edges.tobytes())
    return found.hexdigest()
