"""Models: a small family of VAEs, and what turns any encoder's output into codes that metrics read.

PyTorch is imported where networks are made: :func:`demele.models.encode` needs none for a callable or a Keras model.
"""

from demele.models.encode import encode
from demele.models.presets import Preset, preset
from demele.models.vae.load import load
from demele.models.vae.model import VAE
from demele.models.vae.run import Run

__all__ = ["VAE", "Preset", "Run", "encode", "load", "preset"]
