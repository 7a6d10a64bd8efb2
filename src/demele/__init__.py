"""How good a learned representation or a classifier really is, and how far that verdict can be trusted."""

__version__ = "0.1.0"
