"""Events (EV-02, EV-05): flags that are recorded and waited for, barriers within a pipe, flags between cores."""

from __future__ import annotations

from pypto_verified.codegen.errors import refuse
from pypto_verified.codegen.event_ids import event_id
from pypto_verified.codegen.kernel import Kernel
from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import Call, Var
from pypto_verified.pto.module import AttrValue, EnumAttr
from pypto_verified.targets import target
from pypto_verified.targets.event_ops import EVENT_PIPES, between_cores, event_kind
from pypto_verified.targets.pipes import ALL, barrier_holds


def emit_record(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.event_record()`: the producer's pipe sets the flag. Within a pipe the wait alone does the work."""
    src, dst = _pipes(call)
    if src != dst:
        _flag(kernel, call, "record_event", "set_flag", "pto.sync.set", src)


def emit_wait(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.event_wait()`: the consumer's pipe waits; within a pipe it is a barrier, where the pipe has one."""
    src, dst = _pipes(call)
    if src != dst:
        _flag(kernel, call, "wait_event", "wait_flag", "pto.sync.wait", dst)
    elif barrier_holds(target(kernel.target), src):
        _barrier(kernel, call, src)


def emit_one(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.tsync(op)`: a barrier of the op's pipe. CodegenError where the target's has none (EV-05)."""
    name = str(call.kwarg("name"))
    pipe = EVENT_PIPES.get(name, ALL)
    if not barrier_holds(target(kernel.target), pipe):
        has = ", ".join(sorted(target(kernel.target).barriers))
        refuse(f"{name} runs on {pipe}, which has no barrier on {kernel.target}", kernel.span,
               f"pipes with a barrier: {has}; ops of others are ordered by themselves")
    _barrier(kernel, call, pipe)


def _pipes(call: Call) -> tuple[str, str]:
    return EVENT_PIPES[str(call.kwarg("src_op"))], EVENT_PIPES[str(call.kwarg("dst_op"))]


def _flag(kernel: Kernel, call: Call, event: str, flag: str, crossing: str, pipe: str) -> None:
    """The event by kinds of ops, where both pipes have one and the id is fixed; else by pipes."""
    src, dst = _pipes(call)
    kinds = event_kind(src), event_kind(dst)
    attrs: dict[str, AttrValue] = {
        "src_pipe": EnumAttr("pipe", f"PIPE_{src}"), "dst_pipe": EnumAttr("pipe", f"PIPE_{dst}")}
    with kernel.at_call(call):
        id = event_id(kernel, (src, dst), call)
        if between_cores(str(call.kwarg("src_op")), str(call.kwarg("dst_op"))):
            attrs = {"pipe": EnumAttr("pipe", f"PIPE_{pipe}")}
            if isinstance(id, int):
                kernel.emit(crossing, {}, {**attrs, "event_id": id})
            else:
                kernel.emit(crossing, {"event_id_dyn": (kernel.scalar(id, INDEX),)}, attrs)
        elif not isinstance(id, int):
            kernel.emit(f"pto.{flag}_dyn", {"event_id": (kernel.scalar(id, INDEX),)}, attrs)
        elif all(kinds):
            attrs = {"src_op": EnumAttr("pipe_event_type", kinds[0]), "dst_op": EnumAttr("pipe_event_type", kinds[1])}
            kernel.emit(f"pto.{event}", {}, {**attrs, "event_id": EnumAttr("event", f"EVENT_ID{id}")})
        else:
            kernel.emit(f"pto.{flag}", {}, {**attrs, "event_id": EnumAttr("event", f"EVENT_ID{id}")})


def _barrier(kernel: Kernel, call: Call, pipe: str) -> None:
    with kernel.at_call(call):
        kernel.emit("pto.barrier", {}, {"pipe": EnumAttr("pipe", f"PIPE_{pipe}")})
