"""From a model of Keras on JAX to a page: what its codes hold, traversals, the worst reconstructions."""

import os
import tempfile
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"  # or yours, before Keras is imported

import keras
from keras import layers, ops

import demele


class Draw(layers.Layer):
    """Draws codes from their posterior, and adds its divergence from the prior to the loss, per pixel."""

    def __init__(self, pixels):
        super().__init__()
        self.pixels = pixels
        self.seeds = keras.random.SeedGenerator(0)

    def call(self, mean, logvar):
        divergence = 0.5 * ops.sum(mean**2 + ops.exp(logvar) - 1 - logvar, axis=1)
        self.add_loss(ops.mean(divergence) / self.pixels)
        return mean + ops.exp(logvar / 2) * keras.random.normal(ops.shape(mean), seed=self.seeds)


images = demele.data.sprites(16, (2, 2, 1, 9, 9))
pixels = images.images(range(len(images))) / 255

# A small VAE, trained for a moment: put yours here.
keras.utils.set_random_seed(0)
inputs = keras.Input((16, 16, 1))
hidden = layers.Dense(64, activation="relu")(layers.Flatten()(inputs))
mean, logvar = layers.Dense(4)(hidden), layers.Dense(4)(hidden)
encoder = keras.Model(inputs, [mean, logvar])
decoder = keras.Sequential(
    [keras.Input((4,)), layers.Dense(64, "relu"), layers.Dense(256, "sigmoid"), layers.Reshape((16, 16, 1))]
)
vae = keras.Model(inputs, decoder(Draw(256)(mean, logvar)))
vae.compile(keras.optimizers.Adam(0.003), loss="binary_crossentropy")
vae.fit(pixels, pixels, batch_size=54, epochs=50, verbose=0)

with tempfile.TemporaryDirectory() as folder:  # use a folder of yours
    # --8<-- [start:page]
    sample = demele.lab.encode(encoder, images, output="mean_logvar")
    look = demele.lab.examine(sample, images, decode=decoder)
    page = look.to_html(Path(folder) / "keras.html")
    print(f"{keras.backend.backend()}: {sample}")
    print("traversals", look.traversals.images.shape)
    print("better than one mean picture:", look.reconstructions.explained > 0)
    print("a page of less than 3 MB:", page.stat().st_size < 3_000_000)
    # --8<-- [end:page]
