"""report.json of a build: flat totals at the top, one entry a layer, one a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.boards import Board
from mcu_deploy.compiled import BuiltNetwork, Network
from mcu_deploy.ir import Graph
from mcu_deploy.options import Options
from mcu_deploy.plan import Plan, Step
from mcu_deploy.report import floats, memory
from mcu_deploy.toolchain import FirmwareSizes, SecondCoreStacks, StackBound, Toolchain
from mcu_deploy.version import VERSION


def build_report(
    board: Board,
    networks: Sequence[BuiltNetwork],
    firmware: FirmwareSizes,
    stack: StackBound | None,
    options: Options,
    creation: CreationOptions,
    board_file: str | None = None,
    second_stacks: SecondCoreStacks | None = None,
) -> dict[str, Any]:
    """The content of report.json; sizes in bytes. Totals are sums over the networks.

    creation: the session's options. board_file: the copy of a user's own board file in the build
    folder, relative to it. second_stacks: where lanes run on a second core of the board.
    """
    import onnx

    models = [_network(board, n) for n in networks]
    arena = memory.joint_arena([n.network for n in networks], options.arena == "shared")
    return {
        "model": ", ".join(n.name for n in networks),
        "board": board.name,
        "board_file": board_file,
        "flash_bytes": sum(m["flash_bytes"] for m in models),
        "ram_bytes": sum(m["ram_bytes"] - m["arena_bytes"] for m in models) + arena,
        "arena": options.arena,
        "arena_bytes": arena,
        "arena_lower_bound_bytes": sum(m["arena_lower_bound_bytes"] for m in models),
        "arena_ratio": models[0]["arena_ratio"] if len(models) == 1 else None,
        "stack_bytes": max(m["stack_bytes"] for m in models),
        "firmware_flash_bytes": firmware.flash_bytes,
        "firmware_ram_bytes": firmware.ram_bytes,
        "firmware_stack_bytes": None if stack is None else stack.bytes,
        "firmware_second_stack_bytes": None
        if second_stacks is None
        else second_stacks.application.bytes,
        "macs": sum(m["macs"] for m in models),
        "instructions": None,
        "layers": [layer for m in models for layer in m["layers"]],
        "float_layers": [layer for m in models for layer in m["float_layers"]],
        "assumed_shapes": [shape for m in models for shape in m["assumed_shapes"]],
        "networks": models,
        "memories": [
            {"name": u.name, "kind": u.kind, "used": u.used, "size": u.size}
            for u in firmware.memories
        ],
        "options": asdict(options),
        "session": asdict(creation),
        "tools": {
            "mcu-deploy": VERSION,
            "compiler": Toolchain.for_board(board).version,
            "onnx": onnx.__version__,
        },
    }


def kept_model(network: Network) -> str:
    """Where a build keeps its copy of a network's model, relative to the build folder."""
    return f"obj/network_{network.name}{network.model.suffix.lower()}"


def hot_bytes(plan: Plan) -> int:
    """The bytes of constants that an instance copies to RAM."""
    return sum({item.place: item.bytes for item in plan.hot}.values())


