"""Variational autoencoders: objectives, networks, training."""
