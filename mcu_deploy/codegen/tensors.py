"""Tensors in the descriptor: their places as C initialisers, and what the runtime says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcu_deploy.codegen import constants, describe, names
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.codegen.text import fill, table
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import InPool, InSlot, Place, Plan
from mcu_deploy.selection.formulas import Size

POOL_POINTER = 15  # MCU_POOL_POINTER of model.h
_DL_CODES = {0: "kDLInt", 1: "kDLUInt", 2: "kDLFloat", 4: "kDLBfloat", 6: "kDLBool"}


@dataclass(frozen=True)
class InfoMembers:
    """An mcu_tensor_info_t: C for each member, and what the header's comment says of it."""

    index: int
    name: str
    comment: str
    real: str
    shape: tuple[int, ...]
    place: str
    bytes: int
    scale: str
    zero_point: int
    code: str
    bits: int
    is_callers: bool


def info(
    graph: Graph, plan: Plan, edge: EdgeId, index: int, name: str | None = None
) -> InfoMembers:
    """What the descriptor says of a tensor; name: another one than the edge's."""
    type_ = graph.type(edge)
    scale, zero_point, real = "0.0F", 0, ""
    quantization = type_.quantization
    if quantization is not None and quantization.per_tensor and type_.dtype.is_integer:
        scale = constants.float_literal(quantization.scales[0])
        zero_point = quantization.zero_point[0]
        real = describe.real_value(quantization.scale[0], zero_point)
    place = plan.place(edge)
    return InfoMembers(
        index=index,
        name=names.string(graph.edge_name(edge) if name is None else name),
        comment=describe.tensor(graph, edge),
        real=real,
        shape=type_.shape,
        place=", ".join(region(place, type_.bytes)),
        bytes=type_.bytes,
        scale=scale,
        zero_point=zero_point,
        code=_DL_CODES.get(type_.dtype.dlpack, f"kDL{type_.dtype.value.capitalize()}"),
        bits=type_.dtype.bits,
        is_callers=isinstance(place, InSlot) and place.caller,
    )


def infos(graph: Graph, plan: Plan, edges: Iterable[EdgeId]) -> list[InfoMembers]:
    """What the descriptor says of a list of tensors."""
    return [info(graph, plan, edge, index) for index, edge in enumerate(edges)]


def macros(prefix: str, tensors: Iterable[InfoMembers]) -> list[tuple[str, str]]:
    """What the header says of inputs or outputs: names of macros and their values."""
    found = []
    for t in tensors:
        found.append((f"{prefix}_{t.index}_BYTES", f"{t.bytes}U"))
        if t.real:
            zero = str(t.zero_point) if t.zero_point >= 0 else f"({t.zero_point})"
            found.append((f"{prefix}_{t.index}_SCALE", t.scale))
            found.append((f"{prefix}_{t.index}_ZERO_POINT", zero))
    return found


def region(place: Place, size: int) -> tuple[str, str, str]:
    """The members of an mcu_region_t: offset, pool, bytes."""
    if isinstance(place, InSlot):
        return str(place.slot), str(POOL_POINTER), str(size)
    return str(place.offset), str(place.pool), str(size)


def extents(size: Size | None) -> list[str]:
    """The table of the extents that follow the size of a run, a line each."""
    rows = [
        (f"    {{{e.tensor},", f"{e.axis},", f"{e.formula.step},", f"{e.formula.before},",
         f"{e.formula.divisor},", f"{e.formula.behind}}},")
        for e in (size.extents if size else ())
    ]  # fmt: skip
    return table(rows, gap=1)


def hot_constants(plan: Plan, symbols: Symbols) -> list[str]:
    """The table of constants in RAM, a line each."""
    rows: dict[InPool, tuple[str, ...]] = {}
    for hot in plan.hot:
        constant = plan.steps[hot.step].choice.workload.constants[hot.constant]
        offset, pool, size = region(hot.place, hot.bytes)
        source = f"    {{{symbols.constant(constant, plan.steps[hot.step].short)},"
        rows.setdefault(hot.place, (source, f"{{{offset},", f"{pool},", f"{size}}}}},"))
    return table(list(rows.values()), gap=1)


def layer_outputs(plan: Plan) -> Mapping[str, object]:
    """The two tables of layers: regions of outputs, and (first region, number) of each layer."""
    regions: list[tuple[str, ...]] = []
    layers: list[str] = []
    for step in plan.steps:
        outputs = step.choice.layer.outputs
        layers.append(f"{{{len(regions)}, {len(outputs)}}}")
        for output in outputs:
            place = plan.place(output.edge, step.index)
            offset, pool, size = region(place, plan.tensors[output.edge].bytes)
            regions.append((f"    {{{offset},", f"{pool},", f"{size}}},", f"/* {step.index} */"))
    return {
        "num_regions": len(regions),
        "regions": "\n".join(table(regions, gap=1)),
        "layers": fill(layers),
    }
