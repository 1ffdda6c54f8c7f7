"""The command `simulate`: arguments, output, exit code."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from pypto_verified.pipe_order import SIMULATE
from pypto_verified.usage import count, refuse


def simulate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "exit code: 0 if the run had no fault, race or deadlock, 1 if it had, 3 if it met what is not modelled, 2 for "
        "wrong input\n"
        "tables show . for elements outside the valid region and ? for elements that nothing has written"
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="a kernel (.py) or a module (.pto)")
    add("--function", metavar="NAME", default="", help="which function, if the file has several")
    add("--input", action="append", default=[], metavar="NAME=WHAT",
        help="a tensor: FILE.npy, randn, zeros, ones, ramp, small, positive, boundary, units, blocks; a tensor of a "
             ".pto may have a shape of its own: randn:16x64 (default: randn, small for integers, "
             "outputs zeros)")
    add("--set", action="append", default=[], metavar="NAME=VALUE",
        help="a size (default: as an --input file has it) or a scalar, or block_idx, block_num, subblock_idx")
    add("--target", choices=("a2a3", "a5"), default="", help="default: what a .pto says, else a2a3")
    add("--trace", action="store_true",
        help="print each op with the bytes that it reads and writes; with --schedule each step with its core and pipe, "
             "in the order they ran")
    add("--schedule", choices=("program", "eager", "late", "random", "exhaustive", "cpu"), default="",
        help="run all cores of the kernel, pipes and flags as on the device, in this order: as issued, every pipe in "
             "turn, the youngest op that can run, any by --seed, all orders that can differ; cpu: flags order nothing")
    add("--sync", choices=SIMULATE, default="assembler",
        help="who orders the pipes with --schedule: assembler: what the text says, and one without any flag or barrier "
             "gets those that it needs; explicit: what the text says and nobody else (default: assembler)")
    add("--blocks", type=count, metavar="N",
        help="blocks of the launch: one after the other, or all at once with --schedule; two that write the same bytes "
             "are a fault (default: one block of it)")
    add("--cores", type=count, metavar="N", help="with --schedule and --blocks: cubes of the chip, which a hard "
                                                 "barrier waits for (default: the target's)")
    add("--hold", action="append", type=int, default=[], metavar="LINE",
        help="with --schedule program: the ops of this line run when nothing else can")
    add("--dump", action="append", type=int, default=[], metavar="LINE", help="print the tiles that this line writes")
    add("-o", "--output", metavar="DIR", help="write each tensor after the run as NAME.npy")
    add("--seed", type=_seed, default=0, metavar="N", help="seed of random inputs and schedules (default: 0)")


def run_simulate(options: argparse.Namespace) -> int:
    """Run a kernel once on the inputs asked for."""
    from pathlib import Path

    from pypto_verified.errors import PtoError
    from pypto_verified.simulate import Request, save, simulate

    try:
        request = Request(
            options.file, options.function, _pairs("--input", options.input), _pairs("--set", options.set),
            options.target, options.trace, tuple(options.dump), options.seed, options.schedule,
            options.sync == "explicit", options.blocks, options.cores, tuple(options.hold),
        )
        found = simulate(request, lambda line: print(line))
        written = save(found, Path(options.output)) if options.output is not None else []
    except PtoError as error:
        return refuse(f"{error}" + (f"\n  help: {error.help}" if error.help else ""))
    except OSError as error:
        return refuse(f"can't write to {options.output}: {error.strerror or error}")
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
    for finding in found.findings:
        print(finding, file=sys.stderr)
    for (fault, help), times in Counter((f"{e.kind}: {e}", e.help) for e in found.errors).items():
        again = f" ({times} times)" if times > 1 else ""
        print(fault + again + (f"\n  help: {help}" if help else ""), file=sys.stderr)
    for path in written:
        print(path)
    if not options.output:
        for name, array in found.outputs.items():
            rest = f"\n{array}" if name in found.written else ", not written"
            print(f"{name}: {array.dtype.name} {list(array.shape)}{rest}")
    return found.exit_code()


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value


def _pairs(option: str, words: list[str]) -> dict[str, str]:
    from pypto_verified.errors import InputError

    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals or not value:
            raise InputError(f"{option} {word}: write {option} NAME=VALUE")
        if name in found:
            raise InputError(f"{option} {name} is given twice")
        found[name] = value
    return found
