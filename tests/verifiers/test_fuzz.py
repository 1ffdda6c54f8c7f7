"""Whatever reads is judged: no text makes a verifier fail."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_verified.errors import PtoError
from pypto_verified.pto.lexer import Cursor
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.test_every_rule import PAIRS
from verifiers import Options, verify

_TEXTS = sorted(pair.good for pair in PAIRS.values())
_NUMBERS = (0, 1, 2, 3, 7, 8, 15, 17, 32, 255, 4096, 65536, 10**9, 2**31, 2**63)


def _changed(data: st.DataObject) -> str:
    """A passing example with one or two tokens lost, replaced by others of the text, or with other numbers."""
    tokens = [t for t in Cursor(data.draw(st.sampled_from(_TEXTS)), "").texts if t]
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        kind = data.draw(st.sampled_from(("number", "number", "other", "lost")))
        if kind == "number":
            number = str(data.draw(st.sampled_from(_NUMBERS)))
            at = data.draw(st.sampled_from([i for i, t in enumerate(tokens) if re.search(r"\d", t)]))
            tokens[at] = re.sub(r"\d+", number, tokens[at], count=1)
        elif kind == "other":
            tokens[at] = data.draw(st.sampled_from([t for t in tokens if t[0] == tokens[at][0]]))
        else:
            del tokens[at]
    return " ".join(tokens)


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_what_reads_is_judged(data: st.DataObject) -> None:
    try:
        module = read(_changed(data))
    except PtoError:
        return
    options = Options(level=data.draw(st.sampled_from(("", "level2", "level3"))))
    for result in verify(module, target(data.draw(st.sampled_from(("a2a3", "a5")))), options):
        assert result.verdict in set(Verdict)
