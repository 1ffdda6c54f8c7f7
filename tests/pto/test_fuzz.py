"""No text makes the reader fail otherwise than by its own errors, and no token can be lost or changed unnoticed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_verified.errors import PtoError
from pypto_verified.pto.lexer import Cursor
from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read

from .legality_cases import CASES
from .samples import SAMPLES
from .test_blocks import BRANCHES, NESTED
from .test_generic_form import GENERIC
from .test_legality import text_of

_SHAPES = (*SAMPLES, BRANCHES, NESTED, GENERIC)
_TEXTS = [*_SHAPES, *(text_of(case, good=True) for case in CASES)]
_JUNK = ["%", "%c0", "@x", "!pto.ptr<f16>", "#pto<cmp ne>", "{", "}", "(", ")", "[", "<", ">", ",", ":", "=", "->",
    "7", "1.5",
         "f16", "index", '"s"', "loc", "pto.tmul", "scf.if", "ins", "outs", "^bb1", "é", "\x01"]


def _tokens(text: str) -> list[str]:
    return [token for token in Cursor(text, "").texts if token]


def _read(tokens: list[str]) -> Module | None:
    try:
        return read(" ".join(tokens))
    except PtoError:
        return None


@pytest.mark.parametrize("text", _TEXTS)
def test_tokens_joined_by_blanks_read_as_the_same_module(text: str) -> None:
    assert _read(_tokens(text)) == read(text)


@pytest.mark.parametrize("text", _SHAPES)
def test_no_token_can_be_lost(text: str) -> None:
    tokens, module = _tokens(text), read(text)
    for at in range(len(tokens)):
        assert _read(tokens[:at] + tokens[at + 1 :]) != module, f"token {at}, '{tokens[at]}', says nothing"


@pytest.mark.parametrize("text", SAMPLES)
def test_no_word_inside_a_type_or_attribute_can_be_lost(text: str) -> None:
    module = read(text)
    for word in re.finditer(r"[!#][\w.]+<[^\n]*?>(?=[\s,)}>\]])", text):
        for part in re.finditer(r"[\w?]+|[<>=,]", word[0]):
            begin, end = word.start() + part.start(), word.start() + part.end()
            try:
                found = read(text[:begin] + text[end:])
            except PtoError:
                continue
            assert found != module, f"'{part[0]}' of {word[0]} says nothing"


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_a_changed_token_is_an_error_or_another_module(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(_TEXTS))
    tokens = _tokens(text)
    at = data.draw(st.integers(0, len(tokens) - 1))
    new = data.draw(st.sampled_from(_JUNK) | st.sampled_from(tokens))
    if new != tokens[at] and tokens[at][0] != "^":  # the name of a block says nothing
        assert _read([*tokens[:at], new, *tokens[at + 1 :]]) != read(text)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_text_cut_anywhere_is_an_error(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SAMPLES)).strip()
    end = data.draw(st.integers(1, len(text) - 1))
    try:
        found = read(text[:end])
    except PtoError:
        return
    assert found != read(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from(_JUNK + _tokens(SAMPLES[0])), max_size=60).map(" ".join))
def test_junk_is_an_error_or_a_module(text: str) -> None:
    try:
        read(text)
    except PtoError as error:
        assert error.message
