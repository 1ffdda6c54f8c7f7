"""Legality of pipes whose values the fixpipe converts on their way: epilogues, quantisation, both ends' contract."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.dtypes import FP32
from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_context import BUFFERS, INITS, pipe_id
from pypto_verified.pto.legality_fifo import pipe_init, pipe_peers
from pypto_verified.pto.legality_words import A3, A5, is_dn, is_nd, is_nz, is_vec, spelled
from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.pto.types import ScalarType, TileBufType, Type
from pypto_verified.pto.typetext import type_text

_INITS = " ".join(INITS)
_AIC, _AIV = INITS
_TRANSFERS = "pto.tpush_to_aiv pto.tpop_from_aic pto.tfree_from_aic pto.talloc_to_aiv"
_EPILOGUE = "acc_push_epilogue"
_INT8 = frozenset({"i8", "si8", "ui8"})
_SIGNED8 = frozenset({"i8", "si8"})
_HALF, _BRAIN = frozenset({"f16"}), frozenset({"bf16"})
_FP8 = frozenset({"f8E4M3FN", "f8E4M3"})

# Quantisation -> the accumulator's element type, the consumer's, and what sets its parameters.
_QUANTS: dict[str, tuple[str, frozenset[str], str]] = {
    "f32_f16": ("f32", _HALF, ""),
    "f32_bf16": ("f32", _BRAIN, ""),
    "req8_scalar": ("i32", _INT8, "scalar"),
    "req8_vec": ("i32", _SIGNED8, "vector"),
    "deqf16_scalar": ("i32", _HALF, "scalar"),
    "deqf16_vec": ("i32", _HALF, "vector"),
    "qf322b8_pre_scalar": ("f32", _INT8, "scalar"),
    "qf322b8_pre_vec": ("f32", _SIGNED8, "vector"),
    "qf322f16_pre_scalar": ("f32", _HALF, "scalar"),
    "qf322bf16_pre_scalar": ("f32", _BRAIN, "scalar"),
    "qs322bf16_pre_scalar": ("i32", _BRAIN, "scalar"),
    "qs322bf16_pre_vec": ("i32", _BRAIN, "vector"),
    "qf322hif8_pre_scalar": ("f32", frozenset({"!pto.hif8"}), "scalar"),
    "qf322fp8_pre_scalar": ("f32", _FP8, "scalar"),
}
_ON_A5 = frozenset({"qs322bf16_pre_scalar", "qs322bf16_pre_vec", "qf322hif8_pre_scalar", "qf322fp8_pre_scalar"})


def _words(op: Op | None) -> list[str]:
    """Layout, quantisation and relu of a pipe's epilogue; empty without one."""
    value = op.attrs.get(_EPILOGUE) if op is not None else None
    return value.member.split() if isinstance(value, EnumAttr) else []


def _quant(op: Op | None) -> str:
    """The quantisation of a pipe, '' if it has no epilogue."""
    words = _words(op)
    return words[1] if words else ""


def _fixed(s: Site) -> bool:
    """Whether the op's pipe, or the pipe that it initialises, has an epilogue."""
    return bool(_quant(s.op if s.op.name in INITS else pipe_init(s)))


def _sources(quant: str) -> frozenset[str]:
    """Element types that the accumulator may have."""
    return frozenset({"f32", "i32"}) if quant == "no_convert" else frozenset({_QUANTS[quant][0]})


def _fits(quant: str, dtype: str) -> bool:
    """Whether a consumer may have this element type."""
    return dtype in (_sources(quant) if quant == "no_convert" else _QUANTS[quant][1])


def _known(s: Site) -> bool:
    quant = _quant(s.op if s.op.name in INITS else pipe_init(s))
    return quant == "no_convert" or quant in _QUANTS


def _popped(s: Site) -> TileBufType | None:
    """The tile that a vector kernel pops from the pipe it initialises."""
    pops = s.context.funcs[s.func].transfers.get(("pto.tpop_from_aic", pipe_id(s.op)), [])
    found = pops[0].result.type if pops else None
    return found if isinstance(found, TileBufType) else None


def _pops(s: Site) -> set[Type]:
    """The types that a vector kernel pops from the pipe it initialises."""
    return {op.result.type for op in s.context.funcs[s.func].transfers.get(("pto.tpop_from_aic", pipe_id(s.op)), [])}


