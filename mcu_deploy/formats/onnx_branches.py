"""What constants of the outer graph settle in a subgraph: the branch of an If, and shapes.

Exporters write an If for a question about shapes, which has one answer once the shapes are static.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import onnx
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy.formats.onnx_subgraphs import free_names, put, rename, subgraphs_of

# Larger constants are no shapes.
_MOST_ELEMENTS = 64


def inline(node: onnx.NodeProto, constants: Mapping[str, TensorProto]) -> onnx.GraphProto | None:
    """The branch of an If that is taken, as it stands in the node's place; None for other nodes,
    and where that is not known."""
    if node.op_type != "If" or node.domain not in ("", "ai.onnx") or len(node.input) != 1:
        return None
    condition = constants.get(node.input[0])
    if condition is None or math.prod(condition.dims) != 1:
        return None
    taken = bool(numpy_helper.to_array(condition).reshape(-1)[0])
    held = subgraphs_of(node).get("then_branch" if taken else "else_branch")
    if held is None or len(held.output) != len(node.output) or not node.output:
        return None
    branch = onnx.GraphProto()
    branch.CopyFrom(held)
    return _renamed(node, branch)


def _renamed(node: onnx.NodeProto, branch: onnx.GraphProto) -> onnx.GraphProto:
    """The branch's nodes under names that are new outside, writing the outputs of the node."""
    own = [t.name for t in branch.initializer] + [o for n in branch.node for o in n.output if o]
    rename(branch, {name: f"{node.output[0]}/{name}" for name in own})
    written = {o for n in branch.node for o in n.output}
    outputs: dict[str, str] = {}
    copies = []
    for target, output in zip(node.output, branch.output, strict=True):
        if output.name in written and output.name not in outputs:
            outputs[output.name] = target
        else:
            source = outputs.get(output.name, output.name)
            copies.append(helper.make_node("Identity", [source], [target], f"{target} copied"))
    rename(branch, outputs)
    branch.node.extend(copies)
    put(branch.value_info, [v for v in branch.value_info if v.name not in node.output])
    return branch


def take_shapes(graph: onnx.GraphProto, constants: Mapping[str, TensorProto]) -> bool:
    """Gives a subgraph copies of the small integer constants that it reads from outside; whether
    there were any.

    ONNX's inference knows the values of constants only in the graph where they are.
    """
    changed = False
    for name in free_names(graph):
        tensor = constants.get(name)
        if tensor is None or tensor.data_type not in (TensorProto.INT64, TensorProto.INT32):
            continue
        if math.prod(tensor.dims) <= _MOST_ELEMENTS:
            rename(graph, {name: f"{graph.name}/{name}"})
            copy = TensorProto()
            copy.CopyFrom(tensor)
            copy.name = f"{graph.name}/{name}"
            graph.initializer.append(copy)
            changed = True
    return changed
