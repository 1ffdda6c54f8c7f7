"""The HTML form: one self-contained page, no script, nothing to fetch."""

from __future__ import annotations

from pathlib import Path

from pypto_verified.report.model import Report
from pypto_verified.report.text import location

TEMPLATE = Path(__file__).with_name("report.html.j2")


def to_html(report: Report) -> str:
    """The report as an HTML page. Everything that comes from the input is escaped."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(report=report, location=location) + "\n"
