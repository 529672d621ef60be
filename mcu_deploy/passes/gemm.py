"""Fuses MatMul with a constant matrix and the Add of a constant bias into one Gemm."""

from __future__ import annotations

from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node, TensorType


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
    product = matmul.outputs[0]
    assert product is not None
    add = graph.sole_consumer(product)
    a, b = matmul.inputs
    assert a is not None
    assert b is not None
    if add is None or add.op != "Add" or graph.type(a).rank != 2 or graph.type(b).rank != 2:
        return
    if _constant_source(graph, b) is None:
        return
    total = add.outputs[0]
    assert total is not None
    if not (everywhere or feeds_quantize(graph, total)):
        return
    bias = next((e for e in add.inputs if e is not None and e != product), None)
    columns = graph.type(b).shape[1]
    if bias is None or _constant_source(graph, bias) is None:
        return
    if graph.type(bias).shape not in ((columns,), (1, columns)):
        return
    flat = bias if graph.type(bias).rank == 1 else _flatten(graph, bias, columns)
    if flat is not None:
        graph.fuse([matmul.id, add.id], "Gemm", [a, b, flat], [total], {}, matmul.name)


def _constant_source(graph: GraphEditor, edge: EdgeId) -> EdgeId | None:
    """The constant behind an edge: itself, or what a DequantizeLinear reads."""
    if graph.constant(edge) is not None:
        return edge
    producer = graph.producer(edge)
    if producer is not None and producer.op == "DequantizeLinear":
        source = producer.inputs[0]
        return source if graph.constant(source) is not None else None
    return None


def _flatten(graph: GraphEditor, bias: EdgeId, columns: int) -> EdgeId | None:
    source = _constant_source(graph, bias)
    assert source is not None
    value, type_ = graph.constant(source), graph.type(source)
    assert value is not None
    if type_.quantization is not None and not type_.quantization.per_tensor:
        return None
    flat = graph.add_constant(
        graph.edge_name(source),
        value.reshape(columns),
        TensorType(type_.dtype, (columns,), type_.quantization),
    )
    producer = graph.producer(bias)
    if producer is None:
        return flat
    real = graph.add_edge(graph.edge_name(bias), TensorType(graph.type(bias).dtype, (columns,)))
    graph.add_node(
        "DequantizeLinear", [flat, *producer.inputs[1:]], [real], producer.name,
        graph.attributes(producer.id), beside=producer.id,
    )  # fmt: skip
    return real
