"""The examination of a trained model: numbers, a verdict, and images as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from demele.core.arrays import Array, Bytes, Counts, Floats, pd, rng_for
from demele.core.errors import InputError, quoted
from demele.core.result import Result, notices
from demele.core.results import Evaluation, Note
from demele.core.score_documents import matrix_blocks, notes_of, places_of, scores_table, signatures_of
from demele.core.verdict import RepresentationVerdict, verdict_methods, verdict_sentences, verdict_strips, verdict_table
from demele.data.images import ImageSet
from demele.models.encode import Call, as_array, telling_of_shapes
from demele.models.results import LINES, history_lines, settings_table
from demele.report import document as documents
from demele.report.document import Block, Document, Heat, Images, Section
from demele.report.listing import Pixels, strip, table_of_frame, within
from demele.report.words import count, joined, name, written

# What an examination of a trained model says: its document ------------------------------------------------------------

#: Codes that are shown, first those that diverge most from the prior, and codes whose responses are drawn.
MOST_CODES, MOST_RESPONSES = 24, 4
#: Bytes of all images of a page; and the least width of an image on it, in pixels of the screen.
_MOST_BYTES, _WIDE = 600_000, 64
_SIDE_BY_SIDE = 8
_OF_SCORES = "Scores of forests use fewer images and have neither intervals nor chance levels."


def examination_document(result: Examination) -> Document:
    """Say what a trained model holds of the factors, and show what its codes do."""
    verdict, scores = result.verdict, result.scores
    codes = _codes(result)
    drawn, smaller = within(_MOST_BYTES, dict(_strips(result)))
    return Document(
        kind="Trained model",
        title=name(result.name),
        headline=_headline(result),
        tone="bad" if result.collapsed else "",
        sentences=list(_sentences(result)),
        figure=None if verdict is None else verdict_strips(verdict),
        table=codes if verdict is None else verdict_table(verdict),
        scope=(
            count(result.n, "image"),
            f"{written(int(result.codes['active'].sum()), 'count')} of {count(len(result.codes), 'code')} active",
            count(0 if verdict is None else len(verdict.factors), "factor"),
        ),
        sections=[
            Section("Scores", [] if scores is None else [scores_table(scores.scores), _OF_SCORES]),
            Section("Code-factor matrix", [*matrix_blocks((), verdict, None), _importances(result)]),
            Section("Values per factor and code", [codes]),
            _curves(result, drawn),
            _traversals(result, drawn),
            _reconstructions(result, drawn),
            Section("Training", [] if result.history is None else [*history_lines(result.history, "step", LINES)]),
            Section("Data", [settings_table(result.facts), smaller]),
        ],
        notes=[*notices(result.notes), *notes_of([] if scores is None else [scores])],
        methods=[
            f"A trained model was examined on {count(result.n, 'image')} with demele [@demele]. A code is active if",
            "the standard deviation of its means is above 0.05 and its mean divergence above 0.01 nats.",
            *([] if verdict is None else verdict_methods(verdict)),
        ],
        signatures=signatures_of(scores or ()),
        version=result.version,
    )


def _headline(result: Examination) -> str:
    if result.collapsed:
        return "The model has collapsed: no code is active."
    if result.verdict is None:
        used = int(result.codes["active"].sum())
        return f"{written(used, 'count')} of {count(len(result.codes), 'code')} are active; no factors are known."
    return next(verdict_sentences(result.verdict))


def _sentences(result: Examination) -> Iterator[str]:
    idle = [name(code) for code in result.codes.index[~result.codes["active"].astype(bool)]]
    if idle and not result.collapsed:
        yield f"Inactive codes: {joined(idle)}."
    made = result.reconstructions
    if made is not None and np.isfinite(made.explained):
        share = written(made.explained, "percent.0")
        yield (
            "Reconstructions are worse than the mean image."
            if made.explained < 0
            else f"Reconstructions explain {share} of the variance of the pixels."
        )


def ordered(result: Examination) -> list[int]:
    """Return the codes: active ones first, those that diverge most from the prior before others."""
    codes = result.codes
    keys = (codes["std"].to_numpy(), np.nan_to_num(codes["kl"].to_numpy(dtype=float)), codes["active"].to_numpy())
    return [int(place) for place in np.lexsort([-np.asarray(key, dtype=float) for key in keys])]


# Numbers --------------------------------------------------------------------------------------------------------------


def _importances(result: Examination) -> Heat | None:
    """Draw how much a forest that predicts each factor uses each code."""
    if result.importances is None:
        return None
    order = ordered(result)[:MOST_CODES]
    rows, values = [name(result.codes.index[place]) for place in order], result.importances.to_numpy()[order]
    columns, caption = list(map(name, result.importances.columns)), "Importance to a forest that predicts the factor"
    return Heat(caption, rows, columns, values.tolist(), "percent.0", ("code", "factor"), "column")


def _codes(result: Examination) -> documents.Table:
    columns = ["active", "kl", "std", "best_factor", "information"]
    forms = {"kl": "number.2", "std": "number.2", "information": "percent.0"}
    frame = result.codes[columns].iloc[ordered(result)].rename_axis("code")
    table, _ = table_of_frame("Codes", frame, forms)
    return replace(table, note="KL: divergence from the prior, in nats. Information: share of the factor's entropy.")


def _curves(result: Examination, drawn: Mapping[str, bytes]) -> Section:
    """Show the images along each factor, and how the codes respond."""
    panels: dict[str, list[Block]] = {}
    for place, sweep in enumerate(result.sweeps):
        shown = joined((sweep.values[position] for position in sweep.shown), ",", most=12)
        alt = f"Images along {name(sweep.factor)}: {name(shown)}"
        scale = max(1, _WIDE // sweep.images.shape[2])
        images = Images(f"Images along {name(sweep.factor)}", [("", [(alt, drawn[f"sweep {place}"])])], scale)
        panels[name(sweep.factor)] = [images, _response(result, sweep)]
    text = (
        "Other factors are kept in the images. The line is the mean of a code at each value, the band what the other "
        "factors change (from the 5% to the 95% quantile)."
    )
    return Section("Curves", [text, documents.Choice("Factor", panels)])


def _response(result: Examination, sweep: Sweep) -> documents.Lines:
    known = result.information
    shares = np.zeros(len(result.codes)) if known is None else np.nan_to_num(known[sweep.factor].to_numpy(dtype=float))
    active = [place for place in ordered(result) if result.codes["active"].iloc[place]]
    lines = []
    for place in sorted(active, key=lambda place: -shares[place])[:MOST_RESPONSES]:
        title = f"{name(result.codes.index[place])} {written(float(shares[place]), 'percent.0')}"
        mean, low, high = (column[:, place].tolist() for column in (sweep.mean, sweep.low, sweep.high))
        lines.append(documents.Line(title, places_of(sweep.values), mean, low, high))
    axes = (name(sweep.factor), "number"), ("mean of the code", "number")
    return documents.Lines(f"Codes along {name(sweep.factor)}", lines, *axes)


# Images ---------------------------------------------------------------------------------------------------------------


def _traversals(result: Examination, drawn: Mapping[str, bytes]) -> Section:
    """Show a strip for each code, active ones first, and samples of the prior."""
    blocks: list[Block] = []
    moved = result.traversals
    if moved is not None:
        places = ordered(result)[:MOST_CODES]
        rows = [
            (name(result.codes.index[place]), [(_moved(result, place), drawn[f"code {place}"])]) for place in places
        ]
        ends = "from the 2.5% to the 97.5% quantile of its means" if moved.values is not None else "as in the file"
        anchors = count(moved.images.shape[0], "image")
        blocks += [
            f"Each strip moves one code {ends}; the others stay at the codes of {anchors}. A code that holds one "
            f"factor changes one thing. At most {MOST_CODES} codes are shown.",
            Images("Codes", rows, max(1, _WIDE // moved.images.shape[4])),
        ]
    if result.samples is not None:
        alt = f"{count(len(result.samples), 'image')} decoded from codes of the prior"
        scale = max(1, _WIDE // result.samples.shape[2])
        blocks += [
            "Samples unlike the data mean that the codes of the data do not fill the prior.",
            Images("Samples of the prior", [("", [(alt, drawn["samples"])])], scale),
        ]
    return Section("Traversals", blocks)


def _moved(result: Examination, place: int) -> str:
    """Say which factor a moved code carries most of, and how much the images change."""
    code, moved = result.codes.iloc[place], result.traversals
    best = f"{name(code.best_factor)} {written(float(code.information), 'percent.0')}; " if code.best_factor else ""
    change = "" if moved is None else f"pixels change by {written(float(moved.change[place]), 'percent')}"
    return f"{best}{change}{'' if code.active else '; inactive'}"


def _reconstructions(result: Examination, drawn: Mapping[str, bytes]) -> Section:
    """Show images, what the decoder makes of them, and the difference: at random, and the worst."""
    made = result.reconstructions
    if made is None:
        return documents.NOTHING
    scale = max(1, _WIDE // made.originals.shape[2])
    blocks: list[Block] = [
        f"The mean squared error of {count(made.tried, 'image')} is {written(made.mean_error, 'number.4')}, of the "
        f"mean image {written(made.mean_image_error, 'number.4')} (black to white is 1). Black differences are none."
    ]
    for title, part in zip(_PARTS, np.split(made.errors, [made.n_random]), strict=True):
        errors = joined((written(float(error), "number.4") for error in part), ",", most=24)
        rows = [(row, [(f"{row}; errors {errors}", drawn[f"{row} {title}"])]) for row in _ROWS]
        blocks.append(Images(title, rows, scale))
    return Section("Reconstructions", blocks)


_ROWS, _PARTS = ("Image", "Decoded", "Difference"), ("Images at random", "Worst reconstructions")


def _strips(result: Examination) -> Iterator[tuple[str, Pixels]]:
    moved, made = result.traversals, result.reconstructions
    if moved is not None:
        for place in ordered(result)[:MOST_CODES]:
            anchors = slice(None) if result.codes["active"].iloc[place] else slice(1)
            yield f"code {place}", strip(moved.images[anchors, place])
    if made is not None:
        difference = np.abs(made.originals.astype(np.int16) - made.made).astype(np.uint8)
        for row, images in zip(_ROWS, (made.originals, made.made, difference), strict=True):
            for title, part in zip(_PARTS, np.split(images, [made.n_random]), strict=True):
                yield f"{row} {title}", strip([part])
    for place, sweep in enumerate(result.sweeps):
        yield f"sweep {place}", strip([sweep.images])
    if result.samples is not None:
        samples = result.samples
        starts = range(0, len(samples), _SIDE_BY_SIDE)
        yield "samples", strip([samples[start : start + _SIDE_BY_SIDE] for start in starts])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traversals:
    """Decoded images while one code changes and all others stay at the codes of an image.

    Attributes
    ----------
    images : array of uint8 of shape (n_anchors, n_codes, steps, height, width, channels)
        In the order of the columns of the codes.
    values : array of float64 of shape (n_codes, steps), or None
        Of the code that changes: from its 2.5 % to its 97.5 % quantile over all images; None if a file brought the
        images alone.
    anchors : array of int64 of shape (n_anchors,), or None
        Rows whose codes the other codes are held at.
    change : array of float64 of shape (n_codes,)
        Mean difference of neighbouring pictures over pixels, steps and anchors; black to white is 1.
    """

    images: Bytes = field(metadata={"json": False})
    values: Floats | None
    anchors: Counts | None
    change: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reconstructions:
    """Images and their reconstructions.

    Attributes
    ----------
    rows : array of int64 of shape (k,)
        First some at random, then those with the largest errors, largest first.
    n_random : int
        How many of them are at random.
    originals, made : array of uint8 of shape (k, height, width, channels)
    errors : array of float64 of shape (k,)
        Mean squared difference over the pixels; black to white is 1.
    mean_error, mean_image_error : float
        Over all images that were tried; and of one picture for all, their mean.
    tried : int
        Images that were reconstructed to find the worst.
    """

    rows: Counts
    n_random: int
    originals: Bytes = field(metadata={"json": False})
    made: Bytes = field(metadata={"json": False})
    errors: Floats
    mean_error: float
    mean_image_error: float
    tried: int

    @property
    def explained(self) -> float:
        """Share of the variance of the pixels that reconstructions explain; below 0 they are worse than the mean."""
        return 1 - self.mean_error / self.mean_image_error if self.mean_image_error > 0 else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """One factor of a complete grid, with all its values: images, and the responses of each code.

    Attributes
    ----------
    factor : str
    values : tuple of str
    mean, low, high : array of float64 of shape (n_values, n_codes)
        Mean of a code over all images with a value, and the range that the other factors cause: its 5 % and 95 %
        quantiles over them.
    shown : tuple of int
        Positions of the values that images are of.
    images : array of uint8 of shape (n_shown, height, width, channels)
        All other factors as of one image.
    """

    factor: str
    values: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    shown: tuple[int, ...]
    images: Bytes = field(metadata={"json": False})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Examination(Result):
    """An examination of a trained model: the factors in its codes, with uncertainty, and images.

    Attributes
    ----------
    name : str
    n : int
        Images whose codes were looked at.
    scores : Evaluation or None
        Scores with intervals and chance; None without factors, or where codes cannot be scored (a note says why).
    information : DataFrame of shape (n_codes, n_factors) or None
        Mutual information of a code and a factor, divided by the entropy of the factor: 1 if the code tells it whole.
    importances : DataFrame of shape (n_codes, n_factors) or None
        Importance of each code to a forest that predicts the factor from all codes.
    codes : DataFrame of shape (n_codes, 5)
        By code: ``kl`` (mean divergence from the prior in nats; NaN without standard deviations), ``std`` (of its
        means), ``active`` (in use: std > 0.05 and kl > 0.01), ``best_factor`` and ``information``, how much of it.
    verdict : RepresentationVerdict or None
        Which active code holds which factor; None without factors.
    traversals : Traversals or None
    reconstructions : Reconstructions or None
    samples : array of uint8 of shape (16, height, width, channels), or None
        What the decoder makes of codes drawn from N(0, I), the prior of a VAE; None without a decoder.
    sweeps : tuple of Sweep
        Of complete grids; else empty.
    notes : tuple of Note
        What is wrong with the codes or the decoder, as far as it shows.
    history : DataFrame or None
        History of the training of a :class:`demele.lab.VAE`.
    facts : mapping of str to str
        Where codes, images and model come from.
    version : str
    """

    _kind = "examination"

    name: str
    n: int
    scores: Evaluation | None
    information: pd.DataFrame | None
    importances: pd.DataFrame | None
    codes: pd.DataFrame
    verdict: RepresentationVerdict | None
    traversals: Traversals | None
    reconstructions: Reconstructions | None
    samples: Bytes | None = field(metadata={"json": False})
    sweeps: tuple[Sweep, ...]
    notes: tuple[Note, ...]
    history: pd.DataFrame | None
    facts: Mapping[str, str]
    version: str

    @property
    def collapsed(self) -> bool:
        """Whether no code is active: such codes are noise."""
        return not bool(self.codes["active"].any())

    @property
    def factors(self) -> pd.DataFrame:
        """By factor: ``verdict``, its best ``code``, ``information``, ``second``, ``chance`` and ``words``."""
        rows = [] if self.verdict is None else self.verdict.factors
        held = [(row.status, next(iter(row.codes), ""), row.share, row.second, row.chance, row.words) for row in rows]
        columns = ["verdict", "code", "information", "second", "chance", "words"]
        return pd.DataFrame(held, index=[row.factor for row in rows], columns=columns)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each code."""
        return self.codes.reset_index()

    document = examination_document


