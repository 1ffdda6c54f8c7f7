"""`python -m pypto_verified`: the same as `pypto-verify`."""

import sys

from pypto_verified.cli import main

sys.exit(main())
