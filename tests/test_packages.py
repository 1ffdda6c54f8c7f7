"""The packages of the design exist, each says what it is, and every import contract names real ones."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "index", "targets", "ir", "ops", "language", "passes", "pto", "codegen", "sync", "cxx", "interpreter", "simulator",
    "fuzz", "report",
)
OTHERS = ("verifiers", "verifiers.access", "verifiers.solver", "proofs")
PACKAGES = (*(f"pypto_verified.{room}" for room in ROOMS), *OTHERS)
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


@pytest.mark.requirement("VF-09")
def test_the_top_level_is_that_of_the_design() -> None:
    for name in ("pyproject.toml", "README.md", ".ci/run"):
        assert (ROOT / name).is_file()
    for name in ("pypto_verified", "verifiers", "proofs", "tests", "examples", "benchmarks"):
        assert (ROOT / name).is_dir()


@pytest.mark.requirement("VF-09")
@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_of_the_design_can_be_imported(package: str) -> None:
    assert hasattr(importlib.import_module(package), "__path__")


def test_each_room_stands_under_an_import_contract() -> None:
    sources = {source for contract in CONTRACTS for source in contract.get("source_modules", ())}
    apart = {"pypto_verified.cxx", "pypto_verified.fuzz", "proofs", "verifiers.access", "verifiers.solver"}
    assert set(PACKAGES) - apart <= sources


def test_the_verifiers_may_not_import_the_compiler() -> None:
    (contract,) = [c for c in CONTRACTS if c["type"] == "forbidden" and c["source_modules"] == ["verifiers"]]
    compiler = {f"pypto_verified.{room}" for room in ("passes", "codegen", "simulator", "language", "ops", "ir")}
    assert compiler <= set(contract["forbidden_modules"])
