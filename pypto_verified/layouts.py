"""Words that several rooms share: memory spaces, block layouts, pads. Syntax only, no meaning."""

from __future__ import annotations

from enum import Enum


class Member(Enum):
    """An enumeration whose members are hashed by identity, as they are compared: types hash and look up many."""

    __hash__ = object.__hash__


class Space(Member):
    """A memory space, by its `.pto` name."""

    GM = "gm"
    VEC = "vec"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    BIAS = "bias"
    SCALING = "scaling"


class BLayout(Member):
    """Order of the blocks (or of the elements, when unboxed)."""

    ROW = "row_major"
    COL = "col_major"


class SLayout(Member):
    """Order inside a fractal box; NONE is unboxed."""

    NONE = "none_box"
    ROW = "row_major"
    COL = "col_major"


class Pad(Member):
    """What a transfer writes beyond the valid region (values: PTOAS `pad=` codes)."""

    NULL = 0
    ZERO = 1
    MAX = 2
    MIN = 3


class Compact(Member):
    """Pitch mode of an accumulator or L0 operand (values: PTOAS `compact=` codes)."""

    NULL = 0
    NORMAL = 1
    ROW_PLUS_ONE = 2


class TensorLayout(Member):
    """Layout of a global-memory view."""

    ND = "nd"
    DN = "dn"
    NZ = "nz"
    MX_A_ZZ = "mx_a_zz"
    MX_B_NN = "mx_b_nn"
