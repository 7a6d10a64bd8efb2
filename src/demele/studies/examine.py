"""A trained model looked at: from its codes, images and decoder to scores, verdicts and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zipfile import is_zipfile

import numpy as np

from demele.core.array_files import members_of, opened_archive, read_member
from demele.core.arrays import Array, Bytes, Counts, Flags, Floats, Rows, pd, rng_for
from demele.core.errors import DemeleWarning, FormatError, InputError, InputTypeError, NotEnoughData, quoted
from demele.core.given_data import Codes, Factors
from demele.core.inputs import Missing, read_factors, read_pair
from demele.core.kinds import Seed, at_least, checked, checked_count, checked_seed
from demele.core.reading import check_unpacked, path_of, regular_file
from demele.core.results import Evaluation, Note
from demele.core.table_columns import items_of
from demele.core.verdict import FactorVerdict, RepresentationVerdict
from demele.core.version import __version__
from demele.data.array_images import ArrayImages, columns_of, factor_table
from demele.data.images import ImageSet
from demele.data.own_files import named_images
from demele.data.space import Sample
from demele.metrics.data import Data
from demele.metrics.source import Subject
from demele.metrics.verdict import shares_of, verdict_of
from demele.models.encode import called, check_finite, check_images, checked_range
from demele.models.results import is_active
from demele.scoring.evaluate import evaluate
from demele.studies import examination

if TYPE_CHECKING:
    from demele.models.vae.model import VAE

#: Scores that are quick to compute on thousands of rows, with intervals and chance.
METRICS = ("mig", "dcimig", "modularity", "sap")
#: Images of a larger set whose codes are computed by :meth:`demele.lab.VAE.to_html`.
MOST_ENCODED = 25_000
#: Codes that are drawn from the prior.
SAMPLES = 16
#: Of the forest whose importances are shown: its scores, trees, and the rows that it is grown on.
_FOREST = ("dci_forest_modularity", "dci_forest_compactness", "dci_forest_explicitness")
_TREES, _FOREST_ROWS = 10, 1000
#: By how much the reconstructions of a collapsed model must be worse than the mean picture, as a share, to be told.
_WORSE = 0.05


@checked
def examine(
    sample: Sample | str | Path,
    images: ImageSet | Array | None = None,
    *,
    decode: Any = None,
    model: VAE | None = None,
    decoded: Literal["pixels", "logits"] = "pixels",
    value_range: tuple[float, float] = (0.0, 1.0),
    metrics: Sequence[Any] = METRICS,
    rows: Annotated[int, at_least(4)] = 3000,
    n_bootstrap: int = 40,
    n_permutations: int = 5,
    forest: int = _TREES,
    kinds: object = None,
    missing: Missing = "raise",
    seed: Seed = 0,
    name: str = "",
) -> examination.Examination:
    """Examine a trained model: the factors in its codes, and the images of its decoder.

    Parameters
    ----------
    sample : Sample, str or Path
        Codes and factors, as :func:`demele.lab.encode` and :meth:`demele.lab.VAE.encode` return them. Or an
        ``.npz`` file with ``codes``, and if they are known ``codes_std``, ``factors`` (with ``factor_names``),
        ``images``, ``reconstructions`` and ``traversals`` (codes, steps, H, W[, C]).
    images : ImageSet or array of shape (n_samples, height, width[, channels]), optional
        What was encoded, row by row; by default what the sample or the file holds. Of a part of a set give
        ``images.subset(rows)``.
    decode : torch.nn.Module, keras.Model, or callable(codes) -> images, optional
        Without it there are no traversals, no reconstructions and no samples. The shape of the images determines the
        axis of channels. If it returns a dictionary, its ``reconstruction`` is used.
    model : demele.lab.VAE, optional
        Gives the decoder and the history of its training.
    decoded : {"pixels", "logits"}
        What ``decode`` returns; of logits the sigmoid is taken.
    value_range : (float, float), default (0, 1)
        What black and white are among its pixels.
    metrics : sequence of names, callables and Metrics
        As in :func:`demele.evaluate`; none for no scores.
    rows : int, default 3000
        Of more rows, scores and their intervals are of so many, drawn at random.
    n_bootstrap, n_permutations : int
        Resamples for intervals, permutations for chance.
    forest : int, default 10
        Trees of the forests (DCI) whose importances are shown with the mutual informations. Their scores on up to 2000
        rows are added without intervals; 0 for none.
    kinds : optional
        Kinds of the factors, as in :func:`demele.evaluate`.
    missing : {"raise", "omit"}
        What to do with missing annotations: refuse, or judge each factor on the rows annotated for it, as
        ``notes`` then says.
    seed : int, default 0
        Random seed of everything that is drawn.
    name : str, optional
        What the page calls the model.

    Returns
    -------
    Examination
        ``scores``, ``information``, ``codes``, ``factors`` (with verdicts), ``traversals``, ``reconstructions``,
        ``samples``, ``sweeps``, ``notes``; ``to_html(path)``, ``to_pictures(folder)``, ``to_json(path)``.

    Raises
    ------
    InputError, InputTypeError
        If codes are not finite (naming the factors of the first such row), annotations are missing, images are more
        or fewer than codes or their factors contradict those of the codes (naming the first such row), the decoder
        cannot take the codes, or decoded images are of another shape or range.
    FormatError
        For a file that is not there, holds no codes, or arrays of other shapes.

    Notes
    -----
    Notes report duplicated codes, decoders that are worse than the mean image, and models without an active code: each
    means that something went wrong before any score.

    Examples
    --------
    >>> import demele
    >>> images = demele.data.squares(size=16)
    >>> codes = images.factors()[["red_x", "red_y"]].astype(float).to_numpy() / 10
    >>> sample = demele.data.Sample(codes, images.factors(), "Two of six factors.")
    >>> look = demele.lab.examine(sample, images, metrics=["mig"], n_bootstrap=0, n_permutations=0, forest=0)
    >>> look.factors.loc[["red_x", "red_y", "blue_x"], "verdict"].to_list()
    ['one code', 'one code', 'no code']
    """
    held = read_codes_file(Path(sample)) if isinstance(sample, str | Path) else given_sample(sample)
    codes = held.sample.codes
    factors = held.sample.factors
    check_finite(codes.to_numpy(np.float64), factors, "codes", what="codes")
    shown = checked_images(images, held)
    lacking = check_annotated(factors, kinds=kinds, missing=missing)
    shares = shares_of_entropy(codes, factors, kinds=kinds) if factors.shape[1] else None
    own = code_facts(codes, held.sample.codes_std, shares)
    active = own["active"].to_numpy(dtype=bool)
    verdict = verdict_on(codes, factors, active=active, kinds=kinds, seed=seed) if factors.shape[1] else None
    if model is not None and not callable(getattr(model, "decode", None)):
        raise InputTypeError("model", f"expected a trained VAE, got {type(model).__name__}")
    decode = model.decode if decode is None and model is not None else decode
    moved, made, samples = _decoded(held, shown, decode, decoded, checked_range(value_range), seed)
    settings = {"n_bootstrap": n_bootstrap, "n_permutations": n_permutations, "seed": seed}
    chosen = _drawn(len(codes), rows, seed)
    if not isinstance(name, str | None):
        raise InputTypeError("name", f"expected a text, got {type(name).__name__}")
    std = None if held.sample.codes_std is None else held.sample.codes_std.iloc[chosen]
    given = Codes(codes.iloc[chosen], std=std, name=name or "codes")
    known = Factors(factors.iloc[chosen], kinds=kinds, missing=missing)
    scores, unscored = _scores(given, known, metrics, settings)
    scores, importances = _with_forest(scores, given, known, forest, settings)
    on = "" if shown is None else f" on {shown.name}"
    # Say where everything comes from
    found = {"Codes": held.sample.provenance, "Rows scored": f"{len(chosen):,} of {len(held.sample.codes):,}"}
    if shown is not None:
        found["Images"] = f"{len(shown):,} of {' x '.join(map(str, shown.shape))}, {shown.name}; {shown.provenance}"
        found["Digest of the images"] = shown.digest
    if model is not None:
        found["Model"] = repr(model)
        if model.run is not None:
            found["Training"] = repr(model.run)
    return examination.Examination(
        name=name or f"{'a trained model' if model is None else model.spec.objective}{on}",
        n=len(codes),
        scores=scores,
        information=shares,
        importances=importances,
        codes=own,
        verdict=verdict,
        traversals=moved,
        reconstructions=made,
        samples=samples,
        sweeps=() if shown is None else examination.sweeps(codes.to_numpy(), shown, seed=seed),
        notes=(
            *_notes(model, own, made, has_std=held.sample.codes_std is not None),
            *twin_notes(codes),
            *held.notes,
            *lacking,
            *unscored,
        ),
        history=None if model is None or model.run is None else model.run.history,
        facts={key: value for key, value in found.items() if value},
        version=__version__,
    )


def examine_model(model: VAE, images: ImageSet, **options: Any) -> examination.Examination:
    """Encode images with a VAE and examine it.

    Of sets of more than 25 000 images as many are encoded, drawn at random; there are no sweeps of factors then.

    Parameters
    ----------
    model : demele.lab.VAE
    images : ImageSet
    **options
        Of :func:`examine`.

    Returns
    -------
    Examination

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        As :func:`examine`.

    Examples
    --------
    >>> import demele
    >>> images = demele.data.squares(size=16)
    >>> vae = demele.lab.VAE("beta_vae", latents=2, network="mlp")
    >>> run = vae.fit(images, steps=2, batch=8, seed=0)
    >>> look = demele.lab.examine_model(vae, images, metrics=["mig"], n_bootstrap=0, n_permutations=0, forest=0)
    >>> look.document().kind
    'Trained model'
    """
    if not callable(getattr(model, "encode", None)):
        raise InputTypeError("model", f"expected a trained VAE, got {type(model).__name__}")
    check_images(images)
    chosen = images
    if len(images) > MOST_ENCODED:
        chosen = images.subset(_drawn(len(images), MOST_ENCODED, checked_seed(options.get("seed", 0))))
    try:
        return examine(model.encode(chosen), chosen, model=model, **options)
    except InputError as error:
        if model.run is None or model.run.status != "diverged":
            raise
        raise InputError("model", f"its training diverged: {model.run.problem}; {error}") from error


def examine_file(
    model: str | Path,
    images: ImageSet | str | Path | None = None,
    *,
    image_size: int | None = None,
    missing: Missing = "raise",
    seed: int = 0,
) -> examination.Examination:
    """Examine a trained model in a file.

    Parameters
    ----------
    model : str or Path
        The file of :func:`demele.models.vae.model.train_vae`, or an ``.npz`` as of :func:`examine`.
    images : ImageSet, str or Path, optional
        By default those that the model was trained on, if a formula draws them; of an ``.npz``, its own.
    image_size : int, optional
        Height and width (default: those of the model).
    missing : {"raise", "omit"}
        Missing annotations: refuse them, or omit their rows.
    seed : int
        Random seed.

    Returns
    -------
    Examination

    Raises
    ------
    InputError, InputTypeError, FormatError, MissingExtraError

    Examples
    --------
    >>> import tempfile
    >>> from demele import lab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = lab.train_vae("squares", image_size=16, preset="ci", steps=2, checkpoint=f"{folder}/run")
    ...     look = lab.examine_file(f"{folder}/run")
    >>> len(look.factors)
    6
    """
    path = path_of(model, "model")
    if is_arrays_file(path):
        known = None if images is None else named_images(images, image_size)
        return examine(path, known, missing=missing, seed=seed, name=path.name)
    from demele.models.vae.model import images_for, load_vae

    vae = load_vae(path)
    return examine_model(vae, images_for(vae, images, image_size), missing=missing, seed=seed)


# What a file holds ----------------------------------------------------------------------------------------------------


#: What a file may hold in addition to factors under their own names.
ARRAYS = ("codes", "codes_std", "factors", "factor_names", "images", "reconstructions", "traversals")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodesFile:
    """What a file holds.

    Attributes
    ----------
    sample : Sample
    images : ImageSet or None
    reconstructions : array of uint8 of shape (n_samples, height, width, channels), or None
    traversals : array of uint8 of shape (n_codes, steps, height, width, channels), or None
    notes : tuple of Note
        What is left out.
    """

    sample: Sample
    images: ImageSet | None
    reconstructions: Bytes | None
    traversals: Bytes | None
    notes: tuple[Note, ...] = ()


def is_arrays_file(path: Path) -> bool:
    """Whether a file is an archive of arrays, which may hold codes; files of PyTorch are archives of other things."""
    if not path.is_file() or not is_zipfile(path):
        return False
    with opened_archive(path) as archive:
        return bool(members_of(archive)) and all(name.endswith(".npy") for name in archive.namelist())


def read_codes_file(path: Path) -> CodesFile:
    """Read codes and what belongs to them.

    Parameters
    ----------
    path : Path
        An ``.npz`` with ``codes`` (n, d), and if they are known ``codes_std`` (n, d); ``factors`` (n, M) with
        ``factor_names``, or a column (n,) for each factor under its name; ``images`` and ``reconstructions``
        (n, H, W[, C]); ``traversals`` (d, steps, H, W[, C]). Pictures are bytes, or numbers from 0 to 1.

    Raises
    ------
    FormatError
        If there is no such file, it is no archive, holds Python objects, or arrays of other shapes.
    """
    try:
        size = regular_file(path)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    with opened_archive(path) as archive:
        members = members_of(archive)
        if "codes" not in members:
            raise FormatError(path, f"expected an array 'codes', found {', '.join(sorted(members)) or 'nothing'}")
        check_unpacked(path, sum(info.file_size for info in members.values()), stored=size)
        arrays = {name: read_member(archive, info) for name, info in members.items()}
    codes = _columns(path, arrays, "codes")
    n, d = codes.shape
    std = _columns(path, arrays, "codes_std") if "codes_std" in arrays else None
    # single columns, which may be texts, before the columns of one table
    given = {name: held for name, held in arrays.items() if name not in ARRAYS and held.shape == (n,)}
    if "factors" in arrays:
        table = columns_of(path, arrays["factors"], arrays.get("factor_names"))
        given = {name: given.get(name, column) for name, column in table.items()}
    try:
        factors = factor_table(given, n)
        sample = Sample(codes, factors, f"Codes of the file {path.name}.", codes_std=std)  # type: ignore[arg-type]
        images = ArrayImages(arrays["images"], _known(factors), name=path.name) if "images" in arrays else None
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(path, str(error)) from error
    still = tuple(name for name in given if name not in factors.columns)
    message = f"factors that do not vary are left out: {', '.join(map(quoted, still))}"
    return CodesFile(
        sample=sample,
        images=images,
        reconstructions=_pictures(path, arrays, "reconstructions", (n,)),
        traversals=_pictures(path, arrays, "traversals", (d,)),
        notes=(Note(code="constant-factors", message=message, subject=still, severity="warning"),) if still else (),
    )


def _columns(path: Path, arrays: Mapping[str, Array], name: str) -> Floats:
    held = arrays[name]
    held = held[:, None] if held.ndim == 1 else held
    if held.ndim != 2 or held.dtype.kind not in "iuf" or not held.size:
        raise FormatError(f"{path}::{name}", f"expected numbers of shape (n, n_codes), found {held.dtype} {held.shape}")
    return held.astype(np.float64)


def _pictures(path: Path, arrays: Mapping[str, Array], name: str, first: tuple[int, ...]) -> Bytes | None:
    """Return pictures as bytes with channels, one set per row or code."""
    if name not in arrays:
        return None
    held = arrays[name]
    axes = 3 if name == "reconstructions" else 4
    held = held[..., None] if held.ndim == axes else held
    if held.ndim != axes + 1 or held.shape[: len(first)] != first or held.shape[-1] not in (1, 3):
        wanted = "(n, H, W[, C])" if axes == 3 else "(n_codes, steps, H, W[, C])"
        raise FormatError(f"{path}::{name}", f"expected shape {wanted} with {first[0]} first, found {held.shape}")
    if held.dtype == np.uint8:
        return held
    if held.dtype.kind != "f" or not ((held >= -0.01) & (held <= 1.01)).all():
        raise FormatError(f"{path}::{name}", "expected bytes, or numbers from 0 to 1")
    return np.asarray(np.rint(np.clip(held, 0, 1) * 255).astype(np.uint8))


# What is given -------------------------------------------------------------------------------------------------------

#: How far numbers of a factor may differ, relative to the largest: single precision differs by less.
_SAME = 1e-5


def given_sample(sample: Any) -> CodesFile:
    """Return a sample as what a file would hold.

    Raises
    ------
    InputTypeError
    """
    if not isinstance(sample, Sample):
        raise InputTypeError(
            "sample",
            f"expected a Sample or the name of a file, got {type(sample).__name__}; demele.lab.encode returns one",
        )
    images = sample.images
    held = None if images is None else ArrayImages(images, _known(sample.factors), space=sample.space)
    return CodesFile(sample=sample, images=held, reconstructions=None, traversals=None)


def check_annotated(factors: pd.DataFrame, *, kinds: object, missing: Missing) -> list[Note]:
    """Refuse factors with missing annotations, or return a note on how many there are.

    Raises
    ------
    InputError
        As :func:`demele.evaluate`.
    """
    if not factors.shape[1]:
        return []
    read_factors(factors, kinds=kinds, missing=missing)
    lacking = {name: count for name, count in factors.isna().sum().items() if count}
    each = ", ".join(f"{quoted(name)} in {count:,}" for name, count in lacking.items())
    message = f"of {len(factors):,} rows annotations are missing of {each}: each is judged on the others"
    return [Note(code="missing-annotations", message=message, subject=tuple(map(str, lacking)))] if lacking else []


def checked_images(images: Any, held: CodesFile) -> ImageSet | None:
    """Return the images of the codes: given, or those of the file.

    Raises
    ------
    InputError, InputTypeError
        If they are no images, more or fewer than codes, or of other factors.
    """
    if images is None:
        return held.images
    if isinstance(images, np.ndarray):
        images = ArrayImages(images, _known(held.sample.factors))
    if not isinstance(images, ImageSet):
        raise InputTypeError("images", f"expected an image set or an array, got {type(images).__name__}")
    n = len(held.sample.codes)
    if len(images) != n:
        raise InputError(
            "images",
            f"expected {n:,}, one per row of the codes, got {len(images):,}; of a part of a set give "
            "images.subset(rows)",
        )
    own, of_images = held.sample.factors, images.factors()
    for name in own.columns.intersection(of_images.columns):
        odd = _contradictions(np.asarray(own[name]), np.asarray(of_images[name]))
        if odd.size:
            row = int(odd[0])
            raise InputError(
                ("sample", "images"),
                f"expected the same rows, but {odd.size:,} of {len(own):,} differ in {quoted(name)}: row {row} is "
                f"{own[name].iloc[row]} with the codes, {of_images[name].iloc[row]} with the images",
                "give the images in the order in which they were encoded, images.subset(rows)",
            )
    return images


def _known(factors: pd.DataFrame) -> pd.DataFrame | None:
    """Return factors, or None if there are none: images then have none."""
    return factors if factors.shape[1] else None


def _contradictions(one: Array, other: Array) -> Rows:
    """Return the rows in which two columns of a factor differ.

    Missing annotations contradict nothing, positions do not contradict the values that they are of, nor texts numbers.
    """
    both = np.flatnonzero(pd.notna(one) & pd.notna(other))
    one, other = one[both], other[both]
    if (one.dtype.kind in "iufb") != (other.dtype.kind in "iufb"):
        return both[:0]
    if one.dtype.kind not in "iufb":
        return np.asarray(both[one.astype(str) != other.astype(str)])
    first, second = one.astype(np.float64), other.astype(np.float64)
    odd = np.abs(first - second) > _SAME * np.abs(first).max(initial=0.0)
    # positions among the different numbers
    ranks, others = (np.unique(values, return_inverse=True)[1] for values in (first, second))
    return both[:0] if np.array_equal(ranks, others) else np.asarray(both[odd])


# What is found --------------------------------------------------------------------------------------------------------


def _decoded(
    held: CodesFile,
    images: ImageSet | None,
    decode: Any,
    decoded: str,
    value_range: tuple[float, float],
    seed: int,
) -> tuple[examination.Traversals | None, examination.Reconstructions | None, Bytes | None]:
    """Return traversals and reconstructions, by the decoder or as a file holds them, and samples from the prior."""
    codes = held.sample.codes.to_numpy(np.float64)
    moved, made, samples = None, None, None
    if held.traversals is not None:
        _check_size(images, held.traversals.shape[2:], "traversals")
        pictures = held.traversals[None]
        moved = examination.Traversals(images=pictures, values=None, anchors=None, change=examination.change(pictures))
    rows = (
        rng_for(seed, "reconstructed images", len(codes)).permutation(len(codes))[: examination.TRIED].astype(np.int64)
    )
    if held.reconstructions is not None and images is not None:
        _check_size(images, held.reconstructions.shape[1:], "reconstructions")
        made = examination.compared(rows, images.images(rows), held.reconstructions[rows])
    if decode is not None:
        with called(decode) as call:
            decoder = partial(
                examination.decoded_images, call, None if images is None else images.shape, decoded, value_range
            )
            moved = examination.traversals(decoder, codes, seed=seed)
            made = made if images is None else examination.compared(rows, images.images(rows), decoder(codes[rows]))
            # The prior may be far from all codes of images: what a linear decoder makes of it may leave the range.
            drawn = rng_for(seed, "samples from the prior", codes.shape[1]).standard_normal((SAMPLES, codes.shape[1]))
            samples = decoder(drawn, outside=np.inf)
    return moved, made, samples


def _check_size(images: ImageSet | None, shape: tuple[int, ...], what: str) -> None:
    """Refuse pictures of a file that are of another shape than its images."""
    if images is not None and images.shape != shape:
        sizes = " and ".join(" x ".join(map(str, one)) for one in (images.shape, shape))
        raise InputError("images", f"images and {what} are of different shapes: {sizes}")


def _drawn(n: int, most: int, seed: int) -> Counts:
    """Return all rows, or some drawn at random, in their order."""
    if n <= most:
        return np.arange(n)
    return np.sort(rng_for(seed, "rows of an examination", n).choice(n, most, replace=False))


def _scores(
    codes: Codes, factors: Factors, metrics: Sequence[Any], settings: dict[str, Any]
) -> tuple[Evaluation | None, list[Note]]:
    """Return the scores, or a note why there are none."""
    metrics = items_of(metrics, "metrics", "names of metrics")
    if not factors.values.shape[1] or not metrics:
        return None, []
    with warnings.catch_warnings(action="ignore", category=DemeleWarning):  # the scores hold them as notes
        try:
            return evaluate(codes, factors, metrics, **settings), []
        except NotEnoughData as error:
            message = f"the codes cannot be scored: {error}"
            return None, [Note(code="not-scored", message=message, severity="warning")]


def _with_forest(
    scores: Evaluation | None, codes: Codes, factors: Factors, trees: int, settings: dict[str, Any]
) -> tuple[Evaluation | None, pd.DataFrame | None]:
    """Return the scores with those of a small forest after them, and its importances."""
    if not checked_count(trees, "forest", 0) or scores is None:
        return scores, None
    step = max(1, len(codes.values) // _FOREST_ROWS)
    few = Codes(codes.values.iloc[::step]), replace(factors, values=factors.values.iloc[::step])
    own = {**settings, "n_bootstrap": 0, "n_permutations": 0, "options": {"dci_forest": {"n_trees": trees}}}
    found, _ = _scores(*few, _FOREST, own)
    if found is None or not len(found):
        return scores, None
    left_out = (*scores.left_out, *found.left_out)
    return replace(scores, scores=(*scores.scores, *found.scores), left_out=left_out), found.scores[0].matrix


def _notes(
    model: VAE | None, codes: pd.DataFrame, made: examination.Reconstructions | None, *, has_std: bool
) -> Iterator[Note]:
    """Say what is wrong with the model as a whole: first that its training diverged, or has not ended."""
    run = None if model is None else model.run
    if run is not None and run.status == "diverged":
        message = f"the training diverged, and these are the last weights that were finite: {run.problem}"
        yield Note(code="diverged", message=message, severity="warning")
    elif run is not None and run.status != "done":
        message = f"the training is unfinished ({run.status}): these are the weights after step {run.steps:,}"
        yield Note(code="unfinished-training", message=message, severity="warning")
    collapsed = not codes["active"].any()
    if collapsed:
        message = "no code is in use: the model has collapsed, and scores of its codes are of noise"
        yield Note(code="collapsed", message=message, severity="warning")
    # The decoder of a collapsed model makes one picture of all codes, which can hardly beat the mean picture.
    if made is not None and made.mean_error > made.mean_image_error * (1 + _WORSE * collapsed):
        message = (
            f"reconstructions are worse than one mean picture for all (mean squared error {made.mean_error:.4f}, of "
            f"the mean picture {made.mean_image_error:.4f}): wrong layout of axes, range of values, or weights?"
        )
        yield Note(code="worse-than-mean-image", message=message, severity="warning")
    if not has_std:
        message = (
            "no standard deviations of the codes were given, so the spread of means decides which codes are active"
        )
        yield Note(code="no-deviations", message=message)


# Facts about codes ----------------------------------------------------------------------------------------------------


def shares_of_entropy(codes: pd.DataFrame, factors: pd.DataFrame, *, kinds: object = None) -> pd.DataFrame:
    r"""Return how much each code tells of each factor: :math:`I(z_j; v_i) / H(v_i)`.

    Parameters
    ----------
    codes : DataFrame of shape (n_samples, n_codes)
    factors : DataFrame of shape (n_samples, n_factors)
    kinds : optional
        Kinds of the factors, as in :func:`demele.evaluate`.

    Returns
    -------
    DataFrame of shape (n_codes, n_factors)
        In [0, 1], NaN for factors that do not vary. Bins of equal frequency, as many as the rows fill (at most 20),
        Miller-Madow's correction of the bias upwards; what it takes below 0 is 0.

    Examples
    --------
    >>> import pandas as pd
    >>> factors = pd.DataFrame({"a": ["x", "x", "y", "y"] * 25, "b": ["p", "q"] * 50})
    >>> codes = pd.DataFrame({"z1": [0.0, 0.0, 1.0, 1.0] * 25, "z2": [0.5] * 100})
    >>> shares_of_entropy(codes, factors).round(2).to_numpy().tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    subject = _subject(codes, factors, kinds)
    shares = subject.spread_factors(shares_of(Data(subject.codes, subject.varying)).share)
    return pd.DataFrame(shares, index=pd.Index(codes.columns, name="code"), columns=list(factors.columns))


