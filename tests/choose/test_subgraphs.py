"""The graphs of If and Loop are partitioned as the whole is."""

from __future__ import annotations

import pytest
from backend_cases import Only

from mcu_deploy import choose, selection
from mcu_deploy.arrange import flow, layouts
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import HOST
from mcu_deploy.choose import Choosing
from mcu_deploy.errors import UnsupportedError, UsageError
from mcu_deploy.ir import DType, Graph, GraphEditor, TensorType, verify
from mcu_deploy.ir.nested import graphs_within
from mcu_deploy.selection import Control

VECTOR = TensorType(DType.FLOAT32, (4,))


def inner(name: str, *ops: str) -> Graph:
    """A subgraph that reads one outer value."""
    editor = GraphEditor.empty(name)
    edge = editor.add_edge("x", VECTOR)
    editor.inputs = [edge]
    for number, op in enumerate(ops):
        after = editor.add_edge(f"{name}{number}", VECTOR)
        editor.add_node(op, [edge], [after], f"{name}.{op}")
        edge = after
    editor.outputs = [edge]
    return editor.finish(opset=17)


def choosing(then: Graph, otherwise: Graph) -> Graph:
    editor = GraphEditor.empty("choosing")
    condition = editor.add_edge("condition", TensorType(DType.BOOL, ()))
    x, y, z = (editor.add_edge(name, VECTOR) for name in "xyz")
    editor.inputs = [condition, x]
    editor.add_node(
        "If", [condition], [y], "choose", extra_inputs=(x,),
        subgraphs={"then_branch": then, "else_branch": otherwise},
    )  # fmt: skip
    editor.add_node("Relu", [y], [z], "last")
    editor.outputs = [z]
    return editor.finish(opset=17)


def test_each_subgraph_is_given_to_backends() -> None:
    graph = choosing(inner("then", "Relu", "Neg"), inner("else", "Abs"))
    after, assignment = choose.assign(graph, (Only(), CpuRef()))
    verify(after)
    branch, last = after.nodes
    assert branch.id not in assignment.backends
    assert assignment.backends[last.id].id == "Only"
    found = assignment.subgraphs[branch.id]
    then = after.subgraphs(branch.id)["then_branch"]
    assert [found["then_branch"].backends[n.id].id for n in then.nodes] == ["Only", "CpuRef"]
    assert [p.backend for p in found["then_branch"].groups] == ["Only", "CpuRef"]
    assert [b.id for b in found["else_branch"].backends.values()] == ["CpuRef"]


def test_a_backend_may_take_the_whole() -> None:
    from mcu_deploy.backends.interface import YES

    class Whole(Only):
        def layer_support(self):  # type: ignore[no-untyped-def]
            class Support:
                def is_layer_supported(self, *_):  # type: ignore[no-untyped-def]
                    return YES

            return Support()

    graph = choosing(inner("then", "Relu"), inner("else", "Abs"))
    _, assignment = choose.assign(graph, (Whole("Whole"),))
    assert {b.id for b in assignment.backends.values()} == {"Whole"}
    assert assignment.subgraphs == {}


def test_overrides_reach_into_subgraphs() -> None:
    graph = choosing(inner("then", "Relu"), inner("else", "Relu"))
    options = Choosing({"then.Relu": CpuRef()})
    after, assignment = choose.assign(graph, (Only(), CpuRef()), HOST, options)
    branch = next(after.nodes)
    found = assignment.subgraphs[branch.id]
    assert [b.id for b in found["then_branch"].backends.values()] == ["CpuRef"]
    assert [b.id for b in found["else_branch"].backends.values()] == ["Only"]
    with pytest.raises(UsageError, match="no layer 'nobody'"):
        choose.assign(graph, (CpuRef(),), HOST, Choosing({"nobody": CpuRef()}))


def test_a_node_inside_that_nobody_takes_is_an_error() -> None:
    graph = choosing(inner("then", "Relu"), inner("else", "Nonsense"))
    with pytest.raises(UnsupportedError, match=r"Nonsense 'else\.Nonsense'"):
        choose.assign(graph, (CpuRef(),))


def test_each_of_its_graphs_gets_workloads_of_its_own_under_one_numbering() -> None:
    graph = choosing(inner("then", "Relu"), inner("else", "Abs"))
    after, assignment = choose.assign(graph, (CpuRef(),))
    laid_out, parts = flow.number(layouts.assign(after, assignment), assignment)
    verify(laid_out)
    choices = selection.select(laid_out, parts, (CpuRef(),)).choices
    (control,) = [choice for choice in choices if isinstance(choice, Control)]
    chosen = {name: [c.layer.op for c in block] for name, block in control.blocks.items()}
    assert chosen == {"then_branch": ["Relu"], "else_branch": ["Abs"]}
    nodes = [node.id for each in graphs_within(laid_out) for node in each.nodes]
    assert len(nodes) == len(set(nodes)) >= 3
