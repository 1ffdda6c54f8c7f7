"""What `import pypto.language as pl` is bound to while a kernel file runs, and the few other names of `pypto`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec

from pypto_verified.dtypes import DTYPES
from pypto_verified.ir.stmt import Direction
from pypto_verified.language.events import make_event
from pypto_verified.language.markers import (
    AtomicType,
    ConstMark,
    DirectionMark,
    DynVar,
    FunctionType,
    KernelMark,
    LanguageDType,
    MaskPattern,
    MemRefMark,
    OpName,
    PipeType,
    ProgramMark,
    Recorder,
    SplitMode,
    TypeMark,
    ViewMark,
)
from pypto_verified.language.stubs import Stub, StubModule
from pypto_verified.layouts import Compact, Pad, SLayout, Space, TensorLayout


class Names(types.SimpleNamespace):
    """An enum-like group of `pl`: `pl.MemorySpace`, `pl.PadValue`, ..."""


class _Ops(types.ModuleType):
    """`pl.tile`, `pl.tensor`, `pl.system`, ...: each attribute is an op name, checked where it is called."""

    def __init__(self, family: str) -> None:
        super().__init__(f"pypto.language.{family}")
        self.__dict__["_family"] = family

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return OpName(f"{self.__dict__['_family']}.{name}")


class _Language(types.ModuleType):
    """`pl` itself: unknown lower-case names are op names (a call in a kernel tells the author), others do not exist."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or not name.islower():
            raise AttributeError(f"pl.{name} does not exist")
        return OpName(name)


def _space_names() -> Names:
    return Names(
        DDR=Space.GM, Vec=Space.VEC, Mat=Space.MAT, Left=Space.LEFT, Right=Space.RIGHT, Acc=Space.ACC, Bias=Space.BIAS,
        LeftScale=Space.SCALING, RightScale=Space.SCALING,
    )


def _visible_names(depth: int) -> dict[str, object]:
    """The local names of the frames that enclose a decorator call, innermost first; module globals are left out."""
    frame = inspect.currentframe()
    for _ in range(depth):
        frame = frame.f_back if frame is not None else None
    scope: dict[str, object] = {}
    file = frame.f_code.co_filename if frame is not None else ""
    while frame is not None and frame.f_code.co_name != "<module>" and frame.f_code.co_filename == file:
        for name, value in frame.f_locals.items():
            scope.setdefault(name, value)
        frame = frame.f_back
    return scope


class _Decorator:
    """`pl.function`, `pl.jit`, `pl.jit.incore`, `pl.inline`: usable bare and with keywords."""

    def __init__(self, recorder: Recorder, flavor: str) -> None:
        self._recorder = recorder
        self._flavor = flavor

    def __call__(self, *args: object, **keywords: object) -> object:
        if args and isinstance(args[0], types.FunctionType):
            return self._record(args[0], keywords, 3)

        def decorate(function: object) -> object:
            if not isinstance(function, types.FunctionType):
                return function
            return self._record(function, keywords, 3)

        return decorate

    def _record(self, function: types.FunctionType, keywords: dict[str, object], depth: int) -> KernelMark:
        mark = KernelMark(function, self._flavor, keywords, _visible_names(depth), self._recorder.certain)
        self._recorder.kernels.append(mark)
        return mark

    def __getattr__(self, name: str) -> _Decorator:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Decorator(self._recorder, f"{self._flavor}.{name}")


def _program(recorder: Recorder) -> Callable[..., object]:
    def program(cls: object = None, **_: object) -> object:
        if not isinstance(cls, type):
            return program
        mark = ProgramMark(cls, tuple(v for v in vars(cls).values() if isinstance(v, KernelMark)), recorder.certain)
        recorder.programs.append(mark)
        return mark

    return program


def _view(kind: str) -> Callable[..., ViewMark]:
    order = {"TileView": ("valid_shape", "stride", "start_offset", "blayout", "slayout", "fractal", "pad", "compact"),
             "TensorView": ("stride", "layout", "valid_shape", "pad")}[kind]

    def make(*args: object, **fields: object) -> ViewMark:
        return ViewMark(kind, dict(zip(order, args, strict=False)) | fields)

    return make


def _memref(*args: object, **keywords: object) -> MemRefMark:
    named = dict(zip(("name", "offset", "size"), args, strict=False)) | keywords
    base, slots = named.get("name", named.get("base", "")), named.get("slots", 1)
    return MemRefMark(
        base if isinstance(base, str) else "", named.get("offset", named.get("byte_offset")), named.get("size"),
        slots if isinstance(slots, int) else 1, named.get("pinned") is not False,
    )


