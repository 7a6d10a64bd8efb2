"""What pruning a fabric gains on one core: links, channels, masked weights, and batch norms folded into kernels.

Run alone, where nothing else runs: ``python -m benchmarks.time_fabrics``, which writes results/fabric_speed.csv.
Fabrics of a case take turns, so that what else the machine does meets all alike, and gains are ratios within one run.
Fabrics are trained for a moment first: magnitudes of weights that were never trained tell nothing, and which links go
decides what is gained.
"""

from typing import Any, NamedTuple

from benchmarks.loop import Table, main

#: Gains that are to be reached, forward and in training, and by export alone.
WANTED = {"links": 2.0, "channels": 2.5, "export": 1.3}
REPEATS, SEEDS = 9, 3


class Case(NamedTuple):
    """A fabric, the images of a step, and what is removed of it."""

    layers: int
    scales: int
    channels: int
    batch: int
    level: str


CASES = (
    Case(8, 4, 16, 128, "links"),
    Case(8, 4, 32, 128, "links"),
    Case(8, 6, 16, 64, "links"),
    Case(4, 4, 32, 128, "channels"),
    Case(4, 4, 64, 128, "channels"),
    Case(4, 6, 32, 32, "channels"),
)


def trained(case: Case, n: int) -> Any:
    """Return the fabric of a case after two epochs."""
    from demele.data import clutter
    from demele.lab import Fabric

    fabric = Fabric(case.layers, case.scales, case.channels, image_channels=1)
    size = fabric.spec.image_size
    images = clutter(n, level=1, size=max(size, 16))
    images = images if size >= 16 else images.resized(size)
    fabric.fit(images, images.positions()[:, 0], epochs=2, batch=32, rate=0.05)
    return fabric


def pruned(case: Case, whole: Any) -> dict[str, tuple[Any, Any]]:
    """Return what is measured by name: a fabric, and what was removed of it."""
    found: dict[str, tuple[Any, Any]] = {"whole": (whole, None)}

    def take(name: str, *asked: Any, **options: Any) -> None:
        fabric = whole.copy()
        found[name] = (fabric, fabric.prune(*asked, **options))

    if case.level == "links":
        take("50 % of links, magnitude", "links", 0.5, "magnitude")
        for seed in range(SEEDS):
            take(f"50 % of links, random {seed}", "links", 0.5, "random", seed=seed)
    else:
        for round_to in (8, 16):
            take(f"75 % of channels, multiples of {round_to}", "channels", 0.75, "magnitude", round_to=round_to)
    take("90 % of weights masked", "weights", 0.9, "magnitude")
    return found


def measure(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Count and time the fabrics of a case."""
    from demele.lab import benchmark

    found = pruned(case, trained(case, 2000 if repeats == REPEATS else 200))
    table = benchmark({name: fabric for name, (fabric, _) in found.items()}, batch=case.batch, n_repeats=repeats)
    rows = []
    for name, (fabric, plan) in found.items():
        own, counts = table.loc[name], fabric.counts()
        gains = {part: round(float(own[f"{part}_gain"]), 2) for part in ("forward", "exported", "training")}
        wanted, met = _verdict(case, name, gains)
        size = fabric.spec.image_size
        rows.append(
            {
                "fabric": f"{case.layers} layers, {case.scales} scales, {case.channels} channels",
                "images": f"{case.batch} of {size} x {size}",
                "pruned": name,
                "asked %": "" if plan is None else round(100 * plan.asked, 1),
                "achieved %": "" if plan is None else round(100 * plan.achieved, 1),
                "links": counts.links,
                "parameters": counts.parameters,
                "multiply-adds": counts.multiply_adds,
                **{f"{part} ms": round(float(own[f"{part}_ms"]), 2) for part in gains},
                **{f"{part} gain": gain for part, gain in gains.items()},
                "wanted gain": wanted,
                "met": met,
            }
        )
    return rows


def _verdict(case: Case, name: str, gains: dict[str, float]) -> tuple[str, str]:
    """Return which gain is to be reached, and whether it is."""
    if name == "whole":
        return f"exported {WANTED['export']}", _yes(gains["exported"] >= WANTED["export"])
    if "masked" in name:
        return "none", ""
    wanted = WANTED[case.level]
    return f"{wanted}", _yes(min(gains["forward"], gains["training"]) >= wanted)


def _yes(met: bool) -> str:
    return "yes" if met else "no"


if __name__ == "__main__":
    main({"fabric_speed": Table(cells=CASES, measured=measure, repeats=REPEATS)})
