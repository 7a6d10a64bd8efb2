"""The public face of fabrics: made, trained, pruned, reported and saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core import kinds
from demele.core.arrays import Counts, LateModule, pd, rng_for
from demele.core.errors import InputError, InputTypeError
from demele.core.lazy import require
from demele.core.outputs import write_whole
from demele.core.reading import parsing, path_of
from demele.core.result import plain
from demele.core.table_columns import items_of, real_numbers, whole_array
from demele.core.version import __version__
from demele.data.images import ImageSet, digest_of
from demele.estimation.differences import student
from demele.models.fabric import lattice as lattices
from demele.models.fabric.lattice import FabricCounts, FabricSpec, Lattice, Pruning
from demele.models.results import ROW, FabricReport, FabricRun, benchmark_rows, scored_graph, stage_error
from demele.report.document import Document

if TYPE_CHECKING:
    from demele.models import training
    from demele.models.fabric import criteria
    from demele.models.fabric import network as networks
else:
    training, networks = LateModule("demele.models.training"), LateModule("demele.models.fabric.network")
    criteria = LateModule("demele.models.fabric.criteria")

Level = Literal["links", "channels", "weights"]


class Fabric:
    """A convolutional neural fabric: a lattice of small convolutions that holds many networks at once.

    Nodes (l, s) have the same number of channels and the resolution of the image divided by 2 to the power of s, down
    to one pixel. Each is the sum of its links: from the layer before, at most one scale away, and in the first and last
    layer also from the scale above. A link is a convolution of 3 x 3, batch norm and a cut at 0 and 6; downwards it has
    stride 2, upwards it doubles the resolution first. The image enters at (0, 0) by a convolution, and a fully
    connected layer on the last node gives the classes. Pruning removes links, channels or weights.

    Parameters
    ----------
    layers : int, default 8
    scales : int, default 6
        The images have 2 to the power of ``scales - 1`` pixels a side: 6 for 32 x 32.
    channels : int, default 64
    image_channels : int, default 3
    classes : int, default 10
    normalisation : {"link", "node"}, default "link"
        Batch norm and activation for each link, and the sum of them a node; or one for each node, after the sum, as
        Saxena and Verbeek (2016) have it, with ``activation="relu"``.
    activation : {"relu6", "relu"}, default "relu6"
    seed : int, default 0
        Random seed of the initial weights.

    Attributes
    ----------
    spec : FabricSpec
        The whole structure.
    run : FabricRun
        What the trainings so far have come to.
    prunings : tuple of dict
        What was removed, in order.

    Raises
    ------
    InputError, UnknownNameError
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    There are (layers - 1)(3 scales - 2) + 2 (scales - 1) links with 9 C² + 3 C trained numbers each. Bilinear
    upsampling is that of pixels, ``align_corners=False``.

    Examples
    --------
    >>> fabric = Fabric(layers=4, scales=5, channels=16, image_channels=1)
    >>> fabric
    Fabric(4 layers, 5 scales, 16 channels: 47 of 47 links, 110,906 parameters; new)
    >>> plan = fabric.prune("links", 0.5, "magnitude")
    >>> plan.requested, fabric.counts().links == 47 - plan.removed
    (24, True)
    """

    _network: networks.FabricNetwork
    _past: dict[str, Any]  # the content of a file besides structure and weights

    @kinds.checked
    def __init__(
        self,
        layers: kinds.Count = 8,
        scales: int = 6,
        channels: kinds.Count = 64,
        *,
        image_channels: kinds.Count = 3,
        classes: kinds.Several = 10,
        normalisation: Literal["link", "node"] = "link",
        activation: Literal["relu6", "relu"] = "relu6",
        seed: kinds.Seed = 0,
    ) -> None:
        require("torch", purpose="a fabric")
        expected = f"a number of scales from 1 to {lattices.MOST_SCALES}"
        spec = FabricSpec(
            layers=layers,
            scales=kinds.checked_whole(scales, "scales", expected, inside=lambda one: 1 <= one <= lattices.MOST_SCALES),
            channels=channels,
            image_channels=image_channels,
            classes=classes,
            normalisation=normalisation,
            activation=activation,
        )
        lattice = spec.lattice()
        widths = dict.fromkeys(lattice.nodes, channels)
        self._network = networks.new_network(spec, lattice, widths, rng_for(seed, "weights")).eval()
        self._past = {"optimiser": None, "epoch": 0, "training": None, "prunings": [], "status": "new"}
        self._past |= {"history": {}, "seconds": 0.0, "problem": ""}
        self._digest = ""

    def __repr__(self) -> str:
        counts, spec, whole = self.counts(), self.spec, self.spec.lattice()
        size = f"{spec.layers} layers, {spec.scales} scales, {spec.channels} channels"
        left = f"{counts.links} of {len(whole.links)} links, {counts.parameters:,} parameters"
        epoch = self._past["epoch"]
        return f"Fabric({size}: {left}; {f'{epoch} epochs' if epoch else 'new'})"

    # What it is -----------------------------------------------------------------------------------------------------

    @property
    def spec(self) -> FabricSpec:
        """The whole structure, before anything was pruned."""
        return self._network.spec

    @property
    def lattice(self) -> Lattice:
        """Nodes and links that live."""
        return self._network.lattice

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links that live, ``"layer.scale-layer.scale"``, in the order of gates and scores."""
        return tuple(link.name for link in self.lattice.links)

    @property
    def network(self) -> networks.FabricNetwork:
        """The ``torch.nn.Module``: ``network((pixels - 128) / 64, gates)`` gives logits."""
        return self._network

    @property
    def run(self) -> FabricRun:
        """What the trainings so far have come to."""
        own = {name: self._past[name] for name in ("status", "seconds", "problem")}
        return FabricRun(**own, epochs=self._past["epoch"], history=pd.DataFrame(self._past["history"], columns=[*ROW]))

    @property
    def prunings(self) -> tuple[dict[str, Any], ...]:
        """What was removed, in order, as plain values."""
        return tuple(self._past["prunings"])

    @property
    def trained_on(self) -> dict[str, Any] | None:
        """What the weights were trained on last, also before a pruning: names, digests and number of the images."""
        before = [self._past["training"], *(one.get("trained_on") for one in reversed(self._past["prunings"]))]
        known = next((one for one in before if one is not None), None)
        return None if known is None else {name: known[name] for name in ("images", "digest", "labels", "n")}

    def counts(self) -> FabricCounts:
        """Return how many links, weights, multiplications and paths there are."""
        network = self._network
        return lattices.counted(network.spec, network.lattice, network.widths, network.masked())

    def to_svg(
        self, path: str | Path | None = None, *, scores: Mapping[str, float] | pd.Series[float] | None = None
    ) -> str:
        """Return the structure as a picture of matplotlib: a grid of nodes, links that live, and where others were.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to.
        scores : mapping of link to float, optional
            As of :meth:`scores`; the higher, the wider is the link.

        Raises
        ------
        InputError
            If a link has no score.
        MissingExtraError
            Without matplotlib (``demele[pictures]``).
        OutputError
        """
        from demele.report.renderers.picture import picture

        named = dict.fromkeys(self.links, 1.0) if scores is None else self._by_link(scores)
        graph = scored_graph("Links of the fabric", self.spec.layers, self.spec.scales, named)
        drawn = picture(Document(kind="Fabric", headline="", figure=graph), "svg").decode()
        if path is not None:
            write_whole(path, drawn)
        return drawn

    def _by_link(self, scores: Any) -> dict[str, float]:
        """Return scores that a user gave, by the names of the links."""
        if not hasattr(scores, "keys"):
            raise InputTypeError("scores", f"expected one for each link, by its name, got {type(scores).__name__}")
        scores = dict(scores)
        lacking = [name for name in self.links if name not in scores]
        if lacking:
            raise InputError("scores", f"expected one for each link, {len(lacking)} have none, first {lacking[0]}")
        return {name: float(scores[name]) for name in self.links}

    # What it says of images -------------------------------------------------------------------------------------------

    def logits(
        self, images: ImageSet, rows: ArrayLike | None = None, *, gates: ArrayLike | None = None
    ) -> NDArray[np.float32]:
        """Return a number for each class of each image; the largest is the class that is predicted.

        Parameters
        ----------
        images : ImageSet
        rows : array-like of int, optional
            Which; all by default.
        gates : array-like of float of shape (links,) or (n, links), optional
            What each link is multiplied by, in the order of :attr:`links`: 0 switches it off.

        Returns
        -------
        array of float32 of shape (n, classes)

        Raises
        ------
        InputError
            For images of another size, or gates of another shape.
        """
        import torch

        feed, held = networks.Feed.of(images, None, self.spec, self._device), None
        wanted = np.arange(len(images)) if rows is None else whole_array(rows, "rows", dimensions=1)
        if gates is not None:
            held = torch.as_tensor(real_numbers(gates, "gates").astype(np.float32), device=self._device)
            links, n = len(self.links), len(wanted)
            if tuple(held.shape) not in ((links,), (n, links)):
                expected = f"expected shape ({links},) or ({n}, {links}), one gate per link"
                raise InputError("gates", f"{expected}, got {tuple(held.shape)}")
        found = [np.zeros((0, self.spec.classes), dtype=np.float32)]
        with self._computing():
            start = 0
            for batch, _ in feed.batches(wanted):
                own = held if held is None or held.ndim == 1 else held[start : start + len(batch)]
                found.append(self._network(batch, own).cpu().numpy())
                start += len(batch)
        return np.concatenate(found)

    def predict(self, images: ImageSet, rows: ArrayLike | None = None) -> Counts:
        """Return the class of each image: array of int64 of shape (n,).

        Raises
        ------
        InputError
            For images of another size.
        """
        return np.asarray(self.logits(images, rows).argmax(axis=1).astype(np.int64))

    def error(self, images: ImageSet, labels: ArrayLike) -> float:
        """Return the share of images whose class is not the label.

        Raises
        ------
        InputError, InputTypeError
            For images of another size, or labels that are no classes.
        """
        found = self.predict(images)
        return float(np.mean(found != networks.checked_labels(labels, len(images), self.spec.classes)))

    @property
    def _device(self) -> str:
        return str(self._network.head.weight.device)

    def _computing(self) -> AbstractContextManager[None]:
        """Compute where the fabric is, without gradients."""
        return training.computing(threads=None, device=self._device, gradients=False)

    # Training ---------------------------------------------------------------------------------------------------------

    @kinds.checked
    def fit(
        self,
        images: ImageSet,
        labels: ArrayLike,
        *,
        epochs: kinds.Count,
        batch: int = 64,
        rate: kinds.Positive = 0.1,
        momentum: Annotated[float, kinds.between(0, 1, "[)")] = 0.9,
        weight_decay: Annotated[float, kinds.between(0, 1, "[)")] = 5e-4,
        milestones: Sequence[int] = (80, 120),
        crop: kinds.CountOrNone = 0,
        flip: bool = False,
        seed: kinds.Seed = 0,
        checkpoint: str | Path | None = None,
        device: str = "auto",
        threads: kinds.Count | None = 1,
        on_epoch: training.OnRow | None = None,
    ) -> FabricRun:
        """Train up to a number of epochs: from the beginning, from where the fabric is, or from what a file holds.

        Parameters
        ----------
        images : ImageSet
            Of the size of the fabric, such as ``demele.data.clutter(8000)`` for 5 scales.
        labels : array-like of int of shape (n,)
            Classes from 0.
        epochs : int
            Epochs in all, with those that the fabric has behind it; pruned after epoch 3, it goes on with epoch 4.
        batch : int, default 64
            At least so many images at a time; what is left over is spread over all batches.
        rate, momentum, weight_decay : float
            Of stochastic gradient descent.
        milestones : sequence of int, default (80, 120)
            Epochs after which the rate is divided by ten: as published, for 200 epochs.
        crop, flip : int, bool
            Each epoch cuts each image out of a grey frame of ``crop`` pixels, and mirrors half of the images.
        seed : int, default 0
            Random seed of the order of the images, and of crops and flips.
        checkpoint : str or Path, optional
            One file, written after each epoch. If it is there already, the training goes on from it to the bits that it
            would have had without a stop, or returns at once.
        device : str, default "auto"
            "auto" takes CUDA if there is one.
        threads : int or None, default 1
            Of PyTorch on the CPU, restored afterwards. On a busy machine a second thread makes small fabrics slower.
        on_epoch : callable(dict), optional
            Is given the row of the history after each epoch.

        Returns
        -------
        FabricRun
            Also when the loss overflowed (``status="diverged"``); the weights are then those before that epoch.

        Raises
        ------
        InputError, InputTypeError
            For images of another size, labels that are no classes, a file of another training, or one that another
            process writes to.
        OutputError
            If the file cannot be written; the one before stays.

        Warns
        -----
        NotConvergedWarning
            If the training diverged.
        """
        where = training.checked_device(device)
        feed = networks.Feed.of(images, labels, self.spec, where)
        n, before = len(images), self._past["training"]
        spec = lattices.TrainingSpec(
            fabric=self.spec.to_dict(),
            begins=networks.digest_of_network(self._network),
            epoch=self._past["epoch"],
            images=images.name,
            digest=images.digest,
            labels=digest_of("labels", feed.labels),
            n=n,
            batch=kinds.checked_whole(
                batch, "batch", f"images from 2 to {n}, all there are", inside=lambda b: 2 <= b <= n
            ),
            rate=rate,
            momentum=momentum,
            weight_decay=weight_decay,
            milestones=[kinds.checked_count(one, "milestones", 0) for one in milestones],
            crop=crop,
            flip=flip,
            seed=seed,
        )
        if before is not None and spec.begins == self._digest:  # nobody has changed the weights since
            same = replace(spec, begins=before["begins"], epoch=before["epoch"])
            spec = same if same.to_dict() == before else spec  # it goes on
        content = networks.FabricFitting(
            spec,
            feed,
            begins={**self._state(), "status": "running", "problem": ""},
            checkpoint=None if checkpoint is None else path_of(checkpoint, "checkpoint"),
            device=where,
            threads=threads,
        ).run(epochs, on_row=on_epoch)
        self._take(content, where)
        return self.run

    def _take(self, content: Mapping[str, Any], device: str, what: str = "checkpoint") -> None:
        """Become what a file holds, or would hold."""
        networks.check_past(content, what)
        self._network = networks.network_from(content, what).to(device).eval()
        self._past = {name: content[name] for name in networks.PAST}
        self._digest = networks.digest_of_network(self._network)

    def _state(self) -> dict[str, Any]:
        """Return what a file would hold."""
        return {**networks.network_state(self._network), **self._past}

    # Pruning ----------------------------------------------------------------------------------------------------------

    def scores(
        self,
        criterion: str,
        images: ImageSet | None = None,
        labels: ArrayLike | None = None,
        *,
        batch: int = 64,
        seed: int = 0,
        **options: Any,
    ) -> pd.Series[float]:
        """Return how much each link matters, by one criterion; the lowest go first.

        Parameters
        ----------
        criterion : str
            Of weights, the score of a link being the Euclidean norm of those of its kernel: ``"random"``,
            ``"magnitude"``, ``"sensitivity"``, ``"fisher"``, ``"grasp_abs"``, ``"synflow"``, ``"label_free"`` (images
            and no labels); or their sum: ``"grasp"`` (at initialisation), ``"shapley_groups"`` (of filters).
            Of links: ``"gate"``, ``"leave_one_out"``, ``"screening"``, ``"sobol"``, ``"shapley"``.
        images : ImageSet, optional
            That were not trained on, for criteria that look at any.
        labels : array-like of int, optional
        batch : int, default 64
            Images at a time; the criterion "fisher" depends on it.
        seed : int, default 0
            Random seed of criteria that draw.
        **options
            ``temperature`` of "grasp" (200) and "grasp_abs" (1); ``n_repeats`` (4), ``step`` (0.1) and ``sample`` (32)
            of "screening"; ``n_repeats`` (32), ``low`` (0.5) and ``sample`` (32) of "sobol"; ``permutations`` (40) of
            "shapley"; ``groups`` of each kernel (4) and ``permutations`` (4) of "shapley_groups".

        Returns
        -------
        Series of float of shape (links,)

        Raises
        ------
        InputError, InputTypeError, UnknownNameError
        """
        judge = criteria.judge_of(self._network, criterion, images, labels, batch=batch, seed=seed, options=options)
        with self._computing():
            found = judge.links(self._network)
        return pd.Series(found, list(self.links), name=criterion)

    def shapley(
        self,
        images: ImageSet,
        labels: ArrayLike,
        *,
        permutations: int = 40,
        level: float = 0.95,
        batch: int = 64,
        seed: int = 0,
    ) -> pd.DataFrame:
        """Return Shapley values of the links with intervals: what each adds to the log-likelihood of the labels.

        Parameters
        ----------
        images : ImageSet
        labels : array-like of int
        permutations : int, default 40
            Each costs a look at all images for every link; the intervals say whether there were enough.
        level : float, default 0.95
            Level of each interval by itself.
        batch, seed : int

        Returns
        -------
        DataFrame of shape (links, 3)
            ``value``, ``lower``, ``upper`` in nats per image. Values sum to the log-likelihood minus that of guessing.

        Raises
        ------
        InputError, InputTypeError
        """
        judge = criteria.judge_of(self._network, "shapley", images, labels, batch=batch, seed=seed, options={})
        count, nominal = kinds.checked_count(permutations, "permutations", 1), kinds.checked_level(level)
        rng = rng_for(judge.seed, "criterion", "shapley", "links")
        with self._computing():
            found = criteria.shapley_of_links(self._network, judge.data, rng, count)
        rows = [(own.mean(), *student(own, nominal)[:2]) for own in found.T]
        return pd.DataFrame(rows, list(self.links), ["value", "lower", "upper"])

    @kinds.checked
    def prune(
        self,
        level: Level,
        fraction: Annotated[float, kinds.between(0, 1, "()")],
        criterion: str | Mapping[str, float] | pd.Series[float] = "magnitude",
        images: ImageSet | None = None,
        labels: ArrayLike | None = None,
        *,
        min_links: Literal["longest", "shortest"] | int = "longest",
        overshoot: kinds.Share = 0.05,
        round_to: kinds.Count = 8,
        cap: kinds.Fraction | None = lattices.CAP,
        trim_taps: bool = False,
        fraction_of: Literal["live", "whole"] = "live",
        recalibrate: ImageSet | None = None,
        batch: int = 64,
        seed: int = 0,
        **options: Any,
    ) -> Pruning:
        """Remove what matters least, and say what went.

        Parameters
        ----------
        level : {"links", "channels", "weights"}
            Links go with all that they alone led to. Channels go from nodes, and with them rows and columns of all
            kernels there. Weights are masked: they are 0 and stay so, and nothing gets faster.
        fraction : float
            Share of the links, channels or weights, in (0, 1). Of weights, of those that shall be masked afterwards.
        criterion : str or mapping of link to float
            As of :meth:`scores`. Channels and weights need a criterion of weights; links also take scores by name.
        images, labels
            That the criterion looks at.
        min_links : {"longest", "shortest"} or int, default "longest"
            Of links: how many must stay, by default as many as the longest path of the whole fabric has, so that every
            path could.
        overshoot : float, default 0.05
            Of links: share that may go beyond the fraction where a removal drags others along.
        round_to : int, default 8
            Of channels: nodes keep a multiple of it, and no fewer: of 16 channels at most half can go at 8. Processors
            compute 16 channels faster than 17.
        cap : float or None, default 0.9
            Of weights: the largest share of a kernel that may be masked.
        trim_taps : bool, default False
            Of weights: mask those that only ever meet the border of a small map as well, without counting them. Some
            criteria find them for nothing, others rank them as high as any.
        fraction_of : {"live", "whole"}, default "live"
            Of what the fabric has now, or of what it had when it was whole: what pruned links took then counts for
            channels and weights too, and ways to the same size can be compared.
        recalibrate : ImageSet, optional
            Training images for new averages of batch norms: see :meth:`recalibrate`.
        batch, seed, **options
            As of :meth:`scores`.

        Returns
        -------
        Pruning
            What was asked for and what went; also kept in :attr:`prunings`.

        Raises
        ------
        InputError, InputTypeError, UnknownNameError

        Notes
        -----
        The optimiser restarts in the next :meth:`fit`.
        """
        name, scored = (criterion, None) if isinstance(criterion, str) else ("given", self._by_link(criterion))
        how: Any = {"batch": batch, "seed": seed, "options": options}
        judge = scored or criteria.judge_of(self._network, name, images, labels, **how)
        with self._computing():
            found, plan = criteria.pruned(
                self._network, level, fraction, judge, min_links=min_links, overshoot=overshoot, round_to=round_to,
                cap=cap, trim_taps=trim_taps, fraction_of=fraction_of,
            )  # fmt: skip
        self._become(found, {**plain(asdict(plan)), "criterion": name})
        if recalibrate is not None:
            self.recalibrate(recalibrate)
        return plan

    def remove(self, links: Sequence[str]) -> Pruning:
        """Remove some links by name, and all that then lies on no path.

        Raises
        ------
        InputError
            If some are not there, or no path from input to output would be left.
        """
        known = {link.name: link for link in self.lattice.links}
        for name in items_of(links, "links", "names of links"):
            kinds.checked_name(name, "links", known)
        network = networks.reduced(self._network, self.lattice.without({known[name] for name in links}), {})
        gone = [name for name in known if name not in {link.name for link in network.lattice.links}]
        plan = Pruning(
            level="links",
            requested=len(set(links)),
            removed=len(gone),
            total=len(known),
            chosen=tuple(dict.fromkeys(links)),
            cascaded=tuple(name for name in gone if name not in links),
        )
        self._become(network, {**plain(asdict(plan)), "criterion": "by name"})
        return plan

    def _become(self, network: networks.FabricNetwork, pruning: dict[str, Any]) -> None:
        """Take over a smaller network; an optimiser of other weights is of no use to it."""
        self._network = network.eval()
        then = {"epoch": self._past["epoch"], "trained_on": self.trained_on}
        prunings = [*self._past["prunings"], {**pruning, **then}]
        self._past |= {"optimiser": None, "training": None, "prunings": prunings}

    def recalibrate(self, images: ImageSet, *, batch: int = 64) -> None:
        """Replace what batch norms remember by their means over images of the training; no label is looked at.

        After pruning, nodes sum fewer links than before: this alone brings back much of what was lost.

        Parameters
        ----------
        images : ImageSet
        batch : int, default 64
            A last batch that is smaller is left out.

        Raises
        ------
        InputError
        """
        feed = networks.Feed.of(images, None, self.spec, self._device)
        size = min(kinds.checked_count(batch, "batch", 2), len(images))
        if size < 2:
            raise InputError("images", "expected at least 2: the spread of one image is not known")
        with self._computing():
            networks.recalibrate(self._network, (own for own, _ in feed.batches(size=size) if len(own) == size))
        self._past["training"] = None

    # Reports, copies and files ----------------------------------------------------------------------------------------

    def report(
        self,
        *,
        scores: Mapping[str, float] | pd.Series[float] | None = None,
        timings: pd.DataFrame | None = None,
        errors: Mapping[str, float] | None = None,
        images: int | None = None,
        name: str = "",
    ) -> FabricReport:
        """Return a report, which can be printed and written as a page, a table for papers, or JSON.

        Parameters
        ----------
        scores : mapping of link to float, optional
            As of :meth:`scores`, by default those of ``"magnitude"``: the widths of the links in the figure.
        timings : DataFrame, optional
            Of :func:`demele.lab.benchmark`.
        errors : mapping of str to float, optional
            Shares of images that were mistaken, by stage, such as ``{"before": 0.05, "pruned": 0.07}``.
        images : int, optional
            How many images the errors were counted on: each then has its 95 % interval (Wilson, 1927).
        name : str, optional
            Title of the page.

        Raises
        ------
        InputError, InputTypeError
            For a table that is not of a benchmark, or an error that is no share.

        Examples
        --------
        >>> from demele.lab import Fabric
        >>> report = Fabric(2, 3, 4, image_channels=1).report()
        >>> report.counts.links, report.sentence
        (11, 'The fabric is not trained.')
        """
        spec = self.spec
        everything = spec.lattice()
        given = self.scores("magnitude") if scores is None else scores
        return FabricReport(
            name=name,
            spec=spec.to_dict(),
            image_shape=spec.image_shape,
            counts=self.counts(),
            whole=lattices.counted(spec, everything, dict.fromkeys(everything.nodes, spec.channels)),
            link_scores=self._by_link(given),
            scored_by="magnitude" if scores is None else str(getattr(scores, "name", None) or "the scores given"),
            widths={node.name: width for node, width in self.network.widths.items()},
            prunings=self.prunings,
            run=self.run,
            training=self._past["training"],
            trained_on=self.trained_on,
            errors=tuple(stage_error(str(stage), value, images) for stage, value in (errors or {}).items()),
            benchmark=benchmark_rows(timings),
            version=__version__,
            fabric=self,
        )

    def copy(self) -> Self:
        """Return a fabric of its own with the same weights, such as to prune one in two ways."""
        made = deepcopy(self)
        made._network.eval()
        return made

    def export(self) -> networks.FabricNetwork:
        """Return a ``torch.nn.Module`` for use alone, with norms and masks inside the kernels.

        It takes ``(pixels - 128) / 64`` of shape (n, channels, size, size) and gives the logits of eval mode, faster:
        without norms, and with one matrix product for each link from or to a map of one or two pixels a side.
        """
        return networks.exported(self._network)

    def save(self, path: str | Path) -> Path:
        """Write structure, weights and history to a file, for :meth:`load`; nothing in it runs when it is read.

        Raises
        ------
        OutputError
        """
        training.write_checkpoint(path_of(path), self._state(), networks.LAYOUT)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the fabric in a file that :meth:`save` or :meth:`fit` wrote, on the CPU; nothing in it is run.

        Raises
        ------
        InputError, FormatError
            If there is no such file, or it is something else.
        """
        require("torch", purpose="a fabric")
        content = training.read_checkpoint(path_of(path), networks.LAYOUT)
        what = f"{path}: not {networks.LAYOUT.what}"
        made = object.__new__(cls)
        with parsing(what):
            made._take(content, "cpu", what)
        return made
