"""Metrics computed from groups of samples that share factor values."""
