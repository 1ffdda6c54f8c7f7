"""The memory map as a picture: one panel a memory, time to the right, addresses downwards, a box a buffer."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from pypto_verified.report.memory_map import Buffer, KernelMap, SpaceMap

WIDTH, PANEL, LEFT, RIGHT, HEAD, GAP = 960, 260, 90, 20, 36, 24
_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#edc948", "#9c755f", "#e15759")
_SMALLEST_LABEL = 12
"""Pixels of height below which a box has no label; its tooltip says the same."""


def as_svg(kernels: list[KernelMap]) -> str:
    """One SVG document with the panels of all kernels, from top to bottom. Buffers without a known address are listed
    under their panel."""
    parts: list[str] = []
    y = GAP
    for kernel in kernels:
        parts.append(_text(GAP / 2, y, f"{kernel.name} for {kernel.target}: {kernel.steps} steps", "bold"))
        for space in kernel.spaces:
            parts += _panel(space, kernel.steps, y + GAP / 2)
            loose = [b for b in space.buffers if b.address is None]
            y += HEAD + PANEL + GAP
            for buffer in loose:
                parts.append(_text(LEFT, y, _title(buffer)))
                y += 16
        y += GAP
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
            f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
            f"{body}\n</svg>\n")


def _panel(space: SpaceMap, steps: int, y: float) -> Iterator[str]:
    """A panel is as high as the usable memory, or as what lies beyond it."""
    height = max(space.usable, space.top, 1)
    top = y + HEAD
    scale_y, scale_x = PANEL / height, (WIDTH - LEFT - RIGHT) / max(steps, 1)
    yield _text(LEFT, top - 8, f"{space.space}: {space.top:,} of {space.usable:,} bytes addressed")
    yield (f'<rect x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT}" height="{PANEL}" fill="#f4f4f4" '
           f'stroke="#888"/>')
    for number, buffer in enumerate(space.buffers):
        if buffer.address is None or buffer.unused:
            continue
        x, box_y = LEFT + buffer.first * scale_x, top + buffer.address * scale_y
        width, box_height = (buffer.last - buffer.first + 1) * scale_x, max(1.0, buffer.size * scale_y)
        yield (f'<g><title>{escape(_title(buffer))}</title><rect x="{x:.1f}" y="{box_y:.1f}" width="{width:.1f}" '
               f'height="{box_height:.1f}" fill={quoteattr(_COLOURS[number % len(_COLOURS)])} fill-opacity="0.6" '
               f'stroke="#333" stroke-width="0.5"/></g>')
        if box_height >= _SMALLEST_LABEL:
            yield _text(x + 3, box_y + 11, buffer.name)
    for address in {0, space.top, space.usable}:
        yield _text(4, top + address * scale_y + 4, f"{address:,}")
    if space.top > space.usable:
        limit = top + space.usable * scale_y
        yield (f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{limit:.1f}" y2="{limit:.1f}" stroke="#c00" '
               f'stroke-width="2"/>')


def _title(buffer: Buffer) -> str:
    place = buffer.where if buffer.address is None else f"{buffer.address}..{buffer.address + buffer.size - 1}"
    life = "unused" if buffer.unused else f"lines {buffer.first_line}-{buffer.last_line}"
    return f"%{buffer.name} {buffer.type}, {buffer.size:,} bytes at {place}, {life}"


def _text(x: float, y: float, text: str, weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}">{escape(text)}</text>'