# What a decoder makes of codes ----------------------------------------------------------------------------------------

#: Takes codes (k, n_codes), returns bytes (k, height, width, channels).
Decoder = Callable[[Floats], Bytes]

STEPS = 9
#: Quantiles of a code's own means between which it is moved.
ENDS = 0.025, 0.975
#: Images that traversals start from.
ANCHORS = 3
#: Images that are reconstructed to find the worst, and how many are shown at random and of the worst.
TRIED, SHOWN = 1000, 8
#: Codes that are decoded at once.
_BATCH = 256
#: How far decoded codes of images may lie outside the range of pixels, as a share of it.
OUTSIDE = 0.01


def decoded_images(
    call: Call,
    shape: tuple[int, int, int] | None,
    decoded: str,
    value_range: tuple[float, float],
    codes: Floats,
    *,
    outside: float = OUTSIDE,
) -> Bytes:
    """Return what a user's decoder makes of codes, as bytes.

    Parameters
    ----------
    call : callable
        The decoder, as :func:`demele.models.encode.called` yields it.
    shape : (height, width, channels), or None
        Shape of the images; None if they are not known.
    decoded : {"pixels", "logits"}
    value_range : (float, float)
        What black and white are among pixels.
    codes : array of shape (k, n_codes)
    outside : float
        How far they may lie outside, as a share of the range; pixels further out are refused, others cut off.
    """
    parts = [codes[start : start + _BATCH] for start in range(0, len(codes), _BATCH)]
    with telling_of_shapes("decode", parts[0].shape, "it may be of a model with another number of codes"):
        found = [call(part.astype(np.float32)) for part in parts]
    if isinstance(found[0], Mapping) and "reconstruction" not in found[0]:
        keys = ", ".join(map(quoted, list(found[0])[:10]))
        raise InputError("decode", f"expected a dictionary with a key 'reconstruction', got the keys {keys}")
    found = [as_array(one["reconstruction"] if isinstance(one, Mapping) else one) for one in found]
    for part, given in zip(parts, found, strict=True):
        if given.ndim == 0 or len(given) != len(part):
            raise InputError("decode", f"expected {len(part)} images, one per row of codes, got {given.shape}")
    return _bytes(_channels_last(np.concatenate(found), shape), decoded, value_range, outside)


