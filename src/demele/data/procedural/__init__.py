"""Sets of images that a formula draws: no file, no licence, the same on every machine."""
