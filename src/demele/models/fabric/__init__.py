"""Convolutional neural fabrics: structure, training, pruning, and what decides which part goes."""
