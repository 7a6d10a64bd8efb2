"""Learn the codes and measure the factors of the bundled demonstration, and write them.

    OMP_NUM_THREADS=1 python tools/make_digits_demo.py [OUTPUT.npz]

Takes about 15 seconds. The same versions on the same machine give the same bytes; another BLAS may move the learned
codes (of the autoencoder above all) beyond rounding. A warning, of convergence for instance, stops it.
"""

import io
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF, PCA, FastICA
from sklearn.neural_network import MLPRegressor

from demele.core.outputs import write_whole
from demele.data.digits import DIGITS, FULL_INK, digit_factors

Floats = NDArray[np.float64]

N_CODES = 10
SEED = 0
OUTPUT = Path(__file__).parents[1] / "src" / "demele" / "data" / "digits_demo.npz"


def pca(pixels: Floats) -> tuple[Floats, Floats, str]:
    """Principal components."""
    model = PCA(N_CODES, svd_solver="full").fit(pixels)
    codes = model.transform(pixels)
    return codes, model.inverse_transform(codes), "principal component analysis"


def ica(pixels: Floats) -> tuple[Floats, Floats, str]:
    """Independent components."""
    model = FastICA(N_CODES, whiten="unit-variance", max_iter=1000, tol=1e-6, random_state=SEED).fit(pixels)
    codes = model.transform(pixels)
    return codes, model.inverse_transform(codes), "FastICA"


def nmf(pixels: Floats) -> tuple[Floats, Floats, str]:
    """Non-negative parts."""
    model = NMF(N_CODES, init="nndsvda", max_iter=5000, tol=1e-5, random_state=SEED)
    codes = model.fit_transform(pixels)
    return codes, model.inverse_transform(codes), "non-negative matrix factorisation"


def autoencoder(pixels: Floats) -> tuple[Floats, Floats, str]:
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
    codes = pixels
    for weights, offsets in zip(model.coefs_[:2], model.intercepts_[:2], strict=True):
        codes = np.tanh(codes @ weights + offsets)
    return codes, model.predict(pixels), f"a 64-64-{N_CODES}-64-64 autoencoder (tanh; the bottleneck's activations)"


def explained(pixels: Floats, reconstructed: Floats) -> float:
    """Share of the pixels' total variance that a reconstruction reproduces."""
    return float(1 - ((pixels - reconstructed) ** 2).sum() / ((pixels - pixels.mean(axis=0)) ** 2).sum())


def main(output: Path = OUTPUT) -> None:
    """Write the arrays."""
    warnings.simplefilter("error")
    digits = load_digits()
    pixels = digits.data / FULL_INK
    factors = digit_factors(digits.images)
    arrays = {"class": digits.target.astype(np.int8), "factors": factors.to_numpy().astype(np.float32)}
    for learn in (pca, ica, nmf, autoencoder):
        codes, reconstructed, method = learn(pixels)
        share = explained(pixels, reconstructed)
        arrays[learn.__name__] = codes.astype(np.float32)
        arrays[f"{learn.__name__}_provenance"] = np.array(
            f"1797 handwritten digits of 8 x 8 pixels (Alpaydin and Kaynak, UCI, CC BY 4.0, from scikit-learn); "
            f"{N_CODES} codes learned without labels by {method} with scikit-learn {sklearn.__version__}, seed {SEED}, "
            f"which reproduce {share:.1%} of the pixels' variance; factors measured on the images"
        )
        print(f"{learn.__name__}: R2 {share:.4f}, standard deviations {codes.std(axis=0).round(3)}")
    assert {name for name in arrays if name in DIGITS} == set(DIGITS)
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)
    write_whole(output, archive.getvalue())
    print(f"{output}: {output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
