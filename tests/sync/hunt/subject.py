"""A text that is looked at, and how it is launched."""

from __future__ import annotations

from dataclasses import dataclass

FAMILIES = frozenset({"EVENT", "RACE", "FIFO"})


@dataclass(frozen=True, slots=True)
class Subject:
    """`kind`: of which generator; `function`: one of the kernel's; `launched`: blocks of a launch, 0 if none is asked
    for; `blocks`: those of them that run together; `strict`: judged by the stricter readings; `right`: made without a
    mistake."""

    kind: str
    chip: str
    text: str
    function: str = "k"
    launched: int = 0
    blocks: tuple[int, ...] = ()
    strict: bool = False
    right: bool = True

    @property
    def assumed(self) -> tuple[str, ...]:
        """What callers keep to."""
        return ("M >= 0", "N >= 0", *([f"block_num == {self.launched}"] if self.launched else []))
