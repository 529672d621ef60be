"""network_<name>.c, .h and the weights file of one network."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import jinja2
import numpy as np

from mcu_deploy.backends.interface import Argument, Role
from mcu_deploy.codegen import names
from mcu_deploy.codegen.symbols import NamedConstant, Symbols, headers
from mcu_deploy.errors import ModelError
from mcu_deploy.ir import DType, Graph
from mcu_deploy.plan import Plan, Step

_DL_CODES = {"int": "kDLInt", "uint": "kDLUInt", "float": "kDLFloat", "bool": "kDLBool"}
_MOST_TENSORS = 16  # MCU_MAX_TENSORS of crt/include/mcu/runtime.h


@dataclass(frozen=True)
class NetworkSource:
    """The generated text of a network, and the bytes of its weights file."""

    name: str
    source: str
    header: str
    weights: bytes

    @property
    def files(self) -> dict[str, bytes]:
        """The files by name, as they go into the build folder."""
        return {
            f"network_{self.name}.c": self.source.encode(),
            f"network_{self.name}.h": self.header.encode(),
            f"network_{self.name}.weights.bin": self.weights,
        }


@dataclass(frozen=True)
class _Call:
    """A layer as the template shows it."""

    index: int
    title: str
    details: str
    statement: str


@functools.cache
def environment() -> jinja2.Environment:
    """The templates of this package."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("mcu_deploy.codegen", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def generate(
    graph: Graph, plan: Plan, name: str, command: str, weights: str = "incbin"
) -> NetworkSource:
    """The C of a network.

    command: the gcc command that the source quotes, so that a person can build it by hand.
    weights: "incbin" takes the weights from a file beside the source, "array" writes C arrays.
    """
    tensors = len(graph.inputs) + len(graph.outputs)
    if tensors > _MOST_TENSORS:
        raise ModelError(
            f"The model has {tensors} inputs and outputs; the runtime takes {_MOST_TENSORS}. "
            "Join some of them in the model."
        )
    symbols = Symbols(name)
    calls = [_call(graph, plan, step, symbols) for step in plan.steps]
    regions, layers = _layer_outputs(plan)
    blob = bytes(symbols.weights)
    values = {
        "name": name,
        "upper": name.upper(),
        "prefix": symbols.prefix,
        "model": names.comment(graph.name or name),
        "source_sha256": graph.source_sha256,
        "weights_sha256": hashlib.sha256(blob).hexdigest(),
        "weights_bytes": len(blob),
        "weights": weights,
        "command": command,
        "headers": headers([s.choice for s in plan.steps]),
        "functions": symbols.functions,
        "constants": symbols.constants,
        "initializer": _initializer,
        "calls": calls,
        "plan": plan,
        "regions": regions,
        "layers": layers,
        "inputs": [_tensor(graph, plan, e) for e in graph.inputs],
        "outputs": [_tensor(graph, plan, e) for e in graph.outputs],
        "macs": sum(s.choice.layer.macs for s in plan.steps),
    }
    return NetworkSource(
        name,
        environment().get_template("network.c.j2").render(values),
        environment().get_template("network.h.j2").render(values),
        blob,
    )


def _call(graph: Graph, plan: Plan, step: Step, symbols: Symbols) -> _Call:
    layer, workload = step.choice.layer, step.choice.workload
    function = workload.function
    assert function is not None
    for helper in workload.helpers:
        symbols.function(helper)
    symbol = symbols.function(function)
    constants = [symbols.constant(c, step.index) for c in workload.constants]

    def argument(item: Argument, ctype: str) -> str:
        if item.role is Role.CONSTANT:
            return constants[item.index]
        if item.role is Role.SCRATCH:
            assert step.scratch is not None
            offset = plan.offsets[step.scratch]
        elif item.role is Role.INPUT:
            offset = plan.offset(layer.input(item.index).edge)
        else:
            offset = plan.offset(layer.outputs[item.index].edge)
        return f"({ctype})(ws + {offset})"

    arguments = [
        argument(item, parameter.ctype.strip())
        for item, parameter in zip(workload.arguments, function.parameters, strict=True)
    ]
    leaves = graph.leaf_nodes(layer.node.id)
    computed = [o for o in layer.inputs if o is not None and o.constant is None]
    shapes = ", ".join(str(o.type).split(" ")[0] for o in computed)
    results = ", ".join(str(o.type).split(" ")[0] for o in layer.outputs)
    macs = f", {layer.macs:,} MACs" if layer.macs else ""
    return _Call(
        step.index,
        f"{layer.op} {names.comment(layer.name)}"
        + (f" ({len(leaves)} nodes)" if len(leaves) > 1 else ""),
        f"{shapes} -> {results}{macs}",
        _wrap(f"{symbol}(", arguments),
    )


def _wrap(head: str, arguments: Sequence[str]) -> str:
    """A call, indented by four and wrapped at 100 columns."""
    lines = ["    " + head]
    for index, argument in enumerate(arguments):
        text = argument + (");" if index == len(arguments) - 1 else ", ")
        if len(lines[-1]) + len(text.rstrip()) > 100 and index:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * 8)
        lines[-1] += text
    return "\n".join(lines)


def _layer_outputs(plan: Plan) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    regions: list[tuple[int, int]] = []
    layers: list[tuple[int, int]] = []
    for step in plan.steps:
        outputs = step.choice.layer.outputs
        layers.append((len(regions), len(outputs)))
        regions += [(plan.offset(o.edge), plan.tensors[o.edge].bytes) for o in outputs]
    return regions, layers


def _tensor(graph: Graph, plan: Plan, edge: int) -> dict[str, object]:
    type_ = graph.type(edge)
    scale, zero_point = "0.0F", 0
    quantization = type_.quantization
    if quantization is not None and quantization.per_tensor and type_.dtype.is_integer:
        text = np.format_float_scientific(np.float32(quantization.scale[0]), trim="0", exp_digits=1)
        scale, zero_point = f"{text}F", quantization.zero_point[0]
    return {
        "name": names.string(graph.edge_name(edge)),
        "comment": f"{names.comment(graph.edge_name(edge), 60)}: {type_}",
        "shape": type_.shape,
        "offset": plan.offset(edge),
        "bytes": type_.bytes,
        "scale": scale,
        "zero_point": zero_point,
        "code": _DL_CODES[
            "bool" if type_.dtype is DType.BOOL else type_.dtype.value.rstrip("0123456789")
        ],
        "bits": 8 * type_.dtype.bytes,
    }


def _initializer(constant: NamedConstant) -> str:
    """The elements of a C array, wrapped."""
    flat = constant.value.reshape(-1)
    if flat.dtype.kind == "f":
        items = [
            np.format_float_scientific(v, trim="0", exp_digits=1) + ("F" if v.itemsize == 4 else "")
            for v in flat
        ]
    elif flat.dtype == np.int32:
        # -2147483648 is no int constant in C.
        items = [str(v) if v != -(2**31) else "(-2147483647 - 1)" for v in flat.tolist()]
    else:
        items = [str(int(v)) + ("U" if flat.dtype.kind == "u" else "") for v in flat.tolist()]
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*lines, line])
