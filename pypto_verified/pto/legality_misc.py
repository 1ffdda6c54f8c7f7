"""Legality of communication between devices, raw pointers, structs, calls and helpers."""

from __future__ import annotations

from pypto_verified.dtypes import BOOL, INDEX
from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import A3
from pypto_verified.pto.module import Symbol, Value
from pypto_verified.pto.types import OpaqueType, PartitionViewType, PtrType, TensorViewType, Type
from pypto_verified.pto.typetext import type_text

_COLLECTIVE = "pto.comm.tbroadcast pto.comm.tgather pto.comm.tscatter pto.comm.treduce"
_SIGNALS = "pto.comm.tnotify pto.comm.twait pto.comm.ttest"
_POINT = "pto.comm.tput pto.comm.tget"
_ASYNC = "pto.comm.tput_async pto.comm.tget_async"
_FLAGS = "pto.set_flag pto.wait_flag pto.barrier"
_TERMINATORS = ("func.return", "scf.yield", "pto.yield", "scf.condition", "cf.br", "cf.cond_br")
_GLOBAL = (TensorViewType, PartitionViewType)


def _views(s: Site) -> list[TensorViewType | PartitionViewType]:
    """The global tensors of a communication op."""
    return [v.type for v in s.op.operands() if isinstance(v.type, _GLOBAL)]


def _shown(types: list[TensorViewType | PartitionViewType]) -> str:
    return " and ".join(type_text(t, True) for t in types)


def _flat(view: TensorViewType | PartitionViewType) -> bool:
    """All extents known, all but the last one 1."""
    return None not in view.dims and all(dim == 1 for dim in view.dims[:-1])


def _is_struct(type_: Type) -> bool:
    return isinstance(type_, OpaqueType) and type_.name == "struct"


def _structs(values: tuple[Value, ...]) -> list[str]:
    return [f"%{v.name}" for v in values if _is_struct(v.type)]


def _leaving(s: Site) -> list[str]:
    """Ops that hand a struct to the scope around its own."""
    return [op.name for op in s.context.users.get(s.op.result, []) if op.name in _TERMINATORS]


def _low_precision(type_: Type | None) -> bool:
    """An element type of less than 16 bits that is a float."""
    return isinstance(type_, _GLOBAL) and (type_.dtype.pto.startswith(("f8", "!pto.")))


def _callee(s: Site) -> str:
    value = s.attr("callee")
    return value.name if isinstance(value, Symbol) else ""


def _others(s: Site) -> list[str]:
    """Ops that use a pointer made of a number for something else than a scalar."""
    users = s.context.users.get(s.op.result, [])
    return [op.name for op in users if op.name not in ("pto.load_scalar", "pto.store_scalar")]


ROWS: tuple[Legal, ...] = (
    Legal("COMM-STATIC", f"{_COLLECTIVE} {_SIGNALS}", "", "collectives and signals know the extents of their tensors",
          holds=lambda s: all(None not in view.dims for view in _views(s)), found=lambda s: _shown(_views(s))),
    Legal("COMM-DYNAMIC", _POINT, "", "of a transfer's tensors only partitions have extents known at run time",
          holds=lambda s: all(None not in v.dims for v in _views(s) if isinstance(v, TensorViewType)),
          found=lambda s: _shown(_views(s))),
    Legal("COMM-POSITIVE", f"{_COLLECTIVE} {_SIGNALS} {_POINT}", "", "tensors of a communication have no extent of 0",
          holds=lambda s: all(0 not in view.dims for view in _views(s)), found=lambda s: _shown(_views(s))),
    Legal("COMM-SHAPE", f"{_POINT} {_ASYNC}", "", "source and destination of a transfer have one shape",
          holds=lambda s: len({view.dims for view in _views(s)}) < 2, found=lambda s: _shown(_views(s))),
    Legal("COMM-DTYPE", f"{_POINT} {_ASYNC}", "", "source and destination of a transfer have one element type",
          holds=lambda s: len({view.dtype for view in _views(s)}) < 2, found=lambda s: _shown(_views(s))),
    Legal("COMM-FLAT", _ASYNC, "", "an asynchronous transfer is of one run of elements",
          holds=lambda s: all(_flat(view) for view in _views(s)), found=lambda s: _shown(_views(s))),
    Legal("CACHE-LINE", "pto.cmo.cacheinvalid", "", "a cache line is one of global memory",
          when=lambda s: s.has("addr"), holds=lambda s: _space(s) is Space.GM,
          found=lambda s: f"the address is in {_space(s).value}"),
    Legal("POINTER-TYPE", "pto.inttoptr", "", "a pointer made of a number is to numbers that C can name",
          holds=lambda s: not isinstance(s.type("@"), PtrType) or s.op.result.type.dtype not in (BOOL, INDEX),
          found=lambda s: type_text(s.op.result.type)),
    Legal("POINTER-USE", "pto.inttoptr", "", "a pointer made of a number is used for scalars only",
          holds=lambda s: not _others(s), found=lambda s: f"{_others(s)[0]} uses it"),
    Legal("STRUCT-ESCAPE", "pto.declare_struct", "", "a struct stays in the scope that declares it",
          holds=lambda s: not _leaving(s), found=lambda s: f"{_leaving(s)[0]} takes it out"),
    Legal("STRUCT-ARGUMENT", "func.return", "", "a function takes and returns no struct",
          holds=lambda s: not any(map(_is_struct, (*(a.type for a in s.func.args), *s.func.result_types))),
          found=lambda s: f"@{s.func.name} does"),
    Legal("STRUCT-SELECT", "arith.select", "", "a struct is not chosen at run time",
          holds=lambda s: not _structs(s.op.results), found=lambda s: f"{', '.join(_structs(s.op.results))} is"),
    Legal("STRUCT-PATH", "pto.struct_get", "", "a path into a struct ends at a scalar",
          holds=lambda s: not _structs(s.op.results), found=lambda s: "it ends at a struct"),
    Legal("PREFETCH-TYPES", "pto.tprefetch", "", "a2a3 prefetches no 8-bit floats", targets=A3,
          holds=lambda s: not _low_precision(s.type("src")), found=lambda s: type_text(s.op.arg("src").type, True)),
    Legal("CALL-RECURSION", "func.call", "", "a function does not call itself, directly or not",
          holds=lambda s: not s.context.is_circular(s.func.name, _callee(s)), found=lambda s: f"@{_callee(s)} does",
          source="PTOAS driver"),
    Legal("HELPER-SYNC", _FLAGS, "", "a helper of a tile op has no synchronisation of pipes",
          holds=lambda s: "pto.tileop.helper" not in s.func.attrs, found=lambda s: f"@{s.func.name} has"),
    Legal("SIMT-ENTRY", "pto.section.simt", "", "a launch stands outside of the functions that are launched",
          holds=lambda s: "pto.simt_entry" not in s.func.attrs, found=lambda s: f"it stands in @{s.func.name}"),
    Legal("SLOT-ADDRESSES", "pto.alloc_multi_tile", "", "the addresses of slots are the assembler's to give",
          holds=lambda s: "pto.multi_buffer_addrs" not in s.op.attrs,
          found=lambda s: "pto.multi_buffer_addrs is given"),
)


def _space(s: Site) -> Space:
    type_ = s.type("addr")
    return type_.space if isinstance(type_, PtrType) else Space.GM
