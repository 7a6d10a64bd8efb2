"""One accumulator for every metric: update with batches, merge with others, compute when asked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Annotated, Any, Literal

import numpy as np

from demele.core import given_data
from demele.core.arrays import Array
from demele.core.errors import (
    DemeleError,
    FormatError,
    IncompatibleState,
    InputTypeError,
    NotEnoughData,
    quoted,
    shortened,
)
from demele.core.inputs import Missing
from demele.core.kinds import Seed, at_least, checked
from demele.core.reading import check_characters, check_nesting, parsing
from demele.core.results import LeftOut, Score
from demele.metrics.catalogue import CATALOGUE, resolve
from demele.metrics.options import Run, as_binning
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import chosen_metrics, given_options, requests_of
from demele.metrics.run import Found, evaluation
from demele.streaming.frame import BinEdges, Settings, comparable, difference, plain_setting, setting_of
from demele.streaming.sample import (
    Names,
    SampledRows,
    SampleState,
    in_memory,
    mixed,
    of_sample,
    read_batch,
    read_deviations,
    read_rows,
    row_keys,
)
from demele.streaming.source import Counted, check_with_frame
from demele.streaming.states import Key, State, empty_state, key_of

# Bytes that hold arrays and JSON, with a checksum, and nothing that runs when they are read ---------------------------

#: First bytes, with the number of the format.
MAGIC = b"demele-accumulator-2\n"
CHECKSUM = 16
#: Kinds of arrays that are written as they are in memory; objects are written as JSON.
_PLAIN_KINDS = "biufUSMm"


def written(about: Mapping[str, Any], arrays: Sequence[Array]) -> bytes:
    """Return an archive: a header that says what the arrays are, and the arrays behind one another."""
    listed: list[dict[str, Any]] = []
    found: list[bytes] = []
    for array in arrays:
        if array.dtype.kind == "O":
            listed.append({"objects": plain_setting(array, "accumulator")})
        elif array.dtype.kind in _PLAIN_KINDS:
            found.append(np.ascontiguousarray(array).tobytes())
            listed.append({"dtype": array.dtype.str, "shape": list(array.shape), "size": len(found[-1])})
        else:
            raise InputTypeError("accumulator", f"cannot write a column of {array.dtype} as bytes")
    header = json.dumps({"arrays": listed, **about}).encode()
    body = b"".join([len(header).to_bytes(8, "little"), header, *found])
    return MAGIC + checksum(body) + body


def opened(data: bytes) -> tuple[dict[str, Any], list[Array]]:
    """Return the header of an archive, and its arrays.

    Raises
    ------
    FormatError
        If the bytes are no archive, or damaged.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputTypeError("accumulator", f"expected bytes, got {type(data).__name__}")
    data = bytes(data)
    start = len(MAGIC) + CHECKSUM
    if not data.startswith(MAGIC):
        raise FormatError("accumulator", "these are not the bytes of an accumulator, or of another version of demele")
    if data[len(MAGIC) : start] != checksum(data[start:]):
        raise FormatError("accumulator", f"its {len(data)} bytes are damaged or cut off: their checksum differs")
    with refusing():
        at = start + 8 + int.from_bytes(data[start : start + 8], "little")
        header = data[start + 8 : at]
        check_nesting("accumulator", header)
        about = json.loads(header.decode())
        arrays = []
        for one in about["arrays"]:
            if "objects" in one:
                array = np.empty(len(one["objects"]), dtype=object)
                array[:] = one["objects"]
            else:
                dtype, size = np.dtype(str(one["dtype"])), count(one["size"])
                if dtype.kind not in _PLAIN_KINDS:
                    raise FormatError("accumulator", f"it holds an array of {dtype}")
                part, at = data[at : at + size], at + size
                array = np.frombuffer(part, dtype=dtype).reshape([count(size) for size in one["shape"]]).copy()
                check_characters("accumulator", array)
            arrays.append(array)
        if at != len(data):
            raise FormatError("accumulator", f"expected {at} bytes, got {len(data)}")
        return about, arrays


