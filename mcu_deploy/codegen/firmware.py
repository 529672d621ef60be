"""firmware_models.c: the table of the networks that a firmware holds, and their memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.codegen.network import environment, numbers_of_tensors
from mcu_deploy.codegen.text import fill
from mcu_deploy.ir import Graph
from mcu_deploy.plan import InSlot, Plan, PoolUse


@dataclass(frozen=True)
class FirmwareModel:
    """A network in a firmware: identity (hexadecimal SHA-256) and the bound of its stack.

    workspace_bytes, workspace_memory: of pool 0; extra_pools: beside it. callers: the bytes of each
    input, then of each output, that lies in a buffer of the caller, which is the firmware; 0: it
    has a place. tensors: the inputs and outputs together, of the model or of the partition that has
    more. is_sized: each run decides a size.
    """

    name: str
    source_sha256: str
    object_sha256: str
    stack_bytes: int
    workspace_bytes: int = 0
    extra_pools: tuple[PoolUse, ...] = ()
    callers: tuple[int, ...] = ()
    workspace_memory: str = ""
    tensors: int = 1
    is_sized: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        graph: Graph,
        plan: Plan,
        object_sha256: str,
        stack_bytes: int,
        is_sized: bool,
    ) -> FirmwareModel:
        """The entry of a network."""
        shown = plan.exposure
        tensors = (*shown.inputs(graph), *shown.outputs(graph))
        callers = tuple(
            graph.type(edge).bytes if isinstance(plan.place(edge), InSlot) else 0
            for edge in tensors
        )
        return cls(
            name, graph.source_sha256, object_sha256, stack_bytes, plan.bytes, plan.pools[1:],
            callers if any(callers) else (), plan.pools[0].memory,
            max(numbers_of_tensors(graph, plan).values()), is_sized,
        )  # fmt: skip


def firmware_models(models: Sequence[FirmwareModel], shared: bool = False) -> str:
    """The C source of the table. shared: the networks take turns in one workspace."""
    return (
        environment()
        .get_template("firmware_models.c.j2")
        .render(
            models=models,
            bytes_of=_bytes_of,
            section=_section,
            shared=shared,
            arena_bytes=max((m.workspace_bytes for m in models), default=0),
            most_tensors=max((m.tensors for m in models), default=1),
        )
    )


def _section(memory: str, name: str) -> str:
    """Where the linker script looks for a pool: in a memory of the board, or in the data's."""
    return f".bss.mcu_pool.{memory}.{name}" if memory else f".bss.mcu_workspace.{name}"


def _bytes_of(digest: str) -> str:
    return fill((f"0x{byte:02x}" for byte in bytes.fromhex(digest)), indent=12)
