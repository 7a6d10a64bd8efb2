"""Foundations: errors, typed inputs and results, seeds, the registry. Imports nothing else of demele."""
