"""What a backend is given: the structs of a call, made from its message.

Each is a table of its fields by the names of backend.h, whose types say what becomes of a value.
Data of constants stay where the message was received; the structs point there. Runs in workers: the
standard library, and cffi's compiled module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .memory import BackendMemory

Fields = dict[str, Any]


class Arguments:
    """The structs of one call. They live as long as this object."""

    def __init__(self, memory: BackendMemory, message: Fields, blobs: Sequence[bytearray]) -> None:
        self._memory = memory
        self._ffi = memory.ffi
        self._none: int = memory.ffi.integer_const("MCU_NONE")
        self._message = message
        self._blobs = blobs
        self._alive: list[Any] = []

    def graph(self) -> Any:
        """The message's "graph"."""
        return self._made("mcu_graph_t *", self._graph(self._message["graph"]))

    def data(self) -> tuple[Any, int]:
        """The message's last blob, and its size."""
        return self._made("void *", self._blobs[-1]), len(self._blobs[-1])

    def options(self) -> tuple[Any, int]:
        """The message's "options", and their number."""
        options = self._message["options"].items()
        made = [{"name": name, "value": value} for name, value in options]
        return self._made("mcu_option_t *", made), len(made)

    def counts(self) -> tuple[Any, Any, int]:
        """The message's "network", its "counts", and their number."""
        counts, network = self._message["counts"], self._message["network"]
        return self._made("char *", network), self._made("mcu_layer_count_t *", counts), len(counts)

    def _graph(self, graph: Fields) -> Fields:
        topology, data, target = graph["topology"], graph["data"], self._message["target"]
        attributes, bodies = dict(data["attributes"]), dict(data["bodies"])
        inner = [
            self._graph(bodies[n["id"]]) if n["id"] in bodies else None for n in topology["nodes"]
        ]
        return {
            "struct_size": self._ffi.sizeof("mcu_graph_t"),
            "opset": graph["opset"],
            "name": graph["name"],
            "core": target["core"],
            **{f"has_{name}": target[name] for name in ("fpu", "dsp", "mve")},
            "nodes": [self._node(node, attributes[node["id"]]) for node in topology["nodes"]],
            "edges": self._edges(topology, data),
            "inputs": topology["inputs"],
            "outputs": topology["outputs"],
            "bodies": inner if bodies else [],
            "key": self._message.get("key", 0),
        }

    def _edges(self, topology: Fields, data: Fields) -> list[Fields]:
        types, constants = dict(data["types"]), dict(data["constants"])
        producers: dict[int, int] = {}
        consumers: dict[int, list[int]] = {edge: [] for edge, _ in topology["edges"]}
        for node in topology["nodes"]:
            producers |= dict.fromkeys(node["outputs"], node["id"])
            for edge in {*node["inputs"], *node["extra_inputs"]} - {None}:
                consumers[edge].append(node["id"])
        return [
            self._typed(types[edge], constants.get(edge))
            | {"id": edge, "name": name, "producer": producers.get(edge)}
            | {"consumers": consumers[edge]}
            for edge, name in topology["edges"]
        ]

    def _node(self, node: Fields, given: Fields) -> Fields:
        made = {name: node[name] for name in ("id", "op", "domain", "name", "inputs", "outputs")}
        return made | {"attributes": [self._attribute(*item) for item in given.items()]}

    def _attribute(self, name: str, value: Any) -> Fields:
        kind, values = "tensor", value if isinstance(value, list) else [value]
        made: Any = values
        if isinstance(value, dict) and "tensor" in value:
            dtype, shape, _ = tensor = value["tensor"]
            made = self._typed({"dtype": dtype, "shape": shape}, tensor)
        elif all(isinstance(v, int) for v in values):
            kind = "ints"
        elif all(isinstance(v, str) for v in values):
            kind = "strings"
        else:  # {"float": "inf"} is what JSON has no word for
            kind = "floats"
            made = [float(v["float"] if isinstance(v, dict) else v) for v in values]
        number = self._memory.number("mcu_attribute_kind_t", kind)
        return {"name": name, "kind": number, "count": len(values), kind: made}

    def _typed(self, type_: Fields, constant: list[Any] | None) -> Fields:
        """An edge, of which no more is known than its type, and its constant if it is one."""
        quantization = type_.get("quantization") or {}
        axis = quantization.get("axis")
        data = None if constant is None else self._blobs[constant[2]]
        return {
            "id": None,
            "name": "",
            "dtype": self._memory.number("mcu_dtype_t", type_["dtype"]),
            "rank": len(type_["shape"]),
            "shape": type_["shape"],
            "layout": type_.get("layout") or [],
            "quantization_axis": -1 if axis is None else axis,
            "scales": quantization.get("scale", []),
            "zero_points": quantization.get("zero_point", []),
            "producer": None,
            "data": data,
            "data_bytes": len(data or b""),
        }

    def _made(self, kind: Any, value: Any) -> Any:
        """A value of a C type: a struct of its fields, an array of a list, NULL for an empty one.

        None is NULL, or MCU_NONE where an id belongs.
        """
        kind = self._ffi.typeof(kind) if isinstance(kind, str) else kind
        if kind.kind == "struct":
            return self._fields(kind, value)
        if kind.kind != "pointer":
            return self._none if value is None else value
        match value:
            case None | []:
                return self._ffi.NULL
            case str():
                return self._new("char[]", value.replace("\0", "�").encode("utf-8", "replace"))
            case bytearray():  # one byte at least, so that what is empty has an address too
                return self._kept(self._ffi.from_buffer(value)) if value else self._new("char[1]")
            case list():
                array = self._ffi.getctype(kind.item, "[]")
                return self._new(array, [self._made(kind.item, item) for item in value])
        return self._new(kind, self._fields(kind.item, value))

    def _fields(self, struct: Any, values: Fields) -> Fields:
        """A struct's fields, those that say how many elements an array has among them."""
        types = {name: field.type for name, field in struct.fields}
        made = {name: self._made(types[name], value) for name, value in values.items()}
        numbers = {f"num_{name}": len(v) for name, v in values.items() if isinstance(v, list)}
        return made | {name: number for name, number in numbers.items() if name in types}

    def _new(self, kind: Any, value: Any = None) -> Any:
        return self._kept(self._ffi.new(kind, value))

    def _kept(self, thing: Any) -> Any:
        self._alive.append(thing)
        return thing
