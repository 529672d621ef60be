"""What a backend is given: the structs of a call, made from its message.

Data of constants stay where the message was received; the structs point there. Runs in workers: the
standard library, and cffi's compiled module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .memory import BackendMemory


class Arguments:
    """The structs of one call. They live as long as this object."""

    def __init__(
        self, memory: BackendMemory, message: dict[str, Any], blobs: Sequence[bytearray]
    ) -> None:
        self._memory = memory
        self._ffi = memory.ffi
        self._none: int = memory.ffi.integer_const("MCU_NONE")
        self._message = message
        self._blobs = blobs
        self._alive: list[Any] = []

    def graph(self) -> Any:
        """The message's "graph"."""
        return self._graph(self._message["graph"])

    def data(self) -> tuple[Any, int]:
        """The message's last blob, and its size."""
        return self._data(self._blobs[-1]), len(self._blobs[-1])

    def options(self) -> tuple[Any, int]:
        """The message's "options", and their number."""
        options = self._message["options"].items()
        made = [{"name": self._text(name), "value": self._text(value)} for name, value in options]
        return self._array("mcu_option_t", made), len(made)

    def counts(self) -> tuple[Any, Any, int]:
        """The message's "network", its "counts", and their number."""
        made = [
            count | {name: self._text(count[name]) for name in ("name", "op", "unit")}
            for count in self._message["counts"]
        ]
        network = self._text(self._message["network"])
        return network, self._array("mcu_layer_count_t", made), len(made)

    def _graph(self, graph: dict[str, Any]) -> Any:
        topology, data, target = graph["topology"], graph["data"], self._message["target"]
        attributes, bodies = dict(data["attributes"]), dict(data["bodies"])
        inner = [
            self._graph(bodies[node["id"]]) if node["id"] in bodies else self._ffi.NULL
            for node in topology["nodes"]
        ]
        nodes = [self._node(node, attributes[node["id"]]) for node in topology["nodes"]]
        edges = self._edges(topology, data)
        made = {
            "struct_size": self._ffi.sizeof("mcu_graph_t"),
            "opset": graph["opset"],
            "name": self._text(graph["name"]),
            "core": self._text(target["core"]),
            "num_nodes": len(nodes),
            "nodes": self._array("mcu_node_t", nodes),
            "num_edges": len(edges),
            "edges": self._array("mcu_edge_t", edges),
            **self._ids("inputs", topology["inputs"]),
            **self._ids("outputs", topology["outputs"]),
            "bodies": self._array("mcu_graph_t *", inner if bodies else []),
            "key": self._message.get("key", 0),
        }
        has = {f"has_{name}": target[name] for name in ("fpu", "dsp", "mve")}
        return self._new("mcu_graph_t *", made | has)

    def _edges(self, topology: dict[str, Any], data: dict[str, Any]) -> list[dict[str, Any]]:
        types, constants = dict(data["types"]), dict(data["constants"])
        producers: dict[int, int] = {}
        consumers: dict[int, list[int]] = {edge: [] for edge, _ in topology["edges"]}
        for node in topology["nodes"]:
            producers |= dict.fromkeys(node["outputs"], node["id"])
            for edge in {*node["inputs"], *node["extra_inputs"]} - {None}:
                consumers[edge].append(node["id"])
        return [
            self._typed(types[edge], constants.get(edge))
            | {"id": edge, "name": self._text(name), "producer": producers.get(edge, self._none)}
            | self._ids("consumers", consumers[edge])
            for edge, name in topology["edges"]
        ]

    def _node(self, node: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        attributes = [self._attribute(name, value) for name, value in given.items()]
        return {
            "id": node["id"],
            **{name: self._text(node[name]) for name in ("op", "domain", "name")},
            **self._ids("inputs", node["inputs"]),
            **self._ids("outputs", node["outputs"]),
            "num_attributes": len(attributes),
            "attributes": self._array("mcu_attribute_t", attributes),
        }

    def _attribute(self, name: str, value: Any) -> dict[str, Any]:
        kind, values = "tensor", value if isinstance(value, list) else [value]
        made: Any
        if isinstance(value, dict) and "tensor" in value:
            dtype, shape, _ = tensor = value["tensor"]
            made = self._new("mcu_edge_t *", self._typed({"dtype": dtype, "shape": shape}, tensor))
        elif all(isinstance(v, int) for v in values):
            kind, made = "ints", self._array("int64_t", values)
        elif all(isinstance(v, str) for v in values):
            kind, made = "strings", self._array("char *", [self._text(v) for v in values])
        else:  # {"float": "inf"} is what JSON has no word for
            reals = [float(v["float"] if isinstance(v, dict) else v) for v in values]
            kind, made = "floats", self._array("double", reals)
        number = self._memory.number("mcu_attribute_kind_t", kind)
        return {"name": self._text(name), "kind": number, "count": len(values), kind: made}

    def _typed(self, type_: dict[str, Any], constant: list[Any] | None) -> dict[str, Any]:
        """An edge, of which no more is known than its type, and its constant if it is one."""
        quantization = type_.get("quantization") or {}
        scales, axis = quantization.get("scale", []), quantization.get("axis")
        data = None if constant is None else self._blobs[constant[2]]
        return {
            "id": self._none,
            "name": self._text(""),
            "dtype": self._memory.number("mcu_dtype_t", type_["dtype"]),
            "rank": len(type_["shape"]),
            "shape": self._array("int64_t", type_["shape"]),
            "layout": self._array("uint32_t", type_.get("layout") or []),
            "num_scales": len(scales),
            "quantization_axis": -1 if axis is None else axis,
            "scales": self._array("float", scales),
            "zero_points": self._array("int32_t", quantization.get("zero_point", [])),
            "producer": self._none,
            **({} if data is None else {"data": self._data(data), "data_bytes": len(data)}),
        }

    def _ids(self, name: str, ids: Sequence[int | None]) -> dict[str, Any]:
        """A field of ids, and that of their number."""
        made = self._array("uint32_t", [self._none if i is None else i for i in ids])
        return {f"num_{name}": len(ids), name: made}

    def _data(self, data: bytearray) -> Any:
        # one byte at least, so that what is empty has an address too
        return self._kept(self._ffi.from_buffer(data)) if data else self._new("char[1]")

    def _text(self, text: str) -> Any:
        return self._new("char[]", text.replace("\0", "�").encode("utf-8", "replace"))

    def _array(self, kind: str, values: Sequence[Any]) -> Any:
        """An array, NULL for an empty one."""
        return self._new(f"{kind}[]", values) if values else self._ffi.NULL

    def _new(self, kind: str, value: Any = None) -> Any:
        return self._kept(self._ffi.new(kind, value))

    def _kept(self, thing: Any) -> Any:
        self._alive.append(thing)
        return thing
