"""The memory map: addresses, lifetimes over loops, peaks, and its two forms."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.memory_map import memory_maps
from pypto_verified.pto.reader import read
from pypto_verified.report.memory_map import Buffer, KernelMap, SpaceMap, as_text, bar
from pypto_verified.report.memory_svg import as_svg
from pypto_verified.targets import target

TILE = "!pto.tile_buf<vec, 8x16xf32>"
LOOP = f"""\
module attributes {{pto.target_arch = "a3"}} {{
  func.func @f(%n: index, %c0: index, %c1: index) {{
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 512 : i64
    %a2 = arith.constant 1024 : i64
    %sum = pto.alloc_tile addr = %a0 : {TILE}
    %spare = pto.alloc_tile addr = %a2 : {TILE}
    pto.texp ins(%sum : {TILE}) outs(%sum : {TILE})
    scf.for %i = %c0 to %n step %c1 {{
      %x = pto.alloc_tile addr = %a1 : {TILE}
      pto.texp ins(%sum : {TILE}) outs(%x : {TILE})
      pto.texp ins(%x : {TILE}) outs(%x : {TILE})
    }}
    %y = pto.alloc_tile addr = %a1 : {TILE}
    pto.texp ins(%y : {TILE}) outs(%y : {TILE})
    return
  }}
}}
"""


def kernel(text: str) -> KernelMap:
    (found,) = memory_maps(read(text), target("a2a3"))
    return found


def lives(text: str) -> dict[str, tuple[int, int]]:
    return {b.name: (b.first, b.last) for space in kernel(text).spaces for b in space.buffers if not b.unused}


def test_a_buffer_from_outside_lives_through_the_loop_that_uses_it() -> None:
    assert lives(LOOP) == {"sum": (0, 2), "x": (1, 2), "y": (2, 3)}


def test_a_name_of_bytes_that_another_name_wrote_lives_from_that_write() -> None:
    """y stands for what x holds: nobody may have the bytes in between."""
    assert lives(LOOP)["y"] == (2, 3)
    assert lives(LOOP.replace("ins(%y", "ins(%sum"))["y"] == (3, 3)


def test_buffers_are_in_order_of_address_and_birth() -> None:
    (vec,) = kernel(LOOP).spaces
    assert [(b.name, b.address) for b in vec.buffers] == [("sum", 0), ("x", 512), ("y", 512), ("spare", 1024)]
    assert [b.unused for b in vec.buffers] == [False, False, False, True]
    assert (vec.space, vec.top, vec.usable) == ("vec", 1536, 184 * 1024)


def test_peak_counts_shared_bytes_once() -> None:
    def buffer(address: int | None, first: int, last: int, size: int = 100) -> Buffer:
        return Buffer("b", "", "", address, size, 1, first, last, 0, 0)

    assert SpaceMap("vec", 1000, (buffer(0, 0, 1), buffer(50, 1, 2), buffer(200, 2, 3))).peak() == 200
    assert SpaceMap("vec", 1000, (buffer(0, 0, 1), buffer(0, 0, 1))).peak() == 100
    assert SpaceMap("vec", 1000, (buffer(None, 0, 1), buffer(None, 1, 1), buffer(None, 2, 1))).peak() == 200


def test_without_addresses_the_assembler_places() -> None:
    text = LOOP.replace(" addr = %a0", "").replace(" addr = %a1", "").replace(" addr = %a2", "")
    (vec,) = kernel(text).spaces
    assert {b.address for b in vec.buffers} == {None}
    assert vec.peak() == 1024
    assert "placed by the assembler" in as_text([kernel(text)])


@pytest.mark.parametrize(
    ("first", "last", "steps", "begin", "end"),
    [(0, 31, 32, 0, 32), (0, 0, 32, 0, 1), (31, 31, 32, 31, 32), (0, 0, 1000, 0, 1), (1, 1, 2, 16, 32)])
def test_bar(first: int, last: int, steps: int, begin: int, end: int) -> None:
    text = bar(Buffer("b", "", "", 0, 1, 1, first, last, 0, 0), steps)
    assert text == "." * begin + "#" * (end - begin) + "." * (32 - end)


def test_the_picture_has_a_box_for_each_living_buffer() -> None:
    root = ET.fromstring(as_svg([kernel(LOOP)]))
    space = "{http://www.w3.org/2000/svg}"
    titles = [t.text or "" for t in root.iter(f"{space}title")]
    assert [t.split()[0] for t in titles] == ["%sum", "%x", "%y"]
    boxes = [r for g in root.iter(f"{space}g") for r in g.iter(f"{space}rect")]
    sum_box, x_box = boxes[0], boxes[1]
    assert float(sum_box.get("width", "0")) == pytest.approx(3 * 850 / 4, abs=0.1)
    assert float(x_box.get("x", "0")) == pytest.approx(90 + 850 / 4, abs=0.1)


def test_a_function_that_cannot_be_followed_says_why() -> None:
    found = kernel("func.func @f() {\ncf.br ^a\n^a:\nreturn\n}")
    assert found.spaces == ()
    assert "not followed: unstructured control flow (cf.br)" in as_text([found])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.pto"
    path.write_text(LOOP)
    assert main(["map", str(path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("f for a2a3: 4 steps\n") and "%sum  8x16 f32" in text
    out = tmp_path / "f.svg"
    assert main(["map", str(path), "--format", "svg", "-o", str(out)]) == 0
    assert ET.parse(out).getroot().tag.endswith("svg")
    assert main(["map", str(tmp_path / "none.pto")]) == 2
    assert "no such file" in capsys.readouterr().err
