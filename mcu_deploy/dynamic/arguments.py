"""What a backend is given: the structs of a call, made from its message.

Data of constants stay where the message was received; the structs point there. Runs in workers: the
standard library only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_char_p, c_double, c_float, c_int32, c_int64, c_uint32, c_void_p
from typing import Any

from . import structs


class Arguments:
    """The structs of one call. They live as long as this object."""

    def __init__(self, message: dict[str, Any], blobs: Sequence[bytearray]) -> None:
        self._message = message
        self._blobs = blobs
        self._alive: list[object] = []

    def graph(self) -> int:
        """The address of the message's "graph"."""
        return self._graph(self._message["graph"], self._message["target"])

    def data(self) -> tuple[int, int]:
        """The address and size of the message's last blob."""
        return self._data(self._blobs[-1]), len(self._blobs[-1])

    def _graph(self, graph: dict[str, Any], target: dict[str, Any]) -> int:
        topology, data = graph["topology"], graph["data"]
        attributes, bodies = dict(data["attributes"]), dict(data["bodies"])
        inner = [
            self._graph(bodies[node["id"]], target) if node["id"] in bodies else None
            for node in topology["nodes"]
        ]
        nodes = [self._node(node, attributes[node["id"]]) for node in topology["nodes"]]
        edges = self._edges(topology, data)
        made = structs.Graph(
            struct_size=ctypes.sizeof(structs.Graph),
            opset=graph["opset"],
            name=self._text(graph["name"]),
            core=self._text(target["core"]),
            has_fpu=target["fpu"],
            has_dsp=target["dsp"],
            has_mve=target["mve"],
            num_nodes=len(nodes),
            nodes=self._array(structs.Node, nodes),
            num_edges=len(edges),
            edges=self._array(structs.Edge, edges),
            num_inputs=len(topology["inputs"]),
            inputs=self._array(c_uint32, topology["inputs"]),
            num_outputs=len(topology["outputs"]),
            outputs=self._array(c_uint32, topology["outputs"]),
            bodies=self._array(c_void_p, inner) if bodies else None,
        )
        return self._address(made)

    def options(self) -> tuple[int | None, int]:
        """The address and number of the message's "options"."""
        options = [
            structs.Option(self._text(name), self._text(value))
            for name, value in self._message["options"].items()
        ]
        return self._array(structs.Option, options), len(options)

    def counts(self) -> tuple[bytes, int | None, int]:
        """The message's "network", and the address and number of its "counts"."""
        counts = [
            structs.LayerCount(
                index=count["index"],
                name=self._text(count["name"]),
                op=self._text(count["op"]),
                unit=self._text(count["unit"]),
                macs=count["macs"],
                count=count["count"],
            )
            for count in self._message["counts"]
        ]
        network = self._message["network"].encode()
        return network, self._array(structs.LayerCount, counts), len(counts)

    def _edges(self, topology: dict[str, Any], data: dict[str, Any]) -> list[structs.Edge]:
        types, constants = dict(data["types"]), dict(data["constants"])
        producers: dict[int, int] = {}
        consumers: dict[int, list[int]] = {edge: [] for edge, _ in topology["edges"]}
        for node in topology["nodes"]:
            producers |= dict.fromkeys(node["outputs"], node["id"])
            for edge in {*node["inputs"], *node["extra_inputs"]} - {None}:
                consumers[edge].append(node["id"])
        edges = []
        for edge, name in topology["edges"]:
            made = self._typed(types[edge], constants.get(edge))
            made.id, made.name = edge, self._text(name)
            made.producer = producers.get(edge, structs.NONE)
            made.num_consumers = len(consumers[edge])
            made.consumers = self._array(c_uint32, consumers[edge])
            edges.append(made)
        return edges

    def _node(self, node: dict[str, Any], given: dict[str, Any]) -> structs.Node:
        inputs = [structs.NONE if e is None else e for e in node["inputs"]]
        outputs = [structs.NONE if e is None else e for e in node["outputs"]]
        attributes = [self._attribute(name, value) for name, value in given.items()]
        return structs.Node(
            id=node["id"],
            op=self._text(node["op"]),
            domain=self._text(node["domain"]),
            name=self._text(node["name"]),
            num_inputs=len(inputs),
            inputs=self._array(c_uint32, inputs),
            num_outputs=len(outputs),
            outputs=self._array(c_uint32, outputs),
            num_attributes=len(attributes),
            attributes=self._array(structs.Attribute, attributes),
        )

    def _attribute(self, name: str, value: Any) -> structs.Attribute:
        made = structs.Attribute(name=self._text(name), count=1)
        if isinstance(value, dict) and "tensor" in value:
            dtype, shape, _ = tensor = value["tensor"]
            made.kind = structs.ATTRIBUTE_TENSOR
            made.tensor = self._address(self._typed({"dtype": dtype, "shape": shape}, tensor))
            return made
        values = value if isinstance(value, list) else [value]
        made.count = len(values)
        if all(isinstance(v, int) for v in values):
            made.kind, made.ints = structs.ATTRIBUTE_INTS, self._array(c_int64, values)
        elif all(isinstance(v, str) for v in values):
            texts = [v.encode() for v in values]
            made.kind, made.strings = structs.ATTRIBUTE_STRINGS, self._array(c_char_p, texts)
        else:  # {"float": "inf"} is what JSON has no word for
            reals = [float(v["float"] if isinstance(v, dict) else v) for v in values]
            made.kind, made.floats = structs.ATTRIBUTE_FLOATS, self._array(c_double, reals)
        return made

    def _typed(self, type_: dict[str, Any], constant: list[Any] | None) -> structs.Edge:
        """An edge, of which no more is known than its type, and its constant if it is one."""
        layout, quantization = type_.get("layout"), type_.get("quantization") or {}
        scales, axis = quantization.get("scale", []), quantization.get("axis")
        made = structs.Edge(
            id=structs.NONE,
            name=self._text(""),
            dtype=structs.DTYPE_NUMBERS[type_["dtype"]],
            rank=len(type_["shape"]),
            shape=self._array(c_int64, type_["shape"]),
            layout=None if layout is None else self._array(c_uint32, layout),
            num_scales=len(scales),
            quantization_axis=-1 if axis is None else axis,
            scales=self._array(c_float, scales),
            zero_points=self._array(c_int32, quantization.get("zero_point", [])),
            producer=structs.NONE,
        )
        if constant is not None:
            data = self._blobs[constant[2]]
            made.data = self._data(data)
            made.data_bytes = len(data)
        return made

    def _data(self, data: bytearray) -> int:
        # one byte at least, so that what is empty has an address too
        return self._address((ctypes.c_char * len(data)).from_buffer(data) if data else c_int64())

    def _text(self, text: str) -> int | None:
        made = c_char_p(text.replace("\0", "�").encode("utf-8", "replace"))
        self._alive.append(made)
        return ctypes.cast(made, c_void_p).value

    def _array(self, kind: type[Any], values: Sequence[Any]) -> int | None:
        """The address of an array, NULL for an empty one."""
        return self._address((kind * len(values))(*values)) if values else None

    def _address(self, thing: Any) -> int:
        self._alive.append(thing)
        return ctypes.addressof(thing)
