"""`pypto-verify rules`: the table of rules, or one in full with its example."""

from __future__ import annotations

import argparse
import json
import sys


def rules_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form (default: text)")


def run_rules(options: argparse.Namespace) -> int:
    """Print them, or those of a family, or one; 2 for an id that no rule has."""
    from verifiers.catalogue import card, catalogue

    rules = sorted(catalogue(), key=lambda r: r.id)
    wanted = "" if options.id is None else options.id.upper()
    found = next((r for r in rules if r.id == wanted), None)
    listed = [r for r in rules if not wanted or r.id.startswith(f"{wanted}-")]
    if found is None and listed:
        from pypto_verified.report import catalogue as form

        data = {"rules": [form.as_data(r) for r in listed]}
        sys.stdout.write(_json(data) if options.format == "json" else form.catalogue(listed))
        return 0
    if found is None:
        print(f"pypto-verify: no rule {options.id}; `pypto-verify rules` lists them", file=sys.stderr)
        return 2
    from proofs.result import load
    from pypto_verified.report.catalogue import card_as_data, explain
    from pypto_verified.targets.assumptions import assumption

    full = card(found)
    theorems = [r.id for r in load().results.values() if full.id in r.rests]
    rests = [(name, assumption(name).text) for name in full.assumptions]
    shown = _json(card_as_data(full, theorems)) if options.format == "json" else explain(full, rests, theorems)
    sys.stdout.write(shown)
    return 0


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
