"""network_<name>.c, .h and the weights file of one network."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from mcu_deploy.backends.interface import Constant, Role
from mcu_deploy.codegen import constants, control, describe, memory, names, program, tensors
from mcu_deploy.codegen.statements import Function
from mcu_deploy.codegen.symbols import Symbols, headers
from mcu_deploy.codegen.text import COLUMNS, fill, paragraph, shell_lines, table, wrap
from mcu_deploy.errors import ModelError, UsageError
from mcu_deploy.files import templates
from mcu_deploy.ir import Graph
from mcu_deploy.ir.nested import flat
from mcu_deploy.plan import Copy, Plan, State
from mcu_deploy.plan.control import Element
from mcu_deploy.plan.hot_code import HotKernel
from mcu_deploy.selection import Selection

# What the templates are written for: MCU_MODEL_ABI_MAJOR and _MINOR of crt/include/mcu/model.h,
# and MCU_MAX_TENSORS of runtime.h.
ABI = (4, 1)
MOST_TENSORS = 255

_WEIGHTS = ("incbin", "array")


@dataclass(frozen=True)
class NetworkSource:
    """The generated text of a network, and the bytes of its weights.

    has_arrays: the source has these as arrays, and names no file with them. owners: by the symbol
    of each function that is a backend's, whose it is. layers: by the symbol of a function or
    constant the layers that use it, by index. kernels: those that wait for their code, by their
    symbols.
    """

    name: str
    source: str
    header: str
    weights: bytes
    has_arrays: bool = False
    owners: Mapping[str, frozenset[str]] = field(default_factory=dict)
    layers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    kernels: Mapping[str, HotKernel] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, bytes]:
        """The files by name, as they go into the build folder."""
        file = {} if self.has_arrays else {f"network_{self.name}.weights.bin": self.weights}
        return {
            f"network_{self.name}.c": self.source.encode(),
            f"network_{self.name}.h": self.header.encode(),
            **file,
        }

    def with_stack(self, stack: int, second: int | None = None) -> str:
        """The header with what is known when the network is linked: its stack bound, in bytes.

        second: that of the other core's lanes. At the header's end, so that the network, compiled
        with either header, is the same to the byte, line numbers for the debugger included.
        """
        upper = self.name.upper()
        guard = f"#endif /* MCU_NETWORK_{upper}_H */\n"
        template = environment().get_template("network_stack.h.j2")
        text = template.render(upper=upper, stack=stack, second=second)
        return self.header.removesuffix(guard) + text + guard


@dataclass(frozen=True)
class _Entry:
    """What can be run: all layers, or a partition. arguments: the prefix of its tables' names."""

    stem: str
    name: str
    partition: str
    calls: tuple[str, ...]
    run_func: str
    arguments: str
    inputs: list[tensors.InfoMembers]
    outputs: list[tensors.InfoMembers]


@dataclass(frozen=True)
class _State:
    """A state as the template shows it. initial: the symbol of its first value, or NULL."""

    tensor: tensors.InfoMembers
    initial: str


@functools.cache
def environment() -> jinja2.Environment:
    """The templates of this package."""
    return templates.environment(Path(__file__).parent / "templates")


def generate(
    graph: Graph,
    plan: Plan,
    name: str,
    command: str,
    weights: str = "incbin",
    selection: Selection | None = None,
    demands: str = "",
    kernels: Sequence[HotKernel] = (),
) -> NetworkSource:
    """The C of a network.

    command: the gcc command that the source quotes, so that a person can build it by hand.
    selection: what the plan was made of, for the calls of the backends' memory managers.
    weights: "incbin" takes the weights from a file beside the source, "array" writes C arrays.
    demands: C that stands before everything else. kernels: those that wait for their code, of which
    the hot ones get a section of their own.
    Raises ModelError for a model with more than MOST_TENSORS inputs and outputs.
    """
    if weights not in _WEIGHTS:
        raise UsageError(f"Weights are written as {' or '.join(_WEIGHTS)}, not as {weights!r}.")
    _require_few_tensors(graph, plan)
    graph = flat(graph)
    symbols = Symbols(name, [kernel.function for kernel in kernels if kernel.is_hot])
    chosen = selection or Selection(())
    functions = program.functions(graph, plan, symbols)
    states = [_state(graph, plan, s, i, symbols) for i, s in enumerate(plan.exposure.states)]
    acquire = program.region_calls(
        "acquire", graph, plan, chosen.acquire, symbols, "acquires its memory for this run"
    )
    release = program.region_calls(
        "release", graph, plan, chosen.release, symbols, "releases what it holds"
    )
    entries = _entries(graph, plan, symbols.prefix, functions)
    blob = bytes(symbols.weights)
    values = {
        "name": name,
        "upper": name.upper(),
        "prefix": symbols.prefix,
        "abi": ABI,
        "summary": describe.summary(graph, plan, blob),
        "pools": describe.pools(plan),
        "demands": demands,
        "weights": weights,
        "weights_bytes": len(blob),
        "weights_alignment": max(16, symbols.alignment),
        "command": shell_lines(
            [shlex.quote(w) for w in shlex.split(command)], COLUMNS - len(" *   ")
        ),
        "headers": headers(
            [s.choice.workload.headers for s in plan.steps]
            + [call.headers for _, call in (*chosen.acquire, *chosen.release)]
            + [("string.h",) for item in plan.program if _is_copied(plan, item)]
            + [("string.h",) for _ in plan.moves[:1]]
        ),
        "kernels": symbols.functions,
        "constants": constants.file_rows(symbols.constants)
        if weights == "incbin"
        else [constants.array(c) for c in symbols.constants],
        "constant_macro": constants.file_macro(f"{symbols.prefix}weights"),
        "paragraph": paragraph,
        "fill": fill,
        "functions": functions,
        "memory": memory.begin(graph, plan),
        "can_fail": control.can_fail(plan),
        "acquire": acquire,
        "release": release,
        "plan": plan,
        "entries": entries,
        "inputs": entries[0].inputs,
        "outputs": entries[0].outputs,
        "tensor_macros": table(
            [
                (f"#define MCU_{name.upper()}_{macro}", value)
                for what, infos in (("INPUT", entries[0].inputs), ("OUTPUT", entries[0].outputs))
                for macro, value in tensors.macros(what, infos)
            ],
            gap=1,
        ),
        "kept": [
            tensors.info(graph, plan, kept.edge, i, kept.name)
            for i, kept in enumerate(plan.exposure.kept)
        ],
        "states": states,
        "hot": tensors.hot_constants(plan, symbols),
        "pool_sizes": describe.pool_sizes(plan, name),
        "private_place": ", ".join(_region(plan, plan.private)),
        "pointers": ", ".join(_region(plan, plan.table)),
        **tensors.layer_outputs(plan),
        "size": chosen.size,
        "uses_size": any(
            a.role is Role.SIZE for s in plan.steps for a in s.choice.workload.arguments
        ),
        "extents": tensors.extents(chosen.size),
        "rank": sum(len(t.shape) for t in (*entries[0].inputs, *entries[0].outputs)),
    }
    return NetworkSource(
        name,
        environment().get_template("network.c.j2").render(values),
        environment().get_template("network.h.j2").render(values),
        blob,
        has_arrays=weights == "array",
        owners={symbol: frozenset(names) for symbol, names in symbols.owners.items()},
        layers={s: tuple(sorted(set(found))) for s, found in symbols.layers.items()},
        kernels={symbols.function(kernel.function): kernel for kernel in kernels},
    )


