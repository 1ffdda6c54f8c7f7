"""Kernel files: run them with `pypto.language` bound to ours, translate what they define into IR."""

from pypto_verified.language.loader import LoadedFile, load_file, load_source, lower_program

__all__ = ["LoadedFile", "load_file", "load_source", "lower_program"]
