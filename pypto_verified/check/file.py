"""One file: whatever is wrong with it ends in a finding, never in an exception."""

from __future__ import annotations

import contextlib
import sys

from pypto_verified import inputs
from pypto_verified.check.kernels import check_kernels
from pypto_verified.check.module import check_pto
from pypto_verified.check.options import DEFAULTS, CheckOptions
from pypto_verified.errors import PtoError
from pypto_verified.findings import error_finding, internal_error, nothing_to_prove, second_opinion, with_source
from pypto_verified.labels import labels
from pypto_verified.report.model import FileResult


def check_file(path: str, options: CheckOptions = DEFAULTS) -> FileResult:
    """Check one file in this process. Whatever is wrong with it, or goes wrong here, is in the result."""
    result = FileResult(path)
    lines: list[str] = []
    try:
        source = inputs.read(path)
        result.sha256 = source.sha256
        lines = source.text.splitlines()
        with contextlib.redirect_stdout(sys.stderr):
            if source.suffix == inputs.PTO:
                check_pto(source, result, options)
            else:
                check_kernels(source, result, options)
    except PtoError as error:
        result.findings.append(error_finding(error, path))
    except (Exception, SystemExit) as error:
        result.findings.append(internal_error(error, path))
    for function, label in zip(result.functions, labels(f.name for f in result.functions), strict=True):
        function.name = label
        if not function.obligations and not function.findings:
            function.findings.append(nothing_to_prove(function.name, path))
        function.findings = [with_source(f, path, lines) for f in function.findings]
    result.findings = [with_source(f, path, lines) for f in result.findings]
    if options.second is not None:
        result.notes.append(second_opinion(result))
    result.notes = list(dict.fromkeys(result.notes))
    return result
