"""The import world of a running kernel file: `pypto` is ours, sibling modules are real, absent modules are stubs."""

from __future__ import annotations

import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from pypto_verified.language.markers import Recorder
from pypto_verified.language.namespace import compiler_modules, distributed_module, language_module
from pypto_verified.language.stubs import StubModule

# Large frameworks that kernels never compute with: stubbed even where they are installed, so that a file loads the same
# everywhere and fast.
_ALWAYS_STUBBED = frozenset({"torch", "torch_npu", "pytest", "pypto", "simpler"})
_ANCESTORS = 6
# Where installed packages and the standard library lie. They decide for themselves what an absent module means.
_INSTALLED = tuple(sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))


class _Loader(Loader):
    """Makes stub modules."""

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return StubModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """A stub has no code."""


class _Finder:
    """Asked before the others for stubbed frameworks, and after them (as `fallback`) for everything else."""

    def __init__(self, folders: list[str], fallback: bool) -> None:
        self._folders = folders
        self._fallback = fallback

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self._fallback:
            return _stub_spec(name) if name.partition(".")[0] in _ALWAYS_STUBBED else None
        if _importer().startswith(_INSTALLED):
            return None
        if path is None:
            for folder in self._folders:
                spec = PathFinder.find_spec(name, [folder])
                if spec is not None:
                    return spec
        return _stub_spec(name)


def _stub_spec(name: str) -> ModuleSpec:
    return ModuleSpec(name, _Loader(), is_package=True)


def _importer() -> str:
    """The file that the import statement being executed stands in."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename == __file__ or "importlib" in frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename if frame is not None else ""


def _stays(name: str, folders: list[str]) -> bool:
    """Whether a module that was imported meanwhile is kept: stubs and the modules of the kernel's project are not."""
    root = name.partition(".")[0]
    if root in ("pypto", "pypto_verified"):
        return root == "pypto_verified"
    module = sys.modules[name]
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if isinstance(module, StubModule):
        return False
    return not isinstance(file, str) or file.startswith(_INSTALLED) or not file.startswith(tuple(folders))


def package_of(file: Path) -> tuple[str, Path]:
    """The dotted package that a file belongs to (empty for a script) and the folder that holds its root."""
    names: list[str] = []
    folder = file.absolute().parent
    while (folder / "__init__.py").exists() and folder.name.isidentifier():
        names.insert(0, folder.name)
        folder = folder.parent
    return ".".join(names), folder


def _ancestors(folder: Path) -> list[str]:
    """The folder and those above it, up to the root of its project."""
    found: list[str] = []
    for candidate in [folder, *folder.parents][:_ANCESTORS]:
        found.append(str(candidate))
        if (candidate / ".git").exists() or (candidate / "pyproject.toml").exists():
            break
    return found


@contextmanager
def kernel_imports(file: Path, public: Mapping[str, object]) -> Iterator[Recorder]:
    """Bind `pypto` while the kernel `file` runs; `sys.modules`, `sys.path` and the finders are restored after,
    also on an error. Yields what the decorators record."""
    recorder = Recorder()
    saved_modules, saved_path, saved_finders = dict(sys.modules), list(sys.path), list(sys.meta_path)
    for name in [n for n in sys.modules if n.partition(".")[0] in _ALWAYS_STUBBED]:
        del sys.modules[name]
    sys.modules.update(compiler_modules(public))
    sys.modules["pypto.language"] = language_module(recorder)
    sys.modules["pypto.language.distributed"] = distributed_module()
    vars(sys.modules["pypto"])["language"] = sys.modules["pypto.language"]
    vars(sys.modules["pypto.language"])["distributed"] = sys.modules["pypto.language.distributed"]
    sys.path.insert(0, str(package_of(file)[1]))
    folders = _ancestors(file.absolute().parent)
    sys.meta_path.insert(0, _Finder(folders, fallback=False))
    sys.meta_path.append(_Finder(folders, fallback=True))
    writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield recorder
    finally:
        sys.dont_write_bytecode = writes
        sys.meta_path[:] = saved_finders
        sys.path[:] = saved_path
        # What else the file brought in is real and stays: some extension modules load once in a process only.
        for name in set(sys.modules) - set(saved_modules):
            if not _stays(name, folders):
                del sys.modules[name]
        sys.modules.update(saved_modules)
