"""`pypto-verify`: the command line. Imports only argparse until it knows what to do, so that --help is instant."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pypto_verified import __version__
from pypto_verified.pipe_order import CHECK, COMPILE
from pypto_verified.usage import WRONG_INPUT, count, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from pypto_verified.report.model import Report

INTERRUPTED = 130
_YOUNG = 100_000
"""New objects between two looks at them. What is loaded stays, so that the usual 700 cost a short run a fifteenth."""
FORMATS = ("text", "lines", "json", "sarif", "html")

EPILOG = """\
exit code: 2 if any input is wrong (ERROR), else 1 if anything is REFUTED, else 3 if anything is UNKNOWN or VACUOUS,
else 0
a directory is searched at any depth for .pto files and for .py files that import pypto.language; names that start with
a dot are skipped. PYPTO_VERIFY_TRACEBACK=1 shows the traceback of an internal error."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the result is the process's exit code (VF-05). Without `argv` it is all that the process does.
    """
    if argv is None:
        gc.set_threshold(_YOUNG)
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        print("pypto-verify: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return WRONG_INPUT
    except OSError as error:
        if error.filename is not None:
            raise
        _drop_output()
        return refuse(f"can't write to stdout: {error.strerror or error}")
    finally:
        if argv is None:
            import signal

            signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: one that comes now is no news, but a traceback


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] not in (*_COMMANDS, "-h", "--help", "--version"):
        arguments.insert(0, "check")
    if sys.stdout is None:
        return refuse("there is nowhere to write to: stdout is closed")
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_usage(sys.stderr)
        return WRONG_INPUT
    code = _COMMANDS[options.command](options)
    sys.stdout.flush()
    return code


def _drop_output() -> None:
    """Send what is left to write nowhere, so that the flush at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pypto-verify", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Prove PyPTO kernels and .pto modules right, or show the numbers that break them.",
    )
    parser.add_argument("--version", action="version", version=f"pypto-verify {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _check_arguments(commands.add_parser("check", help="check kernels and modules (the default command)", epilog=EPILOG,
                                         formatter_class=argparse.RawDescriptionHelpFormatter))
    compile_ = commands.add_parser("compile", help="compile a kernel to .pto")
    compile_.add_argument("kernel", metavar="KERNEL.py")
    compile_.add_argument("-o", "--output", metavar="DIR", required=True)
    compile_.add_argument("--target", choices=("a2a3", "a5"), default="a2a3")
    compile_.add_argument("--memory-planner", choices=("PYPTO", "DSA_RP", "PTOAS"), default="PYPTO")
    compile_.add_argument("--sync", choices=COMPILE, default="assembler",
        help="who orders the pipes: assembler: what the kernel says, and the assembler where it says nothing; insert: "
        "flags and barriers that are inserted here, in place of what the kernel says (default: assembler)")
    compile_.add_argument("--strict", action="store_true",
        help="insert what the stricter readings ask for, where sources contradict each other")
    compile_.add_argument("--no-loc", action="store_true", help="leave the user's locations out")
    from pypto_verified import commands as looking

    looking.map_arguments(commands.add_parser("map", help="draw who lives where and when in a module's memories"))
    looking.diff_arguments(commands.add_parser("diff", help="tell what two modules differ in"))
    from pypto_verified import simulate_command

    simulate_command.simulate_arguments(commands.add_parser("simulate", help="run a kernel on inputs of your choice"))
    from pypto_verified import fuzz_command

    fuzz_command.fuzz_arguments(commands.add_parser("fuzz", help="compare both meanings on random kernels"))
    fuzz_command.audit_arguments(commands.add_parser("audit", help="switch planted faults on: who notices them?"))
    from pypto_verified import rules_command

    rules_command.rules_arguments(commands.add_parser("rules", help="list the rules, or explain one by its example"))
    _prove_arguments(commands.add_parser("prove", help="prove the theorems behind the rules"))
    return parser


