"""Many files: found, taken from the cache or checked side by side, accepted findings set apart, one report."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from pypto_verified import inputs
from pypto_verified.allow import settle
from pypto_verified.check.file import check_file
from pypto_verified.check.options import DEFAULT_TARGET, DEFAULTS, CheckOptions
from pypto_verified.errors import InputError
from pypto_verified.findings import OWN_CLAIMS, error_finding, failed_file
from pypto_verified.pipe_order import CHECK
from pypto_verified.report.model import FileResult, Report
from pypto_verified.workers import Failure, Workers

if TYPE_CHECKING:
    from pypto_verified.cache import Cache

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of files done and of all files."""


def check_paths(
    paths: Sequence[str], options: CheckOptions = DEFAULTS, progress: Progress | None = None
) -> Report:
    """Check kernels (`.py`), modules (`.pto`) and directories of them. InputError for an assumption or a baseline that
    can't be read, another word for `sync`, or a second solver that is not there; whatever is wrong with a path is in
    the report."""
    if options.sync not in CHECK:
        raise InputError(f"there is no sync={options.sync!r}", help=f"use one of: {', '.join(CHECK)}")
    accepted = None
    if options.baseline is not None:
        from pypto_verified import baseline

        accepted = baseline.read(options.baseline)
    if options.assume:
        from verifiers.assume import check_assumption

        for text in options.assume:
            check_assumption(text)
    if options.second is not None and importlib.util.find_spec("cvc5") is None:
        raise InputError("a second opinion needs the extra: pip install 'pypto-verified[cross]'")
    files: list[str] = []
    found: list[FileResult] = []
    for path in dict.fromkeys(paths):
        try:
            files.extend(inputs.expand([path]))
        except InputError as error:
            found.append(FileResult(path, findings=[error_finding(error, path)]))
    files = sorted(set(files))
    kept = _cache(options) if any(path.endswith(inputs.PTO) for path in files) else None
    if kept is not None:
        found += [result for result in map(kept.get, files) if result is not None]
    known = {result.path for result in found}
    fresh = _check_files([path for path in files if path not in known], options, progress)
    if kept is not None:
        for result in fresh:
            kept.put(result)
    files_checked = found + fresh
    settle(files_checked, _text)
    if accepted is not None:
        baseline.apply(accepted, files_checked)
    return _report(files_checked, options)


def _text(path: str) -> str:
    """The text of a file that was checked, '' if it is gone by now."""
    try:
        return inputs.read(path).text
    except InputError:
        return ""


def _cache(options: CheckOptions) -> Cache | None:
    if options.cache is None:
        return None
    from pypto_verified.cache import Cache

    return Cache(options.cache, repr(replace(options, cache=None, timeout=0, jobs=1, baseline=None)))


def _check_files(files: list[str], options: CheckOptions, progress: Progress | None) -> list[FileResult]:
    """Check files that no cache has: each in a process of its own, unless there is no time limit and one job."""
    if options.timeout or options.jobs > 1:
        if len(files) > 1:
            _preload()
        workers = Workers(partial(check_file, options=options), options.jobs, options.timeout)
        results = workers.run(files, progress)
        return [failed_file(path, r) if isinstance(r, Failure) else r for path, r in zip(files, results, strict=True)]
    found: list[FileResult] = []
    for path in files:
        found.append(check_file(path, options))
        if progress is not None:
            progress(len(found), len(files))
    return found


def _preload() -> None:
    """Import once what every file needs, so that the process forked for each need not. The solver and the simulator
    are in it: with several files one of them is likely to want them."""
    for name in ("pypto_verified.compiler", "pypto_verified.simulator", "verifiers.engine", "verifiers.solver.smt"):
        importlib.import_module(name)


def _report(files: list[FileResult], options: CheckOptions) -> Report:
    from pypto_verified.targets.assumptions import ASSUMPTIONS, reading

    used = {name for file in files for f in file.functions for o in f.obligations for name in o.assumptions}
    targets = sorted({f.target for f in files if f.target}) or [options.target or DEFAULT_TARGET]
    known = {name: reading(name, options.strict) for name in used if name in ASSUMPTIONS}
    return Report(
        target=",".join(targets),
        files=sorted(files, key=lambda f: f.path),
        assumptions=[(name, known.get(name, "given on the command line")) for name in sorted(used)],
        versions=_versions() if options.versions else {},
        claims=_claims(files) if options.versions else {},
    )


def _claims(files: list[FileResult]) -> dict[str, str]:
    """What each rule claims that has a finding."""
    from verifiers.legal import legality_rules
    from verifiers.registry import all_rules

    used = {a.finding.rule for file in files for a in file.accepted}
    used |= {f.rule for file in files for part in file.parts for f in part.findings}
    known = dict(OWN_CLAIMS)
    known.update((rule.id, rule.claim) for rule in all_rules())
    known.update((rule.id, rule.claim) for rule in legality_rules() if rule.id in used)
    return {rule: known[rule] for rule in sorted(used) if rule in known}


def _versions() -> dict[str, str]:
    from pypto_verified.report.versions import versions

    return versions()
