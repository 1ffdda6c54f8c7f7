"""Stand-ins for modules that a kernel file imports and that are absent (torch, pytest, a test harness, a run time).

A stub can be called, subscripted, iterated (it is empty), compared, subclassed and used as a decorator; it never has a
value. Kernel definitions load beside code that would need the real thing.
"""

from __future__ import annotations

import types
from collections.abc import Iterator


def _is_definition(args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
    """Whether a call looks like decoration: the one argument is a function or a class."""
    return len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType | type)


class _StubMeta(type):
    """Makes the class itself behave like its instances, so that `torch.float32` and `class Case(Harness)` both work."""

    def __getattr__(cls, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub_class(name)

    def __call__(cls, *args: object, **kwargs: object) -> object:
        if cls.__dict__.get("_is_stub") and _is_definition(args, kwargs):
            return args[0]
        return super().__call__(*args, **kwargs)

    def __getitem__(cls, key: object) -> object:
        return cls

    def __iter__(cls) -> Iterator[object]:
        return iter(())


class Stub(metaclass=_StubMeta):
    """A value of an absent module."""

    _is_stub = True

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Accept the arguments of whatever is being stood in for."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()

    def __call__(self, *args: object, **kwargs: object) -> object:
        return args[0] if _is_definition(args, kwargs) else Stub()

    def __getitem__(self, key: object) -> object:
        return Stub()

    def __setitem__(self, key: object, value: object) -> None:
        """Dropped."""

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __enter__(self) -> object:
        return self

    def __exit__(self, *exc: object) -> None:
        """Exceptions pass."""

    def __fspath__(self) -> str:
        return ""

    def _same(self, *other: object) -> object:
        return Stub()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __matmul__ = __neg__ = __abs__ = _same
    __and__ = __or__ = __ror__ = __xor__ = __invert__ = __lshift__ = __rshift__ = _same

    def _false(self, other: object) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _false


def stub_class(name: str) -> type:
    """A fresh stub class, usable as a base class, a decorator factory, a constant."""
    return _StubMeta(name, (Stub,), {"_is_stub": True})


def is_stub(value: object) -> bool:
    """Whether `value` stands in for something absent."""
    return isinstance(value, (Stub, StubModule)) or (isinstance(value, type) and bool(value.__dict__.get("_is_stub")))


class ParameterSet(tuple[object, ...]):
    """The values of one `pytest.param(...)`."""

    @classmethod
    def of(cls, *values: object, **_: object) -> ParameterSet:
        """What a file gets for `pytest.param`."""
        return cls(values)


class StubModule(types.ModuleType):
    """A module of stubs; also a package, so that its submodules import."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        if name == "pytest":
            self.param = ParameterSet.of

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        value = stub_class(name)
        setattr(self, name, value)
        return value