def _subject(codes: pd.DataFrame, factors: pd.DataFrame, kinds: object) -> Subject:
    with warnings.catch_warnings(action="ignore", category=DemeleWarning):  # the evaluation says the same
        return Subject.of(*read_pair(codes, factors, kinds=kinds, missing="omit"))


def code_facts(codes: pd.DataFrame, std: pd.DataFrame | None, shares: pd.DataFrame | None) -> pd.DataFrame:
    """Return the activity of each code, and the factor that it carries most of.

    Parameters
    ----------
    codes : DataFrame of shape (n_samples, n_codes)
        Means of the posteriors.
    std : DataFrame of the same shape, or None
        Their standard deviations.
    shares : DataFrame of shape (n_codes, n_factors), or None
        What :func:`shares_of_entropy` returns.

    Returns
    -------
    DataFrame of shape (n_codes, 5)
        ``kl``, ``std``, ``active``, ``best_factor``, ``information``; ``best_factor`` is "" where there is none.
    """
    kl = np.full(codes.shape[1], np.nan) if std is None else divergences(codes.to_numpy(), std.to_numpy())
    spread = codes.to_numpy().std(axis=0)
    best, told = [""] * codes.shape[1], np.full(codes.shape[1], np.nan)
    if shares is not None and shares.size:
        known = shares.fillna(0.0)
        told = known.max(axis=1).to_numpy()
        best = known.idxmax(axis=1).astype(str).where(told > 0, "").tolist()
    columns = {"kl": kl, "std": spread, "active": is_active(kl, spread), "best_factor": best, "information": told}
    return pd.DataFrame(columns, index=pd.Index(codes.columns, name="code"))


