"""The commands `fuzz` and `audit`: arguments and exit codes. The campaign is imported when it starts."""

from __future__ import annotations

import argparse
import sys

from pypto_verified.usage import count, refuse


def fuzz_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "exit code: 0 without finds, 1 with finds, 2 for wrong input, 130 when interrupted (what was found is kept)\n"
        "each find is a folder of the corpus with the kernel, its .pto, inputs, both results and a test"
    )
    add = parser.add_argument
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--examples", type=count, metavar="N",
                        help="kernels to generate, in each part (default: 1000)")
    amount.add_argument("--minutes", type=_minutes, metavar="M", help="how long to go on")
    add("--seed", type=int, default=0, metavar="S", help="equal seeds give equal kernels (default: 0)")
    add("--shard", type=_shard, default=(0, 1), metavar="I/N", help="the I-th of N parts of the campaign, from 1")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("-j", "--jobs", type=count, default=1, metavar="N", help="worker processes (default: 1)")
    place.add_argument("--scheduler", default="", metavar="ADDRESS",
                       help="work on this dask.distributed cluster, e.g. tcp://host:8786")
    add("--corpus", default="fuzz_finds", metavar="DIR", help="where finds are written (default: fuzz_finds)")
    add("--format", choices=("text", "json"), default="text", help="form of the summary (default: text)")
    add("--timeout", type=_seconds, metavar="S",
        help="a kernel that takes more seconds of a processor is a find (default: 20)")
    add("--fault", default="", metavar="NAME", help="switch a planted fault on; 'list' names them")
    add("--replay", metavar="DIR", help="examine the find in this folder again")
    add("--excluded", action="store_true", help="print what no generated kernel has, and why")


def audit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit code: 0 if every planted fault is noticed, and none by a crash, else 1"
    add = parser.add_argument
    add("--examples", type=count, metavar="N", help="kernels to try for each fault (default: 2000)")
    add("--seed", type=int, default=0, metavar="S", help="seed of the kernels (default: 0)")
    add("-j", "--jobs", type=count, default=1, metavar="N", help="worker processes (default: 1)")
    add("--format", choices=("text", "json"), default="text", help="form of the table (default: text)")


def _minutes(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("must be a number of minutes, more than 0")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("must be a number of seconds, more than 0")
    return value


def _shard(text: str) -> tuple[int, int]:
    first, _, count = text.partition("/")
    if not (first.isdigit() and count.isdigit() and 1 <= int(first) <= int(count)):
        raise argparse.ArgumentTypeError("must be I/N with 1 <= I <= N, e.g. 2/4")
    return int(first) - 1, int(count)


def run_fuzz(options: argparse.Namespace) -> int:
    """Run a campaign, replay a find, or print a table."""
    from pathlib import Path

    from pypto_verified.errors import InputError
    from pypto_verified.fuzz import command, faults
    from pypto_verified.fuzz.limit import SECONDS

    if options.excluded:
        sys.stdout.write(command.excluded())
        return 0
    if options.fault == "list":
        sys.stdout.write(faults.listed())
        return 0
    try:
        faults.known(options.fault)
        if options.replay is not None:
            return command.replay(Path(options.replay), sys.stdout, options.fault)
        request = command.Request(
            options.examples, options.minutes, options.seed, options.shard, options.jobs, Path(options.corpus),
            options.format == "json", options.fault, options.scheduler,
            SECONDS if options.timeout is None else options.timeout,
        )
        return command.fuzz(request, sys.stdout, sys.stderr)
    except InputError as error:
        return refuse(f"{error} ({error.help})" if error.help else str(error))
    except OSError as error:
        return refuse(f"can't write to {options.corpus}: {error.strerror or error}")


def run_audit(options: argparse.Namespace) -> int:
    """Switch every planted fault on alone and tell who notices it."""
    from pypto_verified.fuzz import audit

    examples = options.examples if options.examples is not None else audit.EXAMPLES
    with audit.alone(options.jobs) as executor:
        return audit.audit(executor, options.seed, examples, sys.stdout, options.format == "json")
