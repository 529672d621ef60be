"""What a backend answers: its structs, copied into JSON and blobs with every bound checked.

A struct is copied field by field, as `_READ` and the types of backend.h say; few have more to say
of themselves. Here is checked what can be told in the worker: counts, pointers, text, enumerations.
What an answer means is checked on the session's side. Runs in workers: the standard library, and
cffi's compiled module.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from .memory import MAX_BODIES, MAX_BODY_NODES, BackendMemory, nonsense, width
from .wire import Blob

Json = dict[str, Any]

# What is read of each struct: fields, and what they are called in messages. A text that may be NULL
# ends with "?".
_READ: dict[str, dict[str, str]] = {
    "backend_info": {"rank": "", "cores": "cores", "operators": "operators"},
    "support": {"supported": "supported", "reason": "the reason?", "layout": "layout"},
    "costs": {"macs": "", "instructions": "", "cycles": "", "flash_bytes": ""},
    "workloads": {"workloads": "workloads"},
    "workload": {
        "function": "", "helpers": "helpers", "headers": "headers", "arguments": "arguments",
        "constants": "constants", "scratch_bytes": "", "in_place": "in-place facts",
        "regions": "regions", "costs": "",
    },
    "function": {
        "stem": "a function's stem", "result": "a function's result", "parameters": "parameters",
        "body": "a function's body", "is_helper": "is_helper",
    },
    "parameter": {"type": "a parameter's type", "name": "a parameter's name"},
    "argument": {"role": "role", "index": ""},
    "constant": {"stem": "a constant's stem", "dtype": "element type", "alignment": ""},
    "in_place": {"input": "", "output": "", "distance": ""},
    "region": {"name": "a region's name", "bytes": ""},
    "optimization": {
        "substitutions": "substitutions", "failed": "subgraphs", "untouched": "subgraphs",
    },
    "substitution": {"substitutable": "", "replacement": ""},
    "subgraph": {"nodes": "nodes of a subgraph"},
    "node": {
        "id": "", "op": "a node's operator", "domain": "a node's domain?", "name": "a node's name?",
        "inputs": "inputs of a node", "outputs": "outputs of a node", "attributes": "attributes",
    },
    "edge": {"id": "", "name": "an edge's name?", "dtype": "element type"},
    "attribute": {"name": "an attribute's name", "kind": "kind of an attribute"},
    "graph": {
        "name": "a graph's name?", "opset": "", "nodes": "nodes of a replacement",
        "edges": "edges of a replacement", "inputs": "inputs of a graph",
        "outputs": "outputs of a graph",
    },
    "proposals": {"proposals": "proposals", "refused": "refusals"},
    "proposal": {
        "key": "", "part": "", "replacement": "", "layouts": "layouts", "title": "a title?",
        "only_for": "only_for?", "costs": "", "code": "pieces of code", "scratch_bytes": "",
        "in_place": "in-place facts",
    },
    "code": {"key": "the key of code", "bytes": ""},
    "refusal": {"node": "", "reason": "the reason of a refusal?"},
    "memory": {"acquire": "", "release": ""},
    "region_call": {
        "function": "", "helpers": "helpers", "headers": "headers", "regions": "regions",
    },
    "counters": {"counters": "counters"},
    "counter": {"name": "a counter's name", "value": ""},
}  # fmt: skip
# Fields that the session's classes have another name for.
_NAMES = {
    "flash_bytes": "flash", "type": "ctype", "is_helper": "inline", "substitutable": "nodes",
    "part": "nodes",
}  # fmt: skip
_FLAGS = ("supported", "is_helper")
_WORDS = {
    "layout": "mcu_layout_rule_t", "layouts": "mcu_layout_rule_t", "role": "mcu_role_t",
    "dtype": "mcu_dtype_t", "kind": "mcu_attribute_kind_t",
}  # fmt: skip


class Answers:
    """Reads one answer. blobs: the bytes of its arrays.

    minor: the table's version is (1, minor), and of an older one what is newer is not read.
    """

    def __init__(self, memory: BackendMemory, minor: int) -> None:
        self.blobs: list[Blob] = []
        self._memory = memory
        self._minor = minor
        self._body_nodes = 0
        self._own: dict[str, Callable[[Any], Any]] = {
            "backend_info": lambda info: self._object(info) | {"bodies": minor >= 1},
            "workload": self._workload,
            "constant": self._constant,
            "substitution": self._substitution,
            "subgraph": lambda part: self._object(part)["nodes"],
            "graph": self._graph,
            "node": self._node,
            "edge": self._edge,
            "attribute": self._attribute,
            "proposal": self._proposal,
            "refusal": lambda refusal: [*self._object(refusal).values()],
            "region_call": lambda call: self._object(call) if call.function else None,
            "counter": lambda counter: [*self._object(counter).values()],
            "saved": self._saved,
        }

    def read(self, value: Any) -> Any:
        """A struct, or what a pointer to one points to."""
        own = self._own.get(self._kind(value)[0])
        return own(value) if own else self._object(value)

    def _kind(self, value: Any) -> tuple[str, Any]:
        """The name of a struct, and the types of its fields by their names."""
        kind = self._memory.ffi.typeof(value)
        kind = kind if kind.kind == "struct" else kind.item
        return kind.cname.removeprefix("struct mcu_"), kind.fields

    def _object(self, value: Any) -> Json:
        name, fields = self._kind(value)
        types = {name: field.type for name, field in fields}
        return {
            _NAMES.get(field, field): self._field(value, field, types, what)
            for field, what in _READ[name].items()
        }

    def _field(self, holder: Any, name: str, types: dict[str, Any], what: str) -> Any:
        value, kind = getattr(holder, name), types[name]
        if kind.kind == "struct":
            return self.read(value)
        if kind.kind == "primitive":
            return self._scalar(name, value, what)
        if f"num_{name}" in types:
            return self._elements(value, getattr(holder, f"num_{name}"), name, what)
        if kind.item.kind == "struct":
            return self.read(value) if value else None
        if what.endswith("?"):
            return self._memory.optional_text(value, what[:-1])
        return self._memory.text(value, what)

    def _elements(self, at: Any, count: int, name: str, what: str) -> list[Any]:
        found, kind = self._memory.array(at, count, what), self._memory.ffi.typeof(at).item.kind
        if kind == "struct":
            return [self.read(item) for item in found]
        if kind == "pointer":
            return [self._memory.text(item, f"one of the {what}") for item in found]
        return [self._scalar(name, item, what.removesuffix("s")) for item in found]

    def _scalar(self, name: str, value: Any, what: str) -> Any:
        if name in _WORDS:
            return self._memory.word(_WORDS[name], value, what)
        if name not in _FLAGS:
            return value
        if value not in (0, 1):
            raise nonsense(f"{what} is {value}, neither 0 nor 1")
        return bool(value)

    def _workload(self, work: Any) -> Json:
        found = self._object(work)
        regions, function = found["regions"], found["function"]
        scratch = work.num_scratch_regions if self._minor >= 1 else 0
        if scratch > len(regions):
            raise nonsense(f"{scratch} of {len(regions)} regions are scratch")
        for region in regions[len(regions) - scratch :]:
            region["kind"] = "scratch"
        parameters = function["parameters"] if function else []
        for index, argument in enumerate(found["arguments"]):
            if argument["role"] == "scalar":
                ctype = parameters[index]["ctype"] if index < len(parameters) else ""
                argument["value"] = _number(ctype, argument.pop("index"))
        return found | {"backend": ""}

    def _constant(self, constant: Any) -> Json:
        found, count = self._object(constant), constant.num_elements
        dtype = found.pop("dtype")
        value = self._array(dtype, [count], constant.data, count * width(dtype))
        return found | {"value": value, "alignment": found["alignment"] or 4}

    def _array(self, dtype: str, shape: list[int], data: Any, size: int) -> list[Any]:
        """[element type, shape, number of the blob]"""
        self.blobs.append(self._memory.data(data, size, "a constant"))
        return [dtype, shape, len(self.blobs) - 1]

    def _substitution(self, substitution: Any) -> Json:
        if not substitution.replacement:
            raise nonsense("a replacement is NULL")
        return self._object(substitution)

    def _graph(self, graph: Any, depth: int = 0) -> Json:
        """A replacement, or a body that so many hold: they may not go on for ever."""
        if depth > MAX_BODIES:
            raise nonsense(f"more than {MAX_BODIES} bodies lie in one another")
        found = self._object(graph)
        nodes, edges = found.pop("nodes"), found.pop("edges")
        self._body_nodes += len(nodes) if depth else 0
        if self._body_nodes > MAX_BODY_NODES:
            raise nonsense(f"more than {MAX_BODY_NODES} nodes in bodies")
        data = {
            "types": [[edge["id"], edge["type"]] for edge in edges],
            "constants": [[edge["id"], edge["value"]] for edge in edges if "value" in edge],
            "attributes": [[node["id"], dict(node.pop("attributes"))] for node in nodes],
            "bodies": self._bodies(graph, [node["id"] for node in nodes], depth),
        }
        topology = {
            "nodes": nodes,
            "edges": [[edge["id"], edge["name"]] for edge in edges],
            "inputs": found.pop("inputs"),
            "outputs": found.pop("outputs"),
            "next_node": max((node["id"] for node in nodes), default=-1) + 1,
            "next_edge": max((edge["id"] for edge in edges), default=-1) + 1,
        }
        return found | {"topology": topology, "data": data}

    def _bodies(self, graph: Any, nodes: list[int], depth: int) -> list[Any]:
        # a graph that 1.0 made may be a copy of ours, struct_size included, with nothing behind it
        ffi = self._memory.ffi
        reach = ffi.offsetof("mcu_graph_t", "bodies") + ffi.sizeof("void *")
        if self._minor < 1 or graph.struct_size < reach or not graph.bodies:
            return []
        bodies = self._memory.array(graph.bodies, len(nodes), "bodies")
        return [
            [node, self._graph(body, depth + 1)]
            for node, body in zip(nodes, bodies, strict=True)
            if body
        ]

    def _node(self, node: Any) -> Json:
        found, none = self._object(node), self._memory.ffi.integer_const("MCU_NONE")
        return found | {
            name: [None if edge == none else edge for edge in found[name]]
            for name in ("inputs", "outputs")
        }

    def _attribute(self, attribute: Any) -> tuple[str, Any]:
        """Its name, and a list in every case: C has no single values."""
        found = self._object(attribute)
        name, kind = found["name"], found["kind"]
        if kind != "tensor":
            what = "values of an attribute"
            return name, self._elements(getattr(attribute, kind), attribute.count, "", what)
        if not attribute.tensor:
            raise nonsense("the tensor of an attribute is NULL")
        return name, {"tensor": self._value(attribute.tensor)}

    def _edge(self, edge: Any) -> Json:
        array, found = self._memory.array, self._object(edge)
        type_: Json = {"dtype": found["dtype"], "shape": self._shape(edge)}
        if edge.layout:
            type_["layout"] = array(edge.layout, edge.rank, "axes of a layout")
        if edge.num_scales:
            type_["quantization"] = {
                "scale": array(edge.scales, edge.num_scales, "scales of an edge"),
                "zero_point": array(edge.zero_points, edge.num_scales, "zero points of an edge"),
                "axis": None if edge.quantization_axis < 0 else edge.quantization_axis,
            }
        return found | {"type": type_} | ({"value": self._value(edge)} if edge.data else {})

    def _shape(self, edge: Any) -> list[int]:
        return self._memory.array(edge.shape, edge.rank, "axes of an edge")

    def _value(self, edge: Any) -> list[Any]:
        dtype = self._scalar("dtype", edge.dtype, "element type")
        return self._array(dtype, self._shape(edge), edge.data, edge.data_bytes)

    def _proposal(self, proposal: Any) -> Json:
        found = self._object(proposal)
        costs, code = found.pop("costs"), found.pop("code")
        known = {name: value or None for name, value in costs.items()} | {"macs": costs["macs"]}
        return found | {
            "price": {
                "costs": known,
                "code": {c["key"]: c["bytes"] for c in code},
                "scratch_bytes": found.pop("scratch_bytes"),
                "in_place": found.pop("in_place"),
            }
        }

    def _saved(self, saved: Any) -> Json:
        """The data, if there are some, are the only blob."""
        if saved.data:
            what = "what is to be saved"
            self.blobs.append(self._memory.data(saved.data, saved.data_bytes, what))
        return {}


def _number(ctype: str, bits: int) -> Any:
    """What a scalar is, whose bits are those of the parameter's type."""
    form = {"int32_t": "=i", "float": "=f"}.get(ctype.strip(), "=I")
    (value,) = struct.unpack(form, struct.pack("=I", bits))
    if not math.isfinite(value):
        raise nonsense("a scalar is no number")
    return value
