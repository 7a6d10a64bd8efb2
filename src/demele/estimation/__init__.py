"""Estimators that metrics share: pure functions of arrays."""