def demands(processor: str, needs: Sequence[str]) -> str:
    """What a network's C demands of the compiler, for builds with any flags, as C.

    Our own builds demand it by flags (mcu_deploy/toolchain/flags.py). gcc ignores the standard's
    FP_CONTRACT, and clang the pragma of gcc. needs: macros that the compiler defines for cores
    like this one, called so in the error for others.
    """
    return environment().get_template("demands.c.j2").render(processor=processor, needs=needs)


def numbers_of_tensors(graph: Graph, plan: Plan) -> dict[str, int]:
    """How many inputs and outputs, together, the model has, and each partition."""
    shown = plan.exposure
    counts = {"model": len(shown.inputs(graph)) + len(shown.outputs(graph))}
    return counts | {
        f"partition {part.name!r}": len(part.inputs) + len(part.outputs) for part in plan.parts
    }


def _require_few_tensors(graph: Graph, plan: Plan) -> None:
    for what, count in numbers_of_tensors(graph, plan).items():
        if count > MOST_TENSORS:
            raise ModelError(
                f"The {what} has {count} inputs and outputs; {MOST_TENSORS} are taken. "
                "Join some of them in the model, by Concat and Split."
            )


def _entries(graph: Graph, plan: Plan, prefix: str, functions: list[Function]) -> list[_Entry]:
    """The whole network, then its partitions."""
    whole = _Entry(
        "layers", "", "NULL", tuple(f.stem for f in functions if not f.is_lane),
        _run_func(prefix, "run_func"), "",
        tensors.infos(graph, plan, plan.exposure.inputs(graph)),
        tensors.infos(graph, plan, plan.exposure.outputs(graph)),
    )  # fmt: skip
    parts = [
        _Entry(
            f"part{number}", names.string(part.name), f"&{prefix}partitions[{number}]",
            tuple(f.stem for f in functions if number in f.parts),
            _run_func(prefix, f"part{number}_run_func"), f"part{number}_",
            tensors.infos(graph, plan, part.inputs), tensors.infos(graph, plan, part.outputs),
        )
        for number, part in enumerate(plan.parts)
    ]  # fmt: skip
    return [whole, *parts]


def _state(graph: Graph, plan: Plan, state: State, index: int, symbols: Symbols) -> _State:
    initial = "NULL"
    if state.initial is not None and state.initial.any():
        value = graph.type(state.input).stored(state.initial)
        initial = symbols.constant(Constant(f"state{index}", value))
    return _State(tensors.info(graph, plan, state.input, index, state.name), initial)


def _is_copied(plan: Plan, item: object) -> bool:
    if isinstance(item, Copy):
        return program.is_needed(plan, item)
    return isinstance(item, Element)


def _region(plan: Plan, buffer: int | None) -> tuple[str, str, str]:
    """Where a buffer lies; zeros where there is none."""
    if buffer is None:
        return "0", "0", "0"
    return tensors.region(plan.buffer_place(buffer), plan.buffers[buffer].bytes)


def _run_func(prefix: str, stem: str) -> str:
    parameters = (
        "void *args",
        "void *arg_type_ids",
        "int32_t num_args",
        "void *out_ret_value",
        "void *out_ret_tcode",
        "void *resource_handle",
    )
    return wrap(f"static int32_t {prefix}{stem}(", parameters, ") {", declaration=True)
