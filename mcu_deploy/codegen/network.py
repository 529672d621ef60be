"""network_<name>.c, .h and the weights file of one network."""

from __future__ import annotations

import functools
import shlex
from dataclasses import dataclass

import jinja2

from mcu_deploy.backends.interface import Argument, RegionCall, RegionKind, Role
from mcu_deploy.codegen import constants, describe, names
from mcu_deploy.codegen.symbols import Symbols, headers
from mcu_deploy.codegen.text import COLUMNS, fill, paragraph, shell_lines, table, wrap
from mcu_deploy.errors import BackendFault, ModelError, UsageError
from mcu_deploy.ir import DType, Graph
from mcu_deploy.plan import Plan, Step
from mcu_deploy.select import Selection

# What the templates are written for: MCU_MODEL_ABI_VERSION of crt/include/mcu/model.h, and
# MCU_MAX_TENSORS of runtime.h.
ABI_VERSION = 2
MOST_TENSORS = 16

_WEIGHTS = ("incbin", "array")
_DL_CODES = {"int": "kDLInt", "uint": "kDLUInt", "float": "kDLFloat", "bool": "kDLBool"}


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


@dataclass(frozen=True)
class _RegionCall:
    """A call of a backend's memory manager, as the template shows it."""

    backend: str
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
    graph: Graph,
    plan: Plan,
    name: str,
    command: str,
    weights: str = "incbin",
    selection: Selection | None = None,
) -> NetworkSource:
    """The C of a network.

    command: the gcc command that the source quotes, so that a person can build it by hand.
    selection: what the plan was made of, for the calls of the backends' memory managers.
    weights: "incbin" takes the weights from a file beside the source, "array" writes C arrays.
    Raises ModelError for a model with more tensors than the runtime takes.
    """
    if weights not in _WEIGHTS:
        raise UsageError(f"Weights are written as {' or '.join(_WEIGHTS)}, not as {weights!r}.")
    tensors = len(graph.inputs) + len(graph.outputs)
    if tensors > MOST_TENSORS:
        raise ModelError(
            f"The model has {tensors} inputs and outputs; the runtime takes {MOST_TENSORS}. "
            "Join some of them in the model."
        )
    symbols = Symbols(name)
    calls = [_call(graph, plan, step, symbols) for step in plan.steps]
    chosen = selection or Selection(())
    acquire = [_region_call(plan, b, call, symbols) for b, call in chosen.acquire]
    release = [_region_call(plan, b, call, symbols) for b, call in chosen.release]
    private_offset, private_bytes = plan.private_place
    blob = bytes(symbols.weights)
    values = {
        "name": name,
        "upper": name.upper(),
        "prefix": symbols.prefix,
        "abi_version": ABI_VERSION,
        "summary": describe.summary(graph, plan, blob),
        "workspace": describe.workspace(graph, plan),
        "weights": weights,
        "weights_bytes": len(blob),
        "weights_alignment": max(16, symbols.alignment),
        "command": shell_lines(
            [shlex.quote(w) for w in shlex.split(command)], COLUMNS - len(" *   ")
        ),
        "headers": headers(
            [s.choice.workload.headers for s in plan.steps]
            + [call.headers for _, call in (*chosen.acquire, *chosen.release)]
        ),
        "functions": symbols.functions,
        "constants": constants.file_rows(symbols.constants)
        if weights == "incbin"
        else [constants.array(c) for c in symbols.constants],
        "constant_macro": constants.file_macro(f"{symbols.prefix}weights"),
        "paragraph": paragraph,
        "calls": calls,
        "acquire": acquire,
        "release": release,
        "private_offset": private_offset,
        "private_bytes": private_bytes,
        "plan": plan,
        "run_func": _run_func(symbols.prefix),
        "inputs": [_tensor(graph, plan, e, i) for i, e in enumerate(graph.inputs)],
        "outputs": [_tensor(graph, plan, e, i) for i, e in enumerate(graph.outputs)],
        **_layer_outputs(plan),
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
    symbol = symbols.kernel(workload.helpers, function, workload.backend)
    arrays = [symbols.constant(c, step.index) for c in workload.constants]

    def argument(item: Argument, ctype: str) -> str:
        if item.role is Role.CONSTANT:
            return arrays[item.index]
        if item.role is Role.SCRATCH:
            assert step.scratch is not None
            offset = plan.offsets[step.scratch]
        elif item.role is Role.REGION:
            region = workload.regions[item.index]
            if region.kind is RegionKind.PRIVATE:
                offset = plan.private_offset(region)
            else:
                offset = plan.offsets[step.regions[region]]
        elif item.role is Role.INPUT:
            operand = layer.inputs[item.index]
            if operand is None or operand.constant is not None:
                raise BackendFault(
                    workload.backend,
                    f"The backend {workload.backend} passes input {item.index} of the {layer.op} "
                    f"{layer.name!r} to its function, which is "
                    f"{'absent' if operand is None else 'a constant and has no place in RAM'}. "
                    "Leave the backend out, and report this to its vendor.",
                )
            offset = plan.offset(operand.edge)
        else:
            offset = plan.offset(layer.outputs[item.index].edge)
        return f"({ctype})(ws + {offset})"

    arguments = [
        argument(item, parameter.ctype.strip())
        for item, parameter in zip(workload.arguments, function.parameters, strict=True)
    ]
    title, details = describe.layer(graph, step)
    return _Call(step.index, title, details, wrap(f"    {symbol}(", arguments, ");"))


def _region_call(plan: Plan, backend: str, call: RegionCall, symbols: Symbols) -> _RegionCall:
    symbol = symbols.kernel(call.helpers, call.function, backend)
    arguments = [
        f"({parameter.ctype.strip()})(ws + {plan.private_offset(region)})"
        for region, parameter in zip(call.regions, call.function.parameters, strict=True)
    ]
    return _RegionCall(backend, wrap(f"    {symbol}(", arguments, ");"))


def _run_func(prefix: str) -> str:
    parameters = (
        "void *args",
        "void *arg_type_ids",
        "int32_t num_args",
        "void *out_ret_value",
        "void *out_ret_tcode",
        "void *resource_handle",
    )
    return wrap(f"static int32_t {prefix}run_func(", parameters, ") {", declaration=True)


def _layer_outputs(plan: Plan) -> dict[str, object]:
    """The two tables of layers: regions of outputs, and (first region, number) of each layer."""
    regions: list[tuple[str, str, str]] = []
    layers: list[str] = []
    for step in plan.steps:
        outputs = step.choice.layer.outputs
        layers.append(f"{{{len(regions)}, {len(outputs)}}}")
        for output in outputs:
            offset, size = plan.offset(output.edge), plan.tensors[output.edge].bytes
            regions.append((f"    {{{offset},", f"{size}}},", f"/* {step.index} */"))
    return {
        "num_regions": len(regions),
        "regions": "\n".join(table(regions, gap=1)),
        "layers": fill(layers),
    }


def _tensor(graph: Graph, plan: Plan, edge: int, index: int) -> dict[str, object]:
    type_ = graph.type(edge)
    scale, zero_point, real = "0.0F", 0, ""
    quantization = type_.quantization
    if quantization is not None and quantization.per_tensor and type_.dtype.is_integer:
        scale = constants.float_literal(quantization.scales[0])
        zero_point = quantization.zero_point[0]
        real = describe.real_value(quantization)
    kind = "bool" if type_.dtype is DType.BOOL else type_.dtype.value.rstrip("0123456789")
    return {
        "index": index,
        "name": names.string(graph.edge_name(edge)),
        "comment": describe.tensor(graph, edge),
        "real": real,
        "shape": type_.shape,
        "offset": plan.offset(edge),
        "bytes": type_.bytes,
        "scale": scale,
        "zero_point": zero_point,
        "code": _DL_CODES[kind],
        "bits": 8 * type_.dtype.bytes,
    }
