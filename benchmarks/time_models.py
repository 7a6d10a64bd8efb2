"""VAEs on one core: training steps per second, images encoded per second.

``python -m benchmarks.time_models`` writes results/models.csv. Steps are of batch 32, with the rows and the noise that
a training has; images are sprites. Seconds are CPU seconds of one thread, and rates the best of three: other work on
the machine slows a process, and never speeds it up.
"""

from typing import Any

from benchmarks.cases import cpu_seconds
from benchmarks.loop import Table, main

#: network, side of the images, objective and its options, steps per second that are to be reached
CASES: tuple[tuple[str, int, str, dict[str, Any], int | None], ...] = (
    ("mlp", 16, "vae", {}, None),
    ("conv16", 32, "vae", {}, 80),
    ("conv16", 32, "beta_tcvae", {}, None),
    ("conv16", 32, "factor_vae", {"width": 128}, None),
    ("conv16", 32, "dip_vae_ii", {}, None),
    ("conv16", 32, "ada_gvae", {}, None),
    ("burgess32", 32, "vae", {}, None),
    ("dlib64", 64, "vae", {}, None),
)
STEPS = 100


def measure(case: tuple[str, int, str, dict[str, Any], int | None]) -> dict[str, Any]:
    """Time the steps of a training, and the encoding of 20 736 images."""
    import demele
    from demele.models.networks import computing
    from demele.models.vae.train import Feed, Training

    network, size, objective, options, wanted = case
    images = demele.data.sprites(size)
    vae = demele.models.VAE(objective, latents=10, network=network, **options)
    with computing(threads=1, device="cpu", gradients=True):
        training = Training.begin(vae._spec(images, batch=32, lr=1e-3, seed=0), network, "cpu")
        feed = Feed(images, batch=32, seed=0, changed=vae._options.get("changed"), device="cpu")
        feed.hold()
        training.advance(feed)
        steps = STEPS / cpu_seconds(lambda: [training.advance(feed) for _ in range(STEPS)], 3)
        vae._pair = training.pair
        encoding = cpu_seconds(lambda: vae.encode(images), 2)
    return {
        "network": network,
        "pixels": " x ".join(map(str, images.shape)),
        "objective": objective,
        "steps/s": round(steps, 1),
        f"s to encode {len(images):,} images": round(encoding, 2),
        "wanted steps/s": "" if wanted is None else wanted,
    }


if __name__ == "__main__":
    main({"models": Table(cells=CASES, measured=measure)})
