"""Fuses MatMul with a constant matrix and the Add of a constant bias into one Gemm."""

from __future__ import annotations

from dataclasses import replace

from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node


def feeds_quantize(graph: GraphEditor, edge: EdgeId) -> bool:
    """Whether an edge ends in a QuantizeLinear, directly or behind one Relu or Clip."""
    reader = graph.sole_consumer(edge)
    if reader is not None and reader.op in ("Relu", "Clip") and reader.outputs[0] is not None:
        reader = graph.sole_consumer(reader.outputs[0])
    return reader is not None and reader.op == "QuantizeLinear"


def fuse(graph: Graph, everywhere: bool = True) -> Graph:
    """With everywhere=False only where a quantized operator needs it for its accumulator."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        if node.op == "MatMul" and not node.domain:
            _fuse_one(editor, node, everywhere)
    return editor.finish()


def _fuse_one(graph: GraphEditor, matmul: Node, everywhere: bool) -> None:
    (product,) = matmul.writes
    add = graph.sole_consumer(product)
    a, b = matmul.input(0), matmul.input(1)
    if add is None or add.op != "Add" or graph.type(a).rank != 2 or graph.type(b).rank != 2:
        return
    if not _is_constant(graph, b):
        return
    (total,) = add.writes
    if not (everywhere or feeds_quantize(graph, total)):
        return
    bias = next((e for e in add.inputs if e is not None and e != product), None)
    columns = graph.type(b).shape[1]
    if bias is None or not _is_constant(graph, bias):
        return
    if graph.type(bias).shape not in ((columns,), (1, columns)):
        return
    is_row = graph.type(bias).rank > 1
    flat = _flatten(graph, bias) if is_row else bias
    if flat is not None:
        source = graph.producer(bias) if is_row else None
        shared = [] if source is None else [source.id]  # what the Add in the body reads
        graph.fuse([matmul.id, add.id], "Gemm", [a, b, flat], [total], {}, matmul.name, shared)


def _is_constant(graph: GraphEditor, edge: EdgeId) -> bool:
    """Whether an edge is a constant, or what a DequantizeLinear makes of one."""
    return graph.constant(_integers(graph, edge)) is not None


def _integers(graph: GraphEditor, edge: EdgeId) -> EdgeId:
    """What the DequantizeLinear behind an edge reads; without one the edge itself."""
    producer = graph.producer(edge)
    is_real = producer is not None and producer.op == "DequantizeLinear"
    return producer.input(0) if producer is not None and is_real else edge


def _flatten(graph: GraphEditor, bias: EdgeId) -> EdgeId | None:
    source, producer = _integers(graph, bias), graph.producer(bias)
    value, type_ = graph.constants[source].reshape(-1), graph.type(source)
    if type_.quantization is not None and not type_.quantization.per_tensor:
        return None
    flat = graph.add_constant(graph.edge_name(source), value, replace(type_, shape=value.shape))
    if producer is None:
        return flat
    real = graph.add_edge(graph.edge_name(bias), replace(graph.type(bias), shape=value.shape))
    graph.add_node(
        "DequantizeLinear", [flat, *producer.inputs[1:]], [real], producer.name,
        graph.attributes(producer.id), beside=producer.id,
    )  # fmt: skip
    return real