def _prove_arguments(prove: argparse.ArgumentParser) -> None:
    add = prove.add_argument
    add("--cold", action="store_true", help="prove all anew; a recorded verdict on another formula is a failure")
    add("--seeds", type=count, default=1, metavar="N", help="prove with solver seeds 0 to N-1, all must agree")
    add("--cross", action="store_true", help="ask cvc5 for a second opinion on every claim")
    add("--record", action="store_true", help="record the verdicts")
    add("--format", choices=("text", "json"), default="text", help="form of the results (default: text)")


def _check_arguments(check: argparse.ArgumentParser) -> None:
    add = check.add_argument
    add("paths", nargs="+", metavar="PATH", help="a kernel (.py), a module (.pto), or a directory of them")
    add("--target", choices=("a2a3", "a5"), help="chip; wins over what a module says (default: a2a3)")
    add("--level", type=int, choices=(2, 3), help="assembler level of .pto inputs (default: 3 if they have addresses)")
    add("--format", choices=FORMATS, default="text",
        help="form of the report; lines: one a file and a table by rule (default: text)")
    add("--cache", metavar="DIR", 
        help="where results of unchanged .pto files and the solver's answers are kept (default: the user's cache)")
    add("--no-cache", action="store_true", help="check every file anew")
    add("-o", "--output", metavar="FILE", help="write the report to a file; the terminal shows a line a finding")
    add("--assume", action="append", default=[], metavar="EXPR", help='a fact to rely on, e.g. "M %% 16 == 0"')
    add("--strict", action="store_true", help="take the stricter reading where sources contradict each other")
    add("--sync", choices=CHECK, default="assembler",
        help="who orders the pipes: assembler: what the text says, and the assembler where it has no flag or event; "
        "explicit: what the text says and nobody else; insert: what `compile --sync insert` inserts, in place of what "
        "the text says (default: assembler)")
    add("--timeout", type=_seconds, default=60.0, metavar="S", help="seconds per file, 0: no limit (default: 60)")
    add("-j", "--jobs", type=count, default=1, metavar="N", help="files checked at a time (default: 1)")
    add("--passes", action="store_true", help="run both sides of every pass on random inputs and compare")
    add("--no-simulate", action="store_true", help="do not replay refutations in the simulator")
    add("--seed", type=int, default=0, metavar="N", help="seed of the solver (default: 0)")
    add("--cross", action="store_true", help="ask cvc5 for a second opinion on what the solver decides")
    add("--baseline", metavar="FILE", help="accept the findings that this file lists")
    add("--write-baseline", metavar="FILE", help="list all findings of this run in a file, and accept them")
    add("-v", "--verbose", action="store_true",
        help="list each obligation with its verdict, what decided it, time and resource units (text and json)")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("must be a number of seconds, 0 or more")
    return value


def _check(options: argparse.Namespace) -> int:
    from pypto_verified.check import CheckOptions, check_paths
    from pypto_verified.errors import InputError

    if options.output is not None and any(_same_file(path, options.output) for path in options.paths):
        return refuse(f"{options.output} is an input: the report would overwrite it")
    try:
        report = check_paths(options.paths, CheckOptions(
            target=options.target, level=options.level, assume=tuple(options.assume), strict=options.strict,
            sync=options.sync, timeout=options.timeout, jobs=options.jobs, simulate=not options.no_simulate,
            seed=options.seed,
            cache=_cache_directory(options), passes=options.passes,
            versions=options.format not in ("text", "lines"), second=_disputes() if options.cross else None,
            baseline=options.baseline if options.write_baseline is None else None,
        ), _show_progress if sys.stderr.isatty() else None)
    except InputError as error:
        return refuse(f"{error}" + (f" ({error.help})" if error.help else ""))
    if options.write_baseline is not None and not _write_baseline(options.write_baseline, report):
        return WRONG_INPUT
    return _show(report, options.format, options.output, options.verbose)