def checksum(body: bytes) -> bytes:
    """Return the checksum of what follows it."""
    return blake2b(body, digest_size=CHECKSUM).digest()


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what forged bytes provoke into one error that says so."""
    what = "accumulator: its bytes do not hold what they should"
    with parsing(what):
        try:
            yield
        except (IncompatibleState, FormatError):
            raise
        except DemeleError as error:
            raise FormatError(f"{what} ({shortened(str(error), 400)})") from error


def count(value: Any) -> int:
    """Return a whole number of at least 0, as a header should hold it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError("accumulator", f"expected a whole number of at least 0, got {quoted(value)}")
    return value


# What an accumulator holds of the rows so far -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """States of the rows so far: counts and sums, and a sample with the names of its columns."""

    states: Mapping[Key, State]
    sample: SampleState | None
    columns: Names | None = None

    @property
    def n(self) -> int:
        """Rows seen."""
        if self.sample is not None:
            return self.sample.n
        return next(iter(self.states.values())).n

    @property
    def factor_columns(self) -> tuple[Array, ...]:
        """The factors' columns of some rows kept; none, if there are no rows."""
        if self.sample is None or self.columns is None or not self.sample.parts:
            return ()
        d, m = (len(names) for names in self.columns)
        return self.sample.parts[0].columns[d : d + m]

    def merge(self, other: "Held") -> "Held":
        """Return the states of the rows of both.

        Raises
        ------
        IncompatibleState
            If they hold other columns, or are not of the same frame and settings.
        """
        if self.columns is not None and other.columns is not None and self.columns != other.columns:
            raise IncompatibleState(f"the two hold other columns: {self.columns} and {other.columns}")
        mine, theirs = self.factor_columns, other.factor_columns
        if mine and theirs and self.columns is not None:
            for name, one, another in zip(self.columns[1], mine, theirs, strict=True):
                if mixed(one, another):
                    raise IncompatibleState(f"the two hold numbers and text in the factor {name!r}; give both the same")
        return Held(
            {key: state.merge(other.states[key]) for key, state in self.states.items()},
            None if self.sample is None or other.sample is None else self.sample.merge(other.sample),
            self.columns or other.columns,
        )


def packed(held: Held) -> tuple[dict[str, Any], list[Array]]:
    """Return where an archive has the arrays of states, and these arrays."""
    arrays: list[Array] = []

    def put(array: Array) -> int:
        arrays.append(array)
        return len(arrays) - 1

    states = [{name: put(one) for name, one in state.settled().arrays.items()} for state in held.states.values()]
    sample: dict[str, Any] | None = None
    if held.sample is not None:
        sample = {"streams": [[name, seen] for name, seen in held.sample.streams], "rows": None}
        place = {name: index for index, (name, _) in enumerate(held.sample.streams)}
        for part in held.sample.sifted().parts:
            sample["rows"] = {
                "streams": put(np.array([place[name] for name in part.streams], dtype=np.int32)),
                "numbers": put(part.numbers),
                "columns": [put(column) for column in part.columns],
            }
    return {"columns": held.columns, "states": states, "sample": sample}, arrays


