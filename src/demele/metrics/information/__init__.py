"""Metrics computed from mutual informations of codes and factors."""
