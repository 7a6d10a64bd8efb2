"""The version of the library: here, so that nothing below the front door reaches up to it."""

__version__ = "0.2.0"