def divergences(mean: Floats, std: Floats) -> Floats:
    r"""Return the mean divergence of each code from the standard normal, in nats.

    .. math:: K_j = \mathrm{mean}_n\, (\mu_{nj}^2 + \sigma_{nj}^2 - 1 - \log \sigma_{nj}^2) / 2

    Infinite where a deviation is 0.

    Examples
    --------
    >>> divergences(np.array([[1.0, 2.0]]), np.array([[1.0, 0.5]])).round(6).tolist()
    [0.5, 2.318147]
    """
    with np.errstate(divide="ignore"):
        found: Floats = ((mean**2 + std**2 - 1) / 2 - np.log(std)).mean(axis=0)
    return found


def verdict_on(
    codes: pd.DataFrame,
    factors: pd.DataFrame,
    *,
    active: Flags | None = None,
    kinds: object = None,
    seed: int = 0,
) -> RepresentationVerdict:
    """Return which active code holds which factor, as ``evaluate`` says it of these codes alone.

    Parameters
    ----------
    codes : DataFrame of shape (n_samples, n_codes)
    factors : DataFrame of shape (n_samples, n_factors)
    active : array of bool of shape (n_codes,), optional
        Which codes are active; the others hold nothing, however much their traces tell. By default all.
    kinds : optional
        Kinds of the factors, as in :func:`demele.evaluate`.
    seed : int
        Random seed of the permutations that give the chance level.

    Examples
    --------
    >>> import pandas as pd
    >>> x, y = np.random.default_rng(0).random((2, 500))
    >>> codes = pd.DataFrame({"z1": x, "z2": 0.0})
    >>> [row.status for row in verdict_on(codes, pd.DataFrame({"x": x, "y": y})).factors]
    ['one code', 'no code']
    """
    used = np.ones(codes.shape[1], dtype=bool) if active is None else np.asarray(active, dtype=bool)
    if used.any():
        subject = _subject(codes.loc[:, used], factors, kinds)
        return verdict_of(Data(subject.codes, subject.varying), subject.factors.names, seed=seed)
    lost = (
        FactorVerdict(factor=str(one), status="no code", words=f"{one} is lost: no code is active") for one in factors
    )
    none = np.zeros((0, factors.shape[1]))
    return RepresentationVerdict(
        factors=tuple(lost), codes=(), shares=none, above_chance=none.astype(bool), n=len(codes), bins=0
    )


def twin_notes(codes: pd.DataFrame) -> list[Note]:
    """Return a note for codes that equal others up to sign and scale; codes that do not vary are left out."""
    values = codes.to_numpy()
    spread = values.std(axis=0)
    varies = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0, initial=0.0)))
    scaled = (values[:, varies] - values[:, varies].mean(axis=0)) / spread[varies]
    alike = np.abs(scaled.T @ scaled) / max(len(values), 1) > 1 - 1e-9
    notes = []
    for second in range(1, len(varies)):
        if (same := np.flatnonzero(alike[second, :second])).size:
            names = tuple(str(codes.columns[varies[place]]) for place in (same[0], second))
            message = f"code {names[1]!r} is code {names[0]!r} again, up to sign and scale: no score needs both"
            notes.append(Note(code="equal-codes", message=message, subject=names, severity="warning"))
    return notes