def unpacked(empty: Held, about: Mapping[str, Any], arrays: Sequence[Array], *, deviations: bool) -> Held:
    """Return the states that :func:`packed` wrote.

    Parameters
    ----------
    empty : Held
        States of no rows, with the same settings.
    about, arrays
        What :func:`packed` returned.
    deviations : bool
        Whether a sample may hold standard deviations too.

    Raises
    ------
    FormatError
        If they are not the states of such settings.
    """
    if len(about["states"]) != len(empty.states) or (about["sample"] is None) != (empty.sample is None):
        raise FormatError("accumulator", "the parts of this state are not those of its settings")
    states = {
        key: state.restored({name: arrays[count(index)] for name, index in own.items()})
        for (key, state), own in zip(empty.states.items(), about["states"], strict=True)
    }
    rows = {state.n for state in states.values()}
    if len(rows) > 1:
        raise FormatError("accumulator", f"the parts of this state are of different numbers of rows, {sorted(rows)}")
    columns: Names | None = None
    widths: list[int] = []
    if about["columns"] is not None:
        codes, factors = (tuple(str(name) for name in names) for names in about["columns"])
        columns, width = (codes, factors), len(codes) + len(factors)
        widths = [width, width + len(codes)] if deviations else [width]
    sample = empty.sample
    if sample is not None:
        streams = tuple((str(name), count(seen)) for name, seen in about["sample"]["streams"])
        sample = replace(sample, streams=streams)
        kept = about["sample"]["rows"]
        if kept is not None:
            place, numbers, *own = (arrays[count(at)] for at in (kept["streams"], kept["numbers"], *kept["columns"]))
            if len(own) not in widths:
                raise FormatError("accumulator", "the rows of this state do not belong together")
            sample = replace(sample, parts=(_sampled_rows(sample, place, numbers, tuple(own)),))
    return Held(states, sample, columns)


def _sampled_rows(sample: SampleState, place: Array, numbers: Array, columns: tuple[Array, ...]) -> SampledRows:
    n = numbers.size
    if any(column.shape != (n,) for column in (place, *columns)) or not np.issubdtype(numbers.dtype, np.integer):
        raise FormatError("accumulator", "the rows of this state do not belong together")
    keys = np.empty(n, dtype=np.uint64)
    names = np.empty(n, dtype=object)
    known = np.zeros(n, dtype=bool)
    for index, (name, seen) in enumerate(sample.streams):
        own = place == index
        if (numbers[own] < 0).any() or (numbers[own] >= seen).any():
            raise FormatError("accumulator", f"stream {quoted(name)} of this state has rows that it has not seen")
        keys[own] = row_keys(sample.seed, name, numbers[own])
        names[own] = name
        known |= own
    if not known.all():
        raise FormatError("accumulator", "rows of this state belong to no stream")
    return SampledRows(keys, names, numbers.astype(np.int64), columns)


#: Rows that sampled metrics keep, unless told otherwise.
BOUND = 100_000


