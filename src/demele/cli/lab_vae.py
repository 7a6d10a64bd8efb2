"""``demele lab vae``: VAEs are trained, encode images, and are examined."""

from functools import partial
from typing import Any

from demele.cli.engine import Command, Given
from demele.models.vae.trained import encode_images, train_vae
from demele.studies.examine import examine_file


def _encode(given: Given) -> "partial[Any]":
    given.writes(".npz")
    return given.bind(encode_images, *given.expected(1, 2))


TRAIN = Command(
    {"": train_vae},
    ("[IMAGES] --checkpoint RUN",),
    lambda given: given.bind(train_vae, *given.expected(0, 1)),
    short="preset objective beta latents network image_size steps seed device checkpoint",
    called={"images": "IMAGES"},
    details="""\
Train a VAE on images, and keep it in a file.

The same command continues where it was stopped, to the same bits; with more --steps it goes on from where it ended.
IMAGES is sprites, room, squares or clutter, which are drawn, or a file or folder: .npz, .npy, pictures. Without it,
those of the preset: ci (1000 steps), embedded, embedded-room, or print (published training, with images of 64 x 64).
-o NAME.history.csv holds the course of the training. A loss that diverged is said by the status, and ends with 0.

Objectives and their options:
  autoencoder             no penalty
  vae                     K, the KL divergence from the prior
  beta_vae                beta K: --beta
  capacity                gamma abs(K - C), C growing from 0: --c-max, --gamma, --capacity-steps
  beta_tcvae              K + (beta - 1) total correlation: --beta, --estimator
  factor_vae              K + gamma total correlation, by a discriminator: --gamma, --width, --same-batch
  dip_vae_i, dip_vae_ii   K + distance of the covariance from the identity: --lambda-od, --lambda-d
  ada_gvae, ada_mlvae     beta K of pairs of images: --beta, --changed
""",
    examples="""\
demele lab vae train --preset ci --checkpoint run
demele lab vae train sprites --objective beta_tcvae --beta 4 --latents 8 --checkpoint run
demele lab vae train mine.npz --image-size 64 --network burgess32 --steps 20000 --checkpoint run
""",
)
ENCODE = Command(
    {"": encode_images},
    ("RUN [IMAGES] -o FILE.npz",),
    _encode,
    short="codes image_size seed",
    called={"images": "IMAGES", "checkpoint": "RUN"},
    details="""\
Encode images with a trained VAE.

Without IMAGES, those that it was trained on, if a formula draws them. The .npz holds codes (means), codes_std, factors
(numbers; texts by their position), and each factor under its name.
""",
    examples="""\
demele lab vae encode run -o codes.npz
demele score codes.npz::codes codes.npz::shape,scale,orientation,x,y --codes-std codes.npz::codes_std
""",
)
REPORT = Command(
    {"": examine_file},
    ("RUN [IMAGES]",),
    lambda given: given.bind(examine_file, *given.expected(1, 2)),
    short="image_size missing seed",
    called={"sample": "RUN", "model": "RUN", "checkpoint": "RUN", "images": "IMAGES"},
    details="""\
Examine a trained model: codes, scores, traversals and reconstructions.

RUN is the file of demele lab vae train, or an .npz with codes, and if they are known codes_std, factors (with
factor_names), images, reconstructions, and traversals (codes, steps, height, width[, channels]). Without IMAGES, those
that the model was trained on, if a formula draws them; of an .npz, its own.
""",
    examples="""\
demele lab vae report run -o vae.html
demele lab vae report codes.npz -o vae.html -o vae.json
""",
)