def _channels_last(given: Array, shape: tuple[int, int, int] | None) -> Array:
    """Return decoded images with channels last, for any axis of the channels.

    Raises
    ------
    InputError
    """
    own = given.shape[1:]
    if given.ndim == 3 and shape in (None, (*own, 1)):
        return given[..., None]
    if given.ndim == 4 and (own == shape or (shape is None and own[-1] in (1, 3))):
        return given
    if given.ndim == 4 and ((own[1], own[2], own[0]) == shape or (shape is None and own[0] in (1, 3))):
        return given.transpose(0, 2, 3, 1)
    expected = "images of 1 or 3 channels" if shape is None else f"images of {' x '.join(map(str, shape))}"
    raise InputError("decode", f"expected {expected}, channels first or last, got {' x '.join(map(str, own))}")


def _bytes(given: Array, decoded: str, value_range: tuple[float, float], outside: float) -> Bytes:
    """Return pixels as bytes, 0 for black.

    Raises
    ------
    InputError
        If pixels are not finite or lie outside their range.
    """
    if given.dtype == np.uint8:
        return given
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        raise InputError("decode", "pixels are not finite numbers")
    values = given.astype(np.float64)
    if decoded == "logits":
        values = np.exp(-np.logaddexp(0.0, -values))
    else:
        low, high = value_range
        values = (values - low) / (high - low)
        if values.min(initial=0) < -outside or values.max(initial=1) > 1 + outside:
            raise InputError(
                "decode",
                f"expected pixels from {low:g} to {high:g}, got {given.min():.4g} to {given.max():.4g}; give "
                "`decoded='logits'` if a sigmoid is to follow, or `value_range=(-1, 1)` or the like",
            )
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)


