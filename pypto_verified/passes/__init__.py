"""Passes over PyPTO IR; `pipeline.run` is the ordered whole."""