def _write_baseline(path: str, report: Report) -> bool:
    from pypto_verified import baseline

    try:
        count = baseline.write(path, report.files)
    except OSError as error:
        refuse(f"can't write {path}: {error.strerror or error}")
        return False
    baseline.apply(baseline.read(path), report.files)
    print(f"pypto-verify: {path} lists {count} finding{'s' * (count != 1)}", file=sys.stderr)
    return True


def _disputes() -> Path:
    """Where the questions go on which two solvers do not agree."""
    from pypto_verified.cache import default_directory

    return default_directory() / "disagreements"


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _cache_directory(options: argparse.Namespace) -> Path | None:
    """Where results and answers are kept; nowhere for a run that must check anew."""
    if options.no_cache:
        return None
    from pathlib import Path

    from pypto_verified.cache import default_directory

    return Path(options.cache) if options.cache else default_directory()


def _show_progress(done: int, files: int) -> None:
    """One line on the terminal that is written over, and away when all files are done."""
    if files > 1:
        text = f"{done} of {files} files" if done < files else ""
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _show(report: Report, form: str, output: str | None, verbose: bool = False) -> int:
    """Print or write the report; the result is the run's exit code."""
    from pypto_verified.report import render

    if output is not None:
        try:
            render.write_atomically(output, render.render(report, form, verbose))
        except OSError as error:
            return refuse(f"can't write {output}: {error.strerror or error}")
        from pypto_verified.report.summary import digest

        sys.stderr.write(digest(report))
    elif form == "text" and render.wants_colour(sys.stdout):
        render.print_in_colour(report, verbose)
    else:
        sys.stdout.write(render.render(report, form, verbose))
        sys.stdout.flush()
    return report.exit_code()


def _compile(options: argparse.Namespace) -> int:
    from pypto_verified.compiler import MemoryPlanner, compile_file
    from pypto_verified.errors import PtoError
    from pypto_verified.language.public import BackendType

    backend, planner = BackendType(options.target), MemoryPlanner(options.memory_planner)
    try:
        notes = compile_file(
            options.kernel, options.output, backend, planner, False if options.no_loc else None, options.sync,
            options.strict)
    except PtoError as error:
        return refuse(f"{error}" + (f"\n  help: {error.help}" if error.help else ""))
    except OSError as error:
        return refuse(f"can't write to {options.output}: {error.strerror or error}")
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    print(options.output)
    return 0


def _map(options: argparse.Namespace) -> int:
    from pypto_verified.commands import run_map

    return run_map(options)


def _diff(options: argparse.Namespace) -> int:
    from pypto_verified.commands import run_diff

    return run_diff(options)


def _rules(options: argparse.Namespace) -> int:
    from pypto_verified.rules_command import run_rules

    return run_rules(options)


def _prove(options: argparse.Namespace) -> int:
    import proofs
    from proofs.form import as_json, as_text, exit_code

    try:
        results = proofs.run(
            cold=options.cold, cross=options.cross, seeds=options.seeds, disputes=_disputes())
    except ImportError as error:
        return refuse(f"{error}; a second opinion needs the extra: pip install 'pypto-verified[cross]'")
    sys.stdout.write(as_json(results) if options.format == "json" else as_text(results))
    if options.record:
        proofs.save(results)
        return exit_code(results)
    stale = [r.id for r in results if r.stale]
    if stale and options.cold:
        print(
            f"pypto-verify: no verdict is recorded on the formula of {', '.join(stale)}; record it with "
            "`pypto-verify prove --record`", file=sys.stderr)
    return exit_code(results) or int(bool(stale) and options.cold)


def _simulate(options: argparse.Namespace) -> int:
    from pypto_verified.simulate_command import run_simulate

    return run_simulate(options)


def _fuzz(options: argparse.Namespace) -> int:
    from pypto_verified.fuzz_command import run_fuzz

    return run_fuzz(options)


def _audit(options: argparse.Namespace) -> int:
    from pypto_verified.fuzz_command import run_audit

    return run_audit(options)



_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": _check, "compile": _compile, "rules": _rules, "prove": _prove, "map": _map, "diff": _diff,
    "simulate": _simulate, "fuzz": _fuzz, "audit": _audit,
}
