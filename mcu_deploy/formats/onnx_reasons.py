"""What onnx, onnxruntime and protobuf complain of: by which exceptions, and as a clause of one
line, without their tags."""

from __future__ import annotations

import re

import onnx
from google.protobuf.message import DecodeError

from mcu_deploy.errors import one_line

_LONGEST = 300
# "[ShapeInferenceError] ", "[ONNXRuntimeError] : 1 : FAIL : ", "Inference error(s): "
_TAGS = re.compile(
    r"\[\w+Error\]\s*(?:: \d+ : \w+ : )?|Inference error\(s\): |\S+\.(?:cc|h):\d+ \S+ "
    r"| for node name (?=\.)"  # of a node without one
)
_NODE = re.compile(r"\(op_type: ?(\w*)(?:, node name: ?([^)]*))?\): ?")
# "input 'z' of node: \nname: n OpType: Add\n is not output of", which onnx lays over three lines
_LAID_OUT = re.compile(r"\bnode: *\nname: (\S*) +OpType: (\w+)\n *")
_CONTEXT = re.compile(r"==> Context: .*?Name: ?(\S*) +OpType: ?(\w+)")

# What Python, numpy and protobuf raise where a file says something impossible.
SIGNS_OF_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    DecodeError,
    onnx.checker.ValidationError,
    onnx.shape_inference.InferenceError,
)


def reason(error: BaseException) -> str:
    """The first complaint in an exception's text, with the node that it is about, if it says so."""
    text = _LAID_OUT.sub(lambda m: f"{_label(m[2], m[1])} ", str(error)[:4000])
    found = _CONTEXT.search(text)
    lines = [line.strip() for line in text.splitlines()]
    first = next((line for line in lines if line and not line.startswith("==>")), "")
    first = _NODE.sub(lambda m: f"{_label(m[1], m[2])}: ", _TAGS.sub("", first))
    if found is not None:
        first = f"{first.rstrip('. ')} ({_label(found[2], found[1])})"
    return one_line(first.rstrip(". "), _LONGEST) or type(error).__name__


def _label(op: str, name: str | None) -> str:
    return f"{op} {name[:80]!r}" if name else op
