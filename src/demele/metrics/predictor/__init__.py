"""Metrics computed from predictors of the factors."""
