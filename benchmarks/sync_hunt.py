"""Hunt for texts of which EVENT, RACE and FIFO say what runs contradict.

    python -m benchmarks.sync_hunt [--minutes M] [--seed N] [-j N] [--from NUMBER]

Random texts, right ones and ones with one thing wrong, are judged and run; printed are the share of verdicts and of
features, what leaves texts open, and each text that does not fit, shrunk, with the sizes and the schedule that show it.
The exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.sync.hunt.campaign import Tally, campaign, lines

_BATCH = 40


def main(argv: list[str]) -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--minutes", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("-j", "--jobs", type=int, default=1)
    options.add_argument("--from", dest="first", type=int, default=0, help="the number of the first text")
    chosen = options.parse_args(argv)
    started = time.monotonic()
    until, tally = started + 60 * chosen.minutes, Tally()
    with ProcessPoolExecutor(chosen.jobs, multiprocessing.get_context("spawn")) as pool:
        at = chosen.first
        while time.monotonic() < until:
            batches = [range(at + _BATCH * j, at + _BATCH * (j + 1)) for j in range(chosen.jobs)]
            at += _BATCH * chosen.jobs
            for part in pool.map(campaign, [chosen.seed] * chosen.jobs, batches, [until] * chosen.jobs):
                tally.add(part)
                for find in part.finds:
                    print(f"seed {chosen.seed} text {find}\n{find.subject.text}", flush=True)
    print("\n".join(lines(tally, time.monotonic() - started)))
    return int(bool(tally.finds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
