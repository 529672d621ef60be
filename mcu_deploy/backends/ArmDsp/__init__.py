"""ArmDsp: int8 convolutions for cores with the DSP extension of Armv7E-M and Armv8-M (SMLAD).

It proposes 1x1 convolutions, and 3x3 depthwise convolutions together with the 1x1 convolution
behind them, as one layer. Its kernels are assembler, made for each layer's shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcu_deploy.backends.ArmDsp import depthwise, pointwise
from mcu_deploy.backends.ArmDsp.assembly import statement
from mcu_deploy.backends.ArmDsp.layers import Convolution, read
from mcu_deploy.backends.interface import (
    Argument,
    Backend,
    BackendBase,
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Proposal,
    Proposals,
    Role,
    SubgraphView,
    Target,
    Workload,
    layer_of,
)
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer
from mcu_deploy.ir import Graph, GraphEditor, NodeId

_LAST = (LayoutRule.CHANNELS_LAST,)


class ArmDsp(BackendBase):
    """Cortex-M4, M7 and M33. On the M3, which lacks the instructions, it says so."""

    id = "ArmDsp"
    rank = 200
    cores = ("cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33")
    operators = ("Conv",)

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        convolutions: dict[NodeId, Convolution] = {}
        refused: dict[NodeId, str] = {}
        for node in view.nodes:
            if node.op == "Conv":
                found = _lacks(target) or _taken(layer_of(view, node, target))
                if isinstance(found, str):
                    refused[node.id] = found
                else:
                    convolutions[node.id] = found
        proposals = []
        for id_, layer in convolutions.items():
            if not layer.is_depthwise:
                proposals.append(_alone(view, id_, layer))
                continue
            reader = _only_reader(view, id_)
            behind = convolutions.get(reader)
            if behind is not None and not behind.is_depthwise:
                proposals.append(_chain(view, (id_, reader), layer, behind))
            else:
                refused[id_] = "it computes a depthwise convolution before a 1x1 one only"
        return Proposals(tuple(proposals), refused)


def _lacks(target: Target) -> str:
    if not target.dsp:
        return f"its kernels need the DSP extension (SMLAD), which this {target.core} lacks"
    if not target.fpu:
        return f"its kernels keep values in the FPU, which this {target.core} lacks"
    return ""


def _taken(layer: Layer) -> Convolution | str:
    """A layer that a kernel computes, or why none does."""
    found = read(layer)
    if isinstance(found, str):
        return found
    return (depthwise if found.is_depthwise else pointwise).refusal(found) or found


def _only_reader(view: SubgraphView, node: NodeId) -> NodeId:
    """The one node that reads what a node writes, if nothing else needs it; else the node."""
    (edge,) = view.node(node).writes
    assert view.whole is not None
    readers = view.whole.topology.consumers[edge]
    is_inner = len(readers) == 1 and edge not in view.whole.outputs
    return readers[0] if is_inner else node


def _alone(view: SubgraphView, node: NodeId, layer: Convolution) -> Proposal:
    channels, filters = layer.x.shape[1], layer.y.shape[1]
    code = pointwise.assemble(layer)
    stem = f"conv1x1_{channels}x{filters}_dsp"
    # A tile is read before it is written. (The last one reads some pixels again whose results are
    # not taken, whatever has been written over them.)
    tiles = layer.pixels // 3 if filters > channels else 1
    distance = max(3 * tiles * (filters - channels), -layer.x.bytes)
    price = Price(
        Costs(layer.pixels * channels * filters, cycles=round(code.cycles), flash=_bytes(layer)),
        {f"{stem} {code.digest}": code.bytes},
        pointwise.scratch_bytes(channels, filters),
        (InPlace(0, 0, distance),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        body = "{\n" + statement(code, "x", "y", "weights", "scratch") + "}"
        constants = (Constant("weights", pointwise.pack(layer)),)
        return (_workload(layers[0], stem, body, constants, price),)

    return Proposal(view.part([node]), price, make, layouts=_LAST, title="conv1x1")


def _chain(
    view: SubgraphView, nodes: tuple[NodeId, NodeId], before: Convolution, behind: Convolution
) -> Proposal:
    part = view.part(nodes)
    channels, filters = behind.x.shape[1], behind.y.shape[1]
    planes = depthwise.Planes(before)
    codes = depthwise.assemble(before), pointwise.assemble(behind)
    stem = f"depthwise3x3_conv1x1_{channels}x{filters}_dsp"
    scratch = max(4 * planes.bytes, pointwise.scratch_bytes(channels, filters))
    # What is between the two lies at the end of the output, which follows it and never catches up.
    ahead = behind.pixels * (filters - channels)
    ctype = behind.y.dtype.c_type
    middle = f"y + {ahead}"
    if ahead < 0 or ahead % 4:
        scratch = -(-scratch // 4) * 4
        middle = f"({ctype} *)(scratch + {scratch})"
        scratch += behind.x.bytes
    price = Price(
        Costs(
            behind.pixels * channels * (9 + filters),
            cycles=round(sum(code.cycles for code in codes)),
            flash=32 * channels + _bytes(behind),
        ),
        {f"{stem} {' '.join(c.digest for c in codes)}": sum(c.bytes for c in codes)},
        scratch,
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        taps = depthwise.pack(before)
        body = (
            f"{{\n    {ctype} *middle = {middle};\n    {ctype} *next = middle;\n"
            "    uint8_t *planes = scratch;\n"
            + statement(codes[0], "x", "next", "taps", "planes")
            + statement(codes[1], "middle", "y", "weights", "scratch")
            + "}"
        )
        constants = (Constant("taps", taps), Constant("weights", pointwise.pack(behind)))
        return (_workload(layers[0], stem, body, constants, price),)

    return Proposal(part, price, make, _fused(part), _LAST, "depthwise3x3 + conv1x1")


def _bytes(layer: Convolution) -> int:
    """Of a 1x1 convolution's constants: of each filter the weights, bias, scale and addend."""
    channels, filters = layer.x.shape[1], layer.y.shape[1]
    return (channels + 12) * filters


def _fused(part: SubgraphView) -> Graph:
    """The chain as one node, whose body the replaced nodes become."""
    editor = GraphEditor.empty("chain")
    editor.inputs = [editor.add_edge("x", part.type(e)) for e in part.inputs]
    editor.outputs = [editor.add_edge("y", part.type(e)) for e in part.outputs]
    name = " + ".join(node.name for node in part.nodes)
    editor.add_node("DepthwisePointwise", editor.inputs, editor.outputs, name, {}, ArmDsp.id)
    return editor.finish(opset=part.opset)


def _workload(
    layer: Layer, stem: str, body: str, constants: tuple[Constant, ...], price: Price
) -> Workload:
    arrays = tuple(Parameter(f"const {c.ctype} *", c.stem) for c in constants)
    places = tuple(constant_argument(index) for index in range(len(constants)))
    ends = pointer(layer.input(0), "x"), pointer(layer.output, "y", const=False)
    function = CFunction(stem, (*ends, *arrays, Parameter("uint8_t *", "scratch")), body)
    return Workload(
        ArmDsp.id, function, (INPUT, OUTPUT, *places, Argument(Role.SCRATCH)), constants,
        scratch_bytes=price.scratch_bytes, in_place=price.in_place, costs=price.costs,
    )  # fmt: skip


def create() -> Backend:
    """The factory that the registry holds."""
    return ArmDsp()
