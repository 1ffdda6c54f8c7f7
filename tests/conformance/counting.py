"""Random words from a counter (TRANDOM) and histograms of bytes (THISTOGRAM), both a5 only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pypto_verified.dtypes import DTYPES
from tests.conformance.arithmetic import Array
from tests.conformance.case import Case
from tests.conformance.ir_kernel import IrKernel
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.single import Pto, Source, single

_TOP = 2**32
_WIDE = (2, 320)
BINS = 256


def philox(counter: int, key: tuple[int, int], rounds: int) -> list[int]:
    """Four words of Philox 4x32 (Salmon et al., 2011), on Python integers."""
    words, (k0, k1) = [counter // _TOP**i % _TOP for i in range(4)], key
    for _ in range(rounds):
        high0, low0 = divmod(0xD2511F53 * words[0], _TOP)
        high1, low1 = divmod(0xCD9E8D57 * words[2], _TOP)
        words = [high1 ^ words[1] ^ k0, low1, high0 ^ words[3] ^ k1, low0]
        k0, k1 = (k0 + 0x9E3779B9) % _TOP, (k1 + 0xBB67AE85) % _TOP
    return words


def _rows(counter: int, key: tuple[int, int], rounds: int, rows: int, cols: int) -> Array:
    """64 counters, in their order, give 256 columns. The next ones start 64 later, after the last columns of a row as
    many later as (columns - 1) mod 64 + 1."""
    found = []
    for _ in range(rows):
        line: list[int] = []
        while len(line) < cols:
            for i in range(64):
                line += philox(counter + i, key, rounds)
            counter += 64 if len(line) < cols else (cols - 1) % 64 + 1
        found.append(line[:cols])
    return np.array(found, np.uint32).reshape(rows, cols)


def _random(name: str, derivation: str, words: tuple[int, ...], rounds: int, valid: tuple[int, int],
            values: Array) -> Case:
    before = np.full(_WIDE, 7, np.uint32)
    after = before.copy()
    after[: valid[0], : valid[1]] = values
    signed = [w - _TOP if w >= _TOP // 2 else w for w in words]

    def write(k: PtoKernel) -> None:
        x = k.tile("x", "UINT32", _WIDE, valid)
        k.op("trandom", " ".join(f"c:{w}:i32" for w in signed), x, f"{{rounds = {rounds} : i32}}")
        k.store(x, "out", valid)

    def write_ir(k: IrKernel) -> None:
        made = k.call("random", *signed, _WIDE, valid, dtype=DTYPES["UINT32"], rounds=rounds)
        k.store(made, "out")

    return Case(name, "trandom", derivation, {"out": before}, {"out": after}, write_ir, write, targets=("a5",))


def random_cases() -> Iterator[Case]:
    """Published vectors, then whole tiles."""
    published = (
        ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((_TOP - 1,) * 2, (_TOP - 1,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        ((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
         (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    )
    for i, (key, counter, words) in enumerate(published):
        yield _random(f"trandom-published-{i}", "the test vectors that Random123 publishes for Philox 4x32-10",
                      (*key, *counter), 10, (1, 4), np.array([words], np.uint32))
    key, counter = (17, 2**31 + 5), (2**32 - 30, 2**32 - 1, 4, 9)
    start = sum(word * _TOP**i for i, word in enumerate(counter))
    for region, valid in {"full": _WIDE, "partial": (2, 131), "one": (1, 1), "no-rows": (0, 320), "no-cols": (2, 0)
                          }.items():
        for rounds in (7, 10):
            yield _random(f"trandom-{rounds}-{region}", "Philox on Python integers; the counter carries over",
                          (*key, *counter), rounds, valid, _rows(start, key, rounds, *valid))


def _histogram(a: Array, chosen: Array, byte: int) -> Array:
    rows = []
    for values, kept in zip(a, chosen, strict=True):
        line = [int(v) // 256**byte % 256 for v, k in zip(values, kept, strict=True) if k]
        rows.append([sum(v <= limit for v in line) for limit in range(BINS)])
    return np.array(rows, np.uint32).reshape(len(a), BINS)


def histogram_cases() -> Iterator[Case]:
    """Each bin counts the bytes up to its number, of elements whose higher bytes are those asked for."""
    random = np.random.default_rng(161)
    for dtype, size in (("UINT16", 2), ("UINT32", 4)):
        a = random.integers(0, 256**size, (4, 64)).astype(f"u{size}")
        a[:, ::2] = a[0, 0] // 256 * 256 + a[:, ::2] % 256
        a[:, ::4] = a[0, 0]
        for byte in range(size):
            names = np.zeros((4, 32), np.uint8)
            above = size - 1 - byte
            if size == 2:
                names[:, 0] = int(a[0, 0]) // 256
            else:
                names[:above, 0] = [int(a[0, 0]) // 256 ** (size - 1 - i) % 256 for i in range(above)]
            chosen = a.astype(np.int64) // 256 ** (byte + 1) == int(a[0, 0]) // 256 ** (byte + 1)
            for region, valid in {"full": (4, 64), "partial": (3, 19), "one": (1, 1), "no-cols": (3, 0)}.items():
                part = a[: valid[0], : valid[1]]
                values = np.zeros((4, BINS), np.uint32)
                values[: valid[0]] = _histogram(part, chosen[: valid[0], : valid[1]], byte)
                yield single(
                    f"thistogram-{dtype}-{byte}-{region}", "for each number the bytes that are not greater, counted "
                    "one by one", {"a": Source(a, valid), "names": Source(names)}, values, (valid[0], BINS),
                    Pto("thistogram", "a names", f"{{byte = {byte} : i32}}"), None, targets=("a5",),
                )


def cases() -> Iterator[Case]:
    yield from random_cases()
    yield from histogram_cases()
