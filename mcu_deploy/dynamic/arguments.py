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
        graph = self._message["graph"]
        target = graph["target"]
        nodes = [self._node(node) for node in graph["nodes"]]
        edges = [self._edge(edge) for edge in graph["edges"]]
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
            num_inputs=len(graph["inputs"]),
            inputs=self._array(c_uint32, graph["inputs"]),
            num_outputs=len(graph["outputs"]),
            outputs=self._array(c_uint32, graph["outputs"]),
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

    def _node(self, node: dict[str, Any]) -> structs.Node:
        inputs = [structs.NONE if e is None else e for e in node["inputs"]]
        outputs = [structs.NONE if e is None else e for e in node["outputs"]]
        attributes = [self._attribute(attribute) for attribute in node["attributes"]]
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

    def _attribute(self, attribute: dict[str, Any]) -> structs.Attribute:
        kind = attribute["kind"]
        made = structs.Attribute(name=self._text(attribute["name"]), kind=kind, count=1)
        if kind == structs.ATTRIBUTE_TENSOR:
            made.tensor = self._address(self._edge(attribute["tensor"]))
            return made
        values = attribute["values"]
        made.count = len(values)
        if kind == structs.ATTRIBUTE_INTS:
            made.ints = self._array(c_int64, values)
        elif kind == structs.ATTRIBUTE_FLOATS:
            made.floats = self._array(c_double, values)
        else:
            made.strings = self._array(c_char_p, [value.encode() for value in values])
        return made

    def _edge(self, edge: dict[str, Any]) -> structs.Edge:
        """An edge; a tensor attribute's has neither id nor name nor neighbours."""
        layout, blob = edge.get("layout"), edge.get("data")
        scales, consumers = edge.get("scales", []), edge.get("consumers", [])
        producer = edge.get("producer")
        made = structs.Edge(
            id=edge.get("id", structs.NONE),
            name=self._text(edge.get("name", "")),
            dtype=edge["dtype"],
            rank=len(edge["shape"]),
            shape=self._array(c_int64, edge["shape"]),
            layout=None if layout is None else self._array(c_uint32, layout),
            num_scales=len(scales),
            quantization_axis=edge.get("axis", -1),
            scales=self._array(c_float, scales),
            zero_points=self._array(c_int32, edge.get("zero_points", [])),
            producer=structs.NONE if producer is None else producer,
            num_consumers=len(consumers),
            consumers=self._array(c_uint32, consumers),
        )
        if blob is not None:
            data = self._blobs[blob]
            # one byte at least, so that an empty constant has an address too
            buffer: Any = (ctypes.c_char * len(data)).from_buffer(data) if data else c_int64()
            made.data = self._address(buffer)
            made.data_bytes = len(data)
        return made

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
