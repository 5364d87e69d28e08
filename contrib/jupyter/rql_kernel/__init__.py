"""A Jupyter kernel for rql."""

__version__ = "0.1.0"