def _is_made(s: Site, tile: TileBufType) -> bool:
    """Whether a tile is in the layout that the epilogue makes."""
    made = {"nz2nd": is_nd, "nz2dn": is_dn, "nz2nz": is_nz}.get(_words(s.op)[0])
    return is_vec(tile) and (made is None or made(tile))


def _slot_sizes(s: Site) -> list[int]:
    """Bytes of a slot, as both ends of a pipe say."""
    sizes = (op.attrs.get("slot_size") for op in (s.op, *pipe_peers(s)))
    return [size for size in sizes if isinstance(size, int)]


def _pushed(s: Site) -> Iterator[TileBufType]:
    """The accumulators that the other end pushes into the pipe."""
    for peer in pipe_peers(s):
        facts = s.context.funcs[s.context.homes[peer]]
        for push in facts.transfers.get(("pto.tpush_to_aiv", pipe_id(peer)), []):
            tile = push.arg("tile").type
            if isinstance(tile, TileBufType):
                yield tile


def _mismatch(s: Site) -> str:
    """The first accumulator that does not fit the popped tile, '' if all do."""
    popped, quant = _popped(s), _quant(s.op)
    if popped is None:
        return ""
    for tile in _pushed(s):
        same = quant != "no_convert" or tile.dtype == popped.dtype
        if tile.dtype.pto not in _sources(quant) or not same:
            return f"{quant} of {tile.dtype.pto} into {popped.dtype.pto}"
    return ""


def _setter(s: Site) -> str:
    """The op that sets the parameters of the pipe's quantisation, '' if it needs none."""
    found = _QUANTS.get(_quant(pipe_init(s)))
    return f"pto.set_quant_{found[2]}" if found is not None and found[2] else ""


