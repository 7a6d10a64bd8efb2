"""Accumulators as bytes, for checkpoints and for other processes: arrays and JSON, never pickled objects.

Reading bytes of unknown origin runs no code that they bring; what does not fit is refused.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import (
    DemeleError,
    FormatError,
    IncompatibleState,
    InputError,
    InputTypeError,
    quoted,
    shortened,
)
from demele.core.reading import check_characters, check_nesting, parsing
from demele.estimation.counts import JointCounts
from demele.estimation.discretise import Adaptive, Edges, EqualFrequency, EqualWidth
from demele.metrics.catalogue import CATALOGUE, resolve
from demele.streaming.accumulator import Accumulator
from demele.streaming.frame import Frame
from demele.streaming.sample import SampleState, _Part, row_keys
from demele.streaming.settings import Settings, comparable
from demele.streaming.states import CountState

#: First bytes, with the number of the format.
MAGIC = b"demele-accumulator-1\n"
CHECKSUM = 16
_RULES: dict[str, type[Any]] = {rule.__name__: rule for rule in (EqualWidth, EqualFrequency, Adaptive, Edges)}
#: Kinds of arrays that are written as they are in memory; objects are written as JSON.
_PLAIN_KINDS = "biufUSMm"
#: Bytes of one array among the settings, such as the edges of bins.
LARGEST_SETTING = 64 << 20


def to_bytes(accumulator: Accumulator) -> bytes:
    """Return an accumulator, its settings, frame and rows, as bytes.

    Parameters
    ----------
    accumulator : Accumulator

    Returns
    -------
    bytes
        For :func:`from_bytes`: a checksum, a JSON header, and the arrays as they are in memory.

    Raises
    ------
    InputError
        If options hold objects of your own, such as a binning rule, which only your code can make again.

    Examples
    --------
    >>> import demele
    >>> accumulator = demele.Accumulator("sap").update([[0.1], [0.4], [0.5]], [[1.0], [2.0], [4.0]])
    >>> from_bytes(to_bytes(accumulator))
    Accumulator(sap; n=3, counted: nothing, 3 rows kept)
    """
    pack = _Pack()
    own = accumulator._settings
    settings = {name: _encoded(getattr(own, name)) for name in Settings.__slots__}
    frame = None if accumulator.frame is None else accumulator.frame.to_dict()
    about = {"settings": settings, "stream": accumulator._stream, "frame": frame, **_packed_state(accumulator, pack)}
    others = {name: dict(CATALOGUE[name].provenance) for name in own.names if not CATALOGUE[name].is_ours}
    return pack.written({**about, "made_by": others} if others else about)


def from_bytes(data: bytes) -> Accumulator:
    """Return the accumulator that :func:`to_bytes` wrote.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    Accumulator

    Raises
    ------
    FormatError
        If they are not an accumulator's bytes, or are damaged.
    UnknownNameError
        If a metric is not known here; with the package or file that it came from.
    """
    about, pack = _opened(data)
    with _refusing():
        made_by = {str(name): dict(said) for name, said in about.get("made_by", {}).items()}
    for name, said in made_by.items():
        resolve(name, made_by=said)
    with _refusing():
        given = {name: _decoded(about["settings"][name]) for name in Settings.__slots__}
        names, single = given.pop("names"), given.pop("single")
        given["options"] = dict(given["options"])
        frame = None if about["frame"] is None else Frame.from_dict(about["frame"])
        empty = Accumulator(names[0] if single else names, frame=frame, stream=about["stream"], **given)
        return _unpacked_state(empty, about, pack)


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
    pack = _Pack()
    own = {"plan": list(comparable(accumulator._settings)), "frame": _digest(accumulator.frame)}
    return pack.written({**own, **_packed_state(accumulator, pack)})


def with_state(accumulator: Accumulator, data: bytes) -> Accumulator:
    """Return an accumulator with the rows that :func:`state_to_bytes` wrote, in place of its own.

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
    about, pack = _opened(data)
    with _refusing():
        theirs, digest = [str(value) for value in about["plan"]], about["frame"]
        mine = list(comparable(accumulator._settings))
        if theirs == mine and digest == _digest(accumulator.frame):
            return _unpacked_state(accumulator, about, pack)
    differing = [
        f"{'metrics' if name == 'names' else name} ({own[:80]} here, {other[:80]} there)"
        for name, own, other in zip(Settings.__slots__, mine, theirs, strict=False)
        if own != other
    ]
    told = ", ".join(differing) or "their frames: other columns, ranges or levels"
    raise IncompatibleState(f"the state belongs to another accumulator, they differ in {told}; make both the same way")


