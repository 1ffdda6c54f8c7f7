"""The conductor: load, compile, read back, verify, replay, report. The Python API behind the command.

Every way in which an input can be wrong ends in a finding, never in an exception: one file does not spoil a run.
"""

from pypto_verified.check.file import check_file
from pypto_verified.check.module import verify_module
from pypto_verified.check.options import DEFAULT_TARGET, CheckOptions
from pypto_verified.check.paths import check_paths

__all__ = ["DEFAULT_TARGET", "CheckOptions", "check_file", "check_paths", "verify_module"]