ROWS: tuple[Legal, ...] = (
    Legal("FIX-TRACE", _INITS, "", "the consumer buffer of a pipe with an epilogue is reserved or imported here",
          when=_fixed, holds=lambda s: _maker(s) in BUFFERS,
          found=lambda s: f"it comes from {_maker(s) or 'elsewhere'}"),
    Legal("FIX-PEER", _AIC, "", "the consumer of a pipe with an epilogue initialises its end on the same buffer",
          when=_fixed, holds=lambda s: any(peer.name == _AIV for peer in pipe_peers(s)),
          found=lambda s: "no vector kernel does"),
    Legal("FIX-CONTRACT", _INITS, "", "both ends of a pipe have one epilogue", when=_fixed,
          holds=lambda s: all(_words(peer) == _words(s.op) for peer in pipe_peers(s)),
          found=lambda s: f"{' '.join(_words(s.op))} here, " + "; ".join(
              f"{' '.join(_words(peer)) or 'none'} in line {peer.line}" for peer in pipe_peers(s))),
    Legal("FIX-POP", _AIV, "", "the consumer of a pipe with an epilogue pops from it", when=_fixed,
          holds=lambda s: _popped(s) is not None, found=lambda s: f"nothing is popped from id {pipe_id(s.op)}"),
    Legal("FIX-RESULT", _AIV, "", "the popped tile has the element type that the quantisation gives",
          when=lambda s: _known(s) and _popped(s) is not None,
          holds=lambda s: (tile := _popped(s)) is not None and _fits(_quant(s.op), tile.dtype.pto),
          found=lambda s: f"{_quant(s.op)} into {tile.dtype.pto if (tile := _popped(s)) else ''}"),
    Legal("FIX-TYPES", _AIV, "", "the pushed and the popped tile have the element types of the quantisation",
          when=_known, holds=lambda s: not _mismatch(s), found=_mismatch),
    Legal("FIX-ALIKE", _AIV, "", "all tiles popped from a pipe with an epilogue have one type", when=_fixed,
          holds=lambda s: len(_pops(s)) < 2, found=lambda s: " and ".join(type_text(t, True) for t in _pops(s))),
    Legal("FIX-LAYOUT", _AIV, "", "the popped tile is in vec, in the layout that the epilogue makes",
          when=lambda s: _fixed(s) and _popped(s) is not None,
          holds=lambda s: (tile := _popped(s)) is not None and _is_made(s, tile),
          found=lambda s: f"{_words(s.op)[0]} into {spelled(tile) if (tile := _popped(s)) else ''}"),
    Legal("FIX-RESERVED", _AIV, "", "the consumer of a pipe with an epilogue reserves the buffer", when=_fixed,
          holds=lambda s: _maker(s) == "pto.reserve_buffer",
          found=lambda s: f"it comes from {_maker(s) or 'elsewhere'}"),
    Legal("FIX-PRODUCER", _AIV, "", "one producer imports the buffer of a pipe with an epilogue, and makes its end",
          when=_fixed, holds=lambda s: [peer.name for peer in pipe_peers(s)] == [_AIC],
          found=lambda s: f"{len(pipe_peers(s))} do"),
    Legal("FIX-RELU", _INITS, "", "the relu of an epilogue is no_relu or normal_relu", when=_fixed,
          holds=lambda s: _words(s.op)[2] in ("no_relu", "normal_relu"), found=lambda s: f"it is {_words(s.op)[2]}"),
    Legal("QUANT-SCALE", "pto.set_quant_scalar", "", "the scale of a quantisation is f32",
          holds=lambda s: s.type("scale") == ScalarType(FP32), found=lambda s: type_text(s.op.arg("scale").type, True)),
    Legal("FIX-SLOT", _AIV, "", "a slot holds what the fixpipe makes of an entry",
          when=lambda s: _fixed(s) and _popped(s) is not None,
          holds=lambda s: (tile := _popped(s)) is not None and min(_slot_sizes(s)) >= tile.bytes,
          found=lambda s: f"{min(_slot_sizes(s))} of {tile.bytes if (tile := _popped(s)) else 0} bytes"),
    Legal("FIX-SOURCE", "pto.tpush_to_aiv", "tile",
          "the fixpipe takes an accumulator of the quantisation's element type",
          when=lambda s, t: _known(s),
          holds=lambda s, t: t.loc is Space.ACC and t.dtype.pto in _sources(_quant(pipe_init(s))),
          found=lambda s, t: f"{_quant(pipe_init(s))} of {t.dtype.pto} in {t.loc.value}"),
    Legal("FIX-SPLIT", _TRANSFERS, "", "the entries of a pipe with an epilogue are not split", when=_fixed,
          holds=lambda s: s.int("split") == 0, found=lambda s: f"split is {s.int('split')}"),
    Legal("FIX-QUANT", "pto.tpush_to_aiv", "", "the quantisation's parameters are set before the push, in its block",
          when=lambda s: bool(_setter(s)),
          holds=lambda s: s.context.is_set(s.op, _setter(s)),
          found=lambda s: f"no {_setter(s)} with id {pipe_id(s.op)} is in front of it"),
    Legal("FIX-TARGET", _INITS, "", "conversions of i32 into bf16 and of f32 into 8-bit floats are a5's", targets=A3,
          when=_fixed, holds=lambda s: _quant(s.op) not in _ON_A5, found=lambda s: f"it is {_quant(s.op)}"),
    Legal("QUANT-PIPE", "pto.set_quant_scalar pto.set_quant_vector", "",
          "the parameters belong to a pipe whose quantisation takes them",
          holds=lambda s: _setter(s) == s.op.name,
          found=lambda s: f"id {pipe_id(s.op)} is {_quant(pipe_init(s)) or 'no pipe with an epilogue'}"),
    Legal("QUANT-TILE-SPACE", "pto.set_quant_vector", "scaling_tile", "the parameters of a quantisation are in scaling",
          holds=lambda s, t: t.loc is Space.SCALING, found=lambda s, t: f"they are in {t.loc.value}"),
    Legal("QUANT-TYPES-A3", "pto.set_quant_vector", "scaling_tile", "a2a3 takes parameters packed into 64-bit integers",
          targets=A3, holds=lambda s, t: t.dtype.pto in ("i64", "ui64"), found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("QUANT-TYPES-A5", "pto.set_quant_vector", "scaling_tile", "a5 takes parameters of f16, bf16 or f32",
          targets=A5, holds=lambda s, t: t.dtype.pto in ("f16", "bf16", "f32"),
          found=lambda s, t: f"they are {t.dtype.pto}"),
)


def _maker(s: Site) -> str:
    """Name of the op that makes the vector side's buffer."""
    buffer = s.op.opt("c2v_consumer_buf")
    maker = s.context.producers.get(buffer) if buffer is not None else None
    return maker.name if maker is not None else ""