# States -------------------------------------------------------------------------------------------------------------


def _packed_state(accumulator: Accumulator, pack: "_Pack") -> dict[str, Any]:
    counts = [_packed_counts(state.settled(), pack) for state in accumulator._counts.values()]
    sample = None if accumulator._sample is None else _packed_sample(accumulator._sample.sifted(), pack)
    sums = {
        metric: {name: pack.put(one) for name, one in state.arrays().items()}
        for metric, state in accumulator._sums.items()
    }
    return {"columns": accumulator._columns, "counts": counts, "sums": sums, "sample": sample}


def _unpacked_state(accumulator: Accumulator, about: Mapping[str, Any], pack: "_Arrays") -> Accumulator:
    found = accumulator.reset()
    if about["columns"] is not None:
        codes, factors = (tuple(str(name) for name in names) for names in about["columns"])
        found._columns = (codes, factors)
    same = len(about["counts"]) == len(found._counts) and about["sums"].keys() == found._sums.keys()
    if not same or (about["sample"] is None) != (found._sample is None):
        raise FormatError("accumulator", "the parts of this state are not those of its settings")
    found._counts = {
        rule: _unpacked_counts(state, one, pack)
        for (rule, state), one in zip(found._counts.items(), about["counts"], strict=True)
    }
    found._sums = {
        metric: state.restored({name: pack.get(index) for name, index in about["sums"][metric].items()})
        for metric, state in found._sums.items()
    }
    rows = {state.n for state in (*found._counts.values(), *found._sums.values())}
    if len(rows) > 1:
        raise FormatError("accumulator", f"the parts of this state are of different numbers of rows, {sorted(rows)}")
    if found._sample is not None:
        own = [] if found._columns is None else [sum(len(names) for names in found._columns)]
        if (
            own and found._columns is not None and any(one.metric.needs_codes_std for one in found._asked)
        ):  # the standard deviations of codes too
            own.append(own[0] + len(found._columns[0]))
        found._sample = _unpacked_sample(found._sample, about["sample"], pack, own)
    return found


def _packed_counts(state: CountState, pack: "_Pack") -> dict[str, Any] | None:
    counted, annotated = state.counted, state.annotated
    if counted is None or annotated is None:
        return None
    return {
        "n": state.n,
        "clipped": state.clipped,
        "annotated": pack.put(annotated),
        "code_bins": pack.put(counted.code_bins),
        "tables": [pack.put(table) for table in counted.tables],
        "pairs": [[i, k, pack.put(table)] for (i, k), table in counted.factor_tables.items()],
    }


def _unpacked_counts(empty: CountState, about: Mapping[str, Any] | None, pack: "_Arrays") -> CountState:
    if about is None:
        return empty
    sizes, widths = empty.binned.n_levels, empty.binned.code_bins
    tables = tuple(pack.get(index) for index in about["tables"])
    pairs = {(int(i), int(k)): pack.get(index) for i, k, index in about["pairs"]}
    annotated, code_bins = pack.get(about["annotated"]), pack.get(about["code_bins"])
    fits = (
        [table.shape for table in tables] == [(len(widths), int(widths.max()), size) for size in sizes]
        and all(0 <= i < len(sizes) and 0 <= k < len(sizes) for i, k in pairs)
        and all(table.shape == (sizes[i], sizes[k]) for (i, k), table in pairs.items())
        and annotated.shape == (len(sizes),)
        and np.array_equal(code_bins, widths)
    )
    counts = (*tables, *pairs.values(), annotated)
    if not fits or not all(one.dtype.kind in "iuf" and np.isfinite(one).all() and (one >= 0).all() for one in counts):
        raise FormatError("accumulator", "the tables of this state do not have the bins of its frame")
    return replace(
        empty,
        counted=JointCounts(tables, pairs, code_bins),
        n=_count(about["n"]),
        annotated=annotated.astype(np.int64, copy=False),
        clipped=_count(about["clipped"]),
    )


