"""``demele lab vae``: VAEs are trained, encode images, and are examined."""

from demele.cli.engine import Command
from demele.models.vae.trained import encode_images, train_vae
from demele.studies.examine import examine_file

TRAIN = Command(
    {"": train_vae},
    ("[IMAGES] --checkpoint RUN",),
    short="preset objective beta latents network image_size steps seed device checkpoint",
    details="""\
The same command continues where it was stopped, to the same bits; with more --steps it goes on from where it ended.
IMAGES is sprites, room, squares or clutter, which are drawn, or a file or folder: .npz, .npy, pictures. Without it,
they are those of the preset. -o NAME.history.csv holds the course of the training. A loss that diverged is said by the
status, and ends with 0.
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
    short="codes image_size seed",
    called={"checkpoint": "RUN"},
    details="""\
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
    short="image_size missing seed",
    called={"sample": "RUN", "model": "RUN", "checkpoint": "RUN"},
    details="""\
RUN is the file of demele lab vae train, or an .npz with codes, and if they are known codes_std, factors (with
factor_names), images, reconstructions, and traversals (codes, steps, height, width[, channels]). Without IMAGES, those
that the model was trained on, if a formula draws them; of an .npz, its own.
""",
    examples="""\
demele lab vae report run -o vae.html
demele lab vae report codes.npz -o vae.html -o vae.json
""",
)
