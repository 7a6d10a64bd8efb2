"""A fabric that can be pruned: scores of its parts, and what is left without those that matter least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from demele.core.checked_numbers import checked_count, checked_number
from demele.core.errors import InputError
from demele.core.given_arrays import items_of
from demele.core.names import checked_name
from demele.core.result import plain
from demele.core.seeds import checked_seed, rng_for
from demele.data.images import ImageSet
from demele.models.fabric.held import HeldFabric
from demele.models.fabric.planning import CAP, Pruning

if TYPE_CHECKING:
    import pandas as pd

    from demele.models.fabric.network import FabricNetwork
    from demele.models.fabric.pruned import Judge

Level = Literal["links", "channels", "weights"]


class PrunableFabric(HeldFabric):
    """What is pruned of a fabric, and on what grounds."""

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
            ``"magnitude"``, ``"sensitivity"``, ``"fisher"``, ``"grasp"`` (at initialisation; summed, for it has a
            sign), ``"grasp_abs"``, ``"synflow"``, and ``"label_free"``, which looks at images and no labels.
            Of links: ``"gate"``, ``"leave_one_out"``, ``"screening"``, ``"shapley"``.
        images : ImageSet, optional
            That were not trained on, for criteria that look at any.
        labels : array-like of int, optional
        batch : int, default 64
            Images at a time; the criterion "fisher" depends on it.
        seed : int, default 0
            Random seed of criteria that draw.
        **options
            ``temperature`` of "grasp" (200) and "grasp_abs" (1); ``n_repeats`` (4), ``step`` (0.1) and ``sample`` (32)
            of "screening"; ``permutations`` (40) of "shapley".

        Returns
        -------
        Series of float of shape (links,)

        Raises
        ------
        InputError, InputTypeError, UnknownNameError
        """
        import pandas as pd

        from demele.models.threads import computing

        judge = self._judge(criterion, images, labels, batch=batch, seed=seed, options=options)
        with computing(threads=None, device=self._device, gradients=False):
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
            ``value``, ``lower`` and ``upper`` in nats per image. Values sum to the log-likelihood of the fabric less
            that of guessing.

        Raises
        ------
        InputError, InputTypeError
        """
        import pandas as pd

        from demele.core.checked_numbers import checked_level
        from demele.models.fabric.link_criteria import shapley_of_links
        from demele.models.threads import computing

        judge = self._judge("shapley", images, labels, batch=batch, seed=seed, options={})
        count, nominal = checked_count(permutations, "permutations", 1), checked_level(level)
        with computing(threads=None, device=self._device, gradients=False):
            rng = rng_for(judge.seed, "criterion", "shapley", "links")
            found = shapley_of_links(self._network, judge.data, rng, count)
        lower, upper = found.interval(nominal)
        return pd.DataFrame({"value": found.values, "lower": lower, "upper": upper}, index=list(self.links))

    def _judge(self, criterion: Any, images: Any, labels: Any, *, batch: Any, seed: Any, options: Any) -> Judge:
        from demele.models.fabric.pruned import Judge, checked_criterion

        known = checked_criterion(criterion, options, images=images is not None, labels=labels is not None)
        data = []
        if known.images:
            data = self._feed(images, labels).batches(size=checked_count(batch, "batch", 1))
        return Judge(criterion=known, data=data, seed=checked_seed(seed), options=options)

    def prune(
        self,
        level: Level,
        fraction: float,
        criterion: str | Mapping[str, float] | pd.Series[float] = "magnitude",
        images: ImageSet | None = None,
        labels: ArrayLike | None = None,
        *,
        min_links: Literal["longest", "shortest"] | int = "longest",
        overshoot: float = 0.05,
        round_to: int = 8,
        cap: float | None = CAP,
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
        from demele.models.fabric.pruned import LEVELS, PruningSettings, pruned
        from demele.models.threads import computing

        where = checked_name(level, "level", LEVELS)
        share = checked_number(fraction, "fraction", "a share between 0 and 1", inside=lambda one: 0 < one < 1)
        settings = PruningSettings.checked(
            min_links=min_links,
            overshoot=overshoot,
            round_to=round_to,
            cap=cap,
            trim_taps=trim_taps,
            fraction_of=fraction_of,
        )
        name, scored = (criterion, None) if isinstance(criterion, str) else ("given", self._by_link(criterion))
        judge = scored or self._judge(name, images, labels, batch=batch, seed=seed, options=options)
        with computing(threads=None, device=self._device, gradients=False):
            found, plan = pruned(self._network, where, share, judge, settings)
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
        from demele.models.fabric.surgery import without_links

        known = {link.name: link for link in self.lattice.links}
        for name in items_of(links, "links", "names of links"):
            checked_name(name, "links", known)
        network = without_links(self._network, {known[name] for name in links})
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

    def _become(self, network: FabricNetwork, pruning: dict[str, Any]) -> None:
        """Take over a smaller network; an optimiser of other weights is of no use to it."""
        self._network = network.eval()
        then = {"epoch": self._past["epoch"], "trained_on": self.trained_on}
        prunings = [*self._past["prunings"], {**pruning, **then}]
        own = {"optimiser": None, "training": None, "prunings": prunings}
        self._past = {**self._past, **own}

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
        from demele.models.fabric.surgery import recalibrate
        from demele.models.threads import computing

        feed = self._feed(images)
        size = min(checked_count(batch, "batch", 2), len(images))
        if size < 2:
            raise InputError("images", "expected at least 2: the spread of one image is not known")
        with computing(threads=None, device=self._device, gradients=False):
            recalibrate(self._network, (own for own, _ in feed.batches(size=size) if len(own) == size))
        self._past = {**self._past, "training": None}
