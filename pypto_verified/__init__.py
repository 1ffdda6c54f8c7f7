"""A self-checking compiler from PyPTO kernels to PTO-ISA, and a verifier for the artefacts of any such compiler."""

__version__ = "0.1.0"