def _packed_sample(state: SampleState, pack: "_Pack") -> dict[str, Any]:
    about: dict[str, Any] = {"streams": [[name, seen] for name, seen in state.streams], "rows": None}
    if state.parts:
        part = state.parts[0]
        place = {name: index for index, (name, _) in enumerate(state.streams)}
        about["rows"] = {
            "streams": pack.put(np.array([place[name] for name in part.streams], dtype=np.int32)),
            "numbers": pack.put(part.numbers),
            "columns": [pack.put(column) for column in part.columns],
        }
    return about


def _unpacked_sample(
    empty: SampleState, about: Mapping[str, Any], pack: "_Arrays", n_columns: Sequence[int]
) -> SampleState:
    streams = tuple((str(name), _count(seen)) for name, seen in about["streams"])
    rows = about["rows"]
    if rows is None:
        return replace(empty, streams=streams)
    place, numbers = pack.get(rows["streams"]), pack.get(rows["numbers"])
    columns = tuple(pack.get(index) for index in rows["columns"])
    n = numbers.size
    if (
        len(columns) not in n_columns
        or place.shape != (n,)
        or any(column.shape != (n,) for column in columns)
        or not np.issubdtype(numbers.dtype, np.integer)
    ):
        raise FormatError("accumulator", "the rows of this state do not belong together")
    keys = np.empty(n, dtype=np.uint64)
    names = np.empty(n, dtype=object)
    known = np.zeros(n, dtype=bool)
    for index, (name, seen) in enumerate(streams):
        own = place == index
        if (numbers[own] < 0).any() or (numbers[own] >= seen).any():
            raise FormatError("accumulator", f"stream {quoted(name)} of this state has rows that it has not seen")
        keys[own] = row_keys(empty.seed, name, numbers[own])
        names[own] = name
        known |= own
    if not known.all():
        raise FormatError("accumulator", "rows of this state belong to no stream")
    return replace(empty, streams=streams, parts=(_Part(keys, names, numbers.astype(np.int64), columns),))


# Settings ------------------------------------------------------------------------------------------------------------


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