def traversals(decoder: Decoder, codes: Floats, *, seed: int) -> Traversals:
    """Return what the decoder makes of each code moved through its own range, others held at those of some images."""
    rng = rng_for(seed, "anchors of traversals", len(codes))
    anchors = np.sort(rng.choice(len(codes), min(ANCHORS, len(codes)), replace=False))
    lowest, highest = np.quantile(codes, ENDS, axis=0)
    values = np.linspace(lowest, highest, STEPS, axis=1)
    d = codes.shape[1]
    asked = np.repeat(codes[anchors], d * STEPS, axis=0).reshape(len(anchors), d, STEPS, d)  # copies: none accumulates
    for code in range(d):
        asked[:, code, :, code] = values[code]
    made = decoder(asked.reshape(-1, d))
    images = made.reshape(len(anchors), d, STEPS, *made.shape[1:])
    return Traversals(images=images, values=values, anchors=anchors, change=change(images))


def change(images: Bytes) -> Floats:
    """Return by code how much neighbouring pictures of traversals differ; black to white is 1.

    Examples
    --------
    >>> pictures = np.zeros((1, 2, 3, 1, 2, 1), dtype=np.uint8)
    >>> pictures[0, 1, 2] = 255
    >>> change(pictures).tolist()
    [0.0, 0.5]
    """
    steps = np.diff(images.astype(np.float32), axis=2)
    if not steps.shape[2]:
        return np.zeros(images.shape[1])
    return np.asarray(np.abs(steps).mean(axis=(0, 2, 3, 4, 5)).astype(np.float64) / 255)