def _network(board: Board, built: BuiltNetwork) -> dict[str, Any]:
    network, plan = built.network, built.network.plan
    return {
        "name": network.name,
        "model": network.model.name,
        "kept_model": kept_model(network),
        "source_sha256": network.graph.source_sha256,
        "flash_bytes": built.sizes.flash_bytes,
        "ram_bytes": built.sizes.ram_bytes,
        "ram_parts": {
            "arena": network.ram_bytes,
            "data": sum(part.ram for part in built.sizes.parts),
            "instance": built.sizes.instance_bytes,
            "tensors": built.sizes.tensors_bytes,
            "stack": built.sizes.stack_bytes,
        },
        "arena_bytes": network.ram_bytes,
        "arena_lower_bound_bytes": plan.lower_bound,
        "arena_ratio": plan.ratio,
        "memory": plan.memory,
        "lanes": [[list(lane) for lane in stretch.lanes] for stretch in plan.parallel],
        "memory_peak_bytes": plan.peak_bytes,
        "memory_moved_bytes": sum(move.bytes for move in plan.moves),
        "stack_bytes": built.stack.bytes,
        "stack_path": [{"function": f, "bytes": b} for f, b in built.stack.path],
        "second_stack_bytes": 0 if built.second_stack is None else built.second_stack.bytes,
        "weights_bytes": len(network.sources.weights),
        "macs": network.macs,
        "assumed_shapes": [{"network": network.name, **a.as_json()} for a in network.assumed],
        "inputs": [_placed(network, e) for e in network.inputs],
        "outputs": [_placed(network, e) for e in network.outputs],
        "pools": [
            {"name": p.name, "bytes": p.bytes, "memory": p.memory or board.roles.data}
            for p in plan.pools
        ],
        "pools_taken": dict(network.options.pools.taken),
        "buffers": memory.buffers(plan),
        "hot_weights_bytes": hot_bytes(plan),
        "kept": [{**_placed(network, k.edge), "name": k.name} for k in plan.exposure.kept],
        "states": [{**_placed(network, s.input), "name": s.name} for s in plan.exposure.states],
        "partitions": [
            {
                "name": part.name,
                "inputs": [_placed(network, e) for e in part.inputs],
                "outputs": [_placed(network, e) for e in part.outputs],
                "layers": [
                    item.index
                    for position, item in enumerate(plan.program)
                    if position in part.items and isinstance(item, Step)
                ],
            }
            for part in plan.parts
        ],
        "quantized": floats.is_quantized(network),
        "float_layers": _float_layers(network),
        "layers": _layers(built),
    }


def _float_layers(network: Network) -> list[dict[str, Any]]:
    """Of a quantized network, the layers that compute real numbers all the same."""
    if not floats.is_quantized(network):
        return []
    return [{"network": network.name, **layer.as_json()} for layer in floats.float_layers(network)]


def _tensor(graph: Graph, edge: int) -> dict[str, Any]:
    type_ = graph.type(edge)
    quantization = type_.quantization
    return {
        "name": graph.edge_name(edge),
        "dtype": type_.dtype.value,
        "shape": list(type_.shape),
        "scale": None if quantization is None else quantization.scale[0],
        "zero_point": None if quantization is None else quantization.zero_point[0],
    }


def _placed(network: Network, edge: int) -> dict[str, Any]:
    """A tensor with its place between runs: pool and offset in bytes."""
    place = memory.place(network.plan, network.plan.place(edge))
    return {
        **_tensor(network.graph, edge), **place, "bytes": network.graph.type(edge).bytes,
    }  # fmt: skip


def _layers(built: BuiltNetwork) -> list[dict[str, Any]]:
    """short: the layer's own name. name: the model's. macs: of a whole run. within: the If, Loop or
    Scan that the layer is in, by its short name."""
    network, graph = built.network, built.network.whole_graph
    times = network.plan.times
    rows = []
    for step, holder in zip(network.plan.steps, network.plan.holders, strict=True):
        layer, workload = step.choice.layer, step.choice.workload
        rows.append(
            {
                "network": network.name,
                "index": step.index,
                "short": step.short,
                "name": layer.name,
                "op": layer.op,
                "backend": workload.backend,
                "macs": layer.macs * times[step.index],
                "within": None if holder is None else graph.node(holder).short,
                "constant_bytes": sum(c.value.nbytes for c in workload.constants),
                **memory.accesses(network.plan, step),
                "nodes": list(graph.leaf_nodes(layer.node.id)),
                "outputs": [
                    {
                        **_tensor(graph, o.edge),
                        **memory.place(network.plan, network.plan.place(o.edge, step.index)),
                        "bytes": o.type.bytes,
                    }
                    for o in layer.outputs
                ],
            }
        )
    return rows