def _encoded(value: Any) -> Any:
    """Return a value as JSON can hold it, types included, so that it comes back equal."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "biufU":
        array = np.asarray(value)
        cells = [_encoded(one) for one in array.ravel().tolist()]
        return {"array": [array.dtype.str, list(array.shape), cells, isinstance(value, np.generic)]}
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple):
        return {type(value).__name__ if type(value) in (list, tuple) else "tuple": [_encoded(one) for one in value]}
    if isinstance(value, Mapping):
        return {"dict": [[_encoded(key), _encoded(one)] for key, one in value.items()]}
    if type(value).__name__ in _RULES and type(value) is _RULES[type(value).__name__]:
        fields = {name: getattr(value, name) for name in type(value).__slots__}
        return {"rule": [type(value).__name__, _encoded(fields)]}
    raise InputError(
        "accumulator",
        f"cannot write {value!r} ({type(value).__name__}) as bytes; settings are numbers, words, "
        "sequences of them and the binning rules of demele",
    )


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "array":
        dtype, shape, cells, scalar = held
        if np.dtype(dtype).kind not in "biufU":
            raise FormatError("accumulator", f"its settings hold an array of {quoted(dtype)}")
        if np.dtype(dtype).itemsize * max(len(cells), 1) > LARGEST_SETTING:
            raise FormatError("accumulator", f"its settings hold {len(cells)} values of {quoted(dtype)}: too large")
        array = np.array([_decoded(one) for one in cells], dtype=dtype).reshape(shape)
        return array[()] if scalar else array
    if kind == "float":
        return float(held)
    if kind in ("list", "tuple"):
        items = [_decoded(one) for one in held]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {_decoded(key): _decoded(one) for key, one in held}
    if kind == "rule":
        return _RULES[held[0]](**_decoded(held[1]))
    raise FormatError("accumulator", f"its settings hold a value of unknown kind {quoted(kind)}")


# Arrays -------------------------------------------------------------------------------------------------------------


class _Pack:
    """Arrays that go into one archive, behind one another; the header says where each is."""

    def __init__(self) -> None:
        self._listed: list[dict[str, Any]] = []
        self._data: list[bytes] = []

    def put(self, array: NDArray[Any]) -> int:
        """Add an array and return its number."""
        if array.dtype.kind == "O":
            self._listed.append({"objects": [_encoded(_plain_scalar(one)) for one in array]})
        elif array.dtype.kind in _PLAIN_KINDS:
            data = np.ascontiguousarray(array).tobytes()
            self._listed.append({"dtype": array.dtype.str, "shape": list(array.shape), "size": len(data)})
            self._data.append(data)
        else:
            raise InputTypeError("accumulator", f"cannot write a column of {array.dtype} as bytes")
        return len(self._listed) - 1

    def written(self, about: Mapping[str, Any]) -> bytes:
        """Return the archive."""
        header = json.dumps({"arrays": self._listed, **about}, allow_nan=False).encode()
        body = b"".join([len(header).to_bytes(8, "little"), header, *self._data])
        return MAGIC + _checksum(body) + body


class _Arrays:
    """The arrays of an archive."""

    def __init__(self, listed: list[dict[str, Any]], data: NDArray[np.uint8]) -> None:
        self._listed = listed
        sizes = [_count(one.get("size", 0)) for one in listed]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        if int(self._starts[-1]) != data.size:
            raise FormatError("accumulator", f"expected {int(self._starts[-1])} bytes of arrays, got {data.size}")
        self._data = data

    def get(self, index: int) -> NDArray[Any]:
        """Return an array by its number."""
        about = self._listed[_count(index)]
        if "objects" in about:
            found = np.empty(len(about["objects"]), dtype=object)
            found[:] = [_decoded(one) for one in about["objects"]]
            return found
        dtype = np.dtype(str(about["dtype"]))
        if dtype.kind not in _PLAIN_KINDS:
            raise FormatError("accumulator", f"it holds an array of {dtype}")
        data = self._data[self._starts[index] : self._starts[index + 1]].tobytes()
        array = np.frombuffer(data, dtype=dtype).reshape([_count(size) for size in about["shape"]]).copy()
        check_characters("accumulator", array)
        return array


def _opened(data: bytes) -> tuple[dict[str, Any], _Arrays]:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputTypeError("accumulator", f"expected bytes, got {type(data).__name__}")
    data = bytes(data)
    start = len(MAGIC) + CHECKSUM
    if not data.startswith(MAGIC):
        raise FormatError("accumulator", "these are not the bytes of an accumulator, or of another version of demele")
    if data[len(MAGIC) : start] != _checksum(data[start:]):
        raise FormatError("accumulator", f"its {len(data)} bytes are damaged or cut off: their checksum differs")
    with _refusing():
        end = start + 8 + int.from_bytes(data[start : start + 8], "little")
        header = data[start + 8 : end]
        check_nesting("accumulator", header)
        about = json.loads(header.decode())
        return about, _Arrays(about["arrays"], np.frombuffer(data[end:], dtype=np.uint8))


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM).digest()


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn what forged bytes provoke into one error that says so."""
    what = "accumulator: its bytes do not hold what they should"
    with parsing(what):
        try:
            yield
        except (IncompatibleState, FormatError):
            raise
        except DemeleError as error:
            raise FormatError(f"{what} ({shortened(str(error), 400)})") from error


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError("accumulator", f"expected a whole number of at least 0, got {quoted(value)}")
    return value


def _plain_scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