def compared(rows: Counts, originals: Bytes, made: Bytes) -> Reconstructions:
    """Return errors of reconstructions, the first ones and the worst.

    Parameters
    ----------
    rows : array of int of shape (n,)
        In random order.
    originals, made : array of uint8 of shape (n, height, width, channels)
    """
    given, got = originals.astype(np.float32) / 255, made.astype(np.float32) / 255
    errors = ((given - got) ** 2).mean(axis=(1, 2, 3)).astype(np.float64)
    from_mean = ((given - given.mean(axis=0)) ** 2).mean()
    n_random = min(SHOWN, len(rows))
    worst = np.argsort(-errors, kind="stable")[:SHOWN]
    shown = np.concatenate([np.arange(n_random), worst])
    return Reconstructions(
        rows=rows[shown],
        n_random=n_random,
        originals=originals[shown],
        made=made[shown],
        errors=errors[shown],
        mean_error=float(errors.mean()),
        mean_image_error=float(from_mean),
        tried=len(rows),
    )


# Responses along one factor of a complete grid ------------------------------------------------------------------------


#: Images that are shown of a factor at most.
SWEPT = 9
#: Quantiles of a code over the other factors, between which its range is drawn.
RANGE = 0.05, 0.95


def sweeps(codes: Floats, images: ImageSet, *, seed: int) -> tuple[Sweep, ...]:
    """Return one sweep per factor; none unless the set is a complete grid.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
        Of all images.
    images : ImageSet
    seed : int
        Draws the image whose other factors are held.
    """
    if images.space is None or not images.complete:
        return ()
    positions = images.positions()
    start = positions[rng_for(seed, "start of sweeps", len(positions)).integers(len(positions))]
    found = []
    for factor, called in enumerate(images.space.names):
        values = images.space.values[factor]
        shown = np.unique(np.linspace(0, len(values) - 1, min(SWEPT, len(values))).round().astype(np.int64))
        asked = np.repeat(start[None], len(shown), axis=0)
        asked[:, factor] = shown
        groups = [codes[positions[:, factor] == value] for value in range(len(values))]
        low, high = np.stack([np.quantile(group, RANGE, axis=0) for group in groups], axis=1)
        found.append(
            Sweep(
                factor=called,
                values=tuple(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values),
                mean=np.array([group.mean(axis=0) for group in groups]),
                low=low,
                high=high,
                shown=tuple(shown.tolist()),
                images=images.images(images.index(asked)),
            )
        )
    return tuple(found)
