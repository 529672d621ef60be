"""Fuses MatMul with a constant matrix and the Add of a constant bias into one Gemm."""

from __future__ import annotations

from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node, TensorType


def feeds_quantize(graph: Graph, edge: EdgeId) -> bool:
    """Whether an edge ends in a QuantizeLinear, directly or behind one Relu or Clip."""
    reader = graph.sole_consumer(edge)
    if reader is not None and reader.op in ("Relu", "Clip") and reader.outputs[0] is not None:
        reader = graph.sole_consumer(reader.outputs[0])
    return reader is not None and reader.op == "QuantizeLinear"


def fuse(graph: Graph, everywhere: bool = True) -> Graph:
    """With everywhere=False only where a quantized operator needs it for its accumulator."""
    for node in tuple(graph.nodes):
        if node.op == "MatMul" and not node.domain:
            graph = _fuse_one(graph, node, everywhere)
    return graph


def _fuse_one(graph: Graph, matmul: Node, everywhere: bool) -> Graph:
    product = matmul.outputs[0]
    assert product is not None
    add = graph.sole_consumer(product)
    a, b = matmul.inputs
    assert a is not None
    assert b is not None
    if add is None or add.op != "Add" or graph.type(a).rank != 2 or graph.type(b).rank != 2:
        return graph
    if _constant_source(graph, b) is None:
        return graph
    total = add.outputs[0]
    assert total is not None
    if not (everywhere or feeds_quantize(graph, total)):
        return graph
    bias = next((e for e in add.inputs if e is not None and e != product), None)
    columns = graph.type(b).shape[1]
    if bias is None or _constant_source(graph, bias) is None:
        return graph
    if graph.type(bias).shape not in ((columns,), (1, columns)):
        return graph
    editor = GraphEditor(graph)
    flat = bias if graph.type(bias).rank == 1 else _flatten(graph, editor, bias, columns)
    if flat is None:
        return graph
    editor.fuse([matmul.id, add.id], "Gemm", [a, b, flat], [total], {}, matmul.name)
    return editor.finish()


def _constant_source(graph: Graph, edge: EdgeId) -> EdgeId | None:
    """The constant behind an edge: itself, or what a DequantizeLinear reads."""
    if graph.constant(edge) is not None:
        return edge
    producer = graph.producer(edge)
    if producer is not None and producer.op == "DequantizeLinear":
        source = producer.inputs[0]
        return source if graph.constant(source) is not None else None
    return None


def _flatten(graph: Graph, editor: GraphEditor, bias: EdgeId, columns: int) -> EdgeId | None:
    source = _constant_source(graph, bias)
    assert source is not None
    value, type_ = graph.constant(source), graph.type(source)
    assert value is not None
    if type_.quantization is not None and not type_.quantization.per_tensor:
        return None
    flat = editor.add_constant(
        graph.edge_name(source),
        value.reshape(columns),
        TensorType(type_.dtype, (columns,), type_.quantization),
    )
    producer = graph.producer(bias)
    if producer is None:
        return flat
    real = editor.add_edge(graph.edge_name(bias), TensorType(graph.type(bias).dtype, (columns,)))
    editor.add_node(
        "DequantizeLinear", [flat, *producer.inputs[1:]], [real], producer.name,
        graph.attributes(producer.id),
    )  # fmt: skip
    return real
