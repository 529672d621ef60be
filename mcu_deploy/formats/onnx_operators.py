"""Names in an ONNX file, and operators that are refused before there is a graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import onnx

from mcu_deploy.errors import UnsupportedError
from mcu_deploy.formats.onnx_subgraphs import subgraphs_below
from mcu_deploy.operators import find, label


def text_of(name: str | bytes) -> str:
    """A name of the model; protobuf gives bytes where it is no UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


def domain_of(domain: str | bytes) -> str:
    """A node's domain; ONNX's own has two names."""
    text = text_of(domain)
    return "" if text == "ai.onnx" else text


def refuse_unknown(model: onnx.ModelProto) -> None:
    """Raises UnsupportedError, which lists them all, for operators that ONNX does not define."""
    version = max((o.version for o in model.opset_import if not domain_of(o.domain)), default=1)
    local = {text_of(f.name) for f in model.functions if not domain_of(f.domain)}
    scopes = (model.graph, *subgraphs_below(model.graph))
    nodes = [n for scope in scopes for n in scope.node]
    standard = [text_of(n.op_type) for n in nodes if not domain_of(n.domain)]
    unknown = [n for n in standard if n not in local and not onnx.defs.has(n, version, "")]
    if unknown:
        raise UnsupportedError(
            f"The model uses operators that ONNX's opset {version} does not define: "
            f"{_listed(unknown)}. Replace them in the model, or export it to another opset."
        )


def refuse_untyped(model: onnx.ModelProto, types: Mapping[str, onnx.TypeProto]) -> None:
    """Raises UnsupportedError, which lists all unsupported operators, where one blocks the way.

    Behind an operator without shape inference no shape is known, so the backends cannot be asked.
    """
    constants = {t.name for t in model.graph.initializer}
    blocked, unknown = [], []
    for node in model.graph.node:
        domain, op = domain_of(node.domain), text_of(node.op_type)
        known = all(not i or i in types or i in constants for i in node.input)
        if known and any(o and o not in types for o in node.output):
            blocked.append(label(domain, op))
        elif find(domain, op) is None:
            unknown.append(label(domain, op))
    if blocked:
        raise UnsupportedError(
            f"The model uses operators that no backend has: {_listed([*blocked, *unknown])}. "
            "Replace them in the model."
        )


# Operators that give as many elements as their input's values happen to ask for.
_COUNTING = {"Compress", "NonMaxSuppression", "NonZero", "Unique"}
# The inputs whose values are, or decide, the shape of the output; from the place on.
_SIZING = {
    "CenterCropPad": 1, "ConstantOfShape": 0, "Expand": 1, "OneHot": 1, "Pad": 1, "Range": 0,
    "Reshape": 1, "Resize": 2, "Slice": 1, "Split": 1, "Squeeze": 1, "Tile": 1, "TopK": 1,
    "Unsqueeze": 1, "Upsample": 1,
}  # fmt: skip


def sized_at_run_time(node: onnx.NodeProto, constants: Collection[str]) -> str | None:
    """Why the size of a node's output is known only when the model runs, and what to do instead.

    None for a node that does not depend on values so. constants: the names of the constants.
    """
    op = text_of(node.op_type)
    if domain_of(node.domain):
        return None
    if op in _COUNTING:
        return (
            "how many elements it gives depends on the data, and memory is planned when the model "
            "is compiled. Let the model end before it and do this step in your program, or replace "
            "it by operators of fixed size (Where, TopK)"
        )
    places = node.input[_SIZING.get(op, len(node.input)) :]
    computed = [text_of(name) for name in places if name and name not in constants]
    if computed:
        return (
            f"the shape of its output depends on the values of the tensor {computed[0][:80]!r}, "
            "which is computed when the model runs, and memory is planned when the model is "
            "compiled. Make that tensor a constant of the model"
        )
    return None


def _listed(names: Sequence[str]) -> str:
    """Each name once, in order; many are cut short."""
    distinct = list(dict.fromkeys(n if len(n) <= 60 else n[:57] + "..." for n in names))
    shown = ", ".join(distinct[:30])
    return shown if len(distinct) <= 30 else f"{shown} and {len(distinct) - 30} more"
