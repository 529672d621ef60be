"""A net for the opset whose QuantizeLinear and DequantizeLinear know int16, int4 and blocks."""

from __future__ import annotations

import onnx
from onnx import numpy_helper

from mcu_deploy.errors import RequestError, one_line
from mcu_deploy.quantizing.net import Net

OPSET = 21


def converted(model: onnx.ModelProto, opset: int, why: str) -> onnx.ModelProto:
    """A model for another opset. Raises RequestError, which begins with why, where onnx cannot."""
    try:
        return onnx.version_converter.convert_version(model, opset)
    except (RuntimeError, ValueError, IndexError) as error:
        raise RequestError(
            f"{why}, and onnx cannot convert this model ({one_line(str(error), 200)}). Export it "
            f"for opset {opset}."
        ) from error


def with_more_types(net: Net, what: str) -> Net:
    """what: the tensors that need it, as a sentence begins. Raises RequestError where onnx cannot
    convert the net."""
    if net.opset >= OPSET:
        return net
    made = Net(converted(net.model(), OPSET, f"{what} exist from ONNX opset {OPSET} on"))
    for node in [n for n in made.nodes if n.op_type == "Constant"]:
        made.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        made.nodes = [other for other in made.nodes if other is not node]
    return made.copy()
