"""What a backend answers: its structs, copied into JSON and blobs with every bound checked.

Here is checked what can be told in the worker: counts, pointers, text, enumerations. What an answer
means is checked on the session's side. Runs in workers: the standard library, and cffi's compiled
module.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from .memory import MAX_BODIES, MAX_BODY_NODES, BackendMemory, nonsense, width
from .wire import Blob

Json = dict[str, Any]


class Answers:
    """Reads one answer. blobs: the bytes of its arrays.

    minor: the table's version is (1, minor), and of an older one what is newer is not read.
    """

    def __init__(self, memory: BackendMemory, minor: int) -> None:
        self.blobs: list[Blob] = []
        self._memory = memory
        self._minor = minor
        self._body_nodes = 0

    def info(self, answer: Any) -> Json:
        texts = self._memory.texts
        return {
            "rank": answer.rank,
            "cores": texts(answer.cores, answer.num_cores, "cores"),
            "operators": texts(answer.operators, answer.num_operators, "operators"),
            "bodies": self._minor >= 1,
        }

    def support(self, answer: Any) -> Json:
        return {
            "supported": _flag(answer.supported, "supported"),
            "reason": self._memory.optional_text(answer.reason, "the reason"),
            "layout": self._memory.word("mcu_layout_rule_t", answer.layout, "layout"),
        }

    def costs(self, answer: Any) -> Json:
        names = ("macs", "instructions", "cycles")
        return {name: getattr(answer, name) for name in names} | {"flash": answer.flash_bytes}

    def workloads(self, answer: Any) -> Json:
        found = self._memory.array(answer.workloads, answer.num_workloads, "workloads")
        return {"workloads": [self._workload(workload) for workload in found]}

    def _workload(self, work: Any) -> Json:
        array = self._memory.array
        arguments = array(work.arguments, work.num_arguments, "arguments")
        constants = array(work.constants, work.num_constants, "constants")
        regions = array(work.regions, work.num_regions, "regions")
        scratch = work.num_scratch_regions if self._minor >= 1 else 0
        if scratch > len(regions):
            raise nonsense(f"{scratch} of {len(regions)} regions are scratch")
        private = len(regions) - scratch
        code = self._code(work)
        parameters = code["function"]["parameters"] if code["function"] else []
        ctypes = [p["ctype"] for p in parameters] + [""] * len(arguments)
        return {
            "backend": "",
            **code,
            "arguments": [self._argument(*pair) for pair in zip(arguments, ctypes, strict=False)],
            "constants": [self._constant(constant) for constant in constants],
            "scratch_bytes": work.scratch_bytes,
            "in_place": self._in_place(work),
            "regions": [
                self._region(region) | ({"kind": "scratch"} if index >= private else {})
                for index, region in enumerate(regions)
            ],
            "costs": self.costs(work.costs),
        }

    def _code(self, call: Any) -> Json:
        """The function that is called, or None, with what it needs."""
        helpers = self._memory.array(call.helpers, call.num_helpers, "helpers")
        return {
            "function": self._function(call.function) if call.function else None,
            "helpers": [self._function(helper) for helper in helpers],
            "headers": self._memory.texts(call.headers, call.num_headers, "headers"),
        }

    def _in_place(self, holder: Any) -> list[Json]:
        facts = self._memory.array(holder.in_place, holder.num_in_place, "in-place facts")
        return [{n: getattr(fact, n) for n in ("input", "output", "distance")} for fact in facts]

    def _argument(self, argument: Any, ctype: str) -> Json:
        """An argument, which of a scalar has the bits of the parameter's type."""
        role = self._memory.word("mcu_role_t", argument.role, "role")
        if role != "scalar":
            return {"role": role, "index": argument.index}
        form = {"int32_t": "=i", "float": "=f"}.get(ctype.strip(), "=I")
        (value,) = struct.unpack(form, struct.pack("=I", argument.index))
        if not math.isfinite(value):
            raise nonsense("a scalar is no number")
        return {"role": role, "value": value}

    def _function(self, function: Any) -> Json:
        text = self._memory.text
        found = self._memory.array(function.parameters, function.num_parameters, "parameters")
        return {
            "stem": text(function.stem, "a function's stem"),
            "result": text(function.result, "a function's result"),
            "parameters": [
                {
                    "ctype": text(p.type, "a parameter's type"),
                    "name": text(p.name, "a parameter's name"),
                }
                for p in found
            ],
            "body": text(function.body, "a function's body"),
            "inline": _flag(function.is_helper, "is_helper"),
        }

    def _constant(self, constant: Any) -> Json:
        return {
            "stem": self._memory.text(constant.stem, "a constant's stem"),
            "value": self._array(constant.dtype, [constant.num_elements], constant.data),
            "alignment": constant.alignment or 4,
        }

    def _array(self, dtype: int, shape: list[int], data: Any, size: int | None = None) -> list[Any]:
        """[element type, shape, number of the blob]; size: of the data, if they say so."""
        name = self._dtype(dtype)
        size = math.prod(shape) * width(name) if size is None else size
        self.blobs.append(self._memory.data(data, size, "a constant"))
        return [name, shape, len(self.blobs) - 1]

    def _dtype(self, dtype: int) -> str:
        return self._memory.word("mcu_dtype_t", dtype, "element type")

    def _region(self, region: Any) -> Json:
        return {"name": self._memory.text(region.name, "a region's name"), "bytes": region.bytes}

    def optimization(self, answer: Any) -> Json:
        array = self._memory.array
        found = array(answer.substitutions, answer.num_substitutions, "substitutions")
        failed = array(answer.failed, answer.num_failed, "subgraphs")
        untouched = array(answer.untouched, answer.num_untouched, "subgraphs")
        return {
            "substitutions": [
                {"nodes": self._part(s.substitutable), "replacement": self._graph(s.replacement)}
                for s in found
            ],
            "failed": [self._part(part) for part in failed],
            "untouched": [self._part(part) for part in untouched],
        }

    def _part(self, part: Any) -> list[int]:
        return self._memory.array(part.nodes, part.num_nodes, "nodes of a subgraph")

    def _graph(self, graph: Any, depth: int = 0) -> Json:
        """A replacement, or a body that so many hold: they may not go on for ever."""
        if not graph:
            raise nonsense("a replacement is NULL")
        if depth > MAX_BODIES:
            raise nonsense(f"more than {MAX_BODIES} bodies lie in one another")
        array, text = self._memory.array, self._memory.optional_text
        nodes = array(graph.nodes, graph.num_nodes, "nodes of a replacement")
        edges = array(graph.edges, graph.num_edges, "edges of a replacement")
        self._body_nodes += len(nodes) if depth else 0
        if self._body_nodes > MAX_BODY_NODES:
            raise nonsense(f"more than {MAX_BODY_NODES} nodes in bodies")
        return {
            "name": text(graph.name, "a graph's name"),
            "opset": graph.opset,
            "topology": {
                "nodes": [self._node(node) for node in nodes],
                "edges": [[edge.id, text(edge.name, "an edge's name")] for edge in edges],
                "inputs": array(graph.inputs, graph.num_inputs, "inputs of a graph"),
                "outputs": array(graph.outputs, graph.num_outputs, "outputs of a graph"),
                "next_node": max((node.id for node in nodes), default=-1) + 1,
                "next_edge": max((edge.id for edge in edges), default=-1) + 1,
            },
            "data": {
                "types": [[edge.id, self._type(edge)] for edge in edges],
                "constants": [[edge.id, self._value(edge)] for edge in edges if edge.data],
                "attributes": [[node.id, self._attributes(node)] for node in nodes],
                "bodies": self._bodies(graph, nodes, depth),
            },
        }

    def _bodies(self, graph: Any, nodes: list[Any], depth: int) -> list[Any]:
        # a graph that 1.0 made may be a copy of ours, struct_size included, with nothing behind it
        ffi = self._memory.ffi
        reach = ffi.offsetof("mcu_graph_t", "bodies") + ffi.sizeof("void *")
        if self._minor < 1 or graph.struct_size < reach or not graph.bodies:
            return []
        bodies = self._memory.array(graph.bodies, len(nodes), "bodies")
        return [
            [node.id, self._graph(body, depth + 1)]
            for node, body in zip(nodes, bodies, strict=True)
            if body
        ]

    def _node(self, node: Any) -> Json:
        none = self._memory.ffi.integer_const("MCU_NONE")
        inputs = self._memory.array(node.inputs, node.num_inputs, "inputs of a node")
        outputs = self._memory.array(node.outputs, node.num_outputs, "outputs of a node")
        return {
            "id": node.id,
            "op": self._memory.text(node.op, "a node's operator"),
            "domain": self._memory.optional_text(node.domain, "a node's domain"),
            "name": self._memory.optional_text(node.name, "a node's name"),
            "inputs": [None if edge == none else edge for edge in inputs],
            "outputs": [None if edge == none else edge for edge in outputs],
        }

    def _attributes(self, node: Any) -> Json:
        found = self._memory.array(node.attributes, node.num_attributes, "attributes")
        return {self._memory.text(a.name, "an attribute's name"): self._attribute(a) for a in found}

    def _attribute(self, attribute: Any) -> Any:
        """A list in every case: C has no single values."""
        kind = self._memory.word("mcu_attribute_kind_t", attribute.kind, "kind of an attribute")
        if kind == "tensor":
            if not attribute.tensor:
                raise nonsense("the tensor of an attribute is NULL")
            return {"tensor": self._value(attribute.tensor)}
        values = getattr(attribute, kind)
        if kind == "strings":
            return self._memory.texts(values, attribute.count, "values of an attribute")
        return self._memory.array(values, attribute.count, "values of an attribute")

    def _type(self, edge: Any) -> Json:
        array = self._memory.array
        answer: Json = {"dtype": self._dtype(edge.dtype), "shape": self._shape(edge)}
        if edge.layout:
            answer["layout"] = array(edge.layout, edge.rank, "axes of a layout")
        if edge.num_scales:
            answer["quantization"] = {
                "scale": array(edge.scales, edge.num_scales, "scales of an edge"),
                "zero_point": array(edge.zero_points, edge.num_scales, "zero points of an edge"),
                "axis": None if edge.quantization_axis < 0 else edge.quantization_axis,
            }
        return answer

    def _shape(self, edge: Any) -> list[int]:
        return self._memory.array(edge.shape, edge.rank, "axes of an edge")

    def _value(self, edge: Any) -> list[Any]:
        return self._array(edge.dtype, self._shape(edge), edge.data, edge.data_bytes)

    def proposals(self, answer: Any) -> Json:
        array = self._memory.array
        found = array(answer.proposals, answer.num_proposals, "proposals")
        refused = array(answer.refused, answer.num_refused, "refusals")
        reason = self._memory.optional_text
        return {
            "proposals": [self._proposal(proposal) for proposal in found],
            "refused": [[r.node, reason(r.reason, "the reason of a refusal")] for r in refused],
        }

    def _proposal(self, proposal: Any) -> Json:
        array, text, word = self._memory.array, self._memory.text, self._memory.word
        code = array(proposal.code, proposal.num_code, "pieces of code")
        layouts = array(proposal.layouts, proposal.num_layouts, "layouts")
        costs = self.costs(proposal.costs)
        return {
            "key": proposal.key,
            "nodes": self._part(proposal.part),
            "replacement": self._graph(proposal.replacement) if proposal.replacement else None,
            "layouts": [word("mcu_layout_rule_t", layout, "layout") for layout in layouts],
            "title": self._memory.optional_text(proposal.title, "a title"),
            "only_for": self._memory.optional_text(proposal.only_for, "only_for"),
            "price": {
                "costs": {name: value or None for name, value in costs.items() if name != "macs"}
                | {"macs": costs["macs"]},
                "code": {text(c.key, "the key of code"): c.bytes for c in code},
                "scratch_bytes": proposal.scratch_bytes,
                "in_place": self._in_place(proposal),
            },
        }

    def saved(self, answer: Any) -> Json:
        """The data, if there are some, are the only blob."""
        if answer.data:
            what = "what is to be saved"
            self.blobs.append(self._memory.data(answer.data, answer.data_bytes, what))
        return {}

    def memory(self, answer: Any) -> Json:
        return {name: self._region_call(getattr(answer, name)) for name in ("acquire", "release")}

    def _region_call(self, call: Any) -> Json | None:
        if not call.function:
            return None
        regions = self._memory.array(call.regions, call.num_regions, "regions")
        return {**self._code(call), "regions": [self._region(region) for region in regions]}

    def counters(self, answer: Any) -> Json:
        found = self._memory.array(answer.counters, answer.num_counters, "counters")
        name = self._memory.text
        return {"counters": [[name(c.name, "a counter's name"), c.value] for c in found]}


def _flag(value: int, what: str) -> bool:
    if value not in (0, 1):
        raise nonsense(f"{what} is {value}, neither 0 nor 1")
    return bool(value)
