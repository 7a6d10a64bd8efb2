"""Learn the codes and measure the strokes of the bundled demonstration, and write what gives them.

    OMP_NUM_THREADS=1 python -m tools.make_digits_demo [OUTPUT.npz.xz]

Takes about 15 seconds. The same versions on the same machine give the same bytes; another BLAS may move the learned
codes (of the autoencoder above all) beyond rounding. A warning, of convergence for instance, stops it.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF, PCA, FastICA
from sklearn.neural_network import MLPRegressor

from demele.core.outputs import write_whole
from demele.data.examples import DIGITS, FULL_INK, digit_factors
from tools.make_label_demo import BUNDLED, packed

Floats = NDArray[np.float64]

N_CODES = 10
SEED = 0
OUTPUT = BUNDLED / "digits" / "demo.npz.xz"
#: Codes themselves, or layers that give them: weights of each pixel, and in the last row offsets.
Learned = dict[str, Floats]


def pca(pixels: Floats) -> tuple[Learned, Floats, str]:
    """Principal components."""
    model = PCA(N_CODES, svd_solver="full").fit(pixels)
    return linear(model), model.inverse_transform(model.transform(pixels)), "principal component analysis"


def ica(pixels: Floats) -> tuple[Learned, Floats, str]:
    """Independent components."""
    model = FastICA(N_CODES, whiten="unit-variance", max_iter=1000, tol=1e-6, random_state=SEED).fit(pixels)
    return linear(model), model.inverse_transform(model.transform(pixels)), "FastICA"


def linear(model: PCA | FastICA) -> Learned:
    """Return the layer of a linear map of centred pixels."""
    weights = model.components_.T
    return {"layer0": np.vstack([weights, -model.mean_ @ weights])}


def nmf(pixels: Floats) -> tuple[Learned, Floats, str]:
    """Non-negative parts."""
    model = NMF(N_CODES, init="nndsvda", max_iter=5000, tol=1e-5, random_state=SEED)
    codes = model.fit_transform(pixels)
    return {"codes": codes.astype(np.float32)}, model.inverse_transform(codes), "non-negative matrix factorisation"


def autoencoder(pixels: Floats) -> tuple[Learned, Floats, str]:
    """Activations of the bottleneck of a network trained to reproduce its input."""
    model = MLPRegressor(
        hidden_layer_sizes=(64, N_CODES, 64),
        activation="tanh",  # with rectified units, half of the bottleneck dies
        alpha=1e-5,
        batch_size=128,
        learning_rate_init=2e-3,
        max_iter=3000,
        tol=1e-6,
        n_iter_no_change=30,
        random_state=SEED,
    ).fit(pixels, pixels)
    layers = {f"layer{i}": np.vstack([model.coefs_[i], model.intercepts_[i]]) for i in range(2)}
    return layers, model.predict(pixels), f"a 64-64-{N_CODES}-64-64 autoencoder (tanh; the bottleneck's activations)"


def explained(pixels: Floats, reconstructed: Floats) -> float:
    """Share of the pixels' total variance that a reconstruction reproduces."""
    return float(1 - ((pixels - reconstructed) ** 2).sum() / ((pixels - pixels.mean(axis=0)) ** 2).sum())


def main(output: Path = OUTPUT) -> None:
    """Write the arrays."""
    warnings.simplefilter("error")
    digits = load_digits()
    pixels = digits.data / FULL_INK
    factors = digit_factors(digits.images)
    arrays: dict[str, Any] = {name: factors[name].to_numpy().astype(np.float32) for name in ("length", "thickness")}
    for learn in (pca, ica, nmf, autoencoder):
        learned, reconstructed, method = learn(pixels)
        share = explained(pixels, reconstructed)
        arrays |= {f"{learn.__name__}_{what}": values for what, values in learned.items()}
        arrays[f"{learn.__name__}_provenance"] = np.array(
            f"1797 handwritten digits of 8 x 8 pixels (Alpaydin and Kaynak, UCI, CC BY 4.0, from scikit-learn); "
            f"{N_CODES} codes learned without labels by {method} with scikit-learn {sklearn.__version__}, seed {SEED}, "
            f"which reproduce {share:.1%} of the pixels' variance; factors measured on the images"
        )
        print(f"{learn.__name__}: R2 {share:.4f}")
    assert {name.partition("_")[0] for name in arrays if "_" in name} == set(DIGITS)
    write_whole(output, packed(arrays))
    print(f"{output}: {output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
