"""The version, in a module of its own so that asking for it costs nothing."""

__all__ = ["__version__"]

__version__ = "0.1.0"