def language_module(recorder: Recorder) -> types.ModuleType:
    """A fresh `pl` whose decorators report to `recorder`."""
    pl = _Language("pypto.language")
    members: dict[str, object] = {name: LanguageDType(d) for name, d in DTYPES.items()}
    members |= {kind: TypeMark(kind) for kind in ("Tensor", "Tile", "Scalar", "Array", "Tuple", "Ptr")}
    members |= {
        "Out": DirectionMark(Direction.OUT), "InOut": DirectionMark(Direction.INOUT),
        "MemorySpace": _space_names(), "Mem": _space_names(),
        "PadValue": Names(null=Pad.NULL, zero=Pad.ZERO, max=Pad.MAX, min=Pad.MIN),
        "TileLayout": Names(none_box=SLayout.NONE, row_major=SLayout.ROW, col_major=SLayout.COL),
        "TensorLayout": Names(**{m.name: m for m in TensorLayout}),
        "CompactMode": Names(null=Compact.NULL, normal=Compact.NORMAL, row_plus_one=Compact.ROW_PLUS_ONE),
        "FunctionType": FunctionType, "SplitMode": SplitMode, "AtomicType": AtomicType, "PipeType": PipeType,
        "Level": StubModule("Level"), "Role": StubModule("Role"), "ForKind": StubModule("ForKind"),
        "ScopeMode": StubModule("ScopeMode"), "AUTO": -1, "RUNTIME": Stub(), "TaskId": TypeMark("Scalar"),
        "IntLike": int, "DynVar": DynVar, "dynamic": DynVar, "MemRef": _memref, "MemRefType": _memref,
        "TileView": _view("TileView"), "TensorView": _view("TensorView"),
        "const": lambda value, dtype: ConstMark(value, dtype),
        "function": _Decorator(recorder, "function"), "jit": _Decorator(recorder, "jit"),
        "inline": _Decorator(recorder, "inline"), "program": _program(recorder),
        "Event": make_event, "split": Stub(), "cross_core_slot": Stub(), "optimizations": StubModule("optimizations"),
        "parser": StubModule("parser"), "adir": StubModule("adir"),
        "tile": _Ops("tile"), "tensor": _Ops("tensor"), "system": _Ops("system"), "array": _Ops("array"),
        "prefetch": _Ops("prefetch"),
        **{n: TypeMark("Opaque") for n in ("PrefetchAsyncContext", "AsyncEvent", "AsyncSession")},
        "PtrType": TypeMark("Ptr"), "JITFunction": Stub, "InlineFunction": Stub,
    }
    members |= {m.name: m for m in TensorLayout}
    for name in ("parse", "loads", "parse_program", "loads_program"):
        members[name] = lambda *args, **kwargs: Stub()
    vars(pl).update(members)
    vars(members["tile"])["MaskPattern"] = MaskPattern
    pl.__path__ = []
    return pl


def distributed_module() -> types.ModuleType:
    """`pypto.language.distributed`: known by name only, nothing of it is modelled."""
    pld = _Ops("distributed")
    vars(pld).update({
        "DistributedTensor": TypeMark("DistributedTensor"), "CommCtx": TypeMark("Opaque"),
        "system": _Ops("distributed.system"), "tensor": _Ops("distributed.tensor"), "tile": _Ops("distributed.tile"),
        **{n: StubModule(n) for n in ("NotifyOp", "WaitCmp", "ReduceOp", "AtomicType", "AllReduceMode")},
    })
    return pld


def compiler_modules(public: Mapping[str, object]) -> dict[str, types.ModuleType]:
    """`pypto` and its submodules for a running kernel file, by module name; `public` gives the members that are real by
    their path below `pypto` (`ir.compile`), everything else in them is a stub."""
    modules: dict[str, types.ModuleType] = {"pypto": StubModule("pypto")}
    for path, value in public.items():
        names = path.split(".")
        for depth in range(1, len(names)):
            name = "pypto." + ".".join(names[:depth])
            if name not in modules:
                modules[name] = StubModule(name)
                setattr(modules[name.rpartition(".")[0]], names[depth - 1], modules[name])
        setattr(modules["pypto." + ".".join(names[:-1])], names[-1], value)
    for name, module in modules.items():
        module.__spec__ = ModuleSpec(name, None, is_package=True)
    vars(modules["pypto"])["DataType"] = Names(**{n: LanguageDType(d) for n, d in DTYPES.items()})
    return modules