class Accumulator:
    """A metric, or several, whose rows come in batches.

    Updating and merging return new accumulators and leave the old ones as they are.

    Parameters
    ----------
    metrics : str or sequence of str
        Registered names. One name computes a :class:`demele.Score`, several an :class:`demele.Evaluation`.
    frame : BinEdges, optional
        Columns, levels and ranges. With a frame, metrics of histograms (:func:`counted_metrics`) count every row
        under fixed edges: batches in any order, merged in any way, give the bits that one call on all rows gives.
        SAP of continuous factors, IRS, OMES, MCC, weak MCC and affine R2 are of every row too, equal to rounding.
        Without a frame they are computed as the others are.
    bound : int, default 100 000
        Rows kept for all other metrics: those with the smallest keys, hashed from stream and row number, so that the
        choice does not depend on the order of merging. While fewer rows came, the value is that of one call on all of
        them; afterwards that of a random sample, and a note says of how many.
    stream : str or int, default 0
        Where the rows come from, such as the number of a process. Accumulators that are merged need streams of their
        own for sampled metrics.
    outside : {"raise", "clip"}
        What to do with values outside the ranges of the frame: refuse the batch, or count them in the first or last
        bin; a note says how many. Sampled metrics take them as they are, and so do sums of codes and, of SAP and MCC,
        of factors.
    protocol, seed, missing, kinds, reg_dim, bins, options
        As in :func:`demele.evaluate`. With a frame, kinds and missing are the frame's, and columns with names may come
        in any order. Without one, columns and kinds are those of the rows so far, classes being sorted by name.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.random((1000, 2))
    >>> parts = [demele.Accumulator("mig", frame=demele.bins.BinEdges.of(factors, factors), stream=i) for i in range(2)]
    >>> parts = [part.update(half, half) for part, half in zip(parts, np.split(factors, 2))]
    >>> parts[1].merge(parts[0]).compute().value == demele.metrics.mig(factors, factors).value
    True
    """

    __slots__ = ("_asked", "_deviations", "_frame", "_held", "_settings", "_states", "_stream")

    @checked
    def __init__(
        self,
        metrics: str | Sequence[str],
        *,
        frame: BinEdges | None = None,
        bound: Annotated[int, at_least(4)] = BOUND,
        stream: str | int = 0,
        outside: Literal["raise", "clip"] = "raise",
        protocol: str = DEFAULT_PROTOCOL,
        seed: Seed = 0,
        missing: Missing = "raise",
        kinds: object = None,
        reg_dim: object = None,
        bins: object = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        if metrics is None:
            raise InputTypeError("metrics", "expected a name or several, got None; demele.list_metrics() lists all")
        chosen = chosen_metrics(metrics)
        names = tuple(chosen)
        if any(CATALOGUE.find(name) is not metric for name, metric in chosen.items()):
            raise InputTypeError(
                "metrics",
                "expected registered names; of a function of your own make a Metric; see demele.register_metric",
            )
        if frame is not None and not isinstance(frame, BinEdges):
            raise InputTypeError(
                "frame", f"expected a BinEdges, got {type(frame).__name__}; make one with BinEdges.of(...)"
            )
        if not isinstance(stream, str | int | np.integer) or isinstance(stream, bool):
            raise InputTypeError("stream", f"expected a name or a number, got {quoted(stream)}")
        if frame is not None:
            check_with_frame(frame, kinds, reg_dim)
        known, given = protocol_named(protocol), given_options(options)
        rule = None if bins is None else as_binning(bins)
        self._settings = Settings(
            names=names,
            single=isinstance(metrics, str),
            protocol=known.name,
            options=tuple((name, dict(sorted(own.items()))) for name, own in sorted(given.items())),
            seed=seed,
            bound=bound,
            outside=outside,
            missing=missing if frame is None else frame.missing,
            kinds=kinds if frame is None else frame.kinds,
            reg_dim=reg_dim,
            bins=rule,
        )
        self._frame = frame
        self._stream = str(stream)
        self._asked = requests_of(chosen, known, dict(self._settings.options), bins=rule, reg_dim=reg_dim)
        self._deviations = any(one.metric.needs_codes_std for one in self._asked)
        self._states: dict[str, str] = {}
        if frame is not None:
            source = Counted(frame)
            found = {one.name: source.state_for(one.metric, one.options) for one in self._asked}
            self._states = {name: state for name, state in found.items() if state is not None}
        self._held = self._without_rows()

    def _without_rows(self) -> Held:
        """Return the states of no rows."""
        states: dict[Key, State] = {}
        if self._frame is not None:
            states_of = ((self._states.get(one.name), one.options) for one in self._asked)
            keys = dict.fromkeys(key_of(state, options) for state, options in states_of if state is not None)
            states = {key: empty_state(key, self._frame) for key in keys}
        sampled = len(self._states) < len(self._asked)
        return Held(states, SampleState(self._settings.bound, self._settings.seed) if sampled else None)

    # Rows -----------------------------------------------------------------------------------------------------------

    def update(self, codes: object, factors: object, codes_std: object = None) -> "Accumulator":
        """Add a batch, and return the accumulator that holds it too.

        Parameters
        ----------
        codes : array-like of shape (n_rows, n_codes)
        factors : array-like of shape (n_rows, n_factors)
            An empty batch changes nothing.
        codes_std : array-like of shape (n_rows, n_codes), optional
            Standard deviations of stochastic codes, for RMIG.

        Returns
        -------
        Accumulator

        Raises
        ------
        InputError, InputTypeError
            For a batch with other columns, or values that are refused; this accumulator stays as it was.
        """
        if isinstance(factors, given_data.Factors):
            remedy = "pass its values, and `Accumulator(missing='omit', kinds=...)` or a frame made so"
            raise InputTypeError("factors", "expected a table, got Factors", remedy)
        held, rows = self._held, None
        if self._frame is not None:
            rows = read_batch(self._frame, codes, factors, self._settings.outside)
            held = replace(held, states={key: state.update(rows) for key, state in held.states.items()})
        if held.sample is not None:
            if rows is not None and self._frame is not None:
                names: Names = (self._frame.codes, self._frame.factors)
                raw = rows.unclipped or rows
                columns, n = [*raw.codes.T, *raw.factors], raw.n
            else:
                names, columns, n = read_rows(
                    codes,
                    factors,
                    names=held.columns,
                    before=held.factor_columns,
                    kinds=self._settings.kinds,
                    missing=self._settings.missing,
                )
            if n:
                columns += read_deviations(codes_std, names[0], n) if self._deviations else []
                held = replace(held, columns=names, sample=held.sample.update(tuple(columns), self._stream))
        return self._with(held)

    def merge(self, other: "Accumulator") -> "Accumulator":
        """Return an accumulator that holds the rows of both; neither changes.

        Raises
        ------
        IncompatibleState
            If they compute other metrics, or with other settings, columns or edges.
        """
        if not isinstance(other, Accumulator):
            raise InputTypeError("merge", f"expected an Accumulator, got {type(other).__name__}")
        told = difference(comparable(self._settings), comparable(other._settings))
        if told:
            raise IncompatibleState(f"the two accumulators differ in {told}; give both the same arguments")
        if (self._frame is None) != (other._frame is None) or (self._frame is not None and self._frame != other._frame):
            raise IncompatibleState("the two accumulators have other frames: other columns, ranges or levels")
        return self._with(self._held.merge(other._held))

    def reset(self) -> "Accumulator":
        """Return the same accumulator without rows: the identity of :meth:`merge`."""
        return self._with(self._without_rows())

    @property
    def n(self) -> int:
        """Rows seen."""
        return self._held.n

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of what is computed."""
        return self._settings.names

    @property
    def frame(self) -> BinEdges | None:
        """The frame, if there is one."""
        return self._frame

    def __repr__(self) -> str:
        counted = ", ".join(name for name, one in self._states.items() if one == "table") or "nothing"
        sums = ", ".join(name for name, one in self._states.items() if one != "table")
        summed = f", summed: {sums}" if sums else ""
        kept = "" if self._held.sample is None else f", {self._held.sample.n_kept} rows kept"
        return f"Accumulator({', '.join(self._settings.names)}; n={self.n}, counted: {counted}{summed}{kept})"

    # Values ---------------------------------------------------------------------------------------------------------

    def compute(self) -> Any:
        """Return the Score, or the Evaluation of several metrics, of all rows so far.

        Returns
        -------
        Score or Evaluation
            Metrics of all rows under a frame come without intervals and checks of fragility: these need the rows, see
            :func:`demele.evaluate`. Of several metrics, those that do not apply are left out with the reason.

        Raises
        ------
        NotEnoughData
            Before the first rows, or if nothing varies in them.
        """
        if self.n == 0:
            raise NotEnoughData(f"{', '.join(self._settings.names)}: no rows yet; call update(codes, factors) first")
        settings, run = self._settings, Run(seed=self._settings.seed)
        found: dict[str, Score] = {}
        left_out: dict[str, LeftOut] = {}
        source, about = None, None
        if self._frame is not None and self._states:
            # all rows counted: a next call need not count them again
            states = {key: state.settled() for key, state in self._held.states.items()}
            self._held = replace(self._held, states=states)
            source = Counted(self._frame, states)
            # sums first: what both say of a column that does not vary is said in their words
            asked = [one for one in self._asked if one.name in self._states]
            asked.sort(key=lambda one: self._states[one.name] == "table")
            whole = Found(source, run).compute(asked)
            found |= {score.metric: score for score in whole.scores(settings.protocol, warn=False)}
            left_out |= {item.metric: item for item in whole.left_out}
        rest = [one for one in self._asked if one.name not in self._states]
        sample, names = self._held.sample, self._held.columns
        if rest and sample is not None and names is not None:
            data = in_memory(sample, names, self._frame, kinds=settings.kinds, missing=settings.missing)
            about = evaluation(rest, data, run, protocol=settings.protocol, name="codes", named=settings.single)
            left_out |= {one.metric: one for one in about.left_out}
            how, context = f"bound={settings.bound}", {"sample_of": str(sample.n)}
            found |= {score.metric: of_sample(score, sample, how, context) for score in about}
        if not found:
            raise NotEnoughData(next(iter(left_out.values())).reason)
        if settings.single:
            return found[settings.names[0]]
        missing = tuple(left_out[name] for name in settings.names if name in left_out)
        scores = tuple(found[name] for name in settings.names if name in found)
        if source is not None:
            pictures = () if about is None else about.dependency
            return source.about().evaluation(scores, settings.protocol, left_out=missing, dependency=pictures)
        if about is None:
            raise ValueError("an accumulator counts rows, sums them, or keeps some")
        return replace(about, scores=scores, left_out=missing, n=self.n)

    def to_bytes(self) -> bytes:
        """Return settings, frame and rows as bytes, for a checkpoint or another process: arrays and JSON, no pickle.

        Returns
        -------
        bytes

        Raises
        ------
        InputTypeError
            If options hold objects of your own, such as a binning rule.

        Examples
        --------
        >>> import demele
        >>> written = demele.Accumulator("sap").update([[0.1], [0.4]], [[1.0], [2.0]]).to_bytes()
        >>> demele.Accumulator.from_bytes(written).n
        2
        """
        held, arrays = packed(self._held)
        settings = {name: plain_setting(getattr(self._settings, name), name) for name in Settings.__slots__}
        frame = None if self._frame is None else self._frame.to_dict()
        about = {"settings": settings, "stream": self._stream, "frame": frame, **held}
        others = {name: dict(CATALOGUE[name].provenance) for name in self.metrics if not CATALOGUE[name].is_ours}
        return written({**about, "made_by": others} if others else about, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Accumulator":
        """Return the accumulator that :meth:`to_bytes` wrote.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        Accumulator

        Raises
        ------
        FormatError
            If they are not the bytes of an accumulator, or damaged.
        UnknownNameError
            If a metric is not known here; with the package or file that it came from.
        """
        about, arrays = opened(data)
        with refusing():
            made_by = {str(name): dict(said) for name, said in about.get("made_by", {}).items()}
        for name, said in made_by.items():
            resolve(name, made_by=said)
        with refusing():
            given = {name: setting_of(about["settings"][name]) for name in Settings.__slots__}
            names, single = given.pop("names"), given.pop("single")
            given["options"] = dict(given["options"])
            frame = None if about["frame"] is None else BinEdges.from_dict(about["frame"])
            empty = cls(names[0] if single else names, frame=frame, stream=about["stream"], **given)
            return empty._holding(about, arrays)

    # Inside -----------------------------------------------------------------------------------------------------------

    def _with(self, held: Held, stream: str | None = None) -> "Accumulator":
        """Return the same accumulator with other rows, and as that of another stream."""
        found = copy(self)
        found._held, found._stream = held, found._stream if stream is None else stream
        return found

    def _holding(self, about: Mapping[str, Any], arrays: Sequence[Array]) -> "Accumulator":
        """Return the same accumulator with the rows of an archive instead of its own."""
        return self._with(unpacked(self._without_rows(), about, arrays, deviations=self._deviations))


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
    held, arrays = packed(accumulator._held)
    frame = accumulator._frame
    own = {"plan": list(comparable(accumulator._settings)), "frame": None if frame is None else frame.digest()}
    return written({**own, **held}, arrays)


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
    about, arrays = opened(data)
    with refusing():
        theirs, digest = [str(value) for value in about["plan"]], about["frame"]
        mine = list(comparable(accumulator._settings))
        frame = accumulator._frame
        if theirs == mine and digest == (None if frame is None else frame.digest()):
            return accumulator._holding(about, arrays)
    told = difference(tuple(mine), tuple(theirs)) or "their frames: other columns, ranges or levels"
    raise IncompatibleState(f"the state belongs to another accumulator, they differ in {told}; make both the same way")
