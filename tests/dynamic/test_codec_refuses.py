"""What a backend may not answer, one rule each, and what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graph_cases
import pytest
from dynamic.codec_cases import Json, quantized_conv, quantized_layer, rich_workload, sent

from mcu_deploy.backends.c_rules import Nonsense
from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.interface import OptimizationViews, Substitution
from mcu_deploy.backends.workload_check import check_workload
from mcu_deploy.dynamic import codec, offers
from mcu_deploy.dynamic.regions import NetworkRegions
from mcu_deploy.ir import Graph, view_of_all

Path = tuple[str | int, ...]


def changed(message: Json, path: Path, value: Any) -> Json:
    place: Any = message
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return message


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("function", "stem"), "2fast", "a function's stem is '2fast', not a C identifier"),
        (("function", "stem"), "a" * 65, "not a C identifier"),
        (("function", "stem"), "x\ny", "not a C identifier"),
        (("function", "body"), "return;", "does not begin with { and end with }"),
        (("function", "result"), "void; int", "not a C type"),
        (("function", "inline"), True, "the function rich is called as a helper"),
        (("function", "parameters", 0, "ctype"), "int8_t", "the parameter p0 is no pointer"),
        (("function", "parameters", 0, "ctype"), "char (*)(", "not a C type"),
        (("function", "parameters", 0, "name"), "while", "'while', a keyword of C"),
        (("function", "parameters", 0, "name"), "p1", "two parameters of rich have one name"),
        (("function", "parameters", 0), {"ctype": "int8_t *"}, "the key 'name' is missing"),
        (("function", "parameters"), [], "has 0 parameters, but the call 7 arguments"),
        (("function",), None, "has 0 parameters, but the call 7 arguments"),
        (("arguments", 0), ["input"], "must be a table or a value of Argument"),
        (
            ("arguments", 0),
            {"role": "input", "index": 7},
            "an argument is input 7, and there are 3",
        ),
        (("arguments", 0), {"role": "input", "index": 1}, "input 1 is referred to, a constant"),
        (
            ("arguments", 0),
            {"role": "input", "index": 2},
            "input 2 is referred to, which is absent",
        ),
        (
            ("arguments", 0),
            {"role": "output", "index": 1},
            "an argument is output 1, and there are 1",
        ),
        (
            ("arguments", 0),
            {"role": "constant", "index": 1},
            "an argument is constant 1, and there are 1",
        ),
        (
            ("arguments", 0),
            {"role": "scratch", "index": 1},
            "scratch memory 1, and there is but one",
        ),
        (
            ("arguments", 0),
            {"role": "region", "index": 2},
            "an argument is region 2, and there are 2",
        ),
        (("arguments", 0, "index"), -1, "an argument is input -1, and there are 3"),
        (("scratch_bytes",), 0, "the scratch memory, of 0 bytes"),
        (("scratch_bytes",), 2**31, "its scratch memory has 2147483648 bytes"),
        (("constants", 0, "stem"), "a-b", "a constant's stem is 'a-b'"),
        (("constants", 0, "value", 0), "int5", "'int5' is no DType"),
        (("constants", 0, "alignment"), 12, "the alignment of table is 12"),
        (("constants", 0, "alignment"), 8192, "the alignment of table is 8192"),
        (("constants", 0, "value", 1), [2, 4], "an array has 24 bytes, and its type and shape 32"),
        (("constants", 0, "value", 1), [0], "an array has 24 bytes, and its type and shape 0"),
        (("constants", 0, "value", 2), 1, "has its bytes in blob 1 of 1"),
        (("function", "attributes"), ["weak"], "the attribute 'weak' of"),
        (("arguments", 0), {"role": "scalar", "value": 3}, "gets the number 3.0, and is 'const"),
        (("headers", 0), "../secret.h", "'../secret.h' is none of those that a workload may name"),
        (("headers", 0), 'a.h"\n#include "b.h', "is none of those that a workload may name"),
        (("in_place", 0, "output"), 1, "an in-place fact names output 1"),
        (("in_place", 0, "input"), 3, "an in-place fact names input 3"),
        (("in_place", 0, "input"), 1, "input 1 is referred to, a constant"),
        (("in_place", 0, "distance"), 2**63, "9223372036854775808 is no integer"),
        (("in_place", 0, "exactly"), True, "of one exact place, and has a distance of -4"),
        (("regions", 0, "bytes"), 0, "the size of the region state is 0"),
        (("regions", 0, "name"), "", "a region's name is ''"),
        (("costs", "macs"), "many", "macs must be a whole number, not 'many'"),
    ],
)
def test_a_workload(path: Path, value: Any, reason: str) -> None:
    message, blobs = sent(*codec.encode_workloads([rich_workload()]))
    changed(message, ("workloads", 0, *path), value)
    layer = quantized_layer()
    with pytest.raises(Nonsense) as refused:
        (made,) = codec.decode_workloads(message, blobs, layer, NetworkRegions("Rich"))
        check_workload(made, layer)
    assert reason in str(refused.value)


def test_no_workload_at_all() -> None:
    with pytest.raises(Nonsense, match="there is no workload"):
        layer, regions = quantized_layer(), NetworkRegions("Rich")
        codec.decode_workloads({"workloads": []}, [], layer, regions)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("nodes",), [7], "node 7 is not in the view"),
        (("nodes",), [0, 0], "node 0 is in two parts"),
        (("nodes",), [], "a part has no nodes"),
        (("replacement", "topology", "inputs"), [], "reads edge 0 before it is written"),
        (("replacement", "topology", "outputs"), [0, 1], "a replacement has 2 outputs"),
        (("replacement", "topology", "outputs"), [9], "output 9 is never written"),
        (
            ("replacement", "data", "types", 0, 1, "shape"),
            [1, 2, 4, 5],
            "input 0 of a replacement is int8",
        ),
        (
            ("replacement", "data", "types", 0, 1, "quantization", "scale"),
            [0.5],
            "input 0 of a replacement is int8",
        ),
        (
            ("replacement", "data", "types", 0, 1, "quantization", "scale"),
            [-0.5],
            "a scale of edge 0 is -0.5",
        ),
        (
            ("replacement", "data", "types", 0, 1, "quantization", "scale"),
            [0.5, 0.5],
            "2 scales but 1 zero points",
        ),
        (
            ("replacement", "data", "types", 0, 1, "layout"),
            [0, 1, 1, 2],
            "its layout is no order of axes",
        ),
        (
            ("replacement", "data", "types", 0, 1, "shape"),
            [2**16, 2**16],
            "edge 0 has 4294967296 bytes",
        ),
        (("replacement", "topology", "edges", 0, 0), 1, "has a key twice"),
        (("replacement", "topology", "nodes", 0, "inputs"), [0, 7, None], "reads edge 7 before"),
        (
            ("replacement", "topology", "nodes", 0, "inputs"),
            [1, 2, None],
            "reads edge 1 before it is written",
        ),
        (
            ("replacement", "data", "attributes", 0, 1, "kernel_shape"),
            {"graph": 4},
            "kernel_shape must be a whole number",
        ),
        (("replacement", "data", "attributes", 0, 1, "group"), [], "group of Conv is one value"),
    ],
)
def test_a_substitution(path: Path, value: Any, reason: str) -> None:
    whole = view_of_all(quantized_conv())
    views = OptimizationViews((Substitution(whole, whole),))
    message, blobs = sent(*offers.encode_optimization(views))
    changed(message, ("substitutions", 0, *path), value)
    with pytest.raises(Nonsense) as refused:
        offers.decode_optimization(message, blobs, whole)
    assert reason in str(refused.value)


def test_a_node_that_is_in_no_part() -> None:
    graph = view_of_all(two_nodes())
    message = {"substitutions": [], "failed": [[0]], "untouched": []}
    with pytest.raises(Nonsense, match=r"the nodes \[1\] are in no part"):
        offers.decode_optimization(message, [], graph)


def two_nodes() -> Graph:
    net = graph_cases.Net()
    return net.finish(net.op("Relu", [net.op("Relu", [net.input(1, 2)], (1, 2))], (1, 2)))


def test_attributes_from_c_are_lists_where_onnx_has_lists() -> None:
    """C has no single values: what ONNX has one of comes as such, the rest as lists."""
    whole = view_of_all(quantized_conv())
    views = OptimizationViews((Substitution(whole, whole),))
    message, blobs = sent(*offers.encode_optimization(views))
    replacement = message["substitutions"][0]["replacement"]
    attributes = replacement["data"]["attributes"][0][1]
    for name, value in attributes.items():
        attributes[name] = value if isinstance(value, list | dict) else [value]
    replacement["opset"] = 0
    (substitution,) = offers.decode_optimization(message, blobs, whole).substitutions
    assert substitution.replacement.opset == 17
    attributes = substitution.replacement.attributes(0)
    assert (attributes["group"], attributes["auto_pad"]) == (1, "SAME_UPPER")
    assert (attributes["kernel_shape"], attributes["alpha"]) == ((3, 3), (0.5,))


@pytest.mark.parametrize(
    ("decode", "message", "reason"),
    [
        (codec.decode_support, {"supported": 2}, "supported must be true or false, not 2"),
        (codec.decode_support, {"supported": True, "layout": 4}, "4 is no LayoutRule"),
        (codec.decode_support, {"layout": "same"}, "the key 'supported' is missing"),
        (
            codec.decode_description,
            {"rank": 2**63, "cores": [], "operators": []},
            "rank = 9223372036854775808 is no integer",
        ),
        (codec.decode_description, {"rank": 0, "cores": [""], "operators": []}, "one of the cores"),
        (codec.decode_counters, {"counters": [["a", 2**63]]}, "9223372036854775808 is no integer"),
        (codec.decode_counters, {"counters": [["a\n", 1]]}, "printable characters"),
        (codec.decode_counters, {"counters": [["a"]]}, "must have 2 items"),
    ],
)
def test_the_small_answers(decode: Callable[[Json], object], message: Json, reason: str) -> None:
    with pytest.raises(Nonsense) as refused:
        decode(message)
    assert reason in str(refused.value)


def test_costs_of_the_wrong_kind() -> None:
    message = codec.encode_costs(Costs()) | {"cycles": 2**70}
    with pytest.raises(Nonsense, match=r"cycles = [0-9]+ is no integer of 64 bits"):
        codec.decode_costs(message, quantized_layer())
